// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous events. Requests of the host and events that are due wait for each other here;
 * when a request can be completed with an event, it is.
 */
#include "event.h"
#include "nvmev.h"

static const u32 all_events[] = {
	NVMEV_EVENT_BAD_DOORBELL, NVMEV_EVENT_RELIABILITY, NVMEV_EVENT_TEMPERATURE,
	NVMEV_EVENT_SPARE,
};

/* A type that was reported waits for the host to read the log page before the next. */
static bool can_deliver(const struct nvmev *nvmev, u32 i)
{
	return (nvmev->events_due & BIT(i)) && nvmev->nr_events &&
	       !(nvmev->events_masked & BIT(NVMEV_EVENT_TYPE(all_events[i])));
}

/* Complete waiting requests with the events that are due, the oldest first. */
void nvmev_event_deliver(struct nvmev *nvmev)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all_events); i++) {
		if (!can_deliver(nvmev, i))
			continue;
		nvmev->events_due &= ~BIT(i);
		nvmev->events_masked |= BIT(NVMEV_EVENT_TYPE(all_events[i]));
		nvmev_admin_complete(nvmev, nvmev->events[0], 0, all_events[i]);
		nvmev->nr_events--;
		memmove(nvmev->events, nvmev->events + 1,
			nvmev->nr_events * sizeof(*nvmev->events));
	}
}

void nvmev_event_raise(struct nvmev *nvmev, u32 event)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all_events); i++)
		if (all_events[i] == event)
			nvmev->events_due |= BIT(i);
	nvmev_event_deliver(nvmev);
}

void nvmev_event_read(struct nvmev *nvmev, u8 lid)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all_events); i++)
		if (NVMEV_EVENT_LOG(all_events[i]) == lid)
			nvmev->events_masked &= ~BIT(NVMEV_EVENT_TYPE(all_events[i]));
	nvmev_event_deliver(nvmev);
}

void nvmev_event_reset(struct nvmev *nvmev)
{
	nvmev->nr_events = 0;
	nvmev->events_due = 0;
	nvmev->events_masked = 0;
	nvmev->warned = 0;
}

u16 nvmev_event_wait(struct nvmev *nvmev, u16 cid)
{
	if (nvmev->nr_events == NVMEV_NR_EVENTS)
		return NVME_SC_ASYNC_LIMIT;
	nvmev->events[nvmev->nr_events++] = cid;
	return NVMEV_STATUS_LATER;
}

bool nvmev_event_abort(struct nvmev *nvmev, u16 cid)
{
	u32 i;

	for (i = 0; i < nvmev->nr_events; i++) {
		if (nvmev->events[i] != cid)
			continue;
		nvmev->events[i] = nvmev->events[--nvmev->nr_events];
		nvmev_admin_complete(nvmev, cid, NVME_SC_ABORT_REQ, 0);
		return true;
	}
	return false;
}
