/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a power failure leaves of trims: records of the latest ones, and a table of what was mapped
 * when it was made. Both are in the out-of-band area. The table is made in steps (table.c): no
 * call does more than its caller allows, however large the drive is.
 */
#ifndef FTL_TABLE_H
#define FTL_TABLE_H

#include "l2p.h"
#include "oob.h"

#define FTL_TABLE_WORD_BITS	64

/* Records with which a table is begun, so that there is room for more until it is made */
#define FTL_TABLE_BEGIN		384U

/* What a trim does towards a table: so many places, or more by a region, are looked at. */
#define FTL_TABLE_STEP		4096U

/**
 * enum ftl_region_state - what the table has of a region
 * @FTL_REGION_KEPT: what is mapped
 * @FTL_REGION_CHANGED: pages of it were mapped or unmapped since
 * @FTL_REGION_TAKEN: what was mapped when the table was begun that is being made; pages were mapped
 *	or unmapped since
 */
enum ftl_region_state {
	FTL_REGION_KEPT,
	FTL_REGION_CHANGED,
	FTL_REGION_TAKEN,
};

static inline size_t ftl_table_words(u64 nr_lpns)
{
	return div_u64(nr_lpns + FTL_TABLE_WORD_BITS - 1, FTL_TABLE_WORD_BITS);
}

/* Is a table being made? */
static inline bool ftl_table_is_due(const struct ftl_oob *oob)
{
	return oob->table_seq;
}

/* Is a table being made that has not come to this region? */
static inline bool ftl_table_needs(const struct ftl_oob *oob, u64 region)
{
	return ftl_table_is_due(oob) && region >= oob->table_at;
}

/**
 * ftl_table_take() - a page of a region that the table needs is about to be mapped or unmapped
 */
void ftl_table_take(struct ftl_l2p *map, u64 region);

/**
 * ftl_table_begin() - begin to make a table; none is being made
 *
 * All that is mapped must be durable: the table does not have when a page was trimmed that is
 * mapped again.
 */
void ftl_table_begin(struct ftl_l2p *map);

/**
 * ftl_table_step() - go on with the table that is being made
 * @most: places to look at; it ends with the region in which these are reached
 *
 * With the last region the records go that are older than the table.
 */
void ftl_table_step(struct ftl_l2p *map, u32 most);

/**
 * ftl_oob_has_room() - can a trim be kept?
 * @first: its first page
 */
bool ftl_oob_has_room(const struct ftl_oob *oob, u64 first);

/**
 * ftl_oob_trim() - keep that pages were trimmed; durable at once; there has to be room
 */
void ftl_oob_trim(struct ftl_oob *oob, u64 first, u64 nr);

static inline void ftl_l2p_change_region(struct ftl_l2p *map, u64 region)
{
	if (map->oob && ftl_table_needs(map->oob, region))
		ftl_table_take(map, region);
	else
		map->region_state[region] = FTL_REGION_CHANGED;
}

/* A page that is nowhere is about to be somewhere. */
static inline void ftl_l2p_count_up(struct ftl_l2p *map, u64 lpn)
{
	ftl_l2p_change_region(map, lpn >> FTL_REGION_SHIFT);
	map->region_mapped[lpn >> FTL_REGION_SHIFT]++;
}

/* A page that is somewhere is about to be nowhere. */
static inline void ftl_l2p_count_down(struct ftl_l2p *map, u64 lpn)
{
	ftl_l2p_change_region(map, lpn >> FTL_REGION_SHIFT);
	map->region_mapped[lpn >> FTL_REGION_SHIFT]--;
}

#endif /* FTL_TABLE_H */
