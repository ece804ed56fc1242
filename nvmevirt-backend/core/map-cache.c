// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cache is found in by an array of numbers, one for each map page: 6 bytes for 4 MiB of the
 * drive, with the die that has it. A search would not be faster, and no smaller before the drive
 * is a thousand times larger than what is cached of its map.
 */
#include "map-cache.h"

static u32 nr_slots(const struct ftl_params *params)
{
	return min(params->map_cache_pages, ftl_nr_map_pages(params->nr_lpns));
}

size_t ftl_map_cache_bytes(const struct ftl_params *params)
{
	size_t bytes = array_size(nr_slots(params), sizeof(struct ftl_map_slot));

	if (!params->map_cache_pages)
		return 0;
	return size_add(bytes, array_size(ftl_nr_map_pages(params->nr_lpns),
					  sizeof(u32) + sizeof(u16)));
}

void ftl_map_cache_init(struct ftl_map_cache *cache, const struct ftl_params *params, void *zeroed)
{
	cache->nr_map_pages = ftl_nr_map_pages(params->nr_lpns);
	cache->max = nr_slots(params);
	cache->nr = 0;
	INIT_LIST_HEAD(&cache->used);
	INIT_LIST_HEAD(&cache->changed);
	cache->slot = zeroed;
	cache->slot_of = (u32 *)(cache->slot + cache->max);
	cache->die_of = (u16 *)(cache->slot_of + cache->nr_map_pages);
}

void ftl_map_cache_use(struct ftl_map_cache *cache, struct ftl_map_slot *slot, bool changes)
{
	list_move_tail(&slot->used, &cache->used);
	if (changes || ftl_map_slot_is_changed(slot))
		list_move_tail(&slot->changed, &cache->changed);
}

/* Slots are taken in order until there are no more, and then from the oldest map page. */
static struct ftl_map_slot *take_slot(struct ftl_map_cache *cache)
{
	struct ftl_map_slot *slot = ftl_map_cache_oldest(cache);

	if (slot) {
		cache->slot_of[slot->map_page] = 0;
		return slot;
	}
	slot = &cache->slot[cache->nr++];
	INIT_LIST_HEAD(&slot->used);
	INIT_LIST_HEAD(&slot->changed);
	return slot;
}

struct ftl_map_slot *ftl_map_cache_add(struct ftl_map_cache *cache, u32 map_page)
{
	struct ftl_map_slot *slot = take_slot(cache);

	slot->map_page = map_page;
	slot->there_ns = 0;
	cache->slot_of[map_page] = slot - cache->slot + 1;
	list_move_tail(&slot->used, &cache->used);
	return slot;
}

u32 ftl_map_cache_write(struct ftl_map_cache *cache, u32 most, die_t die)
{
	u32 nr = 0;

	for (; nr < most && !list_empty(&cache->changed); nr++) {
		struct ftl_map_slot *slot =
			list_first_entry(&cache->changed, struct ftl_map_slot, changed);

		list_del_init(&slot->changed);
		cache->die_of[slot->map_page] = from_die(die) + 1;
	}
	return nr;
}

void ftl_map_cache_drop_all(struct ftl_map_cache *cache)
{
	for (u32 i = 0; i < cache->nr; i++)
		cache->slot_of[cache->slot[i].map_page] = 0;
	cache->nr = 0;
	INIT_LIST_HEAD(&cache->used);
	INIT_LIST_HEAD(&cache->changed);
}

const char *ftl_map_cache_check(const struct ftl_map_cache *cache)
{
	const struct ftl_map_slot *slot;
	struct list_head *changed = cache->changed.next;
	u32 nr = 0, nr_found = 0;

	list_for_each_entry(slot, &cache->used, used) {
		nr++;
		if (ftl_map_cache_find(cache, slot->map_page) != slot)
			return "A map page is in memory, and is not found there.";
		if (!ftl_map_slot_is_changed(slot))
			continue;
		if (changed != &slot->changed)
			return "Map pages that were changed are not in the order of their use.";
		changed = changed->next;
	}
	if (changed != &cache->changed)
		return "A map page was changed that is not in memory.";
	for (u32 i = 0; i < cache->nr_map_pages; i++)
		nr_found += cache->slot_of[i] != 0;
	if (nr_found != cache->nr)
		return "A map page is found in memory where another one is.";
	return nr == cache->nr ? NULL : "The number of map pages in memory is wrong.";
}
