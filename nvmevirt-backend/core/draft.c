// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing drafts; what they are for is in draft.h. A draft gets its flash unit first and its pages
 * afterwards: to take a flash unit may call for collection, and its erase may have rescued pages
 * that were to go into the draft (rescue.h). What is still fresh then is copied.
 *
 * The fresh pages of an open unit go into one draft or wait for the next, so that after a power
 * failure one sense reads them all.
 */
#include "defrag-program.h"
#include "draft.h"
#include "oob-booked.h"
#include "program-host.h"
#include "program.h"

/**
 * struct draft - a draft that is being put together
 * @flash_unit: its place
 * @nr_pages: pages in it
 */
struct draft {
	u32 flash_unit;
	u32 nr_pages;
};

static void add_unit(struct ftl *ftl, struct draft *draft, struct ftl_unit *unit)
{
	while (unit->fresh) {
		u32 slot = __ffs64(unit->fresh);
		u64 to = from_ppn(ftl_flash_unit_ppn(&ftl->geo, draft->flash_unit));

		if (ftl->params.oob)
			ftl_oob_draft_page(&ftl->oob, ftl_unit_ppn(&ftl->units, unit, slot),
					   to_ppn(to + draft->nr_pages));
		ftl_units_settle(&ftl->units, unit, slot);
		draft->nr_pages++;
	}
}

static void add_units(struct ftl *ftl, struct draft *draft, die_t die)
{
	struct ftl_unit *unit, *next;

	list_for_each_entry_safe(unit, next, &ftl->units.die[from_die(die)].fresh, fresh_link) {
		if (draft->nr_pages + hweight64(unit->fresh) <= ftl->geo.unit_pages)
			add_unit(ftl, draft, unit);
	}
}

/* When what is fresh on a die is known to belong there. */
static u64 known_on_die(const struct ftl *ftl, die_t die, u64 start_ns)
{
	const struct ftl_unit *unit;

	list_for_each_entry(unit, &ftl->units.die[from_die(die)].fresh, fresh_link)
		start_ns = max(start_ns, unit->known_ns);
	return start_ns;
}

/* Return: the time at which it is durable. What it has room for is not known before. */
static u64 begin_draft(struct ftl *ftl, struct draft *draft, die_t die, u64 start_ns)
{
	u64 end_ns;

	/* What was written after a share command is not durable before it. */
	start_ns = ftl_share_commit(ftl, start_ns);
	draft->flash_unit = ftl_program_take(ftl, die, FTL_STREAM_HOST, start_ns);
	draft->nr_pages = 0;
	end_ns = ftl_program_host(ftl, draft->flash_unit, start_ns);
	ftl_nand_aim(&ftl->nand, draft->flash_unit);
	ftl->programmed_ns = max(ftl->programmed_ns, end_ns);
	ftl->command_programmed_ns = max(ftl->command_programmed_ns, end_ns);
	if (ftl->params.oob)
		ftl_oob_draft(&ftl->oob, draft->flash_unit, end_ns);
	return end_ns;
}

static void end_draft(struct ftl *ftl, const struct draft *draft, die_t die)
{
	ftl_program_close(ftl, draft->flash_unit, FTL_STREAM_HOST);
	ftl->nand.die[from_die(die)].pages_host += draft->nr_pages;
	ftl->stats.pages_drafted += draft->nr_pages;
	ftl->stats.nand_pages_programmed += ftl->geo.unit_pages;
	ftl->stats.pages_padded += ftl->geo.unit_pages - draft->nr_pages;
}

u64 ftl_draft_unit(struct ftl *ftl, struct ftl_unit *unit, u64 start_ns)
{
	die_t die = unit->die;
	struct draft draft;
	u64 end_ns;

	if (!unit->fresh)
		return start_ns;
	end_ns = begin_draft(ftl, &draft, die, max(start_ns, unit->known_ns));
	/* Room may have been made for it at the cost of the unit's pages. */
	add_unit(ftl, &draft, unit);
	end_draft(ftl, &draft, die);
	return end_ns;
}

void ftl_draft_die(struct ftl *ftl, die_t die, u64 start_ns)
{
	start_ns = known_on_die(ftl, die, start_ns);
	while (!list_empty(&ftl->units.die[from_die(die)].fresh)) {
		struct draft draft;

		begin_draft(ftl, &draft, die, start_ns);
		add_units(ftl, &draft, die);
		end_draft(ftl, &draft, die);
	}
}
