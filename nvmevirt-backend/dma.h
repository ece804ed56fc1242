/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device's access to host memory. Every address comes from the host and is
 * checked before it is touched. Without the right to access host memory (pci.h) nothing
 * is: then all of this fails with a transfer error, which nobody gets to see.
 */
#ifndef NVMEV_DMA_H
#define NVMEV_DMA_H

#include "nvme.h"
#include "pci.h"

/**
 * struct nvmev_dma - walks the PRPs of one command, front to back
 * @pci: the function, which must have the right to access host memory
 * @addr: host address of the next byte
 * @room: bytes left at @addr before the next PRP entry is needed
 * @left: bytes left after those
 * @prp2: second PRP of the command
 * @list: next entry of the PRP list, NULL before the list is needed
 * @nr_entries: entries left in the page that @list points into
 */
struct nvmev_dma {
	struct nvmev_pci *pci;
	u64 addr;
	u32 room;
	u32 left;
	u64 prp2;
	const __le64 *list;
	u32 nr_entries;
};

/**
 * nvmev_dma_ring() - the kernel's address of a queue in host memory
 * @addr: bus address, must be page-aligned
 * @bytes: size of the queue, physically contiguous
 *
 * Return: the address, or NULL if any page of it is not memory the device may write.
 */
void *nvmev_dma_ring(u64 addr, u32 bytes);

/**
 * nvmev_dma_begin() - start at the first byte of a command's data
 * @dma: the walk
 * @pci: the function that was given the command
 * @sqe: command
 * @bytes: length of the data
 *
 * Return: an NVMe status.
 */
u16 nvmev_dma_begin(struct nvmev_dma *dma, struct nvmev_pci *pci, const struct nvme_command *sqe,
		    u32 bytes);

/**
 * nvmev_dma_to_host() - copy the next bytes to the host
 * @dma: the walk; has at least @bytes left
 * @buf: source; NULL writes zeroes
 * @bytes: number of bytes
 *
 * Return: an NVMe status; after an error the walk cannot go on.
 */
u16 nvmev_dma_to_host(struct nvmev_dma *dma, const void *buf, u32 bytes);

/**
 * nvmev_dma_from_host() - copy the next bytes from the host
 * @dma: the walk; has at least @bytes left
 * @buf: destination
 * @bytes: number of bytes
 *
 * Return: an NVMe status; after an error the walk cannot go on.
 */
u16 nvmev_dma_from_host(struct nvmev_dma *dma, void *buf, u32 bytes);

/**
 * nvmev_dma_compare() - compare the next bytes with the host's
 * @dma: the walk; has at least @bytes left
 * @buf: the device's bytes; NULL stands for zeroes
 * @bytes: number of bytes
 *
 * Return: an NVMe status, NVME_SC_COMPARE_FAILED if they differ.
 */
u16 nvmev_dma_compare(struct nvmev_dma *dma, const void *buf, u32 bytes);

#endif /* NVMEV_DMA_H */
