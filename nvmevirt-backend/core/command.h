/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each command does first, whatever it is.
 */
#ifndef FTL_COMMAND_H
#define FTL_COMMAND_H

#include "state.h"

/**
 * ftl_begin() - begin a command: the time of the drive does not go back
 *
 * What was due before @now_ns is done first. A firmware that takes a limited number of
 * commands a second starts them one after the other.
 *
 * Return: the time at which the firmware has taken it.
 */
u64 ftl_begin(struct ftl *ftl, u64 now_ns);

#endif /* FTL_COMMAND_H */
