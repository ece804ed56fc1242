/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between a PC and Linux as a program (UML), which has one CPU, no memory that
 * a PCI address could lead to, and PCI without domains. Each has a file that does this.
 */
#ifndef NVMEV_PLATFORM_H
#define NVMEV_PLATFORM_H

#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/pci.h>

#ifdef CONFIG_UML

/* Ours alone: on UML nobody else looks at a bus's sysdata. */
struct pci_sysdata {
	int domain;
	int node;
};

#endif

/**
 * struct nvmev_soon - something that is to be done in a moment, in interrupt context
 * @fn: does it
 */
struct nvmev_soon {
	void (*fn)(struct nvmev_soon *soon);
#ifdef CONFIG_UML
	struct tasklet_struct tasklet;
#else
	struct irq_work work;
#endif
};

void nvmev_soon_init(struct nvmev_soon *soon, void (*fn)(struct nvmev_soon *soon));

/**
 * nvmev_soon() - have it done; once, if it has not begun since it was last asked for
 *
 * Context: any.
 */
void nvmev_soon(struct nvmev_soon *soon);

/**
 * nvmev_soon_sync() - wait until it is done, if it was asked for
 *
 * Context: sleeps.
 */
void nvmev_soon_sync(struct nvmev_soon *soon);

/* The PCI domain and the bus in it of the virtual SSD with this index */
int nvmev_platform_domain(int index);
int nvmev_platform_bus(int index);

/* Looks for functions on the new root bus, by @ops. Return: the bus, or NULL without memory. */
struct pci_bus *nvmev_platform_scan(int index, struct pci_ops *ops, struct pci_sysdata *sysdata);

/* The address under which PCI drivers can ioremap() reserved pages */
u64 nvmev_platform_bus_address(struct page *pages);

/* Such pages are memory like any other again. */
void nvmev_platform_unmapped(void *pages, unsigned int nr);

/* Does the platform give a new function vectors, raised by their chip's retrigger call? */
bool nvmev_platform_has_vectors(struct device *dev);

/* Could there be memory at this address? */
bool nvmev_platform_is_address(u64 addr);

/* Is a page that has a struct page memory that the kernel has mapped? */
bool nvmev_platform_is_ram(unsigned long pfn);

#endif /* NVMEV_PLATFORM_H */
