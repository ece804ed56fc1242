// SPDX-License-Identifier: GPL-2.0-only
/* Placement handles: data of each is in erase blocks of its own until it is collected. */
#include <linux/sched.h>

#include "../core/rebuild.h"
#include "drive_kunit.h"

#define SEED		5
#define NR_HANDLES	4U

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

static struct ftl *make_handles(struct kunit *test, const struct drive_shape *shape, u32 nr_handles)
{
	struct ftl_params params = drive_params(shape);

	add_handles(&params, nr_handles);
	return make_drive(test, &params);
}

static u64 write_to(struct ftl *ftl, u64 first, u32 nr_pages, u32 handle)
{
	struct ftl_request rq = request(first, nr_pages);

	rq.handle = handle;
	return ftl_write(ftl, &rq, 0);
}

static u32 eblk_of(const struct ftl *ftl, u64 lpn)
{
	return ftl_flash_unit_eblk(&ftl->geo, unit_of(ftl, lpn));
}

/* Pages of the first half of the drive go to handles in turn, and so few that none is collected. */
static u32 handle_of(u64 lpn)
{
	return lpn / 3 % NR_HANDLES;
}

static void data_of_handles_is_in_blocks_of_its_own(struct kunit *test)
{
	struct ftl *ftl = make_handles(test, shape_of(test), NR_HANDLES);
	u64 nr = round_down(ftl_get_params(ftl)->nr_lpns / 2, 3);
	u8 *owner = kunit_kzalloc(test, ftl->geo.nr_eblks, GFP_KERNEL);
	u32 nr_on_nand = 0;

	KUNIT_ASSERT_NOT_NULL(test, owner);
	for (u64 lpn = 0; lpn < nr; lpn += 3)
		write_to(ftl, lpn, 3, handle_of(lpn));
	for (u64 lpn = 0; lpn < nr; lpn++) {
		u8 *is_of = is_on_nand(ftl, lpn) ? &owner[eblk_of(ftl, lpn)] : NULL;

		if (!is_of)
			continue;
		nr_on_nand++;
		KUNIT_EXPECT_TRUE(test, !*is_of || *is_of == 1 + handle_of(lpn));
		*is_of = 1 + handle_of(lpn);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).gc_runs, 0ULL);
	KUNIT_EXPECT_GT(test, nr_on_nand, nr / 2);
	EXPECT_CONSISTENT(test, ftl);
}

/* As sequential data is read from all dies at once, also if others write in between. */
static void each_handle_goes_round_the_dies(struct kunit *test)
{
	struct ftl *ftl = make_handles(test, shape_of(test), 2);
	u32 nr_pages = ftl->geo.unit_pages;

	for (u32 i = 0; i < 2 * ftl->geo.nr_dies; i++) {
		write_to(ftl, i * nr_pages, nr_pages, 0);
		/* Not always as much as the other */
		if (i % 3)
			write_to(ftl, (100 + i) * nr_pages % (ftl->map.nr_lpns - nr_pages),
				 nr_pages, 1);
	}
	for (u32 i = 0; i < 2 * ftl->geo.nr_dies; i++)
		KUNIT_EXPECT_EQ(test, die_of(ftl, i * nr_pages), i % ftl->geo.nr_dies);
}

static void handle_that_does_not_exist_is_the_first(struct kunit *test)
{
	struct ftl *ftl = make_handles(test, &drive_shapes[2], 2);

	write_to(ftl, 0, 3, 0);
	write_to(ftl, 10, 1, 2);
	write_to(ftl, 20, 1, U32_MAX);
	KUNIT_EXPECT_EQ(test, unit_of(ftl, 10), unit_of(ftl, 0));
	KUNIT_EXPECT_EQ(test, unit_of(ftl, 20), unit_of(ftl, 0));
	write_to(ftl, 30, 1, 1);
	KUNIT_EXPECT_NE(test, unit_of(ftl, 30), unit_of(ftl, 0));
	/* A drive without a choice has one. */
	ftl = make_handles(test, &drive_shapes[2], 1);
	write_to(ftl, 0, 1, 0);
	write_to(ftl, 10, 1, 1);
	KUNIT_EXPECT_EQ(test, unit_of(ftl, 10), unit_of(ftl, 0));
}

static void new_reclaim_unit_begins_with_new_blocks(struct kunit *test)
{
	struct ftl *ftl = make_handles(test, &drive_shapes[5], 2);
	u32 nr_pages = ftl->geo.unit_pages;
	u32 before;

	write_to(ftl, 0, nr_pages, 0);
	write_to(ftl, 1000, nr_pages, 1);
	write_to(ftl, 1100, 1, 1);
	before = eblk_of(ftl, 1000);
	ftl_handle_anew(ftl, 1, 0);
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, 1100));
	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		write_to(ftl, 1200 + i * nr_pages, nr_pages, 1);
		KUNIT_EXPECT_NE(test, eblk_of(ftl, 1200 + i * nr_pages), before);
	}
	/* The other handle goes on where it was. */
	for (u32 i = 0; i < ftl->geo.nr_dies; i++)
		write_to(ftl, 2000 + i * nr_pages, nr_pages, 0);
	KUNIT_EXPECT_EQ(test, eblk_of(ftl, 2000 + 7 * nr_pages), eblk_of(ftl, 0));
	EXPECT_CONSISTENT(test, ftl);
}

/*
 * A quarter of the drive is a log that is written in order, again and again, and gets three of four
 * writes; what lies beside it is overwritten here and there.
 *
 * Return: pages programmed for a thousand that are written, on a drive that is full.
 */
static u32 write_log_and_others(struct kunit *test, bool apart)
{
	static const struct drive_shape shape = { "", 4, 2, 8, 16, 64, 8, 150 };
	struct ftl *ftl = make_handles(test, &shape, 2);
	u64 nr = ftl_get_params(ftl)->nr_lpns, state = SEED, at = 0;
	struct ftl_stats before, after;

	for (u64 lpn = 0; lpn < nr; lpn++)
		write_to(ftl, lpn, 1, apart && lpn < nr / 4);
	for (u32 lap = 0; lap < 6; lap++) {
		before = stats_of(ftl);
		for (u64 i = 0; i < nr; i++) {
			bool is_log = next_random32(&state) % 4;
			u64 lpn = is_log ? at++ % (nr / 4) :
					   nr / 4 + next_random32(&state) % (nr - nr / 4);

			write_to(ftl, lpn, 1, apart && is_log);
		}
		EXPECT_CONSISTENT(test, ftl);
		/* With all checks on, and beside others, this takes a minute. */
		cond_resched();
	}
	after = stats_of(ftl);
	return div64_u64(1000 * (after.nand_pages_programmed - before.nand_pages_programmed),
			 after.host_pages_written - before.host_pages_written);
}

static void log_that_is_kept_apart_costs_fewer_programs(struct kunit *test)
{
	u32 together = write_log_and_others(test, false);
	u32 apart = write_log_and_others(test, true);

	kunit_info(test, "%u per mille together, %u apart\n", together, apart);
	KUNIT_EXPECT_LT(test, (apart - 1000) * 10, (together - 1000) * 7);
}

/* All blocks that handles can have open are, on drives that are as full as they can be. */
static void drives_with_most_handles_take_everything(struct kunit *test)
{
	struct ftl *ftl = make_handles(test, shape_of(test), FTL_MAX_HANDLES);
	u64 nr = ftl_get_params(ftl)->nr_lpns, state = SEED;

	for (u64 lpn = 0; lpn < nr; lpn++)
		write_to(ftl, lpn, 1, lpn % FTL_MAX_HANDLES);
	for (u32 i = 0; i < 20 * nr; i++) {
		write_to(ftl, next_random32(&state) % nr, 1, next_random32(&state) % 16);
		if (i % nr == 0)
			EXPECT_CONSISTENT(test, ftl);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, nr);
	EXPECT_CONSISTENT(test, ftl);
}

/* What was half written goes on, each in a block of its own, and not in one that is lost. */
static void handles_go_on_after_a_power_failure(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	u32 nr_pages = params.unit_pages;
	struct ftl *ftl;
	u32 nr_free;

	params.oob = true;
	add_handles(&params, 3);
	ftl = make_drive(test, &params);
	for (u32 i = 0; i < 3 * ftl->geo.nr_dies; i++)
		write_to(ftl, i * nr_pages, nr_pages, i % 3);
	write_to(ftl, 5000, 1, 2);
	nr_free = ftl_eblks_nr_free(&ftl->blocks, to_die(0));
	cut_power(test, ftl, 1000000000);
	KUNIT_EXPECT_NE(test, open_unit_of(ftl, 5000), NULL);
	KUNIT_EXPECT_EQ(test, open_unit_of(ftl, 5000)->handle, 2U);
	for (u32 i = 0; i < 3 * ftl->geo.nr_dies; i++)
		write_to(ftl, 6000 + i * nr_pages, nr_pages, i % 3);
	KUNIT_EXPECT_LE(test, nr_free - ftl_eblks_nr_free(&ftl->blocks, to_die(0)), 1U);
	EXPECT_CONSISTENT(test, ftl);
}

static void closed_blocks_stay_closed_after_a_power_failure(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	u32 nr_pages = params.unit_pages;
	struct ftl *ftl;
	u32 before;

	params.oob = true;
	add_handles(&params, 2);
	ftl = make_drive(test, &params);
	write_to(ftl, 1000, nr_pages, 1);
	before = eblk_of(ftl, 1000);
	ftl_handle_anew(ftl, 1, 0);
	cut_power(test, ftl, 1000000000);
	for (u32 i = 0; i < 2 * ftl->geo.nr_dies; i++) {
		write_to(ftl, 1200 + i * nr_pages, nr_pages, i % 2);
		KUNIT_EXPECT_NE(test, eblk_of(ftl, 1200 + i * nr_pages), before);
	}
	EXPECT_CONSISTENT(test, ftl);
}

/* However many blocks were closed, collection finds its own again. */
static void full_drive_with_closed_blocks_outlives_power_failures(struct kunit *test)
{
	static const struct drive_shape shape = { "", 2, 1, 3, 6, 40, 1, 106 };
	struct ftl_params params = drive_params(&shape);
	u64 state = SEED;
	struct ftl *ftl;

	params.oob = true;
	params.bg_eblks = 3;
	add_handles(&params, 2);
	ftl = make_drive(test, &params);
	for (u64 lpn = 0; lpn < params.nr_lpns; lpn++)
		write_to(ftl, lpn, 1, lpn % 2);
	for (u32 i = 0; i < 20000; i++) {
		write_to(ftl, next_random32(&state) % params.nr_lpns, 1, i % 2);
		if (next_random32(&state) % 4 == 0)
			ftl_handle_anew(ftl, next_random32(&state) % 2, 0);
		if (i % 7 == 0)
			cut_power(test, ftl, ftl->now_ns);
	}
}

static struct kunit_case handles_cases[] = {
	KUNIT_CASE_PARAM(data_of_handles_is_in_blocks_of_its_own, shape_gen_params),
	KUNIT_CASE_PARAM(each_handle_goes_round_the_dies, shape_gen_params),
	KUNIT_CASE(handle_that_does_not_exist_is_the_first),
	KUNIT_CASE(new_reclaim_unit_begins_with_new_blocks),
	KUNIT_CASE(log_that_is_kept_apart_costs_fewer_programs),
	KUNIT_CASE_PARAM(drives_with_most_handles_take_everything, shape_gen_params),
	KUNIT_CASE(handles_go_on_after_a_power_failure),
	KUNIT_CASE(closed_blocks_stay_closed_after_a_power_failure),
	KUNIT_CASE(full_drive_with_closed_blocks_outlives_power_failures),
	{}
};

static struct kunit_suite handles_suite = {
	.name = "nvmev_handles",
	.test_cases = handles_cases,
};

kunit_test_suite(handles_suite);

MODULE_DESCRIPTION("Tests of placement handles");
MODULE_LICENSE("GPL");
