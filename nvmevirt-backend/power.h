/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of a virtual SSD: it is made (device.c), and switched on and off (power.c), in
 * order or by a failure of the power, as often as wanted; what it has stays until it is
 * freed.
 */
#ifndef NVMEV_POWER_H
#define NVMEV_POWER_H

#include <linux/types.h>

struct nvmev;
struct nvmev_config;

/**
 * nvmev_create() - make a virtual SSD, switched off and empty
 * @name: its name
 * @config: properties that it is to have
 * @reason: gets a complete sentence when it cannot be made; NVMEV_REASON_BYTES long
 *
 * Context: sleeps.
 * Return: the SSD or an error pointer.
 */
struct nvmev *nvmev_create(const char *name, const struct nvmev_config *config, char *reason);

/**
 * nvmev_create_apart() - the same, but for the backing file, which is left alone
 * @name: as above, like all that follow
 * @config: with the path of a backing file it keeps what one needs, for nvmev_backing_take()
 * @reason: as above
 */
struct nvmev *nvmev_create_apart(const char *name, const struct nvmev_config *config,
				 char *reason);

/**
 * nvmev_adopt() - take over a configuration, if it is one of the same drive
 * @nvmev: the SSD, switched off
 * @config: properties that it is to have now; those of the controller alone may differ
 *
 * Return: whether it is.
 */
bool nvmev_adopt(struct nvmev *nvmev, const struct nvmev_config *config);

/**
 * nvmev_is_formatted() - has one of its namespaces another LBA size than it was made with?
 * @nvmev: the SSD, switched off
 */
bool nvmev_is_formatted(const struct nvmev *nvmev);

/**
 * nvmev_is_new() - was nothing ever written to it?
 * @nvmev: the SSD, switched off
 */
bool nvmev_is_new(const struct nvmev *nvmev);

/**
 * nvmev_free() - free an SSD with its data
 * @nvmev: the SSD, switched off
 */
void nvmev_free(struct nvmev *nvmev);

/**
 * nvmev_power_on() - switch an SSD on
 * @nvmev: the SSD, switched off and undamaged
 * @reason: gets a complete sentence when it cannot be; NVMEV_REASON_BYTES long
 *
 * Context: sleeps; drivers may bind before it returns.
 * Return: 0 or a negative errno.
 */
int nvmev_power_on(struct nvmev *nvmev, char *reason);

/**
 * nvmev_power_off() - switch an SSD off
 * @nvmev: the SSD
 * @failure: the power fails; otherwise the driver lets go of it before
 * @reason: gets a complete sentence if it cannot be kept; NVMEV_REASON_BYTES long
 *
 * Context: sleeps until the driver has let go.
 * Return: 0, or a negative errno if its backing file could not be written: the SSD is off,
 * and all of it is in memory.
 */
int nvmev_power_off(struct nvmev *nvmev, bool failure, char *reason);

/**
 * nvmev_power_cut_after() - let the power fail with a program or erase to come
 * @nvmev: the SSD, switched on
 * @nr_ops: number of the program or erase, counted from now on; 0: none
 *
 * Return: 0, or -EOPNOTSUPP if the drive does not count them.
 */
int nvmev_power_cut_after(struct nvmev *nvmev, u64 nr_ops);

#endif /* NVMEV_POWER_H */
