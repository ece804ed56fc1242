// SPDX-License-Identifier: GPL-2.0-only
#include "drive_kunit.h"

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

static struct ftl_geometry make_geometry(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));
	struct ftl_geometry geo;

	ftl_geometry_init(&geo, &params);
	return geo;
}

/* Counts through all dies, blocks, units and slots: numbers must follow each other. */
static void numbers_count_through_the_drive(struct kunit *test)
{
	struct ftl_geometry geo = make_geometry(test);
	u32 page = 0, unit = 0, eblk = 0;

	for (u32 die = 0; die < geo.nr_dies; die++) {
		for (u32 i = 0; i < geo.die_eblks; i++, eblk++) {
			KUNIT_ASSERT_EQ(test, from_die(ftl_eblk_die(&geo, eblk)), die);
			KUNIT_ASSERT_EQ(test, ftl_eblk_first_unit(&geo, eblk), unit);
			for (u32 j = 0; j < geo.eblk_units; j++, unit++) {
				KUNIT_ASSERT_EQ(test, ftl_flash_unit_eblk(&geo, unit), eblk);
				KUNIT_ASSERT_TRUE(test, ftl_flash_unit_die(&geo, unit) ==
						  to_die(die));
				KUNIT_ASSERT_EQ(test, from_ppn(ftl_flash_unit_ppn(&geo, unit)),
						(u64)page);
				for (u32 k = 0; k < geo.unit_pages; k++, page++)
					KUNIT_ASSERT_EQ(test, ftl_flash_unit(&geo, to_ppn(page)),
							unit);
			}
		}
	}
	KUNIT_EXPECT_EQ(test, page, geo.nr_pages);
	KUNIT_EXPECT_EQ(test, unit, geo.nr_units);
	KUNIT_EXPECT_EQ(test, eblk, geo.nr_eblks);
}

static void places_behind_nand_are_buffered(struct kunit *test)
{
	struct ftl_geometry geo = make_geometry(test);

	KUNIT_EXPECT_FALSE(test, ftl_ppn_is_buffered(&geo, to_ppn(geo.nr_pages - 1)));
	KUNIT_EXPECT_TRUE(test, ftl_ppn_is_buffered(&geo, to_ppn(geo.nr_pages)));
	KUNIT_EXPECT_EQ(test, geo.nr_places, geo.nr_pages + geo.nr_open * geo.unit_pages);
}

static void dies_follow_each_other_in_a_circle(struct kunit *test)
{
	struct ftl_geometry geo = make_geometry(test);
	die_t die = to_die(0);

	for (u32 i = 0; i < geo.nr_dies; i++, die = ftl_next_die(&geo, die))
		KUNIT_EXPECT_EQ(test, from_die(die), i);
	KUNIT_EXPECT_EQ(test, from_die(die), 0U);
}

static void die_keeps_blocks_for_collection(struct kunit *test)
{
	struct ftl_geometry geo = make_geometry(test);

	KUNIT_EXPECT_GT(test, geo.die_limit_pages, 0U);
	KUNIT_EXPECT_LE(test, geo.die_limit_pages, (geo.die_eblks - 4) * geo.eblk_pages);
}

static struct kunit_case geometry_cases[] = {
	KUNIT_CASE_PARAM(numbers_count_through_the_drive, shape_gen_params),
	KUNIT_CASE_PARAM(places_behind_nand_are_buffered, shape_gen_params),
	KUNIT_CASE_PARAM(dies_follow_each_other_in_a_circle, shape_gen_params),
	KUNIT_CASE_PARAM(die_keeps_blocks_for_collection, shape_gen_params),
	{}
};

static struct kunit_suite geometry_suite = {
	.name = "nvmev_geometry",
	.test_cases = geometry_cases,
};

kunit_test_suite(geometry_suite);

MODULE_DESCRIPTION("The FTL's numbering of dies, blocks, units and pages");
MODULE_LICENSE("GPL");
