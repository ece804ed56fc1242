/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two maps of the FTL: where a logical page is, and whose page sits in a place.
 *
 * Entries are 32 bits and hold the number plus one, so that zeroed memory means
 * "nothing". Only sharing (share.h) looks into the arrays besides, so their storage may
 * change. A place has an owner exactly while the owner's entry points back to it; further
 * owners are sharers.
 *
 * Here is what they are and what they say. Changes are in l2p-change.h, as they go on into the
 * table of what is mapped (table.h), the sharers and the out-of-band data, which stand on the maps.
 */
#ifndef FTL_L2P_H
#define FTL_L2P_H

#include "geometry.h"

struct ftl_oob;
struct ftl_share;

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

#endif /* FTL_L2P_H */
