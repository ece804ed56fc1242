// SPDX-License-Identifier: GPL-2.0-only
/*
 * A checkpoint step by step: what is asked for and in which order, what the slots of tables may do
 * meanwhile, and what becomes of a step that fails, is not done, or is answered twice. The device
 * is the model's; that what comes out survives power failures is the volume suite's to see.
 */
#include <kunit/test.h>

#include "volume.h"

#define MAX_STEPS	64
#define NEVER		U32_MAX

/**
 * struct trial - a checkpoint
 * @volume: device of which it is taken
 * @nr_steps: number of steps that were done
 * @done: these steps
 * @table: tables of the pages that were written in them
 * @fails_at: number of the step that fails, or NEVER
 * @before: called before each step, or NULL
 */
struct trial {
	struct volume *volume;
	u32 nr_steps;
	enum dmda_checkpoint_step done[MAX_STEPS];
	enum dmda_table table[MAX_STEPS];
	u32 fails_at;
	void (*before)(struct trial *trial, enum dmda_checkpoint_step step);
};

static struct trial *new_trial(struct kunit *test)
{
	struct trial *trial = test_memory(test, sizeof(*trial));

	trial->volume = new_volume(test);
	trial->fails_at = NEVER;
	format_volume(trial->volume);
	return trial;
}

static void write_some(struct volume *volume, u64 lpn)
{
	dpn_t dpn;
	u32 nr = write_data(volume, DMDA_STREAM_USER, lpn, 1, 1 << 20, &dpn);

	map_data(volume, lpn, dpn, nr);
}

static void note_step(struct trial *trial, enum dmda_checkpoint_step step)
{
	KUNIT_ASSERT_LT(trial->volume->test, trial->nr_steps, (u32)MAX_STEPS);
	trial->done[trial->nr_steps] = step;
	trial->table[trial->nr_steps++] = trial->volume->checkpoint.table;
	if (trial->before)
		trial->before(trial, step);
}

/* Return: how it ends. */
static enum dmda_checkpoint_step run(struct trial *trial, bool is_clean)
{
	struct dmda_checkpoint *checkpoint = &trial->volume->checkpoint;
	enum dmda_checkpoint_step step;

	trial->nr_steps = 0;
	dmda_checkpoint_begin(checkpoint, is_clean);
	while ((step = dmda_checkpoint_next(checkpoint)) < DMDA_CHECKPOINT_DONE) {
		bool fails = trial->nr_steps == trial->fails_at;

		note_step(trial, step);
		if (!fails)
			do_checkpoint_step(trial->volume, step);
		dmda_checkpoint_did(checkpoint, fails ? -EIO : 0);
	}
	return step;
}

static void the_steps_come_in_their_order(struct kunit *test)
{
	static const enum dmda_checkpoint_step steps[] = {
		DMDA_CHECKPOINT_COMMIT, DMDA_CHECKPOINT_PLACE, DMDA_CHECKPOINT_MAP,
		DMDA_CHECKPOINT_PAGE, DMDA_CHECKPOINT_PAGE, DMDA_CHECKPOINT_WAIT,
		DMDA_CHECKPOINT_HOLD, DMDA_CHECKPOINT_PAGE, DMDA_CHECKPOINT_WAIT,
		DMDA_CHECKPOINT_COMMIT, DMDA_CHECKPOINT_ROOT,
	};
	struct trial *trial = new_trial(test);

	write_some(trial->volume, 1);
	KUNIT_EXPECT_EQ(test, run(trial, false), DMDA_CHECKPOINT_DONE);
	KUNIT_ASSERT_EQ(test, trial->nr_steps, (u32)ARRAY_SIZE(steps));
	for (u32 i = 0; i < ARRAY_SIZE(steps); i++)
		KUNIT_EXPECT_EQ(test, trial->done[i], steps[i]);
	KUNIT_EXPECT_EQ(test, trial->table[3], DMDA_TABLE_SEGMENTS);
	KUNIT_EXPECT_EQ(test, trial->table[4], DMDA_TABLE_OPEN);
	KUNIT_EXPECT_EQ(test, trial->table[7], DMDA_TABLE_DIRECTORY);
	KUNIT_EXPECT_EQ(test, trial->volume->checkpoint.order,
			(u32)(DMDA_ORDER_FLUSH | DMDA_ORDER_FUA));
}

static void pages_that_have_not_changed_are_not_written(struct kunit *test)
{
	struct trial *trial = new_trial(test);

	write_some(trial->volume, 1);
	run(trial, false);
	KUNIT_EXPECT_EQ(test, run(trial, false), DMDA_CHECKPOINT_DONE);
	for (u32 i = 0; i < trial->nr_steps; i++)
		KUNIT_EXPECT_NE(test, trial->done[i], DMDA_CHECKPOINT_PAGE);
	KUNIT_EXPECT_EQ(test, trial->volume->root.epoch, 3ULL);
}

/* What comes behind the place is left to the journal: else it might never end. */
static void write_behind_the_place(struct trial *trial, enum dmda_checkpoint_step step)
{
	if (step == DMDA_CHECKPOINT_MAP)
		write_some(trial->volume, 1);
}

static void pages_that_change_behind_the_place_are_left_to_the_journal(struct kunit *test)
{
	struct trial *trial = new_trial(test);
	struct volume *volume = trial->volume;

	write_some(volume, 1);
	run(trial, false);
	trial->before = write_behind_the_place;
	KUNIT_EXPECT_EQ(test, run(trial, false), DMDA_CHECKPOINT_DONE);
	for (u32 i = 0; i < trial->nr_steps; i++)
		KUNIT_EXPECT_NE(test, trial->done[i], DMDA_CHECKPOINT_PAGE);
	KUNIT_EXPECT_EQ(test, volume->map[0].dirty_sector, volume->root.journal.sector);
	KUNIT_EXPECT_FALSE(test, dmda_checkpoint_needs(&volume->checkpoint,
						       volume->map[0].dirty_sector));
}

static bool is_held(const struct volume *volume, enum dmda_table table)
{
	return dmda_slots_target(&volume->slots[table], 0) == DMDA_SLOT_NONE;
}

static void expect_slots(struct trial *trial, enum dmda_checkpoint_step step)
{
	struct volume *volume = trial->volume;
	bool is_holding = step == DMDA_CHECKPOINT_HOLD, is_naming;

	for (u32 i = 0; i < trial->nr_steps; i++)
		is_holding = is_holding || trial->done[i] == DMDA_CHECKPOINT_HOLD;
	is_naming = step == DMDA_CHECKPOINT_ROOT ||
		(is_holding && step == DMDA_CHECKPOINT_COMMIT);
	KUNIT_EXPECT_EQ(volume->test, is_held(volume, DMDA_TABLE_MAP), is_holding);
	KUNIT_EXPECT_EQ(volume->test, is_held(volume, DMDA_TABLE_DIRECTORY), is_naming);
	KUNIT_EXPECT_EQ(volume->test, is_held(volume, DMDA_TABLE_SEGMENTS), is_naming);
}

static void no_slot_changes_that_the_root_names(struct kunit *test)
{
	struct trial *trial = new_trial(test);

	write_some(trial->volume, 1);
	trial->before = expect_slots;
	KUNIT_EXPECT_EQ(test, run(trial, false), DMDA_CHECKPOINT_DONE);
	for (u32 i = 0; i < DMDA_NR_TABLES; i++)
		KUNIT_EXPECT_FALSE(test, is_held(trial->volume, i));
}

/* The root is that of before, no slot is held, and what was begun was waited for. */
static void expect_failure(struct trial *trial, const struct dmda_root *before)
{
	struct volume *volume = trial->volume;
	bool is_writing = false;

	KUNIT_EXPECT_EQ(volume->test, run(trial, false), DMDA_CHECKPOINT_FAILED);
	KUNIT_EXPECT_EQ(volume->test, volume->checkpoint.error, -EIO);
	KUNIT_EXPECT_EQ(volume->test, volume->root.epoch, before->epoch);
	KUNIT_EXPECT_EQ(volume->test, volume->root.journal.sector, before->journal.sector);
	for (u32 i = 0; i < DMDA_NR_TABLES; i++)
		KUNIT_EXPECT_FALSE(volume->test, is_held(volume, i));
	for (u32 i = 0; i < trial->nr_steps; i++) {
		enum dmda_checkpoint_step step = trial->done[i];

		is_writing = step == DMDA_CHECKPOINT_MAP || step == DMDA_CHECKPOINT_PAGE ||
			(is_writing && step != DMDA_CHECKPOINT_WAIT);
		KUNIT_EXPECT_TRUE(volume->test, i <= trial->fails_at ||
				  step == DMDA_CHECKPOINT_WAIT);
	}
	KUNIT_EXPECT_FALSE(volume->test, is_writing);
}

static void a_step_that_fails_leaves_the_root_as_it_was(struct kunit *test)
{
	for (u32 i = 0; i < 11; i++) {
		struct trial *trial = new_trial(test);
		struct dmda_root before = trial->volume->root;

		write_some(trial->volume, 1);
		trial->fails_at = i;
		expect_failure(trial, &before);
		KUNIT_EXPECT_GT(test, trial->nr_steps, i);
	}
}

static void a_step_is_asked_for_until_it_is_answered_once(struct kunit *test)
{
	struct trial *trial = new_trial(test);
	struct dmda_checkpoint *checkpoint = &trial->volume->checkpoint;

	dmda_checkpoint_begin(checkpoint, false);
	dmda_checkpoint_did(checkpoint, -EIO);
	KUNIT_EXPECT_EQ(test, dmda_checkpoint_next(checkpoint), DMDA_CHECKPOINT_COMMIT);
	KUNIT_EXPECT_EQ(test, dmda_checkpoint_next(checkpoint), DMDA_CHECKPOINT_COMMIT);
	dmda_checkpoint_did(checkpoint, 0);
	dmda_checkpoint_did(checkpoint, -EIO);
	KUNIT_EXPECT_EQ(test, checkpoint->error, 0);
	KUNIT_EXPECT_EQ(test, dmda_checkpoint_next(checkpoint), DMDA_CHECKPOINT_PLACE);
	dmda_checkpoint_did(checkpoint, -EIO);
	KUNIT_EXPECT_EQ(test, dmda_checkpoint_next(checkpoint), DMDA_CHECKPOINT_FAILED);
	dmda_checkpoint_did(checkpoint, 0);
	KUNIT_EXPECT_EQ(test, dmda_checkpoint_next(checkpoint), DMDA_CHECKPOINT_FAILED);
}

/* Of 1000 pages of a table the last one has changed. */
static void nobody_waits_until_all_pages_are_looked_at(struct kunit *test)
{
	const u32 nr = 1000;
	struct dmda_checkpoint *checkpoint = &new_trial(test)->volume->checkpoint;
	struct dmda_slots *slots = &checkpoint->tables.slots[DMDA_TABLE_SEGMENTS];
	struct dmda_segments segments = {
		.page = kunit_kcalloc(test, nr, sizeof(*segments.page), GFP_KERNEL),
	};
	u32 nr_pauses = 0;

	KUNIT_ASSERT_NOT_NULL(test, segments.page);
	for (u32 i = 0; i < nr - 1; i++)
		segments.page[i].dirty_sector = U64_MAX;
	dmda_checkpoint_begin(checkpoint, false);
	while (dmda_checkpoint_next(checkpoint) != DMDA_CHECKPOINT_MAP)
		dmda_checkpoint_did(checkpoint, 0);
	slots->nr_pages = nr;
	checkpoint->tables.segments = &segments;
	checkpoint->next.journal.sector = 1;
	dmda_checkpoint_did(checkpoint, 0);
	while (dmda_checkpoint_next(checkpoint) == DMDA_CHECKPOINT_PAUSE) {
		nr_pauses++;
		dmda_checkpoint_did(checkpoint, 0);
	}
	KUNIT_EXPECT_EQ(test, nr_pauses, nr / DMDA_CHECKPOINT_LOOKS);
	KUNIT_EXPECT_EQ(test, dmda_checkpoint_next(checkpoint), DMDA_CHECKPOINT_PAGE);
	KUNIT_EXPECT_EQ(test, checkpoint->table, DMDA_TABLE_SEGMENTS);
	KUNIT_EXPECT_EQ(test, checkpoint->index, (u64)nr - 1);
}

/* Takes a checkpoint that is to be clean, though somebody writes when all is committed. */
static void write_behind_the_last_commit(struct volume *volume)
{
	enum dmda_checkpoint_step step;
	u32 nr_commits = 0;

	dmda_checkpoint_begin(&volume->checkpoint, true);
	while ((step = dmda_checkpoint_next(&volume->checkpoint)) < DMDA_CHECKPOINT_DONE) {
		do_checkpoint_step(volume, step);
		dmda_checkpoint_did(&volume->checkpoint, 0);
		if (step == DMDA_CHECKPOINT_COMMIT && ++nr_commits == 2)
			write_some(volume, 2);
	}
}

static void a_root_is_clean_if_nothing_was_to_follow_and_nothing_has(struct kunit *test)
{
	struct trial *trial = new_trial(test);
	struct volume *volume = trial->volume;

	write_some(volume, 1);
	run(trial, false);
	KUNIT_EXPECT_FALSE(test, volume->root.is_clean);
	run(trial, true);
	KUNIT_EXPECT_TRUE(test, volume->root.is_clean);
	write_behind_the_last_commit(volume);
	KUNIT_EXPECT_FALSE(test, volume->root.is_clean);
}

#define OWN_SEQ		100U

/* To what a device of DISK_PAGES grows; a root of the last size takes more pages. */
static const u64 grown_pages[] = { 2 * DISK_PAGES, 3 * DISK_PAGES, 1 << 24 };

/**
 * struct trace - a root that lies where those of a larger device go
 * @epoch: its epoch, or 0: there is none
 * @seq: the operation that comes next by it
 */
struct trace {
	u64 epoch;
	u64 seq;
};

static struct dmda_super *super_of_grown(struct kunit *test, u64 nr_pages)
{
	struct dmda_super *super = test_memory(test, sizeof(*super));

	KUNIT_ASSERT_NULL(test, super_of_test(super, false));
	KUNIT_ASSERT_NULL(test, dmda_super_grow(super, nr_pages));
	return super;
}

/* The first page tells. Return: what is noted of the trace by one who looks for @super's roots. */
static struct dmda_root_traces note_traces(struct kunit *test, const struct dmda_super *super,
					   const struct dmda_super *of,
					   const struct trace traces[2])
{
	void *page = test_memory(test, DMDA_BLOCK_BYTES);
	struct dmda_root_traces noted = { 0 };

	for (u32 i = 0; i < 2; i++) {
		const struct dmda_root root = {
			.epoch = traces[i].epoch, .journal.seq = traces[i].seq,
		};
		u64 dpn = from_dpn(dmda_root_dpn(of, root.epoch));

		dmda_root_encode(&root, of, NULL, 0, page);
		if (root.epoch && dpn - super->root_dpn[0] < 2 * super->root_pages)
			dmda_root_note(&noted, super, to_dpn(dpn), page);
	}
	return noted;
}

static void expect_grown(struct kunit *test, const struct trace traces[2], bool has_grown)
{
	for (u32 i = 0; i < ARRAY_SIZE(grown_pages); i++) {
		for (u32 j = 0; j <= i; j++) {
			struct dmda_root_traces noted =
				note_traces(test, super_of_grown(test, grown_pages[i]),
					    super_of_grown(test, grown_pages[j]), traces);

			KUNIT_EXPECT_EQ_MSG(test, dmda_root_has_grown(&noted, OWN_SEQ), has_grown,
					    "epochs %llu and %llu, to %llu, was %llu",
					    traces[0].epoch, traces[1].epoch, grown_pages[i],
					    grown_pages[j]);
		}
	}
}

/*
 * Where the roots of a larger device go: of an attempt that was cut off, or of one in use? Also if
 * it was of another size; and if epochs have jumped as a root of the smaller one could not be read.
 */
static void roots_tell_whether_a_device_has_grown_before(struct kunit *test)
{
	static const struct {
		struct trace traces[2];
		bool has_grown;
	} cases[] = {
		{ { { 0, 0 }, { 0, 0 } }, false },
		{ { { 8, OWN_SEQ }, { 0, 0 } }, false },
		{ { { 0, 0 }, { 7, OWN_SEQ - 1 } }, false },
		{ { { 0, 0 }, { 1033, OWN_SEQ } }, false },
		{ { { 0, 0 }, { 9, OWN_SEQ + 1 } }, true },
		{ { { 10, OWN_SEQ + 1 }, { 0, 0 } }, true },
		{ { { 8, OWN_SEQ }, { 9, OWN_SEQ + 1 } }, true },
		{ { { 4, OWN_SEQ / 2 }, { 3, OWN_SEQ / 3 } }, true },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		expect_grown(test, cases[i].traces, cases[i].has_grown);
}

/* Data, another device's, and what was copied there from where it belongs */
static void what_is_no_root_there_tells_nothing(struct kunit *test)
{
	const struct dmda_root root = { .epoch = 10, .journal.seq = OWN_SEQ + 1 };
	struct dmda_super *super = super_of_grown(test, grown_pages[0]);
	dpn_t dpn = to_dpn(super->root_dpn[0]);
	struct dmda_root_block *page = test_memory(test, sizeof(*page));
	struct dmda_root_traces traces = { 0 };

	dmda_root_note(&traces, super, dpn, page);
	dmda_root_encode(&root, super, NULL, 0, page);
	dmda_root_note(&traces, super, to_dpn(super->root_dpn[0] + 1), page);
	super->uuid[0] ^= 1;
	dmda_root_note(&traces, super, dpn, page);
	KUNIT_EXPECT_FALSE(test, dmda_root_has_grown(&traces, OWN_SEQ));
	super->uuid[0] ^= 1;
	dmda_root_note(&traces, super, dpn, page);
	KUNIT_EXPECT_TRUE(test, dmda_root_has_grown(&traces, OWN_SEQ));
}

/*
 * Growing wipes where its own roots go. If it was cut off, and then again to a far smaller size,
 * that is not as far as the first attempt has left a root.
 */
static void roots_of_two_attempts_to_grow_are_no_pair(struct kunit *test)
{
	const struct dmda_super *small = super_of_grown(test, grown_pages[0]);
	const struct dmda_super *large = super_of_grown(test, grown_pages[2]);
	const struct dmda_root first = { .epoch = 7, .journal.seq = OWN_SEQ - 1 };
	const struct dmda_root second = { .epoch = 8, .journal.seq = OWN_SEQ };
	void *page = test_memory(test, DMDA_BLOCK_BYTES);
	struct dmda_root_traces traces = { 0 };

	KUNIT_ASSERT_GE(test, large->root_pages, 2 * small->root_pages);
	dmda_root_encode(&second, small, NULL, 0, page);
	dmda_root_note(&traces, large, dmda_root_dpn(small, second.epoch), page);
	dmda_root_encode(&first, large, NULL, 0, page);
	dmda_root_note(&traces, large, dmda_root_dpn(large, first.epoch), page);
	KUNIT_EXPECT_FALSE(test, dmda_root_has_grown(&traces, OWN_SEQ));
	/* A pair of the smaller size is one, whatever the attempt has left behind it. */
	dmda_root_encode(&first, small, NULL, 0, page);
	dmda_root_note(&traces, large, dmda_root_dpn(small, first.epoch), page);
	KUNIT_EXPECT_TRUE(test, dmda_root_has_grown(&traces, OWN_SEQ));
}

/* The kernel gives nobody more at once; the tool's need.rs has the same number. */
static void a_table_of_so_many_pages_takes_all_that_the_kernel_gives(struct kunit *test)
{
	const u64 most = 134084706;

	KUNIT_EXPECT_LE(test, (u64)dmda_slots_bytes(most), (u64)INT_MAX);
	KUNIT_EXPECT_GT(test, (u64)dmda_slots_bytes(most + 1), (u64)INT_MAX);
}

/* Likewise */
static void so_does_a_table_of_so_many_segments(struct kunit *test)
{
	const u32 most = 66189562;
	struct dmda_super *super = kunit_kzalloc(test, sizeof(*super), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, super);
	super->nr_areas = 1;
	super->area[0].nr_segments = most;
	KUNIT_EXPECT_LE(test, (u64)dmda_segments_bytes(super), (u64)INT_MAX);
	KUNIT_EXPECT_LT(test, dmda_lifetimes_bytes(super), dmda_segments_bytes(super));
	super->area[0].nr_segments = most + 1;
	KUNIT_EXPECT_GT(test, (u64)dmda_segments_bytes(super), (u64)INT_MAX);
}

static struct kunit_case checkpoint_cases[] = {
	KUNIT_CASE(the_steps_come_in_their_order),
	KUNIT_CASE(pages_that_have_not_changed_are_not_written),
	KUNIT_CASE(pages_that_change_behind_the_place_are_left_to_the_journal),
	KUNIT_CASE(no_slot_changes_that_the_root_names),
	KUNIT_CASE(a_step_that_fails_leaves_the_root_as_it_was),
	KUNIT_CASE(a_step_is_asked_for_until_it_is_answered_once),
	KUNIT_CASE(nobody_waits_until_all_pages_are_looked_at),
	KUNIT_CASE(a_root_is_clean_if_nothing_was_to_follow_and_nothing_has),
	KUNIT_CASE(roots_tell_whether_a_device_has_grown_before),
	KUNIT_CASE(what_is_no_root_there_tells_nothing),
	KUNIT_CASE(roots_of_two_attempts_to_grow_are_no_pair),
	KUNIT_CASE(a_table_of_so_many_pages_takes_all_that_the_kernel_gives),
	KUNIT_CASE(so_does_a_table_of_so_many_segments),
	{}
};

static struct kunit_suite checkpoint_suite = {
	.name = "dm_dieaware_checkpoint",
	.test_cases = checkpoint_cases,
};

kunit_test_suite(checkpoint_suite);

MODULE_DESCRIPTION("The steps of a checkpoint");
MODULE_LICENSE("GPL");
