// SPDX-License-Identifier: GPL-2.0-only
/* What the age of replaced pages says, and where what users write goes while segments are few. */
#include <kunit/test.h>

#include "../core/block.c"
#include "../core/super.c"
#include "../core/summary.c"
#include "../core/opened.c"
#include "../core/writer.c"
#include "../core/lifetime.c"
#include "small_device.h"

/* Segments' worth of valid pages: hot is what is younger than four segments, warm than 32. */
#define NR_VALID	(64ULL * DATA_PAGES)

/**
 * struct ages - a writer, and the ages of segments
 * @super: of the device
 * @writer: where data goes
 * @lifetimes: under test
 */
struct ages {
	struct dmda_super super;
	struct dmda_writer writer;
	struct dmda_lifetimes lifetimes;
};

static struct ages *new_ages(struct kunit *test)
{
	struct ages *ages = kunit_kzalloc(test, sizeof(*ages), GFP_KERNEL);
	void *memory;

	KUNIT_ASSERT_NOT_NULL(test, ages);
	make_small_device(test, &ages->super);
	memory = kunit_kzalloc(test, dmda_lifetimes_bytes(&ages->super), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	dmda_writer_init(&ages->writer, &ages->super);
	dmda_lifetimes_init(&ages->lifetimes, &ages->super, memory);
	return ages;
}

/* What replaces a page of segment @seg, when @nr others were opened since */
static u32 kind_after(struct ages *ages, u32 seg, u32 nr)
{
	dmda_lifetimes_opened(&ages->lifetimes, to_seg(seg), DMDA_STREAM_USER);
	while (nr--)
		dmda_lifetimes_opened(&ages->lifetimes, to_seg(99), DMDA_STREAM_MOVED);
	return dmda_lifetimes_kind(&ages->lifetimes, to_seg(seg), NR_VALID);
}

static void what_replaces_young_data_is_hot(struct kunit *test)
{
	struct ages *ages = new_ages(test);

	KUNIT_EXPECT_EQ(test, kind_after(ages, 1, 0), (u32)DMDA_STREAM_HOT);
	KUNIT_EXPECT_EQ(test, kind_after(ages, 1, 3), (u32)DMDA_STREAM_HOT);
	KUNIT_EXPECT_EQ(test, kind_after(ages, 1, 4), (u32)DMDA_STREAM_WARM);
	KUNIT_EXPECT_EQ(test, kind_after(ages, 1, 31), (u32)DMDA_STREAM_WARM);
	KUNIT_EXPECT_EQ(test, kind_after(ages, 1, 32), (u32)DMDA_STREAM_USER);
	KUNIT_EXPECT_EQ(test, kind_after(ages, 1, 1000), (u32)DMDA_STREAM_USER);
}

static void what_is_young_depends_on_what_is_valid(struct kunit *test)
{
	struct ages *ages = new_ages(test);

	kind_after(ages, 1, 8);
	KUNIT_EXPECT_EQ(test, (u32)dmda_lifetimes_kind(&ages->lifetimes, to_seg(1), 0),
			(u32)DMDA_STREAM_USER);
	KUNIT_EXPECT_EQ(test, (u32)dmda_lifetimes_kind(&ages->lifetimes, to_seg(1),
						       16 * DATA_PAGES), (u32)DMDA_STREAM_USER);
	KUNIT_EXPECT_EQ(test, (u32)dmda_lifetimes_kind(&ages->lifetimes, to_seg(1),
						       17 * DATA_PAGES), (u32)DMDA_STREAM_WARM);
	KUNIT_EXPECT_EQ(test, (u32)dmda_lifetimes_kind(&ages->lifetimes, to_seg(1),
						       1ULL << 40), (u32)DMDA_STREAM_HOT);
}

static void what_was_moved_or_there_before_is_old(struct kunit *test)
{
	struct ages *ages = new_ages(test);

	KUNIT_EXPECT_EQ(test, (u32)dmda_lifetimes_kind(&ages->lifetimes, to_seg(5), NR_VALID),
			(u32)DMDA_STREAM_USER);
	KUNIT_EXPECT_EQ(test, kind_after(ages, 5, 0), (u32)DMDA_STREAM_HOT);
	dmda_lifetimes_opened(&ages->lifetimes, to_seg(5), DMDA_STREAM_MOVED);
	KUNIT_EXPECT_EQ(test, (u32)dmda_lifetimes_kind(&ages->lifetimes, to_seg(5), NR_VALID),
			(u32)DMDA_STREAM_USER);
	dmda_lifetimes_opened(&ages->lifetimes, to_seg(5), DMDA_STREAM_HOT);
	KUNIT_EXPECT_EQ(test, (u32)dmda_lifetimes_kind(&ages->lifetimes, to_seg(5), NR_VALID),
			(u32)DMDA_STREAM_HOT);
}

/* A device with no more than it needs has none to spare for open segments. */
static void only_a_large_reserve_has_room_for_it(struct kunit *test)
{
	struct dmda_super super;
	u32 nr_segments;

	make_small_device(test, &super);
	nr_segments = dmda_super_nr_segments(&super);
	KUNIT_EXPECT_FALSE(test, dmda_lifetimes_fit(&super, nr_segments));
	super.nr_lpns = (u64)(nr_segments - 16) * DATA_PAGES;
	KUNIT_EXPECT_TRUE(test, dmda_lifetimes_fit(&super, nr_segments));
	super.nr_lpns++;
	KUNIT_EXPECT_FALSE(test, dmda_lifetimes_fit(&super, nr_segments));
	super.nr_lpns = 0;
	KUNIT_EXPECT_TRUE(test, dmda_lifetimes_fit(&super, 16));
	KUNIT_EXPECT_FALSE(test, dmda_lifetimes_fit(&super, 15));
	KUNIT_EXPECT_FALSE(test, dmda_lifetimes_fit(&super, 0));
}

/* Opens a segment of which so many pages are left. */
static void leave(struct ages *ages, enum dmda_stream stream, u32 nr_left)
{
	dmda_writer_open(&ages->writer, stream, to_seg(stream), DATA_PAGES - nr_left);
}

static u32 place(const struct ages *ages, enum dmda_stream kind, u32 least, u32 nr_spare)
{
	return dmda_lifetimes_place(&ages->writer, kind, least, nr_spare);
}

static void a_kind_has_a_segment_while_there_is_one(struct kunit *test)
{
	struct ages *ages = new_ages(test);

	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_HOT, 1, 1), (u32)DMDA_STREAM_HOT);
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_WARM, 1, 1), (u32)DMDA_STREAM_WARM);
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_USER, 1, 1), (u32)DMDA_STREAM_USER);
	/* Also if others have places, and its own has some, but not enough */
	leave(ages, DMDA_STREAM_HOT, 5);
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_WARM, 1, 1), (u32)DMDA_STREAM_WARM);
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_HOT, 6, 1), (u32)DMDA_STREAM_HOT);
	/* One that is open already goes on where there is none. */
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_HOT, 5, 0), (u32)DMDA_STREAM_HOT);
}

/* Nothing that users may write to is left lying there while they wait. */
static void when_there_is_none_any_place_will_do(struct kunit *test)
{
	struct ages *ages = new_ages(test);

	leave(ages, DMDA_STREAM_MOVED, 50);
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_HOT, 1, 0), (u32)DMDA_STREAM_USER);
	leave(ages, DMDA_STREAM_WARM, 5);
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_HOT, 1, 0), (u32)DMDA_STREAM_WARM);
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_USER, 5, 0), (u32)DMDA_STREAM_WARM);
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_USER, 6, 0), (u32)DMDA_STREAM_USER);
	leave(ages, DMDA_STREAM_USER, 1);
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_HOT, 1, 0), (u32)DMDA_STREAM_USER);
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_HOT, 2, 0), (u32)DMDA_STREAM_WARM);
	leave(ages, DMDA_STREAM_HOT, 9);
	KUNIT_EXPECT_EQ(test, place(ages, DMDA_STREAM_USER, 9, 0), (u32)DMDA_STREAM_HOT);
}

static struct kunit_case lifetime_cases[] = {
	KUNIT_CASE(what_replaces_young_data_is_hot),
	KUNIT_CASE(what_is_young_depends_on_what_is_valid),
	KUNIT_CASE(what_was_moved_or_there_before_is_old),
	KUNIT_CASE(only_a_large_reserve_has_room_for_it),
	KUNIT_CASE(a_kind_has_a_segment_while_there_is_one),
	KUNIT_CASE(when_there_is_none_any_place_will_do),
	{}
};

static struct kunit_suite lifetime_suite = {
	.name = "dm_dieaware_lifetime",
	.test_cases = lifetime_cases,
};

kunit_test_suite(lifetime_suite);

MODULE_DESCRIPTION("What the age of replaced data says");
MODULE_LICENSE("GPL");
