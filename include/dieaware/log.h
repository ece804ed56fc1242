/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Vendor log pages of the virtual SSD beyond those of hint.h: where pages are, how well they
 * can be read, and how worn the dies are. For Get Log Page, with what a plain
 * `nvme get-log` can pass. Everything is little-endian.
 *
 * C2h and C3h are tables of a namespace without a header: the offset (LPO) chooses where to
 * begin, the length how many entries to give. Behind the last entry there are zeroes, and
 * an offset beyond it is refused with Invalid Field.
 *
 *   C2h  entry i is page i of the namespace, that is LBA 8 * i of 512 bytes
 *   C3h  entry i is the i-th range of the namespace; a range is 64 KiB << LSP long. What one
 *        command asks for may not cover more than 256 MiB of the namespace: Invalid Field.
 *   C4h  struct dieaware_log_wear, the dies in order, then all erase blocks, die after die
 *   C5h  struct dieaware_log_defrag; only of a device that shares pages and logs it
 *   C6h  struct dieaware_log_late
 *
 * The rules for changing this file are those of hint.h.
 */
#ifndef DIEAWARE_LOG_H
#define DIEAWARE_LOG_H

#include <linux/types.h>

#define DIEAWARE_LOG_MAP		0xc2
#define DIEAWARE_LOG_DOF		0xc3
#define DIEAWARE_LOG_WEAR		0xc4
#define DIEAWARE_LOG_DEFRAG		0xc5
#define DIEAWARE_LOG_LATE		0xc6

#define DIEAWARE_DIE_NONE		0xffff
#define DIEAWARE_DOF_RANGE_SHIFT	16

/**
 * struct dieaware_map_entry - where a page is
 * @die: die that holds it, or DIEAWARE_DIE_NONE if it is not mapped
 * @reserved: zero
 * @unit: number that two pages share if one sense reads both; ffffffffh if not mapped
 */
struct dieaware_map_entry {
	__le16	die;			/*   2 */
	__le16	reserved;		/*   4 */
	__le32	unit;			/*   8 */
};

/**
 * struct dieaware_dof_entry - degree of physical fragmentation (DoF_P) of a range
 * @dof_permille: thousandths: 0 if the range can be read as fast as the drive can; near
 *	1000 * (1 - 1 / dies) if all of it is on one die
 * @reserved: zero
 * @nr_pages: pages of the range that are mapped
 * @nr_units: flash units that they are in
 * @most_units: units of the die that has the most: so many senses take turns
 */
struct dieaware_dof_entry {
	__le16	dof_permille;		/*   2 */
	__le16	reserved;		/*   4 */
	__le32	nr_pages;		/*   8 */
	__le32	nr_units;		/*  12 */
	__le32	most_units;		/*  16 */
};

/**
 * struct dieaware_log_wear - head of the wear log
 * @version: 1
 * @header_bytes: size of this structure
 * @die_bytes: size of struct dieaware_wear_die
 * @eblk_bytes: size of struct dieaware_wear_eblk
 * @nr_dies: dies
 * @eblks_per_die: erase blocks of each
 * @rated_cycles: erases after which a block counts as used up
 * @reserved: zero
 */
struct dieaware_log_wear {
	__le16	version;		/*   2 */
	__le16	header_bytes;		/*   4 */
	__le16	die_bytes;		/*   6 */
	__le16	eblk_bytes;		/*   8 */
	__le32	nr_dies;		/*  12 */
	__le32	eblks_per_die;		/*  16 */
	__le32	rated_cycles;		/*  20 */
	__u8	reserved[44];		/*  64 */
};

/**
 * struct dieaware_wear_die - wear of a die
 * @erases: erases of all its blocks
 * @erases_least: of the block with the fewest, but for an SLC region, like the two that follow
 * @erases_most: of the block with the most
 * @eblks_free: blocks that are free
 * @eblks_bad: blocks that are bad
 * @reserved: zero
 */
struct dieaware_wear_die {
	__le64	erases;			/*   8 */
	__le32	erases_least;		/*  12 */
	__le32	erases_most;		/*  16 */
	__le32	eblks_free;		/*  20 */
	__le32	eblks_bad;		/*  24 */
	__u8	reserved[8];		/*  32 */
};

/* dieaware_wear_eblk.state */
#define DIEAWARE_EBLK_FREE		0
#define DIEAWARE_EBLK_OPEN		1
#define DIEAWARE_EBLK_FULL		2
#define DIEAWARE_EBLK_VICTIM		3
#define DIEAWARE_EBLK_DOOMED		4
#define DIEAWARE_EBLK_BAD		5

/**
 * struct dieaware_wear_eblk - wear of an erase block
 * @erases: how often it was erased
 * @state: DIEAWARE_EBLK_*; a victim is being collected, a doomed block will be bad
 * @reserved: zero
 */
struct dieaware_wear_eblk {
	__le32	erases;			/*   4 */
	__u8	state;			/*   5 */
	__u8	reserved[3];		/*   8 */
};

/**
 * struct dieaware_log_defrag - how full the log of shared pages is
 * @version: 1
 * @header_bytes: size of this structure
 * @entry_bytes: size of an entry in the log
 * @entries: entries in the log, each for a row of pages
 * @most_entries: so many fit
 * @pages: pages that these have
 * @most_pages: so many they may have
 * @compactions: times that it was compacted, by command or since it was full
 * @kept: entries that this has kept, all together
 * @reserved: zero
 */
struct dieaware_log_defrag {
	__le16	version;		/*   2 */
	__le16	header_bytes;		/*   4 */
	__le32	entry_bytes;		/*   8 */
	__le32	entries;		/*  12 */
	__le32	most_entries;		/*  16 */
	__le32	pages;			/*  20 */
	__le32	most_pages;		/*  24 */
	__le64	compactions;		/*  32 */
	__le64	kept;			/*  40 */
	__u8	reserved[24];		/*  64 */
};

#define DIEAWARE_LATE_BUCKETS		24

/**
 * struct dieaware_log_late - how far completions were behind the times of the model, since power on
 * @version: 1
 * @header_bytes: size of this structure
 * @late_ns: a completion that is so much behind its time counts as late
 * @completions: I/O commands that were completed, but for those with pauses for others in them
 * @late: those of them that were late
 * @sum_ns: by how much all were behind their times, together
 * @model_ns: what they take in the model, together
 * @worst_ns: the most that one was behind
 * @late_permille: @sum_ns in thousandths of @model_ns: about what is measured wrong
 * @nr_buckets: entries of @bucket
 * @bucket: completions that were behind by less than a microsecond, then by at least 1 and less
 *	than 2, at least 2 and less than 4, and so on; the last has all that were behind by more
 */
struct dieaware_log_late {
	__le16	version;		/*   2 */
	__le16	header_bytes;		/*   4 */
	__le32	late_ns;		/*   8 */
	__le64	completions;		/*  16 */
	__le64	late;			/*  24 */
	__le64	sum_ns;			/*  32 */
	__le64	model_ns;		/*  40 */
	__le64	worst_ns;		/*  48 */
	__le32	late_permille;		/*  52 */
	__le32	nr_buckets;		/*  56 */
	__le64	bucket[DIEAWARE_LATE_BUCKETS];	/* 248 */
};

#endif /* DIEAWARE_LOG_H */
