/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of ftl_check() that is about erase blocks.
 */
#ifndef FTL_CHECK_EBLK_H
#define FTL_CHECK_EBLK_H

#include "state.h"

/**
 * ftl_check_eblks() - are the erase blocks of a die where they say that they are?
 * Return: NULL, or a sentence that says what is wrong.
 */
const char *ftl_check_eblks(const struct ftl *ftl, die_t die);

#endif /* FTL_CHECK_EBLK_H */
