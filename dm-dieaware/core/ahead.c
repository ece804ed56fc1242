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

/* What cannot be is for replay to refuse. */
static void add_pages(struct dmda_ahead *ahead, const struct dmda_super *super,
		      const struct dmda_record *pages)
{
	u64 first = from_lpn(pages->lpn), index;
	u32 nr;

	if (first >= super->nr_lpns || pages->nr_pages > super->nr_lpns - first)
		return;
	nr = min(dmda_op_map_pages(pages, super, &index), DMDA_OP_MAP_PAGES);
	for (u32 i = 0; i < nr; i++) {
		if (!ahead->nr || ahead->index[ahead->nr - 1] != index + i)
			ahead->index[ahead->nr++] = index + i;
	}
}

/* Return: whether there is room for what comes behind the sector. */
static bool look_into(struct dmda_ahead *ahead, const struct dmda_super *super,
		      const struct dmda_journal_sector *sector, unsigned int at)
{
	unsigned int end = dmda_journal_bytes(sector), bytes;
	struct dmda_record record;

	for (; at < end && !is_full(ahead); at += bytes) {
		bytes = dmda_record_decode(&sector->records[at], end - at, &record);
		if (!bytes)
			return false;
		if (record.kind != DMDA_RECORD_MAP && record.kind != DMDA_RECORD_TRIM)
			continue;
		add_pages(ahead, super, &record);
		ahead->nr_ops++;
	}
	return !is_full(ahead);
}

static void look(struct dmda_ahead *ahead, const struct dmda_ahead_from *from)
{
	struct dmda_journal_reader reader = *from->reader;
	bool goes_on;

	ahead->nr = 0;
	add_pages(ahead, from->super, dmda_op_pages(from->replay->op));
	goes_on = look_into(ahead, from->super, from->replay->sector, from->replay->at);
	for (u32 i = 0; goes_on && i < from->nr_sectors; i++)
		goes_on = dmda_journal_accept(&reader, &from->sectors[i]) &&
			look_into(ahead, from->super, &from->sectors[i], 0);
}

void dmda_ahead_begin(struct dmda_ahead *ahead)
{
	ahead->nr_ops = 0;
}

bool dmda_ahead_is_over(struct dmda_ahead *ahead, const struct dmda_ahead_from *from)
{
	if (ahead->max < DMDA_OP_MAP_PAGES)
		return false;
	if (ahead->nr_ops) {
		ahead->nr_ops--;
		return false;
	}
	look(ahead, from);
	return true;
}
