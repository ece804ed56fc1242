/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of the target that must not be mixed up, as types of their own.
 *
 * dpn_t  page number on the device below, in 4 KiB pages, counted from the first
 *	  sector that the target uses there: a bio's sector (relative to the target)
 *	  shifted by DMDA_PAGE_SECTOR_SHIFT
 * lpn_t  page number on the device that the target presents, if that is another (log mode)
 * seg_t  number of a segment (log mode)
 * fpage  page number in a file, in 4 KiB pages: a plain u64, always beside the
 *	  struct dmda_file that it belongs to
 */
#ifndef DMDA_UNITS_H
#define DMDA_UNITS_H

#include <dieaware/platform.h>

#define DMDA_PAGE_SHIFT		12
#define DMDA_PAGE_SECTOR_SHIFT	3
#define DMDA_PAGE_SECTORS	8U

typedef u64 __bitwise dpn_t;

static inline dpn_t to_dpn(u64 nr)
{
	return (__force dpn_t)nr;
}

static inline u64 from_dpn(dpn_t dpn)
{
	return (__force u64)dpn;
}

#define DPN_NONE	((__force dpn_t)~0ULL)

typedef u64 __bitwise lpn_t;

static inline lpn_t to_lpn(u64 nr)
{
	return (__force lpn_t)nr;
}

static inline u64 from_lpn(lpn_t lpn)
{
	return (__force u64)lpn;
}

#define LPN_NONE	((__force lpn_t)~0ULL)

typedef u32 __bitwise seg_t;

static inline seg_t to_seg(u32 nr)
{
	return (__force seg_t)nr;
}

static inline u32 from_seg(seg_t seg)
{
	return (__force u32)seg;
}

#define SEG_NONE	((__force seg_t)~0U)

/* Numbers from outside stay below these, so that no sum of two of them wraps */
#define DMDA_DPN_LIMIT		(1ULL << (64 - DMDA_PAGE_SECTOR_SHIFT))
#define DMDA_FPAGE_LIMIT	(1ULL << (64 - DMDA_PAGE_SHIFT))

/**
 * struct dmda_file - identity of a file, as far as the target can tell
 * @id: dmda_file_id() of the inode; 0 means unknown ("anonymous")
 */
struct dmda_file {
	u64 id;
};

#define DMDA_ANONYMOUS	((struct dmda_file){ .id = 0 })

/**
 * struct dmda_run - consecutive pages of a file on consecutive device pages
 * @file: the file; if anonymous, @fpage means nothing
 * @fpage: first page in the file, below DMDA_FPAGE_LIMIT
 * @dpn: device page of that page
 * @nr_pages: number of pages, at least 1
 */
struct dmda_run {
	struct dmda_file file;
	u64 fpage;
	dpn_t dpn;
	u32 nr_pages;
};

#endif /* DMDA_UNITS_H */
