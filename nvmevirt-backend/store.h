/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of a namespace, kept in memory by logical page. Pages that were never
 * written, or were trimmed, take no memory and read as zeroes.
 *
 * One caller at a time (the dispatcher); nvmev_store_pages() may be called by anyone.
 */
#ifndef NVMEV_STORE_H
#define NVMEV_STORE_H

#include <linux/xarray.h>

#include "dma.h"

/**
 * struct nvmev_store - sparse memory
 * @pages: one page of memory for each logical page that holds data
 * @nr_pages: how many
 */
struct nvmev_store {
	struct xarray pages;
	u64 nr_pages;
};

/**
 * nvmev_store_init() - make an empty store
 * @store: the store
 */
void nvmev_store_init(struct nvmev_store *store);

/**
 * nvmev_store_clear() - free everything
 * @store: the store; empty and usable afterwards
 *
 * Context: may sleep.
 */
void nvmev_store_clear(struct nvmev_store *store);

/**
 * nvmev_store_read() - copy bytes to the host
 * @store: the store
 * @start: first byte
 * @bytes: how many
 * @dma: where to
 *
 * Return: an NVMe status.
 */
u16 nvmev_store_read(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma);

/**
 * nvmev_store_write() - copy bytes from the host
 * @store: the store
 * @start: first byte
 * @bytes: how many
 * @dma: where from
 *
 * Context: may sleep, but starts no I/O: the memory may be freed by writing to this device.
 * Return: an NVMe status, NVME_SC_CAP_EXCEEDED when memory runs out.
 */
u16 nvmev_store_write(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma);

/**
 * nvmev_store_copy() - copy bytes from one place to another, front to back
 * @store: the store
 * @from: first byte to copy
 * @to: first byte to overwrite
 * @bytes: how many
 *
 * Context: like nvmev_store_write().
 * Return: an NVMe status, NVME_SC_CAP_EXCEEDED when memory runs out.
 */
u16 nvmev_store_copy(struct nvmev_store *store, u64 from, u64 to, u64 bytes);

/**
 * nvmev_store_compare() - compare bytes with the host's
 * @store: the store
 * @start: first byte
 * @bytes: how many
 * @dma: the host's bytes
 *
 * Return: an NVMe status, NVME_SC_COMPARE_FAILED if they differ.
 */
u16 nvmev_store_compare(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma);

/**
 * nvmev_store_zero() - let bytes read as zeroes; whole pages are freed
 * @store: the store
 * @start: first byte
 * @bytes: how many
 */
void nvmev_store_zero(struct nvmev_store *store, u64 start, u64 bytes);

/**
 * nvmev_store_nr_pages() - pages that take memory now
 * @store: the store
 *
 * Return: pages; may be a little old.
 */
static inline u64 nvmev_store_nr_pages(const struct nvmev_store *store)
{
	return READ_ONCE(store->nr_pages);
}

#endif /* NVMEV_STORE_H */
