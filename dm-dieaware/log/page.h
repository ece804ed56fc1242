/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of the map in memory. Whoever needs one pins it.
 */
#ifndef DMDA_LOG_PAGE_H
#define DMDA_LOG_PAGE_H

#include "map.h"

struct dmda_log;

/**
 * dmda_log_map_init() - what all devices have in common; for the module
 * Return: 0 or -ENOMEM.
 */
int dmda_log_map_init(void);
void dmda_log_map_exit(void);

/* Pages of the map that fit into so many MiB, or as many as it takes to work at all. */
u64 dmda_log_map_pages(u32 mb);

/**
 * dmda_log_page_reserves_init() - set memory aside for pages of the map
 * @nr: number of pages that are to be had in any case
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; dmda_log_page_reserves_exit() is due in both cases.
 */
int dmda_log_page_reserves_init(struct dmda_log *log, int nr);
void dmda_log_page_reserves_exit(struct dmda_log *log);

/* A page of the map that is there, or is being read; it is found with one look the next time. */
struct dmda_log_page *dmda_log_page_load_locked(struct dmda_log *log, u64 index);

/**
 * dmda_log_page_find_locked() - a page of the map, if it is in memory and was read
 */
struct dmda_log_page *dmda_log_page_find_locked(struct dmda_log *log, u64 index);

/**
 * dmda_log_page_peek() - a page of the map, if it is in memory
 *
 * Context: any, under rcu_read_lock() and as long as that lasts. The page may be changing, and may
 *	go: see core/lookup.h.
 */
struct dmda_log_page *dmda_log_page_peek(struct dmda_log *log, u64 index);

/**
 * dmda_log_page_is_there_locked() - is this page of the map in memory? It does not count as used.
 */
bool dmda_log_page_is_there_locked(struct dmda_log *log, u64 index);

/**
 * dmda_log_page_is_zero_locked() - was this page of the map never changed?
 */
bool dmda_log_page_is_zero_locked(struct dmda_log *log, u64 index);

/* It is needed no more by one of those who have pinned it. */
void dmda_log_page_put_locked(struct dmda_log *log, struct dmda_log_page *page);
void dmda_log_page_put(struct dmda_log *log, struct dmda_log_page *page);

/**
 * dmda_log_page_alloc() - memory for a page that is not in the map yet
 * @is_needed: it may be of what is set aside, which comes last; and it comes back first, when pages
 *	go
 *
 * Return: NULL if there is no memory.
 */
struct dmda_log_page *dmda_log_page_alloc(struct dmda_log *log, u64 index, gfp_t gfp,
					  bool is_needed);

/* Free a page that nobody can look into. */
void dmda_log_page_free_unseen(struct dmda_log *log, struct dmda_log_page *page);

/**
 * dmda_log_page_free() - free a page that is out of the map, when nobody looks into it any more
 *
 * Context: any.
 */
void dmda_log_page_free(struct dmda_log *log, struct dmda_log_page *page);

/* A page is out of the map from now on, and the caller's to free. */
void dmda_log_page_take_out_locked(struct dmda_log *log, struct dmda_log_page *page);

/**
 * dmda_log_page_leaves_locked() - a page that is leaving was written
 * Return: whether it is out of the map, and the caller's to free.
 */
bool dmda_log_page_leaves_locked(struct dmda_log *log, struct dmda_log_page *page);

#endif /* DMDA_LOG_PAGE_H */
