/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Claims of lpns by writes and trims that are under way.
 */
#ifndef DMDA_LOG_CLAIMS_H
#define DMDA_LOG_CLAIMS_H

#include "../core/units.h"

struct dmda_log;
struct dmda_log_io;

/**
 * dmda_log_claim_locked() - a write or trim claims its lpns
 *
 * Who waits has claimed, too: what comes after it must not overtake it.
 *
 * Return: false if it has to wait for others, whose ends let it go on.
 */
bool dmda_log_claim_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_unclaim_locked() - it is done, and whoever waits only for it goes on
 */
void dmda_log_unclaim_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_shorten_locked() - others may have what a write is not going to write
 * @nr_pages: pages that it is, fewer than it was; the others come again as another one
 */
void dmda_log_shorten_locked(struct dmda_log *log, struct dmda_log_io *io, u32 nr_pages);

/**
 * dmda_log_where_locked() - where an lpn is, or is going to be
 * Return: DPN_NONE if it is nowhere, or its page of the map is not in memory.
 */
dpn_t dmda_log_where_locked(struct dmda_log *log, u64 lpn);

#endif /* DMDA_LOG_CLAIMS_H */
