/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers of the controller: enable, reset, shutdown, and the failure that only a reset
 * ends. The host writes them without a trap, so they are polled.
 */
#ifndef NVMEV_CTRL_H
#define NVMEV_CTRL_H

#include <linux/types.h>

struct nvmev;

/**
 * nvmev_ctrl_init() - set the registers to their values at power on
 * @nvmev: the SSD
 */
void nvmev_ctrl_init(struct nvmev *nvmev);

/**
 * nvmev_ctrl_poll() - act upon the controller configuration register, and what ends it all
 * @nvmev: the SSD
 *
 * When a fatal error was asked for, or bus mastering was switched off, all queues are gone
 * before the controller says that it has failed. Only a reset brings it back.
 *
 * Return: did the register change?
 */
bool nvmev_ctrl_poll(struct nvmev *nvmev);

/**
 * nvmev_ctrl_is_ready() - may commands be fetched?
 * @nvmev: the SSD
 *
 * Return: true while the controller is enabled, not shut down, and may access memory.
 */
bool nvmev_ctrl_is_ready(const struct nvmev *nvmev);

/**
 * nvmev_ctrl_has_news() - is there anything to do but for the queues?
 * @nvmev: the SSD
 *
 * Context: any.
 */
bool nvmev_ctrl_has_news(const struct nvmev *nvmev);

/**
 * nvmev_ctrl_mmio_work() - is there anything in the registers to act upon?
 * @nvmev: the SSD
 *
 * Context: any.
 * Return: true if the dispatcher should look.
 */
bool nvmev_ctrl_mmio_work(const struct nvmev *nvmev);

#endif /* NVMEV_CTRL_H */
