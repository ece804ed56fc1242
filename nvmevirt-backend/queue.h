/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Submission and completion queues in host memory, and the commands in flight between them.
 *
 * Only the dispatcher creates and deletes queues; it fetches, and hands commands back to be
 * completed, or the timer that looks for them does so in its turn (turn.h). The timer of the
 * completions posts them when they are due; post_lock is between the two.
 */
#ifndef NVMEV_QUEUE_H
#define NVMEV_QUEUE_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>

#include "event.h"
#include "lateness.h"
#include "nvme.h"
#include "pci.h"

struct nvmev;
struct nvmev_copy;
struct nvmev_ns;

#define NVMEV_MAX_IO_QUEUES	16
#define NVMEV_MAX_QUEUES	(NVMEV_MAX_IO_QUEUES + 1)
#define NVMEV_MAX_ENTRIES	1024
#define NVMEV_NR_SLOTS		4096
/* Besides them: for all requests for events, for the command that ends one, and for Format */
#define NVMEV_ADMIN_SLOTS	(NVMEV_NR_EVENTS + 2)
#define NVMEV_ALL_SLOTS		(NVMEV_NR_SLOTS + NVMEV_ADMIN_SLOTS)

/* Status of a command whose completion comes later; not a status on the wire */
#define NVMEV_STATUS_LATER	0xffff

/**
 * struct nvmev_sq - a submission queue
 * @ring: its entries in host memory, NULL while the queue does not exist
 * @depth: entries
 * @head: next entry to fetch
 * @cqid: completion queue of its commands
 * @is_bad: whether the host rang its doorbell with nonsense and has been told
 */
struct nvmev_sq {
	const struct nvme_command *ring;
	u16 depth;
	u16 head;
	u16 cqid;
	bool is_bad;
};

/**
 * enum nvmev_sq_state - state of a submission queue, as the dispatcher sees it
 * @NVMEV_SQ_EMPTY: nothing is to be done, or can be now
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
 * @nr_sqs: number of submission queues that use it
 * @phase: phase tag of the present lap
 * @interrupts: whether @irq is raised after posting
 * @is_bad: whether the host rang its doorbell with nonsense and has been told
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
 * @link: in the free list, among those in pieces, or in a backlog
 * @due_ns: time of its completion, ktime_get()
 * @seq: number in the order of fetching, which decides between equal @due_ns
 * @heap_pos: its index in the heap
 * @fetched_ns: time of its fetching, ktime_get()
 * @fault_lba: first LBA at fault, of a command that fails
 * @ns: its namespace; NULL for all of them, or none
 * @copy: what a Copy has fetched and how far it is, else NULL; goes with the slot (io.h)
 * @done_ns: time at which the pieces are done that it has had, of a command in pieces
 * @done: number of LBAs in these pieces
 * @data_seq: the FTL's number for the data of the first page of a write, or 0
 * @sqid: its submission queue
 * @sq_pos: index there of the entry that it was fetched from
 * @has_paused: whether others were served while it was under way, in steps or pieces
 * @is_misread: whether a read gets other data than its own, see NVMEV_FAULT_MISREAD
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
	struct nvmev_copy *copy;
	u64 done_ns;
	u32 done;
	u64 data_seq;
	u32 heap_pos;
	u16 sqid;
	u16 sq_pos;
	bool has_paused;
	bool is_misread;
	u16 status;
	u32 result;
	struct nvme_command sqe;
};

/* As an identifier: all commands of a queue */
#define NVMEV_ANY_CID		U32_MAX

/**
 * nvmev_cmd_is() - is it this command?
 * @cmd: a command
 * @sqid: the queue
 * @cid: its identifier there, or NVMEV_ANY_CID
 */
static inline bool nvmev_cmd_is(const struct nvmev_cmd *cmd, u16 sqid, u32 cid)
{
	return cmd->sqid == sqid && (cid == NVMEV_ANY_CID || cmd->sqe.common.command_id == cid);
}

/**
 * struct nvmev_queues - queues and commands in flight
 * @sq: submission queues by number, 0 is the admin queue
 * @cq: completion queues by number, 0 is the admin queue
 * @in_pieces: commands that are done in pieces (pieces.h), in the order of their turns; the
 *	dispatcher's
 * @nr_ids: no queue that exists has this number or a higher one
 * @nr_handlers: number of interrupts whose handler @done_timer has called; its alone
 * @post_lock: protects what is below and the completion queues' @tail and @backlog
 * @done_timer: expires when the first command of the heap is due
 * @slots: memory of all commands
 * @free: commands not in use
 * @nr_free: number of commands in @free
 * @heap: commands that wait for their time, a binary heap
 * @nr_heap: number of commands in @heap
 * @nr_late: number of admin commands in @heap
 * @seq: number of the last fetched command
 * @backlog_tries: number of times in a row that the timer found a backlog's queue full
 * @backlogged: completion queues with a backlog, one bit each
 * @lateness: lateness of completions
 */
struct nvmev_queues {
	struct nvmev_sq sq[NVMEV_MAX_QUEUES];
	struct nvmev_cq cq[NVMEV_MAX_QUEUES];
	struct list_head in_pieces;
	u32 nr_ids;
	u64 nr_handlers;

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
 * @id: its number; no command of it is being done in steps or pieces
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
 * nvmev_has_free_slot() - is there room for another command of an I/O queue?
 * @queues: the queues; without room their submission queues look empty
 */
bool nvmev_has_free_slot(const struct nvmev_queues *queues);

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
 * @goes_on: the caller has others to do, so it posts what is due by now; else a timer does that,
 *	in a moment, when whoever waits for it can run on this CPU
 */
void nvmev_cmd_complete(struct nvmev *nvmev, struct nvmev_cmd *cmd, bool goes_on);

/**
 * nvmev_cmds_complete() - post completions when they are due, those that are by now at once
 * @nvmev: the SSD
 * @cmds: commands, as in nvmev_cmd_complete()
 * @nr: number of them
 *
 * The timer is set once for all of them.
 */
void nvmev_cmds_complete(struct nvmev *nvmev, struct nvmev_cmd *const *cmds, u32 nr);

/**
 * nvmev_completions_arm_locked() - set the timer for the completion that is due next, if it is none
 *	of those that a power failure keeps back
 * @nvmev: the SSD, its post_lock held
 */
void nvmev_completions_arm_locked(struct nvmev *nvmev);

/**
 * nvmev_cmd_abort() - complete a command early that waits for its time, as aborted
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
 * @result: command-specific result
 * @due_ns: time of its completion, ktime_get()
 *
 * Context: the dispatcher.
 * Return: false if too many commands are in flight.
 */
bool nvmev_admin_complete_later(struct nvmev *nvmev, u16 cid, u32 result, u64 due_ns);

#endif /* NVMEV_QUEUE_H */
