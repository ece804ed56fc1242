// SPDX-License-Identifier: GPL-2.0-only
/* Which places writes get, and what is known of those that are cut. */
#include <kunit/test.h>

#include "../core/block.c"
#include "../core/super.c"
#include "../core/summary.c"
#include "../core/opened.c"
#include "../core/writer.c"
#include "small_device.h"

/**
 * struct place - a writer and its device
 * @super: of the device
 * @writer: under test
 */
struct place {
	struct dmda_super super;
	struct dmda_writer writer;
};

static struct place *new_place(struct kunit *test)
{
	struct place *place = kunit_kzalloc(test, sizeof(*place), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, place);
	make_small_device(test, &place->super);
	dmda_writer_init(&place->writer, &place->super);
	return place;
}

static u32 take(struct place *place, enum dmda_stream stream, u32 nr_pages, u64 *page)
{
	dpn_t dpn = DPN_NONE;
	u32 nr = dmda_writer_take(&place->writer, stream, nr_pages, &dpn);

	*page = from_dpn(dpn);
	return nr;
}

static void places_are_consecutive_and_end_with_the_segment(struct kunit *test)
{
	struct place *place = new_place(test);
	u64 first, page;

	KUNIT_EXPECT_EQ(test, take(place, DMDA_STREAM_USER, 8, &page), 0);
	dmda_writer_open(&place->writer, DMDA_STREAM_USER, to_seg(3), 0);
	first = from_dpn(dmda_super_segment_dpn(&place->super, to_seg(3)));
	KUNIT_EXPECT_EQ(test, take(place, DMDA_STREAM_USER, 60, &page), 60);
	KUNIT_EXPECT_EQ(test, page, first);
	KUNIT_EXPECT_EQ(test, take(place, DMDA_STREAM_USER, 8, &page), DATA_PAGES - 60);
	KUNIT_EXPECT_EQ(test, page, first + 60);
	KUNIT_EXPECT_EQ(test, take(place, DMDA_STREAM_USER, 1, &page), 0);
}

static void each_kind_of_data_has_its_segment(struct kunit *test)
{
	struct place *place = new_place(test);
	u64 page;

	dmda_writer_open(&place->writer, DMDA_STREAM_USER, to_seg(3), 0);
	KUNIT_EXPECT_EQ(test, take(place, DMDA_STREAM_MOVED, 1, &page), 0);
	dmda_writer_open(&place->writer, DMDA_STREAM_MOVED, to_seg(5), 0);
	KUNIT_EXPECT_EQ(test, take(place, DMDA_STREAM_MOVED, 1, &page), 1);
	KUNIT_EXPECT_EQ(test, page,
			from_dpn(dmda_super_segment_dpn(&place->super, to_seg(5))));
}

static void what_is_left_of_a_write_is_known_once(struct kunit *test)
{
	struct place *place = new_place(test);

	dmda_writer_cut(&place->writer, to_lpn(103));
	KUNIT_EXPECT_FALSE(test, dmda_writer_is_rest(&place->writer, to_lpn(102)));
	KUNIT_EXPECT_TRUE(test, dmda_writer_is_rest(&place->writer, to_lpn(103)));
	KUNIT_EXPECT_FALSE(test, dmda_writer_is_rest(&place->writer, to_lpn(103)));
}

static void a_write_at_the_front_of_a_segment_is_not_what_is_left(struct kunit *test)
{
	struct place *place = new_place(test);
	u64 page;

	dmda_writer_open(&place->writer, DMDA_STREAM_USER, to_seg(3), 0);
	KUNIT_EXPECT_EQ(test, take(place, DMDA_STREAM_USER, DATA_PAGES, &page), DATA_PAGES);
	dmda_writer_open(&place->writer, DMDA_STREAM_USER, to_seg(4), 0);
	KUNIT_EXPECT_FALSE(test, dmda_writer_is_rest(&place->writer, to_lpn(7)));
	KUNIT_EXPECT_EQ(test, take(place, DMDA_STREAM_USER, 1, &page), 1);
}

/* Several tasks write: each has its part left when the next one is cut. */
static void others_may_come_between(struct kunit *test)
{
	struct place *place = new_place(test);

	for (u64 i = 0; i < DMDA_MAX_CUTS; i++)
		dmda_writer_cut(&place->writer, to_lpn(100 * i + 5));
	for (u64 i = 0; i < DMDA_MAX_CUTS; i++)
		KUNIT_EXPECT_TRUE(test, dmda_writer_is_rest(&place->writer, to_lpn(100 * i + 5)));
}

static void what_never_comes_is_forgotten(struct kunit *test)
{
	struct place *place = new_place(test);

	for (u64 i = 0; i <= DMDA_MAX_CUTS; i++)
		dmda_writer_cut(&place->writer, to_lpn(100 * i + 5));
	KUNIT_EXPECT_FALSE(test, dmda_writer_is_rest(&place->writer, to_lpn(5)));
	KUNIT_EXPECT_TRUE(test, dmda_writer_is_rest(&place->writer, to_lpn(105)));
}

/**
 * struct crashed - what is known of segments when the power is back
 * @segment: the segment table's
 * @segments: the segment table
 * @opened: open summaries
 */
struct crashed {
	struct dmda_segment segment[8];
	struct dmda_segments segments;
	struct dmda_opened opened;
};

static struct crashed *new_crashed(struct kunit *test, const struct place *place)
{
	struct crashed *crashed = kunit_kzalloc(test, sizeof(*crashed), GFP_KERNEL);
	void *memory = kunit_kzalloc(test, dmda_opened_bytes(&place->super), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, crashed);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	crashed->segments.super = &place->super;
	crashed->segments.segment = crashed->segment;
	crashed->segments.nr_segments = ARRAY_SIZE(crashed->segment);
	dmda_opened_init(&crashed->opened, &place->super, &crashed->segments, memory);
	return crashed;
}

/* A segment was open, and its first pages are mapped. */
static void was_open(struct crashed *crashed, u32 seg, u8 open, u32 nr_pages)
{
	const struct dmda_written first = { .lpn = to_lpn(1000 * seg), .seq = 1 + seg };

	crashed->segment[seg].state = DMDA_SEGMENT_OPEN;
	crashed->segment[seg].open = open;
	dmda_opened_put(&crashed->opened, dmda_super_segment_dpn(crashed->segments.super,
								 to_seg(seg)),
			&first, nr_pages, 1);
}

static void a_stream_goes_on_where_it_was(struct kunit *test)
{
	struct place *place = new_place(test);
	struct crashed *crashed = new_crashed(test, place);
	u64 page;
	seg_t seg;

	was_open(crashed, 2, 0, 1);
	was_open(crashed, 4, 3, 5);
	was_open(crashed, 6, 2, DATA_PAGES - 1);
	seg = dmda_writer_resume(&place->writer, DMDA_STREAM_MOVED, &crashed->opened);
	KUNIT_EXPECT_EQ(test, from_seg(seg), 4);
	KUNIT_EXPECT_EQ(test, dmda_writer_next_summary(&place->writer, DMDA_STREAM_MOVED), 2);
	crashed->segments.nr_free = 2;
	KUNIT_EXPECT_EQ(test, dmda_writer_room(&place->writer, DMDA_STREAM_MOVED,
					       &crashed->segments), 3 * DATA_PAGES - 5);
	KUNIT_EXPECT_EQ(test, take(place, DMDA_STREAM_MOVED, 1, &page), 1);
	KUNIT_EXPECT_EQ(test, page,
			from_dpn(dmda_super_segment_dpn(&place->super, to_seg(4))) + 5);
	KUNIT_EXPECT_EQ(test, take(place, DMDA_STREAM_USER, 1, &page), 0);
}

static void where_nothing_is_left_it_does_not_go_on(struct kunit *test)
{
	struct place *place = new_place(test);
	struct crashed *crashed = new_crashed(test, place);
	seg_t seg;

	was_open(crashed, 6, 2, DATA_PAGES);
	seg = dmda_writer_resume(&place->writer, DMDA_STREAM_MOVED, &crashed->opened);
	KUNIT_EXPECT_EQ(test, from_seg(seg), from_seg(SEG_NONE));
	KUNIT_EXPECT_EQ(test, dmda_writer_room(&place->writer, DMDA_STREAM_MOVED,
					       &crashed->segments), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(places_are_consecutive_and_end_with_the_segment),
	KUNIT_CASE(each_kind_of_data_has_its_segment),
	KUNIT_CASE(what_is_left_of_a_write_is_known_once),
	KUNIT_CASE(a_write_at_the_front_of_a_segment_is_not_what_is_left),
	KUNIT_CASE(others_may_come_between),
	KUNIT_CASE(what_never_comes_is_forgotten),
	KUNIT_CASE(a_stream_goes_on_where_it_was),
	KUNIT_CASE(where_nothing_is_left_it_does_not_go_on),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_writer",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of where dm-dieaware's writes go");
MODULE_LICENSE("GPL");
