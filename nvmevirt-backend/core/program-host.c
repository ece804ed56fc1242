// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs of what the host has written: to a flash unit of the SLC region or past it, after
 * whatever the die has to collect for that, and in its turn among the dies of a stripe.
 *
 * A unit of the host that is full need not be programmed at once. Pages that are overwritten again
 * and again, as the leaves of a B-tree are by every insertion, would be programmed each time, and
 * end up in a flash unit with strangers; while their unit is held they are replaced in the buffer.
 */
#include "bad.h"
#include "defrag-program.h"
#include "gc.h"
#include "oob-booked.h"
#include "program-host.h"
#include "program.h"

static u32 take_flash_unit(struct ftl *ftl, die_t die, enum ftl_stream stream, u64 start_ns)
{
	struct ftl_eblks *blocks = &ftl->blocks;

	if (ftl_eblks_needs_open(blocks, die, stream)) {
		ftl_gc_make_room(ftl, die, start_ns);
		ftl_eblks_open_next(blocks, die, stream);
	}
	return ftl_eblks_take_unit(blocks, die, stream);
}

/* Return: a flash unit of the SLC region plus one, or 0 if it has no room on the die. */
static u32 take_slc(struct ftl *ftl, die_t die, u64 start_ns)
{
	struct ftl_eblks *blocks = &ftl->blocks;
	u32 flash_unit;

	while (ftl_eblks_slc_has_room(blocks, die)) {
		if (ftl_eblks_needs_open(blocks, die, FTL_STREAM_SLC))
			ftl_eblks_open_next(blocks, die, FTL_STREAM_SLC);
		flash_unit = ftl_eblks_take_unit(blocks, die, FTL_STREAM_SLC);
		if (!ftl_bad_program(ftl, flash_unit, FTL_STREAM_SLC, start_ns))
			return flash_unit + 1;
	}
	return 0;
}

u32 ftl_program_take(struct ftl *ftl, die_t die, enum ftl_stream stream, u64 start_ns)
{
	u32 flash_unit = stream == FTL_STREAM_HOST ? take_slc(ftl, die, start_ns) : 0;

	if (flash_unit)
		return flash_unit - 1;
	ftl_gc_pace(ftl, die, start_ns);
	do {
		flash_unit = take_flash_unit(ftl, die, stream, start_ns);
	} while (ftl_bad_program(ftl, flash_unit, stream, start_ns));
	return flash_unit;
}

/* A unit without pages: to the out-of-band data it is as a draft that has stayed empty. */
static void program_empty(struct ftl *ftl, die_t die, u64 start_ns)
{
	u32 flash_unit = ftl_program_take(ftl, die, FTL_STREAM_HOST, start_ns);
	u64 end_ns = ftl_program_host(ftl, flash_unit, start_ns);

	ftl_nand_aim(&ftl->nand, flash_unit);
	ftl->programmed_ns = max(ftl->programmed_ns, end_ns);
	if (ftl->params.oob)
		ftl_oob_draft(&ftl->oob, flash_unit, end_ns);
	ftl_program_close(ftl, flash_unit, FTL_STREAM_HOST);
	ftl->stats.nand_pages_programmed += ftl->geo.unit_pages;
}

/* Rule 7 of place.h */
static void enter_stripe(struct ftl *ftl, struct ftl_unit *unit, u64 start_ns)
{
	struct ftl_stripes *stripes = &ftl->stripes;

	while (!ftl_stripes_admit(stripes, unit->die)) {
		die_t slowest = ftl_stripes_slowest(stripes);
		die_t from = unit->die;

		if (!ftl_units_die_has_room(&ftl->units, slowest)) {
			ftl_stripes_pass(stripes, slowest);
			ftl->stats.stripe_skips++;
		} else if (unit->keeps_die && ftl_stripes_spend(stripes)) {
			ftl_stripes_pass(stripes, slowest);
			program_empty(ftl, slowest, start_ns);
			ftl->stats.pages_padded += ftl->geo.unit_pages;
			ftl->stats.stripe_pads++;
		} else {
			ftl_units_redirect(&ftl->units, unit, slowest);
			ftl->stats.stripe_moves++;
			ftl_place_tell_redirected(&ftl->place, unit, from);
		}
	}
}

/* The unit's stripe may be complete, and others that lack dies which were passed over. */
static void leave_stripe(struct ftl *ftl, die_t die, u64 start_ns)
{
	die_t parity_die;

	ftl_stripes_pass(&ftl->stripes, die);
	ftl_stripes_earn(&ftl->stripes);
	while ((parity_die = ftl_stripes_next_parity(&ftl->stripes)) != DIE_NONE) {
		program_empty(ftl, parity_die, start_ns);
		ftl->stats.parity_programs++;
	}
}

/* Return: as ftl_program_unit(). */
static u64 take_and_program(struct ftl *ftl, struct ftl_unit *unit, enum ftl_stream stream,
			    u64 start_ns)
{
	u32 flash_unit = ftl_program_take(ftl, unit->die, stream, start_ns);

	return ftl_program_to(ftl, unit, flash_unit, stream, start_ns);
}

u64 ftl_program_unit(struct ftl *ftl, struct ftl_unit *unit, u64 start_ns)
{
	u64 end_ns;
	die_t die;

	/* What was written after a share command is not durable before it. */
	start_ns = ftl_share_commit(ftl, start_ns);
	if (!ftl->stripes.lead)
		return take_and_program(ftl, unit, ftl_stream_of(unit->handle), start_ns);
	enter_stripe(ftl, unit, start_ns);
	die = unit->die;
	end_ns = take_and_program(ftl, unit, FTL_STREAM_HOST, start_ns);
	leave_stripe(ftl, die, start_ns);
	return end_ns;
}

/* Times of held units ascend, although those at which they got full may not quite. */
static void hold_back(struct ftl *ftl, struct ftl_unit *unit, u64 at_ns)
{
	struct ftl_units *units = &ftl->units;

	/* Making room for it may have rescued all of its pages. */
	if (!unit->nr_valid) {
		ftl_units_release(units, unit, 0);
		return;
	}
	at_ns += ftl_scaled(ftl, ftl->params.hold_ns);
	if (units->nr_held)
		at_ns = max(at_ns, list_last_entry(&units->held, struct ftl_unit, link)->due_ns);
	ftl_units_hold(units, unit, at_ns);
}

void ftl_program_full(struct ftl *ftl, u64 start_ns)
{
	struct ftl_units *units = &ftl->units;
	struct ftl_unit *unit;

	while ((unit = ftl_units_first_full(units))) {
		if (!units->max_held) {
			ftl_program_unit(ftl, unit, start_ns);
			continue;
		}
		if (units->nr_held == units->max_held)
			ftl_program_open(ftl, ftl_units_first_held(units), start_ns);
		hold_back(ftl, unit, start_ns);
	}
}

void ftl_advance(struct ftl *ftl, u64 now_ns)
{
	struct ftl_unit *unit;

	while ((unit = ftl_units_first_held(&ftl->units)) && unit->due_ns <= now_ns) {
		ftl->now_ns = max(ftl->now_ns, unit->due_ns);
		ftl_program_open(ftl, unit, ftl->now_ns);
	}
	ftl->now_ns = max(ftl->now_ns, now_ns);
}

u64 ftl_program_open(struct ftl *ftl, struct ftl_unit *unit, u64 start_ns)
{
	ftl_units_set_aside(&ftl->units, unit);
	return ftl_program_unit(ftl, unit, start_ns);
}
