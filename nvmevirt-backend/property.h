/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a property of a virtual SSD stands in its configfs file.
 */
#ifndef NVMEV_PROPERTY_H
#define NVMEV_PROPERTY_H

#include "config.h"

/**
 * enum prop_kind - how a property stands in the configuration
 * @PROPERTY_U32: a u32
 * @PROPERTY_BOOL: a bool
 * @PROPERTY_KIB: KiB in the file, pages in a u32
 * @PROPERTY_MIB: MiB in the file, bytes in a u64
 * @PROPERTY_MIB_PAGES: MiB in the file, pages in a u32
 */
enum prop_kind {
	PROPERTY_U32,
	PROPERTY_BOOL,
	PROPERTY_KIB,
	PROPERTY_MIB,
	PROPERTY_MIB_PAGES,
};

/**
 * struct prop - a file that is a member of struct nvmev_config
 * @offset: of the member
 * @kind: how it stands there
 */
struct prop {
	size_t offset;
	enum prop_kind kind;
};

/**
 * nvmev_property_show() - write a property to a page of text
 * Return: as sysfs_emit().
 */
ssize_t nvmev_property_show(const struct nvmev_config *config, char *page,
			    const struct prop *property);

/**
 * nvmev_property_parse() - set a property to what a text says
 * Return: 0, or an error if the text is malformed or out of range.
 */
int nvmev_property_parse(struct nvmev_config *config, const char *text,
			 const struct prop *property);

#endif /* NVMEV_PROPERTY_H */
