// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time that map pages take. Nobody waits for a map page to be programmed: while it is, its
 * data is in the die's register. A map page that has only been asked for is in the cache already,
 * with the time at which it will be there, so who needs it meanwhile waits for the same sense.
 *
 * What is programmed at a time goes to one die, and the erase of what comes round there is charged
 * as for the defrag log. That such a block holds map pages which are still good, and which a
 * drive would have to copy, is left out: of an area twice as large as the map few are.
 */
#include "beside.h"
#include "map-page.h"

static void write_oldest(struct ftl *ftl, u64 start_ns)
{
	struct ftl_stats *stats = &ftl->stats;
	u32 at, nr;
	u64 lap = div_u64_rem(stats->map_programs++, ftl->geo.nr_dies, &at);

	nr = ftl_map_cache_write(&ftl->map_cache, ftl->geo.unit_pages, to_die(at));
	stats->map_pages_programmed += nr;
	stats->pages_padded += ftl->geo.unit_pages - nr;
	ftl_program_beside(ftl, to_die(at), lap, start_ns);
}

static struct ftl_map_slot *fetch(struct ftl *ftl, u32 map_page, u64 start_ns)
{
	struct ftl_map_cache *cache = &ftl->map_cache;
	struct ftl_map_slot *slot = ftl_map_cache_oldest(cache);
	u32 die = cache->die_of[map_page];
	u64 there_ns = 0;

	/* First what somebody waits for: the other stays in the cache until it has left. */
	if (die) {
		ftl->stats.map_misses++;
		there_ns = ftl_sense_beside(ftl, to_die(die - 1), map_page % ftl->geo.unit_planes,
					    start_ns);
	}
	if (slot && ftl_map_slot_is_changed(slot))
		write_oldest(ftl, start_ns);
	slot = ftl_map_cache_add(cache, map_page);
	slot->there_ns = there_ns;
	return slot;
}

static u64 use(struct ftl *ftl, u32 map_page, bool changes, u64 start_ns)
{
	struct ftl_map_cache *cache = &ftl->map_cache;
	struct ftl_map_slot *slot = ftl_map_cache_find(cache, map_page);

	/* Of pages that were never written there is no map page. */
	if (!slot && !changes && !cache->die_of[map_page])
		return start_ns;
	if (slot)
		ftl->stats.map_hits++;
	else
		slot = fetch(ftl, map_page, start_ns);
	ftl_map_cache_use(cache, slot, changes);
	return max(start_ns, slot->there_ns);
}

static u32 map_page_of(u64 lpn)
{
	return lpn >> FTL_MAP_PAGE_SHIFT;
}

static bool is_all_buffered(const struct ftl *ftl, u64 lpn, u64 end)
{
	for (; lpn < end; lpn++) {
		ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn));

		if (ppn == PPN_NONE || !ftl_ppn_is_buffered(&ftl->geo, ppn))
			return false;
	}
	return true;
}

u64 ftl_map_look_up(struct ftl *ftl, lpn_t first, u64 nr, u64 start_ns)
{
	u64 end = from_lpn(first) + nr;
	u64 known_ns = start_ns;
	u64 next;

	if (!ftl->params.map_cache_pages)
		return start_ns;
	for (u64 lpn = from_lpn(first); lpn < end; lpn = next) {
		next = min(end, ((u64)map_page_of(lpn) + 1) << FTL_MAP_PAGE_SHIFT);
		if (!is_all_buffered(ftl, lpn, next))
			known_ns = max(known_ns, use(ftl, map_page_of(lpn), false, start_ns));
	}
	return known_ns;
}

u64 ftl_map_change(struct ftl *ftl, lpn_t first, u64 nr, u64 start_ns)
{
	u64 last = from_lpn(first) + nr - 1;
	u64 there_ns = start_ns;

	if (!ftl->params.map_cache_pages)
		return start_ns;
	for (u32 i = map_page_of(from_lpn(first)); i <= map_page_of(last); i++)
		there_ns = max(there_ns, use(ftl, i, true, start_ns));
	return there_ns;
}

/* All pages whose data is in the place; a sharer may own it, too. */
static u64 change_owners(struct ftl *ftl, ppn_t place, u64 start_ns)
{
	lpn_t owner = ftl_l2p_owner(&ftl->map, place);
	u64 there_ns = ftl_map_change(ftl, owner, 1, start_ns);
	const struct ftl_sharer *sharer = NULL;

	if (!ftl_l2p_has_sharers(&ftl->map))
		return there_ns;
	while ((sharer = ftl_share_at(&ftl->share, place, sharer))) {
		if (sharer->lpn - 1 != from_lpn(owner))
			there_ns = max(there_ns, ftl_map_change(ftl, to_lpn(sharer->lpn - 1), 1,
								start_ns));
	}
	return there_ns;
}

u64 ftl_map_change_unit(struct ftl *ftl, const struct ftl_unit *unit, u64 start_ns)
{
	u32 last = U32_MAX;
	u64 there_ns = start_ns;

	if (!ftl->params.map_cache_pages)
		return start_ns;
	for (u32 slot = 0; slot < unit->nr_filled; slot++) {
		ppn_t place = ftl_unit_ppn(&ftl->units, unit, slot);
		lpn_t owner = ftl_l2p_owner(&ftl->map, place);

		/* Consecutive pages of a map page are one change. */
		if (owner == LPN_NONE || (map_page_of(from_lpn(owner)) == last &&
					  !ftl_l2p_is_shared(&ftl->map, place)))
			continue;
		last = map_page_of(from_lpn(owner));
		there_ns = max(there_ns, change_owners(ftl, place, start_ns));
	}
	return there_ns;
}

void ftl_map_write_all(struct ftl *ftl, u64 start_ns)
{
	if (!ftl->params.map_cache_pages)
		return;
	while (!list_empty(&ftl->map_cache.changed))
		write_oldest(ftl, start_ns);
}

/* Has the map page an entry of a page that is anywhere? */
static bool is_in_use(const struct ftl *ftl, u32 map_page)
{
	u64 first = (u64)map_page << FTL_MAP_PAGE_SHIFT;
	u64 end = min(first + FTL_MAP_PAGE_LPNS, ftl->map.nr_lpns);

	return ftl_l2p_skip_unmapped(&ftl->map, first, end) < end;
}

void ftl_map_lose(struct ftl *ftl)
{
	struct ftl_map_cache *cache = &ftl->map_cache;

	if (!ftl->params.map_cache_pages)
		return;
	ftl_map_cache_drop_all(cache);
	for (u32 i = 0; i < cache->nr_map_pages; i++)
		cache->die_of[i] = is_in_use(ftl, i) ? i % ftl->geo.nr_dies + 1 : 0;
}
