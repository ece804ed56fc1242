/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel interfaces that differ between 6.1 and 7.2, under one name each. The only
 * file of the target with version checks.
 */
#ifndef DMDA_COMPAT_H
#define DMDA_COMPAT_H

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define DMDA_MODE_WRITE		BLK_OPEN_WRITE
#else
#define DMDA_MODE_WRITE		FMODE_WRITE
#endif

/* Parameters of target_type.prepare_ioctl; all kernels have ti and bdev */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define DMDA_PREPARE_IOCTL_PARAMETERS						\
	struct dm_target *ti, struct block_device **bdev, unsigned int cmd,	\
	unsigned long arg, bool *forward
#else
#define DMDA_PREPARE_IOCTL_PARAMETERS						\
	struct dm_target *ti, struct block_device **bdev
#endif

/* An atomic write must reach the device in one piece */
static inline bool dmda_bio_is_atomic(const struct bio *bio)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	return bio->bi_opf & REQ_ATOMIC;
#else
	return false;
#endif
}

#ifdef DM_TARGET_ATOMIC_WRITES
#define DMDA_TARGET_ATOMIC_WRITES	DM_TARGET_ATOMIC_WRITES
#else
#define DMDA_TARGET_ATOMIC_WRITES	0
#endif

/* Zeroing takes its pages from the map; later kernels tell users whether it does */
static inline void dmda_zeroes_unmap(struct queue_limits *limits, unsigned int max_sectors)
{
	limits->max_write_zeroes_sectors = max_sectors;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
	limits->max_hw_wzeroes_unmap_sectors = max_sectors;
#endif
}

/*
 * How many bytes a device writes whole or not at all when the power fails has two answers, since
 * those who ask must err on different sides. This one is the most that somebody above may rely on,
 * aligned or not, asking for atomic writes or not: hint mode does not cut what is no larger.
 */
static inline unsigned int dmda_most_whole_bytes(struct block_device *bdev)
{
	unsigned int bytes = bdev_physical_block_size(bdev);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	bytes = max(bytes, queue_atomic_write_unit_max_bytes(bdev_get_queue(bdev)));
#endif
	return bytes;
}

/*
 * And this one is what is certain of any write that begins at a multiple of it: log mode relies on
 * it. A device that is not aligned to its physical blocks has one logical block. Later kernels have
 * the unit of NVMe drives that do not name it as their preferred one; elsewhere that is only about
 * writes that ask to be atomic.
 */
static inline unsigned int dmda_whole_bytes(struct block_device *bdev)
{
	unsigned int bytes = bdev_logical_block_size(bdev);

	if (!bdev_alignment_offset(bdev))
		bytes = max(bytes, bdev_physical_block_size(bdev));
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	if (!strncmp(bdev->bd_disk->disk_name, "nvme", 4) && bdev_can_atomic_write(bdev))
		bytes = max(bytes, queue_atomic_write_unit_max_bytes(bdev_get_queue(bdev)));
#endif
	return bytes;
}

/* A write that goes to places of its own cannot promise to be atomic */
static inline void dmda_no_atomic_writes(struct queue_limits *limits)
{
#ifdef BLK_FEAT_ATOMIC_WRITES
	limits->features &= ~BLK_FEAT_ATOMIC_WRITES;
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	limits->atomic_write_hw_max = 0;
	limits->atomic_write_hw_unit_min = 0;
	limits->atomic_write_hw_unit_max = 0;
#endif
}

/* Who writes from a page cache is not to change what is being written: by its limits */
static inline void dmda_stable_writes(struct queue_limits *limits)
{
#ifdef BLK_FEAT_STABLE_WRITES
	limits->features |= BLK_FEAT_STABLE_WRITES;
#endif
}

/* The same in kernels where that is no limit: when dm has set these */
static inline void dmda_stable_writes_of_disk(struct dm_target *ti)
{
#ifndef BLK_FEAT_STABLE_WRITES
	blk_queue_flag_set(QUEUE_FLAG_STABLE_WRITES,
			   dm_disk(dm_table_get_md(ti->table))->queue);
#endif
}

/* Flushes need nothing from the target: dm may send them to the device itself */
static inline void dmda_flush_bypasses_map(struct dm_target *ti)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	ti->flush_bypasses_map = true;
#endif
}

/* Write streams: an NVMe namespace with Flexible Data Placement has one for each identifier */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define DMDA_NO_WRITE_STREAMS	NULL

/* Not bdev_max_write_streams(), which has none for partitions: the driver knows of no partition */
static inline unsigned int dmda_max_write_streams(struct block_device *bdev)
{
	return READ_ONCE(bdev_get_queue(bdev)->limits.max_write_streams);
}

static inline u8 dmda_bio_write_stream(const struct bio *bio)
{
	return bio->bi_write_stream;
}

static inline void dmda_bio_set_write_stream(struct bio *bio, u8 stream)
{
	bio->bi_write_stream = stream;
}

/* What the driver makes of a stream that the device does not have */
static inline bool dmda_blames_write_stream(blk_status_t status)
{
	return status == BLK_STS_INVAL;
}
#else
#define DMDA_NO_WRITE_STREAMS	\
	"This kernel has no write streams: Linux has them from 6.16 on."

static inline unsigned int dmda_max_write_streams(struct block_device *bdev)
{
	return 0;
}

static inline u8 dmda_bio_write_stream(const struct bio *bio)
{
	return 0;
}

static inline void dmda_bio_set_write_stream(struct bio *bio, u8 stream)
{
}

static inline bool dmda_blames_write_stream(blk_status_t status)
{
	return false;
}
#endif

typedef unsigned long dmda_shrinker_fn(struct shrinker *shrinker, struct shrink_control *control);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)

static inline struct shrinker *dmda_shrinker_create(dmda_shrinker_fn *count, dmda_shrinker_fn *scan,
						    void *owner)
{
	struct shrinker *shrinker = shrinker_alloc(0, "dm-dieaware");

	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker->private_data = owner;
	shrinker_register(shrinker);
	return shrinker;
}

static inline void dmda_shrinker_destroy(struct shrinker *shrinker)
{
	shrinker_free(shrinker);
}

static inline void *dmda_shrinker_owner(struct shrinker *shrinker)
{
	return shrinker->private_data;
}

#else

struct dmda_shrinker {
	struct shrinker shrinker;
	void *owner;
};

static inline void *dmda_shrinker_owner(struct shrinker *shrinker)
{
	return container_of(shrinker, struct dmda_shrinker, shrinker)->owner;
}

static inline void dmda_shrinker_destroy(struct shrinker *shrinker)
{
	if (!shrinker)
		return;
	unregister_shrinker(shrinker);
	kfree(container_of(shrinker, struct dmda_shrinker, shrinker));
}

static inline struct shrinker *dmda_shrinker_create(dmda_shrinker_fn *count, dmda_shrinker_fn *scan,
						    void *owner)
{
	struct dmda_shrinker *both = kzalloc(sizeof(*both), GFP_KERNEL);

	if (!both)
		return NULL;
	both->owner = owner;
	both->shrinker.count_objects = count;
	both->shrinker.scan_objects = scan;
	both->shrinker.seeks = DEFAULT_SEEKS;
	if (register_shrinker(&both->shrinker, "dm-dieaware")) {
		kfree(both);
		return NULL;
	}
	return &both->shrinker;
}

#endif

#endif /* DMDA_COMPAT_H */
