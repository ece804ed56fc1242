// SPDX-License-Identifier: GPL-2.0-only
/*
 * The vendor-specific I/O commands of include/dieaware/vendor.h. Each is checked whole before
 * it changes anything, and does everything in its first step, like Dataset Management.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/dof.h"
#include "translate.h"
#include "undo.h"
#include "vendor.h"

static_assert(DIEAWARE_SHARE_MAX_RANGES == FTL_SHARE_MAX_RANGES);
static_assert(DIEAWARE_SPREAD_MAX_RANGES == FTL_SPREAD_MAX_RANGES);
static_assert(DIEAWARE_VENDOR_MAX_BYTES >> FTL_PAGE_SHIFT == FTL_SHARE_MAX_PAGES);
static_assert(DIEAWARE_VENDOR_MAX_BYTES >> FTL_PAGE_SHIFT == FTL_SPREAD_MAX_PAGES);
static_assert(DIEAWARE_SHARE_MAX_RANGES * sizeof(struct dieaware_share_range) <= PAGE_SIZE);
static_assert(DIEAWARE_SPREAD_MAX_RANGES * sizeof(struct dieaware_spread_range) <= PAGE_SIZE);

static u32 nr_ranges_of(const struct nvmev_cmd *cmd)
{
	return DIEAWARE_CDW10_NR_RANGES(le32_to_cpu(cmd->sqe.common.cdw10));
}

static u16 fetch(struct nvmev *nvmev, struct nvmev_cmd *cmd, size_t bytes)
{
	struct nvmev_dma dma;
	u16 status = nvmev_dma_begin(&dma, &nvmev->pci, &cmd->sqe, bytes);

	return status ?: nvmev_dma_from_host(&dma, nvmev->reply, bytes);
}

/* LBAs that the namespace must have and that must be whole pages. */
static u16 to_pages(struct nvmev_cmd *cmd, u64 lba, u32 nr_lbas, lpn_t *first, u32 *nr_pages)
{
	u32 shift = FTL_PAGE_SHIFT - cmd->ns->lba_shift;
	u16 status = nvmev_ns_check(cmd->ns, lba, nr_lbas);

	cmd->fault_lba = lba;
	if (status)
		return status;
	if (!nr_lbas || (lba | nr_lbas) & (BIT(shift) - 1))
		return NVME_SC_INVALID_FIELD | NVMEV_DNR;
	*first = to_lpn(cmd->ns->first_page + (lba >> shift));
	*nr_pages = nr_lbas >> shift;
	return 0;
}

static u16 parse_share(struct nvmev *nvmev, struct nvmev_cmd *cmd, struct ftl_share_range *range,
		       u32 nr_ranges)
{
	const struct dieaware_share_range *wire = nvmev->reply;
	u32 nr_pages = 0;
	u16 status = 0;
	u32 i;

	for (i = 0; i < nr_ranges && !status; i++) {
		u32 nr_lbas = le32_to_cpu(wire[i].nr_lbas);

		status = to_pages(cmd, le64_to_cpu(wire[i].to), nr_lbas, &range[i].to,
				  &range[i].nr);
		if (!status)
			status = to_pages(cmd, le64_to_cpu(wire[i].from), nr_lbas,
					  &range[i].from, &range[i].nr);
		if (!status && range[i].nr > FTL_SHARE_MAX_PAGES - nr_pages)
			status = NVMEV_SC_COPY_SIZE | NVMEV_DNR;
		else if (!status)
			nr_pages += range[i].nr;
	}
	return status;
}

static u16 status_of(enum ftl_share_result result)
{
	switch (result) {
	case FTL_SHARE_DONE:
		return 0;
	case FTL_SHARE_OVERLAP:
		return NVME_SC_INVALID_FIELD | NVMEV_DNR;
	case FTL_SHARE_UNMAPPED:
		return NVMEV_SC_UNWRITTEN | NVMEV_DNR;
	default:
		return NVME_SC_CAP_EXCEEDED | NVMEV_DNR;
	}
}

static u64 seq_of(const struct nvmev *nvmev, u64 page)
{
	return nvmev->config.ftl.oob ? ftl_seq_of(nvmev->ftl, to_lpn(page)) : 0;
}

/* The bytes follow what the FTL has done; memory may run out. */
static u16 share_bytes(struct nvmev *nvmev, const struct ftl_share_range *range)
{
	u64 from = from_lpn(range->from);
	u64 to = from_lpn(range->to);
	u16 status = 0;
	u32 i;

	for (i = 0; i < range->nr && !status; i++)
		status = nvmev_store_share(&nvmev->store, from + i, to + i,
					   seq_of(nvmev, to + i));
	nvmev_past_written(&nvmev->store, nvmev->ftl, to, range->nr);
	return status;
}

static u16 share(struct nvmev *nvmev, struct nvmev_cmd *cmd, const struct ftl_share_range *range,
		 u32 nr_ranges)
{
	u16 status;
	u32 i;

	guard(mutex)(&nvmev->ftl_lock);
	if (ftl_is_read_only(nvmev->ftl))
		return NVME_SC_READ_ONLY | NVMEV_DNR;
	status = status_of(ftl_share(nvmev->ftl, range, nr_ranges, cmd->fetched_ns,
				     &cmd->due_ns));
	for (i = 0; i < nr_ranges && !status; i++)
		status = share_bytes(nvmev, &range[i]);
	/* Without a cache everything is durable when it is complete. */
	if (!status && !nvmev->features.write_cache)
		cmd->due_ns = max(cmd->due_ns, ftl_flush(nvmev->ftl, cmd->fetched_ns));
	return status;
}

u16 nvmev_vendor_share(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u32 nr_ranges = nr_ranges_of(cmd);
	struct ftl_share_range *range;
	u16 status;

	cmd->fault_lba = 0;
	if (!(nvmev_vendor_features(nvmev) & DIEAWARE_FEATURE_SHARE))
		return NVME_SC_INVALID_OPCODE | NVMEV_DNR;
	if (nr_ranges > DIEAWARE_SHARE_MAX_RANGES)
		return NVMEV_SC_COPY_SIZE | NVMEV_DNR;
	range = kcalloc(nr_ranges, sizeof(*range), GFP_NOIO);
	if (!range)
		return NVME_SC_INTERNAL;
	status = fetch(nvmev, cmd, nr_ranges * sizeof(struct dieaware_share_range));
	if (!status)
		status = parse_share(nvmev, cmd, range, nr_ranges);
	if (!status)
		status = share(nvmev, cmd, range, nr_ranges);
	kfree(range);
	return status;
}

u16 nvmev_vendor_compact(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	struct ftl_stats stats;

	if (!(nvmev_vendor_features(nvmev) & DIEAWARE_FEATURE_COMPACT))
		return NVME_SC_INVALID_OPCODE | NVMEV_DNR;
	guard(mutex)(&nvmev->ftl_lock);
	if (ftl_is_read_only(nvmev->ftl))
		return NVME_SC_READ_ONLY | NVMEV_DNR;
	cmd->due_ns = ftl_compact(nvmev->ftl, cmd->fetched_ns);
	ftl_get_stats(nvmev->ftl, &stats);
	cmd->result = stats.defrag_entries;
	return 0;
}

static u16 parse_spread(struct nvmev *nvmev, struct nvmev_cmd *cmd, struct ftl_lpn_range *range,
			struct ftl_redistribution *job)
{
	const struct dieaware_spread_range *wire = nvmev->reply;
	u16 status;
	u32 i;

	for (i = 0; i < job->nr_ranges; i++) {
		status = to_pages(cmd, le64_to_cpu(wire[i].first), le32_to_cpu(wire[i].nr_lbas),
				  &range[i].first, &range[i].nr);
		if (status)
			return status;
		if (range[i].nr > FTL_SPREAD_MAX_PAGES - job->nr_pages)
			return NVMEV_SC_COPY_SIZE | NVMEV_DNR;
		job->nr_pages += range[i].nr;
	}
	return 0;
}

/* What was written again has new numbers and the same bytes. */
static u16 keep_bytes(struct nvmev *nvmev, const struct ftl_redistribution *job)
{
	u16 status = 0;
	u32 i;

	for (i = 0; i < job->nr_ranges; i++) {
		u64 page = from_lpn(job->range[i].first);
		u64 end = page + job->range[i].nr;

		for (; page < end && !status; page++) {
			u64 seq = seq_of(nvmev, page);

			if (seq)
				status = nvmev_store_share(&nvmev->store, page, page, seq);
		}
		nvmev_past_written(&nvmev->store, nvmev->ftl,
				   from_lpn(job->range[i].first), job->range[i].nr);
	}
	return status;
}

static u16 redistribute(struct nvmev *nvmev, struct nvmev_cmd *cmd, struct ftl_redistribution *job)
{
	struct nvmev_watcher watcher = { nvmev, cmd };
	bool done;

	guard(mutex)(&nvmev->ftl_lock);
	if (ftl_is_read_only(nvmev->ftl))
		return NVME_SC_READ_ONLY | NVMEV_DNR;
	nvmev_watch_placements(nvmev, &watcher);
	done = ftl_redistribute(nvmev->ftl, job, cmd->fetched_ns);
	nvmev_watch_placements(nvmev, NULL);
	cmd->due_ns = job->done_ns;
	cmd->result = job->before_permille | job->after_permille << 16 |
		      (done ? DIEAWARE_SPREAD_DONE : 0);
	return done ? keep_bytes(nvmev, job) : 0;
}

static u16 run_redistribution(struct nvmev *nvmev, struct nvmev_cmd *cmd,
			      struct ftl_lpn_range *range)
{
	u32 threshold = DIEAWARE_CDW11_THRESHOLD(le32_to_cpu(cmd->sqe.common.cdw11));
	struct ftl_redistribution job = {
		.range = range,
		.nr_ranges = nr_ranges_of(cmd),
		.threshold_permille = threshold,
	};
	u16 status;

	if (threshold == DIEAWARE_THRESHOLD_DEFAULT)
		job.threshold_permille = DIEAWARE_THRESHOLD_OF_PAPER;
	else if (threshold > 1000)
		return NVME_SC_INVALID_FIELD | NVMEV_DNR;
	status = fetch(nvmev, cmd, job.nr_ranges * sizeof(struct dieaware_spread_range));
	if (!status)
		status = parse_spread(nvmev, cmd, range, &job);
	if (status)
		return status;
	job.memory = kvzalloc(ftl_dof_bytes(nvmev->ftl, job.nr_pages), GFP_NOIO);
	if (!job.memory)
		return NVME_SC_INTERNAL;
	status = redistribute(nvmev, cmd, &job);
	kvfree(job.memory);
	return status;
}

u16 nvmev_vendor_redistribute(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u32 nr_ranges = nr_ranges_of(cmd);
	struct ftl_lpn_range *range;
	u16 status;

	cmd->fault_lba = 0;
	if (!(nvmev_vendor_features(nvmev) & DIEAWARE_FEATURE_REDISTRIBUTE))
		return NVME_SC_INVALID_OPCODE | NVMEV_DNR;
	if (nr_ranges > DIEAWARE_SPREAD_MAX_RANGES)
		return NVMEV_SC_COPY_SIZE | NVMEV_DNR;
	range = kcalloc(nr_ranges, sizeof(*range), GFP_NOIO);
	if (!range)
		return NVME_SC_INTERNAL;
	status = run_redistribution(nvmev, cmd, range);
	kfree(range);
	return status;
}

u16 nvmev_vendor_features(const struct nvmev *nvmev)
{
	/* Without hints it is to be like any other drive. */
	if (!nvmev->config.hints)
		return 0;
	if (!nvmev->config.ftl.share_pages)
		return DIEAWARE_FEATURE_REDISTRIBUTE;
	/* With protection and without a backing file nothing has to be logged. */
	return DIEAWARE_FEATURE_REDISTRIBUTE | DIEAWARE_FEATURE_SHARE |
	       (nvmev->config.ftl.oob ? DIEAWARE_FEATURE_COMPACT : 0);
}
