// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failure: metadata could not be read or written. There is one way to get there, from everywhere.
 * From then on a device only reads. Who waits for it is told by a worker (needs-check.c).
 */
#include "bio.h"
#include "log.h"

void dmda_log_fail(struct dmda_log *log, const char *what, const char *why)
{
	unsigned long flags;
	bool is_first;

	spin_lock_irqsave(&log->lock, flags);
	is_first = log->state != DMDA_LOG_FAILED;
	WRITE_ONCE(log->state, DMDA_LOG_FAILED);
	/* They fail as well. */
	dmda_log_go_on_list_locked(log, &log->admission.starved);
	/* Under the lock: behind it, the last bio may have ended and the target be gone. */
	if (is_first) {
		log->failure.what = what;
		log->failure.why = why;
		queue_work(log->commit_queue, &log->failure.work);
	}
	wake_up_all(&log->wait);
	spin_unlock_irqrestore(&log->lock, flags);
}
