/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache of the map: those of its pages that are in memory. Whoever needs one pins it; the
 * others may be evicted when there are more than there should be.
 */
#ifndef DMDA_LOG_CACHE_H
#define DMDA_LOG_CACHE_H

#include "../core/ahead.h"
#include "map.h"
#include "page.h"

struct dmda_log;
struct dmda_log_io;

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
 * dmda_log_page_begin() - have a page of the map in memory, if it was never changed
 *
 * Nothing need be read for it. It is not pinned, and need not be there then: there may be no room.
 * @may_wait: whether the kernel may take some time to find memory
 *
 * Context: may sleep if @may_wait; waits neither for room nor until there is memory.
 */
void dmda_log_page_begin(struct dmda_log *log, u64 index, bool may_wait);

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

#endif /* DMDA_LOG_CACHE_H */
