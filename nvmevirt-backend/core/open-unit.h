/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open units: what will be one program on one die, while it is still in the buffer.
 *
 * An open unit belongs to a die but has no place on NAND: it gets one when it is
 * programmed. So the programs of an erase block stay in order however many units are
 * open. Until then the unit's slots are places of their own (l2p.h), and reading them
 * costs no NAND time.
 *
 *	PLAIN  pages that nothing is known about; one for each handle, it goes round the dies
 *	RUN    one run of a file that grows or is overwritten; bounded, oldest use first out
 *	MIXED  pages of runs that were put out, at most one unit a die
 *	GC     pages that collection moves, at most one unit a die
 *	ROW    a whole unit's pages that collection moves; one, never open between commands
 *	HELD   was PLAIN, RUN or MIXED, and is full; bounded, in order of their times
 *
 * Slots are filled from the front. A slot whose page went away is a hole; holes at the
 * end are filled again, and a unit of holes only is given back. A unit that is full
 * moves to the list of full ones, which the caller programs or holds back at once.
 *
 * A unit that is held back is complete and waits for its time. Its pages can be replaced
 * in their slots; a hole in it stays one.
 *
 * A page of the host is fresh until a program has brought its data to NAND. Most do with
 * their unit; of others a flush writes a draft, and they stay in it as well (draft.h).
 *
 * Units that one run fills in turn form a ring, of which one waits for the page that follows
 * the run's last one (rule 3 of place.h).
 *
 * A die is claimed page by page by what is valid on it, and by each of the host's open
 * units for all of its slots, so that a page that joins a unit always has room.
 */
#ifndef FTL_OPEN_UNIT_H
#define FTL_OPEN_UNIT_H

#include "eblk.h"
#include "l2p.h"

enum ftl_unit_kind {
	FTL_UNIT_FREE,
	FTL_UNIT_PLAIN,
	FTL_UNIT_RUN,
	FTL_UNIT_MIXED,
	FTL_UNIT_GC,
	FTL_UNIT_ROW,
	FTL_UNIT_HELD,
};

/**
 * struct ftl_unit - an open unit
 * @link: link in the list of free units, of runs by last use, of full or of held units
 * @same_hash: link to units whose @replaces falls into the same bucket
 * @die: die that it will be programmed on
 * @replaces: flash unit whose pages it gathers, plus one, or 0
 * @lanes: link in the ring of RUN units that the same run fills in turn
 * @same_await: link to units whose @awaits falls into the same bucket
 * @awaits: last page of the run that goes on in this RUN unit, plus one, or 0
 * @nr_filled: number of slots in use, holes included
 * @nr_valid: number of pages in it
 * @kind: enum ftl_unit_kind
 * @handle: placement handle of what is in it; 0 but for PLAIN, or a HELD one that was
 * @due_ns: time at which it is programmed, of a held unit
 * @known_ns: time before which it is not programmed, as it is not known where pages were that
 *	decided that pages go into it
 * @keeps_die: whether a full unit has pages for which a hint has chosen its die
 * @is_new: whether a GC unit holds data that is not on NAND yet
 * @fresh: bitmap of slots with pages of the host that are not on NAND
 * @fresh_link: link in the list of the die's units that have such pages
 */
struct ftl_unit {
	struct list_head link;
	struct hlist_node same_hash;
	die_t die;
	u32 replaces;
	struct list_head lanes;
	struct hlist_node same_await;
	u64 awaits;
	u16 nr_filled;
	u16 nr_valid;
	u32 kind;
	u32 handle;
	u64 due_ns;
	u64 known_ns;
	bool keeps_die;
	bool is_new;
	u64 fresh;
	struct list_head fresh_link;
};

/**
 * struct ftl_unit_die - pages and units of a die
 * @nr_valid: number of valid pages, in units of any kind and on NAND
 * @nr_claimed: @nr_valid, and the number of slots of the host's open units that hold nothing
 * @mixed: MIXED unit of the die, or NULL
 * @gc: GC unit of the die, or NULL
 * @last_sent: page that was last sent to this die by its number, plus one, or 0
 * @fresh: list of units of the host with pages that are not on NAND
 */
struct ftl_unit_die {
	u32 nr_valid;
	u32 nr_claimed;
	struct ftl_unit *mixed;
	struct ftl_unit *gc;
	u64 last_sent;
	struct list_head fresh;
};

/**
 * struct ftl_units - all open units
 * @geo: sizes of the drive
 * @map: places of pages
 * @blocks: erase blocks, which count the pages on NAND
 * @unit: units, @geo->nr_open of them
 * @die: pages and units by die
 * @plain: PLAIN unit by handle, or NULL
 * @row: ROW unit, or NULL
 * @replacing: hash table of the units that replace a flash unit
 * @awaiting: hash table of the units that wait for what follows a page
 * @hash_bits: log2 of the sizes of @replacing and @awaiting
 * @max_runs: number of runs that stay open between commands
 * @nr_runs: number of runs that are open, [0, @max_runs + 1]
 * @max_held: number of full units that may wait
 * @nr_held: number of full units that wait
 * @nr_host: number of open units of the host, full and held ones included
 * @nr_evicted: number of runs that were put out so far
 * @nr_mapped: number of mapped pages
 * @free: list of units that are not in use
 * @runs: list of RUN units, least recently used first
 * @full: list of full units
 * @held: list of full units that wait for their time, the next one first
 */
struct ftl_units {
	const struct ftl_geometry *geo;
	struct ftl_l2p *map;
	struct ftl_eblks *blocks;
	struct ftl_unit *unit;
	struct ftl_unit_die *die;
	struct ftl_unit *plain[FTL_MAX_HANDLES];
	struct ftl_unit *row;
	struct hlist_head *replacing;
	struct hlist_head *awaiting;
	u32 hash_bits;
	u32 max_runs;
	u32 nr_runs;
	u32 max_held;
	u32 nr_held;
	u32 nr_host;
	u64 nr_evicted;
	u64 nr_mapped;
	struct list_head free;
	struct list_head runs;
	struct list_head full;
	struct list_head held;
};

/**
 * ftl_units_bytes() - memory of the open units
 */
size_t ftl_units_bytes(const struct ftl_params *params);

/**
 * ftl_units_init() - no unit is open
 * @units: @geo, @map and @blocks are set
 * @params: parameters of the drive
 * @zeroed: ftl_units_bytes() bytes
 */
void ftl_units_init(struct ftl_units *units, const struct ftl_params *params, void *zeroed);

/**
 * ftl_units_open() - open a unit on a die
 * @kind: RUN counts among the runs, the others become the one of their kind
 */
struct ftl_unit *ftl_units_open(struct ftl_units *units, die_t die, enum ftl_unit_kind kind);

/**
 * ftl_units_open_plain() - open the PLAIN unit of a handle, which has none, on a die
 */
struct ftl_unit *ftl_units_open_plain(struct ftl_units *units, die_t die, u32 handle);

/**
 * ftl_units_put() - put pages of the host into an open unit with room for them
 * @lpn: first page; the pages are unmapped, or all on one flash unit, which they leave
 */
void ftl_units_put(struct ftl_units *units, struct ftl_unit *unit, lpn_t lpn, u32 nr_pages);

/**
 * ftl_units_renew() - the page in a slot is written again where it is
 */
void ftl_units_renew(struct ftl_units *units, ppn_t ppn);

/**
 * ftl_units_settle() - the page in a slot is on NAND, too, from now on
 * Return: whether it was not before.
 */
bool ftl_units_settle(struct ftl_units *units, struct ftl_unit *unit, u32 slot);

/**
 * ftl_units_same_place() - count pages that can be put into a unit at once
 * @lpn: first page
 * @nr_pages: most pages to look at
 *
 * Return: pages from @lpn on that are, like it, unmapped, or in the same unit as it.
 */
u32 ftl_units_same_place(const struct ftl_units *units, lpn_t lpn, u32 nr_pages);

/**
 * ftl_units_move_in() - move the valid page of a place of the same die into a unit
 * @from: a place on NAND or in another open unit; its own counts are the caller's
 */
void ftl_units_move_in(struct ftl_units *units, struct ftl_unit *unit, ppn_t from);

/**
 * ftl_units_move_out() - a page was moved from an open unit to one of collection
 * @from: place where it was; a unit of which nothing is left is given back
 */
void ftl_units_move_out(struct ftl_units *units, ppn_t from);

/**
 * ftl_units_rescue() - move a page from an open unit of the host into one of collection
 * @from: its place; on any die, in a unit that is open or set aside
 *
 * Counts it where it goes to. A unit that was open and holds nothing else is given back.
 */
void ftl_units_rescue(struct ftl_units *units, struct ftl_unit *unit, ppn_t from);

/**
 * ftl_units_restore() - make a unit that is not in use an open one with the pages that are
 *	mapped to its slots
 * @die: its die
 * @kind: kind that it is to have
 *
 * Return: false if there cannot be such a unit.
 */
bool ftl_units_restore(struct ftl_units *units, struct ftl_unit *unit, die_t die, u32 kind,
		       u32 handle);

/**
 * ftl_units_unmap() - forget a mapped page, wherever it is
 */
void ftl_units_unmap(struct ftl_units *units, lpn_t lpn);

/**
 * ftl_units_touch() - a run was used
 */
void ftl_units_touch(struct ftl_units *units, struct ftl_unit *unit);

/**
 * ftl_units_replace() - let a RUN unit gather the pages of a flash unit
 */
void ftl_units_replace(struct ftl_units *units, struct ftl_unit *unit, u32 flash_unit);

/**
 * ftl_units_replacing() - find the unit that gathers the pages of a flash unit
 * Return: the unit, or NULL.
 */
struct ftl_unit *ftl_units_replacing(const struct ftl_units *units, u32 flash_unit);

/**
 * ftl_units_await() - let a RUN unit wait for what follows a page
 * @last: last page of the run that the unit is of; another unit that waited for that no longer does
 */
void ftl_units_await(struct ftl_units *units, struct ftl_unit *unit, lpn_t last);

/**
 * ftl_units_awaiting() - find the unit that waits for what follows a page
 * Return: the unit, or NULL.
 */
struct ftl_unit *ftl_units_awaiting(const struct ftl_units *units, lpn_t last);

/**
 * ftl_units_forget_eblk() - the flash units of an erase block are no more
 */
void ftl_units_forget_eblk(struct ftl_units *units, u32 eblk);

/**
 * ftl_units_leave_lanes() - let a run go on without this one of the units that it fills in turn
 *
 * The next one waits for what this one has waited for.
 */
void ftl_units_leave_lanes(struct ftl_units *units, struct ftl_unit *unit);

/**
 * ftl_units_limit_runs() - put out the least recently used runs
 * @nr_runs: runs that may stay
 *
 * Their pages move to the MIXED unit of their die. That may fill it: look for full
 * units afterwards.
 */
void ftl_units_limit_runs(struct ftl_units *units, u32 nr_runs);

/**
 * ftl_units_set_aside() - move an open unit, full or not, to the list of full ones
 */
void ftl_units_set_aside(struct ftl_units *units, struct ftl_unit *unit);

/**
 * ftl_units_redirect() - let a unit of the host that was set aside go to another die
 * @die: a die with room for it
 */
void ftl_units_redirect(struct ftl_units *units, struct ftl_unit *unit, die_t die);

/**
 * ftl_units_hold() - let a full unit wait
 * @due_ns: time at which it is to be programmed; not before that of other held units
 */
void ftl_units_hold(struct ftl_units *units, struct ftl_unit *unit, u64 due_ns);

/**
 * ftl_units_release() - give a unit back that was set aside and programmed
 * @unit: holds no page any more
 * @nr_programmed: pages that went to NAND
 */
void ftl_units_release(struct ftl_units *units, struct ftl_unit *unit, u32 nr_programmed);

static inline ppn_t ftl_unit_ppn(const struct ftl_units *units, const struct ftl_unit *unit,
				 u32 slot)
{
	const struct ftl_geometry *geo = units->geo;

	return to_ppn(geo->nr_pages + (u32)(unit - units->unit) * geo->unit_pages + slot);
}

/* The open unit of a buffered place. */
static inline struct ftl_unit *ftl_units_of(const struct ftl_units *units, ppn_t ppn)
{
	u32 at = (u32)from_ppn(ppn) - units->geo->nr_pages;

	return &units->unit[at / units->geo->unit_pages];
}

static inline u32 ftl_units_slot(const struct ftl_units *units, ppn_t ppn)
{
	return ((u32)from_ppn(ppn) - units->geo->nr_pages) % units->geo->unit_pages;
}

/* Does the unit hold pages that collection moves? Then they are durable already. */
static inline bool ftl_unit_is_gc(const struct ftl_unit *unit)
{
	return unit->kind == FTL_UNIT_GC || unit->kind == FTL_UNIT_ROW;
}

static inline u32 ftl_unit_space(const struct ftl_units *units, const struct ftl_unit *unit)
{
	return units->geo->unit_pages - unit->nr_filled;
}

/* Can a unit be opened on the die? */
static inline bool ftl_units_die_has_room(const struct ftl_units *units, die_t die)
{
	return units->die[from_die(die)].nr_claimed + units->geo->unit_pages <=
		units->geo->die_limit_pages;
}

/* The die on which the page at @ppn is or will be. */
static inline die_t ftl_units_die_of(const struct ftl_units *units, ppn_t ppn)
{
	if (ftl_ppn_is_buffered(units->geo, ppn))
		return ftl_units_of(units, ppn)->die;
	return ftl_flash_unit_die(units->geo, ftl_flash_unit(units->geo, ppn));
}

/* The next unit to be programmed, or NULL. */
static inline struct ftl_unit *ftl_units_first_full(struct ftl_units *units)
{
	return list_first_entry_or_null(&units->full, struct ftl_unit, link);
}

/* The held unit whose time comes first, or NULL. */
static inline struct ftl_unit *ftl_units_first_held(struct ftl_units *units)
{
	return list_first_entry_or_null(&units->held, struct ftl_unit, link);
}

#endif /* FTL_OPEN_UNIT_H */
