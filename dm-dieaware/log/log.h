/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log mode as its files share it. What is on the device and why: docs/format.md. What
 * an operation does to map, segments and journal is core/'s; here are bios, memory,
 * locks and workers.
 *
 *	io.c		a bio's way: claims, look-up, places, completion
 *	admission.c	writes that wait for places
 *	hint.c		hints: which page precedes a write in its file, and where that lies
 *	cache.c		pages of the map: read when needed, written back, evicted
 *	journal.c	the journal: batches, group commit
 *	space.c		segments: opened, closed, freed
 *	checkpoint.c	tables and root
 *	clean.c		moving what is valid out of segments
 *	inplace.c		overwriting pages where they are
 *	start.c		superblock, root, tables, replay
 *	grow.c		a larger device gets a root and a superblock for its size
 *	disk.c		reading and writing metadata
 *	life.c		construction, suspend, status
 *
 * Locks.
 *
 *   lock			protects			   context
 *   logs_lock (life.c)		who is at work on which device	   ctr, resume, dtr; sleeps
 *   dmda_log.message_lock	is_quiet against messages	   sleeps; outside the next two
 *   dmda_log.checkpoint_lock	a checkpoint at a time		   sleeps
 *   dmda_log.commit_lock	a commit at a time		   sleeps; inside the former
 *   dmda_log.lock		everything else that is not said   irq; innermost
 *				to be a worker's own
 *
 * Nothing waits for I/O with dmda_log.lock, and no bio is ended or submitted with it.
 *
 * An operation is put to the journal's batch and done in memory under one holding of the
 * lock; so the order of the journal is the order in memory. A bio's data is written
 * before that: its operation is done when the data's bio ends.
 */
#ifndef DMDA_LOG_H
#define DMDA_LOG_H

#include <linux/mempool.h>
#include <linux/rwsem.h>
#include <linux/xarray.h>

#include "../core/change.h"
#include "../core/opened.h"
#include "../core/patience.h"
#include "../core/root.h"
#include "../core/s3fifo.h"
#include "../core/victim.h"
#include "../core/writer.h"
#include "../dieaware.h"
#include "group.h"

/* Users leave so many segments to cleaning. */
#define DMDA_LOG_KEPT_SEGMENTS	3U

/* Cleaning begins when no more than these are free. */
#define DMDA_LOG_LOW_SEGMENTS	(DMDA_LOG_KEPT_SEGMENTS + 5U)

/* A flash unit of today: a piece of so many pages is worth a command with a hint. */
#define DMDA_LOG_UNIT_PAGES	8U

/* What was acknowledged is durable after that, though nobody may ask for it. */
#define DMDA_LOG_LATE_JIFFIES	HZ

struct dmda_log_cleaner;
struct dmda_log_page;

/**
 * enum dmda_log_state - what may be done with the device
 * @DMDA_LOG_NEW: not started yet
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
 * enum dmda_log_space - is there space for users?
 * @DMDA_LOG_SPACE_OK: there is, or some is on its way
 * @DMDA_LOG_SPACE_LOW: there is none, and writes wait
 * @DMDA_LOG_SPACE_OUT: there is none, and writes have failed for that
 */
enum dmda_log_space {
	DMDA_LOG_SPACE_OK,
	DMDA_LOG_SPACE_LOW,
	DMDA_LOG_SPACE_OUT,
};

/**
 * enum dmda_log_stage - how far a bio has come
 * @DMDA_LOG_CLAIM: a write or trim waits until older ones of the same lpns are done
 * @DMDA_LOG_PLACE: a write needs places
 * @DMDA_LOG_DATA: data is being read or written; what a write needs of the map, too
 * @DMDA_LOG_MAPPED: a write's operation is done; it waits for a commit, or has ended
 */
enum dmda_log_stage {
	DMDA_LOG_CLAIM,
	DMDA_LOG_PLACE,
	DMDA_LOG_DATA,
	DMDA_LOG_MAPPED,
};

/**
 * struct dmda_log_io - a bio's own data
 * @node: in dmda_log.claims
 * @subtree_last: for that tree
 * @list: in the list of what it waits for
 * @first: first lpn
 * @last: last lpn
 * @cursor: trims and reads by the worker: next lpn
 * @pages: pages of the map that it has pinned
 * @dpn: place of its data
 * @seg: a read's segment, whose readers it is counted among; that of a write in place; or
 *	SEG_NONE
 * @file: the file of a write, 0 if not known
 * @fpage: page of that file
 * @ino: of that file, for the tracepoint
 * @pred: lpn of the page before it, or U64_MAX
 * @pred_dpn: where that lies
 * @nr_blockers: how many older claims of its lpns there are
 * @stage: enum dmda_log_stage
 * @open: open summary of a write's segment
 * @has_claim: it is in dmda_log.claims
 * @is_fua: a write that ends when it is durable
 * @is_fetching: a write whose pages of the map the worker gets; it is not ended before that
 * @has_waited: for a page of the map that it has not used yet
 * @is_written: it only waits for them
 * @is_rest: what is left of a write that a segment had no room for
 * @is_in_place: a write to where its pages are already
 * @is_same: the pages that a write replaces are the same pages of the same file
 * @source: of a write: enum dmda_source
 * @what: enum dmda_hint of a write
 * @hint: the hint's way; must be the last member, see dmda_io_of()
 */
struct dmda_log_io {
	struct rb_node node;
	u64 subtree_last;
	struct list_head list;
	u64 first;
	u64 last;
	u64 cursor;
	struct dmda_log_page *pages[DMDA_OP_MAP_PAGES];
	dpn_t dpn;
	seg_t seg;
	u64 file;
	u32 fpage;
	u64 ino;
	u64 pred;
	dpn_t pred_dpn;
	u32 nr_blockers;
	u8 stage;
	u8 open;
	bool has_claim;
	bool is_fua;
	bool is_fetching;
	bool has_waited;
	bool is_written;
	bool is_rest;
	bool is_in_place;
	bool is_same;
	u8 source;
	u8 what;
	struct dmda_io hint;
};

/**
 * struct dmda_log_counters - what was done since the device was activated
 * @nr_commits: batches that were written
 * @nr_flushes: flushes and FUA writes that asked for one
 * @nr_checkpoints: roots that were written
 * @user_pages: pages that users wrote
 * @in_place_pages: those of them that were overwritten where they were
 * @moved_pages: pages that cleaning wrote
 * @meta_pages: pages of metadata that were written, the journal included
 * @nr_cleaned: segments that were cleaned
 * @nr_map_reads: pages of the map that were read
 * @nr_starved: writes that had to wait for a free segment
 * @nr_idle_cleaned: of the segments that were cleaned: while nobody read or wrote
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
	u64 nr_starved;
	u64 nr_idle_cleaned;
	u64 nr_moved_hints;
};

/**
 * struct dmda_log_writes - pages that are being written
 * @log: where to
 * @group: their bios
 */
struct dmda_log_writes {
	struct dmda_log *log;
	struct dmda_log_group group;
};

/**
 * struct dmda_log - a device in log mode
 * @dmda: the target
 * @list: in the list of all
 * @is_active: started and not suspended; under logs_lock
 * @is_stale: another target has started with the device since; under logs_lock
 * @bdev: the device below
 * @super: its superblock
 * @grows_to: pages of the device to which it is to grow when it is started, or 0
 * @queue: workers that write; each has a thread of its own
 * @clean_queue: the cleaner's own, since it waits for workers of the other
 * @may_stay: the device below writes pages whole: they may be overwritten in place
 * @own_bios: metadata, and reads of cleaning; what they wait for never waits for a commit, as
 *	bios of a filesystem's do, with which they must not share a reserve
 * @bios: clones for reads of many pieces
 * @moves: writes of cleaning, struct dmda_own_bio
 * @fetches: reads of pages of the map
 * @map_blocks: reserve of memory for pages of the map
 * @map_pages: reserve for struct dmda_log_page
 * @buffers: reserve of copies of pages that are being written
 * @writes: reserve for struct dmda_log_page_write
 * @readers: by segment: bios that read from it; it is not freed before they have ended
 * @nr_in_place: by segment: writes in place that are under way
 * @message_lock: for reading while a message is obeyed, for writing when all becomes quiet
 * @commit_lock: one commit at a time
 * @checkpoint_lock: one checkpoint at a time
 * @lock: protects the following
 * @state: enum dmda_log_state
 * @segments: segment table
 * @opened: open summaries
 * @slots: by table
 * @writer: where data goes
 * @opened_by: by open summary: the segment that has it, until that is closed; or SEG_NONE
 * @nr_writing: by open summary: pages that are being written and not mapped yet
 * @is_retired: by open summary: nothing more is going to be written to its segment
 * @mtime: by open summary: age of the newest data in its segment
 * @change: how all that is changed
 * @batch: the journal's batch
 * @has_batch: it may be filled; if not, the journal has no room before the next root
 * @next_place: without a batch: where the next one goes
 * @sectors: memory of two batches
 * @sectors_index: which one @batch has
 * @batch_sectors: size of a batch
 * @durable_seq: operations up to this are durable
 * @nr_overwrites: writes in place that were done
 * @durable_overwrites: so many of them are durable
 * @is_being_freed: by segment: a bit: a worker frees it
 * @nr_being_freed: how many these are
 * @nr_stayed: pages that were overwritten in place since some were gathered
 * @root: the last durable root
 * @map: pages of the map that are in memory, by index
 * @fifo: which of them came lately, and which of those have gone
 * @hand: of the others: index at which the search for a page to evict goes on
 * @nr_map_pages: how many they are
 * @nr_leaving: how many of them are being written to be evicted then
 * @leaving: their writes
 * @max_map_pages: how many they should be at most
 * @claims: writes and trims under way
 * @ready: ios that the worker goes on with
 * @starved: writes that wait for places
 * @unmapped: writes whose data is written, and trims, that wait for room in the batch
 * @committing: flushes and FUA writes that wait for a commit
 * @wait: for pages that are read or written, and for roots
 * @counters: for the status line
 * @nr_map_writes: pages of the map that are being written
 * @patience: of @starved
 * @space: enum dmda_log_space
 * @told_space: what the world was told of that
 * @last_io: jiffies when a bio came; no lock
 * @no_space_jiffies: how long writes wait for want of space
 * @is_quiet: suspended: no worker is to begin
 * @is_suspending: about to be: what nobody waits for is to end
 * @hands_back: writes and trims that have not begun go back to dm, which sends them again after
 *	the suspension
 * @leaves_kept: cleaning leaves the segments that users leave, too: it has more to move than
 *	goes into them
 * @what: was being done when it failed
 * @why: it failed
 * @io_work: goes on with @ready
 * @commit_work: commits
 * @late_work: commits what nobody has asked for
 * @space_work: closes and frees segments
 * @discard_work: discards and frees segments
 * @checkpoint_work: takes a checkpoint
 * @clean_work: cleans
 * @idle_work: looks whether nobody reads or writes
 * @no_space_work: fails writes that wait too long, and tells the world whether there is space
 * @fail_work: tells the world that the device has failed
 * @is_pacing: users write as many pages as cleaning lets them: @credit
 * @credit: pages that they may; below 0 if the last one took more
 * @must_clean_all: somebody wants all segments cleaned that are worth it
 * @may_write: metadata may be written
 * @is_broken: it never started
 * @summary: a summary that is being written; the space worker's
 * @cleaner: memory for cleaning
 * @root_pages: a root that is being written
 * @pages_before: pages written before the device was activated
 * @fifo_memory: of @fifo
 * @segments_memory: of @segments
 * @opened_memory: of @opened
 * @slots_memory: of @slots
 */
struct dmda_log {
	struct dmda *dmda;
	struct list_head list;
	bool is_active;
	bool is_stale;
	struct block_device *bdev;
	struct dmda_super super;
	u64 grows_to;
	struct workqueue_struct *queue;
	struct workqueue_struct *clean_queue;
	bool may_stay;
	struct bio_set own_bios;
	struct bio_set bios;
	struct bio_set moves;
	struct bio_set fetches;
	mempool_t map_blocks;
	mempool_t map_pages;
	mempool_t buffers;
	mempool_t writes;
	atomic_t *readers;
	u32 *nr_in_place;

	struct rw_semaphore message_lock; /* of a message against a suspend */
	struct mutex commit_lock; /* of a commit */
	struct mutex checkpoint_lock; /* of a checkpoint */

	spinlock_t lock; /* of the rest */
	enum dmda_log_state state;
	struct dmda_segments segments;
	struct dmda_opened opened;
	struct dmda_slots slots[DMDA_NR_TABLES];
	struct dmda_writer writer;
	seg_t opened_by[DMDA_MAX_OPEN];
	u32 nr_writing[DMDA_MAX_OPEN];
	bool is_retired[DMDA_MAX_OPEN];
	u64 mtime[DMDA_MAX_OPEN];
	struct dmda_change change;
	struct dmda_journal_batch batch;
	bool has_batch;
	struct dmda_journal_place next_place;
	struct dmda_journal_sector *sectors[2];
	u32 sectors_index;
	u32 batch_sectors;
	u64 durable_seq;
	u64 nr_overwrites;
	u64 durable_overwrites;
	unsigned long *is_being_freed;
	u32 nr_being_freed;
	u64 nr_stayed;
	struct dmda_root root;
	struct xarray map;
	struct dmda_s3fifo fifo;
	unsigned long hand;
	u64 nr_map_pages;
	u64 nr_leaving;
	struct dmda_log_writes leaving;
	u64 max_map_pages;
	struct rb_root_cached claims;
	struct list_head ready;
	struct list_head starved;
	struct list_head unmapped;
	struct list_head committing;
	wait_queue_head_t wait;
	struct dmda_log_counters counters;
	u32 nr_map_writes;
	struct dmda_patience patience;
	enum dmda_log_space space;
	enum dmda_log_space told_space;
	unsigned long last_io;
	unsigned long no_space_jiffies;
	bool is_quiet;
	bool is_suspending;
	bool hands_back;
	bool leaves_kept;
	const char *what;
	const char *why;

	struct work_struct io_work;
	struct work_struct commit_work;
	struct delayed_work late_work;
	struct work_struct space_work;
	struct work_struct discard_work;
	struct work_struct checkpoint_work;
	struct work_struct clean_work;
	struct delayed_work idle_work;
	struct delayed_work no_space_work;
	struct work_struct fail_work;
	bool is_pacing;
	s64 credit;
	bool must_clean_all;
	bool may_write;
	bool is_broken;

	struct dmda_summary_block *summary;
	struct dmda_log_cleaner *cleaner;
	u8 *root_pages;
	u64 pages_before;
	void *fifo_memory;
	void *segments_memory;
	void *opened_memory;
	void *slots_memory[DMDA_NR_TABLES];
};

static inline struct dmda_log_io *dmda_log_io_of(struct bio *bio)
{
	return dm_per_bio_data(bio, sizeof(struct dmda_log_io));
}

static inline struct bio *dmda_log_bio(struct dmda_log_io *io)
{
	return dm_bio_from_per_bio_data(io, sizeof(struct dmda_log_io));
}

static inline u32 dmda_log_io_pages(const struct dmda_log_io *io)
{
	return io->last - io->first + 1;
}

/* The segment that a page lies in, or SEG_NONE */
static inline seg_t dmda_log_segment_of(const struct dmda_log *log, dpn_t dpn)
{
	u32 page;

	return dmda_super_segment_of(&log->super, dpn, &page);
}

/* Where a page lies for the block layer. */
static inline sector_t dmda_log_sector(const struct dmda_log *log, dpn_t dpn)
{
	return log->dmda->config.start_sectors + (from_dpn(dpn) << DMDA_PAGE_SECTOR_SHIFT);
}

/*
 * Functions defined in life.c
 */

/**
 * dmda_log_create() - prepare log mode for a target
 * @dmda: the target, whose device is known; ti->len is checked
 *
 * Reads the superblock, and no more: another target may still be writing.
 *
 * Context: may sleep.
 * Return: 0, or a negative errno with ti->error set.
 */
int dmda_log_create(struct dmda *dmda);

/**
 * dmda_log_destroy() - give everything back; writes nothing
 */
void dmda_log_destroy(struct dmda *dmda);

/**
 * dmda_log_preresume() - start, or go on
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_preresume(struct dmda *dmda);

/**
 * dmda_log_resume() - bios may come
 */
void dmda_log_resume(struct dmda *dmda);

/**
 * dmda_log_presuspend() - bios still come, but not for long
 *
 * Who has sent a message holds up the suspension until that is done.
 */
void dmda_log_presuspend(struct dmda *dmda);

/**
 * dmda_log_presuspend_undo() - it goes on
 */
void dmda_log_presuspend_undo(struct dmda *dmda);

/**
 * dmda_log_postsuspend() - no bio is under way: make everything durable
 */
void dmda_log_postsuspend(struct dmda *dmda);

/**
 * dmda_log_status() - the status line
 * Return: characters printed.
 */
size_t dmda_log_status(struct dmda *dmda, char *result, unsigned int maxlen);

struct dmda_message;

/**
 * dmda_log_message() - do what a message asks for
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_message(struct dmda *dmda, const struct dmda_message *message);

/* Most pages that are written at once: what one operation and one segment can take */
static inline u32 dmda_log_max_pages(const struct dmda_log *log)
{
	return min(DMDA_MAX_OP_PAGES, dmda_super_data_pages(&log->super));
}

/**
 * dmda_log_limits() - what bios may be like
 */
void dmda_log_limits(const struct dmda_log *log, struct queue_limits *limits);

/**
 * dmda_log_fail() - metadata could not be read or written: from now on reads only
 * @what: was being done
 * @why: it did not work
 *
 * Context: any, without the lock.
 */
void dmda_log_fail(struct dmda_log *log, const char *what, const char *why);

/**
 * dmda_log_end_list() - end bios with an error
 * @ios: struct dmda_log_io, with claims and pins given up
 *
 * Context: any, without the lock.
 */
void dmda_log_end_list(struct list_head *ios, blk_status_t status);

/* Let a worker begin, unless all is quiet. */
static inline void dmda_log_kick(struct dmda_log *log, struct work_struct *work)
{
	if (!READ_ONCE(log->is_quiet))
		queue_work(log->queue, work);
}

/*
 * Functions defined in io.c
 */

/**
 * dmda_log_init_pieces() - prepare dmda_log.bios
 * Return: 0 or -ENOMEM.
 */
int dmda_log_init_pieces(struct dmda_log *log);

/**
 * dmda_log_map() - a bio's way into log mode
 *
 * Context: from map.
 * Return: DM_MAPIO_*.
 */
int dmda_log_map(struct dmda *dmda, struct bio *bio);

/**
 * dmda_log_end_io() - a bio has ended below
 * @status: with this; may be changed
 *
 * Context: bio completion.
 * Return: DM_ENDIO_*.
 */
int dmda_log_end_io(struct dmda *dmda, struct bio *bio, blk_status_t *status);

/**
 * dmda_log_map_run_locked() - pages that are written are at their places from now on
 * @pages: the one or two pages of the map that have their lpns, pinned; or NULL
 * @first: what the first one is, but for its seq, which is set
 * @dpn: its place
 *
 * Return: false if the batch has no room for it now.
 */
bool dmda_log_map_run_locked(struct dmda_log *log,
			     struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES],
			     struct dmda_written *first, dpn_t dpn, u32 nr_pages);

/**
 * dmda_log_map_written() - map what could not be mapped for want of room in the batch
 *
 * Context: process; without the lock.
 */
void dmda_log_map_written(struct dmda_log *log);

/**
 * dmda_log_do_io() - worker: go on with dmda_log.ready
 */
void dmda_log_do_io(struct work_struct *work);

/**
 * dmda_log_where_locked() - where an lpn is, or is going to be
 * Return: DPN_NONE if it is nowhere, or its page of the map is not in memory.
 */
dpn_t dmda_log_where_locked(struct dmda_log *log, u64 lpn);

/*
 * Functions defined in journal.c
 */

/**
 * dmda_log_commit() - make all operations durable that were done before
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; the device has failed then.
 */
int dmda_log_commit(struct dmda_log *log);

/**
 * dmda_log_do_commit() - worker: the same
 */
void dmda_log_do_commit(struct work_struct *work);

/**
 * dmda_log_do_late() - worker: the same, for what nobody has asked to be durable
 */
void dmda_log_do_late(struct work_struct *work);

/* Something is acknowledged: if nobody asks for it to be durable, it will be all the same. */
static inline void dmda_log_commit_late(struct dmda_log *log)
{
	if (!READ_ONCE(log->is_quiet))
		queue_delayed_work(log->queue, &log->late_work, DMDA_LOG_LATE_JIFFIES);
}

/* Is there room for an operation of so many records? If not, a commit is on its way. */
bool dmda_log_has_room_locked(struct dmda_log *log, u32 nr_records);

/* Begin a batch if the journal has room for it. */
void dmda_log_begin_batch_locked(struct dmda_log *log);

/**
 * dmda_log_make_room() - there was no room in the batch: wait until there may be
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_make_room(struct dmda_log *log);

/**
 * dmda_log_change_segment() - a segment changes its state
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_change_segment(struct dmda_log *log, const struct dmda_record *record);

/*
 * Functions defined in space.c
 */

/**
 * dmda_log_kept_from_locked() - segments that a stream leaves to others
 */
u32 dmda_log_kept_from_locked(const struct dmda_log *log, enum dmda_stream stream);

/**
 * dmda_log_take_locked() - take places for pages
 * @whole: rather waste what is left of a segment than get less
 * @dpn: gets the first place
 * @open: gets the open summary
 *
 * The places count as being written until dmda_log_placed_locked().
 *
 * Return: how many; 0: there are none now, dmda_log_feed_locked() comes when there may be.
 */
u32 dmda_log_take_locked(struct dmda_log *log, enum dmda_stream stream, u32 nr_pages,
			 bool whole, dpn_t *dpn, u8 *open);

/**
 * dmda_log_emptied_locked() - data was replaced or trimmed: if that has emptied a segment, who
 *	waits for places gets them when it is free
 * @nr_before: segments that were empty before
 */
void dmda_log_emptied_locked(struct dmda_log *log, u32 nr_before);

/* Is there a chance that users get places? */
bool dmda_log_has_places_locked(const struct dmda_log *log);

/**
 * dmda_log_is_out_of_space_locked() - is there no segment for users, and none to come?
 *
 * Else who waits for places waits for the device below, or for cleaning, and gets them.
 */
bool dmda_log_is_out_of_space_locked(struct dmda_log *log);

/**
 * dmda_log_placed_locked() - the pages are mapped, or have been given up
 */
void dmda_log_placed_locked(struct dmda_log *log, u8 open, u32 nr_pages);

/**
 * dmda_log_do_space() - worker: close full segments, free empty ones
 */
void dmda_log_do_space(struct work_struct *work);

/**
 * dmda_log_do_discard() - worker: discard empty segments, and free them
 */
void dmda_log_do_discard(struct work_struct *work);

/**
 * dmda_log_wait_discards() - wait until more than @kept segments are free, or none is on its way
 *
 * Context: may sleep; not from workers of dmda_log.queue.
 */
void dmda_log_wait_discards(struct dmda_log *log, u32 kept);

/* A bio no longer reads from a segment. */
void dmda_log_put_reader(struct dmda_log *log, seg_t seg);

/**
 * dmda_log_close_segment() - write a segment's summary and close it
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_close_segment(struct dmda_log *log, u8 open, seg_t seg, u64 mtime);

/*
 * Functions defined in checkpoint.c
 */

/**
 * dmda_log_checkpoint() - write tables and a root
 * @is_clean: nothing else is under way
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_checkpoint(struct dmda_log *log, bool is_clean);

/**
 * dmda_log_do_checkpoint() - worker: the same
 */
void dmda_log_do_checkpoint(struct work_struct *work);

/**
 * struct dmda_log_page_write - a page on its way
 * @writes: which it belongs to
 * @page: of the map that it is; or NULL
 * @buffer: its copy
 * @table: of which table
 * @index: which page
 * @slot: to which slot
 * @seq: operation that the copy knows
 */
struct dmda_log_page_write {
	struct dmda_log_writes *writes;
	struct dmda_log_page *page;
	void *buffer;
	enum dmda_table table;
	u64 index;
	u32 slot;
	u64 seq;
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

/*
 * Functions defined in clean.c
 */

/**
 * dmda_log_cleaner_create() - set memory aside for cleaning
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; dmda_log_cleaner_destroy() is due in both cases.
 */
int dmda_log_cleaner_create(struct dmda_log *log);
void dmda_log_cleaner_destroy(struct dmda_log *log);

/**
 * dmda_log_segment_is_new() - a segment gets other pages: what could not be read is no more
 *
 * Context: any.
 */
void dmda_log_segment_is_new(struct dmda_log *log, seg_t seg);

/**
 * dmda_log_do_clean() - worker: clean as long as it is worth it
 */
void dmda_log_do_clean(struct work_struct *work);

/* Clean if there is reason to. */
void dmda_log_kick_clean(struct dmda_log *log);

/* There are so few free segments that cleaning is worth it when nobody reads or writes. */
static inline u32 dmda_log_soft_mark(const struct dmda_log *log)
{
	return DMDA_LOG_LOW_SEGMENTS +
		mult_frac(log->segments.nr_segments,
			  READ_ONCE(log->dmda->config.idle_free_percent), 100);
}

/**
 * dmda_log_wait_idle() - clean when nobody reads or writes for a while
 *
 * Context: any.
 */
void dmda_log_wait_idle(struct dmda_log *log);

/**
 * dmda_log_do_idle() - worker: look whether that is so
 */
void dmda_log_do_idle(struct work_struct *work);

/* Let the cleaner begin, unless all is quiet. */
static inline void dmda_log_begin_clean(struct dmda_log *log)
{
	if (!READ_ONCE(log->is_quiet))
		queue_work(log->clean_queue, &log->clean_work);
}

/*
 * Functions defined in inplace.c
 */

/**
 * dmda_log_needs_map_locked() - must a page of the map be read before it is known whether a write
 *	is done where its pages are?
 * @io: has claimed its lpns
 */
bool dmda_log_needs_map_locked(struct dmda_log *log, const struct dmda_log_io *io);

/**
 * dmda_log_stay_locked() - is a write done where its pages are?
 * @io: has claimed its lpns
 *
 * Then that is its place, and nobody copies the pages until dmda_log_stayed_locked().
 */
bool dmda_log_stay_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_stayed_locked() - a write in place has ended
 */
void dmda_log_stayed_locked(struct dmda_log *log, struct dmda_log_io *io);

/*
 * Functions defined in start.c
 */

/**
 * dmda_log_read_super() - find the superblock that counts
 *
 * Context: may sleep.
 * Return: NULL, or what is wrong.
 */
const char *dmda_log_read_super(struct dmda_log *log);

/**
 * dmda_log_start() - read root and tables, replay the journal, and go on from there
 * @read_only: in memory only
 *
 * Context: may sleep.
 * Return: NULL, or what is wrong.
 */
const char *dmda_log_start(struct dmda_log *log, bool read_only);

/**
 * dmda_log_read_root() - find the root that counts, and take its entries
 *
 * Context: may sleep.
 * Return: NULL, or what is wrong.
 */
const char *dmda_log_read_root(struct dmda_log *log);

/*
 * Functions defined in grow.c
 */

/**
 * dmda_log_plan_growth() - the layout that the device would have on all of the one below
 * @super: gets it
 *
 * Return: NULL, or why it cannot grow, as a complete sentence.
 */
const char *dmda_log_plan_growth(const struct dmda_log *log, struct dmda_super *super);

/**
 * dmda_log_grow() - make the device as large as dmda_log.grows_to says
 *
 * The superblock is read, the memory for tables is as large as they are going to be.
 *
 * Context: may sleep.
 * Return: NULL, or what is wrong.
 */
const char *dmda_log_grow(struct dmda_log *log);

/**
 * dmda_log_table_id() - what a page of a table is
 */
struct dmda_block_id dmda_log_table_id(const struct dmda_log *log, enum dmda_table table,
				       u64 index, u32 slot, u64 seq);

/*
 * Functions defined in disk.c
 */

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
 * @group: is told when they are read; dmda_log_group_end() waits for that
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

/**
 * dmda_log_write() - write pages and wait for them
 * @opf: flags
 */
int dmda_log_write(struct dmda_log *log, dpn_t dpn, void *memory, u32 nr_pages,
		   blk_opf_t opf);

/**
 * dmda_log_write_sectors() - write sectors of the journal and wait for them
 * @at: first, below dmda_super.journal_sectors
 */
int dmda_log_write_sectors(struct dmda_log *log, u32 at, void *memory, u32 nr_sectors,
			   blk_opf_t opf);

/**
 * dmda_log_flush() - make everything durable that was written
 */
int dmda_log_flush(struct dmda_log *log);

#endif /* DMDA_LOG_H */
