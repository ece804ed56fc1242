/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exchange of cold data for hot data between dies, so that they wear alike.
 *
 * What is overwritten on a worn die leaves it (wear.h) while dies that are less worn have
 * room. On a full drive these fill up soon, and what is hot stays where it was. Then the
 * least worn die gives cold data to the worn one, which has room for it, and so gets room
 * for hot data:
 *
 *	worn die:  (h h h -)       (h c - -)
 *	other die: (c c c c)  -->  (h c c c)
 *
 * Cold is what lies in a block nearly all of whose pages are still valid although many
 * others were filled since: a drive that is overwritten everywhere moves next to nothing.
 * Dies give blocks from different parts of theirs, so that files which were written to
 * all dies at the same time each lose one of them and gain the other. A flash unit moves
 * as it is, through the write buffer as a write of the host does, and with new numbers:
 * whatever holds for those after a power failure holds for it.
 *
 * Each command that overwrites units of worn dies for which no other has room lets as many
 * cold ones move at the next write, a few at most.
 */
#ifndef FTL_EXCHANGE_H
#define FTL_EXCHANGE_H

#include "state.h"

/**
 * ftl_exchange_ask() - units were opened on worn dies because no other die has room
 * @nr: units
 */
void ftl_exchange_ask(struct ftl *ftl, u32 nr);

/**
 * ftl_exchange() - move the cold units that were asked for
 * @at_ns: time at which the drive begins with it
 *
 * No command may be half placed.
 */
void ftl_exchange(struct ftl *ftl, u64 at_ns);

#endif /* FTL_EXCHANGE_H */
