/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mending: bring rows together that overwrites have spread.
 *
 * Overwrites in small pieces of more flash units than runs can be open leave the pages
 * of a row (gc.h) on their die, but in several flash units, each of which takes a sense to
 * read. Collection brings together only what it finds in one victim. So an idle drive
 * goes over its pages in laps, and writes rows that lie in several flash units to one.
 * That costs programs but no space: as many pages get dead as are written.
 *
 * A lap is begun only if runs were put out since the last one was, so a drive that is
 * used without hints, or with few runs at a time, never mends.
 */
#ifndef FTL_MEND_H
#define FTL_MEND_H

#include "state.h"

/**
 * ftl_mend_wants() - may there be a row to be mended?
 */
bool ftl_mend_wants(const struct ftl *ftl);

/**
 * ftl_mend_next() - find the next row that has to be mended
 * @left_pages: pages to look at; loses those that are in order
 *
 * Return: its die, or DIE_NONE if there is none among the pages looked at.
 */
die_t ftl_mend_next(struct ftl *ftl, u32 *left_pages);

/**
 * ftl_mend_step() - mend the row that was found last
 * @start_ns: time from which the die is busy with it
 */
void ftl_mend_step(struct ftl *ftl, die_t die, u64 start_ns);

#endif /* FTL_MEND_H */
