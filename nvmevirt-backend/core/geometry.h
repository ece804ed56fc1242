/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a page is: the numbering of everything on NAND.
 *
 *   die 0  | die 1  | ...      a die is a row of erase blocks,
 *   eblk 0 | eblk 1 | ...      an erase block a row of flash units,
 *   unit 0 | unit 1 | ...      a flash unit a row of pages: slots
 *
 * All numbers are global and dense, so a larger one divided by a constant is the one
 * above it. They fit 32 bits, where a division is a single instruction.
 *
 * Numbers from nr_pages on are not on NAND: they are the slots of open units, which
 * sit in the write buffer (open-unit.h).
 */
#ifndef FTL_GEOMETRY_H
#define FTL_GEOMETRY_H

#include "params.h"
#include "units.h"

/* Pages of the host are counted in regions: so many pages with consecutive numbers. */
#define FTL_REGION_PAGES	4096U
#define FTL_REGION_SHIFT	12

static inline u64 ftl_nr_regions(u64 nr_lpns)
{
	return (nr_lpns + FTL_REGION_PAGES - 1) >> FTL_REGION_SHIFT;
}

/**
 * struct ftl_geometry - sizes of a drive; constant
 * @nr_channels: channels; die d is on channel d % @nr_channels
 * @nr_dies: dies of all channels
 * @unit_pages: slots of a flash unit
 * @unit_planes: planes that reads take apart, [1, FTL_MAX_PLANES]; 1: each read takes them all
 * @eblk_units: flash units of an erase block
 * @die_eblks: erase blocks of a die
 * @slc_eblks: the last of these, the SLC region; 0: there is none
 * @slc_units: flash units of theirs that are used, the first ones
 * @eblk_pages: pages of an erase block
 * @die_units: flash units of a die
 * @die_pages: pages of a die
 * @nr_eblks: erase blocks of all dies
 * @nr_units: flash units of all dies
 * @nr_pages: pages on NAND
 * @nr_handles: number of placement handles, at least 1
 * @nr_open: open units that can exist at the same time
 * @nr_places: @nr_pages and the slots of the open units behind them
 * @die_limit_pages: pages a die takes; what is above it keeps collection possible
 * @die_most_pages: pages that a die can bear, those included that come back to it when
 *	the power fails
 */
struct ftl_geometry {
	u32 nr_channels;
	u32 nr_dies;
	u32 unit_pages;
	u32 unit_planes;
	u32 eblk_units;
	u32 die_eblks;
	u32 slc_eblks;
	u32 slc_units;
	u32 eblk_pages;
	u32 die_units;
	u32 die_pages;
	u32 nr_eblks;
	u32 nr_units;
	u32 nr_pages;
	u32 nr_handles;
	u32 nr_open;
	u32 nr_places;
	u32 die_limit_pages;
	u32 die_most_pages;
};

/**
 * ftl_geometry_init() - work out the sizes
 * @params: parameters that passed ftl_params_check()
 */
void ftl_geometry_init(struct ftl_geometry *geo, const struct ftl_params *params);

/**
 * ftl_geometry_slc_eblks() - erase blocks of each die in the SLC region
 * @params: @cell_bits is at least 2 and at most @units_per_eblk, if there is a region
 */
u64 ftl_geometry_slc_eblks(const struct ftl_params *params);

/**
 * ftl_geometry_unit_planes() - planes that reads take apart
 */
u32 ftl_geometry_unit_planes(const struct ftl_params *params);

/**
 * ftl_geometry_die_limit() - pages that a die may take without wedging its collection
 * @params: parameters whose sizes fit 32 bits
 *
 * See gc.h for the reason.
 */
u64 ftl_geometry_die_limit(const struct ftl_params *params);

/**
 * ftl_geometry_volatile_pages() - pages whose newest data a power failure may take
 * @params: without protection, what is buffered or being programmed
 *
 * Older data of so many pages may turn up on a die that has taken others instead.
 */
u64 ftl_geometry_volatile_pages(const struct ftl_params *params);

/**
 * ftl_geometry_held_units() - most full units that wait for their program
 *
 * The other half of the buffer's room is left to units that are being programmed.
 */
u32 ftl_geometry_held_units(const struct ftl_params *params);

/**
 * ftl_geometry_open_units() - most units that are not on NAND at the same time
 * @params: one plain unit for each handle, the runs (and one more while a command is being
 *	placed), a shared unit and one for collection on each die, one that is full, one for a row
 *	that collection moves, and those held
 */
u64 ftl_geometry_open_units(const struct ftl_params *params);

static inline bool ftl_ppn_is_buffered(const struct ftl_geometry *geo, ppn_t ppn)
{
	return from_ppn(ppn) >= geo->nr_pages;
}

static inline u32 ftl_flash_unit(const struct ftl_geometry *geo, ppn_t ppn)
{
	return (u32)from_ppn(ppn) / geo->unit_pages;
}

static inline ppn_t ftl_flash_unit_ppn(const struct ftl_geometry *geo, u32 flash_unit)
{
	return to_ppn(flash_unit * geo->unit_pages);
}

/* The plane of a page: each of them has a part of the unit, one after the other. */
static inline u32 ftl_ppn_plane(const struct ftl_geometry *geo, ppn_t ppn)
{
	u32 slot = (u32)from_ppn(ppn) % geo->unit_pages;

	return slot * geo->unit_planes / geo->unit_pages;
}

static inline die_t ftl_flash_unit_die(const struct ftl_geometry *geo, u32 flash_unit)
{
	return to_die(flash_unit / geo->die_units);
}

static inline u32 ftl_flash_unit_eblk(const struct ftl_geometry *geo, u32 flash_unit)
{
	return flash_unit / geo->eblk_units;
}

static inline u32 ftl_eblk_first_unit(const struct ftl_geometry *geo, u32 eblk)
{
	return eblk * geo->eblk_units;
}

static inline die_t ftl_eblk_die(const struct ftl_geometry *geo, u32 eblk)
{
	return to_die(eblk / geo->die_eblks);
}

/* Erase blocks of a die that are not of the SLC region: the first ones */
static inline u32 ftl_main_eblks(const struct ftl_geometry *geo)
{
	return geo->die_eblks - geo->slc_eblks;
}

static inline bool ftl_eblk_is_slc(const struct ftl_geometry *geo, u32 eblk)
{
	return geo->slc_eblks && eblk % geo->die_eblks >= ftl_main_eblks(geo);
}

static inline bool ftl_flash_unit_is_slc(const struct ftl_geometry *geo, u32 flash_unit)
{
	return geo->slc_eblks && ftl_eblk_is_slc(geo, ftl_flash_unit_eblk(geo, flash_unit));
}

/* Flash units of an erase block that are used */
static inline u32 ftl_eblk_nr_units(const struct ftl_geometry *geo, u32 eblk)
{
	return ftl_eblk_is_slc(geo, eblk) ? geo->slc_units : geo->eblk_units;
}

static inline die_t ftl_next_die(const struct ftl_geometry *geo, die_t die)
{
	u32 next = from_die(die) + 1;

	return to_die(next < geo->nr_dies ? next : 0);
}

#endif /* FTL_GEOMETRY_H */
