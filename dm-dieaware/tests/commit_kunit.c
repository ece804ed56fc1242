// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commits by themselves: what is asked for, what becomes durable by it and what does not, when a
 * batch may begin, and what becomes of a step that fails, is not done, or is answered twice. That
 * what is durable survives power failures is the volume suite's to see.
 */
#include <kunit/test.h>

#include "volume.h"

static struct volume *formatted_volume(struct kunit *test)
{
	struct volume *volume = new_volume(test);

	format_volume(volume);
	return volume;
}

/* Return: its seq. */
static u64 do_op(struct volume *volume)
{
	dpn_t dpn;

	write_data(volume, DMDA_STREAM_USER, 1, 1, 1 << 20, &dpn);
	map_data(volume, 1, dpn, 1);
	return volume->commit.batch.next_seq - 1;
}

/* A commit that is about to write its batch */
static void begin_writing(struct dmda_commit *commit)
{
	dmda_commit_begin(commit);
	dmda_commit_seal(commit);
	dmda_commit_did(commit, 0);
}

/* A start that fails never comes to the place where the journal goes on. */
static void nothing_is_under_way_before_the_first_one(struct kunit *test)
{
	struct dmda_commit commit = {};

	KUNIT_EXPECT_TRUE(test, dmda_commit_is_over(&commit));
	KUNIT_EXPECT_EQ(test, dmda_commit_next(&commit), DMDA_COMMIT_DONE);
}

static void records_are_written_behind_a_flush_and_at_once(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	struct dmda_journal_place before = dmda_commit_place(commit);
	u64 durable_seq = commit->durable_seq;
	u64 seq = do_op(volume);

	dmda_commit_begin(commit);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_SEAL);
	KUNIT_EXPECT_FALSE(test, dmda_commit_is_over(commit));
	dmda_commit_seal(commit);
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_WRITE);
	KUNIT_EXPECT_EQ(test, commit->order, (u32)(DMDA_ORDER_FLUSH | DMDA_ORDER_FUA));
	KUNIT_EXPECT_EQ(test, commit->first, before.sector);
	KUNIT_EXPECT_EQ(test, commit->nr, 1U);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(commit->sealed->sector), before.sector);
	KUNIT_EXPECT_EQ(test, commit->durable_seq, durable_seq);
	KUNIT_EXPECT_FALSE(test, dmda_commit_is_idle(commit));
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_DONE);
	KUNIT_EXPECT_EQ(test, commit->durable_seq, seq);
	KUNIT_EXPECT_TRUE(test, dmda_commit_is_idle(commit));
}

static void what_comes_meanwhile_is_left_to_the_next_one(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	u64 seq = do_op(volume);
	const struct dmda_journal_sector *sealed;
	struct dmda_journal_sector before;

	commit->nr_overwrites++;
	dmda_commit_begin(commit);
	KUNIT_EXPECT_FALSE(test, commit->has_batch);
	KUNIT_EXPECT_TRUE(test, dmda_commit_begin_batch(commit));
	dmda_commit_seal(commit);
	dmda_commit_did(commit, 0);
	sealed = commit->sealed;
	before = *sealed;
	KUNIT_EXPECT_EQ(test, do_op(volume), seq + 1);
	commit->nr_overwrites++;
	KUNIT_EXPECT_EQ(test, memcmp(sealed, &before, sizeof(before)), 0);
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_EQ(test, commit->durable_seq, seq);
	KUNIT_EXPECT_EQ(test, commit->durable_overwrites, 1ULL);
	KUNIT_EXPECT_FALSE(test, dmda_commit_is_idle(commit));
	begin_writing(commit);
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_TRUE(test, dmda_commit_is_idle(commit));
}

static u32 chain_of_next(struct volume *volume)
{
	struct dmda_commit *commit = &volume->commit;

	do_op(volume);
	begin_writing(commit);
	dmda_commit_did(commit, 0);
	return le32_to_cpu(commit->sealed->chain);
}

static void a_batch_goes_on_from_the_one_before_whenever_it_began(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	u32 crc;

	/* Before the other is sealed, and before it is written */
	for (u32 early = 0; early < 2; early++) {
		do_op(volume);
		dmda_commit_begin(commit);
		if (early)
			KUNIT_EXPECT_TRUE(test, dmda_commit_begin_batch(commit));
		dmda_commit_seal(commit);
		dmda_commit_did(commit, 0);
		crc = le32_to_cpu(commit->sealed[commit->nr - 1].crc);
		dmda_commit_did(commit, 0);
		KUNIT_EXPECT_TRUE(test, dmda_commit_begin_batch(commit));
		KUNIT_EXPECT_EQ(test, dmda_commit_place(commit).chain, crc);
		KUNIT_EXPECT_EQ(test, chain_of_next(volume), crc);
		KUNIT_EXPECT_TRUE(test, dmda_commit_begin_batch(commit));
	}
}

static void nothing_is_written_for_nothing(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	struct dmda_journal_place before = dmda_commit_place(commit);

	KUNIT_EXPECT_TRUE(test, dmda_commit_is_idle(commit));
	dmda_commit_begin(commit);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_DONE);
	KUNIT_EXPECT_TRUE(test, commit->has_batch);
	KUNIT_EXPECT_EQ(test, dmda_commit_place(commit).sector, before.sector);
}

static void what_was_overwritten_in_place_is_flushed(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	u64 durable_seq = commit->durable_seq;

	commit->nr_overwrites++;
	KUNIT_EXPECT_FALSE(test, dmda_commit_is_idle(commit));
	dmda_commit_begin(commit);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_FLUSH);
	commit->nr_overwrites++;
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_EQ(test, commit->durable_overwrites, 1ULL);
	KUNIT_EXPECT_EQ(test, commit->durable_seq, durable_seq);
	dmda_commit_begin(commit);
	dmda_commit_did(commit, -EIO);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_FAILED);
	KUNIT_EXPECT_EQ(test, commit->durable_overwrites, 1ULL);
}

/* What else there is to be made durable does not matter to it. */
static void who_writes_to_a_place_that_is_durable_needs_no_commit(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	u64 seq = do_op(volume);

	KUNIT_EXPECT_TRUE(test, dmda_commit_covers(commit, commit->durable_seq));
	KUNIT_EXPECT_FALSE(test, dmda_commit_covers(commit, seq));
	begin_writing(commit);
	KUNIT_EXPECT_FALSE(test, dmda_commit_covers(commit, seq));
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_TRUE(test, dmda_commit_covers(commit, seq));
	KUNIT_EXPECT_TRUE(test, dmda_commit_begin_batch(commit));
	commit->nr_overwrites++;
	KUNIT_EXPECT_EQ(test, do_op(volume), seq + 1);
	KUNIT_EXPECT_TRUE(test, dmda_commit_covers(commit, seq));
	begin_writing(commit);
	dmda_commit_did(commit, -EIO);
	KUNIT_EXPECT_TRUE(test, dmda_commit_covers(commit, seq));
	KUNIT_EXPECT_FALSE(test, dmda_commit_covers(commit, seq + 1));
}

static void a_batch_that_is_not_written_makes_nothing_durable(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	u64 durable_seq = commit->durable_seq;

	do_op(volume);
	commit->nr_overwrites++;
	begin_writing(commit);
	dmda_commit_did(commit, -EIO);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_FAILED);
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_FAILED);
	KUNIT_EXPECT_EQ(test, commit->durable_seq, durable_seq);
	KUNIT_EXPECT_EQ(test, commit->durable_overwrites, 0ULL);
}

static void a_step_is_answered_once(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;

	dmda_commit_did(commit, -EIO);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_DONE);
	do_op(volume);
	begin_writing(commit);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_WRITE);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_WRITE);
	dmda_commit_did(commit, 0);
	dmda_commit_did(commit, -EIO);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_DONE);
}

static void what_cannot_be_right_is_not_written(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;

	do_op(volume);
	volume->change.why = "of the test";
	dmda_commit_begin(commit);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_FAILED);
	KUNIT_EXPECT_STREQ(test, commit->why, "of the test");
	KUNIT_EXPECT_EQ(test, commit->nr, 0U);
}

static void do_op_at(struct volume *volume, u64 lpn)
{
	dpn_t dpn;

	write_data(volume, DMDA_STREAM_USER, lpn, 1, 1 << 20, &dpn);
	map_data(volume, lpn, dpn, 1);
}

static void pages_that_a_start_has_to_read_are_limited(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	u64 other = dmda_super_map_entries(&volume->super);

	do_op_at(volume, 1);
	do_op_at(volume, 2);
	KUNIT_EXPECT_FALSE(test, dmda_commit_needs_root(commit, 1));
	do_op_at(volume, other);
	KUNIT_EXPECT_TRUE(test, dmda_commit_needs_root(commit, 1));
	KUNIT_EXPECT_FALSE(test, dmda_commit_needs_root(commit, 2));
	/* One that is evicted and comes again is read once more by then, and so it counts twice. */
	write_map_page(volume, &volume->map[0]);
	do_op_at(volume, 1);
	KUNIT_EXPECT_TRUE(test, dmda_commit_needs_root(commit, 2));
	take_checkpoint(volume);
	KUNIT_EXPECT_FALSE(test, dmda_commit_needs_root(commit, 0));
	do_op_at(volume, other);
	KUNIT_EXPECT_TRUE(test, dmda_commit_needs_root(commit, 0));
}

/* What comes behind the new root's place is what a start reads, also before that root is there. */
static void what_comes_during_a_checkpoint_counts_for_the_next(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	struct dmda_journal_place place;

	do_op_at(volume, 1);
	place = dmda_commit_root_place(commit);
	KUNIT_EXPECT_EQ(test, place.sector, dmda_commit_place(commit).sector);
	do_op_at(volume, dmda_super_map_entries(&volume->super));
	KUNIT_EXPECT_TRUE(test, dmda_commit_needs_root(commit, 0));
	KUNIT_EXPECT_FALSE(test, dmda_commit_needs_root(commit, 1));
}

/* As it is just before a batch would come round to what is needed */
static void a_batch_begins_only_if_the_ring_has_room_for_it(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	struct dmda_journal_place place = volume->root.journal;
	u64 from = place.sector;

	place.sector = from + volume->super.journal_sectors / 2;
	dmda_commit_go_on(commit, &place, NULL);
	KUNIT_EXPECT_FALSE(test, dmda_commit_needs_root(commit, U64_MAX));
	place.sector++;
	dmda_commit_go_on(commit, &place, NULL);
	KUNIT_EXPECT_TRUE(test, dmda_commit_needs_root(commit, U64_MAX));
	place.sector = from + volume->super.journal_sectors - BATCH_SECTORS;
	dmda_commit_go_on(commit, &place, NULL);
	KUNIT_EXPECT_TRUE(test, dmda_commit_begin_batch(commit));
	place.sector++;
	dmda_commit_go_on(commit, &place, NULL);
	KUNIT_EXPECT_FALSE(test, dmda_commit_begin_batch(commit));
	KUNIT_EXPECT_EQ(test, dmda_commit_place(commit).sector, place.sector);
	dmda_commit_begin(commit);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_DONE);
	volume->root.journal.sector++;
	KUNIT_EXPECT_TRUE(test, dmda_commit_begin_batch(commit));
}

static struct kunit_case commit_cases[] = {
	KUNIT_CASE(nothing_is_under_way_before_the_first_one),
	KUNIT_CASE(records_are_written_behind_a_flush_and_at_once),
	KUNIT_CASE(what_comes_meanwhile_is_left_to_the_next_one),
	KUNIT_CASE(a_batch_goes_on_from_the_one_before_whenever_it_began),
	KUNIT_CASE(nothing_is_written_for_nothing),
	KUNIT_CASE(what_was_overwritten_in_place_is_flushed),
	KUNIT_CASE(who_writes_to_a_place_that_is_durable_needs_no_commit),
	KUNIT_CASE(a_batch_that_is_not_written_makes_nothing_durable),
	KUNIT_CASE(a_step_is_answered_once),
	KUNIT_CASE(what_cannot_be_right_is_not_written),
	KUNIT_CASE(pages_that_a_start_has_to_read_are_limited),
	KUNIT_CASE(what_comes_during_a_checkpoint_counts_for_the_next),
	KUNIT_CASE(a_batch_begins_only_if_the_ring_has_room_for_it),
	{}
};

static struct kunit_suite commit_suite = {
	.name = "dm_dieaware_commit",
	.test_cases = commit_cases,
};

kunit_test_suite(commit_suite);

MODULE_DESCRIPTION("The steps of a commit");
MODULE_LICENSE("GPL");
