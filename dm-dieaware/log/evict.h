/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Eviction: which pages of the map leave the cache, and when.
 */
#ifndef DMDA_LOG_EVICT_H
#define DMDA_LOG_EVICT_H

#include <linux/types.h>

struct dmda_log;
struct dmda_log_page;

/**
 * dmda_log_evict_init() - begin to evict what there is too much of
 *
 * Context: may sleep; there may be pages from now on.
 * Return: 0 or -ENOMEM; dmda_log_evict_stop() and dmda_log_evict_exit() are due in both cases.
 */
int dmda_log_evict_init(struct dmda_log *log);

/**
 * dmda_log_evict_stop() - the kernel asks for memory of pages no more
 */
void dmda_log_evict_stop(struct dmda_log *log);

/**
 * dmda_log_evict_exit() - there are no pages any more
 */
void dmda_log_evict_exit(struct dmda_log *log);

/**
 * dmda_log_evict_resize() - let there be more or fewer pages; dmda_log_pages_shrink() is due
 *
 * Context: process; without the lock.
 * Return: 0 or -ENOMEM.
 */
int dmda_log_evict_resize(struct dmda_log *log, u64 max_pages);

/**
 * dmda_log_evict_came_locked() - a page has come into the map
 */
void dmda_log_evict_came_locked(struct dmda_log *log, struct dmda_log_page *page);

/**
 * dmda_log_evict_has_room_locked() - may a page come without another one going first?
 */
bool dmda_log_evict_has_room_locked(const struct dmda_log *log);

/**
 * dmda_log_evict_make_room() - evict pages, so that there are not too many when more come
 * @nr_coming: so many come
 *
 * Context: may sleep; does not wait for those that must be written first.
 */
void dmda_log_evict_make_room(struct dmda_log *log, u32 nr_coming);

/**
 * dmda_log_pages_shrink() - evict pages until there are as few as there should be
 *
 * Context: may sleep; waits for pages that must be written first if there are too many.
 */
void dmda_log_pages_shrink(struct dmda_log *log);

/**
 * dmda_log_evict_squeeze() - there is no memory, and a page is needed
 *
 * Context: may sleep.
 * Return: whether others have gone for it.
 */
bool dmda_log_evict_squeeze(struct dmda_log *log);

#endif /* DMDA_LOG_EVICT_H */
