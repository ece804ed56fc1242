/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Vendor-specific I/O commands of the virtual SSD: share, redistribute and compact, the device's
 * half of janusd (Hahn et al., "Improving File System Performance of Mobile Storage Systems Using a
 * Decoupled Defragmenter", USENIX ATC 2017).
 *
 * The first two take a list of ranges from the host (bits 1:0 of the opcode are 01b); CDW10 bits
 * 15:0 hold the number of ranges less one, the data is that many structures. LBAs are those of
 * the command's namespace. Compact has no data and is about the whole device. A device that has
 * a command sets its bit in dieaware_id.features (hint.h). Everything on the wire is
 * little-endian, what is reserved is zero and not looked at.
 *
 * The rules of hint.h for changing it hold here, too.
 */
#ifndef DIEAWARE_VENDOR_H
#define DIEAWARE_VENDOR_H

#include <linux/types.h>

/* Bits of dieaware_id.features */
#define DIEAWARE_FEATURE_SHARE		(1U << 2)
#define DIEAWARE_FEATURE_REDISTRIBUTE	(1U << 3)
#define DIEAWARE_FEATURE_COMPACT	(1U << 5)

#define DIEAWARE_CMD_SHARE		0x81
#define DIEAWARE_CMD_REDISTRIBUTE	0x85

/*
 * Compact: take out of the defrag log what is outdated (struct dieaware_log_defrag). Dword 0 of
 * the completion is the number of entries that are left.
 */
#define DIEAWARE_CMD_COMPACT		0x84

/* CDW10 of those with ranges */
#define DIEAWARE_CDW10_NR_RANGES(dw)	(((dw) & 0xffff) + 1)

/* Most ranges of a command, and most LBAs of all its ranges, in bytes */
#define DIEAWARE_SHARE_MAX_RANGES	128
#define DIEAWARE_SPREAD_MAX_RANGES	256
#define DIEAWARE_VENDOR_MAX_BYTES	(64U << 20)

/**
 * struct dieaware_share_range - Share: LBAs that are to have the data of others
 * @from: first LBA that has the data, at the beginning of a 4 KiB page
 * @to: first LBA that gets it, likewise
 * @nr_lbas: how many, whole pages
 * @reserved: zero
 */
struct dieaware_share_range {
	__le64	from;			/*   8 */
	__le64	to;			/*  16 */
	__le32	nr_lbas;		/*  20 */
	__u8	reserved[12];		/*  32 */
};

/**
 * struct dieaware_spread_range - Redistribute: LBAs in the order in which they are read
 * @first: first LBA, at the beginning of a 4 KiB page
 * @nr_lbas: how many, whole pages
 * @reserved: zero
 */
struct dieaware_spread_range {
	__le64	first;			/*   8 */
	__le32	nr_lbas;		/*  12 */
	__u8	reserved[4];		/*  16 */
};

/*
 * Redistribute: CDW11 bits 9:0 hold the DoF_P from which the pages are written again, in
 * thousandths; 1023 stands for what the paper uses, 500. Dword 0 of the completion says
 * what became of it: DoF_P before in bits 9:0, after in bits 25:16, and whether the pages
 * were written in bit 31.
 */
#define DIEAWARE_CDW11_THRESHOLD(dw)	((dw) & 0x3ff)
#define DIEAWARE_THRESHOLD_DEFAULT	0x3ff
#define DIEAWARE_THRESHOLD_OF_PAPER	500
#define DIEAWARE_SPREAD_BEFORE(dw)	((dw) & 0x3ff)
#define DIEAWARE_SPREAD_AFTER(dw)	(((dw) >> 16) & 0x3ff)
#define DIEAWARE_SPREAD_DONE		(1U << 31)

#endif /* DIEAWARE_VENDOR_H */
