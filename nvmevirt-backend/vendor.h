/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vendor-specific I/O commands, see include/dieaware/vendor.h for their layouts.
 */
#ifndef NVMEV_VENDOR_H
#define NVMEV_VENDOR_H

#include <dieaware/vendor.h>

#include "nvmev.h"

/**
 * nvmev_vendor_share() - execute a Share command
 * @nvmev: the SSD
 * @cmd: the command; gets when it is done
 *
 * Return: an NVMe status.
 */
u16 nvmev_vendor_share(struct nvmev *nvmev, struct nvmev_cmd *cmd);

/**
 * nvmev_vendor_compact() - execute a Compact command
 * @nvmev: the SSD
 * @cmd: the command; gets when it is done, and its result
 *
 * Return: an NVMe status.
 */
u16 nvmev_vendor_compact(struct nvmev *nvmev, struct nvmev_cmd *cmd);

/**
 * nvmev_vendor_redistribute() - execute a Redistribute command
 * @nvmev: the SSD
 * @cmd: the command; gets when it is done, and its result
 *
 * Return: an NVMe status.
 */
u16 nvmev_vendor_redistribute(struct nvmev *nvmev, struct nvmev_cmd *cmd);

/**
 * nvmev_vendor_features() - which of the commands does it have?
 * @nvmev: the SSD
 *
 * Return: bits of dieaware_id.features.
 */
u16 nvmev_vendor_features(const struct nvmev *nvmev);

#endif /* NVMEV_VENDOR_H */
