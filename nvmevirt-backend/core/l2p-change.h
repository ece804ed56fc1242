/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes of the two maps (l2p.h), with all that follows what they do: the counts of regions and
 * the table of what is mapped, the sharers of a place, and the out-of-band data of open units.
 */
#ifndef FTL_L2P_CHANGE_H
#define FTL_L2P_CHANGE_H

#include "oob-slots.h"
#include "share.h"
#include "table.h"

/* What buffered data of the page at @ppn took the place of, or newer data will take. */
static inline struct ftl_oob_prev ftl_l2p_prev(const struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	struct ftl_oob_prev prev = ftl_oob_prev_of(map->oob, ppn);

	/* A place carries the number of one of its owners only. */
	if (ftl_l2p_is_shared(map, ppn))
		prev.seq = ftl_l2p_seq(map, lpn);
	return prev;
}

static inline void ftl_l2p_put_oob(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	u32 entry = map->place_of[from_lpn(lpn)];
	struct ftl_oob_prev prev = {};

	if (entry)
		prev = ftl_l2p_prev(map, lpn, to_ppn(entry - 1));
	ftl_oob_put(map->oob, lpn, ppn, prev);
}

/* The page is now at @ppn. Return: whether where it was, if anywhere, holds nothing now. */
static inline bool ftl_l2p_put(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	u32 *entry = &map->place_of[from_lpn(lpn)];
	bool is_dead = true;

	if (map->oob)
		ftl_l2p_put_oob(map, lpn, ppn);
	if (*entry)
		is_dead = ftl_l2p_leave(map, lpn, to_ppn(*entry - 1));
	else
		ftl_l2p_count_up(map, from_lpn(lpn));
	*entry = from_ppn(ppn) + 1;
	map->owner_of[from_ppn(ppn)] = from_lpn(lpn) + 1;
	return is_dead;
}

/* The page is at @ppn, the only place where it ever is. */
static inline void ftl_l2p_put_home(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	u32 *entry = &map->place_of[from_lpn(lpn)];

	if (!*entry)
		ftl_l2p_count_up(map, from_lpn(lpn));
	*entry = from_ppn(ppn) + 1;
	map->owner_of[from_ppn(ppn)] = from_lpn(lpn) + 1;
	if (map->oob)
		ftl_oob_put_home(map->oob, lpn, ppn);
}

/* The page at @ppn is written again where it is. */
static inline void ftl_l2p_renew(struct ftl_l2p *map, ppn_t ppn)
{
	if (map->oob)
		ftl_oob_renew(map->oob, ppn);
}

static inline void ftl_l2p_set_prev(struct ftl_l2p *map, lpn_t lpn, struct ftl_oob_prev prev)
{
	ftl_oob_set_prev(map->oob, ftl_l2p_get(map, lpn), prev);
}

/* The page is nowhere now. Return: whether the place where it was holds nothing. */
static inline bool ftl_l2p_clear(struct ftl_l2p *map, lpn_t lpn, ppn_t ppn)
{
	ftl_l2p_count_down(map, from_lpn(lpn));
	map->place_of[from_lpn(lpn)] = 0;
	if (!ftl_l2p_leave(map, lpn, ppn))
		return false;
	if (map->oob)
		ftl_oob_drop(map->oob, ppn);
	return true;
}

/* The page at @from is now at @to; @from holds nothing. For NAND see ftl_oob_program(). */
static inline void ftl_l2p_move(struct ftl_l2p *map, ppn_t from, ppn_t to)
{
	u32 owner = map->owner_of[from_ppn(from)];

	if (ftl_l2p_is_shared(map, from)) {
		ftl_share_move(map, from, to);
		return;
	}
	if (map->oob && owner && ftl_ppn_is_buffered(map->oob->geo, to))
		ftl_oob_move(map->oob, owner, from, to);
	map->owner_of[from_ppn(from)] = 0;
	map->owner_of[from_ppn(to)] = owner;
	if (owner)
		map->place_of[owner - 1] = from_ppn(to) + 1;
}

#endif /* FTL_L2P_CHANGE_H */
