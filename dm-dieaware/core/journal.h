/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The journal as bytes: records into sectors, and sectors into records.
 *
 * It is a ring of sectors with numbers that only grow. Each sector checks itself and
 * names the checksum of the one before it. So the reader stops at the first sector that
 * was not written, is torn, is of an older lap, or was written by a line of events that a
 * crash has ended: what is read is always a beginning of what was written, never with a
 * gap. Of an operation that is cut off by the end, nothing counts.
 *
 * Sectors are filled in memory and sealed when they are to be written. A batch that was
 * sealed is never touched again.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_JOURNAL_H
#define DMDA_JOURNAL_H

#include "record.h"
#include "super.h"

/**
 * struct dmda_journal_place - a place in the journal
 * @sector: number of a sector
 * @chain: value of that sector's chain, see struct dmda_journal_sector
 * @seq: number of the next operation there
 */
struct dmda_journal_place {
	u64 sector;
	u32 chain;
	u64 seq;
};

/**
 * struct dmda_journal_batch - sectors that are being filled
 * @sectors: memory of @nr_room sectors
 * @nr_room: number of sectors that fit, a multiple of the journal's unit
 * @nr_used: number of sectors that have been begun
 * @last: record that was put last, or NULL
 * @first: place in the journal of the first of @sectors
 * @next_seq: number of the next operation
 * @seed: CRC of what precedes every sector in its checksum
 */
struct dmda_journal_batch {
	struct dmda_journal_sector *sectors;
	u32 nr_room;
	u32 nr_used;
	u8 *last;
	struct dmda_journal_place first;
	u64 next_seq;
	u32 seed;
};

/**
 * struct dmda_journal_reader - reads a journal sector by sector
 * @next: place of the next sector, and number of the next record's operation
 * @seed: CRC of what precedes every sector in its checksum
 */
struct dmda_journal_reader {
	struct dmda_journal_place next;
	u32 seed;
};

/**
 * dmda_journal_batch_sectors() - how long a batch may be
 *
 * Return: sectors, a multiple of the journal's unit; enough for any operation.
 */
u32 dmda_journal_batch_sectors(const struct dmda_super *super);

/**
 * dmda_journal_begin() - begin a batch
 * @sectors: memory of @nr_room sectors
 * @nr_room: multiple of the journal's unit
 * @place: place of its first sector
 */
void dmda_journal_begin(struct dmda_journal_batch *batch, const struct dmda_super *super,
			struct dmda_journal_sector *sectors, u32 nr_room,
			const struct dmda_journal_place *place);

/**
 * dmda_journal_has_room() - will an operation fit?
 * @nr_records: its records, but SUMS
 * @nr_sums: checksums that it has
 */
bool dmda_journal_has_room(const struct dmda_journal_batch *batch, u32 nr_records, u32 nr_sums);

/**
 * dmda_journal_put() - put a record of the present operation
 */
void dmda_journal_put(struct dmda_journal_batch *batch, const struct dmda_record *record);

/**
 * dmda_journal_put_sums() - put records of checksums of the present operation
 * @sums: the checksums
 * @nr: how many
 */
void dmda_journal_put_sums(struct dmda_journal_batch *batch, const __le32 *sums, u32 nr);

/**
 * dmda_journal_end_op() - the record that was put last was the operation's last
 * Return: the operation's seq.
 */
u64 dmda_journal_end_op(struct dmda_journal_batch *batch);

/**
 * dmda_journal_put_nothing() - have an empty batch written, which is else none
 */
void dmda_journal_put_nothing(struct dmda_journal_batch *batch);

/**
 * dmda_journal_end() - nothing more is put to a batch
 * @super: superblock of the device
 * @next: gets the place of the batch that follows, but for its chain
 *
 * No operation is under way. What is left of the last unit is filled with empty sectors.
 *
 * Return: sectors to be written, a multiple of the unit; 0 if nothing was put.
 */
u32 dmda_journal_end(struct dmda_journal_batch *batch, const struct dmda_super *super,
		     struct dmda_journal_place *next);

/**
 * dmda_journal_seal() - make a batch that was ended ready to be written
 *
 * This takes a checksum of all of it, for which no lock need be held.
 *
 * Return: the chain of the batch that follows.
 */
u32 dmda_journal_seal(const struct dmda_journal_batch *batch);

/**
 * dmda_journal_open() - read from a place on
 */
void dmda_journal_open(struct dmda_journal_reader *reader, const struct dmda_super *super,
		       const struct dmda_journal_place *place);

/**
 * dmda_journal_accept() - is this the next sector?
 * @sector: as read from dmda_journal_sector_at() of @reader->next.sector
 *
 * Return: true, and the reader is behind it; or false: the journal has ended.
 */
bool dmda_journal_accept(struct dmda_journal_reader *reader,
			 const struct dmda_journal_sector *sector);

/**
 * dmda_journal_is_beyond() - does a sector show that the journal did not end here?
 * @reader: has come to the end
 * @sector: any sector of the ring
 *
 * Return: true if it was written when the sector that @reader did not accept was durable: then
 * that one was damaged later, and operations are lost.
 */
bool dmda_journal_is_beyond(const struct dmda_journal_reader *reader,
			    const struct dmda_journal_sector *sector);

/* Bytes of a sector's records. */
static inline u32 dmda_journal_bytes(const struct dmda_journal_sector *sector)
{
	return le16_to_cpu(sector->nr_bytes) & ~(DMDA_SECTOR_FIRST | DMDA_SECTOR_DRAFT);
}

/* In the ring, where a sector lies. */
static inline u32 dmda_journal_sector_at(const struct dmda_super *super, u64 sector)
{
	return sector - div_u64(sector, super->journal_sectors) * super->journal_sectors;
}

/**
 * dmda_journal_room() - sectors that the ring takes before it comes round to what is needed
 * @from: place from which the last durable root has it read
 * @next: place at which it goes on
 */
u32 dmda_journal_room(const struct dmda_super *super, const struct dmda_journal_place *from,
		      const struct dmda_journal_place *next);

/**
 * dmda_journal_skip_lost() - give no operation the number of one that a crash has taken
 * @place: end of the journal; there the next operation gets its number
 *
 * Pages of tables may be written before the operations that they know are durable, to slots that
 * no root names. Who has lost the root, as repair, takes the page with the higher number for the
 * newer one. So what comes after a crash begins behind all numbers that were given before.
 */
void dmda_journal_skip_lost(struct dmda_journal_place *place);

/**
 * dmda_journal_fresh_chain() - with which a new line of events begins, by format and after
 *	a crash
 * @salt: a random number, so that no sector that was written before fits
 */
u32 dmda_journal_fresh_chain(const struct dmda_super *super, u64 salt);

#endif /* DMDA_JOURNAL_H */
