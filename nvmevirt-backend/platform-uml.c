// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux as a program: every virtual SSD has a bus of its own in the one PCI domain, and what
 * ioremap() makes of an address is up to the region that the address is in. nvmev-iomem.ko has
 * one that leads to memory.
 */
#include <linux/mm.h>

#include "nvmev-iomem.h"
#include "pci.h"
#include "platform.h"

static struct resource bus_numbers[NVMEV_MAX_DEVICES];

static void do_now(struct tasklet_struct *tasklet)
{
	struct nvmev_soon *soon = container_of(tasklet, struct nvmev_soon, tasklet);

	soon->fn(soon);
}

/* Work for an interrupt waits for the next tick here, up to ten milliseconds. */
void nvmev_soon_init(struct nvmev_soon *soon, void (*fn)(struct nvmev_soon *soon))
{
	soon->fn = fn;
	tasklet_setup(&soon->tasklet, do_now);
}

void nvmev_soon(struct nvmev_soon *soon)
{
	tasklet_hi_schedule(&soon->tasklet);
}

void nvmev_soon_sync(struct nvmev_soon *soon)
{
	tasklet_kill(&soon->tasklet);
}

int nvmev_platform_domain(int index)
{
	return 0;
}

/* The kernel's own bridge has bus 0. */
int nvmev_platform_bus(int index)
{
	return 1 + index;
}

/* Only its own number: else a bus takes all numbers from there on, and the next one has none. */
struct pci_bus *nvmev_platform_scan(int index, struct pci_ops *ops, struct pci_sysdata *sysdata)
{
	struct resource *number = &bus_numbers[index];
	struct pci_bus *bus;
	LIST_HEAD(windows);

	*number = (struct resource){
		.name = "nvmev bus",
		.start = nvmev_platform_bus(index),
		.end = nvmev_platform_bus(index),
		.flags = IORESOURCE_BUS,
	};
	pci_add_resource(&windows, &iomem_resource);
	pci_add_resource(&windows, number);
	bus = pci_scan_root_bus(NULL, number->start, ops, sysdata, &windows);
	if (!bus)
		pci_free_resource_list(&windows);
	return bus;
}

u64 nvmev_platform_bus_address(struct page *pages)
{
	return nvmev_iomem_address(page_to_phys(pages));
}

void nvmev_platform_unmapped(void *pages, unsigned int nr)
{
	/* Nobody has mapped them. */
}

/* Those of the kernel's own bridge wait for a message that only its virtio devices send. */
bool nvmev_platform_has_vectors(struct device *dev)
{
	return false;
}

bool nvmev_platform_is_address(u64 addr)
{
	return true;
}

/* All that has a struct page, though the list of resources says nothing of it */
bool nvmev_platform_is_ram(unsigned long pfn)
{
	return true;
}
