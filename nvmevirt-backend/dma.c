// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks physical region pages and copies. The virtual PCI function sits behind no
 * IOMMU, so a bus address is a physical address. A wrong one must end in an NVMe
 * status: an address is used only if it is RAM in the kernel's direct map.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "dma.h"
#include "platform.h"

static void *host_page(u64 addr, bool write)
{
	unsigned long pfn = addr >> PAGE_SHIFT;
	struct page *page;

	if (!nvmev_platform_is_address(addr) || !pfn_valid(pfn))
		return NULL;
	page = pfn_to_page(pfn);
	if (is_zone_device_page(page))
		return NULL;
	/*
	 * Reserved pages are the kernel's own image, or holes that have a struct page
	 * but no mapping. A device may read the former (the zero page is one); nothing
	 * allocates them as a buffer to be written.
	 */
	if (PageReserved(page) && (write || !nvmev_platform_is_ram(pfn)))
		return NULL;
	return phys_to_virt(addr);
}

void *nvmev_dma_ring(u64 addr, u32 bytes)
{
	u32 at;

	if (!PAGE_ALIGNED(addr))
		return NULL;
	/* The end of the ring may be beyond that of all addresses. */
	for (at = 0; at < bytes; at += PAGE_SIZE)
		if (!host_page(addr + at, true))
			return NULL;
	return phys_to_virt(addr);
}

u16 nvmev_dma_begin(struct nvmev_dma *dma, struct nvmev_pci *pci, const struct nvme_command *sqe,
		    u32 bytes)
{
	u64 prp1 = le64_to_cpu(sqe->common.dptr.prp1);

	if (prp1 & 3)
		return NVME_SC_PRP_INVALID_OFFSET | NVMEV_DNR;
	*dma = (struct nvmev_dma){
		.pci = pci,
		.addr = prp1,
		.room = min_t(u32, bytes, PAGE_SIZE - offset_in_page(prp1)),
		.prp2 = le64_to_cpu(sqe->common.dptr.prp2),
	};
	dma->left = bytes - dma->room;
	return 0;
}

static u16 enter_list(struct nvmev_dma *dma, u64 addr)
{
	dma->list = host_page(addr, false);
	if (!dma->list)
		return NVME_SC_DATA_XFER_ERROR | NVMEV_DNR;
	dma->nr_entries = (PAGE_SIZE - offset_in_page(addr)) / sizeof(*dma->list);
	return 0;
}

/* The entry that says where the next page of data is, from the list. */
static u16 next_entry(struct nvmev_dma *dma, u64 *entry)
{
	u16 status;
	u64 next;

	if (!dma->list) {
		if (dma->prp2 & 7)
			return NVME_SC_PRP_INVALID_OFFSET | NVMEV_DNR;
		status = enter_list(dma, dma->prp2);
		if (status)
			return status;
	}
	if (dma->nr_entries == 1 && dma->left > PAGE_SIZE) {
		/* The last entry of a full list leads to the next list. */
		next = le64_to_cpu(READ_ONCE(*dma->list));
		if (!PAGE_ALIGNED(next))
			return NVME_SC_PRP_INVALID_OFFSET | NVMEV_DNR;
		status = enter_list(dma, next);
		if (status)
			return status;
	}
	*entry = le64_to_cpu(READ_ONCE(*dma->list));
	dma->list++;
	dma->nr_entries--;
	return 0;
}

static u16 next_page(struct nvmev_dma *dma)
{
	u64 entry = dma->prp2;
	u16 status;

	if (dma->list || dma->left > PAGE_SIZE) {
		status = next_entry(dma, &entry);
		if (status)
			return status;
	}
	if (!PAGE_ALIGNED(entry))
		return NVME_SC_PRP_INVALID_OFFSET | NVMEV_DNR;
	dma->addr = entry;
	dma->room = min_t(u32, dma->left, PAGE_SIZE);
	dma->left -= dma->room;
	return 0;
}

/* The next piece of host memory, of at most @bytes; cut to its length. */
static u16 next_piece(struct nvmev_dma *dma, bool write, u32 *bytes, void **host)
{
	u16 status;

	if (!dma->room) {
		status = next_page(dma);
		if (status)
			return status;
	}
	*host = host_page(dma->addr, write);
	if (!*host)
		return NVME_SC_DATA_XFER_ERROR | NVMEV_DNR;
	*bytes = min(*bytes, dma->room);
	dma->addr += *bytes;
	dma->room -= *bytes;
	return 0;
}

/* What is done with a piece of host memory; @buf is NULL or the device's piece. */
typedef u16 (*piece_fn)(void *host, void *buf, u32 bytes);

static u16 do_piece_locked(struct nvmev_dma *dma, void *buf, bool write, piece_fn fn, u32 *bytes)
{
	void *host;
	u16 status;

	lockdep_assert_held(&dma->pci->access_lock);
	if (!dma->pci->may_access)
		return NVME_SC_DATA_XFER_ERROR | NVMEV_DNR;
	status = next_piece(dma, write, bytes, &host);
	return status ?: fn(host, buf, *bytes);
}

/* A piece at a time: nobody waits for more than that with the lock. */
static u16 walk(struct nvmev_dma *dma, void *buf, u32 bytes, bool write, piece_fn fn)
{
	unsigned long flags;
	u32 piece;
	u16 status;

	for (; bytes; bytes -= piece) {
		piece = bytes;
		raw_spin_lock_irqsave(&dma->pci->access_lock, flags);
		status = do_piece_locked(dma, buf, write, fn, &piece);
		raw_spin_unlock_irqrestore(&dma->pci->access_lock, flags);
		if (status)
			return status;
		if (buf)
			buf += piece;
	}
	return 0;
}

/*
 * Most pieces are whole pages, for which the kernel has better than memcpy() and memset(), where
 * these are loops: on CPUs without short strings that are fast.
 */
static bool is_whole(const void *memory, u32 bytes)
{
	return bytes == PAGE_SIZE && PAGE_ALIGNED(memory);
}

static void copy(void *to, void *from, u32 bytes)
{
	if (is_whole(to, bytes) && is_whole(from, bytes))
		copy_page(to, from);
	else
		memcpy(to, from, bytes);
}

static void clear(void *memory, u32 bytes)
{
	if (is_whole(memory, bytes))
		clear_page(memory);
	else
		memset(memory, 0, bytes);
}

static u16 put_piece(void *host, void *buf, u32 bytes)
{
	if (buf)
		copy(host, buf, bytes);
	else
		clear(host, bytes);
	return 0;
}

u16 nvmev_dma_to_host(struct nvmev_dma *dma, const void *buf, u32 bytes)
{
	return walk(dma, (void *)buf, bytes, true, put_piece);
}

static u16 get_piece(void *host, void *buf, u32 bytes)
{
	copy(buf, host, bytes);
	return 0;
}

u16 nvmev_dma_from_host(struct nvmev_dma *dma, void *buf, u32 bytes)
{
	return walk(dma, buf, bytes, false, get_piece);
}

static u16 compare_piece(void *host, void *buf, u32 bytes)
{
	bool differs = buf ? memcmp(host, buf, bytes) : !!memchr_inv(host, 0, bytes);

	return differs ? NVME_SC_COMPARE_FAILED | NVMEV_DNR : 0;
}

u16 nvmev_dma_compare(struct nvmev_dma *dma, const void *buf, u32 bytes)
{
	return walk(dma, (void *)buf, bytes, false, compare_piece);
}
