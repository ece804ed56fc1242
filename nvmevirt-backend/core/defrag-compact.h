/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compaction of the defrag log (defrag.h).
 *
 * Compaction: a command for which there is no room goes over the log once and takes out
 * what is outdated for good: pages that have something newer which survives a power failure,
 * and those whose data is under its own number. What is left of an entry may be several. If
 * that is not enough, the command is refused.
 */
#ifndef FTL_DEFRAG_COMPACT_H
#define FTL_DEFRAG_COMPACT_H

#include "l2p.h"

/**
 * ftl_defrag_compact() - take out what is outdated for good
 */
void ftl_defrag_compact(struct ftl_l2p *map);

/**
 * ftl_defrag_make_room() - the same, as a compaction that is counted, and whose rest is written
 */
void ftl_defrag_make_room(struct ftl_l2p *map);

/**
 * ftl_defrag_reserve() - make sure that there is room
 * @nr_entries: entries that are going to be added
 * @nr_pages: pages that they have
 *
 * Return: whether there is.
 */
bool ftl_defrag_reserve(struct ftl_l2p *map, u32 nr_entries, u32 nr_pages);

#endif /* FTL_DEFRAG_COMPACT_H */
