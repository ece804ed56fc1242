// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programming of open units: where map, counts, out-of-band data, the die's time and the
 * statistics change together. The flash unit is taken first, before the unit's pages are looked
 * at, because for it the die may have to collect, which may take pages out of this very unit
 * (rescue.h).
 */
#include "bad.h"
#include "defrag-program.h"
#include "l2p-change.h"
#include "map-page.h"
#include "oob-booked.h"
#include "program.h"

/* Return: pages that moved. */
static u32 move_pages(struct ftl *ftl, const struct ftl_unit *unit, u32 flash_unit)
{
	u64 from = from_ppn(ftl_unit_ppn(&ftl->units, unit, 0));
	u64 to = from_ppn(ftl_flash_unit_ppn(&ftl->geo, flash_unit));

	for (u32 slot = 0; slot < unit->nr_filled; slot++)
		ftl_l2p_move(&ftl->map, to_ppn(from + slot), to_ppn(to + slot));
	return unit->nr_valid;
}

u64 ftl_program_host(struct ftl *ftl, u32 flash_unit, u64 start_ns)
{
	die_t die = ftl_flash_unit_die(&ftl->geo, flash_unit);

	if (!ftl_flash_unit_is_slc(&ftl->geo, flash_unit))
		return ftl_nand_program(&ftl->nand, die, start_ns, ftl->now_ns);
	ftl->stats.slc_programs++;
	return ftl_nand_program_slc(&ftl->nand, die, start_ns, ftl->now_ns);
}

/*
 * The unit is programmed to @flash_unit.
 * @map_ns: time at which the map can take note of it; until then the buffer knows its pages
 */
static u64 spend_time(struct ftl *ftl, const struct ftl_unit *unit, u32 flash_unit, u64 start_ns,
		      u64 map_ns)
{
	u64 end_ns;

	if (ftl_unit_is_gc(unit)) {
		end_ns = ftl_nand_copy_in(&ftl->nand, unit->die, start_ns);
	} else {
		end_ns = ftl_program_host(ftl, flash_unit, start_ns);
		ftl_wbuf_program(&ftl->wbuf, max(end_ns, map_ns), from_die(unit->die));
	}
	ftl->programmed_ns = max(ftl->programmed_ns, end_ns);
	ftl->command_programmed_ns = max(ftl->command_programmed_ns, end_ns);
	return end_ns;
}

static void count_programmed(struct ftl *ftl, const struct ftl_unit *unit, u32 nr_pages)
{
	struct ftl_nand_die *die = &ftl->nand.die[from_die(unit->die)];

	if (ftl_unit_is_gc(unit))
		die->pages_gc += nr_pages;
	else
		die->pages_host += nr_pages;
	ftl->stats.nand_pages_programmed += ftl->geo.unit_pages;
	ftl->stats.pages_padded += ftl->geo.unit_pages - nr_pages;
}

void ftl_program_close(struct ftl *ftl, u32 flash_unit, enum ftl_stream stream)
{
	if (ftl_flash_unit_is_slc(&ftl->geo, flash_unit))
		stream = FTL_STREAM_SLC;
	ftl_eblks_close_if_full(&ftl->blocks, ftl_flash_unit_die(&ftl->geo, flash_unit), stream);
}

u64 ftl_program_to(struct ftl *ftl, struct ftl_unit *unit, u32 flash_unit,
		   enum ftl_stream stream, u64 start_ns)
{
	u64 map_ns = ftl_map_change_unit(ftl, unit, start_ns);
	u32 nr_pages = move_pages(ftl, unit, flash_unit);
	u64 end_ns = spend_time(ftl, unit, flash_unit, max(start_ns, unit->known_ns), map_ns);

	ftl_nand_aim(&ftl->nand, flash_unit);
	if (ftl->params.oob)
		ftl_oob_program(&ftl->oob, from_ppn(ftl_unit_ppn(&ftl->units, unit, 0)),
				flash_unit, end_ns);
	ftl_eblks_add_valid(&ftl->blocks, flash_unit, nr_pages);
	ftl_program_close(ftl, flash_unit, stream);
	count_programmed(ftl, unit, nr_pages);
	ftl_units_release(&ftl->units, unit, nr_pages);
	return end_ns;
}

/* There is a block, or one is free: collection has seen to it (gc.h). */
static u32 take_collected(struct ftl *ftl, die_t die, u64 start_ns)
{
	struct ftl_eblks *blocks = &ftl->blocks;
	u32 flash_unit;

	do {
		if (ftl_eblks_needs_open(blocks, die, FTL_STREAM_GC))
			ftl_eblks_open_next(blocks, die, FTL_STREAM_GC);
		flash_unit = ftl_eblks_take_unit(blocks, die, FTL_STREAM_GC);
	} while (ftl_bad_program(ftl, flash_unit, FTL_STREAM_GC, start_ns));
	return flash_unit;
}

u64 ftl_program_collected(struct ftl *ftl, struct ftl_unit *unit, u64 start_ns)
{
	/* What was written after a share command is not durable before it. */
	if (unit->is_new)
		start_ns = ftl_share_commit(ftl, start_ns);
	return ftl_program_to(ftl, unit, take_collected(ftl, unit->die, start_ns), FTL_STREAM_GC,
			      start_ns);
}

u64 ftl_program_collected_open(struct ftl *ftl, struct ftl_unit *unit, u64 start_ns)
{
	ftl_units_set_aside(&ftl->units, unit);
	return ftl_program_collected(ftl, unit, start_ns);
}
