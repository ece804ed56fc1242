// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots of open units: data is put into them, moves from one to another or from NAND, and goes.
 * What it took the place of goes along, so that it is known when the unit is programmed
 * (oob-booked.c).
 */
#include "oob-slots.h"

struct ftl_oob_prev ftl_oob_prev_of(const struct ftl_oob *oob, ppn_t from)
{
	if (ftl_ppn_is_buffered(oob->geo, from))
		return ftl_oob_get_prev(oob, from);
	return (struct ftl_oob_prev){
		.seq = ftl_oob_seq(oob, from),
		.place = from_ppn(from) + 1,
	};
}

void ftl_oob_put(struct ftl_oob *oob, lpn_t lpn, ppn_t to, struct ftl_oob_prev prev)
{
	oob->seq[from_ppn(to)] = ++oob->head->seq;
	oob->lpn[from_ppn(to)] = from_lpn(lpn) + 1;
	ftl_oob_set_prev(oob, to, prev);
}

void ftl_oob_move(struct ftl_oob *oob, u32 owner, ppn_t from, ppn_t to)
{
	oob->seq[from_ppn(to)] = ftl_oob_seq(oob, from);
	oob->lpn[from_ppn(to)] = owner;
	ftl_oob_set_prev(oob, to, ftl_oob_prev_of(oob, from));
	ftl_oob_drop(oob, from);
}

void ftl_oob_drop(struct ftl_oob *oob, ppn_t ppn)
{
	if (!ftl_ppn_is_buffered(oob->geo, ppn))
		return;
	oob->lpn[from_ppn(ppn)] = 0;
	ftl_oob_set_prev(oob, ppn, (struct ftl_oob_prev){});
}
