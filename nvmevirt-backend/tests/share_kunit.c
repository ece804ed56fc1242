// SPDX-License-Identifier: GPL-2.0-only
/* Pages that share a place: who owns it, what writes, trims and collection do to it. */
#include "drive_kunit.h"

#define UNIT_PAGES	4
#define NR_COMMANDS	4000
#define SECOND_NS	1000000000ULL

static struct ftl_params share_params(bool oob)
{
	const struct drive_shape shape = { "small", 2, 1, UNIT_PAGES, 4, 24, 4, 70 };
	struct ftl_params params = drive_params(&shape);

	params.oob = oob;
	params.share_pages = 64;
	params.share_log_kib = 4;
	params.nr_lpns = ftl_params_capacity(&params);
	return params;
}

static struct ftl *make_share_drive(struct kunit *test, bool oob)
{
	struct ftl_params params = share_params(oob);

	return make_drive(test, &params);
}

static enum ftl_share_result share(struct ftl *ftl, u64 to, u64 from, u32 nr)
{
	const struct ftl_share_range range = { to_lpn(to), to_lpn(from), nr };
	u64 done_ns;

	return ftl_share(ftl, &range, 1, 0, &done_ns);
}

static void expect_same_place(struct kunit *test, const struct ftl *ftl, u64 a, u64 b)
{
	KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(a)));
	KUNIT_EXPECT_EQ(test, from_ppn(ftl_l2p_get(&ftl->map, to_lpn(a))),
			from_ppn(ftl_l2p_get(&ftl->map, to_lpn(b))));
}

static void shared_page_costs_no_program(struct kunit *test)
{
	struct ftl *ftl = make_share_drive(test, false);
	struct ftl_stats before, after;

	write_plain(ftl, 0, 2 * UNIT_PAGES);
	before = stats_of(ftl);
	KUNIT_EXPECT_EQ(test, share(ftl, 20, 0, 2 * UNIT_PAGES), FTL_SHARE_DONE);
	after = stats_of(ftl);
	KUNIT_EXPECT_EQ(test, after.nand_pages_programmed, before.nand_pages_programmed);
	KUNIT_EXPECT_EQ(test, after.pages_shared, 2ULL * UNIT_PAGES);
	KUNIT_EXPECT_EQ(test, after.pages_mapped, 4ULL * UNIT_PAGES);
	for (u64 lpn = 0; lpn < 2 * UNIT_PAGES; lpn++)
		expect_same_place(test, ftl, 20 + lpn, lpn);
	EXPECT_CONSISTENT(test, ftl);
}

static void buffered_data_is_programmed_first(struct kunit *test)
{
	struct ftl *ftl = make_share_drive(test, false);

	write_plain(ftl, 0, 1);
	KUNIT_EXPECT_NOT_NULL(test, open_unit_of(ftl, 0));
	KUNIT_EXPECT_EQ(test, share(ftl, 9, 0, 1), FTL_SHARE_DONE);
	KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, 0));
	expect_same_place(test, ftl, 9, 0);
	EXPECT_CONSISTENT(test, ftl);
}

static void each_owner_may_go_first(struct kunit *test)
{
	for (u32 turn = 0; turn < 8; turn++) {
		struct ftl *ftl = make_share_drive(test, turn & 4);
		u64 goes = turn & 1 ? 9 : 0, stays = turn & 1 ? 0 : 9;
		u64 unit;

		write_plain(ftl, 0, UNIT_PAGES);
		share(ftl, 9, 0, 1);
		unit = unit_of(ftl, 0);
		if (turn & 2)
			trim(ftl, goes, 1);
		else
			write_plain(ftl, goes, 1);
		KUNIT_EXPECT_EQ(test, unit_of(ftl, stays), unit);
		KUNIT_EXPECT_NE(test, unit_of(ftl, goes), unit);
		KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_shared, 0ULL);
		EXPECT_CONSISTENT(test, ftl);
		trim(ftl, stays, 1);
		KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(stays)));
		KUNIT_EXPECT_EQ(test, ftl->share.nr, 0U);
		EXPECT_CONSISTENT(test, ftl);
	}
}

static void overwrite_of_one_owner_stays_on_its_die(struct kunit *test)
{
	struct ftl *ftl = make_share_drive(test, false);

	write_plain(ftl, 0, UNIT_PAGES);
	share(ftl, 40, 0, UNIT_PAGES);
	write_over(ftl, 40, UNIT_PAGES);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 40), die_of(ftl, 0));
	KUNIT_EXPECT_NE(test, unit_of(ftl, 40), unit_of(ftl, 0));
	EXPECT_CONSISTENT(test, ftl);
}

static void many_pages_share_one_place(struct kunit *test)
{
	struct ftl *ftl = make_share_drive(test, true);

	write_plain(ftl, 0, UNIT_PAGES);
	for (u64 lpn = 10; lpn < 40; lpn++)
		KUNIT_EXPECT_EQ(test, share(ftl, lpn, lpn % 2 ? 0 : lpn > 10 ? lpn - 1 : 0, 1),
				FTL_SHARE_DONE);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_shared, 30ULL);
	/* A command over all of them gives up the place step by step. */
	write_plain(ftl, 10, 29);
	expect_same_place(test, ftl, 39, 0);
	EXPECT_CONSISTENT(test, ftl);
}

static void impossible_commands_do_nothing(struct kunit *test)
{
	struct ftl *ftl = make_share_drive(test, true);
	const struct ftl_share_range twice[] = {
		{ to_lpn(20), to_lpn(0), 2 },
		{ to_lpn(21), to_lpn(4), 2 },
	};
	const struct ftl_share_range hole[] = {
		{ to_lpn(20), to_lpn(0), 2 },
		{ to_lpn(30), to_lpn(7), 2 },
	};
	u64 done_ns;

	write_plain(ftl, 0, 2 * UNIT_PAGES);
	KUNIT_EXPECT_EQ(test, share(ftl, 1, 0, 2), FTL_SHARE_OVERLAP);
	KUNIT_EXPECT_EQ(test, ftl_share(ftl, twice, 2, 0, &done_ns), FTL_SHARE_OVERLAP);
	KUNIT_EXPECT_EQ(test, ftl_share(ftl, hole, 2, 0, &done_ns), FTL_SHARE_UNMAPPED);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_remapped, 0ULL);
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(20)));
	EXPECT_CONSISTENT(test, ftl);
}

static void full_table_refuses(struct kunit *test)
{
	struct ftl *ftl = make_share_drive(test, false);

	write_plain(ftl, 0, 2 * UNIT_PAGES);
	for (u32 i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, share(ftl, 10 + i * 8, 0, 8), FTL_SHARE_DONE);
	KUNIT_EXPECT_EQ(test, share(ftl, 90, 0, 1), FTL_SHARE_FULL);
	trim(ftl, 10, 1);
	KUNIT_EXPECT_EQ(test, share(ftl, 90, 0, 1), FTL_SHARE_DONE);
	EXPECT_CONSISTENT(test, ftl);
}

/* Overwrites the pages before @end at random, many times each. */
static void churn(struct ftl *ftl, u64 end)
{
	u64 random = 1;

	for (u64 lpn = 0; lpn < end; lpn++)
		write_plain(ftl, lpn, 1);
	for (u64 i = 0; i < 8 * end; i++)
		write_plain(ftl, next_random32(&random) % end, 1);
}

static void collection_takes_all_owners_along(struct kunit *test)
{
	for (u32 oob = 0; oob < 2; oob++) {
		struct ftl *ftl = make_share_drive(test, oob);
		u64 last = ftl->params.nr_lpns - 2 * UNIT_PAGES;
		u64 unit;

		write_plain(ftl, last, UNIT_PAGES);
		share(ftl, last + UNIT_PAGES, last, UNIT_PAGES);
		unit = unit_of(ftl, last);
		churn(ftl, last);
		KUNIT_EXPECT_NE(test, unit_of(ftl, last), unit);
		for (u64 i = 0; i < UNIT_PAGES; i++)
			expect_same_place(test, ftl, last + i, last + UNIT_PAGES + i);
		EXPECT_CONSISTENT(test, ftl);
	}
}

/* Rows through the same places in different orders: none begins where a row begins. */
static void collection_ends_on_tangled_rows(struct kunit *test)
{
	struct ftl *ftl = make_share_drive(test, false);
	u64 last = ftl->params.nr_lpns - 16;

	/* Owners: [last + 2, last + 8], [last + 9, last + 1] */
	write_plain(ftl, last, 1);
	write_plain(ftl, last + 2, 1);
	write_plain(ftl, last + 9, 1);
	write_plain(ftl, last + 11, 1);
	share(ftl, last + 8, last + 2, 1);
	share(ftl, last + 1, last + 9, 1);
	share(ftl, last + 10, last, 1);
	churn(ftl, last);
	expect_same_place(test, ftl, last + 8, last + 2);
	expect_same_place(test, ftl, last + 1, last + 9);
	EXPECT_CONSISTENT(test, ftl);
}

/* Neighbours in one place: whoever is the owner for the map, a row has it once. */
static void neighbours_in_one_place_are_moved_once(struct kunit *test)
{
	struct ftl *ftl = make_share_drive(test, false);
	u64 last = ftl->params.nr_lpns - 16;

	write_plain(ftl, last, 16);
	share(ftl, last + 1, last, 1);
	share(ftl, last + 4, last + 5, 1);
	share(ftl, last + 8, last + 11, 1);
	share(ftl, last + 9, last + 10, 1);
	churn(ftl, last);
	expect_same_place(test, ftl, last + 1, last);
	expect_same_place(test, ftl, last + 4, last + 5);
	expect_same_place(test, ftl, last + 8, last + 11);
	expect_same_place(test, ftl, last + 9, last + 10);
	EXPECT_CONSISTENT(test, ftl);
}

/* A power failure before the command is durable brings back what the pages had. */
static void old_data_is_not_erased_before_the_command_is_durable(struct kunit *test)
{
	struct ftl_params params = share_params(true);
	const struct ftl_share_range range = { to_lpn(0), to_lpn(20), 2 };
	u64 now_ns, done_ns;
	struct ftl *ftl;
	u32 eblk;

	params.plp = false;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	write_plain(ftl, 0, UNIT_PAGES);
	now_ns = ftl_flush(ftl, 0);
	eblk = unit_of(ftl, 0) / params.units_per_eblk;
	write_plain(ftl, 20, UNIT_PAGES);
	/* One page has newer data in an open unit, and what it replaces on NAND. */
	write_plain(ftl, 1, 1);
	KUNIT_EXPECT_NOT_NULL(test, open_unit_of(ftl, 1));
	KUNIT_EXPECT_EQ(test, ftl_share(ftl, &range, 1, now_ns, &done_ns), FTL_SHARE_DONE);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_programs, 0ULL);
	/* To erase it takes the program of the log first. */
	KUNIT_EXPECT_GE(test, ftl_rescue(ftl, eblk, done_ns), done_ns + params.program_ns);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_programs, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl_rescue(ftl, eblk, now_ns), ftl->log_ns);
	EXPECT_CONSISTENT(test, ftl);
}

static void last_owner_is_named_by_collection(struct kunit *test)
{
	struct ftl *ftl = make_share_drive(test, true);
	u64 last = ftl->params.nr_lpns - 2 * UNIT_PAGES;
	ppn_t ppn;
	u64 seq;

	write_plain(ftl, last, UNIT_PAGES);
	share(ftl, last + UNIT_PAGES, last, UNIT_PAGES);
	trim(ftl, last, UNIT_PAGES);
	seq = ftl_seq_of(ftl, to_lpn(last + UNIT_PAGES));
	KUNIT_EXPECT_EQ(test, ftl->share.nr, (u32)UNIT_PAGES);
	churn(ftl, last);
	KUNIT_EXPECT_EQ(test, ftl->share.nr, 0U);
	KUNIT_EXPECT_EQ(test, ftl_seq_of(ftl, to_lpn(last + UNIT_PAGES)), seq);
	ppn = ftl_l2p_get(&ftl->map, to_lpn(last + UNIT_PAGES));
	KUNIT_EXPECT_EQ(test, from_lpn(ftl_oob_owner(&ftl->oob, ppn)), last + UNIT_PAGES);
	/* So the log can do without the entries. */
	ftl_defrag_compact(&ftl->map);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_entries, 0ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void full_log_is_compacted(struct kunit *test)
{
	struct ftl *ftl = make_share_drive(test, true);
	u32 max = ftl->oob.max_defrag;

	write_plain(ftl, 0, UNIT_PAGES);
	write_plain(ftl, 4, UNIT_PAGES);
	/* The same page over and over: all entries but the last are outdated. */
	for (u32 i = 0; i < 3 * max; i++) {
		KUNIT_EXPECT_EQ(test, share(ftl, 20, i % 8, 1), FTL_SHARE_DONE);
		KUNIT_EXPECT_LE(test, stats_of(ftl).defrag_entries, (u64)max);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_compactions, 3ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_kept, 3ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void log_of_entries_in_force_refuses(struct kunit *test)
{
	struct ftl_params params = share_params(true);
	struct ftl *ftl;
	u32 max, nr = 0;

	params.share_pages = params.nr_lpns;
	ftl = make_drive(test, &params);
	max = ftl->oob.max_defrag;
	write_plain(ftl, 0, UNIT_PAGES);
	while (share(ftl, 10 + nr, 0, 1) == FTL_SHARE_DONE)
		nr++;
	KUNIT_EXPECT_EQ(test, nr, max);
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(10 + nr)));
	trim(ftl, 10, 1);
	KUNIT_EXPECT_EQ(test, share(ftl, 10, 0, 1), FTL_SHARE_DONE);
	EXPECT_CONSISTENT(test, ftl);
}

static void volatile_drive_keeps_whole_commands(struct kunit *test)
{
	struct ftl_params params = share_params(true);
	const struct ftl_share_range range = { to_lpn(20), to_lpn(0), UNIT_PAGES };
	u64 written_ns, shared_ns;
	struct ftl *ftl;

	params.plp = false;
	params.nr_lpns = ftl_params_capacity(&params);
	for (u32 turn = 0; turn < 2; turn++) {
		ftl = make_drive(test, &params);
		write_plain(ftl, 0, UNIT_PAGES);
		written_ns = ftl_flush(ftl, 0);
		KUNIT_EXPECT_EQ(test, ftl_share(ftl, &range, 1, written_ns, &shared_ns),
				FTL_SHARE_DONE);
		KUNIT_EXPECT_LT(test, shared_ns, written_ns + params.program_ns);
		ftl_advance(ftl, shared_ns);
		KUNIT_EXPECT_FALSE(test, ftl_is_durable(ftl, to_lpn(20)));
		shared_ns = ftl_flush(ftl, shared_ns);
		KUNIT_EXPECT_GE(test, shared_ns, written_ns + params.program_ns);
		ftl_power_cut(ftl, turn ? shared_ns : shared_ns - 1);
		KUNIT_EXPECT_NULL(test, ftl_rebuild(ftl, shared_ns));
		KUNIT_EXPECT_EQ(test, ftl_is_mapped(ftl, to_lpn(20)), turn);
		KUNIT_EXPECT_EQ(test, ftl_is_mapped(ftl, to_lpn(23)), turn);
		KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(0)));
		EXPECT_CONSISTENT(test, ftl);
	}
}

/* A drive that loses its buffer, with some pages on NAND and durable. */
static struct ftl *make_durable(struct kunit *test, u32 nr_pages)
{
	struct ftl_params params = share_params(true);
	struct ftl *ftl;

	params.plp = false;
	params.eblks_per_die = 40;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	write_plain(ftl, 0, nr_pages);
	ftl_advance(ftl, ftl_flush(ftl, 0));
	return ftl;
}

static void fail_power(struct kunit *test, struct ftl *ftl, u64 now_ns)
{
	const char *reason;

	ftl_power_cut(ftl, now_ns);
	reason = ftl_rebuild(ftl, now_ns);
	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	EXPECT_CONSISTENT(test, ftl);
}

/* The last owner's data is written under its name only when the command is sure to stay. */
static void data_is_not_named_before_its_command_commits(struct kunit *test)
{
	struct ftl *ftl = make_durable(test, UNIT_PAGES);
	const struct ftl_share_range range = { to_lpn(9), to_lpn(0), 1 };
	u64 now_ns;

	/* The log's entry waits for a flush. */
	ftl_share(ftl, &range, 1, ftl->now_ns, &now_ns);
	write_plain(ftl, 0, 1);
	KUNIT_ASSERT_EQ(test, from_lpn(ftl_l2p_owner(&ftl->map, ftl_l2p_get(&ftl->map, to_lpn(9)))),
			9ULL);
	ftl_gc_make_room(ftl, ftl_die_of(ftl, to_lpn(9)), now_ns);
	ftl_gc_move_row(ftl, ftl_die_of(ftl, to_lpn(9)), 9, 1, now_ns);
	now_ns = ftl_program_collected_open(ftl, ftl->units.die[die_of(ftl, 9)].gc, now_ns);
	fail_power(test, ftl, now_ns);
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(9)));
}

/* What a page had since a command before stays in the log until the next one is in it. */
static void outdated_entry_stays_until_the_newer_commits(struct kunit *test)
{
	struct ftl *ftl = make_durable(test, 2 * UNIT_PAGES);
	const struct ftl_share_range first = { to_lpn(9), to_lpn(0), 1 };
	const struct ftl_share_range second = { to_lpn(9), to_lpn(UNIT_PAGES), 1 };
	u64 commit_ns, seq;

	ftl_share(ftl, &first, 1, ftl->now_ns, &commit_ns);
	commit_ns = ftl_flush(ftl, commit_ns);
	ftl_advance(ftl, commit_ns);
	seq = ftl_seq_of(ftl, to_lpn(9));
	ftl_share(ftl, &second, 1, commit_ns, &commit_ns);
	commit_ns = ftl_flush(ftl, commit_ns);
	KUNIT_ASSERT_LT(test, ftl->now_ns, commit_ns);
	ftl_defrag_compact(&ftl->map);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_entries, 2ULL);
	fail_power(test, ftl, commit_ns - 1);
	KUNIT_EXPECT_EQ(test, ftl_seq_of(ftl, to_lpn(9)), seq);
	expect_same_place(test, ftl, 9, 0);
	/* Later it goes. */
	ftl_share(ftl, &second, 1, ftl->now_ns, &commit_ns);
	commit_ns = ftl_flush(ftl, commit_ns);
	ftl_advance(ftl, commit_ns);
	ftl_defrag_compact(&ftl->map);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_entries, 1ULL);
	fail_power(test, ftl, commit_ns);
	expect_same_place(test, ftl, 9, UNIT_PAGES);
}

/* On a volatile drive each flush takes a program; a protected one fills them. */
static void log_takes_programs_of_all_dies(struct kunit *test)
{
	struct ftl *ftl = make_durable(test, UNIT_PAGES);
	u32 nr_erased = ftl->nand.die[0].eblks_erased;
	u64 busy_ns[2], commit_ns;

	for (u32 i = 0; i < 2; i++)
		busy_ns[i] = ftl->nand.die[i].busy_ns;
	for (u32 i = 0; i < 10; i++) {
		const struct ftl_share_range range = { to_lpn(9 + i), to_lpn(0), 1 };
		u64 now_ns = ftl->now_ns;

		KUNIT_ASSERT_EQ(test, ftl_share(ftl, &range, 1, now_ns, &commit_ns),
				FTL_SHARE_DONE);
		commit_ns = ftl_flush(ftl, commit_ns);
		KUNIT_EXPECT_GE(test, commit_ns, now_ns + ftl->params.program_ns);
		ftl_advance(ftl, commit_ns);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_programs, 10ULL);
	for (u32 i = 0; i < 2; i++)
		KUNIT_EXPECT_GE(test, ftl->nand.die[i].busy_ns,
				busy_ns[i] + 5ULL * ftl->params.program_ns);
	/* A block has four units; what is written again is erased before. */
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].eblks_erased, nr_erased + 1ULL);
	EXPECT_CONSISTENT(test, ftl);
	ftl = make_share_drive(test, true);
	write_plain(ftl, 0, UNIT_PAGES);
	for (u32 i = 0; i < 500; i++)
		share(ftl, 9, i % 2, 1);
	KUNIT_EXPECT_GE(test, stats_of(ftl).defrag_programs, 1ULL);
	KUNIT_EXPECT_LE(test, stats_of(ftl).defrag_programs, 2ULL);
	EXPECT_CONSISTENT(test, ftl);
}

/* What nobody has flushed needs no program, until there is enough for one. */
static void commands_share_programs_of_the_log(struct kunit *test)
{
	struct ftl *ftl = make_durable(test, UNIT_PAGES);
	u32 per_program = UNIT_PAGES * FTL_PAGE_BYTES / sizeof(struct ftl_defrag_entry);
	u64 now_ns = ftl->now_ns;

	KUNIT_ASSERT_GT(test, per_program, 10U);
	for (u32 i = 0; i < 10; i++) {
		const struct ftl_share_range range = { to_lpn(9 + i), to_lpn(i % UNIT_PAGES), 1 };

		KUNIT_ASSERT_EQ(test, ftl_share(ftl, &range, 1, now_ns, &now_ns), FTL_SHARE_DONE);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_programs, 0ULL);
	now_ns = ftl_flush(ftl, now_ns);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_programs, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl_flush(ftl, now_ns), now_ns + ftl->params.cmd_ns);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_programs, 1ULL);
	fail_power(test, ftl, now_ns);
	for (u32 i = 0; i < 10; i++)
		expect_same_place(test, ftl, 9 + i, i % UNIT_PAGES);
}

/* Filesystems write what names a new place before they flush. */
static void later_writes_are_not_durable_before_a_command(struct kunit *test)
{
	const struct ftl_share_range range = { to_lpn(20), to_lpn(0), UNIT_PAGES };
	struct ftl_request rq = request(60, 1);

	rq.fua = true;
	for (u32 turn = 0; turn < 2; turn++) {
		struct ftl *ftl = make_durable(test, UNIT_PAGES);
		u64 now_ns, done_ns;

		ftl_share(ftl, &range, 1, ftl->now_ns, &now_ns);
		done_ns = ftl_write(ftl, &rq, now_ns);
		KUNIT_EXPECT_GE(test, ftl->log_ns, now_ns + ftl->params.program_ns);
		KUNIT_EXPECT_GE(test, done_ns, ftl->log_ns + ftl->params.program_ns);
		fail_power(test, ftl, turn ? done_ns : ftl->log_ns);
		expect_same_place(test, ftl, 20, 0);
		KUNIT_EXPECT_EQ(test, ftl_is_mapped(ftl, to_lpn(60)), turn);
	}
}

static void nor_are_later_trims(struct kunit *test)
{
	const struct ftl_share_range range = { to_lpn(20), to_lpn(0), UNIT_PAGES };
	struct ftl *ftl = make_durable(test, UNIT_PAGES);
	u64 now_ns;

	ftl_share(ftl, &range, 1, ftl->now_ns, &now_ns);
	ftl_trim(ftl, to_lpn(0), UNIT_PAGES, now_ns);
	fail_power(test, ftl, now_ns);
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(0)));
	for (u64 lpn = 20; lpn < 20 + UNIT_PAGES; lpn++)
		KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(lpn)));
}

/* Somebody else's write has had the log programmed, which is under way when the trim comes. */
static void nor_are_trims_while_the_log_is_programmed(struct kunit *test)
{
	const struct ftl_share_range range = { to_lpn(20), to_lpn(0), UNIT_PAGES };
	struct ftl *ftl = make_durable(test, UNIT_PAGES);
	struct ftl_request rq = request(60, 1);
	u64 now_ns;

	rq.fua = true;
	ftl_share(ftl, &range, 1, ftl->now_ns, &now_ns);
	ftl_write(ftl, &rq, now_ns);
	KUNIT_ASSERT_GT(test, ftl->log_ns, now_ns);
	ftl_trim(ftl, to_lpn(0), UNIT_PAGES, now_ns);
	fail_power(test, ftl, now_ns);
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(0)));
	for (u64 lpn = 20; lpn < 20 + UNIT_PAGES; lpn++)
		KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(lpn)));
}

/* Numbers of what is durable, or 0; after a power failure pages have that or newer data. */
static void note_durable(struct ftl *ftl, u64 *seq)
{
	for (u64 lpn = 0; lpn < ftl->params.nr_lpns; lpn++)
		seq[lpn] = ftl_is_durable(ftl, to_lpn(lpn)) ? ftl_seq_of(ftl, to_lpn(lpn)) : 0;
}

/*
 * So much is booked at once that what was booked first counts as ended, erases of what pages had
 * before they were shared among it.
 */
static void crowded_drive_keeps_what_pages_had(struct kunit *test)
{
	const struct drive_shape shape = { "crowded", 2, 1, 1, 4, 60, 1, 70 };
	struct ftl_params params = drive_params(&shape);
	u64 random = 1, nr_hurried = 0;
	struct ftl *ftl;
	u64 *seq;

	params.plp = false;
	params.oob = true;
	params.share_log_kib = 4;
	params.nr_lpns = ftl_params_capacity(&params);
	params.share_pages = 90;
	ftl = make_drive(test, &params);
	seq = kunit_kcalloc(test, params.nr_lpns, sizeof(*seq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seq);
	for (u64 lpn = 0; lpn < params.nr_lpns; lpn++)
		write_plain(ftl, lpn, 1);
	for (u32 turn = 0; turn < 300; turn++) {
		u64 now_ns = ftl_flush(ftl, ftl->now_ns);

		ftl_advance(ftl, now_ns);
		note_durable(ftl, seq);
		for (u32 i = 0; i < 40; i++) {
			u64 page = next_random32(&random) % params.nr_lpns;

			if (i % 4 == 0)
				share(ftl, page, next_random32(&random) % params.nr_lpns, 1);
			else
				write_plain(ftl, page, 1);
		}
		nr_hurried += ftl->oob.nr_hurried;
		fail_power(test, ftl, now_ns + next_random32(&random) % 2000000);
		for (u64 lpn = 0; lpn < params.nr_lpns; lpn++)
			KUNIT_ASSERT_GE(test, ftl_seq_of(ftl, to_lpn(lpn)), seq[lpn]);
	}
	KUNIT_EXPECT_GT(test, nr_hurried, 100ULL);
}

/* What each page has, as numbers of writes: shares copy them, and places must agree. */
static void random_commands_keep_data_apart(struct kunit *test)
{
	for (u32 turn = 0; turn < 4; turn++) {
		struct ftl_params params = share_params(turn & 1);
		struct ftl *ftl;
		u64 random = turn + 1;
		u32 *data, nr_data = 0;

		params.bg_eblks = turn & 2 ? 4 : 0;
		params.bg_mend = turn & 2;
		ftl = make_drive(test, &params);
		data = kunit_kcalloc(test, params.nr_lpns, sizeof(*data), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, data);
		for (u32 i = 0; i < NR_COMMANDS; i++) {
			u64 a = next_random32(&random) % params.nr_lpns;
			u64 b = next_random32(&random) % params.nr_lpns;
			u32 kind = next_random32(&random) % 8;

			if (kind == 0) {
				trim(ftl, a, 1);
				data[a] = 0;
			} else if (kind < 4) {
				if (share(ftl, a, b, 1) == FTL_SHARE_DONE)
					data[a] = data[b];
			} else {
				if (kind == 5)
					write_over(ftl, a, 1);
				else
					write_plain(ftl, a, 1);
				data[a] = ++nr_data;
			}
		}
		ftl_idle(ftl, 60000000000);
		for (u64 a = 0; a < params.nr_lpns; a++) {
			KUNIT_EXPECT_EQ(test, ftl_is_mapped(ftl, to_lpn(a)), data[a] != 0);
			for (u64 b = 0; b < a && data[a]; b++)
				KUNIT_EXPECT_EQ(test, data[a] == data[b],
						from_ppn(ftl_l2p_get(&ftl->map, to_lpn(a))) ==
						from_ppn(ftl_l2p_get(&ftl->map, to_lpn(b))));
		}
		KUNIT_EXPECT_GT(test, stats_of(ftl).gc_runs, 20ULL);
		EXPECT_CONSISTENT(test, ftl);
	}
}

/* An entry is for pages in a row on both sides, with data that was written in a row. */
static void pages_in_a_row_are_one_entry(struct kunit *test)
{
	struct ftl *ftl = make_share_drive(test, true);
	const struct ftl_share_range ranges[] = {
		{ to_lpn(60), to_lpn(0), 4 },
		{ to_lpn(64), to_lpn(4), 4 },
		{ to_lpn(69), to_lpn(8), 2 },
	};
	u64 done_ns;

	write_plain(ftl, 0, 12);
	KUNIT_EXPECT_EQ(test, share(ftl, 20, 0, 12), FTL_SHARE_DONE);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_entries, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl_share(ftl, ranges, 3, 0, &done_ns), FTL_SHARE_DONE);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_entries, 3ULL);
	write_plain(ftl, 3, 1);
	KUNIT_EXPECT_EQ(test, share(ftl, 40, 0, 12), FTL_SHARE_DONE);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_entries, 6ULL);
	/* What is shared already takes nothing, and nothing comes of it. */
	KUNIT_EXPECT_EQ(test, share(ftl, 40, 0, 12), FTL_SHARE_DONE);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_entries, 6ULL);
	KUNIT_EXPECT_EQ(test, ftl_defrag_nr_pages(&ftl->oob), 12U + 10 + 12);
	EXPECT_CONSISTENT(test, ftl);
}

/* A row of pages takes no more room in the log than a page. */
static void log_has_room_for_rows(struct kunit *test)
{
	struct ftl_params params = share_params(true);
	struct ftl *ftl;
	u32 nr = params.nr_lpns / 2 - 4;

	params.share_pages = params.nr_lpns;
	ftl = make_drive(test, &params);
	KUNIT_ASSERT_GT(test, nr, ftl->oob.max_defrag);
	write_plain(ftl, 0, nr);
	KUNIT_EXPECT_EQ(test, share(ftl, nr, 0, nr), FTL_SHARE_DONE);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_entries, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_shared, (u64)nr);
	EXPECT_CONSISTENT(test, ftl);
}

/* Pages in the middle of a row go; the others are there after a power failure, and stay. */
static void row_outlives_some_of_its_pages(struct kunit *test)
{
	struct ftl *ftl = make_durable(test, 3 * UNIT_PAGES);
	const struct ftl_share_range first = { to_lpn(40), to_lpn(0), 1 };
	const struct ftl_share_range row = { to_lpn(20), to_lpn(0), 3 * UNIT_PAGES };
	u64 now_ns;

	ftl_share(ftl, &first, 1, ftl->now_ns, &now_ns);
	ftl_share(ftl, &row, 1, now_ns, &now_ns);
	write_plain(ftl, 24, UNIT_PAGES);
	ftl_trim(ftl, to_lpn(40), 1, now_ns);
	now_ns = ftl_flush(ftl, now_ns);
	ftl_advance(ftl, now_ns);
	ftl_advance(ftl, ftl_flush(ftl, now_ns));
	for (u32 turn = 0; turn < 3; turn++) {
		for (u64 lpn = 0; lpn < UNIT_PAGES; lpn++) {
			expect_same_place(test, ftl, 20 + lpn, lpn);
			expect_same_place(test, ftl, 28 + lpn, 8 + lpn);
			KUNIT_EXPECT_NULL(test, ftl_share_find(&ftl->share, to_lpn(24 + lpn)));
			KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(24 + lpn)));
		}
		ftl_defrag_compact(&ftl->map);
		/* There is room for two where the page before has gone, and one of the other. */
		KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_entries, 2ULL);
		KUNIT_EXPECT_EQ(test, ftl_defrag_nr_pages(&ftl->oob), 2U * UNIT_PAGES);
		fail_power(test, ftl, ftl->now_ns);
	}
}

/* A host has it compacted before it is full, and reads how full it is. */
static void host_has_the_log_compacted(struct kunit *test)
{
	struct ftl *ftl = make_durable(test, 2 * UNIT_PAGES);
	struct dieaware_log_defrag log;
	u64 now_ns = ftl->now_ns, nr_programs;

	for (u32 i = 0; i < 10; i++) {
		const struct ftl_share_range range = { to_lpn(20), to_lpn(i % 2 * 4), 4 };

		ftl_share(ftl, &range, 1, now_ns, &now_ns);
		ftl_advance(ftl, now_ns);
	}
	now_ns = ftl_flush(ftl, now_ns);
	ftl_advance(ftl, now_ns);
	ftl_report_defrag(ftl, &log);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(log.entries), 10U);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(log.pages), 40U);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(log.most_entries), 4096U / 40);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(log.most_pages), 2U * 64);
	nr_programs = stats_of(ftl).defrag_programs;
	KUNIT_EXPECT_GE(test, ftl_compact(ftl, now_ns), now_ns + ftl->params.program_ns);
	ftl_report_defrag(ftl, &log);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(log.entries), 1U);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(log.pages), 4U);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(log.compactions), 1ULL);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(log.kept), 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_programs, nr_programs + 1);
	fail_power(test, ftl, now_ns);
	for (u64 lpn = 0; lpn < 4; lpn++)
		expect_same_place(test, ftl, 20 + lpn, 4 + lpn);
}

/* Where there is no room for two entries, the row keeps what is outdated in it. */
static void row_is_not_cut_without_room(struct kunit *test)
{
	struct ftl *ftl = make_durable(test, 3 * UNIT_PAGES);
	const struct ftl_share_range row = { to_lpn(20), to_lpn(0), 3 * UNIT_PAGES };
	u64 now_ns;

	ftl_share(ftl, &row, 1, ftl->now_ns, &now_ns);
	now_ns = ftl_flush(ftl, now_ns);
	ftl_trim(ftl, to_lpn(20), 2, now_ns);
	ftl_trim(ftl, to_lpn(24), 1, now_ns);
	ftl_trim(ftl, to_lpn(31), 1, now_ns);
	ftl_advance(ftl, now_ns);
	ftl_defrag_compact(&ftl->map);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).defrag_entries, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl_defrag_nr_pages(&ftl->oob), 9U);
	for (u32 turn = 0; turn < 2; turn++) {
		expect_same_place(test, ftl, 22, 2);
		expect_same_place(test, ftl, 30, 10);
		KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(21)));
		KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(24)));
		fail_power(test, ftl, ftl->now_ns);
	}
}

static struct kunit_case share_cases[] = {
	KUNIT_CASE(shared_page_costs_no_program),
	KUNIT_CASE(buffered_data_is_programmed_first),
	KUNIT_CASE(each_owner_may_go_first),
	KUNIT_CASE(overwrite_of_one_owner_stays_on_its_die),
	KUNIT_CASE(many_pages_share_one_place),
	KUNIT_CASE(impossible_commands_do_nothing),
	KUNIT_CASE(full_table_refuses),
	KUNIT_CASE(collection_takes_all_owners_along),
	KUNIT_CASE(collection_ends_on_tangled_rows),
	KUNIT_CASE(neighbours_in_one_place_are_moved_once),
	KUNIT_CASE(old_data_is_not_erased_before_the_command_is_durable),
	KUNIT_CASE(last_owner_is_named_by_collection),
	KUNIT_CASE(full_log_is_compacted),
	KUNIT_CASE(log_of_entries_in_force_refuses),
	KUNIT_CASE(pages_in_a_row_are_one_entry),
	KUNIT_CASE(log_has_room_for_rows),
	KUNIT_CASE(row_outlives_some_of_its_pages),
	KUNIT_CASE(row_is_not_cut_without_room),
	KUNIT_CASE(host_has_the_log_compacted),
	KUNIT_CASE(volatile_drive_keeps_whole_commands),
	KUNIT_CASE(commands_share_programs_of_the_log),
	KUNIT_CASE(later_writes_are_not_durable_before_a_command),
	KUNIT_CASE(nor_are_later_trims),
	KUNIT_CASE(nor_are_trims_while_the_log_is_programmed),
	KUNIT_CASE(crowded_drive_keeps_what_pages_had),
	KUNIT_CASE(log_takes_programs_of_all_dies),
	KUNIT_CASE(data_is_not_named_before_its_command_commits),
	KUNIT_CASE(outdated_entry_stays_until_the_newer_commits),
	KUNIT_CASE(random_commands_keep_data_apart),
	{}
};

static struct kunit_suite share_suite = {
	.name = "nvmev_share",
	.test_cases = share_cases,
};

kunit_test_suite(share_suite);

MODULE_DESCRIPTION("Pages that share a place, and the log of them");
MODULE_LICENSE("GPL");
