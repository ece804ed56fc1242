/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads of users.
 */
#ifndef DMDA_LOG_READ_H
#define DMDA_LOG_READ_H

#include "bio.h"
#include "log.h"
#include "places.h"

/**
 * dmda_log_init_pieces() - prepare the reserve of clones
 * Return: 0 or -ENOMEM.
 */
int dmda_log_init_pieces(struct dmda_log *log);

/**
 * dmda_log_map_read() - look up and send on as much of a read as lies together
 *
 * Context: from map.
 * Return: DM_MAPIO_*.
 */
int dmda_log_map_read(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_go_on_reading() - read piece by piece, with the pages of the map that this takes
 *
 * Context: the io worker.
 */
void dmda_log_go_on_reading(struct dmda_log *log, struct dmda_log_io *io);

/* A read that was sent on has ended, and was looked at if it has checksums. */
static inline void dmda_log_end_read(struct dmda_log_io *io)
{
	dmda_log_drop_check(io);
	if (io->seg != SEG_NONE)
		dmda_log_put_reader(io->log, io->seg);
}

#endif /* DMDA_LOG_READ_H */
