/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hint contract: how a host tells an SSD where the pages of a write belong.
 *
 * A hint rides in fields of the NVMe Write command that NVM Command Set
 * Specification 1.0 reserves for namespaces without protection information:
 *
 *   CDW12 bit 24  APPEND     CDW2/CDW3 hold the LBA (low/high) of the file block
 *                            that precedes the first block of this write. The
 *                            device puts the first page where that block's run
 *                            goes on: into its half-filled unit, or on the next
 *                            die. The pages after it follow in die order.
 *   CDW12 bit 25  OVERWRITE  every page stays on the die that holds the present
 *                            page of its LBA.
 *   CDW12 bit 16  BEGIN      nothing precedes this write, it begins a file. The device
 *                            puts the first page where it likes; the pages after it
 *                            follow in die order.
 *
 * The first two are those of Jun et al. (FAST '24). A host may send them to a device of
 * which somebody knows that it understands them. BEGIN is this project's: it is sent
 * only to a device that announces this very hint.
 *
 * More than one of the bits is a malformed hint and counts as none. A hint may be wrong,
 * stale or missing; it changes where a page is put and never what is stored. A
 * device treats a predecessor that is unmapped or out of range as no hint.
 *
 * Discovery: a device that understands hints puts struct dieaware_id into the
 * vendor-specific area of its Identify Controller data and answers Get Log Page
 * for the log pages below. Everything on the wire is little-endian.
 *
 * Rules for changing this file: members are only ever added, in place of reserved
 * bytes; DIEAWARE_HINT_VERSION is raised when an old host would misread a new
 * device. tests/unit checks every size and offset.
 */
#ifndef DIEAWARE_HINT_H
#define DIEAWARE_HINT_H

#include <linux/types.h>

#define DIEAWARE_HINT_VERSION		1

/* CDW12 of an NVMe Write; the upper half is the command's 16-bit control field */
#define DIEAWARE_CDW12_APPEND		(1U << 24)
#define DIEAWARE_CDW12_OVERWRITE	(1U << 25)
#define DIEAWARE_CDW12_BEGIN		(1U << 16)
#define DIEAWARE_CONTROL_APPEND		(DIEAWARE_CDW12_APPEND >> 16)
#define DIEAWARE_CONTROL_OVERWRITE	(DIEAWARE_CDW12_OVERWRITE >> 16)
#define DIEAWARE_CONTROL_BEGIN		(DIEAWARE_CDW12_BEGIN >> 16)

/* Byte offset of struct dieaware_id in Identify Controller (CNS 01h) */
#define DIEAWARE_ID_OFFSET		3072
#define DIEAWARE_ID_MAGIC		"DIEAWARE"

/* Bits of dieaware_id.features; vendor.h has three more */
#define DIEAWARE_FEATURE_APPEND		(1U << 0)
#define DIEAWARE_FEATURE_OVERWRITE	(1U << 1)
#define DIEAWARE_FEATURE_BEGIN		(1U << 4)

/**
 * struct dieaware_id - announces hint support in Identify Controller
 * @magic: DIEAWARE_ID_MAGIC, without a terminating zero
 * @version: DIEAWARE_HINT_VERSION of the device
 * @features: DIEAWARE_FEATURE_* that the device honours
 * @log_geometry: log page identifier of struct dieaware_log_geometry
 * @log_dies: log page identifier of struct dieaware_log_dies
 * @log_map: log page identifier of struct dieaware_map_entry (log.h); 0 is none
 * @log_dof: likewise of struct dieaware_dof_entry
 * @log_wear: likewise of struct dieaware_log_wear
 * @log_defrag: likewise of struct dieaware_log_defrag
 * @log_late: likewise of struct dieaware_log_late
 * @reserved: zero
 */
struct dieaware_id {
	__u8	magic[8];		/*   8 */
	__le16	version;		/*  10 */
	__le16	features;		/*  12 */
	__u8	log_geometry;		/*  13 */
	__u8	log_dies;		/*  14 */
	__u8	log_map;		/*  15 */
	__u8	log_dof;		/*  16 */
	__u8	log_wear;		/*  17 */
	__u8	log_defrag;		/*  18 */
	__u8	log_late;		/*  19 */
	__u8	reserved[13];		/*  32 */
};

/* Log page identifiers that the virtual SSD uses; a host reads them from Identify */
#define DIEAWARE_LOG_GEOMETRY		0xc0
#define DIEAWARE_LOG_DIES		0xc1

/**
 * struct dieaware_log_geometry - how the pages of a device are laid over its dies
 * @version: DIEAWARE_HINT_VERSION of the device
 * @header_bytes: size of this structure as the device knows it
 * @nr_channels: channels, each shared by @nr_dies / @nr_channels dies
 * @nr_dies: dies that can work at the same time
 * @page_bytes: mapping unit of the device
 * @die_unit_bytes: what goes to one die before the next die's turn; a multiple of
 *	@page_bytes
 * @open_units: die units in the write buffer that gather what is written with hints; the one that
 *	was not used for longest makes room for another. 0: the device does not say
 * @stripe_bytes: @die_unit_bytes times @nr_dies
 * @reserved: zero
 */
struct dieaware_log_geometry {
	__le16	version;		/*   2 */
	__le16	header_bytes;		/*   4 */
	__le32	nr_channels;		/*   8 */
	__le32	nr_dies;		/*  12 */
	__le32	page_bytes;		/*  16 */
	__le32	die_unit_bytes;		/*  20 */
	__le32	open_units;		/*  24 */
	__le64	stripe_bytes;		/*  32 */
	__u8	reserved[32];		/*  64 */
};

/**
 * struct dieaware_die_stats - what one die has done since the device was created
 * @units_read: page senses (one tR each)
 * @units_programmed: programs (one tPROG each)
 * @eblks_erased: erase operations
 * @pages_host: pages programmed for the host
 * @pages_gc: pages moved by garbage collection
 * @pages_valid: pages that hold live data now
 * @busy_ns: time spent sensing, transferring, programming and erasing, before
 *	time_scale is applied
 * @reserved: zero
 */
struct dieaware_die_stats {
	__le64	units_read;		/*   8 */
	__le64	units_programmed;	/*  16 */
	__le64	eblks_erased;		/*  24 */
	__le64	pages_host;		/*  32 */
	__le64	pages_gc;		/*  40 */
	__le64	pages_valid;		/*  48 */
	__le64	busy_ns;		/*  56 */
	__u8	reserved[8];		/*  64 */
};

/**
 * struct dieaware_log_dies - statistics of every die
 * @version: DIEAWARE_HINT_VERSION of the device
 * @entry_bytes: size of one entry of @die
 * @nr_dies: entries that follow
 * @hints_append: commands that carried a valid APPEND or BEGIN hint and were placed by it
 * @hints_overwrite: the same for OVERWRITE
 * @hints_ignored: commands whose hint could not be used (predecessor unmapped or out
 *	of range, several bits set, no room on the die)
 * @writes_plain: write commands without a hint
 * @reserved: zero
 * @die: one entry a die, in die order
 */
struct dieaware_log_dies {
	__le16	version;		/*   2 */
	__le16	entry_bytes;		/*   4 */
	__le32	nr_dies;		/*   8 */
	__le64	hints_append;		/*  16 */
	__le64	hints_overwrite;	/*  24 */
	__le64	hints_ignored;		/*  32 */
	__le64	writes_plain;		/*  40 */
	__u8	reserved[24];		/*  64 */
	struct dieaware_die_stats die[];
};

#endif /* DIEAWARE_HINT_H */
