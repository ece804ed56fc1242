// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of the map, as runs, and as something that may be damaged.
 *
 * An entry is a dpn, and 0 where nothing is mapped: the superblock lies there. Runs keep
 * records and requests few: what was written in one go is one DEAD record when it is
 * replaced, and one request when it is read.
 */
#include "map.h"

static dpn_t following(dpn_t dpn)
{
	return dpn == DPN_NONE ? DPN_NONE : to_dpn(from_dpn(dpn) + 1);
}

u32 dmda_map_run_from(const struct dmda_map_block *map, u32 entry, u32 nr_pages, dpn_t dpn)
{
	dpn_t next = following(dpn);
	u32 nr = 1;

	while (nr < nr_pages && dmda_map_get(map, entry + nr) == next) {
		next = following(next);
		nr++;
	}
	return nr;
}

void dmda_map_set_sums(struct dmda_map_block *map, u32 entry, u32 nr, const __le32 *sums)
{
	__le32 *to = &dmda_map_sums(map)->sum[entry];

	if (sums)
		memcpy(to, sums, nr * sizeof(*to));
	else
		memset(to, 0, nr * sizeof(*to));
}

const char *dmda_map_check(const struct dmda_map_block *map, const struct dmda_super *super)
{
	for (u32 i = 0; i < dmda_super_map_entries(super); i++) {
		dpn_t dpn = dmda_map_get(map, i);

		if (dpn != DPN_NONE && from_dpn(dpn) >= super->nr_device_pages)
			return "a page of the map points behind the end of the device";
	}
	return NULL;
}
