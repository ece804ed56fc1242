// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time that the dies spend. A die does what it is asked in the order in which it is asked, all
 * of its planes together but for reads (params.plane_read), so the times at which these are free
 * say all about its future, and each operation's end is known when it is booked. Where reads go
 * before programs and erases an end can be put off; then what a die has ahead is known apart
 * (ahead.h). What else real dies do is not modelled; docs/ssd-model.md has the list and what
 * follows from it.
 *
 * Timelines are multiplied by the time scale. Counters of busy time are not, as they are those of
 * the modelled drive, however slow the host makes it.
 */
#include "nand.h"

/* Number of a flash unit besides the erase blocks: none of those in them has it. */
#define UNIT_BESIDE	(U32_MAX - 1)

static bool can_suspend(const struct ftl_params *params)
{
	return params->suspend_program || params->suspend_erase;
}

size_t ftl_nand_bytes(const struct ftl_params *params)
{
	size_t nr_planes = ftl_geometry_unit_planes(params);
	size_t nr_dies = (size_t)params->nr_channels * params->dies_per_channel;
	size_t die = sizeof(struct ftl_nand_die) + nr_planes * sizeof(struct ftl_nand_plane);
	size_t channel = sizeof(struct ftl_bus) + ftl_bus_bytes();
	size_t ahead = can_suspend(params) ? nr_dies * sizeof(struct ftl_ahead) : 0;

	return nr_dies * die + params->nr_channels * channel + ahead;
}

void ftl_nand_init(struct ftl_nand *nand, const struct ftl_geometry *geo,
		   const struct ftl_params *params, void *zeroed)
{
	u32 unit_bytes = geo->unit_pages << FTL_PAGE_SHIFT;
	struct ftl_nand_plane *plane;
	u8 *windows;

	nand->geo = geo;
	nand->params = params;
	nand->page_transfer_ns = DIV_ROUND_UP(FTL_PAGE_BYTES * 1000, params->channel_mbps);
	nand->die = zeroed;
	plane = (struct ftl_nand_plane *)(nand->die + geo->nr_dies);
	nand->channel = (struct ftl_bus *)(plane + (size_t)geo->nr_dies * geo->unit_planes);
	windows = (u8 *)(nand->channel + geo->nr_channels);
	for (u32 i = 0; i < geo->nr_channels; i++, windows += ftl_bus_bytes())
		ftl_bus_init(&nand->channel[i], params->channel_mbps, params->time_scale,
			     unit_bytes, windows);
	if (can_suspend(params))
		nand->ahead = (struct ftl_ahead *)windows;
	for (u32 i = 0; i < geo->nr_dies; i++, plane += geo->unit_planes) {
		nand->die[i].channel = &nand->channel[i % geo->nr_channels];
		nand->die[i].plane = plane;
	}
}

static u32 sense_ns(const struct ftl_nand *nand, u32 flash_unit)
{
	u32 at = flash_unit % nand->geo->eblk_units;

	if (flash_unit == UNIT_BESIDE)
		at = 0;
	else if (ftl_flash_unit_is_slc(nand->geo, flash_unit))
		return nand->params->slc_read_ns;
	return nand->params->read_ns[at % nand->params->nr_page_kinds];
}

static u64 scaled(const struct ftl_nand *nand, u32 work_ns)
{
	return (u64)work_ns * nand->params->time_scale;
}

/* All of the die has no time before that. */
static void hold_until(const struct ftl_nand *nand, struct ftl_nand_die *die, u64 end_ns)
{
	die->busy_until_ns = end_ns;
	for (u32 i = 0; i < nand->geo->unit_planes; i++) {
		die->plane[i].left_ns = end_ns;
		die->plane[i].register_ns = end_ns;
	}
}

/* The flash unit plus one that is in all registers of the die, or 0 */
static void hold_unit(const struct ftl_nand *nand, struct ftl_nand_die *die, u32 held)
{
	for (u32 i = 0; i < nand->geo->unit_planes; i++)
		die->plane[i].held = held;
}

/* The die works for @work_ns of its own time from when it is free and asked. */
static u64 occupy(const struct ftl_nand *nand, struct ftl_nand_die *die, u32 work_ns,
		  u64 start_ns)
{
	hold_until(nand, die, max(start_ns, die->busy_until_ns) + scaled(nand, work_ns));
	die->busy_ns += work_ns;
	return die->busy_until_ns;
}

/*
 * Bring a flash unit into the page registers of its die, which can take it at @free_ns.
 * Return: the time at which it is there.
 */
static u64 load(const struct ftl_nand *nand, struct ftl_nand_die *die, u32 flash_unit,
		u64 start_ns, u64 free_ns)
{
	u32 work_ns = sense_ns(nand, flash_unit);

	die->units_read++;
	hold_unit(nand, die, flash_unit + 1);
	die->busy_ns += work_ns;
	return max(start_ns, free_ns) + scaled(nand, work_ns);
}

/* What the die was given last began at @start_ns, and can be suspended from @cells_ns on. */
static void look_ahead(struct ftl_nand *nand, const struct ftl_nand_die *die, u64 start_ns,
		       u64 cells_ns, u32 nr_reads)
{
	struct ftl_ahead_op op = {
		.start_ns = start_ns,
		.cells_ns = cells_ns,
		.end_ns = die->busy_until_ns,
		.nr_left = nr_reads,
	};

	if (nand->ahead)
		ftl_ahead_add(&nand->ahead[die - nand->die], &op, nand->now_ns);
}

void ftl_nand_aim(struct ftl_nand *nand, u32 flash_unit)
{
	if (nand->ahead)
		ftl_ahead_aim(&nand->ahead[from_die(ftl_flash_unit_die(nand->geo, flash_unit))],
			      flash_unit);
}

/*
 * A read that goes before other work. What it leaves in the register is overwritten when that goes
 * on. Return: the time at which the pages have crossed the channel.
 */
static u64 read_first(struct ftl_nand *nand, struct ftl_nand_die *die, u32 flash_unit, u32 nr_pages,
		      struct ftl_ahead_gap *gap)
{
	const struct ftl_params *params = nand->params;
	u32 nr = die - nand->die;
	u64 end_ns;

	if (gap->is_suspended) {
		nand->nr_suspensions++;
		die->busy_ns += params->suspend_ns;
		gap->start_ns += scaled(nand, params->suspend_ns);
	}
	end_ns = load(nand, die, flash_unit, gap->start_ns, 0);
	hold_unit(nand, die, 0);
	die->busy_ns += nr_pages * nand->page_transfer_ns;
	end_ns = ftl_bus_transfer(die->channel, nr_pages << FTL_PAGE_SHIFT, end_ns, nand->now_ns);
	nand->delay = (struct ftl_nand_delay){
		.die = nr,
		.from_ns = gap->from_ns,
		.ns = ftl_ahead_read(&nand->ahead[nr], gap, end_ns),
	};
	hold_until(nand, die, die->busy_until_ns + nand->delay.ns);
	return end_ns;
}

/*
 * The planes that a read is on sense, but for those whose register holds the unit: @sensed gets
 * them. Return: the time at which all of it can leave.
 */
static u64 load_planes(const struct ftl_nand *nand, struct ftl_nand_die *die,
		       const struct ftl_sense *sense, u64 start_ns, u32 *sensed)
{
	u32 work_ns = sense_ns(nand, sense->flash_unit);
	u64 leaves_ns = start_ns;

	*sensed = 0;
	for (u32 i = 0; i < nand->geo->unit_planes; i++) {
		struct ftl_nand_plane *plane = &die->plane[i];

		if (!(sense->planes & BIT(i)))
			continue;
		/* What was read before leaves first. */
		leaves_ns = max(leaves_ns, plane->left_ns);
		if (plane->held == sense->flash_unit + 1 && nand->params->register_hits)
			continue;
		*sensed |= BIT(i);
		plane->held = sense->flash_unit + 1;
		leaves_ns = max(leaves_ns, max(start_ns, plane->register_ns) +
				scaled(nand, work_ns));
	}
	if (*sensed) {
		die->units_read++;
		die->busy_ns += work_ns;
	}
	return leaves_ns;
}

static u64 read_in_turn(struct ftl_nand *nand, struct ftl_nand_die *die,
			const struct ftl_sense *sense, u64 start_ns)
{
	u32 sensed;
	u64 leaves_ns = load_planes(nand, die, sense, start_ns, &sensed);
	u64 end_ns;

	die->busy_ns += sense->nr_pages * nand->page_transfer_ns;
	end_ns = ftl_bus_transfer(die->channel, sense->nr_pages << FTL_PAGE_SHIFT, leaves_ns,
				  nand->now_ns);
	die->busy_until_ns = max(die->busy_until_ns, end_ns);
	for (u32 i = 0; i < nand->geo->unit_planes; i++) {
		struct ftl_nand_plane *plane = &die->plane[i];

		if (!(sense->planes & BIT(i)))
			continue;
		plane->left_ns = end_ns;
		if (!nand->params->cache_read)
			plane->register_ns = end_ns;
		else if (sensed & BIT(i))
			plane->register_ns = leaves_ns;
	}
	return end_ns;
}

/* @nr: number of the die */
static u64 read_from(struct ftl_nand *nand, u32 nr, const struct ftl_sense *sense, u64 start_ns,
		     u64 now_ns)
{
	struct ftl_ahead_gap gap = { .start_ns = start_ns };
	struct ftl_nand_die *die = &nand->die[nr];
	u32 flash_unit = sense->flash_unit;
	u64 end_ns;

	nand->now_ns = now_ns;
	nand->delay.ns = 0;
	/*
	 * A die that gives way is held up until the read has left. So far ahead the channel has no
	 * gaps: it would be held up by all that other dies have there, and they by it in turn.
	 */
	if (nand->ahead && ftl_ahead_find(&nand->ahead[nr], &gap, flash_unit, nand->fixed_ns) &&
	    !ftl_bus_is_late(die->channel, gap.start_ns, now_ns))
		return read_first(nand, die, flash_unit, sense->nr_pages, &gap);
	end_ns = read_in_turn(nand, die, sense, start_ns);
	if (nand->ahead)
		nand->ahead[nr].read_ns = max(nand->ahead[nr].read_ns, end_ns);
	return end_ns;
}

u64 ftl_nand_read(struct ftl_nand *nand, const struct ftl_sense *sense, u64 start_ns, u64 now_ns)
{
	return read_from(nand, from_die(ftl_flash_unit_die(nand->geo, sense->flash_unit)), sense,
			 start_ns, now_ns);
}

/* Work that an idle die has done meanwhile. What the channel did then is past, and not asked. */
static u64 read_before(struct ftl_nand *nand, struct ftl_nand_die *die, u64 start_ns)
{
	u64 free_ns = max(start_ns, die->busy_until_ns);

	die->units_read++;
	hold_unit(nand, die, 0);
	occupy(nand, die, nand->params->read_ns[0] + nand->page_transfer_ns, free_ns);
	look_ahead(nand, die, free_ns, die->busy_until_ns, nand->params->suspend_program);
	return die->busy_until_ns;
}

u64 ftl_nand_read_beside(struct ftl_nand *nand, die_t die, u32 plane, u64 start_ns, u64 now_ns)
{
	struct ftl_sense sense = {
		.flash_unit = UNIT_BESIDE,
		.nr_pages = 1,
		.planes = BIT(plane),
	};
	u64 end_ns;

	nand->now_ns = now_ns;
	nand->delay.ns = 0;
	if (start_ns < now_ns)
		return read_before(nand, &nand->die[from_die(die)], start_ns);
	end_ns = read_from(nand, from_die(die), &sense, start_ns, now_ns);
	nand->die[from_die(die)].plane[plane].held = 0;
	return end_ns;
}

/* Return: the time at which the die has the pages, and begins to change cells. */
static u64 give_pages(struct ftl_nand *nand, struct ftl_nand_die *die, u32 nr_pages, u32 cells_ns,
		      u64 start_ns, u64 now_ns)
{
	u64 free_ns = max(start_ns, die->busy_until_ns);
	u64 there_ns;

	nand->now_ns = now_ns;
	die->units_programmed++;
	hold_unit(nand, die, 0);
	die->busy_ns += nr_pages * nand->page_transfer_ns;
	there_ns = ftl_bus_transfer(die->channel, nr_pages << FTL_PAGE_SHIFT, free_ns, now_ns);
	occupy(nand, die, cells_ns, there_ns);
	look_ahead(nand, die, free_ns, there_ns, nand->params->suspend_program);
	return there_ns;
}

static u64 program(struct ftl_nand *nand, die_t die_nr, u32 cells_ns, u64 start_ns, u64 now_ns)
{
	struct ftl_nand_die *die = &nand->die[from_die(die_nr)];

	give_pages(nand, die, nand->geo->unit_pages, cells_ns, start_ns, now_ns);
	return die->busy_until_ns;
}

u64 ftl_nand_write(struct ftl_nand *nand, u32 flash_unit, u32 nr_pages, u64 start_ns, u64 now_ns)
{
	struct ftl_nand_die *die =
		&nand->die[from_die(ftl_flash_unit_die(nand->geo, flash_unit))];
	u64 taken_ns = give_pages(nand, die, nr_pages, nand->params->program_ns, start_ns, now_ns);

	ftl_nand_aim(nand, flash_unit);
	return taken_ns;
}

u64 ftl_nand_program(struct ftl_nand *nand, die_t die, u64 start_ns, u64 now_ns)
{
	return program(nand, die, nand->params->program_ns, start_ns, now_ns);
}

u64 ftl_nand_program_slc(struct ftl_nand *nand, die_t die, u64 start_ns, u64 now_ns)
{
	return program(nand, die, nand->params->slc_program_ns, start_ns, now_ns);
}

void ftl_nand_copy_out(struct ftl_nand *nand, u32 flash_unit, u64 start_ns)
{
	struct ftl_nand_die *die =
		&nand->die[from_die(ftl_flash_unit_die(nand->geo, flash_unit))];
	u64 free_ns = max(start_ns, die->busy_until_ns);

	die->gc_ns += sense_ns(nand, flash_unit);
	hold_until(nand, die, load(nand, die, flash_unit, free_ns, free_ns));
	look_ahead(nand, die, free_ns, die->busy_until_ns, nand->params->suspend_program);
}

u64 ftl_nand_copy_in(struct ftl_nand *nand, die_t die_nr, u64 start_ns)
{
	struct ftl_nand_die *die = &nand->die[from_die(die_nr)];
	u64 free_ns = max(start_ns, die->busy_until_ns);

	die->units_programmed++;
	hold_unit(nand, die, 0);
	die->gc_ns += nand->params->program_ns;
	occupy(nand, die, nand->params->program_ns, free_ns);
	look_ahead(nand, die, free_ns, free_ns, nand->params->suspend_program);
	return die->busy_until_ns;
}

void ftl_nand_erase(struct ftl_nand *nand, die_t die_nr, u64 start_ns)
{
	struct ftl_nand_die *die = &nand->die[from_die(die_nr)];
	u64 free_ns = max(start_ns, die->busy_until_ns);

	die->eblks_erased++;
	hold_unit(nand, die, 0);
	die->gc_ns += nand->params->erase_ns;
	occupy(nand, die, nand->params->erase_ns, free_ns);
	look_ahead(nand, die, free_ns, free_ns, nand->params->suspend_erase);
}
