/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What filesystems tell of the O_DIRECT writes that they map, for identity.c: it asks here when
 * the pages of a bio do not say which file they are of.
 */
#ifndef DMDA_FSMAP_H
#define DMDA_FSMAP_H

#include <linux/bio.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "core/units.h"

struct dmda_identity;

#define DMDA_FSMAP_SLOT_BITS	8

/**
 * struct dmda_fsmap_slot - the last mapping of a task
 * @busy: bit 0 is the slot's lock, which is only ever tried: it needs no more than an instruction
 *	to get and one to let go, and is on the way of every O_DIRECT write to a file
 * @task: the task, or NULL; like @addr_bytes, @len_bytes and @rest_bytes written under the lock and
 *	also read without it
 * @bdev: the device of the mapping
 * @addr_bytes: where it begins on the device
 * @pos_bytes: where it begins in the file
 * @len_bytes: its length
 * @rest_bytes: bytes of the file behind it that lie wherever the next bio goes
 * @ino: inode number of the file
 * @file: the file
 */
struct dmda_fsmap_slot {
	unsigned long busy;
	const struct task_struct *task;
	dev_t bdev;
	u64 addr_bytes;
	u64 pos_bytes;
	u64 len_bytes;
	u64 rest_bytes;
	u64 ino;
	struct dmda_file file;
} ____cacheline_aligned_in_smp;

extern struct dmda_fsmap_slot dmda_fsmap_slots[BIT(DMDA_FSMAP_SLOT_BITS)];

/* The slot of this task, unless another one has it */
static inline struct dmda_fsmap_slot *dmda_fsmap_slot(void)
{
	return &dmda_fsmap_slots[hash_ptr(current, DMDA_FSMAP_SLOT_BITS)];
}

/* Is there a mapping of this task, or of one that had its place in memory? */
static inline bool dmda_fsmap_has(const struct dmda_fsmap_slot *slot)
{
	return READ_ONCE(slot->task) == current;
}

/*
 * May it be one of this bio? If not, dmda_fsmap_find() finds nothing: who writes to a device itself
 * has none, and does not have to ask. Without the lock: where another task takes the slot
 * meanwhile, the mapping is gone.
 */
static inline bool dmda_fsmap_may_have(const struct bio *bio)
{
	const struct dmda_fsmap_slot *slot = dmda_fsmap_slot();
	u64 addr_bytes = (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT;

	return dmda_fsmap_has(slot) &&
	       (addr_bytes - READ_ONCE(slot->addr_bytes) < READ_ONCE(slot->len_bytes) ||
		READ_ONCE(slot->rest_bytes));
}

/**
 * dmda_fsmap_get() - a target wants to know what filesystems map
 *
 * Context: may sleep. Without the tracepoint in the kernel, nothing is ever found.
 */
void dmda_fsmap_get(void);

/**
 * dmda_fsmap_put() - a target wants no more
 *
 * Context: may sleep.
 */
void dmda_fsmap_put(void);

/**
 * dmda_fsmap_find() - the file for which this task writes to a place
 * @self_dev: the dm device
 * @bio: the write, not remapped yet
 * @identity: the answer; UNKNOWN if there is none. How much of it goes on in the file is not asked.
 *
 * Context: from map, in the task that wrote.
 */
void dmda_fsmap_find(dev_t self_dev, const struct bio *bio, struct dmda_identity *identity);

#endif /* DMDA_FSMAP_H */
