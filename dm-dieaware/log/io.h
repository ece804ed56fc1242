/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bio's way through log mode.
 */
#ifndef DMDA_LOG_IO_H
#define DMDA_LOG_IO_H

struct bio;
struct dmda;
struct work_struct;

/**
 * dmda_log_map() - a bio's way into log mode
 *
 * Context: from map.
 * Return: DM_MAPIO_*.
 */
int dmda_log_map(struct dmda *dmda, struct bio *bio);

/**
 * dmda_log_do_io() - worker: go on with bios that are ready
 */
void dmda_log_do_io(struct work_struct *work);

#endif /* DMDA_LOG_IO_H */
