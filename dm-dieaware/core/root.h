/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The root of a checkpoint: its first page says where the journal goes on, the others
 * which slot of each page of segment table, open summaries and directory is valid.
 *
 * There are two, written in turn. A root is as valid as its worst page, so a torn one
 * does not count, and the other one does. Pure functions of their arguments.
 */
#ifndef DMDA_ROOT_H
#define DMDA_ROOT_H

#include "journal.h"
#include "slots.h"

/**
 * struct dmda_root - the first page of a root in the machine's own numbers
 * @epoch: number of the checkpoint
 * @journal: place in the journal from which on it is needed
 * @is_clean: whether the journal was empty when the root was written, and nothing was to follow
 * @pages_written: number of pages that the target has written since format
 */
struct dmda_root {
	u64 epoch;
	struct dmda_journal_place journal;
	bool is_clean;
	u64 pages_written;
};

/* Pages of a root: the first one, and those of its entries. */
u32 dmda_root_nr_pages(const struct dmda_super *super);

/* Where a root of that epoch begins. */
static inline dpn_t dmda_root_dpn(const struct dmda_super *super, u64 epoch)
{
	return to_dpn(super->root_dpn[epoch & 1]);
}

/**
 * dmda_root_encode() - make a page of a root
 * @slots: slots of the tables' pages, by table; those of the map are not looked at
 * @index: page of the root, below dmda_root_nr_pages()
 * @page: DMDA_BLOCK_BYTES bytes
 */
void dmda_root_encode(const struct dmda_root *root, const struct dmda_super *super,
		      const struct dmda_slots *slots, u32 index, void *page);

/**
 * dmda_root_decode() - understand the first page of a root
 * @which: 0 or 1: whose place it was read from
 *
 * Return: NULL, or what is wrong.
 */
const char *dmda_root_decode(struct dmda_root *root, const struct dmda_super *super,
			     const struct dmda_root_block *page, u32 which);

/**
 * dmda_root_decode_entries() - take the entries of a further page
 * @root: as decoded
 * @index: page of the root, from 1 on
 *
 * Return: NULL, or what is wrong.
 */
const char *dmda_root_decode_entries(const struct dmda_root *root,
				     const struct dmda_super *super, u32 index,
				     const struct dmda_slots_block *page,
				     struct dmda_slots *slots);

/**
 * dmda_root_newest() - which of the two roots counts
 * @root: as they were decoded
 * @why: reason why it cannot be used, or NULL, by root; one of them is NULL
 *
 * Return: 0 or 1.
 */
u32 dmda_root_newest(const struct dmda_root root[2], const char *const why[2]);

/**
 * struct dmda_root_traces - what lies where the roots of a layout go to which a device is to grow
 * @has_first: whether the first root of a layout is there: of an even epoch
 * @nr_segment_entries: how many it has, which tells how large the device was
 * @nr_directory_entries: likewise
 * @is_pair: whether the second root of the same layout is there as well
 * @newest_seq: largest number of an operation that comes next by one of them, or 0
 */
struct dmda_root_traces {
	bool has_first;
	u64 nr_segment_entries;
	u64 nr_directory_entries;
	bool is_pair;
	u64 newest_seq;
};

/**
 * dmda_root_note() - look at a page there; pages come in their order
 * @dpn: place of @page
 *
 * It counts if a root begins with it, of whatever size the device was then: where the first root of
 * a layout lies does not depend on that, but where the second one does. So an attempt to grow that
 * was cut off may have left one that a later attempt, to less, has not wiped.
 */
void dmda_root_note(struct dmda_root_traces *traces, const struct dmda_super *super, dpn_t dpn,
		    const struct dmda_root_block *page);

/**
 * dmda_root_has_grown() - was a device used by the roots of a layout to which it is to grow?
 * @traces: what was noted of all pages there
 * @seq: the operation that comes next by the end of the journal
 *
 * Growing leaves one root, by which the same operation comes next as by the one before it. The
 * first start after that skips numbers of operations, and writes another one. Their epochs do not
 * tell them apart: they jump where a root cannot be read. Nor does the root by which it is to grow
 * now: if the newest one is lost, that is older than the one that growing has left.
 *
 * Return: whether it was; else what is there is left of growing that the power has cut off.
 */
bool dmda_root_has_grown(const struct dmda_root_traces *traces, u64 seq);

/**
 * dmda_root_check_times() - does the journal reach what the tables know?
 * @slots: slots of the tables' pages, by table, as root and directory name them
 * @next_seq: the operation that would come next, as the end of the journal says
 *
 * A root is written when all that its tables know is in the journal, and durable. If the journal
 * ends before that, it was damaged later. To go on would give numbers to new operations that
 * pages of tables have seen, which so would not take them.
 *
 * Return: NULL, or what is wrong.
 */
const char *dmda_root_check_times(const struct dmda_slots *slots, u64 next_seq);

/**
 * dmda_directory_encode() - make a page of the directory
 * @map: slots of the map
 * @index: page of the directory
 * @slot: slot to which it goes
 */
void dmda_directory_encode(const struct dmda_super *super, const struct dmda_slots *map,
			   u64 index, u32 slot, u64 epoch, struct dmda_slots_block *page);

/**
 * dmda_directory_decode() - take the entries of a page of the directory
 * @seq_slot: its entry in the root
 *
 * Return: NULL, or what is wrong.
 */
const char *dmda_directory_decode(const struct dmda_super *super, u64 index, u64 seq_slot,
				  const struct dmda_slots_block *page,
				  struct dmda_slots *map);

#endif /* DMDA_ROOT_H */
