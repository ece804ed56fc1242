/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What log mode keeps on the device. docs/format.md has pictures.
 *
 * All numbers are little-endian. A page is 4096 bytes. dpns are page numbers on the
 * device, counted from the first sector that the target uses; lpns are page numbers
 * of the device that the target presents. seq numbers operations on the map, from 1 on;
 * epoch numbers checkpoints, from 1 on. Reserved bytes are 0.
 *
 *	superblock A, B	     what never changes but by growing; flags
 *	root A, B	     the checkpoint: which slot of which page is the valid one
 *	journal		     ring of sectors: what happened since then
 *	tables		     two slots for each page of segment table, open summaries,
 *			     directory and map
 *	segments	     data; behind it, in each segment, its summary
 *
 * Rules for changing this file: once devices have been formatted by it, a change raises
 * DMDA_FORMAT_VERSION or takes a feature bit; docs/format.md changes in the same commit.
 */
#ifndef DIEAWARE_FORMAT_H
#define DIEAWARE_FORMAT_H

#include <linux/types.h>

#define DMDA_FORMAT_VERSION	1

#define DMDA_BLOCK_BYTES	4096
#define DMDA_SECTOR_BYTES	512
#define DMDA_UUID_BYTES		16

/* Where the superblocks lie, in pages; the second is out of reach of what spoils the first */
#define DMDA_SUPER_DPN_A	0
#define DMDA_SUPER_DPN_B	16
#define DMDA_FIRST_ROOT_DPN	32

/* Magic numbers: the kinds of blocks */
#define DMDA_MAGIC_SUPER	0x6253446dU	/* mDSb */
#define DMDA_MAGIC_ROOT		0x7452446dU	/* mDRt */
#define DMDA_MAGIC_DIRECTORY	0x7244446dU	/* mDDr */
#define DMDA_MAGIC_MAP		0x704d446dU	/* mDMp */
#define DMDA_MAGIC_SEGMENTS	0x6753446dU	/* mDSg */
#define DMDA_MAGIC_SUMMARY	0x6d53446dU	/* mDSm */
#define DMDA_MAGIC_OPEN		0x704f446dU	/* mDOp */
#define DMDA_MAGIC_JOURNAL	0x6e4a446dU	/* mDJn */

/**
 * struct dmda_block_header - begins every page of metadata
 * @crc: CRC32C, as crc32c(~0, ...), of the page behind this member
 * @magic: which kind
 * @version: DMDA_FORMAT_VERSION
 * @nr_entries: entries in use; what lies behind them is 0
 * @dpn: where the page lies
 * @index: which one of its kind
 * @seq: pages of map, segment table and summaries, open ones too: the last operation that changed
 *	it; others: @epoch
 * @epoch: number of the checkpoint for which it was written
 * @uuid: of the superblock
 */
struct dmda_block_header {
	__le32 crc;			/*  4 */
	__le32 magic;			/*  8 */
	__le16 version;			/* 10 */
	__le16 nr_entries;		/* 12 */
	__le32 reserved;		/* 16 */
	__le64 dpn;			/* 24 */
	__le64 index;			/* 32 */
	__le64 seq;			/* 40 */
	__le64 epoch;			/* 48 */
	__u8 uuid[DMDA_UUID_BYTES];	/* 64 */
};

#define DMDA_BODY_BYTES	(DMDA_BLOCK_BYTES - 64)

/* Growing adds an area; the first one is of format. */
#define DMDA_MAX_AREAS	16

/**
 * struct dmda_area_block - a part of the device that was added at once
 * @tables_dpn: its tables: slot 0 and 1 of its first segment page, ... then of the
 *	pages of open summaries, of the directory, and of the map
 * @nr_segment_pages: pages of the segment table that lie here
 * @nr_open_pages: pages of open summaries; 0 but in the first area
 * @nr_directory_pages: pages of the directory
 * @nr_map_pages: pages of the map
 * @segments_dpn: its first segment
 * @nr_segments: number of segments
 */
struct dmda_area_block {
	__le64 tables_dpn;		/*  8 */
	__le64 nr_segment_pages;	/* 16 */
	__le64 nr_open_pages;		/* 24 */
	__le64 nr_directory_pages;	/* 32 */
	__le64 nr_map_pages;		/* 40 */
	__le64 segments_dpn;		/* 48 */
	__le64 nr_segments;		/* 56 */
};

/* dmda_super_block.flags */
#define DMDA_SUPER_NEEDS_CHECK	(1U << 0)

/* dmda_super_block.incompat */
#define DMDA_INCOMPAT_CHECKSUMS	(1ULL << 0)	/* of data: the map has dmda_map_sums_block */
#define DMDA_INCOMPAT_DRAFTS	(1ULL << 1)	/* the journal has sectors with DMDA_SECTOR_DRAFT */

/**
 * struct dmda_super_block - superblock; the valid one with the higher epoch counts
 * @header: epoch: times that a superblock was written
 * @compat: features that an older version may ignore
 * @ro_compat: features with which an older version may only read
 * @incompat: features that an older version must refuse
 * @nr_device_pages: pages of the device
 * @nr_lpns: pages that the target presents
 * @segment_pages: pages of a segment, its summary included
 * @summary_pages: pages of its summary
 * @stripe_pages: pages after which the device's dies have had their turn; segments
 *	begin at a multiple of it
 * @journal_sectors: sectors of the journal; a multiple of @journal_unit_sectors
 * @journal_unit_sectors: the journal is written in multiples of this: 1 or 8
 * @flags: DMDA_SUPER_*
 * @journal_dpn: where the journal begins
 * @root_dpn: where the two roots begin
 * @root_pages: pages that each of them may take
 * @nr_areas: entries of @area in use
 * @label: a name, ended with a 0 byte
 * @area: parts of the device
 */
struct dmda_super_block {
	struct dmda_block_header header;		/*   64 */
	__le64 compat;					/*   72 */
	__le64 ro_compat;				/*   80 */
	__le64 incompat;				/*   88 */
	__le64 nr_device_pages;				/*   96 */
	__le64 nr_lpns;					/*  104 */
	__le32 segment_pages;				/*  108 */
	__le32 summary_pages;				/*  112 */
	__le32 stripe_pages;				/*  116 */
	__le32 journal_sectors;				/*  120 */
	__le32 journal_unit_sectors;			/*  124 */
	__le32 flags;					/*  128 */
	__le64 journal_dpn;				/*  136 */
	__le64 root_dpn[2];				/*  152 */
	__le32 root_pages;				/*  156 */
	__le32 nr_areas;				/*  160 */
	__u8 label[32];					/*  192 */
	struct dmda_area_block area[DMDA_MAX_AREAS];	/* 1088 */
	__u8 reserved[3008];				/* 4096 */
};

/* dmda_root_block.flags */
#define DMDA_ROOT_CLEAN		(1U << 0)

/**
 * struct dmda_root_block - first page of a root
 * @header: epoch: the checkpoint's; index 0. The pages behind it have the same epoch
 *	and index 1, 2, ... A root counts if all of its pages are valid.
 * @journal_sector: number of the first journal sector that is not in the tables
 * @next_seq: first operation that begins in that sector or behind it
 * @chain: what that sector has as dmda_journal_sector.chain
 * @flags: DMDA_ROOT_*
 * @nr_segment_entries: entries for pages of the segment table; they come first
 * @nr_open_entries: entries for pages of open summaries
 * @nr_directory_entries: entries for pages of the directory
 * @pages_written: pages written by the target since format
 *
 * The entries are struct dmda_slot_entry, DMDA_ENTRIES_PER_PAGE on each further page.
 */
struct dmda_root_block {
	struct dmda_block_header header;	/*   64 */
	__le64 journal_sector;			/*   72 */
	__le64 next_seq;			/*   80 */
	__le32 chain;				/*   84 */
	__le32 flags;				/*   88 */
	__le64 nr_segment_entries;		/*   96 */
	__le64 nr_open_entries;			/*  104 */
	__le64 nr_directory_entries;		/*  112 */
	__le64 pages_written;			/*  120 */
	__u8 reserved[3976];			/* 4096 */
};

/**
 * struct dmda_slot_entry - which slot of a page is the valid one
 * @seq_slot: dmda_block_header.seq of the page, times two, plus the slot (0 or 1);
 *	0: the page was never written and is all 0
 */
struct dmda_slot_entry {
	__le64 seq_slot;	/* 8 */
};

#define DMDA_ENTRIES_PER_PAGE	504

/**
 * struct dmda_slots_block - a page of slot entries: of a root, or of the directory
 * @header: index: which page of its kind
 * @entry: a directory page has those of the map pages from @index times
 *	DMDA_ENTRIES_PER_PAGE on
 */
struct dmda_slots_block {
	struct dmda_block_header header;			/*   64 */
	struct dmda_slot_entry entry[DMDA_ENTRIES_PER_PAGE];	/* 4096 */
};

/* A place on the device in 5 bytes; 0 is none, since a superblock lies there. */
#define DMDA_DPN_BYTES		5
#define DMDA_MAP_ENTRIES	806

/**
 * struct dmda_map_block - a page of the map
 * @header: index: its lpns begin at this times DMDA_MAP_ENTRIES
 * @dpn: where each lpn is, DMDA_DPN_BYTES each
 */
struct dmda_map_block {
	struct dmda_block_header header;		/*   64 */
	__u8 dpn[DMDA_MAP_ENTRIES * DMDA_DPN_BYTES];	/* 4094 */
	__u8 reserved[2];				/* 4096 */
};

#define DMDA_SUM_BYTES		4
#define DMDA_MAP_SUMS_ENTRIES	448

/**
 * struct dmda_map_sums_block - a page of the map of a device with DMDA_INCOMPAT_CHECKSUMS
 * @header: index: its lpns begin at this times DMDA_MAP_SUMS_ENTRIES
 * @dpn: where each lpn is, DMDA_DPN_BYTES each
 * @sum: CRC32C, as crc32c(~0, ...), of what each lpn holds; 0 where it is nowhere
 */
struct dmda_map_sums_block {
	struct dmda_block_header header;			/*   64 */
	__u8 dpn[DMDA_MAP_SUMS_ENTRIES * DMDA_DPN_BYTES];	/* 2304 */
	__le32 sum[DMDA_MAP_SUMS_ENTRIES];			/* 4096 */
};

/* dmda_segment_entry.state */
#define DMDA_SEGMENT_FREE	0
#define DMDA_SEGMENT_OPEN	1
#define DMDA_SEGMENT_CLOSED	2

/**
 * struct dmda_segment_entry - a segment
 * @nr_valid: its pages that an lpn is mapped to
 * @state: DMDA_SEGMENT_*
 * @open: which open summary it has, or had, below DMDA_MAX_OPEN
 * @mtime: seq of the newest data in it; what cleaning moves keeps its age
 */
struct dmda_segment_entry {
	__le32 nr_valid;	/*  4 */
	__u8 state;		/*  5 */
	__u8 open;		/*  6 */
	__le16 reserved;	/*  8 */
	__le64 mtime;		/* 16 */
};

#define DMDA_SEGMENTS_PER_PAGE	252

/**
 * struct dmda_segments_block - a page of the segment table
 * @header: index: its segments begin at this times DMDA_SEGMENTS_PER_PAGE
 * @segment: the segments
 */
struct dmda_segments_block {
	struct dmda_block_header header;				/*   64 */
	struct dmda_segment_entry segment[DMDA_SEGMENTS_PER_PAGE];	/* 4096 */
};

/**
 * struct dmda_summary_entry - what a page of a segment is
 * @lpn: its lpn plus one when it was written; 0: nothing was written there
 * @seq: operation that mapped it, the low 48 bits
 * @fpage: page of that file
 * @file: the file, as the target knew it; 0: unknown
 */
struct dmda_summary_entry {
	__u8 lpn[5];		/*  5 */
	__u8 seq[6];		/* 11 */
	__u8 reserved;		/* 12 */
	__le32 fpage;		/* 16 */
	__le64 file;		/* 24 */
};

#define DMDA_SUMMARIES_PER_PAGE	168

/* Segments that may be open at once: two for each of up to four kinds of data */
#define DMDA_MAX_OPEN		8

/**
 * struct dmda_summary_block - a page of a segment's summary, or of an open summary
 * @header: index: segment number times 65536 plus the page of its summary; seq: the
 *	highest one in it. Of an open summary (DMDA_MAGIC_OPEN): its number times
 *	summary_pages plus the page; seq: the last operation that changed it
 * @entry: of the segment's pages from DMDA_SUMMARIES_PER_PAGE times that on
 */
struct dmda_summary_block {
	struct dmda_block_header header;				/*   64 */
	struct dmda_summary_entry entry[DMDA_SUMMARIES_PER_PAGE];	/* 4096 */
};

#define DMDA_RECORDS_BYTES	480

/*
 * Sectors that are written at once, a batch, are at most so many, and what follows is
 * written when they are durable. So no power failure leaves a valid sector that far behind the
 * end, nor one there that begins a batch.
 */
#define DMDA_MAX_BATCH_SECTORS	256

/* In dmda_journal_sector.nr_bytes: the sector begins a batch. */
#define DMDA_SECTOR_FIRST	0x8000U

/*
 * In dmda_journal_sector.nr_bytes, along with DMDA_SECTOR_FIRST: the batch is a draft, which was
 * written along with the data that it names and not behind it. It has one operation, a MAP of at
 * most DMDA_MAX_DRAFT_PAGES, whole in this sector, and as the sector's last bytes a checksum
 * of the data: the CRC32C of the pages' CRC32Cs (as in struct dmda_map_sums_block), little-endian.
 * A draft behind which another batch begins counts like any batch. Where it is the last one of the
 * journal, it does not count if its data is there and is something else.
 */
#define DMDA_SECTOR_DRAFT	0x4000U
#define DMDA_MAX_DRAFT_PAGES	8U

/**
 * struct dmda_journal_sector - a sector of the journal
 * @crc: CRC32C, begun with that of the UUID, of the sector behind this member
 * @magic: DMDA_MAGIC_JOURNAL
 * @sector: number of this sector since format; it lies at this modulo the ring's size
 * @seq: operation of which the first record is
 * @chain: @crc of the sector before it, or what the root says: a sector of an older
 *	lap, or of a line of events that a crash has ended, is no successor
 * @nr_bytes: of @records in use; and DMDA_SECTOR_FIRST, DMDA_SECTOR_DRAFT
 * @version: DMDA_FORMAT_VERSION
 * @records: records; one never goes on in the next sector, an operation may
 */
struct dmda_journal_sector {
	__le32 crc;				/*   4 */
	__le32 magic;				/*   8 */
	__le64 sector;				/*  16 */
	__le64 seq;				/*  24 */
	__le32 chain;				/*  28 */
	__le16 nr_bytes;			/*  30 */
	__le16 version;				/*  32 */
	__u8 records[DMDA_RECORDS_BYTES];	/* 512 */
};

/* Kinds of records; the last one of an operation has DMDA_RECORD_END as well. */
#define DMDA_RECORD_MAP		1
#define DMDA_RECORD_DEAD	2
#define DMDA_RECORD_TRIM	3
#define DMDA_RECORD_OPEN	4
#define DMDA_RECORD_CLOSE	5
#define DMDA_RECORD_FREE	6
#define DMDA_RECORD_SUMS	7
#define DMDA_RECORD_END		0x80U

/**
 * struct dmda_record_map - lpns are at consecutive places from now on
 * @kind: DMDA_RECORD_MAP
 * @nr_pages: how many
 * @lpn: first lpn
 * @dpn: place of the first
 *
 * The places where they were follow as dead ones, in the same operation.
 */
struct dmda_record_map {
	__u8 kind;		/*  1 */
	__u8 nr_pages[2];	/*  3 */
	__u8 lpn[5];		/*  8 */
	__u8 dpn[5];		/* 13 */
};

/* A sector has room for a record of so many. */
#define DMDA_MAX_RECORD_SUMS	119

/**
 * struct dmda_record_sums - checksums of pages that a MAP maps
 * @kind: DMDA_RECORD_SUMS
 * @nr_pages: how many, at most DMDA_MAX_RECORD_SUMS
 * @sum: as in struct dmda_map_sums_block, little-endian
 *
 * On a device with DMDA_INCOMPAT_CHECKSUMS each MAP has some of them right behind it, in which
 * its pages have their turn; on others there is none. No MAP or TRIM of such a device is of more
 * than DMDA_MAP_SUMS_ENTRIES pages, so that none is about three pages of the map.
 */
struct dmda_record_sums {
	__u8 kind;		/* 1 */
	__u8 nr_pages;		/* 2 */
	__u8 sum[][DMDA_SUM_BYTES];
};

/**
 * struct dmda_record_range - places that hold nothing any more, or lpns that are
 *	mapped to nothing
 * @kind: DMDA_RECORD_DEAD (a dpn) or DMDA_RECORD_TRIM (an lpn)
 * @nr_pages: how many
 * @first: the first
 */
struct dmda_record_range {
	__u8 kind;		/* 1 */
	__u8 nr_pages[2];	/* 3 */
	__u8 first[5];		/* 8 */
};

/**
 * struct dmda_record_segment - a segment changes its state
 * @kind: DMDA_RECORD_OPEN, DMDA_RECORD_CLOSE or DMDA_RECORD_FREE
 * @open: which open summary it has (OPEN)
 * @segment: its number
 * @mtime: age of its data (CLOSE)
 */
struct dmda_record_segment {
	__u8 kind;		/*  1 */
	__u8 open;		/*  2 */
	__u8 segment[4];	/*  6 */
	__u8 mtime[8];		/* 14 */
};

#endif /* DIEAWARE_FORMAT_H */
