/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Power failure, and the start after it.
 *
 * What a power failure takes and what it leaves:
 *
 *	                        without protection      with it (params.plp)
 *	programs that ended     stay                    stay
 *	programs that began     the unit is torn        finished
 *	programs not yet begun  never happen            finished
 *	erases that began       the block has nothing   finished
 *	                        and is erased again
 *	open units              lost but for drafts     saved, and open again
 *	trims                   stay                    stay
 *
 * Then the maps are made anew from the out-of-band area by looking at every place: of
 * several places with data of a page the one with the highest number counts. Of copies of
 * the same data:
 *
 * - Without protection any but a draft (draft.h), and the oldest, so that a collection that
 *   was cut off is undone: what it had filled is erased, and the next has the free block
 *   again that it needs (gc.h).
 * - With it the newest. What collection had filled may also hold pages of an earlier victim,
 *   which had waited in the saved GC unit, so it could not be erased. The victim is in the
 *   state in which it was, and so is what was left for it to move into.
 *
 * What is older than the page's last trim does not count.
 */
#ifndef FTL_REBUILD_H
#define FTL_REBUILD_H

#include "state.h"

/**
 * ftl_save() - bring everything that is durable into the area
 *
 * With it alone ftl_rebuild() makes an equivalent drive, in which all that is booked has
 * ended. Open units of the host are in it as well.
 */
void ftl_save(struct ftl *ftl);

#endif /* FTL_REBUILD_H */
