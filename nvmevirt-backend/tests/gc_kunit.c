// SPDX-License-Identifier: GPL-2.0-only
/* Collection: it ends, it keeps pages on their dies and in order, and it costs dies only. */
#include "drive_kunit.h"

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

#define SEED		31
#define SECOND_NS	1000000000ULL

static u64 nr_lpns(const struct ftl *ftl)
{
	return ftl_get_params(ftl)->nr_lpns;
}

static void fill(struct ftl *ftl, u64 nr_pages)
{
	for (u64 lpn = 0; lpn < nr_pages; lpn += ftl->geo.unit_pages)
		write_plain(ftl, lpn, min_t(u64, ftl->geo.unit_pages, nr_pages - lpn));
}

static u64 random_lpn(const struct ftl *ftl, u64 *state, u64 end)
{
	u64 lpn = next_random32(state);

	return lpn - div64_u64(lpn, end) * end;
}

static void full_drive_takes_plain_writes_for_ever(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u64 state = SEED;

	fill(ftl, nr_lpns(ftl));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, nr_lpns(ftl));
	for (u32 i = 0; i < 4 * nr_lpns(ftl); i++)
		write_plain(ftl, random_lpn(ftl, &state, nr_lpns(ftl)), 1);
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_GT(test, stats_of(ftl).gc_runs, 0ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, nr_lpns(ftl));
}

/* All hints point to one page: what it attracts fills its die and the one behind it. */
static void hints_to_one_die_do_not_wedge_a_full_drive(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u64 state = SEED;

	fill(ftl, nr_lpns(ftl));
	for (u32 i = 0; i < 4 * nr_lpns(ftl); i++) {
		u64 lpn = 1 + random_lpn(ftl, &state, nr_lpns(ftl) - 1);

		write_append(ftl, lpn, 1, 0);
	}
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, nr_lpns(ftl));
}

static void overwritten_pages_outlive_collection_on_their_dies(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = ftl->geo.unit_pages;
	u64 end = div_u64(nr_lpns(ftl) * 9, 10 * nr) * nr;
	u64 state = SEED;

	fill(ftl, end);
	for (u32 i = 0; i < 4 * end; i++)
		write_over(ftl, random_lpn(ftl, &state, end), 1);
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_GT(test, stats_of(ftl).gc_runs, 0ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_off_die, 0ULL);
	for (u32 lpn = 0; lpn < end; lpn++)
		KUNIT_ASSERT_EQ(test, die_of(ftl, lpn), lpn / nr % ftl->geo.nr_dies);
}

static u64 count_moved(const struct ftl *ftl)
{
	struct ftl_die_stats stats;
	u64 nr_moved = 0;

	for (u32 die = 0; die < ftl->geo.nr_dies; die++) {
		ftl_get_die_stats(ftl, to_die(die), &stats);
		nr_moved += stats.pages_gc;
	}
	return nr_moved;
}

/* Stripes are written again at random, but for every fourth: these get moved, as they are. */
static void moved_units_stay_together_and_in_order(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = ftl->geo.unit_pages, stripe = nr * ftl->geo.nr_dies;
	u32 nr_stripes = div_u64(nr_lpns(ftl), stripe);
	u64 state = SEED;

	fill(ftl, (u64)nr_stripes * stripe);
	for (u32 i = 0; i < 20 * nr_stripes; i++) {
		u32 at = next_random32(&state) % nr_stripes;

		if (at % 4)
			write_plain(ftl, at * stripe, stripe);
	}
	KUNIT_EXPECT_GT(test, count_moved(ftl), 0ULL);
	for (u32 at = 0; at < nr_stripes; at += 4) {
		for (u32 i = 0; i < stripe; i++) {
			u64 lpn = at * stripe + i;

			KUNIT_ASSERT_EQ(test, die_of(ftl, lpn), i / nr);
			KUNIT_ASSERT_EQ(test, unit_of(ftl, lpn), unit_of(ftl, lpn - i % nr));
			KUNIT_ASSERT_EQ(test, slot_of(ftl, lpn), i % nr);
		}
	}
	EXPECT_CONSISTENT(test, ftl);
}

/* Pages of four rows are written in turn, so each flash unit has one page of each. */
static void rows_of_a_victim_come_together(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[0]);
	struct ftl *ftl;

	params.bg_eblks = params.eblks_per_die;
	ftl = make_drive(test, &params);
	for (u32 i = 0; i < 4; i++) {
		for (u32 row = 0; row < 4; row++)
			write_plain(ftl, 25 * row + i, 1);
	}
	/* One of them loses two pages, so three are whole. */
	trim(ftl, 77, 2);
	KUNIT_ASSERT_EQ(test, ftl_eblks_nr_full(&ftl->blocks, to_die(0)), 1U);
	while (ftl_gc_wants(ftl, to_die(0)))
		ftl_gc_step(ftl, to_die(0), 0);
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).gc_runs, 1ULL);
	for (u32 row = 0; row < 3; row++) {
		for (u32 i = 1; i < 4; i++)
			KUNIT_EXPECT_EQ(test, unit_of(ftl, 25 * row + i), unit_of(ftl, 25 * row));
		KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, 25 * row));
	}
	KUNIT_EXPECT_EQ(test, unit_of(ftl, 76), unit_of(ftl, 75));
}

/* Pages programmed by collection, and victims that were begun with or done with */
static u64 collected(const struct ftl *ftl)
{
	u64 nr = stats_of(ftl).gc_runs;

	for (u32 die = 0; die < ftl->geo.nr_dies; die++)
		nr += ftl->nand.die[die].pages_gc + !!ftl->gc[die].victim.eblk;
	return nr;
}

/* Writes at random, half of them while there is much room, and reads in between; time passes. */
static void what_is_quick_collects_nothing(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	u64 state = SEED, now_ns = 0, nr_quick[2] = { 0 }, nr_slow[2] = { 0 };
	struct ftl *ftl;

	params.bg_eblks = 3;
	ftl = make_drive(test, &params);
	KUNIT_EXPECT_TRUE(test, ftl_write_is_quick(ftl, params.unit_pages, 0));
	KUNIT_EXPECT_FALSE(test, ftl_write_is_quick(ftl, params.unit_pages + 1, 0));
	for (u32 i = 0; i < 3 * nr_lpns(ftl); i++) {
		struct ftl_request rq = request(random_lpn(ftl, &state, nr_lpns(ftl)), 1);
		bool is_write = i % 4;
		bool is_quick = is_write ? ftl_write_is_quick(ftl, 1, 0) : ftl_read_is_quick(ftl);
		u64 before = collected(ftl);

		rq.hint = i % 3 ? FTL_HINT_NONE : FTL_HINT_OVERWRITE;
		now_ns += i % 1000 ? 10000 : 100000000;
		if (is_write)
			ftl_write(ftl, &rq, now_ns);
		else
			ftl_read(ftl, &rq, now_ns);
		if (is_quick)
			KUNIT_ASSERT_EQ(test, collected(ftl), before);
		nr_quick[is_write] += is_quick;
		nr_slow[is_write] += !is_quick;
	}
	EXPECT_CONSISTENT(test, ftl);
	for (u32 i = 0; i < 2; i++) {
		KUNIT_EXPECT_GT(test, nr_quick[i], 0ULL);
		KUNIT_EXPECT_GT(test, nr_slow[i], 0ULL);
	}
}

/* Lets time pass until no die collects in the background any more. */
static u64 rest(struct ftl *ftl, u64 now_ns)
{
	for (u32 i = 0; ftl_idle(ftl, now_ns) && i < 1000; i++)
		now_ns += 10000000;
	return now_ns;
}

/*
 * A full drive that has collected what it keeps free is quick again, for as long as the dies go on
 * in the blocks that they have open. Pages of one unit at most collect nothing then.
 */
static void drives_that_have_collected_write_quickly(struct kunit *test)
{
	static const struct drive_shape shape = { "", 4, 2, 8, 64, 40, 8, 250 };
	static const u32 hints[] = { FTL_HINT_NONE, FTL_HINT_OVERWRITE, FTL_HINT_APPEND };
	struct ftl_params params = drive_params(&shape);
	u64 state = SEED, now_ns = 0;
	u32 nr_quick_laps = 0;
	struct ftl *ftl;

	params.bg_eblks = 3;
	ftl = make_drive(test, &params);
	fill(ftl, nr_lpns(ftl));
	for (u32 lap = 0; lap < 40; lap++) {
		u32 nr_quick = 0;

		now_ns = rest(ftl, now_ns) + SECOND_NS;
		for (u32 i = 0; i < nr_lpns(ftl) / 8; i++) {
			u32 nr_pages = 1 + next_random32(&state) % params.unit_pages;
			u64 first = random_lpn(ftl, &state, nr_lpns(ftl) - nr_pages);
			struct ftl_request rq = request(first, nr_pages);
			bool is_quick = ftl_write_is_quick(ftl, nr_pages, 0);
			u64 before = collected(ftl);

			rq.hint = hints[i % ARRAY_SIZE(hints)];
			rq.pred = to_lpn(first ? first - 1 : nr_lpns(ftl) - 1);
			now_ns = ftl_write(ftl, &rq, now_ns);
			if (is_quick)
				KUNIT_ASSERT_EQ(test, collected(ftl), before);
			nr_quick += is_quick;
		}
		EXPECT_CONSISTENT(test, ftl);
		nr_quick_laps += nr_quick >= 10;
	}
	/* In the others a block that was open lacks room: it has no more than 64 units here. */
	KUNIT_EXPECT_GE(test, nr_quick_laps, 8U);
}

/*
 * The same of a drive with placement handles: whatever the one that nobody writes to lacks. What is
 * quick collects nothing, for whatever handle.
 */
static void handles_that_are_not_used_do_not_count(struct kunit *test)
{
	static const struct drive_shape shape = { "", 4, 2, 8, 64, 40, 8, 250 };
	static const u32 hints[] = { FTL_HINT_NONE, FTL_HINT_OVERWRITE, FTL_HINT_NONE };
	struct ftl_params params = drive_params(&shape);
	u64 state = SEED, now_ns = 0;
	u32 nr_quick[3] = { 0 };
	struct ftl *ftl;

	params.bg_eblks = 3;
	add_handles(&params, 4);
	ftl = make_drive(test, &params);
	fill(ftl, nr_lpns(ftl));
	for (u32 lap = 0; lap < 40; lap++) {
		now_ns = rest(ftl, now_ns) + SECOND_NS;
		for (u32 i = 0; i < nr_lpns(ftl) / 8; i++) {
			u32 nr_pages = 1 + next_random32(&state) % params.unit_pages;
			u64 first = random_lpn(ftl, &state, nr_lpns(ftl) - nr_pages);
			struct ftl_request rq = request(first, nr_pages);
			u64 before = collected(ftl);
			bool is_quick;

			rq.hint = hints[i % ARRAY_SIZE(hints)];
			rq.handle = i / 3 % 3;
			is_quick = ftl_write_is_quick(ftl, nr_pages, rq.handle);
			now_ns = ftl_write(ftl, &rq, now_ns);
			if (is_quick)
				KUNIT_ASSERT_EQ(test, collected(ftl), before);
			/* By then each die has collected down to what it keeps free. */
			nr_quick[rq.handle] += is_quick && lap >= 20;
		}
		EXPECT_CONSISTENT(test, ftl);
	}
	for (u32 i = 0; i < ARRAY_SIZE(nr_quick); i++)
		KUNIT_EXPECT_GT(test, nr_quick[i], 20U);
}

/* What a drive does besides is not bounded by what a command asks for. */
static void drives_with_work_of_their_own_are_not_quick(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	struct ftl *ftl;

	params.plp = false;
	ftl = make_drive(test, &params);
	KUNIT_EXPECT_TRUE(test, ftl_read_is_quick(ftl));
	KUNIT_EXPECT_FALSE(test, ftl_write_is_quick(ftl, 1, 0));
	params.read_ahead_pages = 16;
	ftl = make_drive(test, &params);
	KUNIT_EXPECT_FALSE(test, ftl_read_is_quick(ftl));
}

/* A die that is idle collects before anybody waits for it, and commands do not see it. */
static void idle_dies_collect(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	u64 state = SEED, now_ns = 0;
	struct ftl *ftl;

	params.bg_eblks = 3;
	ftl = make_drive(test, &params);
	fill(ftl, nr_lpns(ftl));
	for (u32 i = 0; i < nr_lpns(ftl); i++) {
		struct ftl_request rq = request(random_lpn(ftl, &state, nr_lpns(ftl)), 1);

		now_ns = ftl_write(ftl, &rq, now_ns);
	}
	for (u32 i = 0; ftl_idle(ftl, now_ns) && i < 1000; i++)
		now_ns += 10000000;
	EXPECT_CONSISTENT(test, ftl);
	for (u32 die = 0; die < ftl->geo.nr_dies; die++) {
		KUNIT_EXPECT_FALSE(test, ftl_gc_wants(ftl, to_die(die)));
		KUNIT_EXPECT_LE(test, ftl->nand.die[die].busy_until_ns, now_ns + 10000000);
	}
	KUNIT_EXPECT_FALSE(test, ftl_idle(ftl, now_ns));
}

static void dies_that_are_asked_often_do_not_collect_in_between(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	struct ftl *ftl;
	u64 nr_runs;

	params.bg_eblks = params.eblks_per_die;
	ftl = make_drive(test, &params);
	write_plain(ftl, 0, 8 * ftl->geo.eblk_pages);
	trim(ftl, 0, ftl->geo.eblk_pages);
	nr_runs = stats_of(ftl).gc_runs;
	for (u32 i = 0; i < 1000; i++) {
		struct ftl_request rq = request(4 * ftl->geo.eblk_pages, 8 * ftl->geo.nr_dies);

		ftl_read(ftl, &rq, SECOND_NS + i * 500000ULL);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).gc_runs, nr_runs);
	for (u32 i = 0; i < 8; i++)
		ftl_idle(ftl, (2 + i) * SECOND_NS);
	KUNIT_EXPECT_GT(test, stats_of(ftl).gc_runs, nr_runs);
}

static void collection_pads_nothing(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u64 state = SEED;

	fill(ftl, nr_lpns(ftl));
	for (u32 i = 0; i < 3 * nr_lpns(ftl); i++)
		write_plain(ftl, random_lpn(ftl, &state, nr_lpns(ftl)), 1);
	KUNIT_EXPECT_GT(test, stats_of(ftl).gc_runs, 0ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_padded, 0ULL);
}

/* With a volatile buffer, flushes program the units of collection, too. */
static void flushes_do_not_wedge_a_full_drive(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));
	u64 state = SEED;
	struct ftl *ftl;

	params.plp = false;
	ftl = make_drive(test, &params);
	fill(ftl, nr_lpns(ftl));
	for (u32 i = 0; i < 2 * nr_lpns(ftl); i++) {
		write_over(ftl, random_lpn(ftl, &state, nr_lpns(ftl)), 1);
		if (i % 3 == 0)
			ftl_flush(ftl, 0);
	}
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, nr_lpns(ftl));
}

static void trimmed_pages_are_not_moved(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u64 nr_written = 0;

	/* Everything that is written is trimmed before it can be collected. */
	while (nr_written < 8ULL * ftl->geo.nr_pages) {
		u32 nr = ftl->geo.unit_pages * ftl->geo.nr_dies;

		write_plain(ftl, 0, nr);
		trim(ftl, 0, nr);
		nr_written += nr;
	}
	for (u32 die = 0; die < ftl->geo.nr_dies; die++) {
		struct ftl_die_stats stats;

		ftl_get_die_stats(ftl, to_die(die), &stats);
		KUNIT_EXPECT_GT(test, stats.eblks_erased, 0ULL);
		KUNIT_EXPECT_EQ(test, stats.pages_gc, 0ULL);
	}
	EXPECT_CONSISTENT(test, ftl);
}

/* Erases of a die differ by little: free blocks are used in turn. */
static void erases_are_spread(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 least = U32_MAX, most = 0;

	fill(ftl, div_u64(nr_lpns(ftl), 2));
	for (u32 i = 0; i < 40 * ftl->geo.nr_units; i++)
		write_plain(ftl, 0, ftl->geo.unit_pages);
	for (u32 eblk = 0; eblk < ftl->geo.nr_eblks; eblk++) {
		if (ftl->blocks.eblk[eblk].nr_valid)
			continue;
		least = min(least, ftl->blocks.eblk[eblk].nr_erases);
		most = max(most, ftl->blocks.eblk[eblk].nr_erases);
	}
	KUNIT_EXPECT_GT(test, least, 0U);
	KUNIT_EXPECT_LE(test, most, 2 * least);
}

/* The host waits for room in the buffer, not for the block that is collected. */
static void write_does_not_wait_for_the_erase(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	struct ftl *ftl = make_drive(test, &params);
	u64 state = SEED, now_ns = 0, nr_waits = 0;

	fill(ftl, nr_lpns(ftl));
	for (u32 i = 0; i < 2 * nr_lpns(ftl); i++) {
		struct ftl_request rq = request(random_lpn(ftl, &state, nr_lpns(ftl)), 1);
		u64 nr_erased = stats_of(ftl).gc_runs;
		u64 done_ns;

		now_ns += 10000000;
		done_ns = ftl_write(ftl, &rq, now_ns);
		if (stats_of(ftl).gc_runs == nr_erased)
			continue;
		nr_waits++;
		KUNIT_ASSERT_LT(test, done_ns - now_ns, 100000ULL);
	}
	KUNIT_EXPECT_GT(test, nr_waits, 0ULL);
}

static struct kunit_case gc_cases[] = {
	KUNIT_CASE_PARAM(full_drive_takes_plain_writes_for_ever, shape_gen_params),
	KUNIT_CASE_PARAM(hints_to_one_die_do_not_wedge_a_full_drive, shape_gen_params),
	KUNIT_CASE_PARAM(overwritten_pages_outlive_collection_on_their_dies, shape_gen_params),
	KUNIT_CASE_PARAM(moved_units_stay_together_and_in_order, shape_gen_params),
	KUNIT_CASE(rows_of_a_victim_come_together),
	KUNIT_CASE(idle_dies_collect),
	KUNIT_CASE(dies_that_are_asked_often_do_not_collect_in_between),
	KUNIT_CASE_PARAM(collection_pads_nothing, shape_gen_params),
	KUNIT_CASE_PARAM(flushes_do_not_wedge_a_full_drive, shape_gen_params),
	KUNIT_CASE_PARAM(trimmed_pages_are_not_moved, shape_gen_params),
	KUNIT_CASE_PARAM(erases_are_spread, shape_gen_params),
	KUNIT_CASE(write_does_not_wait_for_the_erase),
	KUNIT_CASE(what_is_quick_collects_nothing),
	KUNIT_CASE(drives_that_have_collected_write_quickly),
	KUNIT_CASE(handles_that_are_not_used_do_not_count),
	KUNIT_CASE(drives_with_work_of_their_own_are_not_quick),
	{}
};

static struct kunit_suite gc_suite = {
	.name = "nvmev_gc",
	.test_cases = gc_cases,
};

kunit_test_suite(gc_suite);

MODULE_DESCRIPTION("Collection of erase blocks");
MODULE_LICENSE("GPL");
