// SPDX-License-Identifier: GPL-2.0-only
/* The rules are in place.h; the numbers here are theirs. */
#include "l2p-change.h"
#include "place.h"
#include "wear.h"

void ftl_place_init(struct ftl_place *place, struct ftl_units *units, die_t seed_die)
{
	place->units = units;
	for (u32 i = 0; i < FTL_MAX_HANDLES; i++)
		place->cursor[i] = seed_die;
	place->begin = seed_die;
}

static bool names_die(enum ftl_hint hint)
{
	return hint == FTL_HINT_DIE || hint == FTL_HINT_ALL_DIE;
}

static bool pred_is_usable(const struct ftl_l2p *map, const struct ftl_request *rq)
{
	u64 first = from_lpn(rq->first);
	u64 pred = from_lpn(rq->pred);

	if (pred >= map->nr_lpns || (pred >= first && pred - first < rq->nr_pages))
		return false;
	return ftl_l2p_get(map, rq->pred) != PPN_NONE;
}

void ftl_place_begin(const struct ftl_place *place, struct ftl_placing *placing,
		     const struct ftl_request *rq)
{
	memset(placing, 0, sizeof(*placing));
	placing->hint = rq->hint;
	placing->pred = LPN_NONE;
	placing->die = DIE_NONE;
	placing->handle = rq->handle < place->units->geo->nr_handles ? rq->handle : 0;
	if (names_die(rq->hint) && from_die(rq->die) < place->units->geo->nr_dies)
		placing->die = rq->die;
	else if (names_die(rq->hint))
		placing->hint = FTL_HINT_NONE;
	if (rq->hint != FTL_HINT_APPEND)
		return;
	if (pred_is_usable(place->units->map, rq))
		placing->pred = rq->pred;
	else
		placing->hint = FTL_HINT_NONE;
}

void ftl_place_begin_run(struct ftl_placing *placing)
{
	memset(placing, 0, sizeof(*placing));
	placing->hint = FTL_HINT_BEGIN;
	placing->pred = LPN_NONE;
	placing->die = DIE_NONE;
}

/* Rule 5. */
static die_t die_with_room(const struct ftl_place *place, die_t wanted)
{
	die_t die = wanted;

	while (!ftl_units_die_has_room(place->units, die)) {
		die = ftl_next_die(place->units->geo, die);
		if (WARN_ON_ONCE(die == wanted))
			break;
	}
	return die;
}

/* Rule 2. */
static struct ftl_unit *plain_unit(struct ftl_place *place, struct ftl_placing *placing)
{
	struct ftl_units *units = place->units;
	die_t *cursor = &place->cursor[placing->handle];
	die_t die;

	placing->rule = FTL_RULE_PLAIN;
	if (units->plain[placing->handle])
		return units->plain[placing->handle];
	placing->wanted = *cursor;
	die = die_with_room(place, *cursor);
	*cursor = ftl_next_die(units->geo, die);
	placing->opened = true;
	return ftl_units_open_plain(units, die, placing->handle);
}

static void tell_put_out(const struct ftl_place *place)
{
	const struct ftl_units *units = place->units;
	const struct ftl_unit *run = list_first_entry(&units->runs, struct ftl_unit, link);
	const struct ftl_placement placement = {
		.lpn = LPN_NONE,
		.nr_pages = run->nr_valid,
		.rule = FTL_RULE_PUT_OUT,
		.pred = LPN_NONE,
		.pred_at = { .die = DIE_NONE },
		.before = {
			.die = run->die,
			.unit = ftl_flash_unit(units->geo, ftl_unit_ppn(units, run, 0)),
			.nr_filled = run->nr_filled,
		},
		.after = { .die = DIE_NONE },
		.wanted = DIE_NONE,
	};

	place->tell(place->context, &placement);
}

/* Rule 6. */
static void limit_runs(struct ftl_place *place)
{
	struct ftl_units *units = place->units;

	while (place->tell && units->nr_runs > units->max_runs) {
		tell_put_out(place);
		ftl_units_limit_runs(units, units->nr_runs - 1);
	}
	ftl_units_limit_runs(units, units->max_runs);
}

void ftl_place_tell_redirected(const struct ftl_place *place, const struct ftl_unit *unit,
			       die_t from)
{
	const struct ftl_units *units = place->units;
	struct ftl_placement placement = {
		.lpn = LPN_NONE,
		.nr_pages = unit->nr_valid,
		.rule = FTL_RULE_STRIPE,
		.pred = LPN_NONE,
		.pred_at = { .die = DIE_NONE },
		.before = {
			.die = from,
			.unit = ftl_flash_unit(units->geo, ftl_unit_ppn(units, unit, 0)),
			.nr_filled = unit->nr_filled,
		},
		.wanted = from,
	};

	if (!place->tell)
		return;
	placement.after = placement.before;
	placement.after.die = unit->die;
	place->tell(place->context, &placement);
}

/* One run more than may stay is open while a command is placed: it often fills its unit. */
static struct ftl_unit *open_run(struct ftl_place *place, struct ftl_placing *placing,
				 die_t wanted)
{
	struct ftl_units *units = place->units;

	limit_runs(place);
	placing->opened = true;
	placing->wanted = wanted;
	return ftl_units_open(units, die_with_room(place, wanted), FTL_UNIT_RUN);
}

/* The open unit in which @ppn is the last page and another one can follow, or NULL. */
static struct ftl_unit *unit_ending_with(const struct ftl_units *units, ppn_t ppn)
{
	struct ftl_unit *unit;

	if (!ftl_ppn_is_buffered(units->geo, ppn))
		return NULL;
	unit = ftl_units_of(units, ppn);
	if (ftl_unit_is_gc(unit) || !ftl_unit_space(units, unit) ||
	    ftl_units_slot(units, ppn) + 1 != unit->nr_filled)
		return NULL;
	return unit;
}

/* Rule 3c. */
static struct ftl_unit *open_lane(struct ftl_place *place, struct ftl_placing *placing,
				  die_t wanted)
{
	struct ftl_unit *unit = open_run(place, placing, wanted);
	struct ftl_unit *lane = ftl_units_awaiting(place->units, placing->pred);

	if (lane)
		list_add_tail(&unit->lanes, &lane->lanes);
	return unit;
}

/* Rule 3. */
static struct ftl_unit *follow(struct ftl_place *place, struct ftl_placing *placing, lpn_t lpn,
			       u32 nr_pages, ppn_t pred)
{
	const struct ftl_units *units = place->units;
	struct ftl_unit *unit = unit_ending_with(units, pred);
	struct ftl_unit *lane = ftl_units_awaiting(units, placing->pred);
	bool is_apart = place->senses_again && placing->hint == FTL_HINT_APPEND &&
			from_lpn(lpn) != from_lpn(placing->pred) + 1;
	die_t wanted = ftl_next_die(units->geo, ftl_units_die_of(units, pred));

	placing->rule = FTL_RULE_JOINS;
	if (is_apart || !unit) {
		placing->rule = lane ? FTL_RULE_LANE : FTL_RULE_NEXT_DIE;
		unit = lane && lane->die == wanted ? lane : NULL;
	}
	if (unit && is_apart && nr_pages > ftl_unit_space(units, unit)) {
		ftl_units_leave_lanes(place->units, unit);
		unit = NULL;
	}
	if (!unit)
		unit = open_lane(place, placing, wanted);
	placing->off_die = placing->opened && unit->die != wanted;
	placing->obeyed = !placing->off_die;
	return unit;
}

/* The open unit behind the page that was last sent to the die, or NULL. */
static struct ftl_unit *sent_unit(const struct ftl_units *units, die_t die)
{
	u64 last = units->die[from_die(die)].last_sent;
	struct ftl_unit *unit;
	ppn_t ppn;

	if (!last)
		return NULL;
	ppn = ftl_l2p_get(units->map, to_lpn(last - 1));
	if (ppn == PPN_NONE)
		return NULL;
	unit = unit_ending_with(units, ppn);
	return unit && unit->die == die ? unit : NULL;
}

/* Rule 4, DIE and ALL_DIE. */
static struct ftl_unit *send(struct ftl_place *place, struct ftl_placing *placing)
{
	struct ftl_unit *unit = sent_unit(place->units, placing->die);

	placing->rule = FTL_RULE_DIE;
	if (!unit)
		unit = open_run(place, placing, placing->die);
	placing->obeyed = unit->die == placing->die;
	placing->off_die = unit->die != placing->die;
	return unit;
}

/* Rule 3d. A full die is passed over, as with a plain unit. */
static struct ftl_unit *begin_file(struct ftl_place *place, struct ftl_placing *placing)
{
	struct ftl_unit *unit = open_run(place, placing, place->begin);

	place->begin = ftl_next_die(place->units->geo, unit->die);
	placing->rule = FTL_RULE_BEGINS;
	placing->obeyed = true;
	return unit;
}

/* Rule 4. */
static struct ftl_unit *replace(struct ftl_place *place, struct ftl_placing *placing,
				ppn_t present)
{
	struct ftl_units *units = place->units;
	u32 flash_unit = ftl_flash_unit(units->geo, present);
	die_t wanted = ftl_flash_unit_die(units->geo, flash_unit);
	struct ftl_unit *unit = ftl_units_replacing(units, flash_unit);
	bool is_worn = ftl_wear_is_worn(units->blocks, wanted, place->wear_permille);

	placing->rule = FTL_RULE_OVERWRITE;
	if (!unit) {
		unit = open_run(place, placing, is_worn ? ftl_wear_least(units, wanted) : wanted);
		ftl_units_replace(units, unit, flash_unit);
		placing->nr_stuck += is_worn &&
			ftl_wear_is_worn(units->blocks, unit->die, place->wear_permille);
	}
	placing->obeyed = unit->die == wanted;
	placing->levelled = unit->die != wanted && is_worn;
	placing->off_die = unit->die != wanted && !is_worn;
	return unit;
}

static struct ftl_unit *choose(struct ftl_place *place, struct ftl_placing *placing, lpn_t lpn,
			       u32 nr_pages, ppn_t present)
{
	ppn_t pred = PPN_NONE;

	/* A page that a list of pages names twice in a row has just given up its place. */
	if (placing->pred != LPN_NONE)
		pred = ftl_l2p_get(place->units->map, placing->pred);
	if (placing->hint == FTL_HINT_OVERWRITE && present != PPN_NONE)
		return replace(place, placing, present);
	if (names_die(placing->hint))
		return send(place, placing);
	if (placing->hint != FTL_HINT_NONE && pred != PPN_NONE)
		return follow(place, placing, lpn, nr_pages, pred);
	if (placing->hint == FTL_HINT_BEGIN)
		return begin_file(place, placing);
	return plain_unit(place, placing);
}

/* Is @present the place where rule 3 would put the page that follows @pred? */
static bool follows(const struct ftl_units *units, ppn_t pred, ppn_t present)
{
	const struct ftl_unit *unit = ftl_units_of(units, present);
	u32 slot = ftl_units_slot(units, present);

	if (ftl_ppn_is_buffered(units->geo, pred) && ftl_units_of(units, pred) == unit)
		return ftl_units_slot(units, pred) + 1 == slot;
	if (ftl_ppn_is_buffered(units->geo, pred) &&
	    list_next_entry(ftl_units_of(units, pred), lanes) == unit)
		return true;
	return !slot && unit->die == ftl_next_die(units->geo, ftl_units_die_of(units, pred));
}

/* Rule 1, and the exception from it in rule 3. */
static bool stays_in_slot(const struct ftl_units *units, const struct ftl_placing *placing,
			  ppn_t present)
{
	if (present == PPN_NONE || !ftl_ppn_is_buffered(units->geo, present) ||
	    ftl_l2p_is_shared(units->map, present))
		return false;
	if (names_die(placing->hint))
		return ftl_units_of(units, present)->die == placing->die;
	if (placing->hint != FTL_HINT_APPEND && placing->hint != FTL_HINT_BEGIN)
		return true;
	return placing->pred != LPN_NONE &&
		follows(units, ftl_l2p_get(units->map, placing->pred), present);
}

/* What is sent to the die next goes behind the last page that came to be there. */
static void remember_sent(struct ftl_units *units, const struct ftl_placing *placing)
{
	if (placing->die == DIE_NONE ||
	    ftl_units_die_of(units, ftl_l2p_get(units->map, placing->pred)) != placing->die)
		return;
	units->die[from_die(placing->die)].last_sent = from_lpn(placing->pred) + 1;
}

static u32 count_placed(struct ftl_units *units, struct ftl_placing *placing, lpn_t lpn,
			u32 nr_pages)
{
	placing->pred = to_lpn(from_lpn(lpn) + nr_pages - 1);
	if (placing->hint == FTL_HINT_DIE)
		placing->hint = FTL_HINT_APPEND;
	remember_sent(units, placing);
	if (placing->obeyed)
		placing->nr_obeyed += nr_pages;
	if (placing->off_die)
		placing->nr_off_die += nr_pages;
	if (placing->levelled)
		placing->nr_levelled += nr_pages;
	return nr_pages;
}

/* Rule 3c: the unit in which the run goes on behind pages that @unit gets, or NULL. */
static struct ftl_unit *lane_after(const struct ftl_place *place, const struct ftl_placing *placing,
				   struct ftl_unit *unit, u32 nr_pages)
{
	const struct ftl_units *units = place->units;
	struct ftl_unit *lane = NULL;

	if (unit->kind != FTL_UNIT_RUN || placing->hint == FTL_HINT_OVERWRITE ||
	    !place->senses_again)
		return NULL;
	if (placing->pred != LPN_NONE)
		lane = ftl_units_awaiting(units, placing->pred);
	if (lane && lane != unit)
		return lane;
	if (!list_empty(&unit->lanes))
		return list_next_entry(unit, lanes);
	return nr_pages < ftl_unit_space(units, unit) ? unit : NULL;
}

static u32 put_pages(struct ftl_place *place, struct ftl_placing *placing, lpn_t lpn,
		     u32 nr_pages)
{
	struct ftl_units *units = place->units;
	ppn_t present = ftl_l2p_get(units->map, lpn);
	struct ftl_unit *unit, *next;
	struct ftl_oob_prev prev = {};

	placing->opened = false;
	placing->wanted = DIE_NONE;
	placing->obeyed = false;
	placing->off_die = false;
	placing->levelled = false;
	if (stays_in_slot(units, placing, present)) {
		ftl_units_renew(units, present);
		placing->rule = FTL_RULE_STAYS;
		placing->obeyed = placing->hint != FTL_HINT_NONE;
		return count_placed(units, placing, lpn, 1);
	}
	if (present != PPN_NONE && ftl_ppn_is_buffered(units->geo, present)) {
		if (units->map->oob)
			prev = ftl_l2p_prev(units->map, lpn, present);
		ftl_units_unmap(units, lpn);
		present = PPN_NONE;
	}
	unit = choose(place, placing, lpn, nr_pages, present);
	nr_pages = min(nr_pages, ftl_unit_space(units, unit));
	nr_pages = ftl_units_same_place(units, lpn, nr_pages);
	next = lane_after(place, placing, unit, nr_pages);
	ftl_units_touch(units, unit);
	ftl_units_put(units, unit, lpn, nr_pages);
	if (next)
		ftl_units_await(units, next, to_lpn(from_lpn(lpn) + nr_pages - 1));
	if (prev.seq)
		ftl_l2p_set_prev(units->map, lpn, prev);
	return count_placed(units, placing, lpn, nr_pages);
}

static struct ftl_where where_is(const struct ftl_units *units, lpn_t lpn)
{
	struct ftl_where where = { .die = DIE_NONE, .unit = U64_MAX };
	ppn_t ppn = lpn == LPN_NONE ? PPN_NONE : ftl_l2p_get(units->map, lpn);

	if (ppn == PPN_NONE)
		return where;
	where.die = ftl_units_die_of(units, ppn);
	where.unit = ftl_flash_unit(units->geo, ppn);
	where.slot = (u32)from_ppn(ppn) % units->geo->unit_pages;
	if (ftl_ppn_is_buffered(units->geo, ppn))
		where.nr_filled = ftl_units_of(units, ppn)->nr_filled;
	return where;
}

static u32 place_and_tell(struct ftl_place *place, struct ftl_placing *placing, lpn_t lpn,
			  u32 nr_pages)
{
	struct ftl_placement placement = {
		.lpn = lpn,
		.hint = placing->hint,
		.pred = placing->pred,
		.pred_at = where_is(place->units, placing->pred),
		.before = where_is(place->units, lpn),
	};

	placement.nr_pages = put_pages(place, placing, lpn, nr_pages);
	placement.rule = placing->rule;
	placement.after = where_is(place->units, lpn);
	placement.wanted = placing->wanted;
	placement.is_levelled = placing->levelled;
	place->tell(place->context, &placement);
	return placement.nr_pages;
}

u32 ftl_place_pages(struct ftl_place *place, struct ftl_placing *placing, lpn_t lpn,
		    u32 nr_pages)
{
	if (place->tell)
		return place_and_tell(place, placing, lpn, nr_pages);
	return put_pages(place, placing, lpn, nr_pages);
}

const char *ftl_rule_name(enum ftl_rule rule)
{
	static const char * const names[FTL_NR_RULES] = {
		[FTL_RULE_STAYS] = "1",
		[FTL_RULE_PLAIN] = "2",
		[FTL_RULE_JOINS] = "3a",
		[FTL_RULE_NEXT_DIE] = "3b",
		[FTL_RULE_LANE] = "3c",
		[FTL_RULE_BEGINS] = "3d",
		[FTL_RULE_OVERWRITE] = "4",
		[FTL_RULE_DIE] = "4 DIE",
		[FTL_RULE_PUT_OUT] = "6",
		[FTL_RULE_STRIPE] = "7",
	};

	return names[rule];
}

void ftl_place_end(struct ftl_place *place)
{
	limit_runs(place);
}
