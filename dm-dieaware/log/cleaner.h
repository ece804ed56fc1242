/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cleaner, as the files of cleaning share it.
 */
#ifndef DMDA_LOG_CLEANER_H
#define DMDA_LOG_CLEANER_H

#include <linux/bio.h>
#include <linux/workqueue.h>

#include "../core/plan.h"
#include "../core/summary.h"
#include "../core/victim.h"
#include "group.h"

struct dmda_log;

/* Cleaning begins when no more than these are free. */
#define DMDA_LOG_LOW_SEGMENTS	(DMDA_LOG_KEPT_SEGMENTS + 5U)

/* What could not be read is tried again after so long, and after twice as long each time. */
#define DMDA_LOG_FORGET_JIFFIES	HZ

/**
 * struct dmda_log_move - a page that is valid in a victim
 * @lpn: its lpn
 * @from: place where it is
 * @file: its file, 0 if not known
 * @fpage: page of @file
 * @sum: if the device has checksums: that of what was read; or if that is wrong, the one that it
 *	should have
 * @slot: index in memory at which it is, once it was read
 * @is_copied: whether it was read
 * @is_wrong: whether the map has another checksum for it
 */
struct dmda_log_move {
	u64 lpn;
	dpn_t from;
	u64 file;
	u32 fpage;
	__le32 sum;
	u32 slot : 30;
	u32 is_copied : 1;
	u32 is_wrong : 1;
};

/**
 * struct dmda_log_look - what is valid in a segment
 * @seg: the segment
 * @summary: its summary
 * @group: tells when that is read
 * @is_valid: bitmap of its valid pages
 * @nr_valid: number of bits in @is_valid
 * @is_known: whether all that could be read, and is all that the segment table knows of
 * @is_unread: whether it is not known since something could not be read
 * @worth: worth of cleaning it: the higher, the better
 */
struct dmda_log_look {
	seg_t seg;
	struct dmda_summary_block *summary;
	struct dmda_log_group group;
	u64 *is_valid;
	u32 nr_valid;
	bool is_known;
	bool is_unread;
	u64 worth;
};

static inline bool dmda_log_is_valid(const struct dmda_log_look *look, u32 page)
{
	return look->is_valid[page / 64] >> page % 64 & 1;
}

/* Segments that are compared */
#define DMDA_LOG_CANDIDATES	8U

/**
 * struct dmda_log_cleaner - memory for cleaning; but for the bitmaps, the worker's own
 * @log: its device
 * @is_idle: whether cleaning ends when somebody reads or writes
 * @is_all: whether all segments are cleaned, since somebody has asked for it
 * @has_stuck: whether a segment was left as it is since all are cleaned, also if it was tried again
 * @is_again: whether the victims are what could not be read before
 * @is_short: whether the last round ended since there were no places but those that are kept
 * @victim: segments that are being cleaned; memory for all there are
 * @move: valid pages of the victims
 * @plan: how many there are in @victim and @move, and may be
 * @mtime: age of the newest data in the victims
 * @unread_at: when something could not be read, last, in jiffies
 * @forget_jiffies: how long after that it is tried again; the longer, the more often in vain
 * @in_file_order: whether all moves are written in the order of files, even if there are more than
 *	go into memory; else that many of neighbouring places each
 * @look: segments that may become victims
 * @files: files of one segment
 * @page: memory for what is copied
 * @nr_pages: number of pages in @page
 * @waste: page that takes what is read along and not needed
 * @sums: checksums of pages that are mapped with one operation
 * @is_victim: bitmap of segments that are being cleaned; changes under dmda_log.lock
 * @is_left: bitmap of segments that are still to be cleaned, when all are
 */
struct dmda_log_cleaner {
	struct dmda_log *log;
	bool is_idle;
	bool is_all;
	bool has_stuck;
	bool is_again;
	bool is_short;
	seg_t *victim;
	struct dmda_log_move *move;
	struct dmda_plan plan;
	u64 mtime;
	u64 unread_at;
	u64 forget_jiffies;
	bool in_file_order;
	struct dmda_log_look look[DMDA_LOG_CANDIDATES];
	struct dmda_file_set files;
	struct page **page;
	u32 nr_pages;
	struct page *waste;
	__le32 *sums;
	unsigned long *is_victim;
	unsigned long *is_left;
};

/**
 * struct dmda_log_cleaning - moving of what is valid out of segments
 * @cleaner: memory for cleaning
 * @queue: workqueue of its own for cleaning, which waits for workers of dmda_log.queue
 * @moves: reserve of struct dmda_own_bio, for writes
 * @leaves_kept: whether cleaning leaves the segments that users leave, too, since it has more to
 *	move than goes into them
 * @all_lock: of those who want all cleaned, one at a time
 * @must_clean_all: whether somebody wants all segments cleaned that are worth it; no lock
 * @last_io: jiffies when a bio came or ended last; no lock
 * @work: worker that cleans
 * @idle_work: worker that looks whether nobody reads or writes
 */
struct dmda_log_cleaning {
	struct dmda_log_cleaner *cleaner;
	struct workqueue_struct *queue;
	struct bio_set moves;
	bool leaves_kept;
	struct mutex all_lock; /* of messages that want all cleaned */
	bool must_clean_all;
	unsigned long last_io;
	struct work_struct work;
	struct delayed_work idle_work;
};

#endif /* DMDA_LOG_CLEANER_H */
