/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a write has to be to those before it. Whoever decides that something is to be written says
 * so with these; whoever writes it must not do less, and need not do more. Writes without them may
 * become durable in any order, or never.
 */
#ifndef DMDA_ORDER_H
#define DMDA_ORDER_H

#include <dieaware/platform.h>

/* All writes that have ended are durable before it begins. */
#define DMDA_ORDER_FLUSH	BIT(0)

/* It is durable when it has ended. */
#define DMDA_ORDER_FUA		BIT(1)

#endif /* DMDA_ORDER_H */
