// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments that cleaning leaves alone, since something in them cannot be read or is damaged; and
 * when it tries them again.
 */
#include "log.h"

/* Segments that are looked at under one holding of the lock */
#define FORGET_AT_ONCE	1024U

/* After that time, too, it is tried again, however often it was in vain. */
#define MOST_FORGET_JIFFIES	(600 * HZ)

/* A device that fails slowly is left alone from when it has done so, not from when it was asked. */
void dmda_log_stick(struct dmda_log_cleaner *cleaner, seg_t seg, enum dmda_stuck why)
{
	struct dmda_log *log = cleaner->log;

	spin_lock_irq(&log->lock);
	dmda_segments_stick(&log->space.segments, seg, why);
	spin_unlock_irq(&log->lock);
	cleaner->has_stuck = true;
	if (why == DMDA_STUCK_UNREAD)
		cleaner->unread_at = get_jiffies_64();
}

/* What could not be read may be readable again. Return: whether there was anything. */
static bool forget_unread(struct dmda_log *log)
{
	struct dmda_segments *segments = &log->space.segments;

	if (!READ_ONCE(segments->nr_unread))
		return false;
	for (u32 i = 0; i < segments->nr_segments; i += FORGET_AT_ONCE) {
		spin_lock_irq(&log->lock);
		dmda_segments_unstick(segments, i, min(i + FORGET_AT_ONCE, segments->nr_segments));
		spin_unlock_irq(&log->lock);
		cond_resched();
	}
	return true;
}

bool dmda_log_try_again(struct dmda_log_cleaner *cleaner)
{
	u64 pause = min(cleaner->forget_jiffies, dmda_log_longest_pause(cleaner->log));

	if (time_before64(get_jiffies_64(), cleaner->unread_at + pause) ||
	    !forget_unread(cleaner->log))
		return false;
	cleaner->forget_jiffies = min_t(u64, 2 * cleaner->forget_jiffies, MOST_FORGET_JIFFIES);
	return true;
}

void dmda_log_renew_cleaner(struct dmda_log_cleaner *cleaner)
{
	forget_unread(cleaner->log);
	cleaner->forget_jiffies = DMDA_LOG_FORGET_JIFFIES;
}
