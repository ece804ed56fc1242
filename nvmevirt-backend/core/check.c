// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "consistent" means. Everything that is kept twice, or counted, is worked out
 * again from the maps and compared. Nothing is changed.
 */
#include "check-eblk.h"
#include "defrag.h"
#include "in-place.h"
#include "oob-slots.h"
#include "table.h"

/* Does the page own the place, alone or with others? */
static bool owns(const struct ftl *ftl, lpn_t lpn, ppn_t ppn)
{
	const struct ftl_sharer *sharer = NULL;

	if (ftl_l2p_owner(&ftl->map, ppn) == lpn)
		return true;
	if (ftl_l2p_has_sharers(&ftl->map))
		sharer = ftl_share_find(&ftl->share, lpn);
	return sharer && sharer->place == from_ppn(ppn);
}

static const char *check_lpns(const struct ftl *ftl)
{
	u64 nr_mapped = 0;

	for (u64 lpn = 0; lpn < ftl->map.nr_lpns; lpn++) {
		ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn));

		if (ppn == PPN_NONE)
			continue;
		nr_mapped++;
		if (from_ppn(ppn) >= ftl->geo.nr_places)
			return "A page is mapped to a place that does not exist.";
		if (!owns(ftl, to_lpn(lpn), ppn))
			return "A page's place belongs to another page.";
	}
	return nr_mapped == ftl->units.nr_mapped ? NULL :
		"The count of mapped pages is not the number of mapped pages.";
}

static bool is_marked(const struct ftl_oob *oob, u64 lpn)
{
	return oob->is_mapped[lpn / 64] & BIT_ULL(lpn % 64);
}

/* The table of what is mapped has to be right about regions in which nothing has changed. */
static const char *check_region(const struct ftl *ftl, u64 region)
{
	u64 lpn = region << FTL_REGION_SHIFT;
	u64 end = min(lpn + FTL_REGION_PAGES, ftl->map.nr_lpns);
	bool is_in_table = ftl->params.oob && ftl->map.region_state[region] == FTL_REGION_KEPT;
	u32 nr_mapped = 0;

	for (; lpn < end; lpn++) {
		bool is_mapped = ftl_is_mapped(ftl, to_lpn(lpn));

		nr_mapped += is_mapped;
		if (is_in_table && is_marked(&ftl->oob, lpn) != is_mapped)
			return "The table of what is mapped is wrong where nothing has changed.";
	}
	return nr_mapped == ftl->map.region_mapped[region] ? NULL :
		"The count of a region's mapped pages is wrong.";
}

static const char *check_places(const struct ftl *ftl)
{
	for (u32 place = 0; place < ftl->geo.nr_places; place++) {
		lpn_t lpn = ftl_l2p_owner(&ftl->map, to_ppn(place));

		if (lpn == LPN_NONE)
			continue;
		if (from_lpn(lpn) >= ftl->map.nr_lpns)
			return "A place belongs to a page that does not exist.";
		if (ftl_l2p_get(&ftl->map, lpn) != to_ppn(place))
			return "A place belongs to a page that is elsewhere.";
	}
	return NULL;
}

static u32 count_owned(const struct ftl *ftl, u32 first, u32 nr)
{
	u32 nr_owned = 0;

	for (u32 place = first; place < first + nr; place++)
		nr_owned += ftl_l2p_owner(&ftl->map, to_ppn(place)) != LPN_NONE;
	return nr_owned;
}

/* Slots of an erase block's units that were not handed out since its erase. */
static u32 first_unused_unit(const struct ftl *ftl, u32 eblk)
{
	const struct ftl_eblk_die *die =
		&ftl->blocks.die[from_die(ftl_eblk_die(&ftl->geo, eblk))];

	if (ftl->blocks.eblk[eblk].state == FTL_EBLK_FREE)
		return 0;
	for (u32 i = 0; i < ftl_nr_streams(&ftl->geo); i++) {
		if (die->stream[i].eblk == eblk + 1)
			return die->stream[i].next_unit;
	}
	return ftl_eblk_nr_units(&ftl->geo, eblk);
}

static const char *check_eblk(const struct ftl *ftl, u32 eblk)
{
	u32 first = eblk * ftl->geo.eblk_pages;
	u32 used = first_unused_unit(ftl, eblk) * ftl->geo.unit_pages;

	if (count_owned(ftl, first, used) != ftl->blocks.eblk[eblk].nr_valid)
		return "An erase block's count of valid pages is wrong.";
	if (count_owned(ftl, first + used, ftl->geo.eblk_pages - used))
		return "A page is in a flash unit that was not programmed.";
	return NULL;
}

static const char *check_erases(const struct ftl *ftl)
{
	u64 nr_all = 0;

	for (u32 die = 0; die < ftl->geo.nr_dies; die++) {
		u64 nr = 0;

		for (u32 i = 0; i < ftl_main_eblks(&ftl->geo); i++)
			nr += ftl->blocks.eblk[die * ftl->geo.die_eblks + i].nr_erases;
		if (nr != ftl->blocks.die[die].nr_erases)
			return "A die's count of erases is wrong.";
		nr_all += nr;
	}
	return nr_all == ftl->blocks.nr_erases ? NULL : "The count of erases is wrong.";
}

static const char *check_held_unit(const struct ftl *ftl, const struct ftl_unit *unit,
				   u32 nr_owned)
{
	if (unit->nr_filled != ftl->geo.unit_pages)
		return "A held unit is not full.";
	if (!nr_owned || nr_owned != unit->nr_valid)
		return "A held unit's count of pages is wrong.";
	return unit->replaces ? "A held unit replaces a flash unit." : NULL;
}

/* Only pages of the host are fresh, and the die knows the units that have such pages. */
static const char *check_fresh(const struct ftl *ftl, const struct ftl_unit *unit)
{
	const struct list_head *fresh = &ftl->units.die[from_die(unit->die)].fresh;
	const struct ftl_unit *listed;

	for (u32 slot = 0; slot < 64; slot++) {
		if (!(unit->fresh & BIT_ULL(slot)))
			continue;
		if (unit->kind == FTL_UNIT_FREE || ftl_unit_is_gc(unit) ||
		    slot >= ftl->geo.unit_pages ||
		    ftl_l2p_owner(&ftl->map, ftl_unit_ppn(&ftl->units, unit, slot)) == LPN_NONE)
			return "A slot without a page of the host is fresh.";
	}
	list_for_each_entry(listed, fresh, fresh_link) {
		if (listed == unit)
			return unit->fresh ? NULL :
				"A unit without fresh pages is among those with them.";
	}
	return unit->fresh ? "A unit with fresh pages is not among those of its die." : NULL;
}

static const char *check_unit(const struct ftl *ftl, const struct ftl_unit *unit)
{
	u32 first = from_ppn(ftl_unit_ppn(&ftl->units, unit, 0));
	u32 nr_filled = unit->kind == FTL_UNIT_FREE ? 0 : unit->nr_filled;

	if (count_owned(ftl, first + nr_filled, ftl->geo.unit_pages - nr_filled))
		return "A page is in a slot of an open unit that is not in use.";
	if (unit->kind == FTL_UNIT_FREE)
		return NULL;
	if (unit->kind == FTL_UNIT_HELD)
		return check_held_unit(ftl, unit, count_owned(ftl, first, nr_filled));
	if (!nr_filled || nr_filled >= ftl->geo.unit_pages)
		return "An open unit is empty or full.";
	if (count_owned(ftl, first, nr_filled) != unit->nr_valid)
		return "An open unit's count of pages is wrong.";
	if (ftl_l2p_owner(&ftl->map, to_ppn(first + nr_filled - 1)) == LPN_NONE)
		return "An open unit ends with a hole.";
	if (unit->handle && unit->kind != FTL_UNIT_PLAIN)
		return "A unit that is no plain one is of a placement handle.";
	if (unit->replaces && unit->kind != FTL_UNIT_RUN)
		return "A unit that is not a run replaces a flash unit.";
	return NULL;
}

/* Who can be found by the page that it waits for, and goes round with others, is a run. */
static const char *check_lanes(const struct ftl_units *units, const struct ftl_unit *unit)
{
	const struct ftl_unit *next = list_next_entry(unit, lanes);

	if (unit->kind != FTL_UNIT_RUN)
		return unit->awaits || !list_empty(&unit->lanes) ?
			"A unit that is not a run is filled in turn." : NULL;
	if (unit->awaits && ftl_units_awaiting(units, to_lpn(unit->awaits - 1)) != unit)
		return "A run is not found by the page that it waits for.";
	return next->kind == FTL_UNIT_RUN && list_prev_entry(next, lanes) == unit ? NULL :
		"The ring of the units that a run fills in turn is broken.";
}

static bool is_the_one(const struct ftl_units *units, const struct ftl_unit *unit)
{
	const struct ftl_unit_die *die = &units->die[from_die(unit->die)];

	switch (unit->kind) {
	case FTL_UNIT_PLAIN:
		return units->plain[unit->handle] == unit;
	case FTL_UNIT_MIXED:
		return die->mixed == unit;
	case FTL_UNIT_GC:
		return die->gc == unit;
	case FTL_UNIT_ROW:
		return false;
	default:
		return true;
	}
}

static bool is_on(const struct ftl_unit *unit, enum ftl_unit_kind kind, u32 die)
{
	return !unit || (unit->kind == kind && from_die(unit->die) == die);
}

/* What is known as the one of its kind is open, and of that kind. */
static const char *check_only_units(const struct ftl *ftl)
{
	const struct ftl_units *units = &ftl->units;
	bool is_right = !units->row;

	for (u32 i = 0; i < ftl->geo.nr_handles; i++) {
		const struct ftl_unit *plain = units->plain[i];

		is_right &= !plain || (plain->kind == FTL_UNIT_PLAIN && plain->handle == i);
	}
	for (u32 i = 0; i < ftl->geo.nr_dies; i++)
		is_right &= is_on(units->die[i].mixed, FTL_UNIT_MIXED, i) &&
			is_on(units->die[i].gc, FTL_UNIT_GC, i);
	return is_right ? NULL : "What is known as the open unit of a kind is another one.";
}

static const char *check_units(const struct ftl *ftl)
{
	const struct ftl_units *units = &ftl->units;
	u32 nr_runs = 0, nr_host = 0;

	for (u32 i = 0; i < ftl->geo.nr_open; i++) {
		const struct ftl_unit *unit = &units->unit[i];
		const char *reason = check_unit(ftl, unit) ?: check_fresh(ftl, unit) ?:
				     check_lanes(units, unit);

		if (reason)
			return reason;
		nr_runs += unit->kind == FTL_UNIT_RUN;
		nr_host += unit->kind != FTL_UNIT_FREE && !ftl_unit_is_gc(unit);
		if (!is_the_one(units, unit))
			return "An open unit is not known as the one of its kind.";
		if (unit->replaces && ftl_units_replacing(units, unit->replaces - 1) != unit)
			return "A run is not found by the flash unit that it replaces.";
	}
	if (!list_empty(&units->full))
		return "A full unit was not programmed.";
	if (nr_runs != units->nr_runs || nr_runs > units->max_runs)
		return "The number of open runs is wrong.";
	return nr_host == units->nr_host ? NULL : "The number of open units is wrong.";
}

static const char *check_held(const struct ftl_units *units)
{
	const struct ftl_unit *unit;
	u32 nr_held = 0, nr = 0;
	u64 due_ns = 0;

	list_for_each_entry(unit, &units->held, link) {
		if (unit->kind != FTL_UNIT_HELD || ++nr > units->nr_held)
			return "The list of held units holds something else.";
		if (unit->due_ns < due_ns)
			return "The held units are not in the order of their times.";
		due_ns = unit->due_ns;
	}
	for (u32 i = 0; i < units->geo->nr_open; i++)
		nr_held += units->unit[i].kind == FTL_UNIT_HELD;
	return nr == nr_held && nr == units->nr_held && nr <= units->max_held ? NULL :
		"The number of held units is wrong.";
}

static const char *check_unit_lists(const struct ftl_units *units)
{
	const struct ftl_unit *unit;
	u32 nr_runs = 0, nr_free = 0, nr_unused = 0;

	list_for_each_entry(unit, &units->runs, link) {
		if (unit->kind != FTL_UNIT_RUN || ++nr_runs > units->nr_runs)
			return "The list of runs holds something else.";
	}
	list_for_each_entry(unit, &units->free, link) {
		if (unit->kind != FTL_UNIT_FREE || ++nr_free > units->geo->nr_open)
			return "The list of free units holds something else.";
	}
	for (u32 i = 0; i < units->geo->nr_open; i++)
		nr_unused += units->unit[i].kind == FTL_UNIT_FREE;
	return nr_runs == units->nr_runs && nr_free == nr_unused ? NULL :
		"A list of units has lost one.";
}

static const char *check_die_claims(const struct ftl *ftl, u32 die_nr)
{
	const struct ftl_units *units = &ftl->units;
	u32 die_pages = ftl->geo.die_pages;
	u32 nr_valid = count_owned(ftl, die_nr * die_pages, die_pages);
	u32 nr_empty = 0;

	for (u32 i = 0; i < ftl->geo.nr_open; i++) {
		const struct ftl_unit *unit = &units->unit[i];

		if (unit->kind == FTL_UNIT_FREE || from_die(unit->die) != die_nr)
			continue;
		nr_valid += unit->nr_valid;
		if (!ftl_unit_is_gc(unit))
			nr_empty += ftl->geo.unit_pages - unit->nr_valid;
	}
	if (nr_valid != units->die[die_nr].nr_valid)
		return "A die's count of valid pages is wrong.";
	if (nr_valid + nr_empty != units->die[die_nr].nr_claimed)
		return "A die's count of claimed pages is wrong.";
	return nr_valid + nr_empty <= ftl->geo.die_most_pages ? NULL :
		"A die has taken more pages than collection can bear.";
}

static const char *check_die(const struct ftl *ftl, u32 die)
{
	return ftl_check_eblks(ftl, to_die(die)) ?: check_die_claims(ftl, die);
}

static const char *check_sharer(const struct ftl *ftl, const struct ftl_sharer *sharer)
{
	const struct ftl_share *share = &ftl->share;
	lpn_t lpn = to_lpn(sharer->lpn - 1);
	ppn_t ppn = to_ppn(sharer->place);
	const struct ftl_sharer *other;

	if (ftl_share_find(share, lpn) != sharer)
		return "A sharer is not found by its page.";
	if (ftl_l2p_get(&ftl->map, lpn) != ppn)
		return "A sharer's page is elsewhere.";
	for (other = ftl_share_at(share, ppn, NULL); other && other != sharer;)
		other = ftl_share_at(share, ppn, other);
	if (!other)
		return "A sharer is not found by its place.";
	if (!ftl->params.oob && ftl_l2p_owner(&ftl->map, ppn) == lpn)
		return "A page is a sharer of a place that is its own.";
	return NULL;
}

/* The log has an entry that gives the sharer the data that its place carries. */
static const char *check_sharer_entry(const struct ftl *ftl, const struct ftl_sharer *sharer)
{
	const struct ftl_oob *oob = &ftl->oob;
	struct ftl_defrag_entry entry;
	ppn_t ppn = to_ppn(sharer->place);

	if (!sharer->log_page || sharer->log_page > ftl_defrag_nr_pages(oob))
		return "A sharer has no entry in the defrag log.";
	entry = ftl_defrag_page_of(oob, sharer->log_page - 1);
	if (entry.lpn + 1 != sharer->lpn)
		return "A sharer's entry in the defrag log is another page's.";
	if (entry.data != ftl_oob_seq(oob, ppn) || to_lpn(entry.home) != ftl_oob_owner(oob, ppn))
		return "A sharer's entry in the defrag log is of other data.";
	return entry.seq <= oob->head->seq ? NULL :
		"An entry in the defrag log has a number that was not given yet.";
}

static const char *check_share(const struct ftl *ftl)
{
	const struct ftl_share *share = &ftl->share;
	u64 nr_owned = count_owned(ftl, 0, ftl->geo.nr_places);
	const char *reason = ftl->params.oob ? ftl_defrag_check(&ftl->oob) : NULL;
	u32 nr = 0;

	for (u32 i = 0; !reason && i < share->max; i++) {
		if (!share->sharer[i].lpn)
			continue;
		nr++;
		reason = check_sharer(ftl, &share->sharer[i]);
		if (!reason && ftl->params.oob)
			reason = check_sharer_entry(ftl, &share->sharer[i]);
	}
	if (reason)
		return reason;
	if (nr != share->nr)
		return "The number of sharers is wrong.";
	return nr_owned + share->nr_extra == ftl->units.nr_mapped ? NULL :
		"The number of pages that share a place is wrong.";
}

/* Does the place say that it has data of the page? What the log says is checked already. */
static bool carries(const struct ftl *ftl, lpn_t lpn, ppn_t ppn)
{
	if (ftl_l2p_has_sharers(&ftl->map) && ftl_share_find(&ftl->share, lpn))
		return true;
	return ftl_oob_owner(&ftl->oob, ppn) == lpn;
}

/* Of all data of a page that could be found, the one that is mapped is the newest. */
static const char *check_oob_place(const struct ftl *ftl, u32 place)
{
	lpn_t lpn = ftl_oob_owner(&ftl->oob, to_ppn(place));
	ppn_t mapped;

	if (lpn == LPN_NONE)
		return NULL;
	mapped = ftl_l2p_get(&ftl->map, lpn);
	if (mapped == PPN_NONE || from_ppn(mapped) == place)
		return NULL;
	if (ftl_ppn_is_buffered(&ftl->geo, to_ppn(place)) &&
	    ftl_l2p_owner(&ftl->map, to_ppn(place)) == LPN_NONE)
		return "A slot of an open unit holds data that is not wanted any more.";
	return ftl_oob_seq(&ftl->oob, to_ppn(place)) <= ftl_l2p_seq(&ftl->map, lpn) ? NULL :
		"A page is mapped to data that is not its newest.";
}

static const char *check_oob_eblk(const struct ftl *ftl, u32 eblk)
{
	u32 first = eblk * ftl->geo.eblk_pages;
	u32 used = first_unused_unit(ftl, eblk) * ftl->geo.unit_pages;
	const char *reason = NULL;

	for (u32 place = first; !reason && place < first + used; place++)
		reason = check_oob_place(ftl, place);
	return reason;
}

/*
 * Does the log say where a slot's data is? Collection has given it the number of its
 * entry, and what is on NAND still has another page's.
 */
static bool is_logged(const struct ftl *ftl, ppn_t slot)
{
	const struct ftl_oob *oob = &ftl->oob;

	for (u32 i = 0; oob->max_defrag && i < oob->defrag->nr; i++) {
		const struct ftl_defrag_entry *entry = &oob->defrag_entry[i];
		u64 at = ftl_oob_seq(oob, slot) - entry->seq;

		if (at < entry->nr && oob->defrag_page[entry->first + at].place < U32_MAX)
			return ftl_defrag_is_carried(oob, entry->first + at);
	}
	return false;
}

/* Is the data of a slot of an open unit in the place that is kept for it? */
static bool is_kept(const struct ftl *ftl, ppn_t slot)
{
	const struct ftl_oob *oob = &ftl->oob;
	u32 prev = oob->prev[ftl_oob_slot(oob, slot)];

	return prev && ftl_oob_owner(oob, to_ppn(prev - 1)) == ftl_oob_owner(oob, slot) &&
		ftl_oob_seq(oob, to_ppn(prev - 1)) == ftl_oob_seq(oob, slot);
}

/* What no flush will program again has to be on NAND. */
static const char *check_durable(const struct ftl *ftl, const struct ftl_unit *unit)
{
	if (unit->kind == FTL_UNIT_FREE || unit->is_new || !ftl->oob.is_volatile)
		return NULL;
	for (u32 slot = 0; slot < unit->nr_filled; slot++) {
		ppn_t ppn = ftl_unit_ppn(&ftl->units, unit, slot);

		if (ftl_l2p_owner(&ftl->map, ppn) == LPN_NONE || unit->fresh & BIT_ULL(slot))
			continue;
		if (!is_kept(ftl, ppn) && !is_logged(ftl, ppn))
			return "A page in an open unit is neither fresh nor on NAND.";
	}
	return NULL;
}

static const char *check_oob(const struct ftl *ftl)
{
	const char *reason = NULL;

	if (!ftl->params.oob)
		return NULL;
	for (u64 lpn = 0; lpn < ftl->map.nr_lpns; lpn++) {
		ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn));

		if (ppn != PPN_NONE && !carries(ftl, to_lpn(lpn), ppn))
			return "A page's place carries the number of another page.";
		if (ppn != PPN_NONE && ftl_oob_seq(&ftl->oob, ppn) > ftl->oob.head->seq)
			return "Data has a number that was not given yet.";
	}
	for (u32 eblk = 0; !reason && eblk < ftl->geo.nr_eblks; eblk++)
		reason = check_oob_eblk(ftl, eblk);
	for (u32 place = ftl->geo.nr_pages; !reason && place < ftl->geo.nr_places; place++)
		reason = check_oob_place(ftl, place);
	for (u32 i = 0; !reason && i < ftl->geo.nr_open; i++)
		reason = check_durable(ftl, &ftl->units.unit[i]);
	return reason;
}

const char *ftl_check(const struct ftl *ftl)
{
	const char *reason = check_lpns(ftl);

	for (u64 i = 0; !reason && i < ftl_nr_regions(ftl->map.nr_lpns); i++)
		reason = check_region(ftl, i);
	if (!reason)
		reason = check_places(ftl);
	if (!reason)
		reason = check_share(ftl);
	if (!reason)
		reason = check_units(ftl) ?: check_only_units(ftl);
	if (!reason)
		reason = check_unit_lists(&ftl->units);
	if (!reason)
		reason = check_held(&ftl->units);
	if (!reason)
		reason = check_erases(ftl);
	if (!reason && ftl->params.stripe_lead)
		reason = ftl_stripes_check(&ftl->stripes);
	if (!reason && ftl->params.map_cache_pages)
		reason = ftl_map_cache_check(&ftl->map_cache);
	if (!reason && ftl->params.in_place)
		reason = ftl_in_place_check(ftl);
	for (u32 eblk = 0; !reason && eblk < ftl->geo.nr_eblks; eblk++)
		reason = check_eblk(ftl, eblk);
	for (u32 die = 0; !reason && die < ftl->geo.nr_dies; die++)
		reason = check_die(ftl, die);
	return reason ?: check_oob(ftl);
}
