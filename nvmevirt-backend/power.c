// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power on, power off, and power failure of an SSD that keeps what it has meanwhile.
 *
 * It comes up as: queues, PCI function, dispatcher, and last the driver is let in. It
 * goes the other way: first the driver lets go, still served by the dispatcher, which
 * is told to shut down; then the dispatcher stops. When the power fails the dispatcher
 * stops first, and the driver finds a device that reads all ones.
 *
 * What a failure is for commands that are under way stands in outage.c.
 */
#include <linux/async.h>

#include "bell.h"
#include "ctrl.h"
#include "debugfs.h"
#include "dispatch.h"
#include "nvmev.h"
#include "outage.h"
#include "power.h"
#include "turn.h"
#include "undo.h"

/* All that begins anew with the power; the rest of the SSD stays as it is. */
static void reset_controller(struct nvmev *nvmev)
{
	memset(&nvmev->pci, 0, sizeof(nvmev->pci));
	memset(&nvmev->queues, 0, sizeof(nvmev->queues));
	memset(&nvmev->watch, 0, sizeof(nvmev->watch));
	nvmev->cc = 0;
	nvmev->nr_queues = 0;
	nvmev->first_queue = 1;
	nvmev->is_shut_down = true;
	nvmev->power_failed = false;
	nvmev->cut_ns = U64_MAX;
	nvmev->is_cut = false;
	nvmev->power_on_ns = ktime_get_ns();
	/* What the FTL was left with is found out by the first step. */
	nvmev->trim.makes_room = true;
	nvmev_event_reset(nvmev);
	nvmev_inject_init(&nvmev->inject);
	nvmev_bell_init(nvmev);
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

int nvmev_power_on(struct nvmev *nvmev, char *reason)
{
	char lost[NVMEV_REASON_BYTES];
	int ret;

	reset_controller(nvmev);
	ret = nvmev_queues_init(nvmev);
	if (ret)
		strscpy(reason, "There is too little memory for the queues.",
			NVMEV_REASON_BYTES);
	else
		ret = nvmev_backing_begin(nvmev, reason);
	if (!ret) {
		ret = make_function(nvmev, reason);
		if (ret)
			nvmev_backing_end(nvmev, lost);
	}
	if (ret) {
		nvmev_queues_exit(nvmev);
		return ret;
	}
	nvmev->power_cycles++;
	nvmev->is_on = true;
	nvmev_stats_add(nvmev);
	nvmev_dispatch_start(nvmev);
	nvmev_bell_attach(nvmev);
	nvmev_pci_plug(&nvmev->pci);
	return 0;
}

int nvmev_power_cut_after(struct nvmev *nvmev, u64 nr_ops)
{
	if (!nvmev->store.keeps_past)
		return -EOPNOTSUPP;
	guard(nvmev_visit)(nvmev);
	/* It is too late for one that has failed. */
	if (nvmev_outage_forget(nvmev))
		ftl_cut_after(nvmev->ftl, nr_ops);
	return 0;
}

/* What was in a volatile cache is gone, and pages become what they were before. */
static void lose_cache(struct nvmev *nvmev)
{
	guard(mutex)(&nvmev->ftl_lock);
	if (!nvmev->store.keeps_past)
		return;
	ftl_power_cut(nvmev->ftl, nvmev_now(nvmev));
	nvmev->damage = ftl_rebuild(nvmev->ftl, ktime_get_ns());
	if (!nvmev->damage)
		nvmev_past_restore(&nvmev->store, nvmev->ftl);
}

int nvmev_power_off(struct nvmev *nvmev, bool failure, char *reason)
{
	nvmev_stats_remove(nvmev);
	if (failure) {
		nvmev_outage_cut(nvmev);
		nvmev_bell_detach(nvmev);
		nvmev_dispatch_stop(nvmev);
		nvmev_pci_vanish(&nvmev->pci);
		nvmev_pci_unplug(&nvmev->pci);
	} else {
		/* A driver that has only been told to begin is not there yet to be told to end. */
		async_synchronize_full();
		nvmev_pci_unplug(&nvmev->pci);
		nvmev_bell_detach(nvmev);
		nvmev_dispatch_stop(nvmev);
	}
	nvmev_bell_exit(nvmev);
	nvmev_pci_destroy(&nvmev->pci);
	nvmev_queues_exit(nvmev);
	if (!nvmev->is_shut_down) {
		nvmev->unsafe_shutdowns++;
		lose_cache(nvmev);
	}
	ftl_cut_after(nvmev->ftl, 0);
	ftl_power_off(nvmev->ftl);
	nvmev->on_before_ns += ktime_get_ns() - nvmev->power_on_ns;
	nvmev->is_on = false;
	return nvmev->damage ? 0 : nvmev_backing_end(nvmev, reason);
}
