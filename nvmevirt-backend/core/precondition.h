/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preconditioning: a drive is brought into the state in which writes of a host would leave it, so
 * that an experiment begins on a used drive and not on a new one.
 *
 *	fill      pages are written in order, by commands of FTL_PRECONDITION_PAGES
 *	random    single pages of these are written again, drawn with equal probability
 *	flush     as a host would end it
 *	rest      all that is booked ends
 *
 * The drive is given these commands one after the other, each when the one before is complete, on a
 * clock of its own that begins with 0. Thus nothing is modelled twice: placement, collection, wear
 * and counters are those of the commands, and the same drive always becomes the same. In the end
 * the clock is set to the caller's time, and the dies, channels and buffer of the drive are as free
 * as those of one that has rested.
 *
 * Page numbers are drawn by SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
 * Number Generators", OOPSLA 2014), whose state begins with the seed: of each number the upper 32
 * bits, times the number of pages, less the lower 32 bits of that product. So whoever wants to can
 * give the same commands.
 */
#ifndef FTL_PRECONDITION_H
#define FTL_PRECONDITION_H

#include "ftl.h"

/* Pages of a command that fills */
#define FTL_PRECONDITION_PAGES		256U

/* Ranges of pages that can be named */
#define FTL_PRECONDITION_MAX_RANGES	16U

#define FTL_PRECONDITION_MAX_RANDOM	10000U

/**
 * struct ftl_precondition - a preconditioning under way
 * @range: pages that are written; none twice, all within the drive
 * @nr_ranges: number of ranges, [1, FTL_PRECONDITION_MAX_RANGES]
 * @random_percent: pages that are written again, in percent of those of all ranges
 * @state: state of the generator, the seed at first
 * @nr_pages: number of pages of all ranges, set by ftl_precondition_begin() like all that follow
 * @nr_random: number of single pages that are still to be written
 * @at_range: range that is being filled
 * @at: number of its pages that are filled
 * @now_ns: present time on the drive's clock
 */
struct ftl_precondition {
	struct ftl_lpn_range range[FTL_PRECONDITION_MAX_RANGES];
	u32 nr_ranges;
	u32 random_percent;
	u64 state;
	u64 nr_pages;
	u64 nr_random;
	u32 at_range;
	u32 at;
	u64 now_ns;
};

/**
 * ftl_precondition_check() - can this be asked for?
 * @fill_percent: share of the pages to fill
 * @random_percent: pages to overwrite, in percent of the filled ones
 *
 * Return: NULL, or a complete sentence that says why not.
 */
const char *ftl_precondition_check(u64 fill_percent, u64 random_percent);

/**
 * ftl_precondition_share() - pages to fill of so many
 * @nr_pages: number of pages, at most the drive's
 */
u32 ftl_precondition_share(u64 nr_pages, u32 fill_percent);

/**
 * ftl_precondition_begin() - begin
 * @ftl: the drive; no command but those of ftl_precondition_step() until the end
 * @work: @range, @nr_ranges, @random_percent and @state are set
 */
void ftl_precondition_begin(struct ftl *ftl, struct ftl_precondition *work);

/**
 * ftl_precondition_step() - write some pages, a millisecond's worth of computing or two
 *
 * A drive that has become read-only, because operations on it were asked to fail, has no more to
 * do.
 *
 * Return: whether there is more to do.
 */
bool ftl_precondition_step(struct ftl *ftl, struct ftl_precondition *work);

/**
 * ftl_precondition_end() - let the drive rest, and set its clock
 * @now_ns: present time, not before that of the last command before the beginning
 *
 * Needed also if not all was done.
 */
void ftl_precondition_end(struct ftl *ftl, struct ftl_precondition *work, u64 now_ns);

#endif /* FTL_PRECONDITION_H */
