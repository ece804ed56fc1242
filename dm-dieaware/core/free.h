/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which segment may be freed, and by whom. Each goes through
 *
 *	find		CLOSED, without a valid page, and what took the last one away is durable: a
 *			crash would bring back a map that points there; and no draft that comes last
 *	claim		nobody reads from it; now it is the caller's, and nobody else finds it
 *	discard		the device below is told that it holds nothing; or not
 *	discarded	nothing is written there before that has ended
 *	record		the operation that makes it FREE, which may be opened at once
 *	end		the operation is done, or has been given up
 *
 * One that became free without a discard is made up for later, when there are others:
 *
 *	set aside	it is free, and nobody finds it
 *	put back	the device below has been told; it can be opened again
 *
 * The functions are to be called under the lock that protects the segments. What is out of that
 * order is refused.
 */
#ifndef DMDA_FREE_H
#define DMDA_FREE_H

#include "commit.h"
#include "segments.h"

/**
 * struct dmda_freeing - segments that are being freed
 * @segments: segment table
 * @commit: the journal
 * @nr_claimed: number of segments that are claimed
 * @nr_aside: number of free segments that are set aside
 */
struct dmda_freeing {
	struct dmda_segments *segments;
	const struct dmda_commit *commit;
	u32 nr_claimed;
	u32 nr_aside;
};

/* Segments that are looked at in a row, all of them empty */
#define DMDA_FREE_LOOKS	256U

/**
 * dmda_free_find() - find a segment that may be claimed if nobody reads from it
 * @from: segment to begin at; gets the one at which to go on
 *
 * Return: a segment; or SEG_NONE: there is none among those that were looked at. These were all if
 * @from is the number of segments then.
 */
seg_t dmda_free_find(const struct dmda_freeing *freeing, u32 *from);

/**
 * dmda_free_claim() - a segment is the caller's to be freed
 * @seg: as found
 * @nr_readers: number of those who read from it
 *
 * Return: false: not now.
 */
bool dmda_free_claim(struct dmda_freeing *freeing, seg_t seg, u32 nr_readers);

/**
 * dmda_free_discard() - a discard of a claimed segment begins
 * Return: false: it must not.
 */
bool dmda_free_discard(struct dmda_freeing *freeing, seg_t seg);

/**
 * dmda_free_discarded() - the discard has ended, well or not
 */
void dmda_free_discarded(struct dmda_freeing *freeing, seg_t seg);

/**
 * dmda_free_record() - what makes a claimed segment free
 * @record: gets the record to be put to the journal
 *
 * Return: false: it must not be freed now.
 */
bool dmda_free_record(const struct dmda_freeing *freeing, seg_t seg, struct dmda_record *record);

/**
 * dmda_free_may_lose() - may the device below forget what is not valid in a segment?
 * @seg: cannot become free meanwhile
 * @nr_valid: number of its pages that were found to be valid, in the map
 * @nr_readers: number of those who read from it
 *
 * Holds for what was invalid when it was looked for, and for as long as the segment is not free.
 */
bool dmda_free_may_lose(const struct dmda_freeing *freeing, seg_t seg, u32 nr_valid,
			u32 nr_readers);

/**
 * dmda_free_end() - the claim ends: the operation is done, or cannot be
 */
void dmda_free_end(struct dmda_freeing *freeing, seg_t seg);

/**
 * dmda_free_set_aside() - find a segment that became free without a discard since start
 *
 * A discard of it may begin. Until dmda_free_put_back() it is not among those that are free, so
 * that nobody writes there.
 *
 * Return: it, or SEG_NONE.
 */
seg_t dmda_free_set_aside(struct dmda_freeing *freeing);

/**
 * dmda_free_put_back() - the discard of a segment that was set aside has ended, well or not
 */
void dmda_free_put_back(struct dmda_freeing *freeing, seg_t seg);

#endif /* DMDA_FREE_H */
