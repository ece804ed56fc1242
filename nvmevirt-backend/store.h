/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of a namespace, kept in memory by logical page. Pages that were never
 * written, or were trimmed, take no memory and read as zeroes.
 *
 * A store that keeps its past (undo.h) never changes data that a power failure may bring
 * back: new data gets memory of its own. The same holds for memory that two pages
 * share. Every other page is changed in place.
 *
 * Sectors that the host has declared unreadable (Write Uncorrectable) are marked in the memory of
 * their page, a bit each, and the marks go with it: what brings back older data, or shares it,
 * brings its marks as well. All pages that are marked whole share one page of memory.
 *
 * One caller at a time (the dispatcher, or the timer in its turn); nvmev_store_pages() may be
 * called by anyone.
 */
#ifndef NVMEV_STORE_H
#define NVMEV_STORE_H

#include <linux/list.h>
#include <linux/xarray.h>

#include "dma.h"

/**
 * struct nvmev_store - sparse memory
 * @pages: one page of memory for each logical page that holds data
 * @nr_pages: number of pages of memory in use, older data included
 * @keeps_past: whether older data stays until the newer is durable
 * @shares: whether there are, or were, pages that share memory
 * @marks: whether there are, or were, marked sectors
 * @unreadable: memory of zeroes that all pages share which are marked whole, NULL before the first
 * @past: struct nvmev_past by number of the page
 * @aging: list of all of @past, the page written last at the end
 * @nr_past: number of entries of @past
 * @whole_pages: a write of no more than so many pages comes whole or not at all, whatever goes
 *	wrong; 0: it may be zeroes where the host's data could not be fetched
 * @draft: pages of such a write, before they take their places
 */
struct nvmev_store {
	struct xarray pages;
	u64 nr_pages;
	bool keeps_past;
	bool shares;
	bool marks;
	void *unreadable;
	struct xarray past;
	struct list_head aging;
	u64 nr_past;
	u32 whole_pages;
	void **draft;
};

/**
 * nvmev_store_init() - make an empty store
 * @store: the store
 * @keeps_past: the drive has a volatile cache, and what it loses with it can come back older
 */
void nvmev_store_init(struct nvmev_store *store, bool keeps_past);

/**
 * nvmev_store_keep_whole() - writes of up to so many pages come whole or not at all
 * @store: the store, which keeps no past
 * @nr_pages: their number
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int nvmev_store_keep_whole(struct nvmev_store *store, u32 nr_pages);

/**
 * nvmev_store_end() - free everything
 * @store: the store
 *
 * Context: may sleep.
 */
void nvmev_store_end(struct nvmev_store *store);

/**
 * nvmev_store_read() - copy bytes to the host
 * @store: the store
 * @start: first byte
 * @bytes: number of bytes
 * @dma: host memory that they go to
 *
 * Return: an NVMe status.
 */
u16 nvmev_store_read(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma);

/**
 * nvmev_store_write() - copy bytes from the host
 * @store: the store
 * @start: first byte
 * @bytes: number of bytes
 * @dma: host memory that they come from
 * @seq: the FTL's number for the data of the first page; those of the others follow
 *
 * Context: may sleep, but starts no I/O: the memory may be freed by writing to this device.
 * Return: an NVMe status, NVME_SC_CAP_EXCEEDED when memory runs out.
 */
u16 nvmev_store_write(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma,
		      u64 seq);

/**
 * nvmev_store_make_room() - can nvmev_store_write() change what is there, and need no memory?
 * @store: the store
 * @start: first byte
 * @bytes: number of bytes, at least one
 *
 * Pages that have no memory get some, of zeroes, if there is any at once.
 *
 * Context: any, as long as nobody else uses the store; the write may then be done there as well.
 */
bool nvmev_store_make_room(struct nvmev_store *store, u64 start, u32 bytes);

/**
 * nvmev_store_copy() - copy bytes from one place to another, front to back
 * @store: the store
 * @from: first byte to copy
 * @to: first byte to overwrite
 * @bytes: number of bytes
 * @seq: as with nvmev_store_write()
 *
 * Context: like nvmev_store_write().
 * Return: an NVMe status, NVME_SC_CAP_EXCEEDED when memory runs out.
 */
u16 nvmev_store_copy(struct nvmev_store *store, u64 from, u64 to, u64 bytes, u64 seq);

/**
 * nvmev_store_compare() - compare bytes with the host's
 * @store: the store
 * @start: first byte
 * @bytes: number of bytes
 * @dma: the host's bytes
 *
 * Return: an NVMe status, NVME_SC_COMPARE_FAILED if they differ.
 */
u16 nvmev_store_compare(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma);

/**
 * nvmev_store_crc() - CRC32C of bytes, as it is usually written (inverted before and after)
 * @store: the store
 * @start: first byte
 * @bytes: number of bytes
 *
 * Return: the checksum.
 */
u32 nvmev_store_crc(struct nvmev_store *store, u64 start, u32 bytes);

/**
 * nvmev_store_zero() - write zeroes; whole pages of them take no memory
 * @store: the store
 * @start: first byte
 * @bytes: number of bytes
 * @seq: as with nvmev_store_write()
 *
 * Context: like nvmev_store_write().
 * Return: an NVMe status, NVME_SC_CAP_EXCEEDED when memory runs out.
 */
u16 nvmev_store_zero(struct nvmev_store *store, u64 start, u64 bytes, u64 seq);

/**
 * nvmev_store_mark() - declare bytes unreadable, until they are written, zeroed or trimmed
 * @store: the store
 * @start: first byte, of a sector of 512 bytes
 * @bytes: number of bytes, whole sectors
 * @seq: as with nvmev_store_write()
 *
 * Context: like nvmev_store_write().
 * Return: an NVMe status, NVME_SC_CAP_EXCEEDED when memory runs out.
 */
u16 nvmev_store_mark(struct nvmev_store *store, u64 start, u64 bytes, u64 seq);

/**
 * nvmev_store_find_mark() - find what is unreadable
 * @store: the store
 * @start: first byte, of a sector
 * @bytes: number of bytes, whole sectors
 *
 * Return: number of the first byte that is, counted from @start, or @bytes if none is.
 */
u64 nvmev_store_find_mark(struct nvmev_store *store, u64 start, u64 bytes);

/**
 * nvmev_store_trim() - let bytes read as zeroes, also after a power failure
 * @store: the store
 * @start: first byte
 * @bytes: number of bytes
 *
 * Whole pages are freed. One that is trimmed in part and shared becomes a copy.
 *
 * Context: like nvmev_store_write().
 * Return: an NVMe status, NVME_SC_CAP_EXCEEDED when memory for a copy runs out: that page
 * stays as it is.
 */
u16 nvmev_store_trim(struct nvmev_store *store, u64 start, u64 bytes);

/**
 * nvmev_store_share() - let a page have the memory of another, until either is written
 * @store: the store
 * @from: page that has the data
 * @to: page that gets it; the same page if only its number changes
 * @seq: the FTL's number for the data of @to from now on, 0 without power failures
 *
 * Context: like nvmev_store_write().
 * Return: an NVMe status, NVME_SC_CAP_EXCEEDED when memory runs out.
 */
u16 nvmev_store_share(struct nvmev_store *store, u64 from, u64 to, u64 seq);

/**
 * nvmev_store_page() - the memory of a page
 * @store: the store
 * @page: the page
 * @marks: gets which of its sectors are unreadable, a bit each, if there is memory
 *
 * Return: the memory, or NULL if it reads as zeroes.
 */
const void *nvmev_store_page(struct nvmev_store *store, u64 page, u8 *marks);

/**
 * nvmev_store_load() - set a page of a new store
 * @store: the store
 * @page: the page
 * @data: contents of the page
 * @marks: its unreadable sectors
 *
 * Context: may sleep, starts no I/O.
 * Return: 0 or -ENOMEM.
 */
int nvmev_store_load(struct nvmev_store *store, u64 page, const void *data, u8 marks);

/**
 * nvmev_store_put() - let go of a page of memory
 * @store: the store
 * @data: the memory, or NULL
 */
void nvmev_store_put(struct nvmev_store *store, void *data);

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
