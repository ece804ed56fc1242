/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which drives there can be: a geometry has to fit into numbers of 32 bits, and its dies have to
 * hold what they show to the host, with what collection needs besides (geometry.h).
 */
#ifndef FTL_PARAMS_CHECK_H
#define FTL_PARAMS_CHECK_H

#include "params.h"

/**
 * ftl_params_check() - are these the parameters of a drive that can work?
 * @params: parameters that the user asked for; all members must be set
 *
 * Return: NULL, or a complete sentence that says what is impossible and why.
 */
const char *ftl_params_check(const struct ftl_params *params);

/**
 * ftl_params_capacity() - pages that a geometry can show to the host
 * @params: parameters; @nr_lpns is not looked at, a geometry that overflows gives 0
 */
u64 ftl_params_capacity(const struct ftl_params *params);

#endif /* FTL_PARAMS_CHECK_H */
