// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bio's way through log mode: in at map, to the file of its kind, on by the worker if it has to
 * wait for something, and out at its end.
 *
 *   read   looked up and sent on, by the task that submits it. A worker takes over if the
 *	    page of the map is not in memory.
 *   write  claims its lpns, so that writes of the same ones are done as they were
 *	    submitted; gets places; is sent on; when its data is written, its operation is
 *	    done; with FUA it then waits for a commit, but for a write in place that was sent on
 *	    with FUA. Who has to wait for something goes on by the worker.
 *   trim   (discard, write zeroes) claims its lpns; the worker does its operations.
 *   flush  waits for a commit, or is one, where a draft only has to be flushed. What is under
 *	    way when it comes does not concern it: nobody was told yet that it is written.
 *
 * Before a suspension that does not wait for writes, those that have no places yet, and trims that
 * have not begun, go back to dm. All of them, lest one that comes later is done before those. In
 * which order they come again is dm's: it puts what it gets back before what it has. Nobody was
 * told yet that any of them is done, so nobody may rely on their order.
 */
#include "apply.h"
#include "bio.h"
#include "commit.h"
#include "evict.h"
#include "hint.h"
#include "io.h"
#include "log.h"
#include "read.h"
#include "trim.h"
#include "write.h"

/* A bio has ended below; or elsewhere, and never was there. Return: whether it ends for dm. */
static bool end_data(struct dmda_log_io *io, struct bio *bio)
{
	if (io->stage != DMDA_LOG_DATA)
		return true;
	if (bio_op(bio) == REQ_OP_WRITE)
		return dmda_log_end_write(io->log, io, &bio->bi_status);
	dmda_log_end_read(io);
	return true;
}

/* All CPUs write there: who finds what he was to write leaves it in the others' caches. */
static void note_io(struct dmda_log *log)
{
	unsigned long now = jiffies;

	if (READ_ONCE(log->cleaning.last_io) != now)
		WRITE_ONCE(log->cleaning.last_io, now);
}

/* The first time that a bio ends. When it is kept for something, it may end again at once. */
static void end_io(struct bio *bio)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);

	note_io(io->log);
	bio->bi_end_io = io->end_io;
	if (io->is_commit)
		dmda_log_flush_committed(io->log, io, bio->bi_status);
	if (io->check && io->stage == DMDA_LOG_DATA && !dmda_log_check_end(io->check))
		return;
	if (end_data(io, bio))
		bio->bi_end_io(bio);
}

static struct dmda_log_io *init_io(struct dmda_log *log, struct bio *bio)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);
	sector_t sector = dm_target_offset(log->dmda->ti, bio->bi_iter.bi_sector);

	io->log = log;
	io->bio = bio;
	io->end_io = bio->bi_end_io;
	bio->bi_end_io = end_io;
	INIT_LIST_HEAD(&io->list);
	io->first = sector >> DMDA_PAGE_SECTOR_SHIFT;
	io->last = io->first + (bio_sectors(bio) >> DMDA_PAGE_SECTOR_SHIFT) - 1;
	io->cursor = io->first;
	memset(io->pages, 0, sizeof(io->pages));
	io->seg = SEG_NONE;
	io->file = 0;
	io->fpage = 0;
	dmda_log_hint_init(io);
	io->stage = DMDA_LOG_CLAIM;
	io->has_claim = false;
	io->is_fua = false;
	io->is_fua_below = false;
	io->is_fetching = false;
	io->has_waited = false;
	io->has_starved = false;
	io->is_written = false;
	io->is_rest = false;
	io->is_in_place = false;
	io->may_stay = false;
	io->is_timed = false;
	io->has_draft = false;
	io->is_commit = false;
	io->check = NULL;
	return io;
}

static int map_flush(struct dmda_log *log, struct dmda_log_io *io)
{
	int ret = DM_MAPIO_SUBMITTED;
	unsigned long flags;
	bool is_done = false;

	io->stage = DMDA_LOG_MAPPED;
	spin_lock_irqsave(&log->lock, flags);
	dmda_update_flush(&log->inplace.update);
	if (log->state == DMDA_LOG_FAILED)
		ret = DM_MAPIO_KILL;
	else if (log->state != DMDA_LOG_WRITE || dmda_commit_is_idle(&log->journal.commit))
		is_done = true;
	else if (dmda_log_flush_commits_locked(log, io))
		ret = DM_MAPIO_REMAPPED;
	else
		dmda_log_commit_for_locked(log, io);
	spin_unlock_irqrestore(&log->lock, flags);
	if (is_done)
		bio_endio(dmda_log_bio(io));
	if (ret == DM_MAPIO_REMAPPED)
		bio_set_dev(dmda_log_bio(io), log->bdev);
	return ret;
}

/* Writes are looked at when their places are taken; of most other reads nothing can be learnt. */
static bool is_watched(const struct bio *bio)
{
	if (bio_op(bio) == REQ_OP_READ)
		return dmda_fills_cache(bio);
	return bio_op(bio) != REQ_OP_WRITE;
}

int dmda_log_map(struct dmda *dmda, struct bio *bio)
{
	struct dmda_log *log = dmda->log;
	struct dmda_log_io *io = init_io(log, bio);

	note_io(log);
	/* Who waits for it cannot know when it is sent on. */
	bio->bi_opf &= ~REQ_POLLED;
	if (bio->bi_opf & REQ_PREFLUSH)
		return map_flush(log, io);
	if (dmda_watches(dmda) && is_watched(bio))
		dmda_hint_watch(dmda, bio, dm_target_offset(dmda->ti, bio->bi_iter.bi_sector));
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return dmda_log_map_read(log, io);
	case REQ_OP_WRITE:
		return dmda_log_map_write(log, io);
	case REQ_OP_DISCARD:
	case REQ_OP_WRITE_ZEROES:
		return dmda_log_map_trim(log, io);
	default:
		return DM_MAPIO_KILL;
	}
}

void dmda_log_do_io(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, ios.work);
	struct dmda_log_io *io, *next;
	struct blk_plug plug;
	LIST_HEAD(ready);

	spin_lock_irq(&log->lock);
	list_splice_init(&log->ios.ready, &ready);
	spin_unlock_irq(&log->lock);
	dmda_log_map_begun(log);
	blk_start_plug(&plug);
	list_for_each_entry_safe(io, next, &ready, list) {
		list_del_init(&io->list);
		switch (bio_op(dmda_log_bio(io))) {
		case REQ_OP_READ:
			dmda_log_go_on_reading(log, io);
			break;
		case REQ_OP_WRITE:
			if (io->stage == DMDA_LOG_DATA)
				dmda_log_go_on_mapping(log, io);
			else
				dmda_log_go_on_writing(log, io);
			break;
		default:
			dmda_log_go_on_trimming(log, io);
		}
	}
	blk_finish_plug(&plug);
	dmda_log_pages_shrink(log);
}
