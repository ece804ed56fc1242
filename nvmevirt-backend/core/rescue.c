// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has to come before an erase on a drive without power-loss protection, see rescue.h.
 *
 * Which open units have newer data of pages in the victim is found by looking at all of their
 * slots. As a rule there is one erase for hundreds of programs, and the slots are a small part of
 * the drive's pages; a list for each erase block would have to be kept up by each page that is
 * written, moved or trimmed.
 */
#include "defrag-program.h"
#include "oob-booked.h"
#include "program.h"
#include "rescue.h"

static void rescue_page(struct ftl *ftl, die_t die, ppn_t from, u64 start_ns)
{
	struct ftl_units *units = &ftl->units;
	struct ftl_unit *unit = units->die[from_die(die)].gc;

	if (!unit)
		unit = ftl_units_open(units, die, FTL_UNIT_GC);
	ftl_units_rescue(units, unit, from);
	if (!ftl_unit_space(units, unit))
		ftl_program_collected(ftl, unit, start_ns);
}

/* When what took the place of the victim's stale pages is on NAND, wherever that is. */
static u64 safe_from(struct ftl *ftl, u32 victim)
{
	u64 safe_ns = ftl->oob.safe_ns[victim];

	if (!safe_ns || !ftl->nand.ahead)
		return safe_ns;
	/* Reads may have put it off since it was booked, and must not any more. */
	safe_ns += ftl_oob_most_delay(&ftl->oob);
	ftl_nand_fix(&ftl->nand, safe_ns);
	return safe_ns;
}

u64 ftl_rescue(struct ftl *ftl, u32 victim, u64 start_ns)
{
	const struct ftl_geometry *geo = &ftl->geo;
	u32 *prev = ftl->oob.prev;
	struct ftl_unit *unit;
	die_t die;

	if (!ftl->oob.is_volatile)
		return start_ns;
	/* The block may have what pages had before they got the data of others. */
	start_ns = ftl_share_commit(ftl, start_ns);
	die = ftl_eblk_die(geo, victim);
	for (u32 slot = 0; slot < geo->nr_open * geo->unit_pages; slot++) {
		ppn_t from = to_ppn(geo->nr_pages + slot);

		if (!prev[slot] || (prev[slot] - 1) / geo->eblk_pages != victim)
			continue;
		prev[slot] = 0;
		if (ftl_units_of(&ftl->units, from)->kind != FTL_UNIT_GC)
			rescue_page(ftl, die, from, start_ns);
	}
	unit = ftl->units.die[from_die(die)].gc;
	if (unit)
		ftl_program_collected_open(ftl, unit, start_ns);
	return max(start_ns, safe_from(ftl, victim));
}
