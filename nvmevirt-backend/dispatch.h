/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The dispatcher: the one thread of an SSD that fetches commands and executes them. Whatever
 * says no other context belongs to it alone, but for those who do short commands in its place
 * (turn.h).
 */
#ifndef NVMEV_DISPATCH_H
#define NVMEV_DISPATCH_H

#include <linux/types.h>

struct nvmev;

/**
 * nvmev_dispatch_init() - make the dispatcher; it starts with nvmev_dispatch_start()
 * @nvmev: the SSD
 *
 * Return: 0 or a negative errno.
 */
int nvmev_dispatch_init(struct nvmev *nvmev);

/**
 * nvmev_dispatch_start() - begin to serve registers and queues
 * @nvmev: the SSD
 */
void nvmev_dispatch_start(struct nvmev *nvmev);

/**
 * nvmev_dispatch_rung() - look at the doorbells now: one may just have been rung
 * @nvmev: the SSD; its dispatcher may have been stopped
 *
 * Context: any but NMI.
 */
void nvmev_dispatch_rung(struct nvmev *nvmev);

/**
 * nvmev_dispatch_stop() - stop the dispatcher and both timers, for good
 * @nvmev: the SSD
 *
 * Context: sleeps. Nothing touches host memory after it returns.
 */
void nvmev_dispatch_stop(struct nvmev *nvmev);

/**
 * nvmev_dispatch_expect() - look at the doorbells soon, until a command has been fetched
 * @nvmev: the SSD
 * @admin: whether it is an admin command that is on its way
 *
 * Context: any.
 */
void nvmev_dispatch_expect(struct nvmev *nvmev, bool admin);

#endif /* NVMEV_DISPATCH_H */
