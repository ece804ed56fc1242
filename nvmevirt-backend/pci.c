// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PCI function out of nothing: configuration space in an array, a BAR in ordinary
 * pages, MSI-X through the interrupt layer.
 *
 * The BAR is RAM, and the stock driver must be able to ioremap() it:
 * - its pages are reserved, which ioremap() takes for "not the allocator's";
 * - IORESOURCE_MEM is cleared from the resource, since the range is "System RAM" in
 *   the resource tree and nobody could request it; and it is marked as fixed, or the
 *   kernel would look for another place when the bus is scanned again;
 * - we never ioremap() it ourselves; the driver's mapping may change the direct map's
 *   memory type, which is set back before the pages are freed.
 *
 * Interrupts: the driver programs MSI-X vectors as on any device. To raise one we ask
 * its interrupt chip to trigger it again, under the descriptor's lock, as the kernel
 * does when it resends a lost interrupt; the vector's present CPU gets it.
 *
 * The host may remove the function and scan the bus again: then there is another
 * pci_dev for the same registers. So each is readied when the kernel adds it, and we
 * ask the bus for it whenever we need it.
 */
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include "msi.h"
#include "pci.h"
#include "platform.h"

#define VENDOR_ID		0xd1ea
#define DEVICE_ID		0x0001
#define CLASS_NVM_EXPRESS	0x010802
#define CAP_MSIX		0x40
#define MSIX_TABLE_OFFSET	0x2000
#define MSIX_PBA_OFFSET		0x3000

/*
 * Static because a driver's last reference to a pci_dev may outlive the virtual SSD;
 * configfs keeps the module for as long as devices exist.
 */
static struct pci_sysdata sysdata[NVMEV_MAX_DEVICES];
static DECLARE_BITMAP(sysdata_used, NVMEV_MAX_DEVICES);
static DEFINE_MUTEX(sysdata_lock);
static struct nvmev_pci *functions[NVMEV_MAX_DEVICES];

static struct nvmev_pci *pci_of(struct pci_bus *bus)
{
	struct pci_sysdata *sd = bus->sysdata;

	return READ_ONCE(functions[sd - sysdata]);
}

static int config_read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	const struct nvmev_pci *pci = pci_of(bus);

	*value = ~0U;
	if (!pci || pci->gone || devfn || where + size > NVMEV_CONFIG_BYTES)
		return PCIBIOS_DEVICE_NOT_FOUND;
	*value = 0;
	memcpy(value, pci->config + where, size);
	return PCIBIOS_SUCCESSFUL;
}

/* Bits of a register that the host may write. */
static u32 config_mask(int where)
{
	switch (where) {
	case PCI_COMMAND:
		return PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE;
	case PCI_BASE_ADDRESS_0:
		return ~(u32)(NVMEV_BAR_BYTES - 1);
	case PCI_BASE_ADDRESS_1:
		return ~0U;
	case CAP_MSIX + PCI_MSIX_FLAGS:
		return PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL;
	default:
		return 0;
	}
}

static bool is_master(const struct nvmev_pci *pci)
{
	u16 command;

	memcpy(&command, pci->config + PCI_COMMAND, sizeof(command));
	return command & PCI_COMMAND_MASTER;
}

/* When bus mastering is off, nothing of the host's memory is accessed any more. */
static int config_write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	struct nvmev_pci *pci = pci_of(bus);
	u32 mask = config_mask(where);
	unsigned long flags;
	u32 old = 0;

	if (!pci || pci->gone || devfn || where + size > NVMEV_CONFIG_BYTES)
		return PCIBIOS_DEVICE_NOT_FOUND;
	memcpy(&old, pci->config + where, size);
	value = (old & ~mask) | (value & mask);
	raw_spin_lock_irqsave(&pci->access_lock, flags);
	memcpy(pci->config + where, &value, size);
	if (!is_master(pci))
		WRITE_ONCE(pci->may_access, false);
	raw_spin_unlock_irqrestore(&pci->access_lock, flags);
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config_ops = {
	.read = config_read,
	.write = config_write,
};

static void put16(struct nvmev_pci *pci, u32 offset, u16 value)
{
	memcpy(pci->config + offset, &value, sizeof(value));
}

static void put32(struct nvmev_pci *pci, u32 offset, u32 value)
{
	memcpy(pci->config + offset, &value, sizeof(value));
}

static void fill_config(struct nvmev_pci *pci)
{
	u64 bar = nvmev_platform_bus_address(pci->pages);

	put16(pci, PCI_VENDOR_ID, VENDOR_ID);
	put16(pci, PCI_DEVICE_ID, DEVICE_ID);
	put16(pci, PCI_STATUS, PCI_STATUS_CAP_LIST);
	put32(pci, PCI_CLASS_REVISION, CLASS_NVM_EXPRESS << 8 | 1);
	put32(pci, PCI_BASE_ADDRESS_0, lower_32_bits(bar) | PCI_BASE_ADDRESS_MEM_TYPE_64);
	put32(pci, PCI_BASE_ADDRESS_1, upper_32_bits(bar));
	put16(pci, PCI_SUBSYSTEM_VENDOR_ID, VENDOR_ID);
	put16(pci, PCI_SUBSYSTEM_ID, DEVICE_ID);
	pci->config[PCI_CAPABILITY_LIST] = CAP_MSIX;
	pci->config[CAP_MSIX] = PCI_CAP_ID_MSIX;
	put16(pci, CAP_MSIX + PCI_MSIX_FLAGS, pci->nr_vectors - 1);
	put32(pci, CAP_MSIX + PCI_MSIX_TABLE, MSIX_TABLE_OFFSET);
	put32(pci, CAP_MSIX + PCI_MSIX_PBA, MSIX_PBA_OFFSET);
}

static int alloc_bar(struct nvmev_pci *pci)
{
	u32 i;

	pci->pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, get_order(NVMEV_BAR_BYTES));
	if (!pci->pages)
		return -ENOMEM;
	for (i = 0; i < NVMEV_BAR_BYTES / PAGE_SIZE; i++)
		SetPageReserved(pci->pages + i);
	pci->bar = page_address(pci->pages);
	return 0;
}

static void free_bar(struct nvmev_pci *pci)
{
	u32 i;

	nvmev_platform_unmapped(pci->bar, NVMEV_BAR_BYTES / PAGE_SIZE);
	for (i = 0; i < NVMEV_BAR_BYTES / PAGE_SIZE; i++)
		ClearPageReserved(pci->pages + i);
	__free_pages(pci->pages, get_order(NVMEV_BAR_BYTES));
}

static int claim_index(struct nvmev_pci *pci)
{
	int index;

	guard(mutex)(&sysdata_lock);
	for_each_clear_bit(index, sysdata_used, NVMEV_MAX_DEVICES) {
		/* Some other driver may have taken the domain. */
		if (pci_find_bus(nvmev_platform_domain(index), nvmev_platform_bus(index)))
			continue;
		__set_bit(index, sysdata_used);
		sysdata[index].domain = nvmev_platform_domain(index);
		sysdata[index].node = NUMA_NO_NODE;
		pci->index = index;
		WRITE_ONCE(functions[index], pci);
		return 0;
	}
	return -ENOSPC;
}

static void release_index(struct nvmev_pci *pci)
{
	mutex_lock(&sysdata_lock);
	WRITE_ONCE(functions[pci->index], NULL);
	__clear_bit(pci->index, sysdata_used);
	mutex_unlock(&sysdata_lock);
}

/* Nobody scans a bus again that was stopped: the lock is held until it is removed. */
static void stop_bus(struct nvmev_pci *pci)
{
	pci_lock_rescan_remove();
	pci_stop_root_bus(pci->bus);
}

static void remove_bus(struct nvmev_pci *pci)
{
	struct pci_host_bridge *bridge = to_pci_host_bridge(pci->bus->bridge);

	pci_remove_root_bus(pci->bus);
	pci_unlock_rescan_remove();
	/* Scanning makes the bridge for its caller, and the removal only unregisters it. */
	pci_free_host_bridge(bridge);
}

/* The platform's vectors are taken where there are some: they follow the affinity. */
static void provide_interrupts(struct nvmev_pci *pci, struct device *dev)
{
	if (nvmev_platform_has_vectors(dev))
		return;
	if (IS_ERR_OR_NULL(pci->msi))
		pci->msi = nvmev_msi_create(pci->nr_vectors, pci->index);
	if (!IS_ERR(pci->msi))
		dev_set_msi_domain(dev, nvmev_msi_domain(pci->msi));
}

static void ready(struct nvmev_pci *pci, struct pci_dev *pdev)
{
	struct resource *bar = &pdev->resource[0];

	bar->flags = (bar->flags & ~IORESOURCE_MEM) | IORESOURCE_PCI_FIXED;
	provide_interrupts(pci, &pdev->dev);
}

/* Called with the lock held under which buses are scanned and removed. */
static int on_bus_event(struct notifier_block *block, unsigned long event, void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);

	if (pdev->bus->ops != &config_ops)
		return NOTIFY_DONE;
	if (event == BUS_NOTIFY_ADD_DEVICE)
		ready(pci_of(pdev->bus), pdev);
	else if (event == BUS_NOTIFY_REMOVED_DEVICE)
		/* Somebody may hold it for longer than there are our vectors. */
		dev_set_msi_domain(&pdev->dev, NULL);
	return NOTIFY_OK;
}

static struct notifier_block bus_events = {
	.notifier_call = on_bus_event,
};

int nvmev_pci_register(void)
{
	return bus_register_notifier(&pci_bus_type, &bus_events);
}

void nvmev_pci_unregister(void)
{
	bus_unregister_notifier(&pci_bus_type, &bus_events);
}

struct pci_dev *nvmev_pci_get_function(const struct nvmev_pci *pci)
{
	return pci_get_slot(pci->bus, 0);
}

static int scan_bus(struct nvmev_pci *pci)
{
	struct pci_dev *pdev;
	int ret = 0;

	pci_lock_rescan_remove();
	pci->bus = nvmev_platform_scan(pci->index, &config_ops, &sysdata[pci->index]);
	pci_unlock_rescan_remove();
	if (!pci->bus)
		return -ENODEV;
	pdev = nvmev_pci_get_function(pci);
	if (!pdev)
		ret = -ENODEV;
	else if (IS_ERR(pci->msi))
		ret = PTR_ERR(pci->msi);
	if (ret) {
		stop_bus(pci);
		remove_bus(pci);
	}
	pci_dev_put(pdev);
	return ret;
}

int nvmev_pci_create(struct nvmev_pci *pci, u32 nr_vectors)
{
	int ret;

	raw_spin_lock_init(&pci->access_lock);
	pci->nr_vectors = nr_vectors;
	ret = alloc_bar(pci);
	if (ret)
		return ret;
	fill_config(pci);
	ret = claim_index(pci);
	if (ret)
		goto err_bar;
	ret = scan_bus(pci);
	if (ret)
		goto err_index;
	return 0;

err_index:
	release_index(pci);
err_bar:
	free_bar(pci);
	return ret;
}

void nvmev_pci_plug(struct nvmev_pci *pci)
{
	pci_lock_rescan_remove();
	pci_bus_add_devices(pci->bus);
	pci_unlock_rescan_remove();
}

void nvmev_pci_vanish(struct nvmev_pci *pci)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pci->access_lock, flags);
	WRITE_ONCE(pci->gone, true);
	WRITE_ONCE(pci->may_access, false);
	raw_spin_unlock_irqrestore(&pci->access_lock, flags);
	memset(pci->bar, 0xff, MSIX_TABLE_OFFSET);
}

void nvmev_pci_unplug(struct nvmev_pci *pci)
{
	stop_bus(pci);
}

void nvmev_pci_destroy(struct nvmev_pci *pci)
{
	remove_bus(pci);
	nvmev_msi_destroy(pci->msi);
	release_index(pci);
	free_bar(pci);
}

bool nvmev_pci_allow_access(struct nvmev_pci *pci)
{
	unsigned long flags;
	bool allowed;

	raw_spin_lock_irqsave(&pci->access_lock, flags);
	allowed = is_master(pci) && !pci->gone;
	WRITE_ONCE(pci->may_access, allowed);
	raw_spin_unlock_irqrestore(&pci->access_lock, flags);
	return allowed;
}

struct nvmev_irq nvmev_pci_find_irq(struct nvmev_pci *pci, u32 vector)
{
	struct pci_dev *pdev = nvmev_pci_get_function(pci);
	struct nvmev_irq irq = {};
	int virq;

	virq = pdev ? pci_irq_vector(pdev, vector) : 0;
	if (virq > 0) {
		rcu_read_lock();
		irq.virq = virq;
		irq.desc = irq_get_msi_desc(virq);
		rcu_read_unlock();
	}
	pci_dev_put(pdev);
	return irq;
}

void nvmev_pci_raise(struct nvmev_irq irq)
{
	struct irq_data *data;
	struct irq_desc *desc;
	unsigned long flags;

	if (!irq.virq)
		return;
	rcu_read_lock();
	data = irq_get_irq_data(irq.virq);
	if (data) {
		desc = irq_data_to_desc(data);
		raw_spin_lock_irqsave(&desc->lock, flags);
		/* A vector that is shut down, or has gone to another device, has no target. */
		if (irq.desc && irq_data_get_msi_desc(data) == irq.desc &&
		    irqd_is_activated(data) && irq_data_get_irq_chip(data)->irq_retrigger)
			irq_data_get_irq_chip(data)->irq_retrigger(data);
		raw_spin_unlock_irqrestore(&desc->lock, flags);
	}
	rcu_read_unlock();
}

/*
 * Is it an interrupt of this CPU's, that could come now? Only of one that the kernel itself spreads
 * over CPUs: others may be on their way to another CPU, which ends with an interrupt there. What
 * else there is to know its flow handler looks at under its lock, as with any interrupt.
 */
static bool is_of_this_cpu(struct irq_data *data)
{
	return irqd_affinity_is_managed(data) && irqd_is_activated(data) &&
	       cpumask_test_cpu(smp_processor_id(), irq_data_get_effective_affinity_mask(data));
}

bool nvmev_pci_handle(struct nvmev_irq irq)
{
	struct irq_data *data;
	bool can;

	if (!irq.virq || !irq.desc || !in_hardirq())
		return false;
	rcu_read_lock();
	data = irq_get_irq_data(irq.virq);
	can = data && irq_data_get_msi_desc(data) == irq.desc && is_of_this_cpu(data);
	if (can)
		generic_handle_irq_desc(irq_data_to_desc(data));
	rcu_read_unlock();
	return can;
}
