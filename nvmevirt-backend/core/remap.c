// SPDX-License-Identifier: GPL-2.0-only
/*
 * The share command. What it does to the maps is in share.h, to a power failure in
 * defrag.h; here is the order: everything that can be refused first, then the data goes
 * to NAND, then the maps change, and the log has it when the data is there.
 */
#include "defrag.h"
#include "gc.h"
#include "map-page.h"
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

		if (unit && ftl_eblks_needs_open(&ftl->blocks, unit->die, FTL_STREAM_GC)) {
			ftl_gc_make_room(ftl, unit->die, at_ns);
			unit = buffered_in(ftl, lpn);
		}
		if (!unit)
			continue;
		ftl->collecting = true;
		ftl_program_open(ftl, unit, at_ns);
		ftl->collecting = false;
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

/* The log's programs go round the dies, each of which has a part of it. */
static u64 program_log(struct ftl *ftl, u64 at_ns)
{
	struct ftl_stats *stats = &ftl->stats;
	u32 at;
	u64 lap = div_u64_rem(stats->defrag_programs++, ftl->geo.nr_dies, &at);

	stats->pages_padded += ftl->geo.unit_pages;
	return ftl_program_beside(ftl, to_die(at), lap, at_ns);
}

/*
 * Whole programs are due at once. What is left waits for more where it is protected.
 * Return: when all that had to be programmed is.
 */
static u64 write_log(struct ftl *ftl, u32 nr_entries, u64 at_ns)
{
	u32 per_program = ftl->geo.unit_pages * FTL_PAGE_BYTES / sizeof(struct ftl_defrag_entry);
	u64 done_ns = at_ns;

	ftl->nr_log_entries += nr_entries;
	while (ftl->nr_log_entries >= (ftl->params.plp ? per_program : 1)) {
		ftl->nr_log_entries -= min(ftl->nr_log_entries, per_program);
		done_ns = max(done_ns, program_log(ftl, at_ns));
	}
	return done_ns;
}

static u64 nr_entries_of(const struct ftl *ftl)
{
	return ftl->oob.max_defrag ? ftl->oob.defrag->nr : 0;
}

/* Return: when the log has the command: programs of its own after those of the data. */
static u64 committed_at(struct ftl *ftl, const struct ftl_share_range *range, u32 nr_ranges,
			u32 nr_entries, u64 at_ns)
{
	const struct ftl_oob *oob = &ftl->oob;
	u64 nr = nr_entries_of(ftl);
	u64 last_ns = 0;

	if (!oob->is_volatile) {
		write_log(ftl, nr_entries, at_ns);
		return at_ns;
	}
	for (u32 i = 0; i < nr_ranges; i++)
		at_ns = max(at_ns, programmed_ns(ftl, &range[i]));
	if (nr)
		last_ns = oob->defrag_entry[nr - 1].commit_ns;
	return max(write_log(ftl, nr_entries, at_ns), last_ns);
}

/* What the page had before must be there until the log says what it has now. */
static void keep_until(struct ftl *ftl, ppn_t present, u64 until_ns)
{
	struct ftl_oob *oob = &ftl->oob;
	u32 prev;

	if (!oob->is_volatile)
		return;
	prev = ftl_oob_prev_of(oob, present).place;
	if (prev)
		ftl_oob_keep_prev(oob, prev, until_ns);
}

/* @since: first entry of the command */
static void share_page(struct ftl *ftl, lpn_t to, lpn_t from, u64 done_ns, u64 since)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, from);
	ppn_t present = ftl_l2p_get(&ftl->map, to);
	u32 log_page = 0;

	if (present == ppn)
		return;
	if (present != PPN_NONE) {
		keep_until(ftl, present, done_ns);
		ftl_units_unmap(&ftl->units, to);
	}
	if (ftl->params.oob)
		log_page = ftl_defrag_add(&ftl->oob, to, ppn, ftl->params.plp ? 0 : done_ns,
					  since) + 1;
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

static void share_ranges(struct ftl *ftl, const struct ftl_share_range *range, u32 nr_ranges,
			 u64 done_ns)
{
	u64 since = nr_entries_of(ftl);

	for (u32 i = 0; i < nr_ranges; i++) {
		for (u32 page = 0; page < range[i].nr; page++)
			share_page(ftl, to_lpn(from_lpn(range[i].to) + page),
				   to_lpn(from_lpn(range[i].from) + page), done_ns, since);
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
	*done_ns = committed_at(ftl, range, nr_ranges, demand.nr_entries + nr_kept, at_ns);
	/* A flush waits for the log, too. */
	ftl->programmed_ns = max(ftl->programmed_ns, *done_ns);
	if (ftl->oob.is_volatile)
		ftl_nand_fix(&ftl->nand, *done_ns);
	share_ranges(ftl, range, nr_ranges, *done_ns);
	return FTL_SHARE_DONE;
}

u64 ftl_compact(struct ftl *ftl, u64 now_ns)
{
	u64 at_ns = ftl_begin(ftl, now_ns);

	if (!ftl->oob.max_defrag)
		return at_ns;
	ftl_defrag_make_room(&ftl->map);
	at_ns = write_log(ftl, nr_entries_of(ftl), at_ns);
	ftl->programmed_ns = max(ftl->programmed_ns, at_ns);
	if (ftl->oob.is_volatile)
		ftl_nand_fix(&ftl->nand, at_ns);
	return at_ns;
}
