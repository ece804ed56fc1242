/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a write does when its data is written.
 */
#ifndef DMDA_LOG_APPLY_H
#define DMDA_LOG_APPLY_H

#include <linux/blk_types.h>

struct dmda_log;
struct dmda_log_io;

/**
 * dmda_log_end_write() - a write's data is written, or could not be
 * @status: whether it is written, or why not; may be changed
 *
 * Context: bio completion.
 * Return: whether the bio is to be ended with @status now.
 */
bool dmda_log_end_write(struct dmda_log *log, struct dmda_log_io *io, blk_status_t *status);

/**
 * dmda_log_finish_write() - the same for the worker, a piece at a time, until it is done or waits
 * @status: whether its data is written, and its pages of the map are there; or why not
 *
 * Context: process; without the lock.
 */
void dmda_log_finish_write(struct dmda_log *log, struct dmda_log_io *io, blk_status_t status);

/**
 * dmda_log_map_written() - map what could not be mapped for want of room in the batch
 *
 * Context: process; without the lock.
 */
void dmda_log_map_written(struct dmda_log *log);

/**
 * dmda_log_map_begun() - map the rest of long writes whose data is written
 *
 * It takes no memory. Afterwards they have let go of their pages of the map, but for those that
 * wait for room in the batch.
 *
 * Context: process; without the lock.
 */
void dmda_log_map_begun(struct dmda_log *log);

#endif /* DMDA_LOG_APPLY_H */
