// SPDX-License-Identifier: GPL-2.0-only
/*
 * The priority queue of erase blocks. A block's key falls with each page of it that is
 * overwritten, and blocks leave from the middle when they are retired, or collected because they
 * were erased too rarely. So the heap knows where each item is: both then take a few steps up or
 * down, where a search would go through all blocks of the die for each page that is written.
 */
#include "pqueue.h"

static void set_entry(struct ftl_pqueue *queue, u32 at, struct ftl_pqueue_entry entry)
{
	queue->entry[at] = entry;
	queue->position[entry.item] = at + 1;
}

static void sift_up(struct ftl_pqueue *queue, u32 at, struct ftl_pqueue_entry entry)
{
	while (at) {
		u32 parent = (at - 1) / 2;

		if (queue->entry[parent].key <= entry.key)
			break;
		set_entry(queue, at, queue->entry[parent]);
		at = parent;
	}
	set_entry(queue, at, entry);
}

static void sift_down(struct ftl_pqueue *queue, u32 at, struct ftl_pqueue_entry entry)
{
	for (;;) {
		u32 child = 2 * at + 1;

		if (child >= queue->nr)
			break;
		if (child + 1 < queue->nr && queue->entry[child + 1].key < queue->entry[child].key)
			child++;
		if (entry.key <= queue->entry[child].key)
			break;
		set_entry(queue, at, queue->entry[child]);
		at = child;
	}
	set_entry(queue, at, entry);
}

void ftl_pqueue_push(struct ftl_pqueue *queue, u64 key, u32 item)
{
	struct ftl_pqueue_entry entry = { .key = key, .item = item };

	sift_up(queue, queue->nr++, entry);
}

struct ftl_pqueue_entry ftl_pqueue_pop(struct ftl_pqueue *queue)
{
	struct ftl_pqueue_entry first = queue->entry[0];

	queue->nr--;
	if (queue->nr)
		sift_down(queue, 0, queue->entry[queue->nr]);
	queue->position[first.item] = 0;
	return first;
}

void ftl_pqueue_lower(struct ftl_pqueue *queue, u64 key, u32 item)
{
	struct ftl_pqueue_entry entry = { .key = key, .item = item };

	sift_up(queue, queue->position[item] - 1, entry);
}

void ftl_pqueue_remove(struct ftl_pqueue *queue, u32 item)
{
	u32 at = queue->position[item] - 1;
	struct ftl_pqueue_entry last = queue->entry[--queue->nr];

	queue->position[item] = 0;
	if (at == queue->nr)
		return;
	sift_up(queue, at, last);
	if (queue->position[last.item] == at + 1)
		sift_down(queue, at, last);
}
