// SPDX-License-Identifier: GPL-2.0-only
/* What an SSD is made of, whether its power is on or not: FTL and data; and its end. */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/profiles.h"
#include "nvmev.h"

/* Memory that a new SSD must leave to everybody else */
#define MEMORY_RESERVE_BYTES	(32UL << 20)

static const char too_little_memory[] = "There is too little memory.";

static const char *check_config(const struct nvmev_config *config)
{
	if (config->lba_bytes != 512 && config->lba_bytes != 4096)
		return "An LBA must have 512 or 4096 bytes (lba_bytes).";
	if (!config->queues || config->queues > NVMEV_MAX_IO_QUEUES)
		return "The number of I/O queues must be between 1 and 16 (queues).";
	if (!config->queue_depth || config->queue_depth >= NVMEV_MAX_ENTRIES)
		return "A queue must take between 1 and 1023 commands (queue_depth).";
	if (!config->mdts || config->mdts > NVMEV_MAX_MDTS)
		return "The largest transfer, as a power of two of 4 KiB, must be 1 to 9 (mdts).";
	if (!config->atomic_pages || config->atomic_pages > NVMEV_MAX_ATOMIC_PAGES)
		return "What is written whole or not at all must be 4 to 2048 KiB (atomic_kib).";
	if (config->atomic_pages > 1 && !config->ftl.plp)
		return "Without plp no more than 4 KiB can be written whole (atomic_kib).";
	if (config->capacity_bytes < FTL_PAGE_BYTES)
		return "The capacity must be at least one page (capacity_mib).";
	if (config->fdp_groups && !config->fdp)
		return "Reclaim groups (fdp_groups) are a part of Flexible Data Placement (fdp).";
	if (config->fdp_groups &&
	    config->ftl.nr_channels * config->ftl.dies_per_channel > NVMEV_MAX_HANDLES)
		return "There can be at most 126 reclaim groups, a die each (fdp_groups).";
	if (config->ftl.in_place && (config->hints || config->fdp))
		return "What is written in place goes nowhere else: set hints and fdp to 0.";
	if (config->ftl.nr_handles && (!config->fdp || config->fdp_groups))
		return "Handles that keep data apart (fdp_handles) need fdp, without fdp_groups.";
	return nvmev_layout_check(config);
}

static int make_ftl(struct nvmev *nvmev, char *reason)
{
	size_t bytes = ftl_bytes(&nvmev->config.ftl);
	u64 available = (u64)si_mem_available() << PAGE_SHIFT;

	if (bytes > available || available - bytes < MEMORY_RESERVE_BYTES) {
		snprintf(reason, NVMEV_REASON_BYTES,
			 "The FTL's tables need %zu MiB of memory, and %llu MiB are available: lower capacity_mib.",
			 bytes >> 20, available >> 20);
		return -ENOMEM;
	}
	nvmev->ftl_memory = vzalloc(bytes);
	if (!nvmev->ftl_memory) {
		snprintf(reason, NVMEV_REASON_BYTES,
			 "The kernel could not give %zu MiB of memory for the FTL's tables.",
			 bytes >> 20);
		return -ENOMEM;
	}
	nvmev->ftl = ftl_init(&nvmev->config.ftl, nvmev->ftl_memory, ktime_get_ns());
	return 0;
}

/* Memory of the dispatcher's own */
static int make_room(struct nvmev *nvmev, char *reason)
{
	int ret = 0;

	if (nvmev->config.atomic_pages > 1)
		ret = nvmev_store_keep_whole(&nvmev->store, nvmev->config.atomic_pages);
	nvmev->reply = kzalloc(PAGE_SIZE, GFP_KERNEL);
	nvmev->trim.ranges = kzalloc(PAGE_SIZE, GFP_KERNEL);
	if (!ret && nvmev->reply && nvmev->trim.ranges)
		return 0;
	strscpy(reason, too_little_memory, NVMEV_REASON_BYTES);
	return -ENOMEM;
}

void nvmev_free(struct nvmev *nvmev)
{
	nvmev_backing_close(nvmev);
	nvmev_store_end(&nvmev->store);
	kfree(nvmev->trim.ranges);
	kfree(nvmev->reply);
	vfree(nvmev->ftl_memory);
	mutex_destroy(&nvmev->ftl_lock);
	kfree(nvmev);
}

/* A drive that can lose its cache, or is kept in a file, must find its pages again. */
static const char *size_ftl(struct nvmev_config *config)
{
	config->ftl.oob = !config->ftl.plp || config->backing_file[0];
	return ftl_params_size(&config->ftl, config->capacity_bytes);
}

struct nvmev *nvmev_create_apart(const char *name, const struct nvmev_config *config,
				 char *reason)
{
	const char *refusal = check_config(config);
	struct nvmev *nvmev;
	int ret;

	if (refusal) {
		strscpy(reason, refusal, NVMEV_REASON_BYTES);
		return ERR_PTR(-EINVAL);
	}
	nvmev = kzalloc(sizeof(*nvmev), GFP_KERNEL);
	if (!nvmev) {
		strscpy(reason, too_little_memory, NVMEV_REASON_BYTES);
		return ERR_PTR(-ENOMEM);
	}
	strscpy(nvmev->name, name, sizeof(nvmev->name));
	nvmev->config = *config;
	nvmev_make_uuid(nvmev, 1, &nvmev->uuid);
	mutex_init(&nvmev->ftl_lock);
	spin_lock_init(&nvmev->turn_lock);
	ret = -EINVAL;
	refusal = size_ftl(&nvmev->config);
	if (refusal)
		strscpy(reason, refusal, NVMEV_REASON_BYTES);
	nvmev_layout_init(nvmev);
	nvmev_store_init(&nvmev->store, nvmev->config.ftl.oob && !nvmev->config.ftl.plp);
	if (!refusal)
		ret = make_ftl(nvmev, reason);
	if (!ret)
		ret = make_room(nvmev, reason);
	if (ret) {
		nvmev_free(nvmev);
		return ERR_PTR(ret);
	}
	nvmev_fdp_init(nvmev);
	return nvmev;
}

struct nvmev *nvmev_create(const char *name, const struct nvmev_config *config, char *reason)
{
	struct nvmev *nvmev = nvmev_create_apart(name, config, reason);
	int ret = 0;

	if (IS_ERR(nvmev))
		return nvmev;
	if (config->backing_file[0])
		ret = nvmev_backing_open(nvmev, reason);
	if (ret) {
		nvmev_free(nvmev);
		return ERR_PTR(ret);
	}
	return nvmev;
}

/* All but what only the controller needs, and the profile's name. */
static bool is_same_drive(const struct nvmev_config *a, const struct nvmev_config *b)
{
	return ftl_params_equal(&a->ftl, &b->ftl) &&
	       a->capacity_bytes == b->capacity_bytes &&
	       a->nr_namespaces == b->nr_namespaces &&
	       !memcmp(a->namespace_bytes, b->namespace_bytes,
		       a->nr_namespaces * sizeof(*a->namespace_bytes)) &&
	       a->lba_bytes == b->lba_bytes && a->atomic_pages == b->atomic_pages &&
	       a->fdp == b->fdp && a->fdp_groups == b->fdp_groups &&
	       !strcmp(a->backing_file, b->backing_file);
}

bool nvmev_adopt(struct nvmev *nvmev, const struct nvmev_config *config)
{
	struct nvmev_config wanted = *config;

	if (check_config(&wanted) || size_ftl(&wanted) ||
	    !is_same_drive(&nvmev->config, &wanted))
		return false;
	nvmev->config = wanted;
	return true;
}

bool nvmev_is_formatted(const struct nvmev *nvmev)
{
	u32 i;

	for (i = 0; i < nvmev->nr_ns; i++)
		if (nvmev->ns[i].lba_shift != ilog2(nvmev->config.lba_bytes))
			return true;
	return false;
}

bool nvmev_is_new(const struct nvmev *nvmev)
{
	struct ftl_stats stats;

	/* What cannot be read any more need not have been counted. */
	if (nvmev->damage)
		return false;
	ftl_get_stats(nvmev->ftl, &stats);
	return !stats.host_pages_written;
}
