// SPDX-License-Identifier: GPL-2.0-only
/*
 * Namespaces: each is a range of the FTL's pages, one behind the other from page 0 on. What
 * is left of the capacity belongs to nobody.
 */
#include <linux/jhash.h>

#include "ns.h"
#include "nvmev.h"

const char *nvmev_layout_check(const struct nvmev_config *config)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < config->nr_namespaces; i++) {
		if (!config->namespace_bytes[i])
			return "A namespace must have at least one MiB (namespace_mib).";
		if (config->namespace_bytes[i] > config->capacity_bytes - sum)
			return "The namespaces are larger than the capacity (namespace_mib).";
		sum += config->namespace_bytes[i];
	}
	return NULL;
}

void nvmev_layout_init(struct nvmev *nvmev)
{
	const struct nvmev_config *config = &nvmev->config;
	u64 page = 0;
	u32 i;

	nvmev->nr_ns = max(config->nr_namespaces, 1);
	for (i = 0; i < nvmev->nr_ns; i++) {
		struct nvmev_ns *ns = &nvmev->ns[i];

		ns->nsid = i + 1;
		ns->first_page = page;
		ns->nr_pages = config->ftl.nr_lpns;
		if (config->nr_namespaces)
			ns->nr_pages = config->namespace_bytes[i] >> FTL_PAGE_SHIFT;
		ns->lba_shift = ilog2(config->lba_bytes);
		page += ns->nr_pages;
	}
}

struct nvmev_ns *nvmev_ns_find(struct nvmev *nvmev, u32 nsid)
{
	return nsid && nsid <= nvmev->nr_ns ? &nvmev->ns[nsid - 1] : NULL;
}

u64 nvmev_ns_nr_lbas(const struct nvmev_ns *ns)
{
	return ns->nr_pages << (FTL_PAGE_SHIFT - READ_ONCE(ns->lba_shift));
}

u64 nvmev_ns_byte(const struct nvmev_ns *ns, u64 lba)
{
	return (ns->first_page << FTL_PAGE_SHIFT) + (lba << ns->lba_shift);
}

u16 nvmev_ns_check(const struct nvmev_ns *ns, u64 slba, u64 nr_lbas)
{
	u64 nr = nvmev_ns_nr_lbas(ns);

	if (slba > nr || nr_lbas > nr - slba)
		return NVME_SC_LBA_RANGE | NVMEV_DNR;
	return 0;
}

/* Names are seeds: the same SSD has the same identity whenever it is made. */
void nvmev_make_uuid(const struct nvmev *nvmev, u32 nsid, uuid_t *uuid)
{
	u32 hash[4], i;

	/* The SSD's own is that of its first namespace. */
	for (i = 0; i < ARRAY_SIZE(hash); i++)
		hash[i] = jhash(nvmev->name, strlen(nvmev->name),
				i + (nsid - 1) * ARRAY_SIZE(hash));
	memcpy(uuid->b, hash, sizeof(uuid->b));
	/* Version 8, contents of the maker's choice, in the variant of RFC 9562. */
	uuid->b[6] = (uuid->b[6] & 0x0f) | 0x80;
	uuid->b[8] = (uuid->b[8] & 0x3f) | 0x80;
}
