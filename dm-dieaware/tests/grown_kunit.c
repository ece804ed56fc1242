// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting by a superblock of before the device grew, as the one that it grew by is lost: whether
 * the larger layout is in use.
 */
#include <kunit/test.h>

#include "start-trial.h"

#define HAS_GROWN	"it has grown before, by a superblock that is lost"

/* The device below is larger, and nothing lies there. */
static struct trial *new_trial_that_may_grow(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);

	trial->grown = trial->volume->super;
	KUNIT_ASSERT_NULL(test, dmda_super_grow(&trial->grown, 2 * DISK_PAGES));
	trial->behind = test_memory(test, 2 * trial->grown.root_pages * sizeof(*trial->behind));
	trial->volume->start.grown = &trial->grown;
	return trial;
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
	KUNIT_EXPECT_EQ(test, trial->nr_failed, 1U);
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

static struct kunit_case grown_cases[] = {
	KUNIT_CASE(what_was_used_since_it_grew_is_not_written_as_it_was_before),
	KUNIT_CASE(nor_does_it_grow_again_but_without_its_newest_root_it_does),
	{}
};

static struct kunit_suite grown_suite = {
	.name = "dm_dieaware_grown",
	.test_cases = grown_cases,
};

kunit_test_suite(grown_suite);

MODULE_DESCRIPTION("Starting by a superblock of before the device grew");
MODULE_LICENSE("GPL");
