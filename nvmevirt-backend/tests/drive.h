/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The whole core in one compilation unit, and small drives to try it on: for suites and
 * fuzzers that work on a drive rather than on one file.
 */
#ifndef TESTS_DRIVE_H
#define TESTS_DRIVE_H

#include "../core/geometry.c"
#include "../core/params.c"
#include "../core/oob.c"
#include "../core/l2p.c"
#include "../core/share.c"
#include "../core/defrag.c"
#include "../core/pqueue.c"
#include "../core/channel.c"
#include "../core/ahead.c"
#include "../core/nand.c"
#include "../core/wbuf.c"
#include "../core/eblk.c"
#include "../core/unit.c"
#include "../core/wear.c"
#include "../core/place.c"
#include "../core/program.c"
#include "../core/draft.c"
#include "../core/bad.c"
#include "../core/rescue.c"
#include "../core/gc.c"
#include "../core/mend.c"
#include "../core/idle.c"
#include "../core/read.c"
#include "../core/exchange.c"
#include "../core/write.c"
#include "../core/remap.c"
#include "../core/redistribute.c"
#include "../core/ftl.c"
#include "../core/rebuild.c"
#include "../core/dof.c"
#include "../core/report.c"
#include "../core/check.c"

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

#endif /* TESTS_DRIVE_H */
