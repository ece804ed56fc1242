/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The whole core, in the same compilation unit unless it is linked, and small drives to try it on:
 * for suites and fuzzers that work on a drive rather than on one file.
 */
#ifndef TESTS_DRIVE_H
#define TESTS_DRIVE_H

/* Programs of tests/unit are linked with it: it is compiled once, and not with each of them. */
#ifdef CORE_IS_LINKED
#include "../core/geometry.h"
#include "../core/params-check.h"
#include "../core/oob.h"
#include "../core/oob-slots.h"
#include "../core/oob-booked.h"
#include "../core/oob-memory.h"
#include "../core/table.h"
#include "../core/l2p.h"
#include "../core/l2p-change.h"
#include "../core/share.h"
#include "../core/defrag.h"
#include "../core/defrag-compact.h"
#include "../core/defrag-replay.h"
#include "../core/pqueue.h"
#include "../core/channel.h"
#include "../core/ahead.h"
#include "../core/nand.h"
#include "../core/wbuf.h"
#include "../core/eblk.h"
#include "../core/open-unit.h"
#include "../core/wear.h"
#include "../core/place.h"
#include "../core/map-cache.h"
#include "../core/map-page.h"
#include "../core/stripe.h"
#include "../core/read-ahead.h"
#include "../core/sense.h"
#include "../core/beside.h"
#include "../core/defrag-program.h"
#include "../core/program.h"
#include "../core/program-host.h"
#include "../core/draft.h"
#include "../core/bad.h"
#include "../core/rescue.h"
#include "../core/gc.h"
#include "../core/slc.h"
#include "../core/in-place.h"
#include "../core/mend.h"
#include "../core/idle.h"
#include "../core/exchange.h"
#include "../core/command.h"
#include "../core/ftl.h"
#include "../core/rebuild.h"
#include "../core/dof.h"
#include "../core/report.h"
#else
#include "whole_core.c"
#endif

/**
 * struct drive_shape - a geometry to try
 * @name: name that is shown with the case
 * @nr_channels: number of channels, as in struct ftl_params, like all that follow
 */
struct drive_shape {
	const char *name;
	u32 nr_channels;
	u32 dies_per_channel;
	u32 unit_pages;
	u32 units_per_eblk;
	u32 eblks_per_die;
	u32 run_units;
	u32 reserve_permille;
};

static const struct drive_shape __maybe_unused drive_shapes[] = {
	{ "one die",		1, 1, 4, 4, 12, 1, 100 },
	{ "one page a unit",	1, 2, 1, 2, 20, 2, 20 },
	{ "power of two",	2, 2, 8, 4, 16, 4, 70 },
	{ "three dies",		3, 1, 3, 5, 9, 2, 70 },
	{ "prime",		7, 1, 5, 3, 11, 3, 300 },
	{ "fast24 in small",	4, 2, 8, 16, 16, 8, 70 },
};

/* The latencies of the drive in the FAST'24 paper, and a shape. */
static inline struct ftl_params drive_params(const struct drive_shape *shape)
{
	u32 nr_dies = shape->nr_channels * shape->dies_per_channel;
	struct ftl_params params = {
		.nr_channels = shape->nr_channels,
		.dies_per_channel = shape->dies_per_channel,
		.planes_per_die = 1,
		.unit_pages = shape->unit_pages,
		.units_per_eblk = shape->units_per_eblk,
		.eblks_per_die = shape->eblks_per_die,
		.reserve_permille = shape->reserve_permille,
		.nr_page_kinds = 2,
		.read_ns = { 30000, 42000 },
		.program_ns = 185000,
		.erase_ns = 3000000,
		.channel_mbps = 800,
		.link_mbps = 3200,
		.cmd_ns = 1000,
		.write_ns = 2000,
		.page_ns = 100,
		.wbuf_pages = (shape->run_units + 2 * nr_dies + 4) * shape->unit_pages,
		.run_units = shape->run_units,
		.time_scale = 1,
		.plp = true,
		.register_hits = true,
	};

	params.nr_lpns = ftl_params_capacity(&params);
	return params;
}

/* Gives the drive an SLC region of so many erase blocks on each die. */
static inline void add_slc(struct ftl_params *params, u32 nr_eblks, u32 cell_bits)
{
	params->cell_bits = min(cell_bits, params->units_per_eblk);
	params->slc_pages = nr_eblks * params->nr_channels * params->dies_per_channel *
		(params->units_per_eblk / params->cell_bits) * params->unit_pages;
	params->slc_program_ns = 75000;
	params->slc_read_ns = 20000;
}

/* Gives the drive so many placement handles, and what they need. */
static inline void add_handles(struct ftl_params *params, u32 nr)
{
	params->nr_handles = nr;
	params->eblks_per_die += nr - 1;
	params->wbuf_pages += (nr - 1) * params->unit_pages;
	params->nr_lpns = ftl_params_capacity(params);
}

/* Makes the medium one that is written in place, without what does not go with that. */
static inline void make_in_place(struct ftl_params *params)
{
	params->in_place = true;
	params->plp = true;
	params->hold_ns = 0;
	params->bg_eblks = 0;
	params->spare_eblks = 0;
	params->factory_bad_permille = 0;
	params->share_pages = 0;
	params->map_cache_pages = 0;
	params->slc_pages = 0;
	params->stripe_lead = 0;
	params->parity = false;
	params->nr_handles = 0;
	params->nr_lpns = ftl_params_capacity(params);
}

#endif /* TESTS_DRIVE_H */
