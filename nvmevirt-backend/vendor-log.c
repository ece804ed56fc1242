// SPDX-License-Identifier: GPL-2.0-only
/*
 * Vendor log pages of <dieaware/log.h>: finds out which part of which log is asked for; what
 * stands in it is core/report.c's.
 */
#include <linux/slab.h>

#include "core/dof.h"
#include "core/report.h"
#include "health.h"
#include "log-page.h"
#include "nvmev.h"
#include "outage.h"
#include "vendor.h"

#define RANGE_PAGES_SHIFT	(DIEAWARE_DOF_RANGE_SHIFT - FTL_PAGE_SHIFT)

/**
 * struct window - the entries of a table that a command asks for
 * @first: first entry
 * @nr: how many
 */
struct window {
	u64 first;
	u32 nr;
};

/* A table of @total entries; @log is to hold the part that was asked for. */
static u16 open_window(struct nvmev_log *log, u32 entry_bytes, u64 total, struct window *window)
{
	u64 end = log->offset + log->asked;

	log->total = total * entry_bytes;
	if (log->offset > log->total || log->offset % entry_bytes)
		return NVME_SC_INVALID_FIELD;
	window->first = log->offset / entry_bytes;
	window->nr = min(DIV_ROUND_UP_ULL(end, entry_bytes), total) - window->first;
	log->start = log->offset;
	log->data = kvcalloc(max(window->nr, 1U), entry_bytes, GFP_NOIO);
	return log->data ? 0 : NVME_SC_INTERNAL;
}

static u16 map_log(struct nvmev *nvmev, const struct nvmev_ns *ns, struct nvmev_log *log)
{
	struct window window;
	u16 status = open_window(log, sizeof(struct dieaware_map_entry), ns->nr_pages, &window);

	if (status)
		return status;
	guard(mutex)(&nvmev->ftl_lock);
	ftl_advance(nvmev->ftl, nvmev_now(nvmev));
	ftl_report_map(nvmev->ftl, to_lpn(ns->first_page + window.first), window.nr, log->data);
	return 0;
}

static u16 fill_dof(struct nvmev *nvmev, const struct nvmev_ns *ns, u64 range_pages,
		    const struct window *window, struct dieaware_dof_entry *entry)
{
	u64 page = window->first * range_pages;
	u32 i, nr = min(range_pages, ns->nr_pages);
	void *memory = kvmalloc(ftl_dof_bytes(nvmev->ftl, nr), GFP_NOIO);

	if (!memory)
		return NVME_SC_INTERNAL;
	mutex_lock(&nvmev->ftl_lock);
	ftl_advance(nvmev->ftl, nvmev_now(nvmev));
	for (i = 0; i < window->nr; i++, page += range_pages) {
		nr = min(range_pages, ns->nr_pages - page);
		ftl_report_dof(nvmev->ftl, to_lpn(ns->first_page + page), nr, memory, &entry[i]);
	}
	mutex_unlock(&nvmev->ftl_lock);
	kvfree(memory);
	return 0;
}

static u16 dof_log(struct nvmev *nvmev, const struct nvmev_ns *ns, u32 lsp, struct nvmev_log *log)
{
	u64 range_pages = 1ULL << (RANGE_PAGES_SHIFT + lsp);
	u64 nr_ranges = DIV_ROUND_UP_ULL(ns->nr_pages, range_pages);
	struct window window;
	u16 status;

	status = open_window(log, sizeof(struct dieaware_dof_entry), nr_ranges, &window);
	if (!status && window.nr * min(range_pages, ns->nr_pages) > FTL_DOF_MAX_PAGES)
		status = NVME_SC_INVALID_FIELD;
	return status ?: fill_dof(nvmev, ns, range_pages, &window, log->data);
}

static u16 wear_log(struct nvmev *nvmev, struct nvmev_log *log)
{
	struct ftl_report_part part = { .first = log->offset, .bytes = log->asked };

	log->total = ftl_report_wear_bytes(nvmev->ftl);
	log->start = log->offset;
	log->data = kvzalloc(log->asked, GFP_NOIO);
	if (!log->data)
		return NVME_SC_INTERNAL;
	part.data = log->data;
	guard(mutex)(&nvmev->ftl_lock);
	ftl_advance(nvmev->ftl, nvmev_now(nvmev));
	ftl_report_wear(nvmev->ftl, NVMEV_RATED_CYCLES, &part);
	return 0;
}

static u16 defrag_log(struct nvmev *nvmev, struct nvmev_log *log)
{
	if (!(nvmev_vendor_features(nvmev) & DIEAWARE_FEATURE_COMPACT))
		return NVME_SC_INVALID_LOG_PAGE;
	log->total = sizeof(struct dieaware_log_defrag);
	log->data = kvzalloc(log->total, GFP_NOIO);
	if (!log->data)
		return NVME_SC_INTERNAL;
	guard(mutex)(&nvmev->ftl_lock);
	ftl_advance(nvmev->ftl, nvmev_now(nvmev));
	ftl_report_defrag(nvmev->ftl, log->data);
	return 0;
}

static u16 late_log(struct nvmev *nvmev, struct nvmev_log *log)
{
	struct nvmev_lateness lateness;
	struct dieaware_log_late *late;
	u32 i;

	log->total = sizeof(*late);
	log->data = kvzalloc(log->total, GFP_NOIO);
	if (!log->data)
		return NVME_SC_INTERNAL;
	nvmev_get_lateness(nvmev, &lateness);
	late = log->data;
	late->version = cpu_to_le16(1);
	late->header_bytes = cpu_to_le16(sizeof(*late));
	late->late_ns = cpu_to_le32(NVMEV_LATE_NS);
	late->completions = cpu_to_le64(lateness.nr);
	late->late = cpu_to_le64(lateness.nr_late);
	late->sum_ns = cpu_to_le64(lateness.sum_ns);
	late->model_ns = cpu_to_le64(lateness.model_ns);
	late->worst_ns = cpu_to_le64(lateness.worst_ns);
	late->late_permille = cpu_to_le32(min_t(u64, nvmev_late_permille(&lateness), U32_MAX));
	late->nr_buckets = cpu_to_le32(DIEAWARE_LATE_BUCKETS);
	for (i = 0; i < DIEAWARE_LATE_BUCKETS; i++)
		late->bucket[i] = cpu_to_le64(lateness.bucket[i]);
	return 0;
}

u16 nvmev_vendor_log(struct nvmev *nvmev, const struct nvme_command *sqe, struct nvmev_log *log)
{
	const struct nvmev_ns *ns = nvmev_ns_find(nvmev, le32_to_cpu(sqe->get_log_page.nsid));
	u8 lid = sqe->get_log_page.lid;

	if (!nvmev->config.hints)
		return NVME_SC_INVALID_LOG_PAGE;
	if (lid == DIEAWARE_LOG_WEAR)
		return wear_log(nvmev, log);
	if (lid == DIEAWARE_LOG_DEFRAG)
		return defrag_log(nvmev, log);
	if (lid == DIEAWARE_LOG_LATE)
		return late_log(nvmev, log);
	if (!ns)
		return NVME_SC_INVALID_NS;
	if (lid == DIEAWARE_LOG_MAP)
		return map_log(nvmev, ns, log);
	return dof_log(nvmev, ns, NVMEV_LOG_SPECIFIC(sqe->get_log_page.lsp), log);
}
