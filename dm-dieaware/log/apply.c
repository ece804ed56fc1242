// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a write does when its data is written: its operation, or several if it is long. What there
 * is no room for in the batch waits; what is too much for an interrupt is left to the worker, which
 * also does it while it waits for memory (cache.c): a write keeps its pages of the map until then.
 */
#include "apply.h"
#include "bio.h"
#include "let-go.h"
#include "log.h"
#include "places.h"

/* What comes of a write whose data is written: its end; another operation; it waits. */
enum dmda_write_step {
	WRITE_DONE,
	WRITE_GOES_ON,
	WRITE_WAITS,
};

/* Nothing becomes of the places that it has left. */
static void give_up_write_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	if (io->is_in_place)
		dmda_log_stayed_locked(log, io);
	else
		dmda_log_placed_locked(log, io->open, io->last - io->cursor + 1);
	dmda_log_let_go_locked(log, io);
}

/* Its next operation, or what is to be done instead. */
static enum dmda_write_step apply_write_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 nr_empty = log->space.segments.nr_empty, done = io->cursor - io->first, nr;
	struct dmda_written first = {
		.lpn = to_lpn(io->cursor), .file = io->file, .fpage = io->fpage + done,
	};

	lockdep_assert_held(&log->lock);

	if (io->is_in_place) {
		if (!io->is_fua_below) {
			log->journal.commit.nr_overwrites++;
			dmda_log_commit_late_locked(log);
		}
		give_up_write_locked(log, io);
		return WRITE_DONE;
	}
	nr = dmda_log_piece_locked(log, io->pages, first.lpn, io->last - io->cursor + 1);
	if (!dmda_log_map_run_locked(log, io->pages, &first, to_dpn(from_dpn(io->dpn) + done), nr,
				     io->check ? &io->check->sum[done] : NULL))
		return WRITE_WAITS;
	log->draft.has_writes = true;
	dmda_log_commit_late_locked(log);
	log->space.closing.open[io->open].mtime = first.seq;
	dmda_log_emptied_locked(log, nr_empty);
	dmda_log_placed_locked(log, io->open, nr);
	io->cursor += nr;
	if (io->cursor <= io->last)
		return WRITE_GOES_ON;
	dmda_log_let_go_locked(log, io);
	return WRITE_DONE;
}

/* What its data has come to; @status is what it ends with when it is done. */
static enum dmda_write_step finish_write_locked(struct dmda_log *log, struct dmda_log_io *io,
						blk_status_t *status)
{
	enum dmda_write_step step;

	lockdep_assert_held(&log->lock);

	if (io->is_fetching) {
		io->is_written = true;
		return WRITE_WAITS;
	}
	if (*status || log->state == DMDA_LOG_FAILED) {
		*status = *status ?: BLK_STS_IOERR;
		give_up_write_locked(log, io);
		return WRITE_DONE;
	}
	step = apply_write_locked(log, io);
	if (step == WRITE_WAITS)
		list_move_tail(&io->list, &log->ios.unmapped);
	if (step != WRITE_DONE || !io->is_fua)
		return step;
	dmda_log_commit_for_locked(log, io);
	return WRITE_WAITS;
}

static void fail_if_wrong(struct dmda_log *log, const char *why)
{
	if (unlikely(why))
		dmda_log_fail(log, "changing the map", why);
}

bool dmda_log_end_write(struct dmda_log *log, struct dmda_log_io *io, blk_status_t *status)
{
	enum dmda_write_step step;
	unsigned long flags;
	const char *why;

	if (io->has_draft)
		dmda_log_draft_end(log, io, *status);
	spin_lock_irqsave(&log->lock, flags);
	step = finish_write_locked(log, io, status);
	/* The rest is too much for an interrupt. */
	if (step == WRITE_GOES_ON) {
		list_move_tail(&io->list, &log->ios.begun);
		dmda_log_kick(log, &log->ios.work);
	}
	why = log->journal.change.why;
	spin_unlock_irqrestore(&log->lock, flags);
	fail_if_wrong(log, why);
	return step == WRITE_DONE;
}

void dmda_log_finish_write(struct dmda_log *log, struct dmda_log_io *io, blk_status_t status)
{
	struct bio *bio = dmda_log_bio(io);
	enum dmda_write_step step;
	const char *why;

	do {
		spin_lock_irq(&log->lock);
		step = finish_write_locked(log, io, &status);
		why = log->journal.change.why;
		spin_unlock_irq(&log->lock);
		fail_if_wrong(log, why);
	} while (step == WRITE_GOES_ON);
	if (step != WRITE_DONE)
		return;
	bio->bi_status = status;
	bio_endio(bio);
}

/* An operation of a write whose data is written. Return: whether there was room for it. */
static bool map_one_locked(struct dmda_log *log, struct dmda_log_io *io, struct list_head *done,
			   struct list_head *failed)
{
	enum dmda_write_step step;

	lockdep_assert_held(&log->lock);

	if (log->state == DMDA_LOG_FAILED) {
		give_up_write_locked(log, io);
		list_move_tail(&io->list, failed);
		return true;
	}
	step = apply_write_locked(log, io);
	if (step == WRITE_DONE && io->is_fua)
		dmda_log_commit_for_locked(log, io);
	else if (step == WRITE_DONE)
		list_move_tail(&io->list, done);
	return step != WRITE_WAITS;
}

/* The first write of those that waited for room. Return: whether there was one, and room. */
static bool map_next_locked(struct dmda_log *log, struct list_head *done, struct list_head *failed)
{
	struct dmda_log_io *io =
		list_first_entry_or_null(&log->ios.unmapped, struct dmda_log_io, list);

	lockdep_assert_held(&log->lock);

	return io && map_one_locked(log, io, done, failed);
}

/* As far as there is room, an operation under each holding of the lock. */
void dmda_log_map_written(struct dmda_log *log)
{
	LIST_HEAD(failed);
	LIST_HEAD(done);
	bool goes_on;

	do {
		spin_lock_irq(&log->lock);
		goes_on = map_next_locked(log, &done, &failed);
		if (!goes_on) {
			dmda_log_go_on_list_locked(log, &log->ios.untrimmed);
			dmda_log_feed_locked(log);
		}
		spin_unlock_irq(&log->lock);
	} while (goes_on);
	dmda_log_end_list(&done, BLK_STS_OK);
	dmda_log_end_list(&failed, BLK_STS_IOERR);
}

/* Return: whether there was one. What there is no room for waits for that. */
static bool go_on_with_begun_locked(struct dmda_log *log, struct list_head *done,
				    struct list_head *failed)
{
	struct dmda_log_io *io =
		list_first_entry_or_null(&log->ios.begun, struct dmda_log_io, list);

	lockdep_assert_held(&log->lock);

	if (io && !map_one_locked(log, io, done, failed))
		list_move_tail(&io->list, &log->ios.unmapped);
	return io;
}

void dmda_log_map_begun(struct dmda_log *log)
{
	LIST_HEAD(failed);
	LIST_HEAD(done);
	const char *why;
	bool goes_on;

	do {
		spin_lock_irq(&log->lock);
		goes_on = go_on_with_begun_locked(log, &done, &failed);
		why = log->journal.change.why;
		spin_unlock_irq(&log->lock);
		fail_if_wrong(log, why);
	} while (goes_on);
	dmda_log_end_list(&done, BLK_STS_OK);
	dmda_log_end_list(&failed, BLK_STS_IOERR);
}
