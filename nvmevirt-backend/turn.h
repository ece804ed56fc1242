/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose turn it is. What belongs to the dispatcher is also that of whoever looks at the doorbells,
 * because the driver has just rung or by a timer, and serves short commands in passing
 * (dispatch.c), without waking anybody. It does so while no thread has a turn: the dispatcher has
 * one for as long as it is awake, and others have one while they use the FTL, or change what the
 * dispatcher relies on.
 *
 * Whoever serves in passing waits for no thread: while one has a turn the dispatcher is woken. A
 * thread waits for it, for as long as a few short commands take.
 */
#ifndef NVMEV_TURN_H
#define NVMEV_TURN_H

#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>

#include "nvmev.h"

/**
 * nvmev_turn_begin() - from now on nothing is served in passing
 * @nvmev: the SSD
 *
 * Context: a thread. Others may have a turn at the same time; what is between threads has other
 * locks.
 */
static inline void nvmev_turn_begin(struct nvmev *nvmev)
{
	unsigned long flags;

	spin_lock_irqsave(&nvmev->turn_lock, flags);
	nvmev->nr_turns++;
	spin_unlock_irqrestore(&nvmev->turn_lock, flags);
}

/**
 * nvmev_turn_end() - the opposite
 * @nvmev: the SSD
 */
static inline void nvmev_turn_end(struct nvmev *nvmev)
{
	unsigned long flags;

	spin_lock_irqsave(&nvmev->turn_lock, flags);
	nvmev->nr_turns--;
	spin_unlock_irqrestore(&nvmev->turn_lock, flags);
}

/**
 * nvmev_ftl_lock() - begin to use the FTL, for a command
 * @nvmev: the SSD
 *
 * Context: the dispatcher in its turn, or whoever serves in passing: that has turn_lock, nobody has
 * a turn, and it needs nothing else.
 */
static inline void nvmev_ftl_lock(struct nvmev *nvmev)
{
	if (READ_ONCE(nvmev->nr_turns))
		mutex_lock(&nvmev->ftl_lock);
	else
		lockdep_assert_held(&nvmev->turn_lock);
}

/**
 * nvmev_ftl_unlock() - the opposite
 * @nvmev: the SSD
 */
static inline void nvmev_ftl_unlock(struct nvmev *nvmev)
{
	if (READ_ONCE(nvmev->nr_turns))
		mutex_unlock(&nvmev->ftl_lock);
}

/**
 * nvmev_ftl_visit() - begin to use the FTL, as somebody else than the dispatcher may
 * @nvmev: the SSD
 *
 * Context: a thread; sleeps.
 */
static inline void nvmev_ftl_visit(struct nvmev *nvmev)
{
	mutex_lock(&nvmev->ftl_lock);
	nvmev_turn_begin(nvmev);
}

/**
 * nvmev_ftl_leave() - the opposite
 * @nvmev: the SSD
 */
static inline void nvmev_ftl_leave(struct nvmev *nvmev)
{
	nvmev_turn_end(nvmev);
	mutex_unlock(&nvmev->ftl_lock);
}

DEFINE_GUARD(nvmev_turn, struct nvmev *, nvmev_turn_begin(_T), nvmev_turn_end(_T))
DEFINE_GUARD(nvmev_ftl, struct nvmev *, nvmev_ftl_lock(_T), nvmev_ftl_unlock(_T))
DEFINE_GUARD(nvmev_visit, struct nvmev *, nvmev_ftl_visit(_T), nvmev_ftl_leave(_T))

#endif /* NVMEV_TURN_H */
