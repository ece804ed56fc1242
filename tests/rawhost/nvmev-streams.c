// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: while it is loaded, the kernel has another number of write streams for a block device.
 * The NVMe driver of Linux 7.2 asks a namespace for its placement identifiers once and never
 * again; this does to the queue what one would that asks again and finds others.
 *
 *	modprobe nvmev-streams device=/dev/nvme0n1 streams=4
 */
#include <linux/module.h>

#include "compat.h"

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "Path of the block device");

static ushort streams;
module_param(streams, ushort, 0444);
MODULE_PARM_DESC(streams, "Number of write streams");

/* The device, and how many it had before, or has meanwhile */
static struct file *file;
static unsigned short others;

static int __init streams_init(void)
{
	int ret;

	others = streams;
	file = open_disk(device);
	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = exchange_write_streams(file, &others);
	if (ret)
		close_disk(file);
	return ret;
}

static void __exit streams_exit(void)
{
	exchange_write_streams(file, &others);
	close_disk(file);
}

module_init(streams_init);
module_exit(streams_exit);
MODULE_DESCRIPTION("Another number of write streams for a block device, for tests");
MODULE_LICENSE("GPL");
