// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sectors of the journal: filled, sealed, accepted.
 *
 * A sector's checksum begins with the device's UUID, and is the chain of the sector behind
 * it. So a batch is sealed as a whole, from front to back, when nothing more is put to it, and
 * before the next one is.
 * The reader decides where the journal ends: at the first sector that is not the next one.
 * Whether that is an end or damage, sectors behind it tell (dmda_journal_is_beyond()).
 */
#include "journal.h"

/* Of so many batches nothing may be left: damaged in the end, being written, being filled */
#define LOST_BATCHES		3U

static u32 seed_of(const struct dmda_super *super)
{
	return crc32c(~0U, super->uuid, DMDA_UUID_BYTES);
}

static u32 sector_checksum(u32 seed, const struct dmda_journal_sector *sector)
{
	return crc32c(seed, &sector->magic, DMDA_SECTOR_BYTES - sizeof(sector->crc));
}

u32 dmda_journal_fresh_chain(const struct dmda_super *super, u64 salt)
{
	__le64 raw = cpu_to_le64(salt);

	return crc32c(seed_of(super), &raw, sizeof(raw));
}

void dmda_journal_skip_lost(struct dmda_journal_place *place)
{
	/* No operation is shorter than one record of a range. */
	const u32 most_per_batch = DMDA_MAX_BATCH_SECTORS *
		(DMDA_RECORDS_BYTES / (u32)sizeof(struct dmda_record_range));

	place->seq += LOST_BATCHES * most_per_batch;
}

u32 dmda_journal_room(const struct dmda_super *super, const struct dmda_journal_place *from,
		      const struct dmda_journal_place *next)
{
	u64 used = next->sector - from->sector;

	return used < super->journal_sectors ? super->journal_sectors - used : 0;
}

u32 dmda_journal_batch_sectors(const struct dmda_super *super)
{
	u32 nr = min_t(u32, DMDA_MAX_BATCH_SECTORS, super->journal_sectors / DMDA_MIN_BATCHES);

	return round_down(nr, super->journal_unit_sectors);
}

void dmda_journal_begin(struct dmda_journal_batch *batch, const struct dmda_super *super,
			struct dmda_journal_sector *sectors, u32 nr_room,
			const struct dmda_journal_place *place)
{
	batch->sectors = sectors;
	batch->nr_room = nr_room;
	batch->nr_used = 0;
	batch->last = NULL;
	batch->first = *place;
	batch->next_seq = place->seq;
	batch->seed = seed_of(super);
}

/* As if checksums shared no sector with others. */
bool dmda_journal_has_room(const struct dmda_journal_batch *batch, u32 nr_records, u32 nr_sums)
{
	u32 per_sector = DMDA_RECORDS_BYTES / DMDA_MAX_RECORD_BYTES;

	return batch->nr_used + DIV_ROUND_UP(nr_records, per_sector) +
		DIV_ROUND_UP(nr_sums, DMDA_MAX_RECORD_SUMS) <= batch->nr_room;
}

static struct dmda_journal_sector *begin_sector(struct dmda_journal_batch *batch)
{
	struct dmda_journal_sector *sector;

	if (WARN_ON_ONCE(batch->nr_used == batch->nr_room))
		return NULL;
	sector = &batch->sectors[batch->nr_used];
	memset(sector, 0, sizeof(*sector));
	sector->magic = cpu_to_le32(DMDA_MAGIC_JOURNAL);
	sector->sector = cpu_to_le64(batch->first.sector + batch->nr_used);
	sector->seq = cpu_to_le64(batch->next_seq);
	sector->version = cpu_to_le16(DMDA_FORMAT_VERSION);
	batch->nr_used++;
	return sector;
}

/* Bytes of records that the sector takes that was begun last. */
static u32 room_in_sector(const struct dmda_journal_batch *batch)
{
	if (!batch->nr_used)
		return 0;
	return DMDA_RECORDS_BYTES - le16_to_cpu(batch->sectors[batch->nr_used - 1].nr_bytes);
}

void dmda_journal_put(struct dmda_journal_batch *batch, const struct dmda_record *record)
{
	unsigned int bytes = dmda_record_bytes(record);
	struct dmda_journal_sector *sector;
	unsigned int at;

	if (room_in_sector(batch) >= bytes)
		sector = &batch->sectors[batch->nr_used - 1];
	else
		sector = begin_sector(batch);
	if (!sector)
		return;
	at = le16_to_cpu(sector->nr_bytes);
	dmda_record_encode(&sector->records[at], record);
	sector->nr_bytes = cpu_to_le16(at + bytes);
	batch->last = &sector->records[at];
}

/* Checksums that go into one record: as many as the sector takes, or else the next one. */
static u32 sums_of_record(const struct dmda_journal_batch *batch)
{
	const u32 header = sizeof(struct dmda_record_sums);
	u32 room = room_in_sector(batch);

	if (room < header + DMDA_SUM_BYTES)
		room = DMDA_RECORDS_BYTES;
	return (room - header) / DMDA_SUM_BYTES;
}

void dmda_journal_put_sums(struct dmda_journal_batch *batch, const __le32 *sums, u32 nr)
{
	while (nr) {
		const struct dmda_record record = {
			.kind = DMDA_RECORD_SUMS,
			.nr_pages = min(nr, sums_of_record(batch)),
			.sums = sums,
		};

		dmda_journal_put(batch, &record);
		sums += record.nr_pages;
		nr -= record.nr_pages;
	}
}

u64 dmda_journal_end_op(struct dmda_journal_batch *batch)
{
	if (!WARN_ON_ONCE(!batch->last))
		*batch->last |= DMDA_RECORD_END;
	return batch->next_seq++;
}

void dmda_journal_put_nothing(struct dmda_journal_batch *batch)
{
	if (!batch->nr_used)
		begin_sector(batch);
}

u32 dmda_journal_end(struct dmda_journal_batch *batch, const struct dmda_super *super,
		     struct dmda_journal_place *next)
{
	while (batch->nr_used % super->journal_unit_sectors && begin_sector(batch))
		;
	if (batch->nr_used)
		batch->sectors[0].nr_bytes |= cpu_to_le16(DMDA_SECTOR_FIRST);
	next->sector = batch->first.sector + batch->nr_used;
	next->seq = batch->next_seq;
	return batch->nr_used;
}

u32 dmda_journal_seal(const struct dmda_journal_batch *batch)
{
	u32 chain = batch->first.chain;

	for (u32 i = 0; i < batch->nr_used; i++) {
		struct dmda_journal_sector *sector = &batch->sectors[i];

		sector->chain = cpu_to_le32(chain);
		chain = sector_checksum(batch->seed, sector);
		sector->crc = cpu_to_le32(chain);
	}
	return chain;
}

void dmda_journal_open(struct dmda_journal_reader *reader, const struct dmda_super *super,
		       const struct dmda_journal_place *place)
{
	reader->next = *place;
	reader->seed = seed_of(super);
}

/* Operations that end in the sector, or -1: what it holds are no records. */
static int count_ends(const struct dmda_journal_sector *sector)
{
	unsigned int left = dmda_journal_bytes(sector);
	const u8 *at = sector->records;
	int nr = 0;

	while (left) {
		unsigned int bytes = dmda_record_length(at, left);

		if (!bytes)
			return -1;
		nr += !!(at[0] & DMDA_RECORD_END);
		at += bytes;
		left -= bytes;
	}
	return nr;
}

bool dmda_journal_accept(struct dmda_journal_reader *reader,
			 const struct dmda_journal_sector *sector)
{
	u32 crc = sector_checksum(reader->seed, sector);
	int nr_ends;

	if (le32_to_cpu(sector->magic) != DMDA_MAGIC_JOURNAL ||
	    le32_to_cpu(sector->crc) != crc ||
	    le16_to_cpu(sector->version) != DMDA_FORMAT_VERSION ||
	    le64_to_cpu(sector->sector) != reader->next.sector ||
	    le64_to_cpu(sector->seq) != reader->next.seq ||
	    le32_to_cpu(sector->chain) != reader->next.chain ||
	    dmda_journal_bytes(sector) > DMDA_RECORDS_BYTES)
		return false;
	nr_ends = count_ends(sector);
	if (nr_ends < 0)
		return false;
	reader->next.sector++;
	reader->next.seq += nr_ends;
	reader->next.chain = crc;
	return true;
}

/* Is it what nobody would have written before what ought to be at the end was durable? */
static bool is_later(const struct dmda_journal_place *end, const struct dmda_journal_sector *sector)
{
	u64 number = le64_to_cpu(sector->sector);

	if (!(le16_to_cpu(sector->nr_bytes) & DMDA_SECTOR_FIRST))
		return number >= end->sector + DMDA_MAX_BATCH_SECTORS;
	/* Another line may begin at the end: its numbers are larger than all that were lost. */
	return number > end->sector ||
		(number == end->sector && le64_to_cpu(sector->seq) > end->seq);
}

bool dmda_journal_is_beyond(const struct dmda_journal_reader *reader,
			    const struct dmda_journal_sector *sector)
{
	return le32_to_cpu(sector->magic) == DMDA_MAGIC_JOURNAL &&
		is_later(&reader->next, sector) &&
		le32_to_cpu(sector->crc) == sector_checksum(reader->seed, sector);
}
