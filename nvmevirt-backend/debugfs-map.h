/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be watched of an SSD's namespaces in debugfs: on which die each page is.
 */
#ifndef NVMEV_DEBUGFS_MAP_H
#define NVMEV_DEBUGFS_MAP_H

struct nvmev;

/**
 * nvmev_map_add() - make the debugfs files of an SSD's namespaces
 * @nvmev: the SSD; its directory exists
 */
void nvmev_map_add(struct nvmev *nvmev);

#endif /* NVMEV_DEBUGFS_MAP_H */
