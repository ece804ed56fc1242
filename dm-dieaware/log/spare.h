/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of memory that are needed for as long as an I/O takes, over and over.
 */
#ifndef DMDA_LOG_SPARE_H
#define DMDA_LOG_SPARE_H

#include <linux/list.h>
#include <linux/mempool.h>
#include <linux/spinlock.h>

/**
 * struct dmda_log_spares - pages that nobody has
 * @lock: of the rest
 * @nr: how many
 * @pages: the pages
 */
struct dmda_log_spares {
	spinlock_t lock; /* of the rest */
	u32 nr;
	struct list_head pages;
};

void dmda_log_spares_init(struct dmda_log_spares *spares);

/**
 * dmda_log_spare_get() - one of them, or a new one
 *
 * Context: any; may sleep if @gfp says so.
 * Return: a page with anything in it, or NULL.
 */
struct page *dmda_log_spare_get(struct dmda_log_spares *spares, gfp_t gfp);

/* Counterpart. Context: any. */
void dmda_log_spare_put(struct dmda_log_spares *spares, struct page *page);

/**
 * dmda_log_spares_free() - free what nobody has
 *
 * Context: process.
 */
void dmda_log_spares_free(struct dmda_log_spares *spares);

/**
 * dmda_log_spares_pool() - a reserve that has its pages from there
 * @nr: pages that are to be had in any case
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; mempool_exit() is due in both cases, before the spares are freed.
 */
int dmda_log_spares_pool(struct dmda_log_spares *spares, mempool_t *pool, int nr);

#endif /* DMDA_LOG_SPARE_H */
