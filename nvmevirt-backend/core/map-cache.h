/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which pages of the map are in the drive's memory, of a drive that has no room for all of it
 * (Gupta et al., DFTL, ASPLOS 2009). What that costs is in map-page.h.
 *
 * A map page has the entries of FTL_MAP_PAGE_LPNS consecutive pages, 4 bytes each: 4 KiB. The one
 * that was not used for longest makes room. Those that were changed are in a list of their own, by
 * last use as well, so that what is programmed together is found without a search.
 *
 * Only what is known of places is here: places themselves are in l2p.h, all of them, as the model
 * needs them at any time.
 */
#ifndef FTL_MAP_CACHE_H
#define FTL_MAP_CACHE_H

#include "params.h"

#define FTL_MAP_PAGE_LPNS	1024U
#define FTL_MAP_PAGE_SHIFT	10

/**
 * struct ftl_map_slot - a map page in memory
 * @used: link in the list of all, by last use
 * @changed: link in the list of those that NAND does not have as they are; empty if it has
 * @there_ns: time at which it has come from NAND, scaled
 * @map_page: its number
 */
struct ftl_map_slot {
	struct list_head used;
	struct list_head changed;
	u64 there_ns;
	u32 map_page;
};

/**
 * struct ftl_map_cache - the map pages in memory
 * @nr_map_pages: map pages of the drive
 * @max: most that are in memory
 * @nr: those that are
 * @used: all that are, the one that was not used for longest first
 * @changed: those of them that are not on NAND as they are, in the same order
 * @slot: room for @max
 * @slot_of: slot plus one, by map page; 0 if it is not in memory
 * @die_of: die plus one that has it on NAND, by map page; 0 if there is no such page
 */
struct ftl_map_cache {
	u32 nr_map_pages;
	u32 max;
	u32 nr;
	struct list_head used;
	struct list_head changed;
	struct ftl_map_slot *slot;
	u32 *slot_of;
	u16 *die_of;
};

static inline u32 ftl_nr_map_pages(u64 nr_lpns)
{
	return (nr_lpns + FTL_MAP_PAGE_LPNS - 1) >> FTL_MAP_PAGE_SHIFT;
}

/**
 * ftl_map_cache_bytes() - memory of the cache, 0 without params.map_cache_pages
 */
size_t ftl_map_cache_bytes(const struct ftl_params *params);

/**
 * ftl_map_cache_init() - a cache with nothing in it, of a map that is not on NAND
 * @zeroed: ftl_map_cache_bytes() bytes
 */
void ftl_map_cache_init(struct ftl_map_cache *cache, const struct ftl_params *params, void *zeroed);

static inline struct ftl_map_slot *ftl_map_cache_find(const struct ftl_map_cache *cache,
						      u32 map_page)
{
	u32 nr = cache->slot_of[map_page];

	return nr ? &cache->slot[nr - 1] : NULL;
}

/* The map page that makes room for the next one, or NULL while there is room. */
static inline struct ftl_map_slot *ftl_map_cache_oldest(const struct ftl_map_cache *cache)
{
	return cache->nr < cache->max ? NULL :
		list_first_entry(&cache->used, struct ftl_map_slot, used);
}

static inline bool ftl_map_slot_is_changed(const struct ftl_map_slot *slot)
{
	return !list_empty(&slot->changed);
}

/**
 * ftl_map_cache_use() - a map page is looked at, or changed
 */
void ftl_map_cache_use(struct ftl_map_cache *cache, struct ftl_map_slot *slot, bool changes);

/**
 * ftl_map_cache_add() - a map page comes into memory
 * @map_page: one that is not there; the oldest makes room, which must not be changed
 */
struct ftl_map_slot *ftl_map_cache_add(struct ftl_map_cache *cache, u32 map_page);

/**
 * ftl_map_cache_write() - map pages that were changed go to NAND
 * @most: at most so many, those that were not used for longest
 * @die: die that has them then
 *
 * They stay in memory.
 *
 * Return: how many.
 */
u32 ftl_map_cache_write(struct ftl_map_cache *cache, u32 most, die_t die);

/**
 * ftl_map_cache_drop_all() - nothing is in memory any more
 */
void ftl_map_cache_drop_all(struct ftl_map_cache *cache);

/**
 * ftl_map_cache_check() - is what the cache says of itself consistent?
 * Return: NULL, or the first rule that is broken.
 */
const char *ftl_map_cache_check(const struct ftl_map_cache *cache);

#endif /* FTL_MAP_CACHE_H */
