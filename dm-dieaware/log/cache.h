/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache of the map: those of its pages that are in memory. Whoever needs one pins it; the
 * others may be evicted when there are more than there should be.
 */
#ifndef DMDA_LOG_CACHE_H
#define DMDA_LOG_CACHE_H

#include <linux/bio.h>
#include <linux/mempool.h>
#include <linux/mutex.h>
#include <linux/xarray.h>

#include "../core/ahead.h"
#include "../core/change.h"
#include "../core/s3fifo.h"
#include "tables.h"

struct dmda_log;
struct dmda_log_io;
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

/**
 * struct dmda_log_wanted - pages of the map that are needed soon
 * @max: most of them
 * @nr: number of @index
 * @index: the pages; none of them was in memory
 */
struct dmda_log_wanted {
	u32 max;
	u32 nr;
	u64 index[DMDA_AHEAD_PAGES];
};

/**
 * dmda_log_map_init() - what all devices have in common; for the module
 * Return: 0 or -ENOMEM.
 */
int dmda_log_map_init(void);
void dmda_log_map_exit(void);

/**
 * dmda_log_init_map() - set memory aside for pages of the map
 * @nr_reserved: number of pages that are to be had in any case
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; dmda_log_exit_map() is due in both cases.
 */
int dmda_log_init_map(struct dmda_log *log, int nr_reserved);

/**
 * dmda_log_exit_map() - free all pages, none of which is in use, and what was set aside
 */
void dmda_log_exit_map(struct dmda_log *log);

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

/**
 * dmda_log_page_get() - a page of the map, read if need be
 * @io: waits for it if it has to be read, and comes back to dmda_log_ios.ready; it has no other
 *	page pinned meanwhile
 *
 * The caller clears dmda_log_io.has_waited when @io has got on.
 *
 * Context: the io worker; waits for the page only if @io has waited before.
 * Return: the page, pinned; NULL: @io waits; or an error.
 */
struct dmda_log_page *dmda_log_page_get(struct dmda_log *log, u64 index,
					struct dmda_log_io *io);

/**
 * dmda_log_page_wait() - the same for who can wait
 *
 * Context: may sleep.
 * Return: the page, pinned; or an error: -ENOMEM only if what is replayed may not be written.
 */
struct dmda_log_page *dmda_log_page_wait(struct dmda_log *log, u64 index);

/* Counterpart of the two. */
void dmda_log_page_put_locked(struct dmda_log *log, struct dmda_log_page *page);
void dmda_log_page_put(struct dmda_log *log, struct dmda_log_page *page);

/**
 * dmda_log_wanted_max() - pages of the map that may be read together before they are needed
 *
 * A part of the cache, so that none of them goes before it was needed.
 */
u32 dmda_log_wanted_max(const struct dmda_log *log);

/* None is needed yet. */
void dmda_log_wanted_init(struct dmda_log *log, struct dmda_log_wanted *wanted);

/**
 * dmda_log_wanted_add() - a page of the map is needed soon
 * Return: whether there is room for it; always if it is in memory.
 */
bool dmda_log_wanted_add(struct dmda_log *log, struct dmda_log_wanted *wanted, u64 index);

/**
 * dmda_log_wanted_read() - read pages of the map, all at the same time
 *
 * That is what it would take to read one of them. None is pinned then, and not one need be there:
 * there may be no memory to spare, others may have gone again, and what cannot be read fails who
 * needs it.
 *
 * Context: may sleep; nothing is pinned.
 */
void dmda_log_wanted_read(struct dmda_log *log, const struct dmda_log_wanted *wanted);

/**
 * dmda_log_page_is_there_locked() - is this page of the map in memory? It does not count as used.
 */
bool dmda_log_page_is_there_locked(struct dmda_log *log, u64 index);

/**
 * dmda_log_page_is_zero_locked() - was this page of the map never changed?
 */
bool dmda_log_page_is_zero_locked(struct dmda_log *log, u64 index);

/**
 * dmda_log_page_begin() - have a page of the map in memory, if it was never changed
 *
 * Nothing need be read for it. It is not pinned, and need not be there then: there may be no room.
 * @may_wait: whether the kernel may take some time to find memory
 *
 * Context: may sleep if @may_wait; waits neither for room nor until there is memory.
 */
void dmda_log_page_begin(struct dmda_log *log, u64 index, bool may_wait);

/* Pages of the map that fit into so many MiB, or as many as it takes to work at all. */
u64 dmda_log_map_pages(u32 mb);

/**
 * dmda_log_resize_map() - let there be more or fewer pages of the map in memory
 *
 * Returns when there are no more than there should be.
 *
 * Context: process; without the lock.
 * Return: 0 or -ENOMEM.
 */
int dmda_log_resize_map(struct dmda_log *log, u32 mb);

/**
 * dmda_log_pages_settle() - wait for pages that are being written to be evicted then
 *
 * Context: may sleep; nobody evicts any meanwhile.
 * Return: 0 or a negative errno; the device has failed then.
 */
int dmda_log_pages_settle(struct dmda_log *log);

/**
 * dmda_log_page_free() - free a page that is out of the map, when nobody looks into it any more
 *
 * Context: any.
 */
void dmda_log_page_free(struct dmda_log *log, struct dmda_log_page *page);

/* Pages of the map as an operation takes them: there are as many as it may touch, or NULL. */
static inline void dmda_log_map_of(struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES],
				   struct dmda_map_page *map[DMDA_OP_MAP_PAGES])
{
	for (u32 i = 0; i < DMDA_OP_MAP_PAGES; i++)
		map[i] = pages[i] ? &pages[i]->map : NULL;
}

#endif /* DMDA_LOG_CACHE_H */
