/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading and writing metadata, and waiting for it.
 */
#ifndef DMDA_LOG_DISK_H
#define DMDA_LOG_DISK_H

#include <linux/bio.h>

#include "../core/order.h"
#include "../core/units.h"

struct dmda_log;
struct dmda_log_group;
struct dmda_super;

/**
 * dmda_log_read() - read pages and wait for them
 * @memory: whole pages, not of the stack
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_read(struct dmda_log *log, dpn_t dpn, void *memory, u32 nr_pages);

/**
 * dmda_log_begin_read() - begin to read pages
 * @group: group that is told when they are read; dmda_log_group_end() waits for that
 * @memory: whole pages, not of the stack
 *
 * Context: may sleep.
 */
void dmda_log_begin_read(struct dmda_log *log, struct dmda_log_group *group, dpn_t dpn,
			 void *memory, u32 nr_pages);

/**
 * dmda_log_end_bio() - a bio has ended: gives it back, and tells its group, its bi_private
 */
void dmda_log_end_bio(struct bio *bio);

/* What the block layer calls an order. */
static inline blk_opf_t dmda_log_opf(u32 order)
{
	return (order & DMDA_ORDER_FLUSH ? REQ_PREFLUSH : 0) |
		(order & DMDA_ORDER_FUA ? REQ_FUA : 0);
}

/**
 * dmda_log_write() - write pages and wait for them
 * @opf: flags
 */
int dmda_log_write(struct dmda_log *log, dpn_t dpn, void *memory, u32 nr_pages,
		   blk_opf_t opf);

/**
 * dmda_log_write_super() - write a superblock to the place of the older one, and wait for it
 * @super: superblock; gets the next epoch, unless it cannot be written
 * @opf: flags
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_write_super(struct dmda_log *log, struct dmda_super *super, blk_opf_t opf);

/**
 * dmda_log_write_supers() - have both superblocks say the same
 * @super: superblock; gets the epoch of the last one that could be written
 *
 * The second one is written when the first one is durable: there always is one that is whole.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_write_supers(struct dmda_log *log, struct dmda_super *super);

/**
 * dmda_log_write_data() - write a page of data and wait for it
 * @memory: a page
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_write_data(struct dmda_log *log, dpn_t dpn, void *memory);

/**
 * dmda_log_write_sectors() - write sectors of the journal and wait for them
 * @at: first, below dmda_super.journal_sectors
 */
int dmda_log_write_sectors(struct dmda_log *log, u32 at, void *memory, u32 nr_sectors,
			   blk_opf_t opf);

/**
 * dmda_log_begin_sectors() - begin to write sectors of the journal, no further than the ring's end
 * @bio: memory for the bio
 * @vec: the sectors; it is needed until the end
 * @at: first, below dmda_super.journal_sectors
 * @end: called at the end
 *
 * Context: any in which a bio may be submitted; needs no memory.
 */
void dmda_log_begin_sectors(struct dmda_log *log, struct bio *bio, struct bio_vec *vec, u32 at,
			    bio_end_io_t *end);

/* Discards at a time: who reads and writes must not come behind all of them. */
#define DMDA_LOG_DISCARDS_AT_ONCE	8U

/* Is the device below told of what holds nothing? */
bool dmda_log_has_discards(const struct dmda_log *log);

/* Can the device below be told of single pages that hold nothing? */
bool dmda_log_can_discard_pages(const struct dmda_log *log);

/* May it be told of more now? */
bool dmda_log_may_discard(const struct dmda_log *log);

/**
 * dmda_log_begin_discard() - begin to discard pages
 * @group: group that is told when they are discarded
 */
void dmda_log_begin_discard(struct dmda_log *log, struct dmda_log_group *group, dpn_t dpn,
			    u32 nr_pages);

/**
 * dmda_log_flush() - make everything durable that was written
 */
int dmda_log_flush(struct dmda_log *log);

#endif /* DMDA_LOG_DISK_H */
