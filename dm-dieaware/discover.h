/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asking the device whether it understands hints: once, and what the answer was. When to ask,
 * and what follows from it, is hint-state.c's.
 */
#ifndef DMDA_DISCOVER_H
#define DMDA_DISCOVER_H

#include "core/config.h"

struct dmda;
struct dmda_discovery;

/**
 * dmda_discover() - ask the device whether it understands hints, and its geometry
 * @dmda: the target
 * @hints: what is wanted: of write streams it is asked if that may come to them
 * @discovery: the answer
 *
 * Context: may sleep; in a task that has a user's memory, of which two pages are used for
 * the way through the NVMe driver's interface to users.
 */
void dmda_discover(const struct dmda *dmda, enum dmda_hints_mode hints,
		   struct dmda_discovery *discovery);

#endif /* DMDA_DISCOVER_H */
