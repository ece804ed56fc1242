// SPDX-License-Identifier: GPL-2.0-only
/*
 * Closing a segment, step by step: when it may be closed, what comes first, and what becomes of a
 * step that fails, is not done, or is answered twice.
 */
#include <kunit/test.h>

#include "volume.h"

/* Its user segment is open, and has places that are not mapped yet; @dpn gets the first. */
static struct volume *volume_that_writes(struct kunit *test, dpn_t *dpn)
{
	struct volume *volume = new_volume(test);

	format_volume(volume);
	write_data(volume, DMDA_STREAM_USER, 0, 3, 1 << 20, dpn);
	return volume;
}

static void a_segment_is_closed_when_all_of_it_is_mapped(struct kunit *test)
{
	dpn_t dpn;
	struct volume *volume = volume_that_writes(test, &dpn);
	struct dmda_closing *closing = &volume->closing;

	KUNIT_EXPECT_FALSE(test, dmda_close_begin(closing, 0));
	KUNIT_EXPECT_FALSE(test, dmda_close_retire(closing, 0));
	KUNIT_EXPECT_FALSE(test, dmda_close_begin(closing, 0));
	KUNIT_EXPECT_FALSE(test, dmda_close_placed(closing, 0, 2));
	KUNIT_EXPECT_FALSE(test, dmda_close_begin(closing, 0));
	KUNIT_EXPECT_TRUE(test, dmda_close_placed(closing, 0, 1));
	KUNIT_EXPECT_TRUE(test, dmda_close_begin(closing, 0));
}

static void one_that_may_still_be_written_to_is_not_closed(struct kunit *test)
{
	dpn_t dpn;
	struct volume *volume = volume_that_writes(test, &dpn);
	struct dmda_closing *closing = &volume->closing;

	KUNIT_EXPECT_FALSE(test, dmda_close_placed(closing, 0, 3));
	KUNIT_EXPECT_FALSE(test, dmda_close_begin(closing, 0));
	KUNIT_EXPECT_TRUE(test, dmda_close_retire(closing, 0));
	/* No segment is open there. */
	dmda_close_retire(closing, 1);
	KUNIT_EXPECT_FALSE(test, dmda_close_begin(closing, 1));
}

static void the_summary_comes_before_the_record(struct kunit *test)
{
	dpn_t dpn;
	struct volume *volume = volume_that_writes(test, &dpn);
	struct dmda_closing *closing = &volume->closing;
	seg_t seg = closing->open[0].seg;
	struct dmda_written written;

	map_data(volume, 0, dpn, 3);
	dmda_close_retire(closing, 0);
	KUNIT_ASSERT_TRUE(test, dmda_close_begin(closing, 0));
	KUNIT_EXPECT_EQ(test, dmda_close_next(closing), DMDA_CLOSE_SUMMARY);
	KUNIT_EXPECT_EQ(test, dmda_close_next(closing), DMDA_CLOSE_SUMMARY);
	KUNIT_EXPECT_EQ(test, from_dpn(dmda_close_copy(closing, volume->summary, 1)),
			from_dpn(dmda_summary_dpn(&volume->super, seg)));
	KUNIT_EXPECT_NULL(test, dmda_summary_check(volume->summary, &volume->super, seg));
	KUNIT_EXPECT_TRUE(test, dmda_summary_get(volume->summary, 2, &written));
	dmda_close_did(closing, 0);
	KUNIT_EXPECT_EQ(test, dmda_close_next(closing), DMDA_CLOSE_RECORD);
	KUNIT_EXPECT_EQ(test, closing->record.kind, DMDA_RECORD_CLOSE);
	KUNIT_EXPECT_EQ(test, from_seg(closing->record.seg), from_seg(seg));
	/* Its open summary is its own until it is closed. */
	KUNIT_EXPECT_EQ(test, from_seg(closing->open[0].seg), from_seg(seg));
	dmda_close_did(closing, 0);
	KUNIT_EXPECT_EQ(test, dmda_close_next(closing), DMDA_CLOSE_DONE);
	KUNIT_EXPECT_EQ(test, from_seg(closing->open[0].seg), from_seg(SEG_NONE));
	dmda_close_did(closing, -EIO);
	KUNIT_EXPECT_EQ(test, dmda_close_next(closing), DMDA_CLOSE_DONE);
}

static void a_step_that_fails_leaves_it_open(struct kunit *test)
{
	for (u32 nr_done = 0; nr_done < 2; nr_done++) {
		dpn_t dpn;
		struct volume *volume = volume_that_writes(test, &dpn);
		struct dmda_closing *closing = &volume->closing;
		seg_t seg = closing->open[0].seg;

		map_data(volume, 0, dpn, 3);
		dmda_close_retire(closing, 0);
		KUNIT_ASSERT_TRUE(test, dmda_close_begin(closing, 0));
		for (u32 i = 0; i < nr_done; i++)
			dmda_close_did(closing, 0);
		dmda_close_did(closing, -EIO);
		KUNIT_EXPECT_EQ(test, dmda_close_next(closing), DMDA_CLOSE_FAILED);
		KUNIT_EXPECT_EQ(test, from_seg(closing->open[0].seg), from_seg(seg));
	}
}

static struct kunit_case close_cases[] = {
	KUNIT_CASE(a_segment_is_closed_when_all_of_it_is_mapped),
	KUNIT_CASE(one_that_may_still_be_written_to_is_not_closed),
	KUNIT_CASE(the_summary_comes_before_the_record),
	KUNIT_CASE(a_step_that_fails_leaves_it_open),
	{}
};

static struct kunit_suite close_suite = {
	.name = "dm_dieaware_close",
	.test_cases = close_cases,
};

kunit_test_suite(close_suite);

MODULE_DESCRIPTION("The steps of closing a segment");
MODULE_LICENSE("GPL");
