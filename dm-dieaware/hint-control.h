/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hints as seen from outside: messages and the status line. The same in both modes; what a mode
 * has besides, its own table of operations does (mode.h).
 */
#ifndef DMDA_HINT_CONTROL_H
#define DMDA_HINT_CONTROL_H

#include <linux/types.h>

struct dmda;
struct dmda_message;

/**
 * dmda_hints_message() - do what a message about hints says
 * @result: gets the answer, @maxlen bytes
 *
 * Context: may sleep.
 * Return: as target_type.message; -ENOTTY: it is about something else.
 */
int dmda_hints_message(struct dmda *dmda, const struct dmda_message *message, char *result,
		       unsigned int maxlen);

/**
 * dmda_hints_status() - the part of the status line that is about hints
 * Return: characters printed.
 */
size_t dmda_hints_status(struct dmda *dmda, char *result, unsigned int maxlen);

#endif /* DMDA_HINT_CONTROL_H */
