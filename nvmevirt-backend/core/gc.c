// SPDX-License-Identifier: GPL-2.0-only
/*
 * Garbage collection of a die. It copies within the die, as Jun et al. say that modern drives do
 * (FAST '24, section 2.3): what is moved elsewhere would lose the place that a hint gave it.
 *
 * The victim is gone over several times, as a file's pages may lie anywhere in it: first for rows
 * that fill a flash unit, then for those that fit into what is left of the GC unit, and only then
 * for the rest, which may be cut. Each cut is one more sense for whoever reads the row later. All
 * that is done in steps of one program, so that a write of the host mostly waits for a step and
 * not for an erase block.
 */
#include "bad.h"
#include "gc.h"
#include "oob-booked.h"
#include "program.h"
#include "rescue.h"
#include "wear.h"

/* Of so many victims of a die one may be a block that has rested. */
#define REST_EVERY	16U

/* In the background a victim must have one dead slot in so many. */
#define DEAD_SHARE	8U

static struct ftl_gc_die *gc_of(struct ftl *ftl, die_t die)
{
	return &ftl->gc[from_die(die)];
}

static bool lies_in(const struct ftl *ftl, u64 lpn, u64 first, u32 nr)
{
	return lpn < ftl->map.nr_lpns &&
		from_ppn(ftl_l2p_get(&ftl->map, to_lpn(lpn))) - first < nr;
}

u32 ftl_gc_row_pages(const struct ftl *ftl, u64 lpn, u64 first, u32 nr)
{
	u32 length = 1;

	while (length < ftl->geo.unit_pages && lies_in(ftl, lpn + length, first, nr) &&
	       !ftl_l2p_repeats(&ftl->map, to_lpn(lpn), to_lpn(lpn + length)))
		length++;
	return length;
}

static void sense(struct ftl *ftl, die_t die, u32 flash_unit, u64 start_ns)
{
	struct ftl_gc_die *gc = gc_of(ftl, die);

	if (gc->sensed != flash_unit + 1)
		ftl_nand_copy_out(&ftl->nand, flash_unit, start_ns);
	gc->sensed = flash_unit + 1;
}

static void move_page(struct ftl *ftl, struct ftl_unit *unit, lpn_t lpn, u64 start_ns)
{
	ppn_t from = ftl_l2p_get(&ftl->map, lpn);
	u32 flash_unit = ftl_flash_unit(&ftl->geo, from);

	if (ftl_ppn_is_buffered(&ftl->geo, from)) {
		ftl_units_move_in(&ftl->units, unit, from);
		ftl_units_move_out(&ftl->units, from);
	} else {
		sense(ftl, unit->die, flash_unit, start_ns);
		ftl_units_move_in(&ftl->units, unit, from);
		ftl_eblks_drop_valid(&ftl->blocks, flash_unit, 1);
	}
	if (!ftl_unit_space(&ftl->units, unit))
		ftl_program_collected(ftl, unit, start_ns);
}

/* The unit that a row's next page goes to. */
static struct ftl_unit *unit_for(struct ftl *ftl, die_t die, bool is_whole)
{
	struct ftl_units *units = &ftl->units;
	struct ftl_unit *unit = is_whole ? units->row : units->die[from_die(die)].gc;

	return unit ?: ftl_units_open(units, die, is_whole ? FTL_UNIT_ROW : FTL_UNIT_GC);
}

void ftl_gc_move_row(struct ftl *ftl, die_t die, u64 lpn, u32 nr, u64 start_ns)
{
	bool is_whole = nr == ftl->geo.unit_pages;

	for (u64 end = lpn + nr; lpn < end; lpn++)
		move_page(ftl, unit_for(ftl, die, is_whole), to_lpn(lpn), start_ns);
}

void ftl_gc_move_unit(struct ftl *ftl, u32 flash_unit, u64 start_ns)
{
	die_t die = ftl_flash_unit_die(&ftl->geo, flash_unit);
	u64 first = from_ppn(ftl_flash_unit_ppn(&ftl->geo, flash_unit));

	for (u64 place = first; place < first + ftl->geo.unit_pages; place++)
		move_page(ftl, unit_for(ftl, die, true),
			  ftl_l2p_owner(&ftl->map, to_ppn(place)), start_ns);
}

/* A doomed block does not give back what it needs, so two must be free. */
static bool takes_doomed(const struct ftl *ftl, die_t die)
{
	return ftl->blocks.die[from_die(die)].doomed && !ftl->blocks.read_only &&
		ftl_eblks_nr_free(&ftl->blocks, die) >= FTL_GC_SPARE_EBLKS;
}

/* It may give back no more than it needs. */
static u32 take_rested(struct ftl *ftl, die_t die)
{
	u32 rested = 0;

	if (ftl->params.wear_permille && !(++gc_of(ftl, die)->nr_victims % REST_EVERY) &&
	    ftl_eblks_nr_free(&ftl->blocks, die) >= ftl_gc_spare_eblks(ftl))
		rested = ftl_wear_rested(&ftl->blocks, die);
	if (rested) {
		ftl_eblks_take_full(&ftl->blocks, rested - 1);
		ftl->stats.eblks_levelled++;
	}
	return rested;
}

/*
 * Sets the victim. Return: how many of its pages are valid for each that it gives back; of
 * one that has rested, for which nobody waits, it counts as one.
 */
static u32 take_victim(struct ftl *ftl, die_t die)
{
	struct ftl_gc_die *gc = gc_of(ftl, die);
	u32 nr_valid, nr_dead;

	gc->is_doomed = takes_doomed(ftl, die);
	gc->victim.eblk = gc->is_doomed ? 0 : take_rested(ftl, die);
	if (gc->victim.eblk)
		return 1;
	gc->victim.eblk = 1 + (gc->is_doomed ? ftl_eblks_take_doomed(&ftl->blocks, die) :
			       ftl_eblks_take_victim(&ftl->blocks, die));
	nr_valid = ftl->blocks.eblk[gc->victim.eblk - 1].nr_valid;
	nr_dead = ftl->geo.eblk_pages - nr_valid;
	return nr_dead ? DIV_ROUND_UP(nr_valid, nr_dead) : nr_valid;
}

static void begin_victim(struct ftl *ftl, die_t die)
{
	struct ftl_gc_die *gc = gc_of(ftl, die);

	gc->steps_per_program = take_victim(ftl, die);
	gc->victim.pass = FTL_PASS_WHOLE;
	gc->victim.slot = 0;
	gc->victim.follow = 0;
	gc->sensed = 0;
}

static void erase(struct ftl *ftl, u32 victim, bool is_doomed, u64 start_ns)
{
	die_t die = ftl_eblk_die(&ftl->geo, victim);

	ftl_nand_erase(&ftl->nand, die, ftl_rescue(ftl, victim, start_ns));
	if (ftl->params.oob)
		ftl_oob_erase(&ftl->oob, victim, ftl->nand.die[from_die(die)].busy_until_ns);
	ftl_units_forget_eblk(&ftl->units, victim);
	if (is_doomed || ftl_bad_erase(ftl, die))
		ftl_eblks_retire(&ftl->blocks, victim);
	else
		ftl_eblks_free(&ftl->blocks, victim);
}

void ftl_gc_erase(struct ftl *ftl, u32 victim, u64 start_ns)
{
	erase(ftl, victim, false, start_ns);
}

static void end_victim(struct ftl *ftl, die_t die, u64 start_ns)
{
	struct ftl_gc_die *gc = gc_of(ftl, die);

	erase(ftl, gc->victim.eblk - 1, gc->is_doomed, start_ns);
	gc->victim.eblk = 0;
	gc->is_doomed = false;
	ftl->stats.gc_runs++;
}

static bool goes_now(const struct ftl *ftl, die_t die, u32 pass, u32 nr)
{
	switch (pass) {
	case FTL_PASS_WHOLE:
		return nr == ftl->geo.unit_pages;
	case FTL_PASS_FITS:
	case FTL_PASS_FITS_AGAIN:
		return nr <= ftl_gc_space(ftl, die);
	default:
		return true;
	}
}

/*
 * Is the page part of a row that begins before it? A place of several rows might not be
 * the beginning of any of them, so in the last pass it is one in any case.
 */
static bool follows_in_row(const struct ftl *ftl, const struct ftl_victim *victim, lpn_t lpn,
			   u64 first)
{
	if (!from_lpn(lpn) || !lies_in(ftl, from_lpn(lpn) - 1, first, ftl->geo.eblk_pages))
		return false;
	return victim->pass < FTL_PASS_REST ||
		!ftl_l2p_is_shared(&ftl->map, ftl_l2p_get(&ftl->map, lpn));
}

/* The page that a row may begin with at the present slot of the victim, or LPN_NONE. */
static lpn_t next_start(struct ftl *ftl, struct ftl_victim *victim, u64 first)
{
	u32 nr = ftl->geo.eblk_pages;
	lpn_t lpn;

	/* Behind a row that was cut at a unit's length the next one begins. */
	if (victim->follow && lies_in(ftl, victim->follow, first, nr))
		return to_lpn(victim->follow);
	victim->follow = 0;
	if (victim->slot == nr) {
		victim->slot = 0;
		victim->pass++;
	}
	lpn = ftl_l2p_owner(&ftl->map, to_ppn(first + victim->slot++));
	if (lpn == LPN_NONE || follows_in_row(ftl, victim, lpn, first))
		return LPN_NONE;
	return lpn;
}

/* Looks at the next slot of the victim and moves the row that begins there, if it goes now. */
static void move_next(struct ftl *ftl, die_t die, struct ftl_victim *victim, u64 start_ns)
{
	u64 first = (u64)(victim->eblk - 1) * ftl->geo.eblk_pages;
	lpn_t start = next_start(ftl, victim, first);
	u64 lpn = from_lpn(start);
	u32 nr;

	if (start == LPN_NONE)
		return;
	victim->follow = 0;
	nr = ftl_gc_row_pages(ftl, lpn, first, ftl->geo.eblk_pages);
	if (!goes_now(ftl, die, victim->pass, nr))
		return;
	ftl_gc_move_row(ftl, die, lpn, nr, start_ns);
	victim->follow = lpn + nr;
}

void ftl_gc_move_rows(struct ftl *ftl, die_t die, struct ftl_victim *victim, u64 start_ns)
{
	const struct ftl_eblk *eblk = &ftl->blocks.eblk[victim->eblk - 1];
	const u64 *nr_programmed = &ftl->nand.die[from_die(die)].units_programmed;
	u64 before = *nr_programmed;

	while (eblk->nr_valid && *nr_programmed == before)
		move_next(ftl, die, victim, start_ns);
}

void ftl_gc_step(struct ftl *ftl, die_t die, u64 start_ns)
{
	struct ftl_victim *victim = &gc_of(ftl, die)->victim;

	if (!victim->eblk)
		begin_victim(ftl, die);
	ftl_gc_move_rows(ftl, die, victim, start_ns);
	if (!ftl->blocks.eblk[victim->eblk - 1].nr_valid)
		end_victim(ftl, die, start_ns);
}

/*
 * One more than a stream needs if a doomed block is to be emptied, or one is to fail. The
 * one that is being emptied must be done with: it does not give back what it takes.
 */
static u32 wanted_free(const struct ftl *ftl, die_t die)
{
	const struct ftl_gc_die *gc = &ftl->gc[from_die(die)];
	bool fails = ftl->blocks.die[from_die(die)].doomed || gc->fail_program == 1 ||
		     gc->fail_erase == 1;

	return ftl_gc_spare_eblks(ftl) +
		(gc->is_doomed || (fails && !ftl->blocks.read_only));
}

void ftl_gc_make_room(struct ftl *ftl, die_t die, u64 start_ns)
{
	while (ftl_eblks_nr_free(&ftl->blocks, die) < wanted_free(ftl, die))
		ftl_gc_step(ftl, die, start_ns);
}

void ftl_gc_go_on(struct ftl *ftl, die_t die, u64 start_ns)
{
	if (ftl->oob.is_volatile) {
		ftl_gc_make_room(ftl, die, start_ns);
		return;
	}
	while (!ftl_eblks_nr_free(&ftl->blocks, die))
		ftl_gc_step(ftl, die, start_ns);
}

void ftl_gc_program(struct ftl *ftl, die_t die, u64 start_ns)
{
	struct ftl_unit *unit;

	if (ftl_eblks_needs_open(&ftl->blocks, die, FTL_STREAM_GC))
		ftl_gc_make_room(ftl, die, start_ns);
	unit = ftl->units.die[from_die(die)].gc;
	if (unit)
		ftl_program_collected_open(ftl, unit, start_ns);
}

bool ftl_gc_wants(const struct ftl *ftl, die_t die)
{
	u32 most = ftl->geo.eblk_pages - DIV_ROUND_UP(ftl->geo.eblk_pages, DEAD_SHARE);

	if (ftl->gc[from_die(die)].victim.eblk || takes_doomed(ftl, die))
		return true;
	return ftl_eblks_nr_free(&ftl->blocks, die) < ftl->params.bg_eblks &&
		ftl_eblks_nr_full(&ftl->blocks, die) &&
		ftl_eblks_least_valid(&ftl->blocks, die) <= most;
}

void ftl_gc_pace(struct ftl *ftl, die_t die, u64 start_ns)
{
	u32 nr_steps = 1;

	if (ftl_eblks_nr_free(&ftl->blocks, die) >= ftl->params.bg_eblks &&
	    !takes_doomed(ftl, die) && !gc_of(ftl, die)->is_doomed)
		return;
	for (u32 i = 0; i < nr_steps && ftl_gc_wants(ftl, die); i++) {
		ftl_gc_step(ftl, die, start_ns);
		nr_steps = gc_of(ftl, die)->steps_per_program;
	}
}
