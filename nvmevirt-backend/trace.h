/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: nvmev_cmd when an I/O command was fetched, nvmev_place when the FTL has decided
 * where pages of it go, nvmev_move when a read or write has moved its data, nvmev_done when the
 * completion is posted. They show what arrived on the wire, hints included, and what became of it.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvmev

#if !defined(NVMEV_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVMEV_TRACE_H

#include <linux/tracepoint.h>

#include "core/placement.h"
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
		__field(u64, prp1)
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
		__entry->prp1 = le64_to_cpu(cmd->sqe.common.dptr.prp1);
	),
	TP_printk("name=%s qid=%u cid=%u opcode=0x%02x nsid=%u slba=%llu nlb=%u cdw2=%u cdw3=%u cdw12=0x%08x fetched_ns=%llu prp1=0x%llx",
		  __entry->name, __entry->sqid, __entry->cid, __entry->opcode,
		  __entry->nsid, __entry->slba, __entry->nlb,
		  __entry->cdw2, __entry->cdw3, __entry->cdw12, __entry->fetched_ns,
		  __entry->prp1)
);

TRACE_DEFINE_ENUM(FTL_RULE_STAYS);
TRACE_DEFINE_ENUM(FTL_RULE_PLAIN);
TRACE_DEFINE_ENUM(FTL_RULE_JOINS);
TRACE_DEFINE_ENUM(FTL_RULE_NEXT_DIE);
TRACE_DEFINE_ENUM(FTL_RULE_LANE);
TRACE_DEFINE_ENUM(FTL_RULE_BEGINS);
TRACE_DEFINE_ENUM(FTL_RULE_OVERWRITE);
TRACE_DEFINE_ENUM(FTL_RULE_DIE);
TRACE_DEFINE_ENUM(FTL_RULE_PUT_OUT);
TRACE_DEFINE_ENUM(FTL_RULE_STRIPE);

/*
 * What there is none of is -1. A run that is put out has no lpn; die and unit are where it was. Nor
 * has a unit that goes to another die; die and unit are where it is.
 */
TRACE_EVENT(nvmev_place,
	TP_PROTO(const struct nvmev *nvmev, const struct nvmev_cmd *cmd,
		 const struct ftl_placement *placement),
	TP_ARGS(nvmev, cmd, placement),
	TP_STRUCT__entry(
		__array(char, name, NVMEV_NAME_BYTES)
		__field(u16, sqid)
		__field(u16, cid)
		__field(s64, lpn)
		__field(u32, nr_pages)
		__field(u8, rule)
		__field(s64, pred)
		__field(s32, pred_die)
		__field(s32, before_die)
		__field(s32, wanted_die)
		__field(s32, die)
		__field(s64, unit)
		__field(u32, slot)
		__field(bool, is_levelled)
	),
	TP_fast_assign(
		const struct ftl_where *at = placement->rule == FTL_RULE_PUT_OUT ?
			&placement->before : &placement->after;

		memcpy(__entry->name, nvmev->name, NVMEV_NAME_BYTES);
		__entry->sqid = cmd->sqid;
		__entry->cid = cmd->sqe.common.command_id;
		__entry->lpn = from_lpn(placement->lpn);
		__entry->nr_pages = placement->nr_pages;
		__entry->rule = placement->rule;
		__entry->pred = from_lpn(placement->pred);
		__entry->pred_die = from_die(placement->pred_at.die);
		__entry->before_die = from_die(placement->before.die);
		__entry->wanted_die = from_die(placement->wanted);
		__entry->die = from_die(at->die);
		__entry->unit = at->unit;
		__entry->slot = at->slot;
		__entry->is_levelled = placement->is_levelled;
	),
	TP_printk("name=%s qid=%u cid=%u lpn=%lld nr_pages=%u rule=%s pred=%lld pred_die=%d before_die=%d wanted_die=%d die=%d unit=%lld slot=%u levelled=%u",
		  __entry->name, __entry->sqid, __entry->cid, __entry->lpn, __entry->nr_pages,
		  __print_symbolic(__entry->rule,
				   { FTL_RULE_STAYS, "1" },
				   { FTL_RULE_PLAIN, "2" },
				   { FTL_RULE_JOINS, "3a" },
				   { FTL_RULE_NEXT_DIE, "3b" },
				   { FTL_RULE_LANE, "3c" },
				   { FTL_RULE_BEGINS, "3d" },
				   { FTL_RULE_OVERWRITE, "4" },
				   { FTL_RULE_DIE, "4_DIE" },
				   { FTL_RULE_PUT_OUT, "6" },
				   { FTL_RULE_STRIPE, "7" }),
		  __entry->pred, __entry->pred_die, __entry->before_die, __entry->wanted_die,
		  __entry->die, __entry->unit, __entry->slot, __entry->is_levelled)
);

TRACE_DEFINE_ENUM(NVMEV_MOVE_UNCHECKED);
TRACE_DEFINE_ENUM(NVMEV_MOVE_SAME);
TRACE_DEFINE_ENUM(NVMEV_MOVE_DIFFERS);
TRACE_DEFINE_ENUM(NVMEV_MOVE_OTHER_COMMAND);

TRACE_EVENT(nvmev_move,
	TP_PROTO(const struct nvmev *nvmev, const struct nvmev_cmd *cmd, u32 crc,
		 enum nvmev_verdict verdict),
	TP_ARGS(nvmev, cmd, crc, verdict),
	TP_STRUCT__entry(
		__array(char, name, NVMEV_NAME_BYTES)
		__field(u16, sqid)
		__field(u16, cid)
		__field(u8, opcode)
		__field(u32, nsid)
		__field(u64, slba)
		__field(u32, nlb)
		__field(u64, prp1)
		__field(u32, crc)
		__field(u8, verdict)
		__field(u64, moved_ns)
	),
	TP_fast_assign(
		memcpy(__entry->name, nvmev->name, NVMEV_NAME_BYTES);
		__entry->sqid = cmd->sqid;
		__entry->cid = cmd->sqe.common.command_id;
		__entry->opcode = cmd->sqe.common.opcode;
		__entry->nsid = le32_to_cpu(cmd->sqe.common.nsid);
		__entry->slba = le64_to_cpu(cmd->sqe.rw.slba);
		__entry->nlb = le16_to_cpu(cmd->sqe.rw.length) + 1;
		__entry->prp1 = le64_to_cpu(cmd->sqe.common.dptr.prp1);
		__entry->crc = crc;
		__entry->verdict = verdict;
		__entry->moved_ns = ktime_get_ns();
	),
	TP_printk("name=%s qid=%u cid=%u opcode=0x%02x nsid=%u slba=%llu nlb=%u prp1=0x%llx crc32c=0x%08x check=%s moved_ns=%llu",
		  __entry->name, __entry->sqid, __entry->cid, __entry->opcode,
		  __entry->nsid, __entry->slba, __entry->nlb, __entry->prp1, __entry->crc,
		  __print_symbolic(__entry->verdict,
				   { NVMEV_MOVE_UNCHECKED, "none" },
				   { NVMEV_MOVE_SAME, "same" },
				   { NVMEV_MOVE_DIFFERS, "differs" },
				   { NVMEV_MOVE_OTHER_COMMAND, "other_command" }),
		  __entry->moved_ns)
);

TRACE_EVENT(nvmev_done,
	TP_PROTO(const struct nvmev *nvmev, const struct nvmev_cmd *cmd, u64 posted_ns),
	TP_ARGS(nvmev, cmd, posted_ns),
	TP_STRUCT__entry(
		__array(char, name, NVMEV_NAME_BYTES)
		__field(u16, sqid)
		__field(u16, cid)
		__field(u16, status)
		__field(u64, latency_ns)
		__field(u64, late_ns)
	),
	TP_fast_assign(
		memcpy(__entry->name, nvmev->name, NVMEV_NAME_BYTES);
		__entry->sqid = cmd->sqid;
		__entry->cid = cmd->sqe.common.command_id;
		__entry->status = cmd->status;
		__entry->latency_ns = posted_ns - cmd->fetched_ns;
		__entry->late_ns = posted_ns > cmd->due_ns ? posted_ns - cmd->due_ns : 0;
	),
	TP_printk("name=%s qid=%u cid=%u status=0x%03x latency_ns=%llu late_ns=%llu",
		  __entry->name, __entry->sqid, __entry->cid, __entry->status,
		  __entry->latency_ns, __entry->late_ns)
);

#endif /* NVMEV_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
