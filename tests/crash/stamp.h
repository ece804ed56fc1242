/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a page of the workload holds: each of its sectors says which page it is, which
 * version of it, and which sector, and checks itself. So a page that is torn, is another
 * one's, or is of another time is found out from itself alone.
 */
#ifndef CRASH_STAMP_H
#define CRASH_STAMP_H

#include <dieaware/platform.h>

#define STAMP_PAGE_BYTES	4096U
#define STAMP_SECTOR_BYTES	512U
#define STAMP_SECTORS		(STAMP_PAGE_BYTES / STAMP_SECTOR_BYTES)
#define STAMP_MAGIC		0x706d617473646d64ULL

/**
 * struct stamp_sector - a sector of a page
 * @magic: STAMP_MAGIC
 * @lpn: page number on the device
 * @version: the operation that wrote it, from 1 on
 * @sector: of the page
 * @crc: CRC32C of the rest
 * @fill: follows from the others
 */
struct stamp_sector {
	u64 magic;
	u64 lpn;
	u64 version;
	u32 sector;
	u32 crc;
	u64 fill[60];
};

static_assert(sizeof(struct stamp_sector) == STAMP_SECTOR_BYTES);

enum stamp_kind {
	STAMP_UNKNOWN,	/* nobody has looked yet */
	STAMP_ZERO,	/* all of it is 0 */
	STAMP_WHOLE,	/* one version of one page */
	STAMP_BAD,	/* neither */
};

/**
 * struct stamp - what a page holds
 * @kind: STAMP_*
 * @lpn: of a whole page
 * @version: of a whole page
 * @sum: checksum of the page, whatever it is
 */
struct stamp {
	enum stamp_kind kind;
	u64 lpn;
	u64 version;
	u32 sum;
};

static inline u32 stamp_checksum(const struct stamp_sector *sector)
{
	u32 crc = crc32c(~0U, sector, offsetof(struct stamp_sector, crc));

	return crc32c(crc, sector->fill, sizeof(sector->fill));
}

static inline void stamp_page(void *page, u64 lpn, u64 version)
{
	struct stamp_sector *sector = page;
	u64 state = lpn * 0x9e3779b97f4a7c15ULL ^ version;

	for (u32 i = 0; i < STAMP_SECTORS; i++, sector++) {
		sector->magic = STAMP_MAGIC;
		sector->lpn = lpn;
		sector->version = version;
		sector->sector = i;
		for (u32 j = 0; j < ARRAY_SIZE(sector->fill); j++) {
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
			sector->fill[j] = state;
		}
		sector->crc = stamp_checksum(sector);
	}
}

static inline bool stamp_is_zero(const void *page)
{
	const u64 *word = page;

	for (u32 i = 0; i < STAMP_PAGE_BYTES / sizeof(*word); i++) {
		if (word[i])
			return false;
	}
	return true;
}

static inline struct stamp stamp_read(const void *page)
{
	const struct stamp_sector *sector = page;
	struct stamp stamp = { .kind = STAMP_BAD, .sum = crc32c(~0U, page, STAMP_PAGE_BYTES) };

	if (sector->magic != STAMP_MAGIC) {
		if (stamp_is_zero(page))
			stamp.kind = STAMP_ZERO;
		return stamp;
	}
	for (u32 i = 0; i < STAMP_SECTORS; i++) {
		if (sector[i].magic != STAMP_MAGIC || sector[i].sector != i ||
		    sector[i].lpn != sector->lpn || sector[i].version != sector->version ||
		    sector[i].crc != stamp_checksum(&sector[i]))
			return stamp;
	}
	stamp.kind = STAMP_WHOLE;
	stamp.lpn = sector->lpn;
	stamp.version = sector->version;
	return stamp;
}

#endif /* CRASH_STAMP_H */
