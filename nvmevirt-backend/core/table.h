/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a power failure leaves of trims: records of the latest ones, and a table of what was mapped
 * when it was made. Both are in the out-of-band area.
 */
#ifndef FTL_TABLE_H
#define FTL_TABLE_H

#include "oob.h"

#define FTL_TABLE_WORD_BITS	64

static inline size_t ftl_table_words(u64 nr_lpns)
{
	return div_u64(nr_lpns + FTL_TABLE_WORD_BITS - 1, FTL_TABLE_WORD_BITS);
}

/**
 * ftl_oob_has_room() - can a trim be kept without making the table anew?
 * @first: its first page
 */
bool ftl_oob_has_room(const struct ftl_oob *oob, u64 first);

/**
 * ftl_oob_trim() - keep that pages were trimmed; durable at once
 * @place_of: map by lpn, in which they are unmapped already
 * @changed: whether pages of it were mapped or unmapped since the table was made, by region;
 *	cleared when the table is made anew
 *
 * Without room, all that is mapped must have ended: the table does not have when a page
 * was trimmed that is mapped again.
 */
void ftl_oob_trim(struct ftl_oob *oob, u64 first, u64 nr, const u32 *place_of, u8 *changed);

#endif /* FTL_TABLE_H */
