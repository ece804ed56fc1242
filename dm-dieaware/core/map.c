// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of the map, as runs, and as something that may be damaged.
 *
 * An entry is a dpn, and 0 where nothing is mapped: the superblock lies there. Runs keep
 * records and requests few: what was written in one go is one DEAD record when it is
 * replaced, and one request when it is read.
 */
#include "map.h"

/* An entry's upper four bytes begin at this bit. */
#define UPPER_SHIFT	((DMDA_DPN_BYTES - sizeof(u32)) * 8)

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

/* Entries that are looked at without a jump */
#define AT_ONCE		16U

/* Of so many entries, those whose upper four bytes make a number that is not below @end. */
static __always_inline u32 count_from(const u8 *entries, u32 nr, u32 end)
{
	const u8 *upper = entries + DMDA_DPN_BYTES - sizeof(u32);
	u32 count = 0;

#pragma GCC unroll 16
	for (u32 i = 0; i < nr; i++)
		count += (u32)dmda_get_bytes(&upper[i * DMDA_DPN_BYTES], sizeof(u32)) >= end;
	return count;
}

/*
 * Whether there are any. A page is checked whenever it is read, which a start does with tens of
 * thousands: so this is two instructions for each entry.
 */
static bool is_any_from(const struct dmda_map_block *map, u32 nr_entries, u32 end)
{
	const u8 *at = map->dpn;
	u32 count = 0;

	for (; nr_entries >= AT_ONCE; nr_entries -= AT_ONCE, at += AT_ONCE * DMDA_DPN_BYTES)
		count += count_from(at, AT_ONCE, end);
	return count + count_from(at, nr_entries, end);
}

static bool is_any_behind(const struct dmda_map_block *map, u32 nr_entries, u64 nr_device_pages)
{
	for (u32 i = 0; i < nr_entries; i++) {
		dpn_t dpn = dmda_map_get(map, i);

		if (dpn != DPN_NONE && from_dpn(dpn) >= nr_device_pages)
			return true;
	}
	return false;
}

/* Only what is nearly at the device's end is looked at more closely. */
const char *dmda_map_check(const struct dmda_map_block *map, const struct dmda_super *super)
{
	u32 nr_entries = dmda_super_map_entries(super);
	u64 end = super->nr_device_pages;

	if (!is_any_from(map, nr_entries, end >> UPPER_SHIFT) ||
	    !is_any_behind(map, nr_entries, end))
		return NULL;
	return "a page of the map points behind the end of the device";
}
