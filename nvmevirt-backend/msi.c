// SPDX-License-Identifier: GPL-2.0-only
/*
 * Software interrupts: a domain whose vectors are raised by the CPU itself.
 *
 * The message that the driver writes into the MSI-X table means nothing here. A vector is
 * raised like any other of the virtual function, by its chip's retrigger call under the
 * descriptor's lock; that queues work for the next moment at which this CPU can take an
 * interrupt, and the work calls the handler. So the handler runs on the CPU that posted
 * the completion, whatever the affinity says; the block layer sends completions home.
 *
 * Newer kernels make the function's own domain from a parent; older ones want it made here.
 */
#include <linux/bitmap.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/msi.h>
#include <linux/slab.h>

#include "compat.h"
#include "msi.h"
#include "platform.h"

/**
 * struct vector - one interrupt
 * @soon: calls the handler
 * @virq: Linux interrupt number
 */
struct vector {
	struct nvmev_soon soon;
	unsigned int virq;
};

/**
 * struct nvmev_msi - a function's interrupts
 * @fwnode: name of the domains
 * @vectors_domain: the interrupts
 * @function_domain: what the function takes its vectors from; may be the same
 * @nr_vectors: how many there are
 * @used: which are taken, a bitmap; protected by the interrupt core's lock
 * @vectors: all of them
 */
struct nvmev_msi {
	struct fwnode_handle *fwnode;
	struct irq_domain *vectors_domain;
	struct irq_domain *function_domain;
	u32 nr_vectors;
	unsigned long *used;
	struct vector vectors[];
};

static void handle(struct nvmev_soon *soon)
{
	generic_handle_irq_safe(container_of(soon, struct vector, soon)->virq);
}

/* A function's chip stands on top of ours; the vector belongs to ours. */
static int retrigger(struct irq_data *data)
{
	struct vector *vector;

	while (data->parent_data)
		data = data->parent_data;
	vector = irq_data_get_irq_chip_data(data);
	nvmev_soon(&vector->soon);
	return 1;
}

static void acknowledge(struct irq_data *data)
{
	/* There is no hardware that waits for it. */
}

static void compose_message(struct irq_data *data, struct msi_msg *message)
{
	*message = (struct msi_msg){ .data = data->hwirq };
}

static int set_affinity(struct irq_data *data, const struct cpumask *mask, bool force)
{
	unsigned int cpu = cpumask_any_and(mask, cpu_online_mask);

	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	irq_data_update_effective_affinity(data, cpumask_of(cpu));
	return IRQ_SET_MASK_OK;
}

static struct irq_chip vector_chip = {
	.name = "nvmev",
	.irq_ack = acknowledge,
	.irq_retrigger = retrigger,
	.irq_compose_msi_msg = compose_message,
	.irq_set_affinity = set_affinity,
};

static void free_vectors(struct irq_domain *domain, unsigned int virq, unsigned int nr)
{
	struct nvmev_msi *msi = domain->host_data;
	struct irq_data *data;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		data = irq_domain_get_irq_data(domain, virq + i);
		if (!data)
			continue;
		nvmev_soon_sync(&msi->vectors[data->hwirq].soon);
		__clear_bit(data->hwirq, msi->used);
		irq_domain_reset_irq_data(data);
	}
}

static int alloc_vectors(struct irq_domain *domain, unsigned int virq, unsigned int nr, void *arg)
{
	struct nvmev_msi *msi = domain->host_data;
	unsigned long number;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		number = find_first_zero_bit(msi->used, msi->nr_vectors);
		if (number >= msi->nr_vectors) {
			free_vectors(domain, virq, i);
			return -ENOSPC;
		}
		__set_bit(number, msi->used);
		msi->vectors[number].virq = virq + i;
		irq_domain_set_info(domain, virq + i, number, &vector_chip,
				    &msi->vectors[number], handle_edge_irq, NULL, "edge");
	}
	return 0;
}

static const struct irq_domain_ops vector_ops = {
	.alloc = alloc_vectors,
	.free = free_vectors,
};

#if NVMEV_HAS_MSI_PARENT

static bool init_function(struct device *dev, struct irq_domain *domain,
			  struct irq_domain *real_parent, struct msi_domain_info *info)
{
	if (!msi_lib_init_dev_msi_info(dev, domain, real_parent, info))
		return false;
	info->chip->irq_retrigger = retrigger;
	return true;
}

static const struct msi_parent_ops parent_ops = {
	.supported_flags = MSI_GENERIC_FLAGS_MASK | MSI_FLAG_PCI_MSIX,
	.required_flags = MSI_FLAG_USE_DEF_DOM_OPS | MSI_FLAG_USE_DEF_CHIP_OPS,
	.chip_flags = MSI_CHIP_FLAG_SET_ACK,
	.bus_select_token = DOMAIN_BUS_NEXUS,
	.prefix = "nvmev-",
	.init_dev_msi_info = init_function,
};

static int make_domains(struct nvmev_msi *msi)
{
	struct irq_domain_info info = {
		.fwnode = msi->fwnode,
		.size = msi->nr_vectors,
		.hwirq_max = msi->nr_vectors,
		.ops = &vector_ops,
		.host_data = msi,
	};

	msi->vectors_domain = msi_create_parent_irq_domain(&info, &parent_ops);
	msi->function_domain = msi->vectors_domain;
	return msi->vectors_domain ? 0 : -ENOMEM;
}

#else

static struct irq_chip function_chip = {
	.name = "nvmev-msix",
	.irq_ack = irq_chip_ack_parent,
	.irq_retrigger = retrigger,
	.irq_mask = pci_msi_mask_irq,
	.irq_unmask = pci_msi_unmask_irq,
};

static struct msi_domain_info function_info = {
	.flags = MSI_FLAG_USE_DEF_DOM_OPS | MSI_FLAG_USE_DEF_CHIP_OPS | MSI_FLAG_PCI_MSIX,
	.chip = &function_chip,
};

static int make_domains(struct nvmev_msi *msi)
{
	msi->vectors_domain = irq_domain_create_linear(msi->fwnode, msi->nr_vectors,
						       &vector_ops, msi);
	if (!msi->vectors_domain)
		return -ENOMEM;
	msi->function_domain = pci_msi_create_irq_domain(msi->fwnode, &function_info,
							 msi->vectors_domain);
	return msi->function_domain ? 0 : -ENOMEM;
}

#endif

static void free_msi(struct nvmev_msi *msi)
{
	bitmap_free(msi->used);
	kfree(msi);
}

static struct nvmev_msi *alloc_msi(u32 nr_vectors)
{
	struct nvmev_msi *msi = kzalloc(struct_size(msi, vectors, nr_vectors), GFP_KERNEL);
	u32 i;

	if (!msi)
		return NULL;
	msi->nr_vectors = nr_vectors;
	for (i = 0; i < nr_vectors; i++)
		nvmev_soon_init(&msi->vectors[i].soon, handle);
	msi->used = bitmap_zalloc(nr_vectors, GFP_KERNEL);
	if (!msi->used) {
		kfree(msi);
		return NULL;
	}
	return msi;
}

struct nvmev_msi *nvmev_msi_create(u32 nr_vectors, int index)
{
	struct nvmev_msi *msi = alloc_msi(nr_vectors);
	char name[16];

	if (!msi)
		return ERR_PTR(-ENOMEM);
	snprintf(name, sizeof(name), "nvmev%d", index);
	msi->fwnode = irq_domain_alloc_named_fwnode(name);
	if (!msi->fwnode)
		goto err_memory;
	if (make_domains(msi))
		goto err_domains;
	return msi;

err_domains:
	if (msi->vectors_domain)
		irq_domain_remove(msi->vectors_domain);
	irq_domain_free_fwnode(msi->fwnode);
err_memory:
	free_msi(msi);
	return ERR_PTR(-ENOMEM);
}

void nvmev_msi_destroy(struct nvmev_msi *msi)
{
	if (IS_ERR_OR_NULL(msi))
		return;
	if (msi->function_domain != msi->vectors_domain)
		irq_domain_remove(msi->function_domain);
	irq_domain_remove(msi->vectors_domain);
	irq_domain_free_fwnode(msi->fwnode);
	free_msi(msi);
}

struct irq_domain *nvmev_msi_domain(const struct nvmev_msi *msi)
{
	return msi->function_domain;
}
