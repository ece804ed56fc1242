/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which pages are overwritten most often: a device does well to keep those in its write buffer.
 *
 * A device that understands hints collects what is overwritten in open units in its buffer, so that
 * a page which is overwritten again before its unit is full never comes to flash. It has few of
 * them, and puts out the one that was not used for longest. Where overwrites go everywhere, each
 * page is put out by others before it comes again, also the few that most writes go to. So only as
 * many pages as the units have room for should come there: the hottest.
 *
 * How often a page was written lately is counted in a table of a fixed size, eight times as many
 * pages as may be hot. A hand goes round the table and halves the counts, so what was long ago
 * counts for little. When it has been everywhere, it is known how many writes a page must have had
 * to be among the hottest. One that is hot stays so until it has had no more than a quarter of
 * that: of pages that are written equally often, those stay hot that are.
 *
 * Whether that pays is measured: if hot pages get less than an eighth of the writes, all pages are
 * as good as each other, and none is to be treated as cold.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_HEAT_H
#define DMDA_HEAT_H

#include <dieaware/platform.h>

/* Pages that share a place in the table; of them the coldest makes room */
#define DMDA_HEAT_WAYS		8U

/* Counts are in sixteenths of a write, as halving them leaves fractions, and end here. */
#define DMDA_HEAT_WRITE		16U
#define DMDA_HEAT_MAX		1023U

/* A whole turn of the hand takes so many writes for each page that may be hot. */
#define DMDA_HEAT_STEP		32U

/* Most pages that may be hot: 32 MiB */
#define DMDA_HEAT_MAX_PAGES	8192U

/**
 * struct dmda_heat_entry - a page that was written
 * @tag: low bits of its lpn. That two pages have the same confuses them at worst.
 * @count: number of times it was written lately, in sixteenths; 0: the entry is free
 * @is_hot: whether it is among the hottest
 */
struct dmda_heat_entry {
	u32 tag;
	u16 count;
	bool is_hot;
};

/**
 * struct dmda_heat - pages that were written, and how often
 * @entry: table, DMDA_HEAT_WAYS entries in a row for each place
 * @nr_places: number of places; as many as pages may be hot
 * @nr_hot: number of entries that are hot
 * @least: count from which on a page is hot
 * @hand: place at which the hand is
 * @nr_steps: number of writes since the hand has moved
 * @nr_writes: number of writes in this turn of the hand
 * @nr_to_hot: those of @nr_writes that went to hot pages
 * @is_skewed: whether hot pages got a good part of the writes in the last turn
 * @tally: number of entries of each count that the hand has met in this turn
 */
struct dmda_heat {
	struct dmda_heat_entry *entry;
	u32 nr_places;
	u32 nr_hot;
	u32 least;
	u32 hand;
	u32 nr_steps;
	u32 nr_writes;
	u32 nr_to_hot;
	bool is_skewed;
	u32 tally[DMDA_HEAT_MAX + 1];
};

/**
 * dmda_heat_bytes() - memory for so many hot pages
 */
size_t dmda_heat_bytes(u32 nr_pages);

/**
 * dmda_heat_init() - nothing was written yet
 * @nr_pages: pages that may be hot, at most DMDA_HEAT_MAX_PAGES; 0: none is treated as cold
 * @zeroed: dmda_heat_bytes() bytes
 */
void dmda_heat_init(struct dmda_heat *heat, u32 nr_pages, void *zeroed);

/**
 * dmda_heat_write() - a page is overwritten
 *
 * Return: whether it is cold, and there are others that are hot.
 */
bool dmda_heat_write(struct dmda_heat *heat, u64 lpn);

#endif /* DMDA_HEAT_H */
