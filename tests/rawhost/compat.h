/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between the kernels on which the tests' modules are built. */
#ifndef RAWHOST_COMPAT_H
#define RAWHOST_COMPAT_H

#include <linux/blkdev.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
static inline struct file *open_disk(const char *path)
{
	return bdev_file_open_by_path(path, BLK_OPEN_READ, NULL, NULL);
}

static inline void close_disk(struct file *file)
{
	bdev_fput(file);
}

/* Returns 0 or a negative errno; *@nr gets what was there before. */
static inline int exchange_write_streams(struct file *file, unsigned short *nr)
{
	struct request_queue *queue = bdev_get_queue(file_bdev(file));
	struct queue_limits limits = queue_limits_start_update(queue);

	swap(limits.max_write_streams, *nr);
	return queue_limits_commit_update_frozen(queue, &limits);
}
#else /* There are no write streams. */
static inline struct file *open_disk(const char *path)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void close_disk(struct file *file)
{
}

static inline int exchange_write_streams(struct file *file, unsigned short *nr)
{
	return -EOPNOTSUPP;
}
#endif

#endif /* RAWHOST_COMPAT_H */
