// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which format a namespace has. The kernel knows of metadata by an integrity profile, but has none
 * where metadata is part of the blocks that are transferred and the drive strips and inserts it.
 * See namespace.h.
 */
#include "namespace.h"

/* Fields of Identify Namespace */
#define NR_FORMATS_AT		25
#define FORMAT_AT		26
#define PROTECTION_AT		29
#define FORMATS_AT		128

/* Bits of the format in use: which one it is, and more of that where there are many */
#define FORMAT_LOW		0x0f
#define FORMAT_HIGH		0x60
#define NR_LOW_FORMATS		16

#define PROTECTION_TYPE		0x07

/* A format: bytes of metadata for each block come first. */
#define FORMAT_BYTES		4

static u32 format_in_use(const u8 *id)
{
	u32 format = id[FORMAT_AT] & FORMAT_LOW;

	/* Older drives have something else in the higher bits. The field is the number less one. */
	if (id[NR_FORMATS_AT] >= NR_LOW_FORMATS)
		format |= (id[FORMAT_AT] & FORMAT_HIGH) >> 1;
	return format;
}

bool dmda_namespace_has_metadata(const u8 *id)
{
	const u8 *format = id + FORMATS_AT + format_in_use(id) * FORMAT_BYTES;

	return format[0] || format[1] || (id[PROTECTION_AT] & PROTECTION_TYPE);
}

bool dmda_stripe_is_worth(u32 unit_bytes, u64 stripe_bytes, u32 block_bytes)
{
	return unit_bytes >= DMDA_UNIT_LEAST_BYTES && unit_bytes <= DMDA_UNIT_MOST_BYTES &&
	       stripe_bytes >= unit_bytes && stripe_bytes <= DMDA_STRIPE_MOST_BYTES &&
	       !((u32)stripe_bytes % unit_bytes) && !(unit_bytes % block_bytes);
}
