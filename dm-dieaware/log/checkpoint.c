// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checkpoints: the steps that core/checkpoint.h asks for, done. Operations go on meanwhile; only
 * pages of the map cannot be evicted from when the directory is begun until the root is durable.
 */
#include <linux/wait.h>

#include "apply.h"
#include "commit.h"
#include "disk.h"
#include "log.h"
#include "trace.h"

static enum dmda_checkpoint_step next_step(struct dmda_log *log)
{
	enum dmda_checkpoint_step step;

	spin_lock_irq(&log->lock);
	step = dmda_checkpoint_next(&log->checkpoint.order);
	spin_unlock_irq(&log->lock);
	return step;
}

/* While a batch is being sealed, nobody knows the place of the next one. */
static void take_place(struct dmda_log *log)
{
	mutex_lock(&log->journal.commit_lock);
	spin_lock_irq(&log->lock);
	dmda_log_wait_commit_locked(log);
	log->checkpoint.order.next.journal = dmda_commit_root_place(&log->journal.commit);
	spin_unlock_irq(&log->lock);
	mutex_unlock(&log->journal.commit_lock);
}

static void wait_for_map_writes(struct dmda_log *log)
{
	spin_lock_irq(&log->lock);
	wait_event_lock_irq(log->wait, !log->tables.nr_map_writes, log->lock);
	spin_unlock_irq(&log->lock);
}

static int write_root(struct dmda_log *log, struct dmda_root *root, u32 order)
{
	u32 nr_pages = dmda_root_nr_pages(&log->super);
	int ret;

	spin_lock_irq(&log->lock);
	root->pages_written = log->checkpoint.pages_before + log->counters.user_pages +
		log->counters.moved_pages + log->counters.meta_pages;
	spin_unlock_irq(&log->lock);
	for (u32 i = 0; i < nr_pages; i++)
		dmda_root_encode(root, &log->super, log->tables.slots, i,
				 log->checkpoint.pages + i * DMDA_BLOCK_BYTES);
	ret = dmda_log_write(log, dmda_root_dpn(&log->super, root->epoch), log->checkpoint.pages,
			     nr_pages, dmda_log_opf(order));
	if (ret)
		dmda_log_fail(log, "writing a root", "the device reports an error");
	return ret;
}

static int wait_for_writes(struct dmda_log *log, struct dmda_log_writes *writes)
{
	int ret = dmda_log_writes_end(writes);

	dmda_log_writes_begin(writes, log);
	return ret;
}

static int do_step(struct dmda_log *log, struct dmda_log_writes *writes,
		   enum dmda_checkpoint_step step)
{
	struct dmda_checkpoint *order = &log->checkpoint.order;

	switch (step) {
	case DMDA_CHECKPOINT_COMMIT:
		return dmda_log_commit(log);
	case DMDA_CHECKPOINT_PLACE:
		take_place(log);
		return 0;
	case DMDA_CHECKPOINT_MAP:
		dmda_log_write_map(writes, order);
		return 0;
	case DMDA_CHECKPOINT_PAGE:
		dmda_log_write_page(writes, order->table, order->index);
		return 0;
	case DMDA_CHECKPOINT_PAUSE:
		return 0;
	case DMDA_CHECKPOINT_WAIT:
		return wait_for_writes(log, writes);
	case DMDA_CHECKPOINT_HOLD:
		wait_for_map_writes(log);
		return 0;
	case DMDA_CHECKPOINT_ROOT:
		return write_root(log, &order->next, order->order);
	default:
		return -EINVAL;
	}
}

static void did_step(struct dmda_log *log, int error)
{
	spin_lock_irq(&log->lock);
	dmda_checkpoint_did(&log->checkpoint.order, error);
	spin_unlock_irq(&log->lock);
}

static int take_checkpoint(struct dmda_log *log, bool is_clean)
{
	struct dmda_checkpoint *order = &log->checkpoint.order;
	struct dmda_log_writes writes;
	enum dmda_checkpoint_step step;

	dmda_log_writes_begin(&writes, log);
	dmda_checkpoint_begin(order, is_clean);
	while ((step = next_step(log)) < DMDA_CHECKPOINT_DONE)
		did_step(log, do_step(log, &writes, step));
	/* Who wants to write a page of the map may go on. */
	wake_up_all(&log->wait);
	trace_dmda_log_checkpoint(log->dmda->self_dev, order->next.epoch,
				  order->next.journal.sector, order->error);
	return order->error;
}

int dmda_log_checkpoint(struct dmda_log *log, bool is_clean)
{
	int ret;

	mutex_lock(&log->checkpoint.lock);
	ret = take_checkpoint(log, is_clean);
	mutex_unlock(&log->checkpoint.lock);
	dmda_log_spares_free(&log->spares);
	if (ret)
		return ret;
	spin_lock_irq(&log->lock);
	log->counters.nr_checkpoints++;
	dmda_log_begin_batch_locked(log);
	dmda_log_feed_locked(log);
	spin_unlock_irq(&log->lock);
	dmda_log_map_written(log);
	return 0;
}

static bool is_due(struct dmda_log *log)
{
	bool due;

	spin_lock_irq(&log->lock);
	due = log->state == DMDA_LOG_WRITE && dmda_log_needs_root_locked(log);
	spin_unlock_irq(&log->lock);
	return due;
}

void dmda_log_do_checkpoint(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, checkpoint.work);

	if (is_due(log))
		dmda_log_checkpoint(log, false);
}

int dmda_log_make_room(struct dmda_log *log)
{
	bool is_full;
	int ret = dmda_log_commit(log);

	if (ret)
		return ret;
	spin_lock_irq(&log->lock);
	is_full = !log->journal.commit.has_batch;
	spin_unlock_irq(&log->lock);
	/* The ring is full: only a root makes room there. */
	return is_full ? dmda_log_checkpoint(log, false) : 0;
}
