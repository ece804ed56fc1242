// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measuring which way small overwrites take less time. See update.h.
 */
#include "update.h"

/* A new measurement counts for a quarter. */
#define MEAN_WEIGHT	4U

/* Other writes may be so many times fewer than small overwrites. */
#define OTHER_SHARE	8U

static void begin_window(struct dmda_update *update, u64 now_ns)
{
	update->since_ns = now_ns;
	update->busy_ns = 0;
	update->nr_small = 0;
	update->nr_other = 0;
	update->nr_flushes = 0;
}

static void set_way(struct dmda_update *update, enum dmda_update_way way, u64 now_ns)
{
	update->way = way;
	update->nr_windows = 0;
	update->age = 0;
	begin_window(update, now_ns);
}

void dmda_update_init(struct dmda_update *update, u64 nr_pages)
{
	memset(update, 0, sizeof(*update));
	update->way = DMDA_UPDATE_IN_PLACE;
	update->window_pages = clamp_t(u64, nr_pages / DMDA_UPDATE_SHARE, DMDA_UPDATE_MIN_PAGES,
				       DMDA_UPDATE_MAX_PAGES);
}

bool dmda_update_end(struct dmda_update *update, u32 nr_pages, bool is_small, u64 now_ns)
{
	if (is_small)
		update->nr_small += nr_pages;
	else
		update->nr_other += nr_pages;
	if (!--update->nr_writing)
		update->busy_ns += now_ns - update->since_ns;
	return update->nr_small + update->nr_other >= update->window_pages;
}

static bool says_something(const struct dmda_update *update)
{
	return update->nr_other * OTHER_SHARE <= update->nr_small;
}

static bool is_flushed_often(const struct dmda_update *update)
{
	return update->nr_small < (u64)update->nr_flushes * DMDA_UPDATE_FLUSH_PAGES;
}

/* How long the window would have been with just as many pages as it is to have. */
static u64 window_ns(const struct dmda_update *update, u64 now_ns)
{
	u32 nr_pages = update->nr_small + update->nr_other;
	u64 ns = update->busy_ns + (update->nr_writing ? now_ns - update->since_ns : 0);

	return div_u64(ns * update->window_pages, nr_pages) ?: 1;
}

static void measure(struct dmda_update *update, u64 now_ns)
{
	u64 *mean = &update->ns[update->way];
	u64 ns = window_ns(update, now_ns);

	*mean = *mean ? div_u64(*mean * (MEAN_WEIGHT - 1) + ns, MEAN_WEIGHT) : ns;
}

static bool is_new_place_quicker(const struct dmda_update *update)
{
	return update->ns[DMDA_UPDATE_NEW_PLACE] * DMDA_UPDATE_GAIN_NUM <
		update->ns[DMDA_UPDATE_IN_PLACE] * DMDA_UPDATE_GAIN_DEN;
}

/* Is it worth while to write to new places, or to find out? */
static bool should_leave_place(struct dmda_update *update, bool has_room)
{
	if (!has_room || is_flushed_often(update) || !update->ns[DMDA_UPDATE_IN_PLACE])
		return false;
	if (update->ns[DMDA_UPDATE_NEW_PLACE] && update->age < DMDA_UPDATE_RETRY)
		return is_new_place_quicker(update);
	/* What it was is long ago. */
	update->ns[DMDA_UPDATE_NEW_PLACE] = 0;
	return true;
}

/* Nothing is known at first: then it is tried. */
static bool should_stay(const struct dmda_update *update)
{
	return is_flushed_often(update) ||
		(update->ns[DMDA_UPDATE_NEW_PLACE] && !is_new_place_quicker(update));
}

void dmda_update_judge(struct dmda_update *update, bool has_room, u64 now_ns)
{
	if (!says_something(update)) {
		begin_window(update, now_ns);
		return;
	}
	if (update->nr_windows++)
		measure(update, now_ns);
	if (update->way == DMDA_UPDATE_IN_PLACE) {
		update->age++;
		if (should_leave_place(update, has_room)) {
			set_way(update, DMDA_UPDATE_NEW_PLACE, now_ns);
			return;
		}
	} else if (should_stay(update)) {
		set_way(update, DMDA_UPDATE_IN_PLACE, now_ns);
		return;
	}
	begin_window(update, now_ns);
}

void dmda_update_stay(struct dmda_update *update, u64 now_ns)
{
	set_way(update, DMDA_UPDATE_IN_PLACE, now_ns);
}
