/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drives that have a name. The kernel module and the simulator start from the same
 * ones. Where every number comes from is in docs/nvmevirt-backend.md.
 */
#ifndef FTL_PROFILES_H
#define FTL_PROFILES_H

#include "ftl.h"

/**
 * struct ftl_profile - a named drive
 * @name: short name, a word
 * @description: one line for people
 * @capacity_bytes: size that is shown to the host
 * @nr_queues: I/O queue pairs that its controller offers
 * @queue_depth: commands that each of them takes at a time
 * @params: all but @eblks_per_die and @nr_lpns, which ftl_params_size() works out
 */
struct ftl_profile {
	const char *name;
	const char *description;
	u64 capacity_bytes;
	u32 nr_queues;
	u32 queue_depth;
	struct ftl_params params;
};

/**
 * ftl_profile_at() - the profiles one after the other
 * @index: from 0
 *
 * Return: the profile, or NULL behind the last one.
 */
const struct ftl_profile *ftl_profile_at(u32 index);

/**
 * ftl_params_size() - give the dies as many erase blocks as a capacity needs
 * @params: all members but @eblks_per_die and @nr_lpns, which are set; may be nonsense
 * @capacity_bytes: capacity that the host is to see
 *
 * Return: NULL, or a complete sentence that says what is impossible and why.
 */
const char *ftl_params_size(struct ftl_params *params, u64 capacity_bytes);

#endif /* FTL_PROFILES_H */
