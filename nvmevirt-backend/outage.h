/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When the power fails: the time for commands, which stops then, and how the dispatcher finds
 * out. Switching on and off is in power.h.
 */
#ifndef NVMEV_OUTAGE_H
#define NVMEV_OUTAGE_H

#include <linux/types.h>

struct nvmev;

/**
 * nvmev_outage_note() - ask the FTL whether the time is known at which the power fails
 * @nvmev: the SSD
 */
void nvmev_outage_note(struct nvmev *nvmev);

/**
 * nvmev_outage_forget() - a failure that was asked for ahead of time does not come
 * @nvmev: the SSD, its ftl_lock held, so that nobody asks the FTL for the time meanwhile
 *
 * Return: false if it has come already, and nothing has changed.
 */
bool nvmev_outage_forget(struct nvmev *nvmev);

/**
 * nvmev_outage_cut() - the power fails now
 * @nvmev: the SSD, switched on
 *
 * Who is at work for a command finds no time left; the caller switches the SSD off.
 */
void nvmev_outage_cut(struct nvmev *nvmev);

/**
 * nvmev_outage_is_failing() - has that time come, and nobody noticed yet?
 * @nvmev: the SSD
 *
 * Context: any.
 */
bool nvmev_outage_is_failing(const struct nvmev *nvmev);

/**
 * nvmev_outage_fail() - have the SSD switched off
 * @nvmev: the SSD, the power of which fails
 *
 * Context: the dispatcher, which must do nothing more.
 */
void nvmev_outage_fail(struct nvmev *nvmev);

/**
 * nvmev_now() - time for commands
 * @nvmev: the SSD
 *
 * Return: ktime_get_ns(), which stops when the power fails.
 */
u64 nvmev_now(const struct nvmev *nvmev);

#endif /* NVMEV_OUTAGE_H */
