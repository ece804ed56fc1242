/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The summary of a segment: for each of its pages which lpn it was written for, by which
 * operation, and which page of which file it is. Cleaning finds the lpns by it, and the
 * map can be made anew from all of them when everything else is lost.
 *
 * It says what was written, not what is valid: that is for the map to say.
 *
 * Pure functions of their arguments.
 */
#ifndef DMDA_SUMMARY_H
#define DMDA_SUMMARY_H

#include "super.h"

/**
 * struct dmda_written - what the summary has about a page that was written
 * @lpn: lpn for which it was written
 * @seq: operation that mapped it
 * @file: file, or 0 if unknown
 * @fpage: page of @file
 */
struct dmda_written {
	lpn_t lpn;
	u64 seq;
	u64 file;
	u32 fpage;
};

/**
 * dmda_summary_put() - note what a page of a segment is
 * @entry: its entry in the summary
 * @first: the first page of a write
 * @nth: number of the page in that write
 */
static inline void dmda_summary_put(struct dmda_summary_entry *entry,
				    const struct dmda_written *first, u32 nth)
{
	dmda_put_bytes(entry->lpn, from_lpn(first->lpn) + nth + 1, sizeof(entry->lpn));
	dmda_put_bytes(entry->seq, first->seq, sizeof(entry->seq));
	entry->reserved = 0;
	entry->fpage = cpu_to_le32(first->fpage + nth);
	entry->file = cpu_to_le64(first->file);
}

/**
 * dmda_summary_get() - what a page of a segment is
 * Return: false if nothing was noted.
 */
bool dmda_summary_get(const struct dmda_summary_block *summary, u32 page,
		      struct dmda_written *written);

/**
 * dmda_summary_seal() - make a summary ready to be written
 * @seg: whose it is
 * @epoch: epoch of the next checkpoint
 */
void dmda_summary_seal(struct dmda_summary_block *summary, const struct dmda_super *super,
		       seg_t seg, u64 epoch);

/**
 * dmda_summary_check() - is this the summary of that segment?
 * Return: NULL, or what is wrong.
 */
const char *dmda_summary_check(const struct dmda_summary_block *summary,
			       const struct dmda_super *super, seg_t seg);

/* Where a segment's summary begins. */
static inline dpn_t dmda_summary_dpn(const struct dmda_super *super, seg_t seg)
{
	return to_dpn(from_dpn(dmda_super_segment_dpn(super, seg)) +
		      dmda_super_data_pages(super));
}

#endif /* DMDA_SUMMARY_H */
