// SPDX-License-Identifier: GPL-2.0-only
/* Writes that name the die where they begin, or go: rule 4, DIE and ALL_DIE, of core/place.h. */
#include "drive_kunit.h"

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

static u32 unit_pages(const struct ftl *ftl)
{
	return ftl->geo.unit_pages;
}

static void write_begins_on_its_die_and_goes_round(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr_dies = ftl->geo.nr_dies;
	u32 nr_pages = 2 * unit_pages(ftl);

	for (u32 die = 0; die < nr_dies; die++) {
		u64 first = (u64)die * nr_pages;

		write_to_die(ftl, first, nr_pages, die);
		for (u32 i = 0; i < nr_pages; i++)
			KUNIT_EXPECT_EQ(test, die_of(ftl, first + i),
					(die + i / unit_pages(ftl)) % nr_dies);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_die, (u64)nr_dies);
	EXPECT_CONSISTENT(test, ftl);
}

static void write_of_which_all_goes_to_its_die_stays_there(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr_dies = ftl->geo.nr_dies;
	u32 nr_pages = 2 * unit_pages(ftl) + 1;

	for (u32 die = 0; die < nr_dies; die++) {
		u64 first = (u64)die * nr_pages;

		write_all_to_die(ftl, first, nr_pages, die);
		for (u32 i = 0; i < nr_pages; i++)
			KUNIT_EXPECT_EQ(test, die_of(ftl, first + i), die);
		KUNIT_EXPECT_EQ(test, unit_of(ftl, first),
				unit_of(ftl, first + unit_pages(ftl) - 1));
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_die, (u64)nr_dies);
	EXPECT_CONSISTENT(test, ftl);
}

/* Written once more with another die, every page of it moves there, and none follows a page. */
static void all_of_it_moves_from_die_to_die(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr_pages = unit_pages(ftl) + 1;

	for (u32 die = 0; die < ftl->geo.nr_dies; die++) {
		write_all_to_die(ftl, 0, nr_pages, die);
		for (u32 i = 0; i < nr_pages; i++)
			KUNIT_EXPECT_EQ(test, die_of(ftl, i), die);
	}
	write_all_to_die(ftl, 0, 1, ftl->geo.nr_dies);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_ignored, 1ULL);
	EXPECT_CONSISTENT(test, ftl);
}

/* Small writes in turn to all dies: each fills units of its own die. */
static void small_writes_share_units_of_their_die(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = unit_pages(ftl), nr_dies = min(ftl->geo.nr_dies, shape_of(test)->run_units);

	for (u32 i = 0; i < 2 * nr; i++)
		for (u32 die = 0; die < nr_dies; die++)
			write_to_die(ftl, 2 * nr * die + i, 1, die);
	for (u32 die = 0; die < nr_dies; die++) {
		for (u32 i = 0; i < 2 * nr; i++) {
			u64 lpn = 2 * nr * die + i;

			KUNIT_ASSERT_EQ(test, die_of(ftl, lpn), die);
			KUNIT_ASSERT_EQ(test, unit_of(ftl, lpn),
					unit_of(ftl, rounddown(lpn, nr)));
		}
	}
	EXPECT_CONSISTENT(test, ftl);
}

static void plain_writes_are_not_disturbed(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = unit_pages(ftl), nr_dies = ftl->geo.nr_dies;

	for (u32 i = 0; i < nr_dies * nr; i++) {
		write_plain(ftl, i, 1);
		write_to_die(ftl, nr_dies * nr + i, 1, nr_dies - 1);
		KUNIT_ASSERT_EQ(test, die_of(ftl, i), i / nr);
	}
	EXPECT_CONSISTENT(test, ftl);
}

/* A page that is in an open unit of another die moves to the die that is named. */
static void page_is_sent_from_one_open_unit_to_another_die(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 last = ftl->geo.nr_dies - 1;

	write_to_die(ftl, 0, 1, 0);
	write_to_die(ftl, 0, 1, last);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 0), last);
	write_to_die(ftl, 0, 1, last);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 0), last);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, 1ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void die_that_does_not_exist_is_no_hint(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);

	write_to_die(ftl, 0, 1, ftl->geo.nr_dies);
	write_to_die(ftl, 1, 1, U32_MAX);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 0), 0U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_ignored, 2ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_die, 0ULL);
	EXPECT_CONSISTENT(test, ftl);
}

/* The page that was sent last is trimmed, or went elsewhere: a new unit is opened. */
static void what_was_sent_last_may_be_gone(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);

	write_to_die(ftl, 0, 1, 0);
	trim(ftl, 0, 1);
	write_to_die(ftl, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 1), 0U);
	write_to_die(ftl, 1, 1, ftl->geo.nr_dies - 1);
	write_to_die(ftl, 2, 1, 0);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 2), 0U);
	EXPECT_CONSISTENT(test, ftl);
}

static struct kunit_case send_cases[] = {
	KUNIT_CASE_PARAM(write_begins_on_its_die_and_goes_round, shape_gen_params),
	KUNIT_CASE_PARAM(write_of_which_all_goes_to_its_die_stays_there, shape_gen_params),
	KUNIT_CASE_PARAM(all_of_it_moves_from_die_to_die, shape_gen_params),
	KUNIT_CASE_PARAM(small_writes_share_units_of_their_die, shape_gen_params),
	KUNIT_CASE_PARAM(plain_writes_are_not_disturbed, shape_gen_params),
	KUNIT_CASE_PARAM(page_is_sent_from_one_open_unit_to_another_die, shape_gen_params),
	KUNIT_CASE_PARAM(die_that_does_not_exist_is_no_hint, shape_gen_params),
	KUNIT_CASE_PARAM(what_was_sent_last_may_be_gone, shape_gen_params),
	{}
};

static struct kunit_suite send_suite = {
	.name = "nvmev_send",
	.test_cases = send_cases,
};

kunit_test_suite(send_suite);

MODULE_DESCRIPTION("Writes that name a die");
MODULE_LICENSE("GPL");
