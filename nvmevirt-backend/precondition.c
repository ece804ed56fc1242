// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preconditioning as the kernel sees it: who asks for it does the work, in steps between which
 * everybody else has the CPU. The data of what is filled is forgotten first, so that an SSD that
 * was left in the middle has lost it but shows nothing that was not written.
 */
#include <linux/sched/signal.h>

#include "nvmev.h"
#include "precondition.h"
#include "translate.h"
#include "undo.h"

/* Pages of data that are forgotten at a time */
#define FORGET_PAGES	4096U

static void forget_data(struct nvmev *nvmev, const struct ftl_lpn_range *range)
{
	u32 at, nr;

	for (at = 0; at < range->nr; at += nr) {
		nr = min(range->nr - at, FORGET_PAGES);
		nvmev_store_trim(&nvmev->store, (from_lpn(range->first) + at) << FTL_PAGE_SHIFT,
				 (u64)nr << FTL_PAGE_SHIFT);
		cond_resched();
	}
}

static void add_namespaces(const struct nvmev *nvmev, struct ftl_precondition *work,
			   u32 fill_percent)
{
	u32 i;

	BUILD_BUG_ON(NVMEV_MAX_NAMESPACES > FTL_PRECONDITION_MAX_RANGES);
	for (i = 0; i < nvmev->nr_ns; i++) {
		const struct nvmev_ns *ns = &nvmev->ns[i];

		work->range[i].first = to_lpn(ns->first_page);
		work->range[i].nr = ftl_precondition_share(ns->nr_pages, fill_percent);
	}
	work->nr_ranges = nvmev->nr_ns;
}

/* Return: whether all of it was done. */
static bool run(struct nvmev *nvmev, struct ftl_precondition *work)
{
	bool more = true;

	while (more && !signal_pending(current)) {
		scoped_guard(mutex, &nvmev->ftl_lock)
			more = ftl_precondition_step(nvmev->ftl, work);
		cond_resched();
	}
	return !more;
}

int nvmev_precondition(struct nvmev *nvmev, u32 fill_percent, u32 random_percent, u64 seed,
		       char *reason)
{
	struct ftl_precondition work = { .random_percent = random_percent, .state = seed };
	int saved, ret = 0;
	u32 i;

	if (nvmev_ns_is_read_only(nvmev)) {
		strscpy(reason, "The SSD has lost too many erase blocks and is read-only.",
			NVMEV_REASON_BYTES);
		return -EROFS;
	}
	add_namespaces(nvmev, &work, fill_percent);
	for (i = 0; i < work.nr_ranges; i++)
		forget_data(nvmev, &work.range[i]);
	scoped_guard(mutex, &nvmev->ftl_lock)
		ftl_precondition_begin(nvmev->ftl, &work);
	if (!run(nvmev, &work)) {
		strscpy(reason,
			"Preconditioning was interrupted: a part of it is done, and what it was to fill reads as zeroes.",
			NVMEV_REASON_BYTES);
		ret = -EINTR;
	}
	scoped_guard(mutex, &nvmev->ftl_lock)
		ftl_precondition_end(nvmev->ftl, &work, ktime_get_ns());
	if (!ret && nvmev_ns_is_read_only(nvmev)) {
		strscpy(reason,
			"The SSD has lost too many erase blocks while it was preconditioned, and is read-only.",
			NVMEV_REASON_BYTES);
		ret = -EROFS;
	}
	/* The file must not have less than the SSD: nothing else is written before it is on. */
	saved = nvmev_backing_end(nvmev, reason);
	return saved ?: ret;
}
