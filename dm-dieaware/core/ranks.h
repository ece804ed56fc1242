/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers that have ranks, or none: a list for each rank, which a number joins behind all others.
 * So the first of a list is the one that has kept its rank for longest.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_RANKS_H
#define DMDA_RANKS_H

#include <dieaware/platform.h>

#define DMDA_NR_RANKS	64U
#define DMDA_RANK_NONE	DMDA_NR_RANKS

/* No number. */
#define DMDA_RANKS_END	U32_MAX

/**
 * struct dmda_ranks_link - neighbours of a number in its list, plus one; 0: none
 */
struct dmda_ranks_link {
	u32 before;
	u32 after;
};

/**
 * struct dmda_ranks - numbers by rank
 * @link: by number
 * @first: of each list, plus one; 0: it is empty
 * @last: of each list, likewise
 */
struct dmda_ranks {
	struct dmda_ranks_link *link;
	u32 first[DMDA_NR_RANKS];
	u32 last[DMDA_NR_RANKS];
};

/**
 * dmda_ranks_bytes() - memory for @nr numbers
 */
size_t dmda_ranks_bytes(u32 nr);

/**
 * dmda_ranks_init() - no number has a rank
 * @zeroed: dmda_ranks_bytes() bytes
 */
void dmda_ranks_init(struct dmda_ranks *ranks, void *zeroed);

/**
 * dmda_ranks_move() - a number gets another rank
 * @from: the one that it has, or DMDA_RANK_NONE
 * @to: the one that it gets, or DMDA_RANK_NONE
 */
void dmda_ranks_move(struct dmda_ranks *ranks, u32 number, u32 from, u32 to);

/* The first number of a rank, or DMDA_RANKS_END. */
static inline u32 dmda_ranks_first(const struct dmda_ranks *ranks, u32 rank)
{
	return ranks->first[rank] - 1;
}

/* The number behind another one, or DMDA_RANKS_END. */
static inline u32 dmda_ranks_after(const struct dmda_ranks *ranks, u32 number)
{
	return ranks->link[number].after - 1;
}

/**
 * dmda_ranks_sort() - put each list in another order
 * @is_before: is to say whether the number @a comes before @b
 * @arg: its first argument
 */
void dmda_ranks_sort(struct dmda_ranks *ranks,
		     bool (*is_before)(const void *arg, u32 a, u32 b), const void *arg);

#endif /* DMDA_RANKS_H */
