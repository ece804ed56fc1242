// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last resort against uneven wear of dies, for a drive that is full. Jun et al. (FAST '24,
 * section 4) let overwrites stay on their die, and name moving them to another die as the remedy
 * if that wears a few dies too much; placement does that as long as another die has room (wear.h).
 * Here one is given room.
 *
 * A write that found none only asks: to move units opens others, which must not happen while a
 * command is half placed. So the next write does it, a few units at most, as it has to share dies
 * and buffer with them. What is shared (share.h) stays where it is.
 */
#include "exchange.h"
#include "program-host.h"
#include "program.h"
#include "sense.h"
#include "wear.h"

/* Units that move for one command at most */
#define MOST_UNITS	4U

/* A block or unit is cold while no more than one in so many of its pages is dead. */
#define DEAD_SHARE	8U

/* A block is cold when one in so many of the die's blocks has been filled since. */
#define AGE_SHARE	16U

static bool is_cold(u32 nr_valid, u32 nr_pages)
{
	return nr_valid && (nr_pages - nr_valid) * DEAD_SHARE <= nr_pages;
}

/* The worn die with room that was erased most, or DIE_NONE. */
static die_t most_worn(const struct ftl *ftl)
{
	die_t worn = DIE_NONE;
	u64 most = 0;

	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		u64 nr = ftl->blocks.die[i].nr_erases;

		if (nr <= most || !ftl_units_die_has_room(&ftl->units, to_die(i)) ||
		    !ftl_wear_is_worn(&ftl->blocks, to_die(i), ftl->params.wear_permille))
			continue;
		most = nr;
		worn = to_die(i);
	}
	return worn;
}

static die_t least_worn(const struct ftl *ftl)
{
	u32 least = 0;

	for (u32 i = 1; i < ftl->geo.nr_dies; i++) {
		if (ftl->blocks.die[i].nr_erases < ftl->blocks.die[least].nr_erases)
			least = i;
	}
	return to_die(least);
}

/* Dies begin at different places, so that a file does not lose what it has on all of them. */
static u32 block_of(const struct ftl *ftl, die_t die)
{
	const struct ftl_exchange *lap = &ftl->gc[from_die(die)].exchange;
	u32 nr_eblks = ftl_main_eblks(&ftl->geo);
	u64 first = (u64)from_die(die) * nr_eblks / ftl->geo.nr_dies;

	return from_die(die) * ftl->geo.die_eblks + (first + lap->at) % nr_eblks;
}

/* Has the block nearly all of its pages, although others have been filled since? */
static bool is_cold_block(const struct ftl *ftl, die_t die, const struct ftl_eblk *block)
{
	u32 age = ftl->blocks.die[from_die(die)].nr_filled - block->filled_at;

	return block->state == FTL_EBLK_FULL && age >= ftl->geo.die_eblks / AGE_SHARE &&
		is_cold(block->nr_valid, ftl->geo.eblk_pages);
}

/* Is the block still the one whose first units have moved? */
static bool is_begun(const struct ftl_exchange *lap, const struct ftl_eblk *block)
{
	return lap->next_unit && block->state == FTL_EBLK_FULL &&
		block->filled_at == lap->filled_at;
}

/* Return: the block that goes on giving pages, plus one, or 0 if the die has none. */
static u32 next_block(struct ftl *ftl, die_t die)
{
	struct ftl_exchange *lap = &ftl->gc[from_die(die)].exchange;

	for (u32 nr = 0; nr <= ftl_main_eblks(&ftl->geo); nr++) {
		u32 eblk = block_of(ftl, die);
		const struct ftl_eblk *block = &ftl->blocks.eblk[eblk];

		if (lap->next_unit < ftl->geo.eblk_units &&
		    (is_begun(lap, block) || is_cold_block(ftl, die, block))) {
			lap->filled_at = block->filled_at;
			return eblk + 1;
		}
		lap->next_unit = 0;
		lap->at = lap->at + 1 < ftl_main_eblks(&ftl->geo) ? lap->at + 1 : 0;
	}
	return 0;
}

/* Valid pages of a flash unit; 0 if one is shared, as its data has the number of another. */
static u32 count_own(const struct ftl *ftl, u32 flash_unit)
{
	u64 first = from_ppn(ftl_flash_unit_ppn(&ftl->geo, flash_unit));
	u32 nr = 0;

	for (u64 place = first; place < first + ftl->geo.unit_pages; place++) {
		if (ftl_l2p_is_shared(&ftl->map, to_ppn(place)))
			return 0;
		nr += ftl_l2p_owner(&ftl->map, to_ppn(place)) != LPN_NONE;
	}
	return nr;
}

/* Return: the die's next cold flash unit plus one, or 0 if its next block has none. */
static u32 next_unit(struct ftl *ftl, die_t die)
{
	struct ftl_exchange *lap = &ftl->gc[from_die(die)].exchange;
	u32 eblk = next_block(ftl, die);

	while (eblk && lap->next_unit < ftl->geo.eblk_units) {
		u32 flash_unit = ftl_eblk_first_unit(&ftl->geo, eblk - 1) + lap->next_unit++;

		if (is_cold(count_own(ftl, flash_unit), ftl->geo.unit_pages))
			return flash_unit + 1;
	}
	return 0;
}

static void move_unit(struct ftl *ftl, u32 flash_unit, die_t die, u64 at_ns)
{
	u64 first = from_ppn(ftl_flash_unit_ppn(&ftl->geo, flash_unit));
	struct ftl_units *units = &ftl->units;
	u32 nr = count_own(ftl, flash_unit);
	struct ftl_unit *unit;

	at_ns = ftl_sense_unit(ftl, flash_unit, nr, at_ns);
	unit = ftl_units_open(units, die, FTL_UNIT_RUN);
	at_ns = ftl_wbuf_admit(&ftl->wbuf, units->nr_host, at_ns);
	for (u64 place = first; place < first + ftl->geo.unit_pages; place++) {
		lpn_t lpn = ftl_l2p_owner(&ftl->map, to_ppn(place));

		if (lpn != LPN_NONE)
			ftl_units_put(units, unit, lpn, 1);
	}
	if (ftl_unit_space(units, unit))
		ftl_units_set_aside(units, unit);
	ftl_program_unit(ftl, unit, at_ns);
	ftl->stats.pages_exchanged += nr;
}

void ftl_exchange_ask(struct ftl *ftl, u32 nr)
{
	ftl->nr_exchanges = min(nr, MOST_UNITS);
}

void ftl_exchange(struct ftl *ftl, u64 at_ns)
{
	for (; ftl->nr_exchanges; ftl->nr_exchanges--) {
		die_t from = least_worn(ftl);
		die_t to = most_worn(ftl);
		u32 unit = 0;

		if (to != DIE_NONE && from != to)
			unit = next_unit(ftl, from);
		if (unit)
			move_unit(ftl, unit - 1, to, at_ns);
	}
}
