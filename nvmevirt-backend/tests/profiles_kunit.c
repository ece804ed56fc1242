// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>

#include "../core/geometry.c"
#include "../core/params-check.c"
#include "../core/params.c"
#include "../core/profiles.c"
#include "../core/sizing.c"

/**
 * struct documented - a row of the table in docs/nvmevirt-backend.md
 * @name: the profile
 * @capacity_gb: capacity in 10^9 bytes
 * @unit_kib: die unit
 * @stripe_kib: die unit times the number of dies
 * @nr_dies: dies
 * @cmds_per_second: what the controller takes at most; 0 is no limit
 * @queue_depth: commands that the host can have in flight on a queue
 * @map_mib: memory for the map; 0: all of it is in memory
 * @plp: write buffer behind capacitors
 */
struct documented {
	const char *name;
	u32 capacity_gb;
	u32 unit_kib;
	u32 stripe_kib;
	u32 nr_dies;
	u32 cmds_per_second;
	u32 queue_depth;
	u32 map_mib;
	bool plp;
};

static const struct documented documented[] = {
	{ "fast24",	60,	32,	256,	8,	0,	1023,	0,	true },
	{ "nvme-a",	60,	32,	1024,	32,	0,	1023,	0,	true },
	{ "nvme-b",	60,	32,	256,	8,	0,	1023,	0,	true },
	{ "nvme-c",	60,	32,	576,	18,	0,	1023,	0,	true },
	{ "nvme-d",	60,	32,	608,	19,	0,	1023,	0,	true },
	{ "sata-a",	60,	4,	32,	8,	97656,	32,	0,	false },
	{ "sata-b",	60,	16,	256,	16,	97656,	32,	0,	false },
	{ "sata",	60,	32,	256,	8,	90000,	32,	0,	false },
	{ "tlc",	120,	64,	2048,	32,	0,	1023,	0,	false },
	{ "qlc",	120,	32,	1024,	32,	0,	1023,	0,	false },
	{ "modern",	120,	64,	2048,	32,	0,	1023,	0,	false },
	{ "dramless",	120,	32,	128,	4,	95000,	1023,	32,	false },
	{ "slc-cache",	120,	32,	1024,	32,	476190,	1023,	0,	false },
	{ "xpoint",	60,	4,	28,	7,	550055,	1023,	0,	true },
	{ "emmc",	60,	32,	128,	4,	0,	1,	4,	false },
	{ "ufs",	60,	32,	256,	8,	19000,	32,	1,	false },
	{ "microsd",	30,	32,	64,	2,	4000,	32,	1,	false },
	{ "large",	240,	32,	8192,	256,	0,	1023,	0,	true },
	{ "huge",	960,	32,	32768,	1024,	0,	1023,	0,	true },
};

static void describe_row(const struct documented *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(row, documented, describe_row);

static const struct ftl_profile *profile_named(struct kunit *test, const char *name)
{
	const struct ftl_profile *profile = NULL;

	for (u32 i = 0; (profile = ftl_profile_at(i)); i++) {
		if (!strcmp(profile->name, name))
			break;
	}
	KUNIT_ASSERT_NOT_NULL(test, profile);
	return profile;
}

static void every_profile_is_documented(struct kunit *test)
{
	for (u32 i = 0; i < ARRAY_SIZE(documented); i++) {
		KUNIT_ASSERT_NOT_NULL(test, ftl_profile_at(i));
		KUNIT_EXPECT_STREQ(test, ftl_profile_at(i)->name, documented[i].name);
	}
	KUNIT_EXPECT_NULL(test, ftl_profile_at(ARRAY_SIZE(documented)));
	KUNIT_EXPECT_NULL(test, ftl_profile_at(U32_MAX));
}

static void profile_is_what_is_documented(struct kunit *test)
{
	const struct documented *row = test->param_value;
	const struct ftl_profile *profile = profile_named(test, row->name);
	const struct ftl_params *params = &profile->params;
	u32 nr_dies = params->nr_channels * params->dies_per_channel;
	bool is_modern = !strcmp(row->name, "modern");
	u32 gap_ns = params->cmd_gap_ns;

	KUNIT_EXPECT_EQ(test, profile->capacity_bytes, (u64)row->capacity_gb * 1000000000);
	KUNIT_EXPECT_EQ(test, params->unit_pages * FTL_PAGE_BYTES / 1024, row->unit_kib);
	KUNIT_EXPECT_EQ(test, nr_dies, row->nr_dies);
	KUNIT_EXPECT_EQ(test, nr_dies * row->unit_kib, row->stripe_kib);
	KUNIT_EXPECT_EQ(test, params->plp, row->plp);
	KUNIT_EXPECT_EQ(test, params->map_cache_pages, row->map_mib << 8);
	KUNIT_EXPECT_EQ(test, params->read_ahead_pages, is_modern ? 64U : 0U);
	KUNIT_EXPECT_EQ(test, params->stripe_lead, is_modern ? 8U : 0U);
	KUNIT_EXPECT_EQ(test, params->parity, is_modern);
	KUNIT_EXPECT_EQ(test, params->slc_pages, strcmp(row->name, "slc-cache") ? 0U : 1464843U);
	KUNIT_EXPECT_EQ(test, params->in_place, !strcmp(row->name, "xpoint"));
	KUNIT_EXPECT_EQ(test, profile->queue_depth, row->queue_depth);
	if (!row->cmds_per_second)
		KUNIT_EXPECT_EQ(test, gap_ns, 0U);
	else
		KUNIT_EXPECT_EQ(test, (1000000000 + gap_ns / 2) / gap_ns / 10,
				row->cmds_per_second / 10);
}

static void profile_makes_a_drive_of_its_capacity(struct kunit *test)
{
	const struct documented *row = test->param_value;
	const struct ftl_profile *profile = profile_named(test, row->name);
	struct ftl_params params = profile->params;
	const char *reason = ftl_params_size(&params, profile->capacity_bytes);
	u64 raw_bytes;

	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	KUNIT_EXPECT_NULL(test, ftl_params_check(&params));
	KUNIT_EXPECT_EQ(test, params.nr_lpns, profile->capacity_bytes / FTL_PAGE_BYTES);
	KUNIT_EXPECT_GE(test, ftl_params_capacity(&params), params.nr_lpns);
	raw_bytes = (u64)row->nr_dies * params.eblks_per_die * params.units_per_eblk *
		    row->unit_kib * 1024;
	KUNIT_EXPECT_GE(test, params.in_place ? raw_bytes : raw_bytes * 92 / 100,
			profile->capacity_bytes);
	/* No more erase blocks than are needed. */
	params.eblks_per_die--;
	KUNIT_EXPECT_NOT_NULL(test, ftl_params_check(&params));
}

/* The drive that the FAST'24 paper measured with: nothing makes it faster than its table says. */
static void fast24_is_table_2(struct kunit *test)
{
	const struct ftl_params *params = &profile_named(test, "fast24")->params;

	KUNIT_EXPECT_EQ(test, params->nr_channels, 4U);
	KUNIT_EXPECT_EQ(test, params->dies_per_channel, 2U);
	KUNIT_EXPECT_EQ(test, params->nr_page_kinds, 1U);
	KUNIT_EXPECT_EQ(test, params->read_ns[0], 36000U);
	KUNIT_EXPECT_EQ(test, params->program_ns, 185000U);
	KUNIT_EXPECT_EQ(test, params->channel_mbps, 800U);
	KUNIT_EXPECT_EQ(test, params->link_mbps, 3200U);
	KUNIT_EXPECT_EQ(test, params->cmd_gap_ns, 0U);
	KUNIT_EXPECT_EQ(test, params->hold_ns, 0U);
	KUNIT_EXPECT_EQ(test, params->suspend_program, 0U);
	KUNIT_EXPECT_EQ(test, params->suspend_erase, 0U);
	KUNIT_EXPECT_EQ(test, params->slc_pages, 0U);
	KUNIT_EXPECT_FALSE(test, params->register_hits);
	KUNIT_EXPECT_FALSE(test, params->cache_read);
	KUNIT_EXPECT_FALSE(test, params->plane_read);
}

/* As with power on: a capacity of the user's own. */
static void dies_are_sized_for_any_capacity(struct kunit *test)
{
	struct ftl_params params = profile_named(test, "fast24")->params;

	KUNIT_EXPECT_NULL(test, ftl_params_size(&params, 4096));
	KUNIT_EXPECT_EQ(test, params.nr_lpns, 1ULL);
	KUNIT_EXPECT_EQ(test, params.eblks_per_die, 8U);
	KUNIT_EXPECT_NOT_NULL(test, ftl_params_size(&params, 4095));
	KUNIT_EXPECT_NOT_NULL(test, ftl_params_size(&params, 1ULL << 44));
	KUNIT_EXPECT_NOT_NULL(test, ftl_params_size(&params, U64_MAX));
	params.nr_channels = 0;
	KUNIT_EXPECT_NOT_NULL(test, ftl_params_size(&params, 1ULL << 30));
	params.nr_channels = U32_MAX;
	params.dies_per_channel = U32_MAX;
	params.unit_pages = U32_MAX;
	KUNIT_EXPECT_NOT_NULL(test, ftl_params_size(&params, 1ULL << 30));
	params = profile_named(test, "fast24")->params;
	params.reserve_permille = 1000;
	KUNIT_EXPECT_NOT_NULL(test, ftl_params_size(&params, 1ULL << 30));
}

/* Half of two dies is parity: for as many pages they need twice the erase blocks. */
static void parity_is_sized_for(struct kunit *test)
{
	struct ftl_params params = profile_named(test, "fast24")->params;
	u64 bytes = 3000ULL * 2 * params.units_per_eblk * params.unit_pages << FTL_PAGE_SHIFT;

	params.nr_channels = 1;
	bytes = bytes * (1000 - params.reserve_permille) / 1000;
	KUNIT_EXPECT_NULL(test, ftl_params_size(&params, bytes));
	KUNIT_EXPECT_EQ(test, params.eblks_per_die, 3000U);
	params.stripe_lead = 4;
	params.parity = true;
	KUNIT_EXPECT_NULL(test, ftl_params_size(&params, bytes));
	KUNIT_EXPECT_EQ(test, params.eblks_per_die, 6000U);
	params.dies_per_channel = 1;
	KUNIT_EXPECT_NOT_NULL(test, ftl_params_size(&params, bytes));
}

/* As many as there are, a die has so many more, and what it takes is the same. */
static void spare_blocks_come_on_top(struct kunit *test)
{
	struct ftl_params params = profile_named(test, "fast24")->params;
	struct ftl_params without;

	KUNIT_EXPECT_NULL(test, ftl_params_size(&params, 1ULL << 30));
	without = params;
	for (u32 spare = 1; spare <= 100000; spare *= 10) {
		params.spare_eblks = spare;
		KUNIT_EXPECT_NULL_MSG(test, ftl_params_size(&params, 1ULL << 30), "%u", spare);
		KUNIT_EXPECT_EQ(test, params.eblks_per_die, without.eblks_per_die + spare);
	}
	params.spare_eblks = U32_MAX;
	KUNIT_EXPECT_NOT_NULL(test, ftl_params_size(&params, 1ULL << 30));
}

static struct kunit_case profiles_cases[] = {
	KUNIT_CASE(every_profile_is_documented),
	KUNIT_CASE_PARAM(profile_is_what_is_documented, row_gen_params),
	KUNIT_CASE_PARAM(profile_makes_a_drive_of_its_capacity, row_gen_params),
	KUNIT_CASE(fast24_is_table_2),
	KUNIT_CASE(dies_are_sized_for_any_capacity),
	KUNIT_CASE(parity_is_sized_for),
	KUNIT_CASE(spare_blocks_come_on_top),
	{}
};

static struct kunit_suite profiles_suite = {
	.name = "nvmev_profiles",
	.test_cases = profiles_cases,
};

kunit_test_suite(profiles_suite);

MODULE_DESCRIPTION("Named drives are what the documentation says");
MODULE_LICENSE("GPL");
