/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages to a device in log mode.
 */
#ifndef DMDA_LOG_MESSAGE_H
#define DMDA_LOG_MESSAGE_H

struct dmda;
struct dmda_message;

/**
 * dmda_log_message() - do what a message asks for
 * @message: the message; where its words were, @result may be now
 * @result: memory for an answer
 * @maxlen: bytes at @result
 *
 * Context: may sleep.
 * Return: 0, 1 if @result has an answer, or a negative errno.
 */
int dmda_log_message(struct dmda *dmda, const struct dmda_message *message, char *result,
		     unsigned int maxlen);

#endif /* DMDA_LOG_MESSAGE_H */
