// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write, trim and flush commands. A write is complete when its pages are in the buffer,
 * which is protected against power loss or not: see ftl_params.plp.
 */
#include "command.h"
#include "defrag-program.h"
#include "defrag.h"
#include "draft.h"
#include "exchange.h"
#include "gc.h"
#include "in-place.h"
#include "map-page.h"
#include "oob-booked.h"
#include "program-host.h"
#include "program.h"
#include "sense.h"
#include "table.h"

/* A page that is written in part needs its present content first. */
static u64 read_partial(struct ftl *ftl, lpn_t lpn, u64 start_ns)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, lpn);
	struct ftl_sense sense;

	start_ns = ftl_map_look_up(ftl, lpn, 1, start_ns);
	if (ppn == PPN_NONE || ftl_ppn_is_buffered(&ftl->geo, ppn))
		return start_ns;
	sense.flash_unit = ftl_flash_unit(&ftl->geo, ppn);
	sense.nr_pages = 1;
	sense.planes = BIT(ftl_ppn_plane(&ftl->geo, ppn));
	return ftl_sense(ftl, &sense, start_ns);
}

static u64 read_partial_pages(struct ftl *ftl, const struct ftl_request *rq, u64 start_ns)
{
	u64 last = from_lpn(rq->first) + rq->nr_pages - 1;
	u64 done_ns = start_ns;

	if (rq->head_partial)
		done_ns = read_partial(ftl, rq->first, start_ns);
	if (rq->tail_partial && !(rq->head_partial && rq->nr_pages == 1))
		done_ns = max(done_ns, read_partial(ftl, to_lpn(last), start_ns));
	return done_ns;
}

/* Return: the time at which it is known where the pages are that decide where the command's go. */
static u64 look_up_hint(struct ftl *ftl, const struct ftl_request *rq, u64 start_ns)
{
	if (rq->hint == FTL_HINT_OVERWRITE)
		return ftl_map_look_up(ftl, rq->first, rq->nr_pages, start_ns);
	if (rq->hint == FTL_HINT_APPEND && from_lpn(rq->pred) < ftl->map.nr_lpns)
		return ftl_map_look_up(ftl, rq->pred, 1, start_ns);
	return start_ns;
}

/* The host need not wait for that, but the program of the unit that has the page now. */
static void note_known(struct ftl *ftl, lpn_t lpn, u64 known_ns)
{
	struct ftl_unit *unit = ftl_units_of(&ftl->units, ftl_l2p_get(&ftl->map, lpn));

	unit->known_ns = max(unit->known_ns, known_ns);
}

/* Return: the time at which the last page found room in the buffer. */
static u64 place_pages(struct ftl *ftl, const struct ftl_request *rq,
		       struct ftl_placing *placing, u64 at_ns, u64 known_ns)
{
	u64 lpn = from_lpn(rq->first);

	ftl_place_begin(&ftl->place, placing, rq);
	for (u64 end = lpn + rq->nr_pages; lpn < end;) {
		u32 nr_pages = ftl_place_pages(&ftl->place, placing, to_lpn(lpn), end - lpn);

		/* Else it is known all the time. */
		if (ftl->params.map_cache_pages)
			note_known(ftl, to_lpn(lpn), known_ns);
		lpn += nr_pages;
		if (placing->opened)
			at_ns = ftl_wbuf_admit(&ftl->wbuf, ftl->units.nr_host, at_ns);
		ftl_program_full(ftl, at_ns);
	}
	ftl_place_end(&ftl->place);
	ftl_program_full(ftl, at_ns);
	return at_ns;
}

/* Makes a unit's pages durable: programs it, or a draft of it if it is not full. */
static u64 program_unit(struct ftl *ftl, struct ftl_unit *unit, u64 at_ns)
{
	if (unit->kind == FTL_UNIT_HELD)
		return ftl_program_open(ftl, unit, at_ns);
	return ftl_draft_unit(ftl, unit, at_ns);
}

/* Programs what holds pages of the command. Return: the last of their ends, but for collection. */
static u64 program_pages(struct ftl *ftl, const struct ftl_request *rq, u64 at_ns)
{
	u64 lpn = from_lpn(rq->first);
	u64 done_ns = at_ns;

	for (u64 end = lpn + rq->nr_pages; lpn < end; lpn++) {
		ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn));
		struct ftl_unit *unit;

		if (!ftl_ppn_is_buffered(&ftl->geo, ppn))
			continue;
		unit = ftl_units_of(&ftl->units, ppn);
		/* What collection only moved is on NAND still. */
		if (!ftl_unit_is_gc(unit))
			done_ns = max(done_ns, program_unit(ftl, unit, at_ns));
		else if (unit->is_new)
			ftl_gc_program(ftl, unit->die, at_ns);
	}
	return done_ns;
}

static void count_write(struct ftl *ftl, const struct ftl_request *rq,
			const struct ftl_placing *placing)
{
	struct ftl_stats *stats = &ftl->stats;

	stats->pages_off_die += placing->nr_off_die;
	stats->pages_levelled += placing->nr_levelled;
	if (rq->hint == FTL_HINT_NONE)
		stats->writes_plain++;
	else if (placing->hint == FTL_HINT_NONE || !placing->nr_obeyed)
		stats->hints_ignored++;
	else if (rq->hint == FTL_HINT_DIE || rq->hint == FTL_HINT_ALL_DIE)
		stats->hints_die++;
	else if (rq->hint == FTL_HINT_OVERWRITE)
		stats->hints_overwrite++;
	else
		stats->hints_append++;
}

static u64 write_in_place(struct ftl *ftl, const struct ftl_request *rq, u64 start_ns)
{
	if (rq->hint == FTL_HINT_NONE)
		ftl->stats.writes_plain++;
	else
		ftl->stats.hints_ignored++;
	return ftl_in_place_write(ftl, rq, start_ns, read_partial_pages(ftl, rq, start_ns));
}

u64 ftl_write(struct ftl *ftl, const struct ftl_request *rq, u64 now_ns)
{
	u64 at_ns = ftl_begin(ftl, now_ns);
	struct ftl_placing placing;
	u64 known_ns;

	ftl->stats.host_pages_written += rq->nr_pages;
	ftl_read_ahead_outdate(&ftl->read_ahead, rq->first, rq->nr_pages);
	if (ftl->params.in_place)
		return write_in_place(ftl, rq, at_ns);
	known_ns = look_up_hint(ftl, rq, at_ns);
	at_ns = max(ftl_bus_transfer(&ftl->from_host, rq->bytes, at_ns, ftl->now_ns),
		    read_partial_pages(ftl, rq, at_ns));
	at_ns += ftl_scaled(ftl, ftl->params.write_ns + (u64)ftl->params.page_ns * rq->nr_pages);
	ftl_exchange(ftl, at_ns);
	ftl->command_programmed_ns = 0;
	at_ns = place_pages(ftl, rq, &placing, at_ns, known_ns);
	ftl_exchange_ask(ftl, placing.nr_stuck);
	count_write(ftl, rq, &placing);
	if (!rq->fua || ftl->params.plp)
		return at_ns;
	at_ns = max(program_pages(ftl, rq, at_ns), ftl->command_programmed_ns);
	ftl_nand_fix(&ftl->nand, at_ns);
	return at_ns;
}

/* Return: the last program's end. */
static u64 program_all(struct ftl *ftl, u64 at_ns)
{
	struct ftl_units *units = &ftl->units;

	while (units->nr_held)
		ftl_program_open(ftl, ftl_units_first_held(units), at_ns);
	for (u32 i = 0; i < ftl->geo.nr_dies; i++)
		ftl_draft_die(ftl, to_die(i), at_ns);
	/* Last, because the programs above may have collected. */
	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		if (units->die[i].gc && units->die[i].gc->is_new)
			ftl_gc_program(ftl, to_die(i), at_ns);
	}
	return max(at_ns, ftl->programmed_ns);
}

/*
 * What was written to trimmed pages goes to NAND, and counts as being there, before the
 * records of their trims go: else a power failure would bring back what they had before.
 */
static void end_volatile(struct ftl *ftl, u64 at_ns)
{
	if (!ftl->oob.is_volatile)
		return;
	program_all(ftl, at_ns);
	ftl_share_commit(ftl, at_ns);
	ftl_oob_settle(&ftl->oob, U64_MAX);
	if (ftl->oob.max_defrag)
		ftl_defrag_settle(&ftl->oob);
}

/* A trim is durable at once: what was shared before it counts as being so, and so does its data. */
static void commit_shares(struct ftl *ftl, u64 at_ns)
{
	/* Entries that are on their way to the log are no more durable than those that wait. */
	if (!ftl->oob.is_volatile || (!ftl->nr_log_entries && ftl->log_ns <= ftl->now_ns))
		return;
	ftl_share_commit(ftl, at_ns);
	ftl_oob_settle(&ftl->oob, ftl->log_from_ns);
	ftl_defrag_settle(&ftl->oob);
}

static void step_table(struct ftl *ftl, u32 most, u64 at_ns)
{
	if (!ftl_table_is_due(&ftl->oob)) {
		end_volatile(ftl, at_ns);
		ftl_table_begin(&ftl->map);
	}
	ftl_table_step(&ftl->map, most);
}

bool ftl_trim_wants_step(const struct ftl *ftl)
{
	return ftl->params.oob && (ftl_table_is_due(&ftl->oob) ||
				   ftl->oob.head->nr_trims >= FTL_TABLE_BEGIN);
}

bool ftl_trim_step(struct ftl *ftl, u32 most, u64 now_ns)
{
	if (!ftl_trim_wants_step(ftl))
		return false;
	ftl_advance(ftl, now_ns);
	step_table(ftl, most, ftl->now_ns);
	return ftl_trim_wants_step(ftl);
}

lpn_t ftl_trim_reach(const struct ftl *ftl, lpn_t first, u64 nr_pages, u32 *most)
{
	u64 lpn = from_lpn(first);

	return to_lpn(ftl_l2p_reach(&ftl->map, lpn, lpn + nr_pages, most));
}

bool ftl_trim_has_room(const struct ftl *ftl, u32 nr)
{
	return !ftl->params.oob || ftl->oob.head->nr_trims + nr <= FTL_OOB_TRIMS;
}

static void keep_trim(struct ftl *ftl, lpn_t first, u64 nr_pages, u64 at_ns)
{
	while (!ftl_oob_has_room(&ftl->oob, from_lpn(first)))
		step_table(ftl, FTL_TABLE_STEP, at_ns);
	ftl_oob_trim(&ftl->oob, from_lpn(first), nr_pages);
	if (ftl_trim_wants_step(ftl))
		step_table(ftl, FTL_TABLE_STEP, at_ns);
}

static void trim_pages(struct ftl *ftl, lpn_t first, u64 nr_pages, u64 at_ns)
{
	u64 end = from_lpn(first) + nr_pages;
	u64 lpn = from_lpn(first);
	/* Up to here the map has the command. */
	u64 noted = 0;

	commit_shares(ftl, at_ns);
	while ((lpn = ftl_l2p_skip_unmapped(&ftl->map, lpn, end)) < end) {
		if (lpn >= noted) {
			ftl_map_change(ftl, to_lpn(lpn), 1, at_ns);
			noted = round_up(lpn + 1, FTL_MAP_PAGE_LPNS);
		}
		ftl_units_unmap(&ftl->units, to_lpn(lpn));
		ftl->stats.pages_trimmed++;
		lpn++;
	}
	if (ftl->params.oob && nr_pages)
		keep_trim(ftl, first, nr_pages, at_ns);
}

u64 ftl_trim(struct ftl *ftl, lpn_t first, u64 nr_pages, u64 now_ns)
{
	u64 done_ns = ftl_begin(ftl, now_ns);

	trim_pages(ftl, first, nr_pages, done_ns);
	return done_ns;
}

void ftl_trim_on(struct ftl *ftl, lpn_t first, u64 nr_pages, u64 now_ns)
{
	ftl_advance(ftl, now_ns);
	trim_pages(ftl, first, nr_pages, ftl->now_ns);
}

/* What is on its way there is of the old blocks, as a reclaim unit has what was written before. */
void ftl_handle_anew(struct ftl *ftl, u32 handle, u64 now_ns)
{
	struct ftl_units *units = &ftl->units;
	u64 at_ns = ftl_begin(ftl, now_ns);

	while (units->nr_held)
		ftl_program_open(ftl, ftl_units_first_held(units), at_ns);
	if (units->plain[handle])
		ftl_program_open(ftl, units->plain[handle], at_ns);
	for (u32 i = 0; i < ftl->geo.nr_dies; i++)
		ftl_eblks_close(&ftl->blocks, to_die(i), ftl_stream_of(handle));
}

void ftl_send_anew(struct ftl *ftl, die_t die)
{
	ftl->units.die[from_die(die)].last_sent = 0;
}

void ftl_tell_placements(struct ftl *ftl, ftl_tell_fn tell, void *context)
{
	ftl->place.tell = tell;
	ftl->place.context = context;
}

u64 ftl_flush(struct ftl *ftl, u64 now_ns)
{
	u64 at_ns = ftl_begin(ftl, now_ns);

	if (ftl->params.plp)
		return at_ns;
	at_ns = max(program_all(ftl, at_ns), ftl_share_commit(ftl, at_ns));
	ftl_nand_fix(&ftl->nand, at_ns);
	return at_ns;
}
