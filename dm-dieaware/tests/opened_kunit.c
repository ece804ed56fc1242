// SPDX-License-Identifier: GPL-2.0-only
/* What open summaries know, above all when one is begun anew. */
#include <kunit/test.h>

#include "../core/block.c"
#include "../core/super.c"
#include "../core/summary.c"
#include "../core/opened.c"
#include "small_device.h"

/* A summary of three pages, the last of them not full */
#define LARGE_SEGMENT_PAGES	384
#define OPEN			1
#define SEG			3

/**
 * struct desk - a segment table, and open summaries
 * @super: of the device
 * @segment: the segment table's
 * @segments: the segment table
 * @opened: under test
 */
struct desk {
	struct dmda_super super;
	struct dmda_segment segment[8];
	struct dmda_segments segments;
	struct dmda_opened opened;
};

static struct desk *new_desk(struct kunit *test)
{
	struct desk *desk = kunit_kzalloc(test, sizeof(*desk), GFP_KERNEL);
	void *memory;

	KUNIT_ASSERT_NOT_NULL(test, desk);
	make_device(test, &desk->super, 65536, LARGE_SEGMENT_PAGES);
	KUNIT_ASSERT_EQ(test, desk->super.summary_pages, 3);
	memory = kunit_kzalloc(test, dmda_opened_bytes(&desk->super), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	desk->segments.super = &desk->super;
	desk->segments.segment = desk->segment;
	desk->segments.nr_segments = ARRAY_SIZE(desk->segment);
	desk->segment[SEG].state = DMDA_SEGMENT_OPEN;
	desk->segment[SEG].open = OPEN;
	dmda_opened_init(&desk->opened, &desk->super, &desk->segments, memory);
	return desk;
}

/* Pages from @page of the segment on get lpns from 1000 + @page on. */
static void put(struct desk *desk, u32 page, u32 nr_pages, u64 seq)
{
	u64 first = from_dpn(dmda_super_segment_dpn(&desk->super, to_seg(SEG)));
	const struct dmda_written written = {
		.lpn = to_lpn(1000 + page), .seq = seq, .file = 7, .fpage = page,
	};

	dmda_opened_put(&desk->opened, to_dpn(first + page), &written, nr_pages, seq);
}

static u64 index_in(u32 page)
{
	return OPEN * 3 + page;
}

/* Are pages from @first to @end of the segment what is known, and no others? */
static void expect_known(struct kunit *test, const struct desk *desk, u32 first, u32 end)
{
	struct dmda_written written;

	for (u32 page = 0; page < dmda_super_data_pages(&desk->super); page++) {
		bool is_known = dmda_opened_get(&desk->opened, OPEN, page, &written);

		KUNIT_ASSERT_EQ(test, is_known, page >= first && page < end);
		if (!is_known)
			continue;
		KUNIT_ASSERT_EQ(test, from_lpn(written.lpn), 1000 + page);
		KUNIT_ASSERT_EQ(test, written.fpage, page);
	}
	KUNIT_ASSERT_EQ(test, dmda_opened_end(&desk->opened, OPEN), end);
}

static void entries_go_over_the_ends_of_pages(struct kunit *test)
{
	struct desk *desk = new_desk(test);

	put(desk, 100, 270, 1);
	expect_known(test, desk, 100, 370);
	for (u32 i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, desk->opened.page[index_in(i)].seq, 1);
		KUNIT_EXPECT_EQ(test, desk->opened.page[index_in(i)].dirty_sector, 1);
	}
}

static void a_summary_that_is_begun_knows_nothing_of_the_one_before(struct kunit *test)
{
	struct desk *desk = new_desk(test);

	put(desk, 0, 380, 1);
	dmda_opened_begin(&desk->opened, OPEN, 2, 2);
	expect_known(test, desk, 0, 0);
	put(desk, 0, 1, 3);
	expect_known(test, desk, 0, 1);
	put(desk, 1, 200, 4);
	expect_known(test, desk, 0, 201);
}

static bool is_zero(const struct dmda_summary_block *block)
{
	return !memchr_inv(block, 0, sizeof(*block));
}

static void what_is_written_of_it_does_not_either(struct kunit *test)
{
	struct desk *desk = new_desk(test);
	struct dmda_summary_block *copy = kunit_kzalloc(test, sizeof(*copy), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	put(desk, 0, 380, 1);
	dmda_opened_begin(&desk->opened, OPEN, 2, 2);
	put(desk, DMDA_SUMMARIES_PER_PAGE, 1, 3);
	for (u32 i = 0; i < 3; i++) {
		memset(copy, 0xff, sizeof(*copy));
		dmda_opened_copy(&desk->opened, index_in(i), copy);
		KUNIT_EXPECT_EQ(test, is_zero(copy), i != 1);
		/* The second has one entry. */
		memset(copy->entry, 0, sizeof(copy->entry[0]));
		KUNIT_EXPECT_TRUE(test, is_zero(copy));
	}
}

static void what_knows_of_the_beginning_stays(struct kunit *test)
{
	struct desk *desk = new_desk(test);

	/* A start has read pages that were written after the operation that it does again. */
	put(desk, 0, DMDA_SUMMARIES_PER_PAGE, 5);
	dmda_opened_begin(&desk->opened, OPEN, 4, 4);
	put(desk, 0, 380, 5);
	expect_known(test, desk, 0, 380);
	KUNIT_EXPECT_EQ(test, desk->opened.page[index_in(0)].dirty_sector, 5);
	KUNIT_EXPECT_EQ(test, desk->opened.page[index_in(1)].dirty_sector, 4);
	dmda_opened_begin(&desk->opened, OPEN, 5, 4);
	expect_known(test, desk, 0, 380);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(entries_go_over_the_ends_of_pages),
	KUNIT_CASE(a_summary_that_is_begun_knows_nothing_of_the_one_before),
	KUNIT_CASE(what_is_written_of_it_does_not_either),
	KUNIT_CASE(what_knows_of_the_beginning_stays),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_opened",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of dm-dieaware's open summaries");
MODULE_LICENSE("GPL");
