// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open summaries, in daily work and in replay. Both put the same entries page by page, and
 * a page takes only operations that are newer than itself.
 *
 * Records of the journal do not name files, to be short. So replay knows for which lpn a page
 * was written and by which operation, but not of which file it is.
 */
#include "opened.h"

static u32 nr_opened_pages(const struct dmda_super *super)
{
	return DMDA_MAX_OPEN * super->summary_pages;
}

size_t dmda_opened_bytes(const struct dmda_super *super)
{
	return nr_opened_pages(super) *
		(sizeof(struct dmda_summary_block) + sizeof(struct dmda_opened_page));
}

void dmda_opened_init(struct dmda_opened *opened, const struct dmda_super *super,
		      const struct dmda_segments *segments, void *zeroed)
{
	opened->super = super;
	opened->segments = segments;
	opened->block = zeroed;
	opened->page = (struct dmda_opened_page *)(opened->block + nr_opened_pages(super));
	for (u32 i = 0; i < nr_opened_pages(super); i++)
		opened->page[i].dirty_sector = U64_MAX;
}

static void mark_opened(struct dmda_opened_page *page, u64 seq, u64 sector)
{
	page->seq = seq;
	page->dirty_sector = min(page->dirty_sector, sector);
}

void dmda_opened_begin(struct dmda_opened *opened, u8 open, u64 seq, u64 sector)
{
	u32 first = open * opened->super->summary_pages;

	for (u32 i = first; i < first + opened->super->summary_pages; i++) {
		if (opened->page[i].seq >= seq)
			continue;
		memset(&opened->block[i], 0, sizeof(opened->block[i]));
		mark_opened(&opened->page[i], seq, sector);
	}
}

void dmda_opened_put(struct dmda_opened *opened, dpn_t dpn, const struct dmda_written *first,
		     u32 nr_pages, u64 sector)
{
	struct dmda_written written = *first;
	u32 begin, at;
	seg_t seg = dmda_super_segment_of(opened->super, dpn, &begin);
	u8 open = opened->segments->segment[from_seg(seg)].open;

	for (at = begin; at < begin + nr_pages; at++, written.fpage++) {
		u32 page = open * opened->super->summary_pages + at / DMDA_SUMMARIES_PER_PAGE;

		if (opened->page[page].seq < first->seq)
			dmda_summary_put(dmda_opened_summary(opened, open), at, &written);
		written.lpn = to_lpn(from_lpn(written.lpn) + 1);
	}
	for (at = begin / DMDA_SUMMARIES_PER_PAGE;
	     at <= (begin + nr_pages - 1) / DMDA_SUMMARIES_PER_PAGE; at++) {
		struct dmda_opened_page *page =
			&opened->page[open * opened->super->summary_pages + at];

		if (page->seq < first->seq)
			mark_opened(page, first->seq, sector);
	}
}

void dmda_opened_replay(struct dmda_opened *opened, const struct dmda_op *op)
{
	const struct dmda_record *record = &op->record[0];
	const struct dmda_written first = { .lpn = record->lpn, .seq = op->seq };

	if (record->kind == DMDA_RECORD_OPEN)
		dmda_opened_begin(opened, record->open, op->seq, op->sector);
	else if (record->kind == DMDA_RECORD_MAP)
		dmda_opened_put(opened, record->dpn, &first, record->nr_pages, op->sector);
}

u32 dmda_opened_end(const struct dmda_opened *opened, u8 open)
{
	u32 end = dmda_super_data_pages(opened->super);
	struct dmda_written written;

	while (end && !dmda_summary_get(dmda_opened_summary(opened, open), end - 1, &written))
		end--;
	return end;
}
