// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time that the dies spend. A die does what it is asked in the order in which it is asked, all
 * of its planes together, so the time at which it is free says all about its future, and each
 * operation's end is known when it is booked. What real dies do out of turn, such as reading while
 * a program is suspended, is not modelled; docs/nvmevirt-backend.md has the list and what follows
 * from it.
 *
 * Timelines are multiplied by the time scale. Counters of busy time are not, as they are those of
 * the modelled drive, however slow the host makes it.
 */
#include "nand.h"

size_t ftl_nand_bytes(const struct ftl_params *params)
{
	size_t nr_dies = (size_t)params->nr_channels * params->dies_per_channel;
	size_t channel = sizeof(struct ftl_bus) + ftl_bus_bytes();

	return nr_dies * sizeof(struct ftl_nand_die) + params->nr_channels * channel;
}

void ftl_nand_init(struct ftl_nand *nand, const struct ftl_geometry *geo,
		   const struct ftl_params *params, void *zeroed)
{
	u32 unit_bytes = geo->unit_pages << FTL_PAGE_SHIFT;
	u8 *windows;

	nand->geo = geo;
	nand->params = params;
	nand->page_transfer_ns = DIV_ROUND_UP(FTL_PAGE_BYTES * 1000, params->channel_mbps);
	nand->die = zeroed;
	nand->channel = (struct ftl_bus *)(nand->die + geo->nr_dies);
	windows = (u8 *)(nand->channel + geo->nr_channels);
	for (u32 i = 0; i < geo->nr_channels; i++, windows += ftl_bus_bytes())
		ftl_bus_init(&nand->channel[i], params->channel_mbps, params->time_scale,
			     unit_bytes, windows);
	for (u32 i = 0; i < geo->nr_dies; i++)
		nand->die[i].channel = &nand->channel[i % geo->nr_channels];
}

static u32 sense_ns(const struct ftl_nand *nand, u32 flash_unit)
{
	u32 at = flash_unit % nand->geo->eblk_units;

	return nand->params->read_ns[at % nand->params->nr_page_kinds];
}

static u64 scaled(const struct ftl_nand *nand, u32 work_ns)
{
	return (u64)work_ns * nand->params->time_scale;
}

static void hold_until(struct ftl_nand_die *die, u64 end_ns)
{
	die->busy_until_ns = end_ns;
	die->register_ns = end_ns;
}

/* The die works for @work_ns of its own time from when it is free and asked. */
static u64 occupy(const struct ftl_nand *nand, struct ftl_nand_die *die, u32 work_ns,
		  u64 start_ns)
{
	hold_until(die, max(start_ns, die->busy_until_ns) + scaled(nand, work_ns));
	die->busy_ns += work_ns;
	return die->busy_until_ns;
}

/*
 * Bring a flash unit into the page register of its die, which can take it at @free_ns.
 * Return: the time at which it is there.
 */
static u64 load(const struct ftl_nand *nand, struct ftl_nand_die *die, u32 flash_unit,
		u64 start_ns, u64 free_ns)
{
	u32 work_ns = sense_ns(nand, flash_unit);

	die->units_read++;
	die->held = flash_unit + 1;
	die->busy_ns += work_ns;
	return max(start_ns, free_ns) + scaled(nand, work_ns);
}

u64 ftl_nand_sense(struct ftl_nand *nand, u32 flash_unit, u32 nr_pages, u64 start_ns,
		   u64 now_ns)
{
	struct ftl_nand_die *die =
		&nand->die[from_die(ftl_flash_unit_die(nand->geo, flash_unit))];
	/* What was read before leaves first. */
	u64 leaves_ns = max(start_ns, die->busy_until_ns);

	if (die->held != flash_unit + 1 || !nand->params->register_hits) {
		leaves_ns = max(leaves_ns, load(nand, die, flash_unit, start_ns, die->register_ns));
		die->register_ns = leaves_ns;
	}
	die->busy_ns += nr_pages * nand->page_transfer_ns;
	die->busy_until_ns = ftl_bus_transfer(die->channel, nr_pages << FTL_PAGE_SHIFT, leaves_ns,
					      now_ns);
	if (!nand->params->cache_read)
		die->register_ns = die->busy_until_ns;
	return die->busy_until_ns;
}

u64 ftl_nand_program(struct ftl_nand *nand, die_t die_nr, u64 start_ns, u64 now_ns)
{
	struct ftl_nand_die *die = &nand->die[from_die(die_nr)];
	u32 nr_pages = nand->geo->unit_pages;
	u64 free_ns = max(start_ns, die->busy_until_ns);

	die->units_programmed++;
	die->held = 0;
	die->busy_ns += nr_pages * nand->page_transfer_ns;
	hold_until(die, ftl_bus_transfer(die->channel, nr_pages << FTL_PAGE_SHIFT, free_ns, now_ns));
	return occupy(nand, die, nand->params->program_ns, die->busy_until_ns);
}

void ftl_nand_copy_out(struct ftl_nand *nand, u32 flash_unit, u64 start_ns)
{
	struct ftl_nand_die *die =
		&nand->die[from_die(ftl_flash_unit_die(nand->geo, flash_unit))];

	die->gc_ns += sense_ns(nand, flash_unit);
	hold_until(die, load(nand, die, flash_unit, start_ns, die->busy_until_ns));
}

u64 ftl_nand_copy_in(struct ftl_nand *nand, die_t die_nr, u64 start_ns)
{
	struct ftl_nand_die *die = &nand->die[from_die(die_nr)];

	die->units_programmed++;
	die->held = 0;
	die->gc_ns += nand->params->program_ns;
	return occupy(nand, die, nand->params->program_ns, start_ns);
}

void ftl_nand_erase(struct ftl_nand *nand, die_t die_nr, u64 start_ns)
{
	struct ftl_nand_die *die = &nand->die[from_die(die_nr)];

	die->eblks_erased++;
	die->held = 0;
	die->gc_ns += nand->params->erase_ns;
	occupy(nand, die, nand->params->erase_ns, start_ns);
}
