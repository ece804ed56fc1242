// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deallocation in steps, and Format, which is made of the same steps. A step is bounded in the
 * pages that it looks at, as everybody else waits for the dispatcher meanwhile.
 */
#include <linux/delay.h>

#include "nvmev.h"
#include "outage.h"
#include "pieces.h"
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

static bool is_selected(const struct nvmev_format *format, const struct nvmev_ns *ns)
{
	return format->nsid == NVMEV_NSID_ALL || format->nsid == ns->nsid;
}

bool nvmev_format_is_of(const struct nvmev *nvmev, const struct nvmev_ns *ns)
{
	return nvmev->trim.format.is_under_way && is_selected(&nvmev->trim.format, ns);
}

/* Go to the next namespace from @at on that the command is for. */
static void format_from(struct nvmev *nvmev, u32 at)
{
	struct nvmev_format *format = &nvmev->trim.format;

	while (at < nvmev->nr_ns && !is_selected(format, &nvmev->ns[at]))
		at++;
	format->at = at;
	format->slba = 0;
}

void nvmev_format_begin(struct nvmev *nvmev, u16 cid, u32 nsid, u32 lba_shift)
{
	nvmev->trim.format = (struct nvmev_format){
		.is_under_way = true,
		.cid = cid,
		.nsid = nsid,
		.lba_shift = lba_shift,
	};
	format_from(nvmev, 0);
}

/* The LBAs of what is being done for a namespace are about to mean something else. */
static bool must_wait(const struct nvmev *nvmev)
{
	const struct nvmev_trim *trim = &nvmev->trim;
	const struct nvmev_ns *ns = &nvmev->ns[trim->format.at];

	return trim->lacks_room || (trim->cmd && trim->cmd->ns == ns) ||
	       nvmev_pieces_are_of(nvmev, ns);
}

static void format_step(struct nvmev *nvmev)
{
	struct nvmev_format *format = &nvmev->trim.format;
	const struct nvmev_ns *ns = &nvmev->ns[format->at];
	u64 end = nvmev_ns_nr_lbas(ns);
	u32 left = STEP_PAGES;
	u64 next;

	if (must_wait(nvmev))
		return;
	next = nvmev_ns_trim_reach(nvmev, ns, format->slba, end, &left);
	nvmev_ns_trim(nvmev, ns, format->slba, next - format->slba, nvmev_now(nvmev), format->slba);
	nvmev_store_trim(&nvmev->store, nvmev_ns_byte(ns, format->slba),
			 (next - format->slba) << ns->lba_shift);
	format->slba = next;
}

/* The namespace whose data is gone gets its LBA size; with the last one the command is complete. */
static void go_on_with_format(struct nvmev *nvmev)
{
	struct nvmev_format *format = &nvmev->trim.format;
	struct nvmev_ns *ns = &nvmev->ns[format->at];

	if (format->slba < nvmev_ns_nr_lbas(ns))
		return;
	scoped_guard(mutex, &nvmev->ftl_lock)
		WRITE_ONCE(ns->lba_shift, format->lba_shift);
	format_from(nvmev, format->at + 1);
	if (format->at < nvmev->nr_ns)
		return;
	format->is_under_way = false;
	nvmev_admin_complete(nvmev, format->cid, 0, 0);
}

static void trim_step(struct nvmev *nvmev)
{
	struct nvmev_trim *trim = &nvmev->trim;
	u32 left = STEP_PAGES;

	while (!trim->lacks_room && left && trim->range < trim->nr_ranges)
		trim_piece(nvmev, trim, &left);
}

static bool has_work(const struct nvmev_trim *trim)
{
	return trim->cmd || trim->format.is_under_way || trim->makes_room;
}

bool nvmev_trim_step(struct nvmev *nvmev)
{
	struct nvmev_trim *trim = &nvmev->trim;

	if (!has_work(trim))
		return false;
	if (trim->makes_room)
		nvmev_ns_make_room(nvmev, ROOM_PAGES);
	if (trim->cmd)
		trim_step(nvmev);
	if (trim->format.is_under_way)
		format_step(nvmev);
	/* The records of trims may have made the drive program what it had in its cache. */
	nvmev_outage_note(nvmev);
	if (nvmev_outage_is_failing(nvmev))
		return true;
	if (trim->cmd && trim->range == trim->nr_ranges)
		end_trim(nvmev);
	if (trim->format.is_under_way)
		go_on_with_format(nvmev);
	if (!has_work(trim))
		return true;
	if (trim->cmd)
		trim->cmd->has_paused = true;
	fsleep(PAUSE_US);
	return true;
}

bool nvmev_trim_abort(struct nvmev *nvmev, u16 sqid, u32 cid, u16 status)
{
	struct nvmev_cmd *cmd = nvmev->trim.cmd;

	if (!cmd || !nvmev_cmd_is(cmd, sqid, cid))
		return false;
	cmd->status = status;
	end_trim(nvmev);
	return true;
}
