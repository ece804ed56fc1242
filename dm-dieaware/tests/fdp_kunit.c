// SPDX-License-Identifier: GPL-2.0-only
/* What devices say of their placement handles: those that can be used, and those that lie. */
#include <kunit/test.h>

#include "../core/fdp.c"

#define PAGE_BYTES	4096

/* A drive with a group for each of eight dies, of which the namespace has them all */
static struct dmda_fdp eight_groups(void)
{
	struct dmda_fdp fdp = { .max_streams = 8, .unit_bytes = 32768, .nr_groups = 8,
				.group_bits = 3, .nr_pids = 8 };

	for (u32 i = 0; i < 8; i++)
		fdp.pid[i] = i << 13;
	return fdp;
}

/* One with eight handles in one group */
static struct dmda_fdp eight_handles(void)
{
	struct dmda_fdp fdp = eight_groups();

	fdp.nr_groups = 1;
	fdp.group_bits = 0;
	for (u32 i = 0; i < 8; i++)
		fdp.pid[i] = i;
	return fdp;
}

/* The same of a type that keeps data apart */
static struct dmda_fdp isolated_handles(u8 type)
{
	struct dmda_fdp fdp = eight_handles();

	fdp.nr_types = 8;
	for (u32 i = 0; i < 8; i++) {
		fdp.handle[i] = 7 - i;
		fdp.type[i] = type;
	}
	return fdp;
}

static void expect_none(struct kunit *test, const struct dmda_fdp *fdp, bool handles_too,
			const char *words)
{
	struct dmda_lanes lanes = { .nr = 5 };
	u8 stream[DMDA_MAX_LANES];
	const char *why = dmda_fdp_lanes(fdp, handles_too, &lanes, stream);

	KUNIT_ASSERT_NOT_NULL(test, why);
	KUNIT_EXPECT_NOT_NULL(test, strstr(why, words));
	KUNIT_EXPECT_EQ(test, lanes.nr, 0U);
}

static void expect_no_handles(struct kunit *test, const struct dmda_fdp *fdp, bool any_type,
			      const char *words)
{
	u8 stream[DMDA_NR_STREAMS];
	const char *why;

	memset(stream, 77, sizeof(stream));
	why = dmda_fdp_handles(fdp, any_type, stream);
	KUNIT_ASSERT_NOT_NULL(test, why);
	KUNIT_EXPECT_NOT_NULL(test, strstr(why, words));
	for (u32 i = 0; i < DMDA_NR_STREAMS; i++)
		KUNIT_EXPECT_EQ(test, (u32)stream[i], 77U);
}

static void expect_handles(struct kunit *test, const struct dmda_fdp *fdp, bool any_type,
			   u32 user, u32 moved, u32 warm, u32 hot)
{
	u8 stream[DMDA_NR_STREAMS];

	KUNIT_ASSERT_NULL(test, dmda_fdp_handles(fdp, any_type, stream));
	KUNIT_EXPECT_EQ(test, (u32)stream[DMDA_STREAM_USER], user);
	KUNIT_EXPECT_EQ(test, (u32)stream[DMDA_STREAM_MOVED], moved);
	KUNIT_EXPECT_EQ(test, (u32)stream[DMDA_STREAM_WARM], warm);
	KUNIT_EXPECT_EQ(test, (u32)stream[DMDA_STREAM_HOT], hot);
}

static void groups_are_lanes(struct kunit *test)
{
	struct dmda_fdp fdp = eight_groups();
	struct dmda_lanes lanes;
	u8 stream[DMDA_MAX_LANES];

	KUNIT_ASSERT_NULL(test, dmda_fdp_lanes(&fdp, false, &lanes, stream));
	KUNIT_EXPECT_EQ(test, lanes.nr, 8U);
	KUNIT_EXPECT_EQ(test, lanes.unit_pages, 8U);
	for (u32 i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, (u32)stream[i], i + 1);
}

/* Of each group the first identifier, wherever it stands */
static void a_group_is_one_lane_however_many_handles_it_has(struct kunit *test)
{
	struct dmda_fdp fdp = { .max_streams = 6, .unit_bytes = 65536, .nr_groups = 3,
				.group_bits = 2, .nr_pids = 6,
				.pid = { 0x4000, 0x4001, 0x0000, 0x8001, 0x0001, 0x8000 } };
	struct dmda_lanes lanes;
	u8 stream[DMDA_MAX_LANES];

	for (u32 handles_too = 0; handles_too < 2; handles_too++) {
		KUNIT_ASSERT_NULL(test, dmda_fdp_lanes(&fdp, handles_too, &lanes, stream));
		KUNIT_ASSERT_EQ(test, lanes.nr, 3U);
		KUNIT_EXPECT_EQ(test, stream[0] * 100 + stream[1] * 10 + stream[2], 134);
	}
}

static void handles_are_lanes_for_who_says_so(struct kunit *test)
{
	struct dmda_fdp fdp = eight_handles();
	struct dmda_lanes lanes;
	u8 stream[DMDA_MAX_LANES];

	expect_none(test, &fdp, false, "one reclaim group, and its handles");
	KUNIT_ASSERT_NULL(test, dmda_fdp_lanes(&fdp, true, &lanes, stream));
	KUNIT_EXPECT_EQ(test, lanes.nr, 8U);
	KUNIT_EXPECT_EQ(test, (u32)stream[7], 8U);
}

static void a_kernel_and_a_device_that_disagree_have_no_lanes(struct kunit *test)
{
	struct dmda_fdp fdp = eight_groups();

	fdp.max_streams = 0;
	expect_none(test, &fdp, true, "no write streams");
	fdp.max_streams = 7;
	expect_none(test, &fdp, true, "another number of write streams");
	fdp.max_streams = 9;
	expect_none(test, &fdp, true, "another number of write streams");
}

static void groups_that_make_no_sense_are_no_lanes(struct kunit *test)
{
	struct dmda_fdp fdp = eight_groups();

	fdp.nr_groups = 0;
	expect_none(test, &fdp, true, "no sense");
	fdp.nr_groups = 9;
	expect_none(test, &fdp, true, "no sense");
	fdp = eight_groups();
	fdp.group_bits = 16;
	expect_none(test, &fdp, true, "no sense");
	/* An identifier of a group that there is not */
	fdp = eight_groups();
	fdp.nr_groups = 7;
	expect_none(test, &fdp, true, "no sense");
}

static void one_lane_is_none(struct kunit *test)
{
	struct dmda_fdp fdp = eight_groups();

	for (u32 i = 0; i < 8; i++)
		fdp.pid[i] = 0x2000 | i;
	expect_none(test, &fdp, true, "one reclaim group only");
	fdp = eight_handles();
	fdp.nr_pids = 1;
	fdp.max_streams = 1;
	expect_none(test, &fdp, true, "one reclaim group only");
	/* The same handle again and again */
	fdp = eight_handles();
	for (u32 i = 0; i < 8; i++)
		fdp.pid[i] = 5;
	expect_none(test, &fdp, true, "one reclaim group only");
}

static void a_unit_that_is_not_known_or_not_worth_it_is_refused(struct kunit *test)
{
	static const u64 wrong[] = { 0, 4096, 12288, 16384 + 512, 1ULL << 25, 1ULL << 40 };
	struct dmda_fdp fdp = eight_groups();
	struct dmda_lanes lanes;
	u8 stream[DMDA_MAX_LANES];

	for (u32 i = 0; i < ARRAY_SIZE(wrong); i++) {
		fdp.unit_bytes = wrong[i];
		expect_none(test, &fdp, true, "optimal write size");
	}
	fdp.unit_bytes = 16384;
	KUNIT_EXPECT_NULL(test, dmda_fdp_lanes(&fdp, false, &lanes, stream));
	fdp.unit_bytes = 1 << 24;
	KUNIT_EXPECT_NULL(test, dmda_fdp_lanes(&fdp, false, &lanes, stream));
}

/* What has no stream goes to the first handle, and has it for itself. */
static void isolated_handles_are_for_kinds_of_data(struct kunit *test)
{
	struct dmda_fdp fdp = isolated_handles(1);

	expect_handles(test, &fdp, false, 2, 3, 4, 5);
	fdp = isolated_handles(2);
	expect_handles(test, &fdp, false, 2, 3, 4, 5);
	/* No unit has to be known for that. */
	fdp.unit_bytes = 0;
	expect_handles(test, &fdp, false, 2, 3, 4, 5);
	fdp.nr_pids = 5;
	fdp.max_streams = 5;
	expect_handles(test, &fdp, false, 2, 3, 4, 5);
	for (u32 nr = 3; nr < 5; nr++) {
		fdp.nr_pids = nr;
		fdp.max_streams = nr;
		expect_handles(test, &fdp, false, 2, 3, 2, 2);
	}
}

static void of_two_handles_one_is_for_what_survived(struct kunit *test)
{
	struct dmda_fdp fdp = isolated_handles(1);

	fdp.nr_pids = 2;
	fdp.max_streams = 2;
	expect_handles(test, &fdp, false, 1, 2, 1, 1);
}

static void an_identifier_of_the_same_handle_is_no_other_one(struct kunit *test)
{
	struct dmda_fdp fdp = isolated_handles(1);

	fdp.handle[1] = 7;
	fdp.pid[2] = 0;
	expect_handles(test, &fdp, false, 4, 5, 6, 7);
	for (u32 i = 0; i < 8; i++)
		fdp.handle[i] = 3;
	expect_no_handles(test, &fdp, true, "one placement handle only");
}

static void handles_of_other_types_are_for_who_asks_for_them(struct kunit *test)
{
	static const u8 other[] = { 0, 3, 0x80, 0xc0, 0xff };

	for (u32 i = 0; i < ARRAY_SIZE(other); i++) {
		struct dmda_fdp fdp = isolated_handles(other[i]);

		expect_no_handles(test, &fdp, false, "keep data of its placement handles apart");
		expect_handles(test, &fdp, true, 2, 3, 4, 5);
	}
}

static void a_handle_of_which_no_type_is_known_is_not_trusted(struct kunit *test)
{
	struct dmda_fdp fdp = isolated_handles(1);

	fdp.nr_types = 7;
	expect_no_handles(test, &fdp, false, "keep data of its placement handles apart");
	expect_handles(test, &fdp, true, 2, 3, 4, 5);
	fdp = isolated_handles(1);
	fdp.handle[1] = 0xffff;
	expect_no_handles(test, &fdp, false, "keep data of its placement handles apart");
}

static void what_makes_no_sense_has_no_handles(struct kunit *test)
{
	struct dmda_fdp fdp = isolated_handles(1);

	fdp.max_streams = 7;
	expect_no_handles(test, &fdp, true, "another number of write streams");
	fdp.max_streams = 0;
	expect_no_handles(test, &fdp, true, "no write streams");
	fdp = isolated_handles(1);
	fdp.group_bits = 16;
	expect_no_handles(test, &fdp, true, "no sense");
	fdp.group_bits = 3;
	fdp.pid[1] = 0x2001;
	expect_no_handles(test, &fdp, true, "no sense");
	fdp = eight_groups();
	expect_no_handles(test, &fdp, true, "several reclaim groups");
	fdp = isolated_handles(1);
	fdp.nr_pids = 1;
	fdp.max_streams = 1;
	expect_no_handles(test, &fdp, true, "one placement handle only");
	fdp.nr_pids = 0;
	fdp.max_streams = 0;
	expect_no_handles(test, &fdp, true, "no write streams");
}

/* Whatever it says: streams are those of identifiers, and of different ones but for the first. */
static void any_answer_gives_streams_that_there_are(struct kunit *test)
{
	u32 seed = 1;

	for (u32 round = 0; round < 2000; round++) {
		u8 stream[DMDA_NR_STREAMS];
		struct dmda_fdp fdp = { .nr_groups = 1 };
		u8 *bytes = (u8 *)fdp.pid;

		for (u32 i = 0; i < sizeof(fdp.pid); i++) {
			seed = seed * 1103515245 + 12345;
			bytes[i] = seed >> 16 & (round % 2 ? 3 : 255);
		}
		memcpy(fdp.handle, fdp.pid, sizeof(fdp.handle));
		fdp.nr_pids = seed >> 20 & 63;
		fdp.max_streams = fdp.nr_pids;
		fdp.nr_types = DMDA_MAX_LANES;
		memset(fdp.type, round % 3, sizeof(fdp.type));
		if (dmda_fdp_handles(&fdp, round % 5 == 0, stream))
			continue;
		KUNIT_ASSERT_NE(test, stream[DMDA_STREAM_USER], stream[DMDA_STREAM_MOVED]);
		for (u32 i = 0; i < DMDA_NR_STREAMS; i++)
			KUNIT_ASSERT_TRUE(test, stream[i] && stream[i] <= fdp.nr_pids);
	}
}

static void put(u8 *at, u64 value, u32 nr_bytes)
{
	while (nr_bytes--) {
		*at++ = value;
		value >>= 8;
	}
}

/* Two configurations of different lengths, behind a head */
static u8 *make_configs(struct kunit *test)
{
	u8 *page = kunit_kzalloc(test, PAGE_BYTES, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	put(page, 1, 2);
	put(page + 16, 68, 2);
	page[16 + 2] = 0x80;
	put(page + 16 + 4, 1, 4);
	put(page + 84, 96, 2);
	page[84 + 2] = 0x83;
	put(page + 84 + 4, 8, 4);
	return page;
}

static void configurations_are_found_by_their_number(struct kunit *test)
{
	u8 *page = make_configs(test);
	struct dmda_fdp fdp = {};

	KUNIT_ASSERT_TRUE(test, dmda_fdp_read_config(page, PAGE_BYTES, 0, &fdp));
	KUNIT_EXPECT_EQ(test, fdp.nr_groups * 100 + fdp.group_bits, 100U);
	KUNIT_ASSERT_TRUE(test, dmda_fdp_read_config(page, PAGE_BYTES, 1, &fdp));
	KUNIT_EXPECT_EQ(test, fdp.nr_groups * 100 + fdp.group_bits, 803U);
	KUNIT_EXPECT_FALSE(test, dmda_fdp_read_config(page, PAGE_BYTES, 2, &fdp));
	KUNIT_EXPECT_FALSE(test, dmda_fdp_read_config(page, PAGE_BYTES, 255, &fdp));
}

static void types_are_read_as_far_as_there_are_any(struct kunit *test)
{
	u8 *page = make_configs(test);
	struct dmda_fdp fdp = {};

	/* The second one has room for eight, the first for one. */
	for (u32 i = 0; i < 10; i++)
		page[84 + 64 + 4 * i] = 0x10 + i;
	put(page + 84 + 8, 8, 2);
	page[16 + 64] = 2;
	put(page + 16 + 8, 1, 2);
	KUNIT_ASSERT_TRUE(test, dmda_fdp_read_config(page, PAGE_BYTES, 1, &fdp));
	KUNIT_EXPECT_EQ(test, fdp.nr_types, 8U);
	KUNIT_EXPECT_EQ(test, (u32)fdp.type[7], 0x17U);
	KUNIT_ASSERT_TRUE(test, dmda_fdp_read_config(page, PAGE_BYTES, 0, &fdp));
	KUNIT_EXPECT_EQ(test, fdp.nr_types * 100 + fdp.type[0], 102U);
	/* The page ends within the list. */
	KUNIT_ASSERT_TRUE(test, dmda_fdp_read_config(page, 84 + 64 + 11, 1, &fdp));
	KUNIT_EXPECT_EQ(test, fdp.nr_types, 2U);
	/* More than the configuration has room for */
	put(page + 84 + 8, 9, 2);
	KUNIT_ASSERT_TRUE(test, dmda_fdp_read_config(page, PAGE_BYTES, 1, &fdp));
	KUNIT_EXPECT_EQ(test, fdp.nr_types, 0U);
	/* More than a namespace can have */
	put(page + 84, 64 + 4 * 500, 2);
	put(page + 84 + 8, 500, 2);
	KUNIT_ASSERT_TRUE(test, dmda_fdp_read_config(page, PAGE_BYTES, 1, &fdp));
	KUNIT_EXPECT_EQ(test, fdp.nr_types, (u32)DMDA_MAX_LANES);
}

/* Nothing outside of @nr_bytes is looked at: what the page has behind it is not there at all. */
static void configurations_that_lie_are_not_believed(struct kunit *test)
{
	struct dmda_fdp fdp = { .nr_groups = 77 };
	u8 *page = make_configs(test);

	for (u32 nr_bytes = 0; nr_bytes < 84 + 64; nr_bytes++) {
		u8 *part = kunit_kzalloc(test, nr_bytes + !nr_bytes, GFP_KERNEL);

		memcpy(part, page, nr_bytes);
		KUNIT_EXPECT_FALSE(test, dmda_fdp_read_config(part, nr_bytes, 1, &fdp));
	}
	for (u32 length = 0; length < 64; length++) {
		put(page + 16, length, 2);
		KUNIT_EXPECT_FALSE(test, dmda_fdp_read_config(page, PAGE_BYTES, 1, &fdp));
	}
	put(page + 16, 0xffff, 2);
	KUNIT_EXPECT_FALSE(test, dmda_fdp_read_config(page, PAGE_BYTES, 1, &fdp));
	page[16 + 2] = 0x7f;
	KUNIT_EXPECT_FALSE(test, dmda_fdp_read_config(page, PAGE_BYTES, 0, &fdp));
	KUNIT_EXPECT_EQ(test, fdp.nr_groups, 77U);
}

static void identifiers_are_read_as_far_as_there_are_any(struct kunit *test)
{
	u8 *page = kunit_kzalloc(test, PAGE_BYTES, GFP_KERNEL);
	struct dmda_fdp fdp = {};

	put(page + 14, 3, 2);
	for (u32 i = 0; i < 127; i++)
		put(page + 16 + 32 * i, 0x3000100 + i * 0x10001, 4);
	KUNIT_ASSERT_TRUE(test, dmda_fdp_read_status(page, PAGE_BYTES, &fdp));
	KUNIT_EXPECT_EQ(test, fdp.nr_pids, 3U);
	KUNIT_EXPECT_EQ(test, (u32)fdp.pid[2], 0x102U);
	KUNIT_EXPECT_EQ(test, (u32)fdp.handle[2], 0x302U);
	KUNIT_EXPECT_TRUE(test, dmda_fdp_read_status(page, 16 + 96, &fdp));
	KUNIT_EXPECT_FALSE(test, dmda_fdp_read_status(page, 16 + 95, &fdp));
	KUNIT_EXPECT_FALSE(test, dmda_fdp_read_status(page, 15, &fdp));
	/* The kernel has room for no more either. */
	put(page + 14, 0xffff, 2);
	KUNIT_ASSERT_TRUE(test, dmda_fdp_read_status(page, PAGE_BYTES, &fdp));
	KUNIT_EXPECT_EQ(test, fdp.nr_pids, 126U);
	put(page + 14, 0, 2);
	KUNIT_ASSERT_TRUE(test, dmda_fdp_read_status(page, PAGE_BYTES, &fdp));
	KUNIT_EXPECT_EQ(test, fdp.nr_pids, 0U);
}

static struct kunit_case fdp_cases[] = {
	KUNIT_CASE(groups_are_lanes),
	KUNIT_CASE(a_group_is_one_lane_however_many_handles_it_has),
	KUNIT_CASE(handles_are_lanes_for_who_says_so),
	KUNIT_CASE(a_kernel_and_a_device_that_disagree_have_no_lanes),
	KUNIT_CASE(groups_that_make_no_sense_are_no_lanes),
	KUNIT_CASE(one_lane_is_none),
	KUNIT_CASE(a_unit_that_is_not_known_or_not_worth_it_is_refused),
	KUNIT_CASE(isolated_handles_are_for_kinds_of_data),
	KUNIT_CASE(of_two_handles_one_is_for_what_survived),
	KUNIT_CASE(an_identifier_of_the_same_handle_is_no_other_one),
	KUNIT_CASE(handles_of_other_types_are_for_who_asks_for_them),
	KUNIT_CASE(a_handle_of_which_no_type_is_known_is_not_trusted),
	KUNIT_CASE(what_makes_no_sense_has_no_handles),
	KUNIT_CASE(any_answer_gives_streams_that_there_are),
	KUNIT_CASE(configurations_are_found_by_their_number),
	KUNIT_CASE(types_are_read_as_far_as_there_are_any),
	KUNIT_CASE(configurations_that_lie_are_not_believed),
	KUNIT_CASE(identifiers_are_read_as_far_as_there_are_any),
	{}
};

static struct kunit_suite fdp_suite = {
	.name = "dm_dieaware_fdp",
	.test_cases = fdp_cases,
};

kunit_test_suite(fdp_suite);

MODULE_DESCRIPTION("What devices say of their placement handles");
MODULE_LICENSE("GPL");
