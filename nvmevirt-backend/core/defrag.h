/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The defrag log: which pages have data that was written for another page.
 *
 * A place on NAND carries the page and the number of its data, and cannot be written
 * again when a page is to share it. So the log says so: an entry gives the page a number
 * of its own, as a write would have, and names the data by the number it was written with.
 *
 *	place:  page 11, number 5         log:  page 19 has since 9 the data 5 of page 11
 *
 * Numbers order everything that ever happened to a page: data on NAND, trims and
 * entries. After a power failure an entry is in force if its data is found, and nothing of
 * its page has a higher number. So nothing has to be taken out of the log: it is outdated
 * by what comes later, as the versions of Hahn et al. are.
 *
 * All or nothing: the entries of a command become durable together, at a time at which the
 * data is on NAND. When the power fails before, they are cut off the log, and so they are
 * whole or not at all. Until then no block is erased that has what the page had before.
 *
 * Retirement: data with one owner left is written under that page and the number of its
 * entry when collection moves it. Which of both copies counts until the old place is erased
 * is the same as with any that collection makes (rebuild.h).
 *
 * Compaction: a command for which there is no room goes over the log once and takes out
 * what is outdated for good: entries of pages that have something newer which survives a
 * power failure, and those whose data is under its own number. If that is not enough, the
 * command is refused.
 */
#ifndef FTL_DEFRAG_H
#define FTL_DEFRAG_H

#include "l2p.h"

/**
 * struct ftl_defrag_entry - a page has data that was written for another page
 * @seq: number that the page's data has from this entry on
 * @data: number that the data was written with
 * @commit_ns: time from which a power failure leaves the entry
 * @lpn: the page
 * @home: page that the data was written for
 * @place: place on NAND that had the data last
 * @reserved: zero
 */
struct ftl_defrag_entry {
	u64 seq;
	u64 data;
	u64 commit_ns;
	u32 lpn;
	u32 home;
	u32 place;
	u32 reserved;
};

/**
 * struct ftl_defrag_head - begins the log
 * @nr: number of entries
 * @nr_compactions: number of compactions so far
 * @nr_kept: number of entries that compactions have kept
 */
struct ftl_defrag_head {
	u64 nr;
	u64 nr_compactions;
	u64 nr_kept;
};

/**
 * ftl_defrag_max() - entries that fit into the log
 */
u32 ftl_defrag_max(const struct ftl_params *params);

/**
 * ftl_defrag_reserve() - make sure that there is room
 * @nr: entries that are going to be added
 *
 * Return: whether there is.
 */
bool ftl_defrag_reserve(struct ftl_l2p *map, u32 nr);

/**
 * ftl_defrag_add() - add an entry, with the next number
 * @ppn: place on NAND whose data the page has
 * @commit_ns: time at which it is durable; not before those added earlier
 *
 * Return: the entry's index.
 */
u32 ftl_defrag_add(struct ftl_oob *oob, lpn_t lpn, ppn_t ppn, u64 commit_ns);

/**
 * ftl_defrag_moved() - an entry's data was moved to another place on NAND
 */
void ftl_defrag_moved(struct ftl_oob *oob, u32 entry, ppn_t ppn);

/**
 * ftl_defrag_is_kept() - would a power failure leave the entry now?
 */
bool ftl_defrag_is_kept(const struct ftl_oob *oob, u32 entry);

/**
 * ftl_defrag_settle() - all entries count as durable; their data is on NAND
 */
void ftl_defrag_settle(struct ftl_oob *oob);

/**
 * ftl_defrag_cut() - the power fails: entries that are not durable are lost
 */
void ftl_defrag_cut(struct ftl_oob *oob, u64 now_ns);

/**
 * ftl_defrag_replay() - after a power failure, let the log's pages own their data again
 * @map: made from the out-of-band data of all places
 *
 * Return: NULL, or why the log is not one that the drive leaves.
 */
const char *ftl_defrag_replay(struct ftl_l2p *map);

/**
 * ftl_defrag_compact() - take out what is outdated for good
 */
void ftl_defrag_compact(struct ftl_l2p *map);

#endif /* FTL_DEFRAG_H */
