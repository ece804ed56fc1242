/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <dieaware/format.h> for core/, and what the compiler must agree with there: sizes of
 * structures, and the places of some members. A change that moves anything on the device does
 * not build.
 */
#ifndef DMDA_ONDISK_H
#define DMDA_ONDISK_H

#include <dieaware/format.h>
#include <dieaware/platform.h>

#define DMDA_CHECK_SIZE(type, bytes) \
	static_assert(sizeof(type) == (bytes), #type " changed on disk")
#define DMDA_CHECK_OFFSET(type, member, bytes) \
	static_assert(offsetof(type, member) == (bytes), #type "." #member " moved")

DMDA_CHECK_SIZE(struct dmda_block_header, 64);
DMDA_CHECK_SIZE(struct dmda_area_block, 56);
DMDA_CHECK_SIZE(struct dmda_super_block, DMDA_BLOCK_BYTES);
DMDA_CHECK_SIZE(struct dmda_root_block, DMDA_BLOCK_BYTES);
DMDA_CHECK_SIZE(struct dmda_slots_block, DMDA_BLOCK_BYTES);
DMDA_CHECK_SIZE(struct dmda_map_block, DMDA_BLOCK_BYTES);
DMDA_CHECK_SIZE(struct dmda_map_sums_block, DMDA_BLOCK_BYTES);
DMDA_CHECK_SIZE(struct dmda_segment_entry, 16);
DMDA_CHECK_SIZE(struct dmda_segments_block, DMDA_BLOCK_BYTES);
DMDA_CHECK_SIZE(struct dmda_summary_entry, 24);
DMDA_CHECK_SIZE(struct dmda_summary_block, DMDA_BLOCK_BYTES);
DMDA_CHECK_SIZE(struct dmda_journal_sector, DMDA_SECTOR_BYTES);
DMDA_CHECK_SIZE(struct dmda_record_map, 13);
DMDA_CHECK_SIZE(struct dmda_record_sums, 2);
DMDA_CHECK_SIZE(struct dmda_record_range, 8);
DMDA_CHECK_SIZE(struct dmda_record_segment, 14);

DMDA_CHECK_OFFSET(struct dmda_super_block, journal_dpn, 128);
DMDA_CHECK_OFFSET(struct dmda_super_block, area, 192);
/* Places are the same on both kinds of pages of the map. */
DMDA_CHECK_OFFSET(struct dmda_map_block, dpn, 64);
DMDA_CHECK_OFFSET(struct dmda_map_sums_block, dpn, 64);
DMDA_CHECK_OFFSET(struct dmda_root_block, chain, 80);
DMDA_CHECK_OFFSET(struct dmda_journal_sector, records, 32);
/* So that it is found without knowing which of them it is. */
DMDA_CHECK_OFFSET(struct dmda_record_map, nr_pages, 1);
DMDA_CHECK_OFFSET(struct dmda_record_range, nr_pages, 1);
DMDA_CHECK_OFFSET(struct dmda_record_map, lpn, 3);
DMDA_CHECK_OFFSET(struct dmda_record_range, first, 3);

#endif /* DMDA_ONDISK_H */
