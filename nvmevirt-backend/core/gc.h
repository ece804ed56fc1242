/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collection: free erase blocks for a die by moving what is valid out of a full one.
 *
 * A die collects for itself and its pages stay on it, so collection never undoes a
 * placement. Pages are moved in the order of their units and slots. They gather in the
 * die's GC unit, which waits in the buffer until it is full: none is padded.
 *
 * Why it always ends. Let a die have E erase blocks of C pages. It takes at most
 * L <= (E - 4) C pages (ftl_geometry_die_limit()), those in open units included. A slot
 * of NAND is free (not handed out since the erase), valid, or dead.
 *
 * 1. A stream takes a block only when FTL_GC_SPARE_EBLKS = 2 are free: collection goes on
 *    until they are. So one is free whenever a victim is begun.
 * 2. A victim has a dead slot. While a victim is wanted, one block is free, and one at
 *    most is open: that of the stream which does not want a block. (The stream which
 *    does has given its own, full one away; collection itself has at most the other.)
 *    So at least E - 2 are full; valid are at most (E - 4) C of their (E - 2) C slots; the
 *    victim has the fewest of all, so fewer than C are.
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

/* Blocks that are free before a stream takes one; one of them is left for collection. */
#define FTL_GC_SPARE_EBLKS	2U

/**
 * ftl_gc_make_room() - collect until a stream of the die can take a free erase block
 * @start_ns: time at which the block is wanted; the die is busy from then on
 */
void ftl_gc_make_room(struct ftl *ftl, die_t die, u64 start_ns);

#endif /* FTL_GC_H */
