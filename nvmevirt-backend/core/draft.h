/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drafts: how small appends become durable without being torn apart.
 *
 * Without protection against power loss a flush has to bring everything to NAND that is in
 * the buffer, and nearly all of it is in units that are not full. Were these programmed
 * as they are, a file that grows by a page and a flush at a time would have a flash
 * unit for every page. So a flush programs *drafts*: copies of the pages of open units
 * that are not on NAND yet (fresh ones), while the units stay open and go on to fill.
 *
 *	append a, flush   open [a      ]  draft (a - - -)
 *	append b, flush   open [a b    ]  draft (b - - -)
 *	append c d        open [a b c d]  is full: programmed as (a b c d); the drafts are dead
 *
 * A draft lies on the die of its pages, is padded, and holds what is fresh in all units of
 * the die, as long as a unit's pages need not be cut: a draft is read only by a start after a
 * power failure, so strangers do no harm in it. It costs the die a program and a flash
 * unit which is dead from the beginning; nothing has to be read to join what is in it.
 *
 * For the map a page of a draft is still in its open unit. What is known of the draft is
 * that its erase block keeps durable data of that page, as with pages that collection has
 * moved into an open unit: so the block is not erased before the page is elsewhere on NAND
 * (rescue.h), and the draft has the number of the data (oob.h).
 */
#ifndef FTL_DRAFT_H
#define FTL_DRAFT_H

#include "state.h"

/**
 * ftl_draft_unit() - write a draft of the fresh pages of an open unit, if it has any
 * Return: the time at which they are durable.
 */
u64 ftl_draft_unit(struct ftl *ftl, struct ftl_unit *unit, u64 start_ns);

/**
 * ftl_draft_die() - write drafts of all fresh pages in open units of a die
 */
void ftl_draft_die(struct ftl *ftl, die_t die, u64 start_ns);

#endif /* FTL_DRAFT_H */
