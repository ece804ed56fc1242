// SPDX-License-Identifier: GPL-2.0-only
/*
 * Between NVMe and the FTL: LBAs become pages, hints on the wire become hints of the
 * FTL. The only file that knows both sides, and the only one that calls the FTL for a
 * command.
 *
 * An LBA may be smaller than a page. A command that covers a page in part is told to
 * the FTL as such, which then reads the page before it writes it. Trimming forgets
 * only pages that are covered whole.
 */
#include <dieaware/hint.h>

#include "nvmev.h"
#include "outage.h"
#include "trace.h"
#include "translate.h"
#include "turn.h"
#include "undo.h"

/* Pages that are looked at when the drive is idle */
#define IDLE_AGING	512

static u64 page_of_lba(const struct nvmev_ns *ns, u64 lba)
{
	return lba >> (FTL_PAGE_SHIFT - ns->lba_shift);
}

static bool is_page_start(const struct nvmev_ns *ns, u64 lba)
{
	return page_of_lba(ns, lba) << (FTL_PAGE_SHIFT - ns->lba_shift) == lba;
}

u64 nvmev_ns_used_lbas(struct nvmev *nvmev, const struct nvmev_ns *ns)
{
	u64 nr_pages;

	guard(mutex)(&nvmev->ftl_lock);
	nr_pages = ftl_nr_mapped(nvmev->ftl, to_lpn(ns->first_page), ns->nr_pages);
	return nr_pages << (FTL_PAGE_SHIFT - ns->lba_shift);
}

/* The pages that a command touches; one partly covered page counts as the head. */
static struct ftl_request make_request(const struct nvmev_cmd *cmd)
{
	const struct nvmev_ns *ns = cmd->ns;
	u64 slba = le64_to_cpu(cmd->sqe.rw.slba);
	u64 end = slba + le16_to_cpu(cmd->sqe.rw.length) + 1;
	u64 first = page_of_lba(ns, slba);
	struct ftl_request rq = {
		.first = to_lpn(ns->first_page + first),
		.nr_pages = page_of_lba(ns, end - 1) - first + 1,
		.bytes = (end - slba) << ns->lba_shift,
		.head_partial = !is_page_start(ns, slba),
		.tail_partial = !is_page_start(ns, end),
		.pred = LPN_NONE,
	};

	if (rq.nr_pages == 1 && rq.tail_partial) {
		rq.head_partial = true;
		rq.tail_partial = false;
	}
	return rq;
}

typedef u64 (*ftl_call)(struct ftl *ftl, const struct ftl_request *rq, u64 now_ns);

/* Commands without data may be longer than the FTL takes at once. */
static u64 call_in_pieces(struct nvmev *nvmev, ftl_call call, struct ftl_request rq, u64 now_ns)
{
	u32 nr_left = rq.nr_pages;
	bool tail_partial = rq.tail_partial;
	u64 done_ns, due_ns = now_ns;

	while (nr_left) {
		rq.nr_pages = min_t(u32, nr_left, FTL_MAX_TRANSFER_PAGES);
		rq.tail_partial = tail_partial && rq.nr_pages == nr_left;
		done_ns = call(nvmev->ftl, &rq, now_ns);
		due_ns = max(due_ns, done_ns);
		nr_left -= rq.nr_pages;
		rq.first = to_lpn(from_lpn(rq.first) + rq.nr_pages);
		rq.head_partial = false;
	}
	return due_ns;
}

bool nvmev_ns_is_quick(struct nvmev *nvmev, const struct nvme_command *sqe, u32 nr_pages)
{
	guard(nvmev_ftl)(nvmev);
	if (sqe->common.opcode == nvme_cmd_read)
		return ftl_read_is_quick(nvmev->ftl);
	return ftl_write_is_quick(nvmev->ftl, nr_pages, nvmev_fdp_handle(nvmev, sqe));
}

u64 nvmev_ns_read(struct nvmev *nvmev, const struct nvmev_cmd *cmd, bool transfer)
{
	struct ftl_request rq = make_request(cmd);

	guard(nvmev_ftl)(nvmev);
	if (transfer)
		return ftl_read(nvmev->ftl, &rq, cmd->fetched_ns);
	rq.bytes = 0;
	return call_in_pieces(nvmev, ftl_read, rq, cmd->fetched_ns);
}

static u32 hint_bits(const struct nvmev_cmd *cmd)
{
	return le32_to_cpu(cmd->sqe.common.cdw12) &
	       (DIEAWARE_CDW12_APPEND | DIEAWARE_CDW12_OVERWRITE | DIEAWARE_CDW12_BEGIN);
}

/*
 * The predecessor of an append. In the page that the write itself begins in, it says
 * that the page stays where it is.
 */
static void set_predecessor(const struct nvmev_cmd *cmd, struct ftl_request *rq)
{
	const struct nvmev_ns *ns = cmd->ns;
	u64 lba = le32_to_cpu(cmd->sqe.common.cdw2[0]) |
		  (u64)le32_to_cpu(cmd->sqe.common.cdw2[1]) << 32;

	if (lba < nvmev_ns_nr_lbas(ns))
		rq->pred = to_lpn(ns->first_page + page_of_lba(ns, lba));
	rq->hint = FTL_HINT_APPEND;
	if (from_lpn(rq->pred) == from_lpn(rq->first))
		rq->hint = FTL_HINT_OVERWRITE;
}

/* Returns an NVMe status: a hinted command may be wanted to fail. */
static u16 decode_hint(struct nvmev *nvmev, const struct nvmev_cmd *cmd, struct ftl_request *rq)
{
	struct nvmev_counters *counters = &nvmev->counters;
	/* It may be changed to 0 meanwhile. */
	u32 rejected = READ_ONCE(nvmev->config.reject_hints);
	u32 bits = hint_bits(cmd);
	bool is_placed = le16_to_cpu(cmd->sqe.rw.control) & NVMEV_RW_DIRECTIVE;

	if (!is_placed && (!bits || !nvmev->config.hints))
		return 0;
	counters->hints_seen++;
	if (rejected && counters->hints_seen % rejected == 0) {
		counters->hints_rejected++;
		return NVME_SC_INVALID_FIELD | NVMEV_DNR;
	}
	/* A placement identifier says more than a hint that comes with it. */
	if (is_placed) {
		nvmev_fdp_decode(nvmev, cmd, rq);
		return 0;
	}
	if (bits == DIEAWARE_CDW12_APPEND)
		set_predecessor(cmd, rq);
	else if (bits == DIEAWARE_CDW12_OVERWRITE)
		rq->hint = FTL_HINT_OVERWRITE;
	else if (bits == DIEAWARE_CDW12_BEGIN)
		rq->hint = FTL_HINT_BEGIN;
	else
		counters->hints_malformed++;
	return 0;
}

static void trace_placement(void *context, const struct ftl_placement *placement)
{
	const struct nvmev_watcher *watcher = context;

	trace_nvmev_place(watcher->nvmev, watcher->cmd, placement);
}

void nvmev_watch_placements(struct nvmev *nvmev, struct nvmev_watcher *watcher)
{
	bool is_wanted = watcher && trace_nvmev_place_enabled();

	ftl_tell_placements(nvmev->ftl, is_wanted ? trace_placement : NULL, watcher);
}

/* Pages of a write have ascending numbers, and this write was the last one. */
static u64 first_seq(const struct nvmev *nvmev, const struct ftl_request *rq)
{
	return nvmev->store.keeps_past ? ftl_last_seq(nvmev->ftl) - rq->nr_pages + 1 : 0;
}

u16 nvmev_ns_write(struct nvmev *nvmev, struct nvmev_cmd *cmd, u64 *due_ns)
{
	struct nvmev_watcher watcher = { nvmev, cmd };
	struct ftl_request rq = make_request(cmd);
	u16 status;

	rq.fua = (le16_to_cpu(cmd->sqe.rw.control) & NVMEV_RW_FUA) ||
		 !nvmev->features.write_cache;
	guard(nvmev_ftl)(nvmev);
	/*
	 * Before its hint is counted: the FTL does not see it. What was begun while the drive
	 * could be written is done to its end.
	 */
	if (ftl_is_read_only(nvmev->ftl) && !cmd->done)
		return NVME_SC_READ_ONLY | NVMEV_DNR;
	if (cmd->sqe.common.opcode == nvme_cmd_write) {
		status = decode_hint(nvmev, cmd, &rq);
		if (status)
			return status;
	} else {
		rq.bytes = 0;
	}
	nvmev_watch_placements(nvmev, &watcher);
	*due_ns = call_in_pieces(nvmev, ftl_write, rq, cmd->fetched_ns);
	nvmev_watch_placements(nvmev, NULL);
	cmd->data_seq = first_seq(nvmev, &rq);
	return 0;
}

/* All commands of a batch may be trims. */
static void note_room(struct nvmev *nvmev)
{
	nvmev->trim.makes_room = ftl_trim_wants_step(nvmev->ftl);
	nvmev->trim.lacks_room = !ftl_trim_has_room(nvmev->ftl, NVMEV_BATCH);
}

u64 nvmev_ns_trim(struct nvmev *nvmev, const struct nvmev_ns *ns, u64 slba, u64 nr_lbas,
		  u64 now_ns, bool goes_on)
{
	u32 shift = FTL_PAGE_SHIFT - ns->lba_shift;
	u64 first = (slba + BIT_ULL(shift) - 1) >> shift;
	u64 end = (slba + nr_lbas) >> shift;

	if (first >= end)
		return now_ns;
	guard(mutex)(&nvmev->ftl_lock);
	first += ns->first_page;
	end += ns->first_page;
	if (goes_on)
		ftl_trim_on(nvmev->ftl, to_lpn(first), end - first, nvmev_now(nvmev));
	else
		now_ns = ftl_trim(nvmev->ftl, to_lpn(first), end - first, now_ns);
	note_room(nvmev);
	return now_ns;
}

u64 nvmev_ns_trim_reach(struct nvmev *nvmev, const struct nvmev_ns *ns, u64 slba, u64 end,
			u32 *most)
{
	u32 shift = FTL_PAGE_SHIFT - ns->lba_shift;
	u64 first = slba >> shift;
	u64 behind = (end + BIT_ULL(shift) - 1) >> shift;
	lpn_t reach;

	guard(mutex)(&nvmev->ftl_lock);
	reach = ftl_trim_reach(nvmev->ftl, to_lpn(ns->first_page + first), behind - first, most);
	return min(end, (from_lpn(reach) - ns->first_page) << shift);
}

void nvmev_ns_make_room(struct nvmev *nvmev, u32 most)
{
	guard(mutex)(&nvmev->ftl_lock);
	ftl_trim_step(nvmev->ftl, most, nvmev_now(nvmev));
	note_room(nvmev);
}

u64 nvmev_ns_flush(struct nvmev *nvmev, u64 now_ns)
{
	guard(mutex)(&nvmev->ftl_lock);
	return ftl_flush(nvmev->ftl, now_ns);
}

bool nvmev_ns_is_read_only(struct nvmev *nvmev)
{
	guard(mutex)(&nvmev->ftl_lock);
	return ftl_is_read_only(nvmev->ftl);
}

u64 nvmev_ns_failures(struct nvmev *nvmev)
{
	guard(mutex)(&nvmev->ftl_lock);
	return ftl_nr_failures(nvmev->ftl);
}

bool nvmev_ns_idle(struct nvmev *nvmev)
{
	bool is_busy;

	guard(mutex)(&nvmev->ftl_lock);
	is_busy = ftl_idle(nvmev->ftl, nvmev_now(nvmev));
	return nvmev_past_age(&nvmev->store, nvmev->ftl, IDLE_AGING) || is_busy;
}

void nvmev_ns_written(struct nvmev *nvmev, const struct nvmev_cmd *cmd)
{
	struct ftl_request rq;

	if (!nvmev->store.keeps_past)
		return;
	rq = make_request(cmd);
	guard(mutex)(&nvmev->ftl_lock);
	nvmev_past_written(&nvmev->store, nvmev->ftl, from_lpn(rq.first), rq.nr_pages);
}
