/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes of users.
 */
#ifndef DMDA_LOG_WRITE_H
#define DMDA_LOG_WRITE_H

struct dmda_log;
struct dmda_log_io;

/**
 * dmda_log_map_write() - send on as much of a write as gets places
 *
 * Context: from map.
 * Return: DM_MAPIO_*.
 */
int dmda_log_map_write(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_go_on_writing() - get places for a write that had to wait, and send it on
 *
 * Context: the io worker.
 */
void dmda_log_go_on_writing(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_go_on_mapping() - get the pages of the map that a write under way needs
 *
 * Context: the io worker.
 */
void dmda_log_go_on_mapping(struct dmda_log *log, struct dmda_log_io *io);

#endif /* DMDA_LOG_WRITE_H */
