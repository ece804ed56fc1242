/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replay: the records of journal sectors put together to operations again.
 *
 * The caller reads sectors in order and lets the journal reader accept them; here they
 * become whole operations, one after the other. An operation that is not complete when the
 * journal ends is never handed out.
 *
 * What they do to map and segment table is the same as in daily work, see change.h.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_REPLAY_H
#define DMDA_REPLAY_H

#include "journal.h"
#include "map.h"

/**
 * struct dmda_op - an operation
 * @seq: its number
 * @sector: journal sector of its first record
 * @nr_records: number of records found so far, but SUMS
 * @nr_sums: number of checksums found so far
 * @is_whole: whether its last record was found
 * @record: the records; behind them, one that is being looked at
 * @sum: the checksums of the pages that it maps
 */
struct dmda_op {
	u64 seq;
	u64 sector;
	u32 nr_records;
	u32 nr_sums;
	bool is_whole;
	struct dmda_record record[DMDA_MAX_OP_RECORDS + 1];
	__le32 sum[DMDA_MAP_SUMS_ENTRIES];
};

/**
 * struct dmda_replay - position in a sector
 * @sector: the sector
 * @at: offset of the next byte of its records
 * @op: the operation that is being put together
 * @why: reason why it had to stop, or NULL
 */
struct dmda_replay {
	const struct dmda_journal_sector *sector;
	unsigned int at;
	struct dmda_op *op;
	const char *why;
};

/**
 * dmda_replay_init() - nothing has been read
 * @op: memory for an operation
 * @next_seq: operation that comes first
 */
void dmda_replay_init(struct dmda_replay *replay, struct dmda_op *op, u64 next_seq);

/**
 * dmda_replay_sector() - go on with a sector
 * @sector: one that dmda_journal_accept() took; all of the one before was consumed
 */
void dmda_replay_sector(struct dmda_replay *replay, const struct dmda_journal_sector *sector);

/**
 * dmda_replay_next() - the next whole operation
 * Return: it, or NULL: the next sector is needed, or @replay->why says that the journal
 * has what cannot be.
 */
const struct dmda_op *dmda_replay_next(struct dmda_replay *replay);

/**
 * dmda_op_pages() - the pages that an operation maps or trims
 * Return: its MAP or TRIM record, or NULL if it is about a segment's state.
 */
static inline const struct dmda_record *dmda_op_pages(const struct dmda_op *op)
{
	u8 kind = op->record[0].kind;

	return kind == DMDA_RECORD_MAP || kind == DMDA_RECORD_TRIM ? &op->record[0] : NULL;
}

/**
 * dmda_op_map_pages() - the pages of the map that a MAP or TRIM is about
 * @lpn: first of the pages, which the device has
 * @nr_pages: number of them
 * @first: gets the index of the first
 *
 * Return: how many.
 */
static inline u32 dmda_op_map_pages(const struct dmda_super *super, u64 lpn, u32 nr_pages,
				    u64 *first)
{
	u32 entry, nr_entries = dmda_super_map_entries(super);

	*first = dmda_map_index(super, to_lpn(lpn), &entry);
	/* Nearly always one */
	return entry + nr_pages <= nr_entries ? 1 : (entry + nr_pages - 1) / nr_entries + 1;
}

/**
 * dmda_op_complaint() - could a device have such an operation?
 *
 * Return: NULL, or why not.
 */
const char *dmda_op_complaint(const struct dmda_op *op, const struct dmda_super *super);

#endif /* DMDA_REPLAY_H */
