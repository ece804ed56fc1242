/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the controller needs of the NVMe specification and the kernel's header lacks, or
 * names differently from one kernel to the next.
 */
#ifndef NVMEV_NVME_H
#define NVMEV_NVME_H

#include <linux/bits.h>
#include <linux/nvme.h>

/* A status as the code below passes it on: status code and type, without phase tag */
#define NVMEV_DNR		0x4000
/* The error log has more about it. */
#define NVMEV_MORE		0x2000
#define NVMEV_STATUS_CODE	0x7ff

/* Fields of the CAP register */
#define NVMEV_CAP_MQES(entries)		((u64)(entries) - 1)
#define NVMEV_CAP_CQR			BIT_ULL(16)
#define NVMEV_CAP_TO(half_seconds)	((u64)(half_seconds) << 24)
#define NVMEV_CAP_CSS_NVM		BIT_ULL(37)
#define NVMEV_VERSION			0x00010400

/* Fields of the CC and CSTS registers */
#define NVMEV_CC_EN			BIT(0)
#define NVMEV_CC_CSS_MPS_AMS		GENMASK(13, 4)
#define NVMEV_CC_SHN			GENMASK(15, 14)
#define NVMEV_CC_IOSQES(cc)		(((cc) >> 16) & 0xf)
#define NVMEV_CC_IOCQES(cc)		(((cc) >> 20) & 0xf)
#define NVMEV_CSTS_RDY			BIT(0)
#define NVMEV_CSTS_CFS			BIT(1)
#define NVMEV_CSTS_SHST			GENMASK(3, 2)
#define NVMEV_CSTS_SHST_DONE		BIT(3)

#define NVMEV_SQES			6
#define NVMEV_CQES			4

/* The flags byte of a command: fused operation and data pointer type */
#define NVMEV_FLAGS_FUSE		0x03
#define NVMEV_FLAGS_PSDT		0xc0

/* Control field of reads and writes, the upper half of CDW12 */
#define NVMEV_RW_DIRECTIVE		GENMASK(7, 4)
#define NVMEV_RW_DEAC			BIT(9)
#define NVMEV_RW_FUA			BIT(14)

/* Copy: source ranges less one in bits 7:0 of CDW12, their format in bits 11:8 */
#define NVMEV_CMD_COPY			0x19
#define NVMEV_COPY_RANGES(dw)		(((dw) & 0xff) + 1)
#define NVMEV_COPY_FORMAT(dw)		(((dw) >> 8) & 0xf)
#define NVMEV_COPY_DIRECTIVE		GENMASK(23, 20)
#define NVMEV_SC_COPY_SIZE		0x183
#define NVMEV_SC_UNWRITTEN		0x287

/* Its limits: ranges, LBAs of one, LBAs of all; where Identify tells of them */
#define NVMEV_COPY_MAX_RANGES		128
#define NVMEV_COPY_MAX_LBAS		0xffff
#define NVMEV_ID_CTRL_OCFS		534
#define NVMEV_ID_NS_MSSRL		74
#define NVMEV_ID_NS_MCL			76
#define NVMEV_ID_NS_MSRC		80

/**
 * struct nvmev_copy_range - a source range of a Copy command, format 0
 * @reserved: zero
 * @slba: first LBA
 * @nlb: LBAs less one
 * @reserved18: protection information, which does not exist here
 */
struct nvmev_copy_range {
	__le64	reserved;
	__le64	slba;
	__le16	nlb;
	__u8	reserved18[14];
};

/* Optional commands and features announced in Identify Controller */
#define NVMEV_ONCS_COMPARE		BIT(0)
#define NVMEV_ONCS_WRITE_UNCORRECTABLE	BIT(1)
#define NVMEV_ONCS_DSM			BIT(2)
#define NVMEV_ONCS_WRITE_ZEROES		BIT(3)
#define NVMEV_ONCS_SELECT		BIT(4)
#define NVMEV_ONCS_TIMESTAMP		BIT(6)
#define NVMEV_ONCS_VERIFY		BIT(7)
#define NVMEV_ONCS_COPY			BIT(8)
#define NVMEV_OACS_FORMAT		BIT(1)
#define NVMEV_LPA_EFFECTS		BIT(1)
#define NVMEV_LPA_EXTENDED		BIT(2)
#define NVMEV_VWC_PRESENT		BIT(0)
#define NVMEV_VWC_FLUSH_BROADCAST	(3 << 1)

/* Namespace features */
#define NVMEV_NSFEAT_THIN		BIT(0)
#define NVMEV_NSFEAT_ATOMICS		BIT(1)
#define NVMEV_NSFEAT_OPTPERF		BIT(4)
#define NVMEV_DLFEAT_ZEROES		0x01
#define NVMEV_DLFEAT_DEAC		BIT(3)

#define NVMEV_NSID_ALL			0xffffffffU
#define NVMEV_MAX_NAMESPACES		16

/* Arbitration: a burst is 2 to the power of so many commands; the default is 8 of them. */
#define NVMEV_ARBITRATION_BURST(dw)	((dw) & 0x7)
#define NVMEV_ARBITRATION_NO_LIMIT	7
#define NVMEV_ARBITRATION_DEFAULT	3

/* Format NVM, CDW10 */
#define NVMEV_FORMAT_LBAF(dw)		((dw) & 0xf)
#define NVMEV_FORMAT_MSET_PI		GENMASK(8, 4)
#define NVMEV_FORMAT_SES(dw)		(((dw) >> 9) & 0x7)
#define NVMEV_FORMAT_LBAF_UPPER		GENMASK(13, 12)

/* Asynchronous events: type in bits 2:0, information in 15:8, log page in 23:16 */
#define NVMEV_EVENT(type, info, lid)	((type) | (info) << 8 | (lid) << 16)
#define NVMEV_EVENT_BAD_DOORBELL	NVMEV_EVENT(0, 0x01, NVME_LOG_ERROR)
#define NVMEV_EVENT_RELIABILITY		NVMEV_EVENT(1, 0x00, NVME_LOG_SMART)
#define NVMEV_EVENT_TEMPERATURE		NVMEV_EVENT(1, 0x01, NVME_LOG_SMART)
#define NVMEV_EVENT_SPARE		NVMEV_EVENT(1, 0x02, NVME_LOG_SMART)
#define NVMEV_EVENT_TYPE(event)		((event) & 0x7)
#define NVMEV_EVENT_LOG(event)		((event) >> 16)

/* Get Log Page, LSP: do not take the event for read */
#define NVMEV_LOG_RETAIN_EVENT		BIT(7)
#define NVMEV_LOG_SPECIFIC(lsp)		((lsp) & 0xf)

#define NVMEV_SPARE_THRESHOLD_PERCENT	10

/* Get Features, CDW10 */
#define NVMEV_FEATURE_SELECT(dw)	(((dw) >> 8) & 0x7)
#define NVMEV_FEATURE_SAVE		BIT(31)
#define NVMEV_SELECT_CURRENT		0
#define NVMEV_SELECT_CAPABILITIES	3
#define NVMEV_FEATURE_PER_NAMESPACE	BIT(1)
#define NVMEV_FEATURE_CHANGEABLE	BIT(2)

/* Get Log Page, CDW14: the offset counts entries and not bytes */
#define NVMEV_LOG_OFFSET_IS_INDEX	BIT(23)

/* Command effects */
#define NVMEV_EFFECT_SUPPORTED		BIT(0)
#define NVMEV_EFFECT_DATA		BIT(1)
#define NVMEV_EFFECT_NAMESPACE		BIT(2)
#define NVMEV_EFFECT_EXCLUSIVE		BIT(16)

/* Flexible Data Placement and endurance groups, which older kernels' headers lack */
#define NVMEV_CTRATT_ENDURANCE_GROUPS	BIT(4)
#define NVMEV_CTRATT_FDP		BIT(19)
#define NVMEV_ID_CTRL_ENDGIDMAX		340
#define NVMEV_ID_NS_ENDGID		102
#define NVMEV_ID_CNS_ENDURANCE_GROUPS	0x19
#define NVMEV_ENDURANCE_GROUP		1
#define NVMEV_FEAT_FDP			0x1d
#define NVMEV_FEAT_FDP_EVENTS		0x1e
#define NVMEV_LOG_ENDURANCE_GROUP	0x09
#define NVMEV_LOG_FDP_CONFIGS		0x20
#define NVMEV_LOG_FDP_USAGE		0x21
#define NVMEV_LOG_FDP_STATS		0x22
#define NVMEV_LOG_FDP_EVENTS		0x23
#define NVMEV_CMD_IO_MGMT_RECV		0x12
#define NVMEV_CMD_IO_MGMT_SEND		0x1d
#define NVMEV_IO_MGMT_OP(dw)		((dw) & 0xff)
#define NVMEV_IO_MGMT_SPECIFIC(dw)	((dw) >> 16)
#define NVMEV_IO_MGMT_RUH_STATUS	0x01
#define NVMEV_IO_MGMT_RUH_UPDATE	0x01

/* Directive type in bits 7:4 of the control field of a write */
#define NVMEV_RW_DIRECTIVE_TYPE(control)	(((control) & NVMEV_RW_DIRECTIVE) >> 4)
#define NVMEV_DIRECTIVE_PLACEMENT	2

/* Status of what needs FDP where it is disabled */
#define NVMEV_SC_FDP_DISABLED		0x29

/* Set and Get Features of FDP events, CDW11 */
#define NVMEV_FDP_NR_TYPES(dw)		(((dw) >> 16) & 0xff)

/* Event types, flags of an event, attributes of configuration and handles */
#define NVMEV_FDP_NOT_FULL		0x00
#define NVMEV_FDP_INVALID_PID		0x03
#define NVMEV_FDP_HAS_PID		BIT(0)
#define NVMEV_FDP_HAS_NSID		BIT(1)
#define NVMEV_FDP_CONFIG_VALID		BIT(7)
#define NVMEV_FDP_INITIALLY_ISOLATED	0x01
#define NVMEV_FDP_NOT_ISOLATED		0xc0
#define NVMEV_FDP_HOST_SPECIFIED	1

/**
 * struct nvmev_fdp_event - an entry of the FDP Events log page
 * @type: NVMEV_FDP_NOT_FULL or NVMEV_FDP_INVALID_PID
 * @flags: NVMEV_FDP_HAS_*
 * @pid: placement identifier
 * @timestamp_ms: time of the event, as of the feature Timestamp
 * @nsid: number of the namespace
 * @reserved: zero
 */
struct nvmev_fdp_event {
	__u8	type;
	__u8	flags;
	__le16	pid;
	__le64	timestamp_ms;
	__le32	nsid;
	__u8	reserved[48];
} __packed;

/**
 * struct nvmev_fdp_handle - a reclaim unit handle's status
 * @pid: placement identifier
 * @ruhid: reclaim unit handle
 * @time_left: estimated active reclaim unit time remaining; 0 is not reported
 * @left_lbas: LBAs that its reclaim unit still takes
 * @reserved: zero
 */
struct nvmev_fdp_handle {
	__le16	pid;
	__le16	ruhid;
	__le32	time_left;
	__le64	left_lbas;
	__u8	reserved[16];
};

/**
 * struct nvmev_fdp_status - data of I/O Management Receive, reclaim unit handle status
 * @reserved: zero
 * @nr_handles: entries that follow
 * @handle: one for each placement identifier
 */
struct nvmev_fdp_status {
	__u8	reserved[14];
	__le16	nr_handles;
	struct nvmev_fdp_handle handle[];
};

/**
 * struct nvmev_fdp_configs - head of the FDP Configurations log page
 * @nr: configurations that follow, less one
 * @version: 0
 * @reserved3: zero
 * @bytes: length of the page
 * @reserved8: zero
 */
struct nvmev_fdp_configs {
	__le16	nr;
	__u8	version;
	__u8	reserved3;
	__le32	bytes;
	__u8	reserved8[8];
};

/**
 * struct nvmev_fdp_config - a configuration; a type for each handle follows
 * @bytes: length of the entry, handles included
 * @attributes: NVMEV_FDP_CONFIG_VALID, and in bits 3:0 those of an identifier that are its group
 * @vendor_bytes: 0
 * @nr_groups: number of reclaim groups
 * @nr_handles: number of reclaim unit handles
 * @max_pids: number of placement identifiers that a namespace can have, less one
 * @max_namespaces: number of namespaces that there can be
 * @ru_bytes: nominal size of a reclaim unit
 * @time_limit: 0
 * @reserved: zero
 */
struct nvmev_fdp_config {
	__le16	bytes;
	__u8	attributes;
	__u8	vendor_bytes;
	__le32	nr_groups;
	__le16	nr_handles;
	__le16	max_pids;
	__le32	max_namespaces;
	__le64	ru_bytes;
	__le32	time_limit;
	__u8	reserved[36];
};

/**
 * struct nvmev_endurance_log - Endurance Group Information log page
 * @critical_warning: 0
 * @reserved1: zero
 * @avail_spare: available spare, percent
 * @spare_thresh: threshold of available spare, percent
 * @percent_used: share of the rated endurance that is used up, percent
 * @reserved6: zero
 * @estimate: endurance estimate: 0, not reported
 * @units_read: data that the host has read, in units of 10^9 bytes
 * @reserved56: zero
 * @units_written: data that the host has written, in units of 10^9 bytes
 * @reserved72: zero
 * @media_written: data that was written to the medium, in units of 10^9 bytes
 * @reserved88: zero
 * @reads: number of read commands
 * @reserved104: zero
 * @writes: number of write commands
 * @reserved120: zero
 * @media_errors: number of commands that failed for what is on the medium
 * @reserved136: zero
 * @errors: number of entries of the error log
 * @reserved152: zero
 * @reserved160: zero
 *
 * All counters have 128 bits, of which the upper half is zero.
 */
struct nvmev_endurance_log {
	__u8	critical_warning;
	__u8	reserved1[2];
	__u8	avail_spare;
	__u8	spare_thresh;
	__u8	percent_used;
	__u8	reserved6[26];
	__le64	estimate[2];
	__le64	units_read;
	__le64	reserved56;
	__le64	units_written;
	__le64	reserved72;
	__le64	media_written;
	__le64	reserved88;
	__le64	reads;
	__le64	reserved104;
	__le64	writes;
	__le64	reserved120;
	__le64	media_errors;
	__le64	reserved136;
	__le64	errors;
	__le64	reserved152;
	__u8	reserved160[352];
};

/**
 * struct nvmev_error_entry - one entry of the Error Information log page
 * @error_count: number of this error since the SSD was made, from 1; 0 is an empty entry
 * @sqid: submission queue of the command
 * @cid: identifier of the command
 * @status: status field as in the completion queue entry
 * @location: byte and bit of the parameter in error; 0xffff is unknown
 * @lba: first LBA at fault
 * @nsid: namespace of the command
 * @vendor: log page with more about it, or 0
 * @trtype: transport, 0 is PCI Express
 * @reserved: zero
 */
struct nvmev_error_entry {
	__le64	error_count;
	__le16	sqid;
	__le16	cid;
	__le16	status;
	__le16	location;
	__le64	lba;
	__le32	nsid;
	__u8	vendor;
	__u8	trtype;
	__u8	reserved[34];
};

#endif /* NVMEV_NVME_H */
