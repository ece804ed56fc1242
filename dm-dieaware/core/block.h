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

/*
 * Numbers of up to eight bytes that need not lie at a multiple of their size. How many bytes is a
 * constant, and by powers of two each of these is a few loads or stores.
 */

static inline u64 dmda_get_bytes(const u8 *from, unsigned int nr_bytes)
{
	unsigned int at = 0;
	u64 value = 0;
	__le64 eight;
	__le32 four;
	__le16 two;

	if (nr_bytes & 8) {
		memcpy(&eight, from, 8);
		return le64_to_cpu(eight);
	}
	if (nr_bytes & 4) {
		memcpy(&four, from, 4);
		value = le32_to_cpu(four);
		at = 4;
	}
	if (nr_bytes & 2) {
		memcpy(&two, from + at, 2);
		value |= (u64)le16_to_cpu(two) << (8 * at);
		at += 2;
	}
	if (nr_bytes & 1)
		value |= (u64)from[at] << (8 * at);
	return value;
}

static inline void dmda_put_bytes(u8 *to, u64 value, unsigned int nr_bytes)
{
	const __le64 eight = cpu_to_le64(value);
	const __le32 four = cpu_to_le32(value);
	unsigned int at = 0;
	__le16 two;

	if (nr_bytes & 8) {
		memcpy(to, &eight, 8);
		return;
	}
	if (nr_bytes & 4) {
		memcpy(to, &four, 4);
		at = 4;
	}
	if (nr_bytes & 2) {
		two = cpu_to_le16(value >> (8 * at));
		memcpy(to + at, &two, 2);
		at += 2;
	}
	if (nr_bytes & 1)
		to[at] = value >> (8 * at);
}

#endif /* DMDA_BLOCK_H */
