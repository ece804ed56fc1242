/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places for what is written, and who reads from a segment.
 */
#ifndef DMDA_LOG_PLACES_H
#define DMDA_LOG_PLACES_H

#include "../core/stream.h"
#include "../core/units.h"

struct dmda_log;

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

/* A bio no longer reads from a segment. */
void dmda_log_put_reader(struct dmda_log *log, seg_t seg);

#endif /* DMDA_LOG_PLACES_H */
