/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bio lets go of pages of the map, and of its claims.
 */
#ifndef DMDA_LOG_LET_GO_H
#define DMDA_LOG_LET_GO_H

#include <linux/blk_types.h>

struct dmda_log;
struct dmda_log_io;

/* Counterpart of getting the pages of the map that a bio needs. */
void dmda_log_unpin_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_let_go_locked() - a bio has no pins and claims any more: its operation is done, or
 *	none is going to be
 */
void dmda_log_let_go_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_finish() - a bio ends, and whoever waits for its lpns goes on
 * @status: its
 *
 * Context: process; without the lock.
 */
void dmda_log_finish(struct dmda_log *log, struct dmda_log_io *io, blk_status_t status);

#endif /* DMDA_LOG_LET_GO_H */
