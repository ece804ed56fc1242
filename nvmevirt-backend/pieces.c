// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands in pieces: whose turn it is, and when a command is complete. What a piece does is in
 * io.c.
 */
#include <linux/delay.h>

#include "io.h"
#include "nvmev.h"
#include "outage.h"
#include "pieces.h"

/* How long all others may run before the next piece */
#define PAUSE_US	50

void nvmev_pieces_begin(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	cmd->done_ns = cmd->fetched_ns;
	cmd->has_paused = true;
	list_add_tail(&cmd->link, &nvmev->queues.in_pieces);
}

static void end(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	/* It may have been made to take longer, or for ever, without more work for the drive. */
	u64 extra_ns = cmd->due_ns - cmd->fetched_ns;

	list_del(&cmd->link);
	cmd->due_ns = cmd->done_ns;
	nvmev_account_busy(nvmev, cmd);
	cmd->due_ns = min_t(u64, cmd->due_ns + extra_ns, KTIME_MAX);
	nvmev_cmd_complete(nvmev, cmd, false);
}

/* The command whose turn it is, of those that need not wait for the FTL to make room */
static struct nvmev_cmd *next_cmd(struct nvmev *nvmev)
{
	struct nvmev_cmd *cmd;

	list_for_each_entry(cmd, &nvmev->queues.in_pieces, link)
		if (!nvmev_io_must_wait(nvmev, &cmd->sqe))
			return cmd;
	return NULL;
}

bool nvmev_pieces_step(struct nvmev *nvmev)
{
	struct nvmev_cmd *cmd = next_cmd(nvmev);

	if (!cmd)
		return false;
	list_move_tail(&cmd->link, &nvmev->queues.in_pieces);
	WRITE_ONCE(nvmev->counters.pieces, nvmev->counters.pieces + 1);
	cmd->status = nvmev_io_piece(nvmev, cmd);
	nvmev_outage_note(nvmev);
	if (cmd->status)
		cmd->status = nvmev_log_error(nvmev, cmd->sqid, &cmd->sqe, cmd->status,
					      cmd->fault_lba);
	if (cmd->status || nvmev_io_is_done(cmd))
		end(nvmev, cmd);
	if (!list_empty(&nvmev->queues.in_pieces))
		fsleep(PAUSE_US);
	return true;
}

bool nvmev_pieces_abort(struct nvmev *nvmev, u16 sqid, u32 cid, u16 status)
{
	struct nvmev_cmd *cmd, *next;
	bool found = false;

	list_for_each_entry_safe(cmd, next, &nvmev->queues.in_pieces, link) {
		if (!nvmev_cmd_is(cmd, sqid, cid))
			continue;
		found = true;
		cmd->status = status;
		end(nvmev, cmd);
	}
	return found;
}

bool nvmev_pieces_are_of(const struct nvmev *nvmev, const struct nvmev_ns *ns)
{
	const struct nvmev_cmd *cmd;

	list_for_each_entry(cmd, &nvmev->queues.in_pieces, link)
		if (cmd->ns == ns)
			return true;
	return false;
}
