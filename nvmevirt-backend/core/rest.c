// SPDX-License-Identifier: GPL-2.0-only
/*
 * A drive comes to rest, and gets another clock. What a drive does next depends on times of its
 * past only through work that is booked and units that wait; so once both are done with, the clock
 * can be set, and what happens from then on is the same whenever that is.
 */
#include "defrag-program.h"
#include "defrag.h"
#include "oob-booked.h"
#include "program.h"
#include "rest.h"

/* Return: the time at which nothing is left that was booked. */
static u64 end_of_work(const struct ftl *ftl)
{
	u64 end_ns = max(ftl->now_ns, ftl->programmed_ns);

	for (u32 i = 0; i < ftl->geo.nr_dies; i++)
		end_ns = max(end_ns, ftl->nand.die[i].busy_until_ns);
	return end_ns;
}

void ftl_let_rest(struct ftl *ftl)
{
	struct ftl_unit *unit;

	ftl_share_commit(ftl, ftl->now_ns);
	while ((unit = ftl_units_first_held(&ftl->units)))
		ftl_advance(ftl, unit->due_ns);
	ftl_advance(ftl, end_of_work(ftl));
	ftl_read_ahead_forget(&ftl->read_ahead);
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

void ftl_set_clock(struct ftl *ftl, u64 now_ns)
{
	free_dies(ftl);
	free_bus(&ftl->from_host);
	free_bus(&ftl->to_host);
	for (u32 i = 0; i < ftl->map_cache.nr; i++)
		ftl->map_cache.slot[i].there_ns = 0;
	for (u32 i = 0; i < ftl->geo.nr_open; i++)
		ftl->units.unit[i].known_ns = 0;
	ftl->wbuf.nr_programs = 0;
	ftl->wbuf.admitted_ns = 0;
	ftl->begun_ns = now_ns;
	ftl->command_ns = now_ns;
	ftl->now_ns = now_ns;
	ftl->nand.now_ns = now_ns;
	ftl->next_cmd_ns = 0;
	ftl->programmed_ns = 0;
	ftl->command_programmed_ns = 0;
	ftl->log_from_ns = 0;
	ftl->log_ns = 0;
	/* Whose turn it is depends on all commands that there were, reads included. */
	ftl->idle_die = 0;
	if (!ftl->params.oob)
		return;
	memset(ftl->oob.safe_ns, 0, ftl->geo.nr_eblks * sizeof(*ftl->oob.safe_ns));
	if (ftl->oob.max_defrag)
		ftl_defrag_rest(&ftl->oob);
}
