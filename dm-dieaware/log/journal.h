/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The journal at work: operations that are done in memory are put to a batch, and are durable when
 * that is written.
 */
#ifndef DMDA_LOG_JOURNAL_H
#define DMDA_LOG_JOURNAL_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "../core/change.h"
#include "../core/commit.h"
#include "../core/summary.h"

struct dmda_log;
struct dmda_log_io;
struct dmda_log_page;

/* Pages that are mapped under one holding of the lock; more of them are several operations. */
#define DMDA_LOG_PIECE_PAGES	48U

/**
 * struct dmda_log_journal - operations that are done in memory, on their way to the device
 * @commit_lock: held as long as a commit takes
 * @change: way in which operations change map and segments, and are put to a batch
 * @commit: batches of the journal, and the commit that is under way
 * @committing: flushes and FUA writes that wait for a commit
 * @work: worker that commits
 * @late_work: worker that commits what nobody has asked for; pending as long as there is something
 *	that no commit has taken, but for what nobody was told of
 */
struct dmda_log_journal {
	struct mutex commit_lock; /* of a commit */
	struct dmda_change change;
	struct dmda_commit commit;
	struct list_head committing;
	struct work_struct work;
	struct delayed_work late_work;
};

/* Something is acknowledged: if nobody asks for it to be durable, it will be all the same. */
void dmda_log_commit_late_locked(struct dmda_log *log);

/* Is there room for an operation of so many records and checksums? If not, a commit is coming. */
bool dmda_log_has_room_locked(struct dmda_log *log, u32 nr_records, u32 nr_sums);

/* Is it time for a checkpoint, so that there is room in time, and a start does not take long? */
bool dmda_log_needs_root_locked(struct dmda_log *log);

/* Begin a batch if the journal has room for it. */
void dmda_log_begin_batch_locked(struct dmda_log *log);

/**
 * dmda_log_piece_locked() - of some pages that are written, how many are to be mapped with one
 *	operation, under one holding of the lock
 * @pages: as below
 * @first: lpn of the first
 *
 * Return: at least one.
 */
u32 dmda_log_piece_locked(struct dmda_log *log,
			  struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES], lpn_t first,
			  u32 nr_pages);

/**
 * dmda_log_map_run_locked() - pages that are written are at their places from now on
 * @pages: the one or two pages of the map that have their lpns, pinned; or NULL
 * @first: entry of the first page, but for its seq, which is set
 * @dpn: its place
 * @sums: checksums of the pages; not used if the device has none
 *
 * Return: false if the batch has no room for it now.
 */
bool dmda_log_map_run_locked(struct dmda_log *log,
			     struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES],
			     struct dmda_written *first, dpn_t dpn, u32 nr_pages,
			     const __le32 *sums);

/* A bio, whose claims and pins are given up, ends with the next commit. */
void dmda_log_commit_for_locked(struct dmda_log *log, struct dmda_log_io *io);

#endif /* DMDA_LOG_JOURNAL_H */
