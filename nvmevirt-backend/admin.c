// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin commands. Executed one at a time by the dispatcher and completed at once, except
 * asynchronous event requests, which wait for an event, and those that wait for the dies.
 */
#include "admin.h"
#include "dma.h"
#include "identify.h"
#include "log.h"
#include "ns.h"
#include "nvmev.h"

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

static const u32 all_events[] = {
	NVMEV_EVENT_BAD_DOORBELL, NVMEV_EVENT_RELIABILITY, NVMEV_EVENT_TEMPERATURE,
	NVMEV_EVENT_SPARE,
};

/* A type that was reported waits for the host to read the log page before the next. */
static bool can_deliver(const struct nvmev *nvmev, u32 i)
{
	return (nvmev->events_due & BIT(i)) && nvmev->nr_events &&
	       !(nvmev->events_masked & BIT(NVMEV_EVENT_TYPE(all_events[i])));
}

/* Complete waiting requests with the events that are due, the oldest first. */
static void deliver_events(struct nvmev *nvmev)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all_events); i++) {
		if (!can_deliver(nvmev, i))
			continue;
		nvmev->events_due &= ~BIT(i);
		nvmev->events_masked |= BIT(NVMEV_EVENT_TYPE(all_events[i]));
		nvmev_admin_complete(nvmev, nvmev->events[0], 0, all_events[i]);
		nvmev->nr_events--;
		memmove(nvmev->events, nvmev->events + 1,
			nvmev->nr_events * sizeof(*nvmev->events));
	}
}

void nvmev_event_raise(struct nvmev *nvmev, u32 event)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all_events); i++)
		if (all_events[i] == event)
			nvmev->events_due |= BIT(i);
	deliver_events(nvmev);
}

void nvmev_event_read(struct nvmev *nvmev, u8 lid)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all_events); i++)
		if (NVMEV_EVENT_LOG(all_events[i]) == lid)
			nvmev->events_masked &= ~BIT(NVMEV_EVENT_TYPE(all_events[i]));
	deliver_events(nvmev);
}

void nvmev_event_reset(struct nvmev *nvmev)
{
	nvmev->nr_events = 0;
	nvmev->events_due = 0;
	nvmev->events_masked = 0;
	nvmev->warned = 0;
}

static u16 wait_for_event(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	if (nvmev->nr_events == NVMEV_NR_EVENTS)
		return NVME_SC_ASYNC_LIMIT;
	nvmev->events[nvmev->nr_events++] = sqe->common.command_id;
	return NVMEV_STATUS_LATER;
}

static bool abort_event(struct nvmev *nvmev, u16 cid)
{
	u32 i;

	for (i = 0; i < nvmev->nr_events; i++) {
		if (nvmev->events[i] != cid)
			continue;
		nvmev->events[i] = nvmev->events[--nvmev->nr_events];
		nvmev_admin_complete(nvmev, cid, NVME_SC_ABORT_REQ, 0);
		return true;
	}
	return false;
}

static u16 abort_command(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result)
{
	u16 sqid = le16_to_cpu(sqe->abort.sqid);
	u16 cid = sqe->abort.cid;
	bool aborted;

	if (!sq_exists(nvmev, sqid))
		return NVME_SC_INVALID_FIELD;
	aborted = sqid ? nvmev_cmd_abort(nvmev, sqid, cid) : abort_event(nvmev, cid);
	*result = !aborted;
	return 0;
}

static u16 format(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u32 dw = le32_to_cpu(sqe->format.cdw10);
	u32 nsid = le32_to_cpu(sqe->format.nsid);
	u32 i;

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
	for (i = 0; i < nvmev->nr_ns; i++)
		if (nsid == NVMEV_NSID_ALL || nsid == nvmev->ns[i].nsid)
			nvmev_ns_format(nvmev, &nvmev->ns[i], NVMEV_FORMAT_LBAF(dw) ? 12 : 9);
	return 0;
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
		return wait_for_event(nvmev, sqe);
	case nvme_admin_format_nvm:
		return format(nvmev, sqe);
	default:
		return NVME_SC_INVALID_OPCODE;
	}
}

void nvmev_admin_execute(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u64 result = 0;
	u16 status;

	nvmev->counters.admin++;
	status = execute(nvmev, sqe, &result);
	if (status == NVMEV_STATUS_LATER) {
		deliver_events(nvmev);
		return;
	}
	if (status) {
		status |= NVMEV_DNR;
		nvmev_log_error(nvmev, 0, sqe, status, 0);
	}
	nvmev_admin_complete(nvmev, sqe->common.command_id, status, result);
}
