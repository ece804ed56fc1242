// SPDX-License-Identifier: GPL-2.0-only
/*
 * Announced rewrites: a sorted array, since what a filesystem is going to rewrite next is little,
 * is told in the order of the file, and is forgotten in the same order.
 */
#include "announced.h"

void dmda_announced_init(struct dmda_announced *announced, struct dmda_run *runs, u32 max)
{
	*announced = (struct dmda_announced){ .runs = runs, .max = max };
}

static u64 end_of(const struct dmda_run *run)
{
	return run->fpage + run->nr_pages;
}

/* Does an announcement end at this page of the file, or before it? */
static bool is_before(const struct dmda_run *run, struct dmda_file file, u64 fpage)
{
	if (run->file.id != file.id)
		return run->file.id < file.id;
	return end_of(run) <= fpage;
}

/* The first announcement that has this page, or pages behind it */
static u32 find(const struct dmda_announced *announced, struct dmda_file file, u64 fpage)
{
	u32 low = 0, high = announced->nr;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (is_before(&announced->runs[middle], file, fpage))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void remove_runs(struct dmda_announced *announced, u32 at, u32 nr)
{
	memmove(&announced->runs[at], &announced->runs[at + nr],
		(announced->nr - at - nr) * sizeof(*announced->runs));
	announced->nr -= nr;
}

static bool insert(struct dmda_announced *announced, u32 at, const struct dmda_run *run)
{
	if (announced->nr == announced->max)
		return false;
	memmove(&announced->runs[at + 1], &announced->runs[at],
		(announced->nr - at) * sizeof(*announced->runs));
	announced->runs[at] = *run;
	announced->nr++;
	return true;
}

/* The part of a run from a page of its file on */
static struct dmda_run part_from(const struct dmda_run *run, u64 fpage)
{
	struct dmda_run part = *run;

	part.fpage = fpage;
	part.dpn = to_dpn(from_dpn(run->dpn) + (fpage - run->fpage));
	part.nr_pages = end_of(run) - fpage;
	return part;
}

void dmda_announced_forget(struct dmda_announced *announced, struct dmda_file file, u64 fpage,
			   u32 nr_pages)
{
	u64 end = fpage + nr_pages;
	u32 at = find(announced, file, fpage);
	u32 last = at;
	struct dmda_run *run = &announced->runs[at];

	if (at < announced->nr && run->file.id == file.id && run->fpage < fpage) {
		struct dmda_run behind = *run;

		run->nr_pages = fpage - run->fpage;
		at++;
		last++;
		if (end_of(&behind) > end) {
			behind = part_from(&behind, end);
			insert(announced, at, &behind);
			return;
		}
	}
	while (last < announced->nr && announced->runs[last].file.id == file.id &&
	       end_of(&announced->runs[last]) <= end)
		last++;
	if (last < announced->nr && announced->runs[last].file.id == file.id &&
	    announced->runs[last].fpage < end)
		announced->runs[last] = part_from(&announced->runs[last], end);
	remove_runs(announced, at, last - at);
}

void dmda_announced_forget_file(struct dmda_announced *announced, struct dmda_file file)
{
	u32 at = find(announced, file, 0);
	u32 last = at;

	while (last < announced->nr && announced->runs[last].file.id == file.id)
		last++;
	if (last > at)
		remove_runs(announced, at, last - at);
}

bool dmda_announced_add(struct dmda_announced *announced, const struct dmda_run *run)
{
	dmda_announced_forget(announced, run->file, run->fpage, run->nr_pages);
	return insert(announced, find(announced, run->file, run->fpage), run);
}

bool dmda_announced_has(const struct dmda_announced *announced, struct dmda_file file, u64 fpage)
{
	u32 at = find(announced, file, fpage);

	return at < announced->nr && announced->runs[at].file.id == file.id &&
	       announced->runs[at].fpage <= fpage;
}

/* How many pages from an old place on are not those of the write's new place? */
static u32 nr_apart(const struct dmda_run *write, u64 from, u32 nr_pages)
{
	u64 to = from_dpn(write->dpn);

	if (from >= to && from - to < write->nr_pages)
		return 0;
	return from < to ? min_t(u64, nr_pages, to - from) : nr_pages;
}

/* One behind the other at their old place, too: one range. Returns whether there is room. */
static bool plan_add(struct dmda_share_plan *plan, u64 from, u32 nr_pages)
{
	struct dmda_share_range *last = &plan->range[plan->nr_ranges];

	if (plan->nr_ranges && from_dpn(last[-1].from) + last[-1].nr_pages == from) {
		last[-1].nr_pages += nr_pages;
	} else {
		if (plan->nr_ranges == DMDA_SHARE_MOST_RANGES)
			return false;
		*last = (struct dmda_share_range){ .from = to_dpn(from), .nr_pages = nr_pages };
		plan->nr_ranges++;
	}
	plan->nr_pages += nr_pages;
	return true;
}

void dmda_announced_plan(const struct dmda_announced *announced, const struct dmda_run *write,
			 struct dmda_share_plan *plan)
{
	u32 most = min(write->nr_pages, DMDA_SHARE_MOST_PAGES);
	u32 at = find(announced, write->file, write->fpage);

	plan->to = write->dpn;
	plan->nr_pages = 0;
	plan->nr_ranges = 0;
	for (; plan->nr_pages < most && at < announced->nr; at++) {
		const struct dmda_run *run = &announced->runs[at];
		u64 fpage = write->fpage + plan->nr_pages;
		struct dmda_run part;
		u32 nr, wanted;

		if (run->file.id != write->file.id || run->fpage > fpage)
			return;
		part = part_from(run, fpage);
		wanted = min(part.nr_pages, most - plan->nr_pages);
		nr = nr_apart(write, from_dpn(part.dpn), wanted);
		if (!nr || !plan_add(plan, from_dpn(part.dpn), nr) || nr < wanted)
			return;
	}
}

void dmda_share_plan_trim(struct dmda_share_plan *plan, u32 nr_pages)
{
	u32 left = nr_pages;
	u32 i;

	for (i = 0; left; i++) {
		plan->range[i].nr_pages = min(plan->range[i].nr_pages, left);
		left -= plan->range[i].nr_pages;
	}
	plan->nr_ranges = i;
	plan->nr_pages = nr_pages;
}
