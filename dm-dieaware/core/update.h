/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether small overwrites are done in place or go to new places, on a device that is so full that
 * cleaning for all of them would not pay.
 *
 * In place they cost nothing later. But there are drives that are slow at it: one whose map is on
 * its flash has to read and write parts of that. To new places, in order, each drive is fast. What
 * that costs comes later, when what is left is cleaned; and nobody waits for it if that is in idle
 * time. So while there are free segments that cleaning in idle time can bring back, the time of
 * both is measured, and the quicker way is taken; in place, if they are about the same.
 *
 * Time is that in which writes are under way, so it counts only what writes wait for. It is taken
 * over a window of pages; the first one after a change is not counted, since the drive still has
 * to do with what came before. New places are tried once in place is known, and again after a long
 * time. A window that is for the most part something else says nothing.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_UPDATE_H
#define DMDA_UPDATE_H

#include <dieaware/platform.h>

/* Pages of a window: so many of a device's, within these limits */
#define DMDA_UPDATE_SHARE	256U
#define DMDA_UPDATE_MIN_PAGES	256U
#define DMDA_UPDATE_MAX_PAGES	4096U

/* New places must be quicker by a quarter. */
#define DMDA_UPDATE_GAIN_NUM	5U
#define DMDA_UPDATE_GAIN_DEN	4U

/* Windows after which new places are tried again */
#define DMDA_UPDATE_RETRY	64U

/* With fewer pages than that for each flush, commits would cost what new places gain. */
#define DMDA_UPDATE_FLUSH_PAGES	32U

/**
 * enum dmda_update_way - where small overwrites go
 * @DMDA_UPDATE_IN_PLACE: where their pages are
 * @DMDA_UPDATE_NEW_PLACE: to new places
 * @DMDA_UPDATE_NR_WAYS: number of ways
 */
enum dmda_update_way {
	DMDA_UPDATE_IN_PLACE,
	DMDA_UPDATE_NEW_PLACE,
	DMDA_UPDATE_NR_WAYS,
};

/**
 * struct dmda_update - measured cost of small overwrites, and what follows from it
 * @way: enum dmda_update_way of those that come
 * @window_pages: pages of a window
 * @ns: by way, mean time for a window of @window_pages; 0: not known
 * @nr_windows: windows since @way has changed, the first of which does not count
 * @age: windows in place since new places were measured
 * @nr_writing: writes that are under way
 * @since_ns: time since which there are some
 * @busy_ns: of this window: time in which writes were under way, up to @since_ns
 * @nr_small: of this window: pages of small overwrites
 * @nr_other: of this window: pages of other writes
 * @nr_flushes: of this window: flushes
 */
struct dmda_update {
	u8 way;
	u32 window_pages;
	u64 ns[DMDA_UPDATE_NR_WAYS];
	u32 nr_windows;
	u32 age;
	u32 nr_writing;
	u64 since_ns;
	u64 busy_ns;
	u32 nr_small;
	u32 nr_other;
	u32 nr_flushes;
};

/**
 * dmda_update_init() - nothing is known: in place
 * @nr_pages: pages of the device
 */
void dmda_update_init(struct dmda_update *update, u64 nr_pages);

/**
 * dmda_update_begin() - a write begins
 * @now_ns: the time; used only if no other is under way
 */
static inline void dmda_update_begin(struct dmda_update *update, u64 now_ns)
{
	if (!update->nr_writing++)
		update->since_ns = now_ns;
}

/**
 * dmda_update_end() - a write has ended
 * @nr_pages: its pages
 * @is_small: whether it was a small overwrite
 *
 * Return: whether a window is full: then dmda_update_judge() is to be called.
 */
bool dmda_update_end(struct dmda_update *update, u32 nr_pages, bool is_small, u64 now_ns);

/* Somebody asked for a flush. */
static inline void dmda_update_flush(struct dmda_update *update)
{
	update->nr_flushes++;
}

/**
 * dmda_update_judge() - a window is full: is there a better way?
 * @has_room: whether there are so many free segments that new places may be begun with
 */
void dmda_update_judge(struct dmda_update *update, bool has_room, u64 now_ns);

/* Free segments have become few: in place, whatever it costs. */
void dmda_update_stay(struct dmda_update *update, u64 now_ns);

#endif /* DMDA_UPDATE_H */
