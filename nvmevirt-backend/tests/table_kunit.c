// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of what is mapped, which takes the place of the records of trims: that no call does
 * much towards it, however large the drive is, and that a power failure at any moment while it is
 * made brings nothing back that was trimmed, and takes nothing that was durable.
 */
#include "drive_kunit.h"

/* Pages beside the borders of regions, which are written and trimmed again and again */
#define BORDER_PAGES	12
#define STEP_NS		50000

/* What a call looks at: regions of its pages, two at most, and its step, with a region begun. */
#define MOST_LOOKS	(2 * FTL_REGION_PAGES + FTL_TABLE_STEP + FTL_REGION_PAGES)

static struct ftl *make_table_drive(struct kunit *test, bool plp, u32 eblks_per_die)
{
	const struct drive_shape shape = { "regions", 2, 2, 8, 32, eblks_per_die, 4, 70 };
	struct ftl_params params = drive_params(&shape);

	params.plp = plp;
	params.oob = true;
	params.nr_lpns = ftl_params_capacity(&params);
	return make_drive(test, &params);
}

/* Does what the dispatcher does before it trims. Return: steps that it took. */
static u32 wait_for_room(struct kunit *test, struct ftl *ftl)
{
	u32 nr_steps = 0;

	while (!ftl_trim_has_room(ftl, 1)) {
		u64 nr_looks = ftl->oob.nr_table_looks;

		ftl_trim_step(ftl, FTL_TABLE_STEP, 0);
		KUNIT_ASSERT_LE(test, ftl->oob.nr_table_looks - nr_looks, (u64)MOST_LOOKS);
		nr_steps++;
	}
	return nr_steps;
}

static void no_call_looks_at_all_of_a_large_drive(struct kunit *test)
{
	struct ftl *ftl = make_table_drive(test, true, 1000);
	u64 nr_lpns = ftl->params.nr_lpns;
	u32 nr_steps = 0;

	/* More regions than trims have their turn while there is room for records. */
	KUNIT_ASSERT_GT(test, ftl_nr_regions(nr_lpns), (u64)(FTL_OOB_TRIMS - FTL_TABLE_BEGIN));
	for (u64 lpn = 0; lpn + 8 <= nr_lpns; lpn += 64)
		write_plain(ftl, lpn, 8);
	for (u32 i = 0; i < 2 * FTL_OOB_TRIMS; i++) {
		u64 nr_looks;

		nr_steps += wait_for_room(test, ftl);
		nr_looks = ftl->oob.nr_table_looks;
		trim(ftl, (u64)i * 4099 % nr_lpns, 1);
		write_plain(ftl, (u64)i * 5003 % nr_lpns, 1);
		KUNIT_ASSERT_LE(test, ftl->oob.nr_table_looks - nr_looks, (u64)MOST_LOOKS);
	}
	KUNIT_EXPECT_GT(test, nr_steps, 0U);
	KUNIT_EXPECT_NE(test, ftl->oob.head->table_seq, 0ULL);
	KUNIT_EXPECT_GT(test, ftl->oob.nr_table_looks, nr_lpns);
	EXPECT_CONSISTENT(test, ftl);
}

/* What is full or empty is not looked at page by page, and what is as it was not at all. */
static void full_and_empty_regions_take_little(struct kunit *test)
{
	struct ftl *ftl = make_table_drive(test, true, 100);
	u64 nr_regions = ftl_nr_regions(ftl->params.nr_lpns);
	u64 nr_looks;

	for (u64 lpn = 0; lpn < nr_regions / 2 * FTL_REGION_PAGES; lpn += 8)
		write_plain(ftl, lpn, 8);
	for (u32 i = 0; i < FTL_TABLE_BEGIN; i++)
		trim(ftl, ftl->params.nr_lpns - 1 - i % 2 * 2, 1);
	while (ftl_trim_step(ftl, FTL_TABLE_STEP, 0))
		;
	KUNIT_EXPECT_LE(test, ftl->oob.nr_table_looks,
			nr_regions * FTL_REGION_PAGES / FTL_TABLE_WORD_BITS);
	EXPECT_CONSISTENT(test, ftl);
	nr_looks = ftl->oob.nr_table_looks;
	for (u32 i = 0; i < FTL_TABLE_BEGIN; i++)
		trim(ftl, ftl->params.nr_lpns - 1 - i % 2 * 2, 1);
	while (ftl_trim_step(ftl, FTL_TABLE_STEP, 0))
		;
	KUNIT_EXPECT_EQ(test, ftl->oob.nr_table_looks - nr_looks, nr_regions);
}

/**
 * struct past - what is known of a page
 * @trimmed: number below which its data is gone
 * @durable: number of data that is durable
 */
struct past {
	u64 trimmed;
	u64 durable;
};

/**
 * struct bench - a drive and its past
 * @test: the case
 * @ftl: the drive
 * @page: by lpn
 * @random: state of the workload
 * @now_ns: time of the present command
 */
struct bench {
	struct kunit *test;
	struct ftl *ftl;
	struct past *page;
	u64 random;
	u64 now_ns;
};

static u64 any_page(struct bench *bench)
{
	u64 nr_borders = ftl_nr_regions(bench->ftl->params.nr_lpns) - 1;
	u64 border = (next_random32(&bench->random) % nr_borders + 1) * FTL_REGION_PAGES;

	return border - BORDER_PAGES / 2 + next_random32(&bench->random) % BORDER_PAGES;
}

static void do_write(struct bench *bench, u64 lpn, u32 nr_pages)
{
	struct ftl_request rq = request(lpn, nr_pages);

	rq.fua = next_random32(&bench->random) % 8 == 0;
	bench->now_ns = max(bench->now_ns, ftl_write(bench->ftl, &rq, bench->now_ns));
	for (u64 at = lpn; (rq.fua || bench->ftl->params.plp) && at < lpn + nr_pages; at++)
		bench->page[at].durable = ftl_seq_of(bench->ftl, to_lpn(at));
}

static void do_trim(struct bench *bench, u64 lpn, u32 nr_pages)
{
	struct ftl *ftl = bench->ftl;

	ftl_trim(ftl, to_lpn(lpn), nr_pages, bench->now_ns);
	for (u64 at = lpn; at < lpn + nr_pages; at++)
		bench->page[at].trimmed = ftl_last_seq(ftl);
}

static void do_flush(struct bench *bench)
{
	struct ftl *ftl = bench->ftl;

	bench->now_ns = ftl_flush(ftl, bench->now_ns);
	for (u64 lpn = 0; lpn < ftl->params.nr_lpns; lpn++)
		bench->page[lpn].durable = ftl_seq_of(ftl, to_lpn(lpn));
}

static void do_any(struct bench *bench)
{
	u64 lpn = any_page(bench);
	u32 nr_pages = next_random32(&bench->random) % 3 + 1;

	bench->now_ns += STEP_NS;
	switch (next_random32(&bench->random) % 64) {
	case 0:
		do_flush(bench);
		break;
	case 1 ... 16:
		do_trim(bench, lpn, nr_pages);
		break;
	default:
		do_write(bench, lpn, nr_pages);
	}
}

/* The power fails: what was durable is there, or newer, and nothing that was trimmed. */
static void cut_and_look(struct bench *bench)
{
	struct ftl *ftl = bench->ftl;

	cut_power(bench->test, ftl, bench->now_ns);
	for (u64 lpn = 0; lpn < ftl->params.nr_lpns; lpn++) {
		u64 seq = ftl_seq_of(ftl, to_lpn(lpn));
		struct past *page = &bench->page[lpn];

		if (page->durable > page->trimmed)
			KUNIT_ASSERT_GE(bench->test, seq, page->durable);
		if (seq)
			KUNIT_ASSERT_GT(bench->test, seq, page->trimmed);
		page->durable = seq;
	}
}

/**
 * struct snapshot - a drive and its past, to go back to
 * @bench: all but what it points to
 * @ftl: memory of the drive
 * @page: by lpn
 */
struct snapshot {
	struct bench bench;
	void *ftl;
	struct past *page;
};

static void take_snapshot(const struct bench *bench, struct snapshot *snapshot)
{
	const struct ftl_params *params = &bench->ftl->params;
	size_t bytes = ftl_bytes(params);

	snapshot->bench = *bench;
	snapshot->ftl = kunit_kzalloc(bench->test, bytes, GFP_KERNEL);
	snapshot->page = kunit_kcalloc(bench->test, params->nr_lpns, sizeof(*snapshot->page),
				       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(bench->test, snapshot->ftl);
	KUNIT_ASSERT_NOT_NULL(bench->test, snapshot->page);
	memcpy(snapshot->ftl, bench->ftl, bytes);
	memcpy(snapshot->page, bench->page, params->nr_lpns * sizeof(*snapshot->page));
}

static void go_back(struct bench *bench, const struct snapshot *snapshot)
{
	const struct ftl_params params = bench->ftl->params;

	*bench = snapshot->bench;
	memcpy(bench->ftl, snapshot->ftl, ftl_bytes(&params));
	memcpy(bench->page, snapshot->page, params.nr_lpns * sizeof(*snapshot->page));
}

/* Some commands of a drive that has a table and begins to make another one. */
static void begin_bench(struct kunit *test, bool plp, struct bench *bench)
{
	*bench = (struct bench){ .test = test, .random = 1 };
	bench->ftl = make_table_drive(test, plp, 40);
	bench->page = kunit_kcalloc(test, bench->ftl->params.nr_lpns, sizeof(*bench->page),
				    GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bench->page);
	KUNIT_ASSERT_GT(test, ftl_nr_regions(bench->ftl->params.nr_lpns), 5ULL);
	while (!bench->ftl->oob.head->table_seq)
		do_any(bench);
	while (!ftl_table_is_due(&bench->ftl->oob) &&
	       bench->ftl->oob.head->nr_trims < FTL_TABLE_BEGIN - 1)
		do_any(bench);
}

/* After each command from before the table is begun until after it is whole. */
static void try_all_cuts(struct kunit *test, bool plp)
{
	struct snapshot snapshot;
	struct bench bench;
	u32 nr_amid = 0, nr_after = 0;

	begin_bench(test, plp, &bench);
	KUNIT_ASSERT_FALSE(test, ftl_table_is_due(&bench.ftl->oob));
	take_snapshot(&bench, &snapshot);
	for (u32 nr = 0; nr_after < 10; nr++) {
		u64 table_seq;

		go_back(&bench, &snapshot);
		table_seq = bench.ftl->oob.head->table_seq;
		for (u32 i = 0; i < nr; i++)
			do_any(&bench);
		nr_amid += ftl_table_is_due(&bench.ftl->oob);
		nr_after += bench.ftl->oob.head->table_seq != table_seq;
		cut_and_look(&bench);
		/* The next table begins from what this failure has left of two. */
		for (u32 i = 0; i < 100; i++)
			do_any(&bench);
		while (ftl_trim_step(bench.ftl, 1, bench.now_ns))
			do_any(&bench);
		cut_and_look(&bench);
	}
	KUNIT_EXPECT_GT(test, nr_amid, 20U);
	kunit_info(test, "%u failures while the table was made\n", nr_amid);
}

static void power_fails_at_any_step(struct kunit *test)
{
	try_all_cuts(test, false);
}

static void power_fails_at_any_step_with_protection(struct kunit *test)
{
	try_all_cuts(test, true);
}

/* As many trims as begin a table, which has come to no region then that has data. */
static void begin_table(struct kunit *test, struct ftl *ftl, u64 now_ns)
{
	while (!ftl_table_is_due(&ftl->oob))
		ftl_trim(ftl, to_lpn(ftl->oob.head->nr_trims % 2 * 2), 1, now_ns);
	KUNIT_ASSERT_LE(test, ftl->oob.table_at, 1ULL);
}

/*
 * A page in each region was trimmed and has old data on NAND. One is written again after @nr_before
 * steps, in the buffer, and @nr_after steps later the power fails.
 */
static bool buffered_write_is_lost(struct kunit *test, u64 region, u32 nr_before, u32 nr_after)
{
	struct ftl *ftl = make_table_drive(test, false, 40);
	u64 nr_regions = ftl_nr_regions(ftl->params.nr_lpns);
	u64 lpn = region * FTL_REGION_PAGES + 5;
	struct ftl_request rq = request(lpn, 1);
	bool is_over = false;
	u64 now_ns;

	for (u64 at = 0; at < nr_regions; at++)
		write_plain(ftl, at * FTL_REGION_PAGES + 4, 4);
	now_ns = ftl_flush(ftl, 0);
	for (u64 at = 0; at < nr_regions; at++)
		ftl_trim(ftl, to_lpn(at * FTL_REGION_PAGES + 5), 1, now_ns);
	begin_table(test, ftl, now_ns);
	for (u32 i = 0; i < nr_before; i++)
		ftl_trim_step(ftl, 1, now_ns);
	now_ns = ftl_write(ftl, &rq, now_ns);
	for (u32 i = 0; i < nr_after; i++)
		is_over = !ftl_trim_step(ftl, 1, now_ns);
	cut_power(test, ftl, now_ns);
	for (u64 at = 0; at < nr_regions; at++)
		KUNIT_EXPECT_FALSE_MSG(test, ftl_is_mapped(ftl, to_lpn(at * FTL_REGION_PAGES + 5)),
				       "region %llu of write to %llu, %u and %u steps", at, region,
				       nr_before, nr_after);
	return is_over;
}

static void what_was_trimmed_before_the_table_stays_so(struct kunit *test)
{
	u32 nr_over = 0;

	for (u64 region = 0; region < 4; region++) {
		for (u32 nr = 0; nr < 7 * 7; nr++)
			nr_over += buffered_write_is_lost(test, region, nr / 7, nr % 7);
	}
	KUNIT_EXPECT_GT(test, nr_over, 0U);
}

/* A trim that goes on where the last one ended before the table was begun is a trim of its own. */
static void trim_across_the_begin_stays(struct kunit *test)
{
	struct ftl *ftl = make_table_drive(test, true, 40);
	u64 nr_lpns = ftl->params.nr_lpns;

	for (u64 lpn = 0; lpn < nr_lpns / 2; lpn += 8)
		write_plain(ftl, lpn, 8);
	for (u32 i = 0; i < FTL_TABLE_BEGIN - 1; i++)
		trim(ftl, nr_lpns - 1 - i % 2 * 2, 1);
	trim(ftl, FTL_REGION_PAGES * 3, 1);
	KUNIT_ASSERT_TRUE(test, ftl_table_is_due(&ftl->oob));
	trim(ftl, FTL_REGION_PAGES * 3 + 1, 7);
	while (ftl_trim_step(ftl, FTL_TABLE_STEP, 0))
		;
	cut_power(test, ftl, 0);
	for (u64 lpn = 0; lpn < nr_lpns / 2; lpn++)
		KUNIT_ASSERT_EQ(test, ftl_is_mapped(ftl, to_lpn(lpn)),
				lpn < FTL_REGION_PAGES * 3 || lpn >= FTL_REGION_PAGES * 3 + 8);
}

static struct kunit_case table_test_cases[] = {
	KUNIT_CASE(no_call_looks_at_all_of_a_large_drive),
	KUNIT_CASE(full_and_empty_regions_take_little),
	KUNIT_CASE(power_fails_at_any_step),
	KUNIT_CASE(power_fails_at_any_step_with_protection),
	KUNIT_CASE(what_was_trimmed_before_the_table_stays_so),
	KUNIT_CASE(trim_across_the_begin_stays),
	{}
};

static struct kunit_suite table_suite = {
	.name = "nvmev_table",
	.test_cases = table_test_cases,
};

kunit_test_suite(table_suite);

MODULE_DESCRIPTION("The table of what is mapped");
MODULE_LICENSE("GPL");
