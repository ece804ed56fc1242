// SPDX-License-Identifier: GPL-2.0-only
/*
 * The failure of the power, as those see it who serve commands.
 *
 * A failure can be asked for ahead of time: then the FTL knows its time as soon as the
 * operation that it comes with is booked. For commands time stops there, no completion
 * that is due later is posted, and the dispatcher has the SSD switched off.
 *
 * What is done about it, switching off, is in power.c; nothing here calls that, so everybody may
 * ask for the time.
 */
#include <linux/workqueue.h>

#include "nvmev.h"
#include "outage.h"

u64 nvmev_now(const struct nvmev *nvmev)
{
	return min(ktime_get_ns(), READ_ONCE(nvmev->cut_ns));
}

/* With post_lock no completion is posted after the look at the clock that is due after it. */
void nvmev_outage_note(struct nvmev *nvmev)
{
	unsigned long flags;

	/* The power of such a drive fails only when it is cut by hand. */
	if (!nvmev->config.ftl.oob)
		return;
	guard(mutex)(&nvmev->ftl_lock);
	spin_lock_irqsave(&nvmev->queues.post_lock, flags);
	if (!nvmev->is_cut)
		WRITE_ONCE(nvmev->cut_ns, ftl_cut_ns(nvmev->ftl, ktime_get_ns()));
	spin_unlock_irqrestore(&nvmev->queues.post_lock, flags);
}

bool nvmev_outage_forget(struct nvmev *nvmev)
{
	unsigned long flags;
	bool is_ahead;

	spin_lock_irqsave(&nvmev->queues.post_lock, flags);
	is_ahead = ktime_get_ns() < nvmev->cut_ns;
	if (is_ahead) {
		WRITE_ONCE(nvmev->cut_ns, U64_MAX);
		/* Completions that were held back have a time again. */
		nvmev_completions_arm_locked(nvmev);
	}
	spin_unlock_irqrestore(&nvmev->queues.post_lock, flags);
	return is_ahead;
}

void nvmev_outage_cut(struct nvmev *nvmev)
{
	unsigned long flags;

	spin_lock_irqsave(&nvmev->queues.post_lock, flags);
	nvmev->is_cut = true;
	WRITE_ONCE(nvmev->cut_ns, nvmev_now(nvmev));
	spin_unlock_irqrestore(&nvmev->queues.post_lock, flags);
}

bool nvmev_outage_is_failing(const struct nvmev *nvmev)
{
	u64 cut_ns = READ_ONCE(nvmev->cut_ns);

	return cut_ns != U64_MAX && ktime_get_ns() >= cut_ns && !READ_ONCE(nvmev->power_failed);
}

void nvmev_outage_fail(struct nvmev *nvmev)
{
	unsigned long flags;

	/* With post_lock nobody thinks that the failure is still ahead, and forgets it. */
	spin_lock_irqsave(&nvmev->queues.post_lock, flags);
	if (nvmev_outage_is_failing(nvmev))
		WRITE_ONCE(nvmev->power_failed, true);
	spin_unlock_irqrestore(&nvmev->queues.post_lock, flags);
	if (!nvmev->power_failed)
		return;
	/* A driver that is waiting for something finds out at once. */
	nvmev_pci_vanish(&nvmev->pci);
	schedule_work(nvmev->failure_work);
}
