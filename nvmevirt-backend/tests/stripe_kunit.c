// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stripes. Which die takes the next unit is worked out by hand on four dies. Whole units are given
 * to dies: plain ones, which go there unless a stripe is in the way, and sent ones, which do in any
 * case.
 */
#include "drive_kunit.h"

#define UNIT		4U
#define NR_DIES		4U

/* 16 KiB at 800 MB/s, and tPROG */
#define TRANSFER_NS	20480ULL
#define PROGRAM_NS	185000ULL

static const struct drive_shape four_dies = { "four dies", 2, 2, UNIT, 64, 128, 4, 70 };

static struct ftl_params stripe_params(u32 lead, bool parity)
{
	struct ftl_params params = drive_params(&four_dies);

	params.stripe_lead = lead;
	params.parity = parity;
	params.nr_lpns = ftl_params_capacity(&params);
	return params;
}

static struct ftl *stripe_drive(struct kunit *test, u32 lead, bool parity)
{
	struct ftl_params params = stripe_params(lead, parity);

	return make_drive(test, &params);
}

/* The die that takes a unit of new pages whose turn it is on @die. */
static u32 give_unit(struct ftl *ftl, u32 die)
{
	u64 first = ftl->stats.host_pages_written;

	ftl->place.cursor[0] = to_die(die);
	write_plain(ftl, first, UNIT);
	return die_of(ftl, first);
}

/* The same if a hint sends them there. */
static u32 send_unit(struct ftl *ftl, u32 die)
{
	u64 first = ftl->stats.host_pages_written;

	write_all_to_die(ftl, first, UNIT, die);
	return die_of(ftl, first);
}

static void expect_taken(struct kunit *test, struct ftl *ftl, const u32 (*units)[2], u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		u32 taken = give_unit(ftl, units[i][0]);

		KUNIT_EXPECT_EQ_MSG(test, taken, units[i][1], "unit %u", i);
	}
	EXPECT_CONSISTENT(test, ftl);
}

#define EXPECT_TAKEN(test, ftl, ...) do {					\
	static const u32 units_[][2] = { __VA_ARGS__ };				\
										\
	expect_taken(test, ftl, units_, ARRAY_SIZE(units_));			\
} while (0)

/* As if there were no room on a die for anything else. */
static void set_full(struct ftl *ftl, u32 die, bool is_full)
{
	u32 *nr_claimed = &ftl->units.die[die].nr_claimed;

	*nr_claimed += is_full ? ftl->geo.die_limit_pages : -ftl->geo.die_limit_pages;
}

static void without_stripes_a_die_takes_all(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 0, false);

	for (u32 i = 0; i < 200; i++)
		KUNIT_EXPECT_EQ(test, give_unit(ftl, 2), 2U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_moves, 0ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[2].units_programmed, 200ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void die_is_ahead_by_the_lead_and_no_more(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 3, false);

	EXPECT_TAKEN(test, ftl,
		     { 0, 0 }, { 0, 0 }, { 0, 0 },
		     /* Three stripes are open; the others wait for the first one in their order. */
		     { 0, 1 }, { 0, 2 }, { 0, 3 },
		     /* It is complete: die 0 goes on, and then the second one is in its way. */
		     { 0, 0 }, { 0, 1 });
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_moves, 4ULL);
	KUNIT_EXPECT_EQ(test, ftl->stripes.first, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).parity_programs, 0ULL);
}

static void who_has_waited_longest_takes_the_unit(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 2, false);

	EXPECT_TAKEN(test, ftl,
		     { 3, 3 }, { 1, 1 }, { 3, 3 },
		     { 3, 0 }, { 2, 2 },
		     { 3, 3 },
		     /* Of those that the second stripe waits for die 1 got there first. */
		     { 3, 1 }, { 3, 0 }, { 3, 2 });
}

static void one_open_stripe_is_filled_before_the_next_one(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 1, false);

	for (u32 i = 0; i < 10; i++)
		EXPECT_TAKEN(test, ftl, { 2, 2 }, { 2, 0 }, { 1, 1 }, { 3, 3 });
}

static void die_without_room_is_passed_over(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 1, false);

	set_full(ftl, 1, true);
	KUNIT_EXPECT_EQ(test, give_unit(ftl, 0), 0U);
	/* Dies with room have to take part all the same. */
	KUNIT_EXPECT_EQ(test, give_unit(ftl, 0), 2U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_skips, 1ULL);
	KUNIT_EXPECT_EQ(test, give_unit(ftl, 0), 3U);
	KUNIT_EXPECT_EQ(test, give_unit(ftl, 0), 0U);
	KUNIT_EXPECT_EQ(test, give_unit(ftl, 2), 2U);
	set_full(ftl, 1, false);
	/* With room again it is in the present stripe, and has nothing to make up for. */
	KUNIT_EXPECT_EQ(test, give_unit(ftl, 0), 1U);
	KUNIT_EXPECT_EQ(test, give_unit(ftl, 3), 3U);
	KUNIT_EXPECT_EQ(test, give_unit(ftl, 0), 0U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_skips, 1ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void last_die_with_room_takes_all(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 2, false);

	for (u32 die = 1; die < NR_DIES; die++)
		set_full(ftl, die, true);
	for (u32 i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, give_unit(ftl, 0), 0U);
	/* The first eight stripes are of it alone. */
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_skips, 8ULL * (NR_DIES - 1));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_moves, 0ULL);
	for (u32 die = 1; die < NR_DIES; die++)
		set_full(ftl, die, false);
	EXPECT_CONSISTENT(test, ftl);
}

static void plain_units_take_turns_as_ever(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 1, false);

	for (u32 i = 0; i < 50; i++) {
		write_plain(ftl, i * UNIT, UNIT);
		KUNIT_EXPECT_EQ(test, die_of(ftl, i * UNIT), i % NR_DIES);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_moves, 0ULL);
}

static void run_keeps_its_die_and_slower_ones_are_padded(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 2, false);

	for (u32 i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, send_unit(ftl, 2), 2U);
	EXPECT_TAKEN(test, ftl, { 1, 1 });
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_pads, 0ULL);
	/* The first stripe lacks dies 0 and 3. */
	KUNIT_EXPECT_EQ(test, send_unit(ftl, 2), 2U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_pads, 2ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_programmed, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[1].units_programmed, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[3].units_programmed, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_padded, 2ULL * UNIT);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).nand_pages_programmed, 6ULL * UNIT);
	/* The second one lacks all others. */
	KUNIT_EXPECT_EQ(test, send_unit(ftl, 2), 2U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_pads, 5ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_moves, 0ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_skips, 0ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void padding_is_a_fifth_of_the_programs_at_most(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 1, false);
	u32 nr_elsewhere = 0;

	for (u32 i = 0; i < 400; i++)
		nr_elsewhere += send_unit(ftl, 2) != 2;
	/* Four a die and one for four units; the first earns nothing, the last is not spent. */
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_pads, 16ULL + 398 / 4);
	KUNIT_EXPECT_EQ(test, (u64)nr_elsewhere, stats_of(ftl).stripe_moves);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[2].units_programmed, 400ULL - nr_elsewhere);
	EXPECT_CONSISTENT(test, ftl);
}

static void padding_takes_its_time_and_counts_for_parity(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 1, true);

	/* Stripe 0: parity on die 0. Stripe 1: on die 1. */
	KUNIT_EXPECT_EQ(test, send_unit(ftl, 2), 2U);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[1].busy_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, send_unit(ftl, 2), 2U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_pads, 2ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).parity_programs, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[1].busy_ns, PROGRAM_NS + TRANSFER_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_programmed, 1ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void what_was_put_out_keeps_its_die(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 1, false);

	EXPECT_TAKEN(test, ftl, { 1, 1 });
	/* More runs than stay open, of which each has one page of the die. */
	for (u32 i = 0; i < ftl->units.max_runs + UNIT; i++)
		write_all_to_die(ftl, 1000 + 10 * i, 1, i < UNIT ? 1 : i % 2 * 2);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_moves, 0ULL);
	for (u32 i = 0; i < UNIT; i++)
		KUNIT_EXPECT_EQ(test, die_of(ftl, 1000 + 10 * i), 1U);
	EXPECT_CONSISTENT(test, ftl);
}

static void row_goes_on_behind_where_its_unit_went(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 1, false);

	EXPECT_TAKEN(test, ftl, { 2, 2 }, { 2, 0 });
	write_append(ftl, 100, UNIT, 2 * UNIT - 1);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 100), 1U);
	EXPECT_CONSISTENT(test, ftl);
}

static void unit_that_waits_counts_when_it_is_programmed(struct kunit *test)
{
	struct ftl_params params = stripe_params(1, false);
	struct ftl *ftl;

	params.hold_ns = 1000000;
	params.wbuf_pages += 8 * UNIT;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	KUNIT_ASSERT_GE(test, ftl->units.max_held, 2U);
	KUNIT_EXPECT_EQ(test, give_unit(ftl, 2), 2U);
	KUNIT_EXPECT_EQ(test, give_unit(ftl, 2), 2U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_moves, 0ULL);
	ftl_advance(ftl, 10000000);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 0), 2U);
	KUNIT_EXPECT_EQ(test, die_of(ftl, UNIT), 0U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_moves, 1ULL);
	/* What a unit was is still known when it has waited. */
	KUNIT_EXPECT_EQ(test, send_unit(ftl, 2), 2U);
	KUNIT_EXPECT_EQ(test, send_unit(ftl, 2), 2U);
	ftl_advance(ftl, 20000000);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 2 * UNIT), 2U);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 3 * UNIT), 2U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_pads, 5ULL);
	EXPECT_CONSISTENT(test, ftl);
}

/**
 * struct told - what was told of units that went to another die
 * @nr: number of them
 * @last: the last one
 */
struct told {
	u32 nr;
	struct ftl_placement last;
};

static void hear(void *context, const struct ftl_placement *placement)
{
	struct told *told = context;

	if (placement->rule != FTL_RULE_STRIPE)
		return;
	told->nr++;
	told->last = *placement;
}

static void unit_that_goes_elsewhere_is_told(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 1, false);
	struct told told = {};

	ftl_tell_placements(ftl, hear, &told);
	give_unit(ftl, 3);
	KUNIT_EXPECT_EQ(test, told.nr, 0U);
	give_unit(ftl, 3);
	KUNIT_EXPECT_EQ(test, told.nr, 1U);
	KUNIT_EXPECT_TRUE(test, told.last.lpn == LPN_NONE);
	KUNIT_EXPECT_EQ(test, told.last.nr_pages, UNIT);
	KUNIT_EXPECT_EQ(test, from_die(told.last.before.die), 3U);
	KUNIT_EXPECT_EQ(test, from_die(told.last.wanted), 3U);
	KUNIT_EXPECT_EQ(test, from_die(told.last.after.die), 0U);
	KUNIT_EXPECT_EQ(test, told.last.after.unit, told.last.before.unit);
	KUNIT_EXPECT_STREQ(test, ftl_rule_name(told.last.rule), "7");
}

static u64 programs_of(const struct ftl *ftl, u32 die)
{
	return ftl->nand.die[die].units_programmed;
}

static void parity_of_a_stripe_is_on_the_die_of_its_number(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 4, true);

	/* Stripe 0 has its parity on die 0, stripe 1 on die 1. */
	EXPECT_TAKEN(test, ftl, { 1, 1 }, { 2, 2 });
	KUNIT_EXPECT_EQ(test, stats_of(ftl).parity_programs, 0ULL);
	EXPECT_TAKEN(test, ftl, { 3, 3 });
	KUNIT_EXPECT_EQ(test, stats_of(ftl).parity_programs, 1ULL);
	KUNIT_EXPECT_EQ(test, programs_of(ftl, 0), 1ULL);
	EXPECT_TAKEN(test, ftl, { 0, 0 }, { 2, 2 });
	KUNIT_EXPECT_EQ(test, stats_of(ftl).parity_programs, 1ULL);
	EXPECT_TAKEN(test, ftl, { 3, 3 });
	KUNIT_EXPECT_EQ(test, stats_of(ftl).parity_programs, 2ULL);
	KUNIT_EXPECT_EQ(test, programs_of(ftl, 0), 2ULL);
	KUNIT_EXPECT_EQ(test, programs_of(ftl, 1), 2ULL);
	KUNIT_EXPECT_EQ(test, programs_of(ftl, 2), 2ULL);
	KUNIT_EXPECT_EQ(test, programs_of(ftl, 3), 2ULL);
}

static void parity_takes_one_unit_of_each_stripe_in_turn(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 4, true);
	u32 nr_stripes = 4 * NR_DIES;

	for (u32 i = 0; i < nr_stripes * (NR_DIES - 1); i++)
		write_plain(ftl, i * UNIT, UNIT);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).parity_programs, (u64)nr_stripes);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).nand_pages_programmed,
			(u64)nr_stripes * NR_DIES * UNIT);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_padded, 0ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_moves, 0ULL);
	for (u32 die = 0; die < NR_DIES; die++) {
		KUNIT_EXPECT_EQ(test, programs_of(ftl, die), (u64)nr_stripes);
		KUNIT_EXPECT_EQ(test, ftl->nand.die[die].pages_host,
				(u64)nr_stripes / NR_DIES * (NR_DIES - 1) * UNIT);
	}
	EXPECT_CONSISTENT(test, ftl);
}

static void parity_waits_for_the_slowest_die(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 2, true);

	/* Die 0 is past its parity, and takes one more; die 1 has that of the next stripe. */
	EXPECT_TAKEN(test, ftl,
		     { 0, 0 }, { 1, 1 }, { 2, 2 }, { 2, 2 },
		     { 0, 3 });
	KUNIT_EXPECT_EQ(test, stats_of(ftl).parity_programs, 1ULL);
	EXPECT_TAKEN(test, ftl, { 3, 3 });
	/* Stripe 1 is complete, of dies 0, 2 and 3. */
	KUNIT_EXPECT_EQ(test, stats_of(ftl).parity_programs, 2ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_moves, 1ULL);
	KUNIT_EXPECT_EQ(test, programs_of(ftl, 1), 2ULL);
}

static void parity_takes_a_transfer_and_a_program(struct kunit *test)
{
	struct ftl *ftl = stripe_drive(test, 4, true);
	struct ftl_request rq = request(100, UNIT);
	u64 done_ns;

	give_unit(ftl, 1);
	give_unit(ftl, 2);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, 0ULL);
	rq.hint = FTL_HINT_ALL_DIE;
	rq.die = to_die(3);
	/* All channels are idle by then. */
	done_ns = ftl_write(ftl, &rq, 1000000);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, done_ns + TRANSFER_NS + PROGRAM_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[3].busy_until_ns, done_ns + TRANSFER_NS + PROGRAM_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_ns, PROGRAM_NS + TRANSFER_NS);
}

static void parity_takes_its_share_of_the_capacity(struct kunit *test)
{
	struct ftl_params params = stripe_params(4, false);

	/* Four dies of 128 x 64 x 4 pages, less 7 percent; and three of them. */
	KUNIT_EXPECT_EQ(test, ftl_params_capacity(&params), 121896ULL);
	params.parity = true;
	KUNIT_EXPECT_EQ(test, ftl_params_capacity(&params), 91422ULL);
}

static void drafts_are_beside_stripes(struct kunit *test)
{
	struct ftl_params params = stripe_params(1, true);
	struct ftl *ftl;

	params.plp = false;
	params.oob = true;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	write_all_to_die(ftl, 0, 1, 2);
	ftl_flush(ftl, 0);
	write_all_to_die(ftl, 1, 1, 2);
	ftl_flush(ftl, 0);
	KUNIT_EXPECT_EQ(test, programs_of(ftl, 2), 2ULL);
	write_all_to_die(ftl, 2, 2, 2);
	KUNIT_EXPECT_EQ(test, programs_of(ftl, 2), 3ULL);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 0), 2U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).stripe_moves, 0ULL);
	/* Now its place in the first stripe is taken. */
	EXPECT_TAKEN(test, ftl, { 2, 1 });
	EXPECT_CONSISTENT(test, ftl);
}

static void power_failure_finds_nothing_in_parity(struct kunit *test)
{
	struct ftl_params params = stripe_params(2, true);
	struct ftl *ftl;

	params.oob = true;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	for (u32 i = 0; i < 13; i++)
		write_plain(ftl, i * UNIT, UNIT);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).parity_programs, 4ULL);
	ftl_advance(ftl, 1000000000);
	ftl_power_cut(ftl, ftl->now_ns);
	KUNIT_ASSERT_NULL(test, ftl_rebuild(ftl, ftl->now_ns));
	EXPECT_CONSISTENT(test, ftl);
	for (u32 lpn = 0; lpn < 13 * UNIT; lpn++)
		KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(lpn)));
	/* What is behind a parity in its block is not lost, and nor is its place. */
	KUNIT_EXPECT_EQ(test, stats_of(ftl).parity_programs, 4ULL);
	KUNIT_EXPECT_EQ(test, ftl->stripes.first, 0ULL);
	for (u32 die = 0; die < NR_DIES; die++) {
		const struct ftl_eblk_stream *open = ftl->blocks.die[die].stream;
		u32 nr_used = open[FTL_STREAM_HOST].next_unit + open[FTL_STREAM_GC].next_unit;

		KUNIT_EXPECT_EQ_MSG(test, (u64)nr_used, programs_of(ftl, die), "die %u", die);
	}
}

/* Anything a host may do, on every shape, with stripes that are as short as they can be. */
static void drive_stays_consistent(struct kunit *test)
{
	const struct drive_shape *shape = shape_of(test);
	struct ftl_params params = drive_params(shape);
	u64 random = 20261126;
	struct ftl *ftl;
	u64 now_ns = 0;

	params.stripe_lead = 1;
	params.parity = shape->nr_channels * shape->dies_per_channel > 1;
	params.oob = true;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	for (u32 i = 0; i < 3000; i++) {
		u32 nr_pages = 1 + next_random32(&random) % (2 * shape->unit_pages);
		u64 first = next_random32(&random) % ((u32)params.nr_lpns - nr_pages);
		struct ftl_request rq = request(first, nr_pages);

		rq.hint = next_random32(&random) % 3;
		rq.pred = to_lpn(next_random32(&random) % (u32)params.nr_lpns);
		now_ns = ftl_write(ftl, &rq, now_ns);
		if (i % 50 == 20)
			trim(ftl, from_lpn(rq.first), nr_pages);
		if (i % 1000 == 500) {
			ftl_power_cut(ftl, now_ns);
			KUNIT_ASSERT_NULL(test, ftl_rebuild(ftl, now_ns));
		}
		if (i % 100 == 0)
			EXPECT_CONSISTENT(test, ftl);
	}
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_GT(test, stats_of(ftl).gc_runs, 0ULL);
	if (!params.parity)
		return;
	KUNIT_EXPECT_GT(test, stats_of(ftl).parity_programs, 0ULL);
	KUNIT_EXPECT_GT(test, stats_of(ftl).stripe_moves, 0ULL);
	KUNIT_EXPECT_GT(test, stats_of(ftl).stripe_pads, 0ULL);
}

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

static struct kunit_case stripe_cases[] = {
	KUNIT_CASE(without_stripes_a_die_takes_all),
	KUNIT_CASE(die_is_ahead_by_the_lead_and_no_more),
	KUNIT_CASE(who_has_waited_longest_takes_the_unit),
	KUNIT_CASE(one_open_stripe_is_filled_before_the_next_one),
	KUNIT_CASE(die_without_room_is_passed_over),
	KUNIT_CASE(last_die_with_room_takes_all),
	KUNIT_CASE(plain_units_take_turns_as_ever),
	KUNIT_CASE(run_keeps_its_die_and_slower_ones_are_padded),
	KUNIT_CASE(padding_is_a_fifth_of_the_programs_at_most),
	KUNIT_CASE(padding_takes_its_time_and_counts_for_parity),
	KUNIT_CASE(what_was_put_out_keeps_its_die),
	KUNIT_CASE(row_goes_on_behind_where_its_unit_went),
	KUNIT_CASE(unit_that_waits_counts_when_it_is_programmed),
	KUNIT_CASE(unit_that_goes_elsewhere_is_told),
	KUNIT_CASE(parity_of_a_stripe_is_on_the_die_of_its_number),
	KUNIT_CASE(parity_takes_one_unit_of_each_stripe_in_turn),
	KUNIT_CASE(parity_waits_for_the_slowest_die),
	KUNIT_CASE(parity_takes_a_transfer_and_a_program),
	KUNIT_CASE(parity_takes_its_share_of_the_capacity),
	KUNIT_CASE(drafts_are_beside_stripes),
	KUNIT_CASE(power_failure_finds_nothing_in_parity),
	KUNIT_CASE_PARAM(drive_stays_consistent, shape_gen_params),
	{}
};

static struct kunit_suite stripe_suite = {
	.name = "nvmev_stripe",
	.test_cases = stripe_cases,
};

kunit_test_suite(stripe_suite);

MODULE_DESCRIPTION("Stripes over all dies, and their parity");
MODULE_LICENSE("GPL");
