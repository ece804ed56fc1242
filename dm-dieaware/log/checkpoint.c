// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checkpoints: pages of tables that have changed are written, then the directory, then
 * the journal once more, then the root. Operations go on meanwhile; only pages of the map
 * cannot be evicted from when the directory is begun until the root is durable.
 */
#include <linux/wait.h>

#include "disk.h"
#include "log.h"
#include "trace.h"
#include "write.h"

/* From now on no slot of the map changes; those on their way are waited for. */
static void begin_root(struct dmda_log *log)
{
	spin_lock_irq(&log->lock);
	dmda_slots_begin(&log->tables.slots[DMDA_TABLE_MAP]);
	wait_event_lock_irq(log->wait, !log->tables.nr_map_writes, log->lock);
	spin_unlock_irq(&log->lock);
}

static int write_root(struct dmda_log *log, struct dmda_root *root)
{
	u32 nr_pages = dmda_root_nr_pages(&log->super);
	int ret;

	spin_lock_irq(&log->lock);
	root->is_clean = root->is_clean && !log->journal.batch.nr_used;
	root->pages_written = log->checkpoint.pages_before + log->counters.user_pages +
		log->counters.moved_pages + log->counters.meta_pages;
	spin_unlock_irq(&log->lock);
	for (u32 i = 0; i < nr_pages; i++)
		dmda_root_encode(root, &log->super, log->tables.slots, i,
				 log->checkpoint.pages + i * DMDA_BLOCK_BYTES);
	ret = dmda_log_write(log, dmda_root_dpn(&log->super, root->epoch), log->checkpoint.pages,
			     nr_pages, REQ_PREFLUSH | REQ_FUA);
	if (ret)
		dmda_log_fail(log, "writing a root", "the device reports an error");
	return ret;
}

static void end_root(struct dmda_log *log, const struct dmda_root *root, bool durable)
{
	spin_lock_irq(&log->lock);
	for (int i = 0; i < DMDA_NR_TABLES; i++)
		dmda_slots_end(&log->tables.slots[i], durable);
	if (durable) {
		log->checkpoint.root = *root;
		log->counters.nr_checkpoints++;
	}
	spin_unlock_irq(&log->lock);
	wake_up_all(&log->wait);
}

static int take_checkpoint(struct dmda_log *log, bool is_clean)
{
	struct dmda_root root;
	int ret = dmda_log_commit(log);

	if (ret)
		return ret;
	spin_lock_irq(&log->lock);
	root = log->checkpoint.root;
	root.epoch++;
	root.journal = log->journal.has_batch ? log->journal.batch.first : log->journal.next_place;
	root.is_clean = is_clean;
	spin_unlock_irq(&log->lock);

	ret = dmda_log_write_tables(log, root.journal.sector);
	begin_root(log);
	if (!ret)
		ret = dmda_log_write_directory(log, root.epoch);
	spin_lock_irq(&log->lock);
	for (int i = 0; i < DMDA_NR_TABLES; i++)
		dmda_slots_begin(&log->tables.slots[i]);
	spin_unlock_irq(&log->lock);
	/* What the pages know beyond the journal's durable end must not be needed. */
	if (!ret)
		ret = dmda_log_commit(log);
	if (!ret)
		ret = write_root(log, &root);
	end_root(log, &root, !ret);
	trace_dmda_log_checkpoint(log->dmda->self_dev, root.epoch, root.journal.sector, ret);
	return ret;
}

int dmda_log_checkpoint(struct dmda_log *log, bool is_clean)
{
	int ret;

	mutex_lock(&log->checkpoint.lock);
	ret = take_checkpoint(log, is_clean);
	mutex_unlock(&log->checkpoint.lock);
	if (ret)
		return ret;
	spin_lock_irq(&log->lock);
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
	due = log->state == DMDA_LOG_WRITE &&
		dmda_journal_room(&log->super, &log->checkpoint.root.journal,
				  &log->journal.next_place) < log->super.journal_sectors / 2;
	spin_unlock_irq(&log->lock);
	return due;
}

void dmda_log_do_checkpoint(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, checkpoint.work);

	if (is_due(log))
		dmda_log_checkpoint(log, false);
}
