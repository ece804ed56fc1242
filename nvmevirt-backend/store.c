// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sparse memory for a namespace. It knows bytes and nothing of flash: where a page
 * lies and how long that takes is the FTL's business.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "core/units.h"
#include "store.h"

/*
 * The dispatcher must not wait for its own device, which reclaim would make it do,
 * and must get an error rather than be made to wait for ever.
 */
#define STORE_GFP	(GFP_NOIO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

void nvmev_store_init(struct nvmev_store *store)
{
	xa_init(&store->pages);
	store->nr_pages = 0;
}

static void free_data(void *data)
{
	free_page((unsigned long)data);
}

void nvmev_store_clear(struct nvmev_store *store)
{
	unsigned long index;
	void *data;

	xa_for_each(&store->pages, index, data) {
		free_data(data);
		cond_resched();
	}
	xa_destroy(&store->pages);
	WRITE_ONCE(store->nr_pages, 0);
}

static u32 piece_of_page(u64 start, u64 bytes)
{
	return min_t(u64, bytes, FTL_PAGE_BYTES - (start & (FTL_PAGE_BYTES - 1)));
}

/* The memory of byte @start, or NULL where nothing was written. */
static void *find(struct nvmev_store *store, u64 start)
{
	void *data = xa_load(&store->pages, start >> FTL_PAGE_SHIFT);

	return data ? data + (start & (FTL_PAGE_BYTES - 1)) : NULL;
}

/* The same for writing; @bytes from there are going to be overwritten. */
static void *find_or_add(struct nvmev_store *store, u64 start, u32 bytes)
{
	gfp_t gfp = STORE_GFP;
	void *data;

	data = find(store, start);
	if (data)
		return data;
	if (bytes < FTL_PAGE_BYTES)
		gfp |= __GFP_ZERO;
	data = (void *)__get_free_page(gfp);
	if (!data)
		return NULL;
	if (xa_err(xa_store(&store->pages, start >> FTL_PAGE_SHIFT, data, STORE_GFP))) {
		free_data(data);
		return NULL;
	}
	WRITE_ONCE(store->nr_pages, store->nr_pages + 1);
	return data + (start & (FTL_PAGE_BYTES - 1));
}

u16 nvmev_store_read(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma)
{
	u32 piece;
	u16 status;

	for (; bytes; start += piece, bytes -= piece) {
		piece = piece_of_page(start, bytes);
		status = nvmev_dma_to_host(dma, find(store, start), piece);
		if (status)
			return status;
	}
	return 0;
}

u16 nvmev_store_write(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma)
{
	u32 piece;
	u16 status;
	void *data;

	for (; bytes; start += piece, bytes -= piece) {
		piece = piece_of_page(start, bytes);
		data = find_or_add(store, start, piece);
		if (!data)
			return NVME_SC_CAP_EXCEEDED | NVMEV_DNR;
		status = nvmev_dma_from_host(dma, data, piece);
		if (status) {
			/* A fresh page must not show what the kernel had in it. */
			memset(data, 0, piece);
			return status;
		}
	}
	return 0;
}

static u16 copy_piece(struct nvmev_store *store, u64 from, u64 to, u32 bytes)
{
	const void *source = find(store, from);
	void *data;

	if (!source) {
		nvmev_store_zero(store, to, bytes);
		return 0;
	}
	data = find_or_add(store, to, bytes);
	if (!data)
		return NVME_SC_CAP_EXCEEDED | NVMEV_DNR;
	memmove(data, source, bytes);
	return 0;
}

u16 nvmev_store_copy(struct nvmev_store *store, u64 from, u64 to, u64 bytes)
{
	u16 status = 0;
	u32 piece;

	for (; bytes && !status; from += piece, to += piece, bytes -= piece) {
		piece = min(piece_of_page(from, bytes), piece_of_page(to, bytes));
		status = copy_piece(store, from, to, piece);
	}
	return status;
}

u16 nvmev_store_compare(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma)
{
	u32 piece;
	u16 status;

	for (; bytes; start += piece, bytes -= piece) {
		piece = piece_of_page(start, bytes);
		status = nvmev_dma_compare(dma, find(store, start), piece);
		if (status)
			return status;
	}
	return 0;
}

static void zero_part(struct nvmev_store *store, u64 start, u32 bytes)
{
	void *data = find(store, start);

	if (data)
		memset(data, 0, bytes);
}

static void drop_pages(struct nvmev_store *store, u64 first, u64 end)
{
	unsigned long index;
	void *data;

	if (first >= end)
		return;
	xa_for_each_range(&store->pages, index, data, first, end - 1) {
		xa_erase(&store->pages, index);
		free_data(data);
		WRITE_ONCE(store->nr_pages, store->nr_pages - 1);
	}
}

void nvmev_store_zero(struct nvmev_store *store, u64 start, u64 bytes)
{
	u64 end = start + bytes;
	u32 piece = piece_of_page(start, bytes);

	if (piece < FTL_PAGE_BYTES) {
		zero_part(store, start, piece);
		start += piece;
	}
	drop_pages(store, start >> FTL_PAGE_SHIFT, end >> FTL_PAGE_SHIFT);
	piece = end & (FTL_PAGE_BYTES - 1);
	if (start < end && piece)
		zero_part(store, end - piece, piece);
}
