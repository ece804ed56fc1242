// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PC: every virtual SSD has a PCI domain of its own, and a CPU interrupts itself.
 */
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/msi.h>
#include <linux/set_memory.h>

#include "platform.h"

#define PCI_DOMAIN_BASE		0xd1e0

static void do_now(struct irq_work *work)
{
	struct nvmev_soon *soon = container_of(work, struct nvmev_soon, work);

	soon->fn(soon);
}

void nvmev_soon_init(struct nvmev_soon *soon, void (*fn)(struct nvmev_soon *soon))
{
	soon->fn = fn;
	soon->work = IRQ_WORK_INIT_HARD(do_now);
}

void nvmev_soon(struct nvmev_soon *soon)
{
	irq_work_queue(&soon->work);
}

void nvmev_soon_sync(struct nvmev_soon *soon)
{
	irq_work_sync(&soon->work);
}

int nvmev_platform_domain(int index)
{
	return PCI_DOMAIN_BASE + index;
}

int nvmev_platform_bus(int index)
{
	return 0;
}

struct pci_bus *nvmev_platform_scan(int index, struct pci_ops *ops, struct pci_sysdata *sysdata)
{
	return pci_scan_bus(nvmev_platform_bus(index), ops, sysdata);
}

u64 nvmev_platform_bus_address(struct page *pages)
{
	return page_to_phys(pages);
}

/* The driver's mapping turned the direct map's memory type to uncached. */
void nvmev_platform_unmapped(void *pages, unsigned int nr)
{
	set_memory_wb((unsigned long)pages, nr);
}

/* Interrupt remapping leaves a function without a domain that none of its units knows. */
bool nvmev_platform_has_vectors(struct device *dev)
{
	return dev_get_msi_domain(dev);
}

bool nvmev_platform_is_address(u64 addr)
{
	return !(addr >> MAX_PHYSMEM_BITS);
}

bool nvmev_platform_is_ram(unsigned long pfn)
{
	return page_is_ram(pfn);
}
