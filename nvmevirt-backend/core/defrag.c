// SPDX-License-Identifier: GPL-2.0-only
/*
 * The defrag log while the drive is on, and its replay after a power failure. The log is that of
 * janusd (Hahn et al., USENIX ATC 2017, section 4.2), but for the way in which an entry ends:
 * there another entry says that it is void, here a higher number of the same page does. So nothing
 * has to be written to the log when an entry ends, and what is written or trimmed need not know
 * that there is one.
 *
 * The replay trusts pages and numbers alone. The place in an entry is kept up for compaction,
 * which asks whether the data is still there; a replay looks for the data at all places of the
 * drive. What the log's programs cost is in remap.c.
 */
#include "defrag.h"

u32 ftl_defrag_max(const struct ftl_params *params)
{
	if (!params->oob || !params->share_pages)
		return 0;
	return (u64)params->share_log_kib * 1024 / sizeof(struct ftl_defrag_entry);
}

static void mark(struct ftl_oob *oob, u64 first, u64 nr)
{
	ftl_oob_mark(oob, oob->defrag, sizeof(*oob->defrag));
	if (nr)
		ftl_oob_mark(oob, &oob->defrag_entry[first], nr * sizeof(*oob->defrag_entry));
}

u32 ftl_defrag_add(struct ftl_oob *oob, lpn_t lpn, ppn_t ppn, u64 commit_ns)
{
	u32 nr = oob->defrag->nr++;

	oob->defrag_entry[nr] = (struct ftl_defrag_entry){
		.seq = ++oob->head->seq,
		.data = ftl_oob_seq(oob, ppn),
		.commit_ns = commit_ns,
		.lpn = from_lpn(lpn),
		.home = from_lpn(ftl_oob_owner(oob, ppn)),
		.place = from_ppn(ppn),
	};
	mark(oob, nr, 1);
	return nr;
}

void ftl_defrag_moved(struct ftl_oob *oob, u32 entry, ppn_t ppn)
{
	oob->defrag_entry[entry].place = from_ppn(ppn);
	mark(oob, entry, 1);
}

bool ftl_defrag_is_kept(const struct ftl_oob *oob, u32 entry)
{
	return oob->defrag_entry[entry].commit_ns <= *oob->now_ns;
}

void ftl_defrag_settle(struct ftl_oob *oob)
{
	u64 nr = oob->defrag->nr;

	/* Times ascend. */
	for (; nr && !ftl_defrag_is_kept(oob, nr - 1); nr--) {
		oob->defrag_entry[nr - 1].commit_ns = *oob->now_ns;
		mark(oob, nr - 1, 1);
	}
}

void ftl_defrag_cut(struct ftl_oob *oob, u64 now_ns)
{
	struct ftl_defrag_head *head = oob->defrag;

	while (head->nr && oob->defrag_entry[head->nr - 1].commit_ns > now_ns)
		head->nr--;
	mark(oob, 0, 0);
}

/* Is the data in its old place still, or on its way there? */
static bool is_carried(const struct ftl_oob *oob, const struct ftl_defrag_entry *entry)
{
	u32 place = entry->place;

	if (place >= oob->geo->nr_pages)
		return false;
	if (oob->lpn[place] == entry->home + 1 && oob->seq[place] == entry->data)
		return true;
	return ftl_oob_owner(oob, to_ppn(place)) == to_lpn(entry->home) &&
		ftl_oob_seq(oob, to_ppn(place)) == entry->data;
}

static bool is_outdated(const struct ftl_l2p *map, u32 index)
{
	const struct ftl_oob *oob = map->oob;
	const struct ftl_defrag_entry *entry = &oob->defrag_entry[index];
	const struct ftl_sharer *sharer = ftl_share_find(map->share, to_lpn(entry->lpn));
	ppn_t ppn = ftl_l2p_get(map, to_lpn(entry->lpn));

	if (sharer)
		return sharer->entry != index + 1 &&
			ftl_defrag_is_kept(oob, sharer->entry - 1);
	if (ppn == PPN_NONE)
		return true;
	if (ftl_oob_seq(oob, ppn) == entry->seq)
		return !is_carried(oob, entry);
	if (!oob->is_volatile)
		return true;
	return !ftl_ppn_is_buffered(oob->geo, ppn) && !oob->booked[ftl_flash_unit(oob->geo, ppn)];
}

void ftl_defrag_compact(struct ftl_l2p *map)
{
	struct ftl_oob *oob = map->oob;
	struct ftl_defrag_entry *entry = oob->defrag_entry;
	struct ftl_sharer *sharer;
	u64 nr = oob->defrag->nr;
	u32 to = 0;

	ftl_oob_settle(oob, *oob->now_ns);
	for (u32 from = 0; from < nr; from++) {
		if (is_outdated(map, from))
			continue;
		sharer = ftl_share_find(map->share, to_lpn(entry[from].lpn));
		if (sharer && sharer->entry == from + 1)
			sharer->entry = to + 1;
		entry[to++] = entry[from];
	}
	oob->defrag->nr = to;
	mark(oob, 0, to);
}

bool ftl_defrag_reserve(struct ftl_l2p *map, u32 nr)
{
	struct ftl_defrag_head *head = map->oob->defrag;

	if (nr <= map->oob->max_defrag - head->nr)
		return true;
	ftl_defrag_compact(map);
	head->nr_compactions++;
	head->nr_kept += head->nr;
	return nr <= map->oob->max_defrag - head->nr;
}

static u32 *data_bucket(const struct ftl_share *share, u64 data)
{
	return &share->by_place[hash_32((u32)data ^ (u32)(data >> 32), share->bits)];
}

/* The table of places is empty before the replay, and serves to find entries by their data. */
static void index_by_data(const struct ftl_l2p *map)
{
	const struct ftl_share *share = map->share;

	for (u32 i = 0; i < map->oob->defrag->nr; i++) {
		struct ftl_defrag_entry *entry = &map->oob->defrag_entry[i];
		u32 *bucket = data_bucket(share, entry->data);

		entry->place = U32_MAX;
		entry->commit_ns = 0;
		share->next[i] = *bucket;
		*bucket = i + 1;
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
		struct ftl_defrag_entry *entry = &oob->defrag_entry[nr - 1];

		if (entry->data == oob->seq[place] && entry->home + 1 == oob->lpn[place] &&
		    (entry->place == U32_MAX || ftl_oob_counts(oob, place, entry->place)))
			entry->place = place;
	}
}

/* Does what the page has now count rather than the entry? */
static bool is_newer(const struct ftl_l2p *map, const struct ftl_defrag_entry *entry)
{
	ppn_t ppn = ftl_l2p_get(map, to_lpn(entry->lpn));
	u64 seq;

	if (ppn == PPN_NONE)
		return false;
	seq = ftl_share_seq(map, to_lpn(entry->lpn));
	if (seq != entry->seq)
		return seq > entry->seq;
	return ftl_share_find(map->share, to_lpn(entry->lpn)) ||
		!ftl_oob_counts(map->oob, entry->place, from_ppn(ppn));
}

static const char *replay_entry(struct ftl_l2p *map, u32 index)
{
	struct ftl_oob *oob = map->oob;
	const struct ftl_defrag_entry *entry = &oob->defrag_entry[index];
	lpn_t lpn = to_lpn(entry->lpn);
	ppn_t ppn;

	if (entry->lpn >= map->nr_lpns)
		return "The defrag log has a page that does not exist.";
	/* Numbers that are given from now on have to be higher. */
	oob->head->seq = max(oob->head->seq, entry->seq);
	if (entry->place == U32_MAX || is_newer(map, entry))
		return NULL;
	ppn = ftl_l2p_get(map, lpn);
	if (ppn != PPN_NONE)
		ftl_share_leave(map, lpn, ppn);
	if (map->share->nr == map->share->max)
		return "The defrag log has more pages than can be shared.";
	ftl_share_join(map, lpn, to_ppn(entry->place), index + 1);
	return NULL;
}

const char *ftl_defrag_replay(struct ftl_l2p *map)
{
	struct ftl_oob *oob = map->oob;
	const char *reason = NULL;

	if (oob->defrag->nr > oob->max_defrag)
		return "The defrag log has more entries than fit.";
	if (!oob->defrag->nr)
		return NULL;
	index_by_data(map);
	for (u32 place = 0; place < oob->geo->nr_places; place++)
		look_at_place(map, place);
	memset(map->share->by_place, 0, sizeof(u32) << map->share->bits);
	for (u32 i = 0; !reason && i < oob->defrag->nr; i++)
		reason = replay_entry(map, i);
	return reason;
}
