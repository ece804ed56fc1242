/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data that waits in the slots of open units, and what it took the place of: the newest data of
 * the same page that is on NAND, or on its way there.
 *
 * When an erase block may be erased: not before the data that took the place of its
 * stale pages is durable. @safe_ns is the end of their programs; pages that are still
 * in open units are put with the block's own (rescue.h).
 */
#ifndef FTL_OOB_SLOTS_H
#define FTL_OOB_SLOTS_H

#include "oob.h"

/**
 * struct ftl_oob_prev - what buffered data took the place of
 * @seq: number of the newest data of its page that is on NAND or booked, 0 if none is
 * @place: place of that data, plus one, or 0: its erase block must not be erased before the
 *	buffered data is on NAND
 */
struct ftl_oob_prev {
	u64 seq;
	u32 place;
};

/**
 * ftl_oob_prev_of() - what data takes the place of that leaves a place or follows the one there
 */
struct ftl_oob_prev ftl_oob_prev_of(const struct ftl_oob *oob, ppn_t from);

/**
 * ftl_oob_put() - data of the host is put into a slot of an open unit
 * @lpn: its page
 * @to: the slot
 * @prev: data whose place it takes
 */
void ftl_oob_put(struct ftl_oob *oob, lpn_t lpn, ppn_t to, struct ftl_oob_prev prev);

/**
 * ftl_oob_move() - data moves into a slot of an open unit
 * @owner: its page plus one
 */
void ftl_oob_move(struct ftl_oob *oob, u32 owner, ppn_t from, ppn_t to);

/**
 * ftl_oob_drop() - the data in a place is not wanted any more
 */
void ftl_oob_drop(struct ftl_oob *oob, ppn_t ppn);

static inline u32 ftl_oob_slot(const struct ftl_oob *oob, ppn_t ppn)
{
	return (u32)from_ppn(ppn) - oob->geo->nr_pages;
}

/* The data in the erase block of @prev may go when @end_ns is over, and not before. */
static inline void ftl_oob_keep_prev(struct ftl_oob *oob, u32 prev, u64 end_ns)
{
	u64 *safe_ns = &oob->safe_ns[(prev - 1) / oob->geo->eblk_pages];

	*safe_ns = max(*safe_ns, end_ns);
}

static inline struct ftl_oob_prev ftl_oob_get_prev(const struct ftl_oob *oob, ppn_t ppn)
{
	u32 slot = ftl_oob_slot(oob, ppn);

	return (struct ftl_oob_prev){ oob->prev_seq[slot], oob->prev[slot] };
}

static inline void ftl_oob_set_prev(struct ftl_oob *oob, ppn_t ppn, struct ftl_oob_prev prev)
{
	u32 slot = ftl_oob_slot(oob, ppn);

	oob->prev[slot] = prev.place;
	oob->prev_seq[slot] = prev.seq;
}

/* New data in a slot whose old data was of the same page. */
static inline void ftl_oob_renew(struct ftl_oob *oob, ppn_t ppn)
{
	oob->seq[from_ppn(ppn)] = ++oob->head->seq;
}

#endif /* FTL_OOB_SLOTS_H */
