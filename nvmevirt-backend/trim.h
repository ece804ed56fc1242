/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Deallocation in steps.
 *
 * How long it takes to forget data grows with how much there is: seconds for a drive of 60 GB.
 * So a Dataset Management command is under way for as long as that takes, and between its
 * steps the dispatcher serves the queues; there is one such command at a time, others of the
 * kind wait in their queues. Each step leaves the drive consistent, and a command that is not
 * complete may have done a part of what it is to do. The FTL keeps a number of trims only, and
 * then looks at the whole drive to make room for more (core/table.h): that is done in steps here
 * as well, and while there is little room left, commands that deallocate wait in their queues.
 * Format takes the same steps, but nothing is served in between.
 */
#ifndef NVMEV_TRIM_H
#define NVMEV_TRIM_H

#include <linux/types.h>

struct nvme_dsm_range;
struct nvmev;
struct nvmev_cmd;
struct nvmev_ns;

/**
 * struct nvmev_trim - the command that is under way; the dispatcher's
 * @cmd: the command, or NULL
 * @ranges: ranges of the command, a page of them, all within the namespace
 * @nr_ranges: number of entries of @ranges
 * @range: index of the range that is being deallocated
 * @done: number of its LBAs that are deallocated
 * @makes_room: whether the FTL is to be given steps in which it makes room for more trims
 * @lacks_room: whether no more are to be sent to it before that
 */
struct nvmev_trim {
	struct nvmev_cmd *cmd;
	struct nvme_dsm_range *ranges;
	u32 nr_ranges;
	u32 range;
	u32 done;
	bool makes_room;
	bool lacks_room;
};

/**
 * nvmev_trim_begin() - a command is going to be done in steps
 * @nvmev: the SSD, with no such command under way; its ranges are set
 * @cmd: the command; it is completed with the last step
 * @nr_ranges: number of its ranges
 */
void nvmev_trim_begin(struct nvmev *nvmev, struct nvmev_cmd *cmd, u32 nr_ranges);

/**
 * nvmev_trim_step() - do a step of the command under way, or of making room for more
 * @nvmev: the SSD
 *
 * Context: the dispatcher. If there is more to do, sleeps for a moment: it runs before
 * everybody else, who must not have to wait for all of it.
 * Return: was there one?
 */
bool nvmev_trim_step(struct nvmev *nvmev);

/**
 * nvmev_trim_abort() - let the command under way end as aborted, if it is of a queue
 * @nvmev: the SSD
 * @sqid: the queue, which is going to be deleted
 */
void nvmev_trim_abort(struct nvmev *nvmev, u32 sqid);

/**
 * nvmev_trim_format() - erase the data of a namespace and set its LBA size
 * @nvmev: the SSD
 * @ns: the namespace
 * @lba_shift: 9 or 12
 *
 * Context: the dispatcher; sleeps in between.
 */
void nvmev_trim_format(struct nvmev *nvmev, struct nvmev_ns *ns, u32 lba_shift);

#endif /* NVMEV_TRIM_H */
