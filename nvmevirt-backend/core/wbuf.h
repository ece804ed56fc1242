/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Room in the write buffer, as a matter of time.
 *
 * The buffer holds the host's open units and those that are on their way to NAND. A unit
 * that is opened needs a whole unit's room; if there is none it waits for the program
 * that ends first. Units are let in one after the other as they come. Ends of programs
 * are known in advance, so a sorted list of them answers when there is room. They come
 * nearly in order, because dies take turns: so the list is a ring kept by insertion.
 */
#ifndef FTL_WBUF_H
#define FTL_WBUF_H

#include <dieaware/platform.h>

/**
 * struct ftl_wbuf_program - a program whose data is still in the buffer
 * @end_ns: its end
 * @die: number of its die
 */
struct ftl_wbuf_program {
	u64 end_ns;
	u32 die;
};

/**
 * struct ftl_wbuf - the buffer
 * @nr_units: number of units that fit
 * @ring_mask: size of @program less one
 * @first: entry of @program with the earliest end, modulo the ring's size
 * @nr_programs: number of programs whose data is still in the buffer
 * @admitted_ns: time at which the last unit was let in
 * @program: these programs, by ascending end
 */
struct ftl_wbuf {
	u32 nr_units;
	u32 ring_mask;
	u32 first;
	u32 nr_programs;
	u64 admitted_ns;
	struct ftl_wbuf_program *program;
};

/**
 * ftl_wbuf_bytes() - memory of the buffer's bookkeeping
 * @nr_units: units that fit
 * @nr_open: most units that are open at the same time
 */
size_t ftl_wbuf_bytes(u32 nr_units, u32 nr_open);

/**
 * ftl_wbuf_init() - an empty buffer
 * @zeroed: ftl_wbuf_bytes() bytes
 */
void ftl_wbuf_init(struct ftl_wbuf *wbuf, u32 nr_units, u32 nr_open, void *zeroed);

/**
 * ftl_wbuf_admit() - find room for a unit that is opened
 * @nr_open: open units, this one included
 * @now_ns: time at which the unit wants in
 *
 * Return: the time, not before @now_ns, at which there is room.
 */
u64 ftl_wbuf_admit(struct ftl_wbuf *wbuf, u32 nr_open, u64 now_ns);

/**
 * ftl_wbuf_program() - an open unit is on its way to NAND
 * @end_ns: time at which it is there and its room is free
 * @die: number of its die
 */
void ftl_wbuf_program(struct ftl_wbuf *wbuf, u64 end_ns, u32 die);

/**
 * ftl_wbuf_delay() - a die ends later what was to end after a time
 * @die: number of the die
 * @from_ns: the time
 * @delay_ns: by how much
 */
void ftl_wbuf_delay(struct ftl_wbuf *wbuf, u32 die, u64 from_ns, u64 delay_ns);

#endif /* FTL_WBUF_H */
