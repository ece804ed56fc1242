/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checksums of data: taken of what is written, and compared with what is read.
 *
 * Memory for them comes with the bio, and is there before it waits for anything. Reads and writes
 * have reserves of their own, since a write may wait for space, and space for somebody who reads.
 */
#ifndef DMDA_LOG_SUMS_H
#define DMDA_LOG_SUMS_H

#include <linux/bio.h>
#include <linux/mempool.h>
#include <linux/workqueue.h>

#include "../core/ondisk.h"
#include "../core/units.h"

struct dmda_log;

/**
 * struct dmda_log_check - checksums of the pages of a bio
 * @work: compares them, if that takes long or something is wrong
 * @log: device in log mode
 * @reserve: reserve that it is of, or NULL
 * @bio: bio that has the data
 * @iter: the data in @bio
 * @copy: pages of our own that are written instead of those that @bio came with, or NULL
 * @before: vectors that @bio came with, if there is a @copy
 * @first: lpn of the first page
 * @dpn: place of the first page
 * @end: goes on with @bio when that is known to be right, or has an error
 * @sum: checksums of the pages, as in the map
 */
struct dmda_log_check {
	struct work_struct work;
	struct dmda_log *log;
	mempool_t *reserve;
	struct bio *bio;
	struct bvec_iter iter;
	struct bio_vec *copy;
	struct bio_vec *before;
	u64 first;
	dpn_t dpn;
	void (*end)(struct bio *bio);
	__le32 sum[];
};

/**
 * struct dmda_log_sums - checksums of data
 * @queue: workers that compare; NULL if the device has no checksums
 * @reads: reserve of struct dmda_log_check for reads
 * @writes: the same for writes
 * @pages: reserve of pages of data that are read or written again
 * @last_event: jiffies when users were last told of damage
 * @nr_damaged: pages of data that were found damaged; under the lock
 * @nr_changed: pages that changed while they were written, and were written again; under the lock
 * @nr_mended: pages that were right when they were read again; under the lock
 */
struct dmda_log_sums {
	struct workqueue_struct *queue;
	mempool_t reads;
	mempool_t writes;
	mempool_t pages;
	unsigned long last_event;
	u64 nr_damaged;
	u64 nr_changed;
	u64 nr_mended;
};

/**
 * dmda_log_sums_create() - be ready to take checksums, if the device has some
 *
 * Return: 0 or -ENOMEM; dmda_log_sums_destroy() is due in both cases.
 */
int dmda_log_sums_create(struct dmda_log *log);
void dmda_log_sums_destroy(struct dmda_log *log);

/* Most pages of a bio: as many as a page of the map has checksums */
#define DMDA_LOG_CHECK_PAGES	((u32)DMDA_MAP_SUMS_ENTRIES)

/**
 * dmda_log_check_get() - memory for the checksums of a bio
 * @op: whether it reads or writes
 * @nr_pages: pages of the bio, at most DMDA_LOG_CHECK_PAGES
 * @gfp: GFP_NOIO; or GFP_NOWAIT, if it must not wait
 *
 * Return: it, or NULL if it must not wait and would have to.
 */
struct dmda_log_check *dmda_log_check_get(struct dmda_log *log, enum req_op op, u32 nr_pages,
					  gfp_t gfp);

/* Context: any. */
void dmda_log_check_put(struct dmda_log_check *check);

/**
 * dmda_log_check_begin() - a bio is about to be sent to its place
 * @first: lpn of its first page
 * @end: goes on with it when it has ended, and was looked at
 *
 * Takes the checksums of what is written, of which a copy is written if it may change meanwhile;
 * those of what is read are there already.
 */
void dmda_log_check_begin(struct dmda_log_check *check, struct bio *bio, u64 first, dpn_t dpn,
			  void (*end)(struct bio *bio));

/**
 * dmda_log_check_end() - a bio has ended: is its data what it should be?
 *
 * What was read and is damaged makes an error of it. What was written is on the device as its
 * checksums say, also if somebody has changed it meanwhile.
 *
 * Context: any.
 * Return: whether that is known; if not, a worker is at it, and calls the bio's function.
 */
bool dmda_log_check_end(struct dmda_log_check *check);

/**
 * dmda_log_copy_page() - copy a page of a bio's data, from it or to it
 * @iter: position in the bio; behind the page afterwards
 * @at: memory of a page
 */
void dmda_log_copy_page(struct bio *bio, struct bvec_iter *iter, u8 *at, bool to_bio);

/* The checksum of a page of data */
__le32 dmda_log_sum(struct page *page);

/**
 * dmda_log_look_again() - a page was read that has another checksum than it should
 * @page: memory to which it is read once more
 * @sum: checksum that it should have
 *
 * Counts what comes of it, and tells users. Nobody writes there meanwhile.
 *
 * Context: may sleep.
 * Return: whether it is right now.
 */
bool dmda_log_look_again(struct dmda_log *log, u64 lpn, dpn_t dpn, struct page *page, __le32 sum);

#endif /* DMDA_LOG_SUMS_H */
