/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A priority queue over memory of the caller: a binary heap, smallest key first.
 *
 * An item is in the queue at most once, and can be given a smaller key while it is.
 */
#ifndef FTL_PQUEUE_H
#define FTL_PQUEUE_H

#include <dieaware/platform.h>

/**
 * struct ftl_pqueue_entry - an item of the queue
 * @key: number by which the queue is ordered
 * @item: number of the item, the caller's
 */
struct ftl_pqueue_entry {
	u64 key;
	u32 item;
};

/**
 * struct ftl_pqueue - the queue
 * @entry: heap; the children of entry i are 2i + 1 and 2i + 2
 * @position: index in @entry plus one, by item; 0 if it is not in the queue
 * @nr: number of entries; the caller sees to it that they fit
 */
struct ftl_pqueue {
	struct ftl_pqueue_entry *entry;
	u32 *position;
	u32 nr;
};

/**
 * ftl_pqueue_push() - add an item
 */
void ftl_pqueue_push(struct ftl_pqueue *queue, u64 key, u32 item);

/**
 * ftl_pqueue_pop() - take the item with the smallest key out of a queue that has one
 */
struct ftl_pqueue_entry ftl_pqueue_pop(struct ftl_pqueue *queue);

/**
 * ftl_pqueue_lower() - give an item a key that is not larger than its present one
 */
void ftl_pqueue_lower(struct ftl_pqueue *queue, u64 key, u32 item);

/**
 * ftl_pqueue_remove() - take an item that is in the queue out of it
 */
void ftl_pqueue_remove(struct ftl_pqueue *queue, u32 item);

static inline bool ftl_pqueue_has(const struct ftl_pqueue *queue, u32 item)
{
	return queue->position[item];
}

#endif /* FTL_PQUEUE_H */
