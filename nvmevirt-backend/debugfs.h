/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be watched of an SSD in debugfs, as long as its power is on.
 */
#ifndef NVMEV_DEBUGFS_H
#define NVMEV_DEBUGFS_H

struct nvmev;

/**
 * nvmev_stats_init() - make the debugfs directory of all SSDs
 */
void nvmev_stats_init(void);

/**
 * nvmev_stats_exit() - remove it
 */
void nvmev_stats_exit(void);

/**
 * nvmev_stats_add() - make the debugfs files of an SSD
 * @nvmev: the SSD
 */
void nvmev_stats_add(struct nvmev *nvmev);

/**
 * nvmev_stats_remove() - remove them
 * @nvmev: the SSD; no reader looks at it after this returns
 */
void nvmev_stats_remove(struct nvmev *nvmev);

#endif /* NVMEV_DEBUGFS_H */
