// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the two maps, and questions to them about many pages. The maps are plain arrays that
 * are all in memory, 8 bytes a page. What looking up a page costs a drive that has no room for all
 * of it is in map-page.c.
 *
 * Trims and the count of what a namespace holds are of any length, up to the whole drive. So
 * mapped pages are counted by region besides, and a region without any is passed over at once.
 */
#include "l2p.h"

size_t ftl_l2p_bytes(u64 nr_lpns, u32 nr_places)
{
	size_t bytes = array_size(ftl_nr_regions(nr_lpns), sizeof(u32) + sizeof(u8));

	bytes = size_add(bytes, array_size(nr_lpns, sizeof(u32)));
	return size_add(bytes, array_size(nr_places, sizeof(u32)));
}

void ftl_l2p_init(struct ftl_l2p *map, u64 nr_lpns, u32 nr_places, void *zeroed)
{
	map->nr_lpns = nr_lpns;
	map->nr_places = nr_places;
	map->place_of = zeroed;
	map->owner_of = map->place_of + nr_lpns;
	map->region_mapped = map->owner_of + nr_places;
	map->region_state = (u8 *)(map->region_mapped + ftl_nr_regions(nr_lpns));
	map->oob = NULL;
	map->share = NULL;
}

u64 ftl_l2p_skip_unmapped(const struct ftl_l2p *map, u64 lpn, u64 end)
{
	while (lpn < end && !map->place_of[lpn]) {
		if (map->region_mapped[lpn >> FTL_REGION_SHIFT])
			lpn++;
		else
			lpn = ((lpn >> FTL_REGION_SHIFT) + 1) << FTL_REGION_SHIFT;
	}
	return min(lpn, end);
}

u64 ftl_l2p_reach(const struct ftl_l2p *map, u64 lpn, u64 end, u32 *most)
{
	while (lpn < end && *most) {
		u64 next = min(end, ((lpn >> FTL_REGION_SHIFT) + 1) << FTL_REGION_SHIFT);
		u32 nr = 1;

		if (map->region_mapped[lpn >> FTL_REGION_SHIFT]) {
			nr = min(next - lpn, (u64)*most);
			next = lpn + nr;
		}
		*most -= nr;
		lpn = next;
	}
	return lpn;
}

static u64 count_mapped(const struct ftl_l2p *map, u64 lpn, u64 end)
{
	u64 nr = 0;

	for (; lpn < end; lpn++)
		nr += map->place_of[lpn] != 0;
	return nr;
}

u64 ftl_l2p_nr_mapped(const struct ftl_l2p *map, u64 lpn, u64 end)
{
	u64 nr = 0;
	u64 next;

	for (; lpn < end; lpn = next) {
		u64 region = lpn >> FTL_REGION_SHIFT;
		u64 region_end = min((region + 1) << FTL_REGION_SHIFT, map->nr_lpns);

		next = min(end, region_end);
		if (lpn == region << FTL_REGION_SHIFT && next == region_end)
			nr += map->region_mapped[region];
		else
			nr += count_mapped(map, lpn, next);
	}
	return nr;
}
