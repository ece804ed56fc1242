// SPDX-License-Identifier: GPL-2.0-only
/*
 * Goes through records as replay does, with a reader of its own, and keeps of each operation only
 * what it begins with: pages. An operation whose last record was not read yet counts as well, since
 * that is what replay does next.
 */
#include "ahead.h"

static bool is_full(const struct dmda_ahead *ahead)
{
	return ahead->nr + DMDA_OP_MAP_PAGES > ahead->max;
}

/* Return: number of pages of the map that they are in, from @index on; 0: for replay to refuse. */
static u32 map_pages_of(const struct dmda_super *super, u64 lpn, u32 nr_pages, u64 *index)
{
	*index = 0;
	if (lpn >= super->nr_lpns || nr_pages > super->nr_lpns - lpn)
		return 0;
	return min(dmda_op_map_pages(super, lpn, nr_pages, index), DMDA_OP_MAP_PAGES);
}

static void add_pages(struct dmda_ahead *ahead, const struct dmda_super *super, u64 lpn,
		      u32 nr_pages)
{
	u64 index;
	u32 nr = map_pages_of(super, lpn, nr_pages, &index);

	for (u32 i = 0; i < nr; i++) {
		if (!ahead->nr || ahead->index[ahead->nr - 1] != index + i)
			ahead->index[ahead->nr++] = index + i;
	}
}

/* Return: whether there is room for what comes behind the sector. */
static bool look_into(struct dmda_ahead *ahead, const struct dmda_super *super,
		      const struct dmda_journal_sector *sector, unsigned int at)
{
	unsigned int end = dmda_journal_bytes(sector), bytes, nr;
	u64 lpn;

	for (; at < end && !is_full(ahead); at += bytes) {
		bytes = dmda_record_length(&sector->records[at], end - at);
		if (!bytes)
			return false;
		if (!dmda_record_is_about_lpns(&sector->records[at]))
			continue;
		nr = dmda_record_lpns(&sector->records[at], &lpn);
		add_pages(ahead, super, lpn, nr);
		ahead->nr_ops++;
	}
	return !is_full(ahead);
}

/* It was found whole before. What it has become since is for replay to see. */
static bool is_number(const struct dmda_journal_sector *sector, u64 number)
{
	return le32_to_cpu(sector->magic) == DMDA_MAGIC_JOURNAL &&
		le64_to_cpu(sector->sector) == number &&
		dmda_journal_bytes(sector) <= DMDA_RECORDS_BYTES;
}

static void look(struct dmda_ahead *ahead, const struct dmda_ahead_from *from)
{
	const struct dmda_record *now = dmda_op_pages(from->replay->op);
	bool goes_on;

	ahead->nr = 0;
	add_pages(ahead, from->super, from_lpn(now->lpn), now->nr_pages);
	goes_on = look_into(ahead, from->super, from->replay->sector, from->replay->at);
	for (u32 i = 0; goes_on && i < from->nr_sectors; i++)
		goes_on = is_number(&from->sectors[i], from->reader->next.sector + i) &&
			look_into(ahead, from->super, &from->sectors[i], 0);
}

bool dmda_ahead_gather(struct dmda_ahead *ahead)
{
	u32 index = 0;

	ahead->nr = 0;
	while (ahead->most_noted && ahead->nr < ahead->max) {
		index = dmda_bitset_next(&ahead->noted, index);
		if (index == ahead->noted.nr)
			break;
		dmda_bitset_put(&ahead->noted, index, false);
		ahead->index[ahead->nr++] = index;
	}
	return ahead->nr;
}

void dmda_ahead_open(struct dmda_ahead *ahead)
{
	/* What a start that was left has noted */
	while (dmda_ahead_gather(ahead))
		;
	ahead->nr_noted = 0;
	ahead->nr_noted_ops = 0;
	ahead->is_noted = ahead->max < DMDA_OP_MAP_PAGES || ahead->most_noted < DMDA_OP_MAP_PAGES;
}

static void note_page(struct dmda_ahead *ahead, u64 index)
{
	if (dmda_bitset_has(&ahead->noted, index))
		return;
	dmda_bitset_put(&ahead->noted, index, true);
	ahead->nr_noted++;
}

/* @record: a MAP or TRIM */
static void note_pages(struct dmda_ahead *ahead, const struct dmda_super *super, const u8 *record)
{
	u64 index, lpn;
	u32 nr = dmda_record_lpns(record, &lpn);

	nr = map_pages_of(super, lpn, nr, &index);
	for (u64 i = index; i < index + nr; i++)
		note_page(ahead, i);
	ahead->nr_noted_ops++;
	ahead->is_noted = ahead->nr_noted + DMDA_OP_MAP_PAGES > ahead->most_noted;
}

void dmda_ahead_note(struct dmda_ahead *ahead, const struct dmda_super *super,
		     const struct dmda_journal_sector *sector)
{
	unsigned int end = dmda_journal_bytes(sector), bytes;

	for (unsigned int at = 0; at < end && !ahead->is_noted; at += bytes) {
		bytes = dmda_record_length(&sector->records[at], end - at);
		if (!bytes)
			return;
		if (dmda_record_is_about_lpns(&sector->records[at]))
			note_pages(ahead, super, &sector->records[at]);
	}
}

void dmda_ahead_begin(struct dmda_ahead *ahead)
{
	ahead->nr_ops = ahead->nr_noted_ops;
}

bool dmda_ahead_tell(struct dmda_ahead *ahead, const struct dmda_ahead_from *from)
{
	if (ahead->max < DMDA_OP_MAP_PAGES)
		return false;
	look(ahead, from);
	return true;
}
