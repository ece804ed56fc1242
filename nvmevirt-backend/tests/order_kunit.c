// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is left of die order after a long time: a drive that is filled to 90 % with files,
 * overwritten three times at random, and read again. And what collection costs the one
 * who writes meanwhile.
 *
 * A file has 8 MiB and is written from front to back. Overwrites have a hint or none, and
 * a flash unit's size or a page's. Files are read with commands of 1 MiB, one at a time;
 * ideal is what the same files read at before the overwrites.
 */
#include "drive_kunit.h"

#define FILE_PAGES	2048
#define READ_PAGES	256
#define UNIT_PAGES	8
#define SEED		1107
#define SECOND_NS	1000000000ULL

static const struct drive_shape aged = { "aged", 4, 2, UNIT_PAGES, 16, 160, 64, 80 };

/**
 * struct host - a drive and who uses it
 * @ftl: the drive
 * @now_ns: time of the next command
 * @nr_files: files on it
 * @random: state of the generator
 */
struct host {
	struct ftl *ftl;
	u64 now_ns;
	u32 nr_files;
	u64 random;
};

static void begin_host(struct kunit *test, struct host *host, u32 bg_eblks)
{
	struct ftl_params params = drive_params(&aged);

	params.wbuf_pages = 2048;
	params.read_ns[0] = 36000;
	params.nr_page_kinds = 1;
	params.bg_eblks = bg_eblks;
	params.bg_mend = bg_eblks;
	host->ftl = make_drive(test, &params);
	host->now_ns = 0;
	host->nr_files = div_u64(params.nr_lpns * 9, 10 * FILE_PAGES);
	host->random = SEED;
	for (u64 lpn = 0; lpn < (u64)host->nr_files * FILE_PAGES; lpn += READ_PAGES) {
		struct ftl_request rq = request(lpn, READ_PAGES);

		host->now_ns = ftl_write(host->ftl, &rq, host->now_ns);
	}
}

/* Overwrites as many pages as @times the drive shows; each command has @nr_pages, aligned. */
static void overwrite(struct host *host, enum ftl_hint hint, u32 nr_pages, u32 times)
{
	u32 nr_places = host->nr_files * FILE_PAGES / nr_pages;
	u64 nr = div_u64(times * ftl_get_params(host->ftl)->nr_lpns, nr_pages);

	for (; nr; nr--) {
		u64 at = next_random32(&host->random) % nr_places;
		struct ftl_request rq = request(at * nr_pages, nr_pages);

		rq.hint = hint;
		host->now_ns = ftl_write(host->ftl, &rq, host->now_ns);
	}
}

static u64 read_one(struct host *host, u32 file)
{
	u64 start_ns = host->now_ns;

	for (u32 at = 0; at < FILE_PAGES; at += READ_PAGES) {
		struct ftl_request rq = request((u64)file * FILE_PAGES + at, READ_PAGES);

		host->now_ns = ftl_read(host->ftl, &rq, host->now_ns);
	}
	return host->now_ns - start_ns;
}

/* Return: the time that the slowest file takes. */
static u64 read_slowest(struct host *host)
{
	u64 slowest_ns = 0;

	/* Not while what was written is still on its way. */
	host->now_ns += SECOND_NS;
	for (u32 file = 0; file < host->nr_files; file++)
		slowest_ns = max(slowest_ns, read_one(host, file));
	return slowest_ns;
}

static void rest(struct host *host, u32 seconds)
{
	for (u32 i = 0; i < 100 * seconds; i++) {
		host->now_ns += SECOND_NS / 100;
		ftl_idle(host->ftl, host->now_ns);
	}
}

static void units_that_are_overwritten_keep_their_order(struct kunit *test)
{
	struct host host;
	u64 ideal_ns, slowest_ns;

	begin_host(test, &host, 0);
	ideal_ns = read_slowest(&host);
	overwrite(&host, FTL_HINT_OVERWRITE, UNIT_PAGES, 3);
	slowest_ns = read_slowest(&host);
	EXPECT_CONSISTENT(test, host.ftl);
	kunit_info(test, "slowest file at %llu per mille of ideal\n",
		   div64_u64(1000 * ideal_ns, slowest_ns));
	KUNIT_EXPECT_GE(test, div64_u64(1000 * ideal_ns, slowest_ns), 970ULL);
	KUNIT_EXPECT_GT(test, stats_of(host.ftl).gc_runs, 0ULL);
}

static void pages_that_are_overwritten_come_together_in_idle_time(struct kunit *test)
{
	struct host host;
	u64 ideal_ns, busy_ns, rested_ns;

	begin_host(test, &host, 3);
	ideal_ns = read_slowest(&host);
	overwrite(&host, FTL_HINT_OVERWRITE, 1, 3);
	busy_ns = read_slowest(&host);
	rest(&host, 4);
	rested_ns = read_slowest(&host);
	EXPECT_CONSISTENT(test, host.ftl);
	kunit_info(test, "slowest file at %llu per mille of ideal, rested %llu, %llu mended\n",
		   div64_u64(1000 * ideal_ns, busy_ns), div64_u64(1000 * ideal_ns, rested_ns),
		   stats_of(host.ftl).rows_mended);
	KUNIT_EXPECT_GE(test, div64_u64(1000 * ideal_ns, rested_ns), 970ULL);
}

/*
 * Rows that are far apart, each overwritten page by page, in turns. Rows are more than runs can be
 * open, so each page of a row is in another unit afterwards.
 */
static u32 spread_rows(struct ftl *ftl, u64 distance)
{
	u32 nr_rows = div64_u64(ftl_get_params(ftl)->nr_lpns - UNIT_PAGES, distance) + 1;

	for (u32 row = 0; row < nr_rows; row++)
		write_plain(ftl, row * distance, UNIT_PAGES);
	for (u32 page = 0; page < UNIT_PAGES; page++) {
		for (u32 row = 0; row < nr_rows; row++)
			write_over(ftl, row * distance + page, 1);
	}
	return nr_rows;
}

/*
 * Commands wait for what a drive at rest looks at in one go, so that must not grow with the drive
 * when what is to be mended lies far apart.
 */
static void a_rest_looks_at_few_pages_at_a_time(struct kunit *test)
{
	/* What one call looks at, and a few rows that it brings together */
	const u64 most_pages = 16384 + 4 * UNIT_PAGES;
	struct ftl_params params = drive_params(&aged);
	u64 now_ns = SECOND_NS, before = 0;
	struct ftl *ftl;
	u32 nr_rows;

	params.bg_mend = true;
	params.run_units = 4;
	params.hold_ns = 0;
	ftl = make_drive(test, &params);
	nr_rows = spread_rows(ftl, div64_u64(params.nr_lpns, 16));
	KUNIT_ASSERT_GT(test, ftl->units.nr_evicted, 0ULL);
	for (u32 nr_calls = 0; ftl_mend_wants(ftl); nr_calls++) {
		KUNIT_ASSERT_LT(test, nr_calls, 100U);
		now_ns += SECOND_NS;
		ftl_idle(ftl, now_ns);
		if (ftl->mend.next)
			KUNIT_EXPECT_LE(test, ftl->mend.next - before, most_pages);
		else
			KUNIT_EXPECT_LE(test, params.nr_lpns - before, most_pages);
		before = ftl->mend.next;
	}
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_GE(test, stats_of(ftl).rows_mended, nr_rows / 2);
}

/* Return: the time for two drives' worth of random pages on a drive in steady state. */
static u64 steady_write_ns(struct kunit *test, u32 bg_eblks)
{
	struct host host;
	u64 start_ns;

	begin_host(test, &host, bg_eblks);
	overwrite(&host, FTL_HINT_NONE, 1, 2);
	start_ns = host.now_ns;
	overwrite(&host, FTL_HINT_NONE, 1, 2);
	EXPECT_CONSISTENT(test, host.ftl);
	return host.now_ns - start_ns;
}

static void background_collection_costs_writes_little(struct kunit *test)
{
	u64 foreground_ns = steady_write_ns(test, 0);
	u64 background_ns = steady_write_ns(test, 3);

	kunit_info(test, "writes take %llu per mille of the time without it\n",
		   div64_u64(1000 * background_ns, foreground_ns));
	KUNIT_EXPECT_LE(test, div64_u64(1000 * background_ns, foreground_ns), 1200ULL);
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE(units_that_are_overwritten_keep_their_order),
	KUNIT_CASE(pages_that_are_overwritten_come_together_in_idle_time),
	KUNIT_CASE(a_rest_looks_at_few_pages_at_a_time),
	KUNIT_CASE(background_collection_costs_writes_little),
	{}
};

static struct kunit_suite order_suite = {
	.name = "nvmev_order",
	.test_cases = order_cases,
};

kunit_test_suite(order_suite);

MODULE_DESCRIPTION("Die order after a long time");
MODULE_LICENSE("GPL");
