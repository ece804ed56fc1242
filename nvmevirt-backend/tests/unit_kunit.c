// SPDX-License-Identifier: GPL-2.0-only
#include "drive_kunit.h"

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

static struct ftl_units *make_units(struct kunit *test, u32 least_unit_pages)
{
	if (shape_of(test)->unit_pages < least_unit_pages)
		kunit_skip(test, "Units are too small for this.");
	return &make_shape(test)->units;
}

static void put(struct ftl_units *units, struct ftl_unit *unit, u64 first, u32 nr)
{
	ftl_units_put(units, unit, to_lpn(first), nr);
}

static u32 claimed(const struct ftl_units *units, u32 die)
{
	return units->die[die].nr_claimed;
}

static ppn_t place_of(const struct ftl_units *units, u64 lpn)
{
	return ftl_l2p_get(units->map, to_lpn(lpn));
}

static void open_unit_claims_its_slots(struct kunit *test)
{
	struct ftl_units *units = make_units(test, 2);
	u32 nr = units->geo->unit_pages;
	struct ftl_unit *plain = ftl_units_open(units, to_die(0), FTL_UNIT_PLAIN);

	KUNIT_EXPECT_EQ(test, claimed(units, 0), nr);
	put(units, plain, 0, nr - 1);
	KUNIT_EXPECT_EQ(test, claimed(units, 0), nr);
	KUNIT_EXPECT_EQ(test, units->die[0].nr_valid, nr - 1);
	/* A unit of collection claims what is in it, and that has been claimed before. */
	ftl_units_open(units, to_die(0), FTL_UNIT_GC);
	KUNIT_EXPECT_EQ(test, claimed(units, 0), nr);
	KUNIT_EXPECT_EQ(test, units->nr_host, 1U);
}

static void full_unit_is_set_aside(struct kunit *test)
{
	struct ftl_units *units = make_units(test, 1);
	struct ftl_unit *plain = ftl_units_open(units, to_die(0), FTL_UNIT_PLAIN);

	KUNIT_EXPECT_NULL(test, ftl_units_first_full(units));
	put(units, plain, 0, units->geo->unit_pages);
	KUNIT_EXPECT_PTR_EQ(test, ftl_units_first_full(units), plain);
	KUNIT_EXPECT_NULL(test, units->plain[0]);
}

static void holes_at_the_end_are_filled_again(struct kunit *test)
{
	struct ftl_units *units = make_units(test, 3);
	struct ftl_unit *run = ftl_units_open(units, to_die(0), FTL_UNIT_RUN);

	put(units, run, 10, 2);
	ftl_units_unmap(units, to_lpn(10));
	KUNIT_EXPECT_EQ(test, run->nr_filled, 2);
	KUNIT_EXPECT_EQ(test, run->nr_valid, 1);
	put(units, run, 5, units->geo->unit_pages - 3);
	ftl_units_unmap(units, to_lpn(11));
	for (u32 i = 0; i + 3 < units->geo->unit_pages; i++)
		ftl_units_unmap(units, to_lpn(5 + i));
	/* With the last page every hole is at the end: the unit is given back. */
	KUNIT_EXPECT_EQ(test, units->nr_runs, 0U);
	KUNIT_EXPECT_EQ(test, units->nr_host, 0U);
	KUNIT_EXPECT_EQ(test, claimed(units, 0), 0U);
	KUNIT_EXPECT_EQ(test, units->nr_mapped, 0ULL);
}

static void run_is_found_by_what_it_replaces(struct kunit *test)
{
	struct ftl_units *units = make_units(test, 2);
	struct ftl_unit *run = ftl_units_open(units, to_die(0), FTL_UNIT_RUN);
	u32 eblk_units = units->geo->eblk_units;

	put(units, run, 0, 1);
	ftl_units_replace(units, run, eblk_units);
	KUNIT_EXPECT_PTR_EQ(test, ftl_units_replacing(units, eblk_units), run);
	KUNIT_EXPECT_NULL(test, ftl_units_replacing(units, eblk_units + 1));
	ftl_units_forget_eblk(units, 0);
	ftl_units_forget_eblk(units, 2);
	KUNIT_EXPECT_PTR_EQ(test, ftl_units_replacing(units, eblk_units), run);
	ftl_units_forget_eblk(units, 1);
	KUNIT_EXPECT_NULL(test, ftl_units_replacing(units, eblk_units));
	ftl_units_replace(units, run, 0);
	put(units, run, 1, units->geo->unit_pages - 1);
	KUNIT_EXPECT_NULL(test, ftl_units_replacing(units, 0));
}

/* Two runs with holes are put out on one die, with room for both or not. */
static void pages_of_runs_put_out_move_together(struct kunit *test)
{
	struct ftl_units *units = make_units(test, 4);
	u32 nr = units->geo->unit_pages, nr_pages = 2 * (nr - 2);
	struct ftl_unit *a = ftl_units_open(units, to_die(0), FTL_UNIT_RUN);
	struct ftl_unit *b = ftl_units_open(units, to_die(0), FTL_UNIT_RUN);

	put(units, a, 0, nr - 1);
	put(units, b, 20, nr - 1);
	ftl_units_unmap(units, to_lpn(0));
	ftl_units_unmap(units, to_lpn(21));
	ftl_units_limit_runs(units, 1);
	KUNIT_EXPECT_PTR_EQ(test, units->die[0].mixed, a);
	/* The hole in front was closed, and order kept. */
	KUNIT_EXPECT_EQ(test, a->nr_filled, nr - 2);
	for (u32 i = 1; i < nr - 1; i++)
		KUNIT_EXPECT_EQ(test, ftl_units_slot(units, place_of(units, i)), i - 1);
	ftl_units_limit_runs(units, 0);
	KUNIT_EXPECT_EQ(test, units->nr_evicted, 2ULL);
	KUNIT_EXPECT_EQ(test, units->die[0].nr_valid, nr_pages);
	KUNIT_EXPECT_PTR_EQ(test, ftl_units_of(units, place_of(units, 20)), a);
	KUNIT_EXPECT_EQ(test, ftl_units_slot(units, place_of(units, 20)), nr - 2);
	if (nr == 4) {
		KUNIT_EXPECT_PTR_EQ(test, ftl_units_first_full(units), a);
		KUNIT_EXPECT_NULL(test, units->die[0].mixed);
		KUNIT_EXPECT_EQ(test, b->kind, (u32)FTL_UNIT_FREE);
	} else {
		KUNIT_EXPECT_EQ(test, ftl_units_slot(units, place_of(units, 22)), nr - 1);
		KUNIT_EXPECT_PTR_EQ(test, units->die[0].mixed, b);
		KUNIT_EXPECT_EQ(test, ftl_units_slot(units, place_of(units, 23)), 0U);
	}
}

static void least_recently_used_run_is_put_out_first(struct kunit *test)
{
	struct ftl_units *units = make_units(test, 2);
	struct ftl_unit *a = ftl_units_open(units, to_die(0), FTL_UNIT_RUN);
	struct ftl_unit *b = ftl_units_open(units, to_die(0), FTL_UNIT_RUN);

	put(units, a, 0, 1);
	put(units, b, 1, 1);
	ftl_units_touch(units, a);
	ftl_units_limit_runs(units, 1);
	KUNIT_EXPECT_EQ(test, a->kind, (u32)FTL_UNIT_RUN);
	KUNIT_EXPECT_EQ(test, b->kind, (u32)FTL_UNIT_MIXED);
}

static struct kunit_case unit_cases[] = {
	KUNIT_CASE_PARAM(open_unit_claims_its_slots, shape_gen_params),
	KUNIT_CASE_PARAM(full_unit_is_set_aside, shape_gen_params),
	KUNIT_CASE_PARAM(holes_at_the_end_are_filled_again, shape_gen_params),
	KUNIT_CASE_PARAM(run_is_found_by_what_it_replaces, shape_gen_params),
	KUNIT_CASE_PARAM(pages_of_runs_put_out_move_together, shape_gen_params),
	KUNIT_CASE_PARAM(least_recently_used_run_is_put_out_first, shape_gen_params),
	{}
};

static struct kunit_suite unit_suite = {
	.name = "nvmev_unit",
	.test_cases = unit_cases,
};

kunit_test_suite(unit_suite);

MODULE_DESCRIPTION("Open units of the FTL");
MODULE_LICENSE("GPL");
