/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long writes wait for places before they fail for want of space.
 *
 * Only time is counted in which there was none to be had. What the device below has not answered
 * yet, or cleaning has not come to, takes as long as it takes: nobody fails for that.
 *
 * Time has any unit, the same for all. It is looked at now and then: what lies between two
 * looks counts if both of them find that there is no space.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_PATIENCE_H
#define DMDA_PATIENCE_H

#include <dieaware/platform.h>

/**
 * struct dmda_patience - time that writes have waited for want of space
 * @used: that time, in the caller's unit
 * @last: time of the last look
 * @was_out: whether there was no space at the last look
 */
struct dmda_patience {
	u64 used;
	u64 last;
	bool was_out;
};

/**
 * dmda_patience_renew() - somebody got places, or there are new ones
 */
static inline void dmda_patience_renew(struct dmda_patience *patience)
{
	patience->used = 0;
	patience->was_out = false;
}

/**
 * dmda_patience_look() - how is it now?
 * @now: the time
 * @is_out: whether there is no space, and nothing under way is going to bring any
 */
void dmda_patience_look(struct dmda_patience *patience, u64 now, bool is_out);

/**
 * dmda_patience_left() - how long do they wait on, as it was at the last look?
 * @timeout: so long they wait for want of space
 *
 * Return: 0 if they do not; U64_MAX: as long as it takes.
 */
u64 dmda_patience_left(const struct dmda_patience *patience, u64 timeout);

#endif /* DMDA_PATIENCE_H */
