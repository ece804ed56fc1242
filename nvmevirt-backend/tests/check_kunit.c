// SPDX-License-Identifier: GPL-2.0-only
/*
 * ftl_check() must notice: each case breaks one thing in a drive that was in use and is
 * consistent. All other suites rely on that.
 */
#include "drive_kunit.h"

/**
 * struct damage - something that is broken
 * @name: what
 * @inflict: breaks it
 */
struct damage {
	const char *name;
	void (*inflict)(struct ftl *ftl);
};

static struct ftl_unit *open_unit(struct ftl *ftl, u32 kind)
{
	for (u32 i = 0; i < ftl->geo.nr_open; i++) {
		if (ftl->units.unit[i].kind == kind)
			return &ftl->units.unit[i];
	}
	return NULL;
}

static u32 block_in(struct ftl *ftl, u32 state)
{
	u32 eblk = 0;

	while (ftl->blocks.eblk[eblk].state != state)
		eblk++;
	return eblk;
}

static void map_to_nowhere(struct ftl *ftl)
{
	ftl->map.place_of[0] = ftl->geo.nr_places + 1;
}

static void map_two_pages_to_a_place(struct ftl *ftl)
{
	ftl->map.place_of[1] = ftl->map.place_of[0];
}

static void unmap_behind_the_back(struct ftl *ftl)
{
	ftl_l2p_clear(&ftl->map, to_lpn(0), ftl_l2p_get(&ftl->map, to_lpn(0)));
}

static void lose_an_owner(struct ftl *ftl)
{
	ftl->map.owner_of[from_ppn(ftl_l2p_get(&ftl->map, to_lpn(0)))] = 0;
}

static void own_a_place_twice(struct ftl *ftl)
{
	u32 place = ftl_eblk_first_unit(&ftl->geo, block_in(ftl, FTL_EBLK_FREE)) *
		ftl->geo.unit_pages;

	ftl->map.owner_of[place] = 1;
}

static void own_a_page_that_does_not_exist(struct ftl *ftl)
{
	ftl->map.owner_of[ftl->geo.nr_places - 1] = ftl->map.nr_lpns + 1;
}

static void miscount_mapped(struct ftl *ftl)
{
	ftl->units.nr_mapped++;
}

static void miscount_block(struct ftl *ftl)
{
	ftl->blocks.eblk[block_in(ftl, FTL_EBLK_OPEN)].nr_valid++;
}

static void use_a_unit_that_was_not_programmed(struct ftl *ftl)
{
	u32 free = block_in(ftl, FTL_EBLK_FREE);

	ftl_l2p_put(&ftl->map, to_lpn(0), to_ppn(free * ftl->geo.eblk_pages));
}

static void miscount_free_blocks(struct ftl *ftl)
{
	ftl->blocks.die[0].free.nr--;
}

static void leak_a_free_block(struct ftl *ftl)
{
	ftl_pqueue_pop(&ftl->blocks.die[0].free);
}

static void leak_a_full_block(struct ftl *ftl)
{
	ftl->blocks.eblk[block_in(ftl, FTL_EBLK_FULL)].state = FTL_EBLK_OPEN;
}

static void forget_a_victim(struct ftl *ftl)
{
	ftl_eblks_take_victim(&ftl->blocks, to_die(0));
}

static void write_two_streams_to_one_block(struct ftl *ftl)
{
	ftl->blocks.die[0].stream[FTL_STREAM_GC] = ftl->blocks.die[0].stream[FTL_STREAM_HOST];
}

static void disorder_the_victims(struct ftl *ftl)
{
	ftl->blocks.die[0].full.entry[0].key++;
}

static void misplace_a_victim(struct ftl *ftl)
{
	struct ftl_pqueue *full = &ftl->blocks.die[0].full;

	swap(full->position[full->entry[0].item], full->position[full->entry[1].item]);
}

static void misplace_a_free_block(struct ftl *ftl)
{
	struct ftl_pqueue *free = &ftl->blocks.die[0].free;

	free->position[free->entry[0].item]++;
}

static void doom_a_block_of_another_die(struct ftl *ftl)
{
	ftl->blocks.die[1].doomed = 1;
}

static void write_to_a_block_of_another_die(struct ftl *ftl)
{
	ftl->blocks.die[1].stream[FTL_STREAM_SLC].eblk = block_in(ftl, FTL_EBLK_OPEN) + 1;
}

static void write_behind_the_end_of_a_block(struct ftl *ftl)
{
	ftl->blocks.die[0].stream[FTL_STREAM_HOST].next_unit = ftl->geo.eblk_units;
}

static void miscount_die(struct ftl *ftl)
{
	ftl->units.die[0].nr_valid--;
}

static void miscount_claims(struct ftl *ftl)
{
	ftl->units.die[0].nr_claimed--;
}

static void overfill_a_die(struct ftl *ftl)
{
	ftl->geo.die_most_pages = ftl->units.die[0].nr_claimed - 1;
}

static void miscount_an_open_unit(struct ftl *ftl)
{
	open_unit(ftl, FTL_UNIT_RUN)->nr_valid++;
}

static void empty_an_open_unit(struct ftl *ftl)
{
	open_unit(ftl, FTL_UNIT_RUN)->nr_filled = 0;
}

static void end_an_open_unit_with_a_hole(struct ftl *ftl)
{
	open_unit(ftl, FTL_UNIT_RUN)->nr_filled++;
}

static void forget_the_plain_unit(struct ftl *ftl)
{
	ftl->units.plain[0] = NULL;
}

static void know_a_free_unit_as_that_of_collection(struct ftl *ftl)
{
	ftl->units.die[0].gc = list_first_entry(&ftl->units.free, struct ftl_unit, link);
}

static void know_the_plain_unit_by_another_handle(struct ftl *ftl)
{
	ftl->units.plain[1] = ftl->units.plain[0];
	ftl->geo.nr_handles = 2;
}

static void miscount_runs(struct ftl *ftl)
{
	ftl->units.nr_runs--;
}

static void miscount_open_units(struct ftl *ftl)
{
	ftl->units.nr_host++;
}

static void take_a_run_out_of_its_list(struct ftl *ftl)
{
	list_del_init(&open_unit(ftl, FTL_UNIT_RUN)->link);
}

static void leak_a_free_unit(struct ftl *ftl)
{
	list_del_init(ftl->units.free.next);
}

static void leave_a_full_unit(struct ftl *ftl)
{
	list_move(ftl->units.free.next, &ftl->units.full);
}

static void lose_what_a_run_replaces(struct ftl *ftl)
{
	struct ftl_unit *unit;

	list_for_each_entry(unit, &ftl->units.runs, link)
		hlist_del_init(&unit->same_hash);
}

static void make_a_hole_fresh(struct ftl *ftl)
{
	open_unit(ftl, FTL_UNIT_RUN)->fresh |= BIT_ULL(7);
}

static void settle_without_telling_the_die(struct ftl *ftl)
{
	open_unit(ftl, FTL_UNIT_RUN)->fresh = 0;
}

static void hide_fresh_pages(struct ftl *ftl)
{
	list_del_init(&open_unit(ftl, FTL_UNIT_PLAIN)->fresh_link);
}

static void miscount_low_dies(struct ftl *ftl)
{
	ftl->blocks.nr_low.nr_of[0]++;
}

#define DAMAGE(what) { #what, what }

static const struct damage damages[] = {
	DAMAGE(map_to_nowhere),
	DAMAGE(map_two_pages_to_a_place),
	DAMAGE(unmap_behind_the_back),
	DAMAGE(lose_an_owner),
	DAMAGE(own_a_place_twice),
	DAMAGE(own_a_page_that_does_not_exist),
	DAMAGE(miscount_mapped),
	DAMAGE(miscount_block),
	DAMAGE(use_a_unit_that_was_not_programmed),
	DAMAGE(miscount_free_blocks),
	DAMAGE(miscount_low_dies),
	DAMAGE(leak_a_free_block),
	DAMAGE(leak_a_full_block),
	DAMAGE(forget_a_victim),
	DAMAGE(write_two_streams_to_one_block),
	DAMAGE(disorder_the_victims),
	DAMAGE(misplace_a_victim),
	DAMAGE(misplace_a_free_block),
	DAMAGE(doom_a_block_of_another_die),
	DAMAGE(write_to_a_block_of_another_die),
	DAMAGE(write_behind_the_end_of_a_block),
	DAMAGE(miscount_die),
	DAMAGE(miscount_claims),
	DAMAGE(overfill_a_die),
	DAMAGE(miscount_an_open_unit),
	DAMAGE(empty_an_open_unit),
	DAMAGE(end_an_open_unit_with_a_hole),
	DAMAGE(forget_the_plain_unit),
	DAMAGE(know_a_free_unit_as_that_of_collection),
	DAMAGE(know_the_plain_unit_by_another_handle),
	DAMAGE(miscount_runs),
	DAMAGE(miscount_open_units),
	DAMAGE(take_a_run_out_of_its_list),
	DAMAGE(leak_a_free_unit),
	DAMAGE(leave_a_full_unit),
	DAMAGE(lose_what_a_run_replaces),
	DAMAGE(make_a_hole_fresh),
	DAMAGE(settle_without_telling_the_die),
	DAMAGE(hide_fresh_pages),
};

static void describe_damage(const struct damage *damage, char *desc)
{
	strscpy(desc, damage->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(damage, damages, describe_damage);

/* A drive with blocks in every state, a PLAIN unit and runs, one of which replaces. */
static struct ftl *make_used_drive(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[2]);
	struct ftl *ftl = make_drive(test, &params);

	for (u64 round = 0; round < 4; round++) {
		for (u64 lpn = 0; lpn + 5 < params.nr_lpns; lpn += 5)
			write_plain(ftl, lpn, 5);
	}
	ftl_program_open(ftl, ftl->units.plain[0], 0);
	write_plain(ftl, 0, 8);
	write_over(ftl, 1, 1);
	write_append(ftl, 9, 2, 7);
	write_plain(ftl, 30, 1);
	return ftl;
}

static void used_drive_is_consistent(struct kunit *test)
{
	struct ftl *ftl = make_used_drive(test);

	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_GT(test, stats_of(ftl).gc_runs, 0ULL);
	KUNIT_EXPECT_GT(test, ftl_eblks_nr_full(&ftl->blocks, to_die(0)), 1U);
	KUNIT_EXPECT_NOT_NULL(test, open_unit(ftl, FTL_UNIT_PLAIN));
	KUNIT_EXPECT_EQ(test, ftl->units.nr_runs, 2U);
}

static void damage_is_noticed(struct kunit *test)
{
	const struct damage *damage = test->param_value;
	struct ftl *ftl = make_used_drive(test);
	const char *reason;

	damage->inflict(ftl);
	reason = ftl_check(ftl);
	KUNIT_ASSERT_NOT_NULL(test, reason);
	kunit_info(test, "%s\n", reason);
}

/* What was in memory before another map page took its room is not found there any more. */
static void map_page_that_has_left_is_noticed(struct kunit *test)
{
	const struct drive_shape shape = { "two map pages", 2, 2, 8, 16, 16, 4, 70 };
	struct ftl_params params = drive_params(&shape);
	struct ftl *ftl;

	params.map_cache_pages = 1;
	KUNIT_ASSERT_GT(test, params.nr_lpns, (u64)FTL_MAP_PAGE_LPNS);
	ftl = make_drive(test, &params);
	write_plain(ftl, 0, 8);
	EXPECT_CONSISTENT(test, ftl);
	ftl->map_cache.slot_of[1] = 1;
	KUNIT_EXPECT_NOT_NULL(test, ftl_check(ftl));
}

/* What a flush would not program must have been programmed. */
static void missing_draft_is_noticed(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[2]);
	struct ftl *ftl;

	params.eblks_per_die = 40;
	params.plp = false;
	params.oob = true;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	write_plain(ftl, 0, 1);
	ftl_flush(ftl, 0);
	EXPECT_CONSISTENT(test, ftl);
	write_plain(ftl, 1, 1);
	EXPECT_CONSISTENT(test, ftl);
	ftl_units_settle(&ftl->units, ftl->units.plain[0], 1);
	KUNIT_EXPECT_NOT_NULL(test, ftl_check(ftl));
}

static struct kunit_case check_cases[] = {
	KUNIT_CASE(missing_draft_is_noticed),
	KUNIT_CASE(map_page_that_has_left_is_noticed),
	KUNIT_CASE(used_drive_is_consistent),
	KUNIT_CASE_PARAM(damage_is_noticed, damage_gen_params),
	{}
};

static struct kunit_suite check_suite = {
	.name = "nvmev_check",
	.test_cases = check_cases,
};

kunit_test_suite(check_suite);

MODULE_DESCRIPTION("The FTL's consistency check notices damage");
MODULE_LICENSE("GPL");
