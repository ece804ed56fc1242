// SPDX-License-Identifier: GPL-2.0-only
#include "wbuf.h"

size_t ftl_wbuf_bytes(u32 nr_units, u32 nr_open)
{
	return array_size(size_add(nr_units, nr_open), sizeof(struct ftl_pqueue_entry));
}

void ftl_wbuf_init(struct ftl_wbuf *wbuf, u32 nr_units, void *zeroed)
{
	wbuf->nr_units = nr_units;
	wbuf->admitted_ns = 0;
	wbuf->programs.entry = zeroed;
	wbuf->programs.position = NULL;
	wbuf->programs.nr = 0;
}

u64 ftl_wbuf_admit(struct ftl_wbuf *wbuf, u32 nr_open, u64 now_ns)
{
	struct ftl_pqueue *programs = &wbuf->programs;
	u64 at_ns = max(now_ns, wbuf->admitted_ns);

	while (programs->nr && programs->entry[0].key <= at_ns)
		ftl_pqueue_pop(programs);
	while (programs->nr && programs->nr + nr_open > wbuf->nr_units)
		at_ns = ftl_pqueue_pop(programs).key;
	wbuf->admitted_ns = at_ns;
	return at_ns;
}

void ftl_wbuf_program(struct ftl_wbuf *wbuf, u64 end_ns)
{
	ftl_pqueue_push(&wbuf->programs, end_ns, 0);
}
