/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Telling the device below of pages that hold nothing, in segments that hold something.
 */
#ifndef DMDA_LOG_HOLES_H
#define DMDA_LOG_HOLES_H

#include <linux/workqueue.h>

#include "cleaner.h"

struct dmda_log;

/**
 * struct dmda_log_holes - places among valid pages that hold nothing
 * @nr_told: number of them that the device below knows of, by segment
 * @nr_told_all: sum of @nr_told
 * @look: what is valid in a segment; the worker's own
 * @work: worker that tells the device
 */
struct dmda_log_holes {
	u32 *nr_told;
	u64 nr_told_all;
	struct dmda_log_look look;
	struct work_struct work;
};

/**
 * dmda_log_holes_create() - allocate memory for it
 *
 * Context: may sleep.
 * Return: whether there was enough; dmda_log_holes_destroy() is due in both cases.
 */
bool dmda_log_holes_create(struct dmda_log *log);
void dmda_log_holes_destroy(struct dmda_log *log);

/**
 * dmda_log_do_holes() - worker: discard what holds nothing in all segments
 */
void dmda_log_do_holes(struct work_struct *work);

#endif /* DMDA_LOG_HOLES_H */
