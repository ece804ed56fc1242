/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of the map that are at hand: nearly all that is needed is found with one look, by the
 * lower bits of its index, where the tree of all pages in memory takes one for each of its levels.
 * What is not here may still be there: two pages with the same lower bits take each other's place.
 */
#ifndef DMDA_LOG_NEAR_H
#define DMDA_LOG_NEAR_H

#include "log.h"

/**
 * struct dmda_log_near - table of them
 * @mask: the bits of an index that count
 * @nr: places; what these bits have from there on is not here
 * @page: a page at each place, or NULL
 */
struct dmda_log_near {
	unsigned long mask;
	unsigned long nr;
	struct dmda_log_page __rcu *page[];
};

/**
 * dmda_log_near_alloc() - an empty table
 * @nr_pages: pages of the map that are in memory at most
 *
 * Context: may sleep.
 * Return: the table, for kvfree(); or NULL.
 */
struct dmda_log_near *dmda_log_near_alloc(u64 nr_pages, gfp_t gfp);

/* The place for a page of the map, or NULL if it has none */
static inline struct dmda_log_page __rcu **dmda_log_near_place(struct dmda_log_near *near,
							       u64 index)
{
	unsigned long place = index & near->mask;

	return place < near->nr ? &near->page[place] : NULL;
}

/**
 * dmda_log_near_find() - a page of the map, if it is at hand
 *
 * Context: any, under rcu_read_lock() or with the lock.
 */
static inline struct dmda_log_page *dmda_log_near_find(struct dmda_log *log, u64 index)
{
	struct dmda_log_near *near =
		rcu_dereference_check(log->cache.near, lockdep_is_held(&log->lock));
	struct dmda_log_page __rcu **place = dmda_log_near_place(near, index);
	struct dmda_log_page *page;

	if (!place)
		return NULL;
	page = rcu_dereference_check(*place, lockdep_is_held(&log->lock));
	return page && page->map.index == index ? page : NULL;
}

/* A page that is in the tree is needed, and probably is again. */
void dmda_log_near_put_locked(struct dmda_log *log, struct dmda_log_page *page);

/* A page leaves the tree. */
void dmda_log_near_drop_locked(struct dmda_log *log, const struct dmda_log_page *page);

/**
 * dmda_log_near_replace() - another table, to be filled anew
 *
 * The one so far is free in the end.
 *
 * Context: may sleep.
 */
void dmda_log_near_replace(struct dmda_log *log, struct dmda_log_near *near);

#endif /* DMDA_LOG_NEAR_H */
