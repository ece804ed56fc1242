// SPDX-License-Identifier: GPL-2.0-only
/* DoF_P of sets of pages whose places are known, on drives of several shapes. */
#include "drive_kunit.h"

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

#define SET_PAGES	4096

static struct ftl_dof begin(struct kunit *test, const struct ftl *ftl)
{
	void *memory = kunit_kzalloc(test, ftl_dof_bytes(ftl, SET_PAGES), GFP_KERNEL);
	struct ftl_dof dof;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	ftl_dof_init(&dof, ftl, SET_PAGES, memory);
	return dof;
}

static u32 dof_of(struct kunit *test, const struct ftl *ftl, u64 first, u32 nr_pages)
{
	struct ftl_dof dof = begin(test, ftl);

	ftl_dof_add(&dof, to_lpn(first), nr_pages);
	return ftl_dof_permille(&dof);
}

static u32 stripe_pages(const struct ftl *ftl)
{
	return ftl->geo.unit_pages * ftl->geo.nr_dies;
}

static void nothing_is_not_fragmented(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);

	KUNIT_EXPECT_EQ(test, dof_of(test, ftl, 0, 0), 0U);
	KUNIT_EXPECT_EQ(test, dof_of(test, ftl, 0, stripe_pages(ftl)), 0U);
}

static void whole_stripes_are_read_as_fast_as_can_be(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr_pages = 2 * stripe_pages(ftl);

	write_plain(ftl, 0, nr_pages);
	KUNIT_EXPECT_EQ(test, dof_of(test, ftl, 0, nr_pages), 0U);
	KUNIT_EXPECT_EQ(test, dof_of(test, ftl, 0, nr_pages / 2), 0U);
	KUNIT_EXPECT_EQ(test, dof_of(test, ftl, 0, 1), 0U);
	/* Pages that are not mapped do not count. */
	KUNIT_EXPECT_EQ(test, dof_of(test, ftl, 0, nr_pages + 3), 0U);
}

/* A file each of whose units was written when it was the same die's turn. */
static void a_single_die_is_the_worst_place(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 unit = ftl->geo.unit_pages, nr_dies = ftl->geo.nr_dies;
	struct ftl_dof dof = begin(test, ftl);

	write_plain(ftl, 0, nr_dies * stripe_pages(ftl));
	for (u32 i = 0; i < nr_dies; i++) {
		KUNIT_ASSERT_EQ(test, die_of(ftl, i * stripe_pages(ftl)), 0U);
		ftl_dof_add(&dof, to_lpn(i * stripe_pages(ftl)), unit);
	}
	KUNIT_EXPECT_EQ(test, ftl_dof_best(&dof), 1U);
	KUNIT_EXPECT_EQ(test, dof.most_units, nr_dies);
	KUNIT_EXPECT_EQ(test, dof.nr_units, nr_dies);
	KUNIT_EXPECT_EQ(test, ftl_dof_permille(&dof), 1000 - 1000 / nr_dies);
}

/* One page of each unit of a die: a sense for each. */
static void scattered_pages_cost_a_sense_each(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = ftl->geo.unit_pages;
	struct ftl_dof dof = begin(test, ftl);

	write_plain(ftl, 0, nr * stripe_pages(ftl));
	for (u32 i = 0; i < nr; i++)
		ftl_dof_add(&dof, to_lpn(i * stripe_pages(ftl)), 1);
	KUNIT_EXPECT_EQ(test, ftl_dof_permille(&dof), 1000 - 1000 / nr);
}

/* Pages of a unit that come in several parts are one sense. */
static void a_unit_counts_once(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	struct ftl_dof dof = begin(test, ftl);

	write_plain(ftl, 0, stripe_pages(ftl));
	for (u32 round = 0; round < 3; round++)
		for (u32 i = 0; i < stripe_pages(ftl); i += 2)
			ftl_dof_add(&dof, to_lpn(i), 1);
	for (u32 i = 1; i < stripe_pages(ftl); i += 2)
		ftl_dof_add(&dof, to_lpn(i), 1);
	KUNIT_EXPECT_EQ(test, dof.nr_units, ftl->geo.nr_dies);
	KUNIT_EXPECT_EQ(test, dof.most_units, 1U);
}

static struct kunit_case dof_cases[] = {
	KUNIT_CASE_PARAM(nothing_is_not_fragmented, shape_gen_params),
	KUNIT_CASE_PARAM(whole_stripes_are_read_as_fast_as_can_be, shape_gen_params),
	KUNIT_CASE_PARAM(a_single_die_is_the_worst_place, shape_gen_params),
	KUNIT_CASE_PARAM(scattered_pages_cost_a_sense_each, shape_gen_params),
	KUNIT_CASE_PARAM(a_unit_counts_once, shape_gen_params),
	{}
};

static struct kunit_suite dof_suite = {
	.name = "nvmev_dof",
	.test_cases = dof_cases,
};

kunit_test_suite(dof_suite);

MODULE_DESCRIPTION("Degree of physical fragmentation");
MODULE_LICENSE("GPL");
