/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Overwrites of pages where they are.
 */
#ifndef DMDA_LOG_INPLACE_H
#define DMDA_LOG_INPLACE_H

#include "../core/heat.h"
#include "../core/rates.h"
#include "../core/update.h"

struct dmda_log;
struct dmda_log_cleaner;
struct dmda_log_io;

/**
 * struct dmda_log_inplace - overwrites of pages where they are
 * @is_possible: whether the device below writes pages whole; as it was at the last resume
 * @nr_writing: number of overwrites that are under way, by segment
 * @nr_pages: pages that were overwritten since cleaning has gathered some last
 * @heat: which pages are overwritten most often
 * @update: whether small overwrites are done in place at present, as their time is measured
 * @rates: how often parts of the device are overwritten, for one that has placement handles
 */
struct dmda_log_inplace {
	bool is_possible;
	u32 *nr_writing;
	u64 nr_pages;
	struct dmda_heat heat;
	struct dmda_update update;
	struct dmda_rates rates;
};

/**
 * dmda_log_look_locked() - would a write be done where its pages are, if these lie together? To
 *	@io->may_stay
 */
void dmda_log_look_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_time_begin_locked() - a write begins while the device is full: its time may count for
 *	where small ones go; and what dmda_log_look_locked() does
 */
void dmda_log_time_begin_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_time_end_locked() - one whose time counts has ended
 */
void dmda_log_time_end_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_needs_map_locked() - must a page of the map be read before it is known whether a write
 *	is done where its pages are?
 * @io: has claimed its lpns
 */
bool dmda_log_needs_map_locked(struct dmda_log *log, const struct dmda_log_io *io);

/**
 * dmda_log_stay_locked() - is a write done where its pages are?
 * @io: has claimed its lpns
 *
 * Then that is its place, and nobody copies the pages until dmda_log_stayed_locked().
 */
bool dmda_log_stay_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_stayed_locked() - a write in place has ended
 */
void dmda_log_stayed_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_begin_victims() - nothing in the segments that are to be cleaned changes in place
 *	from now on
 *
 * Context: may sleep, as long as writes take.
 */
void dmda_log_begin_victims(struct dmda_log_cleaner *cleaner);

/**
 * dmda_log_end_victims() - it may
 *
 * Context: process; without the lock.
 */
void dmda_log_end_victims(struct dmda_log_cleaner *cleaner);

#endif /* DMDA_LOG_INPLACE_H */
