// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small writes of users by the age of what they replace (core/lifetime.h), where the device below
 * has a placement handle for each kind. Elsewhere they would be mixed there again, and all that
 * users write goes to one segment.
 *
 * Nothing is read for that: of what replaces a page whose page of the map is not in memory,
 * nothing is known.
 */
#include "claims.h"
#include "credit.h"
#include "lifetime.h"
#include "log.h"
#include "places.h"

static bool has_ages_locked(const struct dmda_log *log)
{
	const struct dmda *dmda = log->dmda;

	lockdep_assert_held(&log->lock);

	return READ_ONCE(dmda->state) == DMDA_STATE_LIFETIMES && dmda_fdp_has_ages(&dmda->fdp) &&
		dmda_lifetimes_fit(&log->super, log->space.segments.nr_segments);
}

/* What is left of a large write is no small one. */
static enum dmda_stream kind_locked(struct dmda_log *log, const struct dmda_log_io *io)
{
	seg_t seg;
	dpn_t dpn;

	lockdep_assert_held(&log->lock);

	if (io->is_rest || dmda_log_io_pages(io) >= DMDA_LOG_UNIT_PAGES)
		return DMDA_STREAM_USER;
	dpn = dmda_log_where_locked(log, io->first);
	seg = dpn == DPN_NONE ? SEG_NONE : dmda_log_segment_of(log, dpn);
	if (seg == SEG_NONE)
		return DMDA_STREAM_USER;
	return dmda_lifetimes_kind(&log->space.lifetimes, seg, log->space.segments.nr_valid);
}

/* There may have been some until now. */
static void end_ages_locked(struct dmda_log *log)
{
	const struct dmda_writer *writer = &log->space.writer;

	lockdep_assert_held(&log->lock);

	if (unlikely(writer->open[DMDA_STREAM_WARM].seg != SEG_NONE))
		dmda_log_retire_locked(log, DMDA_STREAM_WARM);
	if (unlikely(writer->open[DMDA_STREAM_HOT].seg != SEG_NONE))
		dmda_log_retire_locked(log, DMDA_STREAM_HOT);
}

enum dmda_stream dmda_log_kind_by_age_locked(struct dmda_log *log, const struct dmda_log_io *io,
					     bool whole)
{
	lockdep_assert_held(&log->lock);

	if (!has_ages_locked(log)) {
		end_ages_locked(log);
		return DMDA_STREAM_USER;
	}
	return dmda_lifetimes_place(&log->space.writer, kind_locked(log, io),
				    whole ? dmda_log_io_pages(io) : 1, dmda_log_spare_locked(log));
}
