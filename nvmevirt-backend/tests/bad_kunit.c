// SPDX-License-Identifier: GPL-2.0-only
/* Bad blocks: pages survive failures, blocks are retired, spares are counted. */
#include "drive_kunit.h"

#define SEED	404
#define SPARES	4U

static struct ftl *make_sparing(struct kunit *test, u32 factory_bad_permille)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);

	params.eblks_per_die += SPARES;
	params.spare_eblks = SPARES;
	params.factory_bad_permille = factory_bad_permille;
	return make_drive(test, &params);
}

static void fill(struct ftl *ftl)
{
	u64 nr = ftl_get_params(ftl)->nr_lpns;

	for (u64 lpn = 0; lpn < nr; lpn += 8)
		write_plain(ftl, lpn, min_t(u64, 8, nr - lpn));
}

static void overwrite(struct ftl *ftl, u32 nr, u64 *state)
{
	u32 nr_lpns = ftl_get_params(ftl)->nr_lpns;

	while (nr--)
		write_over(ftl, next_random32(state) % nr_lpns, 1);
}

static struct ftl_die_stats die_stats(const struct ftl *ftl, u32 die)
{
	struct ftl_die_stats stats;

	ftl_get_die_stats(ftl, to_die(die), &stats);
	return stats;
}

static void spares_do_not_change_the_capacity(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	u64 nr_lpns = params.nr_lpns;

	params.eblks_per_die += SPARES;
	params.spare_eblks = SPARES;
	KUNIT_EXPECT_EQ(test, ftl_params_capacity(&params), nr_lpns);
}

static void bad_blocks_are_not_counted_again_by_a_start(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	struct ftl *ftl;

	params.eblks_per_die += SPARES;
	params.spare_eblks = SPARES;
	params.factory_bad_permille = 100;
	params.oob = true;
	ftl = make_drive(test, &params);
	for (u32 i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, stats_of(ftl).eblks_bad, 2ULL * ftl->geo.nr_dies);
		KUNIT_EXPECT_EQ(test, stats_of(ftl).spares_left, SPARES - 2ULL);
		ftl_power_cut(ftl, ftl->now_ns);
		KUNIT_ASSERT_NULL(test, ftl_rebuild(ftl, ftl->now_ns));
	}
}

static void factory_bad_blocks_are_never_used(struct kunit *test)
{
	struct ftl *ftl = make_sparing(test, 150);
	u64 state = SEED;

	KUNIT_EXPECT_EQ(test, die_stats(ftl, 0).eblks_bad, 3U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).eblks_bad, 3ULL * ftl->geo.nr_dies);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).spares_left, SPARES - 3ULL);
	fill(ftl);
	overwrite(ftl, 3 * ftl_get_params(ftl)->nr_lpns, &state);
	/* Pages in bad blocks are something that it finds. */
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_FALSE(test, ftl_is_read_only(ftl));
}

static void failed_program_goes_to_another_block(struct kunit *test)
{
	struct ftl *ftl = make_sparing(test, 0);

	write_plain(ftl, 0, 8);
	ftl_fail_program(ftl, to_die(0), 1);
	write_plain(ftl, 64, 64);
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).programs_failed, 1ULL);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 120), die_of(ftl, 0));
	KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, 120));
	KUNIT_EXPECT_NE(test, unit_of(ftl, 120) / ftl->geo.eblk_units,
			unit_of(ftl, 0) / ftl->geo.eblk_units);
	/* The next program of the die empties the block that failed. */
	for (u32 i = 0; i < 4; i++)
		write_plain(ftl, 128 + 64 * i, 64);
	KUNIT_EXPECT_EQ(test, die_stats(ftl, 0).eblks_bad, 1U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).spares_left, SPARES - 1ULL);
	KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(0)));
	EXPECT_CONSISTENT(test, ftl);
}

static void failed_erase_retires_the_block(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	u64 state = SEED, now_ns = 0;
	struct ftl *ftl;

	params.eblks_per_die += SPARES;
	params.spare_eblks = SPARES;
	params.bg_eblks = 4;
	ftl = make_drive(test, &params);
	fill(ftl);
	ftl_fail_erase(ftl, to_die(2), 3);
	for (u32 i = 0; i < 4 && !stats_of(ftl).erases_failed; i++) {
		overwrite(ftl, ftl_get_params(ftl)->nr_lpns / 4, &state);
		for (u32 wait = 0; wait < 100; wait++)
			ftl_idle(ftl, now_ns += 100000000);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).erases_failed, 1ULL);
	KUNIT_EXPECT_EQ(test, die_stats(ftl, 2).eblks_bad, 1U);
	EXPECT_CONSISTENT(test, ftl);
}

static u32 count_lost(const struct ftl *ftl)
{
	u32 nr = 0;

	for (u32 eblk = 0; eblk < ftl->geo.nr_eblks; eblk++)
		nr += ftl->blocks.eblk[eblk].state == FTL_EBLK_BAD ||
			ftl->blocks.eblk[eblk].state == FTL_EBLK_DOOMED;
	return nr;
}

/* One after the other fails as soon as it can; the power fails while a block is being emptied. */
static void blocks_that_failed_stay_bad_after_a_power_failure(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	u64 state = SEED, nr_failed, nr_cuts = 0;
	struct ftl *ftl;

	params.plp = false;
	params.oob = true;
	params.bg_eblks = 3;
	params.eblks_per_die += SPARES;
	params.spare_eblks = SPARES;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	fill(ftl);
	for (u32 i = 0; i < 20000 && !ftl_is_read_only(ftl); i++) {
		/* Blocks that have pages already */
		ftl_fail_program(ftl, to_die(1),
				 ftl->blocks.die[1].stream[FTL_STREAM_HOST].next_unit > 4);
		overwrite(ftl, 1, &state);
		nr_failed = stats_of(ftl).programs_failed;
		KUNIT_ASSERT_EQ(test, stats_of(ftl).eblks_bad, nr_failed);
		if (i % 8 == 7 && ftl->gc[1].is_doomed) {
			cut_power(test, ftl, BIT_ULL(40) * ++nr_cuts);
			KUNIT_ASSERT_EQ(test, count_lost(ftl), (u32)nr_failed);
		}
	}
	KUNIT_EXPECT_GT(test, nr_cuts, 1ULL);
}

/* Fails programs of a full drive until it has no spares, and goes on: nothing is lost. */
static void drive_without_spares_is_read_only(struct kunit *test)
{
	struct ftl *ftl = make_sparing(test, 0);
	u64 nr_lpns = ftl_get_params(ftl)->nr_lpns;
	u64 state = SEED;

	fill(ftl);
	for (u32 i = 0; i <= SPARES; i++) {
		KUNIT_ASSERT_FALSE(test, ftl_is_read_only(ftl));
		KUNIT_EXPECT_EQ(test, stats_of(ftl).spares_left, (u64)SPARES - i);
		ftl_fail_program(ftl, to_die(1), 5);
		for (u32 tries = 0; tries < 100 && stats_of(ftl).programs_failed == i; tries++)
			overwrite(ftl, 500, &state);
		KUNIT_ASSERT_EQ(test, stats_of(ftl).programs_failed, i + 1ULL);
		overwrite(ftl, nr_lpns / 2, &state);
		EXPECT_CONSISTENT(test, ftl);
	}
	KUNIT_EXPECT_TRUE(test, ftl_is_read_only(ftl));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).spares_left, 0ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, nr_lpns);
	/* No further block fails, and the drive does not wedge. */
	ftl_fail_program(ftl, to_die(1), 1);
	overwrite(ftl, 2 * nr_lpns, &state);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).programs_failed, SPARES + 1ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static struct kunit_case bad_cases[] = {
	KUNIT_CASE(spares_do_not_change_the_capacity),
	KUNIT_CASE(bad_blocks_are_not_counted_again_by_a_start),
	KUNIT_CASE(factory_bad_blocks_are_never_used),
	KUNIT_CASE(failed_program_goes_to_another_block),
	KUNIT_CASE(failed_erase_retires_the_block),
	KUNIT_CASE(blocks_that_failed_stay_bad_after_a_power_failure),
	KUNIT_CASE(drive_without_spares_is_read_only),
	{}
};

static struct kunit_suite bad_suite = {
	.name = "nvmev_bad",
	.test_cases = bad_cases,
};

kunit_test_suite(bad_suite);

MODULE_DESCRIPTION("Bad erase blocks");
MODULE_LICENSE("GPL");
