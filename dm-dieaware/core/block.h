/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all pages of metadata have in common: a header that says what the page is, where
 * it belongs and when it was written, and a checksum over everything.
 *
 * A page in the wrong place, of another device or of another time is thereby found out
 * from itself alone. Pure functions of their arguments.
 */
#ifndef DMDA_BLOCK_H
#define DMDA_BLOCK_H

#include "ondisk.h"
#include "units.h"

/**
 * struct dmda_block_id - identity of a page of metadata
 * @magic: DMDA_MAGIC_*
 * @nr_entries: entries in use
 * @dpn: device page at which it lies
 * @index: number among the pages of its kind
 * @seq: operation in its header (struct dmda_block_header); 0 in a check stands for any
 * @epoch: epoch in its header; 0 in a check stands for any
 * @uuid: UUID of the device, DMDA_UUID_BYTES bytes
 */
struct dmda_block_id {
	u32 magic;
	u16 nr_entries;
	dpn_t dpn;
	u64 index;
	u64 seq;
	u64 epoch;
	const u8 *uuid;
};

/**
 * dmda_block_seal() - make a page ready to be written
 * @page: DMDA_BLOCK_BYTES bytes; all but the header is filled in
 * @id: identity of the page
 */
void dmda_block_seal(void *page, const struct dmda_block_id *id);

/**
 * dmda_block_check() - is this the page that should be there?
 * @page: DMDA_BLOCK_BYTES bytes as read
 * @id: identity that it should have; @id->nr_entries is the most that fits
 *
 * Return: NULL, or what is wrong.
 */
const char *dmda_block_check(const void *page, const struct dmda_block_id *id);

/* Numbers of five, six and eight bytes that need not lie at a multiple of their size */

static inline u64 dmda_get_bytes(const u8 *from, unsigned int nr_bytes)
{
	__le64 value = 0;

	memcpy(&value, from, nr_bytes);
	return le64_to_cpu(value);
}

static inline void dmda_put_bytes(u8 *to, u64 value, unsigned int nr_bytes)
{
	__le64 all = cpu_to_le64(value);

	memcpy(to, &all, nr_bytes);
}

#endif /* DMDA_BLOCK_H */
