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
#define NVMEV_FEATURE_CHANGEABLE	BIT(2)

/* Get Log Page, CDW14: the offset counts entries and not bytes */
#define NVMEV_LOG_OFFSET_IS_INDEX	BIT(23)

/* Command effects */
#define NVMEV_EFFECT_SUPPORTED		BIT(0)
#define NVMEV_EFFECT_DATA		BIT(1)
#define NVMEV_EFFECT_NAMESPACE		BIT(2)
#define NVMEV_EFFECT_EXCLUSIVE		BIT(16)

/**
 * struct nvmev_error_entry - one entry of the Error Information log page
 * @error_count: number of this error since power on, from 1; 0 is an empty entry
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
