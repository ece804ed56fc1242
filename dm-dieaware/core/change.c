// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on map and segment table, in daily work and in replay.
 *
 * An operation's records go to the batch and to the segment table one by one. Where lpns were
 * before is read from the map before it changes, for the DEAD records.
 *
 * In replay the number of an operation goes to the pages of the segment table only when its last
 * record is done: a page that had it earlier would take the operation's other records for known.
 * The records come from the device, and may say what cannot have happened: then the device is not
 * started.
 */
#include "change.h"

/* Which of the pages has an lpn, and where. */
static struct dmda_map_page *page_of(struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES],
				     u64 lpn, u32 *entry)
{
	u64 at = lpn - pages[0]->index * pages[0]->nr_entries;
	bool is_second = at >= pages[0]->nr_entries;

	*entry = is_second ? at - pages[0]->nr_entries : at;
	return pages[is_second];
}

/* Pages from an lpn on, before @end, that lie one behind the other; gets the place of the first. */
static u32 run_at(struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], u64 lpn, u64 end,
		  dpn_t *dpn)
{
	u32 entry;
	struct dmda_map_page *page = page_of(pages, lpn, &entry);

	u32 most = min_t(u64, end - lpn, page->nr_entries - entry);

	return dmda_map_run(page->block, entry, most, dpn);
}

static void put(struct dmda_change *change, const struct dmda_record *record)
{
	const char *why;

	dmda_journal_put(change->batch, record);
	if (!change->segments)
		return;
	why = dmda_segments_do(change->segments, record, change->batch->next_seq,
			       change->batch->first.sector);
	if (why)
		change->why = why;
}

static void put_dead(struct dmda_change *change,
		     struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn,
		     u32 nr_pages)
{
	struct dmda_record dead = { .kind = DMDA_RECORD_DEAD };
	u64 end = from_lpn(lpn) + nr_pages;

	for (u64 at = from_lpn(lpn); at < end;) {
		dead.nr_pages = run_at(pages, at, end, &dead.dpn);
		at += dead.nr_pages;
		if (dead.dpn != DPN_NONE)
			put(change, &dead);
	}
}

/* Does to a page of the map what a MAP or TRIM says; it may be about other pages, too. */
static void apply_to_page(struct dmda_map_page *page, const struct dmda_record *record,
			  const __le32 *sums)
{
	u64 first = page->index * page->nr_entries;
	u64 from = max(from_lpn(record->lpn), first);
	u64 to = min(from_lpn(record->lpn) + record->nr_pages, first + page->nr_entries);

	if (from >= to)
		return;
	if (page->nr_entries == DMDA_MAP_SUMS_ENTRIES)
		dmda_map_set_sums(page->block, from - first, to - from,
				  sums ? &sums[from - from_lpn(record->lpn)] : NULL);
	if (record->kind != DMDA_RECORD_MAP) {
		dmda_map_clear(page->block, from - first, to - from);
		return;
	}
	for (u64 lpn = from; lpn < to; lpn++)
		dmda_map_set(page->block, lpn - first,
			     to_dpn(from_dpn(record->dpn) + lpn - from_lpn(record->lpn)));
}

void dmda_map_page_show(struct dmda_map_page *page)
{
	raw_write_seqcount_begin(&page->version);
	WRITE_ONCE(page->is_shown, true);
	raw_write_seqcount_end(&page->version);
}

void dmda_map_page_hide(struct dmda_map_page *page)
{
	raw_write_seqcount_begin(&page->version);
	WRITE_ONCE(page->is_shown, false);
	raw_write_seqcount_end(&page->version);
}

/* In daily work and in replay; a page that knows the operation already stays as it is. */
static void apply_to_map(struct dmda_change *change,
			 struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES],
			 const struct dmda_record *record, const __le32 *sums, u64 seq,
			 u64 sector)
{
	for (u32 i = 0; i < DMDA_OP_MAP_PAGES; i++) {
		struct dmda_map_page *page = pages[i];

		if (!page || page->seq >= seq)
			continue;
		raw_write_seqcount_begin(&page->version);
		apply_to_page(page, record, sums);
		raw_write_seqcount_end(&page->version);
		page->seq = seq;
		change->nr_dirtied += page->dirty_sector == U64_MAX;
		page->dirty_sector = min(page->dirty_sector, sector);
	}
}

/* The change of pages, and what lies dead by it */
static u64 put_pages(struct dmda_change *change,
		     struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES],
		     const struct dmda_record *record, const __le32 *sums)
{
	put(change, record);
	if (sums)
		dmda_journal_put_sums(change->batch, sums, record->nr_pages);
	put_dead(change, pages, record->lpn, record->nr_pages);
	return dmda_journal_end_op(change->batch);
}

/* Notes the change of pages, and does it. */
static u64 change_pages(struct dmda_change *change,
			struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES],
			const struct dmda_record *record, const __le32 *sums)
{
	u64 seq = put_pages(change, pages, record, sums);

	apply_to_map(change, pages, record, sums, seq, change->batch->first.sector);
	return seq;
}

u64 dmda_change_map(struct dmda_change *change,
		    struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn, dpn_t dpn,
		    u32 nr_pages, const __le32 *sums)
{
	const struct dmda_record map = {
		.kind = DMDA_RECORD_MAP,
		.nr_pages = nr_pages,
		.lpn = lpn,
		.dpn = dpn,
	};

	return change_pages(change, pages, &map,
			    dmda_super_has_sums(change->super) ? sums : NULL);
}

void dmda_change_draft(const struct dmda_change *change, struct dmda_journal_batch *batch,
		       struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn, dpn_t dpn,
		       u32 nr_pages)
{
	static const __le32 no_sums[DMDA_MAX_DRAFT_PAGES];
	struct dmda_change draft = { .super = change->super, .batch = batch };
	const struct dmda_record map = {
		.kind = DMDA_RECORD_MAP,
		.nr_pages = nr_pages,
		.lpn = lpn,
		.dpn = dpn,
	};

	put_pages(&draft, pages, &map, dmda_super_has_sums(change->super) ? no_sums : NULL);
}

u32 dmda_change_most(struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn, u32 nr_pages,
		     u32 nr_runs)
{
	u64 end = from_lpn(lpn) + nr_pages, at = from_lpn(lpn);

	while (at < end && nr_runs--) {
		dpn_t dpn;

		at += run_at(pages, at, end, &dpn);
	}
	return at - from_lpn(lpn);
}

static bool any_mapped(struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn,
		       u32 nr_pages)
{
	u64 end = from_lpn(lpn) + nr_pages;

	for (u64 at = from_lpn(lpn); at < end;) {
		dpn_t dpn;

		at += run_at(pages, at, end, &dpn);
		if (dpn != DPN_NONE)
			return true;
	}
	return false;
}

u64 dmda_change_trim(struct dmda_change *change,
		     struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn,
		     u32 nr_pages)
{
	const struct dmda_record trim = {
		.kind = DMDA_RECORD_TRIM,
		.nr_pages = nr_pages,
		.lpn = lpn,
	};

	return any_mapped(pages, lpn, nr_pages) ? change_pages(change, pages, &trim, NULL) : 0;
}

u64 dmda_change_segment(struct dmda_change *change, const struct dmda_record *record)
{
	put(change, record);
	return dmda_journal_end_op(change->batch);
}

static const char *apply_to_segments(struct dmda_segments *segments, const struct dmda_op *op)
{
	const char *why = NULL;

	if (op->nr_records == 1)
		return dmda_segments_apply_only(segments, &op->record[0], op->seq, op->sector);
	for (u32 i = 0; !why && i < op->nr_records; i++)
		why = dmda_segments_apply(segments, &op->record[i], op->seq);
	for (u32 i = 0; !why && i < op->nr_records; i++)
		dmda_segments_applied(segments, &op->record[i], op->seq, op->sector);
	return why;
}

const char *dmda_change_replay(struct dmda_change *change, const struct dmda_op *op,
			       struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES])
{
	const struct dmda_record *record = dmda_op_pages(op);
	const char *why = apply_to_segments(change->segments, op);

	if (why)
		return why;
	if (record)
		apply_to_map(change, pages, record, op->nr_sums ? op->sum : NULL, op->seq,
			     op->sector);
	return NULL;
}
