/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of a state file that is the FTL's state.
 */
#ifndef FTL_KEEP_STATE_H
#define FTL_KEEP_STATE_H

#include "keep-blocks.h"

struct ftl;

/**
 * ftl_keep_state() - all of the FTL's state but its parameters
 * @ftl: the drive, at rest; a new one if it is read
 */
void ftl_keep_state(struct ftl_keep *keep, struct ftl *ftl);

#endif /* FTL_KEEP_STATE_H */
