// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a virtual SSD between power on and power off.
 *
 * It comes up as: FTL, queues, PCI function, dispatcher, and last the driver is let
 * in. It goes the other way: first the driver lets go, still served by the dispatcher;
 * then the dispatcher stops; then memory is freed. Pulled out by surprise, the
 * dispatcher stops first, and the driver finds a device that reads all ones.
 */
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/profiles.h"
#include "nvmev.h"

/* Memory that a new SSD must leave to everybody else */
#define MEMORY_RESERVE_BYTES	(32UL << 20)

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
	if (config->capacity_bytes < FTL_PAGE_BYTES)
		return "The capacity must be at least one page (capacity_mib).";
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

/* What needs no undoing of its own order: freed by free_memory() whatever exists. */
static int make_memory(struct nvmev *nvmev, char *reason)
{
	int ret = make_ftl(nvmev, reason);

	if (ret)
		return ret;
	nvmev->reply = kzalloc(PAGE_SIZE, GFP_KERNEL);
	if (!nvmev->reply || nvmev_queues_init(nvmev)) {
		snprintf(reason, NVMEV_REASON_BYTES,
			 "There is too little memory for the queues.");
		return -ENOMEM;
	}
	return 0;
}

static void free_memory(struct nvmev *nvmev)
{
	nvmev_queues_exit(nvmev);
	nvmev_store_clear(&nvmev->store);
	kfree(nvmev->reply);
	vfree(nvmev->ftl_memory);
	mutex_destroy(&nvmev->ftl_lock);
	kfree(nvmev);
}

static const char *pci_reason(int error)
{
	if (error == -ENOSPC)
		return "There are as many virtual SSDs as the module can make.";
	if (error == -ENOMEM)
		return "There is too little memory for the registers.";
	return "The kernel did not accept the virtual PCI bus.";
}

static int make_function(struct nvmev *nvmev, char *reason)
{
	int ret = nvmev_pci_create(&nvmev->pci, nvmev->config.queues + 1);

	if (ret) {
		strscpy(reason, pci_reason(ret), NVMEV_REASON_BYTES);
		return ret;
	}
	nvmev_ctrl_init(nvmev);
	ret = nvmev_dispatch_init(nvmev);
	if (ret) {
		strscpy(reason, "The dispatcher thread could not be started.",
			NVMEV_REASON_BYTES);
		nvmev_pci_unplug(&nvmev->pci);
		nvmev_pci_destroy(&nvmev->pci);
	}
	return ret;
}

struct nvmev *nvmev_create(const char *name, const struct nvmev_config *config, char *reason)
{
	const char *refusal = check_config(config);
	struct nvmev *nvmev;
	int ret = -EINVAL;

	if (refusal) {
		strscpy(reason, refusal, NVMEV_REASON_BYTES);
		return ERR_PTR(-EINVAL);
	}
	nvmev = kzalloc(sizeof(*nvmev), GFP_KERNEL);
	if (!nvmev) {
		strscpy(reason, "There is too little memory.", NVMEV_REASON_BYTES);
		return ERR_PTR(-ENOMEM);
	}
	strscpy(nvmev->name, name, sizeof(nvmev->name));
	nvmev->config = *config;
	nvmev->power_on_ns = ktime_get_ns();
	nvmev_make_uuid(nvmev, 1, &nvmev->uuid);
	mutex_init(&nvmev->ftl_lock);
	nvmev_inject_init(&nvmev->inject);
	nvmev_store_init(&nvmev->store);

	refusal = ftl_params_size(&nvmev->config.ftl, nvmev->config.capacity_bytes);
	if (refusal) {
		strscpy(reason, refusal, NVMEV_REASON_BYTES);
		goto err_memory;
	}
	nvmev_layout_init(nvmev);
	ret = make_memory(nvmev, reason);
	if (ret)
		goto err_memory;
	ret = make_function(nvmev, reason);
	if (ret)
		goto err_memory;
	nvmev_stats_add(nvmev);
	nvmev_dispatch_start(nvmev);
	nvmev_pci_plug(&nvmev->pci);
	return nvmev;

err_memory:
	free_memory(nvmev);
	return ERR_PTR(ret);
}

void nvmev_destroy(struct nvmev *nvmev, bool surprise)
{
	nvmev_stats_remove(nvmev);
	if (surprise) {
		nvmev_dispatch_stop(nvmev);
		nvmev_pci_vanish(&nvmev->pci);
		nvmev_pci_unplug(&nvmev->pci);
	} else {
		nvmev_pci_unplug(&nvmev->pci);
		nvmev_dispatch_stop(nvmev);
	}
	nvmev_pci_destroy(&nvmev->pci);
	free_memory(nvmev);
}
