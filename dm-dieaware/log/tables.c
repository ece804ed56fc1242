// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing pages of tables, each to the slot that the last root does not name. A page is copied
 * while it cannot change, and written from the copy: whoever changes it meanwhile does not wait.
 */
#include <linux/wait.h>

#include "log.h"

/* The kernel gives nobody more than INT_MAX bytes at once, however much it has. */
bool dmda_log_tables_too_large(const struct dmda_super *super)
{
	size_t most = max(dmda_segments_bytes(super), dmda_lifetimes_bytes(super));

	for (int i = 0; i < DMDA_NR_TABLES; i++)
		most = max(most, dmda_slots_bytes(dmda_super_nr_pages(super, i)));
	return most > INT_MAX;
}

/*
 * Pages of the map that are looked at under one holding of the lock: where few of a large map are
 * in memory, the way to the next takes thousands of instructions.
 */
#define LOOK_AT_ONCE	2U

/* Pages that are being written at a time */
#define MAX_AT_ONCE	128

void dmda_log_writes_begin(struct dmda_log_writes *writes, struct dmda_log *log)
{
	writes->log = log;
	dmda_log_group_begin(&writes->group);
}

int dmda_log_writes_end(struct dmda_log_writes *writes)
{
	return dmda_log_group_end(&writes->group) ? 0 : -EIO;
}

/* Return: whether it is out of the map. */
static bool map_page_is_written_locked(struct dmda_log *log, struct dmda_log_page *page,
				       bool failed)
{
	lockdep_assert_held(&log->lock);

	page->is_writing = false;
	log->tables.nr_map_writes--;
	/* What is on the device is older, and nothing can be written any more: it must stay. */
	if (failed)
		page->map.dirty_sector = 0;
	dmda_log_page_put_locked(log, page);
	return page->is_leaving && dmda_log_page_leaves_locked(log, page);
}

static void end_write(struct dmda_log_page_write *write, bool failed)
{
	struct dmda_log_writes *writes = write->writes;
	struct dmda_log *log = writes->log;
	bool has_left = false;
	unsigned long flags;

	spin_lock_irqsave(&log->lock, flags);
	if (!failed)
		dmda_writeback_done(&log->checkpoint.order.tables, &write->core);
	if (write->page)
		has_left = map_page_is_written_locked(log, write->page, failed);
	spin_unlock_irqrestore(&log->lock, flags);
	if (has_left)
		dmda_log_page_free(log, write->page);
	wake_up_all(&log->wait);
	mempool_free(virt_to_page(write->core.copy), &log->tables.buffers);
	mempool_free(write, &log->tables.writes);
	dmda_log_group_put(&writes->group, failed);
}

static void page_is_written(struct bio *bio)
{
	struct dmda_log_page_write *write = bio->bi_private;
	bool failed = bio->bi_status;

	bio_put(bio);
	if (failed)
		dmda_log_fail(write->writes->log, "writing a table", "the device reports an error");
	end_write(write, failed);
}

static struct dmda_log_page_write *new_write(struct dmda_log_writes *writes)
{
	struct dmda_log *log = writes->log;
	struct dmda_log_page_write *write;

	wait_event(log->wait, atomic_read(&writes->group.nr_left) < MAX_AT_ONCE);
	write = mempool_alloc(&log->tables.writes, GFP_NOIO);
	write->writes = writes;
	write->page = NULL;
	write->core.copy = page_address(mempool_alloc(&log->tables.buffers, GFP_NOIO));
	dmda_log_group_get(&writes->group);
	return write;
}

static void seal_and_submit(struct dmda_log_page_write *write)
{
	struct dmda_log *log = write->writes->log;
	const struct dmda_tables *tables = &log->checkpoint.order.tables;
	struct bio *bio = bio_alloc_bioset(log->bdev, 1, REQ_OP_WRITE | REQ_META, GFP_NOIO,
					   &log->own_bios);

	dmda_writeback_seal(tables, &write->core, READ_ONCE(log->checkpoint.root.epoch) + 1);
	bio->bi_iter.bi_sector = dmda_log_sector(log, dmda_writeback_dpn(tables, &write->core));
	bio->bi_end_io = page_is_written;
	bio->bi_private = write;
	__bio_add_page(bio, virt_to_page(write->core.copy), DMDA_BLOCK_BYTES, 0);
	submit_bio(bio);
}

/* Only one write of a page at a time, and none while a root is on its way. */
static bool can_write_locked(const struct dmda_log *log, const struct dmda_log_page *page)
{
	lockdep_assert_held(&log->lock);

	return !page->is_writing && !log->tables.slots[DMDA_TABLE_MAP].pending;
}

/*
 * A root that could not be written may be there all the same, and names slots that the one before
 * does not: when the device has failed, all of them stay as they are.
 */
static bool take_map_page_locked(struct dmda_log *log, struct dmda_log_page_write *write)
{
	lockdep_assert_held(&log->lock);

	write->page->is_writing = true;
	log->tables.nr_map_writes++;
	if (log->state == DMDA_LOG_FAILED)
		return false;
	log->counters.meta_pages++;
	dmda_writeback_take_map(&log->checkpoint.order.tables, &write->core, &write->page->map);
	return true;
}

void dmda_log_write_map_page(struct dmda_log_writes *writes, struct dmda_log_page *page)
{
	struct dmda_log *log = writes->log;
	struct dmda_log_page_write *write = new_write(writes);
	bool may_write;

	write->page = page;
	spin_lock_irq(&log->lock);
	wait_event_lock_irq(log->wait, can_write_locked(log, page), log->lock);
	may_write = take_map_page_locked(log, write);
	spin_unlock_irq(&log->lock);
	if (may_write)
		seal_and_submit(write);
	else
		end_write(write, true);
}

/* Pins pages of the map that a checkpoint needs. Return: how many. */
static u32 find_map_pages(struct dmda_log *log, const struct dmda_checkpoint *checkpoint,
			  unsigned long *index, struct dmda_log_page **pages)
{
	struct dmda_log_page *page;
	u32 nr = 0;

	spin_lock_irq(&log->lock);
	for (u32 i = 0; i < LOOK_AT_ONCE; i++, ++*index) {
		page = xa_find(&log->cache.pages, index, ULONG_MAX, XA_PRESENT);
		if (!page) {
			*index = ULONG_MAX;
			break;
		}
		if (!dmda_checkpoint_needs(checkpoint, page->map.dirty_sector))
			continue;
		page->nr_pins++;
		pages[nr++] = page;
	}
	spin_unlock_irq(&log->lock);
	return nr;
}

void dmda_log_write_map(struct dmda_log_writes *writes, const struct dmda_checkpoint *checkpoint)
{
	struct dmda_log_page *pages[LOOK_AT_ONCE];
	unsigned long index = 0;
	struct blk_plug plug;

	/* They go down in batches, at the latest when there is something to wait for. */
	blk_start_plug(&plug);
	while (index != ULONG_MAX) {
		u32 nr = find_map_pages(writes->log, checkpoint, &index, pages);

		for (u32 i = 0; i < nr; i++)
			dmda_log_write_map_page(writes, pages[i]);
		cond_resched();
	}
	blk_finish_plug(&plug);
}

void dmda_log_write_page(struct dmda_log_writes *writes, enum dmda_table table, u64 index)
{
	struct dmda_log *log = writes->log;
	struct dmda_log_page_write *write = new_write(writes);

	write->core.table = table;
	write->core.index = index;
	spin_lock_irq(&log->lock);
	dmda_writeback_take(&log->checkpoint.order.tables, &write->core,
			    log->checkpoint.root.epoch + 1);
	if (table != DMDA_TABLE_DIRECTORY)
		log->counters.meta_pages++;
	spin_unlock_irq(&log->lock);
	seal_and_submit(write);
}
