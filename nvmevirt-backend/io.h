/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * I/O commands, in two steps: start checks a command and asks the FTL for its time, move copies
 * its data. The dispatcher does the first for a whole batch before it does the second.
 */
#ifndef NVMEV_IO_H
#define NVMEV_IO_H

#include "nvme.h"

struct nvmev;
struct nvmev_cmd;

/**
 * struct nvmev_copy - a Copy command, which may take turns with others of its kind
 * @nr_lbas: number of LBAs of all ranges
 * @range: index of the range that is being copied
 * @done: number of its LBAs that are copied
 * @ranges: the source ranges, all within the namespace
 */
struct nvmev_copy {
	u32 nr_lbas;
	u32 range;
	u32 done;
	struct nvmev_copy_range ranges[];
};

/**
 * nvmev_io_is_alone() - must this command not share a batch with others?
 * @sqe: the command
 *
 * Return: true for commands that do all their work in the first step.
 */
bool nvmev_io_is_alone(const struct nvme_command *sqe);

/*
 * Pages that are moved in passing, at once: of one command they take some ten microseconds, of as
 * many commands of one page each some hundred, with interrupts off
 */
#define NVMEV_QUICK_PAGES	32U

/**
 * nvmev_io_quick_pages() - is this a short read or write that can be done in passing?
 * @nvmev: the SSD
 * @sqe: the command
 *
 * Context: whoever serves in passing; the command must be started before another one.
 * Return: number of its pages, at most NVMEV_QUICK_PAGES, or 0 if it is none.
 */
u32 nvmev_io_quick_pages(struct nvmev *nvmev, const struct nvme_command *sqe);

/**
 * nvmev_io_must_wait() - is there a reason not to fetch this command yet?
 * @nvmev: the SSD
 * @sqe: the command
 *
 * Return: true for a deallocation while another one is under way, or the FTL makes room for it.
 */
bool nvmev_io_must_wait(const struct nvmev *nvmev, const struct nvme_command *sqe);

/**
 * nvmev_io_step() - do the next piece of the command in pieces whose turn it is
 * @nvmev: the SSD
 *
 * Context: the dispatcher; sleeps for a moment if there is more to do.
 * Return: was there one?
 */
bool nvmev_io_step(struct nvmev *nvmev);

/**
 * nvmev_io_start() - check a command and ask the FTL when it will be done
 * @nvmev: the SSD
 * @cmd: the command; @fetched_ns is set. Gets @due_ns and @status, which is
 *	NVMEV_STATUS_LATER if it is done in steps or pieces
 */
void nvmev_io_start(struct nvmev *nvmev, struct nvmev_cmd *cmd);

/**
 * nvmev_io_move() - move a command's data
 * @nvmev: the SSD
 * @cmd: started without an error; gets @status
 */
void nvmev_io_move(struct nvmev *nvmev, struct nvmev_cmd *cmd);

#endif /* NVMEV_IO_H */
