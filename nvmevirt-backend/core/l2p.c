// SPDX-License-Identifier: GPL-2.0-only
#include "l2p.h"

size_t ftl_l2p_bytes(u64 nr_lpns, u32 nr_places)
{
	return size_add(array_size(nr_lpns, sizeof(u32)), array_size(nr_places, sizeof(u32)));
}

void ftl_l2p_init(struct ftl_l2p *map, u64 nr_lpns, u32 nr_places, void *zeroed)
{
	map->nr_lpns = nr_lpns;
	map->nr_places = nr_places;
	map->place_of = zeroed;
	map->owner_of = map->place_of + nr_lpns;
	map->oob = NULL;
	map->share = NULL;
}

u64 ftl_l2p_skip_unmapped(const struct ftl_l2p *map, u64 lpn, u64 end)
{
	while (lpn < end && !map->place_of[lpn])
		lpn++;
	return lpn;
}
