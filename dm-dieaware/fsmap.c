// SPDX-License-Identifier: GPL-2.0-only
/*
 * What filesystems tell while they map an O_DIRECT write. Its pages belong to the
 * user and say nothing; but the tracepoint iomap_iter_dstmap fires in the task that
 * writes, right before its bios, with the inode, the place in the file and the place
 * on the device.
 *
 * One record for a task, in a table of slots hashed by the task. A slot that another
 * task uses in the same moment is left alone: that loses a hint. A record that is out
 * of date is recognised by the place on the device, which no longer fits.
 *
 * btrfs maps to its own address space of chunks instead of the device: there the
 * bios follow one another in the file, and are counted off from where it begins.
 */
#include <linux/bitops.h>
#include <linux/fs.h>
#include <linux/iomap.h>
#include <linux/magic.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "core/file-id.h"
#include "dieaware.h"
#include "fsmap.h"
#include "identified.h"

struct dmda_fsmap_slot dmda_fsmap_slots[BIT(DMDA_FSMAP_SLOT_BITS)];

static struct tracepoint *dstmap;
static DEFINE_MUTEX(users_lock);
static u32 nr_users;

static bool try_slot(struct dmda_fsmap_slot *slot)
{
	return !test_and_set_bit_lock(0, &slot->busy);
}

static void leave_slot(struct dmda_fsmap_slot *slot)
{
	clear_bit_unlock(0, &slot->busy);
}

static void record(struct dmda_fsmap_slot *slot, const struct inode *inode,
		   const struct iomap_iter *iter)
{
	const struct iomap *map = &iter->iomap;

	/* dmda_fsmap_may_have() looks at some of it without the lock. */
	WRITE_ONCE(slot->task, current);
	slot->bdev = map->bdev->bd_dev;
	slot->ino = inode->i_ino;
	slot->file = dmda_file_id(inode->i_sb->s_dev, inode->i_ino, inode->i_generation);
	if (inode->i_sb->s_magic == BTRFS_SUPER_MAGIC) {
		slot->pos_bytes = iter->pos;
		WRITE_ONCE(slot->len_bytes, 0);
		WRITE_ONCE(slot->rest_bytes, map->offset + map->length - iter->pos);
	} else {
		WRITE_ONCE(slot->addr_bytes, map->addr);
		slot->pos_bytes = map->offset;
		WRITE_ONCE(slot->len_bytes, map->length);
		WRITE_ONCE(slot->rest_bytes, 0);
	}
}

/* Probe of iomap_iter_dstmap; the iomap is that of an iomap_iter */
static void mapped(void *data, struct inode *inode, struct iomap *map)
{
	struct iomap_iter *iter = container_of(map, struct iomap_iter, iomap);
	const unsigned int wanted = IOMAP_WRITE | IOMAP_DIRECT;
	struct dmda_fsmap_slot *slot;

	if ((iter->flags & wanted) != wanted || !map->bdev || map->addr == IOMAP_NULL_ADDR)
		return;
	slot = dmda_fsmap_slot();
	if (!try_slot(slot))
		return;
	record(slot, inode, iter);
	leave_slot(slot);
}

static bool locate(struct dmda_fsmap_slot *slot, const struct bio *bio, u64 *pos_bytes)
{
	u64 addr_bytes = (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT;
	u32 len_bytes = bio->bi_iter.bi_size;
	u64 offset_bytes = addr_bytes - slot->addr_bytes;

	if (addr_bytes < slot->addr_bytes || offset_bytes >= slot->len_bytes ||
	    len_bytes > slot->len_bytes - offset_bytes) {
		if (len_bytes > slot->rest_bytes)
			return false;
		slot->pos_bytes += slot->len_bytes;
		WRITE_ONCE(slot->addr_bytes, addr_bytes);
		WRITE_ONCE(slot->len_bytes, len_bytes);
		WRITE_ONCE(slot->rest_bytes, slot->rest_bytes - len_bytes);
		offset_bytes = 0;
	}
	*pos_bytes = slot->pos_bytes + offset_bytes;
	return true;
}

void dmda_fsmap_find(dev_t self_dev, const struct bio *bio, struct dmda_identity *identity)
{
	struct dmda_fsmap_slot *slot = dmda_fsmap_slot();
	bool found;

	if (!dmda_fsmap_has(slot) || !try_slot(slot)) {
		dmda_identity_clear(identity, DMDA_SOURCE_UNKNOWN);
		return;
	}
	found = slot->task == current && slot->bdev == self_dev &&
		locate(slot, bio, &identity->pos_bytes);
	if (found) {
		identity->source = DMDA_SOURCE_IOMAP;
		identity->file = slot->file;
		identity->ino = slot->ino;
	} else {
		dmda_identity_clear(identity, DMDA_SOURCE_UNKNOWN);
	}
	leave_slot(slot);
}

static void find_dstmap(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "iomap_iter_dstmap"))
		dstmap = tracepoint;
}

void dmda_fsmap_get(void)
{
	mutex_lock(&users_lock);
	if (!nr_users++) {
		for_each_kernel_tracepoint(find_dstmap, NULL);
		if (dstmap && tracepoint_probe_register(dstmap, mapped, NULL))
			dstmap = NULL;
	}
	mutex_unlock(&users_lock);
}

void dmda_fsmap_put(void)
{
	mutex_lock(&users_lock);
	if (!--nr_users && dstmap) {
		tracepoint_probe_unregister(dstmap, mapped, NULL);
		tracepoint_synchronize_unregister();
		memset(dmda_fsmap_slots, 0, sizeof(dmda_fsmap_slots));
		dstmap = NULL;
	}
	mutex_unlock(&users_lock);
}
