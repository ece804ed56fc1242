// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much users may take: all but the last segments, which they leave to cleaning; and while that
 * works for them, as many pages as they have credit for (admission.c).
 */
#include "credit.h"
#include "log.h"

u32 dmda_log_kept_from_locked(const struct dmda_log *log, enum dmda_stream stream)
{
	lockdep_assert_held(&log->lock);

	return dmda_stream_is_users(stream) || log->cleaning.leaves_kept ?
		DMDA_LOG_KEPT_SEGMENTS : 0;
}

u32 dmda_log_spare_locked(const struct dmda_log *log)
{
	u32 nr_free = log->space.segments.nr_free;

	lockdep_assert_held(&log->lock);

	return nr_free - min(nr_free, DMDA_LOG_KEPT_SEGMENTS);
}

bool dmda_log_has_credit_locked(const struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	return !log->admission.is_pacing || log->admission.credit > 0;
}

void dmda_log_spend_credit_locked(struct dmda_log *log, u32 nr_pages)
{
	lockdep_assert_held(&log->lock);

	if (log->admission.is_pacing)
		log->admission.credit -= nr_pages;
}
