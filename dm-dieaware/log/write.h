/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes of users.
 */
#ifndef DMDA_LOG_WRITE_H
#define DMDA_LOG_WRITE_H

#include <linux/blk_types.h>

struct dmda_log;
struct dmda_log_io;

/**
 * dmda_log_map_write() - send on as much of a write as gets places
 *
 * Context: from map.
 * Return: DM_MAPIO_*.
 */
int dmda_log_map_write(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_go_on_writing() - get places for a write that had to wait, and send it on
 *
 * Context: the io worker.
 */
void dmda_log_go_on_writing(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_go_on_mapping() - get the pages of the map that a write under way needs
 *
 * Context: the io worker.
 */
void dmda_log_go_on_mapping(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_end_write() - a write's data is written, or could not be
 * @status: whether it is written, or why not; may be changed
 *
 * Context: bio completion.
 * Return: whether the bio is to be ended with @status now.
 */
bool dmda_log_end_write(struct dmda_log *log, struct dmda_log_io *io, blk_status_t *status);

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

#endif /* DMDA_LOG_WRITE_H */
