/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which segment of users' a write goes to.
 */
#ifndef DMDA_LOG_LIFETIME_H
#define DMDA_LOG_LIFETIME_H

#include "../core/stream.h"

struct dmda_log;
struct dmda_log_io;

/**
 * dmda_log_kind_locked() - what kind of data a write is, as far as places go
 * @io: has claimed its lpns, and does not stay in place
 * @whole: as dmda_log_take_locked() will be told
 *
 * Return: the stream whose places it is to get.
 */
enum dmda_stream dmda_log_kind_locked(struct dmda_log *log, const struct dmda_log_io *io,
				      bool whole);

#endif /* DMDA_LOG_LIFETIME_H */
