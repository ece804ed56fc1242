// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands in pieces: which there are, and when one is complete. Whose turn it is, and what a piece
 * does, is in io.c.
 */
#include "nvmev.h"
#include "pieces.h"

void nvmev_pieces_begin(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	cmd->done_ns = cmd->fetched_ns;
	cmd->has_paused = true;
	list_add_tail(&cmd->link, &nvmev->queues.in_pieces);
}

void nvmev_pieces_end(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	/* It may have been made to take longer, or for ever, without more work for the drive. */
	u64 extra_ns = cmd->due_ns - cmd->fetched_ns;

	list_del(&cmd->link);
	cmd->due_ns = cmd->done_ns;
	nvmev_account_busy(nvmev, cmd);
	cmd->due_ns = min_t(u64, cmd->due_ns + extra_ns, KTIME_MAX);
	nvmev_cmd_complete(nvmev, cmd, false);
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
		nvmev_pieces_end(nvmev, cmd);
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
