/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an NVMe namespace says of the format that it has (NVM Command Set, Identify Namespace), and
 * what of its geometry is believed.
 */
#ifndef DMDA_NAMESPACE_H
#define DMDA_NAMESPACE_H

#include <dieaware/platform.h>

/* The answer to Identify */
#define DMDA_IDENTIFY_BYTES	4096

/**
 * dmda_namespace_has_metadata() - do its blocks have metadata, or protection information?
 * @id: the answer to Identify Namespace, of DMDA_IDENTIFY_BYTES; it is believed whatever it is
 *
 * The bits that carry hints are part of the storage tag there, or ask for a check of it.
 */
bool dmda_namespace_has_metadata(const u8 *id);

/* Bounds of what is told to filesystems: what goes to a die at a time, and to all of them */
#define DMDA_UNIT_LEAST_BYTES	(16U << 10)
#define DMDA_UNIT_MOST_BYTES	(16U << 20)
#define DMDA_STRIPE_MOST_BYTES	(16U << 20)

/**
 * dmda_stripe_is_worth() - is a geometry one for filesystems to align to?
 * @unit_bytes: what goes to a die at a time, as the device says; 0 if it does not
 * @stripe_bytes: likewise what goes to all of them
 * @block_bytes: what the device writes at least, not 0
 */
bool dmda_stripe_is_worth(u32 unit_bytes, u64 stripe_bytes, u32 block_bytes);

#endif /* DMDA_NAMESPACE_H */
