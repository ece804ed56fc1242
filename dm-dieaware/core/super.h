/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The superblock: how the device is laid out. Made by format, changed by growing only.
 *
 *	0	superblock A
 *	16	superblock B
 *	32	root A, root B
 *		journal
 *		tables of area 0: segment table, open summaries, directory, map; two
 *		slots a page
 *		segments of area 0
 *		area 1 ...
 *
 * Everything is sized for the device so that metadata cannot run full: each page of the
 * map has its two slots whether anything is mapped there or not.
 *
 * Pure functions of their arguments.
 */
#ifndef DMDA_SUPER_H
#define DMDA_SUPER_H

#include "block.h"

/* Segments that cleaning and the open segments need, whatever the reserve is */
#define DMDA_RESERVED_SEGMENTS	8U

#define DMDA_MIN_SEGMENTS	32U
#define DMDA_MIN_JOURNAL_SECTORS 1024U
#define DMDA_MAX_JOURNAL_SECTORS BIT(21)
#define DMDA_MAX_SEGMENT_PAGES	65536U

/* The journal has room for so many batches at least: none is longer than that share of it. */
#define DMDA_MIN_BATCHES	8U

/**
 * struct dmda_format - what format is asked for
 * @uuid: UUID of the new device
 * @label: name of at most 31 characters, or NULL
 * @nr_device_pages: size of the device in pages
 * @stripe_pages: number of pages after which its dies have had their turn
 * @segment_pages: size of a segment in pages; 0 leaves the choice to format
 * @journal_sectors: size of the journal in sectors; 0 leaves the choice to format
 * @journal_unit_sectors: multiple of sectors in which the journal is written: 8 on devices of
 *	4096-byte blocks, else 1
 * @reserve_permille: share of the segments that is not shown to users, [20, 900]
 * @checksums: whether there is a checksum of each page of data
 * @drafts: whether batches of the journal may be written along with their data
 */
struct dmda_format {
	const u8 *uuid;
	const char *label;
	u64 nr_device_pages;
	u32 stripe_pages;
	u32 segment_pages;
	u32 journal_sectors;
	u32 journal_unit_sectors;
	u32 reserve_permille;
	bool checksums;
	bool drafts;
};

/**
 * struct dmda_area - a part of the device, see struct dmda_area_block
 */
struct dmda_area {
	u64 tables_dpn;
	u64 nr_segment_pages;
	u64 nr_open_pages;
	u64 nr_directory_pages;
	u64 nr_map_pages;
	u64 segments_dpn;
	u64 nr_segments;
};

/**
 * struct dmda_super - a superblock in the machine's own numbers
 *
 * The members are those of struct dmda_super_block.
 */
struct dmda_super {
	u8 uuid[DMDA_UUID_BYTES];
	u64 epoch;
	u64 compat;
	u64 ro_compat;
	u64 incompat;
	u64 nr_device_pages;
	u64 nr_lpns;
	u32 segment_pages;
	u32 summary_pages;
	u32 stripe_pages;
	u32 journal_sectors;
	u32 journal_unit_sectors;
	u32 flags;
	u64 journal_dpn;
	u64 root_dpn[2];
	u32 root_pages;
	u32 nr_areas;
	char label[32];
	struct dmda_area area[DMDA_MAX_AREAS];
};

/* Which table a page belongs to */
enum dmda_table {
	DMDA_TABLE_SEGMENTS,
	DMDA_TABLE_OPEN,
	DMDA_TABLE_DIRECTORY,
	DMDA_TABLE_MAP,
	DMDA_NR_TABLES,
};

/**
 * dmda_super_make() - lay out a new device
 * @format: properties that are asked for
 * @super: the result
 *
 * Return: NULL, or a complete sentence that says what is impossible and why.
 */
const char *dmda_super_make(const struct dmda_format *format, struct dmda_super *super);

/**
 * dmda_super_grow() - lay out what a device has got in addition
 * @super: superblock of the device as it was; in the end, as it is
 * @nr_device_pages: its size now
 *
 * Everything stays where it is, but the roots: they get new places, large enough. There
 * must be a root before a superblock names these. The share of the segments that is not
 * shown stays the same; @super->epoch, too.
 *
 * Return: NULL, or why it cannot grow, as a complete sentence; @super is undefined then.
 */
const char *dmda_super_grow(struct dmda_super *super, u64 nr_device_pages);

/**
 * dmda_super_encode() - make the page to be written
 * @super: epoch is that of the page; which of the two places follows from it
 * @page: DMDA_BLOCK_BYTES bytes
 */
void dmda_super_encode(const struct dmda_super *super, struct dmda_super_block *page);

/**
 * dmda_super_decode() - understand a superblock
 * @page: contents of @dpn, as read
 * @dpn: DMDA_SUPER_DPN_A or _B
 * @super: the result
 *
 * Every number is checked against every other one; a device that is smaller than what
 * is said here is the caller's to refuse, and unknown features, too.
 *
 * Return: NULL, or what is wrong.
 */
const char *dmda_super_decode(const struct dmda_super_block *page, dpn_t dpn,
			      struct dmda_super *super);

/**
 * dmda_super_is_same_layout() - compare all on which the sizes of tables and places depend
 *
 * Of one device it changes by growing only. Its epoch, its flags and its label may change.
 *
 * Return: whether what was made for one of the superblocks fits the other.
 */
bool dmda_super_is_same_layout(const struct dmda_super *a, const struct dmda_super *b);

/* Has the device checksums of data? */
static inline bool dmda_super_has_sums(const struct dmda_super *super)
{
	return super->incompat & DMDA_INCOMPAT_CHECKSUMS;
}

/* May its journal have drafts of batches? */
static inline bool dmda_super_has_drafts(const struct dmda_super *super)
{
	return super->incompat & DMDA_INCOMPAT_DRAFTS;
}

/* Entries of a page of the map */
static inline u32 dmda_super_map_entries(const struct dmda_super *super)
{
	return dmda_super_has_sums(super) ? DMDA_MAP_SUMS_ENTRIES : DMDA_MAP_ENTRIES;
}

/* Features of this version */
#define DMDA_COMPAT_KNOWN	0ULL
#define DMDA_RO_COMPAT_KNOWN	0ULL
#define DMDA_INCOMPAT_KNOWN	(DMDA_INCOMPAT_CHECKSUMS | DMDA_INCOMPAT_DRAFTS)

/**
 * dmda_super_unknown_features() - look for features that this version does not know
 * @read_only: nothing is going to be written
 *
 * Return: NULL, or why the device cannot be used, as a complete sentence.
 */
const char *dmda_super_unknown_features(const struct dmda_super *super, bool read_only);

/* Where the superblock of that epoch goes. */
static inline dpn_t dmda_super_dpn(u64 epoch)
{
	return to_dpn(epoch & 1 ? DMDA_SUPER_DPN_A : DMDA_SUPER_DPN_B);
}

/* Pages of a segment that take data. */
static inline u32 dmda_super_data_pages(const struct dmda_super *super)
{
	return super->segment_pages - super->summary_pages;
}

/**
 * dmda_super_nr_segments() - number of segments
 */
u64 dmda_super_nr_segments(const struct dmda_super *super);

/**
 * dmda_super_nr_pages() - number of pages of a table that are in use
 */
u64 dmda_super_nr_pages(const struct dmda_super *super, enum dmda_table table);

/**
 * dmda_super_slot() - where a slot of a table's page lies
 * @index: page, below dmda_super_nr_pages()
 * @slot: 0 or 1
 */
dpn_t dmda_super_slot(const struct dmda_super *super, enum dmda_table table, u64 index,
		      u32 slot);

/**
 * dmda_super_page_id() - what a page of a table is
 * @index: page, below dmda_super_nr_pages()
 * @slot: slot in which it lies, 0 or 1
 * @seq: operation in its header; of the directory's pages, the root's epoch
 *
 * Return: its identity, with as many entries as fit, and any epoch.
 */
struct dmda_block_id dmda_super_page_id(const struct dmda_super *super, enum dmda_table table,
					u64 index, u32 slot, u64 seq);

/**
 * dmda_super_segment_dpn() - where a segment begins
 */
dpn_t dmda_super_segment_dpn(const struct dmda_super *super, seg_t seg);

/* A page of a segment; @seg is SEG_NONE if it is none */
struct dmda_segment_page {
	seg_t seg;
	u32 page;
};

/* In which segment a place lies; on a device that has grown, too */
struct dmda_segment_page dmda_super_find_segment(const struct dmda_super *super, dpn_t dpn);

/**
 * dmda_super_segment_of() - in which segment's data a place lies
 * @page: gets its page in the segment
 * Return: the segment, or SEG_NONE if data cannot be there.
 */
static inline seg_t dmda_super_segment_of(const struct dmda_super *super, dpn_t dpn, u32 *page)
{
	u64 at = from_dpn(dpn) - super->area[0].segments_dpn;
	struct dmda_segment_page found;

	/* Nearly always it is in the first area; what lies before that is far behind it by this. */
	if (at < super->area[0].nr_segments * super->segment_pages)
		found.seg = to_seg(div_u64_rem(at, super->segment_pages, &found.page));
	else
		found = dmda_super_find_segment(super, dpn);
	*page = found.page;
	return found.page < dmda_super_data_pages(super) ? found.seg : SEG_NONE;
}

#endif /* DMDA_SUPER_H */
