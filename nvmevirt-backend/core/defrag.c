// SPDX-License-Identifier: GPL-2.0-only
/*
 * The defrag log while the drive is on, and its replay after a power failure. The log is that of
 * janusd (Hahn et al., USENIX ATC 2017, section 4.2), but for the way in which an entry ends:
 * there another entry says that it is void, here a higher number of the same page does. So nothing
 * has to be written to the log when an entry ends, and what is written or trimmed need not know
 * that there is one.
 *
 * The replay trusts pages and numbers alone. The place of a page of the log is kept up for
 * compaction, which asks whether the data is still there; a replay looks for the data at all
 * places of the drive. What the log's programs cost is in remap.c.
 */
#include "defrag.h"
#include "oob-booked.h"
#include "share.h"

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

static void mark(struct ftl_oob *oob, u64 first, u64 nr)
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
	mark(oob, nr, 1);
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

static lpn_t lpn_of(const struct ftl_oob *oob, u32 page)
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
		mark(oob, nr - 1, 1);
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
		mark(oob, nr - 1, 1);
		hurried = true;
	}
	return hurried;
}

void ftl_defrag_cut(struct ftl_oob *oob, u64 now_ns)
{
	struct ftl_defrag_head *head = oob->defrag;

	while (head->nr && oob->defrag_entry[head->nr - 1].commit_ns > now_ns)
		head->nr--;
	mark(oob, 0, 0);
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

static bool is_outdated(const struct ftl_l2p *map, u32 page)
{
	const struct ftl_oob *oob = map->oob;
	lpn_t lpn = lpn_of(oob, page);
	const struct ftl_sharer *sharer = ftl_share_find(map->share, lpn);
	ppn_t ppn = ftl_l2p_get(map, lpn);

	if (sharer)
		return sharer->log_page != page + 1 &&
			ftl_defrag_is_kept(oob, sharer->log_page - 1);
	if (ppn == PPN_NONE)
		return true;
	if (ftl_oob_seq(oob, ppn) == ftl_defrag_seq(oob, page))
		return !ftl_defrag_is_carried(oob, page);
	if (!oob->is_volatile)
		return true;
	return !ftl_ppn_is_buffered(oob->geo, ppn) && !oob->booked[ftl_flash_unit(oob->geo, ppn)];
}

/**
 * struct compaction - what is being made of a log
 * @map: the maps
 * @entry: an entry of it, as it was
 * @nr_entries: entries so far
 * @nr_pages: pages of these
 */
struct compaction {
	struct ftl_l2p *map;
	struct ftl_defrag_entry entry;
	u32 nr_entries;
	u32 nr_pages;
};

static void keep_page(struct compaction *job, u32 from, lpn_t lpn)
{
	struct ftl_sharer *sharer = ftl_share_find(job->map->share, lpn);
	u32 to = job->nr_pages++;

	if (sharer && sharer->log_page == from + 1)
		sharer->log_page = to + 1;
	job->map->oob->defrag_page[to] = (struct ftl_defrag_page){
		.entry = job->nr_entries,
		.place = job->map->oob->defrag_page[from].place,
	};
}

/* Pages of the entry, from one up to another, become an entry. */
static void keep_pages(struct compaction *job, u32 from, u32 end)
{
	struct ftl_defrag_entry entry = job->entry;

	entry.seq += from;
	entry.data += from;
	entry.lpn += from;
	entry.home += from;
	entry.nr = end - from;
	entry.first = job->nr_pages;
	for (u32 i = from; i < end; i++)
		keep_page(job, job->entry.first + i, to_lpn(job->entry.lpn + i));
	job->map->oob->defrag_entry[job->nr_entries++] = entry;
}

static u32 skip(const struct compaction *job, u32 from, bool is_outdated_page)
{
	while (from < job->entry.nr &&
	       is_outdated(job->map, job->entry.first + from) == is_outdated_page)
		from++;
	return from;
}

/*
 * What is left of an entry. It becomes several where that takes no entry that was not looked at;
 * else what is outdated between the others stays.
 */
static void compact_entry(struct compaction *job, u32 index)
{
	u32 from, end, next;

	job->entry = job->map->oob->defrag_entry[index];
	from = skip(job, 0, true);
	while (from < job->entry.nr) {
		end = skip(job, from, false);
		next = skip(job, end, true);
		while (next < job->entry.nr && job->nr_entries == index) {
			end = skip(job, next, false);
			next = skip(job, end, true);
		}
		keep_pages(job, from, end);
		from = next;
	}
}

void ftl_defrag_compact(struct ftl_l2p *map)
{
	struct compaction job = { .map = map };
	struct ftl_oob *oob = map->oob;
	u64 nr = oob->defrag->nr;

	ftl_oob_settle(oob, *oob->now_ns);
	for (u32 i = 0; i < nr; i++)
		compact_entry(&job, i);
	oob->defrag->nr = job.nr_entries;
	mark(oob, 0, job.nr_entries);
}

static bool log_has_room(const struct ftl_oob *oob, u32 nr_entries, u32 nr_pages)
{
	return nr_entries <= oob->max_defrag - oob->defrag->nr &&
		nr_pages <= oob->max_defrag_pages - ftl_defrag_nr_pages(oob);
}

void ftl_defrag_make_room(struct ftl_l2p *map)
{
	struct ftl_defrag_head *head = map->oob->defrag;

	ftl_defrag_compact(map);
	head->nr_compactions++;
	head->nr_kept += head->nr;
}

bool ftl_defrag_reserve(struct ftl_l2p *map, u32 nr_entries, u32 nr_pages)
{
	if (log_has_room(map->oob, nr_entries, nr_pages))
		return true;
	ftl_defrag_make_room(map);
	return log_has_room(map->oob, nr_entries, nr_pages);
}

static u32 *data_bucket(const struct ftl_share *share, u64 data)
{
	return &share->by_place[hash_32((u32)data ^ (u32)(data >> 32), share->bits)];
}

/* The table of places is empty before the replay, and serves to find pages by their data. */
static void index_by_data(const struct ftl_l2p *map, u32 nr_pages)
{
	const struct ftl_share *share = map->share;

	for (u32 page = 0; page < nr_pages; page++) {
		u32 *bucket = data_bucket(share, ftl_defrag_page_of(map->oob, page).data);

		share->next[page] = *bucket;
		*bucket = page + 1;
	}
}

static void look_at_place(const struct ftl_l2p *map, u32 place)
{
	struct ftl_oob *oob = map->oob;
	u32 nr;

	if (!oob->lpn[place])
		return;
	nr = *data_bucket(map->share, oob->seq[place]);
	for (; nr; nr = map->share->next[nr - 1]) {
		struct ftl_defrag_entry entry = ftl_defrag_page_of(oob, nr - 1);
		u32 *present = &oob->defrag_page[nr - 1].place;

		if (entry.data == oob->seq[place] && entry.home + 1 == oob->lpn[place] &&
		    (*present == U32_MAX || ftl_oob_counts(oob, place, *present)))
			*present = place;
	}
}

/* Does what the page has now count rather than that of the log? */
static bool is_newer(const struct ftl_l2p *map, u32 page)
{
	const struct ftl_oob *oob = map->oob;
	lpn_t lpn = lpn_of(oob, page);
	ppn_t ppn = ftl_l2p_get(map, lpn);
	u64 seq;

	if (ppn == PPN_NONE)
		return false;
	seq = ftl_share_seq(map, lpn);
	if (seq != ftl_defrag_seq(oob, page))
		return seq > ftl_defrag_seq(oob, page);
	return ftl_share_find(map->share, lpn) ||
		!ftl_oob_counts(oob, oob->defrag_page[page].place, from_ppn(ppn));
}

static const char *replay_page(struct ftl_l2p *map, u32 page)
{
	struct ftl_oob *oob = map->oob;
	u32 place = oob->defrag_page[page].place;
	lpn_t lpn = lpn_of(oob, page);
	ppn_t ppn;

	/* Numbers that are given from now on have to be higher. */
	oob->head->seq = max(oob->head->seq, ftl_defrag_seq(oob, page));
	if (place == U32_MAX || is_newer(map, page))
		return NULL;
	ppn = ftl_l2p_get(map, lpn);
	if (ppn != PPN_NONE)
		ftl_share_leave(map, lpn, ppn);
	if (map->share->nr == map->share->max)
		return "The defrag log has more pages than can be shared.";
	ftl_share_join(map, lpn, to_ppn(place), page + 1);
	return NULL;
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

const char *ftl_defrag_replay(struct ftl_l2p *map)
{
	struct ftl_oob *oob = map->oob;
	const char *reason = ftl_defrag_restore_pages(oob);
	u32 nr_pages;

	if (reason || !oob->defrag->nr)
		return reason;
	for (u32 i = 0; i < oob->defrag->nr; i++)
		oob->defrag_entry[i].commit_ns = 0;
	nr_pages = ftl_defrag_nr_pages(oob);
	index_by_data(map, nr_pages);
	for (u32 place = 0; place < oob->geo->nr_places; place++)
		look_at_place(map, place);
	memset(map->share->by_place, 0, sizeof(u32) << map->share->bits);
	for (u32 page = 0; !reason && page < nr_pages; page++)
		reason = replay_page(map, page);
	return reason;
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
