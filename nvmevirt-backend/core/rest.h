/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A drive at rest: all that was booked has ended, and no unit waits in the buffer for its time.
 */
#ifndef FTL_REST_H
#define FTL_REST_H

#include "state.h"

/**
 * ftl_let_rest() - let time pass until the drive is at rest
 *
 * It does nothing of its own accord meanwhile (idle.h).
 */
void ftl_let_rest(struct ftl *ftl);

/**
 * ftl_set_clock() - set the clock of a drive at rest
 * @now_ns: present time; no other time of its past means anything any more
 */
void ftl_set_clock(struct ftl *ftl, u64 now_ns);

#endif /* FTL_REST_H */
