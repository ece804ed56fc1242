/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes that wait for places: until when, and what becomes of them.
 */
#ifndef DMDA_LOG_ADMISSION_H
#define DMDA_LOG_ADMISSION_H

#include <linux/list.h>
#include <linux/workqueue.h>

#include "../core/patience.h"

struct dmda_log;
struct dmda_log_io;

/* Most pages that users may write while cleaning does nothing for them */
#define DMDA_LOG_MAX_CREDIT	4096

/**
 * enum dmda_log_supply - is there space for users?
 * @DMDA_LOG_SUPPLY_OK: there is, or some is on its way
 * @DMDA_LOG_SUPPLY_LOW: there is none, and writes wait
 * @DMDA_LOG_SUPPLY_OUT: there is none, and writes have failed for that
 */
enum dmda_log_supply {
	DMDA_LOG_SUPPLY_OK,
	DMDA_LOG_SUPPLY_LOW,
	DMDA_LOG_SUPPLY_OUT,
};

/**
 * struct dmda_log_admission - writes that wait for places
 * @starved: the writes
 * @patience: time that they have waited for want of space
 * @no_space_jiffies: time that they may wait for want of space; constant
 * @hands_back: whether writes and trims that have not begun go back to dm, which sends them again
 *	after the suspension
 * @supply: whether there is space for users
 * @told_supply: value of @supply that the world was told last
 * @is_pacing: whether users may write only as many pages as cleaning lets them: @credit
 * @credit: number of pages that they may write; below 0 if the last write took more
 * @work: worker that fails writes that wait too long, and tells the world whether there is space
 */
struct dmda_log_admission {
	struct list_head starved;
	struct dmda_patience patience;
	unsigned long no_space_jiffies;
	bool hands_back;
	enum dmda_log_supply supply;
	enum dmda_log_supply told_supply;
	bool is_pacing;
	s64 credit;
	struct delayed_work work;
};

/**
 * dmda_log_starve_locked() - a write waits until there may be places
 */
void dmda_log_starve_locked(struct dmda_log *log, struct dmda_log_io *io);

/* Let the worker go on with writes that were starved. */
void dmda_log_feed_locked(struct dmda_log *log);

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
 * dmda_log_gained_locked() - a segment was closed or freed
 */
void dmda_log_gained_locked(struct dmda_log *log);

#endif /* DMDA_LOG_ADMISSION_H */
