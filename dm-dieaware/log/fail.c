// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failure: metadata could not be read or written. There is one way to get there, from everywhere.
 * From then on a device only reads, also after the next start, for its superblock says that it
 * needs a check.
 */
#include "disk.h"
#include "list.h"
#include "log.h"

/* The device may be why it is needed; there is nothing more that could be done. */
static void write_needs_check(struct dmda_log *log)
{
	/* If it fails while it starts, others have known the superblock as it was. */
	dmda_log_list_take(log);
	log->super.flags |= DMDA_SUPER_NEEDS_CHECK;
	/* Who loses one of them must not take the device for well. */
	dmda_log_write_supers(log, &log->super);
}

void dmda_log_tell_failure(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, failure.work);

	DMERR("%s: While %s: %s. The target only reads from now on.",
	      dm_table_device_name(log->dmda->ti->table), log->failure.what, log->failure.why);
	/* Ends those who wait for a commit or for room in one. */
	dmda_log_commit(log);
	if (log->may_write)
		write_needs_check(log);
	dm_table_event(log->dmda->ti->table);
}

void dmda_log_fail(struct dmda_log *log, const char *what, const char *why)
{
	unsigned long flags;
	bool is_first;

	spin_lock_irqsave(&log->lock, flags);
	is_first = log->state != DMDA_LOG_FAILED;
	WRITE_ONCE(log->state, DMDA_LOG_FAILED);
	dmda_log_feed_locked(log);
	/* Under the lock: behind it, the last bio may have ended and the target be gone. */
	if (is_first) {
		log->failure.what = what;
		log->failure.why = why;
		queue_work(log->commit_queue, &log->failure.work);
	}
	wake_up_all(&log->wait);
	spin_unlock_irqrestore(&log->lock, flags);
}
