/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What table lines and messages have in common: decimal numbers, without a sign, spaces
 * or anything else that a kernel's parser would let pass.
 */
#ifndef DMDA_WORDS_H
#define DMDA_WORDS_H

#include <dieaware/platform.h>

/**
 * dmda_parse_u64() - a decimal number below a limit
 * @word: digits only; the kernel's own parsers take a sign and a newline as well
 * @limit: the number must be smaller
 * @number: gets the number; unchanged after an error
 *
 * Context: any.
 * Return: whether @word is such a number.
 */
static inline bool dmda_parse_u64(const char *word, u64 limit, u64 *number)
{
	size_t nr_digits = strspn(word, "0123456789");
	u64 value;

	if (!nr_digits || word[nr_digits] || kstrtou64(word, 10, &value) || value >= limit)
		return false;
	*number = value;
	return true;
}

#endif /* DMDA_WORDS_H */
