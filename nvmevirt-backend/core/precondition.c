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
 * (windows of channels begin at multiples of their length), and to the caller's time afterwards.
 */
#include "precondition.h"
#include "rest.h"

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

void ftl_precondition_begin(struct ftl *ftl, struct ftl_precondition *work)
{
	work->nr_pages = 0;
	for (u32 i = 0; i < work->nr_ranges; i++)
		work->nr_pages += work->range[i].nr;
	work->nr_random = div_u64(work->nr_pages * work->random_percent, 100);
	work->at_range = 0;
	work->at = 0;
	work->now_ns = 0;
	ftl_let_rest(ftl);
	ftl_set_clock(ftl, 0);
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
	ftl_let_rest(ftl);
	ftl_set_clock(ftl, now_ns);
}
