/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commits: what was done in memory becomes durable.
 */
#ifndef DMDA_LOG_COMMIT_H
#define DMDA_LOG_COMMIT_H

#include <linux/blk_types.h>
#include <linux/workqueue.h>

struct dmda_log;
struct dmda_log_io;

/**
 * dmda_log_commit() - make all operations durable that were done before
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; the device has failed then.
 */
int dmda_log_commit(struct dmda_log *log);

/**
 * dmda_log_do_commit() - worker: the same
 */
void dmda_log_do_commit(struct work_struct *work);

/**
 * dmda_log_do_late() - worker: the same, for what nobody has asked to be durable
 */
void dmda_log_do_late(struct work_struct *work);

/* Wait until no commit is under way. */
void dmda_log_wait_commit_locked(struct dmda_log *log);

/**
 * dmda_log_flush_commits_locked() - may a flush be a commit itself, on its way to the device below?
 * @io: an empty flush
 *
 * Return: whether it is: then dmda_log_flush_committed() is due when it has ended.
 */
bool dmda_log_flush_commits_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_flush_committed() - it has ended
 *
 * Context: any; without the lock.
 */
void dmda_log_flush_committed(struct dmda_log *log, struct dmda_log_io *io, blk_status_t status);

#endif /* DMDA_LOG_COMMIT_H */
