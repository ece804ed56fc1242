/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an SSD counts of the commands it was given. The dispatcher writes, or whoever serves in
 * passing; whoever reports them (SMART, debugfs) reads without a lock and can live with an old
 * value.
 */
#ifndef NVMEV_COUNTERS_H
#define NVMEV_COUNTERS_H

#include <linux/types.h>

struct nvmev;
struct nvmev_cmd;

/**
 * struct nvmev_counters - counters that SMART and debugfs report; written by the dispatcher
 * @bytes_read: number of bytes sent to the host
 * @bytes_written: number of bytes received from the host
 * @reads: read, compare and verify commands
 * @writes: write commands
 * @admin: admin commands
 * @errors: commands that failed
 * @media_errors: commands that failed for what is on the medium
 * @busy_ns: time with commands in flight
 * @busy_until_ns: time at which the last command in flight is done
 * @hints_malformed: commands with both hint bits
 * @hints_rejected: hinted commands failed for @reject_hints
 * @hints_seen: commands with a hint, or with a placement identifier
 * @pieces: pieces of commands that are done in pieces (pieces.h)
 * @wakeups: number of times that the dispatcher was woken
 * @announced: I/O requests of which nothing else was known to tell, see nvmev_dispatch_expect()
 * @looks: number of times that the timer of what is expected, or of poll_us, has looked
 * @served_as_rung: I/O commands that were served by whoever gave them to the driver
 */
struct nvmev_counters {
	u64 bytes_read;
	u64 bytes_written;
	u64 reads;
	u64 writes;
	u64 admin;
	u64 errors;
	u64 media_errors;
	u64 busy_ns;
	u64 busy_until_ns;
	u64 hints_malformed;
	u64 hints_rejected;
	u64 hints_seen;
	u64 pieces;
	u64 wakeups;
	u64 announced;
	u64 looks;
	u64 served_as_rung;
};

/**
 * nvmev_account_busy() - a command has kept the drive busy until it is due
 * @nvmev: the SSD
 * @cmd: the command
 */
void nvmev_account_busy(struct nvmev *nvmev, const struct nvmev_cmd *cmd);

#endif /* NVMEV_COUNTERS_H */
