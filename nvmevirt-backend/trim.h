/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Deallocation in steps.
 *
 * How long it takes to forget data grows with how much there is: a second for a drive of 60 GB.
 * So a Dataset Management command is under way for as long as that takes, and between its
 * steps the dispatcher serves the queues; there is one such command at a time, others of the
 * kind wait in their queues. Each step leaves the drive consistent, and a command that is not
 * complete may have done a part of what it is to do. The FTL keeps a number of trims only, and
 * then looks at the whole drive to make room for more (core/table.h): that is done in steps here
 * as well, and while there is little room left, commands that deallocate wait in their queues.
 *
 * Format takes the same steps. Other namespaces and admin commands are served meanwhile; commands
 * of a namespace that is formatted fail, and those that were being done before end first. The LBA
 * size changes when all data of the namespace is gone: a Format that a reset or a power failure
 * cuts off leaves the namespace as it was, without a part of its data.
 */
#ifndef NVMEV_TRIM_H
#define NVMEV_TRIM_H

#include <linux/types.h>

struct nvme_dsm_range;
struct nvmev;
struct nvmev_cmd;
struct nvmev_ns;

/**
 * struct nvmev_format - a Format command
 * @is_under_way: whether there is one
 * @cid: its identifier
 * @nsid: the namespace that it is for, or NVMEV_NSID_ALL
 * @lba_shift: log2 of the LBA size from then on
 * @at: index of the namespace whose data is being forgotten
 * @slba: its first LBA that is not yet
 */
struct nvmev_format {
	bool is_under_way;
	u16 cid;
	u32 nsid;
	u32 lba_shift;
	u32 at;
	u64 slba;
};

/**
 * struct nvmev_trim - the commands that are under way; the dispatcher's
 * @cmd: the deallocation, or NULL
 * @ranges: ranges of the command, a page of them, all within the namespace
 * @nr_ranges: number of entries of @ranges
 * @range: index of the range that is being deallocated
 * @done: number of its LBAs that are deallocated
 * @makes_room: whether the FTL is to be given steps in which it makes room for more trims
 * @lacks_room: whether no more are to be sent to it before that
 * @format: the Format command
 */
struct nvmev_trim {
	struct nvmev_cmd *cmd;
	struct nvme_dsm_range *ranges;
	u32 nr_ranges;
	u32 range;
	u32 done;
	bool makes_room;
	bool lacks_room;
	struct nvmev_format format;
};

/**
 * nvmev_trim_begin() - a command is going to be done in steps
 * @nvmev: the SSD, with no such command under way; its ranges are set
 * @cmd: the command; it is completed with the last step
 * @nr_ranges: number of its ranges
 */
void nvmev_trim_begin(struct nvmev *nvmev, struct nvmev_cmd *cmd, u32 nr_ranges);

/**
 * nvmev_trim_step() - do a step of what is under way, or of making room for more
 * @nvmev: the SSD
 *
 * Context: the dispatcher. If there is more to do, sleeps for a moment: it runs before
 * everybody else, who must not have to wait for all of it.
 * Return: was there one?
 */
bool nvmev_trim_step(struct nvmev *nvmev);

/**
 * nvmev_trim_abort() - let the deallocation under way end as aborted, if it is this one
 * @nvmev: the SSD
 * @sqid: its queue
 * @cid: its identifier there, or NVMEV_ANY_CID
 * @status: status that it gets; its completion is due
 *
 * Return: was it?
 */
bool nvmev_trim_abort(struct nvmev *nvmev, u16 sqid, u32 cid, u16 status);

/**
 * nvmev_format_begin() - erase the data of namespaces and set their LBA size, in steps
 * @nvmev: the SSD, with no Format under way
 * @cid: identifier of the admin command, which is completed with the last step
 * @nsid: a namespace, or NVMEV_NSID_ALL
 * @lba_shift: 9 or 12
 */
void nvmev_format_begin(struct nvmev *nvmev, u16 cid, u32 nsid, u32 lba_shift);

/**
 * nvmev_format_is_of() - is a namespace being formatted?
 * @nvmev: the SSD
 * @ns: the namespace
 */
bool nvmev_format_is_of(const struct nvmev *nvmev, const struct nvmev_ns *ns);

#endif /* NVMEV_TRIM_H */
