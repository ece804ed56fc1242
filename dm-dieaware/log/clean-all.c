// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cleaning everything, once: as many segments at a time as there are free ones for what is
 * valid in them. The more they are, the more of a file comes together. Users may take some of
 * the free ones meanwhile: then a round ends before the last are taken, without which nothing
 * could ever be cleaned, and the next takes no more than goes into those.
 */
#include <linux/vmalloc.h>

#include "log.h"
#include "places.h"

/* Segments that are looked at under one holding of the lock */
#define MARK_AT_ONCE	1024U

/* Most pages that are sorted together: 64 MiB of memory */
#define MAX_SORTED_PAGES	(64U * 1024 * 1024 / sizeof(struct dmda_log_move))

static void mark_some(struct dmda_log_cleaner *cleaner, u32 from, u32 to)
{
	struct dmda_log *log = cleaner->log;

	spin_lock_irq(&log->lock);
	for (u32 i = from; i < to; i++) {
		const struct dmda_segment *segment = &log->space.segments.segment[i];

		if (segment->state != DMDA_SEGMENT_CLOSED || !segment->nr_valid)
			continue;
		if (segment->stuck)
			cleaner->has_stuck = true;
		else
			set_bit(i, cleaner->is_left);
	}
	spin_unlock_irq(&log->lock);
}

/* What changes meanwhile is seen when its turn comes, or was written since, and may stay. */
static void mark_all(struct dmda_log_cleaner *cleaner)
{
	u32 nr_segments = cleaner->log->space.segments.nr_segments;

	bitmap_zero(cleaner->is_left, nr_segments);
	for (u32 i = 0; i < nr_segments; i += MARK_AT_ONCE) {
		mark_some(cleaner, i, min(i + MARK_AT_ONCE, nr_segments));
		cond_resched();
	}
}

/* Is a segment to be cleaned, still? Then it is held. An empty one may be on its way to be free. */
static bool hold_if_worth(struct dmda_log *log, u32 i)
{
	const struct dmda_segment *segment = &log->space.segments.segment[i];
	bool is_worth;

	spin_lock_irq(&log->lock);
	is_worth = segment->state == DMDA_SEGMENT_CLOSED && segment->nr_valid;
	if (is_worth)
		dmda_log_hold(log, to_seg(i));
	spin_unlock_irq(&log->lock);
	return is_worth;
}

/*
 * Takes the next ones that are left. Each look may read from the device, and a large one has many
 * of whose pages none is to be moved: who waits for the end does not wait for all of these.
 * Return: whether there are any.
 */
static bool choose_next(struct dmda_log_cleaner *cleaner)
{
	struct dmda_log_look *look = &cleaner->look[0];
	struct dmda_log *log = cleaner->log;
	u32 i;

	dmda_log_forget_victims(cleaner);
	for_each_set_bit(i, cleaner->is_left, log->space.segments.nr_segments) {
		if (dmda_log_must_stop(cleaner))
			break;
		if (!hold_if_worth(log, i)) {
			clear_bit(i, cleaner->is_left);
			continue;
		}
		look->seg = to_seg(i);
		dmda_log_look_at(cleaner, look, 1);
		if (dmda_log_add_victim(cleaner, look)) {
			clear_bit(i, cleaner->is_left);
			continue;
		}
		dmda_log_put_reader(log, to_seg(i));
		if (!READ_ONCE(log->space.segments.segment[i].stuck))
			break;
		clear_bit(i, cleaner->is_left);
	}
	return cleaner->plan.nr_victims;
}

/* Moves for which there is room beside what users need; memory is limited, too. */
static u32 room_for_all(struct dmda_log *log)
{
	u32 data_pages = dmda_super_data_pages(&log->super);
	u32 nr;

	spin_lock_irq(&log->lock);
	nr = log->space.segments.nr_free;
	spin_unlock_irq(&log->lock);
	nr = nr > DMDA_LOG_LOW_SEGMENTS ? nr - DMDA_LOG_LOW_SEGMENTS : 0;
	return min_t(u64, (u64)nr * data_pages, MAX_SORTED_PAGES);
}

static void limit_moves(struct dmda_log_cleaner *cleaner, u32 max_moves)
{
	struct dmda_log *log = cleaner->log;

	cleaner->plan.max_moves = max_moves;
	spin_lock_irq(&log->lock);
	log->cleaning.leaves_kept = max_moves > cleaner->plan.kept_moves;
	spin_unlock_irq(&log->lock);
}

/* As many as there is room for, or for as many as there is in any case */
static void begin_round(struct dmda_log_cleaner *cleaner, u32 nr_memory)
{
	u32 room = cleaner->is_short ? 0 : min(room_for_all(cleaner->log), nr_memory);

	limit_moves(cleaner, max(room, dmda_log_sure_moves(cleaner)));
	cleaner->in_file_order = true;
	cleaner->is_short = false;
}

/* What was not done of them comes again. */
static void put_victims_back(struct dmda_log_cleaner *cleaner)
{
	for (u32 i = 0; i < cleaner->plan.nr_victims; i++)
		set_bit(from_seg(cleaner->victim[i]), cleaner->is_left);
}

/* Return: whether it goes on. */
static bool clean_next(struct dmda_log_cleaner *cleaner, u32 nr_memory)
{
	begin_round(cleaner, nr_memory);
	if (!choose_next(cleaner))
		return false;
	if (dmda_log_clean_chosen(cleaner)) {
		flush_work(&cleaner->log->space.work);
		return true;
	}
	put_victims_back(cleaner);
	return cleaner->is_short && cleaner->plan.max_moves > cleaner->plan.kept_moves;
}

static bool clean_all_left(struct dmda_log_cleaner *cleaner, u32 nr_memory)
{
	struct dmda_log *log = cleaner->log;

	cleaner->is_short = false;
	while (dmda_log_may_work(log) && !dmda_log_must_stop(cleaner)) {
		limit_moves(cleaner, cleaner->plan.kept_moves);
		dmda_log_gain_room(log, dmda_log_may_work);
		if (!clean_next(cleaner, nr_memory))
			break;
	}
	limit_moves(cleaner, cleaner->plan.kept_moves);
	return bitmap_empty(cleaner->is_left, log->space.segments.nr_segments) &&
		!cleaner->has_stuck;
}

void dmda_log_clean_everything(struct dmda_log_cleaner *cleaner)
{
	struct dmda_log_move *own = cleaner->move;
	u32 nr_memory = max(room_for_all(cleaner->log), cleaner->plan.kept_moves);
	struct dmda_log_move *more = kvmalloc_array(nr_memory, sizeof(*more),
						    GFP_NOIO | __GFP_NOWARN);

	if (more)
		cleaner->move = more;
	cleaner->is_all = true;
	cleaner->has_stuck = false;
	dmda_log_renew_cleaner(cleaner);
	mark_all(cleaner);
	if (clean_all_left(cleaner, more ? nr_memory : cleaner->plan.kept_moves))
		WRITE_ONCE(cleaner->log->cleaning.must_clean_all, false);
	cleaner->is_all = false;
	cleaner->move = own;
	kvfree(more);
}
