/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes that wait for places: functions of admission.c, and what io.c lends it.
 */
#ifndef DMDA_LOG_ADMISSION_H
#define DMDA_LOG_ADMISSION_H

#include "log.h"

/**
 * dmda_log_starve_locked() - a write waits until there may be places
 */
void dmda_log_starve_locked(struct dmda_log *log, struct dmda_log_io *io);

/* Let the worker go on with writes that were starved. */
void dmda_log_feed_locked(struct dmda_log *log);

/**
 * dmda_log_do_no_space() - worker: fail writes that have waited too long for want of space
 */
void dmda_log_do_no_space(struct work_struct *work);

/**
 * dmda_log_hand_back() - whoever waits for others, or for places, need not be waited for
 * @hands_back: from now on; false: they wait again
 *
 * Context: a suspension for which dm keeps what it gets back.
 */
void dmda_log_hand_back(struct dmda_log *log, bool hands_back);

/**
 * dmda_log_gained_locked() - a segment was closed or freed
 */
void dmda_log_gained_locked(struct dmda_log *log);

/*
 * Functions defined in io.c
 */

/**
 * dmda_log_go_on_locked() - let the worker go on with a bio
 */
void dmda_log_go_on_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_finish() - a bio ends, and whoever waits for its lpns goes on
 * @status: its
 *
 * Context: process; without the lock.
 */
void dmda_log_finish(struct dmda_log *log, struct dmda_log_io *io, blk_status_t status);

#endif /* DMDA_LOG_ADMISSION_H */
