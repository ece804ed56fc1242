/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collection: free erase blocks for a die by moving what is valid out of a full one.
 *
 * A die collects for itself and its pages stay on it, so collection never undoes a
 * placement. Pages are moved in the order of their units and slots. They gather in the
 * die's GC unit, which waits in the buffer until it is full: none is padded.
 *
 * Why it always ends. Let a die have E erase blocks of C pages. It takes at most
 * L <= (E - 4) C pages (ftl_geometry_die_limit()), those in open units included.
 *
 *   Collection begins when a stream needs a block and only FTL_GC_SPARE_EBLKS - 1 = 1 is
 *   free, and goes on until FTL_GC_SPARE_EBLKS = 2 are. Apart from the free one and the
 *   one that collection writes to, all blocks are full but at most one (the other
 *   stream's). Slots that are neither free nor valid number at least
 *   E C - L - 1 C (free) - 2 C (not handed out in the two open blocks) >= C. Those of
 *   the two open blocks are fewer than the handed out ones, so some of them may be there;
 *   but what is handed out there is then not counted as free: the full blocks, E - 3 of
 *   them at least, hold at most L <= (E - 4) C valid pages, thus one of them holds fewer
 *   than C, and so does the victim, which has the fewest.
 *
 *   A victim of fewer than C pages fills, with what waits in the GC unit, at most as many
 *   units as a block has, so it needs at most one free block, and gives one back: the
 *   number of free blocks does not fall, and there is one whenever one is needed.
 *   Every victim turns at least one slot that was neither valid nor free into a free
 *   one. As long as fewer than two blocks are free there is such a slot, and there is
 *   a finite number of them: so it ends.
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
