/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rewrites that somebody has announced: "page so-and-so of this file, which now lies there, is
 * going to be written to another place as it is". A filesystem does that when it defragments, and
 * the SSD may have the old bytes at the new place without writing them (Share, vendor.h).
 *
 * An announcement names pages of a file and where they lie now. Where they will come to, nobody
 * knows before they are written: so it is by file and page that a write is recognised, as for
 * hints (classify.h). It holds for one write of each page. That the bytes are the same is for
 * whoever acts on it to find out: what stands here may be old, wrong, or a lie.
 *
 *	announced	file A:  page 10 -> 700, 701, 702   page 13 -> 90, 91
 *	write		file A,  pages 11 to 15, to 4000
 *	plan		 4000, 4001 from 701    4002, 4003 from 90    (page 15: not announced)
 *
 * The announcements of a target are runs in the order of file and page, none of which overlap, in
 * memory of the caller's: what has no room is refused, and a look-up takes log n steps.
 *
 * Calls on one table must not run at the same time.
 */
#ifndef DMDA_ANNOUNCED_H
#define DMDA_ANNOUNCED_H

#include "units.h"

/* What one command may be about; a command of the SSD takes more (vendor.h). */
#define DMDA_SHARE_MOST_RANGES	64U
#define DMDA_SHARE_MOST_PAGES	128U

/**
 * struct dmda_announced - announced rewrites
 * @runs: announcements, in the order of file and page; @max of them have room
 * @max: at least 1
 * @nr: number of announcements, [0, @max]
 */
struct dmda_announced {
	struct dmda_run *runs;
	u32 max;
	u32 nr;
};

/**
 * struct dmda_share_range - pages that lie one behind the other at their old place
 * @from: first page of the old place
 * @nr_pages: how many, at least 1
 */
struct dmda_share_range {
	dpn_t from;
	u32 nr_pages;
};

/**
 * struct dmda_share_plan - where the pages of a write have their bytes already
 * @to: first page of the new place; the ranges follow one another from there
 * @nr_pages: pages of all ranges, [0, DMDA_SHARE_MOST_PAGES]
 * @nr_ranges: number of ranges
 * @range: ranges, in the order of the write
 */
struct dmda_share_plan {
	dpn_t to;
	u32 nr_pages;
	u32 nr_ranges;
	struct dmda_share_range range[DMDA_SHARE_MOST_RANGES];
};

/**
 * dmda_announced_init() - nothing is announced
 * @announced: the table
 * @runs: memory for @max announcements
 * @max: their number, at least 1
 */
void dmda_announced_init(struct dmda_announced *announced, struct dmda_run *runs, u32 max);

/**
 * dmda_announced_add() - pages of a file are going to be written elsewhere
 * @announced: the table
 * @run: pages of a known file, and where they lie now
 *
 * What was announced of the same pages before is forgotten, whether there is room or not.
 *
 * Return: whether there is room.
 */
bool dmda_announced_add(struct dmda_announced *announced, const struct dmda_run *run);

/**
 * dmda_announced_has() - was a page of a file announced?
 * @announced: the table
 * @file: the file
 * @fpage: the page
 */
bool dmda_announced_has(const struct dmda_announced *announced, struct dmda_file file, u64 fpage);

/**
 * dmda_announced_plan() - where has a write its bytes already, as far as was announced?
 * @announced: the table
 * @write: a write of a known file
 * @plan: the result, for the first pages of @write; without any if the first one was not announced
 *
 * It ends before a page that is written where it lies, or whose old place is any page of the new
 * one: an SSD must not be told both in one command. And before it would be too long.
 */
void dmda_announced_plan(const struct dmda_announced *announced, const struct dmda_run *write,
			 struct dmda_share_plan *plan);

/**
 * dmda_announced_forget() - what was announced of pages of a file no longer counts
 * @announced: the table
 * @file: the file
 * @fpage: its first page
 * @nr_pages: how many
 *
 * If what is left of one announcement is two pieces and there is no room, the second is forgotten.
 */
void dmda_announced_forget(struct dmda_announced *announced, struct dmda_file file, u64 fpage,
			   u32 nr_pages);

/**
 * dmda_announced_forget_file() - nothing that was announced of a file counts any more
 * @announced: the table
 * @file: the file
 */
void dmda_announced_forget_file(struct dmda_announced *announced, struct dmda_file file);

/**
 * dmda_share_plan_trim() - leave only the first pages of a plan
 * @plan: changed
 * @nr_pages: how many, at least 1 and no more than it has
 */
void dmda_share_plan_trim(struct dmda_share_plan *plan, u32 nr_pages);

#endif /* DMDA_ANNOUNCED_H */
