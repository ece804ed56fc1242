/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a map costs that is not all in memory (params.map_cache_pages): map pages that are not in
 * the cache are sensed where they lie, and those that were changed are programmed before they make
 * room for others.
 *
 *	read	waits for the map pages that are missing, then the data is sensed
 *	write	is complete in the buffer; when its unit is programmed the map pages
 *		are needed, and the unit leaves the buffer when they are there, too
 *	hint	names a page whose place decides: the write is complete in the buffer, but no unit
 *		that it went to is programmed before that place is known
 *	trim	does not wait: its record is what counts
 *	collection	does not wait: data has its number with it
 *
 * Which map pages there are on NAND, and on which dies, is known without a look at NAND. What lies
 * in the buffer is found without the map.
 *
 * A unit of map pages is programmed at a time, on all dies in turn, besides their erase blocks
 * (ftl_program_beside()): those that were changed and not used for longest.
 *
 * A map page on NAND need not be up to date when the power fails: places are found by the
 * out-of-band data (rebuild.h), or are kept. After that nothing is in memory.
 */
#ifndef FTL_MAP_PAGE_H
#define FTL_MAP_PAGE_H

#include "state.h"

/**
 * ftl_map_look_up() - where are these pages?
 * @nr: number of pages, at least 1, within the drive
 *
 * Return: the time at which it is known, @start_ns if the drive knows it already.
 */
u64 ftl_map_look_up(struct ftl *ftl, lpn_t first, u64 nr, u64 start_ns);

/**
 * ftl_map_change() - these pages are elsewhere now, or nowhere
 * Return: the time at which their map pages are in memory.
 */
u64 ftl_map_change(struct ftl *ftl, lpn_t first, u64 nr, u64 start_ns);

/**
 * ftl_map_change_unit() - the pages of an open unit are going to be elsewhere
 * Return: as ftl_map_change().
 */
u64 ftl_map_change_unit(struct ftl *ftl, const struct ftl_unit *unit, u64 start_ns);

/**
 * ftl_map_write_all() - program all map pages that were changed
 */
void ftl_map_write_all(struct ftl *ftl, u64 start_ns);

/**
 * ftl_map_lose() - nothing of the map is in memory any more, and all of it is on NAND
 *
 * Map pages lie on the dies in turn then, wherever they lay before: so what a drive does next
 * follows from its map, and not from how that came to be.
 */
void ftl_map_lose(struct ftl *ftl);

#endif /* FTL_MAP_PAGE_H */
