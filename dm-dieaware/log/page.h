/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of the map in memory. Whoever needs one pins it.
 */
#ifndef DMDA_LOG_PAGE_H
#define DMDA_LOG_PAGE_H

#include <linux/list.h>
#include <linux/rcupdate.h>

#include "../core/change.h"

struct dmda_log;

/**
 * struct dmda_log_page - a page of the map in memory
 * @map: its bytes and what they know; shown from when it was read until it is evicted
 * @waiters: one of the struct dmda_log_io that wait until it is read, whose list is the others; or
 *	NULL
 * @rcu: of a page that was evicted
 * @nr_pins: number of those who need it; it cannot be evicted as long as this is not 0
 * @is_failed: whether it could not be read
 * @is_writing: whether it is being written
 * @is_new: whether it is in the small queue
 * @is_leaving: whether it is being written to be evicted then
 * @nr_uses: number of recent uses; -1 if it was never used. Who uses it without the lock may miss
 *	to count that.
 */
struct dmda_log_page {
	struct dmda_map_page map;
	union {
		struct list_head *waiters;
		struct rcu_head rcu;
	};
	u32 nr_pins;
	bool is_failed;
	bool is_writing : 1;
	bool is_new : 1;
	bool is_leaving : 1;
	s8 nr_uses;
};

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

/* Uses of a page that are remembered */
#define DMDA_LOG_MAX_USES	3

/**
 * dmda_log_page_used() - the page was used
 *
 * Context: any.
 */
static inline void dmda_log_page_used(struct dmda_log_page *page)
{
	s8 nr_uses = READ_ONCE(page->nr_uses);

	if (nr_uses < DMDA_LOG_MAX_USES)
		WRITE_ONCE(page->nr_uses, nr_uses + 1);
}

/* Does the device below not have it as it is? */
static inline bool dmda_log_page_is_dirty(const struct dmda_log_page *page)
{
	return page->map.dirty_sector != U64_MAX;
}

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

/* Pages of the map as an operation takes them: there are as many as it may touch, or NULL. */
static inline void dmda_log_map_of(struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES],
				   struct dmda_map_page *map[DMDA_OP_MAP_PAGES])
{
	for (u32 i = 0; i < DMDA_OP_MAP_PAGES; i++)
		map[i] = pages[i] ? &pages[i]->map : NULL;
}

#endif /* DMDA_LOG_PAGE_H */
