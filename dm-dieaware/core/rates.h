/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often parts of the device are written, and so how long what is written there is likely to
 * stay as it is.
 *
 * What is overwritten in place says nothing of its age: its segment is as old as ever. So writes
 * are counted by place. A file lies in few places, and is written at one rate for the most part; so
 * neighbours are counted together, as many as it takes for the counters to fit into little memory.
 *
 * A hand goes round the counters and halves them, so what was long ago counts for little. A part is
 * judged by the mean of all that are written at all:
 *
 *	8 times and more	hot
 *	2 times and more	warm
 *	half and more		as all that users write
 *	less			as what survived a cleaning
 *
 * Where all are written alike, chance makes hardly any of them something else.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_RATES_H
#define DMDA_RATES_H

#include "stream.h"

/* Most parts that are counted: 128 KiB of memory */
#define DMDA_RATES_MAX_PARTS	65536U

/* Counts are in sixteenths of a write, as halving them leaves fractions, and end here. */
#define DMDA_RATES_WRITE	16U
#define DMDA_RATES_MAX		65535U

/* The hand moves on once in so many writes, over so many parts that nobody writes. */
#define DMDA_RATES_STEP		8U
#define DMDA_RATES_SKIP		8U

/**
 * struct dmda_rates - how often parts of the device are written
 * @count: by part, how often it was written lately, in sixteenths
 * @part_bits: log2 of the pages of a part
 * @nr_parts: number of parts; 0: nothing is counted
 * @sum: sum of @count
 * @nr_written: number of @count that are not 0
 * @hand: part at which the hand is
 * @nr_steps: number of writes since the hand has moved
 */
struct dmda_rates {
	u16 *count;
	u32 part_bits;
	u32 nr_parts;
	u64 sum;
	u32 nr_written;
	u32 hand;
	u32 nr_steps;
};

/**
 * dmda_rates_bytes() - memory of the counters
 * @nr_lpns: pages of the device
 */
size_t dmda_rates_bytes(u64 nr_lpns);

/**
 * dmda_rates_init() - nothing has been written
 * @zeroed: dmda_rates_bytes() bytes, or NULL: nothing is to be counted
 */
void dmda_rates_init(struct dmda_rates *rates, u64 nr_lpns, void *zeroed);

/**
 * dmda_rates_write() - a write in place begins at a page
 *
 * Return: what kind of data it is; DMDA_STREAM_USER if nothing is counted there.
 */
enum dmda_stream dmda_rates_write(struct dmda_rates *rates, u64 lpn);

#endif /* DMDA_RATES_H */
