// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is told of requests: the block layer's tracepoint block_rq_issue is passed by each just
 * before the driver rings for it. Requests for a disk of ours are expected by its dispatcher.
 *
 * Admin requests have no disk by which to tell their device, so all expect them.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/rculist.h>
#include <linux/tracepoint.h>

#include "bell.h"
#include "dispatch.h"
#include "nvmev.h"

static LIST_HEAD(watches);
static DEFINE_MUTEX(watches_lock);
static struct tracepoint *issue_tracepoint;

static struct nvmev *nvmev_of(struct nvmev_watch *watch)
{
	return container_of(watch, struct nvmev, watch);
}

static bool is_disk_of(const struct device *disk, const struct nvmev_watch *watch)
{
	const struct nvmev *nvmev = container_of(watch, struct nvmev, watch);

	/* disk -> controller -> PCI function */
	if (!disk->parent || !disk->parent->parent || !dev_is_pci(disk->parent->parent))
		return false;
	return to_pci_dev(disk->parent->parent)->bus == nvmev->pci.bus;
}

static void on_issue(void *data, struct request *rq)
{
	struct gendisk *disk = rq->q->disk;
	struct nvmev_watch *watch;

	rcu_read_lock();
	list_for_each_entry_rcu(watch, &watches, link) {
		if (disk && !is_disk_of(disk_to_dev(disk), watch))
			continue;
		nvmev_dispatch_expect(nvmev_of(watch), !disk);
		if (disk)
			break;
	}
	rcu_read_unlock();
}

static void find_tracepoint(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "block_rq_issue"))
		issue_tracepoint = tracepoint;
}

int nvmev_bell_register(void)
{
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (!issue_tracepoint)
		return -ENOENT;
	return tracepoint_probe_register(issue_tracepoint, on_issue, NULL);
}

void nvmev_bell_unregister(void)
{
	if (issue_tracepoint)
		tracepoint_probe_unregister(issue_tracepoint, on_issue, NULL);
	tracepoint_synchronize_unregister();
}

void nvmev_bell_attach(struct nvmev *nvmev)
{
	mutex_lock(&watches_lock);
	list_add_tail_rcu(&nvmev->watch.link, &watches);
	mutex_unlock(&watches_lock);
}

void nvmev_bell_detach(struct nvmev *nvmev)
{
	mutex_lock(&watches_lock);
	list_del_rcu(&nvmev->watch.link);
	mutex_unlock(&watches_lock);
	synchronize_rcu();
}
