/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much users may take of segments and places.
 */
#ifndef DMDA_LOG_CREDIT_H
#define DMDA_LOG_CREDIT_H

#include "../core/stream.h"

struct dmda_log;

/* Users leave so many segments to cleaning. */
#define DMDA_LOG_KEPT_SEGMENTS	3U

/**
 * dmda_log_kept_from_locked() - segments that a stream leaves to others
 */
u32 dmda_log_kept_from_locked(const struct dmda_log *log, enum dmda_stream stream);

/* Free segments that users need not leave to cleaning */
u32 dmda_log_spare_locked(const struct dmda_log *log);

/* May users write, as far as pacing goes? */
bool dmda_log_has_credit_locked(const struct dmda_log *log);

/* Users have got places for so many pages. */
void dmda_log_spend_credit_locked(struct dmda_log *log, u32 nr_pages);

#endif /* DMDA_LOG_CREDIT_H */
