/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a virtual SSD is to be: every property that configfs has a file for. The items of
 * configfs collect it while the SSD is off; the SSD keeps a copy, which stays as it is while
 * the power is on.
 */
#ifndef NVMEV_CONFIG_H
#define NVMEV_CONFIG_H

#include <linux/types.h>

#include "core/ftl.h"
#include "nvme.h"

#define NVMEV_PATH_BYTES	256
#define NVMEV_MAX_MDTS		9
#define NVMEV_MAX_ATOMIC_PAGES	512
#define NVMEV_MIN_POLL_US	2U
#define NVMEV_MAX_POLL_US	10000U

/**
 * struct nvmev_config - properties of a virtual SSD, fixed while it is powered
 * @profile: name of the profile that the other members started from
 * @ftl: geometry and latencies; @eblks_per_die and @nr_lpns are worked out at power on
 * @capacity_bytes: size of all namespaces together
 * @nr_namespaces: entries of @namespace_bytes; 0 is one namespace of the whole capacity
 * @namespace_bytes: size of each namespace, in whole pages
 * @lba_bytes: 512 or 4096
 * @queues: most I/O queue pairs, [1, NVMEV_MAX_IO_QUEUES]
 * @queue_depth: most commands in flight on each, [1, NVMEV_MAX_ENTRIES)
 * @mdts: most bytes of a command: 4 KiB shifted left by this, [1, NVMEV_MAX_MDTS]
 * @atomic_pages: pages that a write command puts there whole or not at all, also when the power
 *	fails, [1, NVMEV_MAX_ATOMIC_PAGES]
 * @poll_us: microseconds from one look at the doorbells to the next, [NVMEV_MIN_POLL_US,
 *	NVMEV_MAX_POLL_US]; 0: who rings them has told the kernel. May change while the power is on
 * @reject_hints: interval of hinted commands that are failed, 0 is none. May change while the power
 *	is on
 * @hints: whether it understands hints and says so
 * @fdp: whether it has placement handles
 * @fdp_groups: whether it has a reclaim group for each die instead, with one handle in each
 * @backing_recover: whether a file that was in use when its machine stopped is taken, once
 * @backing_file: path of the file that keeps the SSD while it is off, or empty
 */
struct nvmev_config {
	const char *profile;
	struct ftl_params ftl;
	u64 capacity_bytes;
	u32 nr_namespaces;
	u64 namespace_bytes[NVMEV_MAX_NAMESPACES];
	u32 lba_bytes;
	u32 queues;
	u32 queue_depth;
	u32 mdts;
	u32 atomic_pages;
	u32 poll_us;
	u32 reject_hints;
	bool hints;
	bool fdp;
	bool fdp_groups;
	bool backing_recover;
	char backing_file[NVMEV_PATH_BYTES];
};

/**
 * nvmev_config_register() - make /sys/kernel/config/nvmev
 *
 * Return: 0 or a negative errno.
 */
int nvmev_config_register(void);

/**
 * nvmev_config_unregister() - remove it
 */
void nvmev_config_unregister(void);

#endif /* NVMEV_CONFIG_H */
