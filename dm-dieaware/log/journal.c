// SPDX-License-Identifier: GPL-2.0-only
/*
 * The journal's batches: operations are put to one and done in memory, if it has room for them.
 * They are durable when a commit has written it (commit.c).
 */
#include "log.h"

/* What was acknowledged is durable after that, though nobody may ask for it. */
#define LATE_JIFFIES	HZ

/* Pieces of what pages replace, at most, when they are mapped under one holding of the lock */
#define PIECE_RUNS	16U

/*
 * A start reads each page of the map that the journal's operations have changed, makes the changes,
 * and writes what it has no room for: so many pages take it some four seconds on a CPU of 1 GIPS,
 * beside four for a ring that is half full (log.start_crash_wide_s in docs/figures.md).
 *
 * A map that is all in memory at the usual size of the cache does not come
 * to that, and neither does one for which the cache was made larger.
 */
#define MOST_DIRTIED	98304U

bool dmda_log_needs_root_locked(struct dmda_log *log)
{
	u64 cached = log->cache.max_pages;

	lockdep_assert_held(&log->lock);

	return dmda_commit_needs_root(&log->journal.commit,
				      max_t(u64, cached + cached / 2, MOST_DIRTIED));
}

void dmda_log_begin_batch_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	if (log->journal.commit.has_batch || log->state == DMDA_LOG_FAILED)
		return;
	if (log->state == DMDA_LOG_WRITE && dmda_log_needs_root_locked(log))
		dmda_log_kick_commit(log, &log->checkpoint.work);
	dmda_commit_begin_batch(&log->journal.commit);
}

bool dmda_log_has_room_locked(struct dmda_log *log, u32 nr_records, u32 nr_sums)
{
	lockdep_assert_held(&log->lock);

	if (!log->journal.commit.has_batch)
		return false;
	if (dmda_journal_has_room(&log->journal.commit.batch, nr_records, nr_sums))
		return true;
	dmda_log_kick_commit(log, &log->journal.work);
	return false;
}

/*
 * While nobody flushes it is pending nearly always: to look takes less than to try. Who calls this
 * holds the lock, which the worker takes when it is pending no more, so that it commits what has
 * been done by now.
 */
void dmda_log_commit_late_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	if (!delayed_work_pending(&log->journal.late_work) && !READ_ONCE(log->is_quiet))
		queue_delayed_work(log->commit_queue, &log->journal.late_work, LATE_JIFFIES);
}

u32 dmda_log_piece_locked(struct dmda_log *log,
			  struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES], lpn_t first,
			  u32 nr_pages)
{
	struct dmda_map_page *map[DMDA_OP_MAP_PAGES];

	lockdep_assert_held(&log->lock);

	if (nr_pages == 1)
		return 1;
	dmda_log_map_of(pages, map);
	return dmda_change_most(map, first, min(nr_pages, DMDA_LOG_PIECE_PAGES), PIECE_RUNS);
}

bool dmda_log_map_run_locked(struct dmda_log *log,
			     struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES],
			     struct dmda_written *first, dpn_t dpn, u32 nr_pages,
			     const __le32 *sums)
{
	u32 nr_sums = dmda_super_has_sums(&log->super) ? nr_pages : 0;
	struct dmda_map_page *map[DMDA_OP_MAP_PAGES];

	lockdep_assert_held(&log->lock);

	if (!dmda_log_has_room_locked(log, 1 + nr_pages, nr_sums))
		return false;
	dmda_log_map_of(pages, map);
	first->seq = dmda_change_map(&log->journal.change, map, first->lpn, dpn, nr_pages,
				     sums);
	dmda_opened_put(&log->space.opened, dpn, first, nr_pages,
			log->journal.commit.batch.first.sector);
	return true;
}

void dmda_log_commit_for_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	list_move_tail(&io->list, &log->journal.committing);
	log->counters.nr_flushes++;
	dmda_log_kick_commit(log, &log->journal.work);
}
