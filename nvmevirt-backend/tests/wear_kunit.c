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
 * One in eight of the first die's flash units is overwritten again and again; the whole
 * drive now and then.
 */
static void overwrite_hot_spot(struct ftl *ftl, u32 nr)
{
	u32 nr_rows = ftl_get_params(ftl)->nr_lpns * 7 / 10 / UNIT_PAGES - UNIT_PAGES;
	u64 state = SEED;

	while (nr--) {
		u32 row = next_random32(&state) % nr_rows;

		if (next_random32(&state) % 10)
			row = row / 64 * 64;
		write_over(ftl, row * UNIT_PAGES, UNIT_PAGES);
	}
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
	u64 state = SEED;

	for (u32 i = 0; i < 200000; i++)
		write_over(ftl, next_random32(&state) % nr_rows * UNIT_PAGES, UNIT_PAGES);
	KUNIT_EXPECT_GT(test, ftl->blocks.nr_erases, 1000ULL);
	KUNIT_EXPECT_EQ(test, permille_off_die(ftl), 0U);
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

	for (u32 i = 0; i < 300000; i++) {
		struct ftl_request rq = request(64 * (i % 32), UNIT_PAGES);

		rq.hint = FTL_HINT_OVERWRITE;
		now_ns = ftl_write(ftl, &rq, now_ns);
	}
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
