/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole drive, and the operations that need all of it.
 */
#ifndef FTL_STATE_H
#define FTL_STATE_H

#include "ftl.h"
#include "l2p.h"
#include "map-cache.h"
#include "nand.h"
#include "oob.h"
#include "place.h"
#include "read-ahead.h"
#include "share.h"
#include "stripe.h"
#include "wbuf.h"

/**
 * struct ftl_exchange - where a die goes on to give cold data, see exchange.h
 * @at: number of the next block, counted from the one with which the die begins
 * @filled_at: number that this block got when it was full, by which it is known from later ones in
 *	its place
 * @next_unit: next unit of the block to be looked at
 */
struct ftl_exchange {
	u32 at;
	u32 filled_at;
	u32 next_unit;
};

/**
 * struct ftl_victim - an erase block that is being emptied
 * @eblk: the block plus one, or 0
 * @pass: what is looked for in it, enum ftl_pass
 * @slot: next of its slots to be looked at, or of its units
 * @follow: page behind the row that was moved last, or 0
 */
struct ftl_victim {
	u32 eblk;
	u32 pass;
	u32 slot;
	u64 follow;
};

/**
 * struct ftl_gc_die - collection of a die
 * @victim: block that is being collected
 * @is_doomed: whether the victim is bad, and not free, when it is empty
 * @fold: block of the SLC region that is being folded
 * @sensed: flash unit whose pages are being moved plus one, or 0
 * @nr_victims: number of victims so far; wraps
 * @steps_per_program: number of steps for each program that keep up with the host, see
 *	ftl_gc_pace()
 * @fail_program: number of programs until one fails, or 0
 * @fail_erase: number of erases until one fails, or 0
 * @exchange: position in what the die gives to others
 * @idle_until_ns: end of the work that the die did last if it was background work
 */
struct ftl_gc_die {
	struct ftl_victim victim;
	bool is_doomed;
	struct ftl_victim fold;
	u32 sensed;
	u32 nr_victims;
	u32 steps_per_program;
	u32 fail_program;
	u32 fail_erase;
	struct ftl_exchange exchange;
	u64 idle_until_ns;
};

/**
 * struct ftl_mend - mending, see mend.h
 * @next: page where the present lap goes on
 * @nr: number of pages of the row there
 * @begun: number of runs that had been put out when the present lap began
 * @done: number of runs that had been put out when the last whole lap began
 */
struct ftl_mend {
	u64 next;
	u32 nr;
	u64 begun;
	u64 done;
};

/* Slots of the table that finds a flash unit among the senses of a command */
#define FTL_SENSE_SLOTS		2048U
#define FTL_SENSE_SLOTS_SHIFT	11

/**
 * struct ftl_sense_slot - slot of the table that finds a flash unit in a command
 * @command: number of the read command that it belongs to; all others are void
 * @sense: index of the sense in ftl.sense
 */
struct ftl_sense_slot {
	u32 command;
	u32 sense;
};

/**
 * struct ftl - a drive
 * @params: parameters with which it was made
 * @geo: sizes that follow from @params
 * @map: places of pages, and owners of places
 * @map_cache: map pages that are in memory; in use if @params.map_cache_pages
 * @blocks: erase blocks
 * @units: open units
 * @place: placement
 * @stripes: stripes of the host's units; in use if @params.stripe_lead
 * @nand: timelines of the dies
 * @read_ahead: what was read ahead; in use if @params.read_ahead_pages
 * @wbuf: room in the write buffer
 * @share: sharers: pages that lie in places of others; in use if @params.share_pages
 * @oob: out-of-band data; in use if @params.oob
 * @from_host: direction of the link that writes use
 * @to_host: direction of the link that reads use
 * @gc: state of collection, by die
 * @mend: state of mending
 * @nr_log_entries: number of entries of the defrag log that are not programmed yet
 * @log_from_ns: time from which they may be, as the data that they name is on NAND then
 * @log_ns: time at which all others are
 * @nr_exchanges: number of cold units that are to move at the next write
 * @idle_die: die that may collect at the next command
 * @begun_ns: time of ftl_init()
 * @command_ns: time of the last command
 * @now_ns: time of the present call; never goes back
 * @next_cmd_ns: time from which the firmware takes the next command
 * @programmed_ns: end of the last program
 * @command_programmed_ns: end of the last program of the present write command, or 0
 * @read_commands: number of read commands so far; wraps
 * @sense: senses of the present read command
 * @sense_slot: table that finds a flash unit in @sense
 * @stats: counters that are not kept elsewhere
 */
struct ftl {
	struct ftl_params params;
	struct ftl_geometry geo;
	struct ftl_l2p map;
	struct ftl_map_cache map_cache;
	struct ftl_eblks blocks;
	struct ftl_units units;
	struct ftl_place place;
	struct ftl_stripes stripes;
	struct ftl_nand nand;
	struct ftl_read_ahead read_ahead;
	struct ftl_wbuf wbuf;
	struct ftl_share share;
	struct ftl_oob oob;
	struct ftl_bus from_host;
	struct ftl_bus to_host;
	struct ftl_gc_die *gc;
	struct ftl_mend mend;
	u32 nr_log_entries;
	u64 log_from_ns;
	u64 log_ns;
	u32 nr_exchanges;
	u32 idle_die;
	u64 begun_ns;
	u64 command_ns;
	u64 now_ns;
	u64 next_cmd_ns;
	u64 programmed_ns;
	u64 command_programmed_ns;
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

#endif /* FTL_STATE_H */
