// SPDX-License-Identifier: GPL-2.0-only
/*
 * A checkpoint, as stages that are gone through in order. Each asks for steps until it is over, and
 * may have something to do in memory when it is left. If a step fails, what was begun is waited for
 * all the same, since its memory is not the machine's; then slots of the map may change again.
 */
#include "checkpoint.h"

enum stage {
	AT_COMMIT,
	AT_PLACE,
	AT_MAP,
	AT_SEGMENTS,
	AT_OPENED,
	AT_WRITTEN,
	AT_HOLD,
	AT_DIRECTORY,
	AT_NAMED,
	AT_COMMIT_AGAIN,
	AT_ROOT,
	AT_DONE,
	AT_FAILED,
};

static bool want(struct dmda_checkpoint *checkpoint, enum dmda_checkpoint_step step)
{
	checkpoint->step = step;
	return true;
}

static bool want_once(struct dmda_checkpoint *checkpoint, enum dmda_checkpoint_step step)
{
	return !checkpoint->at && want(checkpoint, step);
}

static bool want_page(struct dmda_checkpoint *checkpoint, enum dmda_table table)
{
	if (checkpoint->at >= checkpoint->tables.slots[table].nr_pages)
		return false;
	checkpoint->table = table;
	checkpoint->index = checkpoint->at;
	return want(checkpoint, DMDA_CHECKPOINT_PAGE);
}

static bool want_commit(struct dmda_checkpoint *checkpoint)
{
	return want_once(checkpoint, DMDA_CHECKPOINT_COMMIT);
}

/* Before any page is copied: what comes behind it may be missing in a copy. */
static bool want_place(struct dmda_checkpoint *checkpoint)
{
	return want_once(checkpoint, DMDA_CHECKPOINT_PLACE);
}

static bool want_map(struct dmda_checkpoint *checkpoint)
{
	return want_once(checkpoint, DMDA_CHECKPOINT_MAP);
}

/* The first page that is needed from here on; the lock is let go of after so many that are not. */
static bool want_needed(struct dmda_checkpoint *checkpoint, enum dmda_table table,
			bool (*is_needed)(const struct dmda_checkpoint *checkpoint, u64 index))
{
	u64 nr_pages = checkpoint->tables.slots[table].nr_pages;
	u64 end = min_t(u64, nr_pages, checkpoint->at + DMDA_CHECKPOINT_LOOKS);

	while (checkpoint->at < end && !is_needed(checkpoint, checkpoint->at))
		checkpoint->at++;
	if (checkpoint->at == end && end < nr_pages)
		return want(checkpoint, DMDA_CHECKPOINT_PAUSE);
	return want_page(checkpoint, table);
}

static bool needs_segments(const struct dmda_checkpoint *checkpoint, u64 index)
{
	return dmda_checkpoint_needs(checkpoint,
				     checkpoint->tables.segments->page[index].dirty_sector);
}

static bool want_segments(struct dmda_checkpoint *checkpoint)
{
	return want_needed(checkpoint, DMDA_TABLE_SEGMENTS, needs_segments);
}

static bool needs_opened(const struct dmda_checkpoint *checkpoint, u64 index)
{
	return dmda_checkpoint_needs(checkpoint,
				     checkpoint->tables.opened->page[index].dirty_sector);
}

static bool want_opened(struct dmda_checkpoint *checkpoint)
{
	return want_needed(checkpoint, DMDA_TABLE_OPEN, needs_opened);
}

static bool want_wait(struct dmda_checkpoint *checkpoint)
{
	return want_once(checkpoint, DMDA_CHECKPOINT_WAIT);
}

/* The directory names slots of the map: none of them may be another one until the root counts. */
static bool want_hold(struct dmda_checkpoint *checkpoint)
{
	dmda_slots_begin(&checkpoint->tables.slots[DMDA_TABLE_MAP]);
	return want_once(checkpoint, DMDA_CHECKPOINT_HOLD);
}

static bool needs_directory(const struct dmda_checkpoint *checkpoint, u64 index)
{
	return dmda_slots_changed(&checkpoint->tables.slots[DMDA_TABLE_MAP], index);
}

static bool want_directory(struct dmda_checkpoint *checkpoint)
{
	return want_needed(checkpoint, DMDA_TABLE_DIRECTORY, needs_directory);
}

static void leave_named(struct dmda_checkpoint *checkpoint)
{
	for (u32 i = 0; i < DMDA_NR_TABLES; i++)
		dmda_slots_begin(&checkpoint->tables.slots[i]);
}

static void leave_commit_again(struct dmda_checkpoint *checkpoint)
{
	checkpoint->next.is_clean = checkpoint->next.is_clean && !checkpoint->batch->nr_used;
}

static bool want_root(struct dmda_checkpoint *checkpoint)
{
	checkpoint->order = DMDA_ORDER_FLUSH | DMDA_ORDER_FUA;
	return want_once(checkpoint, DMDA_CHECKPOINT_ROOT);
}

static void end_slots(struct dmda_checkpoint *checkpoint, bool durable)
{
	for (u32 i = 0; i < DMDA_NR_TABLES; i++)
		dmda_slots_end(&checkpoint->tables.slots[i], durable);
}

static void leave_root(struct dmda_checkpoint *checkpoint)
{
	end_slots(checkpoint, true);
	*checkpoint->root = checkpoint->next;
}

static const struct {
	bool (*want)(struct dmda_checkpoint *checkpoint);
	void (*leave)(struct dmda_checkpoint *checkpoint);
} stages[] = {
	[AT_COMMIT] = { want_commit },
	[AT_PLACE] = { want_place },
	[AT_MAP] = { want_map },
	[AT_SEGMENTS] = { want_segments },
	[AT_OPENED] = { want_opened },
	[AT_WRITTEN] = { want_wait },
	[AT_HOLD] = { want_hold },
	[AT_DIRECTORY] = { want_directory },
	[AT_NAMED] = { want_wait, leave_named },
	[AT_COMMIT_AGAIN] = { want_commit, leave_commit_again },
	[AT_ROOT] = { want_root, leave_root },
};

static void enter_stage(struct dmda_checkpoint *checkpoint, enum stage stage)
{
	checkpoint->stage = stage;
	checkpoint->at = 0;
}

/* The stage that follows the present one, which is over or has failed */
static enum stage stage_after(const struct dmda_checkpoint *checkpoint)
{
	if (!checkpoint->error)
		return checkpoint->stage + 1;
	switch (checkpoint->stage) {
	case AT_MAP:
	case AT_SEGMENTS:
	case AT_OPENED:
		return AT_WRITTEN;
	case AT_DIRECTORY:
		return AT_NAMED;
	default:
		return AT_FAILED;
	}
}

static void leave_stage(struct dmda_checkpoint *checkpoint)
{
	enum stage stage = stage_after(checkpoint);

	if (stage == AT_FAILED)
		end_slots(checkpoint, false);
	else if (!checkpoint->error && stages[checkpoint->stage].leave)
		stages[checkpoint->stage].leave(checkpoint);
	enter_stage(checkpoint, stage);
}

void dmda_checkpoint_begin(struct dmda_checkpoint *checkpoint, bool is_clean)
{
	checkpoint->next = *checkpoint->root;
	checkpoint->next.epoch++;
	checkpoint->next.is_clean = is_clean;
	checkpoint->order = 0;
	checkpoint->error = 0;
	checkpoint->is_asked = false;
	enter_stage(checkpoint, AT_COMMIT);
}

static bool has_failed_here(const struct dmda_checkpoint *checkpoint)
{
	return checkpoint->error && (checkpoint->at || checkpoint->step == DMDA_CHECKPOINT_PAUSE);
}

enum dmda_checkpoint_step dmda_checkpoint_next(struct dmda_checkpoint *checkpoint)
{
	while (!checkpoint->is_asked && checkpoint->stage < AT_DONE) {
		checkpoint->is_asked = !has_failed_here(checkpoint) &&
			stages[checkpoint->stage].want(checkpoint);
		if (!checkpoint->is_asked)
			leave_stage(checkpoint);
	}
	if (checkpoint->is_asked)
		return checkpoint->step;
	return checkpoint->stage == AT_DONE ? DMDA_CHECKPOINT_DONE : DMDA_CHECKPOINT_FAILED;
}

void dmda_checkpoint_did(struct dmda_checkpoint *checkpoint, int error)
{
	if (!checkpoint->is_asked)
		return;
	checkpoint->is_asked = false;
	if (checkpoint->step != DMDA_CHECKPOINT_PAUSE)
		checkpoint->at++;
	checkpoint->error = checkpoint->error ?: error;
}
