/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where data goes next: an open segment for each kind of data, filled from the front. A write
 * that a segment has no room for is cut; what is left of it comes again as a write of its own.
 *
 * This file hands out places, and knows what it cut. That a segment becomes open or closed is
 * an operation of the journal, which the caller puts and applies.
 *
 * Data of a segment may still be on its way when the next one is opened; so each kind of
 * data takes two open summaries in turn.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_WRITER_H
#define DMDA_WRITER_H

#include "opened.h"
#include "stream.h"

/* So many writes that were cut are remembered: others may come between the parts of one. */
#define DMDA_MAX_CUTS 4U

static_assert(2 * (int)DMDA_NR_STREAMS <= DMDA_MAX_OPEN);

/**
 * struct dmda_writer - the open segments
 * @super: superblock of the device
 * @open: open segment by stream: its number, or SEG_NONE; its next page; number of segments that
 *	the stream has opened so far
 * @rest: lpn at which the rest of each cut write begins, or LPN_NONE
 * @nr_cuts: number of writes that were cut so far
 * @nr_rests: number of @rest that are not LPN_NONE
 */
struct dmda_writer {
	const struct dmda_super *super;
	struct {
		seg_t seg;
		u32 next_page;
		u32 nr_opened;
	} open[DMDA_NR_STREAMS];
	lpn_t rest[DMDA_MAX_CUTS];
	u32 nr_cuts;
	u32 nr_rests;
};

/**
 * dmda_writer_init() - no segment is open
 */
void dmda_writer_init(struct dmda_writer *writer, const struct dmda_super *super);

/**
 * dmda_writer_open() - write to a segment from now on
 * @page: its first page that may be written
 */
void dmda_writer_open(struct dmda_writer *writer, enum dmda_stream stream, seg_t seg, u32 page);

/**
 * dmda_writer_resume() - go on where a stream was when the power failed
 * @opened: summaries of the segments that were open
 *
 * Of two that were, the one with more places left; a full one is left alone.
 *
 * Return: its segment, or SEG_NONE.
 */
seg_t dmda_writer_resume(struct dmda_writer *writer, enum dmda_stream stream,
			 const struct dmda_opened *opened);

/**
 * dmda_writer_places_left() - places in a stream's open segment
 *
 * Return: 0 as well if it has none.
 */
u32 dmda_writer_places_left(const struct dmda_writer *writer, enum dmda_stream stream);

/**
 * dmda_writer_room() - places that a stream can get before any other segment becomes free
 */
u64 dmda_writer_room(const struct dmda_writer *writer, enum dmda_stream stream,
		     const struct dmda_segments *segments);

/* The open summary for the segment that is opened next. */
static inline u8 dmda_writer_next_summary(const struct dmda_writer *writer,
					  enum dmda_stream stream)
{
	return 2 * stream + writer->open[stream].nr_opened % 2;
}

/**
 * dmda_writer_take() - take places for pages
 * @nr_pages: number of pages that are wanted, at least 1
 * @dpn: gets the first place
 *
 * Return: how many consecutive places were taken; 0: the stream has no open segment, or
 * a full one.
 */
u32 dmda_writer_take(struct dmda_writer *writer, enum dmda_stream stream, u32 nr_pages,
		     dpn_t *dpn);

/**
 * dmda_writer_cut() - a write got places for its first pages only
 * @rest: first lpn of what is left of it
 */
void dmda_writer_cut(struct dmda_writer *writer, lpn_t rest);

/* The same where there are some */
bool dmda_writer_take_rest(struct dmda_writer *writer, lpn_t first);

/**
 * dmda_writer_is_rest() - is a write what is left of one that was cut?
 * @first: its first lpn
 *
 * What never comes is forgotten when DMDA_MAX_CUTS others were cut.
 *
 * Return: true once for each that was cut.
 */
static inline bool dmda_writer_is_rest(struct dmda_writer *writer, lpn_t first)
{
	return writer->nr_rests && dmda_writer_take_rest(writer, first);
}

#endif /* DMDA_WRITER_H */
