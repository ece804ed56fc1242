// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which writes go on, which wait, and until when. Users leave the last segments to cleaning, which
 * needs some to make others free. While it does that, they write in small portions, as many pages
 * as it gains, rather than not at all later. A write that finds no places waits. It goes on when
 * there are some, fails when space has run out and stays so, and goes back to dm before a
 * suspension that does not wait for writes.
 */
#include "bio.h"
#include "credit.h"
#include "let-go.h"
#include "lifetime.h"
#include "log.h"
#include "places.h"

/* While writes wait for places, it is looked so often whether they still should. */
#define LOOK_JIFFIES		HZ

/* Most pages that users may write while cleaning does nothing for them */
#define MAX_CREDIT		4096

/*
 * Who may take places
 */

void dmda_log_set_pacing(struct dmda_log *log, bool is_pacing)
{
	spin_lock_irq(&log->lock);
	if (is_pacing && !log->admission.is_pacing)
		log->admission.credit = MAX_CREDIT;
	log->admission.is_pacing = is_pacing;
	dmda_log_feed_locked(log);
	spin_unlock_irq(&log->lock);
}

/*
 * For what cleaning gains, users may write, and more than that as long as there are segments
 * to spare.
 */
void dmda_log_pay_users_locked(const struct dmda_log_cleaner *cleaner, u32 nr_moved)
{
	struct dmda_log *log = cleaner->log;
	u64 nr_pages = (u64)cleaner->plan.nr_victims * dmda_super_data_pages(&log->super);
	u64 gain = div_u64((nr_pages - cleaner->plan.nr_moves) * nr_moved, cleaner->plan.nr_moves);
	u32 spare = dmda_log_spare_locked(log) ?: 1;

	lockdep_assert_held(&log->lock);

	log->admission.credit = min_t(s64, log->admission.credit + gain * spare, MAX_CREDIT);
	dmda_log_feed_locked(log);
}

/*
 * Would the first write that waits get places? Who tries in vain asks for cleaning, and where that
 * has nothing to do, each would wake the other for ever.
 */
static bool can_go_on_locked(struct dmda_log *log)
{
	const struct dmda_log_io *first =
		list_first_entry(&log->admission.starved, struct dmda_log_io, list);
	enum dmda_stream stream = dmda_log_kind_locked(log, first, true);

	lockdep_assert_held(&log->lock);

	return dmda_log_has_credit_locked(log) &&
		(dmda_writer_places_left(&log->space.writer, stream) >= dmda_log_io_pages(first) ||
		 dmda_log_can_open_locked(log, stream));
}

/*
 * Waiting
 */

/* Something is under way that may bring some; how long that takes is not for us to say. */
static bool are_segments_to_come_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	if (log->space.segments.nr_empty || log->space.freeing.nr_aside ||
	    work_busy(&log->cleaning.work))
		return true;
	for (u32 i = 0; i < DMDA_MAX_OPEN; i++) {
		const struct dmda_open *open = &log->space.closing.open[i];

		/* What is being written replaces something; what is being closed may be empty. */
		if (open->seg != SEG_NONE && (open->nr_writing || open->is_retired))
			return true;
	}
	return false;
}

/*
 * Is there no segment for users, and none to come? Else who waits for places waits for the device
 * below, or for cleaning, and gets them.
 */
static bool is_out_of_space_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	return !dmda_log_spare_locked(log) && !are_segments_to_come_locked(log);
}

static void look_at_space_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	dmda_patience_look(&log->admission.patience, get_jiffies_64(),
			   is_out_of_space_locked(log));
}

/* How long writes may wait for want of space, in jiffies */
static unsigned long patience_of(const struct dmda_log *log)
{
	return (unsigned long)READ_ONCE(log->dmda->config.no_space_seconds) * HZ;
}

u64 dmda_log_longest_pause(struct dmda_log *log)
{
	bool is_wanted;

	spin_lock_irq(&log->lock);
	is_wanted = !list_empty(&log->admission.starved);
	spin_unlock_irq(&log->lock);
	return is_wanted ? max(patience_of(log) / 2, (unsigned long)HZ) : U64_MAX;
}

void dmda_log_starve_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	if (dmda_log_hands_back(log)) {
		dmda_log_go_on_locked(log, io);
		return;
	}
	/* If it is on its way already, who is served again and again waits on. */
	if (list_empty(&log->admission.starved) && !READ_ONCE(log->is_quiet) &&
	    queue_delayed_work(log->queue, &log->admission.work,
			       min_t(unsigned long, patience_of(log), LOOK_JIFFIES))) {
		dmda_patience_renew(&log->admission.patience);
		look_at_space_locked(log);
	}
	list_move_tail(&io->list, &log->admission.starved);
	log->counters.nr_starved += !io->has_starved;
	io->has_starved = true;
}

void dmda_log_feed_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	if (list_empty(&log->admission.starved) ||
	    (log->state == DMDA_LOG_WRITE && !can_go_on_locked(log)))
		return;
	dmda_log_go_on_list_locked(log, &log->admission.starved);
}

/* Nobody else may come who asks for a commit, without which the segment is not freed. */
void dmda_log_emptied_locked(struct dmda_log *log, u32 nr_before)
{
	lockdep_assert_held(&log->lock);

	if (log->space.segments.nr_empty > nr_before && !list_empty(&log->admission.starved))
		dmda_log_kick(log, &log->space.work);
}

/*
 * The next look is due before they try again: so they stay those that began to wait then.
 * Return: whether they go on waiting.
 */
static bool waits_on_locked(struct dmda_log *log)
{
	u64 left;

	lockdep_assert_held(&log->lock);

	look_at_space_locked(log);
	left = dmda_patience_left(&log->admission.patience, patience_of(log));
	if (!left) {
		log->admission.supply = DMDA_LOG_SUPPLY_OUT;
		return false;
	}
	if (log->admission.patience.was_out && log->admission.supply == DMDA_LOG_SUPPLY_OK)
		log->admission.supply = DMDA_LOG_SUPPLY_LOW;
	queue_delayed_work(log->queue, &log->admission.work, min_t(u64, left, LOOK_JIFFIES));
	if (log->space.segments.nr_empty)
		dmda_log_kick(log, &log->space.work);
	/* Whatever has changed, and was not thought of */
	dmda_log_go_on_list_locked(log, &log->admission.starved);
	return true;
}

void dmda_log_set_patience(struct dmda_log *log, u32 seconds)
{
	WRITE_ONCE(log->dmda->config.no_space_seconds, seconds);
	spin_lock_irq(&log->lock);
	/* The next look may have been put off for longer than that. */
	if (!list_empty(&log->admission.starved) && !READ_ONCE(log->is_quiet))
		mod_delayed_work(log->queue, &log->admission.work, 0);
	spin_unlock_irq(&log->lock);
}

bool dmda_log_hands_back(const struct dmda_log *log)
{
	return READ_ONCE(log->admission.hands_back) && dm_noflush_suspending(log->dmda->ti);
}

void dmda_log_hand_back(struct dmda_log *log, bool hands_back)
{
	spin_lock_irq(&log->lock);
	WRITE_ONCE(log->admission.hands_back, hands_back);
	if (hands_back)
		dmda_log_go_on_list_locked(log, &log->admission.starved);
	spin_unlock_irq(&log->lock);
}

void dmda_log_gained_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	dmda_patience_renew(&log->admission.patience);
	/* It may have had no room to go on. */
	if (!list_empty(&log->admission.starved))
		dmda_log_clean_if_low_locked(log);
	if (log->admission.supply == DMDA_LOG_SUPPLY_OK || !dmda_log_spare_locked(log))
		return;
	log->admission.supply = DMDA_LOG_SUPPLY_OK;
	if (!READ_ONCE(log->is_quiet))
		queue_delayed_work(log->queue, &log->admission.work, 0);
}

/* Who waits for the device's events learns of it, as dm-thin's users do. */
static void tell_space(const struct dmda_log *log, enum dmda_log_supply supply)
{
	const char *name = dm_table_device_name(log->dmda->ti->table);

	if (supply == DMDA_LOG_SUPPLY_OUT)
		DMERR_LIMIT("%s: Space has run out: writes fail.", name);
	else if (supply == DMDA_LOG_SUPPLY_LOW)
		DMWARN_LIMIT("%s: Space has run out: writes wait for a segment to be free.", name);
	else
		DMINFO("%s: There is space again.", name);
	dm_table_event(log->dmda->ti->table);
}

void dmda_log_do_no_space(struct work_struct *work)
{
	struct dmda_log *log = container_of(to_delayed_work(work), struct dmda_log,
					    admission.work);
	struct dmda_log_io *io, *next;
	enum dmda_log_supply supply;
	LIST_HEAD(starved);
	bool is_news;

	spin_lock_irq(&log->lock);
	if (!list_empty(&log->admission.starved) && !waits_on_locked(log))
		list_splice_init(&log->admission.starved, &starved);
	supply = log->admission.supply;
	is_news = supply != log->admission.told_supply;
	log->admission.told_supply = supply;
	spin_unlock_irq(&log->lock);
	if (is_news)
		tell_space(log, supply);
	list_for_each_entry_safe(io, next, &starved, list) {
		list_del_init(&io->list);
		dmda_log_finish(log, io, BLK_STS_NOSPC);
	}
}
