// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot is chosen, the page copied and its mark taken away in one go: an operation that comes
 * later marks it again, so either the copy knows it or the next checkpoint writes it.
 */
#include "root.h"
#include "writeback.h"

static void choose_slot(const struct dmda_tables *tables, struct dmda_writeback *write)
{
	write->slot = dmda_slots_target(&tables->slots[write->table], write->index);
	write->nr_entries = 0;
}

void dmda_writeback_take_map(const struct dmda_tables *tables, struct dmda_writeback *write,
			     struct dmda_map_page *page)
{
	write->table = DMDA_TABLE_MAP;
	write->index = page->index;
	choose_slot(tables, write);
	write->seq = page->seq;
	memcpy(write->copy, page->block, DMDA_BLOCK_BYTES);
	page->dirty_sector = U64_MAX;
}

static void take_segments(const struct dmda_tables *tables, struct dmda_writeback *write)
{
	struct dmda_segments_page *page = &tables->segments->page[write->index];

	write->seq = page->seq;
	write->nr_entries = dmda_segments_encode(tables->segments, write->index, write->copy);
	page->dirty_sector = U64_MAX;
}

static void take_opened(const struct dmda_tables *tables, struct dmda_writeback *write)
{
	struct dmda_opened_page *page = &tables->opened->page[write->index];

	write->seq = page->seq;
	dmda_opened_copy(tables->opened, write->index, write->copy);
	page->dirty_sector = U64_MAX;
}

void dmda_writeback_take(const struct dmda_tables *tables, struct dmda_writeback *write,
			 u64 epoch)
{
	choose_slot(tables, write);
	switch (write->table) {
	case DMDA_TABLE_SEGMENTS:
		take_segments(tables, write);
		break;
	case DMDA_TABLE_OPEN:
		take_opened(tables, write);
		break;
	default:
		write->seq = epoch;
		dmda_directory_encode(tables->super, &tables->slots[DMDA_TABLE_MAP], write->index,
				      write->slot, epoch, write->copy);
	}
}

void dmda_writeback_seal(const struct dmda_tables *tables, struct dmda_writeback *write,
			 u64 epoch)
{
	struct dmda_block_id id = dmda_super_page_id(tables->super, write->table, write->index,
						     write->slot, write->seq);

	/* The directory's are sealed as they are made. */
	if (write->table == DMDA_TABLE_DIRECTORY)
		return;
	if (write->nr_entries)
		id.nr_entries = write->nr_entries;
	id.epoch = epoch;
	dmda_block_seal(write->copy, &id);
}

void dmda_writeback_done(const struct dmda_tables *tables, const struct dmda_writeback *write)
{
	dmda_slots_written(&tables->slots[write->table], write->index, write->slot, write->seq);
}
