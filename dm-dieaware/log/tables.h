/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables on the device: what a page of them is, and in which of its two slots the valid one is.
 * A page is copied while it cannot change, and written from the copy.
 */
#ifndef DMDA_LOG_TABLES_H
#define DMDA_LOG_TABLES_H

#include <linux/mempool.h>

#include "../core/writeback.h"
#include "group.h"

struct dmda_checkpoint;
struct dmda_log;
struct dmda_log_page;

/**
 * struct dmda_log_tables - slots of the tables' pages
 * @slots: slots by table; the only place where it is known where a page is to be read from
 * @slots_memory: memory of @slots
 * @nr_map_writes: number of pages of the map that are being written
 * @buffers: reserve of copies of pages that are being written
 * @writes: reserve of struct dmda_log_page_write
 */
struct dmda_log_tables {
	struct dmda_slots slots[DMDA_NR_TABLES];
	void *slots_memory[DMDA_NR_TABLES];
	u32 nr_map_writes;
	mempool_t buffers;
	mempool_t writes;
};

/* Is one of a device of this layout larger than what the kernel gives anybody at once? */
bool dmda_log_tables_too_large(const struct dmda_super *super);

/**
 * struct dmda_log_writes - pages that are being written
 * @log: device to which they belong
 * @group: their bios
 */
struct dmda_log_writes {
	struct dmda_log *log;
	struct dmda_log_group group;
};

/**
 * struct dmda_log_page_write - a page on its way
 * @writes: writes to which it belongs
 * @page: page of the map that it is a copy of; or NULL
 * @core: the copy, and where it goes
 */
struct dmda_log_page_write {
	struct dmda_log_writes *writes;
	struct dmda_log_page *page;
	struct dmda_writeback core;
};

/* Write pages: begin, any number of pages, end. */
void dmda_log_writes_begin(struct dmda_log_writes *writes, struct dmda_log *log);

/**
 * dmda_log_write_map_page() - write a page of the map
 * @page: pinned
 *
 * Context: may sleep; waits as long as a root is being written.
 */
void dmda_log_write_map_page(struct dmda_log_writes *writes, struct dmda_log_page *page);

/**
 * dmda_log_writes_end() - wait for all
 * Return: 0 or a negative errno.
 */
int dmda_log_writes_end(struct dmda_log_writes *writes);

/**
 * dmda_log_write_map() - write the pages of the map that a checkpoint needs
 *
 * Context: may sleep.
 */
void dmda_log_write_map(struct dmda_log_writes *writes, const struct dmda_checkpoint *checkpoint);

/**
 * dmda_log_write_page() - write a page of another table
 *
 * Context: may sleep.
 */
void dmda_log_write_page(struct dmda_log_writes *writes, enum dmda_table table, u64 index);

#endif /* DMDA_LOG_TABLES_H */
