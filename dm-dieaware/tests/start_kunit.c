// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting step by step: what is asked for and in which order, what is refused and in which words,
 * and what becomes of a step that fails, is not done, or is answered twice. The device is the
 * model's; that what comes out is what was durable, is the volume suite's to see.
 */
#include <kunit/test.h>

#include "start-trial.h"

static void the_steps_come_in_their_order(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	const struct done *done = trial->done;
	u64 end = volume->commit.batch.first.sector;
	u32 at = 4 + nr_ring_reads(trial);

	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_EXPECT_EQ(test, dmda_start_next(&volume->start), DMDA_START_DONE);
	/* Root A, root B, the newer one again; the ring from the root on; all of it; each table */
	KUNIT_EXPECT_EQ(test, done[0].dpn, volume->super.root_dpn[0]);
	KUNIT_EXPECT_EQ(test, done[1].dpn, volume->super.root_dpn[1]);
	KUNIT_EXPECT_EQ(test, done[2].dpn, volume->super.root_dpn[0]);
	KUNIT_EXPECT_EQ(test, done[3].state, JOURNAL);
	KUNIT_EXPECT_EQ(test, done[at - 1].state, LOST);
	KUNIT_EXPECT_EQ(test, done[at].state, DIRECTORY);
	KUNIT_EXPECT_EQ(test, done[at + 1].state, SEGMENTS);
	KUNIT_EXPECT_EQ(test, done[at + 2].state, OPENED);
	for (u32 i = 1; i < trial->nr_steps; i++)
		KUNIT_EXPECT_LE(test, done[i - 1].state, done[i].state);
	/* All of the ring was looked at before the first operation. */
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_MAP), 5U);
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_SHRINK), 5U);
	KUNIT_EXPECT_EQ(test, volume->start.end.sector, end);
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_SETTLE), 1U);
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_DRAW), 1U);
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_CHECKPOINT), 1U);
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_RESUME), 1U);
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_CLOSE), 1U);
	KUNIT_EXPECT_EQ(test, done[trial->nr_steps - 1].step, DMDA_START_CLOSE);
}

static void what_follows_has_numbers_and_a_chain_of_its_own(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct dmda_start *start = &trial->volume->start;
	u32 chain;

	start->salt = 1;
	run(trial, DMDA_START_WRITE, NEVER);
	chain = start->next.chain;
	KUNIT_EXPECT_NE(test, chain, start->end.chain);
	KUNIT_EXPECT_EQ(test, start->next.sector, start->end.sector);
	KUNIT_EXPECT_GT(test, start->next.seq, start->end.seq + DMDA_MAX_BATCH_SECTORS);
	KUNIT_EXPECT_EQ(test, start->next.chain,
			dmda_journal_fresh_chain(&trial->volume->super, 1));
}

/* A disk may tear what it is to write in one go; a draft has no more room than its own unit. */
static void what_follows_begins_with_a_unit_of_the_journal(struct kunit *test)
{
	for (u32 torn = 0; torn <= DMDA_PAGE_SECTORS; torn++) {
		struct trial *trial = new_trial_of(test, 5, DMDA_PAGE_SECTORS);
		struct volume *volume = trial->volume;
		u64 end = volume->commit.batch.first.sector, next = end;

		for (u32 i = 1; i <= torn; i++)
			sector_of_journal(volume, end - i)[100] ^= 1;
		if (torn == DMDA_PAGE_SECTORS)
			next -= DMDA_PAGE_SECTORS;
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
		KUNIT_EXPECT_EQ(test, volume->start.end.sector, end - torn);
		KUNIT_EXPECT_EQ(test, volume->start.next.sector, next);
		KUNIT_EXPECT_EQ(test, volume->root.journal.sector, next);
	}
}

static void a_start_that_only_reads_asks_for_no_write(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct dmda_start *start = &trial->volume->start;

	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_READ_ONLY, NEVER));
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_READ) + steps_of(trial, DMDA_START_MAP),
			trial->nr_steps);
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_MAP), 5U);
	KUNIT_EXPECT_EQ(test, start->next.seq, start->end.seq);
	KUNIT_EXPECT_EQ(test, start->next.chain, start->end.chain);
}

static void before_it_grows_root_and_journal_are_read(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct dmda_root root = trial->volume->root;

	memset(&trial->volume->root, 0, sizeof(root));
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_GROW, NEVER));
	KUNIT_EXPECT_EQ(test, trial->nr_steps, 4 + nr_ring_reads(trial));
	KUNIT_EXPECT_EQ(test, trial->volume->root.epoch, root.epoch);
	KUNIT_EXPECT_NE(test, trial->volume->slots[DMDA_TABLE_SEGMENTS].newest[0], 0ULL);
}

static void the_newer_superblock_counts_and_one_is_enough(struct kunit *test)
{
	struct trial *trial = new_trial(test, 0);
	struct volume *volume = trial->volume;

	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_SUPER, NEVER));
	KUNIT_EXPECT_EQ(test, trial->nr_steps, 2U);
	KUNIT_EXPECT_EQ(test, volume->super.epoch, 2ULL);
	write_super(volume, 3);
	volume->super.epoch = 0;
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_SUPER, NEVER));
	KUNIT_EXPECT_EQ(test, volume->super.epoch, 3ULL);
	trial->error = -EIO;
	for (trial->fails_at = 0; trial->fails_at < 2; trial->fails_at++) {
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_SUPER, NEVER));
		KUNIT_EXPECT_EQ(test, volume->super.epoch, 3ULL - !trial->fails_at);
	}
}

static void without_any_superblock_the_last_reason_is_told(struct kunit *test)
{
	struct trial *trial = new_trial(test, 0);
	struct dmda_super before = trial->volume->super;

	bytes_at(trial->volume, DMDA_SUPER_DPN_A)[100] ^= 1;
	trial->fails_at = 1;
	trial->error = -EIO;
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_SUPER, NEVER), "it cannot be read");
	bytes_at(trial->volume, DMDA_SUPER_DPN_B)[100] ^= 1;
	trial->fails_at = NEVER;
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_SUPER, NEVER),
			   "a page of metadata has a wrong checksum");
	KUNIT_EXPECT_EQ(test, memcmp(&before, &trial->volume->super, sizeof(before)), 0);
}

/* What the older one of two superblocks may be */
static void lose_it(struct dmda_super *super)
{
	super->epoch = 0;
}

static void show_less(struct dmda_super *super)
{
	super->nr_lpns -= DMDA_MIN_SEGMENTS;
}

static void need_check(struct dmda_super *super)
{
	super->flags = DMDA_SUPER_NEEDS_CHECK;
}

static void have_another_label(struct dmda_super *super)
{
	super->label[0]++;
}

static void write_older_super(struct trial *trial, void (*change)(struct dmda_super *super))
{
	struct volume *volume = trial->volume;
	const struct dmda_super newer = volume->super;

	volume->super.epoch--;
	change(&volume->super);
	dmda_super_encode(&volume->super, (void *)bytes_at(volume, from_dpn(dmda_super_dpn(1))));
	volume->super = newer;
	lose_power(trial);
}

/* What it has done between drawing a number and its first checkpoint, which change what there is */
static u32 steps_between(const struct trial *trial)
{
	const struct done *done = trial->done;
	u32 draw = 0, checkpoint = 0;

	for (u32 i = 0; i < trial->nr_steps; i++) {
		if (done[i].step == DMDA_START_DRAW)
			draw = i;
		if (done[i].step == DMDA_START_CHECKPOINT)
			checkpoint = i;
	}
	return checkpoint - draw - 1;
}

static void a_superblock_that_is_lost_or_old_is_written_again(struct kunit *test)
{
	static void (*const changes[])(struct dmda_super *super) = {
		lose_it, show_less, need_check, have_another_label,
	};

	for (u32 i = 0; i < ARRAY_SIZE(changes); i++) {
		struct trial *trial = new_trial(test, 5);
		struct volume *volume = trial->volume;

		KUNIT_ASSERT_EQ(test, volume->super.epoch, 2ULL);
		write_older_super(trial, changes[i]);
		run(trial, DMDA_START_SUPER, NEVER);
		KUNIT_EXPECT_TRUE(test, volume->start.is_single);
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_READ_ONLY, NEVER));
		KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_SUPERS), 0U);
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
		KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_SUPERS), 1U);
		KUNIT_EXPECT_EQ(test, steps_between(trial), 1U);
		run(trial, DMDA_START_SUPER, NEVER);
		KUNIT_EXPECT_FALSE(test, volume->start.is_single);
		KUNIT_EXPECT_EQ(test, volume->super.epoch, 3ULL);
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
		KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_SUPERS), 0U);
	}
}

static void a_superblock_that_cannot_be_written_is_done_without(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);

	write_older_super(trial, lose_it);
	run(trial, DMDA_START_SUPER, NEVER);
	run(trial, DMDA_START_WRITE, NEVER);
	restore(trial);
	for (u32 i = 0; i < trial->nr_steps; i++) {
		if (trial->done[i].step == DMDA_START_SUPERS)
			trial->fails_at = i;
	}
	trial->error = -EIO;
	run(trial, DMDA_START_SUPER, NEVER);
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_SUPERS), 1U);
	KUNIT_EXPECT_TRUE(test, trial->volume->start.is_single);
}

static void one_root_that_checks_is_enough(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	u64 epoch = volume->root.epoch;

	trial->error = -EIO;
	trial->fails_at = 1;
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_GROW, NEVER));
	KUNIT_EXPECT_EQ(test, volume->root.epoch & 1, epoch & 1);
	/* The older one is of before the first checkpoint. */
	trial->fails_at = 0;
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_GROW, NEVER));
	KUNIT_EXPECT_NE(test, volume->root.epoch & 1, epoch & 1);
	KUNIT_EXPECT_EQ(test, volume->slots[DMDA_TABLE_SEGMENTS].newest[0], 0ULL);
	bytes_at(volume, volume->super.root_dpn[1])[100] ^= 1;
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_GROW, NEVER), "a root cannot be read");
	KUNIT_EXPECT_EQ(test, trial->nr_steps, 2U);
}

/* The step in hand fails: why the start does, or NULL: it does not. */
static const char *reason_for(const struct done *done)
{
	switch (done->step) {
	case DMDA_START_READ:
		if (done->state < CHOSEN)
			return NULL;
		if (done->state == CHOSEN)
			return "a root cannot be read";
		/* Of the journal several pages are read at once, and then each for itself. */
		return done->state >= DIRECTORY && done->state <= OPENED ?
			"a page of a table cannot be read" : NULL;
	case DMDA_START_MAP:
		return "a page of the map cannot be read";
	case DMDA_START_SHRINK:
	case DMDA_START_SETTLE:
		return "a page of the map cannot be written";
	case DMDA_START_CHECKPOINT:
		return "the first checkpoint cannot be written";
	case DMDA_START_CLOSE:
		return "a segment cannot be closed";
	default:
		return NULL;
	}
}

/* Return: whether it has gone as it has to when step @nr fails. */
static void expect_failure(struct trial *trial, u32 nr)
{
	struct kunit *test = trial->volume->test;
	const struct dmda_start *start = &trial->volume->start;
	const struct done failed = trial->done[nr];
	u32 settles = failed.state == REPLAY;

	KUNIT_EXPECT_EQ(test, dmda_start_next(&trial->volume->start), DMDA_START_FAILED);
	KUNIT_EXPECT_STREQ(test, start->why, reason_for(&failed));
	KUNIT_EXPECT_EQ(test, start->is_damaged, failed.state == JOURNAL || failed.state == LOST);
	KUNIT_EXPECT_FALSE(test, start->is_lost);
	/* Nothing but to wait for what replay has had written */
	KUNIT_EXPECT_EQ(test, trial->nr_steps, nr + 1 + settles);
	if (settles)
		KUNIT_EXPECT_EQ(test, trial->done[nr + 1].step, DMDA_START_SETTLE);
}

static void an_error_at_any_step_ends_it_with_its_reason(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	u32 nr_failed = 0;

	trial->volume->start.ahead.max = 3;
	trial->error = -EIO;
	for (u32 i = 2;; i++) {
		restore(trial);
		trial->fails_at = i;
		run(trial, DMDA_START_WRITE, NEVER);
		if (trial->nr_steps <= i)
			break;
		if (reason_for(&trial->done[i])) {
			expect_failure(trial, i);
			nr_failed++;
		} else {
			KUNIT_EXPECT_NULL(test, trial->volume->start.why);
		}
	}
	/* A root, three tables, five sectors, and what follows */
	KUNIT_EXPECT_GE(test, nr_failed, 1U + 3 + 2 * 5 + 3);
}

static void a_page_of_the_map_without_memory_is_told_apart(struct kunit *test)
{
	struct trial *trial = new_trial(test, 1);

	run(trial, DMDA_START_READ_ONLY, NEVER);
	trial->fails_at = trial->nr_steps - 1;
	trial->error = -ENOMEM;
	KUNIT_ASSERT_EQ(test, trial->done[trial->fails_at].step, DMDA_START_MAP);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_READ_ONLY, NEVER),
			   "there is not enough memory for what the journal has changed");
	/* Nothing was written that would have to be waited for. */
	KUNIT_EXPECT_EQ(test, trial->nr_steps, trial->fails_at + 1);
}

/* Who asks twice gets the same step; who answers what nobody has asked for changes nothing. */
static void a_step_is_asked_for_until_it_is_done(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct dmda_start *start = &trial->volume->start;
	enum dmda_start_step step;
	u32 nr_steps;

	start->ahead.max = 3;
	run(trial, DMDA_START_WRITE, NEVER);
	nr_steps = trial->nr_steps;
	restore(trial);
	run(trial, DMDA_START_WRITE, 0);
	while ((step = dmda_start_next(start)) < DMDA_START_DONE) {
		dpn_t dpn = start->dpn;
		u64 index = start->map_index;

		KUNIT_ASSERT_EQ(test, dmda_start_next(start), step);
		KUNIT_ASSERT_EQ(test, from_dpn(start->dpn), from_dpn(dpn));
		KUNIT_ASSERT_EQ(test, start->map_index, index);
		note_step(trial, step);
		dmda_start_did(start, do_step(trial, step));
		dmda_start_did(start, -EIO);
	}
	KUNIT_EXPECT_EQ(test, step, DMDA_START_DONE);
	KUNIT_EXPECT_EQ(test, trial->nr_steps, nr_steps);
	dmda_start_did(start, -EIO);
	KUNIT_EXPECT_EQ(test, dmda_start_next(start), DMDA_START_DONE);
}

static void a_start_that_is_left_at_any_step_can_be_begun_again(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct dmda_start *start = &trial->volume->start;
	u64 end = trial->volume->commit.batch.first.sector;
	u32 nr_steps;

	start->ahead.max = 3;
	run(trial, DMDA_START_WRITE, NEVER);
	nr_steps = trial->nr_steps;
	for (u32 i = 0; i < nr_steps; i++) {
		restore(trial);
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, i));
		/* What it has written by then counts, or does not: the power fails here. */
		trial->volume->nr_pending = 0;
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_READ_ONLY, NEVER));
		KUNIT_EXPECT_GE(test, start->end.sector, end);
	}
}

static void a_page_of_each_table_is_checked(struct kunit *test)
{
	static const enum dmda_table tables[] = {
		DMDA_TABLE_DIRECTORY, DMDA_TABLE_SEGMENTS, DMDA_TABLE_OPEN,
	};
	struct trial *trial = new_trial(test, 5);
	u32 at = 4 + nr_ring_reads(trial);

	for (u32 i = 0; i < ARRAY_SIZE(tables); i++) {
		restore(trial);
		run(trial, DMDA_START_READ_ONLY, NEVER);
		bytes_at(trial->volume, trial->done[at + i].dpn)[DMDA_BLOCK_BYTES - 1] ^= 1;
		KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_READ_ONLY, NEVER),
				   "a page of metadata has a wrong checksum");
		KUNIT_EXPECT_EQ(test, trial->nr_steps, at + i + 1);
		KUNIT_EXPECT_FALSE(test, trial->volume->start.is_damaged);
	}
}

/* Behind it begins another batch, so what is changed was durable. */
static void damage_in_the_journal_is_no_end_of_it(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	u64 end = volume->commit.batch.first.sector;

	sector_of_journal(volume, end - 2)[100] ^= 1;
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "the journal is damaged, and operations are lost");
	KUNIT_EXPECT_TRUE(test, volume->start.is_damaged);
	KUNIT_EXPECT_TRUE(test, volume->start.is_lost);
	/* Nothing was done, or written, by what of it can be read. */
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_READ), trial->nr_steps);
	restore(trial);
	sector_of_journal(volume, end - 1)[100] ^= 1;
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_EXPECT_EQ(test, volume->start.end.sector, end - 1);
	KUNIT_EXPECT_FALSE(test, volume->start.is_lost);
}

static void tear_the_last_sector(struct volume *volume)
{
	sector_of_journal(volume, volume->start.end.sector - 1)[100] ^= 1;
}

static void a_journal_that_changes_meanwhile_is_refused(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);

	trial->changes_at = REPLAY;
	trial->change = tear_the_last_sector;
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "the journal is another one when it is read again");
	KUNIT_EXPECT_FALSE(test, trial->volume->start.is_damaged);
	KUNIT_EXPECT_EQ(test, trial->done[trial->nr_steps - 1].step, DMDA_START_SETTLE);
}

static void tear_the_root(struct volume *volume)
{
	bytes_at(volume, from_dpn(dmda_root_dpn(&volume->super, 2)))[100] ^= 1;
}

static void a_root_that_changes_meanwhile_is_refused(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);

	KUNIT_ASSERT_EQ(test, trial->volume->root.epoch, 2ULL);
	trial->changes_at = CHOSEN;
	trial->change = tear_the_root;
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "a page of metadata has a wrong checksum");
	KUNIT_EXPECT_EQ(test, trial->nr_steps, 3U);
}

/* What is left of the root behind @root where the power failed: its last page. */
static void leave_last_page(struct volume *volume, const struct dmda_root *root)
{
	u32 index = dmda_root_nr_pages(&volume->super) - 1;
	struct dmda_root torn = *root;

	torn.epoch++;
	dmda_root_encode(&torn, &volume->super, volume->slots, index,
			 bytes_at(volume, from_dpn(dmda_root_dpn(&volume->super, torn.epoch)) +
				  index));
}

/* The power fails while a root is written, and once more while the next start writes one. */
static void pages_of_two_roots_are_never_one(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	const struct dmda_root before = volume->root;

	KUNIT_ASSERT_EQ(test, before.epoch, 2ULL);
	KUNIT_ASSERT_GE(test, dmda_root_nr_pages(&volume->super), 2U);
	leave_last_page(volume, &before);
	lose_power(trial);
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_EXPECT_EQ(test, volume->root.epoch, 5ULL);
	KUNIT_EXPECT_EQ(test, volume->start.roots[0].epoch, before.epoch);
	leave_last_page(volume, &before);
	lose_power(trial);
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_EXPECT_NOT_NULL(test, volume->start.whys[1]);
	KUNIT_EXPECT_EQ(test, volume->root.epoch, 7ULL);
}

/* The newest root leads to the journal, of which a batch in front of the last ones is damaged. */
static void expect_operations_lost(struct trial *trial)
{
	struct volume *volume = trial->volume;

	sector_of_journal(volume, volume->commit.batch.first.sector - 2)[100] ^= 1;
	lose_power(trial);
	KUNIT_EXPECT_STREQ(volume->test, run(trial, DMDA_START_WRITE, NEVER),
			   "the journal is damaged, and operations are lost");
	KUNIT_EXPECT_TRUE(volume->test, volume->start.is_lost);
	KUNIT_EXPECT_NOT_NULL(volume->test, volume->start.whys[1]);
}

/* Only one was ever written. */
static void a_root_that_never_was_is_no_reason_for_lost_operations(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;

	for (u32 i = 0; i < dmda_root_nr_pages(&volume->super); i++)
		memset(bytes_at(volume, volume->super.root_dpn[1] + i), 0, DMDA_BLOCK_BYTES);
	expect_operations_lost(trial);
}

/* The power failed while it was written: the one before it was durable, and is not too old. */
static void nor_is_one_that_was_being_written(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct dmda_root before = trial->volume->root;

	leave_last_page(trial->volume, &before);
	expect_operations_lost(trial);
}

/* Nor if that was the first root ever in its place, whatever page of it was written by then */
static void nor_is_the_first_one_of_its_place(struct kunit *test)
{
	for (u32 i = 0; i < 2; i++) {
		struct trial *trial = new_trial(test, 5);
		struct volume *volume = trial->volume;
		struct dmda_root first = volume->root;
		u64 dpn = volume->super.root_dpn[1];

		KUNIT_ASSERT_GE(test, dmda_root_nr_pages(&volume->super), 2U);
		for (u32 j = 0; j < dmda_root_nr_pages(&volume->super); j++)
			memset(bytes_at(volume, dpn + j), 0, DMDA_BLOCK_BYTES);
		first.epoch++;
		dmda_root_encode(&first, &volume->super, volume->slots, i,
				 bytes_at(volume, dpn + i));
		expect_operations_lost(trial);
	}
}

/* The device goes on in another line, and then the root that leads to it is damaged. */
static void a_line_that_begins_at_the_end_is_no_end(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	u64 end = volume->commit.batch.first.sector;

	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_ASSERT_EQ(test, volume->root.journal.sector, end);
	put_data(volume, DMDA_STREAM_USER, 900, 1);
	bytes_at(volume, from_dpn(dmda_root_dpn(&volume->super, volume->root.epoch)))[100] ^= 1;
	lose_power(trial);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "a root cannot be read or is damaged, and the one before it is too old");
	/* Nor does it grow by the one before. */
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_GROW, NEVER),
			   "a root cannot be read or is damaged, and the one before it is too old");
	KUNIT_EXPECT_TRUE(test, volume->start.is_damaged);
	/* The journal is whole: nobody has ignored a flush. */
	KUNIT_EXPECT_FALSE(test, volume->start.is_lost);
}

/* Puts a record that nobody would, as an operation of its own. */
static struct trial *trial_with_record(struct kunit *test, const struct dmda_record *record)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;

	dmda_journal_put(&volume->commit.batch, record);
	dmda_journal_end_op(&volume->commit.batch);
	commit(volume);
	lose_power(trial);
	return trial;
}

static void operations_that_cannot_be_are_refused(struct kunit *test)
{
	const struct dmda_record dead = {
		.kind = DMDA_RECORD_DEAD, .nr_pages = 1, .dpn = to_dpn(1000),
	};
	const struct dmda_record freed = { .kind = DMDA_RECORD_FREE, .seg = to_seg(0) };
	struct trial *trial = trial_with_record(test, &dead);
	struct dmda_record trim = {
		.kind = DMDA_RECORD_TRIM, .nr_pages = 2,
		.lpn = to_lpn(trial->volume->super.nr_lpns - 1),
	};

	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "an operation of the journal has no beginning");
	KUNIT_EXPECT_EQ(test, trial->done[trial->nr_steps - 1].step, DMDA_START_SETTLE);
	trial = trial_with_record(test, &freed);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "a segment changes from a state that it is not in");
	trial = trial_with_record(test, &trim);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "the journal names pages behind the end of the device");
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_MAP), 5U);
}

/* Nobody loses pages by what is done to a segment. */
static void what_is_done_to_a_segment_stands_alone(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	const struct dmda_record opened = {
		.kind = DMDA_RECORD_OPEN, .seg = dmda_segments_find_free(&volume->segments),
		.open = 2 * DMDA_STREAM_MOVED + 1,
	};
	const struct dmda_record dead = {
		.kind = DMDA_RECORD_DEAD, .nr_pages = 1, .dpn = where_is(volume, 0),
	};

	dmda_journal_put(&volume->commit.batch, &opened);
	dmda_journal_put(&volume->commit.batch, &dead);
	dmda_journal_end_op(&volume->commit.batch);
	commit(volume);
	lose_power(trial);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "an operation of the journal has no beginning");
}

/* The segment table may know an operation of which open summaries have yet to learn. */
static void a_summary_that_cannot_be_is_refused_in_any_case(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	const struct dmda_record opened = {
		.kind = DMDA_RECORD_OPEN, .seg = dmda_segments_find_free(&volume->segments),
		.open = DMDA_MAX_OPEN,
	};

	begin_checkpoint(volume);
	/* Operations so far are durable, and the root has its place in the journal. */
	go_on_with_checkpoint(volume, 2);
	dmda_journal_put(&volume->commit.batch, &opened);
	volume->segments.page[0].seq = dmda_journal_end_op(&volume->commit.batch);
	end_checkpoint(volume);
	lose_power(trial);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "a segment is opened with an unknown summary");
}

/* What is written to one of them would have no summary, and that segment never be closed. */
static void two_segments_that_are_open_have_two_summaries(struct kunit *test)
{
	struct trial *trial = new_trial(test, 5);
	struct volume *volume = trial->volume;
	struct dmda_record opened = {
		.kind = DMDA_RECORD_OPEN, .seg = dmda_segments_find_free(&volume->segments),
		.open = 2 * DMDA_STREAM_MOVED,
	};

	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_ASSERT_NE(test, volume->start.stays, SEG_NONE);
	KUNIT_EXPECT_EQ(test, volume->closing.open[opened.open].seg, volume->start.stays);
	trial = trial_with_record(test, &opened);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "two open segments have the same open summary");
	opened.open++;
	trial = trial_with_record(test, &opened);
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
}

/* It is read in pieces, and round the end of the ring. */
static void a_journal_longer_than_one_read_is_replayed(struct kunit *test)
{
	struct trial *trial = new_trial(test, 400);
	struct volume *volume = trial->volume;

	for (u32 i = 0; i < 2; i++) {
		u64 end = dmda_commit_place(&volume->commit).sector;
		u64 nr_sectors = end - volume->root.journal.sector;

		KUNIT_EXPECT_GT(test, nr_sectors, (u64)DMDA_START_SECTORS);
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_READ_ONLY, NEVER));
		KUNIT_EXPECT_EQ(test, volume->start.end.sector, end);
		KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_MAP), (u32)nr_sectors);
		restore(trial);
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
		KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_SHRINK), (u32)nr_sectors);
		while (dmda_journal_sector_at(&volume->super,
					      volume->commit.batch.first.sector) < 900)
			put_data(volume, DMDA_STREAM_USER, 0, 1);
		take_checkpoint(volume);
		for (u32 j = 0; j < 400; j++)
			put_data(volume, DMDA_STREAM_USER, j % 7 * 200, 2);
		lose_power(trial);
	}
}

/* As many as the caller wants, and no more often than it takes. */
static void pages_of_the_map_are_told_before_they_are_needed(struct kunit *test)
{
	static const u32 maxes[] = { 0, 1, 2, 3, 16, DMDA_AHEAD_PAGES };
	struct trial *trial = new_trial(test, 400);
	struct dmda_start *start = &trial->volume->start;
	u32 nr_before = U32_MAX;

	for (u32 i = 0; i < ARRAY_SIZE(maxes); i++) {
		u32 nr_told, nr_needed;

		restore(trial);
		start->ahead.max = maxes[i];
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
		nr_told = steps_of(trial, DMDA_START_FETCH);
		nr_needed = steps_of(trial, DMDA_START_MAP);
		KUNIT_EXPECT_EQ(test, nr_needed, 400U);
		if (maxes[i] < DMDA_OP_MAP_PAGES) {
			KUNIT_EXPECT_EQ(test, nr_told, 0U);
			continue;
		}
		KUNIT_EXPECT_EQ(test, trial->nr_untold, 0U);
		KUNIT_EXPECT_GE(test, nr_told, 1U);
		/* A page that was told is for all operations up to another page's. */
		KUNIT_EXPECT_LE(test, nr_told, nr_needed / (maxes[i] - 1) + 2);
		KUNIT_EXPECT_LE(test, nr_told, nr_before);
		nr_before = nr_told;
	}
	KUNIT_EXPECT_LT(test, nr_before, 10U);
}

/* @nr_ops operations, several of them in one sector, about two pages of the map in turn */
static void put_operations(struct volume *volume, u32 nr_ops)
{
	for (u32 i = 0; i < nr_ops; i++) {
		u64 lpn = i % 2 * DMDA_MAP_ENTRIES + i % 5;
		dpn_t dpn;
		u32 nr = write_data(volume, DMDA_STREAM_USER, lpn, 1, 1 << 20, &dpn);

		map_data(volume, lpn, dpn, nr);
		if (i % 12 == 11)
			commit(volume);
	}
	commit(volume);
}

/* Return: whether the next operation is at hand; then it is in the same sector, and was told. */
static bool expect_at_hand(struct trial *trial)
{
	struct kunit *test = trial->volume->test;
	struct dmda_start *start = &trial->volume->start;
	const u32 state = start->state, nr_read = start->nr_read;
	const struct dmda_ahead ahead = start->ahead;
	bool is_at_hand = dmda_start_next_at_hand(start);

	KUNIT_EXPECT_EQ(test, start->state, state);
	KUNIT_EXPECT_EQ(test, start->nr_read, nr_read);
	KUNIT_EXPECT_EQ(test, start->is_asked, is_at_hand);
	KUNIT_EXPECT_EQ(test, memcmp(start->ahead.index, ahead.index, sizeof(ahead.index)), 0);
	if (!is_at_hand)
		return false;
	KUNIT_EXPECT_EQ(test, start->step, DMDA_START_MAP);
	KUNIT_EXPECT_EQ(test, ahead.nr_ops - start->ahead.nr_ops,
			(u64)(ahead.max >= DMDA_OP_MAP_PAGES));
	return true;
}

/* As run(), but asks for what is at hand first. Return: how often there was an operation. */
static u32 run_at_hand(struct trial *trial, enum dmda_start_goal goal)
{
	struct dmda_start *start = &trial->volume->start;
	enum dmda_start_step step;
	u32 nr_at_hand = 0;

	run(trial, goal, 0);
	for (;;) {
		bool is_at_hand = expect_at_hand(trial);

		step = dmda_start_next(start);
		if (step >= DMDA_START_DONE)
			return nr_at_hand;
		nr_at_hand += is_at_hand;
		note_step(trial, step);
		dmda_start_did(start, do_step(trial, step));
	}
}

/*
 * Who holds a lock asks for that only: neither does the end of replay come then, which goes through
 * tables, nor another sector, nor is anything told.
 */
static void what_is_at_hand_is_the_next_operation_of_a_sector(struct kunit *test)
{
	static const enum dmda_start_goal goals[] = { DMDA_START_READ_ONLY, DMDA_START_WRITE };
	static const u32 maxes[] = { 0, 3, DMDA_AHEAD_PAGES };
	const u32 nr_ops = 600;
	struct trial *trial = new_trial(test, 0);
	struct dmda_start *start = &trial->volume->start;

	put_operations(trial->volume, nr_ops);
	lose_power(trial);
	for (u32 i = 0; i < ARRAY_SIZE(goals) * ARRAY_SIZE(maxes); i++) {
		u32 nr_at_hand, nr_steps;

		start->ahead.max = maxes[i / ARRAY_SIZE(goals)];
		KUNIT_EXPECT_NULL(test, run(trial, goals[i % ARRAY_SIZE(goals)], NEVER));
		nr_steps = trial->nr_steps;
		restore(trial);
		nr_at_hand = run_at_hand(trial, goals[i % ARRAY_SIZE(goals)]);
		KUNIT_EXPECT_NULL(test, start->why);
		KUNIT_EXPECT_EQ(test, trial->nr_steps, nr_steps);
		KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_MAP), nr_ops);
		/* Two are told at a time, at least. */
		KUNIT_EXPECT_GE(test, nr_at_hand, nr_ops / 3);
		restore(trial);
	}
}

static void note_most(struct kunit *test, struct dmda_ahead *ahead, u64 most_noted)
{
	void *memory = test_memory(test, dmda_bitset_bytes(MAP_PAGES));

	dmda_bitset_init(&ahead->noted, MAP_PAGES, memory);
	ahead->most_noted = most_noted;
}

/* Some of the journal's operations are about pages that were told by then, others are not. */
static void what_comes_first_is_told_in_the_order_of_the_map(struct kunit *test)
{
	static const u64 order[] = { 2, 0, 0, 2, 1, 0, 2 };
	static const u32 maxes[] = { 2, 3, DMDA_AHEAD_PAGES };
	struct trial *trial = new_trial(test, 0);
	struct dmda_start *start = &trial->volume->start;
	u32 nr_pages = dmda_super_nr_pages(&trial->volume->super, DMDA_TABLE_MAP);

	for (u32 i = 0; i < ARRAY_SIZE(order); i++)
		put_data(trial->volume, DMDA_STREAM_USER, order[i] * DMDA_MAP_ENTRIES + i, 1);
	lose_power(trial);
	for (u32 i = 0; i < ARRAY_SIZE(maxes) * (nr_pages + 4); i++) {
		u32 most = i / ARRAY_SIZE(maxes);

		restore(trial);
		start->ahead.max = maxes[i % ARRAY_SIZE(maxes)];
		note_most(test, &start->ahead, most);
		KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
		KUNIT_EXPECT_EQ(test, trial->nr_untold, 0U);
		/* An operation may be about two pages: if there is room for one, none is noted. */
		KUNIT_EXPECT_EQ(test, trial->nr_gathered,
				most < DMDA_OP_MAP_PAGES ? 0U : min(most - 1, nr_pages));
		/* If all are, nothing is told later. */
		KUNIT_EXPECT_EQ(test, !trial->nr_told, most >= nr_pages + DMDA_OP_MAP_PAGES);
		KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_MAP), (u32)ARRAY_SIZE(order));
	}
}

/* It is noted once more, and not what another journal was about. */
static void what_a_start_has_noted_that_was_left_is_not_told(struct kunit *test)
{
	struct trial *trial = new_trial(test, 0);
	struct dmda_start *start = &trial->volume->start;

	put_data(trial->volume, DMDA_STREAM_USER, DMDA_MAP_ENTRIES, 1);
	lose_power(trial);
	start->ahead.max = DMDA_AHEAD_PAGES;
	note_most(test, &start->ahead, MAP_PAGES);
	dmda_bitset_put(&start->ahead.noted, 2, true);
	KUNIT_EXPECT_NULL(test, run(trial, DMDA_START_WRITE, NEVER));
	KUNIT_EXPECT_EQ(test, trial->nr_gathered, 1U);
	KUNIT_EXPECT_TRUE(test, trial->is_gathered[1]);
}

/* What replay has to refuse is refused then, in its words. */
static void what_is_told_may_be_wrong(struct kunit *test)
{
	const struct dmda_record trim = {
		.kind = DMDA_RECORD_TRIM, .nr_pages = 2, .lpn = to_lpn(U64_MAX - 1),
	};
	struct trial *trial = trial_with_record(test, &trim);
	struct dmda_start *start = &trial->volume->start;

	start->ahead.max = DMDA_AHEAD_PAGES;
	note_most(test, &start->ahead, MAP_PAGES);
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "the journal names pages behind the end of the device");
	start->ahead.most_noted = 0;
	KUNIT_EXPECT_STREQ(test, run(trial, DMDA_START_WRITE, NEVER),
			   "the journal names pages behind the end of the device");
	KUNIT_EXPECT_EQ(test, steps_of(trial, DMDA_START_MAP), 5U);
	for (u32 i = 0; i < trial->nr_told; i++)
		KUNIT_EXPECT_LT(test, trial->told[i],
				(u64)dmda_super_nr_pages(start->super, DMDA_TABLE_MAP));
}

static struct kunit_case start_cases[] = {
	KUNIT_CASE(the_steps_come_in_their_order),
	KUNIT_CASE(what_follows_has_numbers_and_a_chain_of_its_own),
	KUNIT_CASE(what_follows_begins_with_a_unit_of_the_journal),
	KUNIT_CASE(a_start_that_only_reads_asks_for_no_write),
	KUNIT_CASE(before_it_grows_root_and_journal_are_read),
	KUNIT_CASE(the_newer_superblock_counts_and_one_is_enough),
	KUNIT_CASE(without_any_superblock_the_last_reason_is_told),
	KUNIT_CASE(a_superblock_that_is_lost_or_old_is_written_again),
	KUNIT_CASE(a_superblock_that_cannot_be_written_is_done_without),
	KUNIT_CASE(one_root_that_checks_is_enough),
	KUNIT_CASE(an_error_at_any_step_ends_it_with_its_reason),
	KUNIT_CASE(a_page_of_the_map_without_memory_is_told_apart),
	KUNIT_CASE(a_step_is_asked_for_until_it_is_done),
	KUNIT_CASE(a_start_that_is_left_at_any_step_can_be_begun_again),
	KUNIT_CASE(a_page_of_each_table_is_checked),
	KUNIT_CASE(damage_in_the_journal_is_no_end_of_it),
	KUNIT_CASE(a_journal_that_changes_meanwhile_is_refused),
	KUNIT_CASE(a_root_that_changes_meanwhile_is_refused),
	KUNIT_CASE(pages_of_two_roots_are_never_one),
	KUNIT_CASE(a_root_that_never_was_is_no_reason_for_lost_operations),
	KUNIT_CASE(nor_is_one_that_was_being_written),
	KUNIT_CASE(nor_is_the_first_one_of_its_place),
	KUNIT_CASE(a_line_that_begins_at_the_end_is_no_end),
	KUNIT_CASE(operations_that_cannot_be_are_refused),
	KUNIT_CASE(what_is_done_to_a_segment_stands_alone),
	KUNIT_CASE(a_summary_that_cannot_be_is_refused_in_any_case),
	KUNIT_CASE(two_segments_that_are_open_have_two_summaries),
	KUNIT_CASE(a_journal_longer_than_one_read_is_replayed),
	KUNIT_CASE(pages_of_the_map_are_told_before_they_are_needed),
	KUNIT_CASE(what_is_at_hand_is_the_next_operation_of_a_sector),
	KUNIT_CASE(what_comes_first_is_told_in_the_order_of_the_map),
	KUNIT_CASE(what_a_start_has_noted_that_was_left_is_not_told),
	KUNIT_CASE(what_is_told_may_be_wrong),
	{}
};

static struct kunit_suite start_suite = {
	.name = "dm_dieaware_start",
	.test_cases = start_cases,
};

kunit_test_suite(start_suite);

MODULE_DESCRIPTION("The steps of a start");
MODULE_LICENSE("GPL");
