/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Features of the controller: what the host sets with Set Features and reads with Get Features.
 * Nothing is saved; a reset brings the defaults back.
 */
#ifndef NVMEV_FEATURES_H
#define NVMEV_FEATURES_H

#include <linux/types.h>

#include "nvme.h"
#include "queue.h"

struct nvmev;

/**
 * struct nvmev_features - values set by Set Features
 * @arbitration: dword of the feature; its burst is how many commands a queue has in a turn
 * @temp_over: upper threshold of the composite temperature, kelvin
 * @temp_under: lower threshold of the composite temperature, kelvin
 * @write_cache: whether the volatile write cache is on
 * @irq_coalesce: dword of the feature
 * @irq_config: dword of each vector
 * @write_atomicity: dword of the feature
 * @events: asynchronous events that the host wants, dword of the feature
 * @timestamp_ms: time of day as the host set it, ms since 1970
 * @timestamp_set_ns: time at which the host set @timestamp_ms, ktime_get(); 0 is never
 */
struct nvmev_features {
	u32 arbitration;
	u16 temp_over;
	u16 temp_under;
	bool write_cache;
	u32 irq_coalesce;
	u32 irq_config[NVMEV_MAX_QUEUES];
	u32 write_atomicity;
	u32 events;
	u64 timestamp_ms;
	u64 timestamp_set_ns;
};

/**
 * nvmev_features_reset() - set all features to their defaults
 * @nvmev: the SSD
 */
void nvmev_features_reset(struct nvmev *nvmev);

/**
 * nvmev_get_features() - execute Get Features
 * @nvmev: the SSD
 * @sqe: the command
 * @result: gets the value
 *
 * Return: an NVMe status.
 */
u16 nvmev_get_features(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result);

/**
 * nvmev_set_features() - execute Set Features
 * @nvmev: the SSD
 * @sqe: the command
 * @result: gets the value granted, for Number of Queues
 *
 * Return: an NVMe status.
 */
u16 nvmev_set_features(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result);

#endif /* NVMEV_FEATURES_H */
