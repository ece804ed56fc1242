/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trials of a start: the model's device loses its power, and is started step by step; what was
 * asked for is noted, and one of the steps may fail.
 */
#ifndef START_TRIAL_H
#define START_TRIAL_H

#include <kunit/test.h>

#include "volume.h"

#define MAX_STEPS	4096
#define NEVER		U32_MAX

/**
 * struct done - a step that was done
 * @step: the step
 * @dpn: place that was read
 * @state: state of the machine that asked for it
 */
struct done {
	enum dmda_start_step step;
	u64 dpn;
	u32 state;
};

/**
 * struct trial - a start
 * @volume: device that is started
 * @image: what it is started from
 * @base: what the power failure has left
 * @op: for replay
 * @nr_steps: number of steps that were done
 * @done: these steps
 * @fails_at: number of the step that fails, or NEVER
 * @error: the error with which it fails
 * @bad_dpn: page that cannot be read, or 0
 * @nr_bad: number of pages from there on that cannot be
 * @nr_failed: number of reads that have failed
 * @grown: what the device would grow to, or was
 * @behind: pages where the roots of that go
 * @changes_at: state in which the image is changed, or NEVER
 * @change: how
 * @told: pages of the map that were told last, before they are needed
 * @nr_told: how many
 * @nr_untold: number of pages that were needed and not told
 * @is_gathered: pages of the map that were told before replay
 * @nr_gathered: how many
 * @last_gathered: the last of them, plus one
 */
struct trial {
	struct volume *volume;
	const struct image *image;
	struct image *base;
	struct dmda_op op;
	u32 nr_steps;
	struct done done[MAX_STEPS];
	u32 fails_at;
	int error;
	u64 bad_dpn;
	u32 nr_bad;
	u32 nr_failed;
	struct dmda_super grown;
	struct page_bytes *behind;
	u32 changes_at;
	void (*change)(struct volume *volume);
	u64 told[DMDA_AHEAD_PAGES];
	u32 nr_told;
	u32 nr_untold;
	bool is_gathered[MAP_PAGES];
	u32 nr_gathered;
	u64 last_gathered;
};

/* Each once, and one behind the other */
static inline void note_gathered(struct trial *trial)
{
	const struct dmda_ahead *ahead = &trial->volume->start.ahead;

	for (u32 i = 0; i < ahead->nr; i++) {
		KUNIT_ASSERT_LT(trial->volume->test, ahead->index[i], (u64)MAP_PAGES);
		KUNIT_EXPECT_GE(trial->volume->test, ahead->index[i], trial->last_gathered);
		trial->is_gathered[ahead->index[i]] = true;
		trial->nr_gathered++;
		trial->last_gathered = ahead->index[i] + 1;
	}
}

static inline void note_told(struct trial *trial)
{
	const struct dmda_ahead *ahead = &trial->volume->start.ahead;

	KUNIT_ASSERT_LE(trial->volume->test, ahead->nr, ahead->max);
	if (trial->volume->start.state == GATHER) {
		note_gathered(trial);
		return;
	}
	memcpy(trial->told, ahead->index, ahead->nr * sizeof(u64));
	trial->nr_told = ahead->nr;
}

static inline bool was_told(const struct trial *trial, u64 index)
{
	for (u32 i = 0; i < trial->nr_told; i++) {
		if (trial->told[i] == index)
			return true;
	}
	return trial->is_gathered[index];
}

static inline void note_needed(struct trial *trial)
{
	const struct dmda_start *start = &trial->volume->start;

	for (u32 i = 0; i < start->nr_map; i++)
		trial->nr_untold += !was_told(trial, start->map_index + i);
}

static inline bool is_bad(const struct trial *trial)
{
	const struct dmda_start *start = &trial->volume->start;

	return trial->bad_dpn && trial->bad_dpn < from_dpn(start->dpn) + start->nr_pages &&
		from_dpn(start->dpn) < trial->bad_dpn + trial->nr_bad;
}

/* How many steps it takes to look at all of the journal's ring */
static inline u32 nr_ring_reads(const struct trial *trial)
{
	return DIV_ROUND_UP(trial->volume->super.journal_sectors, DMDA_START_SECTORS);
}

/* Behind the end of the device, if it could grow */
static inline bool lies_behind(const struct trial *trial)
{
	return trial->behind && from_dpn(trial->volume->start.dpn) >= trial->grown.root_dpn[0];
}

static inline int read_behind(const struct trial *trial)
{
	const struct dmda_start *start = &trial->volume->start;

	memcpy(start->memory, &trial->behind[from_dpn(start->dpn) - trial->grown.root_dpn[0]],
	       start->nr_pages * DMDA_BLOCK_BYTES);
	return 0;
}

static inline int do_step(struct trial *trial, enum dmda_start_step step)
{
	struct volume *volume = trial->volume;

	if (trial->nr_steps - 1 == trial->fails_at)
		return trial->error;
	switch (step) {
	case DMDA_START_READ:
		if (!is_bad(trial))
			return lies_behind(trial) ? read_behind(trial) :
				do_read_step(volume, trial->image, step);
		trial->nr_failed++;
		return -EIO;
	case DMDA_START_SUPERS:
		write_next_super(volume);
		return 0;
	case DMDA_START_CHECKPOINT:
		take_first_checkpoint(volume);
		return 0;
	case DMDA_START_CLOSE:
		close_left_open(volume);
		return 0;
	case DMDA_START_RESUME:
		take_open(volume);
		return 0;
	default:
		return do_read_step(volume, trial->image, step);
	}
}

static inline void note_step(struct trial *trial, enum dmda_start_step step)
{
	const struct dmda_start *start = &trial->volume->start;

	KUNIT_ASSERT_LT(trial->volume->test, trial->nr_steps, (u32)MAX_STEPS);
	if (step == DMDA_START_FETCH)
		note_told(trial);
	if (step == DMDA_START_MAP)
		note_needed(trial);
	trial->done[trial->nr_steps++] = (struct done){
		.step = step,
		.dpn = step == DMDA_START_READ ? from_dpn(start->dpn) : 0,
		.state = start->state,
	};
	if (start->state == trial->changes_at) {
		trial->changes_at = NEVER;
		trial->change(trial->volume);
	}
}

/* Return: NULL, or what is wrong; after @nr_most steps it is left. */
static inline const char *run(struct trial *trial, enum dmda_start_goal goal, u32 nr_most)
{
	struct dmda_start *start = &trial->volume->start;
	enum dmda_start_step step;

	trial->nr_steps = 0;
	trial->nr_told = 0;
	trial->nr_untold = 0;
	memset(trial->is_gathered, 0, sizeof(trial->is_gathered));
	trial->nr_gathered = 0;
	trial->last_gathered = 0;
	if (goal != DMDA_START_SUPER)
		reset_memory(trial->volume);
	start->op = &trial->op;
	dmda_start_begin(start, goal);
	while (trial->nr_steps < nr_most && (step = dmda_start_next(start)) < DMDA_START_DONE) {
		note_step(trial, step);
		dmda_start_did(start, do_step(trial, step));
	}
	return start->why;
}

static inline void put_data(struct volume *volume, enum dmda_stream stream, u64 lpn, u32 nr_pages)
{
	dpn_t dpn;
	u32 nr = write_data(volume, stream, lpn, nr_pages, 1 << 20, &dpn);

	map_data(volume, lpn, dpn, nr);
	commit(volume);
}

static inline void write_super(struct volume *volume, u64 epoch)
{
	volume->super.epoch = epoch - 1;
	write_next_super(volume);
}

/* Another start from the same. */
static inline void restore(struct trial *trial)
{
	copy_image(trial->volume->stable, trial->base);
	copy_image(trial->volume->now, trial->base);
	trial->volume->nr_pending = 0;
}

/* What the device holds now is what it is started from. */
static inline void lose_power(struct trial *trial)
{
	copy_image(trial->base, trial->volume->stable);
	restore(trial);
}

/*
 * The power fails when both streams have an open segment; @nr_commits are in the journal alone,
 * which is written in units of @unit sectors.
 */
static inline struct trial *new_trial_of(struct kunit *test, u32 nr_commits, u32 unit)
{
	struct trial *trial = test_memory(test, sizeof(*trial));
	struct volume *volume = new_volume(test);

	volume->super.journal_unit_sectors = unit;
	format_volume(volume);
	write_super(volume, 2);
	put_data(volume, DMDA_STREAM_USER, 0, 40);
	put_data(volume, DMDA_STREAM_MOVED, 100, 3);
	take_checkpoint(volume);
	for (u32 i = 0; i < nr_commits; i++)
		put_data(volume, DMDA_STREAM_USER, i % 7 * 200, 2);
	trial->volume = volume;
	trial->image = volume->stable;
	trial->base = new_image(test);
	trial->fails_at = NEVER;
	trial->changes_at = NEVER;
	trial->nr_bad = 1;
	lose_power(trial);
	return trial;
}

static inline struct trial *new_trial(struct kunit *test, u32 nr_commits)
{
	return new_trial_of(test, nr_commits, 1);
}

static inline u32 steps_of(const struct trial *trial, enum dmda_start_step step)
{
	u32 nr = 0;

	for (u32 i = 0; i < trial->nr_steps; i++)
		nr += trial->done[i].step == step;
	return nr;
}

static inline u8 *bytes_at(struct volume *volume, u64 dpn)
{
	return volume->stable->meta[meta_index(&volume->super, dpn)].byte;
}

static inline u8 *sector_of_journal(struct volume *volume, u64 sector)
{
	u32 at = dmda_journal_sector_at(&volume->super, sector);

	return bytes_at(volume, volume->super.journal_dpn + at / DMDA_PAGE_SECTORS) +
		at % DMDA_PAGE_SECTORS * DMDA_SECTOR_BYTES;
}

#endif /* START_TRIAL_H */
