// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waking the dispatcher. Apart from the dispatcher itself, so that queues and errors on request
 * can do it without knowing what a dispatcher does.
 */
#include <linux/sched.h>

#include "nvmev.h"
#include "watch.h"

void nvmev_wake_locked(struct nvmev_watch *watch)
{
	lockdep_assert_held(&watch->lock);

	/* Once stopped is set the thread may be gone. */
	if (watch->awake || watch->stopped)
		return;
	WRITE_ONCE(watch->awake, true);
	wake_up_process(watch->thread);
}

void nvmev_wake(struct nvmev *nvmev)
{
	unsigned long flags;

	spin_lock_irqsave(&nvmev->watch.lock, flags);
	nvmev_wake_locked(&nvmev->watch);
	spin_unlock_irqrestore(&nvmev->watch.lock, flags);
}
