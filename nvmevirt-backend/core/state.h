/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole drive, and the operations that need all of it.
 */
#ifndef FTL_STATE_H
#define FTL_STATE_H

#include "ftl.h"
#include "nand.h"
#include "place.h"
#include "wbuf.h"

/**
 * struct ftl_sense - what a read command needs of one flash unit
 * @flash_unit: the unit
 * @nr_pages: pages of it
 */
struct ftl_sense {
	u32 flash_unit;
	u32 nr_pages;
};

/* Slots of the table that finds a flash unit among the senses of a command */
#define FTL_SENSE_SLOTS		2048U
#define FTL_SENSE_SLOTS_SHIFT	11

/**
 * struct ftl_sense_slot - a slot of that table
 * @command: number of the read command that it belongs to; all others are void
 * @sense: index of the sense
 */
struct ftl_sense_slot {
	u32 command;
	u32 sense;
};

/**
 * struct ftl - a drive
 * @params: what it was made with
 * @geo: sizes
 * @map: where pages are
 * @blocks: erase blocks
 * @units: open units
 * @place: placement
 * @nand: timelines of the dies
 * @wbuf: room in the write buffer
 * @from_host: direction of the link that writes use
 * @to_host: direction of the link that reads use
 * @now_ns: time of the present call; never goes back
 * @next_cmd_ns: time from which the firmware takes the next command
 * @programmed_ns: end of the last program
 * @command_programmed_ns: the same of the present write command, or 0
 * @collecting: a victim is being collected
 * @read_commands: read commands so far; wraps
 * @sense: senses of the present read command
 * @sense_slot: finds a flash unit in @sense
 * @stats: counters that are not kept elsewhere
 */
struct ftl {
	struct ftl_params params;
	struct ftl_geometry geo;
	struct ftl_l2p map;
	struct ftl_eblks blocks;
	struct ftl_units units;
	struct ftl_place place;
	struct ftl_nand nand;
	struct ftl_wbuf wbuf;
	struct ftl_bus from_host;
	struct ftl_bus to_host;
	u64 now_ns;
	u64 next_cmd_ns;
	u64 programmed_ns;
	u64 command_programmed_ns;
	bool collecting;
	u32 read_commands;
	struct ftl_sense sense[FTL_MAX_TRANSFER_PAGES];
	struct ftl_sense_slot sense_slot[FTL_SENSE_SLOTS];
	struct ftl_stats stats;
};

/* Latencies of the parameters are scaled here and in nand.c and channel.c only. */
static inline u64 ftl_scaled(const struct ftl *ftl, u64 ns)
{
	return ns * ftl->params.time_scale;
}

/*
 * Begins a call: the time of the drive does not go back. A firmware that takes a limited
 * number of commands a second starts them one after the other.
 */
static inline u64 ftl_begin(struct ftl *ftl, u64 now_ns)
{
	u64 start_ns;

	ftl->now_ns = max(ftl->now_ns, now_ns);
	start_ns = max(ftl->now_ns, ftl->next_cmd_ns);
	ftl->next_cmd_ns = start_ns + ftl_scaled(ftl, ftl->params.cmd_gap_ns);
	return start_ns + ftl_scaled(ftl, ftl->params.cmd_ns);
}

#endif /* FTL_STATE_H */
