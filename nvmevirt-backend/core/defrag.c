// SPDX-License-Identifier: GPL-2.0-only
/*
 * The defrag log while the drive is on. The log is that of janusd (Hahn et al., USENIX ATC 2017,
 * section 4.2), but for the way in which an entry ends: there another entry says that it is void,
 * here a higher number of the same page does. So nothing has to be written to the log when an entry
 * ends, and what is written or trimmed need not know that there is one.
 *
 * The replay trusts pages and numbers alone. The place of a page of the log is kept up for
 * compaction, which asks whether the data is still there; a replay looks for the data at all
 * places of the drive. What the log's programs cost is in defrag-program.c.
 */
#include "defrag.h"

u32 ftl_defrag_max(const struct ftl_params *params)
{
	if (!params->oob || !params->share_pages)
		return 0;
	return (u64)params->share_log_kib * 1024 / sizeof(struct ftl_defrag_entry);
}

/* Of what commands can share at a time twice as many: outdated pages are taken out now and then. */
u32 ftl_defrag_max_pages(const struct ftl_params *params)
{
	u32 max = ftl_defrag_max(params);

	return max ? max_t(u64, max, min_t(u64, 2ULL * params->share_pages, U32_MAX / 2)) : 0;
}

u32 ftl_defrag_nr_pages(const struct ftl_oob *oob)
{
	const struct ftl_defrag_entry *last;

	if (!oob->defrag->nr)
		return 0;
	last = &oob->defrag_entry[oob->defrag->nr - 1];
	return last->first + last->nr;
}

void ftl_defrag_mark(struct ftl_oob *oob, u64 first, u64 nr)
{
	ftl_oob_mark(oob, oob->defrag, sizeof(*oob->defrag));
	if (nr)
		ftl_oob_mark(oob, &oob->defrag_entry[first], nr * sizeof(*oob->defrag_entry));
}

struct ftl_defrag_entry ftl_defrag_entry_of(const struct ftl_oob *oob, lpn_t lpn, ppn_t ppn)
{
	return (struct ftl_defrag_entry){
		.data = ftl_oob_seq(oob, ppn),
		.lpn = from_lpn(lpn),
		.home = from_lpn(ftl_oob_owner(oob, ppn)),
		.nr = 1,
	};
}

bool ftl_defrag_extends(const struct ftl_defrag_entry *entry,
			const struct ftl_defrag_entry *page)
{
	return page->lpn == entry->lpn + entry->nr && page->home == entry->home + entry->nr &&
		page->data == entry->data + entry->nr;
}

u32 ftl_defrag_add(struct ftl_oob *oob, lpn_t lpn, ppn_t ppn, u64 commit_ns, u64 since)
{
	struct ftl_defrag_entry page = ftl_defrag_entry_of(oob, lpn, ppn);
	u32 nr_pages = ftl_defrag_nr_pages(oob);
	u64 nr = oob->defrag->nr;

	page.seq = ++oob->head->seq;
	page.commit_ns = commit_ns;
	page.first = nr_pages;
	if (nr > since && ftl_defrag_extends(&oob->defrag_entry[nr - 1], &page))
		oob->defrag_entry[--nr].nr++;
	else
		oob->defrag_entry[oob->defrag->nr++] = page;
	ftl_defrag_mark(oob, nr, 1);
	oob->defrag_page[nr_pages] = (struct ftl_defrag_page){ nr, from_ppn(ppn) };
	return nr_pages;
}

void ftl_defrag_moved(struct ftl_oob *oob, u32 page, ppn_t ppn)
{
	oob->defrag_page[page].place = from_ppn(ppn);
}

static const struct ftl_defrag_entry *entry_of(const struct ftl_oob *oob, u32 page)
{
	return &oob->defrag_entry[oob->defrag_page[page].entry];
}

bool ftl_defrag_is_kept(const struct ftl_oob *oob, u32 page)
{
	return entry_of(oob, page)->commit_ns <= *oob->now_ns;
}

struct ftl_defrag_entry ftl_defrag_page_of(const struct ftl_oob *oob, u32 page)
{
	struct ftl_defrag_entry entry = *entry_of(oob, page);
	u32 at = page - entry.first;

	entry.seq += at;
	entry.data += at;
	entry.lpn += at;
	entry.home += at;
	entry.first = page;
	entry.nr = 1;
	return entry;
}

lpn_t ftl_defrag_lpn(const struct ftl_oob *oob, u32 page)
{
	const struct ftl_defrag_entry *entry = entry_of(oob, page);

	return to_lpn(entry->lpn + (page - entry->first));
}

u64 ftl_defrag_seq(const struct ftl_oob *oob, u32 page)
{
	const struct ftl_defrag_entry *entry = entry_of(oob, page);

	return entry->seq + (page - entry->first);
}

/* Entries whose time is later than @ns, which are the last ones, get another. */
static void set_times(struct ftl_oob *oob, u64 ns, u64 commit_ns)
{
	u64 nr = oob->defrag->nr;

	for (; nr && oob->defrag_entry[nr - 1].commit_ns > ns; nr--) {
		oob->defrag_entry[nr - 1].commit_ns = commit_ns;
		ftl_defrag_mark(oob, nr - 1, 1);
	}
}

void ftl_defrag_commit(struct ftl_oob *oob, u64 commit_ns)
{
	set_times(oob, FTL_DEFRAG_WAITS - 1, commit_ns);
}

void ftl_defrag_settle(struct ftl_oob *oob)
{
	set_times(oob, *oob->now_ns, *oob->now_ns);
}

void ftl_defrag_rest(struct ftl_oob *oob)
{
	set_times(oob, 0, 0);
}

bool ftl_defrag_hurry(struct ftl_oob *oob, u64 ns)
{
	bool hurried = false;

	for (u64 nr = oob->defrag->nr; nr; nr--) {
		struct ftl_defrag_entry *entry = &oob->defrag_entry[nr - 1];

		if (entry->commit_ns <= *oob->now_ns)
			break;
		if (entry->commit_ns > ns)
			continue;
		entry->commit_ns = *oob->now_ns;
		ftl_defrag_mark(oob, nr - 1, 1);
		hurried = true;
	}
	return hurried;
}

void ftl_defrag_cut(struct ftl_oob *oob, u64 now_ns)
{
	struct ftl_defrag_head *head = oob->defrag;

	while (head->nr && oob->defrag_entry[head->nr - 1].commit_ns > now_ns)
		head->nr--;
	ftl_defrag_mark(oob, 0, 0);
}

bool ftl_defrag_is_carried(const struct ftl_oob *oob, u32 page)
{
	struct ftl_defrag_entry entry = ftl_defrag_page_of(oob, page);
	u32 place = oob->defrag_page[page].place;

	if (place >= oob->geo->nr_pages)
		return false;
	if (oob->lpn[place] == entry.home + 1 && oob->seq[place] == entry.data)
		return true;
	return ftl_oob_owner(oob, to_ppn(place)) == to_lpn(entry.home) &&
		ftl_oob_seq(oob, to_ppn(place)) == entry.data;
}

const char *ftl_defrag_restore_pages(struct ftl_oob *oob)
{
	u32 nr_pages = 0;

	if (oob->defrag->nr > oob->max_defrag)
		return "The defrag log has more entries than fit.";
	for (u32 i = 0; i < oob->defrag->nr; i++) {
		struct ftl_defrag_entry *entry = &oob->defrag_entry[i];

		if (entry->lpn >= oob->nr_lpns || entry->nr > oob->nr_lpns - entry->lpn)
			return "The defrag log has a page that does not exist.";
		if (!entry->nr || entry->nr > oob->max_defrag_pages - nr_pages)
			return "The defrag log has an entry with no page, or more than fit.";
		entry->first = nr_pages;
		for (u32 page = 0; page < entry->nr; page++)
			oob->defrag_page[nr_pages++] = (struct ftl_defrag_page){ i, U32_MAX };
	}
	return NULL;
}

const char *ftl_defrag_check(const struct ftl_oob *oob)
{
	u32 nr_pages = 0;

	for (u32 i = 0; oob->max_defrag && i < oob->defrag->nr; i++) {
		const struct ftl_defrag_entry *entry = &oob->defrag_entry[i];

		if (!entry->nr || entry->first != nr_pages)
			return "An entry in the defrag log has pages of others, or none.";
		for (u32 page = 0; page < entry->nr; page++) {
			if (oob->defrag_page[nr_pages++].entry != i)
				return "A page of the defrag log is in another entry.";
		}
	}
	return nr_pages <= oob->max_defrag_pages ? NULL :
		"The defrag log has more pages than fit.";
}
