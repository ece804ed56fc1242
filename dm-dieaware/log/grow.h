/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growing, when the device below has become larger.
 */
#ifndef DMDA_LOG_GROW_H
#define DMDA_LOG_GROW_H

struct dmda_log;

/**
 * dmda_log_grow() - make the device as large as dmda_log.grows_to says
 *
 * The superblock is read, the memory for tables is as large as they are going to be.
 *
 * Context: may sleep.
 * Return: NULL, or what is wrong.
 */
const char *dmda_log_grow(struct dmda_log *log);

#endif /* DMDA_LOG_GROW_H */
