// SPDX-License-Identifier: GPL-2.0-only
/* Properties in their files: units of people there, pages and bytes in struct nvmev_config. */
#include <linux/kstrtox.h>
#include <linux/sysfs.h>

#include "property.h"

#define KIB_PER_PAGE	(FTL_PAGE_BYTES / 1024)
#define PAGES_PER_MIB	(1024 / KIB_PER_PAGE)

ssize_t nvmev_property_show(const struct nvmev_config *config, char *page,
			    const struct prop *property)
{
	const void *member = (const void *)config + property->offset;

	switch (property->kind) {
	case PROPERTY_BOOL:
		return sysfs_emit(page, "%u\n", *(const bool *)member);
	case PROPERTY_KIB:
		return sysfs_emit(page, "%llu\n", (u64)*(const u32 *)member * KIB_PER_PAGE);
	case PROPERTY_MIB:
		return sysfs_emit(page, "%llu\n", *(const u64 *)member >> 20);
	case PROPERTY_MIB_PAGES:
		return sysfs_emit(page, "%u\n", *(const u32 *)member / PAGES_PER_MIB);
	default:
		return sysfs_emit(page, "%u\n", *(const u32 *)member);
	}
}

static int parse_kib(const char *text, u32 *pages)
{
	u32 kib;
	int ret = kstrtou32(text, 0, &kib);

	if (ret)
		return ret;
	if (kib % KIB_PER_PAGE)
		return -EINVAL;
	*pages = kib / KIB_PER_PAGE;
	return 0;
}

static int parse_mib_pages(const char *text, u32 *pages)
{
	u32 mib;
	int ret = kstrtou32(text, 0, &mib);

	if (ret)
		return ret;
	if (mib > U32_MAX / PAGES_PER_MIB)
		return -ERANGE;
	*pages = mib * PAGES_PER_MIB;
	return 0;
}

static int parse_mib(const char *text, u64 *bytes)
{
	u64 mib;
	int ret = kstrtou64(text, 0, &mib);

	if (ret)
		return ret;
	if (mib > U64_MAX >> 20)
		return -ERANGE;
	*bytes = mib << 20;
	return 0;
}

int nvmev_property_parse(struct nvmev_config *config, const char *text,
			 const struct prop *property)
{
	void *member = (void *)config + property->offset;

	switch (property->kind) {
	case PROPERTY_BOOL:
		return kstrtobool(text, member);
	case PROPERTY_KIB:
		return parse_kib(text, member);
	case PROPERTY_MIB:
		return parse_mib(text, member);
	case PROPERTY_MIB_PAGES:
		return parse_mib_pages(text, member);
	default:
		return kstrtou32(text, 0, member);
	}
}
