// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Error Information log: which commands failed, where in the command the fault is, and
 * at which LBA.
 */
#include "error-log.h"
#include "vendor.h"

/* Not in one field of the command, or not in the command at all */
#define NOWHERE		0xffff

#define PSDT_BIT	6
#define DIRECTIVE_BIT	4
#define SAVE_BIT	7

static u16 at_bit(u32 byte, u32 bit)
{
	return byte | bit << 8;
}

static u16 locate_field(u16 sqid, const struct nvme_command *sqe)
{
	u8 flags = sqe->common.flags;

	if (flags & NVMEV_FLAGS_FUSE)
		return offsetof(struct nvme_command, common.flags);
	if (flags & NVMEV_FLAGS_PSDT)
		return at_bit(offsetof(struct nvme_command, common.flags), PSDT_BIT);
	if (!sqid && sqe->common.opcode == nvme_admin_identify)
		return offsetof(struct nvme_command, identify.cns);
	if (sqid && sqe->common.opcode == nvme_cmd_write &&
	    (le16_to_cpu(sqe->rw.control) & NVMEV_RW_DIRECTIVE))
		return at_bit(offsetof(struct nvme_command, rw.control), DIRECTIVE_BIT);
	return NOWHERE;
}

static u16 locate_prp(const struct nvme_command *sqe)
{
	if (le64_to_cpu(sqe->common.dptr.prp1) & 3)
		return offsetof(struct nvme_command, common.dptr.prp1);
	return offsetof(struct nvme_command, common.dptr.prp2);
}

/* Are the LBAs of the command in its data? */
static bool has_ranges(u8 opcode)
{
	return opcode == nvme_cmd_dsm || opcode == NVMEV_CMD_COPY ||
		opcode == DIEAWARE_CMD_SHARE || opcode == DIEAWARE_CMD_REDISTRIBUTE;
}

/* The first byte, and the bit in it, of the field that made a command fail. */
static u16 locate(u16 sqid, const struct nvme_command *sqe, u16 status)
{
	switch (status & NVMEV_STATUS_CODE) {
	case NVME_SC_INVALID_OPCODE:
		return 0;
	case NVME_SC_INVALID_FIELD:
		return locate_field(sqid, sqe);
	case NVME_SC_INVALID_NS:
	case NVME_SC_FEATURE_NOT_PER_NS:
		return offsetof(struct nvme_command, common.nsid);
	case NVME_SC_PRP_INVALID_OFFSET:
		return locate_prp(sqe);
	case NVME_SC_LBA_RANGE:
		if (sqid && has_ranges(sqe->common.opcode))
			return NOWHERE;
		fallthrough;
	case NVME_SC_QID_INVALID:
	case NVME_SC_INVALID_QUEUE:
	case NVME_SC_INVALID_LOG_PAGE:
	case NVME_SC_INVALID_FORMAT:
		return offsetof(struct nvme_command, common.cdw10);
	case NVME_SC_FEATURE_NOT_SAVEABLE:
		return at_bit(offsetof(struct nvme_command, common.cdw10) + 3, SAVE_BIT);
	case NVME_SC_QUEUE_SIZE:
		return offsetof(struct nvme_command, create_sq.qsize);
	case NVME_SC_CQ_INVALID:
	case NVME_SC_INVALID_VECTOR:
		return offsetof(struct nvme_command, create_cq.irq_vector);
	default:
		return NOWHERE;
	}
}

u16 nvmev_log_error(struct nvmev *nvmev, u16 sqid, const struct nvme_command *sqe, u16 status,
		    u64 lba)
{
	u64 count = nvmev->counters.errors++;

	status |= NVMEV_MORE;

	nvmev->errors[count % NVMEV_NR_ERRORS] = (struct nvmev_error_entry){
		.error_count = cpu_to_le64(count + 1),
		.sqid = cpu_to_le16(sqid),
		.cid = cpu_to_le16(sqe->common.command_id),
		.status = cpu_to_le16(status << 1),
		.location = cpu_to_le16(locate(sqid, sqe, status)),
		.lba = cpu_to_le64(lba),
		.nsid = sqe->common.nsid,
	};
	return status;
}
