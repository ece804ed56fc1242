// SPDX-License-Identifier: GPL-2.0-only
/* The rules are in lanes.h. */
#include "lanes.h"

static u32 stripe_pages(const struct dmda_lanes *lanes)
{
	return lanes->nr * lanes->unit_pages;
}

static u32 in_stripe(const struct dmda_lanes *lanes, u64 nr_pages)
{
	u32 rest;

	div_u64_rem(nr_pages, stripe_pages(lanes), &rest);
	return rest;
}

/* All pages that go on from one have the same distance to their device pages, below a stripe. */
u64 dmda_lanes_value(const struct dmda_lanes *lanes, dpn_t dpn, u32 berth)
{
	u32 ahead = berth + stripe_pages(lanes) - in_stripe(lanes, from_dpn(dpn));

	return from_dpn(dpn) + in_stripe(lanes, ahead);
}

u32 dmda_lanes_berth(const struct dmda_lanes *lanes, u64 value)
{
	return in_stripe(lanes, value);
}

/* Where the file is, or the device, as if all of it had gone round the lanes in order */
static u32 berth_in_order(const struct dmda_lanes *lanes, const struct dmda_run *run)
{
	u64 page = run->file.id ? run->fpage : from_dpn(run->dpn);
	u32 lane;

	div_u64_rem(run->file.id, lanes->nr, &lane);
	return in_stripe(lanes, lane * lanes->unit_pages + page);
}

static u32 berth_of(const struct dmda_lanes *lanes, const struct dmda_run *run,
		    const struct dmda_verdict *verdict, const struct dmda_moorings *known)
{
	bool stays = verdict->hint == DMDA_HINT_OVERWRITE || !run->file.id;

	if (stays && known->here.nr_pages)
		return known->here.first;
	if (dmda_lanes_begins(verdict))
		return known->turn % lanes->nr * lanes->unit_pages;
	if (verdict->hint == DMDA_HINT_APPEND && known->before != DMDA_BERTH_NONE)
		return in_stripe(lanes, known->before + 1);
	if (!run->file.id && verdict->hint == DMDA_HINT_NONE)
		return DMDA_BERTH_NONE;
	return berth_in_order(lanes, run);
}

struct dmda_berth dmda_lanes_choose(const struct dmda_lanes *lanes, const struct dmda_run *run,
				    const struct dmda_verdict *verdict,
				    const struct dmda_moorings *known)
{
	struct dmda_berth berth = { .first = berth_of(lanes, run, verdict, known),
				    .nr_pages = run->nr_pages };

	if (berth.first == DMDA_BERTH_NONE)
		return berth;
	berth.nr_pages = min(berth.nr_pages, lanes->unit_pages - berth.first % lanes->unit_pages);
	if (known->here.nr_pages && berth.first == known->here.first)
		berth.nr_pages = min(berth.nr_pages, known->here.nr_pages);
	return berth;
}
