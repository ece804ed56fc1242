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
	return array_size(ring_size(nr_units, nr_open), sizeof(u64));
}

void ftl_wbuf_init(struct ftl_wbuf *wbuf, u32 nr_units, u32 nr_open, void *zeroed)
{
	wbuf->nr_units = nr_units;
	wbuf->ring_mask = ring_size(nr_units, nr_open) - 1;
	wbuf->first = 0;
	wbuf->nr_programs = 0;
	wbuf->admitted_ns = 0;
	wbuf->end_ns = zeroed;
}

static u64 *end_of(const struct ftl_wbuf *wbuf, u32 at)
{
	return &wbuf->end_ns[(wbuf->first + at) & wbuf->ring_mask];
}

static u64 pop_first(struct ftl_wbuf *wbuf)
{
	wbuf->nr_programs--;
	return wbuf->end_ns[wbuf->first++ & wbuf->ring_mask];
}

u64 ftl_wbuf_admit(struct ftl_wbuf *wbuf, u32 nr_open, u64 now_ns)
{
	u64 at_ns = max(now_ns, wbuf->admitted_ns);

	while (wbuf->nr_programs && *end_of(wbuf, 0) <= at_ns)
		pop_first(wbuf);
	while (wbuf->nr_programs && wbuf->nr_programs + nr_open > wbuf->nr_units)
		at_ns = pop_first(wbuf);
	wbuf->admitted_ns = at_ns;
	return at_ns;
}

void ftl_wbuf_program(struct ftl_wbuf *wbuf, u64 end_ns)
{
	u32 at = wbuf->nr_programs++;

	for (; at && *end_of(wbuf, at - 1) > end_ns; at--)
		*end_of(wbuf, at) = *end_of(wbuf, at - 1);
	*end_of(wbuf, at) = end_ns;
}
