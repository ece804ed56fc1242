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

/**
 * dmda_log_close_segment() - write a segment's summary and close it, if that can be done now
 * @open: its open summary
 *
 * Context: may sleep.
 * Return: 0, -EAGAIN if it cannot be closed now, or another negative errno.
 */
int dmda_log_close_segment(struct dmda_log *log, u8 open);

/* What the device below knows of a segment's holes is no more: it becomes free, or is told anew. */
void dmda_log_forget_holes_locked(struct dmda_log *log, seg_t seg);

#endif /* DMDA_LOG_SPACE_H */
