// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links are numbers plus one, so that zeroed memory has none.
 *
 * Sorting merges lists of equal length, which stand in bins by the binary digits of how many were
 * taken: as for a list of the kernel's, without memory that grows with it.
 */
#include "ranks.h"

/* Enough for any u32 */
#define NR_BINS	33

size_t dmda_ranks_bytes(u32 nr)
{
	return nr * sizeof(struct dmda_ranks_link);
}

void dmda_ranks_init(struct dmda_ranks *ranks, void *zeroed)
{
	memset(ranks, 0, sizeof(*ranks));
	ranks->link = zeroed;
}

static void leave(struct dmda_ranks *ranks, u32 number, u32 rank)
{
	struct dmda_ranks_link *link = &ranks->link[number];

	if (link->before)
		ranks->link[link->before - 1].after = link->after;
	else
		ranks->first[rank] = link->after;
	if (link->after)
		ranks->link[link->after - 1].before = link->before;
	else
		ranks->last[rank] = link->before;
}

static void join(struct dmda_ranks *ranks, u32 number, u32 rank)
{
	u32 last = ranks->last[rank];

	ranks->link[number] = (struct dmda_ranks_link){ .before = last };
	if (last)
		ranks->link[last - 1].after = number + 1;
	else
		ranks->first[rank] = number + 1;
	ranks->last[rank] = number + 1;
}

void dmda_ranks_move(struct dmda_ranks *ranks, u32 number, u32 from, u32 to)
{
	if (from == to)
		return;
	if (from != DMDA_RANK_NONE)
		leave(ranks, number, from);
	if (to != DMDA_RANK_NONE)
		join(ranks, number, to);
}

/* The order in which lists are to be */
struct order {
	bool (*is_before)(const void *arg, u32 a, u32 b);
	const void *arg;
};

/* Two lists become one; of equals, those of @a come first. Only links to what comes after count. */
static u32 merge(struct dmda_ranks *ranks, const struct order *order, u32 a, u32 b)
{
	u32 first = 0;
	u32 *end = &first;

	while (a && b) {
		u32 *next = order->is_before(order->arg, b - 1, a - 1) ? &b : &a;

		*end = *next;
		end = &ranks->link[*next - 1].after;
		*next = *end;
	}
	*end = a ?: b;
	return first;
}

static u32 sorted(struct dmda_ranks *ranks, const struct order *order, u32 first)
{
	u32 bin[NR_BINS] = {};
	u32 all = 0;

	while (first) {
		u32 list = first, i;

		first = ranks->link[list - 1].after;
		ranks->link[list - 1].after = 0;
		for (i = 0; bin[i]; i++) {
			list = merge(ranks, order, bin[i], list);
			bin[i] = 0;
		}
		bin[i] = list;
	}
	for (u32 i = 0; i < NR_BINS; i++)
		all = merge(ranks, order, bin[i], all);
	return all;
}

void dmda_ranks_sort(struct dmda_ranks *ranks,
		     bool (*is_before)(const void *arg, u32 a, u32 b), const void *arg)
{
	const struct order order = { .is_before = is_before, .arg = arg };

	for (u32 rank = 0; rank < DMDA_NR_RANKS; rank++) {
		u32 before = 0;

		ranks->first[rank] = sorted(ranks, &order, ranks->first[rank]);
		for (u32 at = ranks->first[rank]; at; at = ranks->link[at - 1].after) {
			ranks->link[at - 1].before = before;
			before = at;
		}
		ranks->last[rank] = before;
	}
}
