/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checkpoints: tables and a root are written, so that the journal before them is needed no more.
 */
#ifndef DMDA_LOG_CHECKPOINT_H
#define DMDA_LOG_CHECKPOINT_H

#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "../core/checkpoint.h"

struct dmda_log;

/**
 * struct dmda_log_checkpoint - the last root, and how the next comes about
 * @lock: held as long as a checkpoint takes
 * @order: checkpoint that is being taken, under dmda_log.lock; its tables are constant
 * @root: the last durable root; changes under dmda_log.lock
 * @pages: memory of a root that is being read or written
 * @pages_before: pages written before the device was activated; constant once it is started
 * @work: worker that takes a checkpoint if one is due
 */
struct dmda_log_checkpoint {
	struct mutex lock; /* of a checkpoint */
	struct dmda_checkpoint order;
	struct dmda_root root;
	u8 *pages;
	u64 pages_before;
	struct work_struct work;
};

/**
 * dmda_log_checkpoint() - write tables and a root
 * @is_clean: nothing else is under way
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_checkpoint(struct dmda_log *log, bool is_clean);

/**
 * dmda_log_do_checkpoint() - worker: the same
 */
void dmda_log_do_checkpoint(struct work_struct *work);

/**
 * dmda_log_make_room() - there was no room in the batch: wait until there may be
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_make_room(struct dmda_log *log);

#endif /* DMDA_LOG_CHECKPOINT_H */
