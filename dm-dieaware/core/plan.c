// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much a round of cleaning takes on.
 */
#include "plan.h"

void dmda_plan_init(struct dmda_plan *plan, const struct dmda_super *super)
{
	*plan = (struct dmda_plan){ .kept_moves = 2 * dmda_super_data_pages(super) };
	plan->max_moves = plan->kept_moves;
}

void dmda_plan_forget(struct dmda_plan *plan)
{
	plan->nr_victims = 0;
	plan->nr_moves = 0;
}

u32 dmda_plan_sure(struct dmda_plan *plan, u64 room)
{
	plan->is_tight = room < plan->kept_moves;
	return min_t(u64, room, plan->kept_moves);
}

bool dmda_plan_has_room(const struct dmda_plan *plan, u32 nr_valid)
{
	if (plan->is_tight && plan->nr_victims)
		return false;
	return plan->nr_moves + nr_valid <= plan->max_moves;
}
