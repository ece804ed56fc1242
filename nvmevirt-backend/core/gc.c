// SPDX-License-Identifier: GPL-2.0-only
#include "gc.h"
#include "program.h"

static void move_page(struct ftl *ftl, die_t die, ppn_t from, u64 start_ns)
{
	struct ftl_units *units = &ftl->units;
	struct ftl_unit *unit = units->die[from_die(die)].gc;

	if (!unit)
		unit = ftl_units_open(units, die, FTL_UNIT_GC);
	ftl_units_move_in(units, unit, from);
	if (!ftl_unit_space(units, unit))
		ftl_program_unit(ftl, unit, start_ns);
}

/* Return: valid pages that were moved. */
static u32 move_unit(struct ftl *ftl, die_t die, u32 flash_unit, u64 start_ns)
{
	u64 first = from_ppn(ftl_flash_unit_ppn(&ftl->geo, flash_unit));
	u32 nr_moved = 0;

	for (u64 ppn = first; ppn < first + ftl->geo.unit_pages; ppn++) {
		if (ftl_l2p_owner(&ftl->map, to_ppn(ppn)) == LPN_NONE)
			continue;
		if (!nr_moved++)
			ftl_nand_copy_out(&ftl->nand, flash_unit, start_ns);
		move_page(ftl, die, to_ppn(ppn), start_ns);
	}
	return nr_moved;
}

static void collect_victim(struct ftl *ftl, die_t die, u64 start_ns)
{
	u32 victim = ftl_eblks_take_victim(&ftl->blocks, die);
	struct ftl_eblk *eblk = &ftl->blocks.eblk[victim];
	u32 flash_unit = ftl_eblk_first_unit(&ftl->geo, victim);

	for (; eblk->nr_valid; flash_unit++)
		eblk->nr_valid -= move_unit(ftl, die, flash_unit, start_ns);
	ftl_nand_erase(&ftl->nand, die, start_ns);
	ftl_units_forget_eblk(&ftl->units, victim);
	ftl_eblks_free(&ftl->blocks, victim);
	ftl->stats.gc_runs++;
}

void ftl_gc_make_room(struct ftl *ftl, die_t die, u64 start_ns)
{
	ftl->collecting = true;
	while (ftl_eblks_nr_free(&ftl->blocks, die) < FTL_GC_SPARE_EBLKS)
		collect_victim(ftl, die, start_ns);
	ftl->collecting = false;
}
