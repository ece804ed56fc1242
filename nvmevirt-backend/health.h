/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Health of the drive, as SMART reports it, and the events that tell the host when it changes.
 */
#ifndef NVMEV_HEALTH_H
#define NVMEV_HEALTH_H

#include <linux/types.h>

struct nvmev;

/* Program and erase cycles after which an erase block counts as used up */
#define NVMEV_RATED_CYCLES	3000

/**
 * nvmev_health_report() - raise the events for what is wrong now and the host wants to know
 * @nvmev: the SSD
 */
void nvmev_health_report(struct nvmev *nvmev);

/**
 * nvmev_health_look() - the same, if operations on NAND have failed since the last look
 * @nvmev: the SSD
 */
void nvmev_health_look(struct nvmev *nvmev);

/**
 * nvmev_percent_used() - mean of the erase counts as a share of what is rated
 * @nvmev: the SSD
 *
 * Context: takes ftl_lock.
 * Return: percent, at most 255.
 */
u8 nvmev_percent_used(struct nvmev *nvmev);

/**
 * nvmev_available_spare() - spare erase blocks that are left
 * @nvmev: the SSD
 *
 * Context: takes ftl_lock.
 * Return: percent, on the die that has the fewest.
 */
u8 nvmev_available_spare(struct nvmev *nvmev);

/**
 * nvmev_temperature() - composite temperature in kelvin
 * @nvmev: the SSD
 *
 * Return: a constant, as nothing here gets warm, or what was asked for.
 */
u16 nvmev_temperature(const struct nvmev *nvmev);

/**
 * nvmev_critical_warning() - the critical warning byte of SMART
 * @nvmev: the SSD
 *
 * Return: NVME_SMART_CRIT_* bits.
 */
u8 nvmev_critical_warning(struct nvmev *nvmev);

#endif /* NVMEV_HEALTH_H */
