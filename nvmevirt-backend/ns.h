/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Namespaces as parts of an SSD: which pages, which size of LBAs.
 */
#ifndef NVMEV_NS_H
#define NVMEV_NS_H

#include <linux/types.h>
#include <linux/uuid.h>

#include "nvme.h"

struct nvmev;
struct nvmev_config;

/**
 * struct nvmev_ns - a namespace
 * @nsid: number of the namespace
 * @first_page: page of the FTL at which its LBA 0 begins
 * @nr_pages: number of pages of the FTL that are its own
 * @lba_shift: log2 of the LBA size, 9 or 12; changed by Format NVM, under ftl_lock
 * @error_recovery: dword of the feature Error Recovery
 * @bytes_read: number of bytes sent to the host
 * @bytes_written: number of bytes received from the host
 */
struct nvmev_ns {
	u32 nsid;
	u64 first_page;
	u64 nr_pages;
	u32 lba_shift;
	u32 error_recovery;
	u64 bytes_read;
	u64 bytes_written;
};

/**
 * nvmev_layout_check() - can there be these namespaces?
 * @config: properties that were asked for
 *
 * Return: NULL, or a complete sentence that says why not.
 */
const char *nvmev_layout_check(const struct nvmev_config *config);

/**
 * nvmev_layout_init() - make the namespaces
 * @nvmev: the SSD; its configuration is complete
 */
void nvmev_layout_init(struct nvmev *nvmev);

/**
 * nvmev_ns_find() - find a namespace by its number
 * @nvmev: the SSD
 * @nsid: the number
 *
 * Return: the namespace, or NULL if there is none.
 */
struct nvmev_ns *nvmev_ns_find(struct nvmev *nvmev, u32 nsid);

/**
 * nvmev_ns_nr_lbas() - size of a namespace in LBAs of its present format
 * @ns: the namespace
 *
 * Return: LBAs.
 */
u64 nvmev_ns_nr_lbas(const struct nvmev_ns *ns);

/**
 * nvmev_ns_byte() - where the data of an LBA begins in the store
 * @ns: the namespace
 * @lba: the LBA
 *
 * Return: number of the byte.
 */
u64 nvmev_ns_byte(const struct nvmev_ns *ns, u64 lba);

/**
 * nvmev_ns_check() - does the namespace have these LBAs?
 * @ns: the namespace
 * @slba: first LBA
 * @nr_lbas: number of LBAs
 *
 * Return: an NVMe status.
 */
u16 nvmev_ns_check(const struct nvmev_ns *ns, u64 slba, u64 nr_lbas);

/**
 * nvmev_make_uuid() - the identifier of a namespace
 * @nvmev: the SSD
 * @nsid: number of the namespace; that of 1 is the SSD's as well
 * @uuid: to fill
 */
void nvmev_make_uuid(const struct nvmev *nvmev, u32 nsid, uuid_t *uuid);

#endif /* NVMEV_NS_H */
