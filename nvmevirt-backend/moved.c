// SPDX-License-Identifier: GPL-2.0-only
/*
 * A second look at the data that a command has moved, see moved.h.
 *
 * It walks the command's PRPs once more and compares what the host has there with what the
 * drive has, before the completion tells the host. It also compares the command with the
 * entry it was fetched from: until the completion is posted that entry is the drive's, so
 * if it has changed, it was fetched before the host had written all of it.
 */
#include "nvmev.h"
#include "trace.h"

static bool has_moved(const struct nvmev_cmd *cmd)
{
	u8 opcode = cmd->sqe.common.opcode;

	return !cmd->status && (opcode == nvme_cmd_read || opcode == nvme_cmd_write);
}

static u64 start_of(const struct nvmev_cmd *cmd)
{
	return nvmev_ns_byte(cmd->ns, le64_to_cpu(cmd->sqe.rw.slba));
}

static u32 bytes_of(const struct nvmev_cmd *cmd)
{
	return (le16_to_cpu(cmd->sqe.rw.length) + 1) << cmd->ns->lba_shift;
}

static bool is_same_command(struct nvmev *nvmev, const struct nvmev_cmd *cmd)
{
	const struct nvmev_sq *sq = &nvmev->queues.sq[cmd->sqid];
	struct nvmev_pci *pci = &nvmev->pci;
	unsigned long flags;
	bool is_same;

	raw_spin_lock_irqsave(&pci->access_lock, flags);
	is_same = pci->may_access &&
		  !memcmp(&sq->ring[cmd->sq_pos], &cmd->sqe, sizeof(cmd->sqe));
	raw_spin_unlock_irqrestore(&pci->access_lock, flags);
	return is_same;
}

static bool is_same_data(struct nvmev *nvmev, const struct nvmev_cmd *cmd)
{
	struct nvmev_dma dma;

	return !nvmev_dma_begin(&dma, &nvmev->pci, &cmd->sqe, bytes_of(cmd)) &&
	       !nvmev_store_compare(&nvmev->store, start_of(cmd), bytes_of(cmd), &dma);
}

static void add_one(u64 *counter)
{
	WRITE_ONCE(*counter, *counter + 1);
}

static enum nvmev_verdict check(struct nvmev *nvmev, const struct nvmev_cmd *cmd)
{
	struct nvmev_moved_counters *counters = &nvmev->moved;
	bool is_same = is_same_command(nvmev, cmd);
	bool has_same = is_same && is_same_data(nvmev, cmd);

	/* The host has taken its memory back meanwhile, and gets no completion either. */
	if (!nvmev_pci_may_access(&nvmev->pci))
		return NVMEV_MOVE_UNCHECKED;
	add_one(&counters->checked);
	if (!is_same) {
		add_one(&counters->other_commands);
		return NVMEV_MOVE_OTHER_COMMAND;
	}
	if (has_same)
		return NVMEV_MOVE_SAME;
	if (cmd->sqe.common.opcode == nvme_cmd_read)
		add_one(&counters->reads_differing);
	else
		add_one(&counters->writes_differing);
	return NVMEV_MOVE_DIFFERS;
}

void nvmev_moved(struct nvmev *nvmev, const struct nvmev_cmd *cmd)
{
	enum nvmev_verdict verdict = NVMEV_MOVE_UNCHECKED;
	u32 crc;

	if (!READ_ONCE(nvmev->check_moves) && !trace_nvmev_move_enabled())
		return;
	if (!has_moved(cmd))
		return;
	if (READ_ONCE(nvmev->check_moves))
		verdict = check(nvmev, cmd);
	if (!trace_nvmev_move_enabled())
		return;
	crc = nvmev_store_crc(&nvmev->store, start_of(cmd), bytes_of(cmd));
	trace_nvmev_move(nvmev, cmd, crc, verdict);
}
