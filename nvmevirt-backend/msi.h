/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupts of our own for where the platform has none to give: with interrupt remapping
 * on, a function that no remapping unit knows has no MSI domain.
 */
#ifndef NVMEV_MSI_H
#define NVMEV_MSI_H

#include <linux/err.h>
#include <linux/irqdomain.h>

struct nvmev_msi;

/**
 * nvmev_msi_create() - make a domain of software interrupts
 * @nr_vectors: most vectors
 * @index: number of the device, for the domain's name
 *
 * Return: the domain, or an error pointer.
 */
struct nvmev_msi *nvmev_msi_create(u32 nr_vectors, int index);

/**
 * nvmev_msi_destroy() - free a domain
 * @msi: from nvmev_msi_create(), no vector of it is in use; NULL and errors do nothing
 */
void nvmev_msi_destroy(struct nvmev_msi *msi);

/**
 * nvmev_msi_domain() - what a PCI function takes its vectors from
 * @msi: from nvmev_msi_create()
 *
 * Return: to be given to dev_set_msi_domain().
 */
struct irq_domain *nvmev_msi_domain(const struct nvmev_msi *msi);

#endif /* NVMEV_MSI_H */
