/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an open unit to NAND: the unit gets its place, its pages are mapped there, and
 * the die's time is spent.
 *
 * Here is what units of the host and of collection have in common, and all of the latter: for them
 * there is room. How the host's get it is in program-host.h.
 */
#ifndef FTL_PROGRAM_H
#define FTL_PROGRAM_H

#include "state.h"

/**
 * ftl_program_host() - the host's program of a flash unit takes the die's time
 * Return: the time at which it is durable.
 */
u64 ftl_program_host(struct ftl *ftl, u32 flash_unit, u64 start_ns);

/**
 * ftl_program_close() - a flash unit of a stream was programmed, and may be the last of its block
 * @stream: as in ftl_program_take()
 */
void ftl_program_close(struct ftl *ftl, u32 flash_unit, enum ftl_stream stream);

/**
 * ftl_program_to() - program a unit that was set aside to a flash unit that was taken for it
 * @stream: stream of the flash unit, as in ftl_program_close()
 * @start_ns: time at which its data is complete
 *
 * Slots without a page are padded. The unit is given back.
 *
 * Return: the time at which the pages are durable.
 */
u64 ftl_program_to(struct ftl *ftl, struct ftl_unit *unit, u32 flash_unit,
		   enum ftl_stream stream, u64 start_ns);

/**
 * ftl_program_collected() - program a unit of collection that was set aside
 * @start_ns: time at which its data is complete
 *
 * Its die's GC stream must have a block, or one be free.
 *
 * Return: the time at which the pages are durable.
 */
u64 ftl_program_collected(struct ftl *ftl, struct ftl_unit *unit, u64 start_ns);

/**
 * ftl_program_collected_open() - program a unit of collection that is open; likewise
 */
u64 ftl_program_collected_open(struct ftl *ftl, struct ftl_unit *unit, u64 start_ns);

#endif /* FTL_PROGRAM_H */
