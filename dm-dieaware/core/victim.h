/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which segments to clean.
 *
 *   greedy        the fewest valid pages
 *   cost-benefit  the most space gained for the work, weighted with the age of the data:
 *		   (1 - u) * age / (1 + u), where u is the share of valid pages
 *   file-aware    of the best few by (1 - u) * age^(2/5) / (1 + u), those whose files are in
 *		   most pieces, since cleaning puts files together (Park et al., "File
 *		   Defragmentation Scheme for a Log-Structured File System", APSys 2016,
 *		   Algorithm 1)
 *
 * The age as it is weighs too much where some data is overwritten often and most is not: segments
 * that are nearly full are cleaned because they are old, again and again, and more is moved than
 * by their valid pages alone where all data is alike. Damped, it moves less than both.
 *
 * Time is counted in operations. Pure functions of their arguments.
 */
#ifndef DMDA_VICTIM_H
#define DMDA_VICTIM_H

#include "policy.h"
#include "segments.h"
#include "summary.h"

/**
 * struct dmda_candidate - a segment that may be cleaned
 * @seg: the segment
 * @worth: worth of cleaning it: the higher, the better
 */
struct dmda_candidate {
	seg_t seg;
	u64 worth;
};

/**
 * dmda_victim_find() - find the best segments to clean
 * @now_seq: the present operation
 * @policy: of file-aware the first half, which needs no files
 * @max_valid: segments with more valid pages are left out, whatever they are worth
 * @candidates: gets the best ones, the best first
 * @nr: most that are wanted, at least 1
 *
 * Only segments that are closed and have fewer valid pages than they can are looked at;
 * not those without any, which need no cleaning. Of many, only those that are likely to be the
 * best.
 *
 * Return: how many there are.
 */
u32 dmda_victim_find(const struct dmda_segments *segments, u64 now_seq, enum dmda_policy policy,
		     u32 max_valid, struct dmda_candidate *candidates, u32 nr);

/* The best, however many valid pages they have */
static inline u32 dmda_victim_candidates(const struct dmda_segments *segments, u64 now_seq,
					 enum dmda_policy policy,
					 struct dmda_candidate *candidates, u32 nr)
{
	return dmda_victim_find(segments, now_seq, policy, U32_MAX, candidates, nr);
}

/**
 * struct dmda_file_set - files that were met in a segment
 * @nr_slots: power of two above the number of pages of a segment
 * @slot: hash table of files; 0 is a free slot
 */
struct dmda_file_set {
	u32 nr_slots;
	u64 *slot;
};

/**
 * dmda_victim_pieces() - in how many pieces too many are the files of a segment?
 * @summary: summary of the segment
 * @is_valid: a bit for each page of the segment: it is valid
 * @nr_pages: pages that take data
 * @files: emptied first
 *
 * A piece is a row of valid pages of one file; the first one of each file is none too
 * many. Pages of unknown files are left out.
 *
 * Return: pieces that cleaning would save.
 */
u32 dmda_victim_pieces(const struct dmda_summary_block *summary, const u64 *is_valid,
		       u32 nr_pages, struct dmda_file_set *files);

#endif /* DMDA_VICTIM_H */
