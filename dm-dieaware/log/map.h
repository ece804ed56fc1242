/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The map in memory, as its files share it: a page of it, and the cache of those.
 */
#ifndef DMDA_LOG_MAP_H
#define DMDA_LOG_MAP_H

#include <linux/bio.h>
#include <linux/mempool.h>
#include <linux/mutex.h>
#include <linux/xarray.h>

#include "../core/change.h"
#include "../core/s3fifo.h"
#include "tables.h"

struct dmda_log_near;
struct shrinker;

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

/**
 * struct dmda_log_cache - pages of the map in memory
 * @resize_lock: held while it gets another size
 * @pages: struct dmda_log_page by index in the table
 * @near: those of them that are found with one look (near.h)
 * @nr_pages: number of pages in memory
 * @max_pages: number of pages that there should be at most
 * @fifo: record of pages that came lately, and of those that have gone again
 * @fifo_memory: memory of @fifo
 * @hand: index at which the search for one of the other pages to evict goes on
 * @nr_leaving: number of pages that are being written to be evicted then
 * @nr_gone: number of pages that were evicted, and whose memory is not free yet; no lock
 * @leaving: the writes of those
 * @blocks: reserve of memory for pages
 * @structs: reserve of struct dmda_log_page
 * @fetches: reserve of reads of pages
 * @reads_alone: whether each page is read by a command of its own, since several could not be for
 *	what lies between them; until the device is resumed the next time; no lock
 * @shrinker: way in which the kernel asks for memory of pages
 */
struct dmda_log_cache {
	struct mutex resize_lock; /* of those who change its size */

	struct xarray pages;
	struct dmda_log_near __rcu *near;
	u64 nr_pages;
	u64 max_pages;
	struct dmda_s3fifo fifo;
	void *fifo_memory;
	unsigned long hand;
	u64 nr_leaving;
	atomic_t nr_gone;
	struct dmda_log_writes leaving;
	mempool_t blocks;
	mempool_t structs;
	struct bio_set fetches;
	bool reads_alone;
	struct shrinker *shrinker;
};

/* Pages of the map as an operation takes them: there are as many as it may touch, or NULL. */
static inline void dmda_log_map_of(struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES],
				   struct dmda_map_page *map[DMDA_OP_MAP_PAGES])
{
	for (u32 i = 0; i < DMDA_OP_MAP_PAGES; i++)
		map[i] = pages[i] ? &pages[i]->map : NULL;
}

#endif /* DMDA_LOG_MAP_H */
