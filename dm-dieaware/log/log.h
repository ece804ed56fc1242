/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log mode as its files share it: what a device in log mode consists of, and its locks. What
 * is on the device and why: docs/format.md. What an operation does to map, segments and journal
 * is core/'s; here are bios, memory, locks and workers.
 *
 * A part of struct dmda_log is declared in the header of the file whose it is, with the functions
 * of that file.
 *
 *	io.c		a bio's way in, on and out
 *	bio.c		the same: what all kinds of them have in common
 *	let-go.c	the same: what follows when a bio's operation is done
 *	claims.c	order of writes and trims of the same lpns
 *	look-up.c	where reads find their pages, without the lock
 *	read.c		reads
 *	write.c		writes: places, data
 *	apply.c		the same: operation
 *	trim.c		discards, and writes of zeroes
 *	sums.c		checksums of data: taken when it is written, compared when it is read
 *	admission.c	which writes get places, which wait, and until when
 *	hint.c		hints: which page precedes a write in its file, and where that lies
 *	page.c		pages of the map in memory (map.h)
 *	cache.c		the same: read when needed
 *	near.c		the same: those that are found with one look
 *	evict.c		the same: which of them go, and when
 *	journal.c	the journal: operations are put to batches
 *	commit.c	the same: batches are written, for all who wait
 *	draft.c		the same: for which writes a draft of their batch goes along with the data
 *	places.c	places for what is written; segments are opened for some
 *	credit.c	the same: how many users may take
 *	space.c		segments: closed, freed
 *	tables.c	pages of tables: written to their slots
 *	spare.c		memory for what is on its way
 *	checkpoint.c	when tables are written, and the root after them
 *	clean.c		moving what is valid out of segments (cleaner.h): a round, and memory for it
 *	clean-when.c	the same: when it starts and stops
 *	clean-choose.c	the same: out of which segments
 *	clean-all.c	the same: out of all of them, when somebody asks for it
 *	clean-work.c	the same: its worker
 *	stuck.c		the same: what is left alone, since it cannot be read
 *	copy.c		the same: reading, writing and mapping what is moved
 *	inplace.c	overwriting pages where they are
 *	lifetime.c	small writes by the age of what they replace
 *	holes.c		telling the device of what holds nothing among valid pages
 *	start.c		start: the steps of core/start.h, done
 *	grow.c		a larger device gets a root and a superblock for its size
 *	disk.c		reading and writing metadata
 *	device.c	construction, start, suspend
 *	list.c		which devices there are, and which of them are at work
 *	message.c	messages
 *	where.c		the message that asks where pages lie
 *	status.c	the status line
 *	fail.c		the way to a device that only reads
 *	needs-check.c	the same: who is told, and what the superblock says
 *
 * Locks.
 *
 *   lock			protects			   context
 *   logs_lock (list.c)		who is at work on which device	   ctr, resume, suspend, dtr,
 *				failure; sleeps; none inside
 *   message_lock		is_quiet against messages	   sleeps; outside the next three
 *   cleaning.all_lock		a message ``clean`` at a time	   sleeps
 *   cache.resize_lock		a size of the cache at a time	   sleeps
 *   checkpoint.lock		a checkpoint at a time		   sleeps; of each task
 *   journal.commit_lock	a commit at a time		   sleeps; inside the former
 *   lock			everything else that is not said   irq; innermost but for that
 *				to be a worker's own
 *   spares.lock		pages that nobody has		   irq; innermost
 *
 * Reads take no lock: they look into pages of the map by RCU (look-up.c). What they find is valid
 * as core/lookup.h says; the memory of a page of the map is free after a grace period.
 *
 * Nothing waits for I/O with the innermost lock, and no bio is ended or submitted with it.
 *
 * An operation is put to the journal's batch and done in memory under one holding of that
 * lock; so the order of the journal is the order in memory. A bio's data is written
 * before that: its operation is done when the data's bio ends.
 */
#ifndef DMDA_LOG_H
#define DMDA_LOG_H

#include <linux/rwsem.h>

#include "../compat.h"
#include "../core/super.h"
#include "../dieaware.h"
#include "admission.h"
#include "bio.h"
#include "cache.h"
#include "checkpoint.h"
#include "clean.h"
#include "draft.h"
#include "fail.h"
#include "holes.h"
#include "inplace.h"
#include "journal.h"
#include "space.h"
#include "spare.h"
#include "sums.h"
#include "tables.h"

/* A flash unit of today: a piece of so many pages is worth a command with a hint. */
#define DMDA_LOG_UNIT_PAGES	8U

/**
 * enum dmda_log_state - what may be done with the device
 * @DMDA_LOG_NEW: nothing: it is not started yet
 * @DMDA_LOG_WRITE: everything
 * @DMDA_LOG_READ_ONLY: reads only, as the table asks
 * @DMDA_LOG_FAILED: reads only, since metadata could not be read or written
 */
enum dmda_log_state {
	DMDA_LOG_NEW,
	DMDA_LOG_WRITE,
	DMDA_LOG_READ_ONLY,
	DMDA_LOG_FAILED,
};

/**
 * struct dmda_log_counters - what was done since the device was activated
 * @nr_commits: batches that were written
 * @nr_flushes: flushes and FUA writes that asked for a commit
 * @nr_checkpoints: roots that were written
 * @user_pages: pages that users wrote
 * @in_place_pages: those of @user_pages that were overwritten where they were
 * @moved_pages: pages that cleaning wrote
 * @meta_pages: pages of metadata that were written, the journal included
 * @nr_cleaned: segments that were cleaned
 * @nr_map_reads: pages of the map that were read, or are about to be; none of those that were
 *	never written
 * @nr_map_given_back: pages of the map that went because the kernel had asked for memory
 * @nr_starved: writes that had to wait for a free segment, however often each tried
 * @nr_idle_cleaned: those of @nr_cleaned that were cleaned while nobody read or wrote
 * @nr_moved_hints: writes of cleaning whose hint a command carried
 */
struct dmda_log_counters {
	u64 nr_commits;
	u64 nr_flushes;
	u64 nr_checkpoints;
	u64 user_pages;
	u64 in_place_pages;
	u64 moved_pages;
	u64 meta_pages;
	u64 nr_cleaned;
	u64 nr_map_reads;
	u64 nr_map_given_back;
	u64 nr_starved;
	u64 nr_idle_cleaned;
	u64 nr_moved_hints;
};

/**
 * struct dmda_log - a device in log mode
 * @dmda: the target
 * @list: link in list.c's list of all devices in log mode
 * @is_active: whether it is started and not suspended; under logs_lock
 * @is_stale: whether another target that writes has started with the device since, or has begun to
 *	change it for that; under logs_lock
 * @bdev: the device below
 * @super: the device's superblock
 * @is_single: whether no other one on the device said the same when it was read
 * @grows_to: pages of the device to which it is to grow when it is started, or 0
 * @may_write: whether metadata may be written; constant once it is started
 * @is_broken: whether its first start has failed
 * @queue: workers that go on with bios of users, and with segments; they may wait for memory
 * @commit_queue: workers that commit and take checkpoints, without which no page of the map might
 *	go; so they must not wait behind those of @queue when the kernel has one thread for all
 *	works of a queue, as it has no memory for more. They need no page of the map.
 * @own_bios: metadata, and reads of cleaning; what they wait for never waits for a commit, as
 *	bios of a filesystem's do, with which they must not share a reserve
 * @message_lock: held for reading while a message is obeyed, for writing when all becomes quiet
 * @lock: protects the following, and the parts but for what they say
 * @state: enum dmda_log_state
 * @is_quiet: whether it is suspended, and no worker is to begin
 * @is_suspending: whether it is about to be, and what nobody waits for is to end
 * @wait: sleepers until a page was read or written, a root was written, a segment became free
 * @counters: numbers for the status line
 * @ios: bios of users that are under way
 * @cache: pages of the map in memory
 * @journal: operations that are done in memory, on their way to the device
 * @draft: the draft of a batch of it
 * @tables: slots of the tables' pages
 * @spares: memory of pages for as long as an I/O takes; has a lock of its own
 * @checkpoint: the last root, and how the next comes about
 * @space: segments, and where data goes next
 * @inplace: overwrites of pages where they are
 * @holes: what holds nothing among valid pages
 * @admission: which writes get places, and those that wait for some
 * @cleaning: moving of what is valid out of segments
 * @sums: checksums of data
 * @failure: the error of metadata after which it only reads
 */
struct dmda_log {
	struct dmda *dmda;
	struct list_head list;
	bool is_active;
	bool is_stale;
	struct block_device *bdev;
	struct dmda_super super;
	bool is_single;
	u64 grows_to;
	bool may_write;
	bool is_broken;
	struct workqueue_struct *queue;
	struct workqueue_struct *commit_queue;
	struct bio_set own_bios;

	struct rw_semaphore message_lock; /* of a message against a suspend */

	spinlock_t lock; /* of the rest */
	enum dmda_log_state state;
	bool is_quiet;
	bool is_suspending;
	wait_queue_head_t wait;
	struct dmda_log_counters counters;
	struct dmda_log_ios ios;
	struct dmda_log_cache cache;
	struct dmda_log_journal journal;
	struct dmda_log_draft draft;
	struct dmda_log_tables tables;
	struct dmda_log_spares spares;
	struct dmda_log_checkpoint checkpoint;
	struct dmda_log_space space;
	struct dmda_log_inplace inplace;
	struct dmda_log_holes holes;
	struct dmda_log_admission admission;
	struct dmda_log_cleaning cleaning;
	struct dmda_log_sums sums;
	struct dmda_log_failure failure;
};

/* The segment that a page lies in, or SEG_NONE */
static inline seg_t dmda_log_segment_of(const struct dmda_log *log, dpn_t dpn)
{
	u32 page;

	return dmda_super_segment_of(&log->super, dpn, &page);
}

/* Which page of the map an lpn is on, and where on it */
static inline u64 dmda_log_map_index(const struct dmda_log *log, u64 lpn, u32 *entry)
{
	return dmda_map_index(&log->super, to_lpn(lpn), entry);
}

/* Places for data in so many segments */
static inline u64 dmda_log_places_of(const struct dmda_log *log, u32 nr_segments)
{
	return (u64)nr_segments * dmda_super_data_pages(&log->super);
}

/* Is the device so full that small writes stay where their pages are, unless that takes longer? */
static inline bool dmda_log_is_full_locked(const struct dmda_log *log)
{
	const struct dmda_segments *segments = &log->space.segments;

	lockdep_assert_held(&log->lock);

	return log->inplace.is_possible &&
		segments->nr_valid * 100 > dmda_log_places_of(log, segments->nr_segments) *
					   READ_ONCE(log->dmda->config.in_place_percent);
}

/* Memory that grows with the device. More than the kernel gives anybody is not worth a warning. */
static inline void *dmda_log_table_alloc(size_t nr, size_t bytes)
{
	return kvcalloc(nr, bytes, GFP_KERNEL | __GFP_NOWARN);
}

/* Where a page lies for the block layer. */
static inline sector_t dmda_log_sector(const struct dmda_log *log, dpn_t dpn)
{
	return log->dmda->config.start_sectors + (from_dpn(dpn) << DMDA_PAGE_SECTOR_SHIFT);
}

/* Does its table ask for a device that is only read? */
static inline bool dmda_log_wants_read_only(const struct dmda_log *log)
{
	return !(dm_table_get_mode(log->dmda->ti->table) & DMDA_MODE_WRITE);
}

/* Can the device be written, and is it not suspended? */
static inline bool dmda_log_may_work(const struct dmda_log *log)
{
	return READ_ONCE(log->state) == DMDA_LOG_WRITE && !READ_ONCE(log->is_quiet);
}

/* Let a worker begin, unless all is quiet. */
static inline void dmda_log_kick(struct dmda_log *log, struct work_struct *work)
{
	if (!READ_ONCE(log->is_quiet))
		queue_work(log->queue, work);
}

/* The same of one that commits */
static inline void dmda_log_kick_commit(struct dmda_log *log, struct work_struct *work)
{
	if (!READ_ONCE(log->is_quiet))
		queue_work(log->commit_queue, work);
}

#endif /* DMDA_LOG_H */
