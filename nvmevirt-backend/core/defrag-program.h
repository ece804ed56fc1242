/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When the defrag log (defrag.h) is programmed, and what a share command has done is durable.
 */
#ifndef FTL_DEFRAG_PROGRAM_H
#define FTL_DEFRAG_PROGRAM_H

#include "state.h"

/**
 * ftl_share_add_to_log() - entries wait for the log
 * @is_anew: these entries are all that a compaction has left, and there is no other log
 * @at_ns: time from which they can be programmed
 *
 * What waits for the log goes there as a program's worth. With protection it is durable all the
 * same; without, all that waits goes along, as a command may not be durable in part.
 */
void ftl_share_add_to_log(struct ftl *ftl, u32 nr_entries, bool is_anew, u64 at_ns);

/**
 * ftl_share_commit() - make durable what share commands have done, on a drive without protection
 * @at_ns: time from which that can be done
 *
 * Return: the time at which it is.
 */
u64 ftl_share_commit(struct ftl *ftl, u64 at_ns);

#endif /* FTL_DEFRAG_PROGRAM_H */
