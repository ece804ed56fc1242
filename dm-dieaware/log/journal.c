// SPDX-License-Identifier: GPL-2.0-only
/*
 * The journal at work. Two batches take turns: one is filled while the other is being
 * written. What waits for a commit when one begins shares it. What nobody waits for is
 * committed a second after the first of it.
 *
 * A batch is begun only when the ring has room for all of it. So what is in a batch can
 * always be written, and a checkpoint, which makes room, needs nothing but that.
 */
#include "disk.h"
#include "log.h"
#include "trace.h"
#include "write.h"

/* What was acknowledged is durable after that, though nobody may ask for it. */
#define LATE_JIFFIES	HZ

void dmda_log_begin_batch_locked(struct dmda_log *log)
{
	struct dmda_log_journal *journal = &log->journal;
	u32 room = dmda_journal_room(&log->super, &log->checkpoint.root.journal,
				     &journal->next_place);

	lockdep_assert_held(&log->lock);

	if (journal->has_batch || log->state == DMDA_LOG_FAILED)
		return;
	if (room < log->super.journal_sectors / 2 && log->state == DMDA_LOG_WRITE)
		dmda_log_kick(log, &log->checkpoint.work);
	if (room < journal->batch_sectors)
		return;
	journal->sectors_index ^= 1;
	dmda_journal_begin(&journal->batch, &log->super, journal->sectors[journal->sectors_index],
			   journal->batch_sectors, &journal->next_place);
	journal->has_batch = true;
}

bool dmda_log_has_room_locked(struct dmda_log *log, u32 nr_records)
{
	lockdep_assert_held(&log->lock);

	if (!log->journal.has_batch)
		return false;
	if (dmda_journal_has_room(&log->journal.batch, nr_records))
		return true;
	dmda_log_kick(log, &log->journal.work);
	return false;
}

/**
 * struct sealed - a batch that is to be written
 * @sectors: its memory
 * @nr: its sectors; 0: there is nothing to be written
 * @first: number of the first
 * @seq: its last operation
 * @overwrites: writes in place that were done before
 * @why: it cannot be right, and must not be written; or NULL
 */
struct sealed {
	struct dmda_journal_sector *sectors;
	u32 nr;
	u64 first;
	u64 seq;
	u64 overwrites;
	const char *why;
};

/* Takes the batch away, with those who wait for it. */
static void seal_batch(struct dmda_log *log, struct sealed *sealed, struct list_head *ios)
{
	struct dmda_log_journal *journal = &log->journal;

	sealed->nr = 0;
	spin_lock_irq(&log->lock);
	list_splice_init(&journal->committing, ios);
	sealed->why = journal->change.why;
	sealed->overwrites = journal->nr_overwrites;
	if (journal->has_batch && log->state != DMDA_LOG_FAILED && !sealed->why) {
		sealed->sectors = journal->batch.sectors;
		sealed->first = journal->batch.first.sector;
		sealed->nr = dmda_journal_seal(&journal->batch, &log->super, &journal->next_place);
		sealed->seq = journal->next_place.seq - 1;
	}
	if (sealed->nr) {
		log->counters.nr_commits++;
		journal->has_batch = false;
		dmda_log_begin_batch_locked(log);
	}
	spin_unlock_irq(&log->lock);
}

/* Writes in place have no records: there may be nothing to be written, but to be flushed. */
static int flush_overwrites(struct dmda_log *log, const struct sealed *sealed)
{
	int ret;

	if (log->journal.durable_overwrites == sealed->overwrites)
		return 0;
	ret = dmda_log_flush(log);
	if (ret) {
		dmda_log_fail(log, "flushing data", "the device reports an error");
		return ret;
	}
	spin_lock_irq(&log->lock);
	log->journal.durable_overwrites = sealed->overwrites;
	spin_unlock_irq(&log->lock);
	return 0;
}

static int commit_once(struct dmda_log *log, struct list_head *ios)
{
	struct sealed sealed;
	int ret;

	seal_batch(log, &sealed, ios);
	if (unlikely(sealed.why)) {
		dmda_log_fail(log, "changing the map", sealed.why);
		return -EIO;
	}
	if (!sealed.nr)
		return READ_ONCE(log->state) == DMDA_LOG_FAILED ? -EIO :
								  flush_overwrites(log, &sealed);
	/* The data that the records name is written; the flush makes it durable first. */
	ret = dmda_log_write_sectors(log, dmda_journal_sector_at(&log->super, sealed.first),
				     sealed.sectors, sealed.nr, REQ_PREFLUSH | REQ_FUA);
	trace_dmda_log_commit(log->dmda->self_dev, sealed.first, sealed.nr, sealed.seq, ret);
	if (ret) {
		dmda_log_fail(log, "writing the journal", "the device reports an error");
		return ret;
	}
	spin_lock_irq(&log->lock);
	log->journal.durable_seq = sealed.seq;
	log->journal.durable_overwrites = sealed.overwrites;
	if (log->space.segments.nr_empty && log->state == DMDA_LOG_WRITE)
		dmda_log_kick(log, &log->space.work);
	spin_unlock_irq(&log->lock);
	return 0;
}

int dmda_log_commit(struct dmda_log *log)
{
	LIST_HEAD(ios);
	int ret;

	mutex_lock(&log->journal.commit_lock);
	ret = commit_once(log, &ios);
	mutex_unlock(&log->journal.commit_lock);
	dmda_log_end_list(&ios, ret ? BLK_STS_IOERR : BLK_STS_OK);
	dmda_log_map_written(log);
	return ret;
}

void dmda_log_do_commit(struct work_struct *work)
{
	dmda_log_commit(container_of(work, struct dmda_log, journal.work));
}

void dmda_log_commit_late(struct dmda_log *log)
{
	if (!READ_ONCE(log->is_quiet))
		queue_delayed_work(log->queue, &log->journal.late_work, LATE_JIFFIES);
}

/* If somebody else has committed it meanwhile, there is nothing to be written. */
void dmda_log_do_late(struct work_struct *work)
{
	dmda_log_commit(container_of(to_delayed_work(work), struct dmda_log, journal.late_work));
}

int dmda_log_make_room(struct dmda_log *log)
{
	bool is_full;
	int ret = dmda_log_commit(log);

	if (ret)
		return ret;
	spin_lock_irq(&log->lock);
	is_full = !log->journal.has_batch;
	spin_unlock_irq(&log->lock);
	/* The ring is full: only a root makes room there. */
	return is_full ? dmda_log_checkpoint(log, false) : 0;
}

int dmda_log_change_segment(struct dmda_log *log, const struct dmda_record *record)
{
	while (true) {
		bool is_done = false, has_failed;

		spin_lock_irq(&log->lock);
		has_failed = log->state == DMDA_LOG_FAILED;
		if (!has_failed && dmda_log_has_room_locked(log, 1)) {
			dmda_change_segment(&log->journal.change, record);
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

bool dmda_log_map_run_locked(struct dmda_log *log,
			     struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES],
			     struct dmda_written *first, dpn_t dpn, u32 nr_pages)
{
	struct dmda_map_page *map[DMDA_OP_MAP_PAGES];

	lockdep_assert_held(&log->lock);

	if (!dmda_log_has_room_locked(log, 1 + nr_pages))
		return false;
	for (u32 i = 0; i < DMDA_OP_MAP_PAGES; i++)
		map[i] = pages[i] ? &pages[i]->map : NULL;
	first->seq = dmda_change_map(&log->journal.change, map, first->lpn, dpn, nr_pages);
	dmda_opened_put(&log->space.opened, dpn, first, nr_pages, log->journal.batch.first.sector);
	return true;
}

void dmda_log_commit_for_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	list_move_tail(&io->list, &log->journal.committing);
	log->counters.nr_flushes++;
	dmda_log_kick(log, &log->journal.work);
}
