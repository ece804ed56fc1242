/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last step of a write in both modes, when it is known where it goes and what its hint is:
 * it is counted, shown, and sent with the hint.
 */
#ifndef DMDA_HINT_SEND_H
#define DMDA_HINT_SEND_H

struct dmda;
struct dmda_write;

/**
 * dmda_hint_send() - count a write and send its hint with it
 * @write: all of it; the bio is remapped to the device below
 *
 * Context: the task that submits it.
 */
void dmda_hint_send(struct dmda *dmda, struct dmda_write *write);

#endif /* DMDA_HINT_SEND_H */
