// SPDX-License-Identifier: GPL-2.0-only
/*
 * The redistribute command (janusdP of Hahn et al., see share.h): pages that lie so that
 * few dies work when they are read are written again, in the order in which they are
 * named, whole units on one die after the other. They get new numbers like any write, so
 * a power failure leaves each page with the one copy or the other.
 */
#include "command.h"
#include "dof.h"
#include "map-page.h"
#include "program-host.h"
#include "program.h"
#include "sense.h"

static u32 measure(struct ftl *ftl, const struct ftl_redistribution *job)
{
	struct ftl_dof dof;

	memset(job->memory, 0, ftl_dof_bytes(ftl, job->nr_pages));
	ftl_dof_init(&dof, ftl, job->nr_pages, job->memory);
	for (u32 i = 0; i < job->nr_ranges; i++)
		ftl_dof_add(&dof, job->range[i].first, job->range[i].nr);
	return ftl_dof_permille(&dof);
}

static u64 read_pages(struct ftl *ftl, lpn_t lpn, u32 nr, u64 start_ns)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, lpn);

	if (ftl_ppn_is_buffered(&ftl->geo, ppn))
		return start_ns;
	return ftl_sense_unit(ftl, ftl_flash_unit(&ftl->geo, ppn), nr, start_ns);
}

/* Return: the time at which the last page found room in the buffer. */
static u64 place_again(struct ftl *ftl, struct ftl_placing *placing, u64 lpn, u32 nr, u64 at_ns)
{
	ftl->stats.pages_redistributed += nr;
	for (u64 end = lpn + nr; lpn < end;) {
		/* A page that is named twice in turn cannot follow itself. */
		if (to_lpn(lpn) == placing->pred) {
			lpn++;
			continue;
		}
		lpn += ftl_place_pages(&ftl->place, placing, to_lpn(lpn), end - lpn);
		if (placing->opened)
			at_ns = ftl_wbuf_admit(&ftl->wbuf, ftl->units.nr_host, at_ns);
		ftl_program_full(ftl, at_ns);
	}
	return at_ns;
}

static u64 spread_range(struct ftl *ftl, struct ftl_placing *placing,
			const struct ftl_lpn_range *range, u64 start_ns, u64 at_ns)
{
	u64 lpn = from_lpn(range->first);
	u64 end = lpn + range->nr;
	u64 arrived_ns;
	u32 nr;

	while ((lpn = ftl_l2p_skip_unmapped(&ftl->map, lpn, end)) < end) {
		nr = ftl_units_same_place(&ftl->units, to_lpn(lpn), end - lpn);
		arrived_ns = read_pages(ftl, to_lpn(lpn), nr, start_ns);
		at_ns = place_again(ftl, placing, lpn, nr, max(at_ns, arrived_ns));
		lpn += nr;
	}
	return at_ns;
}

bool ftl_redistribute(struct ftl *ftl, struct ftl_redistribution *job, u64 now_ns)
{
	u64 start_ns = ftl_begin(ftl, now_ns);
	u64 at_ns = start_ns;
	struct ftl_placing placing;

	for (u32 i = 0; i < job->nr_ranges; i++)
		at_ns = max(at_ns, ftl_map_look_up(ftl, job->range[i].first, job->range[i].nr,
						   start_ns));
	start_ns = at_ns;
	at_ns += ftl_scaled(ftl, (u64)ftl->params.page_ns * job->nr_pages);
	job->before_permille = measure(ftl, job);
	job->after_permille = job->before_permille;
	job->done_ns = at_ns;
	if (job->before_permille < job->threshold_permille || ftl->params.in_place)
		return false;
	ftl_place_begin_run(&placing);
	for (u32 i = 0; i < job->nr_ranges; i++)
		at_ns = spread_range(ftl, &placing, &job->range[i], start_ns, at_ns);
	ftl_place_end(&ftl->place);
	ftl_program_full(ftl, at_ns);
	job->after_permille = measure(ftl, job);
	job->done_ns = at_ns;
	return true;
}
