/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A virtual NVMe SSD: what its files share.
 *
 * Three contexts touch a device:
 * - the dispatcher, one thread: fetches commands, asks the FTL for their time, moves
 *   their data, executes admin commands. It sleeps unless there is something to fetch.
 * - two timers, in hard interrupts: @done_timer posts completions when they are due,
 *   @watch_timer looks for doorbells that were rung;
 * - user space, through configfs and debugfs.
 *
 * Locks, outermost first:
 *
 *   lock          protects                                        taken in
 *   ------------  ----------------------------------------------  --------------------
 *   power_lock    power on and off of one configfs item           configfs
 *   ftl_lock      ftl and its counters, LBA size                  dispatcher, readers
 *   post_lock     slots, completion heap, completion queues       dispatcher, timer
 *   access_lock   the right to access host memory                 dispatcher, timer,
 *                                                                 configuration space
 *   watch_lock    what the dispatcher is woken for                tracepoint, timer,
 *                                                                 dispatcher
 *
 * Everything else belongs to the dispatcher alone; where others look at it, they use
 * READ_ONCE() and can live with an old value.
 */
#ifndef NVMEV_NVMEV_H
#define NVMEV_NVMEV_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/uuid.h>

#include "backing.h"
#include "core/ftl.h"
#include "fdp.h"
#include "inject.h"
#include "lateness.h"
#include "layout.h"
#include "moved.h"
#include "nvme.h"
#include "pci.h"
#include "power.h"
#include "store.h"
#include "trim.h"

#define NVMEV_NAME_BYTES	32
#define NVMEV_PATH_BYTES	256
#define NVMEV_MAX_IO_QUEUES	16
#define NVMEV_MAX_QUEUES	(NVMEV_MAX_IO_QUEUES + 1)
#define NVMEV_MAX_ENTRIES	1024
#define NVMEV_NR_SLOTS		4096
/* Besides them: for all requests for events, and for the command that ends one */
#define NVMEV_ADMIN_SLOTS	(NVMEV_NR_EVENTS + 1)
#define NVMEV_ALL_SLOTS		(NVMEV_NR_SLOTS + NVMEV_ADMIN_SLOTS)
#define NVMEV_BATCH		64
#define NVMEV_NR_ERRORS		64
#define NVMEV_NR_EVENTS		4
#define NVMEV_MAX_MDTS		9
#define NVMEV_REASON_BYTES	256

/* Status of a command whose completion comes later; not a status on the wire */
#define NVMEV_STATUS_LATER	0xffff

/* Program and erase cycles after which an erase block counts as used up */
#define NVMEV_RATED_CYCLES	3000

/**
 * struct nvmev_config - what a virtual SSD is to be; fixed while it is powered
 * @profile: name of the profile that the other members started from
 * @ftl: geometry and latencies; @eblks_per_die and @nr_lpns are worked out at power on
 * @capacity_bytes: size of all namespaces together
 * @nr_namespaces: entries of @namespace_bytes; 0 is one namespace of the whole capacity
 * @namespace_bytes: size of each, in whole pages
 * @lba_bytes: 512 or 4096
 * @queues: most I/O queue pairs, [1, NVMEV_MAX_IO_QUEUES]
 * @queue_depth: most commands in flight on each, [1, NVMEV_MAX_ENTRIES)
 * @mdts: most bytes of a command: 4 KiB shifted left by this, [1, NVMEV_MAX_MDTS]
 * @reject_hints: fail every such hinted command, 0 is none
 * @hints: understand hints and say so
 * @fdp: have placement handles
 * @backing_recover: take a file that was in use when its machine stopped, once
 * @backing_file: path of the file that keeps the SSD while it is off, or empty
 */
struct nvmev_config {
	const char *profile;
	struct ftl_params ftl;
	u64 capacity_bytes;
	u32 nr_namespaces;
	u64 namespace_bytes[NVMEV_MAX_NAMESPACES];
	u32 lba_bytes;
	u32 queues;
	u32 queue_depth;
	u32 mdts;
	u32 reject_hints;
	bool hints;
	bool fdp;
	bool backing_recover;
	char backing_file[NVMEV_PATH_BYTES];
};

/**
 * struct nvmev_sq - a submission queue
 * @ring: its entries in host memory, NULL while the queue does not exist
 * @depth: entries
 * @head: next entry to fetch
 * @cqid: where its completions go
 * @is_bad: the host rang the doorbell with nonsense and has been told
 */
struct nvmev_sq {
	const struct nvme_command *ring;
	u16 depth;
	u16 head;
	u16 cqid;
	bool is_bad;
};

/**
 * enum nvmev_sq_state - what there is to do about a submission queue
 * @NVMEV_SQ_EMPTY: nothing, or nothing can be done now
 * @NVMEV_SQ_READY: a command can be fetched
 * @NVMEV_SQ_BAD: the doorbell holds nonsense that the host has not been told of
 */
enum nvmev_sq_state {
	NVMEV_SQ_EMPTY,
	NVMEV_SQ_READY,
	NVMEV_SQ_BAD,
};

/**
 * struct nvmev_cq - a completion queue
 * @ring: its entries in host memory, NULL while the queue does not exist
 * @depth: entries
 * @tail: next entry to post
 * @vector: interrupt vector
 * @nr_sqs: submission queues that use it
 * @phase: phase tag of the present lap
 * @interrupts: raise @irq after posting
 * @is_bad: the host rang the doorbell with nonsense and has been told
 * @irq: the vector's Linux interrupt
 * @backlog: completions that wait for the host to make room
 */
struct nvmev_cq {
	struct nvme_completion *ring;
	u16 depth;
	u16 tail;
	u16 vector;
	u16 nr_sqs;
	bool phase;
	bool interrupts;
	bool is_bad;
	struct nvmev_irq irq;
	struct list_head backlog;
};

/**
 * struct nvmev_cmd - an I/O command between fetch and completion
 * @link: in the free list or a backlog
 * @due_ns: when it completes, ktime_get()
 * @seq: order of fetching; decides between equal @due_ns
 * @heap_pos: where it is in the heap
 * @fetched_ns: when it was fetched
 * @fault_lba: if it fails: the first LBA at fault
 * @ns: its namespace; NULL if it is for all of them, or none
 * @data_seq: for writes: the FTL's number for the data of the first page, or 0
 * @sqid: its submission queue
 * @sq_pos: the entry there that it was fetched from
 * @is_misread: a read is to get other data than its own, see NVMEV_FAULT_MISREAD
 * @status: NVMe status
 * @result: dword 0 of the completion
 * @sqe: copy of the command
 */
struct nvmev_cmd {
	struct list_head link;
	u64 due_ns;
	u64 seq;
	u64 fetched_ns;
	u64 fault_lba;
	struct nvmev_ns *ns;
	u64 data_seq;
	u32 heap_pos;
	u16 sqid;
	u16 sq_pos;
	bool is_misread;
	u16 status;
	u32 result;
	struct nvme_command sqe;
};

/**
 * struct nvmev_queues - queues and commands in flight
 * @sq: submission queues, 0 is the admin queue
 * @cq: completion queues, likewise
 * @post_lock: protects what is below and the completion queues' @tail and @backlog
 * @done_timer: expires when the first command of the heap is due
 * @slots: memory of all commands
 * @free: commands not in use
 * @nr_free: how many
 * @heap: commands that wait for their time, a binary heap
 * @nr_heap: how many
 * @nr_late: how many of them are admin commands
 * @seq: number of the last fetched command
 * @backlog_tries: how often the timer has found a backlog's queue still full
 * @backlogged: completion queues with a backlog, one bit each
 * @lateness: of completions
 */
struct nvmev_queues {
	struct nvmev_sq sq[NVMEV_MAX_QUEUES];
	struct nvmev_cq cq[NVMEV_MAX_QUEUES];

	spinlock_t post_lock; /* protects what is below */
	struct hrtimer done_timer;
	struct nvmev_cmd *slots;
	struct list_head free;
	u32 nr_free;
	struct nvmev_cmd **heap;
	u32 nr_heap;
	u32 nr_late;
	u64 seq;
	u32 backlog_tries;
	unsigned long backlogged;
	struct nvmev_lateness lateness;
};

/**
 * struct nvmev_watch - when to wake the dispatcher
 * @link: in the list that the tracepoint's probe goes through
 * @thread: the dispatcher
 * @lock: protects what is below
 * @timer: looks at doorbells and registers
 * @expected: I/O requests that the block layer has issued and the dispatcher not fetched
 * @since_ns: when the dispatcher began to wait for what is expected
 * @admin: an admin request may be on its way
 * @soon: @timer is set to the short interval
 * @awake: the dispatcher is running and will look by itself before it sleeps
 * @stopped: arm no timer any more
 * @idle_work: there may be background work for an idle drive, see nvmev_ns_idle()
 * @active_until_ns: the slow look is taken at its faster rate until then
 */
struct nvmev_watch {
	struct list_head link;
	struct task_struct *thread;

	spinlock_t lock; /* protects what is below */
	struct hrtimer timer;
	s64 expected;
	u64 since_ns;
	bool admin;
	bool soon;
	bool awake;
	bool stopped;
	bool idle_work;
	u64 active_until_ns;
};

/**
 * struct nvmev_features - values set by Set Features
 * @arbitration: dword of the feature; its burst is how many commands a queue has in a turn
 * @temp_over: threshold of the composite temperature, kelvin
 * @temp_under: the same, under
 * @write_cache: volatile write cache is on
 * @irq_coalesce: dword of the feature
 * @irq_config: dword of each vector
 * @write_atomicity: dword of the feature
 * @events: asynchronous events that are on
 * @timestamp_ms: what the host set
 * @timestamp_set_ns: when it did, ktime_get(); 0 is never
 */
struct nvmev_features {
	u32 arbitration;
	u16 temp_over;
	u16 temp_under;
	bool write_cache;
	u32 irq_coalesce;
	u32 irq_config[NVMEV_MAX_QUEUES];
	u32 write_atomicity;
	u32 events;
	u64 timestamp_ms;
	u64 timestamp_set_ns;
};

/**
 * struct nvmev_counters - what SMART and debugfs report; written by the dispatcher
 * @bytes_read: data sent to the host
 * @bytes_written: data received
 * @reads: read, compare and verify commands
 * @writes: write commands
 * @admin: admin commands
 * @errors: commands that failed
 * @media_errors: commands that failed for what is on the medium
 * @busy_ns: time with commands in flight
 * @busy_until_ns: when the last of them is done
 * @hints_malformed: commands with both hint bits
 * @hints_rejected: hinted commands failed for @reject_hints
 * @hints_seen: commands with a hint
 * @wakeups: how often the dispatcher was woken
 */
struct nvmev_counters {
	u64 bytes_read;
	u64 bytes_written;
	u64 reads;
	u64 writes;
	u64 admin;
	u64 errors;
	u64 media_errors;
	u64 busy_ns;
	u64 busy_until_ns;
	u64 hints_malformed;
	u64 hints_rejected;
	u64 hints_seen;
	u64 wakeups;
};

/**
 * struct nvmev - a virtual SSD
 * @name: name of its configfs directory
 * @uuid: made from @name, so that it is the same every time
 * @config: what it is
 * @is_on: the power is on
 * @is_shut_down: the controller was told to shut down since it was enabled, or never was
 * @power_failed: the power fails; the dispatcher does nothing any more
 * @damage: why the drive cannot be used after a power failure, or NULL
 * @failure_work: what switches it off when the power fails by itself
 * @cut_ns: when the power fails, U64_MAX while that is not known; changed by the dispatcher
 * @power_on_ns: when it was switched on, ktime_get()
 * @on_before_ns: how long it had been on before that
 * @power_cycles: how often it was switched on
 * @unsafe_shutdowns: how often it was switched off without having been shut down
 * @pci: its PCI function
 * @queues: queues and commands in flight
 * @watch: when to wake the dispatcher
 * @cc: controller configuration as last acted upon
 * @nr_queues: I/O queue pairs that the host may create
 * @ns: namespaces, by number less one
 * @nr_ns: how many
 * @features: set by the host
 * @events: identifiers of asynchronous event requests that wait
 * @nr_events: how many
 * @events_due: events that wait for a request, one bit each
 * @events_masked: types of events that wait for the host to read a log page, one bit each
 * @warned: critical warnings that were reported as events
 * @failures_seen: failed operations on NAND that health was looked at after
 * @fdp: placement handles
 * @inject: what is wrong with it, on request
 * @errors: error information log, a ring
 * @counters: for SMART and debugfs
 * @check_moves: look again at what was moved; set through debugfs
 * @moved: what that has found
 * @batch: commands of the present round
 * @trim: the deallocation that is under way
 * @first_queue: the I/O queue with which the next batch begins, [1, NVMEV_MAX_IO_QUEUES]
 * @reply: a page to build data for the host in; the dispatcher's
 * @ftl_lock: protects what is below
 * @ftl: flash translation layer
 * @ftl_memory: what it lives in
 * @store: the bytes of all namespaces; the dispatcher's alone
 * @backing: the file that it is kept in while it is off
 * @debugfs: its directory
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
	u64 power_on_ns;
	u64 on_before_ns;
	u64 power_cycles;
	u64 unsafe_shutdowns;

	struct nvmev_pci pci;
	struct nvmev_queues queues;
	struct nvmev_watch watch;
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

	struct mutex ftl_lock; /* protects what is below */
	struct ftl *ftl;
	void *ftl_memory;

	struct nvmev_store store;
	struct nvmev_backing backing;
	struct dentry *debugfs;
};

/*
 * Functions defined in profile.c:
 */

/**
 * nvmev_profile_load() - set a configuration to a profile
 * @config: to fill
 * @name: name of the profile
 *
 * Return: 0 or -EINVAL if there is no such profile.
 */
int nvmev_profile_load(struct nvmev_config *config, const char *name);

/**
 * nvmev_profile_names() - list the profiles
 * @buf: gets their names, each after a blank
 * @bytes: size of @buf
 *
 * Return: length of the text.
 */
int nvmev_profile_names(char *buf, size_t bytes);

/*
 * Functions defined in ctrl.c:
 */

/**
 * nvmev_ctrl_init() - set the registers to their values at power on
 * @nvmev: the SSD
 */
void nvmev_ctrl_init(struct nvmev *nvmev);

/**
 * nvmev_ctrl_poll() - act upon the controller configuration register, and what ends it all
 * @nvmev: the SSD
 *
 * When a fatal error was asked for, or bus mastering was switched off, all queues are gone
 * before the controller says that it has failed. Only a reset brings it back.
 *
 * Return: did the register change?
 */
bool nvmev_ctrl_poll(struct nvmev *nvmev);

/**
 * nvmev_ctrl_is_ready() - may commands be fetched?
 * @nvmev: the SSD
 *
 * Return: true while the controller is enabled, not shut down, and may access memory.
 */
bool nvmev_ctrl_is_ready(const struct nvmev *nvmev);

/**
 * nvmev_ctrl_mmio_work() - is there anything in the registers to act upon?
 * @nvmev: the SSD
 *
 * Context: any.
 * Return: true if the dispatcher should look.
 */
bool nvmev_ctrl_mmio_work(const struct nvmev *nvmev);

/*
 * Functions defined in dispatch.c:
 */

/**
 * nvmev_dispatch_init() - make the dispatcher; it starts with nvmev_dispatch_start()
 * @nvmev: the SSD
 *
 * Return: 0 or a negative errno.
 */
int nvmev_dispatch_init(struct nvmev *nvmev);

/**
 * nvmev_dispatch_start() - begin to serve registers and queues
 * @nvmev: the SSD
 */
void nvmev_dispatch_start(struct nvmev *nvmev);

/**
 * nvmev_dispatch_stop() - stop the dispatcher and both timers, for good
 * @nvmev: the SSD
 *
 * Context: sleeps. Nothing touches host memory after it returns.
 */
void nvmev_dispatch_stop(struct nvmev *nvmev);

/**
 * nvmev_dispatch_wake() - have the dispatcher look at the queues
 * @nvmev: the SSD
 *
 * Context: any.
 */
void nvmev_dispatch_wake(struct nvmev *nvmev);

/**
 * nvmev_probe_register() - learn of requests when the block layer issues them
 *
 * Return: 0, or -ENOENT if this kernel has no such tracepoint: commands are then found
 * by the slow look only.
 */
int nvmev_probe_register(void);

/**
 * nvmev_probe_unregister() - undo nvmev_probe_register()
 */
void nvmev_probe_unregister(void);

/*
 * Functions defined in queue.c:
 */

/**
 * nvmev_queues_init() - make slots and timer; no queue exists yet
 * @nvmev: the SSD
 *
 * Return: 0 or -ENOMEM; nvmev_queues_exit() is due in either case.
 */
int nvmev_queues_init(struct nvmev *nvmev);

/**
 * nvmev_queues_exit() - free what nvmev_queues_init() made
 * @nvmev: the SSD, its dispatcher stopped
 */
void nvmev_queues_exit(struct nvmev *nvmev);

/**
 * nvmev_queues_reset() - forget all queues and commands in flight
 * @nvmev: the SSD
 */
void nvmev_queues_reset(struct nvmev *nvmev);

/**
 * nvmev_sq_create() - begin to serve a submission queue
 * @nvmev: the SSD
 * @id: its number; the queue must not exist
 * @sq: ring, depth and completion queue
 */
void nvmev_sq_create(struct nvmev *nvmev, u32 id, const struct nvmev_sq *sq);

/**
 * nvmev_sq_delete() - abort a submission queue's commands and forget it
 * @nvmev: the SSD
 * @id: its number
 */
void nvmev_sq_delete(struct nvmev *nvmev, u32 id);

/**
 * nvmev_cq_create() - make a completion queue
 * @nvmev: the SSD
 * @id: its number; the queue must not exist
 * @cq: ring, depth, vector and whether it interrupts
 */
void nvmev_cq_create(struct nvmev *nvmev, u32 id, const struct nvmev_cq *cq);

/**
 * nvmev_cq_delete() - forget a completion queue
 * @nvmev: the SSD
 * @id: its number; no submission queue uses it
 */
void nvmev_cq_delete(struct nvmev *nvmev, u32 id);

/**
 * nvmev_sq_look() - look at the doorbell of a submission queue
 * @nvmev: the SSD
 * @id: its number
 *
 * Context: any; only the dispatcher may rely on the answer.
 * Return: what there is to do.
 */
enum nvmev_sq_state nvmev_sq_look(const struct nvmev *nvmev, u32 id);

/**
 * nvmev_cq_is_bad() - does the doorbell of a completion queue hold nonsense?
 * @nvmev: the SSD
 * @id: its number
 *
 * Context: any; only the dispatcher may rely on the answer.
 * Return: true if so, and the host was not told yet.
 */
bool nvmev_cq_is_bad(const struct nvmev *nvmev, u32 id);

/**
 * nvmev_sq_peek() - look at the next entry of a submission queue
 * @nvmev: the SSD
 * @id: the queue; it must not be empty
 * @sqe: gets a copy of the entry
 *
 * Return: false if the device may not access host memory any more.
 */
bool nvmev_sq_peek(struct nvmev *nvmev, u32 id, struct nvme_command *sqe);

/**
 * nvmev_sq_pop() - the next entry of a submission queue was fetched
 * @nvmev: the SSD
 * @id: the queue; it must not be empty
 */
void nvmev_sq_pop(struct nvmev *nvmev, u32 id);

/**
 * nvmev_cmd_get() - take a slot for a command
 * @nvmev: the SSD
 *
 * Return: the slot, or NULL while all are in use.
 */
struct nvmev_cmd *nvmev_cmd_get(struct nvmev *nvmev);

/**
 * nvmev_cmd_complete() - post a command's completion when it is due
 * @nvmev: the SSD
 * @cmd: the command; @due_ns and @status are set. It is not the caller's any more.
 */
void nvmev_cmd_complete(struct nvmev *nvmev, struct nvmev_cmd *cmd);

/**
 * nvmev_cmd_abort() - complete a command early, as aborted
 * @nvmev: the SSD
 * @sqid: its queue
 * @cid: its identifier
 *
 * Return: was it found?
 */
bool nvmev_cmd_abort(struct nvmev *nvmev, u16 sqid, u16 cid);

/**
 * nvmev_admin_complete() - post the completion of an admin command, now or when there is room
 * @nvmev: the SSD
 * @cid: its identifier
 * @status: NVMe status
 * @result: command-specific result
 *
 * Context: the dispatcher.
 */
void nvmev_admin_complete(struct nvmev *nvmev, u16 cid, u16 status, u32 result);

/**
 * nvmev_admin_complete_later() - let an admin command succeed when its time has come
 * @nvmev: the SSD
 * @cid: its identifier
 * @due_ns: when that is, ktime_get()
 *
 * Context: the dispatcher.
 * Return: false if too many commands are in flight.
 */
bool nvmev_admin_complete_later(struct nvmev *nvmev, u16 cid, u64 due_ns);

/*
 * Functions defined in admin.c:
 */

/**
 * nvmev_admin_execute() - execute one admin command and complete it
 * @nvmev: the SSD
 * @sqe: the command
 */
void nvmev_admin_execute(struct nvmev *nvmev, const struct nvme_command *sqe);

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

/*
 * Functions defined in identify.c:
 */

/**
 * nvmev_identify() - execute Identify
 * @nvmev: the SSD
 * @sqe: the command
 *
 * Return: an NVMe status.
 */
u16 nvmev_identify(struct nvmev *nvmev, const struct nvme_command *sqe);

/*
 * Functions defined in features.c:
 */

/**
 * nvmev_features_reset() - set all features to their defaults
 * @nvmev: the SSD
 */
void nvmev_features_reset(struct nvmev *nvmev);

/**
 * nvmev_get_features() - execute Get Features
 * @nvmev: the SSD
 * @sqe: the command
 * @result: gets the value
 *
 * Return: an NVMe status.
 */
u16 nvmev_get_features(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result);

/**
 * nvmev_set_features() - execute Set Features
 * @nvmev: the SSD
 * @sqe: the command
 * @result: gets the value granted, for Number of Queues
 *
 * Return: an NVMe status.
 */
u16 nvmev_set_features(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result);

/*
 * Functions defined in health.c:
 */

/**
 * nvmev_health_report() - raise the events for what is wrong now and the host wants to know
 * @nvmev: the SSD
 */
void nvmev_health_report(struct nvmev *nvmev);

/**
 * nvmev_health_look() - the same, if operations on NAND have failed since the last look
 * @nvmev: the SSD
 */
void nvmev_health_look(struct nvmev *nvmev);

/**
 * nvmev_percent_used() - mean of the erase counts as a share of what is rated
 * @nvmev: the SSD
 *
 * Context: takes ftl_lock.
 * Return: percent, at most 255.
 */
u8 nvmev_percent_used(struct nvmev *nvmev);

/**
 * nvmev_available_spare() - spare erase blocks that are left
 * @nvmev: the SSD
 *
 * Context: takes ftl_lock.
 * Return: percent, on the die that has the fewest.
 */
u8 nvmev_available_spare(struct nvmev *nvmev);

/**
 * nvmev_temperature() - composite temperature in kelvin
 * @nvmev: the SSD
 *
 * Return: a constant, as nothing here gets warm, or what was asked for.
 */
u16 nvmev_temperature(const struct nvmev *nvmev);

/**
 * nvmev_critical_warning() - the critical warning byte of SMART
 * @nvmev: the SSD
 *
 * Return: NVME_SMART_CRIT_* bits.
 */
u8 nvmev_critical_warning(struct nvmev *nvmev);

/*
 * Functions defined in log.c:
 */

/**
 * nvmev_get_log_page() - execute Get Log Page
 * @nvmev: the SSD
 * @sqe: the command
 *
 * Return: an NVMe status.
 */
u16 nvmev_get_log_page(struct nvmev *nvmev, const struct nvme_command *sqe);

/*
 * Functions defined in error.c:
 */

/**
 * nvmev_log_error() - record a failed command in the error information log
 * @nvmev: the SSD
 * @sqid: its queue
 * @sqe: the command
 * @status: its NVMe status
 * @lba: the first LBA at fault
 */
void nvmev_log_error(struct nvmev *nvmev, u16 sqid, const struct nvme_command *sqe, u16 status,
		     u64 lba);

/*
 * Functions defined in io.c:
 */

/**
 * nvmev_io_is_alone() - must this command not share a batch with others?
 * @sqe: the command
 *
 * Return: true for commands that do all their work in the first step.
 */
bool nvmev_io_is_alone(const struct nvme_command *sqe);

/**
 * nvmev_io_must_wait() - is there a reason not to fetch this command yet?
 * @nvmev: the SSD
 * @sqe: the command
 *
 * Return: true for a deallocation while another one is under way.
 */
bool nvmev_io_must_wait(const struct nvmev *nvmev, const struct nvme_command *sqe);

/**
 * nvmev_io_account_busy() - a command has kept the drive busy until it is due
 * @nvmev: the SSD
 * @cmd: the command
 */
void nvmev_io_account_busy(struct nvmev *nvmev, const struct nvmev_cmd *cmd);

/**
 * nvmev_io_start() - check a command and ask the FTL when it will be done
 * @nvmev: the SSD
 * @cmd: the command; @fetched_ns is set. Gets @due_ns and @status, which is
 *	NVMEV_STATUS_LATER if it is done in steps
 */
void nvmev_io_start(struct nvmev *nvmev, struct nvmev_cmd *cmd);

/**
 * nvmev_io_move() - move a command's data
 * @nvmev: the SSD
 * @cmd: started without an error; gets @status
 */
void nvmev_io_move(struct nvmev *nvmev, struct nvmev_cmd *cmd);

/*
 * Functions defined in ns.c:
 */

/**
 * nvmev_ns_used_lbas() - LBAs that hold data
 * @nvmev: the SSD
 * @ns: the namespace
 *
 * Context: takes ftl_lock.
 * Return: LBAs, whole pages of them.
 */
u64 nvmev_ns_used_lbas(struct nvmev *nvmev, const struct nvmev_ns *ns);

/**
 * nvmev_ns_read() - account a read by the FTL
 * @nvmev: the SSD
 * @cmd: a read, compare or verify command with a valid range
 * @transfer: its data crosses the host link
 *
 * Return: when it is done.
 */
u64 nvmev_ns_read(struct nvmev *nvmev, const struct nvmev_cmd *cmd, bool transfer);

/**
 * nvmev_ns_write() - have the FTL place a write
 * @nvmev: the SSD
 * @cmd: a write or write zeroes command with a valid range; gets @data_seq
 * @due_ns: gets when it is done
 *
 * Return: an NVMe status: the drive may be read-only, hints may be rejected on request.
 */
u16 nvmev_ns_write(struct nvmev *nvmev, struct nvmev_cmd *cmd, u64 *due_ns);

/**
 * nvmev_ns_written() - the data of a write is in the store; older data may go
 * @nvmev: the SSD
 * @cmd: the command
 */
void nvmev_ns_written(struct nvmev *nvmev, const struct nvmev_cmd *cmd);

/**
 * nvmev_ns_trim() - have the FTL forget the pages that lie wholly in a range
 * @nvmev: the SSD
 * @ns: the namespace
 * @slba: first LBA
 * @nr_lbas: how many; the range must be valid
 * @now_ns: when the command was fetched
 * @goes_on: it is no command of its own, but goes on with the last one of its kind
 *
 * Return: when it is done in the model.
 */
u64 nvmev_ns_trim(struct nvmev *nvmev, const struct nvmev_ns *ns, u64 slba, u64 nr_lbas,
		  u64 now_ns, bool goes_on);

/**
 * nvmev_ns_flush() - have the FTL make everything durable
 * @nvmev: the SSD
 * @now_ns: present time
 *
 * Return: when it is.
 */
u64 nvmev_ns_flush(struct nvmev *nvmev, u64 now_ns);

/**
 * nvmev_ns_is_read_only() - are there too few good erase blocks to write on?
 * @nvmev: the SSD
 *
 * Context: takes ftl_lock.
 */
bool nvmev_ns_is_read_only(struct nvmev *nvmev);

/**
 * nvmev_ns_failures() - count failed operations on NAND
 * @nvmev: the SSD
 *
 * Context: takes ftl_lock.
 * Return: how many there were since power on.
 */
u64 nvmev_ns_failures(struct nvmev *nvmev);

/**
 * nvmev_ns_idle() - let the FTL use the time in which dies have nothing to do
 * @nvmev: the SSD
 *
 * Return: whether it wants to be asked again.
 */
bool nvmev_ns_idle(struct nvmev *nvmev);

/**
 * nvmev_ns_format() - erase the data of a namespace and set its LBA size
 * @nvmev: the SSD
 * @ns: the namespace
 * @lba_shift: 9 or 12
 */
void nvmev_ns_format(struct nvmev *nvmev, struct nvmev_ns *ns, u32 lba_shift);

/*
 * Functions defined in stats.c:
 */

/**
 * nvmev_stats_init() - make the debugfs directory of all SSDs
 */
void nvmev_stats_init(void);

/**
 * nvmev_stats_exit() - remove it
 */
void nvmev_stats_exit(void);

/**
 * nvmev_stats_add() - make the debugfs files of an SSD
 * @nvmev: the SSD
 */
void nvmev_stats_add(struct nvmev *nvmev);

/**
 * nvmev_stats_remove() - remove them
 * @nvmev: the SSD; no reader looks at it after this returns
 */
void nvmev_stats_remove(struct nvmev *nvmev);

/*
 * Functions defined in map.c:
 */

/**
 * nvmev_map_add() - make the debugfs files of an SSD's namespaces
 * @nvmev: the SSD; its directory exists
 */
void nvmev_map_add(struct nvmev *nvmev);

/*
 * Functions defined in config.c:
 */

/**
 * nvmev_config_register() - make /sys/kernel/config/nvmev
 *
 * Return: 0 or a negative errno.
 */
int nvmev_config_register(void);

/**
 * nvmev_config_unregister() - remove it
 */
void nvmev_config_unregister(void);

#endif /* NVMEV_NVMEV_H */
