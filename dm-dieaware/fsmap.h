/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What filesystems tell of the O_DIRECT writes that they map, for identity.c: it asks here when
 * the pages of a bio do not say which file they are of.
 */
#ifndef DMDA_FSMAP_H
#define DMDA_FSMAP_H

#include <linux/types.h>

struct bio;
struct dmda_identity;

/**
 * dmda_fsmap_get() - a target wants to know what filesystems map
 *
 * Context: may sleep. Without the tracepoint in the kernel, nothing is ever found.
 */
void dmda_fsmap_get(void);

/**
 * dmda_fsmap_put() - a target wants no more
 *
 * Context: may sleep.
 */
void dmda_fsmap_put(void);

/**
 * dmda_fsmap_find() - the file for which this task writes to a place
 * @self_dev: the dm device
 * @bio: the write, not remapped yet
 * @identity: the answer; UNKNOWN if there is none. How much of it goes on in the file is not asked.
 *
 * Context: from map, in the task that wrote.
 */
void dmda_fsmap_find(dev_t self_dev, const struct bio *bio, struct dmda_identity *identity);

#endif /* DMDA_FSMAP_H */
