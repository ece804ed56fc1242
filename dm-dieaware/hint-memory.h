/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is remembered of the bios that go by, in both modes: a cache in which hints are looked
 * up. Runs of files are in the run table; here is how bios get into it, and what needs no table.
 */
#ifndef DMDA_HINT_MEMORY_H
#define DMDA_HINT_MEMORY_H

#include <linux/bio.h>
#include <linux/hash.h>

#include "core/units.h"

struct dmda;
struct dmda_neighbour;
struct dmda_owner;
struct dmda_run;
struct dmda_write;

/* Slots that remember where writes of unknown files ended */
#define DMDA_TAIL_BITS	8
#define DMDA_NR_TAILS	BIT(DMDA_TAIL_BITS)

/**
 * struct dmda_tails - ends of recent writes of unknown files
 * @end: dpn behind the last page of such a write, by its hash; no lock: a lost entry is a
 *	lost hint
 */
struct dmda_tails {
	u64 end[DMDA_NR_TAILS];
};

static inline u32 dmda_tail_slot(dpn_t end)
{
	return hash_64(from_dpn(end), DMDA_TAIL_BITS);
}

/* Before the first page nothing ends: slots that are empty look as if something did. */
static inline bool dmda_tail_is_at(const struct dmda_tails *tails, dpn_t dpn)
{
	return from_dpn(dpn) && READ_ONCE(tails->end[dmda_tail_slot(dpn)]) == from_dpn(dpn);
}

/* A write of an unknown file ends before this page */
static inline void dmda_tail_put(struct dmda_tails *tails, dpn_t end)
{
	WRITE_ONCE(tails->end[dmda_tail_slot(end)], from_dpn(end));
}

/**
 * dmda_hint_look_before() - the page before a run in its file, as far as is known
 * @run: of a known file
 * @before: gets where it was written last, and what is there now
 *
 * Context: as dmda_runtable_owner().
 */
void dmda_hint_look_before(struct dmda *dmda, const struct dmda_run *run,
			   struct dmda_neighbour *before);

/**
 * dmda_hint_adopt() - does a write replace pages of its file that another one is known to have?
 * @run: of a known file
 * @here: what its first page holds, which is no page of that file; gets that file if it does
 *
 * From now on they are the file's alone, as it is the one that writes.
 *
 * Context: as dmda_runtable_owner().
 * Return: whether it does.
 */
bool dmda_hint_adopt(struct dmda *dmda, const struct dmda_run *run, struct dmda_owner *here);

/**
 * dmda_hint_forget() - nobody knows any more what some sectors hold
 * @dmda: the target
 * @sector: the first of them in the target
 * @nr_sectors: their number
 *
 * Context: from map.
 */
void dmda_hint_forget(struct dmda *dmda, sector_t sector, u64 nr_sectors);

/**
 * dmda_hint_forget_all() - writes go by unseen: what was known is out of date
 * @dmda: the target
 *
 * Context: may sleep.
 */
void dmda_hint_forget_all(struct dmda *dmda);

/**
 * dmda_hint_learn() - a read may tell where its file lies
 * @bio: the read, of which dmda_fills_cache() is true
 * @sector: its first sector, in the target
 *
 * Context: from map.
 */
void dmda_hint_learn(struct dmda *dmda, struct bio *bio, sector_t sector);

/**
 * dmda_hint_watch() - learn from what is no write
 * @bio: it has data, or says what has none any more
 * @sector: first sector of the bio, in the target
 *
 * Context: from map.
 */
void dmda_hint_watch(struct dmda *dmda, struct bio *bio, sector_t sector);

/**
 * dmda_hint_follow() - a write of an unknown file: does it continue another one?
 * @write: @run says where, its verdict that there is no hint; gets another one, and another source,
 *	if it does
 *
 * Context: from map.
 */
void dmda_hint_follow(struct dmda *dmda, struct dmda_write *write);

#endif /* DMDA_HINT_MEMORY_H */
