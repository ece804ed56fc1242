/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flexible Data Placement (NVMe 2.1, TP4146): a host names a placement handle with a write.
 *
 * There is one endurance group with one configuration, which is always on, in one of three shapes.
 * In the first two a placement identifier stands for a die, in the third for a lifetime:
 *
 * Handles: one reclaim group, and a handle for each die, on which a write begins; the pages
 * behind the first unit go round the dies from there. A handle's reclaim unit is a count of bytes
 * only: as much as an erase block of every die. Data of several handles shares erase blocks
 * from the beginning. The types of the specification promise more: that it does not until the
 * controller moves it (initially isolated), or never does (persistently isolated). So the
 * type of these handles is one that it leaves to vendors.
 *
 * Groups: a reclaim group for each die, which a write does not leave, and one handle. Its
 * reclaim units are erase blocks, and there is no other handle whose data could be in them.
 *
 * Lifetimes: one reclaim group, and so many handles as the user says. A reclaim unit is an erase
 * block of every die, in which nothing but data of its handle is until collection moves what is
 * left of it, with what is left of others: initially isolated. What is written without an
 * identifier goes to the first handle. That is what drives of this kind that are sold have.
 *
 * Everything here is the dispatcher's alone.
 */
#ifndef NVMEV_FDP_H
#define NVMEV_FDP_H

#include <linux/types.h>

#include "nvme.h"

/* As many as an I/O Management Receive of the Linux driver takes */
#define NVMEV_MAX_HANDLES	126
#define NVMEV_NR_FDP_EVENTS	63

struct ftl_request;
struct nvmev;
struct nvmev_cmd;
struct nvmev_log;
struct nvmev_ns;

/**
 * struct nvmev_fdp - placement identifiers of an SSD
 * @nr_pids: number of identifiers, which all namespaces have in common; 0 without FDP
 * @nr_handles: number of reclaim unit handles
 * @group_bits: bits of an identifier, from the highest on, that are the reclaim group
 * @ru_bytes: size of a reclaim unit
 * @left_bytes: bytes that the present reclaim unit still takes, by identifier's number
 * @enabled: bitmap of the events that are on, by namespace and handle
 * @events: ring of host events
 * @nr_events: number of events so far
 */
struct nvmev_fdp {
	u32 nr_pids;
	u32 nr_handles;
	u32 group_bits;
	u64 ru_bytes;
	u64 left_bytes[NVMEV_MAX_HANDLES];
	u8 enabled[NVMEV_MAX_NAMESPACES][NVMEV_MAX_HANDLES];
	struct nvmev_fdp_event events[NVMEV_NR_FDP_EVENTS];
	u64 nr_events;
};

/**
 * nvmev_fdp_init() - make the identifiers, if there are to be any
 * @nvmev: the SSD; its configuration and FTL are complete
 */
void nvmev_fdp_init(struct nvmev *nvmev);

/**
 * nvmev_fdp_is_on() - does the SSD take placement identifiers?
 * @nvmev: the SSD
 *
 * Return: whether it has FDP, and it was not disabled by `inject`.
 */
bool nvmev_fdp_is_on(const struct nvmev *nvmev);

/**
 * nvmev_fdp_decode() - let a write go where its placement identifier says
 * @nvmev: the SSD, with FDP
 * @cmd: a write with the Data Placement directive
 * @rq: gets the hint; none if there is no such identifier, which is an event
 */
void nvmev_fdp_decode(struct nvmev *nvmev, const struct nvmev_cmd *cmd, struct ftl_request *rq);

/**
 * nvmev_fdp_handle() - to which of the FTL's placement handles does a write go?
 * @nvmev: the SSD
 * @sqe: the write
 *
 * Return: the handle; 0 as well where there are none, or it names none.
 */
u32 nvmev_fdp_handle(const struct nvmev *nvmev, const struct nvme_command *sqe);

/**
 * nvmev_fdp_status() - build the data of I/O Management Receive
 * @nvmev: the SSD, with FDP
 * @ns: the namespace
 * @page: a zeroed page
 */
void nvmev_fdp_status(const struct nvmev *nvmev, const struct nvmev_ns *ns, void *page);

/**
 * nvmev_fdp_update() - give handles new reclaim units
 * @nvmev: the SSD, with FDP
 * @ns: the namespace
 * @pids: placement identifiers
 * @nr: number of entries of @pids
 *
 * Return: an NVMe status; with an error nothing was done.
 */
u16 nvmev_fdp_update(struct nvmev *nvmev, const struct nvmev_ns *ns, const __le16 *pids, u32 nr);

/**
 * nvmev_fdp_log() - build a log page of FDP or of the endurance group
 * @nvmev: the SSD
 * @sqe: the command
 * @log: gets the page
 *
 * Return: an NVMe status.
 */
u16 nvmev_fdp_log(struct nvmev *nvmev, const struct nvme_command *sqe, struct nvmev_log *log);

/**
 * nvmev_fdp_get_feature() - Get Features of FDP and of its events
 * @nvmev: the SSD
 * @sqe: the command
 * @result: gets the value
 *
 * Return: an NVMe status.
 */
u16 nvmev_fdp_get_feature(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result);

/**
 * nvmev_fdp_set_feature() - Set Features of FDP and of its events
 * @nvmev: the SSD
 * @sqe: the command
 *
 * Return: an NVMe status.
 */
u16 nvmev_fdp_set_feature(struct nvmev *nvmev, const struct nvme_command *sqe);

#endif /* NVMEV_FDP_H */
