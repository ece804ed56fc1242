/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hints of log mode: which page precedes what is written in its file, and where that lies.
 */
#ifndef DMDA_LOG_HINT_H
#define DMDA_LOG_HINT_H

#include "bio.h"

/**
 * dmda_log_hint_init() - a write without a hint
 */
static inline void dmda_log_hint_init(struct dmda_log_io *io)
{
	io->ino = 0;
	io->source = DMDA_SOURCE_UNKNOWN;
	io->what = DMDA_HINT_NONE;
	io->kind = DMDA_STREAM_USER;
	io->pred = U64_MAX;
	io->is_same = false;
	io->is_copy = false;
}

/**
 * dmda_log_hint_start() - take from the device how many pages it gathers
 *
 * Context: may sleep; before the first write.
 */
void dmda_log_hint_start(struct dmda_log *log);

/**
 * dmda_log_hint_plan() - work out which page precedes a write in its file
 * @identity: identity of the write, all of which belongs to it
 *
 * The run table learns of the write.
 *
 * Context: from map.
 */
void dmda_log_hint_plan(struct dmda_log *log, struct dmda_log_io *io,
			const struct dmda_identity *identity);

/**
 * dmda_log_hint_place_locked() - the write gets its places: find that of the page before
 */
void dmda_log_hint_place_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_hint_send() - send the hint with a write
 *
 * Context: where it is submitted; it is remapped.
 */
void dmda_log_hint_send(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_hint_moved() - the hint for a page that cleaning moves
 * @run: the page; @run->dpn: its lpn
 * @pred: lpn of the page before it in its file if that is known, or U64_MAX
 * @verdict: the result
 *
 * Context: process; without the lock.
 * Return: whether it has one.
 */
bool dmda_log_hint_moved(struct dmda_log *log, const struct dmda_run *run, u64 pred,
			 struct dmda_verdict *verdict);

#endif /* DMDA_LOG_HINT_H */
