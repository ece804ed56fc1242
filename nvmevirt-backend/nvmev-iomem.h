/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On UML: memory as PCI drivers see it.
 */
#ifndef NVMEV_IOMEM_H
#define NVMEV_IOMEM_H

#include <linux/types.h>

/**
 * nvmev_iomem_address() - where ioremap() finds memory
 * @phys: the memory's address
 */
u64 nvmev_iomem_address(phys_addr_t phys);

#endif /* NVMEV_IOMEM_H */
