// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time for which writes wait in vain. What was between two looks nobody knows, so a
 * stretch of time counts only if there was no space at both of its ends.
 */
#include "patience.h"

void dmda_patience_look(struct dmda_patience *patience, u64 now, bool is_out)
{
	if (is_out && patience->was_out)
		patience->used += now - patience->last;
	patience->last = now;
	patience->was_out = is_out;
}

u64 dmda_patience_left(const struct dmda_patience *patience, u64 timeout)
{
	if (!patience->was_out)
		return U64_MAX;
	return patience->used < timeout ? timeout - patience->used : 0;
}
