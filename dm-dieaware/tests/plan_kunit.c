// SPDX-License-Identifier: GPL-2.0-only
/* How much a round of cleaning takes on. */
#include <kunit/test.h>

#include "../core/block.c"
#include "../core/plan.c"
#include "../core/super.c"

#define SEGMENT_PAGES	64

/* Return: pages of a segment that take data. */
static u32 begin(struct dmda_plan *plan)
{
	const struct dmda_super super = { .segment_pages = SEGMENT_PAGES, .summary_pages = 1 };

	dmda_plan_init(plan, &super);
	return dmda_super_data_pages(&super);
}

/* Takes in as many victims as have room. Return: how many. */
static u32 take_victims(struct dmda_plan *plan, u32 nr_valid)
{
	while (dmda_plan_has_room(plan, nr_valid)) {
		plan->nr_victims++;
		plan->nr_moves += nr_valid;
	}
	return plan->nr_victims;
}

static void no_more_is_planned_than_there_are_places(struct kunit *test)
{
	struct dmda_plan plan;
	u32 data_pages = begin(&plan);

	for (u64 room = 0; room < 4 * data_pages; room++) {
		for (u32 nr_valid = 1; nr_valid < data_pages; nr_valid++) {
			dmda_plan_forget(&plan);
			plan.max_moves = dmda_plan_sure(&plan, room);
			take_victims(&plan, nr_valid);
			KUNIT_ASSERT_LE(test, (u64)plan.nr_moves, room);
			KUNIT_ASSERT_LE(test, plan.nr_moves, 2 * data_pages);
			/* Nor is a victim left out that has room. */
			KUNIT_ASSERT_EQ(test, !plan.nr_victims, nr_valid > room);
		}
	}
}

static void with_places_for_two_segments_there_are_as_many_victims_as_fit(struct kunit *test)
{
	struct dmda_plan plan;
	u32 data_pages = begin(&plan);

	plan.max_moves = dmda_plan_sure(&plan, 2 * data_pages);
	KUNIT_EXPECT_FALSE(test, plan.is_tight);
	KUNIT_EXPECT_EQ(test, take_victims(&plan, data_pages / 2), 4U);
	dmda_plan_forget(&plan);
	plan.max_moves = dmda_plan_sure(&plan, 1000 * data_pages);
	KUNIT_EXPECT_EQ(test, take_victims(&plan, data_pages), 2U);
}

static void with_fewer_it_is_one_victim_at_a_time(struct kunit *test)
{
	struct dmda_plan plan;
	u32 data_pages = begin(&plan);

	plan.max_moves = dmda_plan_sure(&plan, 2 * data_pages - 1);
	KUNIT_EXPECT_TRUE(test, plan.is_tight);
	KUNIT_EXPECT_EQ(test, take_victims(&plan, 1), 1U);
	dmda_plan_forget(&plan);
	KUNIT_EXPECT_EQ(test, take_victims(&plan, data_pages), 1U);
	/* It ends when there are places again. */
	dmda_plan_forget(&plan);
	plan.max_moves = dmda_plan_sure(&plan, 2 * data_pages);
	KUNIT_EXPECT_EQ(test, take_victims(&plan, data_pages), 2U);
}

static struct kunit_case plan_cases[] = {
	KUNIT_CASE(no_more_is_planned_than_there_are_places),
	KUNIT_CASE(with_places_for_two_segments_there_are_as_many_victims_as_fit),
	KUNIT_CASE(with_fewer_it_is_one_victim_at_a_time),
	{}
};

static struct kunit_suite plan_suite = {
	.name = "dm_dieaware_plan",
	.test_cases = plan_cases,
};

kunit_test_suite(plan_suite);

MODULE_DESCRIPTION("How much a round of cleaning takes on");
MODULE_LICENSE("GPL");
