// SPDX-License-Identifier: GPL-2.0-only
/*
 * Room in the defrag log. What is outdated is found by the maps and sharers; an entry is cut where
 * what is outdated lies between other pages, as far as that needs no more entries than there were.
 */
#include "defrag.h"
#include "defrag-compact.h"
#include "oob-booked.h"
#include "share.h"

static bool is_outdated(const struct ftl_l2p *map, u32 page)
{
	const struct ftl_oob *oob = map->oob;
	lpn_t lpn = ftl_defrag_lpn(oob, page);
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
	ftl_defrag_mark(oob, 0, job.nr_entries);
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
