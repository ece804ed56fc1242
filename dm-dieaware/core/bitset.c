// SPDX-License-Identifier: GPL-2.0-only
/*
 * A word of a level stands for 64 of the level below. It has a bit set for each of these that is
 * not 0. So a level is looked at only where the one above says that there is something.
 */
#include "bitset.h"

#define WORD_SHIFT	6U
#define WORD_MASK	((1U << WORD_SHIFT) - 1)

/* Words that have so many bits, which are the bits of the level above */
static u32 words_of(u32 nr)
{
	return DIV_ROUND_UP_ULL((u64)nr, 1U << WORD_SHIFT);
}

size_t dmda_bitset_bytes(u32 nr)
{
	size_t words = 0;

	for (u32 level = 0; level < DMDA_BITSET_LEVELS; level++) {
		nr = words_of(nr);
		words += nr;
	}
	return words * sizeof(u64);
}

void dmda_bitset_init(struct dmda_bitset *set, u32 nr, void *zeroed)
{
	u64 *words = zeroed;

	set->nr = nr;
	for (u32 level = 0; level < DMDA_BITSET_LEVELS; level++) {
		set->word[level] = words;
		nr = words_of(nr);
		words += nr;
	}
}

void dmda_bitset_put(struct dmda_bitset *set, u32 number, bool has)
{
	for (u32 level = 0; level < DMDA_BITSET_LEVELS; level++) {
		u64 *word = &set->word[level][number >> WORD_SHIFT];
		u64 bit = 1ULL << (number & WORD_MASK), others = *word & ~bit;

		*word = has ? others | bit : others;
		/* The level above knows of the others already. */
		if (others)
			return;
		number >>= WORD_SHIFT;
	}
}

/* Up to where something is behind @from, and from there down to the first of it */
u32 dmda_bitset_next(const struct dmda_bitset *set, u32 from)
{
	u32 at = from, nr = set->nr, level;

	for (level = 0; level < DMDA_BITSET_LEVELS; level++) {
		u32 index = at >> WORD_SHIFT;
		u64 bits;

		nr = words_of(nr);
		if (index >= nr)
			return set->nr;
		bits = set->word[level][index] >> (at & WORD_MASK);
		if (bits) {
			at += __ffs64(bits);
			break;
		}
		at = index + 1;
	}
	if (level == DMDA_BITSET_LEVELS)
		return set->nr;
	while (level--)
		at = at << WORD_SHIFT | (u32)__ffs64(set->word[level][at]);
	return at;
}
