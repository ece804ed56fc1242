/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A virtual NVMe SSD: what its files share.
 *
 * Four contexts touch a device:
 * - the dispatcher, one thread: fetches commands, asks the FTL for their time, moves
 *   their data, executes admin commands. It sleeps unless there is something to fetch.
 * - whoever has given requests to the driver: looks for doorbells that were rung, and does
 *   the dispatcher's work for short commands while that sleeps (turn.h);
 * - two timers, in hard interrupts: @done_timer posts completions when they are due,
 *   @watch_timer looks for doorbells as above;
 * - user space, through configfs and debugfs.
 *
 * Locks, outermost first:
 *
 *   lock          protects                                        taken in
 *   ------------  ----------------------------------------------  --------------------
 *   power_lock    power on and off of one configfs item           configfs
 *   ftl_lock      ftl and its counters, LBA size                  dispatcher, readers
 *   turn_lock     number of threads' turns (turn.h); whoever      dispatcher, readers,
 *                 serves commands in passing has it               requests, timer
 *   post_lock     slots, completion heap, completion queues       dispatcher, requests,
 *                                                                 timer
 *   access_lock   the right to access host memory                 dispatcher, requests,
 *                                                                 timer, configuration
 *                                                                 space
 *   watch_lock    what the dispatcher is woken for                requests, timer,
 *                                                                 dispatcher
 *   bell's lock   tables of the queues of its disks (bell.c)      requests, a work item,
 *                                                                 configfs
 *
 * Everything else belongs to the dispatcher, or whoever serves in passing; where others look at it,
 * they use READ_ONCE() and can live with an old value.
 */
#ifndef NVMEV_NVMEV_H
#define NVMEV_NVMEV_H

#include <linux/mutex.h>
#include <linux/uuid.h>

#include "backing.h"
#include "bell.h"
#include "config.h"
#include "core/ftl.h"
#include "counters.h"
#include "error-log.h"
#include "event.h"
#include "fdp.h"
#include "features.h"
#include "inject.h"
#include "moved.h"
#include "ns.h"
#include "nvme.h"
#include "pci.h"
#include "power.h"
#include "queue.h"
#include "store.h"
#include "trim.h"
#include "watch.h"

#define NVMEV_NAME_BYTES	32
#define NVMEV_BATCH		64
#define NVMEV_REASON_BYTES	256

/**
 * struct nvmev - a virtual SSD
 * @name: name of its configfs directory
 * @uuid: made from @name, so that it is the same every time
 * @config: properties of the SSD
 * @is_on: whether the power is on
 * @is_shut_down: whether the controller is in no need of a shutdown: it was told to shut down
 *	since it was enabled, or was never enabled
 * @power_failed: whether the power has failed, and the dispatcher does nothing any more
 * @damage: reason why the drive cannot be used after a power failure, or NULL
 * @failure_work: work item that switches it off when the power fails by itself
 * @cut_ns: time at which the power fails, U64_MAX while not known; changed with
 *	post_lock
 * @is_cut: whether @cut_ns was chosen by hand, and is not the FTL's
 * @power_on_ns: time at which it was switched on, ktime_get()
 * @on_before_ns: time that it had been on before @power_on_ns
 * @power_cycles: number of times that it was switched on
 * @unsafe_shutdowns: number of times that it was switched off without a shutdown
 * @pci: its PCI function
 * @queues: queues and commands in flight
 * @watch: state of the dispatcher's waking
 * @bell: queues of its disks
 * @cc: controller configuration as last acted upon
 * @nr_queues: I/O queue pairs that the host may create
 * @ns: namespaces, by number less one
 * @nr_ns: number of entries of @ns
 * @features: values that the host has set
 * @events: identifiers of asynchronous event requests that wait
 * @nr_events: number of entries of @events
 * @events_due: events that wait for a request, one bit each
 * @events_masked: types of events that wait for the host to read a log page, one bit each
 * @warned: critical warnings that events have reported, a bit each
 * @failures_seen: number of failed operations on NAND at the last look at health
 * @fdp: placement handles
 * @inject: faults that were asked for
 * @errors: error information log, a ring
 * @counters: counters that SMART and debugfs report
 * @check_moves: whether moved data is compared once more; set through debugfs
 * @moved: findings of these comparisons
 * @batch: commands of the present round
 * @trim: the deallocation under way
 * @first_queue: the I/O queue with which the next batch begins, [1, NVMEV_MAX_IO_QUEUES]
 * @reply: page in which the dispatcher builds data for the host
 * @turn_lock: protects @nr_turns, see turn.h
 * @nr_turns: number of turns that threads have now
 * @ftl_lock: protects what is below, between threads
 * @ftl: flash translation layer
 * @ftl_memory: memory of @ftl
 * @store: data of all namespaces; used by the dispatcher alone
 * @backing: file that keeps the SSD while it is off
 * @debugfs: directory of the SSD in debugfs
 */
struct nvmev {
	char name[NVMEV_NAME_BYTES];
	uuid_t uuid;
	struct nvmev_config config;
	bool is_on;
	bool is_shut_down;
	bool power_failed;
	const char *damage;
	struct work_struct *failure_work;
	u64 cut_ns;
	bool is_cut;
	u64 power_on_ns;
	u64 on_before_ns;
	u64 power_cycles;
	u64 unsafe_shutdowns;

	struct nvmev_pci pci;
	struct nvmev_queues queues;
	struct nvmev_watch watch;
	struct nvmev_bell bell;
	u32 cc;
	u32 nr_queues;
	struct nvmev_ns ns[NVMEV_MAX_NAMESPACES];
	u32 nr_ns;
	struct nvmev_features features;
	u16 events[NVMEV_NR_EVENTS];
	u32 nr_events;
	u32 events_due;
	u32 events_masked;
	u8 warned;
	u64 failures_seen;
	struct nvmev_fdp fdp;
	struct nvmev_inject inject;
	struct nvmev_error_entry errors[NVMEV_NR_ERRORS];
	struct nvmev_counters counters;
	bool check_moves;
	struct nvmev_moved_counters moved;
	struct nvmev_cmd *batch[NVMEV_BATCH];
	struct nvmev_trim trim;
	u32 first_queue;
	void *reply;

	spinlock_t turn_lock; /* protects nr_turns */
	u32 nr_turns;

	struct mutex ftl_lock; /* protects what is below */
	struct ftl *ftl;
	void *ftl_memory;

	struct nvmev_store store;
	struct nvmev_backing backing;
	struct dentry *debugfs;
};

/* Whose state of waking it is */
static inline struct nvmev *nvmev_of_watch(struct nvmev_watch *watch)
{
	return container_of(watch, struct nvmev, watch);
}

#endif /* NVMEV_NVMEV_H */
