// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments: closed when all of them is mapped, freed when what took their last page away is durable
 * and nobody reads from them any more. They are opened where places are taken (places.c).
 *
 * Closing writes a summary and freeing waits for commits, so a worker does them. Before a segment
 * is free, the device below is told that it holds nothing. That may take long, and is done by a
 * worker of its own, a few segments at a time. When so few segments are free that users get none,
 * those that it has not begun with become free without. Of these it is told later, when cleaning
 * has made others free: an SSD that moves pages itself has use for each that it need not.
 */
#include "commit.h"
#include "disk.h"
#include "log.h"
#include "trace.h"

static int write_summary(struct dmda_log *log)
{
	dpn_t dpn = dmda_close_copy(&log->space.closing, log->space.summary,
				    READ_ONCE(log->checkpoint.root.epoch) + 1);
	int ret = dmda_log_write(log, dpn, log->space.summary, log->super.summary_pages, 0);

	if (ret)
		dmda_log_fail(log, "writing a summary", "the device reports an error");
	return ret;
}

static void did_close_step(struct dmda_log *log, int error)
{
	spin_lock_irq(&log->lock);
	dmda_close_did(&log->space.closing, error);
	spin_unlock_irq(&log->lock);
}

static bool begin_close(struct dmda_log *log, u8 open)
{
	bool can;

	spin_lock_irq(&log->lock);
	can = dmda_close_begin(&log->space.closing, open);
	spin_unlock_irq(&log->lock);
	return can;
}

/* A segment changes its state. Return: 0 or a negative errno. */
static int change_segment(struct dmda_log *log, const struct dmda_record *record)
{
	while (true) {
		bool is_done = false, has_failed;

		spin_lock_irq(&log->lock);
		has_failed = log->state == DMDA_LOG_FAILED;
		if (!has_failed && dmda_log_has_room_locked(log, 1, 0)) {
			dmda_change_segment(&log->journal.change, record);
			log->draft.nr_own++;
			is_done = true;
		}
		spin_unlock_irq(&log->lock);
		if (is_done) {
			trace_dmda_log_segment(log->dmda->self_dev, record->seg, record->kind);
			return 0;
		}
		if (has_failed || dmda_log_make_room(log))
			return -EIO;
	}
}

int dmda_log_close_segment(struct dmda_log *log, u8 open)
{
	struct dmda_closing *closing = &log->space.closing;
	enum dmda_close_step step;

	if (!begin_close(log, open))
		return -EAGAIN;
	while ((step = dmda_close_next(closing)) < DMDA_CLOSE_DONE)
		did_close_step(log, step == DMDA_CLOSE_SUMMARY ? write_summary(log) :
			       change_segment(log, &closing->record));
	return step == DMDA_CLOSE_DONE ? 0 : -EIO;
}

static u32 close_segments(struct dmda_log *log)
{
	u32 nr = 0;

	for (u8 open = 0; open < DMDA_MAX_OPEN && READ_ONCE(log->state) == DMDA_LOG_WRITE; open++) {
		int ret = dmda_log_close_segment(log, open);

		if (ret && ret != -EAGAIN)
			break;
		nr += !ret;
	}
	return nr;
}

/* The next empty segment, if nobody reads from it. Return: it, or SEG_NONE: go on from there. */
static seg_t claim_next(struct dmda_log *log, u32 *from)
{
	struct dmda_log_space *space = &log->space;
	seg_t seg;

	spin_lock_irq(&log->lock);
	/* Against who looks up without the lock, see core/lookup.h. */
	smp_mb__after_spinlock();
	seg = dmda_free_find(&space->freeing, from);
	if (seg != SEG_NONE && !dmda_free_claim(&space->freeing, seg,
						atomic_read(&space->readers[from_seg(seg)])))
		seg = SEG_NONE;
	spin_unlock_irq(&log->lock);
	return seg;
}

/*
 * An empty segment that nobody reads from. Who gets it frees it, and nobody else does: a discard
 * that is on its way must not meet what somebody writes there.
 */
static seg_t claim_empty(struct dmda_log *log, u32 *from)
{
	seg_t seg = SEG_NONE;

	while (seg == SEG_NONE && *from < log->space.segments.nr_segments)
		seg = claim_next(log, from);
	return seg;
}

static void feed(struct dmda_log *log)
{
	spin_lock_irq(&log->lock);
	dmda_log_gained_locked(log);
	dmda_log_feed_locked(log);
	spin_unlock_irq(&log->lock);
}

static bool needs_commit(struct dmda_log *log)
{
	bool needs;

	spin_lock_irq(&log->lock);
	needs = log->space.segments.nr_empty > log->space.freeing.nr_claimed &&
		log->space.segments.nr_free <= DMDA_LOG_LOW_SEGMENTS &&
		log->state == DMDA_LOG_WRITE;
	/* What took the last page away may be a draft, behind which nothing comes. */
	if (needs)
		dmda_commit_end_kept(&log->journal.commit);
	spin_unlock_irq(&log->lock);
	return needs;
}

void dmda_log_forget_holes_locked(struct dmda_log *log, seg_t seg)
{
	u32 *nr_told = &log->holes.nr_told[from_seg(seg)];

	lockdep_assert_held(&log->lock);

	log->holes.nr_told_all -= *nr_told;
	*nr_told = 0;
}

/* A segment that was claimed is free; or the device has failed. */
static bool free_segment(struct dmda_log *log, seg_t seg)
{
	struct dmda_freeing *freeing = &log->space.freeing;
	struct dmda_record record;
	bool is_free;

	spin_lock_irq(&log->lock);
	is_free = dmda_free_record(freeing, seg, &record);
	dmda_log_forget_holes_locked(log, seg);
	spin_unlock_irq(&log->lock);
	is_free = is_free && !change_segment(log, &record);

	spin_lock_irq(&log->lock);
	dmda_free_end(freeing, seg);
	spin_unlock_irq(&log->lock);
	wake_up_all(&log->wait);
	if (is_free)
		feed(log);
	return is_free;
}

/* Nobody lacks segments: there is time to tell the device below. */
static bool can_wait(struct dmda_log *log)
{
	return dmda_log_has_discards(log) &&
		READ_ONCE(log->space.segments.nr_free) > DMDA_LOG_KEPT_SEGMENTS;
}

static void free_segments(struct dmda_log *log)
{
	u32 from = 0;

	while (READ_ONCE(log->state) == DMDA_LOG_WRITE) {
		seg_t seg;

		if (can_wait(log)) {
			dmda_log_kick(log, &log->space.discard_work);
			break;
		}
		seg = claim_empty(log, &from);
		if (seg == SEG_NONE || !free_segment(log, seg))
			break;
	}
}

void dmda_log_do_space(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, space.work);

	/* Whoever waits for its summary waits for no discard. */
	if (close_segments(log))
		feed(log);
	free_segments(log);
	if (needs_commit(log)) {
		dmda_log_commit(log);
		free_segments(log);
	}
}

static void begin_discard_of(struct dmda_log *log, struct dmda_log_group *group, seg_t seg)
{
	dmda_log_begin_discard(log, group, dmda_super_segment_dpn(&log->super, seg),
			       log->super.segment_pages);
}

static bool begin_discard(struct dmda_log *log, seg_t seg)
{
	bool may;

	spin_lock_irq(&log->lock);
	may = dmda_free_discard(&log->space.freeing, seg);
	spin_unlock_irq(&log->lock);
	return may;
}

static void end_discards(struct dmda_log *log, const seg_t *seg, u32 nr)
{
	spin_lock_irq(&log->lock);
	for (u32 i = 0; i < nr; i++)
		dmda_free_discarded(&log->space.freeing, seg[i]);
	spin_unlock_irq(&log->lock);
}

/*
 * What the segments had is gone for good: the device may forget it, too. If it does not, nothing
 * is lost.
 */
static void discard_segments(struct dmda_log *log, const seg_t *seg, u32 nr)
{
	struct dmda_log_group group;

	dmda_log_group_begin(&group);
	for (u32 i = 0; i < nr; i++) {
		if (begin_discard(log, seg[i]))
			begin_discard_of(log, &group, seg[i]);
	}
	dmda_log_group_end(&group);
	end_discards(log, seg, nr);
}

/*
 * A free segment of which the device below was not told. Nobody finds it until it is put back: so
 * others must be left, as many as there are when cleaning begins.
 */
static seg_t set_aside(struct dmda_log *log)
{
	seg_t seg = SEG_NONE;

	spin_lock_irq(&log->lock);
	if (log->space.segments.nr_free > DMDA_LOG_LOW_SEGMENTS)
		seg = dmda_free_set_aside(&log->space.freeing);
	spin_unlock_irq(&log->lock);
	return seg;
}

static void put_back(struct dmda_log *log, const seg_t *seg, u32 nr)
{
	spin_lock_irq(&log->lock);
	for (u32 i = 0; i < nr; i++)
		dmda_free_put_back(&log->space.freeing, seg[i]);
	dmda_log_feed_locked(log);
	spin_unlock_irq(&log->lock);
	wake_up_all(&log->wait);
}

static void tell_free_segments(struct dmda_log *log)
{
	struct dmda_log_group group;
	seg_t seg[DMDA_LOG_DISCARDS_AT_ONCE];
	u32 nr;

	while (dmda_log_may_discard(log)) {
		dmda_log_group_begin(&group);
		for (nr = 0; nr < DMDA_LOG_DISCARDS_AT_ONCE; nr++) {
			seg[nr] = set_aside(log);
			if (seg[nr] == SEG_NONE)
				break;
			begin_discard_of(log, &group, seg[nr]);
		}
		dmda_log_group_end(&group);
		if (!nr)
			break;
		put_back(log, seg, nr);
	}
}

/* Nothing is written to a segment before its discard has ended: not before that it is free. */
void dmda_log_do_discard(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, space.discard_work);
	seg_t seg[DMDA_LOG_DISCARDS_AT_ONCE];
	u32 from = 0, nr;

	while (dmda_log_may_discard(log)) {
		for (nr = 0; nr < DMDA_LOG_DISCARDS_AT_ONCE; nr++) {
			seg[nr] = claim_empty(log, &from);
			if (seg[nr] == SEG_NONE)
				break;
		}
		if (!nr)
			break;
		discard_segments(log, seg, nr);
		for (u32 i = 0; i < nr; i++)
			free_segment(log, seg[i]);
	}
	tell_free_segments(log);
}

static bool are_discarded(struct dmda_log *log, u32 kept)
{
	bool are;

	spin_lock_irq(&log->lock);
	are = log->space.segments.nr_free > kept ||
		!(log->space.freeing.nr_claimed || log->space.freeing.nr_aside);
	spin_unlock_irq(&log->lock);
	return are;
}

void dmda_log_wait_discards(struct dmda_log *log, u32 kept)
{
	wait_event(log->wait, are_discarded(log, kept));
}
