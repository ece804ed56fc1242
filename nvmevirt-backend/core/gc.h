/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collection: free erase blocks for a die by moving what is valid out of a full one.
 *
 * A die collects for itself and its pages stay on it, so collection never undoes a
 * placement. Pages gather in the die's GC unit, which waits in the buffer until it is
 * full: none is padded.
 *
 * What is moved at a time is a row: pages with consecutive lpns on one die, one unit's
 * worth at most. That is what a file left there, and what is read at once. A victim's
 * rows come back together, wherever in it their pages are: first those that fill a unit
 * get one of their own, then the others as they fit into the GC unit, and only the rest is
 * cut. Among themselves rows keep the order in which they lie in the victim, so a flash
 * unit whose pages are moved one after the other is sensed once.
 *
 * A victim is collected in steps of one program. In the background a step is taken when a
 * die is idle (idle.h), and, while few blocks are free, with each program of the host:
 * as many as it takes for the victim to be empty when what it gives back is needed.
 * Only when that was not enough does a program wait for whole victims.
 *
 * Why it always ends. Let a die have E erase blocks of C pages, but for an SLC region, which
 * changes nothing of this (slc.h), and the drive H placement handles, each with a stream. It takes
 * at most L <= (E - H - 3) C pages (ftl_geometry_die_limit()), those in open units included. A
 * slot of NAND is free (not handed out since the erase), valid, or dead.
 *
 * 1. A stream takes a block only when FTL_GC_SPARE_EBLKS = 2 are free: collection goes on
 *    until they are. So one is free whenever a victim is begun or gone on with.
 * 2. A victim has a dead slot. While a victim is wanted, one block is free, and H at
 *    most are open: those of the streams which do not want a block. (The stream which
 *    does has given its own, full one away; collection has at most one of the others.)
 *    So at least E - H - 1 are full; valid are at most (E - H - 3) C of their (E - H - 1) C slots;
 *    the victim has the fewest of all, so fewer than C are. In the background a victim is
 *    only begun if it has dead slots; but for one that has rested (wear.h), and is only begun
 *    while so many blocks are free that no stream waits for it. It gives back one block,
 *    and takes one at most: its pages and those that wait in the GC unit fill no more
 *    whole units than a block has.
 * 3. It needs one free block at most. Its pages, fewer than C, fill with those that wait
 *    in the GC unit at most as many units as a block has. What is open to collection
 *    takes some of them, one new block the rest; then the victim is erased: the number
 *    of free blocks does not fall.
 * 4. It ends. Each victim turns a dead slot at least into a free one, and makes none: so
 *    there is a last one, and by 2 that is not before two blocks are free.
 */
#ifndef FTL_GC_H
#define FTL_GC_H

#include "state.h"

/*
 * Blocks that are free before a stream takes one; one of them is left for collection.
 * Where a power failure can take something, one more is: collection that it cuts off may
 * have filled one with rescued pages (rescue.h), which cannot be undone.
 */
#define FTL_GC_SPARE_EBLKS	2U

static inline u32 ftl_gc_spare_eblks(const struct ftl *ftl)
{
	return FTL_GC_SPARE_EBLKS + ftl->oob.is_volatile;
}

/**
 * enum ftl_pass - what is looked for when a victim is gone over
 * @FTL_PASS_UNITS: flash units all of whose pages are valid, of one that is folded (slc.h)
 * @FTL_PASS_WHOLE: rows that fill a unit
 * @FTL_PASS_FITS: rows that fit into what is left of the GC unit
 * @FTL_PASS_FITS_AGAIN: the same once more, as it may be another unit now
 * @FTL_PASS_REST: all others
 */
enum ftl_pass {
	FTL_PASS_UNITS,
	FTL_PASS_WHOLE,
	FTL_PASS_FITS,
	FTL_PASS_FITS_AGAIN,
	FTL_PASS_REST,
};

/**
 * ftl_gc_make_room() - collect until a stream of the die can take a free erase block
 * @start_ns: time at which the block is wanted; the die is busy from then on
 */
void ftl_gc_make_room(struct ftl *ftl, die_t die, u64 start_ns);

/**
 * ftl_gc_go_on() - after a power failure: bring a die to where writing can begin
 *
 * Without protection as many blocks are made free as a stream wants, before the host can
 * write: what collects now has nothing to rescue. With it the victim that the die was in the
 * middle of is emptied if it took the last free block.
 */
void ftl_gc_go_on(struct ftl *ftl, die_t die, u64 start_ns);

/**
 * ftl_gc_wants() - should the die collect in the background?
 */
bool ftl_gc_wants(const struct ftl *ftl, die_t die);

/**
 * ftl_gc_step() - move pages of the die's victim until one unit was programmed
 * @start_ns: time from which the die is busy with it
 *
 * A victim is begun if there is none and ended if nothing is left in it.
 */
void ftl_gc_step(struct ftl *ftl, die_t die, u64 start_ns);

/**
 * ftl_gc_pace() - the host is about to program a unit: take the steps that this calls for
 */
void ftl_gc_pace(struct ftl *ftl, die_t die, u64 start_ns);

/**
 * ftl_gc_row_pages() - length of the row that begins with a page
 * @lpn: a page within the places
 * @first: first place of an erase block or of a die
 * @nr: its places
 *
 * Return: consecutive pages from @lpn on that are within the places, one unit's at most.
 */
u32 ftl_gc_row_pages(const struct ftl *ftl, u64 lpn, u64 first, u32 nr);

/**
 * ftl_gc_move_row() - move the pages of a row to the end of its die's GC unit
 * @nr: pages; a whole unit of them gets a flash unit of its own, and may be in the buffer
 *
 * The GC stream must have a block, or one be free.
 */
void ftl_gc_move_row(struct ftl *ftl, die_t die, u64 lpn, u32 nr, u64 start_ns);

/**
 * ftl_gc_move_unit() - move a flash unit all of whose pages are valid, as it is
 *
 * As ftl_gc_move_row().
 */
void ftl_gc_move_unit(struct ftl *ftl, u32 flash_unit, u64 start_ns);

/**
 * ftl_gc_move_rows() - move rows of a victim, which has valid pages, until one unit was programmed
 *	or nothing is left in it
 *
 * The GC stream must have a block, or one be free.
 */
void ftl_gc_move_rows(struct ftl *ftl, die_t die, struct ftl_victim *victim, u64 start_ns);

/**
 * ftl_gc_program() - bring what waits in a die's GC unit to NAND
 *
 * Nothing is collected meanwhile: what else is in the unit may be on NAND in the victim only.
 */
void ftl_gc_program(struct ftl *ftl, die_t die, u64 start_ns);

/**
 * ftl_gc_erase() - erase a victim without valid pages
 *
 * It is free then, or bad if the erase fails. What has to come before it may program units.
 */
void ftl_gc_erase(struct ftl *ftl, u32 victim, u64 start_ns);

/* Pages that fit into the die's GC unit before it has to be programmed. */
static inline u32 ftl_gc_space(const struct ftl *ftl, die_t die)
{
	const struct ftl_unit *unit = ftl->units.die[from_die(die)].gc;

	return unit ? ftl_unit_space(&ftl->units, unit) : ftl->geo.unit_pages;
}

#endif /* FTL_GC_H */
