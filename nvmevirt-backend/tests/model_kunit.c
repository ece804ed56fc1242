// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the drive is for: how fast a file reads after its pages were written in
 * adverse ways, as a share of reading it after one contiguous write.
 *
 * The workloads are those of the FAST'24 paper: an 8 MiB file in 256 pieces of 32 KiB, and
 * between the pieces writes of somebody else: of a stripe less a piece, which brings
 * every piece to the same die (worst), or of 1 to 32 pieces (random). Reads are of
 * 1 MiB, one at a time. Only the FTL's time counts here, not a host's.
 */
#include "drive_kunit.h"

#define PIECE_PAGES	8
#define NR_PIECES	256
#define FILE_PAGES	(NR_PIECES * PIECE_PAGES)
#define READ_PAGES	256
#define SEED		20240227

static const struct drive_shape fast24 = { "fast24", 4, 2, 8, 64, 32, 16, 70 };

enum disturbance {
	DISTURB_NEVER,
	DISTURB_WORST,
	DISTURB_RANDOM,
};

/**
 * struct bench - a drive with a file and somebody else's pages
 * @ftl: the drive
 * @now_ns: time of the next command
 * @next_other: lpn that the other one writes next; it wraps behind the file
 * @random: state of the generator
 */
struct bench {
	struct ftl *ftl;
	u64 now_ns;
	u64 next_other;
	u64 random;
};

static struct ftl_params fast24_params(void)
{
	struct ftl_params params = drive_params(&fast24);

	params.wbuf_pages = 1024;
	return params;
}

static void begin_bench(struct kunit *test, struct bench *bench, const struct ftl_params *params)
{
	bench->ftl = make_drive(test, params);
	bench->now_ns = 0;
	bench->next_other = FILE_PAGES;
	bench->random = SEED;
}

static void write_other(struct bench *bench, u32 nr_pages)
{
	struct ftl_request rq;

	if (bench->next_other + nr_pages > ftl_get_params(bench->ftl)->nr_lpns)
		bench->next_other = FILE_PAGES;
	rq = request(bench->next_other, nr_pages);
	bench->now_ns = ftl_write(bench->ftl, &rq, bench->now_ns);
	bench->next_other += nr_pages;
}

static void disturb(struct bench *bench, enum disturbance how)
{
	if (how == DISTURB_WORST)
		write_other(bench, 7 * PIECE_PAGES);
	if (how == DISTURB_RANDOM)
		write_other(bench, (1 + next_random32(&bench->random) % 32) * PIECE_PAGES);
}

static void write_file(struct bench *bench, enum ftl_hint hint, enum disturbance how)
{
	for (u32 piece = 0; piece < NR_PIECES; piece++) {
		struct ftl_request rq = request(piece * PIECE_PAGES, PIECE_PAGES);

		if (hint == FTL_HINT_OVERWRITE || (hint == FTL_HINT_APPEND && piece))
			rq.hint = hint;
		if (rq.hint == FTL_HINT_APPEND)
			rq.pred = to_lpn(piece * PIECE_PAGES - 1);
		bench->now_ns = ftl_write(bench->ftl, &rq, bench->now_ns);
		disturb(bench, how);
	}
}

/* Return: the time that reading the file takes when nothing else is going on. */
static u64 read_file(struct bench *bench)
{
	u64 start_ns = bench->now_ns + 1000000000;

	bench->now_ns = read_in_order(bench->ftl, FILE_PAGES, READ_PAGES, start_ns);
	return bench->now_ns - start_ns;
}

static u64 contiguous_ns(struct kunit *test, const struct ftl_params *params)
{
	struct bench bench;

	begin_bench(test, &bench, params);
	write_file(&bench, FTL_HINT_NONE, DISTURB_NEVER);
	return read_file(&bench);
}

/* Return: throughput after appends as a share of the contiguous file's. */
static u32 append_on(struct kunit *test, const struct ftl_params *params, enum ftl_hint hint,
		     enum disturbance how)
{
	struct bench bench;

	begin_bench(test, &bench, params);
	write_file(&bench, hint, how);
	EXPECT_CONSISTENT(test, bench.ftl);
	return div64_u64(contiguous_ns(test, params) * 1000, read_file(&bench));
}

static u32 overwrite_on(struct kunit *test, const struct ftl_params *params, enum ftl_hint hint,
			enum disturbance how)
{
	struct bench bench;

	begin_bench(test, &bench, params);
	write_file(&bench, FTL_HINT_NONE, DISTURB_NEVER);
	write_file(&bench, hint, how);
	EXPECT_CONSISTENT(test, bench.ftl);
	return div64_u64(contiguous_ns(test, params) * 1000, read_file(&bench));
}

static u32 append_permille(struct kunit *test, enum ftl_hint hint, enum disturbance how)
{
	struct ftl_params params = fast24_params();

	return append_on(test, &params, hint, how);
}

static u32 overwrite_permille(struct kunit *test, enum ftl_hint hint, enum disturbance how)
{
	struct ftl_params params = fast24_params();

	return overwrite_on(test, &params, hint, how);
}

/* What is left of a file's speed that was disturbed so, in both ways, is within bounds. */
static void expect_both(struct kunit *test, const struct ftl_params *params, enum disturbance how,
			u32 least, u32 most)
{
	u32 append = append_on(test, params, FTL_HINT_NONE, how);
	u32 overwrite = overwrite_on(test, params, FTL_HINT_NONE, how);

	kunit_info(test, "append %u, overwrite %u per mille\n", append, overwrite);
	KUNIT_EXPECT_GE(test, append, least);
	KUNIT_EXPECT_LE(test, append, most);
	KUNIT_EXPECT_GE(test, overwrite, least);
	KUNIT_EXPECT_LE(test, overwrite, most);
}

static void file_on_one_die_reads_at_a_sixth(struct kunit *test)
{
	struct ftl_params params = fast24_params();

	expect_both(test, &params, DISTURB_WORST, 160, 200);
}

static void scattered_file_reads_at_two_thirds(struct kunit *test)
{
	struct ftl_params params = fast24_params();

	expect_both(test, &params, DISTURB_RANDOM, 550, 750);
}

static void hints_keep_appended_file_fast(struct kunit *test)
{
	u32 worst = append_permille(test, FTL_HINT_APPEND, DISTURB_WORST);
	u32 random = append_permille(test, FTL_HINT_APPEND, DISTURB_RANDOM);

	kunit_info(test, "append worst %u, random %u per mille\n", worst, random);
	KUNIT_EXPECT_GE(test, worst, 990);
	KUNIT_EXPECT_GE(test, random, 990);
}

static void hints_keep_overwritten_file_fast(struct kunit *test)
{
	u32 worst = overwrite_permille(test, FTL_HINT_OVERWRITE, DISTURB_WORST);
	u32 random = overwrite_permille(test, FTL_HINT_OVERWRITE, DISTURB_RANDOM);

	kunit_info(test, "overwrite worst %u, random %u per mille\n", worst, random);
	KUNIT_EXPECT_GE(test, worst, 990);
	KUNIT_EXPECT_GE(test, random, 990);
}

/*
 * A die gives a unit each 40,960 ns, the time of its channel, instead of 76,960 in the mean. So one
 * die gives 1 MiB in 4 + 36 + 32 * 41 + 10 us and all of them in less than 400: more than a quarter
 * and less than a third.
 */
static void cached_reads_help_a_file_on_one_die(struct kunit *test)
{
	struct ftl_params params = fast24_params();

	params.cache_read = true;
	expect_both(test, &params, DISTURB_WORST, 270, 310);
}

/*
 * Hints keep a file fast on drives that read otherwise, too. All pages are of one kind here: which
 * kind a page gets depends on what else was written to its die, and costs up to 1.5 percent.
 */
static void hints_keep_files_fast_on_other_drives(struct kunit *test)
{
	for (u32 drive = 0; drive < 4; drive++) {
		struct ftl_params params = fast24_params();

		params.cache_read = drive & 1;
		params.register_hits = drive & 2;
		params.nr_page_kinds = 1;
		params.read_ns[0] = 36000;
		KUNIT_EXPECT_GE(test, append_on(test, &params, FTL_HINT_APPEND, DISTURB_WORST),
				990);
		KUNIT_EXPECT_GE(test, append_on(test, &params, FTL_HINT_APPEND, DISTURB_RANDOM),
				990);
		KUNIT_EXPECT_GE(test, overwrite_on(test, &params, FTL_HINT_OVERWRITE,
						   DISTURB_WORST), 990);
		KUNIT_EXPECT_GE(test, overwrite_on(test, &params, FTL_HINT_OVERWRITE,
						   DISTURB_RANDOM), 990);
	}
}

/* 32 units over 8 dies of 4 channels: what the numbers of the FAST'24 paper must give. */
static void contiguous_read_takes_the_time_of_its_dies(struct kunit *test)
{
	struct ftl_params params = fast24_params();
	struct ftl_request rq = request(0, READ_PAGES);
	struct bench bench;
	u64 took_ns;

	begin_bench(test, &bench, &params);
	write_file(&bench, FTL_HINT_NONE, DISTURB_NEVER);
	bench.now_ns += 1000000000;
	took_ns = ftl_read(bench.ftl, &rq, bench.now_ns) - bench.now_ns;
	kunit_info(test, "1 MiB takes %llu ns\n", took_ns);
	/* Each channel moves 8 units of 41 us; the first ones are sensed before that. */
	KUNIT_EXPECT_GE(test, took_ns, 8 * 40960 + 30000);
	KUNIT_EXPECT_LE(test, took_ns, 460000);
}

static u64 count_senses(const struct ftl *ftl)
{
	u64 nr = 0;

	for (u32 die = 0; die < ftl_nr_dies(ftl); die++)
		nr += ftl->nand.die[die].units_read;
	return nr;
}

/* However small the reads, a flash unit is sensed once while nothing else uses its die. */
static void small_reads_in_order_sense_each_unit_once(struct kunit *test)
{
	struct ftl_params params = fast24_params();
	struct bench bench;
	u64 start_ns;

	begin_bench(test, &bench, &params);
	write_file(&bench, FTL_HINT_NONE, DISTURB_NEVER);
	bench.now_ns += 1000000000;
	start_ns = bench.now_ns;
	for (u64 lpn = 0; lpn < FILE_PAGES; lpn++) {
		struct ftl_request rq = request(lpn, 1);

		bench.now_ns = ftl_read(bench.ftl, &rq, bench.now_ns);
	}
	KUNIT_EXPECT_EQ(test, count_senses(bench.ftl), (u64)NR_PIECES);
	/* Each piece: a sense of 36 us in the mean, and eight times command, channel and link. */
	KUNIT_EXPECT_LE(test, bench.now_ns - start_ns, NR_PIECES * 97000ULL);
	KUNIT_EXPECT_GE(test, bench.now_ns - start_ns, NR_PIECES * 90000ULL);
}

/* The drive is empty: without the limit, reads that are asked at once end at once. */
static void limited_firmware_starts_commands_one_after_the_other(struct kunit *test)
{
	struct ftl_params params = fast24_params();
	struct ftl_request rq = request(0, 1);
	struct ftl *ftl;
	u64 first_ns;

	params.time_scale = 3;
	params.cmd_gap_ns = 10000;
	rq.bytes = 0;
	ftl = make_drive(test, &params);
	first_ns = ftl_read(ftl, &rq, 1000);
	KUNIT_EXPECT_EQ(test, first_ns, 1000 + 3ULL * params.cmd_ns);
	for (u32 nr = 1; nr < 32; nr++)
		KUNIT_EXPECT_EQ(test, ftl_read(ftl, &rq, 1000), first_ns + nr * 30000ULL);
	KUNIT_EXPECT_EQ(test, ftl_read(ftl, &rq, 5000000), 5000000 + 3ULL * params.cmd_ns);
}

static struct kunit_case model_cases[] = {
	KUNIT_CASE(file_on_one_die_reads_at_a_sixth),
	KUNIT_CASE(scattered_file_reads_at_two_thirds),
	KUNIT_CASE(hints_keep_appended_file_fast),
	KUNIT_CASE(hints_keep_overwritten_file_fast),
	KUNIT_CASE(cached_reads_help_a_file_on_one_die),
	KUNIT_CASE(hints_keep_files_fast_on_other_drives),
	KUNIT_CASE(contiguous_read_takes_the_time_of_its_dies),
	KUNIT_CASE(small_reads_in_order_sense_each_unit_once),
	KUNIT_CASE(limited_firmware_starts_commands_one_after_the_other),
	{}
};

static struct kunit_suite model_suite = {
	.name = "nvmev_model",
	.test_cases = model_cases,
};

kunit_test_suite(model_suite);

MODULE_DESCRIPTION("Read speed of files after adverse writes, at FTL level");
MODULE_LICENSE("GPL");
