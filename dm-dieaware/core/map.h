/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page of the map in memory: the block as it is written, used in place. One entry says
 * where an lpn is.
 *
 * Calls on one page must not run at the same time; reading may run with reading, and as lookup.h
 * says with a change.
 */
#ifndef DMDA_MAP_H
#define DMDA_MAP_H

#include "super.h"

/* Which page of the map an lpn is on, and where on it. */
static inline u64 dmda_map_index(const struct dmda_super *super, lpn_t lpn, u32 *entry)
{
	/* By a constant each, which is quicker. */
	if (dmda_super_has_sums(super))
		return div_u64_rem(from_lpn(lpn), DMDA_MAP_SUMS_ENTRIES, entry);
	return div_u64_rem(from_lpn(lpn), DMDA_MAP_ENTRIES, entry);
}

/* Where an lpn is, or DPN_NONE. */
static inline dpn_t dmda_map_get(const struct dmda_map_block *map, u32 entry)
{
	u64 dpn = dmda_get_bytes(&map->dpn[entry * DMDA_DPN_BYTES], DMDA_DPN_BYTES);

	return dpn ? to_dpn(dpn) : DPN_NONE;
}

static inline void dmda_map_set(struct dmda_map_block *map, u32 entry, dpn_t dpn)
{
	dmda_put_bytes(&map->dpn[entry * DMDA_DPN_BYTES], dpn == DPN_NONE ? 0 : from_dpn(dpn),
		       DMDA_DPN_BYTES);
}

/* The same of a device with checksums. */
static inline struct dmda_map_sums_block *dmda_map_sums(struct dmda_map_block *map)
{
	return (struct dmda_map_sums_block *)map;
}

/**
 * dmda_map_set_sums() - lpns have these checksums from now on
 * @map: page of a device with checksums
 * @entry: the first
 * @nr: number of lpns
 * @sums: their checksums, or NULL if they are nowhere
 */
void dmda_map_set_sums(struct dmda_map_block *map, u32 entry, u32 nr, const __le32 *sums);

/* From an lpn on, so many are nowhere. */
static inline void dmda_map_clear(struct dmda_map_block *map, u32 entry, u32 nr)
{
	memset(&map->dpn[entry * DMDA_DPN_BYTES], 0, nr * DMDA_DPN_BYTES);
}

/* The same of several, where the place of the first is known */
u32 dmda_map_run_from(const struct dmda_map_block *map, u32 entry, u32 nr_pages, dpn_t dpn);

/**
 * dmda_map_run() - how far do consecutive lpns lie at consecutive places?
 * @entry: the first
 * @nr_pages: most that matter; the page has so many behind @entry
 * @dpn: gets the place of the first, or DPN_NONE
 *
 * Return: entries from @entry on that go on at @dpn, or are unmapped like it.
 */
static inline u32 dmda_map_run(const struct dmda_map_block *map, u32 entry, u32 nr_pages,
			       dpn_t *dpn)
{
	*dpn = dmda_map_get(map, entry);
	return nr_pages == 1 ? 1 : dmda_map_run_from(map, entry, nr_pages, *dpn);
}

/**
 * dmda_map_check() - could this page's entries be?
 * @map: a page whose header was checked
 * @super: superblock of its device
 *
 * Return: NULL, or what is wrong.
 */
const char *dmda_map_check(const struct dmda_map_block *map, const struct dmda_super *super);

#endif /* DMDA_MAP_H */
