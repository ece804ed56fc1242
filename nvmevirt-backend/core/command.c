// SPDX-License-Identifier: GPL-2.0-only
/*
 * The begin of a command. A drive works by itself all the time, but it is only ever called: so what
 * it has done until a command comes is done then, before anything else. Whether that is little
 * can be told ahead, so that the controller knows which commands it may do at once.
 */
#include "command.h"
#include "gc.h"
#include "idle.h"

u64 ftl_begin(struct ftl *ftl, u64 now_ns)
{
	u64 start_ns;

	ftl_advance(ftl, now_ns);
	ftl_idle_slice(ftl);
	ftl->command_ns = ftl->now_ns;
	start_ns = max(ftl->now_ns, ftl->next_cmd_ns);
	ftl->next_cmd_ns = start_ns + ftl_scaled(ftl, ftl->params.cmd_gap_ns);
	return start_ns + ftl_scaled(ftl, ftl->params.cmd_ns);
}

/* Is all that the drive may do besides a read, because of it, little? */
bool ftl_read_is_quick(const struct ftl *ftl)
{
	const struct ftl_params *params = &ftl->params;

	return !params->map_cache_pages && !params->read_ahead_pages && !params->suspend_program &&
		!params->suspend_erase && !ftl->units.nr_held &&
		!ftl_gc_wants(ftl, to_die(ftl->idle_die));
}

static bool writes_quickly(const struct ftl *ftl, u32 handle)
{
	const struct ftl_params *params = &ftl->params;

	return params->plp && !params->in_place && !params->slc_pages && !params->stripe_lead &&
		!params->share_pages && !params->spare_eblks && !params->hold_ns &&
		!ftl_eblks_are_low(&ftl->blocks, handle < ftl->geo.nr_handles ? handle : 0) &&
		!ftl->nr_exchanges;
}

bool ftl_write_is_quick(const struct ftl *ftl, u32 nr_pages, u32 handle)
{
	return nr_pages <= ftl->geo.unit_pages && ftl_read_is_quick(ftl) &&
	       writes_quickly(ftl, handle);
}
