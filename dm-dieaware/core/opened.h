/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open summaries: what was written to the segments that are open, one for each of them.
 *
 * A segment gets its summary when it is closed. Until then the summary is a table like
 * the others: a checkpoint writes its pages that have changed, and the journal has what
 * came after. So a crash loses no more than which file a page was of, for pages written
 * since the last checkpoint.
 *
 * What a page has of the segment before goes when the first entry comes, so that opening a segment
 * does not take longer when segments are larger.
 *
 * Calls on one struct must not run at the same time; copying pages of a segment to which nothing
 * more is put may run with all but its next opening.
 */
#ifndef DMDA_OPENED_H
#define DMDA_OPENED_H

#include "replay.h"
#include "segments.h"
#include "summary.h"

/**
 * struct dmda_opened_page - state of a page of an open summary
 * @seq: last operation that changed it
 * @dirty_sector: first journal sector from which on a start has to bring it up to date, which is
 *	that of a batch; U64_MAX if the device has it as it is
 * @is_stale: what stands on it is of the segment before, and counts as nothing
 */
struct dmda_opened_page {
	u64 seq;
	u64 dirty_sector;
	bool is_stale;
};

/**
 * struct dmda_opened - the open summaries
 * @super: superblock of the device
 * @segments: the segment table
 * @block: contents of the pages, by summary and page, if they are not stale
 * @page: state of the pages, by summary and page
 */
struct dmda_opened {
	const struct dmda_super *super;
	const struct dmda_segments *segments;
	struct dmda_summary_block *block;
	struct dmda_opened_page *page;
};

/**
 * dmda_opened_bytes() - memory for the open summaries
 */
size_t dmda_opened_bytes(const struct dmda_super *super);

/**
 * dmda_opened_init() - nothing was written
 * @zeroed: dmda_opened_bytes() bytes
 */
void dmda_opened_init(struct dmda_opened *opened, const struct dmda_super *super,
		      const struct dmda_segments *segments, void *zeroed);

/**
 * dmda_opened_begin() - a segment was opened
 * @seq: operation that has opened it
 * @sector: first sector of its batch
 *
 * Pages that know the operation already stay as they are.
 */
void dmda_opened_begin(struct dmda_opened *opened, u8 open, u64 seq, u64 sector);

/**
 * dmda_opened_put() - pages were written to an open segment
 * @dpn: place of the first
 * @first: entry of the first page; the others follow it in lpn and file page
 * @nr_pages: number of pages
 * @sector: first sector of the batch that maps them, operation @first->seq
 *
 * Pages that know the operation already stay as they are.
 */
void dmda_opened_put(struct dmda_opened *opened, dpn_t dpn, const struct dmda_written *first,
		     u32 nr_pages, u64 sector);

/**
 * dmda_opened_replay() - do what an operation that was read from the journal says
 * @op: after the segment table knows it
 */
void dmda_opened_replay(struct dmda_opened *opened, const struct dmda_op *op);

/**
 * dmda_opened_end() - how far was an open segment written?
 *
 * What was written behind that, and not mapped before the power failed, is as if it never was.
 *
 * Return: the page behind the last one that was mapped, at most the number of data pages.
 */
u32 dmda_opened_end(const struct dmda_opened *opened, u8 open);

/**
 * dmda_opened_check() - has each segment that is open a summary of its own?
 * Return: NULL, or what is wrong.
 */
const char *dmda_opened_check(const struct dmda_opened *opened);

/**
 * dmda_opened_get() - what was written to a page of an open segment?
 * @written: gets it
 *
 * Return: false if nothing was.
 */
bool dmda_opened_get(const struct dmda_opened *opened, u8 open, u32 page,
		     struct dmda_written *written);

/**
 * dmda_opened_copy() - a page of an open summary as it is to be written
 * @index: which, among those of all open summaries
 * @copy: gets it
 */
void dmda_opened_copy(const struct dmda_opened *opened, u64 index,
		      struct dmda_summary_block *copy);

/**
 * dmda_opened_summary() - all pages of an open summary as they are to be written
 * @summary: gets them
 */
void dmda_opened_summary(const struct dmda_opened *opened, u8 open,
			 struct dmda_summary_block *summary);

#endif /* DMDA_OPENED_H */
