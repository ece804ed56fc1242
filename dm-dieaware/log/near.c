// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of pages of the map that are at hand. Only who holds the lock changes it: a page that
 * goes leaves it before its memory is on its way to be free, and nobody may bring it back.
 *
 * It has places for as many pages as there are in memory. Where all pages of the map are, none
 * takes another one's place.
 */
#include <linux/log2.h>

#include "near.h"

struct dmda_log_near *dmda_log_near_alloc(u64 nr_pages, gfp_t gfp)
{
	struct dmda_log_near *near = kvzalloc(struct_size(near, page, nr_pages), gfp);

	if (!near)
		return NULL;
	near->mask = roundup_pow_of_two(nr_pages) - 1;
	near->nr = nr_pages;
	return near;
}

static struct dmda_log_page __rcu **place_locked(struct dmda_log *log,
						 const struct dmda_log_page *page)
{
	struct dmda_log_near *near =
		rcu_dereference_protected(log->cache.near, lockdep_is_held(&log->lock));

	return dmda_log_near_place(near, page->map.index);
}

void dmda_log_near_put_locked(struct dmda_log *log, struct dmda_log_page *page)
{
	struct dmda_log_page __rcu **place = place_locked(log, page);

	lockdep_assert_held(&log->lock);

	if (place)
		rcu_assign_pointer(*place, page);
}

void dmda_log_near_drop_locked(struct dmda_log *log, const struct dmda_log_page *page)
{
	struct dmda_log_page __rcu **place = place_locked(log, page);

	lockdep_assert_held(&log->lock);

	if (place && rcu_access_pointer(*place) == page)
		RCU_INIT_POINTER(*place, NULL);
}

void dmda_log_near_replace(struct dmda_log *log, struct dmda_log_near *near)
{
	spin_lock_irq(&log->lock);
	near = rcu_replace_pointer(log->cache.near, near, lockdep_is_held(&log->lock));
	spin_unlock_irq(&log->lock);
	synchronize_rcu();
	kvfree(near);
}
