// SPDX-License-Identifier: GPL-2.0-only
/*
 * The share command. What it does to the maps is in share.h, to a power failure in
 * defrag.h; here is the order: everything that can be refused first, then the data goes
 * to NAND, then the maps change, and the log gets it when it is to be durable, once the data is
 * there.
 */
#include "command.h"
#include "defrag-compact.h"
#include "defrag-program.h"
#include "defrag.h"
#include "gc.h"
#include "map-page.h"
#include "oob-booked.h"
#include "program-host.h"
#include "program.h"

static bool overlap(lpn_t a, u64 nr_a, lpn_t b, u64 nr_b)
{
	return from_lpn(a) < from_lpn(b) + nr_b && from_lpn(b) < from_lpn(a) + nr_a;
}

/* Nothing may get data twice, nor give data that the same command replaces. */
static bool ranges_overlap(const struct ftl_share_range *range, u32 nr_ranges)
{
	for (u32 i = 0; i < nr_ranges; i++) {
		for (u32 j = 0; j < nr_ranges; j++) {
			if (overlap(range[i].to, range[i].nr, range[j].from, range[j].nr) ||
			    (i != j && overlap(range[i].to, range[i].nr, range[j].to, range[j].nr)))
				return true;
		}
	}
	return false;
}

static bool is_all_mapped(const struct ftl *ftl, const struct ftl_share_range *range)
{
	for (u32 i = 0; i < range->nr; i++) {
		if (!ftl_is_mapped(ftl, to_lpn(from_lpn(range->from) + i)))
			return false;
	}
	return true;
}

/**
 * struct demand - what a command takes of the log
 * @nr_pages: pages that get data
 * @nr_entries: entries for them
 * @last: the last of these, or one of no page where the next page is to begin another
 */
struct demand {
	u32 nr_pages;
	u32 nr_entries;
	struct ftl_defrag_entry last;
};

static void demand_page(const struct ftl *ftl, struct demand *demand, lpn_t to, lpn_t from)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, from);
	struct ftl_defrag_entry page;

	if (ftl_l2p_get(&ftl->map, to) == ppn) {
		demand->last.nr = 0;
		return;
	}
	demand->nr_pages++;
	if (!ftl->params.oob)
		return;
	page = ftl_defrag_entry_of(&ftl->oob, to, ppn);
	if (demand->last.nr && ftl_defrag_extends(&demand->last, &page)) {
		demand->last.nr++;
	} else {
		demand->last = page;
		demand->nr_entries++;
	}
}

static struct demand demand_of(const struct ftl *ftl, const struct ftl_share_range *range,
			       u32 nr_ranges)
{
	struct demand demand = {};

	for (u32 i = 0; i < nr_ranges; i++) {
		for (u32 page = 0; page < range[i].nr; page++)
			demand_page(ftl, &demand, to_lpn(from_lpn(range[i].to) + page),
				    to_lpn(from_lpn(range[i].from) + page));
	}
	return demand;
}

static bool has_room(struct ftl *ftl, const struct demand *demand)
{
	if (demand->nr_pages + ftl->share.nr > ftl->share.most)
		return false;
	return !ftl->params.oob ||
		ftl_defrag_reserve(&ftl->map, demand->nr_entries, demand->nr_pages);
}

static struct ftl_unit *buffered_in(struct ftl *ftl, u64 lpn)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn));

	return ftl_ppn_is_buffered(&ftl->geo, ppn) ? ftl_units_of(&ftl->units, ppn) : NULL;
}

static void program_host_units(struct ftl *ftl, const struct ftl_share_range *range, u64 at_ns)
{
	u64 lpn = from_lpn(range->from);

	for (u64 end = lpn + range->nr; lpn < end; lpn++) {
		struct ftl_unit *unit = buffered_in(ftl, lpn);

		if (unit && !ftl_unit_is_gc(unit))
			ftl_program_open(ftl, unit, at_ns);
	}
}

/* Nothing is collected meanwhile, which would put pages into such a unit again. */
static void program_gc_units(struct ftl *ftl, const struct ftl_share_range *range, u64 at_ns)
{
	u64 lpn = from_lpn(range->from);

	for (u64 end = lpn + range->nr; lpn < end; lpn++) {
		struct ftl_unit *unit = buffered_in(ftl, lpn);

		if (unit)
			ftl_gc_program(ftl, unit->die, at_ns);
	}
}

/* Return: when the last of the range's data is on NAND. */
static u64 programmed_ns(const struct ftl *ftl, const struct ftl_share_range *range)
{
	const struct ftl_oob *oob = &ftl->oob;
	u64 end_ns = 0;

	for (u32 i = 0; i < range->nr; i++) {
		ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(from_lpn(range->from) + i));
		u32 op = oob->booked[ftl_flash_unit(&ftl->geo, ppn)];

		if (op)
			end_ns = max(end_ns, oob->op[op - 1].end_ns);
	}
	return end_ns;
}

static u64 nr_entries_of(const struct ftl *ftl)
{
	return ftl->oob.max_defrag ? ftl->oob.defrag->nr : 0;
}

/* The log may name data that is on its way to NAND from when that is there. */
static void wait_for_data(struct ftl *ftl, const struct ftl_share_range *range, u32 nr_ranges)
{
	if (!ftl->oob.is_volatile)
		return;
	for (u32 i = 0; i < nr_ranges; i++)
		ftl->log_from_ns = max(ftl->log_from_ns, programmed_ns(ftl, &range[i]));
	ftl_nand_fix(&ftl->nand, ftl->log_from_ns);
}

/* @since: first entry of the command */
static void share_page(struct ftl *ftl, lpn_t to, lpn_t from, u64 since)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, from);
	ppn_t present = ftl_l2p_get(&ftl->map, to);
	u32 log_page = 0;

	if (present == ppn)
		return;
	ftl_read_ahead_outdate(&ftl->read_ahead, to, 1);
	if (present != PPN_NONE)
		ftl_units_unmap(&ftl->units, to);
	if (ftl->params.oob)
		log_page = ftl_defrag_add(&ftl->oob, to, ppn,
					  ftl->params.plp ? 0 : FTL_DEFRAG_WAITS, since) + 1;
	ftl_share_join(&ftl->map, to, ppn, log_page);
	ftl->units.nr_mapped++;
	ftl->stats.pages_remapped++;
}

/* Entries that compactions have written again */
static u64 nr_kept_entries(const struct ftl *ftl)
{
	return ftl->oob.max_defrag ? ftl->oob.defrag->nr_kept : 0;
}

/* Return: the time at which the command knows where all of its pages are. */
static u64 look_up_ranges(struct ftl *ftl, const struct ftl_share_range *range, u32 nr_ranges,
			  u64 at_ns)
{
	u64 known_ns = at_ns;

	for (u32 i = 0; i < nr_ranges; i++) {
		known_ns = max(known_ns, ftl_map_look_up(ftl, range[i].from, range[i].nr, at_ns));
		known_ns = max(known_ns, ftl_map_change(ftl, range[i].to, range[i].nr, at_ns));
	}
	return known_ns;
}

static void share_ranges(struct ftl *ftl, const struct ftl_share_range *range, u32 nr_ranges)
{
	u64 since = nr_entries_of(ftl);

	for (u32 i = 0; i < nr_ranges; i++) {
		for (u32 page = 0; page < range[i].nr; page++)
			share_page(ftl, to_lpn(from_lpn(range[i].to) + page),
				   to_lpn(from_lpn(range[i].from) + page), since);
	}
}

static enum ftl_share_result refusal_of(const struct ftl *ftl, const struct ftl_share_range *range,
					u32 nr_ranges)
{
	if (ranges_overlap(range, nr_ranges))
		return FTL_SHARE_OVERLAP;
	for (u32 i = 0; i < nr_ranges; i++) {
		if (!is_all_mapped(ftl, &range[i]))
			return FTL_SHARE_UNMAPPED;
	}
	return FTL_SHARE_DONE;
}

enum ftl_share_result ftl_share(struct ftl *ftl, const struct ftl_share_range *range,
				u32 nr_ranges, u64 now_ns, u64 *done_ns)
{
	u64 at_ns = ftl_begin(ftl, now_ns);
	u64 nr_kept = nr_kept_entries(ftl);
	enum ftl_share_result refusal = refusal_of(ftl, range, nr_ranges);
	struct demand demand;
	u32 nr_pages = 0;

	*done_ns = at_ns;
	if (refusal)
		return refusal;
	demand = demand_of(ftl, range, nr_ranges);
	if (!has_room(ftl, &demand))
		return FTL_SHARE_FULL;
	for (u32 i = 0; i < nr_ranges; i++)
		nr_pages += range[i].nr;
	at_ns = look_up_ranges(ftl, range, nr_ranges, at_ns);
	at_ns += ftl_scaled(ftl, (u64)ftl->params.page_ns * nr_pages);
	for (u32 i = 0; i < nr_ranges; i++)
		program_host_units(ftl, &range[i], at_ns);
	for (u32 i = 0; i < nr_ranges; i++)
		program_gc_units(ftl, &range[i], at_ns);
	/* Collection may have given data its owner's number, so that a row of numbers is two. */
	demand = demand_of(ftl, range, nr_ranges);
	if (!has_room(ftl, &demand))
		return FTL_SHARE_FULL;
	nr_kept = nr_kept_entries(ftl) - nr_kept;
	wait_for_data(ftl, range, nr_ranges);
	share_ranges(ftl, range, nr_ranges);
	ftl_share_add_to_log(ftl, demand.nr_entries + nr_kept, nr_kept, at_ns);
	*done_ns = at_ns;
	return FTL_SHARE_DONE;
}

u64 ftl_compact(struct ftl *ftl, u64 now_ns)
{
	u64 at_ns = ftl_begin(ftl, now_ns);

	if (!ftl->oob.max_defrag)
		return at_ns;
	ftl_defrag_make_room(&ftl->map);
	ftl_share_add_to_log(ftl, nr_entries_of(ftl), true, at_ns);
	return ftl_share_commit(ftl, at_ns);
}
