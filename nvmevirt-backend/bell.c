// SPDX-License-Identifier: GPL-2.0-only
/*
 * How an SSD learns that a doorbell was rung. The block layer's tracepoint block_rq_issue is passed
 * by each request just before the driver rings for it. With the first one for a disk of ours, the
 * disk's queue gets another table of functions: those that give requests to the driver call the
 * driver's own, and look at the doorbells when these have come back. So a command is fetched as
 * soon as it was rung for, by the CPU that did, without a timer or an interrupt. Nothing of the
 * driver's is changed. We keep hold of each queue that has such a table, and put its own back
 * before we let go: when the SSD is switched off, or when another disk is followed and this one has
 * gone.
 *
 * Requests that do not come this way are expected by the dispatcher, which looks by its timer: the
 * first ones, all where there is no memory for a table, and admin requests: these have no disk by
 * which to tell their device, so all expect them. The first ones are those that were in a function
 * of the driver's when the queue got its table, on whatever CPU. Nobody knows how many, so all are
 * expected for a grace period from then on, also those that come this way.
 *
 * Our functions are called under RCU, so none runs any more a grace period after a table was taken
 * away. The table itself others use as well, as long as they use the queue: it is freed when nobody
 * does. Queues whose functions may sleep get none.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "bell.h"
#include "dispatch.h"
#include "nvmev.h"

/* What several requests are given in: kernels differ. */
#define requests_t	typeof_member(struct blk_plug, mq_list)

/**
 * enum stage - how far the requests of a queue come by its table
 * @STAGE_NEW: the table has just been given to the queue
 * @STAGE_WAITED: calls of the driver's own functions may be under way yet, and are waited for
 * @STAGE_ALL: all requests come by the table
 */
enum stage { STAGE_NEW, STAGE_WAITED, STAGE_ALL };

/**
 * struct table - a queue's table of functions
 * @ops: the functions; what the queue has
 * @driver_ops: those of the driver
 * @queue: the queue; we hold it
 * @nvmev: the SSD whose disk it belongs to
 * @link: entry in the SSD's list
 * @stage: how far it has come
 */
struct table {
	struct blk_mq_ops ops;
	const struct blk_mq_ops *driver_ops;
	struct request_queue *queue;
	struct nvmev *nvmev;
	struct list_head link;
	enum stage stage;
};

static LIST_HEAD(watches);
static DEFINE_MUTEX(watches_lock);
static struct tracepoint *issue_tracepoint;

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd);

/* The queue's table, or NULL if it has none of ours: also when it has just been taken away. */
static struct table *table_of(struct request_queue *queue)
{
	const struct blk_mq_ops *ops = READ_ONCE(queue->mq_ops);

	if (ops->queue_rq != queue_rq)
		return NULL;
	return container_of((struct blk_mq_ops *)ops, struct table, ops);
}

/* The driver does not ring for a request that others follow at once. */
static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	const struct table *table = table_of(hctx->queue);
	bool is_last = bd->last;
	blk_status_t status;

	if (!table)
		return hctx->queue->mq_ops->queue_rq(hctx, bd);
	status = table->driver_ops->queue_rq(hctx, bd);
	if (is_last)
		nvmev_dispatch_rung(table->nvmev);
	return status;
}

static void commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	const struct table *table = table_of(hctx->queue);

	if (!table) {
		hctx->queue->mq_ops->commit_rqs(hctx);
		return;
	}
	table->driver_ops->commit_rqs(hctx);
	nvmev_dispatch_rung(table->nvmev);
}

/* All of these requests are for one queue. */
static void queue_rqs(requests_t *requests)
{
	struct request_queue *queue = rq_list_peek(requests)->q;
	const struct table *table = table_of(queue);

	if (!table) {
		queue->mq_ops->queue_rqs(requests);
		return;
	}
	table->driver_ops->queue_rqs(requests);
	nvmev_dispatch_rung(table->nvmev);
}

static void fill(struct table *table, struct nvmev *nvmev, struct request_queue *queue)
{
	table->nvmev = nvmev;
	table->queue = queue;
	table->driver_ops = queue->mq_ops;
	table->ops = *queue->mq_ops;
	table->ops.queue_rq = queue_rq;
	if (table->ops.commit_rqs)
		table->ops.commit_rqs = commit_rqs;
	if (table->ops.queue_rqs)
		table->ops.queue_rqs = queue_rqs;
}

/* Do all requests of the queue come by its table? */
static bool is_followed(struct request_queue *queue)
{
	const struct table *table = table_of(queue);

	return table && READ_ONCE(table->stage) == STAGE_ALL;
}

/* Give the queue a table. Without memory its requests are expected, as this one is. */
static void follow(struct nvmev *nvmev, struct request_queue *queue)
{
	struct nvmev_bell *bell = &nvmev->bell;
	struct table *table;
	unsigned long flags;

	if (table_of(queue) || queue->tag_set->flags & BLK_MQ_F_BLOCKING)
		return;
	table = kzalloc(sizeof(*table), GFP_ATOMIC | __GFP_NOWARN);
	if (!table)
		return;
	spin_lock_irqsave(&bell->lock, flags);
	if (!table_of(queue) && blk_get_queue(queue)) {
		fill(table, nvmev, queue);
		list_add_tail(&table->link, &bell->tables);
		/* Whoever sees the table sees what is in it. */
		smp_store_release(&queue->mq_ops, &table->ops);
		table = NULL;
	}
	spin_unlock_irqrestore(&bell->lock, flags);
	kfree(table);
	schedule_work(&bell->work);
}

/*
 * Has the disk gone, and all who used the queue with it? Who gives it requests uses the table under
 * RCU, but others do not, who wait for a request to complete or for its time to be over: each
 * of these uses the queue. None can begin to once it is dying.
 */
static bool is_over(struct request_queue *queue)
{
	return blk_queue_dying(queue) && percpu_ref_is_zero(&queue->q_usage_counter);
}

/*
 * Take the tables away, of all queues or of those whose disks have gone. Of the former no disk is
 * left either. If one were in use all the same it is better lost than freed: it has nothing that
 * goes with this module but the functions that are called under RCU.
 */
static void take_away(struct nvmev_bell *bell, bool all)
{
	struct table *table, *next;
	LIST_HEAD(gone);

	spin_lock_irq(&bell->lock);
	list_for_each_entry_safe(table, next, &bell->tables, link) {
		if (!all && !is_over(table->queue))
			continue;
		WRITE_ONCE(table->queue->mq_ops, table->driver_ops);
		list_move(&table->link, &gone);
	}
	spin_unlock_irq(&bell->lock);
	if (list_empty(&gone))
		return;
	synchronize_rcu();
	list_for_each_entry_safe(table, next, &gone, link) {
		if (WARN_ON_ONCE(!is_over(table->queue)))
			continue;
		blk_put_queue(table->queue);
		kfree(table);
	}
}

/* Take those tables that are at one stage to the next. Return: whether there were any. */
static bool promote(struct nvmev_bell *bell, enum stage from, enum stage to)
{
	struct table *table;
	bool did = false;

	spin_lock_irq(&bell->lock);
	list_for_each_entry(table, &bell->tables, link) {
		if (table->stage != from)
			continue;
		WRITE_ONCE(table->stage, to);
		did = true;
	}
	spin_unlock_irq(&bell->lock);
	return did;
}

/* A queue has a new table, maybe in the place of one whose disk has gone. */
static void settle(struct work_struct *work)
{
	struct nvmev_bell *bell = container_of(work, struct nvmev_bell, work);

	take_away(bell, false);
	if (!promote(bell, STAGE_NEW, STAGE_WAITED))
		return;
	synchronize_rcu();
	promote(bell, STAGE_WAITED, STAGE_ALL);
}

static bool is_disk_of(const struct device *disk, const struct nvmev *nvmev)
{
	/* disk -> controller -> PCI function */
	if (!disk->parent || !disk->parent->parent || !dev_is_pci(disk->parent->parent))
		return false;
	return to_pci_dev(disk->parent->parent)->bus == nvmev->pci.bus;
}

static void on_issue(void *data, struct request *rq)
{
	struct gendisk *disk = rq->q->disk;
	struct nvmev_watch *watch;
	struct nvmev *nvmev;

	/* Whoever gives it to the driver looks at the doorbells then. */
	if (is_followed(rq->q))
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(watch, &watches, link) {
		nvmev = nvmev_of_watch(watch);
		if (disk && !is_disk_of(disk_to_dev(disk), nvmev))
			continue;
		nvmev_dispatch_expect(nvmev, !disk);
		if (disk) {
			follow(nvmev, rq->q);
			break;
		}
	}
	rcu_read_unlock();
}

static void find_tracepoint(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "block_rq_issue"))
		issue_tracepoint = tracepoint;
}

int nvmev_bell_register(void)
{
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (!issue_tracepoint)
		return -ENOENT;
	return tracepoint_probe_register(issue_tracepoint, on_issue, NULL);
}

void nvmev_bell_unregister(void)
{
	if (issue_tracepoint)
		tracepoint_probe_unregister(issue_tracepoint, on_issue, NULL);
	tracepoint_synchronize_unregister();
}

void nvmev_bell_init(struct nvmev *nvmev)
{
	spin_lock_init(&nvmev->bell.lock);
	INIT_LIST_HEAD(&nvmev->bell.tables);
	INIT_WORK(&nvmev->bell.work, settle);
}

void nvmev_bell_exit(struct nvmev *nvmev)
{
	cancel_work_sync(&nvmev->bell.work);
	take_away(&nvmev->bell, true);
}

void nvmev_bell_attach(struct nvmev *nvmev)
{
	mutex_lock(&watches_lock);
	list_add_tail_rcu(&nvmev->watch.link, &watches);
	mutex_unlock(&watches_lock);
}

void nvmev_bell_detach(struct nvmev *nvmev)
{
	mutex_lock(&watches_lock);
	list_del_rcu(&nvmev->watch.link);
	mutex_unlock(&watches_lock);
	synchronize_rcu();
}
