/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which slot of each page of a table is valid.
 *
 * Every page has two slots. The slot that the last durable root refers to is never
 * written: so whatever the power does, that root and the journal behind it lead to the
 * present state. A page that is written between two roots goes to the other slot, as
 * often as need be.
 *
 * While a root is being written, both slots of a page may count. So no page of the table
 * is written from dmda_slots_begin() to dmda_slots_end(): between them are the directory, a
 * flush and the root.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_SLOTS_H
#define DMDA_SLOTS_H

#include "super.h"

#define DMDA_SLOT_NONE	2U

/**
 * struct dmda_slots - the slots of a table
 * @nr_pages: number of the table's pages
 * @newest: entry of what was written last, by page, as in struct dmda_slot_entry
 * @committed: entry of the last durable root, by page, where @changed is not of an earlier one
 * @changed: by group of DMDA_ENTRIES_PER_PAGE entries, which a directory page has: 0 if @newest and
 *	@committed are alike; else the @generation in which one of @newest was written last. If that
 *	is an earlier one, @newest is what the last durable root names.
 * @generation: number of durable roots, and 1
 * @pending: whether a root that has @newest is being written
 */
struct dmda_slots {
	u64 nr_pages;
	u64 *newest;
	u64 *committed;
	u64 *changed;
	u64 generation;
	bool pending;
};

/**
 * dmda_slots_bytes() - memory for the slots of that many pages
 */
size_t dmda_slots_bytes(u64 nr_pages);

/**
 * dmda_slots_init() - no page was ever written
 * @zeroed: dmda_slots_bytes() bytes
 */
void dmda_slots_init(struct dmda_slots *slots, u64 nr_pages, void *zeroed);

/**
 * dmda_slots_load() - a page's entry, from a root or a directory page
 */
void dmda_slots_load(struct dmda_slots *slots, u64 index, u64 seq_slot);

/**
 * dmda_slots_target() - the slot to which a page may be written now
 * Return: 0 or 1, or DMDA_SLOT_NONE: not before the pending root is done.
 */
u32 dmda_slots_target(const struct dmda_slots *slots, u64 index);

/**
 * dmda_slots_written() - a page was written
 * @seq: last operation that the page knew when it was written
 */
void dmda_slots_written(struct dmda_slots *slots, u64 index, u32 slot, u64 seq);

/**
 * dmda_slots_newest_id() - what the newest copy of a page is, and where it lies
 * @slots: slots by table
 * @index: page that was written
 */
struct dmda_block_id dmda_slots_newest_id(const struct dmda_slots *slots,
					  const struct dmda_super *super, enum dmda_table table,
					  u64 index);

/**
 * dmda_slots_highest_seq() - the highest seq of a newest entry
 *
 * Looks at all pages: not for where others wait.
 */
u64 dmda_slots_highest_seq(const struct dmda_slots *slots);

/**
 * dmda_slots_encode() - fill in the entries of a page of them
 * @first: the first entry, a multiple of DMDA_ENTRIES_PER_PAGE
 *
 * Return: how many there are.
 */
u32 dmda_slots_encode(const struct dmda_slots *slots, u64 first,
		      struct dmda_slots_block *block);

/**
 * dmda_slots_begin() - a root with all newest entries is going to be written
 */
void dmda_slots_begin(struct dmda_slots *slots);

/**
 * dmda_slots_end() - it is durable, or has been given up
 */
void dmda_slots_end(struct dmda_slots *slots, bool durable);

/* Has any entry that is on that page of entries changed since the last durable root? */
static inline bool dmda_slots_changed(const struct dmda_slots *slots, u64 page)
{
	return slots->changed[page] == slots->generation;
}

static inline u32 dmda_slot_of(u64 seq_slot)
{
	return seq_slot & 1;
}

static inline u64 dmda_slot_seq(u64 seq_slot)
{
	return seq_slot >> 1;
}

#endif /* DMDA_SLOTS_H */
