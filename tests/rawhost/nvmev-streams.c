// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: while it is loaded, the kernel has another number of write streams for a block device.
 * The NVMe driver of Linux 7.2 asks a namespace for its placement identifiers once and never
 * again; this does to the queue what one would that asks again and finds others.
 *
 *	modprobe nvmev-streams device=/dev/nvme0n1 streams=4
 */
#include <linux/blkdev.h>
#include <linux/module.h>
#include <linux/version.h>

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "Path of the block device");

static ushort streams;
module_param(streams, ushort, 0444);
MODULE_PARM_DESC(streams, "Number of write streams");

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
static struct file *file;
static unsigned short before;

/* Returns 0 or a negative errno. */
static int set_streams(unsigned short nr)
{
	struct request_queue *queue = bdev_get_queue(file_bdev(file));
	struct queue_limits limits = queue_limits_start_update(queue);

	before = limits.max_write_streams;
	limits.max_write_streams = nr;
	return queue_limits_commit_update_frozen(queue, &limits);
}

static int __init streams_init(void)
{
	int ret;

	file = bdev_file_open_by_path(device, BLK_OPEN_READ, NULL, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = set_streams(streams);
	if (ret)
		bdev_fput(file);
	return ret;
}

static void __exit streams_exit(void)
{
	set_streams(before);
	bdev_fput(file);
}
#else
static int __init streams_init(void)
{
	return -EOPNOTSUPP;
}

static void __exit streams_exit(void)
{
}
#endif

module_init(streams_init);
module_exit(streams_exit);
MODULE_DESCRIPTION("Another number of write streams for a block device, for tests");
MODULE_LICENSE("GPL");
