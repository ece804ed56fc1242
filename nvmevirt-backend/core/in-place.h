/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A medium that is written where its data is (params.in_place), as 3D XPoint is: it has no erase
 * blocks to collect, no map that moves pages, and no units that wait until they are full.
 *
 * A page's place follows from its number. Units go round the dies, and the dies round the channels:
 *
 *	pages 0 1 2 | 3 4 5 | 6 7 8 | 9 ...	unit u, here of three pages, is unit u / dies
 *	die     0       1       2     0		of die u % dies
 *
 * The map only says which pages hold anything. Erase blocks are groups of units by which pages are
 * counted, and all are FTL_EBLK_FIXED.
 *
 * A write is over when the dies have taken all of it, and safe then: params.plp. A die works for
 * tPROG on what it has taken, however many pages of the unit that is, and takes no more meanwhile.
 */
#ifndef FTL_IN_PLACE_H
#define FTL_IN_PLACE_H

#include "state.h"

/**
 * ftl_in_place_init() - all units of a new drive are written where they are
 */
void ftl_in_place_init(struct ftl *ftl);

/**
 * ftl_in_place_write() - write the pages of a command
 * @start_ns: time from which their data crosses the link: what has goes on to its die
 * @known_ns: time at which it is known what pages hold that are written in part
 *
 * Return: the time at which the dies have taken all of it.
 */
u64 ftl_in_place_write(struct ftl *ftl, const struct ftl_request *rq, u64 start_ns, u64 known_ns);

/**
 * ftl_in_place_check() - is every page where it has to be?
 * Return: NULL, or a complete sentence.
 */
const char *ftl_in_place_check(const struct ftl *ftl);

#endif /* FTL_IN_PLACE_H */
