/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: nvmev_cmd when an I/O command was fetched, nvmev_done when its
 * completion is posted. They show what arrived on the wire, hints included.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvmev

#if !defined(NVMEV_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVMEV_TRACE_H

#include <linux/tracepoint.h>

#include "nvmev.h"

TRACE_EVENT(nvmev_cmd,
	TP_PROTO(const struct nvmev *nvmev, const struct nvmev_cmd *cmd),
	TP_ARGS(nvmev, cmd),
	TP_STRUCT__entry(
		__array(char, name, NVMEV_NAME_BYTES)
		__field(u16, sqid)
		__field(u16, cid)
		__field(u8, opcode)
		__field(u32, nsid)
		__field(u64, slba)
		__field(u32, nlb)
		__field(u32, cdw2)
		__field(u32, cdw3)
		__field(u32, cdw12)
		__field(u64, fetched_ns)
	),
	TP_fast_assign(
		memcpy(__entry->name, nvmev->name, NVMEV_NAME_BYTES);
		__entry->sqid = cmd->sqid;
		__entry->cid = cmd->sqe.common.command_id;
		__entry->opcode = cmd->sqe.common.opcode;
		__entry->nsid = le32_to_cpu(cmd->sqe.common.nsid);
		__entry->slba = le64_to_cpu(cmd->sqe.rw.slba);
		__entry->nlb = le16_to_cpu(cmd->sqe.rw.length) + 1;
		__entry->cdw12 = le32_to_cpu(cmd->sqe.common.cdw12);
		__entry->cdw2 = le32_to_cpu(cmd->sqe.common.cdw2[0]);
		__entry->cdw3 = le32_to_cpu(cmd->sqe.common.cdw2[1]);
		__entry->fetched_ns = cmd->fetched_ns;
	),
	TP_printk("name=%s qid=%u cid=%u opcode=0x%02x nsid=%u slba=%llu nlb=%u cdw2=%u cdw3=%u cdw12=0x%08x fetched_ns=%llu",
		  __entry->name, __entry->sqid, __entry->cid, __entry->opcode,
		  __entry->nsid, __entry->slba, __entry->nlb,
		  __entry->cdw2, __entry->cdw3, __entry->cdw12, __entry->fetched_ns)
);

TRACE_EVENT(nvmev_done,
	TP_PROTO(const struct nvmev *nvmev, const struct nvmev_cmd *cmd),
	TP_ARGS(nvmev, cmd),
	TP_STRUCT__entry(
		__array(char, name, NVMEV_NAME_BYTES)
		__field(u16, sqid)
		__field(u16, cid)
		__field(u16, status)
		__field(u64, latency_ns)
	),
	TP_fast_assign(
		memcpy(__entry->name, nvmev->name, NVMEV_NAME_BYTES);
		__entry->sqid = cmd->sqid;
		__entry->cid = cmd->sqe.common.command_id;
		__entry->status = cmd->status;
		__entry->latency_ns = cmd->due_ns - cmd->fetched_ns;
	),
	TP_printk("name=%s qid=%u cid=%u status=0x%03x latency_ns=%llu",
		  __entry->name, __entry->sqid, __entry->cid, __entry->status,
		  __entry->latency_ns)
);

#endif /* NVMEV_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
