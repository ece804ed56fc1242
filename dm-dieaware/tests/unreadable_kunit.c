// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting where pages below cannot be read: which of them are needed, and which are not.
 */
#include <kunit/test.h>

#include "start-trial.h"

static u32 nr_ring_pages(const struct volume *volume)
{
	return volume->super.journal_sectors / DMDA_PAGE_SECTORS;
}

/* Does a sector of @first up to @last lie on that page of the ring? */
static bool is_page_of(const struct volume *volume, u32 page, u64 first, u64 last)
{
	for (u64 sector = first; sector <= last; sector++) {
		if (dmda_journal_sector_at(&volume->super, sector) / DMDA_PAGE_SECTORS == page)
			return true;
	}
	return false;
}

/* Up to the sector at the end, and those behind it at which the next batch would begin */
static bool is_needed(const struct volume *volume, u64 from, u64 end, u32 page)
{
	return is_page_of(volume, page, from, end + DMDA_MAX_BATCH_SECTORS);
}

static void try_each_page_of_the_ring(struct trial *trial, enum dmda_start_goal goal)
{
	struct volume *volume = trial->volume;
	struct kunit *test = volume->test;
	u64 from = volume->root.journal.sector, end = dmda_commit_place(&volume->commit).sector;
	u32 nr_needed = 0;

	for (u32 page = 0; page < nr_ring_pages(volume); page++) {
		const char *why;

		restore(trial);
		trial->bad_dpn = volume->super.journal_dpn + page;
		why = run(trial, goal, NEVER);
		if (is_needed(volume, from, end, page)) {
			KUNIT_EXPECT_STREQ(test, why, "the journal cannot be read");
			KUNIT_EXPECT_TRUE(test, volume->start.is_damaged);
			nr_needed++;
		} else {
			KUNIT_EXPECT_NULL(test, why);
			KUNIT_EXPECT_EQ(test, volume->start.end.sector, end);
		}
	}
	KUNIT_EXPECT_GT(test, nr_needed, (u32)(end - from) / DMDA_PAGE_SECTORS);
	KUNIT_EXPECT_LT(test, nr_needed, nr_ring_pages(volume));
	trial->bad_dpn = 0;
}

/* It goes round the end of the ring in the second one. */
static void a_page_of_the_journal_that_nobody_needs_may_be_unreadable(struct kunit *test)
{
	struct trial *trial = new_trial(test, 400);
	struct volume *volume = trial->volume;

	try_each_page_of_the_ring(trial, DMDA_START_READ_ONLY);
	restore(trial);
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	while (dmda_journal_sector_at(&volume->super, volume->commit.batch.first.sector) < 900)
		put_data(volume, DMDA_STREAM_USER, 0, 1);
	take_checkpoint(volume);
	for (u32 i = 0; i < 201; i++)
		put_data(volume, DMDA_STREAM_USER, i % 7 * 200, 2);
	lose_power(trial);
	try_each_page_of_the_ring(trial, DMDA_START_READ_ONLY);
}

/* Behind the end and what a batch reaches, pages that cannot be read together are left out. */
static void far_pages_are_not_read_one_by_one(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	u32 nr_reads;

	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_READ_ONLY, NEVER));
	nr_reads = steps_of(trial, DMDA_START_READ);
	trial->bad_dpn = volume->super.journal_dpn + nr_ring_pages(volume) / 2;
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_READ_ONLY, NEVER));
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_READ), nr_reads);
}

/* A drive may try for ten seconds before it says that it cannot read a page. */
static void a_bad_region_behind_the_end_costs_a_start_few_reads(struct kunit *test)
{
	const u32 at_once = DMDA_START_SECTORS / DMDA_PAGE_SECTORS, nr_bad = 64;
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	/* From the first page that is far from the end */
	u32 from = at_once + 2;

	for (u32 page = from; page <= nr_ring_pages(volume) - nr_bad; page++) {
		trial->bad_dpn = volume->super.journal_dpn + page;
		trial->nr_bad = nr_bad;
		trial->nr_failed = 0;
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_READ_ONLY, NEVER));
		KUNIT_EXPECT_LE(test, trial->nr_failed, nr_bad / at_once + 2);
	}
}

/* Damage is found by the pages that can be read. */
static void damage_is_found_beside_a_page_that_cannot_be_read(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	u64 end = volume->commit.batch.first.sector;

	sector_of_journal(volume, end - 2)[100] ^= 1;
	trial->bad_dpn = volume->super.journal_dpn + nr_ring_pages(volume) - 1;
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "the journal is damaged, and operations are lost");
	KUNIT_EXPECT_TRUE(test, volume->start.is_lost);
}

/*
 * Of the newest root a page cannot be read, and the power fails behind the first page of the one
 * that a start writes to its place; then all can be read again.
 */
static void pages_of_a_root_that_cannot_be_read_are_never_of_the_next(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	u64 first = volume->super.root_dpn[0];

	KUNIT_ASSERT_EQ(test, volume->root.epoch, 2ULL);
	KUNIT_ASSERT_GE(test, dmda_root_nr_pages(&volume->super), 2U);
	trial->bad_dpn = first;
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_EXPECT_EQ(test, from_dpn(dmda_root_dpn(&volume->super, volume->root.epoch)), first);
	memcpy(trial->base->meta[first].byte, bytes_at(volume, first), DMDA_BLOCK_BYTES);
	restore(trial);
	trial->bad_dpn = 0;
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_EXPECT_NOT_NULL(test, volume->start.whys[0]);
	KUNIT_EXPECT_EQ(test, volume->start.roots[1].epoch, 1ULL);
}

static struct kunit_case unreadable_cases[] = {
	KUNIT_CASE(a_page_of_the_journal_that_nobody_needs_may_be_unreadable),
	KUNIT_CASE(far_pages_are_not_read_one_by_one),
	KUNIT_CASE(a_bad_region_behind_the_end_costs_a_start_few_reads),
	KUNIT_CASE(damage_is_found_beside_a_page_that_cannot_be_read),
	KUNIT_CASE(pages_of_a_root_that_cannot_be_read_are_never_of_the_next),
	{}
};

static struct kunit_suite unreadable_suite = {
	.name = "dm_dieaware_unreadable",
	.test_cases = unreadable_cases,
};

kunit_test_suite(unreadable_suite);

MODULE_DESCRIPTION("Starting where pages cannot be read");
MODULE_LICENSE("GPL");
