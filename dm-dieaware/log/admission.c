// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes that wait for places. They go on when there are some; fail when space has run out and
 * stays so; and go back to dm before a suspension that does not wait for them.
 */
#include "admission.h"

/* While writes wait for places, it is looked so often whether they still should. */
#define LOOK_JIFFIES		HZ

static void look_at_space_locked(struct dmda_log *log)
{
	dmda_patience_look(&log->patience, get_jiffies_64(), dmda_log_is_out_of_space_locked(log));
}

void dmda_log_starve_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	if (log->hands_back) {
		dmda_log_go_on_locked(log, io);
		return;
	}
	/* If it is on its way already, who is served again and again waits on. */
	if (list_empty(&log->starved) && !READ_ONCE(log->is_quiet) &&
	    queue_delayed_work(log->queue, &log->no_space_work,
			       min_t(unsigned long, log->no_space_jiffies, LOOK_JIFFIES))) {
		dmda_patience_renew(&log->patience);
		look_at_space_locked(log);
	}
	list_move_tail(&io->list, &log->starved);
	log->counters.nr_starved++;
}

void dmda_log_feed_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	if (list_empty(&log->starved) ||
	    (log->state == DMDA_LOG_WRITE && !dmda_log_has_places_locked(log)))
		return;
	list_splice_tail_init(&log->starved, &log->ready);
	dmda_log_kick(log, &log->io_work);
}

/*
 * The next look is due before they try again: so they stay those that began to wait then.
 * Return: whether they go on waiting.
 */
static bool waits_on_locked(struct dmda_log *log)
{
	u64 left;

	look_at_space_locked(log);
	left = dmda_patience_left(&log->patience, log->no_space_jiffies);
	if (!left) {
		log->space = DMDA_LOG_SPACE_OUT;
		return false;
	}
	if (log->patience.was_out && log->space == DMDA_LOG_SPACE_OK)
		log->space = DMDA_LOG_SPACE_LOW;
	queue_delayed_work(log->queue, &log->no_space_work, min_t(u64, left, LOOK_JIFFIES));
	if (log->segments.nr_empty)
		dmda_log_kick(log, &log->space_work);
	dmda_log_feed_locked(log);
	return true;
}

void dmda_log_hand_back(struct dmda_log *log, bool hands_back)
{
	spin_lock_irq(&log->lock);
	WRITE_ONCE(log->hands_back, hands_back);
	if (hands_back && !list_empty(&log->starved)) {
		list_splice_tail_init(&log->starved, &log->ready);
		dmda_log_kick(log, &log->io_work);
	}
	spin_unlock_irq(&log->lock);
}

void dmda_log_gained_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	dmda_patience_renew(&log->patience);
	/* It may have had no room to go on. */
	if (!list_empty(&log->starved) && log->segments.nr_free <= DMDA_LOG_LOW_SEGMENTS)
		dmda_log_kick_clean(log);
	if (log->space == DMDA_LOG_SPACE_OK ||
	    log->segments.nr_free <= dmda_log_kept_from_locked(log, DMDA_STREAM_USER))
		return;
	log->space = DMDA_LOG_SPACE_OK;
	if (!READ_ONCE(log->is_quiet))
		queue_delayed_work(log->queue, &log->no_space_work, 0);
}

/* Who waits for the device's events learns of it, as dm-thin's users do. */
static void tell_space(const struct dmda_log *log, enum dmda_log_space space)
{
	const char *name = dm_table_device_name(log->dmda->ti->table);

	if (space == DMDA_LOG_SPACE_OUT)
		DMERR_LIMIT("%s: Space has run out: writes fail.", name);
	else if (space == DMDA_LOG_SPACE_LOW)
		DMWARN_LIMIT("%s: Space has run out: writes wait for a segment to be free.", name);
	else
		DMINFO("%s: There is space again.", name);
	dm_table_event(log->dmda->ti->table);
}

void dmda_log_do_no_space(struct work_struct *work)
{
	struct dmda_log *log = container_of(to_delayed_work(work), struct dmda_log,
					    no_space_work);
	struct dmda_log_io *io, *next;
	enum dmda_log_space space;
	LIST_HEAD(starved);
	bool is_news;

	spin_lock_irq(&log->lock);
	if (!list_empty(&log->starved) && !waits_on_locked(log))
		list_splice_init(&log->starved, &starved);
	space = log->space;
	is_news = space != log->told_space;
	log->told_space = space;
	spin_unlock_irq(&log->lock);
	if (is_news)
		tell_space(log, space);
	list_for_each_entry_safe(io, next, &starved, list) {
		list_del_init(&io->list);
		dmda_log_finish(log, io, BLK_STS_NOSPC);
	}
}
