// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looking up without the lock: who reads on one CPU has nothing to wait for while others read and
 * write. The page of the map is found by RCU, and says by its version whether what was read from it
 * holds (core/lookup.h). A read is counted among the readers of its segment while the map still
 * points there; from then on nobody frees that.
 *
 * What is changing at this very moment is looked up once more; who changes the same page of the map
 * all the time must not keep readers out, so these take the lock after some tries.
 */
#include "../core/lookup.h"
#include "log.h"
#include "look-up.h"
#include "places.h"

#define MOST_TRIES	4

/* Counted first, and looked at again then: see core/lookup.h. */
static bool count_reader(struct dmda_log *log, const struct dmda_lookup *lookup, seg_t seg)
{
	if (seg == SEG_NONE)
		return true;
	atomic_inc(&log->space.readers[from_seg(seg)]);
	/* Pairs with the one in claim_next(): the count before the second look. */
	smp_mb__after_atomic();
	if (dmda_lookup_holds(lookup))
		return true;
	dmda_log_put_reader(log, seg);
	return false;
}

static bool try(struct dmda_log *log, struct dmda_log_page *page, u32 entry, u32 nr_pages,
		struct dmda_log_found *found)
{
	struct dmda_lookup lookup;

	if (!dmda_lookup_begin(&lookup, &page->map, entry, nr_pages, found->sums))
		return false;
	found->dpn = lookup.dpn;
	found->nr_pages = lookup.nr_pages;
	found->seg = SEG_NONE;
	if (lookup.dpn != DPN_NONE)
		found->seg = dmda_log_segment_of(log, lookup.dpn);
	if (!count_reader(log, &lookup, found->seg))
		return false;
	dmda_log_page_used(page);
	return true;
}

bool dmda_log_look_up(struct dmda_log *log, u64 lpn, u32 nr_pages, struct dmda_log_found *found)
{
	struct dmda_log_page *page;
	bool is_known = false;
	u32 entry;

	rcu_read_lock();
	page = dmda_log_page_peek(log, dmda_log_map_index(log, lpn, &entry));
	for (u32 i = 0; page && i < MOST_TRIES && !is_known; i++)
		is_known = try(log, page, entry, nr_pages, found);
	rcu_read_unlock();
	return is_known;
}

bool dmda_log_peek(struct dmda_log *log, u64 lpn, dpn_t *dpn)
{
	struct dmda_log_page *page;
	struct dmda_lookup lookup;
	bool is_known;
	u32 entry;

	rcu_read_lock();
	page = dmda_log_page_peek(log, dmda_log_map_index(log, lpn, &entry));
	is_known = page && dmda_lookup_begin(&lookup, &page->map, entry, 1, NULL);
	if (is_known) {
		dmda_log_page_used(page);
		*dpn = lookup.dpn;
	}
	rcu_read_unlock();
	return is_known;
}
