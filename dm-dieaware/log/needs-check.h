/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What follows when a device has failed.
 */
#ifndef DMDA_LOG_NEEDS_CHECK_H
#define DMDA_LOG_NEEDS_CHECK_H

struct work_struct;

/**
 * dmda_log_tell_failure() - worker: tell it to whoever waits, and to the world
 */
void dmda_log_tell_failure(struct work_struct *work);

#endif /* DMDA_LOG_NEEDS_CHECK_H */
