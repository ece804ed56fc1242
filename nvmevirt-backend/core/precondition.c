// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preconditioning gives the drive commands rather than a state that somebody thought out: what
 * collection leaves of random writes depends on all of the FTL, and would have to be followed up
 * here whenever that changes.
 *
 * What costs a drive hours takes seconds because no time passes in between: the next command is
 * given at the time at which the one before completes, and nobody waits for that time to come.
 *
 * The drive's clock is set to 0 for that, so that what comes out does not depend on when it is done
 * (windows of channels begin at multiples of their length), and to the caller's time afterwards. It
 * can be set while nothing depends on it: all that was booked has ended, and no unit waits in the
 * buffer for its time.
 */
#include "defrag.h"
#include "precondition.h"
#include "program.h"

/* Commands of a step; a command that fills counts as so many. */
#define STEP_COMMANDS	512U
#define FILL_WEIGHT	64U

const char *ftl_precondition_check(u64 fill_percent, u64 random_percent)
{
	if (!fill_percent || fill_percent > 100)
		return "The share of the LBAs to fill must be between 1 and 100 percent.";
	if (random_percent > FTL_PRECONDITION_MAX_RANDOM)
		return "What is filled can be overwritten 100 times at most (10000 percent).";
	return NULL;
}

u32 ftl_precondition_share(u64 nr_pages, u32 fill_percent)
{
	return div_u64(nr_pages * fill_percent, 100);
}

/* Return: the time at which nothing is left that was booked. */
static u64 end_of_work(const struct ftl *ftl)
{
	u64 end_ns = max(ftl->now_ns, ftl->programmed_ns);

	for (u32 i = 0; i < ftl->geo.nr_dies; i++)
		end_ns = max(end_ns, ftl->nand.die[i].busy_until_ns);
	return end_ns;
}

static void let_rest(struct ftl *ftl)
{
	struct ftl_unit *unit;

	while ((unit = ftl_units_first_held(&ftl->units)))
		ftl_advance(ftl, unit->due_ns);
	ftl_advance(ftl, end_of_work(ftl));
	if (ftl->params.oob)
		ftl_oob_settle(&ftl->oob, ftl->now_ns);
}

static void free_bus(struct ftl_bus *bus)
{
	memset(bus->window, 0, ftl_bus_bytes());
	bus->late_begin_ns = 0;
	bus->late_end_ns = 0;
}

/* What the page registers hold stays. */
static void free_dies(struct ftl *ftl)
{
	struct ftl_nand *nand = &ftl->nand;

	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		struct ftl_nand_die *die = &nand->die[i];

		die->busy_until_ns = 0;
		for (u32 plane = 0; plane < ftl->geo.unit_planes; plane++) {
			die->plane[plane].left_ns = 0;
			die->plane[plane].register_ns = 0;
		}
		if (nand->ahead)
			memset(&nand->ahead[i], 0, sizeof(nand->ahead[i]));
		ftl->gc[i].idle_until_ns = 0;
	}
	for (u32 i = 0; i < ftl->geo.nr_channels; i++)
		free_bus(&nand->channel[i]);
	nand->fixed_ns = 0;
}

/* The drive has rested: no time of its past means anything any more. */
static void set_clock(struct ftl *ftl, u64 now_ns)
{
	free_dies(ftl);
	free_bus(&ftl->from_host);
	free_bus(&ftl->to_host);
	ftl->wbuf.nr_programs = 0;
	ftl->wbuf.admitted_ns = 0;
	ftl->begun_ns = now_ns;
	ftl->command_ns = now_ns;
	ftl->now_ns = now_ns;
	ftl->nand.now_ns = now_ns;
	ftl->next_cmd_ns = 0;
	ftl->programmed_ns = 0;
	ftl->command_programmed_ns = 0;
	/* Whose turn it is depends on all commands that there were, reads included. */
	ftl->idle_die = 0;
	if (!ftl->params.oob)
		return;
	memset(ftl->oob.safe_ns, 0, ftl->geo.nr_eblks * sizeof(*ftl->oob.safe_ns));
	if (ftl->oob.max_defrag)
		ftl_defrag_settle(&ftl->oob);
}

void ftl_precondition_begin(struct ftl *ftl, struct ftl_precondition *work)
{
	work->nr_pages = 0;
	for (u32 i = 0; i < work->nr_ranges; i++)
		work->nr_pages += work->range[i].nr;
	work->nr_random = div_u64(work->nr_pages * work->random_percent, 100);
	work->at_range = 0;
	work->at = 0;
	work->now_ns = 0;
	let_rest(ftl);
	set_clock(ftl, 0);
}

static void give_write(struct ftl *ftl, struct ftl_precondition *work, u64 first, u32 nr_pages)
{
	const struct ftl_request rq = {
		.first = to_lpn(first),
		.nr_pages = nr_pages,
		.bytes = nr_pages << FTL_PAGE_SHIFT,
		.pred = LPN_NONE,
	};

	work->now_ns = ftl_write(ftl, &rq, work->now_ns);
}

static void fill_on(struct ftl *ftl, struct ftl_precondition *work)
{
	const struct ftl_lpn_range *range = &work->range[work->at_range];
	u32 nr_pages = min(range->nr - work->at, FTL_PRECONDITION_PAGES);

	if (nr_pages)
		give_write(ftl, work, from_lpn(range->first) + work->at, nr_pages);
	work->at += nr_pages;
	if (work->at == range->nr) {
		work->at_range++;
		work->at = 0;
	}
}

static u32 draw_number(u64 *state)
{
	u64 number = *state += 0x9e3779b97f4a7c15ULL;

	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9ULL;
	number = (number ^ number >> 27) * 0x94d049bb133111ebULL;
	return (number ^ number >> 31) >> 32;
}

static void write_random(struct ftl *ftl, struct ftl_precondition *work)
{
	u64 page = draw_number(&work->state) * work->nr_pages >> 32;
	const struct ftl_lpn_range *range = work->range;

	for (; page >= range->nr; range++)
		page -= range->nr;
	give_write(ftl, work, from_lpn(range->first) + page, 1);
	work->nr_random--;
}

bool ftl_precondition_step(struct ftl *ftl, struct ftl_precondition *work)
{
	for (u32 nr = 0; nr < STEP_COMMANDS; nr++) {
		if (ftl_is_read_only(ftl))
			return false;
		if (work->at_range < work->nr_ranges) {
			fill_on(ftl, work);
			nr += FILL_WEIGHT - 1;
		} else if (work->nr_random) {
			write_random(ftl, work);
		} else {
			return false;
		}
	}
	return true;
}

void ftl_precondition_end(struct ftl *ftl, struct ftl_precondition *work, u64 now_ns)
{
	ftl_flush(ftl, work->now_ns);
	let_rest(ftl);
	set_clock(ftl, now_ns);
}
