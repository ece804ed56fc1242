/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Segments that are open, until they are closed. It does no I/O and does not wait; a segment is
 * closed when nothing more goes to it and all that was written to it is mapped:
 *
 *	if (dmda_close_begin(closing, open))
 *		while ((step = dmda_close_next(closing)) < DMDA_CLOSE_DONE)
 *			dmda_close_did(closing, what came of it);
 *
 *	SUMMARY		from the open summary, which nobody changes any more
 *	RECORD		after it: the commit that makes the record durable flushes the summary first
 *	-------------	from here on the open summary is free for another segment
 *
 * All but dmda_close_next() and dmda_close_copy() are to be called under the lock that protects
 * segments, which is not to be held while a step is done; one segment is closed at a time.
 */
#ifndef DMDA_CLOSE_H
#define DMDA_CLOSE_H

#include "opened.h"

/**
 * enum dmda_close_step - what is to be done next
 * @DMDA_CLOSE_SUMMARY: write the summary that dmda_close_copy() makes, in any order with others
 * @DMDA_CLOSE_RECORD: do @record, and put it to the journal
 * @DMDA_CLOSE_DONE: nothing: the segment is closed
 * @DMDA_CLOSE_FAILED: nothing: it is still open
 */
enum dmda_close_step {
	DMDA_CLOSE_SUMMARY,
	DMDA_CLOSE_RECORD,
	DMDA_CLOSE_DONE,
	DMDA_CLOSE_FAILED,
};

/**
 * struct dmda_open - a segment that is open
 * @seg: the segment, until it is closed; or SEG_NONE
 * @nr_writing: number of its pages that are being written and not mapped yet
 * @is_retired: whether nothing more is going to be written to it
 * @mtime: age of the newest data in it
 */
struct dmda_open {
	seg_t seg;
	u32 nr_writing;
	bool is_retired;
	u64 mtime;
};

/**
 * struct dmda_closing - segments that are open, and the one that is being closed
 * @opened: open summaries
 * @open: open segments, by open summary
 * @record: record that closes the segment
 * @which: open summary of the segment that is being closed
 * @step: step that is under way, or how the last one has ended
 *
 * @opened is the caller's to fill in.
 */
struct dmda_closing {
	const struct dmda_opened *opened;
	struct dmda_open open[DMDA_MAX_OPEN];
	struct dmda_record record;
	u8 which;
	enum dmda_close_step step;
};

/**
 * dmda_close_init() - no segment is open
 */
void dmda_close_init(struct dmda_closing *closing, const struct dmda_opened *opened);

/**
 * dmda_close_opened() - a segment is open
 * @open: its open summary, which no other one has
 * @mtime: age of its newest data
 */
void dmda_close_opened(struct dmda_closing *closing, u8 open, seg_t seg, u64 mtime);

/**
 * dmda_close_took() - places of an open segment are going to be written to
 */
void dmda_close_took(struct dmda_closing *closing, u8 open, u32 nr_pages);

/**
 * dmda_close_placed() - these pages are mapped, or have been given up
 * Return: whether it is to be closed now.
 */
bool dmda_close_placed(struct dmda_closing *closing, u8 open, u32 nr_pages);

/**
 * dmda_close_retire() - nothing more goes to a segment
 * Return: whether it is to be closed now.
 */
bool dmda_close_retire(struct dmda_closing *closing, u8 open);

/**
 * dmda_close_begin() - begin to close a segment
 * Return: false: there is none, or it cannot be closed yet.
 */
bool dmda_close_begin(struct dmda_closing *closing, u8 open);

/**
 * dmda_close_copy() - make the summary of the segment that is being closed
 * @memory: dmda_super.summary_pages pages
 * @epoch: epoch of the next root
 *
 * Return: place of its first page.
 */
dpn_t dmda_close_copy(const struct dmda_closing *closing, struct dmda_summary_block *memory,
		      u64 epoch);

/**
 * dmda_close_did() - a step was done, or could not be
 * @error: 0 or a negative errno
 *
 * Does nothing if no step is under way.
 */
void dmda_close_did(struct dmda_closing *closing, int error);

/* The next step; the same again until dmda_close_did() is called. */
static inline enum dmda_close_step dmda_close_next(const struct dmda_closing *closing)
{
	return closing->step;
}

#endif /* DMDA_CLOSE_H */
