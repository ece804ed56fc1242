/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long writes wait for places before they fail for want of space.
 *
 * Time has any unit, the same for all. It is counted from when the first of them began to
 * wait, and anew whenever one gets places or a segment becomes free.
 */
#ifndef DMDA_PATIENCE_H
#define DMDA_PATIENCE_H

#include <dieaware/platform.h>

/**
 * struct dmda_patience - what decides
 * @waited: nobody has got anything for so long
 * @timeout: so long they wait in any case
 * @grace: so much longer while segments are empty, which are going to be free: that takes a
 *	commit, the ends of who reads there, and a discard
 * @any_empty: whether some are
 */
struct dmda_patience {
	u64 waited;
	u64 timeout;
	u64 grace;
	bool any_empty;
};

/**
 * dmda_patience_left() - how long do they wait on, as things are?
 * Return: 0 if they do not.
 */
u64 dmda_patience_left(const struct dmda_patience *patience);

#endif /* DMDA_PATIENCE_H */
