/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A drive on its way into its file: what is written, in which order.
 *
 *	free    the half that the drive is not in (image.h): whatever is left there
 *	write   the area, the data pages and their checksums to that half
 *	sync
 *	write   the next header, of the next epoch: from now on the drive is in that half
 *	sync
 *	free    the other half
 *
 * After an attempt that failed when the header had been written, first
 *
 *	write   a header in its place that says that the drive is where it was before
 *	sync
 *
 * since the half that is freed then is the one that the other header names, if the disk has it.
 *
 * If the machine stops before the header is on the disk, the file is as it was before the
 * first step; afterwards it is the new one. A header that is torn can be told, and then the
 * one before it counts if the user wants that: its half is freed only when the new one is safe.
 *
 * This decides only; the caller does what a step says, and stops where it cannot.
 */
#ifndef FTL_IMAGE_WRITE_H
#define FTL_IMAGE_WRITE_H

#include "image.h"

/**
 * enum ftl_saving_action - what a step is
 * @FTL_SAVING_WRITE: write a block
 * @FTL_SAVING_SYNC: all that was written must be on the disk before the next step
 * @FTL_SAVING_FREE: blocks are not needed any more; it does no harm if they stay
 * @FTL_SAVING_END: all is done
 */
enum ftl_saving_action {
	FTL_SAVING_WRITE,
	FTL_SAVING_SYNC,
	FTL_SAVING_FREE,
	FTL_SAVING_END,
};

/**
 * struct ftl_saving_step - a step
 * @action: enum ftl_saving_action
 * @first: first block that is written or not needed any more
 * @nr: number of blocks, 1 of a write
 * @data: contents of the block that is written; valid until the next step
 */
struct ftl_saving_step {
	enum ftl_saving_action action;
	u64 first;
	u64 nr;
	const void *data;
};

/**
 * struct ftl_saving - a drive that is being written
 * @image: file of the drive; has the new state, serial number and epoch when all is done
 * @area: out-of-band area of the drive
 * @page_of: gives the data of a page, and sets its marks, or NULL
 * @context: first argument of @page_of
 * @block: memory of one block
 * @phase: kind of step that is next
 * @at: number of the block of the area or of checksums that is next
 * @page: lpn of the page that is next
 */
struct ftl_saving {
	struct ftl_image *image;
	const void *area;
	const void *(*page_of)(void *context, u64 lpn, u8 *marks);
	void *context;
	void *block;

	u32 phase;
	u64 at;
	u64 page;
};

/**
 * ftl_saving_begin() - begin
 * @saving: @image, @area, @page_of, @context and @block are set
 */
void ftl_saving_begin(struct ftl_saving *saving);

/**
 * ftl_saving_next() - the last step was done: what is next?
 */
struct ftl_saving_step ftl_saving_next(struct ftl_saving *saving);

#endif /* FTL_IMAGE_WRITE_H */
