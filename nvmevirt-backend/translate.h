/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between NVMe and the FTL: commands on ranges of LBAs become requests on pages. Only here the
 * FTL is called for a command of the host; each call takes ftl_lock.
 */
#ifndef NVMEV_TRANSLATE_H
#define NVMEV_TRANSLATE_H

#include <linux/types.h>

struct nvmev;
struct nvmev_cmd;
struct nvme_command;
struct nvmev_ns;

/**
 * nvmev_ns_used_lbas() - LBAs that hold data
 * @nvmev: the SSD
 * @ns: the namespace
 *
 * Context: takes ftl_lock.
 * Return: LBAs, whole pages of them.
 */
u64 nvmev_ns_used_lbas(struct nvmev *nvmev, const struct nvmev_ns *ns);

/**
 * nvmev_ns_is_quick() - would a command take the FTL no longer than its own pages do?
 * @nvmev: the SSD
 * @sqe: the command, a read or a write
 * @nr_pages: number of its pages
 */
bool nvmev_ns_is_quick(struct nvmev *nvmev, const struct nvme_command *sqe, u32 nr_pages);

/**
 * nvmev_ns_read() - account a read by the FTL
 * @nvmev: the SSD
 * @cmd: a read, compare or verify command with a valid range
 * @transfer: its data crosses the host link
 *
 * Return: when it is done.
 */
u64 nvmev_ns_read(struct nvmev *nvmev, const struct nvmev_cmd *cmd, bool transfer);

/**
 * nvmev_ns_write() - have the FTL place a write
 * @nvmev: the SSD
 * @cmd: a write or write zeroes command with a valid range; gets @data_seq
 * @due_ns: gets when it is done
 *
 * Return: an NVMe status: the drive may be read-only, hints may be rejected on request.
 */
u16 nvmev_ns_write(struct nvmev *nvmev, struct nvmev_cmd *cmd, u64 *due_ns);

/**
 * nvmev_ns_written() - the data of a write is in the store; older data may go
 * @nvmev: the SSD
 * @cmd: the command
 */
void nvmev_ns_written(struct nvmev *nvmev, const struct nvmev_cmd *cmd);

/**
 * struct nvmev_watcher - a command while the FTL places pages for it
 * @nvmev: the SSD
 * @cmd: the command
 */
struct nvmev_watcher {
	const struct nvmev *nvmev;
	const struct nvmev_cmd *cmd;
};

/**
 * nvmev_watch_placements() - trace where pages of a command go, if anybody wants to know
 * @nvmev: the SSD
 * @watcher: the command, or NULL when it is done
 *
 * Context: the caller holds ftl_lock.
 */
void nvmev_watch_placements(struct nvmev *nvmev, struct nvmev_watcher *watcher);

/**
 * nvmev_ns_trim() - have the FTL forget the pages that lie wholly in a range
 * @nvmev: the SSD
 * @ns: the namespace
 * @slba: first LBA
 * @nr_lbas: number of LBAs; the range must be valid
 * @now_ns: time at which the command was fetched
 * @goes_on: whether it is no command of its own, but goes on with the last one of its kind
 *
 * Return: when it is done in the model.
 */
u64 nvmev_ns_trim(struct nvmev *nvmev, const struct nvmev_ns *ns, u64 slba, u64 nr_lbas,
		  u64 now_ns, bool goes_on);

/**
 * nvmev_ns_trim_reach() - how much of a range may be forgotten in a step?
 * @nvmev: the SSD
 * @ns: the namespace
 * @slba: first LBA
 * @end: LBA behind the last; the range must be valid
 * @most: pages to look at, at least one; gets what is left of them
 *
 * Return: the LBA behind the last of the step: that of a page, or @end. Else pages in the middle
 * of a range would be taken for such as are covered in part.
 */
u64 nvmev_ns_trim_reach(struct nvmev *nvmev, const struct nvmev_ns *ns, u64 slba, u64 end,
			u32 *most);

/**
 * nvmev_ns_make_room() - go on with what the FTL has to do before it can keep more trims
 * @nvmev: the SSD; its @trim gets to know whether there is more to do, and whether it is urgent
 * @most: pages to look at, or little more
 */
void nvmev_ns_make_room(struct nvmev *nvmev, u32 most);

/**
 * nvmev_ns_flush() - have the FTL make everything durable
 * @nvmev: the SSD
 * @now_ns: present time
 *
 * Return: when it is.
 */
u64 nvmev_ns_flush(struct nvmev *nvmev, u64 now_ns);

/**
 * nvmev_ns_is_read_only() - are there too few good erase blocks to write on?
 * @nvmev: the SSD
 *
 * Context: takes ftl_lock.
 */
bool nvmev_ns_is_read_only(struct nvmev *nvmev);

/**
 * nvmev_ns_failures() - count failed operations on NAND
 * @nvmev: the SSD
 *
 * Context: takes ftl_lock.
 * Return: how many there were since power on.
 */
u64 nvmev_ns_failures(struct nvmev *nvmev);

/**
 * nvmev_ns_idle() - let the FTL use the time in which dies have nothing to do
 * @nvmev: the SSD
 *
 * Return: whether it wants to be asked again.
 */
bool nvmev_ns_idle(struct nvmev *nvmev);

#endif /* NVMEV_TRANSLATE_H */
