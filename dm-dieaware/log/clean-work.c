// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cleaning, its worker: what it does when it was started for one of the reasons of clean-when.c.
 */
#include "disk.h"
#include "log.h"

/* Overwrites in place go on meanwhile, and pay for more of it. */
static void gather(struct dmda_log *log)
{
	while (dmda_log_may_clean(log) && !dmda_log_can_discard_pages(log) &&
	       dmda_log_begin_gathering(log)) {
		/* The most space for the least work */
		if (!dmda_log_clean_some(log->cleaning.cleaner, true))
			break;
	}
}

/* In idle time. When somebody comes, it goes on after the next pause. */
static void clean_idle(struct dmda_log *log)
{
	struct dmda_log_cleaner *cleaner = log->cleaning.cleaner;

	cleaner->is_idle = true;
	while (dmda_log_may_clean(log) && !dmda_log_must_stop(cleaner) &&
	       !dmda_log_has_writes(log) && dmda_log_has_few(log)) {
		if (!dmda_log_clean_some(cleaner, false))
			break;
	}
	cleaner->is_idle = false;
	if (!dmda_log_is_at_rest(log) && dmda_log_has_few(log))
		dmda_log_wait_idle(log);
}

void dmda_log_do_clean(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, cleaning.work);

	if (READ_ONCE(log->cleaning.must_clean_all))
		dmda_log_clean_everything(log->cleaning.cleaner);
	dmda_log_gain_room(log, dmda_log_may_clean);
	gather(log);
	clean_idle(log);
}

static int clean_all_once(struct dmda_log *log)
{
	WRITE_ONCE(log->cleaning.must_clean_all, true);
	dmda_log_begin_clean(log);
	flush_work(&log->cleaning.work);
	if (!xchg(&log->cleaning.must_clean_all, false))
		return 0;
	return READ_ONCE(log->is_suspending) ? -EAGAIN : -EIO;
}

/* The cleaner tells one of them how it went: several take turns. */
int dmda_log_clean_all(struct dmda_log *log)
{
	int ret;

	mutex_lock(&log->cleaning.all_lock);
	ret = clean_all_once(log);
	mutex_unlock(&log->cleaning.all_lock);
	return ret;
}
