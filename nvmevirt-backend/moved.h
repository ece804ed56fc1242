/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second look at the data that a command has moved. It costs a checksum and a
 * comparison for each command, so it happens only for those who ask for it: the tracepoint
 * nvmev_move, and the debugfs file check_moves.
 */
#ifndef NVMEV_MOVED_H
#define NVMEV_MOVED_H

#include <linux/types.h>

struct nvmev;
struct nvmev_cmd;

/**
 * enum nvmev_verdict - finding of the second look
 * @NVMEV_MOVE_UNCHECKED: nobody has asked for a second look
 * @NVMEV_MOVE_SAME: host and drive have the same data, and the command is still the same
 * @NVMEV_MOVE_DIFFERS: host and drive do not have the same data
 * @NVMEV_MOVE_OTHER_COMMAND: the entry of the submission queue has changed since it was fetched
 */
enum nvmev_verdict {
	NVMEV_MOVE_UNCHECKED,
	NVMEV_MOVE_SAME,
	NVMEV_MOVE_DIFFERS,
	NVMEV_MOVE_OTHER_COMMAND,
};

/**
 * struct nvmev_moved_counters - findings so far, for debugfs; written by the dispatcher
 * @checked: number of reads and writes that were looked at again
 * @reads_differing: number of reads among these with NVMEV_MOVE_DIFFERS
 * @writes_differing: number of writes with it, perhaps because the host has changed its buffer
 *	meanwhile
 * @other_commands: number of both with NVMEV_MOVE_OTHER_COMMAND
 */
struct nvmev_moved_counters {
	u64 checked;
	u64 reads_differing;
	u64 writes_differing;
	u64 other_commands;
};

/**
 * nvmev_moved() - look again at a read or write whose data was just moved
 * @nvmev: the SSD
 * @cmd: the command, not yet completed; others than those two are passed over
 */
void nvmev_moved(struct nvmev *nvmev, const struct nvmev_cmd *cmd);

#endif /* NVMEV_MOVED_H */
