// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading ahead. Times are worked out by hand from the latencies below: a page that was read ahead
 * takes the firmware's time and the link's, once its die has had the time to sense and send it.
 */
#include "../core/rest.h"
#include "drive_kunit.h"

#define AHEAD_PAGES	32U
#define COMMAND_NS	1000ULL
/* tR, 4 KiB at 800 MB/s and at 3200 MB/s */
#define SENSE_NS	36000ULL
#define CHANNEL_NS	5120ULL
#define LINK_NS		1280ULL

/* Long enough for all that is under way to end */
#define REST_NS		1000000000ULL
#define NR_WRITTEN	512U

/* 4 channels with 2 dies each, units of 8 pages */
static const struct drive_shape *const shape = &drive_shapes[5];

/**
 * struct bench - a drive and the time
 * @ftl: the drive
 * @now_ns: present time
 */
struct bench {
	struct ftl *ftl;
	u64 now_ns;
};

static struct ftl_params ahead_params(u32 read_ahead_pages)
{
	struct ftl_params params = drive_params(shape);

	params.nr_page_kinds = 1;
	params.read_ns[0] = SENSE_NS;
	params.register_hits = false;
	params.read_ahead_pages = read_ahead_pages;
	return params;
}

/* A drive whose first pages are on NAND, one unit on each die in turn */
static void begin(struct kunit *test, struct bench *bench, u32 read_ahead_pages)
{
	struct ftl_params params = ahead_params(read_ahead_pages);

	bench->ftl = make_drive(test, &params);
	write_plain(bench->ftl, 0, 256);
	write_plain(bench->ftl, 256, NR_WRITTEN - 256);
	bench->now_ns = REST_NS;
}

/* Return: what the read takes now. */
static u64 read_now(struct bench *bench, u64 first, u32 nr_pages)
{
	struct ftl_request rq = request(first, nr_pages);

	return ftl_read(bench->ftl, &rq, bench->now_ns) - bench->now_ns;
}

/* Return: what it takes after a while in which all else has ended. */
static u64 read_later(struct bench *bench, u64 first, u32 nr_pages)
{
	bench->now_ns += REST_NS;
	return read_now(bench, first, nr_pages);
}

static u64 read_ahead_of(const struct bench *bench)
{
	return bench->ftl->stats.pages_read_ahead;
}

static u64 hits_of(const struct bench *bench)
{
	return bench->ftl->stats.ahead_hits;
}

static void expect_missed(struct kunit *test, struct bench *bench, u64 lpn)
{
	KUNIT_EXPECT_EQ(test, read_later(bench, lpn, 1),
			COMMAND_NS + SENSE_NS + CHANNEL_NS + LINK_NS);
}

static void expect_there(struct kunit *test, struct bench *bench, u64 lpn)
{
	KUNIT_EXPECT_EQ(test, read_later(bench, lpn, 1), COMMAND_NS + LINK_NS);
}

/* Two reads in order: what follows is read ahead. */
static void begin_stream(struct kunit *test, struct bench *bench, u32 read_ahead_pages, u64 first)
{
	begin(test, bench, read_ahead_pages);
	read_later(bench, first, 1);
	read_later(bench, first + 1, 1);
}

static void third_read_in_order_needs_the_link_only(struct kunit *test)
{
	struct bench bench;

	begin(test, &bench, AHEAD_PAGES);
	expect_missed(test, &bench, 0);
	KUNIT_EXPECT_EQ(test, read_ahead_of(&bench), 0ULL);
	expect_missed(test, &bench, 1);
	KUNIT_EXPECT_EQ(test, read_ahead_of(&bench), (u64)AHEAD_PAGES);
	for (u64 lpn = 2; lpn < 100; lpn++)
		expect_there(test, &bench, lpn);
	KUNIT_EXPECT_EQ(test, hits_of(&bench), 98ULL);
	KUNIT_EXPECT_EQ(test, bench.ftl->stats.host_pages_read, 100ULL);
}

static void without_it_each_read_senses(struct kunit *test)
{
	struct bench bench;

	begin(test, &bench, 0);
	for (u64 lpn = 0; lpn < 20; lpn++)
		expect_missed(test, &bench, lpn);
	KUNIT_EXPECT_EQ(test, read_ahead_of(&bench) + hits_of(&bench), 0ULL);
}

static void between_a_half_and_all_is_kept_ahead(struct kunit *test)
{
	struct bench bench;

	begin(test, &bench, AHEAD_PAGES);
	read_later(&bench, 0, 1);
	for (u64 lpn = 1; lpn < 200; lpn++) {
		u64 left;

		read_later(&bench, lpn, 1);
		left = read_ahead_of(&bench) + 2 - (lpn + 1);
		KUNIT_EXPECT_GT(test, left, AHEAD_PAGES / 2);
		KUNIT_EXPECT_LE(test, left, AHEAD_PAGES);
	}
	/* Large ones, too: what one takes is asked for again at once. */
	for (u64 lpn = 200; lpn < 440; lpn += 20)
		read_later(&bench, lpn, 20);
	KUNIT_EXPECT_EQ(test, read_ahead_of(&bench), 440ULL + AHEAD_PAGES - 2);
	KUNIT_EXPECT_EQ(test, hits_of(&bench), 440ULL - 2);
}

/* Unit 1 is sensed when page 7 is asked for; page 8 follows at once, page 9 a little later. */
static void who_comes_early_waits_for_the_die(struct kunit *test)
{
	struct bench bench;
	u64 there_ns;

	begin_stream(test, &bench, AHEAD_PAGES, 6);
	there_ns = bench.now_ns + COMMAND_NS + SENSE_NS + 8 * CHANNEL_NS;
	KUNIT_EXPECT_EQ(test, read_now(&bench, 8, 1), there_ns + LINK_NS - bench.now_ns);
	bench.now_ns = there_ns - COMMAND_NS;
	KUNIT_EXPECT_EQ(test, read_now(&bench, 9, 1), COMMAND_NS + LINK_NS);
}

/* The rest of a unit is read ahead, and what is not of it is sensed. */
static void half_of_a_command_can_be_there(struct kunit *test)
{
	struct bench bench;

	begin_stream(test, &bench, 4, 6);
	KUNIT_EXPECT_EQ(test, read_ahead_of(&bench), 4ULL);
	KUNIT_EXPECT_EQ(test, read_later(&bench, 8, 8),
			COMMAND_NS + SENSE_NS + 4 * CHANNEL_NS + 4 * LINK_NS);
	KUNIT_EXPECT_EQ(test, hits_of(&bench), 4ULL);
}

static void other_orders_read_nothing_ahead(struct kunit *test)
{
	static const u64 order[] = { 0, 2, 4, 6, 50, 49, 48, 100, 102 };
	struct bench bench;

	begin(test, &bench, AHEAD_PAGES);
	for (u32 i = 0; i < ARRAY_SIZE(order); i++)
		expect_missed(test, &bench, order[i]);
	KUNIT_EXPECT_EQ(test, read_ahead_of(&bench), 0ULL);
}

static void each_stream_has_its_own(struct kunit *test)
{
	struct bench bench;

	begin(test, &bench, AHEAD_PAGES);
	for (u64 lpn = 0; lpn < 10; lpn++) {
		for (u64 stream = 0; stream < FTL_READ_STREAMS; stream++) {
			if (lpn < 2)
				expect_missed(test, &bench, 64 * stream + lpn);
			else
				expect_there(test, &bench, 64 * stream + lpn);
		}
	}
	/* One more than there can be: each is forgotten before it goes on. */
	begin(test, &bench, AHEAD_PAGES);
	for (u64 lpn = 0; lpn < 10; lpn++)
		for (u64 stream = 0; stream <= FTL_READ_STREAMS; stream++)
			expect_missed(test, &bench, 50 * stream + lpn);
}

static void pages_that_were_written_since_are_not_taken(struct kunit *test)
{
	struct bench bench;
	u64 hits;

	begin_stream(test, &bench, AHEAD_PAGES, 0);
	write_plain(bench.ftl, 2, 1);
	hits = bench.ftl->stats.buffer_hits;
	read_later(&bench, 2, 1);
	KUNIT_EXPECT_EQ(test, bench.ftl->stats.buffer_hits, hits + 1);
	/* Its unit is full and programmed. */
	write_plain(bench.ftl, 300, 7);
	KUNIT_ASSERT_NULL(test, open_unit_of(bench.ftl, 2));
	expect_missed(test, &bench, 2);
	expect_there(test, &bench, 3);
	KUNIT_EXPECT_EQ(test, hits_of(&bench), 1ULL);
}

/* There the page is where it was. */
static void pages_that_were_written_in_place_are_not_taken(struct kunit *test)
{
	struct ftl_params params = ahead_params(AHEAD_PAGES);
	struct bench bench = { .now_ns = REST_NS };

	make_in_place(&params);
	bench.ftl = make_drive(test, &params);
	write_plain(bench.ftl, 0, 256);
	read_later(&bench, 0, 1);
	read_later(&bench, 1, 1);
	bench.now_ns += REST_NS;
	write_plain(bench.ftl, 2, 1);
	expect_missed(test, &bench, 2);
	expect_there(test, &bench, 3);
	KUNIT_EXPECT_EQ(test, hits_of(&bench), 1ULL);
}

/* Its old place was erased meanwhile, and it has come to lie there again. */
static void pages_that_are_back_where_they_were_are_not_taken(struct kunit *test)
{
	struct bench bench;
	u64 first, nr_laps = 0;
	ppn_t ppn;

	begin_stream(test, &bench, AHEAD_PAGES, 0);
	ppn = ftl_l2p_get(&bench.ftl->map, to_lpn(2));
	bench.now_ns += REST_NS;
	do {
		for (first = 0; first + 64 <= bench.ftl->params.nr_lpns; first += 64)
			write_plain(bench.ftl, first, 64);
		bench.now_ns += REST_NS;
	} while (from_ppn(ftl_l2p_get(&bench.ftl->map, to_lpn(2))) != from_ppn(ppn) &&
		 ++nr_laps < 1000);
	KUNIT_ASSERT_LT(test, nr_laps, 1000ULL);
	expect_missed(test, &bench, 2);
	KUNIT_EXPECT_EQ(test, hits_of(&bench), 0ULL);
}

/* Collection has moved it: what is in memory is known by a place that it has no more. */
static void pages_that_were_moved_since_are_not_taken(struct kunit *test)
{
	struct bench bench;
	u64 state = 1, nr_lpns, nr_writes = 0;
	ppn_t ppn;

	begin_stream(test, &bench, AHEAD_PAGES, 0);
	ppn = ftl_l2p_get(&bench.ftl->map, to_lpn(2));
	nr_lpns = bench.ftl->params.nr_lpns;
	for (u64 lpn = NR_WRITTEN; lpn + 64 <= nr_lpns; lpn += 64)
		write_plain(bench.ftl, lpn, 64);
	while (from_ppn(ftl_l2p_get(&bench.ftl->map, to_lpn(2))) == from_ppn(ppn) &&
	       ++nr_writes < 100 * nr_lpns)
		write_plain(bench.ftl, 64 + next_random32(&state) % (nr_lpns - 64), 1);
	KUNIT_ASSERT_LT(test, nr_writes, 100 * nr_lpns);
	bench.now_ns += REST_NS;
	expect_missed(test, &bench, 2);
	KUNIT_EXPECT_EQ(test, hits_of(&bench), 0ULL);
}

/* It is memory for what comes next, not a cache: who reads again waits for the dies again. */
static void what_the_host_has_got_is_gone(struct kunit *test)
{
	struct bench bench;

	begin(test, &bench, AHEAD_PAGES);
	for (u64 lpn = 0; lpn < 2 * AHEAD_PAGES; lpn++)
		read_later(&bench, lpn, 1);
	for (u64 lpn = 1; lpn < 2 * AHEAD_PAGES; lpn += 2)
		expect_missed(test, &bench, lpn);
	KUNIT_EXPECT_EQ(test, hits_of(&bench), 2ULL * AHEAD_PAGES - 2);
	/* What it has not got is there, before and behind. */
	expect_there(test, &bench, 2 * AHEAD_PAGES + 1);
	expect_there(test, &bench, 2 * AHEAD_PAGES);
	expect_missed(test, &bench, 2 * AHEAD_PAGES);
}

static void what_holds_nothing_is_not_read(struct kunit *test)
{
	struct bench bench;

	begin(test, &bench, AHEAD_PAGES);
	trim(bench.ftl, 8, 8);
	read_later(&bench, 0, 1);
	read_later(&bench, 1, 1);
	KUNIT_EXPECT_EQ(test, read_ahead_of(&bench), (u64)AHEAD_PAGES - 8);
	/* Nor is what lies behind the drive's last page. */
	read_later(&bench, bench.ftl->params.nr_lpns - 2, 1);
	read_later(&bench, bench.ftl->params.nr_lpns - 1, 1);
	read_later(&bench, NR_WRITTEN - 4, 1);
	read_later(&bench, NR_WRITTEN - 3, 1);
	KUNIT_EXPECT_EQ(test, read_ahead_of(&bench), (u64)AHEAD_PAGES - 8 + 2);
}

static void rest_and_power_off_forget_it(struct kunit *test)
{
	struct bench bench;

	for (u32 i = 0; i < 2; i++) {
		begin_stream(test, &bench, AHEAD_PAGES, 0);
		if (i)
			ftl_power_off(bench.ftl);
		else
			ftl_let_rest(bench.ftl);
		expect_missed(test, &bench, 2);
		/* It is not the third of a stream either. */
		KUNIT_EXPECT_EQ(test, read_ahead_of(&bench), (u64)AHEAD_PAGES);
		KUNIT_EXPECT_EQ(test, hits_of(&bench), 0ULL);
	}
}

/* The map of what is read ahead has to be known as well. */
static void map_is_looked_up_ahead(struct kunit *test)
{
	struct ftl_params params = ahead_params(AHEAD_PAGES);
	struct bench bench = { .now_ns = REST_NS };
	u64 first = FTL_MAP_PAGE_LPNS - 2;

	params.map_cache_pages = 8;
	bench.ftl = make_drive(test, &params);
	write_plain(bench.ftl, first, 64);
	ftl_map_write_all(bench.ftl, bench.now_ns);
	ftl_map_cache_drop_all(&bench.ftl->map_cache);
	read_later(&bench, first, 1);
	KUNIT_EXPECT_EQ(test, bench.ftl->stats.map_misses, 1ULL);
	read_later(&bench, first + 1, 1);
	KUNIT_EXPECT_EQ(test, bench.ftl->stats.map_misses, 2ULL);
	expect_there(test, &bench, first + 2);
}

static struct kunit_case read_ahead_cases[] = {
	KUNIT_CASE(third_read_in_order_needs_the_link_only),
	KUNIT_CASE(without_it_each_read_senses),
	KUNIT_CASE(between_a_half_and_all_is_kept_ahead),
	KUNIT_CASE(who_comes_early_waits_for_the_die),
	KUNIT_CASE(half_of_a_command_can_be_there),
	KUNIT_CASE(other_orders_read_nothing_ahead),
	KUNIT_CASE(each_stream_has_its_own),
	KUNIT_CASE(pages_that_were_written_since_are_not_taken),
	KUNIT_CASE(pages_that_were_written_in_place_are_not_taken),
	KUNIT_CASE(pages_that_are_back_where_they_were_are_not_taken),
	KUNIT_CASE(pages_that_were_moved_since_are_not_taken),
	KUNIT_CASE(what_the_host_has_got_is_gone),
	KUNIT_CASE(what_holds_nothing_is_not_read),
	KUNIT_CASE(rest_and_power_off_forget_it),
	KUNIT_CASE(map_is_looked_up_ahead),
	{}
};

static struct kunit_suite read_ahead_suite = {
	.name = "nvmev_read_ahead",
	.test_cases = read_ahead_cases,
};

kunit_test_suite(read_ahead_suite);

MODULE_DESCRIPTION("KUnit suite: the virtual SSD reads ahead");
MODULE_LICENSE("GPL");
