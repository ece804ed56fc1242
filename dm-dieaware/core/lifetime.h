/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long what users write is likely to stay as it is: as long as what it replaces has.
 *
 * A page that is written over soon after it was written is written over soon again, mostly. Where
 * such pages have a segment of their own, it is empty before it has to be cleaned, and those of
 * others keep what stays. So the segment of the page that is replaced tells: the age of that
 * is what was written to the log since it was opened, against all that is valid on the device.
 *
 *	less than 1/16		hot
 *	less than 1/2		warm
 *	else, or not known	as all that users write
 *
 * What a cleaning has moved is older than its segment, how much is not known, and what was there
 * at the start is as old.
 *
 * Open segments are places that nobody else gets. So there is an open segment more for each kind
 * only on a device with that much in reserve, and while there is none to be opened, users write to
 * whatever segment of theirs is open.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_LIFETIME_H
#define DMDA_LIFETIME_H

#include "stream.h"
#include "writer.h"

/* A device that has kinds by age keeps so many segments in reserve: twice what any has. */
#define DMDA_LIFETIME_RESERVE	(2 * DMDA_RESERVED_SEGMENTS)

/**
 * struct dmda_lifetimes - ages of segments
 * @super: superblock of the device
 * @born: how many segments had been opened when it was, itself included, by segment; 0: it was
 *	opened for what cleaning moves, or before the start
 * @nr_opened: number of segments that were opened since the start
 */
struct dmda_lifetimes {
	const struct dmda_super *super;
	u32 *born;
	u32 nr_opened;
};

/**
 * dmda_lifetimes_bytes() - memory for the ages
 */
size_t dmda_lifetimes_bytes(const struct dmda_super *super);

/**
 * dmda_lifetimes_init() - nothing was opened yet
 * @zeroed: dmda_lifetimes_bytes() bytes
 */
void dmda_lifetimes_init(struct dmda_lifetimes *lifetimes, const struct dmda_super *super,
			 void *zeroed);

/**
 * dmda_lifetimes_fit() - has the device room for kinds by age?
 * @nr_segments: segments that it has
 */
bool dmda_lifetimes_fit(const struct dmda_super *super, u32 nr_segments);

/**
 * dmda_lifetimes_opened() - a segment was opened
 */
void dmda_lifetimes_opened(struct dmda_lifetimes *lifetimes, seg_t seg, enum dmda_stream stream);

/**
 * dmda_lifetimes_kind() - what kind of data replaces a page?
 * @seg: segment of the page
 * @nr_valid: valid pages on the device
 */
enum dmda_stream dmda_lifetimes_kind(const struct dmda_lifetimes *lifetimes, seg_t seg,
				     u64 nr_valid);

/**
 * dmda_lifetimes_place() - to which segment does what users write go?
 * @kind: what it is
 * @least: pages that must have places there, at least 1
 * @nr_spare: free segments that users may take
 *
 * Return: the stream of that segment; it may have to be opened, or not be there.
 */
enum dmda_stream dmda_lifetimes_place(const struct dmda_writer *writer, enum dmda_stream kind,
				      u32 least, u32 nr_spare);

#endif /* DMDA_LIFETIME_H */
