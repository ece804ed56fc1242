// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin commands. Executed one at a time by the dispatcher and completed at once, except
 * asynchronous event requests, which wait for an event, Format, which is done in steps, and those
 * that wait for the dies.
 */
#include "admin.h"
#include "dma.h"
#include "identify.h"
#include "log-page.h"
#include "nvmev.h"
#include "outage.h"
#include "pieces.h"
#include "translate.h"

static bool sq_exists(const struct nvmev *nvmev, u32 id)
{
	return id < NVMEV_MAX_QUEUES && nvmev->queues.sq[id].ring;
}

static bool cq_exists(const struct nvmev *nvmev, u32 id)
{
	return id < NVMEV_MAX_QUEUES && nvmev->queues.cq[id].ring;
}

static bool is_io_queue_id(const struct nvmev *nvmev, u32 id)
{
	return id && id <= nvmev->nr_queues;
}

static u16 create_cq(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u16 id = le16_to_cpu(sqe->create_cq.cqid);
	u16 flags = le16_to_cpu(sqe->create_cq.cq_flags);
	u16 last = le16_to_cpu(sqe->create_cq.qsize);
	u64 addr = le64_to_cpu(sqe->create_cq.prp1);
	struct nvmev_cq cq = {
		.depth = last + 1,
		.vector = le16_to_cpu(sqe->create_cq.irq_vector),
		.interrupts = flags & NVME_CQ_IRQ_ENABLED,
	};

	if (!is_io_queue_id(nvmev, id) || cq_exists(nvmev, id))
		return NVME_SC_QID_INVALID;
	if (!last || last > nvmev->config.queue_depth)
		return NVME_SC_QUEUE_SIZE;
	if (!(flags & NVME_QUEUE_PHYS_CONTIG) || NVMEV_CC_IOCQES(nvmev->cc) != NVMEV_CQES)
		return NVME_SC_INVALID_FIELD;
	if (cq.interrupts && cq.vector >= nvmev->pci.nr_vectors)
		return NVME_SC_INVALID_VECTOR;
	if (!PAGE_ALIGNED(addr))
		return NVME_SC_PRP_INVALID_OFFSET;
	cq.ring = nvmev_dma_ring(addr, cq.depth << NVMEV_CQES);
	if (!cq.ring)
		return NVME_SC_INVALID_FIELD;
	nvmev_cq_create(nvmev, id, &cq);
	return 0;
}

static u16 create_sq(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u16 id = le16_to_cpu(sqe->create_sq.sqid);
	u16 last = le16_to_cpu(sqe->create_sq.qsize);
	u64 addr = le64_to_cpu(sqe->create_sq.prp1);
	struct nvmev_sq sq = {
		.depth = last + 1,
		.cqid = le16_to_cpu(sqe->create_sq.cqid),
	};

	if (!is_io_queue_id(nvmev, id) || sq_exists(nvmev, id) ||
	    !is_io_queue_id(nvmev, sq.cqid))
		return NVME_SC_QID_INVALID;
	if (!cq_exists(nvmev, sq.cqid))
		return NVME_SC_CQ_INVALID;
	if (!last || last > nvmev->config.queue_depth)
		return NVME_SC_QUEUE_SIZE;
	if (!(le16_to_cpu(sqe->create_sq.sq_flags) & NVME_QUEUE_PHYS_CONTIG) ||
	    NVMEV_CC_IOSQES(nvmev->cc) != NVMEV_SQES)
		return NVME_SC_INVALID_FIELD;
	if (!PAGE_ALIGNED(addr))
		return NVME_SC_PRP_INVALID_OFFSET;
	sq.ring = nvmev_dma_ring(addr, sq.depth << NVMEV_SQES);
	if (!sq.ring)
		return NVME_SC_INVALID_FIELD;
	nvmev_sq_create(nvmev, id, &sq);
	return 0;
}

static u16 delete_sq(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u16 id = le16_to_cpu(sqe->delete_queue.qid);

	if (!is_io_queue_id(nvmev, id) || !sq_exists(nvmev, id))
		return NVME_SC_QID_INVALID;
	nvmev_trim_abort(nvmev, id, NVMEV_ANY_CID, NVME_SC_ABORT_QUEUE);
	nvmev_pieces_abort(nvmev, id, NVMEV_ANY_CID, NVME_SC_ABORT_QUEUE);
	nvmev_sq_delete(nvmev, id);
	return 0;
}

static u16 delete_cq(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u16 id = le16_to_cpu(sqe->delete_queue.qid);

	if (!is_io_queue_id(nvmev, id) || !cq_exists(nvmev, id))
		return NVME_SC_QID_INVALID;
	if (nvmev->queues.cq[id].nr_sqs)
		return NVME_SC_INVALID_QUEUE;
	nvmev_cq_delete(nvmev, id);
	return 0;
}

/* What it has done stays done, of a command that is done in steps or pieces. */
static bool abort_io(struct nvmev *nvmev, u16 sqid, u16 cid)
{
	bool found = nvmev_trim_abort(nvmev, sqid, cid, NVME_SC_ABORT_REQ);

	found |= nvmev_pieces_abort(nvmev, sqid, cid, NVME_SC_ABORT_REQ);
	/* Then it waits for its time, which may never come, or was completed by now. */
	found |= nvmev_cmd_abort(nvmev, sqid, cid);
	return found;
}

static u16 abort_command(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result)
{
	u16 sqid = le16_to_cpu(sqe->abort.sqid);
	u16 cid = sqe->abort.cid;
	bool aborted;

	if (!sq_exists(nvmev, sqid))
		return NVME_SC_INVALID_FIELD;
	aborted = sqid ? abort_io(nvmev, sqid, cid) : nvmev_event_abort(nvmev, cid);
	*result = !aborted;
	return 0;
}

static u16 format(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u32 dw = le32_to_cpu(sqe->format.cdw10);
	u32 nsid = le32_to_cpu(sqe->format.nsid);

	if (nsid != NVMEV_NSID_ALL && !nvmev_ns_find(nvmev, nsid))
		return NVME_SC_INVALID_NS;
	if (NVMEV_FORMAT_LBAF(dw) > 1 ||
	    (dw & (NVMEV_FORMAT_MSET_PI | NVMEV_FORMAT_LBAF_UPPER)))
		return NVME_SC_INVALID_FORMAT;
	/* 0 and 1 are none and user data erase; there is nothing cryptographic here. */
	if (NVMEV_FORMAT_SES(dw) > 1)
		return NVME_SC_INVALID_FIELD;
	if (nvmev_ns_is_read_only(nvmev))
		return NVME_SC_NS_WRITE_PROTECTED;
	if (nvmev->trim.format.is_under_way)
		return NVME_SC_FORMAT_IN_PROGRESS;
	nvmev_format_begin(nvmev, sqe->common.command_id, nsid, NVMEV_FORMAT_LBAF(dw) ? 12 : 9);
	return NVMEV_STATUS_LATER;
}

static u16 execute(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result)
{
	if (sqe->common.flags & (NVMEV_FLAGS_FUSE | NVMEV_FLAGS_PSDT))
		return NVME_SC_INVALID_FIELD;
	switch (sqe->common.opcode) {
	case nvme_admin_identify:
		return nvmev_identify(nvmev, sqe);
	case nvme_admin_create_cq:
		return create_cq(nvmev, sqe);
	case nvme_admin_create_sq:
		return create_sq(nvmev, sqe);
	case nvme_admin_delete_cq:
		return delete_cq(nvmev, sqe);
	case nvme_admin_delete_sq:
		return delete_sq(nvmev, sqe);
	case nvme_admin_get_features:
		return nvmev_get_features(nvmev, sqe, result);
	case nvme_admin_set_features:
		return nvmev_set_features(nvmev, sqe, result);
	case nvme_admin_get_log_page:
		return nvmev_get_log_page(nvmev, sqe);
	case nvme_admin_abort_cmd:
		return abort_command(nvmev, sqe, result);
	case nvme_admin_async_event:
		return nvmev_event_wait(nvmev, sqe->common.command_id);
	case nvme_admin_format_nvm:
		return format(nvmev, sqe);
	default:
		return NVME_SC_INVALID_OPCODE;
	}
}

/* Return: false if it is not to be late, or cannot be. */
static bool complete_late(struct nvmev *nvmev, u16 cid, u32 result)
{
	u64 late_ms = READ_ONCE(nvmev->inject.admin_ms);

	return late_ms && nvmev_admin_complete_later(nvmev, cid, result,
						     nvmev_now(nvmev) + late_ms * NSEC_PER_MSEC);
}

void nvmev_admin_execute(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u64 result = 0;
	u16 status;

	nvmev->counters.admin++;
	status = execute(nvmev, sqe, &result);
	if (status == NVMEV_STATUS_LATER) {
		nvmev_event_deliver(nvmev);
		return;
	}
	if (status) {
		/* That one ends. */
		if (status != NVME_SC_FORMAT_IN_PROGRESS)
			status |= NVMEV_DNR;
		status = nvmev_log_error(nvmev, 0, sqe, status, 0);
	}
	if (status || !complete_late(nvmev, sqe->common.command_id, result))
		nvmev_admin_complete(nvmev, sqe->common.command_id, status, result);
}
