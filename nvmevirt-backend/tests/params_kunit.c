// SPDX-License-Identifier: GPL-2.0-only
#include "drive_kunit.h"

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

static void shapes_of_the_suites_are_accepted(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));

	KUNIT_EXPECT_NULL_MSG(test, ftl_params_check(&params), "%s", ftl_params_check(&params));
	params.nr_lpns++;
	KUNIT_EXPECT_NOT_NULL(test, ftl_params_check(&params));
	params.nr_lpns = 0;
	KUNIT_EXPECT_NOT_NULL(test, ftl_params_check(&params));
}

/**
 * struct bad_params - one member that is out of its range
 * @name: the member, as shown
 * @offset: where it is
 * @value: what it is set to
 * @words: words of the reason
 */
struct bad_params {
	const char *name;
	size_t offset;
	u32 value;
	const char *words;
};

#define BAD(member, value, words) \
	{ #member "=" #value, offsetof(struct ftl_params, member), value, words }

static const struct bad_params bad_params[] = {
	BAD(nr_channels, 0, "channels"),
	BAD(nr_channels, 65, "channels"),
	BAD(dies_per_channel, 0, "dies"),
	BAD(dies_per_channel, 65, "dies"),
	BAD(planes_per_die, 0, "planes"),
	BAD(planes_per_die, 17, "planes"),
	BAD(unit_pages, 0, "die unit"),
	BAD(unit_pages, 65, "die unit"),
	BAD(units_per_eblk, 1, "program units"),
	BAD(units_per_eblk, 16385, "program units"),
	BAD(eblks_per_die, 7, "erase blocks"),
	BAD(eblks_per_die, U32_MAX, "too many pages"),
	BAD(reserve_permille, 19, "reserve"),
	BAD(reserve_permille, 901, "reserve"),
	BAD(nr_page_kinds, 0, "page kinds"),
	BAD(nr_page_kinds, 5, "page kinds"),
	BAD(channel_mbps, 0, "bandwidth"),
	BAD(channel_mbps, 1000001, "bandwidth"),
	BAD(suspend_program, 1001, "give way"),
	BAD(suspend_erase, 1001, "give way"),
	BAD(suspend_ns, 100000001, "suspended"),
	BAD(link_mbps, 0, "bandwidth"),
	BAD(wbuf_pages, 0, "write buffer"),
	BAD(wbuf_pages, 191, "write buffer"),
	BAD(run_units, 0, "runs"),
	BAD(run_units, 1000000, "write buffer"),
	BAD(time_scale, 0, "time scale"),
	BAD(time_scale, 1001, "time scale"),
	BAD(seed_die, 8, "first write"),
	BAD(map_cache_pages, 4194305, "cache of the map"),
	BAD(map_cache_pages, U32_MAX, "cache of the map"),
	BAD(read_ahead_pages, 4097, "read ahead"),
	BAD(read_ahead_pages, U32_MAX, "read ahead"),
	BAD(stripe_lead, 65, "64 stripes"),
	BAD(stripe_lead, U32_MAX, "64 stripes"),
	BAD(parity, true, "needs stripes"),
	BAD(nr_handles, 17, "16 placement handles"),
	BAD(nr_handles, U32_MAX, "16 placement handles"),
	BAD(nr_handles, 16, "write buffer"),
};

static void describe_bad(const struct bad_params *bad, char *desc)
{
	strscpy(desc, bad->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad, bad_params, describe_bad);

/* The reason is a sentence, and it speaks of what is wrong. */
static void impossible_parameters_are_refused_with_a_reason(struct kunit *test)
{
	const struct bad_params *bad = test->param_value;
	struct ftl_params params = drive_params(&drive_shapes[5]);
	const char *reason;

	KUNIT_ASSERT_NULL(test, ftl_params_check(&params));
	memcpy((u8 *)&params + bad->offset, &bad->value, sizeof(bad->value));
	reason = ftl_params_check(&params);
	KUNIT_ASSERT_NOT_NULL(test, reason);
	KUNIT_EXPECT_NOT_NULL(test, strstr(reason, bad->words));
	KUNIT_EXPECT_EQ(test, reason[strlen(reason) - 1], '.');
}

static void capacity_leaves_the_reserve(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));
	u64 raw = (u64)params.nr_channels * params.dies_per_channel * params.eblks_per_die *
		params.units_per_eblk * params.unit_pages;

	KUNIT_EXPECT_GT(test, params.nr_lpns, 0ULL);
	KUNIT_EXPECT_LE(test, params.nr_lpns * 1000, raw * (1000 - params.reserve_permille));
}

/* A drive as large as the paper's has its capacity from the reserve alone. */
static void large_drive_loses_nothing_but_the_reserve(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	u64 raw;

	params.units_per_eblk = 512;
	params.eblks_per_die = 458;
	raw = 8ULL * 458 * 512 * 8;
	KUNIT_EXPECT_EQ(test, ftl_params_capacity(&params), div_u64(raw * 930, 1000));
}

static void geometry_that_overflows_has_no_capacity(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);

	params.nr_channels = 64;
	params.dies_per_channel = 64;
	params.unit_pages = 64;
	params.units_per_eblk = 16384;
	params.eblks_per_die = U32_MAX;
	KUNIT_EXPECT_EQ(test, ftl_params_capacity(&params), 0ULL);
	/* 2^32 pages are more than the map can number. */
	params.eblks_per_die = 1024;
	params.units_per_eblk = 16;
	KUNIT_EXPECT_EQ(test, ftl_params_capacity(&params), 0ULL);
	params.eblks_per_die = 1023;
	KUNIT_EXPECT_GT(test, ftl_params_capacity(&params), 0ULL);
}

static void expect_slc_refused(struct kunit *test, const struct ftl_params *params,
			       const char *words)
{
	const char *reason = ftl_params_check(params);

	KUNIT_ASSERT_NOT_NULL(test, reason);
	KUNIT_EXPECT_NOT_NULL(test, strstr(reason, words));
	KUNIT_EXPECT_EQ(test, reason[strlen(reason) - 1], '.');
	KUNIT_EXPECT_EQ(test, ftl_params_capacity(params), 0ULL);
}

static void region_of_one_bit_cells_has_its_limits(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);

	/* As many blocks as there are besides are the most. */
	add_slc(&params, params.eblks_per_die, 3);
	KUNIT_EXPECT_NULL(test, ftl_params_check(&params));
	params.slc_pages++;
	expect_slc_refused(test, &params, "slc_mib");
	params.slc_pages = U32_MAX;
	expect_slc_refused(test, &params, "slc_mib");
	params.slc_pages = 1;
	for (params.cell_bits = 0; params.cell_bits < 6; params.cell_bits++) {
		if (params.cell_bits >= 2 && params.cell_bits <= 4)
			KUNIT_EXPECT_NULL(test, ftl_params_check(&params));
		else
			expect_slc_refused(test, &params, "between 2 and 4 bits");
	}
	params.cell_bits = 3;
	params.units_per_eblk = 2;
	expect_slc_refused(test, &params, "no program unit");
	/* Without a region nobody asks. */
	params = drive_params(&drive_shapes[5]);
	params.cell_bits = 5;
	KUNIT_EXPECT_NULL(test, ftl_params_check(&params));
	/* Blocks of the region have numbers for all of their units. */
	params.nr_channels = 64;
	params.dies_per_channel = 64;
	params.eblks_per_die = 2000;
	params.wbuf_pages = 1U << 20;
	params.nr_lpns = ftl_params_capacity(&params);
	KUNIT_EXPECT_NULL(test, ftl_params_check(&params));
	params.eblks_per_die = 4000;
	params.units_per_eblk = 32;
	params.nr_lpns = ftl_params_capacity(&params);
	KUNIT_EXPECT_NULL(test, ftl_params_check(&params));
	add_slc(&params, 200, 4);
	KUNIT_EXPECT_NOT_NULL(test, strstr(ftl_params_check(&params), "too many pages"));
}

/* Bytes of the structure that belong to no member: behind flags */
#define NR_PADDING	(3 + 3 + 2)

/* Every bit of every member counts, and nothing else: a member that is forgotten shows here. */
static void same_parameters_are_those_with_the_same_members(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[0]);
	struct ftl_params other;
	u32 nr_equal = 0;

	params.nr_page_kinds = FTL_MAX_PAGE_KINDS;
	KUNIT_EXPECT_TRUE(test, ftl_params_equal(&params, &params));
	for (size_t i = 0; i < sizeof(params); i++) {
		memcpy(&other, &params, sizeof(params));
		/* The lowest bit, since a flag has no other. */
		((u8 *)&other)[i] ^= 1;
		nr_equal += ftl_params_equal(&params, &other);
	}
	KUNIT_EXPECT_EQ(test, nr_equal, (u32)NR_PADDING);
}

static void page_kinds_that_a_drive_does_not_have_do_not_count(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[0]);
	struct ftl_params other = params;

	params.nr_page_kinds = 2;
	other.nr_page_kinds = 2;
	other.read_ns[2] = 1;
	KUNIT_EXPECT_TRUE(test, ftl_params_equal(&params, &other));
	other.read_ns[1] = 1;
	KUNIT_EXPECT_FALSE(test, ftl_params_equal(&params, &other));
}

static struct kunit_case params_cases[] = {
	KUNIT_CASE_PARAM(shapes_of_the_suites_are_accepted, shape_gen_params),
	KUNIT_CASE_PARAM(impossible_parameters_are_refused_with_a_reason, bad_gen_params),
	KUNIT_CASE_PARAM(capacity_leaves_the_reserve, shape_gen_params),
	KUNIT_CASE(large_drive_loses_nothing_but_the_reserve),
	KUNIT_CASE(geometry_that_overflows_has_no_capacity),
	KUNIT_CASE(region_of_one_bit_cells_has_its_limits),
	KUNIT_CASE(same_parameters_are_those_with_the_same_members),
	KUNIT_CASE(page_kinds_that_a_drive_does_not_have_do_not_count),
	{}
};

static struct kunit_suite params_suite = {
	.name = "nvmev_params",
	.test_cases = params_cases,
};

kunit_test_suite(params_suite);

MODULE_DESCRIPTION("Which geometries the FTL accepts");
MODULE_LICENSE("GPL");
