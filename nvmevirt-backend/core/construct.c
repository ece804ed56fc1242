// SPDX-License-Identifier: GPL-2.0-only
/*
 * A drive is made: its parts get their pieces of one memory, and know of each other what they need.
 */
#include "bad.h"
#include "gc.h"
#include "in-place.h"
#include "oob-memory.h"

/*
 * What a quick write may have a die program besides a unit for each of its pages. Each page may
 * open a run in the place of another one, which is put out; the last one may fill its own, and what
 * is put out before and behind that may go into units that are full then.
 */
#define MORE_UNITS	3U

static u32 wbuf_units(const struct ftl_params *params)
{
	return params->wbuf_pages / params->unit_pages;
}

/* Parts of the drive's memory are aligned for anything that may follow them. */
static size_t padded(size_t bytes)
{
	return size_add(bytes, sizeof(u64) - 1) & ~(sizeof(u64) - 1);
}

static void *carve(void **memory, size_t bytes)
{
	void *part = *memory;

	*memory = (u8 *)part + padded(bytes);
	return part;
}

size_t ftl_bytes(const struct ftl_params *params)
{
	struct ftl_geometry geo;
	size_t bytes = padded(sizeof(struct ftl));

	ftl_geometry_init(&geo, params);
	bytes = size_add(bytes, padded(ftl_nand_bytes(params)));
	bytes = size_add(bytes, 2 * padded(ftl_bus_bytes()));
	bytes = size_add(bytes, padded(ftl_eblks_bytes(geo.nr_dies, geo.die_eblks)));
	bytes = size_add(bytes, padded(array_size(geo.nr_dies, sizeof(struct ftl_gc_die))));
	bytes = size_add(bytes, padded(ftl_units_bytes(params)));
	bytes = size_add(bytes, padded(ftl_stripes_bytes(params)));
	bytes = size_add(bytes, padded(ftl_wbuf_bytes(wbuf_units(params), geo.nr_open)));
	bytes = size_add(bytes, padded(ftl_l2p_bytes(params->nr_lpns, geo.nr_places)));
	bytes = size_add(bytes, padded(ftl_map_cache_bytes(params)));
	bytes = size_add(bytes, padded(ftl_read_ahead_bytes(params)));
	bytes = size_add(bytes, padded(ftl_share_bytes(params)));
	bytes = size_add(bytes, padded(ftl_oob_bytes(params)));
	/* Last, because it outlives the rest: see ftl_rebuild(). */
	return size_add(bytes, ftl_oob_area_bytes(params));
}

/* The units of several dies tend to cross the link at once: its windows hold some. */
static void init_links(struct ftl *ftl, void **memory)
{
	const struct ftl_params *params = &ftl->params;
	u32 usual_bytes = 4 * params->unit_pages << FTL_PAGE_SHIFT;

	ftl_bus_init(&ftl->from_host, params->link_mbps, params->time_scale, usual_bytes,
		     carve(memory, ftl_bus_bytes()));
	ftl_bus_init(&ftl->to_host, params->link_mbps, params->time_scale, usual_bytes,
		     carve(memory, ftl_bus_bytes()));
}

static void init_share(struct ftl *ftl, void **memory)
{
	if (!ftl->params.share_pages)
		return;
	ftl_share_init(&ftl->share, &ftl->params, carve(memory, ftl_share_bytes(&ftl->params)));
	ftl->map.share = &ftl->share;
}

static void init_oob(struct ftl *ftl, void **memory)
{
	void *rest;

	if (!ftl->params.oob)
		return;
	rest = carve(memory, ftl_oob_bytes(&ftl->params));
	ftl->oob.geo = &ftl->geo;
	ftl->oob.now_ns = &ftl->now_ns;
	ftl_oob_init(&ftl->oob, &ftl->params, rest, *memory);
	ftl->map.oob = &ftl->oob;
}

struct ftl *ftl_init(const struct ftl_params *params, void *zeroed, u64 now_ns)
{
	void *memory = zeroed;
	struct ftl *ftl = carve(&memory, sizeof(*ftl));
	struct ftl_geometry *geo = &ftl->geo;

	ftl->params = *params;
	ftl->now_ns = now_ns;
	ftl_geometry_init(geo, params);
	ftl_nand_init(&ftl->nand, geo, &ftl->params, carve(&memory, ftl_nand_bytes(params)));
	init_links(ftl, &memory);
	/* With fewer a die collects, or has to; in the background it stops with as many. */
	ftl->blocks.low = max(FTL_GC_SPARE_EBLKS + 1, params->bg_eblks);
	/* A quick write has no more pages than a unit. */
	ftl->blocks.low_units = params->unit_pages + MORE_UNITS;
	ftl_eblks_init(&ftl->blocks, geo,
		       carve(&memory, ftl_eblks_bytes(geo->nr_dies, geo->die_eblks)));
	ftl->gc = carve(&memory, geo->nr_dies * sizeof(*ftl->gc));
	ftl->units.geo = geo;
	ftl->units.map = &ftl->map;
	ftl->units.blocks = &ftl->blocks;
	ftl_units_init(&ftl->units, params, carve(&memory, ftl_units_bytes(params)));
	ftl->stripes.geo = geo;
	ftl_stripes_init(&ftl->stripes, params, carve(&memory, ftl_stripes_bytes(params)));
	ftl_wbuf_init(&ftl->wbuf, wbuf_units(params), geo->nr_open,
		      carve(&memory, ftl_wbuf_bytes(wbuf_units(params), geo->nr_open)));
	ftl_l2p_init(&ftl->map, params->nr_lpns, geo->nr_places,
		     carve(&memory, ftl_l2p_bytes(params->nr_lpns, geo->nr_places)));
	ftl_map_cache_init(&ftl->map_cache, params,
			   carve(&memory, ftl_map_cache_bytes(params)));
	ftl_read_ahead_init(&ftl->read_ahead, params,
			    carve(&memory, ftl_read_ahead_bytes(params)));
	init_share(ftl, &memory);
	init_oob(ftl, &memory);
	ftl_place_init(&ftl->place, &ftl->units, to_die(params->seed_die));
	ftl->place.wear_permille = params->wear_permille;
	ftl->place.senses_again = !params->register_hits;
	ftl->blocks.spare_eblks = params->spare_eblks;
	ftl_bad_init(ftl);
	ftl_in_place_init(ftl);
	ftl->begun_ns = now_ns;
	return ftl;
}
