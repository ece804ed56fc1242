/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looking ahead in the journal: which pages of the map the operations that follow are about. So who
 * replays them can have those read together, where one after the other each would be waited for.
 *
 * The journal is gone through before it is replayed. What its first operations are about is noted
 * then, up to as many pages as stay in memory, and told in the order of the map before the first of
 * them: those that lie close to each other are read by fewer commands. Behind these operations
 * pages are told a few at a time.
 *
 * It changes nothing of what replay comes to.
 */
#ifndef DMDA_AHEAD_H
#define DMDA_AHEAD_H

#include "bitset.h"
#include "change.h"
#include "replay.h"

/* Most pages that are told at once */
#define DMDA_AHEAD_PAGES	64U

/**
 * struct dmda_ahead - pages of the map that are needed next
 * @max: most of them, up to DMDA_AHEAD_PAGES; less than DMDA_OP_MAP_PAGES: nobody wants to know
 * @nr: number of @index
 * @nr_ops: number of operations they are for that are still to come
 * @index: the pages, in the order in which they are needed; one may be there more than once
 * @most_noted: most pages that are noted before replay; 0: none, and @noted has no memory
 * @nr_noted: number of pages that were noted
 * @nr_noted_ops: number of operations they are for, from the journal's beginning on
 * @is_noted: whether the next operation is about more than may be noted
 * @noted: those of them that were not told yet
 */
struct dmda_ahead {
	u32 max;
	u32 nr;
	u64 nr_ops;
	u64 index[DMDA_AHEAD_PAGES];
	u64 most_noted;
	u64 nr_noted;
	u64 nr_noted_ops;
	bool is_noted;
	struct dmda_bitset noted;
};

/**
 * struct dmda_ahead_from - where looking ahead begins
 * @super: the device's superblock
 * @reader: position in the journal: behind the sector that is being replayed
 * @replay: position in that sector: behind an operation that is about pages
 * @sectors: sectors from @reader on, as far as they have been read
 * @nr_sectors: number of these
 */
struct dmda_ahead_from {
	const struct dmda_super *super;
	const struct dmda_journal_reader *reader;
	const struct dmda_replay *replay;
	const struct dmda_journal_sector *sectors;
	u32 nr_sectors;
};

/* The journal is gone through, from its beginning on. */
void dmda_ahead_open(struct dmda_ahead *ahead);

/**
 * dmda_ahead_note() - note the pages of the map that a sector's operations are about
 * @sector: the next sector of the journal
 */
void dmda_ahead_note(struct dmda_ahead *ahead, const struct dmda_super *super,
		     const struct dmda_journal_sector *sector);

/**
 * dmda_ahead_gather() - tell what was noted
 * @ahead: gets as many pages as there is room for, in the order of the map; none is told twice
 *
 * Return: whether there were any.
 */
bool dmda_ahead_gather(struct dmda_ahead *ahead);

/* Replay begins. */
void dmda_ahead_begin(struct dmda_ahead *ahead);

/**
 * dmda_ahead_was_told() - an operation that is about pages of the map comes
 *
 * Return: whether they were told already.
 */
static inline bool dmda_ahead_was_told(struct dmda_ahead *ahead)
{
	if (!ahead->nr_ops)
		return false;
	ahead->nr_ops--;
	return true;
}

/**
 * dmda_ahead_has_to_tell() - are the pages of the next operation to be told?
 *
 * Return: false if they were already, or nobody wants to know.
 */
static inline bool dmda_ahead_has_to_tell(const struct dmda_ahead *ahead)
{
	return !ahead->nr_ops && ahead->max >= DMDA_OP_MAP_PAGES;
}

/**
 * dmda_ahead_tell() - tell the pages of an operation that were not told
 * @ahead: gets them, and those for as many of the operations behind it as there is room for
 *
 * Return: false if nobody wants to know.
 */
bool dmda_ahead_tell(struct dmda_ahead *ahead, const struct dmda_ahead_from *from);

#endif /* DMDA_AHEAD_H */
