/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What dies do while the host wants nothing of them: collect until enough blocks are
 * free (gc.h), then fold (slc.h), then mend (mend.h).
 *
 * The drive has no clock and no thread. But a die's timeline says since when it is idle,
 * so what it would have done since then is booked later, at the next command or when the
 * controller calls ftl_idle(). Nothing is lost by looking late: idle time that was not
 * used is still there. As in a drive, a command may find its die amid a step.
 */
#ifndef FTL_IDLE_H
#define FTL_IDLE_H

#include "state.h"

/* A die is idle when it had nothing to do for so long: shorter gaps are the host's. */
#define FTL_IDLE_NS	1000000U

/* A drive folds and mends when it had no command for so long: what is mended should last. */
#define FTL_REST_NS	100000000U

/**
 * ftl_idle_slice() - a small part of the work of ftl_idle(), for each command
 */
void ftl_idle_slice(struct ftl *ftl);

#endif /* FTL_IDLE_H */
