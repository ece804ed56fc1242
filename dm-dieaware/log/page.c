// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of the map in memory: found by their index, pinned, and free when they are out of the map.
 * How they come is cache.c's, which of them go evict.c's.
 *
 * Who only wants to know where something lies takes neither lock nor pin (look-up.c). So the memory
 * of a page that goes is free only when all who may have found it before have looked: after a grace
 * period of RCU. What was set aside comes back then; who needs it waits for that.
 */
#include "log.h"
#include "near.h"
#include "page.h"

#define MIN_MAP_PAGES		64U

static struct kmem_cache *page_cache;

int dmda_log_map_init(void)
{
	page_cache = kmem_cache_create("dmda_map_page", sizeof(struct dmda_log_page), 0, 0, NULL);
	return page_cache ? 0 : -ENOMEM;
}

void dmda_log_map_exit(void)
{
	kmem_cache_destroy(page_cache);
}

u64 dmda_log_map_pages(u32 mb)
{
	return max_t(u64, (u64)mb << (20 - DMDA_PAGE_SHIFT), MIN_MAP_PAGES);
}

int dmda_log_page_reserves_init(struct dmda_log *log, int nr)
{
	return mempool_init_page_pool(&log->cache.blocks, nr, 0) ?:
		mempool_init_slab_pool(&log->cache.structs, nr, page_cache);
}

void dmda_log_page_reserves_exit(struct dmda_log *log)
{
	mempool_exit(&log->cache.structs);
	mempool_exit(&log->cache.blocks);
}

/*
 * In the map
 */

struct dmda_log_page *dmda_log_page_peek(struct dmda_log *log, u64 index)
{
	return dmda_log_near_find(log, index) ?: xa_load(&log->cache.pages, index);
}

struct dmda_log_page *dmda_log_page_load_locked(struct dmda_log *log, u64 index)
{
	struct dmda_log_page *page = dmda_log_near_find(log, index);

	lockdep_assert_held(&log->lock);

	if (page)
		return page;
	page = xa_load(&log->cache.pages, index);
	if (page)
		dmda_log_near_put_locked(log, page);
	return page;
}

struct dmda_log_page *dmda_log_page_find_locked(struct dmda_log *log, u64 index)
{
	struct dmda_log_page *page = dmda_log_page_load_locked(log, index);

	lockdep_assert_held(&log->lock);

	if (!page || !page->map.is_shown)
		return NULL;
	dmda_log_page_used(page);
	return page;
}

bool dmda_log_page_is_there_locked(struct dmda_log *log, u64 index)
{
	const struct dmda_log_page *page = dmda_log_page_load_locked(log, index);

	lockdep_assert_held(&log->lock);

	return page && page->map.is_shown;
}

bool dmda_log_page_is_zero_locked(struct dmda_log *log, u64 index)
{
	lockdep_assert_held(&log->lock);

	return !xa_load(&log->cache.pages, index) &&
		!log->tables.slots[DMDA_TABLE_MAP].newest[index];
}

void dmda_log_page_put_locked(struct dmda_log *log, struct dmda_log_page *page)
{
	lockdep_assert_held(&log->lock);

	page->nr_pins--;
}

void dmda_log_page_put(struct dmda_log *log, struct dmda_log_page *page)
{
	unsigned long flags;

	spin_lock_irqsave(&log->lock, flags);
	dmda_log_page_put_locked(log, page);
	spin_unlock_irqrestore(&log->lock, flags);
}

/*
 * Memory
 */

void dmda_log_page_free_unseen(struct dmda_log *log, struct dmda_log_page *page)
{
	mempool_free(virt_to_page(page->map.block), &log->cache.blocks);
	mempool_free(page, &log->cache.structs);
}

static void free_gone(struct rcu_head *rcu)
{
	struct dmda_log_page *page = container_of(rcu, struct dmda_log_page, rcu);
	struct dmda_log *log = (void *)page_private(virt_to_page(page->map.block));

	atomic_dec(&log->cache.nr_gone);
	dmda_log_page_free_unseen(log, page);
}

void dmda_log_page_free(struct dmda_log *log, struct dmda_log_page *page)
{
	atomic_inc(&log->cache.nr_gone);
	/* The page has no room to say whose it is. */
	set_page_private(virt_to_page(page->map.block), (unsigned long)log);
	call_rcu(&page->rcu, free_gone);
}

static struct dmda_log_page *init_page(struct dmda_log *log, struct dmda_log_page *page,
				       struct page *block, u64 index)
{
	memset(page, 0, sizeof(*page));
	page->map.block = page_address(block);
	page->map.index = index;
	page->map.nr_entries = dmda_super_map_entries(&log->super);
	page->map.dirty_sector = U64_MAX;
	page->nr_uses = -1;
	return page;
}

struct dmda_log_page *dmda_log_page_alloc(struct dmda_log *log, u64 index, gfp_t gfp,
					  bool is_needed)
{
	struct dmda_log_page *page = kmem_cache_alloc(page_cache, gfp);
	struct page *block = alloc_page(gfp);

	if (!page && is_needed)
		page = mempool_alloc(&log->cache.structs, GFP_NOWAIT);
	if (!block && is_needed)
		block = mempool_alloc(&log->cache.blocks, GFP_NOWAIT);
	if (page && block)
		return init_page(log, page, block, index);
	mempool_free(block, &log->cache.blocks);
	mempool_free(page, &log->cache.structs);
	return NULL;
}

/*
 * Out of the map
 */

void dmda_log_page_take_out_locked(struct dmda_log *log, struct dmda_log_page *page)
{
	lockdep_assert_held(&log->lock);

	dmda_map_page_hide(&page->map);
	dmda_log_near_drop_locked(log, page);
	xa_erase(&log->cache.pages, page->map.index);
	WRITE_ONCE(log->cache.nr_pages, log->cache.nr_pages - 1);
}

bool dmda_log_page_leaves_locked(struct dmda_log *log, struct dmda_log_page *page)
{
	lockdep_assert_held(&log->lock);

	page->is_leaving = false;
	WRITE_ONCE(log->cache.nr_leaving, log->cache.nr_leaving - 1);
	/*
	 * Somebody may have come for it while it was written. Without the mark gcc reads along what
	 * lies beside it, among which is what look-ups change without the lock.
	 */
	if (READ_ONCE(page->nr_pins) || READ_ONCE(page->nr_uses) > 0 ||
	    dmda_log_page_is_dirty(page))
		return false;
	dmda_log_page_take_out_locked(log, page);
	return true;
}
