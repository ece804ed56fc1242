/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page of a table on its way to the device: copied while it cannot change, to the slot that the
 * last durable root does not name, and known as the newest one when it is written.
 *
 *	take	under the lock that protects the tables; from now on the page is not dirty, and
 *		what changes it makes it so again
 *	seal	without: header and checksum
 *	done	under the lock, if it was written
 *
 * What could not be written is not done, and the page is dirty with @dirty_sector 0 if it is needed
 * again.
 */
#ifndef DMDA_WRITEBACK_H
#define DMDA_WRITEBACK_H

#include "change.h"
#include "opened.h"
#include "slots.h"

/**
 * struct dmda_tables - what the tables' pages consist of
 * @super: superblock of the device
 * @slots: slots of the tables' pages, by table
 * @segments: segment table
 * @opened: open summaries
 */
struct dmda_tables {
	const struct dmda_super *super;
	struct dmda_slots *slots;
	struct dmda_segments *segments;
	struct dmda_opened *opened;
};

/**
 * struct dmda_writeback - a page on its way
 * @copy: DMDA_BLOCK_BYTES bytes, the caller's
 * @table: table of the page
 * @index: number of the page in @table
 * @nr_entries: entries in use, or 0: as many as there can be
 * @slot: slot to which it is written
 * @seq: newest operation that the copy knows; of a page of the directory, epoch of the root
 */
struct dmda_writeback {
	void *copy;
	enum dmda_table table;
	u64 index;
	u32 nr_entries;
	u32 slot;
	u64 seq;
};

/**
 * dmda_writeback_take_map() - copy a page of the map
 * @write: with its copy; the rest is set
 * @page: not one that is being written, and no root is
 */
void dmda_writeback_take_map(const struct dmda_tables *tables, struct dmda_writeback *write,
			     struct dmda_map_page *page);

/**
 * dmda_writeback_take() - copy a page of another table
 * @write: with its copy, table and index; the rest is set
 * @epoch: epoch of the next root
 */
void dmda_writeback_take(const struct dmda_tables *tables, struct dmda_writeback *write,
			 u64 epoch);

/**
 * dmda_writeback_seal() - make the copy ready to be written
 * @epoch: epoch of the next root
 */
void dmda_writeback_seal(const struct dmda_tables *tables, struct dmda_writeback *write,
			 u64 epoch);

/**
 * dmda_writeback_done() - it is written
 */
void dmda_writeback_done(const struct dmda_tables *tables, const struct dmda_writeback *write);

/* Where the copy goes. */
static inline dpn_t dmda_writeback_dpn(const struct dmda_tables *tables,
				       const struct dmda_writeback *write)
{
	return dmda_super_slot(tables->super, write->table, write->index, write->slot);
}

#endif /* DMDA_WRITEBACK_H */
