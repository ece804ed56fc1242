// SPDX-License-Identifier: GPL-2.0-only
/* Pages that lie on few dies are spread: when, how well, and what it brings. */
#include "drive_kunit.h"

#define UNIT_PAGES	8
#define FILE_PAGES	1024

static const struct drive_shape fast24 = { "fast24", 4, 2, UNIT_PAGES, 64, 32, 16, 70 };

static struct ftl *make_fast24(struct kunit *test, u32 share_pages)
{
	struct ftl_params params = drive_params(&fast24);

	params.wbuf_pages = 1024;
	params.share_pages = share_pages;
	params.share_log_kib = 4;
	return make_drive(test, &params);
}

/* A file all of whose units are on the first die. */
static void write_skewed(struct ftl *ftl)
{
	for (u64 lpn = 0; lpn < FILE_PAGES; lpn += UNIT_PAGES) {
		write_plain(ftl, lpn, UNIT_PAGES);
		write_plain(ftl, FILE_PAGES, 7 * UNIT_PAGES);
	}
}

static bool redistribute(struct kunit *test, struct ftl *ftl, struct ftl_redistribution *job,
			 u64 now_ns)
{
	job->nr_pages = 0;
	for (u32 i = 0; i < job->nr_ranges; i++)
		job->nr_pages += job->range[i].nr;
	job->memory = kunit_kzalloc(test, ftl_dof_bytes(ftl, job->nr_pages), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, job->memory);
	return ftl_redistribute(ftl, job, now_ns);
}

static u64 read_ns(struct ftl *ftl, u64 start_ns)
{
	u64 now_ns = start_ns;

	for (u64 lpn = 0; lpn < FILE_PAGES; lpn += 256) {
		struct ftl_request rq = request(lpn, 256);

		now_ns = ftl_read(ftl, &rq, now_ns);
	}
	return now_ns - start_ns;
}

static void skewed_file_is_spread_and_fast(struct kunit *test)
{
	const struct ftl_lpn_range file = { to_lpn(0), FILE_PAGES };
	struct ftl_redistribution job = { &file, 1, 500 };
	struct ftl *ftl = make_fast24(test, 0);
	u64 before_ns, after_ns;

	write_skewed(ftl);
	before_ns = read_ns(ftl, 10000000000);
	KUNIT_EXPECT_TRUE(test, redistribute(test, ftl, &job, 20000000000));
	KUNIT_EXPECT_EQ(test, job.before_permille, 875U);
	KUNIT_EXPECT_EQ(test, job.after_permille, 0U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_redistributed, (u64)FILE_PAGES);
	for (u64 lpn = UNIT_PAGES; lpn < FILE_PAGES; lpn += UNIT_PAGES)
		KUNIT_EXPECT_EQ(test, die_of(ftl, lpn), (die_of(ftl, lpn - 1) + 1) % 8);
	after_ns = read_ns(ftl, 30000000000);
	kunit_info(test, "4 MiB: %llu ns before, %llu after, moved in %llu\n", before_ns, after_ns,
		   job.done_ns - 20000000000);
	KUNIT_EXPECT_GT(test, before_ns, 5 * after_ns);
	EXPECT_CONSISTENT(test, ftl);
}

static void page_may_be_named_twice(struct kunit *test)
{
	const struct ftl_lpn_range twice[] = { { to_lpn(0), 2 }, { to_lpn(1), 1 } };
	struct ftl_redistribution job = { twice, ARRAY_SIZE(twice), 0 };
	struct ftl *ftl = make_fast24(test, 0);

	write_skewed(ftl);
	KUNIT_EXPECT_TRUE(test, redistribute(test, ftl, &job, 0));
	KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(1)));
	EXPECT_CONSISTENT(test, ftl);
}

static void well_spread_file_is_left_alone(struct kunit *test)
{
	const struct ftl_lpn_range file = { to_lpn(0), FILE_PAGES };
	struct ftl_redistribution job = { &file, 1, 500 };
	struct ftl *ftl = make_fast24(test, 0);
	u64 programmed;

	write_plain(ftl, 0, FILE_PAGES);
	programmed = stats_of(ftl).nand_pages_programmed;
	KUNIT_EXPECT_FALSE(test, redistribute(test, ftl, &job, 1000000000));
	KUNIT_EXPECT_EQ(test, job.before_permille, 0U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).nand_pages_programmed, programmed);
	job.threshold_permille = 0;
	KUNIT_EXPECT_TRUE(test, redistribute(test, ftl, &job, 2000000000));
	KUNIT_EXPECT_EQ(test, job.after_permille, 0U);
	EXPECT_CONSISTENT(test, ftl);
}

/* The order is that of the ranges; what is not mapped stays so. */
static void pages_follow_in_the_order_of_the_ranges(struct kunit *test)
{
	const struct ftl_lpn_range ranges[] = {
		{ to_lpn(100), 12 }, { to_lpn(0), 20 }, { to_lpn(50), 4 },
	};
	struct ftl_redistribution job = { ranges, 3, 0 };
	struct ftl *ftl = make_fast24(test, 0);

	write_plain(ftl, 0, 10);
	write_plain(ftl, 100, 12);
	KUNIT_EXPECT_TRUE(test, redistribute(test, ftl, &job, 1000000000));
	KUNIT_EXPECT_EQ(test, slot_of(ftl, 100), 0U);
	KUNIT_EXPECT_EQ(test, unit_of(ftl, 0), unit_of(ftl, 111));
	KUNIT_EXPECT_EQ(test, slot_of(ftl, 0), 4U);
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(10)));
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(50)));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_redistributed, 22ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void page_that_is_named_twice_is_placed_once(struct kunit *test)
{
	const struct ftl_lpn_range ranges[] = {
		{ to_lpn(0), 3 }, { to_lpn(2), 1 }, { to_lpn(1), 3 }, { to_lpn(0), 8 },
	};
	struct ftl_redistribution job = { ranges, 4, 0 };
	struct ftl *ftl = make_fast24(test, 0);

	write_plain(ftl, 0, 7);
	KUNIT_EXPECT_TRUE(test, redistribute(test, ftl, &job, 1000000000));
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_EQ(test, unit_of(ftl, 5), unit_of(ftl, 6));
}

static void page_that_is_spread_is_shared_no_more(struct kunit *test)
{
	const struct ftl_share_range both = { to_lpn(64), to_lpn(0), 16 };
	const struct ftl_lpn_range copy = { to_lpn(64), 16 };
	struct ftl_redistribution job = { &copy, 1, 0 };
	struct ftl *ftl = make_fast24(test, 16);
	u64 done_ns;

	write_plain(ftl, 0, 16);
	KUNIT_EXPECT_EQ(test, ftl_share(ftl, &both, 1, 0, &done_ns), FTL_SHARE_DONE);
	KUNIT_EXPECT_TRUE(test, redistribute(test, ftl, &job, 1000000000));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_shared, 0ULL);
	KUNIT_EXPECT_NE(test, unit_of(ftl, 64), unit_of(ftl, 0));
	EXPECT_CONSISTENT(test, ftl);
}

static struct kunit_case redistribute_cases[] = {
	KUNIT_CASE(skewed_file_is_spread_and_fast),
	KUNIT_CASE(page_may_be_named_twice),
	KUNIT_CASE(well_spread_file_is_left_alone),
	KUNIT_CASE(pages_follow_in_the_order_of_the_ranges),
	KUNIT_CASE(page_that_is_named_twice_is_placed_once),
	KUNIT_CASE(page_that_is_spread_is_shared_no_more),
	{}
};

static struct kunit_suite redistribute_suite = {
	.name = "nvmev_redistribute",
	.test_cases = redistribute_cases,
};

kunit_test_suite(redistribute_suite);

MODULE_DESCRIPTION("Spreading pages that lie on few dies");
MODULE_LICENSE("GPL");
