/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two halves of cleaning share: clean.c chooses segments and says when, copy.c
 * brings what is valid in them to another place; and inplace.c, which must not change that
 * meanwhile.
 */
#ifndef DMDA_LOG_CLEAN_H
#define DMDA_LOG_CLEAN_H

#include "log.h"

/* Most pages that users may write while cleaning does nothing for them */
#define DMDA_LOG_MAX_CREDIT	4096

/**
 * struct dmda_log_move - a page that is valid in a victim
 * @lpn: which
 * @from: where it is
 * @file: of which file, 0: not known
 * @fpage: which page of that
 * @slot: where it is in memory, once it was read
 * @is_copied: it was read and written
 */
struct dmda_log_move {
	u64 lpn;
	dpn_t from;
	u64 file;
	u32 fpage;
	u32 slot : 31;
	u32 is_copied : 1;
};

/**
 * struct dmda_log_look - what is valid in a segment
 * @seg: the segment
 * @summary: what it has
 * @is_valid: a bit for each of its pages
 * @nr_valid: how many of them are set
 * @is_known: all that could be read
 * @worth: the more, the better it is to clean it
 */
struct dmda_log_look {
	seg_t seg;
	struct dmda_summary_block *summary;
	u64 *is_valid;
	u32 nr_valid;
	bool is_known;
	u64 worth;
};

/* Segments that are compared */
#define DMDA_LOG_CANDIDATES	8U

/**
 * struct dmda_log_cleaner - memory for cleaning
 * @log: whose
 * @is_idle: cleaning ends when somebody reads or writes
 * @is_all: all segments are cleaned, since somebody has asked for it
 * @is_short: the last round ended since there were no places, but those that are kept
 * @victim: segments that are being cleaned; memory for all there are
 * @nr_victims: how many
 * @move: their valid pages
 * @nr_moves: how many
 * @max_moves: how many there may be in this round
 * @kept_moves: for how many there is room in most cases, by the segments that users leave
 * @is_tight: there is room for fewer than that: one victim at a time
 * @mtime: age of the newest data in them
 * @in_file_order: all moves are written in the order of files, even if there are more than
 *	go into memory; else that many of neighbouring places each
 * @look: segments that may become victims
 * @files: files of one segment
 * @page: memory for what is copied
 * @nr_pages: how much
 * @waste: a page that takes what is read along and not needed
 * @is_stuck: a bit for each segment: it has pages that cannot be read
 * @is_victim: likewise: it is being cleaned
 * @is_left: likewise: it is still to be cleaned, when all are
 */
struct dmda_log_cleaner {
	struct dmda_log *log;
	bool is_idle;
	bool is_all;
	bool is_short;
	seg_t *victim;
	u32 nr_victims;
	struct dmda_log_move *move;
	u32 nr_moves;
	u32 max_moves;
	u32 kept_moves;
	bool is_tight;
	u64 mtime;
	bool in_file_order;
	struct dmda_log_look look[DMDA_LOG_CANDIDATES];
	struct dmda_file_set files;
	struct page **page;
	u32 nr_pages;
	struct page *waste;
	unsigned long *is_stuck;
	unsigned long *is_victim;
	unsigned long *is_left;
};

/* When it will have been idle for long enough, if nobody comes; in jiffies */
static inline unsigned long dmda_log_idle_end(const struct dmda_log *log)
{
	return READ_ONCE(log->last_io) + msecs_to_jiffies(READ_ONCE(log->dmda->config.idle_ms));
}

static inline bool dmda_log_is_idle(const struct dmda_log *log)
{
	return READ_ONCE(log->dmda->config.idle_ms) &&
		time_after_eq(jiffies, dmda_log_idle_end(log));
}

/* Users' writes may wait for what cleaning gains; for what it does besides that, nobody does. */
static inline bool dmda_log_must_stop(const struct dmda_log_cleaner *cleaner)
{
	if (!cleaner->is_idle && !cleaner->is_all)
		return false;
	return READ_ONCE(cleaner->log->is_suspending) ||
		(cleaner->is_idle && !dmda_log_is_idle(cleaner->log));
}

/**
 * dmda_log_copy() - bring all moves to other places, and map them there
 * @cleaner: what
 *
 * Return: whether all are done; else cleaning has to end.
 */
bool dmda_log_copy(struct dmda_log_cleaner *cleaner);

/**
 * dmda_log_copy_create() - allocate memory for what is copied
 * @cleaner: whose; max_moves is set
 *
 * Return: whether there was enough. Otherwise dmda_log_copy_destroy() frees what there is.
 */
bool dmda_log_copy_create(struct dmda_log_cleaner *cleaner);

/**
 * dmda_log_copy_destroy() - free memory for what is copied
 * @cleaner: whose
 */
void dmda_log_copy_destroy(struct dmda_log_cleaner *cleaner);

/**
 * dmda_log_begin_gathering() - has so much been overwritten in place that some segments are to be
 *	cleaned for it, so that what is free lies together?
 *
 * Return: true once for that much.
 */
bool dmda_log_begin_gathering(struct dmda_log *log);

/**
 * dmda_log_begin_victims() - nothing in the segments that are to be cleaned changes in place
 *	from now on
 *
 * Context: may sleep, as long as writes take.
 */
void dmda_log_begin_victims(struct dmda_log_cleaner *cleaner);

/**
 * dmda_log_end_victims_locked() - it may
 */
void dmda_log_end_victims_locked(struct dmda_log_cleaner *cleaner);

#endif /* DMDA_LOG_CLEAN_H */
