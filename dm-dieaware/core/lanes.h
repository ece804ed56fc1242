/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a write goes when the host chooses it: what the SSD's FTL decides with hints, decided
 * here for a device that only takes a number with each write.
 *
 * A lane is what one such number stands for: a die of the SSD, or a set of dies. Lanes take
 * units in turn, lane 0 after the last one, so the berths of a stripe have numbers:
 *
 *   lane      0          1          2             unit_pages 4, nr 3
 *   berth     0 1 2 3    4 5 6 7    8 9 10 11
 *
 *   a file begins       at the beginning of a unit, each one lane further than the last
 *   an append           at the berth behind its predecessor's: in its unit, then the next lane
 *   an overwrite        at the berth that its device page has
 *   anything else       of a known file, and what follows a page whose berth is not known: at
 *                       the berth that its place in the file gives it (of an unknown file that
 *                       goes on somewhere: its place on the device). So pieces of a file of
 *                       which nothing is known are in die order towards each other.
 *
 * A write is chosen a berth for as many pages as are left in the unit; the rest is another write.
 *
 * What berth a device page has is kept in extents (extents.h): neighbouring pages with
 * neighbouring berths are one extent, however often a stripe they go round. Nobody tells
 * the host whether the SSD has obeyed: what it believes may be wrong, and costs speed.
 *
 * Pure functions of their arguments: calls may always run at the same time.
 */
#ifndef DMDA_LANES_H
#define DMDA_LANES_H

#include "classify.h"

#define DMDA_MAX_LANES		126
#define DMDA_BERTH_NONE		(~0U)

/* What goes to a lane before the next one's turn: less is not worth a command, more is no unit */
#define DMDA_LANE_UNIT_MIN	(DMDA_LEAST_PIECE_PAGES << DMDA_PAGE_SHIFT)
#define DMDA_LANE_UNIT_MAX	(16U << 20)

/**
 * struct dmda_lanes - the lanes of a device
 * @nr: their number, [2, DMDA_MAX_LANES]; 0: there are none
 * @unit_pages: pages of a unit, [1, DMDA_LANE_UNIT_MAX >> DMDA_PAGE_SHIFT]
 */
struct dmda_lanes {
	u32 nr;
	u32 unit_pages;
};

/**
 * struct dmda_berth - berths of consecutive pages
 * @first: berth of the first page, or DMDA_BERTH_NONE
 * @nr_pages: pages, that one included, whose berths go on from there
 */
struct dmda_berth {
	u32 first;
	u32 nr_pages;
};

/**
 * dmda_lanes_value() - what to keep of a berth: the same for all pages that go on from one
 * @berth: berth of page @dpn
 *
 * Return: a number that is larger by one for the next page at the next berth.
 */
u64 dmda_lanes_value(const struct dmda_lanes *lanes, dpn_t dpn, u32 berth);

/**
 * dmda_lanes_berth() - the berth in a value
 * @value: from dmda_lanes_value(), of the same lanes, or as much larger as pages have gone on
 */
u32 dmda_lanes_berth(const struct dmda_lanes *lanes, u64 value);

/**
 * struct dmda_moorings - what is known of berths when a write comes
 * @here: berth that its first device page has; nr_pages 0 if it is not known
 * @before: berth of the verdict's predecessor; DMDA_BERTH_NONE if there is none, or it is not known
 * @turn: number of files that have begun before
 */
struct dmda_moorings {
	struct dmda_berth here;
	u32 before;
	u32 turn;
};

/**
 * dmda_lanes_begins() - does a write begin a file, so that the next one's turn has come?
 */
static inline bool dmda_lanes_begins(const struct dmda_verdict *verdict)
{
	return verdict->hint == DMDA_HINT_APPEND && verdict->pred == DPN_NONE;
}

/**
 * dmda_lanes_choose() - where a write goes
 * @run: the write
 * @verdict: what it is
 * @known: what is known of berths
 *
 * Return: the berth, and the pages of the write that go there, at most to the end of the unit;
 * DMDA_BERTH_NONE, and all pages, if nothing speaks for any.
 */
struct dmda_berth dmda_lanes_choose(const struct dmda_lanes *lanes, const struct dmda_run *run,
				    const struct dmda_verdict *verdict,
				    const struct dmda_moorings *known);

#endif /* DMDA_LANES_H */
