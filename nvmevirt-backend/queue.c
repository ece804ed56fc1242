// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submission and completion queues, and the commands in flight between them.
 *
 * A fetched I/O command sits in a slot. When its data has been moved it goes into a
 * heap ordered by completion time, and one timer posts it at that time. A completion
 * that finds its queue full waits in the queue's backlog; an entry that the host has
 * not consumed is never overwritten. A deallocation that takes several steps is in
 * nvmev->trim until the last of them, one that is done in pieces in a list.
 *
 * Only the dispatcher creates and deletes queues; it fetches, or the timer in its turn (turn.h).
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "compat.h"
#include "nvmev.h"
#include "outage.h"
#include "queue.h"
#include "trace.h"

/* How long to wait before looking at a full completion queue again */
#define BACKLOG_MIN_NS		10000ULL
#define BACKLOG_MAX_TRIES	10U

/* As long as the host's handler for a few completions may take, on a slow machine */
#define HANDLER_NS		10000ULL

static u32 doorbell(const struct nvmev *nvmev, u32 index)
{
	return nvmev_pci_read32(&nvmev->pci, NVME_REG_DBS + index * sizeof(u32));
}

static void clear_doorbell(struct nvmev *nvmev, u32 index)
{
	nvmev_pci_write32(&nvmev->pci, NVME_REG_DBS + index * sizeof(u32), 0);
}

static u32 sq_tail(const struct nvmev *nvmev, u32 id)
{
	return doorbell(nvmev, 2 * id);
}

static u32 cq_head(const struct nvmev *nvmev, u32 id)
{
	return doorbell(nvmev, 2 * id + 1);
}

static bool cq_is_full(const struct nvmev *nvmev, u32 id)
{
	const struct nvmev_cq *cq = &nvmev->queues.cq[id];

	u32 head = cq_head(nvmev, id);

	/* Where the host really is nobody knows with a head that cannot be. */
	return head >= cq->depth || (READ_ONCE(cq->tail) + 1) % cq->depth == head;
}

bool nvmev_cq_is_bad(const struct nvmev *nvmev, u32 id)
{
	const struct nvmev_cq *cq = &nvmev->queues.cq[id];

	return READ_ONCE(cq->ring) && cq_head(nvmev, id) >= READ_ONCE(cq->depth) &&
	       !READ_ONCE(cq->is_bad);
}

/* Commands that complete later have their room already. */
static bool admin_has_room(const struct nvmev *nvmev)
{
	const struct nvmev_cq *cq = &nvmev->queues.cq[0];
	u32 head = cq_head(nvmev, 0);

	return cq->ring && head < cq->depth && !(READ_ONCE(nvmev->queues.backlogged) & BIT(0)) &&
	       (head + cq->depth - READ_ONCE(cq->tail) - 1) % cq->depth >
	       READ_ONCE(nvmev->queues.nr_late);
}

bool nvmev_has_free_slot(const struct nvmev_queues *queues)
{
	return READ_ONCE(queues->nr_free) > NVMEV_ADMIN_SLOTS;
}

enum nvmev_sq_state nvmev_sq_look(const struct nvmev *nvmev, u32 id)
{
	const struct nvmev_sq *sq = &nvmev->queues.sq[id];
	u32 tail;

	if (!READ_ONCE(sq->ring))
		return NVMEV_SQ_EMPTY;
	tail = sq_tail(nvmev, id);
	if (tail == READ_ONCE(sq->head))
		return NVMEV_SQ_EMPTY;
	if (tail >= sq->depth)
		return READ_ONCE(sq->is_bad) ? NVMEV_SQ_EMPTY : NVMEV_SQ_BAD;
	if (id ? !nvmev_has_free_slot(&nvmev->queues) : !admin_has_room(nvmev))
		return NVMEV_SQ_EMPTY;
	return NVMEV_SQ_READY;
}

static bool is_before(const struct nvmev_cmd *a, const struct nvmev_cmd *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->seq < b->seq;
}

static void heap_put(struct nvmev_queues *queues, u32 pos, struct nvmev_cmd *cmd)
{
	queues->heap[pos] = cmd;
	cmd->heap_pos = pos;
}

static void sift_up(struct nvmev_queues *queues, u32 pos, struct nvmev_cmd *cmd)
{
	while (pos && is_before(cmd, queues->heap[(pos - 1) / 2])) {
		heap_put(queues, pos, queues->heap[(pos - 1) / 2]);
		pos = (pos - 1) / 2;
	}
	heap_put(queues, pos, cmd);
}

static void sift_down(struct nvmev_queues *queues, u32 pos, struct nvmev_cmd *cmd)
{
	u32 child;

	while ((child = 2 * pos + 1) < queues->nr_heap) {
		if (child + 1 < queues->nr_heap &&
		    is_before(queues->heap[child + 1], queues->heap[child]))
			child++;
		if (!is_before(queues->heap[child], cmd))
			break;
		heap_put(queues, pos, queues->heap[child]);
		pos = child;
	}
	heap_put(queues, pos, cmd);
}

static void heap_remove(struct nvmev_queues *queues, struct nvmev_cmd *cmd)
{
	u32 pos = cmd->heap_pos;
	struct nvmev_cmd *last = queues->heap[--queues->nr_heap];

	if (last == cmd)
		return;
	if (pos && is_before(last, queues->heap[(pos - 1) / 2]))
		sift_up(queues, pos, last);
	else
		sift_down(queues, pos, last);
}

static void put_slot(struct nvmev_queues *queues, struct nvmev_cmd *cmd)
{
	kfree(cmd->copy);
	cmd->copy = NULL;
	list_add(&cmd->link, &queues->free);
	WRITE_ONCE(queues->nr_free, queues->nr_free + 1);
}

static struct nvmev_cmd *take_slot(struct nvmev_queues *queues)
{
	struct nvmev_cmd *cmd = list_first_entry(&queues->free, struct nvmev_cmd, link);

	list_del(&cmd->link);
	WRITE_ONCE(queues->nr_free, queues->nr_free - 1);
	cmd->seq = ++queues->seq;
	return cmd;
}

struct nvmev_cmd *nvmev_cmd_get(struct nvmev *nvmev)
{
	struct nvmev_queues *queues = &nvmev->queues;
	struct nvmev_cmd *cmd = NULL;
	unsigned long flags;

	spin_lock_irqsave(&queues->post_lock, flags);
	if (nvmev_has_free_slot(queues))
		cmd = take_slot(queues);
	spin_unlock_irqrestore(&queues->post_lock, flags);
	return cmd;
}

/* Write one entry; the queue must have room. The phase tag makes it the host's. */
static void write_entry_locked(struct nvmev *nvmev, const struct nvmev_cmd *cmd)
{
	const struct nvmev_sq *sq = &nvmev->queues.sq[cmd->sqid];
	struct nvmev_cq *cq = &nvmev->queues.cq[sq->cqid];
	struct nvme_completion *entry = &cq->ring[cq->tail];

	lockdep_assert_held(&nvmev->pci.access_lock);
	entry->result.u64 = cpu_to_le64(cmd->result);
	entry->sq_head = cpu_to_le16(READ_ONCE(sq->head));
	entry->sq_id = cpu_to_le16(cmd->sqid);
	entry->command_id = cmd->sqe.common.command_id;
	/* Pairs with the driver's read barrier after it has seen the phase tag. */
	dma_wmb();
	WRITE_ONCE(entry->status, cpu_to_le16(cmd->status << 1 | cq->phase));
	if (++cq->tail == cq->depth) {
		cq->tail = 0;
		cq->phase = !cq->phase;
	}
}

/*
 * The queue must have room. A completion for memory that the host has taken back is nobody's;
 * the dispatcher drops the queues as soon as it sees that.
 * Return: whether there is something to interrupt for.
 */
static bool write_completion(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	struct nvmev_pci *pci = &nvmev->pci;
	unsigned long flags;
	bool may_access;

	raw_spin_lock_irqsave(&pci->access_lock, flags);
	may_access = pci->may_access;
	if (may_access)
		write_entry_locked(nvmev, cmd);
	raw_spin_unlock_irqrestore(&pci->access_lock, flags);
	/* Else the clock is read for nobody. */
	if (may_access && cmd->sqid && trace_nvmev_done_enabled())
		trace_nvmev_done(nvmev, cmd, ktime_get_ns());
	put_slot(&nvmev->queues, cmd);
	return may_access;
}

/* Not of a command that took longer on purpose: its pauses are no fault of this machine. */
static void note_lateness_locked(struct nvmev_queues *queues, const struct nvmev_cmd *cmd,
				 u64 now_ns)
{
	struct nvmev_lateness *lateness = &queues->lateness;
	/* An aborted command is early, and would have taken any time. */
	bool is_due = now_ns >= cmd->due_ns;
	u64 late_ns = is_due ? now_ns - cmd->due_ns : 0;
	int bucket;

	lockdep_assert_held(&queues->post_lock);
	if (cmd->has_paused)
		return;
	lateness->nr++;
	lateness->nr_late += late_ns >= NVMEV_LATE_NS;
	lateness->sum_ns += late_ns;
	/* The power may have failed before it was fetched. */
	if (is_due && cmd->due_ns > cmd->fetched_ns)
		lateness->model_ns += cmd->due_ns - cmd->fetched_ns;
	lateness->worst_ns = max(lateness->worst_ns, late_ns);
	bucket = min(fls64(div_u64(late_ns, NSEC_PER_USEC)), DIEAWARE_LATE_BUCKETS - 1);
	lateness->bucket[bucket]++;
}

void nvmev_get_lateness(struct nvmev *nvmev, struct nvmev_lateness *lateness)
{
	unsigned long flags;

	spin_lock_irqsave(&nvmev->queues.post_lock, flags);
	*lateness = nvmev->queues.lateness;
	spin_unlock_irqrestore(&nvmev->queues.post_lock, flags);
}

/* Post a completion or put it off; returns the queue to interrupt for, as a bit. */
static unsigned long post_locked(struct nvmev *nvmev, struct nvmev_cmd *cmd, u64 now_ns)
{
	struct nvmev_queues *queues = &nvmev->queues;
	u32 cqid = queues->sq[cmd->sqid].cqid;
	struct nvmev_cq *cq = &queues->cq[cqid];

	lockdep_assert_held(&queues->post_lock);

	if (cmd->sqid)
		note_lateness_locked(queues, cmd, now_ns);
	else
		WRITE_ONCE(queues->nr_late, queues->nr_late - 1);
	if (!list_empty(&cq->backlog) || cq_is_full(nvmev, cqid)) {
		list_add_tail(&cmd->link, &cq->backlog);
		queues->backlogged |= BIT(cqid);
		return 0;
	}
	return write_completion(nvmev, cmd) ? BIT(cqid) : 0;
}

static unsigned long drain_backlog_locked(struct nvmev *nvmev, u32 cqid)
{
	struct nvmev_queues *queues = &nvmev->queues;
	struct nvmev_cq *cq = &queues->cq[cqid];
	unsigned long posted = 0;
	struct nvmev_cmd *cmd;

	lockdep_assert_held(&nvmev->queues.post_lock);

	while (!list_empty(&cq->backlog) && !cq_is_full(nvmev, cqid)) {
		cmd = list_first_entry(&cq->backlog, struct nvmev_cmd, link);
		list_del(&cmd->link);
		if (write_completion(nvmev, cmd))
			posted = BIT(cqid);
	}
	if (list_empty(&cq->backlog))
		queues->backlogged &= ~BIT(cqid);
	return posted;
}

static unsigned long drain_backlogs_locked(struct nvmev *nvmev)
{
	unsigned long backlogged = nvmev->queues.backlogged;
	unsigned long posted = 0;
	u32 cqid;

	lockdep_assert_held(&nvmev->queues.post_lock);

	for_each_set_bit(cqid, &backlogged, NVMEV_MAX_QUEUES)
		posted |= drain_backlog_locked(nvmev, cqid);
	return posted;
}

static void interrupt_locked(struct nvmev *nvmev, unsigned long cqs)
{
	u32 cqid;

	lockdep_assert_held(&nvmev->queues.post_lock);

	for_each_set_bit(cqid, &cqs, NVMEV_MAX_QUEUES)
		if (nvmev->queues.cq[cqid].interrupts)
			nvmev_pci_raise(nvmev->queues.cq[cqid].irq);
}

/* When the next completion is due; none is once the power has failed. */
static u64 next_due_locked(const struct nvmev *nvmev)
{
	const struct nvmev_queues *queues = &nvmev->queues;

	lockdep_assert_held(&nvmev->queues.post_lock);

	if (!queues->nr_heap || queues->heap[0]->due_ns >= READ_ONCE(nvmev->cut_ns))
		return U64_MAX;
	return queues->heap[0]->due_ns;
}

/* When the timer has to run next; each try for a full queue waits twice as long. */
void nvmev_completions_arm_locked(struct nvmev *nvmev)
{
	struct nvmev_queues *queues = &nvmev->queues;
	u64 next_ns = next_due_locked(nvmev);

	lockdep_assert_held(&queues->post_lock);

	if (queues->backlogged)
		next_ns = min(next_ns, ktime_get_ns() +
			      (BACKLOG_MIN_NS << queues->backlog_tries));
	if (next_ns != U64_MAX)
		hrtimer_start(&queues->done_timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS);
}

/*
 * Post what is due, and set the timer for what is not. What becomes due meanwhile goes with it: one
 * interrupt is for all of them.
 * Return: the queues to interrupt for, a bit each.
 */
static unsigned long post_due_locked(struct nvmev *nvmev, u64 now_ns)
{
	struct nvmev_queues *queues = &nvmev->queues;
	unsigned long posted = drain_backlogs_locked(nvmev);
	struct nvmev_cmd *cmd;

	lockdep_assert_held(&queues->post_lock);

	if (posted || !queues->backlogged)
		queues->backlog_tries = 0;
	while (next_due_locked(nvmev) <= now_ns) {
		cmd = queues->heap[0];
		heap_remove(queues, cmd);
		posted |= post_locked(nvmev, cmd, now_ns);
		if (queues->nr_heap)
			now_ns = ktime_get_ns();
	}
	nvmev_completions_arm_locked(nvmev);
	return posted;
}

/*
 * The interrupt of the one queue that was posted to, if its handler may run within the timer's:
 * then nothing else is due before it has ended, and there is no other queue to be told of. Posting
 * many takes a while, so the time is read anew. What another CPU starts meanwhile is not seen: if
 * that is due before the handler has ended, it is late by the rest of it.
 */
static struct nvmev_irq sole_irq_locked(const struct nvmev *nvmev, unsigned long posted)
{
	const struct nvmev_cq *cq = &nvmev->queues.cq[__ffs(posted)];
	u64 next_ns = next_due_locked(nvmev);
	struct nvmev_irq none = {};

	lockdep_assert_held(&nvmev->queues.post_lock);

	if (!is_power_of_2(posted) || !cq->interrupts ||
	    (next_ns != U64_MAX && next_ns < ktime_get_ns() + HANDLER_NS))
		return none;
	return cq->irq;
}

/* In place of raising an interrupt, if that can be */
static void handle(struct nvmev *nvmev, struct nvmev_irq irq)
{
	struct nvmev_queues *queues = &nvmev->queues;

	if (nvmev_pci_handle(irq))
		WRITE_ONCE(queues->nr_handlers, queues->nr_handlers + 1);
	else
		nvmev_pci_raise(irq);
}

static enum hrtimer_restart post_due(struct hrtimer *timer)
{
	struct nvmev *nvmev = container_of(timer, struct nvmev, queues.done_timer);
	struct nvmev_queues *queues = &nvmev->queues;
	u64 now_ns = ktime_get_ns();
	unsigned long flags, posted;
	struct nvmev_irq irq = {};
	bool starved;

	spin_lock_irqsave(&queues->post_lock, flags);
	starved = !nvmev_has_free_slot(queues) || (queues->backlogged & BIT(0));
	/* Unless there is room now */
	queues->backlog_tries = min(queues->backlog_tries + 1, BACKLOG_MAX_TRIES);
	posted = post_due_locked(nvmev, now_ns);
	if (posted)
		irq = sole_irq_locked(nvmev, posted);
	if (!irq.virq)
		interrupt_locked(nvmev, posted);
	spin_unlock_irqrestore(&queues->post_lock, flags);
	if (irq.virq)
		handle(nvmev, irq);
	if (starved && posted)
		nvmev_wake(nvmev);
	return HRTIMER_NORESTART;
}

void nvmev_cmd_complete(struct nvmev *nvmev, struct nvmev_cmd *cmd, bool goes_on)
{
	struct nvmev_queues *queues = &nvmev->queues;
	u64 now_ns = goes_on ? ktime_get_ns() : 0;
	unsigned long flags;

	spin_lock_irqsave(&queues->post_lock, flags);
	sift_up(queues, queues->nr_heap++, cmd);
	if (goes_on && cmd->due_ns <= now_ns)
		interrupt_locked(nvmev, post_due_locked(nvmev, now_ns));
	else if (!cmd->heap_pos)
		nvmev_completions_arm_locked(nvmev);
	spin_unlock_irqrestore(&queues->post_lock, flags);
}

void nvmev_cmds_complete(struct nvmev *nvmev, struct nvmev_cmd *const *cmds, u32 nr)
{
	struct nvmev_queues *queues = &nvmev->queues;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&queues->post_lock, flags);
	for (i = 0; i < nr; i++)
		sift_up(queues, queues->nr_heap++, cmds[i]);
	interrupt_locked(nvmev, post_due_locked(nvmev, ktime_get_ns()));
	spin_unlock_irqrestore(&queues->post_lock, flags);
}

/* Post a completion at another time than the timer's. */
static void post_now_locked(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	lockdep_assert_held(&nvmev->queues.post_lock);

	interrupt_locked(nvmev, post_locked(nvmev, cmd, ktime_get_ns()));
	/* It may have to wait, and the timer may have had nothing to wait for. */
	if (nvmev->queues.backlogged)
		nvmev_completions_arm_locked(nvmev);
}

static void complete_early_locked(struct nvmev *nvmev, struct nvmev_cmd *cmd, u16 status)
{
	lockdep_assert_held(&nvmev->queues.post_lock);

	cmd->status = status;
	heap_remove(&nvmev->queues, cmd);
	post_now_locked(nvmev, cmd);
}

bool nvmev_cmd_abort(struct nvmev *nvmev, u16 sqid, u16 cid)
{
	struct nvmev_queues *queues = &nvmev->queues;
	bool found = false;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&queues->post_lock, flags);
	for (i = 0; i < queues->nr_heap && !found; i++) {
		found = nvmev_cmd_is(queues->heap[i], sqid, cid);
		if (found)
			complete_early_locked(nvmev, queues->heap[i], NVME_SC_ABORT_REQ);
	}
	spin_unlock_irqrestore(&queues->post_lock, flags);
	return found;
}

/* After a queue has come or gone: each command goes through all that may exist. */
static void count_ids(struct nvmev_queues *queues)
{
	u32 nr = NVMEV_MAX_QUEUES;

	while (nr && !queues->sq[nr - 1].ring && !queues->cq[nr - 1].ring)
		nr--;
	WRITE_ONCE(queues->nr_ids, nr);
}

void nvmev_sq_create(struct nvmev *nvmev, u32 id, const struct nvmev_sq *sq)
{
	clear_doorbell(nvmev, 2 * id);
	nvmev->queues.cq[sq->cqid].nr_sqs++;
	nvmev->queues.sq[id] = *sq;
	count_ids(&nvmev->queues);
}

/* Commands in flight are lost to the host with their queue; it may not wait for them. */
static void abort_all_locked(struct nvmev *nvmev, u32 id)
{
	struct nvmev_queues *queues = &nvmev->queues;
	struct nvmev_cq *cq = &queues->cq[queues->sq[id].cqid];
	struct nvmev_cmd *cmd, *next;
	u32 i;

	lockdep_assert_held(&queues->post_lock);

	for (i = queues->nr_heap; i--;)
		/* Removing may bring a command that was not looked at yet to @i. */
		while (i < queues->nr_heap && queues->heap[i]->sqid == id)
			complete_early_locked(nvmev, queues->heap[i], NVME_SC_ABORT_QUEUE);
	list_for_each_entry_safe(cmd, next, &cq->backlog, link) {
		if (cmd->sqid == id) {
			list_del(&cmd->link);
			put_slot(queues, cmd);
		}
	}
}

void nvmev_sq_delete(struct nvmev *nvmev, u32 id)
{
	struct nvmev_queues *queues = &nvmev->queues;
	unsigned long flags;

	spin_lock_irqsave(&queues->post_lock, flags);
	abort_all_locked(nvmev, id);
	spin_unlock_irqrestore(&queues->post_lock, flags);
	WRITE_ONCE(queues->sq[id].ring, NULL);
	queues->cq[queues->sq[id].cqid].nr_sqs--;
	count_ids(queues);
}

void nvmev_cq_create(struct nvmev *nvmev, u32 id, const struct nvmev_cq *cq)
{
	struct nvmev_irq irq = nvmev_pci_find_irq(&nvmev->pci, cq->vector);
	struct nvmev_cq *slot = &nvmev->queues.cq[id];
	unsigned long flags;

	clear_doorbell(nvmev, 2 * id + 1);
	spin_lock_irqsave(&nvmev->queues.post_lock, flags);
	*slot = *cq;
	slot->tail = 0;
	slot->phase = true;
	slot->nr_sqs = 0;
	slot->irq = irq;
	INIT_LIST_HEAD(&slot->backlog);
	spin_unlock_irqrestore(&nvmev->queues.post_lock, flags);
	count_ids(&nvmev->queues);
}

static void drop_backlog_locked(struct nvmev_queues *queues, u32 id)
{
	struct nvmev_cmd *cmd, *next;

	lockdep_assert_held(&queues->post_lock);

	list_for_each_entry_safe(cmd, next, &queues->cq[id].backlog, link)
		put_slot(queues, cmd);
	INIT_LIST_HEAD(&queues->cq[id].backlog);
	queues->backlogged &= ~BIT(id);
}

void nvmev_cq_delete(struct nvmev *nvmev, u32 id)
{
	struct nvmev_queues *queues = &nvmev->queues;
	unsigned long flags;

	spin_lock_irqsave(&queues->post_lock, flags);
	drop_backlog_locked(queues, id);
	queues->cq[id].ring = NULL;
	spin_unlock_irqrestore(&queues->post_lock, flags);
	count_ids(queues);
}

bool nvmev_sq_peek(struct nvmev *nvmev, u32 id, struct nvme_command *sqe)
{
	const struct nvmev_sq *sq = &nvmev->queues.sq[id];
	struct nvmev_pci *pci = &nvmev->pci;
	unsigned long flags;
	bool may_access;

	raw_spin_lock_irqsave(&pci->access_lock, flags);
	may_access = pci->may_access;
	if (may_access) {
		/* The entry is the device's to read once the doorbell was seen. */
		dma_rmb();
		*sqe = sq->ring[sq->head];
	}
	raw_spin_unlock_irqrestore(&pci->access_lock, flags);
	return may_access;
}

void nvmev_sq_pop(struct nvmev *nvmev, u32 id)
{
	struct nvmev_sq *sq = &nvmev->queues.sq[id];

	WRITE_ONCE(sq->head, (sq->head + 1) % sq->depth);
}

static void fill_admin(struct nvmev_cmd *cmd, u16 cid, u16 status, u32 result)
{
	cmd->sqid = 0;
	cmd->sqe.common.command_id = cid;
	cmd->ns = NULL;
	cmd->status = status;
	cmd->result = result;
}

/*
 * A command that raises an event, or aborts a request for one, has two completions where
 * there was room for one. So they wait for room as those of I/O do, in slots of their own.
 */
void nvmev_admin_complete(struct nvmev *nvmev, u16 cid, u16 status, u32 result)
{
	struct nvmev_queues *queues = &nvmev->queues;
	/* The driver gives the admin vector another interrupt while it sets up queues. */
	struct nvmev_irq irq = nvmev_pci_find_irq(&nvmev->pci, 0);
	struct nvmev_cmd *cmd;
	unsigned long flags;

	spin_lock_irqsave(&queues->post_lock, flags);
	if (queues->cq[0].ring && !WARN_ON_ONCE(list_empty(&queues->free))) {
		queues->cq[0].irq = irq;
		cmd = take_slot(queues);
		fill_admin(cmd, cid, status, result);
		WRITE_ONCE(queues->nr_late, queues->nr_late + 1);
		post_now_locked(nvmev, cmd);
	}
	spin_unlock_irqrestore(&queues->post_lock, flags);
}

bool nvmev_admin_complete_later(struct nvmev *nvmev, u16 cid, u32 result, u64 due_ns)
{
	struct nvmev_queues *queues = &nvmev->queues;
	struct nvmev_irq irq = nvmev_pci_find_irq(&nvmev->pci, 0);
	struct nvmev_cmd *cmd = nvmev_cmd_get(nvmev);
	unsigned long flags;

	if (!cmd)
		return false;
	fill_admin(cmd, cid, 0, result);
	cmd->fetched_ns = nvmev_now(nvmev);
	cmd->due_ns = due_ns;
	spin_lock_irqsave(&queues->post_lock, flags);
	queues->cq[0].irq = irq;
	WRITE_ONCE(queues->nr_late, queues->nr_late + 1);
	spin_unlock_irqrestore(&queues->post_lock, flags);
	nvmev_cmd_complete(nvmev, cmd, false);
	return true;
}

void nvmev_queues_reset(struct nvmev *nvmev)
{
	struct nvmev_queues *queues = &nvmev->queues;
	struct nvmev_cmd *cmd, *next;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&queues->post_lock, flags);
	for (i = 0; i < queues->nr_heap; i++)
		put_slot(queues, queues->heap[i]);
	queues->nr_heap = 0;
	if (nvmev->trim.cmd)
		put_slot(queues, nvmev->trim.cmd);
	nvmev->trim.cmd = NULL;
	nvmev->trim.format.is_under_way = false;
	list_for_each_entry_safe(cmd, next, &queues->in_pieces, link)
		put_slot(queues, cmd);
	INIT_LIST_HEAD(&queues->in_pieces);
	WRITE_ONCE(queues->nr_late, 0);
	for (i = 0; i < NVMEV_MAX_QUEUES; i++) {
		drop_backlog_locked(queues, i);
		WRITE_ONCE(queues->sq[i].ring, NULL);
		queues->cq[i].ring = NULL;
	}
	spin_unlock_irqrestore(&queues->post_lock, flags);
	count_ids(queues);
}

int nvmev_queues_init(struct nvmev *nvmev)
{
	struct nvmev_queues *queues = &nvmev->queues;
	u32 i;

	spin_lock_init(&queues->post_lock);
	nvmev_timer_setup(&queues->done_timer, post_due);
	INIT_LIST_HEAD(&queues->free);
	INIT_LIST_HEAD(&queues->in_pieces);
	for (i = 0; i < NVMEV_MAX_QUEUES; i++)
		INIT_LIST_HEAD(&queues->cq[i].backlog);
	queues->slots = kvcalloc(NVMEV_ALL_SLOTS, sizeof(*queues->slots), GFP_KERNEL);
	queues->heap = kvcalloc(NVMEV_NR_SLOTS, sizeof(*queues->heap), GFP_KERNEL);
	if (!queues->slots || !queues->heap)
		return -ENOMEM;
	for (i = NVMEV_ALL_SLOTS; i--;)
		put_slot(queues, &queues->slots[i]);
	return 0;
}

void nvmev_queues_exit(struct nvmev *nvmev)
{
	kvfree(nvmev->queues.slots);
	kvfree(nvmev->queues.heap);
}
