/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trims of users: discards, and writes of zeroes.
 */
#ifndef DMDA_LOG_TRIM_H
#define DMDA_LOG_TRIM_H

struct bio;
struct dmda_log;
struct dmda_log_io;

/**
 * dmda_log_map_trim() - let the worker do a trim when it is its turn
 *
 * Context: from map.
 * Return: DM_MAPIO_*.
 */
int dmda_log_map_trim(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_go_on_trimming() - do a trim's operations as far as there is room in the batch
 *
 * Context: the io worker.
 */
void dmda_log_go_on_trimming(struct dmda_log *log, struct dmda_log_io *io);

#endif /* DMDA_LOG_TRIM_H */
