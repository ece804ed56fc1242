/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a namespace with Flexible Data Placement (NVMe 2.1, TP4146) says about itself, and
 * which of the kernel's write streams are lanes then, or stand for kinds of data.
 *
 * A placement identifier names a reclaim group, in its highest bits, and a placement handle. What
 * is written to different groups is on different media; a handle only keeps data apart in
 * time, and what it is to dies the standard leaves open. So the lanes of a namespace are its
 * groups; its handles are taken for lanes if somebody who knows the device says so.
 *
 * For kinds of data that live equally long, handles are just right: what they keep apart is not in
 * one erase block, and what dies together leaves nothing there to be moved. That goes for handles
 * of the types "initially isolated" and "persistently isolated".
 *
 * The kernel's write stream n + 1 is the placement identifier n of the namespace's list. All of it
 * comes from a device, and is believed only as far as it can be checked.
 */
#ifndef DMDA_FDP_H
#define DMDA_FDP_H

#include "lanes.h"
#include "stream.h"

/* Get Log Page, FDP Configurations: a head, and configurations of different lengths */
#define DMDA_FDP_CONFIGS_HEAD	16
#define DMDA_FDP_CONFIG_MIN	64
#define DMDA_FDP_HANDLE_BYTES	4

/* I/O Management Receive, reclaim unit handle status: a head, and an entry for each identifier */
#define DMDA_FDP_STATUS_HEAD	16
#define DMDA_FDP_STATUS_ENTRY	32

/**
 * struct dmda_fdp - placement in a namespace
 * @max_streams: write streams that the kernel has for it
 * @unit_bytes: bytes that go to one die at a time, or 0: the device does not say
 * @nr_groups: reclaim groups
 * @group_bits: bits of an identifier that are its group, from the highest on, [0, 15]
 * @nr_pids: entries of @pid
 * @pid: placement identifiers, in the order of the kernel's write streams
 * @handle: reclaim unit handle of each
 * @nr_types: entries of @type: reclaim unit handles from 0 on of which it is known
 * @type: type of each of those handles
 */
struct dmda_fdp {
	u32 max_streams;
	u64 unit_bytes;
	u32 nr_groups;
	u32 group_bits;
	u32 nr_pids;
	u16 pid[DMDA_MAX_LANES];
	u16 handle[DMDA_MAX_LANES];
	u32 nr_types;
	u8 type[DMDA_MAX_LANES];
};

/**
 * dmda_fdp_read_config() - groups and handles of a configuration, from the log page
 * @page: the log page
 * @nr_bytes: its length, or as much of it as there is memory for
 * @index: number of the configuration
 * @fdp: gets @nr_groups, @group_bits, @nr_types and @type: as many as there is room for
 *
 * Return: false if the page makes no sense; @fdp is then unchanged.
 */
bool dmda_fdp_read_config(const u8 *page, u32 nr_bytes, u32 index, struct dmda_fdp *fdp);

/**
 * dmda_fdp_read_status() - identifiers of a namespace, from the status of its handles
 * @page: the answer to I/O Management Receive
 * @nr_bytes: its length, or as much of it as there is memory for
 * @fdp: gets @nr_pids, @pid and @handle: as many as there is room for
 *
 * Return: false if the page makes no sense; @fdp is then undefined.
 */
bool dmda_fdp_read_status(const u8 *page, u32 nr_bytes, struct dmda_fdp *fdp);

/**
 * dmda_fdp_lanes() - which write streams are lanes
 * @fdp: what the device and the kernel say
 * @handles_too: with one group, each handle is a lane
 * @lanes: gets the lanes
 * @stream: gets the write stream of each, DMDA_MAX_LANES entries
 *
 * Return: NULL, or why there are none, as a complete sentence; @lanes->nr is then 0.
 */
const char *dmda_fdp_lanes(const struct dmda_fdp *fdp, bool handles_too,
			   struct dmda_lanes *lanes, u8 *stream);

/**
 * dmda_fdp_handles() - which write streams kinds of data have
 * @fdp: what the device and the kernel say
 * @any_type: handles may be of any type
 * @stream: gets the write stream of each kind, DMDA_NR_STREAMS entries
 *
 * What has no stream goes to the first handle. No kind of data goes there if there are enough
 * others. Where there is not one for each kind, all that users write has the same one.
 *
 * Return: NULL, or why there are none, as a complete sentence; @stream is then unchanged.
 */
const char *dmda_fdp_handles(const struct dmda_fdp *fdp, bool any_type, u8 *stream);

#endif /* DMDA_FDP_H */
