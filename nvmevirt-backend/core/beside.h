/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a die has besides its erase blocks: pages of the map (map-page.h) and of the defrag log
 * (defrag-program.h). Where they lie is not followed, only what they take of the die's time.
 */
#ifndef FTL_BESIDE_H
#define FTL_BESIDE_H

#include "state.h"

/**
 * ftl_sense_beside() - read a page of what a die has besides its erase blocks
 * @plane: plane that it is on
 *
 * Return: as ftl_sense().
 */
u64 ftl_sense_beside(struct ftl *ftl, die_t die, u32 plane, u64 start_ns);

/**
 * ftl_program_beside() - program a unit of what a die has besides its erase blocks
 * @nr_before: programs of the same kind that the die has done; an erase block's worth of them
 *	is erased before it is written again
 *
 * Return: the time at which it is durable.
 */
u64 ftl_program_beside(struct ftl *ftl, die_t die, u64 nr_before, u64 at_ns);

#endif /* FTL_BESIDE_H */
