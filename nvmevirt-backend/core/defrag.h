/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The defrag log: which pages have data that was written for other pages.
 *
 * A place on NAND carries the page and the number of its data, and cannot be written
 * again when a page is to share it. So the log says so: an entry gives pages in a row numbers
 * of their own, as a write would have, and names the data by the numbers it was written with.
 *
 *	places:  pages 11, 12, 13, numbers 5, 6, 7
 *	log:     pages 19 to 21 have since 9 to 11 the data 5 to 7 of pages 11 to 13
 *
 * It is an entry for as many pages as there are in a row on both sides, if their data was
 * written in a row as well, which a file's is; where that is not so another one begins. All
 * that is said of a page of an entry (page of the log) is about this page alone.
 *
 * Numbers order everything that ever happened to a page: data on NAND, trims and
 * entries. After a power failure a page of an entry is in force if its data is found, and
 * nothing of it has a higher number. So nothing has to be taken out of the log: it is outdated
 * by what comes later, as the versions of Hahn et al. are.
 *
 * All or nothing: the entries of a command become durable together, at a time at which the
 * data is on NAND. When the power fails before, they are cut off the log, and so they are
 * whole or not at all. Until then no block is erased that has what the pages had before.
 *
 * Without protection entries wait for a flush, a trim, an erase, a program of what the host has
 * written, or a program's worth of them, whichever comes first (ftl_share_commit()). So what was
 * written after a command is never durable before it: filesystems write what names a new place
 * before they flush, and rely on the old one until then.
 *
 * Retirement: data with one owner left is written under that page and its number of the
 * entry when collection moves it. Which of both copies counts until the old place is erased
 * is the same as with any that collection makes (rebuild.h).
 *
 * Here is the log itself, which knows pages, places and numbers. What it takes to bring it and the
 * maps together is in defrag-compact.h, while the drive is on, and in defrag-replay.h.
 */
#ifndef FTL_DEFRAG_H
#define FTL_DEFRAG_H

#include "oob.h"

/* Time of an entry that nobody has programmed yet */
#define FTL_DEFRAG_WAITS	U64_MAX

/**
 * struct ftl_defrag_entry - pages in a row have data that was written for others
 * @seq: number that the first page's data has from this entry on; the others' follow
 * @data: number that its data was written with; likewise
 * @commit_ns: time from which a power failure leaves the entry, or FTL_DEFRAG_WAITS
 * @lpn: the first page
 * @home: page that its data was written for; the others' follow
 * @nr: number of pages, at least 1
 * @first: number of pages of the entries before it: its first page in struct ftl_oob.defrag_page
 */
struct ftl_defrag_entry {
	u64 seq;
	u64 data;
	u64 commit_ns;
	u32 lpn;
	u32 home;
	u32 nr;
	u32 first;
};

/**
 * struct ftl_defrag_page - a page of an entry; not on NAND
 * @entry: the entry
 * @place: place on NAND that had its data last, U32_MAX if none was found
 */
struct ftl_defrag_page {
	u32 entry;
	u32 place;
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
 * ftl_defrag_max_pages() - pages that entries may have, all together
 */
u32 ftl_defrag_max_pages(const struct ftl_params *params);

/**
 * ftl_defrag_nr_pages() - pages that entries have
 */
u32 ftl_defrag_nr_pages(const struct ftl_oob *oob);

/**
 * ftl_defrag_entry_of() - entry of a single page
 * @ppn: place whose data the page is to have
 *
 * Return: an entry without a number of its own.
 */
struct ftl_defrag_entry ftl_defrag_entry_of(const struct ftl_oob *oob, lpn_t lpn, ppn_t ppn);

/**
 * ftl_defrag_extends() - can the page of another entry be the next one of an entry?
 */
bool ftl_defrag_extends(const struct ftl_defrag_entry *entry,
			const struct ftl_defrag_entry *page);

/**
 * ftl_defrag_add() - add a page, with the next number
 * @ppn: place on NAND whose data the page has
 * @commit_ns: time at which it is durable; not before those added earlier
 * @since: first entry of the same command; it is added to one of these, or has its own
 *
 * Return: the page of the log.
 */
u32 ftl_defrag_add(struct ftl_oob *oob, lpn_t lpn, ppn_t ppn, u64 commit_ns, u64 since);

/**
 * ftl_defrag_moved() - the data of a page of the log was moved to another place on NAND
 */
void ftl_defrag_moved(struct ftl_oob *oob, u32 page, ppn_t ppn);

/**
 * ftl_defrag_is_kept() - would a power failure leave the page of the log now?
 */
bool ftl_defrag_is_kept(const struct ftl_oob *oob, u32 page);

/**
 * ftl_defrag_lpn() - page that a page of the log is about
 */
lpn_t ftl_defrag_lpn(const struct ftl_oob *oob, u32 page);

/**
 * ftl_defrag_seq() - number that a page of the log has given
 */
u64 ftl_defrag_seq(const struct ftl_oob *oob, u32 page);

/**
 * ftl_defrag_page_of() - a page of the log, as if it had an entry of its own
 */
struct ftl_defrag_entry ftl_defrag_page_of(const struct ftl_oob *oob, u32 page);

/**
 * ftl_defrag_is_carried() - is the data of a page of the log in its old place still, or on its way
 *	there?
 */
bool ftl_defrag_is_carried(const struct ftl_oob *oob, u32 page);

/**
 * ftl_defrag_mark() - begin of the log, and entries of it, were changed
 * @first: first of these entries
 * @nr: number of them
 */
void ftl_defrag_mark(struct ftl_oob *oob, u64 first, u64 nr);

/**
 * ftl_defrag_commit() - entries that wait are durable from a time on
 */
void ftl_defrag_commit(struct ftl_oob *oob, u64 commit_ns);

/**
 * ftl_defrag_settle() - all entries count as durable; their data is on NAND
 */
void ftl_defrag_settle(struct ftl_oob *oob);

/**
 * ftl_defrag_rest() - the same of a drive at rest, whose times mean nothing to another clock
 */
void ftl_defrag_rest(struct ftl_oob *oob);

/**
 * ftl_defrag_hurry() - entries that are durable at a time count as being so now
 * @ns: the time; entries that wait for their program have none
 *
 * Return: whether there were any.
 */
bool ftl_defrag_hurry(struct ftl_oob *oob, u64 ns);

/**
 * ftl_defrag_cut() - the power fails: entries that are not durable are lost
 */
void ftl_defrag_cut(struct ftl_oob *oob, u64 now_ns);

/**
 * ftl_defrag_restore_pages() - make the pages of the entries anew; no place is known of any
 * Return: NULL, or why the log is not one that the drive leaves.
 */
const char *ftl_defrag_restore_pages(struct ftl_oob *oob);

/**
 * ftl_defrag_check() - are the log's pages those of its entries, one after the other?
 * Return: NULL, or what is wrong.
 */
const char *ftl_defrag_check(const struct ftl_oob *oob);

#endif /* FTL_DEFRAG_H */
