/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last step of a write in both modes, when it is known where it goes and what its hint is:
 * it is counted, shown, and sent with the hint.
 */
#ifndef DMDA_HINT_SEND_H
#define DMDA_HINT_SEND_H

#include "core/units.h"

struct bio;
struct dmda;
struct dmda_write;

/**
 * dmda_hint_send() - count a write and send its hint with it
 * @write: all of it; the bio is remapped to the device below
 *
 * Context: the task that submits it.
 */
void dmda_hint_send(struct dmda *dmda, struct dmda_write *write);

/**
 * dmda_hint_send_unknown() - the same for a write of an unknown file that has no hint, and no place
 * @bio: the write, remapped to the device below
 * @dpn: its first page
 * @nr_pages: its length
 *
 * Context: as dmda_hint_send().
 */
void dmda_hint_send_unknown(struct dmda *dmda, struct bio *bio, dpn_t dpn, u32 nr_pages);

/**
 * dmda_hint_send_waiting() - send what the task's plug holds back, if nobody's callbacks are in it
 *
 * Context: a task that has a plug.
 */
void dmda_hint_send_waiting(void);

#endif /* DMDA_HINT_SEND_H */
