/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of one target, and its status line. A counter costs one instruction on a
 * word of this CPU; only the status line adds them up. They are never written to
 * from outside: a reset remembers where they stood. A write is counted once, by what is
 * known of it: whoever asks for all writes, or all of a kind, gets a sum.
 */
#ifndef DMDA_STATS_H
#define DMDA_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "core/classify.h"
#include "identified.h"

/**
 * enum dmda_counter - what is counted, in the order of the status line
 * @DMDA_COUNT_WRITES: write bios that carry data, after cutting
 * @DMDA_COUNT_PAGE: of these, those whose file is known by the page itself
 * @DMDA_COUNT_IOMAP: of these, those whose file is known by the filesystem's mapping
 * @DMDA_COUNT_ADJACENCY: of these, those of an unknown file that continue another write
 * @DMDA_COUNT_METADATA: of these, those of metadata, journals, buffers of block devices
 * @DMDA_COUNT_UNKNOWN: of these, all others
 * @DMDA_COUNT_NONE: writes without a hint
 * @DMDA_COUNT_APPEND: writes with the hint APPEND
 * @DMDA_COUNT_OVERWRITE: writes with the hint OVERWRITE
 * @DMDA_COUNT_CONFIRMED_APPEND: writes with the hint APPEND that are complete, and whose command
 *	carried it
 * @DMDA_COUNT_CONFIRMED_OVERWRITE: the same with OVERWRITE
 * @DMDA_COUNT_LOST_UNSEEN: hinted writes that are complete, and with which no NVMe command was seen
 * @DMDA_COUNT_LOST_MERGED: hinted writes that are complete, merged with writes of another kind
 * @DMDA_COUNT_LOST_MOVED: hinted writes that are complete, but sent elsewhere by a layer below
 * @DMDA_COUNT_REJECTED: writes that the device took only without their hint
 * @DMDA_COUNT_RETRIED: failed writes that were sent again without their hint
 * @DMDA_COUNT_CUT: bios cut in two
 * @DMDA_COUNT_LEARNED: reads that taught the run table something
 * @DMDA_COUNT_STREAMED: writes that are complete, and that the device took with a write stream
 * @DMDA_COUNT_SHARED_PAGES: pages that were not written, since the device has shared them
 * @DMDA_COUNT_SHARE_DIFFERS: announced writes with other bytes than those of the old place
 * @DMDA_COUNT_SHARE_REFUSED: announced writes for which the device has failed a read or Share
 * @DMDA_COUNT_SHARE_UNDONE: writes with other bytes than those of the new place after Share
 * @DMDA_NR_COUNTERS: number of counters
 */
enum dmda_counter {
	DMDA_COUNT_WRITES,
	DMDA_COUNT_PAGE,
	DMDA_COUNT_IOMAP,
	DMDA_COUNT_ADJACENCY,
	DMDA_COUNT_METADATA,
	DMDA_COUNT_UNKNOWN,
	DMDA_COUNT_NONE,
	DMDA_COUNT_APPEND,
	DMDA_COUNT_OVERWRITE,
	DMDA_COUNT_CONFIRMED_APPEND,
	DMDA_COUNT_CONFIRMED_OVERWRITE,
	DMDA_COUNT_LOST_UNSEEN,
	DMDA_COUNT_LOST_MERGED,
	DMDA_COUNT_LOST_MOVED,
	DMDA_COUNT_REJECTED,
	DMDA_COUNT_RETRIED,
	DMDA_COUNT_CUT,
	DMDA_COUNT_LEARNED,
	DMDA_COUNT_STREAMED,
	DMDA_COUNT_SHARED_PAGES,
	DMDA_COUNT_SHARE_DIFFERS,
	DMDA_COUNT_SHARE_REFUSED,
	DMDA_COUNT_SHARE_UNDONE,
	DMDA_NR_COUNTERS,
};

/**
 * struct dmda_cpu - counters of a target on one CPU, and what it did last
 * @writes: writes, by enum dmda_source and enum dmda_hint
 * @counters: by enum dmda_counter; what are sums of @writes is 0
 * @first_dpn: first page of the write that this CPU mapped last
 * @end_dpn: page behind that write
 * @hint: enum dmda_hint of that write
 * @read_end: sector behind the read that this CPU mapped last
 *
 * A task may move to another CPU between two accesses. That makes a counter miss
 * one at worst, and a neighbour be compared with the wrong write: the transport
 * checks again what was merged.
 */
struct dmda_cpu {
	u64 writes[DMDA_NR_SOURCES][DMDA_NR_HINTS];
	u64 counters[DMDA_NR_COUNTERS];
	u64 first_dpn;
	u64 end_dpn;
	u32 hint;
	sector_t read_end;
};

/**
 * struct dmda_stats - the counters of a target
 * @cpu: one struct dmda_cpu for each CPU
 * @base: values at the last reset; written by messages, which dm serialises by
 *	the caller's dmda.admin_lock
 */
struct dmda_stats {
	struct dmda_cpu __percpu *cpu;
	u64 base[DMDA_NR_COUNTERS];
};

/**
 * dmda_stats_init() - counters at 0
 * @stats: memory of the caller
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int dmda_stats_init(struct dmda_stats *stats);

/**
 * dmda_stats_exit() - give the memory back
 * @stats: initialised counters, or zeroes
 *
 * Context: may sleep.
 */
void dmda_stats_exit(struct dmda_stats *stats);

/**
 * dmda_stats_reset() - count from 0 again
 * @stats: the counters
 *
 * Context: any; the caller serialises resets.
 */
void dmda_stats_reset(struct dmda_stats *stats);

/**
 * dmda_stats_print() - every counter as " name=value"
 * @stats: the counters
 * @buf: gets the text; terminated if @size is not 0
 * @size: bytes at @buf
 *
 * Context: any.
 * Return: number of characters printed, less than @size.
 */
size_t dmda_stats_print(struct dmda_stats *stats, char *buf, size_t size);

static inline void dmda_count(struct dmda_stats *stats, enum dmda_counter counter)
{
	this_cpu_inc(stats->cpu->counters[counter]);
}

static inline void dmda_count_write(struct dmda_stats *stats, enum dmda_source source,
				    enum dmda_hint hint)
{
	this_cpu_inc(stats->cpu->writes[source][hint]);
}

static inline void dmda_count_pages(struct dmda_stats *stats, enum dmda_counter counter,
				    u32 nr_pages)
{
	this_cpu_add(stats->cpu->counters[counter], nr_pages);
}

#endif /* DMDA_STATS_H */
