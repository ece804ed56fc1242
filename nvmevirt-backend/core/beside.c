// SPDX-License-Identifier: GPL-2.0-only
/*
 * Senses and programs of what lies besides the erase blocks. After an erase block's worth of
 * programs one such block is erased before it is written again; nothing is copied out of it.
 */
#include "beside.h"
#include "oob-booked.h"
#include "sense.h"

u64 ftl_sense_beside(struct ftl *ftl, die_t die, u32 plane, u64 start_ns)
{
	u64 end_ns = ftl_nand_read_beside(&ftl->nand, die, plane, start_ns, ftl->now_ns);

	if (ftl->nand.delay.ns)
		ftl_sense_tell_delay(ftl);
	return end_ns;
}

u64 ftl_program_beside(struct ftl *ftl, die_t die, u64 nr_before, u64 at_ns)
{
	u64 end_ns;
	u32 unit;

	div_u64_rem(nr_before, ftl->geo.eblk_units, &unit);
	if (nr_before && !unit) {
		ftl_nand_erase(&ftl->nand, die, at_ns);
		ftl_oob_count_down(&ftl->oob, die, ftl->nand.die[from_die(die)].busy_until_ns);
	}
	ftl->stats.nand_pages_programmed += ftl->geo.unit_pages;
	/* The channel knows nothing of the past, when idle dies collect. */
	end_ns = at_ns < ftl->now_ns ? ftl_nand_copy_in(&ftl->nand, die, at_ns) :
				       ftl_nand_program(&ftl->nand, die, at_ns, ftl->now_ns);
	ftl_oob_count_down(&ftl->oob, die, end_ns);
	return end_ns;
}
