// SPDX-License-Identifier: GPL-2.0-only
/*
 * When cleaning starts, and when it stops. It starts
 *
 *   - when no more than DMDA_LOG_LOW_SEGMENTS are free, and goes on until more are, or will be;
 *     users are paced meanwhile;
 *   - when so much was overwritten in place that some of what is free is to be gathered for it,
 *     unless the device below is told where it is (holes.c);
 *   - when nobody has read or written for a while, and free segments are fewer than are worth it
 *     then; it stops when somebody does. Who waits for a slow device is not nobody;
 *   - when somebody asks for all to be cleaned.
 *
 * All but the last can be switched off.
 */
#include "disk.h"
#include "log.h"

bool dmda_log_may_clean(const struct dmda_log *log)
{
	return dmda_log_may_work(log) && READ_ONCE(log->dmda->config.cleaning);
}

/* Is more than an eighth of what is free in holes that the device below does not know of? */
static bool has_holes_locked(const struct dmda_log *log)
{
	const struct dmda_segments *segments = &log->space.segments;
	u64 nr_unused = dmda_log_places_of(log, segments->nr_segments) - segments->nr_valid;
	u64 nr_known = dmda_log_places_of(log, segments->nr_free + log->space.freeing.nr_aside +
					       segments->nr_empty) + log->holes.nr_told_all;

	lockdep_assert_held(&log->lock);

	return nr_known * 8 < nr_unused * 7;
}

/* Pages that are overwritten in place for each time that some are moved */
static u32 portion(const struct dmda_log *log)
{
	return log->cleaning.cleaner->plan.kept_moves / 2;
}

static bool should_gather_locked(const struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	return log->inplace.nr_pages >= portion(log) && dmda_log_is_full_locked(log) &&
		has_holes_locked(log);
}

bool dmda_log_begin_gathering(struct dmda_log *log)
{
	bool should;

	spin_lock_irq(&log->lock);
	should = should_gather_locked(log);
	if (should)
		log->inplace.nr_pages = min_t(u64, log->inplace.nr_pages - portion(log),
					      portion(log));
	spin_unlock_irq(&log->lock);
	return should;
}

u32 dmda_log_nr_to_be_had(struct dmda_log *log)
{
	u32 nr;

	spin_lock_irq(&log->lock);
	nr = log->space.segments.nr_free + log->space.segments.nr_empty +
		log->space.freeing.nr_aside;
	spin_unlock_irq(&log->lock);
	return nr;
}

/* When it will have been idle for long enough, if nobody comes; in jiffies */
static unsigned long idle_end(const struct dmda_log *log)
{
	return READ_ONCE(log->cleaning.last_io) +
		msecs_to_jiffies(READ_ONCE(log->dmda->config.idle_ms));
}

static bool is_idle(const struct dmda_log *log)
{
	return READ_ONCE(log->dmda->config.idle_ms) && time_after_eq(jiffies, idle_end(log));
}

bool dmda_log_has_writes(struct dmda_log *log)
{
	bool has;

	spin_lock_irq(&log->lock);
	has = !RB_EMPTY_ROOT(&log->ios.claims.rb_root);
	spin_unlock_irq(&log->lock);
	return has;
}

bool dmda_log_is_at_rest(struct dmda_log *log)
{
	return is_idle(log) && !dmda_log_has_writes(log);
}

bool dmda_log_must_stop(const struct dmda_log_cleaner *cleaner)
{
	if (!cleaner->is_idle && !cleaner->is_all)
		return false;
	return READ_ONCE(cleaner->log->is_suspending) ||
		(cleaner->is_idle && !is_idle(cleaner->log));
}

/* There are so few free segments that cleaning is worth it when nobody reads or writes. */
static u32 soft_mark(const struct dmda_log *log)
{
	return DMDA_LOG_LOW_SEGMENTS +
		mult_frac(log->space.segments.nr_segments,
			  READ_ONCE(log->dmda->config.idle_free_percent), 100);
}

bool dmda_log_has_few(struct dmda_log *log)
{
	return dmda_log_nr_to_be_had(log) <= soft_mark(log);
}

void dmda_log_begin_clean(struct dmda_log *log)
{
	if (!READ_ONCE(log->is_quiet))
		queue_work(log->cleaning.queue, &log->cleaning.work);
}

void dmda_log_wait_idle(struct dmda_log *log)
{
	if (dmda_log_may_clean(log) && READ_ONCE(log->dmda->config.idle_ms))
		queue_delayed_work(log->cleaning.queue, &log->cleaning.idle_work,
				   msecs_to_jiffies(READ_ONCE(log->dmda->config.idle_ms)));
}

void dmda_log_do_idle(struct work_struct *work)
{
	struct dmda_log *log = container_of(to_delayed_work(work), struct dmda_log,
					    cleaning.idle_work);

	if (!dmda_log_may_clean(log) || !READ_ONCE(log->dmda->config.idle_ms))
		return;
	if (dmda_log_is_at_rest(log))
		dmda_log_begin_clean(log);
	else if (is_idle(log))
		dmda_log_wait_idle(log);
	else
		queue_delayed_work(log->cleaning.queue, &log->cleaning.idle_work,
				   max_t(long, idle_end(log) - jiffies, 1));
}

void dmda_log_kick_clean(struct dmda_log *log)
{
	if (dmda_log_may_clean(log))
		dmda_log_begin_clean(log);
}

void dmda_log_clean_if_low_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	if (log->space.segments.nr_free <= DMDA_LOG_LOW_SEGMENTS)
		dmda_log_kick_clean(log);
}

void dmda_log_clean_if_few_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	if (log->space.segments.nr_free <= DMDA_LOG_LOW_SEGMENTS)
		dmda_log_kick_clean(log);
	else if (log->space.segments.nr_free <= soft_mark(log))
		dmda_log_wait_idle(log);
}

void dmda_log_clean_if_holey_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	if (!should_gather_locked(log))
		return;
	if (!dmda_log_can_discard_pages(log)) {
		dmda_log_kick_clean(log);
		return;
	}
	log->inplace.nr_pages = 0;
	dmda_log_kick(log, &log->holes.work);
}
