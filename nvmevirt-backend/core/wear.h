/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wear of dies, and when affinity gives way to it.
 *
 * Overwrites that stay on their die wear it out if a few flash units are overwritten all
 * the time. A die is worn when it was erased more often than dies are in the mean, by
 * more than ftl_params.wear_permille and a few erases. What is overwritten on a worn die
 * moves to the least worn one, and stays there until that is worn in turn. So what is
 * written most moves first; data that lies still moves only to make room (exchange.h).
 *
 * Within a die the free block that was erased least is written next. That leaves blocks out
 * whose pages are never overwritten: one that was erased much less often than blocks of the
 * die are in the mean is collected now and then, though it may have nothing to give, so
 * that it is written with what does not last.
 */
#ifndef FTL_WEAR_H
#define FTL_WEAR_H

#include "open-unit.h"

/**
 * ftl_wear_is_worn() - should overwrites leave the die?
 * @permille: erases above the mean that are borne; 0: any number
 */
bool ftl_wear_is_worn(const struct ftl_eblks *blocks, die_t die, u32 permille);

/**
 * ftl_wear_rested() - find the full block of a die that has been left out for longest
 * Return: the block plus one, or 0 if all have their share of erases.
 */
u32 ftl_wear_rested(const struct ftl_eblks *blocks, die_t die);

/**
 * ftl_wear_least() - find the die that overwrites should go to
 * Return: of the dies that have room for a unit the one with the fewest erases, or @die.
 */
die_t ftl_wear_least(const struct ftl_units *units, die_t die);

#endif /* FTL_WEAR_H */
