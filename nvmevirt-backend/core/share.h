/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages that share a place: janusdL of Hahn et al., "Improving File System Performance of
 * Mobile Storage Systems Using a Decoupled Defragmenter", USENIX ATC 2017, section 4.
 *
 * The maps know one owner of a place. Further ones are here, each a sharer: a record that
 * is found by its place and by its page. Where there are none, a test of a number that is
 * zero is all that sharing costs.
 *
 *	place_of:  src --> P, dst --> P
 *	owner_of:  P --> src
 *	sharers:   P --> dst
 *
 * Whoever owns a place alone owns it as any page does: its owner may go, another one
 * takes its part, and only when the last has gone is the place dead. A place counts as
 * one valid page, however many own it.
 *
 * With out-of-band data, P carries the number of src's data, and that dst has it as well
 * is in the defrag log only (defrag.h). So dst stays a sharer, even when it is the only
 * owner left, until P is written under its own number: by collection, or by the host.
 *
 * Data that is shared is on NAND, or in a unit of collection: ftl_share() programs the
 * open units of the host that hold it first. So none of their rules knows of sharing.
 */
#ifndef FTL_SHARE_H
#define FTL_SHARE_H

#include "l2p.h"
#include "oob.h"

/**
 * struct ftl_sharer - a page that lies in the place of another page's data
 * @lpn: lpn of the page plus one, 0 if the record is free
 * @place: place in which it lies
 * @log_page: the page in the defrag log plus one, 0 without out-of-band data
 * @same_place: next sharer of its bucket by place, plus one, or the next free record, or 0
 * @same_lpn: next sharer of its bucket by page, plus one, or 0
 */
struct ftl_sharer {
	u32 lpn;
	u32 place;
	u32 log_page;
	u32 same_place;
	u32 same_lpn;
};

/**
 * struct ftl_share - all sharers
 * @most: number of sharers that commands may make
 * @max: number of records
 * @nr: number of records in use
 * @nr_extra: number of mapped pages less that of the places in which they lie
 * @bits: log2 of the size of the hash tables
 * @free: free record plus one, or 0
 * @sharer: records
 * @by_place: hash table by place, of records plus one
 * @by_lpn: hash table by page, of records plus one
 * @next: next page of the same bucket plus one, by page of the defrag log, for its replay
 */
struct ftl_share {
	u32 most;
	u32 max;
	u32 nr;
	u64 nr_extra;
	u32 bits;
	u32 free;
	struct ftl_sharer *sharer;
	u32 *by_place;
	u32 *by_lpn;
	u32 *next;
};

/**
 * ftl_share_bytes() - memory of the sharers: 28 to 36 bytes for each, or with a log
 *	for each page that it may have
 */
size_t ftl_share_bytes(const struct ftl_params *params);

/**
 * ftl_share_init() - nothing is shared
 * @zeroed: ftl_share_bytes() bytes
 */
void ftl_share_init(struct ftl_share *share, const struct ftl_params *params, void *zeroed);

/**
 * ftl_share_find() - find the record of a page
 * Return: the record, or NULL if the page is no sharer.
 */
struct ftl_sharer *ftl_share_find(const struct ftl_share *share, lpn_t lpn);

/**
 * ftl_share_at() - find a sharer of a place
 * @after: the one found last, or NULL
 *
 * Return: the record, or NULL if there is none.
 */
struct ftl_sharer *ftl_share_at(const struct ftl_share *share, ppn_t ppn,
				const struct ftl_sharer *after);

/**
 * ftl_share_join() - an unmapped page becomes an owner of a place
 * @log_page: the page in the defrag log plus one, or 0
 *
 * There must be a free record.
 */
void ftl_share_join(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn, u32 log_page);

/**
 * ftl_share_restore() - a page lies in the place of another one's data, as it did before
 * @lpn: the page plus one; no sharer yet, and mapped to the place
 * @log_page: the page in the defrag log plus one, or 0
 *
 * Owners and counts are the caller's. There must be a free record.
 */
void ftl_share_restore(struct ftl_share *share, u32 lpn, u32 place, u32 log_page);

/**
 * ftl_share_leave() - a page no longer owns a place; its own entry is the caller's
 * Return: whether the place has no owner any more.
 */
bool ftl_share_leave(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn);

/**
 * ftl_share_move() - the data of a place with sharers is now in another one
 *
 * The last owner's data gets its own number with that if it goes to an open unit.
 */
void ftl_share_move(struct ftl_l2p *map, ppn_t from, ppn_t to);

/**
 * ftl_share_repeats() - does a page lie in the place of one of those before it?
 * @first: first of the pages before it
 */
bool ftl_share_repeats(const struct ftl_l2p *map, lpn_t first, lpn_t lpn);

/**
 * ftl_share_seq() - number of a page's data, see ftl_seq_of()
 */
u64 ftl_share_seq(const struct ftl_l2p *map, lpn_t lpn);

static inline bool ftl_l2p_has_sharers(const struct ftl_l2p *map)
{
	return map->share && map->share->nr;
}

/* Has the place an owner that the maps alone do not know? */
static inline bool ftl_l2p_is_shared(const struct ftl_l2p *map, ppn_t ppn)
{
	return ftl_l2p_has_sharers(map) && ftl_share_at(map->share, ppn, NULL);
}

/* Does the page lie in the place of one of those from @first up to it? */
static inline bool ftl_l2p_repeats(const struct ftl_l2p *map, lpn_t first, lpn_t lpn)
{
	return ftl_l2p_has_sharers(map) && ftl_share_repeats(map, first, lpn);
}

/* Number of a mapped page's data; with out-of-band data. */
static inline u64 ftl_l2p_seq(const struct ftl_l2p *map, lpn_t lpn)
{
	if (ftl_l2p_has_sharers(map))
		return ftl_share_seq(map, lpn);
	return ftl_oob_seq(map->oob, ftl_l2p_get(map, lpn));
}

/* The page no longer owns the place. Return: whether nobody does. */
static inline bool ftl_l2p_leave(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	if (ftl_l2p_has_sharers(map))
		return ftl_share_leave(map, lpn, ppn);
	map->owner_of[from_ppn(ppn)] = 0;
	return true;
}

#endif /* FTL_SHARE_H */
