/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changing map and segment table: one operation at a time, noted in the journal and done
 * in memory in one go, so that both always have the same order.
 *
 * The caller has put the pages of the map that an operation touches into memory, has
 * seen that the batch has room for it whole, and calls dmda_change_map() only for data that is
 * written. What makes it durable is the journal's batch, and when that is written.
 *
 * After a crash the operations of the journal are done by the same code. Each page has the
 * last operation that it knows, and takes only later ones: so pages that were written at
 * different times end up at the same state.
 *
 * Calls on one struct must not run at the same time. Where lpns are can be looked up meanwhile
 * (lookup.h).
 */
#ifndef DMDA_CHANGE_H
#define DMDA_CHANGE_H

#include "map.h"
#include "replay.h"
#include "segments.h"

/* An operation touches at most so many pages of the map. */
#define DMDA_OP_MAP_PAGES	2U

/**
 * struct dmda_map_page - a page of the map in memory
 * @block: its bytes
 * @index: number of the page in the map
 * @seq: last operation that changed it
 * @dirty_sector: first journal sector from which on a start has to bring it up to date, which is
 *	that of a batch; U64_MAX if the device has it as it is
 * @version: count of its changes, for those who look into it meanwhile (lookup.h)
 * @nr_entries: its entries
 * @is_shown: whether they may
 */
struct dmda_map_page {
	struct dmda_map_block *block;
	u64 index;
	u64 seq;
	u64 dirty_sector;
	seqcount_t version;
	u16 nr_entries;
	bool is_shown;
};

/**
 * struct dmda_change - what operations change
 * @super: superblock of the device
 * @segments: the segment table; NULL: they are only noted
 * @batch: batch to which their records are put
 * @nr_dirtied: how often a page of the map that was as on the device was changed
 * @why: reason why the last one could not be done, or NULL. Then memory and journal may differ, and
 *	nothing may be written any more.
 */
struct dmda_change {
	const struct dmda_super *super;
	struct dmda_segments *segments;
	struct dmda_journal_batch *batch;
	u64 nr_dirtied;
	const char *why;
};

/**
 * dmda_map_page_show() - the page is as it should be: who needs it may look into it
 */
void dmda_map_page_show(struct dmda_map_page *page);

/**
 * dmda_map_page_hide() - the page goes: what is found in it from now on does not hold
 */
void dmda_map_page_hide(struct dmda_map_page *page);

/**
 * dmda_change_most() - of some pages in a row, the first ones that lie in few pieces
 * @nr_runs: pieces that may be left behind at once
 *
 * What an operation does is about its pages, and about the pieces that they leave behind.
 *
 * Return: how many, at least one.
 */
u32 dmda_change_most(struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn, u32 nr_pages,
		     u32 nr_runs);

/**
 * dmda_change_map() - pages are at consecutive places from now on
 * @pages: the one or two pages of the map that have these lpns
 * @lpn: first page
 * @dpn: its place
 * @nr_pages: number of pages, at most DMDA_MAX_OP_PAGES, and as many as one page of the map has
 * @sums: their checksums; not used if the device has none
 *
 * Return: the operation's seq.
 */
u64 dmda_change_map(struct dmda_change *change,
		    struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn, dpn_t dpn,
		    u32 nr_pages, const __le32 *sums);

/**
 * dmda_change_draft() - note what dmda_change_map() would do as things are, and do nothing
 * @batch: a batch that is empty, with the number that the operation would have
 * @nr_pages: number of pages, at most DMDA_MAX_DRAFT_PAGES
 *
 * Checksums of pages, where the device has some, are 0.
 */
void dmda_change_draft(const struct dmda_change *change, struct dmda_journal_batch *batch,
		       struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn, dpn_t dpn,
		       u32 nr_pages);

/**
 * dmda_change_trim() - pages hold nothing any more
 *
 * Return: the operation's seq, or 0 if none of them held anything.
 */
u64 dmda_change_trim(struct dmda_change *change,
		     struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn,
		     u32 nr_pages);

/**
 * dmda_change_segment() - a segment changes its state
 * @record: kind, seg and what belongs to the kind
 *
 * Return: the operation's seq.
 */
u64 dmda_change_segment(struct dmda_change *change, const struct dmda_record *record);

/**
 * dmda_change_replay() - do an operation that was read from the journal
 * @op: the operation; of one about pages dmda_op_complaint() has said that it could be
 * @pages: pages of the map for it, NULL where it needs none
 *
 * Return: NULL, or why it cannot have happened.
 */
const char *dmda_change_replay(struct dmda_change *change, const struct dmda_op *op,
			       struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES]);

#endif /* DMDA_CHANGE_H */
