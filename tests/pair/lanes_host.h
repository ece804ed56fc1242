/* SPDX-License-Identifier: GPL-2.0-only */
/* The host's half of the suite: see lanes_kunit.c. */
#ifndef TESTS_PAIR_LANES_HOST_H
#define TESTS_PAIR_LANES_HOST_H

#include <dieaware/platform.h>

/**
 * host_reset() - a host that knows of nothing
 */
void host_reset(void);

/**
 * host_forget() - as when memory is short: where pages lie is not known any more
 */
void host_forget(void);

/**
 * host_place() - a write of a file, as hint mode works it out
 * @file: number of the file, above 0
 * @fpage: first page in the file
 * @dpn: page of the device that it is written to
 * @nr_pages: length; gets what goes to the lane that is returned
 *
 * Return: the lane.
 */
u32 host_place(u64 file, u64 fpage, u64 dpn, u32 *nr_pages);

#endif /* TESTS_PAIR_LANES_HOST_H */
