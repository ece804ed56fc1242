// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing pages of tables, each to the slot that the last root does not name. A page is copied
 * while it cannot change, and written from the copy: whoever changes it meanwhile does not wait.
 */
#include <linux/wait.h>

#include "log.h"

/* Pages of the map that are looked at under one holding of the lock */
#define LOOK_AT_ONCE	64U

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

static void page_is_written(struct bio *bio)
{
	struct dmda_log_page_write *write = bio->bi_private;
	struct dmda_log_writes *writes = write->writes;
	struct dmda_log *log = writes->log;
	bool failed = bio->bi_status, has_left = false;
	unsigned long flags;

	bio_put(bio);
	if (failed)
		dmda_log_fail(log, "writing a table", "the device reports an error");
	spin_lock_irqsave(&log->lock, flags);
	if (!failed)
		dmda_slots_written(&log->tables.slots[write->table], write->index, write->slot,
				   write->seq);
	if (write->page)
		has_left = map_page_is_written_locked(log, write->page, failed);
	spin_unlock_irqrestore(&log->lock, flags);
	if (has_left)
		dmda_log_page_free(log, write->page);
	wake_up_all(&log->wait);
	mempool_free(virt_to_page(write->buffer), &log->tables.buffers);
	mempool_free(write, &log->tables.writes);
	dmda_log_group_put(&writes->group, failed);
}

static struct dmda_log_page_write *new_write(struct dmda_log_writes *writes,
					     enum dmda_table table, u64 index)
{
	struct dmda_log *log = writes->log;
	struct dmda_log_page_write *write;

	wait_event(log->wait, atomic_read(&writes->group.nr_left) < MAX_AT_ONCE);
	write = mempool_alloc(&log->tables.writes, GFP_NOIO);
	write->writes = writes;
	write->page = NULL;
	write->buffer = page_address(mempool_alloc(&log->tables.buffers, GFP_NOIO));
	write->table = table;
	write->index = index;
	dmda_log_group_get(&writes->group);
	return write;
}

static void submit_page(struct dmda_log_page_write *write)
{
	struct dmda_log *log = write->writes->log;
	struct bio *bio = bio_alloc_bioset(log->bdev, 1, REQ_OP_WRITE | REQ_META, GFP_NOIO,
					   &log->own_bios);

	bio->bi_iter.bi_sector =
		dmda_log_sector(log, dmda_super_slot(&log->super, write->table, write->index,
						     write->slot));
	bio->bi_end_io = page_is_written;
	bio->bi_private = write;
	__bio_add_page(bio, virt_to_page(write->buffer), DMDA_BLOCK_BYTES, 0);
	submit_bio(bio);
}

static void seal_page(struct dmda_log_page_write *write, u32 nr_entries)
{
	struct dmda_log *log = write->writes->log;
	struct dmda_block_id id = dmda_super_page_id(&log->super, write->table, write->index,
						     write->slot, write->seq);

	if (nr_entries)
		id.nr_entries = nr_entries;
	id.epoch = READ_ONCE(log->checkpoint.root.epoch) + 1;
	dmda_block_seal(write->buffer, &id);
}

/* Only one write of a page at a time, and none while a root is on its way. */
static bool can_write_locked(const struct dmda_log *log, const struct dmda_log_page *page)
{
	lockdep_assert_held(&log->lock);

	return !page->is_writing && !log->tables.slots[DMDA_TABLE_MAP].pending;
}

void dmda_log_write_map_page(struct dmda_log_writes *writes, struct dmda_log_page *page)
{
	struct dmda_log *log = writes->log;
	struct dmda_log_page_write *write = new_write(writes, DMDA_TABLE_MAP, page->map.index);

	write->page = page;
	spin_lock_irq(&log->lock);
	wait_event_lock_irq(log->wait, can_write_locked(log, page), log->lock);
	page->is_writing = true;
	log->tables.nr_map_writes++;
	log->counters.meta_pages++;
	write->slot = dmda_slots_target(&log->tables.slots[DMDA_TABLE_MAP], page->map.index);
	write->seq = page->map.seq;
	memcpy(write->buffer, page->map.block, DMDA_BLOCK_BYTES);
	page->map.dirty_sector = U64_MAX;
	spin_unlock_irq(&log->lock);
	seal_page(write, 0);
	submit_page(write);
}

/* Pins pages of the map that know operations before a sector. Return: how many. */
static u32 find_map_pages(struct dmda_log *log, u64 before, unsigned long *index,
			  struct dmda_log_page **pages)
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
		if (page->map.dirty_sector >= before)
			continue;
		page->nr_pins++;
		pages[nr++] = page;
	}
	spin_unlock_irq(&log->lock);
	return nr;
}

static void write_map(struct dmda_log_writes *writes, u64 before)
{
	struct dmda_log_page *pages[LOOK_AT_ONCE];
	unsigned long index = 0;

	while (index != ULONG_MAX) {
		u32 nr = find_map_pages(writes->log, before, &index, pages);

		for (u32 i = 0; i < nr; i++)
			dmda_log_write_map_page(writes, pages[i]);
		cond_resched();
	}
}

static void write_segments_page(struct dmda_log_writes *writes, u64 index)
{
	struct dmda_log *log = writes->log;
	struct dmda_log_page_write *write = new_write(writes, DMDA_TABLE_SEGMENTS, index);
	struct dmda_segments_page *page = &log->space.segments.page[index];
	u32 nr_entries;

	spin_lock_irq(&log->lock);
	write->slot = dmda_slots_target(&log->tables.slots[DMDA_TABLE_SEGMENTS], index);
	write->seq = page->seq;
	nr_entries = dmda_segments_encode(&log->space.segments, index, write->buffer);
	page->dirty_sector = U64_MAX;
	log->counters.meta_pages++;
	spin_unlock_irq(&log->lock);
	seal_page(write, nr_entries);
	submit_page(write);
}

static void write_opened_page(struct dmda_log_writes *writes, u64 index)
{
	struct dmda_log *log = writes->log;
	struct dmda_log_page_write *write = new_write(writes, DMDA_TABLE_OPEN, index);
	struct dmda_opened_page *page = &log->space.opened.page[index];

	spin_lock_irq(&log->lock);
	write->slot = dmda_slots_target(&log->tables.slots[DMDA_TABLE_OPEN], index);
	write->seq = page->seq;
	memcpy(write->buffer, &log->space.opened.block[index], DMDA_BLOCK_BYTES);
	page->dirty_sector = U64_MAX;
	log->counters.meta_pages++;
	spin_unlock_irq(&log->lock);
	seal_page(write, 0);
	submit_page(write);
}

int dmda_log_write_tables(struct dmda_log *log, u64 before)
{
	struct dmda_log_writes writes;

	dmda_log_writes_begin(&writes, log);
	write_map(&writes, before);
	for (u64 i = 0; i < log->tables.slots[DMDA_TABLE_SEGMENTS].nr_pages; i++) {
		if (READ_ONCE(log->space.segments.page[i].dirty_sector) < before)
			write_segments_page(&writes, i);
	}
	for (u64 i = 0; i < log->tables.slots[DMDA_TABLE_OPEN].nr_pages; i++) {
		if (READ_ONCE(log->space.opened.page[i].dirty_sector) < before)
			write_opened_page(&writes, i);
	}
	return dmda_log_writes_end(&writes);
}

int dmda_log_write_directory(struct dmda_log *log, u64 epoch)
{
	const struct dmda_slots *slots = &log->tables.slots[DMDA_TABLE_DIRECTORY];
	struct dmda_log_writes writes;

	dmda_log_writes_begin(&writes, log);
	for (u64 i = 0; i < slots->nr_pages; i++) {
		struct dmda_log_page_write *write;

		if (!dmda_slots_changed(&log->tables.slots[DMDA_TABLE_MAP], i))
			continue;
		write = new_write(&writes, DMDA_TABLE_DIRECTORY, i);
		write->slot = dmda_slots_target(slots, i);
		write->seq = epoch;
		dmda_directory_encode(&log->super, &log->tables.slots[DMDA_TABLE_MAP], i,
				      write->slot, epoch, write->buffer);
		submit_page(write);
	}
	return dmda_log_writes_end(&writes);
}
