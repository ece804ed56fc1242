/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What bios of all kinds have in common.
 */
#ifndef DMDA_LOG_BIO_H
#define DMDA_LOG_BIO_H

#include "io.h"
#include "sums.h"

/**
 * dmda_log_go_on_locked() - let the worker go on with a bio
 */
void dmda_log_go_on_locked(struct dmda_log *log, struct dmda_log_io *io);

/* All of a list, at once */
void dmda_log_go_on_list_locked(struct dmda_log *log, struct list_head *ios);

/* A bio has no checksums any more. */
static inline void dmda_log_drop_check(struct dmda_log_io *io)
{
	if (io->check)
		dmda_log_check_put(io->check);
	io->check = NULL;
}

/**
 * dmda_log_get_check() - memory for the checksums of a bio's first pages, on a device that has some
 * @nr_pages: most of them; gets how many
 *
 * Return: whether the bio may go on; if not, it has ended, since it must not wait.
 */
bool dmda_log_get_check(struct dmda_log *log, struct dmda_log_io *io, u32 *nr_pages);

/* Sends a bio to its place on the device below. */
void dmda_log_send_to(struct dmda_log *log, struct bio *bio, dpn_t dpn);

/**
 * dmda_log_end_list() - end bios
 * @ios: struct dmda_log_io, with claims and pins given up
 * @status: status with which they end, unless it is BLK_STS_OK
 *
 * Context: any, without the lock.
 */
void dmda_log_end_list(struct list_head *ios, blk_status_t status);

#endif /* DMDA_LOG_BIO_H */
