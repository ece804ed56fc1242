/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an open unit of the host to NAND.
 *
 * A host unit that needs a new erase block may have to wait for collection on its die.
 */
#ifndef FTL_PROGRAM_HOST_H
#define FTL_PROGRAM_HOST_H

#include "state.h"

/**
 * ftl_program_take() - take the next flash unit of a die's stream
 * @stream: with HOST, one of the SLC region if that has room
 * @start_ns: time at which it is wanted; the die may have to collect first
 */
u32 ftl_program_take(struct ftl *ftl, die_t die, enum ftl_stream stream, u64 start_ns);

/**
 * ftl_program_unit() - program a unit of the host that was set aside
 * @start_ns: time at which its data is complete
 *
 * Slots without a page are padded. The unit is given back.
 *
 * Return: the time at which the pages are durable.
 */
u64 ftl_program_unit(struct ftl *ftl, struct ftl_unit *unit, u64 start_ns);

/**
 * ftl_program_full() - program all units that were set aside, or hold them back
 * @start_ns: time at which their data is complete
 */
void ftl_program_full(struct ftl *ftl, u64 start_ns);

/**
 * ftl_program_open() - program a unit of the host that is open or held
 * Return: the time at which the pages are durable.
 */
u64 ftl_program_open(struct ftl *ftl, struct ftl_unit *unit, u64 start_ns);

#endif /* FTL_PROGRAM_HOST_H */
