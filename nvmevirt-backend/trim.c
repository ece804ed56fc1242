// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deallocation in steps, and Format, which is made of the same steps. A step is bounded in the
 * pages that it looks at, as everybody else waits for the dispatcher meanwhile.
 */
#include <linux/delay.h>

#include "io.h"
#include "nvmev.h"
#include "outage.h"
#include "translate.h"
#include "trim.h"

/*
 * Pages that are forgotten at a time, which takes less than a millisecond or two. 4096 of
 * them that hold nothing count as one: else a large drive would take long, however little it holds.
 */
#define STEP_PAGES	4096

/* Pages that are looked at in a step that makes room, which takes some ten microseconds */
#define ROOM_PAGES	32768

/* How long all others may run before the next step, which is a small part of what that takes */
#define PAUSE_US	50

void nvmev_trim_begin(struct nvmev *nvmev, struct nvmev_cmd *cmd, u32 nr_ranges)
{
	struct nvmev_trim *trim = &nvmev->trim;

	trim->cmd = cmd;
	trim->nr_ranges = nr_ranges;
	trim->range = 0;
	trim->done = 0;
}

/* Deallocate what comes next; @left is how many pages may be looked at. */
static void trim_piece(struct nvmev *nvmev, struct nvmev_trim *trim, u32 *left)
{
	const struct nvme_dsm_range *range = &trim->ranges[trim->range];
	struct nvmev_cmd *cmd = trim->cmd;
	const struct nvmev_ns *ns = cmd->ns;
	u64 end = le64_to_cpu(range->slba) + le32_to_cpu(range->nlb);
	u64 slba = le64_to_cpu(range->slba) + trim->done;
	u64 nr_lbas = nvmev_ns_trim_reach(nvmev, ns, slba, end, left) - slba;
	u64 done_ns = cmd->fetched_ns;

	if (nr_lbas) {
		done_ns = nvmev_ns_trim(nvmev, ns, slba, nr_lbas, cmd->fetched_ns, trim->done);
		/* What finds no memory stays as it is: this is advice. */
		nvmev_store_trim(&nvmev->store, nvmev_ns_byte(ns, slba), nr_lbas << ns->lba_shift);
	}
	cmd->due_ns = max(cmd->due_ns, done_ns);
	trim->done += nr_lbas;
	if (slba + nr_lbas == end) {
		trim->range++;
		trim->done = 0;
	}
	/* A range has its own part in what a step takes. */
	*left -= !!*left;
}

static void end_trim(struct nvmev *nvmev)
{
	struct nvmev_cmd *cmd = nvmev->trim.cmd;

	nvmev->trim.cmd = NULL;
	nvmev_account_busy(nvmev, cmd);
	nvmev_cmd_complete(nvmev, cmd, false);
}

bool nvmev_trim_step(struct nvmev *nvmev)
{
	struct nvmev_trim *trim = &nvmev->trim;
	u32 left = STEP_PAGES;

	if (!trim->cmd && !trim->makes_room)
		return false;
	if (trim->makes_room)
		nvmev_ns_make_room(nvmev, ROOM_PAGES);
	while (trim->cmd && !trim->lacks_room && left && trim->range < trim->nr_ranges)
		trim_piece(nvmev, trim, &left);
	/* The records of trims may have made the drive program what it had in its cache. */
	nvmev_outage_note(nvmev);
	if (trim->cmd && trim->range == trim->nr_ranges)
		end_trim(nvmev);
	if (trim->cmd || trim->makes_room)
		fsleep(PAUSE_US);
	return true;
}

void nvmev_trim_abort(struct nvmev *nvmev, u32 sqid)
{
	struct nvmev_cmd *cmd = nvmev->trim.cmd;

	if (!cmd || cmd->sqid != sqid)
		return;
	cmd->status = NVME_SC_ABORT_QUEUE;
	end_trim(nvmev);
}

/* Forget all data of a namespace, step by step. */
static void trim_all(struct nvmev *nvmev, const struct nvmev_ns *ns)
{
	u64 end = nvmev_ns_nr_lbas(ns);
	u64 slba, next;

	for (slba = 0; slba < end; slba = next) {
		u32 left = STEP_PAGES;

		next = nvmev_ns_trim_reach(nvmev, ns, slba, end, &left);
		nvmev_ns_trim(nvmev, ns, slba, next - slba, nvmev_now(nvmev), slba);
		nvmev_store_trim(&nvmev->store, nvmev_ns_byte(ns, slba),
				 (next - slba) << ns->lba_shift);
		if (next < end)
			fsleep(PAUSE_US);
	}
}

void nvmev_trim_format(struct nvmev *nvmev, struct nvmev_ns *ns, u32 lba_shift)
{
	/* Its LBAs are about to mean something else. */
	while (nvmev_trim_step(nvmev))
		;
	trim_all(nvmev, ns);
	guard(mutex)(&nvmev->ftl_lock);
	WRITE_ONCE(ns->lba_shift, lba_shift);
}
