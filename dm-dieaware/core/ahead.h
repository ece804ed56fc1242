/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looking ahead in the journal: which pages of the map the operations that follow are about. So who
 * replays them can have those read together, where one after the other each would be waited for.
 *
 * It changes nothing of what replay comes to.
 */
#ifndef DMDA_AHEAD_H
#define DMDA_AHEAD_H

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
 */
struct dmda_ahead {
	u32 max;
	u32 nr;
	u32 nr_ops;
	u64 index[DMDA_AHEAD_PAGES];
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

/* Replay begins. */
void dmda_ahead_begin(struct dmda_ahead *ahead);

/**
 * dmda_ahead_is_over() - an operation that is about pages of the map comes
 * @ahead: gets the pages for it, and for as many of those behind it as there is room for
 *
 * Return: true; or false: they were told already, or nobody wants to know.
 */
bool dmda_ahead_is_over(struct dmda_ahead *ahead, const struct dmda_ahead_from *from);

#endif /* DMDA_AHEAD_H */
