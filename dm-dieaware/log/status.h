/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The status line of a device in log mode.
 */
#ifndef DMDA_LOG_STATUS_H
#define DMDA_LOG_STATUS_H

#include <linux/types.h>

struct dmda;

/**
 * dmda_log_status() - the status line
 * Return: characters printed.
 */
size_t dmda_log_status(struct dmda *dmda, char *result, unsigned int maxlen);

#endif /* DMDA_LOG_STATUS_H */
