// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is counted of commands, where that is more than adding one: the time in which the drive
 * had something to do, which commands in flight at the same time share.
 */
#include "counters.h"
#include "nvmev.h"

void nvmev_account_busy(struct nvmev *nvmev, const struct nvmev_cmd *cmd)
{
	struct nvmev_counters *counters = &nvmev->counters;
	u64 from_ns = max(counters->busy_until_ns, cmd->fetched_ns);

	if (cmd->due_ns <= from_ns)
		return;
	WRITE_ONCE(counters->busy_ns, counters->busy_ns + cmd->due_ns - from_ns);
	counters->busy_until_ns = cmd->due_ns;
}
