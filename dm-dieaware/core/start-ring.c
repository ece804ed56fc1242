// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting a device: reading the journal's ring, and whether its end is one.
 *
 * Pages that cannot be read together are read one by one: the one that cannot be may be none that
 * is needed. Needed are those up to the end, and those behind it that a batch reaches. Others are
 * left out together, as a drive may try for seconds before it says that it cannot read a page.
 */
#include "start-parts.h"

bool dmda_start_ask_ring(struct dmda_start *start, u32 page, u32 nr_pages)
{
	return ask_read(start, to_dpn(start->super->journal_dpn + page), start->sectors, nr_pages);
}

u32 dmda_start_at_once(const struct dmda_start *start)
{
	return start->nr_singly ? DMDA_PAGE_SECTORS : DMDA_START_SECTORS;
}

const char *dmda_start_did_ring(struct dmda_start *start, int error)
{
	if (error && start->nr_pages > 1) {
		start->nr_singly = start->nr_pages;
		return NULL;
	}
	start->nr_singly -= min(start->nr_singly, start->nr_pages);
	return error ? "the journal cannot be read" : NULL;
}

/* Looks at what replay is not going to come to; @index counts pages. */
bool dmda_start_ask_lost(struct dmda_start *start)
{
	u32 nr_pages = DIV_ROUND_UP(start->super->journal_sectors, DMDA_PAGE_SECTORS);

	return start->index < nr_pages &&
		dmda_start_ask_ring(start, start->index,
				    min(dmda_start_at_once(start) / DMDA_PAGE_SECTORS,
					nr_pages - (u32)start->index));
}

/*
 * If the journal does not end there, the batch that goes on is followed by another one, which
 * begins no further away than a batch is long. A page behind that is one witness more.
 */
static bool is_near_end(const struct dmda_start *start)
{
	u32 end = dmda_journal_sector_at(start->super, start->reader.next.sector);
	u32 first = round_down(end, DMDA_PAGE_SECTORS);
	u32 at = start->index * DMDA_PAGE_SECTORS;
	u32 behind = at < first ? at + start->super->journal_sectors - first : at - first;

	return behind <= end - first + DMDA_MAX_BATCH_SECTORS;
}

/* One that is needed is asked for once more, alone; those in front of it are left out. */
static const char *did_without(struct dmda_start *start, int error)
{
	u32 nr = max(start->nr_pages, start->nr_singly);

	if (is_near_end(start))
		return dmda_start_did_ring(start, error);
	for (; nr && !is_near_end(start); nr--)
		start->index++;
	start->nr_singly = nr;
	return NULL;
}

const char *dmda_start_did_lost(struct dmda_start *start, int error)
{
	if (error)
		return did_without(start, error);
	dmda_start_did_ring(start, 0);
	for (u32 i = 0; i < start->nr_pages * DMDA_PAGE_SECTORS; i++) {
		start->is_lost = dmda_journal_is_beyond(&start->reader, &start->sectors[i]);
		if (start->is_lost)
			return "the journal is damaged, and operations are lost";
	}
	start->index += start->nr_pages;
	return NULL;
}
