/* SPDX-License-Identifier: GPL-2.0-only */
/* Log pages while they are built: between those that know one and what sends it. */
#ifndef NVMEV_LOG_PAGE_H
#define NVMEV_LOG_PAGE_H

#include "nvme.h"

struct nvme_command;
struct nvmev;

/**
 * struct nvmev_log - a log page while it is built
 * @data: its bytes from @start on; freed by who asked for it
 * @start: offset of the first of them
 * @total: length of the whole page
 * @offset: where the host begins to read
 * @asked: bytes that it reads
 */
struct nvmev_log {
	void *data;
	u64 start;
	u64 total;
	u64 offset;
	u64 asked;
};

/**
 * nvmev_vendor_log() - build a log page of <dieaware/log.h>
 * @nvmev: the SSD
 * @sqe: the command
 * @log: gets the page, or the part of it that is asked for
 *
 * Context: takes ftl_lock.
 * Return: an NVMe status.
 */
u16 nvmev_vendor_log(struct nvmev *nvmev, const struct nvme_command *sqe, struct nvmev_log *log);

/**
 * nvmev_get_log_page() - execute Get Log Page
 * @nvmev: the SSD
 * @sqe: the command
 *
 * Return: an NVMe status.
 */
u16 nvmev_get_log_page(struct nvmev *nvmev, const struct nvme_command *sqe);

#endif /* NVMEV_LOG_PAGE_H */
