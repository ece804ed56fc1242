/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The error of metadata after which a device only reads: there is one way to get there.
 */
#ifndef DMDA_LOG_FAIL_H
#define DMDA_LOG_FAIL_H

#include <linux/workqueue.h>

struct dmda_log;

/**
 * struct dmda_log_failure - reason why the device only reads
 * @what: action that failed, as the message names it
 * @why: what went wrong with it
 * @work: worker that tells it to the world
 */
struct dmda_log_failure {
	const char *what;
	const char *why;
	struct work_struct work;
};

/**
 * dmda_log_fail() - metadata could not be read or written: from now on reads only
 * @what: action that failed, as the message names it
 * @why: what went wrong with it
 *
 * Context: any, without the lock.
 */
void dmda_log_fail(struct dmda_log *log, const char *what, const char *why);

#endif /* DMDA_LOG_FAIL_H */
