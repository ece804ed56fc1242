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

/**
 * nvmev_event_wait() - a request waits for an event
 * @nvmev: the SSD
 * @cid: identifier of the request
 *
 * Return: NVMEV_STATUS_LATER, or an NVMe status if there are too many. The caller lets what is
 * due be delivered.
 */
u16 nvmev_event_wait(struct nvmev *nvmev, u16 cid);

/**
 * nvmev_event_deliver() - complete waiting requests with the events that are due
 * @nvmev: the SSD
 */
void nvmev_event_deliver(struct nvmev *nvmev);

/**
 * nvmev_event_abort() - complete a waiting request as aborted
 * @nvmev: the SSD
 * @cid: identifier of the request
 *
 * Return: was it found?
 */
bool nvmev_event_abort(struct nvmev *nvmev, u16 cid);

#endif /* NVMEV_EVENT_H */
