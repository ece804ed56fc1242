// SPDX-License-Identifier: GPL-2.0-only
/*
 * What follows from a drive's parameters: how many there are of everything, and how full a die may
 * be.
 *
 * The latter is what promises made elsewhere cost in space. Collection always ends (gc.h); an
 * erase takes no durable data with it (rescue.h); and older data may come back to a die when the
 * power fails, while the die has taken other pages instead. params-check.c works out the
 * capacity from it, so a drive that cannot keep these promises is refused before it is made.
 */
#include "geometry.h"

/* Erase blocks of a die that collection needs: see gc.h */
#define EBLKS_FOR_GC	4

/* A die may take more than its share of the pages: up to half of its reserve. */
static u64 most_pages(const struct ftl_params *params)
{
	u64 eblk_pages = (u64)params->unit_pages * params->units_per_eblk;
	u64 die_pages = eblk_pages * (params->eblks_per_die - params->spare_eblks);
	u64 spare = div_u64(die_pages * params->reserve_permille, 2000);

	u64 for_gc = (EBLKS_FOR_GC + (u64)ftl_params_more_handles(params)) * eblk_pages;

	/* One more block, and less than a unit of every block: see rescue.h */
	if (params->oob && !params->plp)
		for_gc += eblk_pages + (u64)params->eblks_per_die * (params->unit_pages - 1);
	return die_pages - min(die_pages, max(spare, for_gc));
}

u64 ftl_geometry_volatile_pages(const struct ftl_params *params)
{
	if (!params->oob || params->plp)
		return 0;
	return (params->wbuf_pages / params->unit_pages + ftl_geometry_open_units(params)) *
		params->unit_pages;
}

u64 ftl_geometry_die_limit(const struct ftl_params *params)
{
	u64 most = most_pages(params);

	return most - min(most, ftl_geometry_volatile_pages(params));
}

u32 ftl_geometry_held_units(const struct ftl_params *params)
{
	u64 nr_dies = (u64)params->nr_channels * params->dies_per_channel;
	u64 nr_units = params->wbuf_pages / params->unit_pages;
	u64 nr_others = params->run_units + 2 * nr_dies + 4 + ftl_params_more_handles(params);

	return params->hold_ns && nr_units > nr_others ? (nr_units - nr_others) / 2 : 0;
}

u64 ftl_geometry_open_units(const struct ftl_params *params)
{
	u64 nr_dies = (u64)params->nr_channels * params->dies_per_channel;

	return 1 + ftl_params_more_handles(params) + params->run_units + 1 + 2 * nr_dies + 2 +
		ftl_geometry_held_units(params);
}

u64 ftl_geometry_slc_eblks(const struct ftl_params *params)
{
	u32 line_pages = params->nr_channels * params->dies_per_channel * params->unit_pages;

	if (!params->slc_pages)
		return 0;
	line_pages *= ftl_params_slc_units(params);
	return DIV_ROUND_UP_ULL(params->slc_pages, line_pages);
}

u32 ftl_geometry_unit_planes(const struct ftl_params *params)
{
	return params->plane_read ? min(params->planes_per_die, params->unit_pages) : 1;
}

void ftl_geometry_init(struct ftl_geometry *geo, const struct ftl_params *params)
{
	geo->nr_channels = params->nr_channels;
	geo->nr_dies = params->nr_channels * params->dies_per_channel;
	geo->unit_pages = params->unit_pages;
	geo->unit_planes = ftl_geometry_unit_planes(params);
	geo->eblk_units = params->units_per_eblk;
	geo->slc_eblks = ftl_geometry_slc_eblks(params);
	geo->slc_units = ftl_params_slc_units(params);
	geo->die_eblks = params->eblks_per_die + geo->slc_eblks;
	geo->eblk_pages = geo->unit_pages * geo->eblk_units;
	geo->die_units = geo->eblk_units * geo->die_eblks;
	geo->die_pages = geo->die_units * geo->unit_pages;
	geo->nr_eblks = geo->nr_dies * geo->die_eblks;
	geo->nr_units = geo->nr_dies * geo->die_units;
	geo->nr_pages = geo->nr_units * geo->unit_pages;
	geo->nr_handles = 1 + ftl_params_more_handles(params);
	geo->nr_open = ftl_geometry_open_units(params);
	geo->nr_places = geo->nr_pages + geo->nr_open * geo->unit_pages;
	geo->die_limit_pages = ftl_geometry_die_limit(params);
	geo->die_most_pages = params->in_place ? geo->die_pages : most_pages(params);
}
