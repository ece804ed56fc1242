// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open summaries, in daily work and in replay. Both put the same entries page by page, and
 * a page takes only operations that are newer than itself.
 *
 * An open summary may have dozens of pages, and is begun where somebody waits for places: so a
 * page that is begun is only marked, and cleared when it is put to.
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

/* Which page of the open summaries has the entry of a page of a segment? */
static u64 index_of(const struct dmda_opened *opened, u8 open, u32 page)
{
	return open * opened->super->summary_pages + page / DMDA_SUMMARIES_PER_PAGE;
}

static void mark_opened(struct dmda_opened_page *page, u64 seq, u64 sector)
{
	page->seq = seq;
	page->dirty_sector = min(page->dirty_sector, sector);
}

void dmda_opened_begin(struct dmda_opened *opened, u8 open, u64 seq, u64 sector)
{
	u64 first = index_of(opened, open, 0);

	for (u64 i = first; i < first + opened->super->summary_pages; i++) {
		if (opened->page[i].seq >= seq)
			continue;
		opened->page[i].is_stale = true;
		mark_opened(&opened->page[i], seq, sector);
	}
}

/* The page is about to get an entry from operation @seq. Return: false: it knows of that. */
static inline bool begin_page(struct dmda_opened *opened, u64 index, u64 seq, u64 sector)
{
	struct dmda_opened_page *page = &opened->page[index];

	if (page->seq >= seq)
		return false;
	if (page->is_stale) {
		memset(&opened->block[index], 0, sizeof(opened->block[index]));
		page->is_stale = false;
	}
	mark_opened(page, seq, sector);
	return true;
}

/* Puts entries @begin to @end of a page of the summary, unless that knows of them. */
static void put_to_page(struct dmda_opened *opened, u64 index, u32 begin, u32 end,
			const struct dmda_written *first, u32 nth, u64 sector)
{
	if (!begin_page(opened, index, first->seq, sector))
		return;
	for (u32 at = begin; at < end; at++)
		dmda_summary_put(&opened->block[index].entry[at], first, nth++);
}

/* Puts several that may be on several pages; the first is entry @at of page @index. */
static void put_many(struct dmda_opened *opened, u64 index, u32 at,
		     const struct dmda_written *first, u32 nr_pages, u64 sector)
{
	u32 nth = 0;

	while (nth < nr_pages) {
		u32 nr = min_t(u32, nr_pages - nth, DMDA_SUMMARIES_PER_PAGE - at);

		put_to_page(opened, index++, at, at + nr, first, nth, sector);
		nth += nr;
		at = 0;
	}
}

void dmda_opened_put(struct dmda_opened *opened, dpn_t dpn, const struct dmda_written *first,
		     u32 nr_pages, u64 sector)
{
	u32 at;
	seg_t seg = dmda_super_segment_of(opened->super, dpn, &at);
	u64 index = index_of(opened, opened->segments->segment[from_seg(seg)].open, at);

	at %= DMDA_SUMMARIES_PER_PAGE;
	/* As small writes are, of which a start has millions. */
	if (nr_pages != 1)
		put_many(opened, index, at, first, nr_pages, sector);
	else if (begin_page(opened, index, first->seq, sector))
		dmda_summary_put(&opened->block[index].entry[at], first, 0);
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

const char *dmda_opened_check(const struct dmda_opened *opened)
{
	const struct dmda_segments *segments = opened->segments;
	bool is_taken[DMDA_MAX_OPEN] = {};

	for (u32 i = 0; i < segments->nr_segments; i++) {
		const struct dmda_segment *segment = &segments->segment[i];

		if (segment->state != DMDA_SEGMENT_OPEN)
			continue;
		if (is_taken[segment->open])
			return "two open segments have the same open summary";
		is_taken[segment->open] = true;
	}
	return NULL;
}

u32 dmda_opened_end(const struct dmda_opened *opened, u8 open)
{
	u32 end = dmda_super_data_pages(opened->super);
	struct dmda_written written;

	while (end && !dmda_opened_get(opened, open, end - 1, &written))
		end--;
	return end;
}

bool dmda_opened_get(const struct dmda_opened *opened, u8 open, u32 page,
		     struct dmda_written *written)
{
	u64 index = index_of(opened, open, page);

	return !opened->page[index].is_stale &&
		dmda_summary_get(&opened->block[index], page % DMDA_SUMMARIES_PER_PAGE, written);
}

void dmda_opened_copy(const struct dmda_opened *opened, u64 index,
		      struct dmda_summary_block *copy)
{
	if (opened->page[index].is_stale)
		memset(copy, 0, sizeof(*copy));
	else
		memcpy(copy, &opened->block[index], sizeof(*copy));
}

void dmda_opened_summary(const struct dmda_opened *opened, u8 open,
			 struct dmda_summary_block *summary)
{
	u64 first = index_of(opened, open, 0);

	for (u32 i = 0; i < opened->super->summary_pages; i++)
		dmda_opened_copy(opened, first + i, &summary[i]);
}
