/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When to wake the dispatcher. Nothing traps when the host rings a doorbell, so whoever gives
 * requests to the driver, a probe in the block layer and timers say when to look: dispatch.c
 * explains it.
 */
#ifndef NVMEV_WATCH_H
#define NVMEV_WATCH_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct nvmev;
struct task_struct;

/**
 * struct nvmev_watch - state of a dispatcher's waking
 * @link: entry in the list that the probe of the tracepoint goes through
 * @thread: the dispatcher
 * @lock: protects what is below
 * @timer: looks at the doorbells soon, for what is expected or was rung for and is not short, or
 *	all the time (poll_us)
 * @slow_timer: looks at doorbells and registers now and then
 * @expected: I/O requests that the block layer has issued and the dispatcher not fetched
 * @since_ns: time since which the dispatcher waits for what is expected, ktime_get(); begins anew
 *	when the timer has served something
 * @announced_ns: time of the last announcement of one of them
 * @admin_until_ns: until then an admin request may be on its way; 0 if none is
 * @soon: whether @timer is set for what is expected, or was rung for
 * @leaves: whether something was rung for that @timer is not to serve
 * @awake: whether the dispatcher runs, and so looks by itself before it sleeps
 * @stopped: whether the timers may not be set any more
 * @idle_work: whether there may be background work for an idle drive, see nvmev_ns_idle()
 * @looked_ns: time of the last look at all doorbells and registers, by a timer or in passing
 * @slow_ns: time of the next slow look. It moves on with each command, the timer does not
 * @slow_set_ns: time that @slow_timer is set to, U64_MAX while it is not
 * @active_until_ns: end of the time in which the slow look has its faster rate
 */
struct nvmev_watch {
	struct list_head link;
	struct task_struct *thread;

	spinlock_t lock; /* protects what is below */
	struct hrtimer timer;
	struct hrtimer slow_timer;
	s64 expected;
	u64 since_ns;
	u64 announced_ns;
	u64 admin_until_ns;
	bool soon;
	bool leaves;
	bool awake;
	bool stopped;
	bool idle_work;
	u64 looked_ns;
	u64 slow_ns;
	u64 slow_set_ns;
	u64 active_until_ns;
};

/**
 * nvmev_wake_locked() - have the dispatcher look at the queues
 * @watch: the SSD's
 *
 * Context: any; under @watch->lock.
 */
void nvmev_wake_locked(struct nvmev_watch *watch);

/**
 * nvmev_wake() - have the dispatcher look at the queues
 * @nvmev: the SSD
 *
 * Context: any.
 */
void nvmev_wake(struct nvmev *nvmev);

#endif /* NVMEV_WATCH_H */
