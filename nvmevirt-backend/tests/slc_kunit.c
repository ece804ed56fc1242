// SPDX-License-Identifier: GPL-2.0-only
/*
 * The SLC region. Times and numbers of pages are worked out by hand from the sizes and latencies
 * below.
 */
#include "../core/rebuild.h"
#include "drive_kunit.h"

#define UNIT_PAGES	8U
#define NR_DIES		8U
/* A block has 16 units of three bits a cell, so 5 of one bit; a die has two such blocks. */
#define SLC_UNITS	5U
#define SLC_EBLKS	2U
#define SLC_PAGES	(SLC_UNITS * UNIT_PAGES)

#define COMMAND_NS	1000ULL
/* A page at 800 MB/s and at 3200 MB/s */
#define CHANNEL_NS	5120ULL
#define LINK_NS		1280ULL
#define PROGRAM_NS	185000ULL
#define READ_NS		36000ULL
#define ERASE_NS	3000000ULL
#define SLC_PROGRAM_NS	75000ULL
#define SLC_READ_NS	20000ULL

/* 4 channels with 2 dies each, units of 8 pages */
static const struct drive_shape *const shape = &drive_shapes[5];

static struct ftl_params slc_params(void)
{
	struct ftl_params params = drive_params(shape);

	params.nr_page_kinds = 1;
	params.read_ns[0] = READ_NS;
	params.register_hits = false;
	add_slc(&params, SLC_EBLKS, 3);
	return params;
}

static struct ftl *make_slc_drive(struct kunit *test)
{
	struct ftl_params params = slc_params();

	return make_drive(test, &params);
}

static bool is_slc(const struct ftl *ftl, u64 lpn)
{
	return ftl_flash_unit_is_slc(&ftl->geo, unit_of(ftl, lpn));
}

/* Return: the time from which the drive is at rest. */
static u64 rest_ns(const struct ftl *ftl)
{
	return ftl->command_ns + FTL_REST_NS;
}

/* Rests for long: all that is full is folded. */
static void rest(struct ftl *ftl)
{
	while (ftl_idle(ftl, ftl->now_ns + 1000 * (u64)FTL_REST_NS))
		;
}

/* Fills units of a die, one after the other, with pages from @first on. */
static void fill_units(struct ftl *ftl, u64 first, u32 nr_units, u32 die)
{
	for (u32 i = 0; i < nr_units; i++)
		write_all_to_die(ftl, first + i * UNIT_PAGES, UNIT_PAGES, die);
}

static void region_comes_on_top(struct kunit *test)
{
	struct ftl_params without = drive_params(shape);
	struct ftl_params params = slc_params();
	struct ftl *ftl = make_drive(test, &params);

	KUNIT_EXPECT_EQ(test, ftl_params_capacity(&params), ftl_params_capacity(&without));
	KUNIT_EXPECT_EQ(test, ftl->geo.die_eblks, without.eblks_per_die + SLC_EBLKS);
	KUNIT_EXPECT_EQ(test, ftl->geo.slc_units, SLC_UNITS);
	KUNIT_EXPECT_EQ(test, params.slc_pages, NR_DIES * SLC_EBLKS * SLC_PAGES);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_free, (u64)params.slc_pages);
	/* One page more takes a block more of each die; of four bits a cell one has four units. */
	params.slc_pages++;
	KUNIT_EXPECT_EQ(test, ftl_geometry_slc_eblks(&params), SLC_EBLKS + 1ULL);
	params.slc_pages--;
	params.cell_bits = 4;
	KUNIT_EXPECT_EQ(test, ftl_geometry_slc_eblks(&params), 3ULL);
	params.cell_bits = 2;
	KUNIT_EXPECT_EQ(test, ftl_geometry_slc_eblks(&params), 2ULL);
}

static void burst_is_fast_until_the_region_is_full(struct kunit *test)
{
	struct ftl *ftl = make_slc_drive(test);
	const u64 *busy_ns = &ftl->nand.die[3].busy_until_ns;
	u32 nr_slc = SLC_EBLKS * SLC_UNITS;
	u64 before_ns;

	fill_units(ftl, 0, 1, 3);
	for (u32 i = 1; i < nr_slc + 4; i++) {
		before_ns = *busy_ns;
		fill_units(ftl, i * UNIT_PAGES, 1, 3);
		KUNIT_EXPECT_EQ(test, *busy_ns - before_ns, UNIT_PAGES * CHANNEL_NS +
				(i < nr_slc ? SLC_PROGRAM_NS : PROGRAM_NS));
		KUNIT_EXPECT_EQ(test, is_slc(ftl, i * UNIT_PAGES), i < nr_slc);
		KUNIT_EXPECT_EQ(test, die_of(ftl, i * UNIT_PAGES), 3U);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_programs, (u64)nr_slc);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_free, 7ULL * SLC_EBLKS * SLC_PAGES);
	/* All others have theirs still. */
	fill_units(ftl, 1000, 1, 4);
	KUNIT_EXPECT_TRUE(test, is_slc(ftl, 1000));
	EXPECT_CONSISTENT(test, ftl);
}

static u64 read_page(struct ftl *ftl, u64 lpn, u64 now_ns)
{
	struct ftl_request rq = request(lpn, 1);

	return ftl_read(ftl, &rq, now_ns) - now_ns;
}

static void reads_take_the_time_of_the_region(struct kunit *test)
{
	const u64 around_ns = COMMAND_NS + CHANNEL_NS + LINK_NS;
	struct ftl *ftl = make_slc_drive(test);

	fill_units(ftl, 0, SLC_UNITS, 0);
	KUNIT_EXPECT_EQ(test, read_page(ftl, 9, FTL_REST_NS / 2), around_ns + SLC_READ_NS);
	rest(ftl);
	KUNIT_EXPECT_FALSE(test, is_slc(ftl, 9));
	KUNIT_EXPECT_EQ(test, read_page(ftl, 9, ftl->now_ns + FTL_REST_NS), around_ns + READ_NS);
}

/* Each unit is sensed in the region and programmed elsewhere, then the block is erased. */
static void rest_folds_full_blocks(struct kunit *test)
{
	struct ftl *ftl = make_slc_drive(test);
	const struct ftl_nand_die *die = &ftl->nand.die[5];
	u64 busy_ns, gc_ns;

	fill_units(ftl, 0, SLC_UNITS + 2, 5);
	busy_ns = die->busy_ns;
	gc_ns = die->gc_ns;
	ftl_idle(ftl, rest_ns(ftl) - 1);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_folded, 0ULL);
	KUNIT_EXPECT_EQ(test, die->busy_ns, busy_ns);
	rest(ftl);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_folds, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_folded, (u64)SLC_PAGES);
	KUNIT_EXPECT_EQ(test, die->gc_ns - gc_ns,
			SLC_UNITS * (SLC_READ_NS + PROGRAM_NS) + ERASE_NS);
	KUNIT_EXPECT_EQ(test, die->busy_until_ns, rest_ns(ftl) + die->gc_ns - gc_ns);
	/* The block that is not full stays, and the other one takes as much as at first. */
	for (u32 i = 0; i < SLC_UNITS + 2; i++)
		KUNIT_EXPECT_EQ(test, is_slc(ftl, i * UNIT_PAGES), i >= SLC_UNITS);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_free,
			(NR_DIES * SLC_EBLKS * SLC_UNITS - 2ULL) * UNIT_PAGES);
	/* 7 units of the host and 5 copies: 12 programs for 7 units */
	KUNIT_EXPECT_EQ(test, stats_of(ftl).nand_pages_programmed, 12ULL * UNIT_PAGES);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).gc_runs, 0ULL);
	EXPECT_CONSISTENT(test, ftl);
}

/* A command that comes while the first unit is being copied waits for that one only. */
static void commands_wait_for_a_step(struct kunit *test)
{
	struct ftl *ftl = make_slc_drive(test);
	u64 start_ns;

	fill_units(ftl, 0, SLC_UNITS, 2);
	start_ns = rest_ns(ftl);
	ftl_idle(ftl, start_ns + 1);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_folded, (u64)UNIT_PAGES);
	KUNIT_EXPECT_EQ(test, read_page(ftl, SLC_PAGES - 1, start_ns + 1),
			SLC_READ_NS + PROGRAM_NS - 1 + SLC_READ_NS + CHANNEL_NS + LINK_NS);
	/* The drive is not at rest any more, until it had no command for as long again. */
	ftl_idle(ftl, start_ns + FTL_REST_NS);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_folded, (u64)UNIT_PAGES);
	rest(ftl);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_folded, (u64)SLC_PAGES);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_folds, 1ULL);
}

/* Pages that have nothing to do with each other, but are read with one sense, stay so. */
static void whole_unit_stays_whole(struct kunit *test)
{
	struct ftl *ftl = make_slc_drive(test);

	for (u32 i = 0; i < SLC_PAGES; i++)
		write_all_to_die(ftl, 13 * i % 101, 1, 1);
	rest(ftl);
	for (u32 i = 0; i < SLC_PAGES; i++) {
		u64 lpn = 13 * i % 101;
		u64 first = 13 * (i - i % UNIT_PAGES) % 101;

		KUNIT_EXPECT_FALSE(test, is_slc(ftl, lpn));
		KUNIT_EXPECT_EQ(test, unit_of(ftl, lpn), unit_of(ftl, first));
		KUNIT_EXPECT_EQ(test, slot_of(ftl, lpn), i % UNIT_PAGES);
		KUNIT_EXPECT_EQ(test, die_of(ftl, lpn), 1U);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_padded, 0ULL);
}

/*
 * Of the first block's 40 pages a unit and a half are written again, into the second one: 28 are
 * left. 24 of them are whole units, the others wait in the die's GC unit.
 */
static void overwritten_pages_are_not_folded(struct kunit *test)
{
	struct ftl *ftl = make_slc_drive(test);

	fill_units(ftl, 0, SLC_UNITS, 6);
	write_all_to_die(ftl, 8, 12, 6);
	write_all_to_die(ftl, 500, 4, 6);
	rest(ftl);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_folds, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_folded, 28ULL);
	/* 5 and 2 units of the host, 3 whole ones of copies */
	KUNIT_EXPECT_EQ(test, stats_of(ftl).nand_pages_programmed, 10ULL * UNIT_PAGES);
	for (u64 lpn = 8; lpn < 20; lpn++)
		KUNIT_EXPECT_TRUE(test, is_slc(ftl, lpn));
	for (u64 lpn = 20; lpn < 24; lpn++)
		KUNIT_EXPECT_EQ(test, (u32)open_unit_of(ftl, lpn)->kind, (u32)FTL_UNIT_GC);
	/* A block of which nothing is left is only erased. */
	fill_units(ftl, 200, SLC_UNITS - 2, 6);
	fill_units(ftl, 200, SLC_UNITS, 6);
	trim(ftl, 8, 12);
	trim(ftl, 200, SLC_PAGES);
	trim(ftl, 500, 4);
	rest(ftl);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_folds, 3ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_folded, 28ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_free,
			(u64)NR_DIES * SLC_EBLKS * SLC_PAGES);
	EXPECT_CONSISTENT(test, ftl);
}

/* The block with the fewest valid pages first, of equals the one that filled first */
static void cheapest_block_is_folded_first(struct kunit *test)
{
	for (u32 trimmed = 0; trimmed < 2; trimmed++) {
		struct ftl *ftl = make_slc_drive(test);
		u64 second = SLC_PAGES;

		fill_units(ftl, 0, SLC_EBLKS * SLC_UNITS, 0);
		trim(ftl, second, trimmed);
		KUNIT_ASSERT_TRUE(test, ftl_slc_wants(ftl, to_die(0)));
		KUNIT_ASSERT_FALSE(test, ftl_slc_wants(ftl, to_die(1)));
		ftl_slc_fold_step(ftl, to_die(0), ftl->now_ns);
		KUNIT_EXPECT_EQ(test, is_slc(ftl, 0), (bool)trimmed);
		KUNIT_EXPECT_EQ(test, is_slc(ftl, second + UNIT_PAGES), !trimmed);
		EXPECT_CONSISTENT(test, ftl);
	}
}

/* One with the region and one without, on which the same was done */
struct pair {
	struct ftl *with;
	struct ftl *without;
};

static void write_both(struct pair *pair, u64 nr_lpns, u64 *random)
{
	u32 nr_pages = 1 + next_random32(random) % 12;
	struct ftl_request rq = request(next_random32(random) % (nr_lpns - nr_pages), nr_pages);

	rq.hint = (enum ftl_hint)(next_random32(random) % 6);
	rq.pred = to_lpn(from_lpn(rq.first) ? from_lpn(rq.first) - 1 : nr_lpns - 1);
	rq.die = to_die(next_random32(random) % NR_DIES);
	ftl_write(pair->with, &rq, 0);
	ftl_write(pair->without, &rq, 0);
}

static void expect_same_dies(struct kunit *test, const struct pair *pair)
{
	for (u64 lpn = 0; lpn < pair->with->params.nr_lpns; lpn++)
		KUNIT_ASSERT_EQ(test, from_die(ftl_die_of(pair->with, to_lpn(lpn))),
				from_die(ftl_die_of(pair->without, to_lpn(lpn))));
}

/*
 * Twice as many pages as the region holds. Folding and collection keep dies, too, but not which
 * pages are in a unit, and what follows one that is open depends on that.
 */
static void pages_are_on_the_same_dies_with_it(struct kunit *test)
{
	struct ftl_params params = slc_params();
	struct pair pair;
	u64 random = 1;

	pair.with = make_drive(test, &params);
	params.slc_pages = 0;
	pair.without = make_drive(test, &params);
	while (stats_of(pair.with).host_pages_written < 2 * NR_DIES * SLC_EBLKS * SLC_PAGES)
		write_both(&pair, params.nr_lpns, &random);
	KUNIT_EXPECT_EQ(test, stats_of(pair.without).slc_programs, 0ULL);
	expect_same_dies(test, &pair);
	rest(pair.with);
	KUNIT_EXPECT_GT(test, stats_of(pair.with).slc_folds, 10ULL);
	expect_same_dies(test, &pair);
	EXPECT_CONSISTENT(test, pair.with);
}

/* Both pages of a shared place go on to share it, whichever of them owns it. */
static void shared_pages_are_folded_once(struct kunit *test)
{
	const struct ftl_share_range range = { to_lpn(1000), to_lpn(0), UNIT_PAGES };
	struct ftl_params params = slc_params();
	struct ftl *ftl;
	u64 done_ns;

	params.share_pages = 64;
	params.share_log_kib = 4;
	ftl = make_drive(test, &params);
	fill_units(ftl, 0, SLC_UNITS, 0);
	KUNIT_ASSERT_EQ(test, ftl_share(ftl, &range, 1, 0, &done_ns), FTL_SHARE_DONE);
	trim(ftl, 0, 3);
	rest(ftl);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_folded, (u64)SLC_PAGES);
	for (u32 i = 3; i < UNIT_PAGES; i++)
		KUNIT_EXPECT_EQ(test, unit_of(ftl, 1000 + i), unit_of(ftl, i));
	KUNIT_EXPECT_EQ(test, unit_of(ftl, 1000), unit_of(ftl, 1007));
	EXPECT_CONSISTENT(test, ftl);
}

/* The unit goes elsewhere, the block is emptied and bad, and the region is smaller by it. */
static void failed_program_costs_a_block_of_the_region(struct kunit *test)
{
	struct ftl_params params = slc_params();
	struct ftl *ftl;

	params.eblks_per_die += 2;
	params.spare_eblks = 2;
	ftl = make_drive(test, &params);
	ftl_fail_program(ftl, to_die(0), 3);
	fill_units(ftl, 0, SLC_UNITS, 0);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).programs_failed, 1ULL);
	for (u32 i = 0; i < SLC_UNITS; i++)
		KUNIT_EXPECT_TRUE(test, is_slc(ftl, i * UNIT_PAGES));
	rest(ftl);
	KUNIT_EXPECT_FALSE(test, is_slc(ftl, 0));
	KUNIT_EXPECT_FALSE(test, is_slc(ftl, UNIT_PAGES));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).eblks_bad, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_free,
			((NR_DIES * SLC_EBLKS - 1ULL) * SLC_UNITS - 3) * UNIT_PAGES);
	/* When there is none left, what is written goes past the region. */
	ftl_fail_program(ftl, to_die(0), 1);
	fill_units(ftl, 200, 1, 0);
	KUNIT_EXPECT_FALSE(test, is_slc(ftl, 200));
	rest(ftl);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).eblks_bad, 2ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_free, 7ULL * SLC_EBLKS * SLC_PAGES);
	KUNIT_EXPECT_FALSE(test, ftl_is_read_only(ftl));
	EXPECT_CONSISTENT(test, ftl);
}

/* Blocks of the region are erased far more often; who asks for the wear of the others gets that. */
static void wear_is_that_of_other_blocks(struct kunit *test)
{
	struct ftl *ftl = make_slc_drive(test);
	struct ftl_die_stats stats;

	for (u32 i = 0; i < 10; i++) {
		fill_units(ftl, 0, SLC_EBLKS * SLC_UNITS, 0);
		trim(ftl, 0, SLC_EBLKS * SLC_PAGES);
		rest(ftl);
	}
	ftl_get_die_stats(ftl, to_die(0), &stats);
	KUNIT_EXPECT_EQ(test, stats.eblks_erased, 10ULL * SLC_EBLKS);
	KUNIT_EXPECT_EQ(test, stats.erases_least, 0U);
	KUNIT_EXPECT_EQ(test, stats.erases_most, 0U);
	KUNIT_EXPECT_EQ(test, stats.eblks_free, ftl_main_eblks(&ftl->geo));
	KUNIT_EXPECT_FALSE(test, ftl_wear_is_worn(&ftl->blocks, to_die(0), 20));
	/* The two take turns. */
	for (u32 i = 0; i < SLC_EBLKS; i++)
		KUNIT_EXPECT_EQ(test, ftl->blocks.eblk[ftl_main_eblks(&ftl->geo) + i].nr_erases,
				10U);
	EXPECT_CONSISTENT(test, ftl);
}

static struct ftl *make_volatile_drive(struct kunit *test, bool plp)
{
	struct ftl_params params = slc_params();

	params.plp = plp;
	params.oob = true;
	params.eblks_per_die *= 3;
	params.nr_lpns = ftl_params_capacity(&params);
	return make_drive(test, &params);
}

/*
 * Whenever the power fails while two blocks are folded, everything is there that was flushed. What
 * is programmed besides for the first is a step; the last cuts come when all is done.
 */
static void power_may_fail_at_each_step_of_a_fold(struct kunit *test)
{
	const u32 nr_pages = SLC_EBLKS * SLC_PAGES;
	u32 nr_ops = 1;

	for (u32 plp = 0; plp < 2; plp++) {
		for (nr_ops = 1; nr_ops < 20; nr_ops++) {
			struct ftl *ftl = make_volatile_drive(test, plp);
			u64 now_ns;

			fill_units(ftl, 0, SLC_EBLKS * SLC_UNITS, 0);
			now_ns = ftl_flush(ftl, 1000000000);
			ftl_cut_after(ftl, nr_ops);
			now_ns += 10 * (u64)FTL_REST_NS;
			ftl_idle(ftl, now_ns);
			cut_power(test, ftl, min(ftl_cut_ns(ftl, now_ns), now_ns + FTL_REST_NS));
			for (u64 lpn = 0; lpn < nr_pages; lpn++)
				KUNIT_ASSERT_EQ(test, die_of(ftl, lpn), 0U);
			rest(ftl);
			KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_free,
					(u64)NR_DIES * nr_pages);
			for (u64 lpn = 0; lpn < nr_pages; lpn++)
				KUNIT_ASSERT_FALSE(test, is_slc(ftl, lpn));
			EXPECT_CONSISTENT(test, ftl);
		}
	}
}

/* A copy is durable, but the block that it is of was not erased: without protection that counts. */
static void fold_that_was_cut_off_is_undone(struct kunit *test)
{
	for (u32 plp = 0; plp < 2; plp++) {
		struct ftl *ftl = make_volatile_drive(test, plp);
		u64 now_ns;

		fill_units(ftl, 0, SLC_UNITS, 0);
		now_ns = ftl_flush(ftl, 1000000000);
		ftl_idle(ftl, rest_ns(ftl) + 1);
		KUNIT_ASSERT_FALSE(test, is_slc(ftl, 0));
		KUNIT_ASSERT_TRUE(test, is_slc(ftl, UNIT_PAGES));
		now_ns = max(now_ns, ftl->nand.die[0].busy_until_ns);
		cut_power(test, ftl, now_ns);
		KUNIT_EXPECT_EQ(test, is_slc(ftl, 0), !plp);
		KUNIT_EXPECT_TRUE(test, is_slc(ftl, UNIT_PAGES));
		rest(ftl);
		KUNIT_EXPECT_FALSE(test, is_slc(ftl, 0));
		KUNIT_EXPECT_FALSE(test, is_slc(ftl, UNIT_PAGES));
	}
}

/* A program of the region that has begun is torn, one that has not never happens. */
static void program_in_the_region_is_torn(struct kunit *test)
{
	const u64 program_ns = UNIT_PAGES * CHANNEL_NS + SLC_PROGRAM_NS;

	for (u32 began = 0; began < 2; began++) {
		struct ftl *ftl = make_volatile_drive(test, false);
		u64 first_ns;

		fill_units(ftl, 0, 2, 0);
		first_ns = ftl->nand.die[0].busy_until_ns - program_ns;
		cut_power(test, ftl, first_ns + UNIT_PAGES * CHANNEL_NS + began);
		KUNIT_EXPECT_TRUE(test, is_slc(ftl, 0));
		KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(UNIT_PAGES)));
		KUNIT_EXPECT_EQ(test, stats_of(ftl).slc_pages_free,
				(NR_DIES * SLC_EBLKS * SLC_UNITS - 1ULL - began) * UNIT_PAGES);
	}
}

static struct kunit_case slc_cases[] = {
	KUNIT_CASE(region_comes_on_top),
	KUNIT_CASE(burst_is_fast_until_the_region_is_full),
	KUNIT_CASE(reads_take_the_time_of_the_region),
	KUNIT_CASE(rest_folds_full_blocks),
	KUNIT_CASE(commands_wait_for_a_step),
	KUNIT_CASE(whole_unit_stays_whole),
	KUNIT_CASE(overwritten_pages_are_not_folded),
	KUNIT_CASE(cheapest_block_is_folded_first),
	KUNIT_CASE(pages_are_on_the_same_dies_with_it),
	KUNIT_CASE(shared_pages_are_folded_once),
	KUNIT_CASE(failed_program_costs_a_block_of_the_region),
	KUNIT_CASE(wear_is_that_of_other_blocks),
	KUNIT_CASE(power_may_fail_at_each_step_of_a_fold),
	KUNIT_CASE(fold_that_was_cut_off_is_undone),
	KUNIT_CASE(program_in_the_region_is_torn),
	{}
};

static struct kunit_suite slc_suite = {
	.name = "nvmev_slc",
	.test_cases = slc_cases,
};

kunit_test_suite(slc_suite);

MODULE_DESCRIPTION("KUnit suite: the virtual SSD's SLC region");
MODULE_LICENSE("GPL");
