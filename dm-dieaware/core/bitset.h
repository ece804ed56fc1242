/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A set of numbers in which the next one is found in as many steps as the largest number has
 * digits: a bit for each number, a bit for each word of these that is not 0, and so on.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_BITSET_H
#define DMDA_BITSET_H

#include <dieaware/platform.h>

/* 64 to the power of that is more than a u32. */
#define DMDA_BITSET_LEVELS	6U

/**
 * struct dmda_bitset - numbers from 0 up to @nr
 * @nr: how many there may be
 * @word: words of each level, the lowest first
 */
struct dmda_bitset {
	u32 nr;
	u64 *word[DMDA_BITSET_LEVELS];
};

/**
 * dmda_bitset_bytes() - memory for a set of @nr numbers
 */
size_t dmda_bitset_bytes(u32 nr);

/**
 * dmda_bitset_init() - an empty set
 * @zeroed: dmda_bitset_bytes() bytes
 */
void dmda_bitset_init(struct dmda_bitset *set, u32 nr, void *zeroed);

/**
 * dmda_bitset_put() - put a number in, or take it out
 * @has: whether the set has it afterwards
 */
void dmda_bitset_put(struct dmda_bitset *set, u32 number, bool has);

/* Is a number in it? */
static inline bool dmda_bitset_has(const struct dmda_bitset *set, u32 number)
{
	return set->word[0][number / 64] >> number % 64 & 1;
}

/**
 * dmda_bitset_next() - the first number of the set that is not below @from
 * Return: it, or @set->nr.
 */
u32 dmda_bitset_next(const struct dmda_bitset *set, u32 from);

#endif /* DMDA_BITSET_H */
