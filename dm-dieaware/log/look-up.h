/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where lpns are, for those who read there.
 */
#ifndef DMDA_LOG_LOOK_UP_H
#define DMDA_LOG_LOOK_UP_H

#include "../core/units.h"

struct dmda_log;

/**
 * struct dmda_log_found - where lpns are
 * @dpn: place of the first, or DPN_NONE
 * @seg: segment of that place, or SEG_NONE
 * @nr_pages: number of lpns that go on there, or hold nothing like the first
 * @sums: memory for the checksums of these, or NULL; the caller's to fill in
 */
struct dmda_log_found {
	dpn_t dpn;
	seg_t seg;
	u32 nr_pages;
	__le32 *sums;
};

/**
 * dmda_log_look_up() - where are lpns, to be read there?
 * @nr_pages: most that matter
 *
 * The caller is counted among the readers of the segment, if there is one: dmda_log_put_reader() is
 * due.
 *
 * Context: any. With the lock it fails only if the page of the map is not in memory, without also
 *	if that changes all the time.
 * Return: whether it is known.
 */
bool dmda_log_look_up(struct dmda_log *log, u64 lpn, u32 nr_pages, struct dmda_log_found *found);

/**
 * dmda_log_peek() - where is an lpn at this moment?
 *
 * Nothing keeps it there.
 *
 * Context: any, without the lock.
 * Return: whether it is known.
 */
bool dmda_log_peek(struct dmda_log *log, u64 lpn, dpn_t *dpn);

#endif /* DMDA_LOG_LOOK_UP_H */
