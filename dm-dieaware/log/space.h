/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Segments, and the places in them: taken by what is written, closed when all is mapped, free again
 * when nothing valid is left.
 */
#ifndef DMDA_LOG_SPACE_H
#define DMDA_LOG_SPACE_H

#include <linux/atomic.h>
#include <linux/workqueue.h>

#include "../core/close.h"
#include "../core/free.h"
#include "../core/lifetime.h"
#include "../core/opened.h"
#include "../core/segments.h"
#include "../core/summary.h"
#include "../core/writer.h"

struct dmda_log;

/**
 * struct dmda_log_space - segments, and where data goes next
 * @segments: segment table
 * @segments_memory: memory of @segments
 * @opened: open summaries
 * @opened_memory: memory of @opened
 * @writer: places that data gets next
 * @lifetimes: ages of segments
 * @lifetimes_memory: memory of @lifetimes
 * @closing: segments that are open, and the one that is being closed
 * @readers: number of bios that read from a segment, by segment, which is not freed before they
 *	have ended; no lock
 * @freeing: segments that a worker frees
 * @summary: memory of a summary that is being written; the worker's own
 * @work: worker that closes and frees segments
 * @discard_work: worker that discards and frees segments
 */
struct dmda_log_space {
	struct dmda_segments segments;
	void *segments_memory;
	struct dmda_opened opened;
	void *opened_memory;
	struct dmda_writer writer;
	struct dmda_lifetimes lifetimes;
	void *lifetimes_memory;
	struct dmda_closing closing;
	atomic_t *readers;
	struct dmda_freeing freeing;
	struct dmda_summary_block *summary;
	struct work_struct work;
	struct work_struct discard_work;
};

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

/* Could a stream get another segment now? */
bool dmda_log_can_open_locked(struct dmda_log *log, enum dmda_stream stream);

/* Nothing more goes to a stream's segment, if it has one. */
void dmda_log_retire_locked(struct dmda_log *log, enum dmda_stream stream);

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
 * dmda_log_close_segment() - write a segment's summary and close it, if that can be done now
 * @open: its open summary
 *
 * Context: may sleep.
 * Return: 0, -EAGAIN if it cannot be closed now, or another negative errno.
 */
int dmda_log_close_segment(struct dmda_log *log, u8 open);

#endif /* DMDA_LOG_SPACE_H */
