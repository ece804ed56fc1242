/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which pages of the map have come lately, and which of those have gone again unused:
 * the small queue and the ghost queue of S3-FIFO (Yang and others, FIFO queues are all
 * you need for cache eviction, SOSP 2023). The main queue is the cache's own.
 *
 * A page that is read is put to the end of the small queue. When that is longer than it
 * should be and room is needed, the page at its head stays in the cache, in the main queue, if
 * it was used meanwhile; if not, it goes. One that comes back soon after that comes to the main
 * queue at once. So what is used once passes through a small part of the cache, and what is used
 * often does not have to make room for it.
 *
 * The ghost queue is a table with one place for each index modulo its size: what is put
 * there drives out what was there before, which makes its length right on the average.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_S3FIFO_H
#define DMDA_S3FIFO_H

#include "ondisk.h"

/**
 * struct dmda_s3fifo - small queue and ghost queue
 * @small: ring of the small queue
 * @ghosts: ghost queue, by place: low bits of the index plus one, 0 if there is none. That two
 *	indices have the same low bits confuses two pages at worst.
 * @head: position in @small of the page that came first
 * @nr_small: number of pages in @small
 * @max_small: number of pages that @small should have at most
 * @small_size: number of pages that fit into @small
 * @nr_ghosts: number of places of @ghosts
 */
struct dmda_s3fifo {
	u64 *small;
	u32 *ghosts;
	u64 head;
	u64 nr_small;
	u64 max_small;
	u64 small_size;
	u64 nr_ghosts;
};

/**
 * dmda_s3fifo_bytes() - memory for a cache of so many pages
 */
size_t dmda_s3fifo_bytes(u64 nr_pages);

/**
 * dmda_s3fifo_init() - nothing has come yet
 * @nr_pages: number of pages that the cache can hold
 * @zeroed: dmda_s3fifo_bytes() bytes
 */
void dmda_s3fifo_init(struct dmda_s3fifo *fifo, u64 nr_pages, void *zeroed);

/**
 * dmda_s3fifo_put() - a page has come
 * @pushed: gets the page that had to leave the small queue for it, or U64_MAX. It stays in the
 *	cache
 *
 * Return: false if it was a ghost: then it is not in the small queue.
 */
bool dmda_s3fifo_put(struct dmda_s3fifo *fifo, u64 index, u64 *pushed);

/**
 * dmda_s3fifo_take() - room is needed: take the oldest out of the small queue
 * @in_any_case: not only if the queue is longer than it should be
 *
 * Return: its index, or U64_MAX if it is the main queue's turn to make room.
 */
u64 dmda_s3fifo_take(struct dmda_s3fifo *fifo, bool in_any_case);

/**
 * dmda_s3fifo_gone() - one that was taken was not used and leaves the cache
 */
void dmda_s3fifo_gone(struct dmda_s3fifo *fifo, u64 index);

#endif /* DMDA_S3FIFO_H */
