/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The run table: which page of which file lies on which device page. It gives
 * core/extents locks and memory.
 *
 * Three maps. "Owners" says what a device page holds, and is the truth. "Runs" says
 * where a page of a file lies; it is an index that is not cleaned when a page gets
 * another owner, so whoever uses it asks the owner of what it found. "Berths" says where the SSD
 * has the data of a device page, as far as the target has chosen that (core/lanes.h).
 *
 * Each map is cut into chunks of DMDA_CHUNK_KEYS keys, and the chunks are spread over
 * shards with a lock each; no two locks are ever held together. The table is a cache: it
 * forgets what was not used for long when its memory is used up, under memory
 * pressure, and when an allocation fails. It never sleeps on the way of a bio.
 */
#ifndef DMDA_RUNTABLE_H
#define DMDA_RUNTABLE_H

#include "core/classify.h"
#include "core/units.h"

struct dmda_runtable;

/**
 * struct dmda_runtable_stats - size of the table
 * @nr_extents: extents in all maps
 * @bytes: memory that the nodes of extents take
 * @limit_bytes: upper bound of @bytes
 * @nr_evicted: extents forgotten for their memory since the table was created
 */
struct dmda_runtable_stats {
	u64 nr_extents;
	u64 bytes;
	u64 limit_bytes;
	u64 nr_evicted;
};

/**
 * dmda_runtable_init() - once, when the module is loaded
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int dmda_runtable_init(void);

/**
 * dmda_runtable_exit() - when the module is unloaded
 *
 * Context: may sleep; no table is left.
 */
void dmda_runtable_exit(void);

/**
 * dmda_runtable_create() - an empty table
 * @limit_mb: upper bound of its extents' memory, in MiB
 *
 * Context: may sleep.
 * Return: the table, or NULL.
 */
struct dmda_runtable *dmda_runtable_create(u32 limit_mb);

/**
 * dmda_runtable_destroy() - free a table that nobody uses any more
 * @table: the table, or NULL
 *
 * Context: may sleep.
 */
void dmda_runtable_destroy(struct dmda_runtable *table);

/**
 * dmda_runtable_owner() - what a device page holds
 * @table: the table
 * @dpn: the device page
 * @owner: the answer; nr_pages 0 when nothing is known
 *
 * Context: process or softirq-free; takes a shard's lock.
 */
void dmda_runtable_owner(struct dmda_runtable *table, dpn_t dpn, struct dmda_owner *owner);

/**
 * dmda_runtable_go_on() - does what a device page holds go on in another chunk?
 * @table: the table
 * @dpn: the device page
 * @nr_pages: length that matters
 * @owner: what dmda_runtable_owner() has told of it; gets the length that it has over chunks
 *
 * No extent goes beyond its chunk, of 32 MiB, but files do.
 *
 * Context: as dmda_runtable_owner().
 */
void dmda_runtable_go_on(struct dmda_runtable *table, dpn_t dpn, u32 nr_pages,
			 struct dmda_owner *owner);

/**
 * dmda_runtable_where() - where a page of a file was written last
 * @table: the table
 * @file: the file
 * @fpage: its page
 *
 * Context: as dmda_runtable_owner().
 * Return: the device page, which may have another owner by now, or DPN_NONE.
 */
dpn_t dmda_runtable_where(struct dmda_runtable *table, struct dmda_file file, u64 fpage);

/**
 * dmda_runtable_nr_other() - pages of a write before the first overwrite in it
 * @table: the table
 * @run: the write
 *
 * Context: as dmda_runtable_owner().
 * Return: the number, run->nr_pages if there is no overwrite in it.
 */
u32 dmda_runtable_nr_other(struct dmda_runtable *table, const struct dmda_run *run);

/**
 * dmda_runtable_set() - these device pages hold these pages of a file from now on
 * @table: the table
 * @run: the pages; the file is not anonymous
 *
 * Context: as dmda_runtable_owner().
 */
void dmda_runtable_set(struct dmda_runtable *table, const struct dmda_run *run);

/**
 * dmda_runtable_learn() - somebody has found these pages of a file on these device pages
 * @table: the table
 * @run: the pages; the file is not anonymous
 *
 * What another file has written there it keeps: both may have it, the one in a snapshot, or as a
 * reflink's copy. That the file has it as well, dmda_runtable_where() knows from now on.
 *
 * Context: as dmda_runtable_owner().
 * Return: whether any of it is new.
 */
bool dmda_runtable_learn(struct dmda_runtable *table, const struct dmda_run *run);

/**
 * dmda_runtable_forget() - these device pages hold something else from now on
 * @table: the table
 * @dpn: first page
 * @nr_pages: number of pages
 *
 * Context: as dmda_runtable_owner().
 */
void dmda_runtable_forget(struct dmda_runtable *table, dpn_t dpn, u64 nr_pages);

/**
 * dmda_runtable_berth() - where the SSD has a device page
 * @table: the table
 * @dpn: the device page
 * @value: dmda_lanes_value() of its berth, if that is known
 *
 * Context: as dmda_runtable_owner().
 * Return: number of device pages, this one included, whose values go on from there; 0 if nothing is
 * known about the page.
 */
u32 dmda_runtable_berth(struct dmda_runtable *table, dpn_t dpn, u64 *value);

/**
 * dmda_runtable_moor() - these device pages lie at these berths from now on
 * @table: the table
 * @first: first page
 * @nr_pages: number of pages
 * @value: dmda_lanes_value() of the first one's berth; the others' go on from there
 *
 * Context: as dmda_runtable_owner().
 */
void dmda_runtable_moor(struct dmda_runtable *table, dpn_t first, u32 nr_pages, u64 value);

/**
 * dmda_runtable_unmoor() - nobody knows where these device pages lie from now on
 * @table: the table
 * @first: first page
 * @nr_pages: number of pages
 *
 * Context: as dmda_runtable_owner().
 */
void dmda_runtable_unmoor(struct dmda_runtable *table, dpn_t first, u64 nr_pages);

/**
 * dmda_runtable_clear() - forget everything
 * @table: the table
 *
 * Context: may sleep.
 */
void dmda_runtable_clear(struct dmda_runtable *table);

/**
 * dmda_runtable_stats() - how large the table is
 * @table: the table
 * @stats: the answer
 *
 * Context: as dmda_runtable_owner().
 */
void dmda_runtable_stats(struct dmda_runtable *table, struct dmda_runtable_stats *stats);

#endif /* DMDA_RUNTABLE_H */
