// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of core/place.h, one after the other, on drives of several shapes. Cases
 * look at where pages end up: die, flash unit and slot. lpn ranges that a case takes
 * as files are far apart, so that no file runs into another.
 */
#include "drive_kunit.h"

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

static u32 unit_pages(const struct ftl *ftl)
{
	return ftl->geo.unit_pages;
}

static u32 die_after(const struct ftl *ftl, u32 die)
{
	return (die + 1) % ftl->geo.nr_dies;
}

/* The first page of a file with that number; files have room for a tenth of the drive. */
static u64 file(const struct ftl *ftl, u32 nr)
{
	return div_u64(ftl_get_params(ftl)->nr_lpns, 10) * nr;
}

/* Leaves the cursor at the begin of a unit. */
static void fill_plain_unit(struct ftl *ftl, u64 first)
{
	u32 nr = unit_pages(ftl);

	if (ftl->units.plain[0])
		nr = ftl_unit_space(&ftl->units, ftl->units.plain[0]);
	write_plain(ftl, first, nr);
}

/* Rule 2 */

static void plain_pages_fill_units_die_after_die(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr_pages = 2 * ftl->geo.nr_dies * unit_pages(ftl);

	for (u32 i = 0; i < nr_pages; i++) {
		write_plain(ftl, i, 1);
		KUNIT_ASSERT_EQ(test, die_of(ftl, i), i / unit_pages(ftl) % ftl->geo.nr_dies);
	}
	for (u32 i = 0; i < nr_pages; i++) {
		KUNIT_ASSERT_EQ(test, unit_of(ftl, i),
				unit_of(ftl, rounddown(i, unit_pages(ftl))));
		KUNIT_ASSERT_EQ(test, slot_of(ftl, i), i % unit_pages(ftl));
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).writes_plain, (u64)nr_pages);
	EXPECT_CONSISTENT(test, ftl);
}

static void long_plain_write_is_placed_like_many_short_ones(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr_pages = 2 * ftl->geo.nr_dies * unit_pages(ftl) + 1;

	/* It begins in the middle of a unit, if a unit has one. */
	write_plain(ftl, file(ftl, 5), 1);
	write_plain(ftl, 0, nr_pages);
	for (u32 i = 0; i < nr_pages; i++)
		KUNIT_ASSERT_EQ(test, die_of(ftl, i),
				(i + 1) / unit_pages(ftl) % ftl->geo.nr_dies);
	EXPECT_CONSISTENT(test, ftl);
}

static void first_die_is_the_seed(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));

	for (params.seed_die = 0; params.seed_die < params.nr_channels; params.seed_die++) {
		struct ftl *ftl = make_drive(test, &params);

		write_plain(ftl, 0, 1);
		KUNIT_EXPECT_EQ(test, die_of(ftl, 0), params.seed_die);
	}
}

/* Rule 3 */

static void append_joins_the_unit_that_ends_with_its_predecessor(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);

	write_plain(ftl, 0, 1);
	for (u32 i = 1; i < unit_pages(ftl); i++) {
		write_append(ftl, i, 1, i - 1);
		KUNIT_ASSERT_EQ(test, die_of(ftl, i), 0U);
		KUNIT_ASSERT_EQ(test, slot_of(ftl, i), i);
		KUNIT_ASSERT_EQ(test, unit_of(ftl, i), unit_of(ftl, 0));
	}
	KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, 0));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_append, unit_pages(ftl) - 1ULL);
	EXPECT_CONSISTENT(test, ftl);
}

/* From every die, wherever the cursor is. */
static void append_after_a_full_unit_goes_to_the_next_die(struct kunit *test)
{
	for (u32 die = 0; die < shape_of(test)->nr_channels; die++) {
		struct ftl_params params = drive_params(shape_of(test));
		struct ftl *ftl;
		u32 nr = params.unit_pages;

		params.seed_die = die;
		ftl = make_drive(test, &params);
		write_plain(ftl, 0, nr);
		for (u32 other = 0; other < die + 2; other++)
			fill_plain_unit(ftl, file(ftl, 2) + other * nr);
		write_append(ftl, nr, 1, nr - 1);
		KUNIT_EXPECT_EQ(test, die_of(ftl, nr), die_after(ftl, die));
		KUNIT_EXPECT_EQ(test, slot_of(ftl, nr), 0U);
		EXPECT_CONSISTENT(test, ftl);
	}
}

/* The predecessor is on NAND in the middle of a unit, with somebody's page behind it. */
static void append_after_the_middle_of_a_full_unit_goes_to_the_next_die(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);

	if (unit_pages(ftl) < 3)
		kunit_skip(test, "A unit has no middle.");
	write_plain(ftl, 0, 2);
	fill_plain_unit(ftl, file(ftl, 1));
	KUNIT_ASSERT_TRUE(test, is_on_nand(ftl, 1));
	write_append(ftl, 2, 1, 1);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 2), die_after(ftl, 0));
	KUNIT_EXPECT_EQ(test, slot_of(ftl, 2), 0U);
	KUNIT_EXPECT_EQ(test, open_unit_of(ftl, 2)->kind, (u32)FTL_UNIT_RUN);
}

static void append_behind_a_foreign_page_opens_a_run(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);

	if (unit_pages(ftl) < 3)
		kunit_skip(test, "A unit has no middle.");
	write_plain(ftl, 0, 1);
	write_plain(ftl, file(ftl, 1), 1);
	write_append(ftl, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 1), die_after(ftl, 0));
	KUNIT_EXPECT_NE(test, unit_of(ftl, 1), unit_of(ftl, 0));
	/* The cursor's unit goes on without it. */
	write_plain(ftl, file(ftl, 1) + 1, 1);
	KUNIT_EXPECT_EQ(test, unit_of(ftl, file(ftl, 1) + 1), unit_of(ftl, file(ftl, 1)));
}

static void long_append_goes_round_the_dies(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = unit_pages(ftl);
	u32 nr_pages = 2 * ftl->geo.nr_dies * nr;

	write_plain(ftl, 0, nr);
	fill_plain_unit(ftl, file(ftl, 5));
	write_append(ftl, nr, nr_pages, nr - 1);
	for (u32 i = 0; i < nr_pages + nr; i++) {
		KUNIT_ASSERT_EQ(test, die_of(ftl, i), i / nr % ftl->geo.nr_dies);
		KUNIT_ASSERT_EQ(test, slot_of(ftl, i), i % nr);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_append, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).run_units_evicted, 0ULL);
	EXPECT_CONSISTENT(test, ftl);
}

/* However an appended run is cut into commands, its pages are placed the same. */
static void cut_of_an_append_does_not_matter(struct kunit *test)
{
	u64 state = 5;

	for (u32 round = 0; round < 20; round++) {
		struct ftl *ftl = make_shape(test);
		u32 nr = unit_pages(ftl);
		u32 nr_pages = 3 * nr * min(ftl->geo.nr_dies, 4U);

		write_plain(ftl, 0, nr);
		for (u32 i = nr; i < nr_pages;) {
			u32 piece = min(1 + next_random32(&state) % (2 * nr), nr_pages - i);

			write_append(ftl, i, piece, i - 1);
			i += piece;
		}
		for (u32 i = 0; i < nr_pages; i++) {
			KUNIT_ASSERT_EQ(test, die_of(ftl, i), i / nr % ftl->geo.nr_dies);
			KUNIT_ASSERT_EQ(test, slot_of(ftl, i), i % nr);
		}
	}
}

/* As many files as there are runs grow page by page, in turn, with plain pages between. */
static void growing_files_do_not_share_units(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr_files = min(shape_of(test)->run_units, 4U);
	u32 nr = unit_pages(ftl), nr_pages = 4 * nr;
	u64 other = file(ftl, 8);

	if (nr_pages > file(ftl, 1))
		kunit_skip(test, "The drive is too small for the files.");
	for (u32 i = 0; i < nr_files; i++)
		fill_plain_unit(ftl, file(ftl, i));
	for (u32 i = nr; i < nr_pages; i++) {
		for (u32 f = 0; f < nr_files; f++) {
			write_append(ftl, file(ftl, f) + i, 1, file(ftl, f) + i - 1);
			write_plain(ftl, other + (i + f) % nr, 1);
		}
	}
	for (u32 f = 0; f < nr_files; f++) {
		for (u32 i = 0; i < nr_pages; i++) {
			KUNIT_ASSERT_EQ(test, die_of(ftl, file(ftl, f) + i),
					(f + i / nr) % ftl->geo.nr_dies);
			KUNIT_ASSERT_EQ(test, slot_of(ftl, file(ftl, f) + i), i % nr);
		}
	}
	EXPECT_CONSISTENT(test, ftl);
}

/* Whatever their length, and whatever plain pages come between. */
static void files_begin_die_after_die(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr_pages = unit_pages(ftl) + 1;

	for (u32 i = 0; i < 2 * ftl->geo.nr_dies; i++) {
		u64 first = i * (nr_pages + 1);

		write_begin(ftl, first, nr_pages);
		write_plain(ftl, first + nr_pages, 1);
		KUNIT_ASSERT_EQ(test, die_of(ftl, first), i % ftl->geo.nr_dies);
		KUNIT_ASSERT_EQ(test, slot_of(ftl, first), 0U);
		/* It goes on as an append does. */
		KUNIT_ASSERT_EQ(test, die_of(ftl, first + nr_pages - 1),
				(i + 1) % ftl->geo.nr_dies);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_append, 2ULL * ftl->geo.nr_dies);
	EXPECT_CONSISTENT(test, ftl);
}

/* What was there belonged to a file that is no more. */
static void file_begins_in_a_unit_of_its_own(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);

	write_plain(ftl, 0, 1);
	write_plain(ftl, 1, 1);
	write_begin(ftl, 1, 1);
	KUNIT_EXPECT_EQ(test, slot_of(ftl, 1), 0U);
	KUNIT_EXPECT_NE(test, unit_of(ftl, 1), unit_of(ftl, 0));
	EXPECT_CONSISTENT(test, ftl);
}

static void unusable_predecessor_counts_as_no_hint(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u64 nr_lpns = ftl_get_params(ftl)->nr_lpns;
	const u64 pred[] = { nr_lpns - 1, nr_lpns, nr_lpns + 1, U64_MAX, U32_MAX, 0, 1 };

	for (u32 i = 0; i < ARRAY_SIZE(pred); i++) {
		u64 plain = stats_of(ftl).writes_plain;

		write_append(ftl, 0, 2, pred[i]);
		KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_ignored, i + 1ULL);
		KUNIT_EXPECT_EQ(test, stats_of(ftl).writes_plain, plain);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_append, 0ULL);
	EXPECT_CONSISTENT(test, ftl);
}

/* A file was deleted without a trim, and its lpn now continues another one. */
static void append_takes_its_lpn_out_of_a_foreign_unit(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = unit_pages(ftl);
	u64 a = 0, b = file(ftl, 3), lpn = file(ftl, 2) + 1;

	if (nr < 3 || shape_of(test)->run_units < 2 || ftl->geo.nr_dies < 2)
		kunit_skip(test, "There is no room for two runs.");
	fill_plain_unit(ftl, a);
	fill_plain_unit(ftl, b);
	write_append(ftl, lpn, 2, a + nr - 1);
	write_append(ftl, lpn - 1, 1, b + nr - 1);
	/* The first of a's two pages becomes the next one of b. */
	write_append(ftl, lpn, 1, lpn - 1);
	KUNIT_EXPECT_EQ(test, unit_of(ftl, lpn), unit_of(ftl, lpn - 1));
	KUNIT_EXPECT_EQ(test, slot_of(ftl, lpn), 1U);
	KUNIT_EXPECT_EQ(test, slot_of(ftl, lpn + 1), 1U);
	EXPECT_CONSISTENT(test, ftl);
	/* Written again after the same page, it stays. */
	write_append(ftl, lpn, 1, lpn - 1);
	KUNIT_EXPECT_EQ(test, slot_of(ftl, lpn), 1U);
	EXPECT_CONSISTENT(test, ftl);
}

/* A drive with so many open units that a few runs may go round all dies */
static struct ftl *make_roomy(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));

	params.register_hits = false;
	params.run_units = 32 * params.nr_channels * params.dies_per_channel;
	params.wbuf_pages += params.run_units * params.unit_pages;
	params.eblks_per_die += 128;
	params.nr_lpns = ftl_params_capacity(&params);
	return make_drive(test, &params);
}

/* Piece @nr of a file of which no two are at consecutive lpns; files take turns. */
static u64 piece_apart(u32 file_nr, u32 nr, u32 nr_pages)
{
	return (4ULL * nr + file_nr) * (nr_pages + 1);
}

static void write_piece(struct ftl *ftl, u32 file_nr, u32 nr, u32 nr_pages)
{
	u64 lpn = piece_apart(file_nr, nr, nr_pages);

	if (nr)
		write_append(ftl, lpn, nr_pages,
			     piece_apart(file_nr, nr - 1, nr_pages) + nr_pages - 1);
	else
		write_begin(ftl, lpn, nr_pages);
}

/* Two files grow by halves of units, in turn: each goes round the dies in units of its own. */
static void pieces_apart_go_round_the_dies(struct kunit *test)
{
	struct ftl *ftl = make_roomy(test);
	u32 nr_dies = ftl->geo.nr_dies, half = unit_pages(ftl) / 2;

	if (!half || unit_pages(ftl) % 2)
		kunit_skip(test, "A unit has no halves.");
	for (u32 nr = 0; nr < 4 * nr_dies; nr++) {
		for (u32 f = 0; f < 2; f++) {
			u64 lpn = piece_apart(f, nr, half);

			write_piece(ftl, f, nr, half);
			KUNIT_ASSERT_EQ(test, die_of(ftl, lpn), (f + nr) % nr_dies);
			KUNIT_ASSERT_EQ(test, slot_of(ftl, lpn), nr / nr_dies % 2 * half);
			EXPECT_CONSISTENT(test, ftl);
		}
	}
	for (u32 nr = 0; nr < nr_dies; nr++)
		KUNIT_EXPECT_EQ(test, unit_of(ftl, piece_apart(1, nr, half)),
				unit_of(ftl, piece_apart(1, nr + nr_dies, half)));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).run_units_evicted, 0ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_padded, 0ULL);
}

/* A piece for which its unit on the next die has no room is not cut: it would be sensed twice. */
static void pieces_apart_are_not_cut(struct kunit *test)
{
	struct ftl *ftl = make_roomy(test);
	u32 nr_dies = ftl->geo.nr_dies, most = unit_pages(ftl) / 2 + 1;

	if (most >= unit_pages(ftl))
		kunit_skip(test, "A unit has room for one piece only.");
	for (u32 nr = 0; nr < 3 * nr_dies; nr++) {
		u64 lpn = piece_apart(0, nr, most);

		write_piece(ftl, 0, nr, most);
		KUNIT_ASSERT_EQ(test, die_of(ftl, lpn), nr % nr_dies);
		KUNIT_ASSERT_EQ(test, unit_of(ftl, lpn + most - 1), unit_of(ftl, lpn));
		EXPECT_CONSISTENT(test, ftl);
	}
}

/*
 * Four runs, and room for four open units: were each to have a second one, all would lose theirs.
 * They go round the dies all the same, in units that they share.
 */
static void pieces_apart_share_units_where_runs_are_many(struct kunit *test)
{
	struct drive_shape shape = { "few runs", 4, 2, 8, 16, 24, 4, 100 };
	struct ftl_params params = drive_params(&shape);
	struct ftl *ftl;

	params.register_hits = false;
	ftl = make_drive(test, &params);
	for (u32 nr = 0; nr < 32; nr++) {
		for (u32 f = 0; f < 4; f++) {
			u64 lpn = piece_apart(f, nr, 2);

			write_piece(ftl, f, nr, 2);
			KUNIT_ASSERT_EQ(test, die_of(ftl, lpn), (f + nr) % 8);
		}
		EXPECT_CONSISTENT(test, ftl);
	}
	for (u32 nr = 0; nr < 32; nr++) {
		for (u32 f = 0; f < 4; f++) {
			u64 lpn = piece_apart(f, nr, 2);

			KUNIT_EXPECT_EQ(test, unit_of(ftl, lpn + 1), unit_of(ftl, lpn));
		}
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_padded, 0ULL);
}

/*
 * A run has left a unit half full, and then others have written so much that it cannot go round in
 * two. Its next pages are on the dies after their predecessors' all the same, not where there is
 * room.
 */
static void what_a_run_left_open_is_passed_over(struct kunit *test)
{
	struct drive_shape shape = { "sixteen runs", 4, 2, 8, 16, 24, 16, 200 };
	struct ftl_params params = drive_params(&shape);
	const u64 other = 1000;
	struct ftl *ftl;

	params.register_hits = false;
	ftl = make_drive(test, &params);
	write_begin(ftl, 0, 8);
	write_append(ftl, 100, 4, 7);
	write_append(ftl, 200, 8, 103);
	KUNIT_ASSERT_EQ(test, die_of(ftl, 0), 0U);
	KUNIT_ASSERT_EQ(test, die_of(ftl, 103), 1U);
	KUNIT_ASSERT_EQ(test, die_of(ftl, 207), 2U);
	write_begin(ftl, other, 8);
	for (u32 nr = 1; nr < 8; nr++)
		write_append(ftl, other + 8 * nr, 8, other + 8 * nr - 1);
	write_append(ftl, 208, 8, 207);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 208), 3U);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 215), 3U);
	write_append(ftl, 300, 4, 215);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 300), 4U);
	EXPECT_CONSISTENT(test, ftl);
}

/* Where a die reads its register twice the second piece costs no sense in the same unit. */
static void pieces_apart_share_a_unit_that_is_sensed_once(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);

	if (piece_apart(1, 4 * unit_pages(ftl), 1) > ftl_get_params(ftl)->nr_lpns)
		kunit_skip(test, "The drive is too small for the file.");
	for (u32 nr = 0; nr < 4 * unit_pages(ftl); nr++) {
		write_piece(ftl, 0, nr, 1);
		KUNIT_ASSERT_EQ(test, die_of(ftl, piece_apart(0, nr, 1)),
				nr / unit_pages(ftl) % ftl->geo.nr_dies);
	}
	EXPECT_CONSISTENT(test, ftl);
}

/* The units that a run fills in turn come and go in any order. */
static void lanes_survive_what_happens_to_them(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));
	struct ftl *ftl;
	u64 state = 21;

	params.register_hits = false;
	params.run_units = max(params.run_units, 12U);
	params.wbuf_pages += 12 * params.unit_pages;
	params.eblks_per_die += 16;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	for (u32 i = 0; i < 3000; i++) {
		u32 what = next_random32(&state) % 8, f = next_random32(&state) % 3;
		u32 nr = next_random32(&state) % 6, nr_pages = 1 + next_random32(&state) % 3;

		if (what < 6)
			write_piece(ftl, f, nr, nr_pages);
		else if (what == 6)
			trim(ftl, piece_apart(f, nr, nr_pages), nr_pages);
		else
			write_over(ftl, piece_apart(f, nr, nr_pages), nr_pages);
		EXPECT_CONSISTENT(test, ftl);
	}
}

/* Rule 1 */

static void page_in_an_open_unit_is_replaced_there(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u64 unit;

	if (unit_pages(ftl) < 3)
		kunit_skip(test, "No unit stays open.");
	write_plain(ftl, 0, 2);
	unit = unit_of(ftl, 0);
	write_plain(ftl, 0, 1);
	write_over(ftl, 0, 2);
	write_append(ftl, 1, 1, 0);
	for (u32 i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, unit_of(ftl, i), unit);
		KUNIT_EXPECT_EQ(test, slot_of(ftl, i), i);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).nand_pages_programmed, 0ULL);
	EXPECT_CONSISTENT(test, ftl);
}

/* Rule 4 */

typedef void (*visit_order_t)(void *arg, const u32 *order);

/* Calls @visit with every order of the members of @order from @at on, of @nr. */
static void visit_orders(u32 *order, u32 nr, u32 at, visit_order_t visit, void *arg)
{
	if (at == nr) {
		visit(arg, order);
		return;
	}
	for (u32 i = at; i < nr; i++) {
		swap(order[at], order[i]);
		visit_orders(order, nr, at + 1, visit, arg);
		swap(order[at], order[i]);
	}
}

/**
 * struct order_case - a unit that is overwritten page by page
 * @test: the case
 * @ftl: the drive; page 0 is the first of a full unit
 */
struct order_case {
	struct kunit *test;
	struct ftl *ftl;
};

static void overwrite_in_order(void *arg, const u32 *order)
{
	struct order_case *one = arg;
	struct ftl *ftl = one->ftl;
	u32 nr = unit_pages(ftl);
	u32 die = die_of(ftl, 0);
	u64 old = unit_of(ftl, 0);

	for (u32 i = 0; i < nr; i++) {
		/* Somebody else's page must not get in between. */
		write_plain(ftl, file(ftl, 2) + i, 1);
		write_over(ftl, order[i], 1);
	}
	for (u32 i = 0; i < nr; i++) {
		KUNIT_ASSERT_EQ(one->test, die_of(ftl, order[i]), die);
		KUNIT_ASSERT_EQ(one->test, unit_of(ftl, order[i]), unit_of(ftl, order[0]));
		KUNIT_ASSERT_EQ(one->test, slot_of(ftl, order[i]), i);
		KUNIT_ASSERT_TRUE(one->test, is_on_nand(ftl, order[i]));
	}
	KUNIT_ASSERT_NE(one->test, unit_of(ftl, 0), old);
}

static void overwritten_unit_is_gathered_in_any_order(struct kunit *test)
{
	struct order_case one = { .test = test, .ftl = make_shape(test) };
	u32 order[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	u32 nr = unit_pages(one.ftl);

	fill_plain_unit(one.ftl, file(one.ftl, 1));
	fill_plain_unit(one.ftl, 0);
	/* All orders of the last five pages. */
	visit_orders(order, nr, nr > 5 ? nr - 5 : 0, overwrite_in_order, &one);
	EXPECT_CONSISTENT(test, one.ftl);
}

static void overwritten_pages_stay_on_their_dies(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr_pages = 3 * ftl->geo.nr_dies * unit_pages(ftl);
	u64 state = 9;

	write_plain(ftl, 0, nr_pages);
	for (u32 round = 0; round < 200; round++) {
		u32 first = next_random32(&state) % nr_pages;
		u32 nr = min(1 + next_random32(&state) % 30, nr_pages - first);

		write_over(ftl, first, nr);
		write_plain(ftl, file(ftl, 8) + round % 5, 1);
	}
	for (u32 i = 0; i < nr_pages; i++)
		KUNIT_ASSERT_EQ(test, die_of(ftl, i), i / unit_pages(ftl) % ftl->geo.nr_dies);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_overwrite, 200ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_ignored, 0ULL);
	EXPECT_CONSISTENT(test, ftl);
}

/* Overwritten in commands that are not aligned to units, units stay what they were. */
static void overwritten_file_keeps_its_units(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = unit_pages(ftl), nr_pages = 4 * nr;
	u32 piece = nr / 2 + 1;

	write_plain(ftl, 0, nr_pages);
	for (u32 i = 0; i < nr_pages; i += piece)
		write_over(ftl, i, min(piece, nr_pages - i));
	for (u32 i = 0; i < nr_pages; i++) {
		KUNIT_ASSERT_EQ(test, unit_of(ftl, i), unit_of(ftl, rounddown(i, nr)));
		KUNIT_ASSERT_EQ(test, slot_of(ftl, i), i % nr);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).run_units_evicted, 0ULL);
}

static void unmapped_page_of_an_overwrite_follows_the_one_before(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = unit_pages(ftl);

	write_plain(ftl, 0, nr);
	fill_plain_unit(ftl, file(ftl, 4));
	/* The last page of the unit is mapped, those behind it are not. */
	write_over(ftl, nr - 1, nr + 1);
	KUNIT_EXPECT_EQ(test, die_of(ftl, nr - 1), 0U);
	if (nr > 1) {
		KUNIT_EXPECT_EQ(test, unit_of(ftl, nr), unit_of(ftl, nr - 1));
		KUNIT_EXPECT_EQ(test, slot_of(ftl, nr), 1U);
	}
	KUNIT_EXPECT_EQ(test, die_of(ftl, 2 * nr - 1), die_after(ftl, 0));
	EXPECT_CONSISTENT(test, ftl);
}

static void overwrite_of_nothing_is_plain(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);

	fill_plain_unit(ftl, file(ftl, 1));
	write_over(ftl, 0, 1);
	KUNIT_EXPECT_EQ(test, die_of(ftl, 0), die_after(ftl, 0));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_ignored, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).hints_overwrite, 0ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_off_die, 0ULL);
}

/* A flash unit whose number is used again must not attract an old run's pages. */
static void run_forgets_a_unit_that_was_erased(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = unit_pages(ftl);
	u64 old;

	if (nr < 3)
		kunit_skip(test, "No unit stays open.");
	write_plain(ftl, 0, nr);
	write_over(ftl, 0, 1);
	old = open_unit_of(ftl, 0)->replaces - 1;
	trim(ftl, 1, nr - 1);
	KUNIT_ASSERT_NOT_NULL(test, ftl_units_replacing(&ftl->units, old));
	for (u32 i = 0; i < 4 * ftl->geo.nr_units && ftl_units_replacing(&ftl->units, old); i++)
		write_plain(ftl, file(ftl, 5), nr);
	KUNIT_EXPECT_NULL(test, ftl_units_replacing(&ftl->units, old));
	KUNIT_EXPECT_NOT_NULL(test, open_unit_of(ftl, 0));
	EXPECT_CONSISTENT(test, ftl);
}

/* Rule 5 */

/* Appends after the same page press everything on one die. */
static void full_die_sends_pages_to_the_next_one(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = unit_pages(ftl);
	u32 target;
	u64 lpn;

	if (ftl->geo.nr_dies < 2)
		kunit_skip(test, "There is no next die.");
	write_plain(ftl, 0, 1);
	write_plain(ftl, 1, 2 * nr);
	target = die_after(ftl, die_of(ftl, 0));
	for (lpn = 1 + 2 * nr; lpn + nr <= ftl_get_params(ftl)->nr_lpns; lpn += nr)
		write_append(ftl, lpn, nr, 0);
	KUNIT_EXPECT_GT(test, stats_of(ftl).pages_off_die, 0ULL);
	KUNIT_EXPECT_LE(test, ftl->units.die[target].nr_claimed, ftl->geo.die_limit_pages);
	KUNIT_EXPECT_GT(test, ftl->units.die[target].nr_claimed + 2 * nr,
			ftl->geo.die_limit_pages);
	EXPECT_CONSISTENT(test, ftl);
}

/* Rule 6 */

/* One run more than may stay open; the first has not been used for longest. */
static void oldest_run_is_put_out(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = unit_pages(ftl), nr_files = shape_of(test)->run_units + 1;
	u32 die;

	if (nr < 3)
		kunit_skip(test, "No unit stays open.");
	for (u32 f = 0; f < nr_files; f++)
		fill_plain_unit(ftl, f * 2 * nr);
	for (u32 f = 0; f < nr_files; f++)
		write_append(ftl, f * 2 * nr + nr, 1, f * 2 * nr + nr - 1);
	die = die_after(ftl, die_of(ftl, 0));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).run_units_evicted, 1ULL);
	KUNIT_EXPECT_EQ(test, open_unit_of(ftl, nr)->kind, (u32)FTL_UNIT_MIXED);
	KUNIT_EXPECT_EQ(test, die_of(ftl, nr), die);
	for (u32 f = 1; f < nr_files; f++)
		KUNIT_EXPECT_EQ(test, open_unit_of(ftl, f * 2 * nr + nr)->kind, (u32)FTL_UNIT_RUN);
	EXPECT_CONSISTENT(test, ftl);
	/* It can still be joined while its page is the last one there. */
	write_append(ftl, nr + 1, 1, nr);
	KUNIT_EXPECT_EQ(test, unit_of(ftl, nr + 1), unit_of(ftl, nr));
}

static void used_run_stays_open(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = unit_pages(ftl), nr_files = shape_of(test)->run_units + 1;

	if (nr < 3 || nr_files < 3)
		kunit_skip(test, "There is no choice of runs.");
	for (u32 f = 0; f < nr_files; f++)
		fill_plain_unit(ftl, f * 2 * nr);
	for (u32 f = 0; f + 1 < nr_files; f++)
		write_append(ftl, f * 2 * nr + nr, 1, f * 2 * nr + nr - 1);
	/* The first run is used: by a page in place. Now the second is the oldest. */
	write_over(ftl, nr, 1);
	write_append(ftl, (nr_files - 1) * 2 * nr + nr, 1, (nr_files - 1) * 2 * nr + nr - 1);
	KUNIT_EXPECT_EQ(test, open_unit_of(ftl, nr)->kind, (u32)FTL_UNIT_RUN);
	KUNIT_EXPECT_EQ(test, open_unit_of(ftl, 2 * nr + nr)->kind, (u32)FTL_UNIT_MIXED);
}

/* Many more files than runs: pages that were put out keep their die, and share units. */
static void pages_put_out_keep_their_dies(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr = unit_pages(ftl), nr_files = 4 * shape_of(test)->run_units + 3;

	if (nr < 3 || (u64)nr_files * 2 * nr > ftl_get_params(ftl)->nr_lpns)
		kunit_skip(test, "The drive is too small for the files.");
	for (u32 f = 0; f < nr_files; f++)
		fill_plain_unit(ftl, f * 2 * nr);
	for (u32 i = 0; i < nr; i++) {
		for (u32 f = 0; f < nr_files; f++) {
			u64 lpn = f * 2 * nr + nr + i;

			write_append(ftl, lpn, 1, lpn - 1);
			EXPECT_CONSISTENT(test, ftl);
		}
	}
	for (u32 f = 0; f < nr_files; f++)
		KUNIT_EXPECT_EQ(test, die_of(ftl, f * 2 * nr + nr),
				(f + 1) % ftl->geo.nr_dies);
	KUNIT_EXPECT_GT(test, stats_of(ftl).run_units_evicted, 0ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_padded, 0ULL);
}

/* Many more files than runs, first of a page each, then of half a unit: none of these is cut. */
static void pieces_put_out_are_not_cut(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr_dies = ftl->geo.nr_dies, half = unit_pages(ftl) / 2;
	u32 nr_files = shape_of(test)->run_units + 8 * nr_dies;

	if (half < 2 || unit_pages(ftl) % 2 ||
	    (u64)nr_files * (half + 1) > ftl_get_params(ftl)->nr_lpns)
		kunit_skip(test, "A unit has no halves, or the drive is too small for the files.");
	for (u32 f = 0; f < nr_files; f++) {
		write_begin(ftl, f * (half + 1), f < nr_dies ? 1 : half);
		EXPECT_CONSISTENT(test, ftl);
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).run_units_evicted, 8ULL * nr_dies);
	for (u32 f = 0; f < nr_files; f++) {
		u32 lpn = f * (half + 1), last = f < nr_dies ? lpn : lpn + half - 1;

		KUNIT_EXPECT_EQ(test, die_of(ftl, lpn), f % nr_dies);
		KUNIT_EXPECT_EQ(test, unit_of(ftl, last), unit_of(ftl, lpn));
	}
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_padded, 0ULL);
}

/* What is told */

/**
 * struct told - what was told of decisions
 * @nr: number of decisions
 * @nr_pages: number of pages that they were on
 * @last: the last one
 */
struct told {
	u32 nr;
	u32 nr_pages;
	struct ftl_placement last;
};

static void listen(void *context, const struct ftl_placement *placement)
{
	struct told *told = context;

	told->nr++;
	if (placement->rule != FTL_RULE_PUT_OUT)
		told->nr_pages += placement->nr_pages;
	told->last = *placement;
}

/* The last page that was written is where it was said to be, by this rule. */
static void expect_told(struct kunit *test, const struct ftl *ftl, const struct told *told,
			const char *rule, u64 page)
{
	const struct ftl_placement *last = &told->last;

	KUNIT_EXPECT_STREQ(test, ftl_rule_name(last->rule), rule);
	KUNIT_EXPECT_EQ(test, from_lpn(last->lpn) + last->nr_pages - 1, page);
	KUNIT_EXPECT_EQ(test, from_die(last->after.die), die_of(ftl, page));
	KUNIT_EXPECT_EQ(test, last->after.slot + last->nr_pages - 1, slot_of(ftl, page));
}

static void each_rule_is_told_by_its_number(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	struct ftl *ftl = make_drive(test, &params);
	struct told told = {};
	u32 nr = unit_pages(ftl);

	ftl_tell_placements(ftl, listen, &told);
	write_plain(ftl, file(ftl, 0), 1);
	expect_told(test, ftl, &told, "2", file(ftl, 0));
	KUNIT_EXPECT_EQ(test, from_die(told.last.wanted), 0U);
	KUNIT_EXPECT_EQ(test, from_die(told.last.before.die), from_die(DIE_NONE));
	write_plain(ftl, file(ftl, 0), 1);
	expect_told(test, ftl, &told, "1", file(ftl, 0));
	KUNIT_EXPECT_EQ(test, told.last.before.unit, told.last.after.unit);
	KUNIT_EXPECT_EQ(test, told.last.before.nr_filled, 1U);
	write_append(ftl, file(ftl, 0) + 1, nr - 1, file(ftl, 0));
	expect_told(test, ftl, &told, "3a", file(ftl, 0) + nr - 1);
	KUNIT_EXPECT_EQ(test, told.last.pred_at.unit, told.last.after.unit);
	KUNIT_EXPECT_EQ(test, from_lpn(told.last.pred), file(ftl, 0));
	KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, file(ftl, 0)));
	write_append(ftl, file(ftl, 0) + nr, 1, file(ftl, 0) + nr - 1);
	expect_told(test, ftl, &told, "3b", file(ftl, 0) + nr);
	KUNIT_EXPECT_EQ(test, from_die(told.last.wanted), 1U);
	KUNIT_EXPECT_EQ(test, told.last.pred_at.nr_filled, 0U);
	write_begin(ftl, file(ftl, 1), 1);
	expect_told(test, ftl, &told, "3d", file(ftl, 1));
	write_over(ftl, file(ftl, 0) + 2, 1);
	expect_told(test, ftl, &told, "4", file(ftl, 0) + 2);
	KUNIT_EXPECT_EQ(test, from_die(told.last.before.die), 0U);
	KUNIT_EXPECT_EQ(test, told.last.before.slot, 2U);
	write_to_die(ftl, file(ftl, 2), 1, 5);
	expect_told(test, ftl, &told, "4 DIE", file(ftl, 2));
	KUNIT_EXPECT_EQ(test, from_die(told.last.after.die), 5U);
	for (u32 i = 0; i < 2 * ftl->units.max_runs && told.last.rule != FTL_RULE_PUT_OUT; i++)
		write_begin(ftl, file(ftl, 3) + 2 * i, 1);
	KUNIT_EXPECT_STREQ(test, ftl_rule_name(told.last.rule), "6");
	KUNIT_EXPECT_EQ(test, from_die(told.last.before.die), 1U);
	KUNIT_EXPECT_EQ(test, told.last.nr_pages, 1U);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).run_units_evicted, 1ULL);
	told.nr = 0;
	ftl_tell_placements(ftl, NULL, NULL);
	write_plain(ftl, file(ftl, 8), 1);
	KUNIT_EXPECT_EQ(test, told.nr, 0U);
}

static void pieces_apart_are_told_by_their_rule(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	struct told told = {};
	struct ftl *ftl;

	params.register_hits = false;
	ftl = make_drive(test, &params);
	ftl_tell_placements(ftl, listen, &told);
	write_append(ftl, file(ftl, 1), 1, file(ftl, 0));
	expect_told(test, ftl, &told, "2", file(ftl, 1));
	write_begin(ftl, file(ftl, 2), 1);
	write_append(ftl, file(ftl, 3), 1, file(ftl, 2));
	expect_told(test, ftl, &told, "3c", file(ftl, 3));
}

/* Each page once, and in slots that hold it */
static void each_page_is_told_of_once(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 nr_pages = min_t(u64, ftl_get_params(ftl)->nr_lpns / 2, 600);
	struct told told = {};

	ftl_tell_placements(ftl, listen, &told);
	write_plain(ftl, 0, nr_pages);
	KUNIT_EXPECT_EQ(test, told.nr_pages, nr_pages);
	write_append(ftl, nr_pages, nr_pages / 2, nr_pages - 1);
	KUNIT_EXPECT_EQ(test, told.nr_pages, nr_pages + nr_pages / 2);
	write_over(ftl, 0, nr_pages);
	KUNIT_EXPECT_EQ(test, told.nr_pages, 2 * nr_pages + nr_pages / 2);
	KUNIT_EXPECT_LE(test, told.nr, told.nr_pages);
	EXPECT_CONSISTENT(test, ftl);
}

/* A drive that is listened to is the same as one that is not. */
static void full_die_is_told(struct kunit *test)
{
	struct ftl *ftl = make_shape(test), *same = make_shape(test);
	struct told told = {};
	u64 nr_lpns = ftl_get_params(ftl)->nr_lpns;
	u64 random = 3;
	u32 nr_off = 0;

	ftl_tell_placements(ftl, listen, &told);
	for (u32 i = 0; i < 3 * nr_lpns; i++) {
		u64 lpn = next_random32(&random) % nr_lpns;
		u32 die = next_random32(&random) % 3 ? 0 : next_random32(&random) %
			ftl->geo.nr_dies;

		KUNIT_ASSERT_EQ(test, write_to_die(ftl, lpn, 1, die),
				write_to_die(same, lpn, 1, die));
		if (told.last.rule == FTL_RULE_PUT_OUT)
			continue;
		nr_off += told.last.wanted != DIE_NONE &&
			told.last.wanted != told.last.after.die;
		KUNIT_ASSERT_EQ(test, from_die(told.last.after.die), die_of(same, lpn));
	}
	if (ftl->geo.nr_dies > 1)
		KUNIT_EXPECT_GT(test, nr_off, 0U);
	EXPECT_CONSISTENT(test, ftl);
}

static struct kunit_case place_cases[] = {
	KUNIT_CASE_PARAM(plain_pages_fill_units_die_after_die, shape_gen_params),
	KUNIT_CASE_PARAM(long_plain_write_is_placed_like_many_short_ones, shape_gen_params),
	KUNIT_CASE_PARAM(first_die_is_the_seed, shape_gen_params),
	KUNIT_CASE_PARAM(append_joins_the_unit_that_ends_with_its_predecessor, shape_gen_params),
	KUNIT_CASE_PARAM(append_after_a_full_unit_goes_to_the_next_die, shape_gen_params),
	KUNIT_CASE_PARAM(append_after_the_middle_of_a_full_unit_goes_to_the_next_die,
			 shape_gen_params),
	KUNIT_CASE_PARAM(append_behind_a_foreign_page_opens_a_run, shape_gen_params),
	KUNIT_CASE_PARAM(long_append_goes_round_the_dies, shape_gen_params),
	KUNIT_CASE_PARAM(cut_of_an_append_does_not_matter, shape_gen_params),
	KUNIT_CASE_PARAM(growing_files_do_not_share_units, shape_gen_params),
	KUNIT_CASE_PARAM(files_begin_die_after_die, shape_gen_params),
	KUNIT_CASE_PARAM(file_begins_in_a_unit_of_its_own, shape_gen_params),
	KUNIT_CASE_PARAM(unusable_predecessor_counts_as_no_hint, shape_gen_params),
	KUNIT_CASE_PARAM(append_takes_its_lpn_out_of_a_foreign_unit, shape_gen_params),
	KUNIT_CASE_PARAM(pieces_apart_go_round_the_dies, shape_gen_params),
	KUNIT_CASE_PARAM(pieces_apart_are_not_cut, shape_gen_params),
	KUNIT_CASE(pieces_apart_share_units_where_runs_are_many),
	KUNIT_CASE(what_a_run_left_open_is_passed_over),
	KUNIT_CASE_PARAM(pieces_apart_share_a_unit_that_is_sensed_once, shape_gen_params),
	KUNIT_CASE_PARAM(lanes_survive_what_happens_to_them, shape_gen_params),
	KUNIT_CASE_PARAM(page_in_an_open_unit_is_replaced_there, shape_gen_params),
	KUNIT_CASE_PARAM(overwritten_unit_is_gathered_in_any_order, shape_gen_params),
	KUNIT_CASE_PARAM(overwritten_pages_stay_on_their_dies, shape_gen_params),
	KUNIT_CASE_PARAM(overwritten_file_keeps_its_units, shape_gen_params),
	KUNIT_CASE_PARAM(unmapped_page_of_an_overwrite_follows_the_one_before, shape_gen_params),
	KUNIT_CASE_PARAM(overwrite_of_nothing_is_plain, shape_gen_params),
	KUNIT_CASE_PARAM(run_forgets_a_unit_that_was_erased, shape_gen_params),
	KUNIT_CASE_PARAM(full_die_sends_pages_to_the_next_one, shape_gen_params),
	KUNIT_CASE_PARAM(oldest_run_is_put_out, shape_gen_params),
	KUNIT_CASE(each_rule_is_told_by_its_number),
	KUNIT_CASE(pieces_apart_are_told_by_their_rule),
	KUNIT_CASE_PARAM(each_page_is_told_of_once, shape_gen_params),
	KUNIT_CASE_PARAM(full_die_is_told, shape_gen_params),
	KUNIT_CASE_PARAM(used_run_stays_open, shape_gen_params),
	KUNIT_CASE_PARAM(pages_put_out_keep_their_dies, shape_gen_params),
	KUNIT_CASE_PARAM(pieces_put_out_are_not_cut, shape_gen_params),
	{}
};

static struct kunit_suite place_suite = {
	.name = "nvmev_place",
	.test_cases = place_cases,
};

kunit_test_suite(place_suite);

MODULE_DESCRIPTION("Where pages go: the rules of placement");
MODULE_LICENSE("GPL");
