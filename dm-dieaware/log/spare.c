// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of pages that are being written, and what is read only because it lies between pages that
 * are wanted. A start has tens of thousands of these. A kernel that clears all memory which it
 * hands out takes longer for that than to copy a page, so some stay here for the next one, until a
 * start or a checkpoint has ended.
 */
#include <linux/gfp.h>
#include <linux/mm.h>

#include "spare.h"

/* As many as are read or written at a time */
#define MOST_SPARES	128U

void dmda_log_spares_init(struct dmda_log_spares *spares)
{
	spin_lock_init(&spares->lock);
	INIT_LIST_HEAD(&spares->pages);
	spares->nr = 0;
}

static struct page *take(struct dmda_log_spares *spares)
{
	struct page *page;
	unsigned long flags;

	spin_lock_irqsave(&spares->lock, flags);
	page = list_first_entry_or_null(&spares->pages, struct page, lru);
	if (page) {
		list_del(&page->lru);
		spares->nr--;
	}
	spin_unlock_irqrestore(&spares->lock, flags);
	return page;
}

struct page *dmda_log_spare_get(struct dmda_log_spares *spares, gfp_t gfp)
{
	return take(spares) ?: alloc_page(gfp);
}

void dmda_log_spare_put(struct dmda_log_spares *spares, struct page *page)
{
	unsigned long flags;
	bool is_kept;

	spin_lock_irqsave(&spares->lock, flags);
	is_kept = spares->nr < MOST_SPARES;
	if (is_kept) {
		list_add(&page->lru, &spares->pages);
		spares->nr++;
	}
	spin_unlock_irqrestore(&spares->lock, flags);
	if (!is_kept)
		__free_page(page);
}

void dmda_log_spares_free(struct dmda_log_spares *spares)
{
	struct page *page;

	while ((page = take(spares)))
		__free_page(page);
}

static void *get_for_pool(gfp_t gfp, void *spares)
{
	return dmda_log_spare_get(spares, gfp);
}

static void put_from_pool(void *page, void *spares)
{
	dmda_log_spare_put(spares, page);
}

int dmda_log_spares_pool(struct dmda_log_spares *spares, mempool_t *pool, int nr)
{
	return mempool_init(pool, nr, get_for_pool, put_from_pool, spares);
}
