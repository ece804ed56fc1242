/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Identify: the data structures that say what the controller and its namespaces are and can.
 */
#ifndef NVMEV_IDENTIFY_H
#define NVMEV_IDENTIFY_H

#include <linux/types.h>

struct nvme_command;
struct nvmev;

/**
 * nvmev_identify() - execute Identify
 * @nvmev: the SSD
 * @sqe: the command
 *
 * Return: an NVMe status.
 */
u16 nvmev_identify(struct nvmev *nvmev, const struct nvme_command *sqe);

#endif /* NVMEV_IDENTIFY_H */
