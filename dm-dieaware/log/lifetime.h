/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which segment of users' a write goes to.
 */
#ifndef DMDA_LOG_LIFETIME_H
#define DMDA_LOG_LIFETIME_H

#include "log.h"

/* dmda_log_kind_locked() where ages are told apart, or were until now */
enum dmda_stream dmda_log_kind_by_age_locked(struct dmda_log *log, const struct dmda_log_io *io,
					     bool whole);

/**
 * dmda_log_kind_locked() - what kind of data a write is, as far as places go
 * @io: has claimed its lpns, and does not stay in place
 * @whole: as dmda_log_take_locked() will be told
 *
 * Return: the stream whose places it is to get.
 */
static inline enum dmda_stream dmda_log_kind_locked(struct dmda_log *log,
						    const struct dmda_log_io *io, bool whole)
{
	const struct dmda_writer *writer = &log->space.writer;

	lockdep_assert_held(&log->lock);

	if (READ_ONCE(log->dmda->state) != DMDA_STATE_LIFETIMES &&
	    writer->open[DMDA_STREAM_WARM].seg == SEG_NONE &&
	    writer->open[DMDA_STREAM_HOT].seg == SEG_NONE)
		return DMDA_STREAM_USER;
	return dmda_log_kind_by_age_locked(log, io, whole);
}

#endif /* DMDA_LOG_LIFETIME_H */
