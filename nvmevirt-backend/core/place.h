/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a page that is written goes: the heart of the FTL. Start reading here.
 *
 * Reading is fast when the pages of a file lie on many dies, and with as few flash
 * units as possible. A page's die is decided here, once, when it is written. In the
 * drawings dies are columns, [] is an open unit of two slots, and + is the new page.
 *
 * 1. A page whose lpn sits in an open unit is replaced there, whatever the hint.
 *	die 0: [a1 b1]    write a1    -->  the same slot      (see also 3)
 *
 * 2. Without a hint, pages fill the PLAIN unit; when it is full the next die has its turn.
 *	die 0: (x  y)  die 1: [z  +]  die 2:                  then die 2
 *    Each placement handle has a PLAIN unit and a turn of its own.
 *    They never enter another unit: a page of metadata does not shift a file's run off
 *    its unit boundary.
 *
 * 3. APPEND: the page follows its predecessor p.
 *    a) p is the last page of an open unit with space (not of collection): it joins p.
 *	die 0: [p  +]  die 1:
 *    b) otherwise p's unit is full, or something else came behind p, or it is on NAND:
 *       a RUN unit of its own is opened on the die after p's.
 *	die 0: (a  p)  die 1: [+   ]        die 0: [p  x]  die 1: [+   ]
 *    The other pages of the command each follow the page before them, by the same rule;
 *    thus a long append fills unit after unit on die after die.
 *    An lpn in an open unit which does not follow p there belonged to another file,
 *    or to another version of this one: it leaves a hole and follows p.
 *
 *    c) The lpn is not the one after p's, so that no command reads both, and dies sense a
 *       unit again for each command (params.register_hits is off). In one unit they would
 *       be sensed one after the other: it goes to the die after p's also if p's unit has
 *       space. The run comes round and fills its units in turn.
 *	die 0: [a   ]  die 1: [b   ]  die 2: [c   ]  die 3: [+   ]        then die 0: [a  +]
 *       A piece that its unit there has no room for gets a new one: in two it would be
 *       sensed twice.
 *       A run that comes too seldom to keep its units open shares them with others on the
 *       same dies (6).
 *
 *    d) Nothing precedes the first page, which begins a file: a RUN unit is opened on the
 *       die after the one on which the last such file begins. Files that are about
 *       equally long, as many are, else tend to begin on a few of the dies, and all
 *       their rests pile up on those after these.
 *
 * 4. OVERWRITE: the page stays on the die of its present page, in flash unit X, and
 *    goes into the RUN unit that replaces X. So the pages of a unit that is
 *    overwritten piece by piece, in any order, are one unit again.
 *	die 0:  X(a b)   write b, then a   -->  die 0: [b  a] replaces X
 *    A page of the command that is not mapped follows the page before it as in 3; if
 *    it is the first, it is plain.
 *    A die that is worn gives it to the least worn one (wear.h).
 *
 *    DIE: the first page goes to the die that the host names: behind the page that was sent
 *    there last if that is the last of an open unit with space, else into a RUN unit of its
 *    own. The other pages of the command follow as in 3.
 *
 *    ALL_DIE: so does every page of the command.
 *
 * 5. A die takes a unit only while it has room (gc.h). Otherwise the unit is opened on
 *    the next die that has. Some die always has: see ftl_params_capacity().
 *
 * 6. RUN units are bounded. The one that was not used for longest is put out: its pages
 *    move, in the buffer, to the MIXED unit of their die. They keep their die, but share
 *    a flash unit with other runs. What a run has left goes there, or stays, as a whole where
 *    that can be: else pieces that fill the run's unit come out of the MIXED one.
 *
 * 7. With stripe_lead a unit may be programmed on a die only while that is not too far ahead of
 *    the slowest one (stripe.h). Else a unit of runs keeps its die, as readers count on it, and
 *    the slowest dies get a unit of padding each until it may be programmed; but only one for
 *    four units of the host in the long run, so that who writes to one die only does not
 *    wear out all others. What is PLAIN, and the rest of the others, goes to the
 *    slowest die that has room.
 *    That always ends: a die without room is passed over, so each turn brings the slowest
 *    die a step on or the unit to it. At last the unit's own die is among the slowest, and
 *    there it has had room since it was opened.
 *
 * Nothing here knows about time, NAND or collection; a hint, however wrong, costs speed.
 */
#ifndef FTL_PLACE_H
#define FTL_PLACE_H

#include "open-unit.h"
#include "placement.h"

/**
 * struct ftl_place - what placement remembers between commands
 * @units: the open units
 * @cursor: die of the next PLAIN unit, by handle
 * @begin: die on which the next file begins
 * @wear_permille: share by which a die's erases may be above the mean, as in struct ftl_params
 * @senses_again: whether a die senses a unit again for each command
 * @tell: who is told of decisions, or NULL
 * @context: first argument of @tell
 */
struct ftl_place {
	struct ftl_units *units;
	die_t cursor[FTL_MAX_HANDLES];
	die_t begin;
	u32 wear_permille;
	bool senses_again;
	ftl_tell_fn tell;
	void *context;
};

/**
 * struct ftl_placing - a command whose pages are being placed
 * @hint: hint that is obeyed; FTL_HINT_NONE if the command's cannot be
 * @pred: page that the next one follows, or LPN_NONE
 * @die: die that the host has named, or DIE_NONE
 * @handle: placement handle of pages that fill a PLAIN unit
 * @obeyed: whether the pages being placed are where the hint wants them
 * @off_die: whether they are on another die because theirs was full
 * @levelled: whether they are on another die because theirs was worn
 * @opened: whether the pages placed last have opened their unit
 * @rule: rule by which they have their places
 * @wanted: die on which their unit was to be opened, or DIE_NONE
 * @nr_obeyed: number of pages that are where the hint wants them
 * @nr_off_die: number of pages that are on another die because theirs was full
 * @nr_levelled: number of pages that are on another die because theirs was worn
 * @nr_stuck: number of units for pages of worn dies that were opened on one, as no other had room
 */
struct ftl_placing {
	enum ftl_hint hint;
	lpn_t pred;
	die_t die;
	u32 handle;
	bool obeyed;
	bool off_die;
	bool levelled;
	bool opened;
	enum ftl_rule rule;
	die_t wanted;
	u32 nr_obeyed;
	u32 nr_off_die;
	u32 nr_levelled;
	u32 nr_stuck;
};

/**
 * ftl_place_init() - start with an empty drive
 */
void ftl_place_init(struct ftl_place *place, struct ftl_units *units, die_t seed_die);

/**
 * ftl_place_begin() - begin with a write command
 *
 * An APPEND whose predecessor is out of range, unmapped or in the command itself, and a die
 * that does not exist, are placed as if there were no hint; a handle that does not exist is as
 * the first.
 */
void ftl_place_begin(const struct ftl_place *place, struct ftl_placing *placing,
		     const struct ftl_request *rq);

/**
 * ftl_place_begin_run() - begin with pages that follow each other and none before them
 *
 * The first opens a RUN unit on the die whose turn it is.
 */
void ftl_place_begin_run(struct ftl_placing *placing);

/**
 * ftl_place_pages() - place the command's next pages
 * @lpn: next page
 * @nr_pages: pages that are left, at least 1
 *
 * As many pages as go the same way are mapped to slots of one open unit, and their old
 * places are given up. Units that got full are in the list of full ones: they must be
 * programmed before more is placed.
 *
 * Return: pages that were placed, at least 1.
 */
u32 ftl_place_pages(struct ftl_place *place, struct ftl_placing *placing, lpn_t lpn,
		    u32 nr_pages);

/**
 * ftl_place_end() - the command has no more pages
 *
 * There may be a full unit again.
 */
void ftl_place_end(struct ftl_place *place);

/**
 * ftl_place_tell_redirected() - say that a unit goes to another die by rule 7
 * @from: die that it was on
 */
void ftl_place_tell_redirected(const struct ftl_place *place, const struct ftl_unit *unit,
			       die_t from);

#endif /* FTL_PLACE_H */
