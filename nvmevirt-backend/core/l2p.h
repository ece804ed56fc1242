/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two maps of the FTL: where a logical page is, and whose page sits in a place.
 *
 * Entries are 32 bits and hold the number plus one, so that zeroed memory means
 * "nothing". Only sharing (share.h) looks into the arrays besides, so their storage may
 * change. A place has an owner exactly while the owner's entry points back to it; further
 * owners are sharers.
 */
#ifndef FTL_L2P_H
#define FTL_L2P_H

#include "oob-slots.h"
#include "share.h"
#include "table.h"

/**
 * struct ftl_l2p - both maps
 * @nr_lpns: number of logical pages
 * @nr_places: number of places, the slots of open units included
 * @place_of: place plus one, by lpn; 0 if unmapped
 * @owner_of: lpn plus one, by place; 0 if the place holds nothing valid
 * @region_mapped: number of mapped pages, by region (FTL_REGION_PAGES)
 * @region_state: enum ftl_region_state, by region
 * @oob: out-of-band data that follows what the maps do, or NULL
 * @share: sharers: pages that lie in places of others, or NULL
 */
struct ftl_l2p {
	u64 nr_lpns;
	u32 nr_places;
	u32 *place_of;
	u32 *owner_of;
	u32 *region_mapped;
	u8 *region_state;
	struct ftl_oob *oob;
	struct ftl_share *share;
};

/**
 * ftl_l2p_bytes() - memory that both maps need
 */
size_t ftl_l2p_bytes(u64 nr_lpns, u32 nr_places);

/**
 * ftl_l2p_init() - lay the maps into memory, everything unmapped
 * @zeroed: ftl_l2p_bytes() bytes
 */
void ftl_l2p_init(struct ftl_l2p *map, u64 nr_lpns, u32 nr_places, void *zeroed);

/**
 * ftl_l2p_skip_unmapped() - find the next mapped page
 * Return: the first mapped page of [@lpn, @end), or @end.
 */
u64 ftl_l2p_skip_unmapped(const struct ftl_l2p *map, u64 lpn, u64 end);

/**
 * ftl_l2p_reach() - how far do so many looks lead, one for each page, or a region without any?
 * @most: looks; gets those that are left
 * Return: the page behind the last that can be looked at, at most @end.
 */
u64 ftl_l2p_reach(const struct ftl_l2p *map, u64 lpn, u64 end, u32 *most);

/**
 * ftl_l2p_nr_mapped() - count mapped pages; whole regions are counted already
 * Return: how many of [@lpn, @end) are mapped.
 */
u64 ftl_l2p_nr_mapped(const struct ftl_l2p *map, u64 lpn, u64 end);

static inline void ftl_l2p_change_region(struct ftl_l2p *map, u64 region)
{
	if (map->oob && ftl_table_needs(map->oob, region))
		ftl_table_take(map, region);
	else
		map->region_state[region] = FTL_REGION_CHANGED;
}

/* A page that is nowhere is about to be somewhere. */
static inline void ftl_l2p_count_up(struct ftl_l2p *map, u64 lpn)
{
	ftl_l2p_change_region(map, lpn >> FTL_REGION_SHIFT);
	map->region_mapped[lpn >> FTL_REGION_SHIFT]++;
}

/* A page that is somewhere is about to be nowhere. */
static inline void ftl_l2p_count_down(struct ftl_l2p *map, u64 lpn)
{
	ftl_l2p_change_region(map, lpn >> FTL_REGION_SHIFT);
	map->region_mapped[lpn >> FTL_REGION_SHIFT]--;
}

static inline ppn_t ftl_l2p_get(const struct ftl_l2p *map, lpn_t lpn)
{
	u32 entry = map->place_of[from_lpn(lpn)];

	return entry ? to_ppn(entry - 1) : PPN_NONE;
}

static inline lpn_t ftl_l2p_owner(const struct ftl_l2p *map, ppn_t ppn)
{
	u32 entry = map->owner_of[from_ppn(ppn)];

	return entry ? to_lpn(entry - 1) : LPN_NONE;
}

/* How many of the pages from @lpn on are, like it, unmapped or in one row of @nr places? */
static inline u32 ftl_l2p_run(const struct ftl_l2p *map, lpn_t lpn, u32 nr_lpns, u64 first,
			      u32 nr)
{
	const u32 *entry = &map->place_of[from_lpn(lpn)];
	u32 base = first + 1;
	u32 length = 1;

	if (!*entry) {
		while (length < nr_lpns && !entry[length])
			length++;
	} else {
		while (length < nr_lpns && entry[length] && entry[length] - base < nr)
			length++;
	}
	return length;
}

static inline bool ftl_l2p_has_sharers(const struct ftl_l2p *map)
{
	return map->share && map->share->nr;
}

/* Has the place an owner that the maps alone do not know? */
static inline bool ftl_l2p_is_shared(const struct ftl_l2p *map, ppn_t ppn)
{
	return ftl_l2p_has_sharers(map) && ftl_share_at(map->share, ppn, NULL);
}

/* Does the page lie in the place of one of those from @first up to it? */
static inline bool ftl_l2p_repeats(const struct ftl_l2p *map, lpn_t first, lpn_t lpn)
{
	return ftl_l2p_has_sharers(map) && ftl_share_repeats(map, first, lpn);
}

/* Number of a mapped page's data; with out-of-band data. */
static inline u64 ftl_l2p_seq(const struct ftl_l2p *map, lpn_t lpn)
{
	if (ftl_l2p_has_sharers(map))
		return ftl_share_seq(map, lpn);
	return ftl_oob_seq(map->oob, ftl_l2p_get(map, lpn));
}

/* The page no longer owns the place. Return: whether nobody does. */
static inline bool ftl_l2p_leave(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	if (ftl_l2p_has_sharers(map))
		return ftl_share_leave(map, lpn, ppn);
	map->owner_of[from_ppn(ppn)] = 0;
	return true;
}

/* What buffered data of the page at @ppn took the place of, or newer data will take. */
static inline struct ftl_oob_prev ftl_l2p_prev(const struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	struct ftl_oob_prev prev = ftl_oob_prev_of(map->oob, ppn);

	/* A place carries the number of one of its owners only. */
	if (ftl_l2p_is_shared(map, ppn))
		prev.seq = ftl_l2p_seq(map, lpn);
	return prev;
}

static inline void ftl_l2p_put_oob(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	u32 entry = map->place_of[from_lpn(lpn)];
	struct ftl_oob_prev prev = {};

	if (entry)
		prev = ftl_l2p_prev(map, lpn, to_ppn(entry - 1));
	ftl_oob_put(map->oob, lpn, ppn, prev);
}

/* The page is now at @ppn. Return: whether where it was, if anywhere, holds nothing now. */
static inline bool ftl_l2p_put(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	u32 *entry = &map->place_of[from_lpn(lpn)];
	bool is_dead = true;

	if (map->oob)
		ftl_l2p_put_oob(map, lpn, ppn);
	if (*entry)
		is_dead = ftl_l2p_leave(map, lpn, to_ppn(*entry - 1));
	else
		ftl_l2p_count_up(map, from_lpn(lpn));
	*entry = from_ppn(ppn) + 1;
	map->owner_of[from_ppn(ppn)] = from_lpn(lpn) + 1;
	return is_dead;
}

/* The page is at @ppn, the only place where it ever is. */
static inline void ftl_l2p_put_home(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	u32 *entry = &map->place_of[from_lpn(lpn)];

	if (!*entry)
		ftl_l2p_count_up(map, from_lpn(lpn));
	*entry = from_ppn(ppn) + 1;
	map->owner_of[from_ppn(ppn)] = from_lpn(lpn) + 1;
	if (map->oob)
		ftl_oob_put_home(map->oob, lpn, ppn);
}

/* The page at @ppn is written again where it is. */
static inline void ftl_l2p_renew(struct ftl_l2p *map, ppn_t ppn)
{
	if (map->oob)
		ftl_oob_renew(map->oob, ppn);
}

static inline void ftl_l2p_set_prev(struct ftl_l2p *map, lpn_t lpn, struct ftl_oob_prev prev)
{
	ftl_oob_set_prev(map->oob, ftl_l2p_get(map, lpn), prev);
}

/* The page is nowhere now. Return: whether the place where it was holds nothing. */
static inline bool ftl_l2p_clear(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	ftl_l2p_count_down(map, from_lpn(lpn));
	map->place_of[from_lpn(lpn)] = 0;
	if (!ftl_l2p_leave(map, lpn, ppn))
		return false;
	if (map->oob)
		ftl_oob_drop(map->oob, ppn);
	return true;
}

/* The page at @from is now at @to; @from holds nothing. For NAND see ftl_oob_program(). */
static inline void ftl_l2p_move(struct ftl_l2p *map, ppn_t from, ppn_t to)
{
	u32 owner = map->owner_of[from_ppn(from)];

	if (ftl_l2p_is_shared(map, from)) {
		ftl_share_move(map, from, to);
		return;
	}
	if (map->oob && owner && ftl_ppn_is_buffered(map->oob->geo, to))
		ftl_oob_move(map->oob, owner, from, to);
	map->owner_of[from_ppn(from)] = 0;
	map->owner_of[from_ppn(to)] = owner;
	if (owner)
		map->place_of[owner - 1] = from_ppn(to) + 1;
}

#endif /* FTL_L2P_H */
