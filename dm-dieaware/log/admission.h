/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which writes get places, which wait for some, until when, and what becomes of them then.
 */
#ifndef DMDA_LOG_ADMISSION_H
#define DMDA_LOG_ADMISSION_H

#include <linux/list.h>
#include <linux/workqueue.h>

#include "../core/patience.h"
#include "../core/writer.h"
#include "credit.h"

struct dmda_log;
struct dmda_log_cleaner;
struct dmda_log_io;

/**
 * enum dmda_log_supply - supply of space for users
 * @DMDA_LOG_SUPPLY_OK: there is space, or some is on its way
 * @DMDA_LOG_SUPPLY_LOW: there is no space, and writes wait
 * @DMDA_LOG_SUPPLY_OUT: there is no space, and writes have failed for that
 */
enum dmda_log_supply {
	DMDA_LOG_SUPPLY_OK,
	DMDA_LOG_SUPPLY_LOW,
	DMDA_LOG_SUPPLY_OUT,
};

/**
 * struct dmda_log_admission - writes that wait for places, and how many users may take
 * @starved: writes that wait
 * @patience: time that they have waited for want of space
 * @hands_back: whether writes and trims that have not begun go back to dm, which sends them again
 *	after the suspension
 * @supply: enum dmda_log_supply
 * @told_supply: value of @supply that the world was told last
 * @is_pacing: whether users may write only as many pages as cleaning lets them: @credit
 * @credit: number of pages that they may write; below 0 if the last write took more
 * @work: worker that fails writes that wait too long, and tells the world whether there is space
 */
struct dmda_log_admission {
	struct list_head starved;
	struct dmda_patience patience;
	bool hands_back;
	enum dmda_log_supply supply;
	enum dmda_log_supply told_supply;
	bool is_pacing;
	s64 credit;
	struct delayed_work work;
};

/**
 * dmda_log_set_pacing() - users may write as many pages as cleaning gains, or again as they like
 *
 * Context: process; without the lock.
 */
void dmda_log_set_pacing(struct dmda_log *log, bool is_pacing);

/**
 * dmda_log_pay_users_locked() - cleaning has moved pages, and users may write for that
 * @nr_moved: number of pages moved
 */
void dmda_log_pay_users_locked(const struct dmda_log_cleaner *cleaner, u32 nr_moved);

/**
 * dmda_log_starve_locked() - a write waits until there may be places
 */
void dmda_log_starve_locked(struct dmda_log *log, struct dmda_log_io *io);

/* Let the worker go on with writes that were starved, if there are places for the first. */
void dmda_log_feed_locked(struct dmda_log *log);

/**
 * dmda_log_set_patience() - how long writes may wait for want of space
 *
 * Those that wait already, too.
 */
void dmda_log_set_patience(struct dmda_log *log, u32 seconds);

/**
 * dmda_log_longest_pause() - how long may be put off what might bring space?
 *
 * While writes wait for space, it is tried before they give up.
 *
 * Context: process; without the lock.
 * Return: that time in jiffies.
 */
u64 dmda_log_longest_pause(struct dmda_log *log);

/**
 * dmda_log_do_no_space() - worker: fail writes that have waited too long for want of space
 */
void dmda_log_do_no_space(struct work_struct *work);

/**
 * dmda_log_hand_back() - whoever waits for others, or for places, need not be waited for
 * @hands_back: from now on; false: they wait again
 *
 * Context: a suspension for which dm keeps what it gets back.
 */
void dmda_log_hand_back(struct dmda_log *log, bool hands_back);

/**
 * dmda_log_hands_back() - do writes and trims that have not begun go back to dm?
 *
 * When a suspension is interrupted, dm sends what it has kept before it says so, and takes nothing
 * back any more: what it gets then ends with an error.
 */
bool dmda_log_hands_back(const struct dmda_log *log);

/**
 * dmda_log_emptied_locked() - data was replaced or trimmed: if that has emptied a segment, who
 *	waits for places gets them when it is free
 * @nr_before: segments that were empty before
 */
void dmda_log_emptied_locked(struct dmda_log *log, u32 nr_before);

/**
 * dmda_log_gained_locked() - a segment was closed or freed
 */
void dmda_log_gained_locked(struct dmda_log *log);

#endif /* DMDA_LOG_ADMISSION_H */
