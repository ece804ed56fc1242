/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The SLC region: some erase blocks of each die keep one bit in a cell, where all others keep
 * several. So they hold less, and are programmed and read faster.
 *
 *	host --> SLC block --(folded at rest)--> block of the die's GC stream
 *	host ----------------(no SLC block is free)--> block of the die's HOST stream
 *
 * What a die programs for the host goes to its SLC block as long as it has one with room, and
 * past the region else. In either case it is on the die that placement has chosen, so the
 * region changes what programs and senses take, and nothing that hints have asked for.
 *
 * A full block of the region is folded when the drive is at rest (idle.h): what is valid in it
 * is copied to the GC stream, within the die, and it is erased. The one with the fewest valid
 * pages comes first, of equals the one that filled first. What was overwritten meanwhile is not
 * copied. A flash unit all of whose pages are valid is copied as it is; pages of others go
 * by rows, as collection moves them (gc.h).
 *
 * Why collection still always ends (gc.h). Pages in the region count among those that a die
 * takes, so the other blocks have at most as many as they would have without it. To collection
 * folding is as mending is: it moves rows into the GC stream, and takes a block only when as many
 * are free as a stream wants. It does not go on while a victim is being collected, so what it
 * needs is never taken from that. A victim may be begun while a block is being folded; that one
 * is as full as a full one then.
 *
 * When the power fails, a copy of folding is as one of collection: before the block is erased, all
 * that ftl_rescue() asks for is done.
 *
 * The region has its erase blocks from the beginning, on top of those for the capacity, and
 * neither grows nor shrinks. A block of it that fails counts among the bad ones of its die.
 */
#ifndef FTL_SLC_H
#define FTL_SLC_H

#include "state.h"

/**
 * ftl_slc_wants() - has the die a block to fold?
 */
bool ftl_slc_wants(const struct ftl *ftl, die_t die);

/**
 * ftl_slc_fold_step() - move pages of the block that the die folds until one unit was programmed
 * @start_ns: time from which the die is busy with it
 *
 * A block is begun if there is none, of which there must be one then, and erased if nothing is
 * left in it. The die must not be in the middle of a victim.
 */
void ftl_slc_fold_step(struct ftl *ftl, die_t die, u64 start_ns);

/**
 * ftl_slc_pages_free() - pages that the die can still take into the region
 */
u64 ftl_slc_pages_free(const struct ftl *ftl, die_t die);

#endif /* FTL_SLC_H */
