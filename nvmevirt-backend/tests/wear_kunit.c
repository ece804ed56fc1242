// SPDX-License-Identifier: GPL-2.0-only
/* Wear: dies that are overwritten all the time share it with the others, at a small price. */
#include "drive_kunit.h"

#define UNIT_PAGES	8
#define SEED		77

static const struct drive_shape worn = { "worn", 4, 2, UNIT_PAGES, 16, 48, 16, 100 };

static struct ftl *make_filled(struct kunit *test, u32 wear_permille, u32 bg_eblks)
{
	struct ftl_params params = drive_params(&worn);
	struct ftl *ftl;

	params.wear_permille = wear_permille;
	params.bg_eblks = bg_eblks;
	ftl = make_drive(test, &params);
	for (u64 lpn = 0; lpn + 64 <= params.nr_lpns * 7 / 10; lpn += 64)
		write_plain(ftl, lpn, 64);
	return ftl;
}

/*
 * One write after the other: where they all come at once, each goes over all that the buses still
 * have to transfer, which takes most of a long test's time.
 */
static u64 overwrite(struct ftl *ftl, u64 first, u64 now_ns)
{
	struct ftl_request rq = request(first, UNIT_PAGES);

	rq.hint = FTL_HINT_OVERWRITE;
	return ftl_write(ftl, &rq, now_ns);
}

/*
 * One in eight of the first die's flash units is overwritten again and again; the whole
 * drive now and then.
 */
static void overwrite_hot_spot(struct ftl *ftl, u32 nr)
{
	u32 nr_rows = ftl_get_params(ftl)->nr_lpns * 7 / 10 / UNIT_PAGES - UNIT_PAGES;
	u64 state = SEED, now_ns = 0;

	while (nr--) {
		u32 row = next_random32(&state) % nr_rows;

		if (next_random32(&state) % 10)
			row = row / 64 * 64;
		now_ns = overwrite(ftl, row * UNIT_PAGES, now_ns);
	}
}

/*
 * A full drive; nothing is overwritten but what lies on the first die at the beginning,
 * one in @share of its units.
 */
static struct ftl *overwrite_first_die(struct kunit *test, u32 wear_permille, u32 share)
{
	struct ftl_params params = drive_params(&worn);
	u64 state = SEED, now_ns = 0;
	struct ftl *ftl;
	u32 nr_units;

	params.wear_permille = wear_permille;
	params.bg_eblks = 3;
	ftl = make_drive(test, &params);
	for (u64 lpn = 0; lpn + 64 <= params.nr_lpns; lpn += 64)
		write_plain(ftl, lpn, 64);
	nr_units = params.nr_lpns / 64 / share;
	for (u32 i = 0; i < 80000; i++)
		now_ns = overwrite(ftl, next_random32(&state) % nr_units * share * 64, now_ns);
	EXPECT_CONSISTENT(test, ftl);
	return ftl;
}

/* Return: the most erases of a die above the least, by the mean. */
static u32 spread_permille(const struct ftl *ftl)
{
	u64 least = U64_MAX, most = 0;

	for (u32 die = 0; die < ftl->geo.nr_dies; die++) {
		least = min(least, ftl->blocks.die[die].nr_erases);
		most = max(most, ftl->blocks.die[die].nr_erases);
	}
	return div64_u64((most - least) * 1000 * ftl->geo.nr_dies, ftl->blocks.nr_erases);
}

static u32 permille_off_die(const struct ftl *ftl)
{
	u32 nr = ftl_get_params(ftl)->nr_lpns * 7 / 10 / 64 * 64, nr_off = 0;

	for (u32 lpn = 0; lpn < nr; lpn++)
		nr_off += die_of(ftl, lpn) != lpn / UNIT_PAGES % ftl->geo.nr_dies;
	return nr_off * 1000 / nr;
}

static void hot_spot_wears_its_die_out_if_that_is_allowed(struct kunit *test)
{
	struct ftl *ftl = make_filled(test, 0, 0);

	overwrite_hot_spot(ftl, 400000);
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_GT(test, spread_permille(ftl), 3000U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_levelled, 0ULL);
	KUNIT_EXPECT_EQ(test, permille_off_die(ftl), 0U);
}

static void worn_die_gives_hot_pages_away(struct kunit *test)
{
	struct ftl *ftl = make_filled(test, 20, 0);

	overwrite_hot_spot(ftl, 400000);
	EXPECT_CONSISTENT(test, ftl);
	kunit_info(test, "spread %u per mille, %u per mille of the pages left their die\n",
		   spread_permille(ftl), permille_off_die(ftl));
	KUNIT_EXPECT_LE(test, spread_permille(ftl), 50U);
	KUNIT_EXPECT_LE(test, permille_off_die(ftl), 250U);
	KUNIT_EXPECT_GT(test, stats_of(ftl).pages_levelled, 0ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_off_die, 0ULL);
}

static void even_wear_moves_nothing(struct kunit *test)
{
	struct ftl *ftl = make_filled(test, 20, 0);
	u32 nr_rows = ftl_get_params(ftl)->nr_lpns * 7 / 10 / UNIT_PAGES - UNIT_PAGES;
	u64 state = SEED, now_ns = 0;

	for (u32 i = 0; i < 200000; i++)
		now_ns = overwrite(ftl, next_random32(&state) % nr_rows * UNIT_PAGES, now_ns);
	KUNIT_EXPECT_GT(test, ftl->blocks.nr_erases, 1000ULL);
	KUNIT_EXPECT_EQ(test, permille_off_die(ftl), 0U);
}

static void report_exchange(struct kunit *test, struct ftl *ftl)
{
	struct ftl_stats stats = stats_of(ftl);

	kunit_info(test, "spread %u per mille, %llu pages exchanged, %llu levelled, %llu per mille written\n",
		   spread_permille(ftl), stats.pages_exchanged, stats.pages_levelled,
		   div64_u64(1000 * stats.nand_pages_programmed, stats.host_pages_written));
}

static void hot_die_of_a_full_drive_wears_alone_if_that_is_allowed(struct kunit *test)
{
	struct ftl *ftl = overwrite_first_die(test, 0, 1);

	report_exchange(test, ftl);
	KUNIT_EXPECT_GT(test, spread_permille(ftl), 7000U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_exchanged, 0ULL);
}

/* What it costs is less than what it gains: hot pages have more room on eight dies. */
static void full_drive_exchanges_cold_pages_for_hot_ones(struct kunit *test)
{
	struct ftl *alone = overwrite_first_die(test, 0, 1);
	struct ftl *ftl = overwrite_first_die(test, 20, 1);

	report_exchange(test, ftl);
	KUNIT_EXPECT_LE(test, spread_permille(ftl), 50U);
	KUNIT_EXPECT_GT(test, stats_of(ftl).pages_exchanged, 100ULL);
	KUNIT_EXPECT_LT(test, stats_of(ftl).pages_exchanged,
			ftl_get_params(ftl)->nr_lpns);
	KUNIT_EXPECT_LT(test, stats_of(ftl).nand_pages_programmed,
			stats_of(alone).nand_pages_programmed);
}

/* Return: a full drive whose first die was erased more often than the others. */
static struct ftl *make_worn(struct kunit *test, u32 share_pages)
{
	static const struct drive_shape small = { "small", 4, 2, UNIT_PAGES, 8, 24, 8, 100 };
	struct ftl_params params = drive_params(&small);
	struct ftl *ftl;

	params.oob = true;
	params.wear_permille = 20;
	params.share_pages = share_pages;
	params.share_log_kib = 4;
	ftl = make_drive(test, &params);
	for (u32 eblk = 0; eblk < ftl->geo.die_eblks; eblk++)
		ftl->oob.erases[eblk] = 100;
	KUNIT_ASSERT_NULL(test, ftl_rebuild(ftl, 0));
	for (u64 lpn = 0; lpn < params.nr_lpns; lpn += UNIT_PAGES)
		write_plain(ftl, lpn, min_t(u64, params.nr_lpns - lpn, UNIT_PAGES));
	return ftl;
}

/* Return: the first page of the @nr-th unit, from 0, that is on the first die and was not. */
static u64 find_moved(const struct ftl *ftl, u32 nr)
{
	u64 lpn;

	for (lpn = 0; lpn + UNIT_PAGES <= ftl_get_params(ftl)->nr_lpns; lpn += UNIT_PAGES) {
		if (lpn / UNIT_PAGES % ftl->geo.nr_dies && !die_of(ftl, lpn) && !nr--)
			break;
	}
	return lpn;
}

static void unit_that_moves_stays_a_unit(struct kunit *test)
{
	struct ftl *ftl = make_worn(test, 0);
	u64 first = find_moved(ftl, 0);

	KUNIT_ASSERT_GE(test, first + UNIT_PAGES, ftl_get_params(ftl)->nr_lpns);
	ftl_exchange_ask(ftl, 2);
	write_plain(ftl, 0, UNIT_PAGES);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_exchanged, 2ULL * UNIT_PAGES);
	first = find_moved(ftl, 0);
	for (u64 lpn = first; lpn < first + UNIT_PAGES; lpn++) {
		KUNIT_EXPECT_EQ(test, die_of(ftl, lpn), 0U);
		KUNIT_EXPECT_EQ(test, unit_of(ftl, lpn), unit_of(ftl, first));
		KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, lpn));
	}
	/* The block's next unit is that of the next stripe. */
	KUNIT_EXPECT_EQ(test, find_moved(ftl, 1), first + 64);
	EXPECT_CONSISTENT(test, ftl);
}

/* Shared data has the number of another page, which a new one would take from it. */
static void shared_pages_do_not_move(struct kunit *test)
{
	u64 first = 0, done_ns;

	for (u32 i = 0; i < 2; i++) {
		struct ftl *ftl = make_worn(test, 8);
		struct ftl_share_range range = { to_lpn(3), to_lpn(first + 2), 1 };

		/* The first drive shows which unit would move. */
		if (i)
			KUNIT_ASSERT_EQ(test, ftl_share(ftl, &range, 1, 0, &done_ns),
					FTL_SHARE_DONE);
		ftl_exchange_ask(ftl, 1);
		write_plain(ftl, 0, 1);
		KUNIT_EXPECT_TRUE(test, !i || find_moved(ftl, 0) == first + 64);
		KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_exchanged, (u64)UNIT_PAGES);
		EXPECT_CONSISTENT(test, ftl);
		first = find_moved(ftl, 0);
	}
}

/* Who overwrites everything has no cold pages; moving some would cost and gain nothing. */
static void drive_without_cold_pages_exchanges_none(struct kunit *test)
{
	struct ftl *ftl = make_worn(test, 0);
	u32 nr_units = ftl_get_params(ftl)->nr_lpns / UNIT_PAGES;
	u64 state = SEED;

	for (u32 i = 0; i < 20000; i++)
		write_over(ftl, next_random32(&state) % nr_units * UNIT_PAGES, UNIT_PAGES);
	kunit_info(test, "%llu pages exchanged, %llu levelled\n",
		   stats_of(ftl).pages_exchanged, stats_of(ftl).pages_levelled);
	KUNIT_EXPECT_GT(test, stats_of(ftl).pages_levelled, 1000ULL);
	KUNIT_EXPECT_LT(test, stats_of(ftl).pages_exchanged,
			div64_u64(stats_of(ftl).pages_levelled, 100));
	for (u32 i = 0; i < 200; i++) {
		ftl_exchange_ask(ftl, 1);
		write_over(ftl, next_random32(&state) % nr_units * UNIT_PAGES, UNIT_PAGES);
	}
	kunit_info(test, "%llu pages exchanged when asked\n", stats_of(ftl).pages_exchanged);
	KUNIT_EXPECT_LT(test, stats_of(ftl).pages_exchanged, 200ULL * UNIT_PAGES / 4);
	EXPECT_CONSISTENT(test, ftl);
}

/* Return: the most erases of a block above the least, of all dies. */
static u32 spread_of_blocks(const struct ftl *ftl)
{
	u32 least = U32_MAX, most = 0;

	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		struct ftl_die_stats stats;

		ftl_get_die_stats(ftl, to_die(i), &stats);
		least = min(least, stats.erases_least);
		most = max(most, stats.erases_most);
	}
	return most - least;
}

/* Nothing but a few rows of the first die is ever overwritten. */
static struct ftl *wear_out_a_few_rows(struct kunit *test, u32 wear_permille)
{
	struct ftl *ftl = make_filled(test, wear_permille, 3);
	u64 now_ns = 0;

	for (u32 i = 0; i < 300000; i++)
		now_ns = overwrite(ftl, 64 * (i % 32), now_ns);
	EXPECT_CONSISTENT(test, ftl);
	kunit_info(test, "%u erases apart, %llu blocks moved, %llu per mille written\n",
		   spread_of_blocks(ftl), stats_of(ftl).eblks_levelled,
		   div64_u64(1000 * stats_of(ftl).nand_pages_programmed,
			     stats_of(ftl).host_pages_written));
	return ftl;
}

static void blocks_that_rest_are_left_out_if_that_is_allowed(struct kunit *test)
{
	struct ftl *ftl = wear_out_a_few_rows(test, 0);

	KUNIT_EXPECT_GT(test, spread_of_blocks(ftl), 500U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).eblks_levelled, 0ULL);
}

static void blocks_that_rest_take_their_share(struct kunit *test)
{
	struct ftl *ftl = wear_out_a_few_rows(test, 20);

	KUNIT_EXPECT_LE(test, spread_of_blocks(ftl), 100U);
	KUNIT_EXPECT_GT(test, stats_of(ftl).eblks_levelled, 100ULL);
	KUNIT_EXPECT_LE(test, stats_of(ftl).nand_pages_programmed,
			stats_of(ftl).host_pages_written * 11 / 10);
}

/* The block that was erased least is used next. */
static void least_worn_block_is_used_first(struct kunit *test)
{
	struct ftl *ftl = make_filled(test, 0, 0);
	struct ftl_eblk_die *die = &ftl->blocks.die[3];

	overwrite_hot_spot(ftl, 20000);
	while (die->free.nr) {
		u32 least = U32_MAX, used;

		for (u32 i = 0; i < ftl->geo.die_eblks; i++) {
			const struct ftl_eblk *eblk = &ftl->blocks.eblk[3 * ftl->geo.die_eblks + i];

			if (eblk->state == FTL_EBLK_FREE)
				least = min(least, eblk->nr_erases);
		}
		ftl_eblks_open_next(&ftl->blocks, to_die(3), FTL_STREAM_HOST);
		used = die->stream[FTL_STREAM_HOST].eblk - 1;
		KUNIT_ASSERT_EQ(test, ftl->blocks.eblk[used].nr_erases, least);
	}
}

static struct kunit_case wear_cases[] = {
	KUNIT_CASE(hot_spot_wears_its_die_out_if_that_is_allowed),
	KUNIT_CASE(worn_die_gives_hot_pages_away),
	KUNIT_CASE(hot_die_of_a_full_drive_wears_alone_if_that_is_allowed),
	KUNIT_CASE(full_drive_exchanges_cold_pages_for_hot_ones),
	KUNIT_CASE(unit_that_moves_stays_a_unit),
	KUNIT_CASE(shared_pages_do_not_move),
	KUNIT_CASE(drive_without_cold_pages_exchanges_none),
	KUNIT_CASE(even_wear_moves_nothing),
	KUNIT_CASE(blocks_that_rest_are_left_out_if_that_is_allowed),
	KUNIT_CASE(blocks_that_rest_take_their_share),
	KUNIT_CASE(least_worn_block_is_used_first),
	{}
};

static struct kunit_suite wear_suite = {
	.name = "nvmev_wear",
	.test_cases = wear_cases,
};

kunit_test_suite(wear_suite);

MODULE_DESCRIPTION("Wear of dies and blocks");
MODULE_LICENSE("GPL");
