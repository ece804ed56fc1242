/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asynchronous events: what the controller tells the host of unasked. The host leaves requests
 * with the drive, and one of them is completed when there is something to tell. A type of
 * events that was told waits until the host has read the log page for it.
 */
#ifndef NVMEV_EVENT_H
#define NVMEV_EVENT_H

#include <linux/types.h>

struct nvmev;

/* Asynchronous event requests that may wait at a time */
#define NVMEV_NR_EVENTS		4

/**
 * nvmev_event_raise() - report an asynchronous event, now or with the next request
 * @nvmev: the SSD
 * @event: NVMEV_EVENT_*
 */
void nvmev_event_raise(struct nvmev *nvmev, u32 event);

/**
 * nvmev_event_read() - the host has read the log page that tells of a type of events
 * @nvmev: the SSD
 * @lid: the log page
 */
void nvmev_event_read(struct nvmev *nvmev, u8 lid);

/**
 * nvmev_event_reset() - forget all requests and events
 * @nvmev: the SSD
 */
void nvmev_event_reset(struct nvmev *nvmev);

#endif /* NVMEV_EVENT_H */
