/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Error Information log: the last commands that failed, for the host to read.
 */
#ifndef NVMEV_ERROR_LOG_H
#define NVMEV_ERROR_LOG_H

#include <linux/types.h>

struct nvme_command;
struct nvmev;

/* Entries that are kept, the newest ones */
#define NVMEV_NR_ERRORS		64

/**
 * nvmev_log_error() - record a failed command in the error information log
 * @nvmev: the SSD
 * @sqid: its queue
 * @sqe: the command
 * @status: its NVMe status
 * @lba: the first LBA at fault
 *
 * Return: the status that the host gets, which says that there is more in the log.
 */
u16 nvmev_log_error(struct nvmev *nvmev, u16 sqid, const struct nvme_command *sqe, u16 status,
		    u64 lba);

#endif /* NVMEV_ERROR_LOG_H */
