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
#include "log.h"

static bool may_clean(const struct dmda_log *log)
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

/*
 * Has so much been overwritten in place that some segments are to be cleaned for it, so that what
 * is free lies together? Return: true once for that much.
 */
static bool begin_gathering(struct dmda_log *log)
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

static u32 nr_to_be_had(struct dmda_log *log)
{
	u32 nr;

	spin_lock_irq(&log->lock);
	nr = log->space.segments.nr_free + log->space.segments.nr_empty +
		log->space.freeing.nr_aside;
	spin_unlock_irq(&log->lock);
	return nr;
}

void dmda_log_gain_room(struct dmda_log *log, bool (*may)(const struct dmda_log *log))
{
	while (may(log)) {
		u32 nr = nr_to_be_had(log);

		if (nr > DMDA_LOG_LOW_SEGMENTS)
			break;
		dmda_log_set_pacing(log, true);
		if (!dmda_log_clean_some(log->cleaning.cleaner, nr <= DMDA_LOG_KEPT_SEGMENTS))
			break;
	}
	dmda_log_set_pacing(log, false);
}

/* Overwrites in place go on meanwhile, and pay for more of it. */
static void gather(struct dmda_log *log)
{
	while (may_clean(log) && !dmda_log_tells_holes(log) && begin_gathering(log)) {
		/* The most space for the least work */
		if (!dmda_log_clean_some(log->cleaning.cleaner, true))
			break;
	}
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

/* Is a write or trim under way, however long ago it came? */
static bool has_writes(struct dmda_log *log)
{
	bool has;

	spin_lock_irq(&log->lock);
	has = !RB_EMPTY_ROOT(&log->ios.claims.rb_root);
	spin_unlock_irq(&log->lock);
	return has;
}

/* Nobody reads or writes, nor waits for a write: cleaning in idle time may begin. */
static bool is_at_rest(struct dmda_log *log)
{
	return is_idle(log) && !has_writes(log);
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

/* In idle time. When somebody comes, it goes on after the next pause. */
static void clean_idle(struct dmda_log *log)
{
	struct dmda_log_cleaner *cleaner = log->cleaning.cleaner;

	cleaner->is_idle = true;
	while (may_clean(log) && !dmda_log_must_stop(cleaner) && !has_writes(log) &&
	       nr_to_be_had(log) <= soft_mark(log)) {
		if (!dmda_log_clean_some(cleaner, false))
			break;
	}
	cleaner->is_idle = false;
	if (!is_at_rest(log) && nr_to_be_had(log) <= soft_mark(log))
		dmda_log_wait_idle(log);
}

/* Lets the cleaner begin, unless all is quiet. */
static void begin_clean(struct dmda_log *log)
{
	if (!READ_ONCE(log->is_quiet))
		queue_work(log->cleaning.queue, &log->cleaning.work);
}

void dmda_log_wait_idle(struct dmda_log *log)
{
	if (may_clean(log) && READ_ONCE(log->dmda->config.idle_ms))
		queue_delayed_work(log->cleaning.queue, &log->cleaning.idle_work,
				   msecs_to_jiffies(READ_ONCE(log->dmda->config.idle_ms)));
}

void dmda_log_do_idle(struct work_struct *work)
{
	struct dmda_log *log = container_of(to_delayed_work(work), struct dmda_log,
					    cleaning.idle_work);

	if (!may_clean(log) || !READ_ONCE(log->dmda->config.idle_ms))
		return;
	if (is_at_rest(log))
		begin_clean(log);
	else if (is_idle(log))
		dmda_log_wait_idle(log);
	else
		queue_delayed_work(log->cleaning.queue, &log->cleaning.idle_work,
				   max_t(long, idle_end(log) - jiffies, 1));
}

void dmda_log_do_clean(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, cleaning.work);

	if (READ_ONCE(log->cleaning.must_clean_all))
		dmda_log_clean_everything(log->cleaning.cleaner);
	dmda_log_gain_room(log, may_clean);
	gather(log);
	clean_idle(log);
}

void dmda_log_kick_clean(struct dmda_log *log)
{
	if (may_clean(log))
		begin_clean(log);
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
	if (!dmda_log_tells_holes(log)) {
		dmda_log_kick_clean(log);
		return;
	}
	log->inplace.nr_pages = 0;
	dmda_log_kick(log, &log->holes.work);
}

static int clean_all_once(struct dmda_log *log)
{
	WRITE_ONCE(log->cleaning.must_clean_all, true);
	begin_clean(log);
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
