// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open units: their slots, their lists, and the counts that go with them. Which unit a page goes
 * to is decided in place.c; when a unit is programmed, in program.c and by flushes.
 *
 * While the drive is on, the valid and claimed pages of a die are counted here and nowhere else,
 * as placement and collection rest on them: a die takes a unit only if it has room for all of it
 * (rule 5 of place.h), and that it never takes more is what the proof in gc.h begins with.
 */
#include "l2p-change.h"
#include "open-unit.h"

static u32 hash_bits_for(u32 nr_units)
{
	return max_t(u32, order_base_2(nr_units), 4);
}

size_t ftl_units_bytes(const struct ftl_params *params)
{
	size_t nr_dies = (size_t)params->nr_channels * params->dies_per_channel;
	size_t nr_open = ftl_geometry_open_units(params);

	return size_add(size_add(array_size(nr_open, sizeof(struct ftl_unit)),
				 array_size(nr_dies, sizeof(struct ftl_unit_die))),
			2 * sizeof(struct hlist_head) << hash_bits_for(nr_open));
}

void ftl_units_init(struct ftl_units *units, const struct ftl_params *params, void *zeroed)
{
	const struct ftl_geometry *geo = units->geo;

	units->unit = zeroed;
	units->die = (struct ftl_unit_die *)(units->unit + geo->nr_open);
	units->replacing = (struct hlist_head *)(units->die + geo->nr_dies);
	units->hash_bits = hash_bits_for(geo->nr_open);
	units->awaiting = units->replacing + BIT(units->hash_bits);
	units->max_runs = params->run_units;
	units->max_held = ftl_geometry_held_units(params);
	INIT_LIST_HEAD(&units->free);
	INIT_LIST_HEAD(&units->runs);
	INIT_LIST_HEAD(&units->full);
	INIT_LIST_HEAD(&units->held);
	for (u32 i = 0; i < geo->nr_dies; i++)
		INIT_LIST_HEAD(&units->die[i].fresh);
	for (u32 i = 0; i < geo->nr_open; i++) {
		list_add_tail(&units->unit[i].link, &units->free);
		INIT_LIST_HEAD(&units->unit[i].fresh_link);
		INIT_LIST_HEAD(&units->unit[i].lanes);
	}
}

static struct hlist_head *awaiting_bucket(const struct ftl_units *units, u64 awaits)
{
	return &units->awaiting[hash_32((u32)awaits, units->hash_bits)];
}

static void stop_awaiting(struct ftl_unit *unit)
{
	unit->awaits = 0;
	hlist_del_init(&unit->same_await);
}

struct ftl_unit *ftl_units_awaiting(const struct ftl_units *units, lpn_t last)
{
	u64 awaits = from_lpn(last) + 1;
	struct ftl_unit *unit;

	hlist_for_each_entry(unit, awaiting_bucket(units, awaits), same_await) {
		if (unit->awaits == awaits)
			return unit;
	}
	return NULL;
}

void ftl_units_await(struct ftl_units *units, struct ftl_unit *unit, lpn_t last)
{
	struct ftl_unit *other = ftl_units_awaiting(units, last);

	if (other == unit)
		return;
	if (other)
		stop_awaiting(other);
	stop_awaiting(unit);
	unit->awaits = from_lpn(last) + 1;
	hlist_add_head(&unit->same_await, awaiting_bucket(units, unit->awaits));
}

/* A unit that leaves its ring lets the next one wait instead. */
void ftl_units_leave_lanes(struct ftl_units *units, struct ftl_unit *unit)
{
	u64 awaits = unit->awaits;

	stop_awaiting(unit);
	if (awaits && !list_empty(&unit->lanes))
		ftl_units_await(units, list_next_entry(unit, lanes), to_lpn(awaits - 1));
	list_del_init(&unit->lanes);
}

/* Where the units keep the one unit of a kind, or NULL for kinds with more than one. */
static struct ftl_unit **only_unit(struct ftl_units *units, die_t die, u32 kind, u32 handle)
{
	switch (kind) {
	case FTL_UNIT_PLAIN:
		return &units->plain[handle];
	case FTL_UNIT_MIXED:
		return &units->die[from_die(die)].mixed;
	case FTL_UNIT_GC:
		return &units->die[from_die(die)].gc;
	case FTL_UNIT_ROW:
		return &units->row;
	default:
		return NULL;
	}
}

static void set_kind(struct ftl_units *units, struct ftl_unit *unit, enum ftl_unit_kind kind)
{
	struct ftl_unit **only = only_unit(units, unit->die, kind, unit->handle);

	unit->kind = kind;
	if (only) {
		*only = unit;
		list_del_init(&unit->link);
	} else {
		units->nr_runs++;
		list_move_tail(&unit->link, &units->runs);
	}
}

/* The unit is no longer what its kind says; it is in no list. */
static void unset_kind(struct ftl_units *units, struct ftl_unit *unit)
{
	struct ftl_unit **only = only_unit(units, unit->die, unit->kind, unit->handle);

	if (only)
		*only = NULL;
	else if (unit->kind == FTL_UNIT_HELD)
		units->nr_held--;
	else
		units->nr_runs--;
	hlist_del_init(&unit->same_hash);
	unit->replaces = 0;
	ftl_units_leave_lanes(units, unit);
	list_del_init(&unit->link);
}

static struct ftl_unit *open_for(struct ftl_units *units, die_t die, enum ftl_unit_kind kind,
				 u32 handle)
{
	struct ftl_unit *unit = list_first_entry(&units->free, struct ftl_unit, link);

	unit->die = die;
	unit->handle = handle;
	unit->nr_filled = 0;
	unit->nr_valid = 0;
	unit->is_new = false;
	set_kind(units, unit, kind);
	if (!ftl_unit_is_gc(unit)) {
		units->nr_host++;
		units->die[from_die(die)].nr_claimed += units->geo->unit_pages;
	}
	return unit;
}

struct ftl_unit *ftl_units_open(struct ftl_units *units, die_t die, enum ftl_unit_kind kind)
{
	return open_for(units, die, kind, 0);
}

struct ftl_unit *ftl_units_open_plain(struct ftl_units *units, die_t die, u32 handle)
{
	return open_for(units, die, FTL_UNIT_PLAIN, handle);
}

void ftl_units_set_aside(struct ftl_units *units, struct ftl_unit *unit)
{
	/* What a held unit was before is known. */
	if (unit->kind != FTL_UNIT_HELD)
		unit->keeps_die = unit->kind != FTL_UNIT_PLAIN;
	unset_kind(units, unit);
	list_add_tail(&unit->link, &units->full);
}

void ftl_units_redirect(struct ftl_units *units, struct ftl_unit *unit, die_t die)
{
	struct ftl_unit_die *from = &units->die[from_die(unit->die)];
	struct ftl_unit_die *to = &units->die[from_die(die)];

	from->nr_valid -= unit->nr_valid;
	from->nr_claimed -= units->geo->unit_pages;
	to->nr_valid += unit->nr_valid;
	to->nr_claimed += units->geo->unit_pages;
	unit->die = die;
	if (!list_empty(&unit->fresh_link))
		list_move_tail(&unit->fresh_link, &to->fresh);
}

void ftl_units_hold(struct ftl_units *units, struct ftl_unit *unit, u64 due_ns)
{
	unit->kind = FTL_UNIT_HELD;
	unit->due_ns = due_ns;
	units->nr_held++;
	list_move_tail(&unit->link, &units->held);
}

void ftl_units_release(struct ftl_units *units, struct ftl_unit *unit, u32 nr_programmed)
{
	if (!ftl_unit_is_gc(unit)) {
		units->nr_host--;
		units->die[from_die(unit->die)].nr_claimed -=
			units->geo->unit_pages - nr_programmed;
	}
	unit->kind = FTL_UNIT_FREE;
	unit->known_ns = 0;
	unit->fresh = 0;
	list_del_init(&unit->fresh_link);
	list_move(&unit->link, &units->free);
}

/* Slots of a unit hold pages that are not on NAND. */
static void set_fresh(struct ftl_units *units, struct ftl_unit *unit, u32 slot, u32 nr)
{
	if (ftl_unit_is_gc(unit)) {
		unit->is_new = true;
		return;
	}
	unit->fresh |= GENMASK_ULL(slot + nr - 1, slot);
	if (list_empty(&unit->fresh_link))
		list_add_tail(&unit->fresh_link, &units->die[from_die(unit->die)].fresh);
}

bool ftl_units_settle(struct ftl_units *units, struct ftl_unit *unit, u32 slot)
{
	bool was_fresh = unit->fresh & BIT_ULL(slot);

	unit->fresh &= ~BIT_ULL(slot);
	if (!unit->fresh)
		list_del_init(&unit->fresh_link);
	return was_fresh;
}

void ftl_units_renew(struct ftl_units *units, ppn_t ppn)
{
	struct ftl_unit *unit = ftl_units_of(units, ppn);

	ftl_units_touch(units, unit);
	set_fresh(units, unit, ftl_units_slot(units, ppn), 1);
	ftl_l2p_renew(units->map, ppn);
}

/* Takes the next slots of a unit; a unit that gets full by that is set aside. */
static ppn_t take_slots(struct ftl_units *units, struct ftl_unit *unit, u32 nr)
{
	ppn_t ppn = ftl_unit_ppn(units, unit, unit->nr_filled);

	unit->nr_filled += nr;
	unit->nr_valid += nr;
	if (!ftl_unit_space(units, unit))
		ftl_units_set_aside(units, unit);
	return ppn;
}

/* Pages on NAND, all in one flash unit, are not valid any more; the map is the caller's. */
static void drop_from_nand(struct ftl_units *units, u32 flash_unit, u32 nr_pages)
{
	struct ftl_unit_die *die =
		&units->die[from_die(ftl_flash_unit_die(units->geo, flash_unit))];

	die->nr_valid -= nr_pages;
	die->nr_claimed -= nr_pages;
	ftl_eblks_drop_valid(units->blocks, flash_unit, nr_pages);
}

u32 ftl_units_same_place(const struct ftl_units *units, lpn_t lpn, u32 nr_pages)
{
	const struct ftl_geometry *geo = units->geo;
	ppn_t ppn = ftl_l2p_get(units->map, lpn);
	ppn_t first = ppn;

	if (ppn != PPN_NONE)
		first = ftl_flash_unit_ppn(geo, ftl_flash_unit(geo, ppn));
	return ftl_l2p_run(units->map, lpn, nr_pages, from_ppn(first), geo->unit_pages);
}

void ftl_units_put(struct ftl_units *units, struct ftl_unit *unit, lpn_t lpn, u32 nr_pages)
{
	ppn_t present = ftl_l2p_get(units->map, lpn);
	u32 slot = unit->nr_filled;
	u64 to = from_ppn(take_slots(units, unit, nr_pages));
	u64 nr = from_lpn(lpn);
	u32 nr_dead = 0;

	units->die[from_die(unit->die)].nr_valid += nr_pages;
	set_fresh(units, unit, slot, nr_pages);
	for (u64 end = nr + nr_pages; nr < end; nr++)
		nr_dead += ftl_l2p_put(units->map, to_lpn(nr), to_ppn(to++));
	if (present == PPN_NONE)
		units->nr_mapped += nr_pages;
	else if (nr_dead)
		drop_from_nand(units, ftl_flash_unit(units->geo, present), nr_dead);
}

void ftl_units_move_in(struct ftl_units *units, struct ftl_unit *unit, ppn_t from)
{
	u32 slot = unit->nr_filled;

	ftl_l2p_move(units->map, from, take_slots(units, unit, 1));
	if (ftl_ppn_is_buffered(units->geo, from) &&
	    ftl_units_settle(units, ftl_units_of(units, from), ftl_units_slot(units, from)))
		set_fresh(units, unit, slot, 1);
}

/* Holes at the end of a unit can be filled again; one of holes only is given back. */
static void trim_holes(struct ftl_units *units, struct ftl_unit *unit)
{
	while (unit->nr_filled && unit->kind != FTL_UNIT_HELD &&
	       ftl_l2p_owner(units->map, ftl_unit_ppn(units, unit, unit->nr_filled - 1)) ==
	       LPN_NONE)
		unit->nr_filled--;
	if (unit->nr_valid)
		return;
	unset_kind(units, unit);
	ftl_units_release(units, unit, 0);
}

static void drop_from_buffer(struct ftl_units *units, ppn_t ppn)
{
	struct ftl_unit *unit = ftl_units_of(units, ppn);
	struct ftl_unit_die *die = &units->die[from_die(unit->die)];

	ftl_units_settle(units, unit, ftl_units_slot(units, ppn));
	die->nr_valid--;
	if (ftl_unit_is_gc(unit))
		die->nr_claimed--;
	unit->nr_valid--;
	trim_holes(units, unit);
}

static bool is_set_aside(const struct ftl_units *units, const struct ftl_unit *unit)
{
	const struct ftl_unit *full;

	list_for_each_entry(full, &units->full, link) {
		if (full == unit)
			return true;
	}
	return false;
}

void ftl_units_rescue(struct ftl_units *units, struct ftl_unit *unit, ppn_t from)
{
	struct ftl_unit *source = ftl_units_of(units, from);
	struct ftl_unit_die *die = &units->die[from_die(unit->die)];

	die->nr_valid++;
	die->nr_claimed++;
	units->die[from_die(source->die)].nr_valid--;
	source->nr_valid--;
	unit->is_new = true;
	ftl_units_move_in(units, unit, from);
	if (!is_set_aside(units, source))
		trim_holes(units, source);
}

static bool can_restore(struct ftl_units *units, die_t die, u32 kind, u32 handle)
{
	struct ftl_unit **only = only_unit(units, die, kind, handle);

	if (kind == FTL_UNIT_HELD)
		return units->nr_held < units->max_held;
	if (kind == FTL_UNIT_RUN)
		return units->nr_runs < units->max_runs;
	return only && !*only && kind != FTL_UNIT_ROW;
}

bool ftl_units_restore(struct ftl_units *units, struct ftl_unit *unit, die_t die, u32 kind,
		       u32 handle)
{
	u32 nr_pages = units->geo->unit_pages;

	if (from_die(die) >= units->geo->nr_dies || handle >= units->geo->nr_handles ||
	    !can_restore(units, die, kind, handle))
		return false;
	unit->die = die;
	unit->handle = handle;
	for (u32 slot = 0; slot < nr_pages; slot++) {
		if (ftl_l2p_owner(units->map, ftl_unit_ppn(units, unit, slot)) == LPN_NONE)
			continue;
		unit->nr_filled = slot + 1;
		unit->nr_valid++;
		unit->fresh |= BIT_ULL(slot);
	}
	if (kind == FTL_UNIT_HELD) {
		unit->nr_filled = nr_pages;
		ftl_units_hold(units, unit, 0);
	} else {
		set_kind(units, unit, kind);
	}
	if (kind == FTL_UNIT_GC)
		unit->fresh = 0;
	else
		list_add_tail(&unit->fresh_link, &units->die[from_die(die)].fresh);
	units->nr_mapped += unit->nr_valid;
	units->die[from_die(die)].nr_valid += unit->nr_valid;
	units->die[from_die(die)].nr_claimed += kind == FTL_UNIT_GC ? unit->nr_valid : nr_pages;
	units->nr_host += kind != FTL_UNIT_GC;
	return kind == FTL_UNIT_HELD || ftl_unit_space(units, unit);
}

void ftl_units_unmap(struct ftl_units *units, lpn_t lpn)
{
	ppn_t ppn = ftl_l2p_get(units->map, lpn);

	units->nr_mapped--;
	if (!ftl_l2p_clear(units->map, lpn, ppn))
		return;
	if (ftl_ppn_is_buffered(units->geo, ppn))
		drop_from_buffer(units, ppn);
	else
		drop_from_nand(units, ftl_flash_unit(units->geo, ppn), 1);
}

void ftl_units_move_out(struct ftl_units *units, ppn_t from)
{
	struct ftl_unit *unit = ftl_units_of(units, from);

	/* The page's slot is claimed still, and so is the page. */
	if (!ftl_unit_is_gc(unit))
		units->die[from_die(unit->die)].nr_claimed++;
	unit->nr_valid--;
	trim_holes(units, unit);
}

void ftl_units_touch(struct ftl_units *units, struct ftl_unit *unit)
{
	if (unit->kind == FTL_UNIT_RUN && !list_is_last(&unit->link, &units->runs))
		list_move_tail(&unit->link, &units->runs);
}

static struct hlist_head *bucket(const struct ftl_units *units, u32 flash_unit)
{
	return &units->replacing[hash_32(flash_unit, units->hash_bits)];
}

void ftl_units_replace(struct ftl_units *units, struct ftl_unit *unit, u32 flash_unit)
{
	unit->replaces = flash_unit + 1;
	hlist_add_head(&unit->same_hash, bucket(units, flash_unit));
}

struct ftl_unit *ftl_units_replacing(const struct ftl_units *units, u32 flash_unit)
{
	struct ftl_unit *unit;

	hlist_for_each_entry(unit, bucket(units, flash_unit), same_hash) {
		if (unit->replaces == flash_unit + 1)
			return unit;
	}
	return NULL;
}

void ftl_units_forget_eblk(struct ftl_units *units, u32 eblk)
{
	struct ftl_unit *unit;

	list_for_each_entry(unit, &units->runs, link) {
		if (!unit->replaces ||
		    ftl_flash_unit_eblk(units->geo, unit->replaces - 1) != eblk)
			continue;
		hlist_del_init(&unit->same_hash);
		unit->replaces = 0;
	}
}

/* Closes the gaps that moved pages and holes have left in a unit. */
static void pack_slots(struct ftl_units *units, struct ftl_unit *unit)
{
	u32 nr_filled = unit->nr_filled;

	unit->nr_filled = 0;
	for (u32 slot = 0; slot < nr_filled; slot++) {
		ppn_t from = ftl_unit_ppn(units, unit, slot);

		if (ftl_l2p_owner(units->map, from) == LPN_NONE)
			continue;
		if (slot != unit->nr_filled) {
			ftl_l2p_move(units->map, from,
				     ftl_unit_ppn(units, unit, unit->nr_filled));
			if (ftl_units_settle(units, unit, slot))
				set_fresh(units, unit, unit->nr_filled, 1);
		}
		unit->nr_filled++;
	}
}

/* Pages of the piece that begins in a slot: they follow each other, as their slots do. */
static u32 piece_pages(const struct ftl_units *units, const struct ftl_unit *unit, u32 slot)
{
	lpn_t first = ftl_l2p_owner(units->map, ftl_unit_ppn(units, unit, slot));
	u32 nr = 1;

	while (slot + nr < unit->nr_filled &&
	       from_lpn(ftl_l2p_owner(units->map, ftl_unit_ppn(units, unit, slot + nr))) ==
	       from_lpn(first) + nr)
		nr++;
	return nr;
}

/* Return: bitmap of slots from @slot on that hold @nr pages in whole pieces, or 0. */
static u64 whole_pieces(const struct ftl_units *units, const struct ftl_unit *unit, u32 slot,
			u32 nr)
{
	u64 slots = 0;

	while (nr && slot < unit->nr_filled) {
		u32 length = piece_pages(units, unit, slot);

		if (length <= nr) {
			slots |= GENMASK_ULL(slot + length - 1, slot);
			nr -= length;
		}
		slot += length;
	}
	return nr ? 0 : slots;
}

/* A page goes from one open unit of the host into another one of the same die. */
static void move_over(struct ftl_units *units, struct ftl_unit *from, struct ftl_unit *to, u32 slot)
{
	from->nr_valid--;
	to->known_ns = max(to->known_ns, from->known_ns);
	ftl_units_move_in(units, to, ftl_unit_ppn(units, from, slot));
}

/*
 * Pieces that are cut are sensed twice. So where a run and the MIXED unit are more than a unit
 * together, pieces that fill the run's own come out of the MIXED one. Return: were there such?
 */
static bool fill_run(struct ftl_units *units, struct ftl_unit *run, struct ftl_unit *mixed)
{
	u32 nr = units->geo->unit_pages - run->nr_valid;
	u32 first = 0;
	u64 slots = 0;

	pack_slots(units, mixed);
	if (ftl_unit_space(units, mixed) >= run->nr_valid)
		return false;
	while (!slots && first < mixed->nr_filled) {
		slots = whole_pieces(units, mixed, first, nr);
		first += piece_pages(units, mixed, first);
	}
	if (!slots)
		return false;
	pack_slots(units, run);
	for (u32 slot = 0; slot < mixed->nr_filled; slot++) {
		if (slots & BIT_ULL(slot))
			move_over(units, mixed, run, slot);
	}
	pack_slots(units, mixed);
	return true;
}

static void evict_run(struct ftl_units *units, struct ftl_unit *run)
{
	struct ftl_unit *mixed = units->die[from_die(run->die)].mixed;

	units->nr_evicted++;
	if (mixed && fill_run(units, run, mixed))
		return;
	unset_kind(units, run);
	for (u32 slot = 0; mixed && slot < run->nr_filled; slot++) {
		if (ftl_l2p_owner(units->map, ftl_unit_ppn(units, run, slot)) == LPN_NONE)
			continue;
		move_over(units, run, mixed, slot);
		mixed = units->die[from_die(run->die)].mixed;
	}
	if (!run->nr_valid) {
		ftl_units_release(units, run, 0);
		return;
	}
	pack_slots(units, run);
	set_kind(units, run, FTL_UNIT_MIXED);
}

void ftl_units_limit_runs(struct ftl_units *units, u32 nr_runs)
{
	while (units->nr_runs > nr_runs)
		evict_run(units, list_first_entry(&units->runs, struct ftl_unit, link));
}
