// SPDX-License-Identifier: GPL-2.0-only
/*
 * Room in the write buffer. A write is complete when its pages are in the buffer, so the buffer is
 * what lets the host run ahead of the dies, and what holds it back when it is full: then each unit
 * waits for the end of a program. No data is here, only the times at which programs end, so the
 * wait is part of the answer that a command gets.
 */
#include "wbuf.h"

/* Flushes may put every open unit on its way without asking for room. */
static u32 ring_size(u32 nr_units, u32 nr_open)
{
	return roundup_pow_of_two((unsigned long)nr_units + nr_open);
}

size_t ftl_wbuf_bytes(u32 nr_units, u32 nr_open)
{
	return array_size(ring_size(nr_units, nr_open), sizeof(struct ftl_wbuf_program));
}

void ftl_wbuf_init(struct ftl_wbuf *wbuf, u32 nr_units, u32 nr_open, void *zeroed)
{
	wbuf->nr_units = nr_units;
	wbuf->ring_mask = ring_size(nr_units, nr_open) - 1;
	wbuf->first = 0;
	wbuf->nr_programs = 0;
	wbuf->admitted_ns = 0;
	wbuf->program = zeroed;
}

static struct ftl_wbuf_program *program_at(const struct ftl_wbuf *wbuf, u32 at)
{
	return &wbuf->program[(wbuf->first + at) & wbuf->ring_mask];
}

static u64 pop_first(struct ftl_wbuf *wbuf)
{
	wbuf->nr_programs--;
	return wbuf->program[wbuf->first++ & wbuf->ring_mask].end_ns;
}

u64 ftl_wbuf_admit(struct ftl_wbuf *wbuf, u32 nr_open, u64 now_ns)
{
	u64 at_ns = max(now_ns, wbuf->admitted_ns);

	while (wbuf->nr_programs && program_at(wbuf, 0)->end_ns <= at_ns)
		pop_first(wbuf);
	while (wbuf->nr_programs && wbuf->nr_programs + nr_open > wbuf->nr_units)
		at_ns = pop_first(wbuf);
	wbuf->admitted_ns = at_ns;
	return at_ns;
}

/* Puts a program among the first @at, which are in order, and moves those that end later. */
static void insert(struct ftl_wbuf *wbuf, u32 at, struct ftl_wbuf_program program)
{
	for (; at && program_at(wbuf, at - 1)->end_ns > program.end_ns; at--)
		*program_at(wbuf, at) = *program_at(wbuf, at - 1);
	*program_at(wbuf, at) = program;
}

void ftl_wbuf_program(struct ftl_wbuf *wbuf, u64 end_ns, u32 die)
{
	insert(wbuf, wbuf->nr_programs++, (struct ftl_wbuf_program){ end_ns, die });
}

void ftl_wbuf_delay(struct ftl_wbuf *wbuf, u32 die, u64 from_ns, u64 delay_ns)
{
	for (u32 at = 0; at < wbuf->nr_programs; at++) {
		struct ftl_wbuf_program *program = program_at(wbuf, at);

		if (program->die == die && program->end_ns > from_ns)
			program->end_ns += delay_ns;
	}
	for (u32 at = 1; at < wbuf->nr_programs; at++)
		insert(wbuf, at, *program_at(wbuf, at));
}
