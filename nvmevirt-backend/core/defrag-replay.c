// SPDX-License-Identifier: GPL-2.0-only
/*
 * The defrag log's replay after a power failure.
 *
 * All places of the drive are looked at once: the pages of the log are found by the numbers of
 * their data. Then they get what was found one after the other, in the order of the log.
 */
#include "defrag.h"
#include "defrag-replay.h"
#include "share.h"

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
	lpn_t lpn = ftl_defrag_lpn(oob, page);
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
	lpn_t lpn = ftl_defrag_lpn(oob, page);
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
