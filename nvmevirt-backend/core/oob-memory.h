/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of a drive's out-of-band data: the area, which outlives a power failure, and the rest.
 */
#ifndef FTL_OOB_MEMORY_H
#define FTL_OOB_MEMORY_H

#include "oob.h"

/**
 * ftl_oob_bytes() - memory besides the area
 */
size_t ftl_oob_bytes(const struct ftl_params *params);

/**
 * ftl_oob_area_bytes() - memory of the area
 */
size_t ftl_oob_area_bytes(const struct ftl_params *params);

/**
 * ftl_oob_init() - nothing is booked; the area stays as it is
 * @oob: @geo and @now_ns are set
 * @zeroed: ftl_oob_bytes() bytes
 * @area: ftl_oob_area_bytes() bytes; zeroed is an erased drive
 */
void ftl_oob_init(struct ftl_oob *oob, const struct ftl_params *params, void *zeroed,
		  void *area);

#endif /* FTL_OOB_MEMORY_H */
