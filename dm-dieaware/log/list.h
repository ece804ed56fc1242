/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devices in log mode that this machine has, and which of them are at work.
 */
#ifndef DMDA_LOG_LIST_H
#define DMDA_LOG_LIST_H

#include "../users.h"

struct dmda_log;

/**
 * dmda_log_list_init() - from now on a hibernation is refused while there is one; for the module
 * Return: 0 or a negative errno.
 */
int dmda_log_list_init(void);
void dmda_log_list_exit(void);

/**
 * dmda_log_list_enter() - there is one more; it is not at work yet
 *
 * Context: may sleep; so do the others.
 */
void dmda_log_list_enter(struct dmda_log *log);

/**
 * dmda_log_list_leave() - there is one less
 */
void dmda_log_list_leave(struct dmda_log *log);

/**
 * dmda_log_list_begin() - one wants to be at work
 *
 * One that only reads may be so beside others that only read, and does not keep one that is
 * suspended meanwhile from going on.
 *
 * Return: why it is not, unless it is from now on.
 */
struct dmda_refusal dmda_log_list_begin(struct dmda_log *log);

/**
 * dmda_log_list_take() - one that wants to be at work is about to change the device, or has started
 *
 * Others that know the device cannot go on from then on, unless it only reads. Until then nobody
 * has lost anything if it does not get to work.
 */
void dmda_log_list_take(struct dmda_log *log);

/**
 * dmda_log_list_end() - it is at work no more
 */
void dmda_log_list_end(struct dmda_log *log);

#endif /* DMDA_LOG_LIST_H */
