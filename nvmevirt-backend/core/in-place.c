// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes that stay where they are. What a flash translation layer does besides, and reads, trims
 * and files above all, is the same for such a drive: it asks the map where a page is, and the map
 * has one answer for each. So only writing has code of its own.
 */
#include "in-place.h"
#include "l2p-change.h"
#include "oob-booked.h"

/* Numbers of pages fit 32 bits, as their places do. */
static u32 home_unit(const struct ftl_geometry *geo, u32 lpn)
{
	u32 unit = lpn / geo->unit_pages;

	return unit % geo->nr_dies * geo->die_units + unit / geo->nr_dies;
}

static ppn_t home_of(const struct ftl_geometry *geo, u32 lpn)
{
	return to_ppn(home_unit(geo, lpn) * geo->unit_pages + lpn % geo->unit_pages);
}

void ftl_in_place_init(struct ftl *ftl)
{
	if (ftl->params.in_place)
		ftl_eblks_fix(&ftl->blocks);
}

/* Return: how many of the pages held nothing before. */
static u32 map_pages(struct ftl *ftl, u64 lpn, u32 nr_pages)
{
	u32 nr_new = 0;

	for (u64 end = lpn + nr_pages; lpn < end; lpn++) {
		ppn_t home = home_of(&ftl->geo, lpn);

		nr_new += ftl_l2p_get(&ftl->map, to_lpn(lpn)) == PPN_NONE;
		ftl_l2p_put_home(&ftl->map, to_lpn(lpn), home);
	}
	return nr_new;
}

static void count_pages(struct ftl *ftl, u32 flash_unit, u32 nr_pages, u32 nr_new)
{
	u32 die = from_die(ftl_flash_unit_die(&ftl->geo, flash_unit));

	ftl->nand.die[die].pages_host += nr_pages;
	ftl->stats.nand_pages_programmed += nr_pages;
	ftl->units.die[die].nr_valid += nr_new;
	ftl->units.die[die].nr_claimed += nr_new;
	ftl->units.nr_mapped += nr_new;
	ftl_eblks_add_valid(&ftl->blocks, flash_unit, nr_new);
}

/* Pages that are all in one unit. Return: the time at which its die has taken them. */
static u64 write_unit(struct ftl *ftl, u64 lpn, u32 nr_pages, u64 start_ns)
{
	u32 flash_unit = home_unit(&ftl->geo, lpn);
	die_t die = ftl_flash_unit_die(&ftl->geo, flash_unit);
	u64 taken_ns = ftl_nand_write(&ftl->nand, flash_unit, nr_pages, start_ns, ftl->now_ns);
	u64 done_ns = ftl->nand.die[from_die(die)].busy_until_ns;

	ftl->programmed_ns = max(ftl->programmed_ns, done_ns);
	count_pages(ftl, flash_unit, nr_pages, map_pages(ftl, lpn, nr_pages));
	if (ftl->params.oob)
		ftl_oob_write(&ftl->oob, flash_unit, done_ns);
	return taken_ns;
}

u64 ftl_in_place_write(struct ftl *ftl, const struct ftl_request *rq, u64 start_ns, u64 known_ns)
{
	const struct ftl_params *params = &ftl->params;
	u64 firmware_ns = ftl_scaled(ftl, params->write_ns + (u64)params->page_ns * rq->nr_pages);
	u32 unit_pages = ftl->geo.unit_pages;
	u64 lpn = from_lpn(rq->first);
	u32 left_bytes = rq->bytes;
	u64 done_ns = known_ns;
	u32 nr;

	for (u64 end = lpn + rq->nr_pages; lpn < end; lpn += nr) {
		u32 bytes;
		u64 there_ns;

		nr = min_t(u64, unit_pages - (u32)lpn % unit_pages, end - lpn);
		bytes = min(nr << FTL_PAGE_SHIFT, left_bytes);
		there_ns = ftl_bus_transfer(&ftl->from_host, bytes, start_ns, ftl->now_ns);
		left_bytes -= bytes;
		done_ns = max(done_ns, write_unit(ftl, lpn, nr,
						  max(there_ns, known_ns) + firmware_ns));
	}
	return done_ns;
}

const char *ftl_in_place_check(const struct ftl *ftl)
{
	for (u64 lpn = 0; lpn < ftl->map.nr_lpns; lpn++) {
		ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn));

		if (ppn != PPN_NONE && ppn != home_of(&ftl->geo, lpn))
			return "A page is elsewhere than where it is written in place.";
	}
	for (u32 eblk = 0; eblk < ftl->geo.nr_eblks; eblk++) {
		if (ftl->blocks.eblk[eblk].state != FTL_EBLK_FIXED)
			return "An erase block of a medium that is written in place is in use.";
	}
	return NULL;
}
