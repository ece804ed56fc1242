/* SPDX-License-Identifier: GPL-2.0-only */
/* How an SSD learns that a doorbell was rung, or is about to be. */
#ifndef NVMEV_BELL_H
#define NVMEV_BELL_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct nvmev;

/**
 * struct nvmev_bell - the queues of an SSD's disks
 * @lock: protects what is below, and what table the queues have
 * @tables: those of the queues that have one of ours
 * @work: looks for disks that have gone, and waits until all requests come by new tables
 */
struct nvmev_bell {
	spinlock_t lock; /* protects what is below */
	struct list_head tables;
	struct work_struct work;
};

/**
 * nvmev_bell_register() - learn of requests when the block layer issues them
 *
 * Return: 0, or -ENOENT if this kernel has no such tracepoint: commands are then found
 * by the slow look only.
 */
int nvmev_bell_register(void);

/**
 * nvmev_bell_unregister() - undo nvmev_bell_register()
 */
void nvmev_bell_unregister(void);

/**
 * nvmev_bell_init() - make an SSD ready for nvmev_bell_attach()
 * @nvmev: the SSD
 */
void nvmev_bell_init(struct nvmev *nvmev);

/**
 * nvmev_bell_exit() - give the queues of the SSD's disks their own tables back
 * @nvmev: the SSD, detached, which no driver has any more
 *
 * Context: sleeps. The SSD is told of nothing after this returns.
 */
void nvmev_bell_exit(struct nvmev *nvmev);

/**
 * nvmev_bell_attach() - tell an SSD of its requests
 * @nvmev: the SSD, its dispatcher started
 */
void nvmev_bell_attach(struct nvmev *nvmev);

/**
 * nvmev_bell_detach() - follow no other disk, and announce no request any more
 * @nvmev: the SSD
 *
 * Context: sleeps. Drivers of disks that are followed may ring until nvmev_bell_exit().
 */
void nvmev_bell_detach(struct nvmev *nvmev);

#endif /* NVMEV_BELL_H */
