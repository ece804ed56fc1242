/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where pages lie, for those who ask by a message.
 */
#ifndef DMDA_LOG_WHERE_H
#define DMDA_LOG_WHERE_H

struct dmda_log;
struct dmda_message;

/**
 * dmda_log_where() - answer where pages lie, or the first of them
 * @message: the message, DMDA_VERB_WHERE
 * @result: memory for the answer
 * @maxlen: bytes at @result
 *
 * The answer (core/where.h) is as true as the map was when each of its pages was looked at: what is
 * written or cleaned meanwhile may be in it or not, and nothing stays where it is for it.
 *
 * Context: may sleep; with message_lock.
 * Return: 1, or a negative errno.
 */
int dmda_log_where(struct dmda_log *log, const struct dmda_message *message, char *result,
		   unsigned int maxlen);

#endif /* DMDA_LOG_WHERE_H */
