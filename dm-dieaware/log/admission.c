// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes that wait for places. They go on when there are some; fail when space has run out and
 * stays so; and go back to dm before a suspension that does not wait for them.
 */
#include "log.h"

/* While writes wait for places, it is looked so often whether they still should. */
#define LOOK_JIFFIES		HZ

static void look_at_space_locked(struct dmda_log *log)
{
	dmda_patience_look(&log->admission.patience, get_jiffies_64(),
			   dmda_log_is_out_of_space_locked(log));
}

void dmda_log_starve_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	if (log->admission.hands_back) {
		dmda_log_go_on_locked(log, io);
		return;
	}
	/* If it is on its way already, who is served again and again waits on. */
	if (list_empty(&log->admission.starved) && !READ_ONCE(log->is_quiet) &&
	    queue_delayed_work(log->queue, &log->admission.work,
			       min_t(unsigned long, log->admission.no_space_jiffies,
				     LOOK_JIFFIES))) {
		dmda_patience_renew(&log->admission.patience);
		look_at_space_locked(log);
	}
	list_move_tail(&io->list, &log->admission.starved);
	log->counters.nr_starved++;
}

void dmda_log_feed_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	if (list_empty(&log->admission.starved) ||
	    (log->state == DMDA_LOG_WRITE && !dmda_log_has_places_locked(log)))
		return;
	list_splice_tail_init(&log->admission.starved, &log->ios.ready);
	dmda_log_kick(log, &log->ios.work);
}

/*
 * The next look is due before they try again: so they stay those that began to wait then.
 * Return: whether they go on waiting.
 */
static bool waits_on_locked(struct dmda_log *log)
{
	u64 left;

	look_at_space_locked(log);
	left = dmda_patience_left(&log->admission.patience, log->admission.no_space_jiffies);
	if (!left) {
		log->admission.supply = DMDA_LOG_SUPPLY_OUT;
		return false;
	}
	if (log->admission.patience.was_out && log->admission.supply == DMDA_LOG_SUPPLY_OK)
		log->admission.supply = DMDA_LOG_SUPPLY_LOW;
	queue_delayed_work(log->queue, &log->admission.work, min_t(u64, left, LOOK_JIFFIES));
	if (log->space.segments.nr_empty)
		dmda_log_kick(log, &log->space.work);
	dmda_log_feed_locked(log);
	return true;
}

void dmda_log_hand_back(struct dmda_log *log, bool hands_back)
{
	spin_lock_irq(&log->lock);
	WRITE_ONCE(log->admission.hands_back, hands_back);
	if (hands_back && !list_empty(&log->admission.starved)) {
		list_splice_tail_init(&log->admission.starved, &log->ios.ready);
		dmda_log_kick(log, &log->ios.work);
	}
	spin_unlock_irq(&log->lock);
}

void dmda_log_gained_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	dmda_patience_renew(&log->admission.patience);
	/* It may have had no room to go on. */
	if (!list_empty(&log->admission.starved) &&
	    log->space.segments.nr_free <= DMDA_LOG_LOW_SEGMENTS)
		dmda_log_kick_clean(log);
	if (log->admission.supply == DMDA_LOG_SUPPLY_OK ||
	    log->space.segments.nr_free <= dmda_log_kept_from_locked(log, DMDA_STREAM_USER))
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
