// SPDX-License-Identifier: GPL-2.0-only
/*
 * On UML: ioremap() of memory. There the kernel asks the owner of a region of addresses how each
 * register in it is read and written; this region is all of memory, far above where it is, since
 * the kernel's own regions lie across it.
 *
 * A region cannot be taken back, so this module cannot be unloaded; it is apart so that the
 * virtual SSD's can.
 */
#include <linux/bits.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/logic_iomem.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "nvmev-iomem.h"

#define REGION_START	BIT_ULL(40)
#define REGION_BYTES	BIT_ULL(36)

static unsigned long read_memory(void *memory, unsigned int offset, int size)
{
	switch (size) {
	case 1:
		return READ_ONCE(*(u8 *)(memory + offset));
	case 2:
		return READ_ONCE(*(u16 *)(memory + offset));
	case 4:
		return READ_ONCE(*(u32 *)(memory + offset));
	default:
		return READ_ONCE(*(u64 *)(memory + offset));
	}
}

static void write_memory(void *memory, unsigned int offset, int size, unsigned long value)
{
	switch (size) {
	case 1:
		WRITE_ONCE(*(u8 *)(memory + offset), value);
		break;
	case 2:
		WRITE_ONCE(*(u16 *)(memory + offset), value);
		break;
	case 4:
		WRITE_ONCE(*(u32 *)(memory + offset), value);
		break;
	default:
		WRITE_ONCE(*(u64 *)(memory + offset), value);
	}
}

static const struct logic_iomem_ops memory_ops = {
	.read = read_memory,
	.write = write_memory,
};

static long map_memory(unsigned long offset, size_t size, const struct logic_iomem_ops **ops,
		       void **priv)
{
	if (!pfn_valid(PHYS_PFN(offset)) || !pfn_valid(PHYS_PFN(offset + size - 1)))
		return -EINVAL;
	*ops = &memory_ops;
	*priv = phys_to_virt(offset);
	return 0;
}

static const struct logic_iomem_region_ops region_ops = {
	.map = map_memory,
};

static struct resource region = {
	.name = "nvmev-iomem",
	.start = REGION_START,
	.end = REGION_START + REGION_BYTES - 1,
	.flags = IORESOURCE_MEM,
};

u64 nvmev_iomem_address(phys_addr_t phys)
{
	return REGION_START + phys;
}
EXPORT_SYMBOL_GPL(nvmev_iomem_address);

static int __init nvmev_iomem_init(void)
{
	return logic_iomem_add_region(&region, &region_ops);
}
module_init(nvmev_iomem_init);

MODULE_DESCRIPTION("Memory as PCI drivers see it, on UML");
MODULE_LICENSE("GPL");
