// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owners of a place that the map does not know, for janusd's remapping (Hahn et al., USENIX
 * ATC 2017, section 4). A map with room for several owners in each entry would cost every drive
 * memory and time for what most never do. So further owners are records, in tables whose size is
 * fixed when the drive is made: the FTL allocates nothing, and a command that they have no room
 * for is refused.
 *
 * There are two hash tables over them, since a write or trim asks by page and collection by place.
 */
#include "defrag.h"
#include "oob-slots.h"
#include "share.h"
#include "table.h"

#define MIN_BITS	4

static u32 sharer_bits(u32 nr)
{
	return max_t(u32, order_base_2(nr), MIN_BITS);
}

/*
 * A power failure undoes what would have made sharers owners, so that there can be more
 * of them than commands may make: one for each page of the log.
 */
static u32 nr_records(const struct ftl_params *params)
{
	return params->oob ? ftl_defrag_max_pages(params) : params->share_pages;
}

size_t ftl_share_bytes(const struct ftl_params *params)
{
	u32 nr = nr_records(params);

	if (!params->share_pages)
		return 0;
	return size_add(size_add(array_size(nr, sizeof(struct ftl_sharer)),
				 2 * sizeof(u32) << sharer_bits(nr)),
			array_size(ftl_defrag_max_pages(params), sizeof(u32)));
}

void ftl_share_init(struct ftl_share *share, const struct ftl_params *params, void *zeroed)
{
	share->most = params->share_pages;
	share->max = nr_records(params);
	share->bits = sharer_bits(share->max);
	share->sharer = zeroed;
	share->by_place = (u32 *)(share->sharer + share->max);
	share->by_lpn = share->by_place + (1U << share->bits);
	share->next = share->by_lpn + (1U << share->bits);
	for (u32 i = 0; i < share->max; i++)
		share->sharer[i].same_place = i + 1 < share->max ? i + 2 : 0;
	share->free = 1;
}

static u32 *place_bucket(const struct ftl_share *share, u32 place)
{
	return &share->by_place[hash_32(place, share->bits)];
}

static u32 *lpn_bucket(const struct ftl_share *share, u32 lpn)
{
	return &share->by_lpn[hash_32(lpn, share->bits)];
}

static u32 nr_of(const struct ftl_share *share, const struct ftl_sharer *sharer)
{
	return (u32)(sharer - share->sharer) + 1;
}

struct ftl_sharer *ftl_share_find(const struct ftl_share *share, lpn_t lpn)
{
	u32 nr = *lpn_bucket(share, from_lpn(lpn) + 1);

	while (nr && share->sharer[nr - 1].lpn != from_lpn(lpn) + 1)
		nr = share->sharer[nr - 1].same_lpn;
	return nr ? &share->sharer[nr - 1] : NULL;
}

struct ftl_sharer *ftl_share_at(const struct ftl_share *share, ppn_t ppn,
				const struct ftl_sharer *after)
{
	u32 nr = after ? after->same_place : *place_bucket(share, from_ppn(ppn));

	while (nr && share->sharer[nr - 1].place != from_ppn(ppn))
		nr = share->sharer[nr - 1].same_place;
	return nr ? &share->sharer[nr - 1] : NULL;
}

static void add_to_place(struct ftl_share *share, struct ftl_sharer *sharer, u32 place)
{
	u32 *bucket = place_bucket(share, place);

	sharer->place = place;
	sharer->same_place = *bucket;
	*bucket = nr_of(share, sharer);
}

static void remove_from_place(struct ftl_share *share, const struct ftl_sharer *sharer)
{
	u32 *link = place_bucket(share, sharer->place);

	while (*link != nr_of(share, sharer))
		link = &share->sharer[*link - 1].same_place;
	*link = sharer->same_place;
}

static void remove_from_lpn(struct ftl_share *share, const struct ftl_sharer *sharer)
{
	u32 *link = lpn_bucket(share, sharer->lpn);

	while (*link != nr_of(share, sharer))
		link = &share->sharer[*link - 1].same_lpn;
	*link = sharer->same_lpn;
}

void ftl_share_restore(struct ftl_share *share, u32 lpn, u32 place, u32 log_page)
{
	u32 *bucket = lpn_bucket(share, lpn);
	u32 nr = share->free;
	struct ftl_sharer *sharer = &share->sharer[nr - 1];

	share->free = sharer->same_place;
	share->nr++;
	sharer->lpn = lpn;
	sharer->log_page = log_page;
	sharer->same_lpn = *bucket;
	*bucket = nr;
	add_to_place(share, sharer, place);
}

static void free_sharer(struct ftl_share *share, struct ftl_sharer *sharer)
{
	remove_from_place(share, sharer);
	remove_from_lpn(share, sharer);
	sharer->lpn = 0;
	sharer->same_place = share->free;
	share->free = nr_of(share, sharer);
	share->nr--;
}

void ftl_share_join(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn, u32 log_page)
{
	u32 *owner = &map->owner_of[from_ppn(ppn)];

	if (!map->place_of[from_lpn(lpn)])
		ftl_l2p_count_up(map, from_lpn(lpn));
	map->place_of[from_lpn(lpn)] = from_ppn(ppn) + 1;
	ftl_share_restore(map->share, from_lpn(lpn) + 1, from_ppn(ppn), log_page);
	if (*owner)
		map->share->nr_extra++;
	else
		*owner = from_lpn(lpn) + 1;
}

bool ftl_share_leave(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	struct ftl_share *share = map->share;
	struct ftl_sharer *sharer = ftl_share_find(share, lpn);
	u32 *owner = &map->owner_of[from_ppn(ppn)];

	if (sharer)
		free_sharer(share, sharer);
	if (*owner == from_lpn(lpn) + 1) {
		sharer = ftl_share_at(share, ppn, NULL);
		*owner = sharer ? sharer->lpn : 0;
		/* Without a log, nothing tells it from any other page any more. */
		if (sharer && !map->oob)
			free_sharer(share, sharer);
	}
	if (!*owner)
		return true;
	share->nr_extra--;
	return false;
}

/*
 * May the data be written under its owner's own number? Not while others need the one
 * that it has, nor before the command that gave it is sure to stay.
 */
static bool can_be_named(const struct ftl_l2p *map, const struct ftl_sharer *sharer)
{
	return map->owner_of[sharer->place] == sharer->lpn &&
		!ftl_share_at(map->share, to_ppn(sharer->place), sharer) &&
		ftl_defrag_is_kept(map->oob, sharer->log_page - 1);
}

static void move_oob(struct ftl_l2p *map, ppn_t from, ppn_t to)
{
	struct ftl_sharer *sharer = ftl_share_at(map->share, from, NULL);
	lpn_t lpn;
	u64 seq;

	if (can_be_named(map, sharer)) {
		seq = ftl_share_seq(map, to_lpn(sharer->lpn - 1));
		ftl_oob_move(map->oob, sharer->lpn, from, to);
		map->oob->seq[from_ppn(to)] = seq;
		map->oob->prev_seq[ftl_oob_slot(map->oob, to)] = seq;
		free_sharer(map->share, sharer);
		return;
	}
	lpn = ftl_oob_owner(map->oob, from);
	ftl_oob_move(map->oob, from_lpn(lpn) + 1, from, to);
}

static void move_sharers(struct ftl_l2p *map, ppn_t from, ppn_t to)
{
	struct ftl_share *share = map->share;
	struct ftl_sharer *sharer;

	while ((sharer = ftl_share_at(share, from, NULL))) {
		remove_from_place(share, sharer);
		add_to_place(share, sharer, from_ppn(to));
		map->place_of[sharer->lpn - 1] = from_ppn(to) + 1;
		if (map->oob && !ftl_ppn_is_buffered(map->oob->geo, to))
			ftl_defrag_moved(map->oob, sharer->log_page - 1, to);
	}
}

void ftl_share_move(struct ftl_l2p *map, ppn_t from, ppn_t to)
{
	u32 owner = map->owner_of[from_ppn(from)];

	if (map->oob && ftl_ppn_is_buffered(map->oob->geo, to))
		move_oob(map, from, to);
	move_sharers(map, from, to);
	map->owner_of[from_ppn(from)] = 0;
	map->owner_of[from_ppn(to)] = owner;
	map->place_of[owner - 1] = from_ppn(to) + 1;
}

bool ftl_share_repeats(const struct ftl_l2p *map, lpn_t first, lpn_t lpn)
{
	ppn_t ppn = ftl_l2p_get(map, lpn);
	const struct ftl_sharer *sharer = NULL;
	u64 nr_before = from_lpn(lpn) - from_lpn(first);

	if (from_lpn(ftl_l2p_owner(map, ppn)) - from_lpn(first) < nr_before)
		return true;
	while ((sharer = ftl_share_at(map->share, ppn, sharer))) {
		if (sharer->lpn - 1 - from_lpn(first) < nr_before)
			return true;
	}
	return false;
}

u64 ftl_share_seq(const struct ftl_l2p *map, lpn_t lpn)
{
	const struct ftl_sharer *sharer = ftl_share_find(map->share, lpn);

	if (sharer)
		return ftl_defrag_seq(map->oob, sharer->log_page - 1);
	return ftl_oob_seq(map->oob, ftl_l2p_get(map, lpn));
}
