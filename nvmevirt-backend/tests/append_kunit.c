// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that grow by a few pages at a time, each time with a flush, on a drive without
 * power-loss protection: what that costs, and what is left to read afterwards.
 *
 * Files take turns. Their pages lie at consecutive lpns (the filesystem has preallocated
 * them), or wherever the last file left off. A file is read with commands of 1 MiB, one at
 * a time, or one for each append where lpns are not consecutive; ideal is a file of the
 * same lpns that was written alone, without flushes.
 */
#include "drive_kunit.h"

#define UNIT_PAGES	8
#define FILE_PAGES	128
#define SECOND_NS	1000000000ULL

static const struct drive_shape volatile_drive = { "volatile", 4, 2, UNIT_PAGES, 16, 128, 64, 80 };

/**
 * struct growth - files that grow
 * @nr_files: as many
 * @nr_pages: pages of an append
 * @apart: consecutive appends of a file are not at consecutive lpns
 */
struct growth {
	u32 nr_files;
	u32 nr_pages;
	bool apart;
};

/**
 * struct outcome - what came of it
 * @waf_permille: pages programmed for a page written
 * @padded_permille: pages of padding for a page written
 * @speed_permille: the slowest file's speed, of ideal
 * @nr_units: flash units that hold the worst file, of which FILE_PAGES / UNIT_PAGES are needed
 */
struct outcome {
	u64 waf_permille;
	u64 padded_permille;
	u64 speed_permille;
	u32 nr_units;
};

static struct ftl *make_volatile(struct kunit *test, bool oob)
{
	struct ftl_params params = drive_params(&volatile_drive);

	params.wbuf_pages = 2048;
	params.nr_page_kinds = 1;
	params.read_ns[0] = 36000;
	params.plp = false;
	params.oob = oob;
	params.nr_lpns = ftl_params_capacity(&params);
	return make_drive(test, &params);
}

static u64 lpn_of(const struct growth *growth, u32 file, u32 page)
{
	u32 append = page / growth->nr_pages;

	if (!growth->apart)
		return (u64)file * FILE_PAGES + page;
	return ((u64)append * growth->nr_files + file) * growth->nr_pages +
		page % growth->nr_pages;
}

static u64 append(struct ftl *ftl, const struct growth *growth, u32 file, u32 page, u64 now_ns)
{
	struct ftl_request rq = request(lpn_of(growth, file, page), growth->nr_pages);

	rq.hint = page ? FTL_HINT_APPEND : FTL_HINT_BEGIN;
	if (page)
		rq.pred = to_lpn(lpn_of(growth, file, page - 1));
	return ftl_write(ftl, &rq, now_ns);
}

static u64 grow(struct ftl *ftl, const struct growth *growth)
{
	u64 now_ns = 0;

	for (u32 page = 0; page < FILE_PAGES; page += growth->nr_pages) {
		for (u32 file = 0; file < growth->nr_files; file++) {
			now_ns = append(ftl, growth, file, page, now_ns);
			now_ns = ftl_flush(ftl, now_ns);
		}
	}
	return now_ns;
}

static u64 read_file(struct ftl *ftl, const struct growth *growth, u32 file, u64 *now_ns)
{
	u32 step = growth->apart ? growth->nr_pages : FILE_PAGES;
	u64 start_ns = *now_ns, done_ns = start_ns;

	/* As a filesystem does that reads ahead: all pieces at once. */
	for (u32 page = 0; page < FILE_PAGES; page += step) {
		struct ftl_request rq = request(lpn_of(growth, file, page), step);

		done_ns = max(done_ns, ftl_read(ftl, &rq, start_ns));
	}
	*now_ns = done_ns;
	return done_ns - start_ns;
}

static u64 ideal_ns(struct kunit *test, const struct growth *growth)
{
	struct ftl *ftl = make_volatile(test, false);
	u64 now_ns = 0;

	for (u32 page = 0; page < FILE_PAGES; page += growth->nr_pages)
		now_ns = append(ftl, growth, 0, page, now_ns);
	now_ns += SECOND_NS;
	return read_file(ftl, growth, 0, &now_ns);
}

static u32 count_units(const struct ftl *ftl, const struct growth *growth, u32 file)
{
	u64 seen[FILE_PAGES];
	u32 nr = 0;

	for (u32 page = 0; page < FILE_PAGES; page++) {
		u64 unit = unit_of(ftl, lpn_of(growth, file, page));
		u32 i = 0;

		while (i < nr && seen[i] != unit)
			i++;
		if (i == nr)
			seen[nr++] = unit;
	}
	return nr;
}

static struct outcome try_growth(struct kunit *test, const struct growth *growth, bool oob)
{
	struct ftl *ftl = make_volatile(test, oob);
	u64 ideal = ideal_ns(test, growth);
	u64 now_ns = grow(ftl, growth) + SECOND_NS;
	struct ftl_stats stats = stats_of(ftl);
	struct outcome outcome = {
		.waf_permille = div64_u64(1000 * stats.nand_pages_programmed,
					  stats.host_pages_written),
		.padded_permille = div64_u64(1000 * stats.pages_padded, stats.host_pages_written),
		.speed_permille = U64_MAX,
	};

	EXPECT_CONSISTENT(test, ftl);
	for (u32 file = 0; file < growth->nr_files; file++) {
		u64 ns = read_file(ftl, growth, file, &now_ns);

		outcome.speed_permille = min(outcome.speed_permille, div64_u64(1000 * ideal, ns));
		outcome.nr_units = max(outcome.nr_units, count_units(ftl, growth, file));
	}
	kunit_info(test, "%3u files, %2u KiB%s: waf %llu, padded %llu, speed %llu, units %u\n",
		   growth->nr_files, 4 * growth->nr_pages, growth->apart ? " apart" : "",
		   outcome.waf_permille, outcome.padded_permille, outcome.speed_permille,
		   outcome.nr_units);
	return outcome;
}

/* Each file has its open unit: its flash units are whole. */
static void expect_whole(struct kunit *test, struct growth growth, bool oob)
{
	struct outcome outcome = try_growth(test, &growth, oob);

	KUNIT_EXPECT_GE(test, outcome.speed_permille, 970ULL);
	KUNIT_EXPECT_EQ(test, outcome.nr_units, (u32)FILE_PAGES / UNIT_PAGES);
	/* A program for each flush, and none besides. */
	KUNIT_EXPECT_LE(test, outcome.waf_permille, 1000ULL * UNIT_PAGES / growth.nr_pages);
}

static void flushed_appends_fill_units(struct kunit *test)
{
	static const u32 nr_files[] = { 1, 16, 60 };

	for (u32 i = 0; i < ARRAY_SIZE(nr_files); i++) {
		for (u32 nr_pages = 1; nr_pages <= 4; nr_pages *= 2) {
			for (u32 apart = 0; apart < 2; apart++)
				expect_whole(test, (struct growth){ nr_files[i], nr_pages, apart },
					     false);
		}
	}
}

static void drive_that_survives_power_failures_does_no_worse(struct kunit *test)
{
	expect_whole(test, (struct growth){ 60, 1, false }, true);
	expect_whole(test, (struct growth){ 60, 2, true }, true);
}

/* An append has a flash unit to itself then, and they go round the dies. */
static void more_files_than_open_units_are_torn_evenly(struct kunit *test)
{
	static const struct growth growths[] = { { 128, 1 }, { 128, 2 }, { 128, 4 }, { 512, 4 } };
	static const u64 least_permille[] = { 350, 590, 880, 880 };

	for (u32 i = 0; i < ARRAY_SIZE(growths); i++) {
		struct outcome outcome = try_growth(test, &growths[i], false);
		u32 nr_programs = UNIT_PAGES / growths[i].nr_pages;

		KUNIT_EXPECT_GE(test, outcome.speed_permille, least_permille[i]);
		KUNIT_EXPECT_LE(test, outcome.nr_units, (u32)FILE_PAGES / growths[i].nr_pages);
		/* A program for each flush, a whole unit of such appends, and some units twice. */
		KUNIT_EXPECT_LE(test, outcome.waf_permille, 1000ULL * (nr_programs + 2));
	}
}

static struct kunit_case append_cases[] = {
	KUNIT_CASE(flushed_appends_fill_units),
	KUNIT_CASE(drive_that_survives_power_failures_does_no_worse),
	KUNIT_CASE(more_files_than_open_units_are_torn_evenly),
	{}
};

static struct kunit_suite append_suite = {
	.name = "nvmev_append",
	.test_cases = append_cases,
};

kunit_test_suite(append_suite);

MODULE_DESCRIPTION("Small appends with flushes");
MODULE_LICENSE("GPL");
