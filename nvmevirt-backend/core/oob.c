// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the out-of-band area has of a place: the page of its data, the data's number, and which of
 * two copies counts. What is booked shows in the answers, though not in the area.
 */
#include "oob.h"

void ftl_oob_forget(struct ftl_oob *oob, u32 flash_unit, u32 nr)
{
	u32 *lpn = &oob->lpn[flash_unit * oob->geo->unit_pages];
	size_t bytes = array_size(nr * oob->geo->unit_pages, sizeof(*lpn));

	memset(lpn, 0, bytes);
	ftl_oob_mark(oob, lpn, bytes);
}

void ftl_oob_clear_eblk(struct ftl_oob *oob, u32 eblk)
{
	u32 first = ftl_eblk_first_unit(oob->geo, eblk);

	ftl_oob_forget(oob, first, oob->geo->eblk_units);
	ftl_oob_stamp(oob, first, oob->geo->eblk_units, 0);
	oob->erases[eblk]++;
	ftl_oob_mark(oob, &oob->erases[eblk], sizeof(u32));
}

void ftl_oob_put_home(struct ftl_oob *oob, lpn_t lpn, ppn_t ppn)
{
	u64 *seq = &oob->seq[from_ppn(ppn)];
	u32 *owner = &oob->lpn[from_ppn(ppn)];

	*seq = ++oob->head->seq;
	*owner = from_lpn(lpn) + 1;
	ftl_oob_mark(oob, seq, sizeof(*seq));
	ftl_oob_mark(oob, owner, sizeof(*owner));
}

lpn_t ftl_oob_owner(const struct ftl_oob *oob, ppn_t ppn)
{
	size_t nr = oob->geo->unit_pages;
	u32 owner = oob->lpn[from_ppn(ppn)];
	u32 op = 0;

	if (!ftl_ppn_is_buffered(oob->geo, ppn))
		op = oob->booked[ftl_flash_unit(oob->geo, ppn)];
	if (op)
		owner = oob->op_lpn[(op - 1) * nr + (u32)from_ppn(ppn) % nr];
	return owner ? to_lpn(owner - 1) : LPN_NONE;
}

bool ftl_oob_counts(const struct ftl_oob *oob, u32 place, u32 than)
{
	const u32 nr_pages = oob->geo->nr_pages;
	u64 stamp, other;

	if (place >= nr_pages || than >= nr_pages)
		return (place < nr_pages) != (than < nr_pages) &&
			(place < nr_pages) == oob->is_volatile;
	stamp = oob->stamp[place / oob->geo->unit_pages];
	other = oob->stamp[than / oob->geo->unit_pages];
	return oob->is_volatile ? stamp < other : stamp > other;
}
