/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The virtual PCI function: a root bus of its own with one device, whose BAR is
 * ordinary memory and whose interrupts are raised by software.
 */
#ifndef NVMEV_PCI_H
#define NVMEV_PCI_H

#include <linux/msi.h>
#include <linux/pci.h>

struct nvmev_msi;

#define NVMEV_MAX_DEVICES	64
#define NVMEV_BAR_BYTES		0x4000
#define NVMEV_CONFIG_BYTES	256

/**
 * struct nvmev_irq - an interrupt vector as Linux knows it
 * @virq: Linux interrupt number, 0 when there is none
 * @desc: the message behind it; tells a number that was given to somebody else meanwhile.
 *	Never dereferenced.
 */
struct nvmev_irq {
	unsigned int virq;
	const struct msi_desc *desc;
};

/**
 * struct nvmev_pci - the PCI side of a virtual SSD
 * @index: number of the device, [0, NVMEV_MAX_DEVICES); makes the PCI domain unique
 * @nr_vectors: MSI-X vectors
 * @pages: the BAR's memory
 * @bar: address of @pages in the direct map
 * @bus: root bus
 * @msi: interrupts of our own; NULL where the platform gives some, an error if there is no memory
 *	for them
 * @config: configuration space
 * @access_lock: protects what is below. Held while host memory is accessed; whoever switches
 *	bus mastering off waits for the end of that with interrupts off, so be short
 * @may_access: whether the function may access host memory, see nvmev_pci_allow_access()
 * @gone: whether the device was pulled out, so that configuration space reads all ones
 */
struct nvmev_pci {
	int index;
	u32 nr_vectors;
	struct page *pages;
	void *bar;
	struct pci_bus *bus;
	struct nvmev_msi *msi;
	u8 config[NVMEV_CONFIG_BYTES];

	raw_spinlock_t access_lock; /* protects what is below */
	bool may_access;
	bool gone;
};

/**
 * nvmev_pci_register() - watch what becomes of our functions; before the first is made
 *
 * Return: 0 or -errno.
 */
int nvmev_pci_register(void);

/**
 * nvmev_pci_unregister() - the opposite; when there are none
 */
void nvmev_pci_unregister(void);

/**
 * nvmev_pci_get_function() - the function as the kernel knows it now
 * @pci: from nvmev_pci_create()
 *
 * Context: may sleep.
 * Return: the function, to be given back with pci_dev_put(), or NULL where the host has
 * removed it.
 */
struct pci_dev *nvmev_pci_get_function(const struct nvmev_pci *pci);

/**
 * nvmev_pci_create() - make BAR, configuration space and bus
 * @pci: to fill; must stay where it is
 * @nr_vectors: MSI-X vectors, at least 1
 *
 * Drivers do not see the device before nvmev_pci_plug().
 *
 * Return: 0, -ENOSPC with NVMEV_MAX_DEVICES in use, -ENOMEM or -ENODEV.
 */
int nvmev_pci_create(struct nvmev_pci *pci, u32 nr_vectors);

/**
 * nvmev_pci_plug() - let drivers find the device
 * @pci: from nvmev_pci_create(); the registers must be ready
 */
void nvmev_pci_plug(struct nvmev_pci *pci);

/**
 * nvmev_pci_vanish() - from now on the device reads as if it had been pulled out
 * @pci: the device
 */
void nvmev_pci_vanish(struct nvmev_pci *pci);

/**
 * nvmev_pci_unplug() - take the device from its driver
 * @pci: the device; its registers must be served until this returns
 *
 * Bus and interrupts are there until nvmev_pci_destroy(), so that whoever serves the registers
 * can be stopped in between. No PCI bus is scanned meanwhile.
 *
 * Context: sleeps until the driver has let go.
 */
void nvmev_pci_unplug(struct nvmev_pci *pci);

/**
 * nvmev_pci_destroy() - free what nvmev_pci_create() made
 * @pci: unplugged, and nobody uses registers, bus or interrupts any more
 */
void nvmev_pci_destroy(struct nvmev_pci *pci);

/**
 * nvmev_pci_allow_access() - from now on the device may access host memory, if it can
 * @pci: the device
 *
 * It loses that right for good when bus mastering is switched off, or it vanishes: the
 * host takes its memory back, and what the device knows of it is worth nothing any more.
 *
 * Return: true if bus mastering is on.
 */
bool nvmev_pci_allow_access(struct nvmev_pci *pci);

/**
 * nvmev_pci_find_irq() - find the Linux interrupt of a vector
 * @pci: the device
 * @vector: MSI-X vector
 *
 * Context: may sleep.
 * Return: the interrupt; its @virq is 0 if the driver has not set the vector up.
 */
struct nvmev_irq nvmev_pci_find_irq(struct nvmev_pci *pci, u32 vector);

/**
 * nvmev_pci_raise() - raise an interrupt
 * @irq: from nvmev_pci_find_irq(); may be out of date, then nothing happens
 *
 * Context: any.
 */
void nvmev_pci_raise(struct nvmev_irq irq);

/**
 * nvmev_pci_handle() - call an interrupt's handler instead of raising it
 * @irq: from nvmev_pci_find_irq(); may be out of date
 *
 * That spares the CPU an interrupt, if it is this CPU that would get it.
 *
 * Context: hard interrupts, of a timer for example, which end with that; any other as well, where
 * nothing is done. Without locks that are taken for a request.
 * Return: was it called? If not, raise the interrupt.
 */
bool nvmev_pci_handle(struct nvmev_irq irq);

/* Has the device the right to access host memory? Without the lock it may lose it at any time. */
static inline bool nvmev_pci_may_access(const struct nvmev_pci *pci)
{
	return READ_ONCE(pci->may_access);
}

static inline u32 nvmev_pci_read32(const struct nvmev_pci *pci, u32 offset)
{
	return READ_ONCE(*(u32 *)(pci->bar + offset));
}

static inline u64 nvmev_pci_read64(const struct nvmev_pci *pci, u32 offset)
{
	return READ_ONCE(*(u64 *)(pci->bar + offset));
}

static inline void nvmev_pci_write32(struct nvmev_pci *pci, u32 offset, u32 value)
{
	WRITE_ONCE(*(u32 *)(pci->bar + offset), value);
}

static inline void nvmev_pci_write64(struct nvmev_pci *pci, u32 offset, u64 value)
{
	WRITE_ONCE(*(u64 *)(pci->bar + offset), value);
}

#endif /* NVMEV_PCI_H */
