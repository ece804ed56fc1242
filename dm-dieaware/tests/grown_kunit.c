// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting by a superblock of before the device grew, as the one that it grew by is lost: whether
 * the larger layout is in use.
 */
#include <kunit/test.h>

#include "start-trial.h"

#define HAS_GROWN	"it has grown before, by a superblock that is lost"

/* The device below is larger, and nothing lies there. */
static struct trial *new_trial_that_may_grow_to(struct kunit *test, u64 nr_pages)
{
	struct trial *trial = new_trial(test, 5);

	trial->grown = trial->volume->super;
	KUNIT_ASSERT_NULL(test, dmda_super_grow(&trial->grown, nr_pages));
	trial->behind = test_memory(test, 2 * trial->grown.root_pages * sizeof(*trial->behind));
	trial->volume->start.grown = &trial->grown;
	return trial;
}

static struct trial *new_trial_that_may_grow(struct kunit *test)
{
	return new_trial_that_may_grow_to(test, 2 * DISK_PAGES);
}

static void put_root_behind(struct trial *trial, u64 epoch, u64 seq)
{
	const struct dmda_root root = { .epoch = epoch, .journal.seq = seq };
	u64 at = from_dpn(dmda_root_dpn(&trial->grown, epoch)) - trial->grown.root_dpn[0];

	dmda_root_encode(&root, &trial->grown, NULL, 0, trial->behind[at].byte);
}

static void what_was_used_since_it_grew_is_not_written_as_it_was_before(struct kunit *test)
{
	struct trial *trial = new_trial_that_may_grow(test);
	struct dmda_start *start = &trial->volume->start;
	u64 seq;

	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	seq = start->end.seq;
	restore(trial);
	put_root_behind(trial, 8, seq + 1);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER), HAS_GROWN);
	KUNIT_EXPECT_FALSE(test, start->is_damaged);
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_READ), trial->nr_steps);
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_READ_ONLY, NEVER));
	/* What cannot be read tells nothing. */
	trial->bad_dpn = trial->grown.root_dpn[0];
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_EXPECT_EQ(test, trial->nr_failed, 2U);
	trial->bad_dpn = 0;
	restore(trial);
	/* Growing was cut off, and the device used as it was */
	put_root_behind(trial, 8, seq);
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
}

/* By the root before it the same comes last, but another operation is the next one. */
static void nor_does_it_grow_again_but_without_its_newest_root_it_does(struct kunit *test)
{
	struct trial *trial = new_trial_that_may_grow(test);
	struct volume *volume = trial->volume;
	u64 epoch = volume->root.epoch, seq = volume->root.journal.seq;

	put_root_behind(trial, epoch + 1, seq);
	bytes_at(volume, from_dpn(dmda_root_dpn(&volume->super, epoch)))[100] ^= 1;
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_GROW, NEVER));
	KUNIT_EXPECT_LT(test, volume->root.journal.seq, seq);
	put_root_behind(trial, epoch + 2, volume->start.end.seq);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_GROW, NEVER), HAS_GROWN);
}

static u32 reads_in(const struct trial *trial, u32 state)
{
	u32 nr = 0;

	for (u32 i = 0; i < trial->nr_steps; i++)
		nr += trial->done[i].state == state;
	return nr;
}

/* A drive may take seconds for each read, and half a minute for one that fails. */
static void where_roots_of_a_large_device_would_lie_is_read_in_few_reads(struct kunit *test)
{
	struct trial *trial = new_trial_that_may_grow_to(test, 1 << 30);
	u32 nr_pages = 2 * trial->grown.root_pages, at_once = DMDA_START_SECTORS / 8;
	u64 seq;

	KUNIT_ASSERT_GT(test, nr_pages, 2 * at_once);
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_EXPECT_EQ(test, reads_in(trial, GROWN), DIV_ROUND_UP(nr_pages, at_once));
	seq = trial->volume->start.end.seq;
	/* None can be read. */
	restore(trial);
	trial->bad_dpn = trial->grown.root_dpn[0];
	trial->nr_bad = nr_pages;
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_EXPECT_LE(test, trial->nr_failed, 5U);
	KUNIT_EXPECT_EQ(test, reads_in(trial, GROWN), trial->nr_failed);
	/* All but one can be: what lies behind that is found. */
	restore(trial);
	trial->bad_dpn = trial->grown.root_dpn[1] - 1;
	trial->nr_bad = 1;
	put_root_behind(trial, 9, seq + 1);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER), HAS_GROWN);
	KUNIT_EXPECT_LE(test, reads_in(trial, GROWN), nr_pages / at_once + at_once + 2);
}

#define IS_UNREADABLE	"where roots of a larger one would lie, too many pages cannot be read"

static void a_few_bad_pages_do_not_hide_that_it_has_grown(struct kunit *test)
{
	struct trial *trial = new_trial_that_may_grow_to(test, 1 << 30);
	u64 seq;

	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	seq = trial->volume->start.end.seq;
	restore(trial);
	trial->bad_dpn = trial->grown.root_dpn[1] - 3;
	trial->nr_bad = 3;
	put_root_behind(trial, 9, seq + 1);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER), HAS_GROWN);
}

/* Writing there might make them readable, and what was in them would be lost. */
static void where_too_many_pages_cannot_be_read_it_does_not_grow(struct kunit *test)
{
	struct trial *trial = new_trial_that_may_grow(test);
	struct dmda_start *start = &trial->volume->start;

	trial->bad_dpn = trial->grown.root_dpn[0];
	trial->nr_bad = 2 * trial->grown.root_pages;
	KUNIT_ASSERT_GE(test, trial->nr_bad, 4U);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_GROW, NEVER), IS_UNREADABLE);
	KUNIT_EXPECT_FALSE(test, start->is_damaged);
	/* The superblock that is lost may be the one that it has grown by. */
	start->is_single = true;
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER), IS_UNREADABLE);
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_READ), trial->nr_steps);
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_READ_ONLY, NEVER));
	start->is_single = false;
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
}

#define IS_TOO_OLD	"a root cannot be read or is damaged, and the one before it is too old"

/* Of a start, and maybe of what came after that; the root of an attempt to grow was as new. */
static struct trial *lose_newest_root_that_grew(struct kunit *test, u32 nr_commits)
{
	struct trial *trial = new_trial_that_may_grow(test);
	struct volume *volume = trial->volume;

	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	put_root_behind(trial, volume->root.epoch + 1, volume->root.journal.seq);
	for (u32 i = 0; i < nr_commits; i++)
		put_data(volume, DMDA_STREAM_USER, 900, 1);
	bytes_at(volume, from_dpn(dmda_root_dpn(&volume->super, volume->root.epoch)))[100] ^= 1;
	lose_power(trial);
	return trial;
}

/* The journal's end by the root before that is an older one. */
static void a_lost_root_is_no_reason_for_having_grown(struct kunit *test)
{
	struct trial *trial = lose_newest_root_that_grew(test, 1);

	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER), IS_TOO_OLD);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_GROW, NEVER), IS_TOO_OLD);
	trial = lose_newest_root_that_grew(test, 0);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   HAS_GROWN ", or its newest root is damaged");
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_READ), trial->nr_steps);
	/* A repair by this superblock might make it worse. */
	KUNIT_EXPECT_FALSE(test, trial->volume->start.is_damaged);
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_READ_ONLY, NEVER));
	/* Two roots there tell for certain. */
	put_root_behind(trial, 8, 2);
	put_root_behind(trial, 9, 1);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER), HAS_GROWN);
}

static struct kunit_case grown_cases[] = {
	KUNIT_CASE(what_was_used_since_it_grew_is_not_written_as_it_was_before),
	KUNIT_CASE(nor_does_it_grow_again_but_without_its_newest_root_it_does),
	KUNIT_CASE(where_roots_of_a_large_device_would_lie_is_read_in_few_reads),
	KUNIT_CASE(a_few_bad_pages_do_not_hide_that_it_has_grown),
	KUNIT_CASE(where_too_many_pages_cannot_be_read_it_does_not_grow),
	KUNIT_CASE(a_lost_root_is_no_reason_for_having_grown),
	{}
};

static struct kunit_suite grown_suite = {
	.name = "dm_dieaware_grown",
	.test_cases = grown_cases,
};

kunit_test_suite(grown_suite);

MODULE_DESCRIPTION("Starting by a superblock of before the device grew");
MODULE_LICENSE("GPL");
