/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an erase must not destroy: the last durable data of a page.
 *
 * Without protection against power loss a block is erased only when newer data of all
 * its pages is on NAND:
 *
 * - Copies of its valid pages that wait in the die's GC unit are programmed first, with
 *   padding. So that collection gains something all the same, a die takes fewer pages
 *   (ftl_geometry_die_limit()): a victim has a unit's worth of dead slots at least.
 * - A stale page may have been written again so lately that its new data is still in an
 *   open unit of the host. The block cannot wait for a unit that may stay open for
 *   ever, and that unit's die may not have room for it now. So the new data itself
 *   comes along: it goes into the GC unit as if it had been in the victim.
 * - Where new data is on its way to NAND, the erase waits for the end of that.
 * - What pages got by share commands is made durable first (defrag.h).
 *
 * With rescued pages the victim has at most as many to move as it has slots, so it needs no
 * more free blocks than without, and each of them leaves a buffer that is bounded.
 */
#ifndef FTL_RESCUE_H
#define FTL_RESCUE_H

#include "state.h"

/**
 * ftl_rescue() - make an erase harmless
 * @victim: erase block of which nothing is valid any more
 * @start_ns: time at which it might be erased
 *
 * Return: the time, not before @start_ns, from which it may be.
 */
u64 ftl_rescue(struct ftl *ftl, u32 victim, u64 start_ns);

#endif /* FTL_RESCUE_H */
