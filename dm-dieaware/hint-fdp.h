/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hints by Flexible Data Placement: the target chooses the die, or in log mode, what a write is
 * kept apart from. See hint-fdp.c.
 */
#ifndef DMDA_HINT_FDP_H
#define DMDA_HINT_FDP_H

#include <linux/atomic.h>

#include "core/lanes.h"
#include "core/stream.h"

struct bio;
struct dmda;
struct dmda_discovery;
struct dmda_write;

/**
 * struct dmda_fdp_way - lanes of the device, or its handles, as writes see them; no lock
 * @shape: unit_pages << 8 | nr of struct dmda_lanes, in one word; 0: none
 * @stream: write stream of each lane; one that is out of date is compared with what the kernel has
 * @lifetime: in log mode, write stream of each kind of data, or 0: there is none; likewise
 * @turn: number of files that have begun
 */
struct dmda_fdp_way {
	u32 shape;
	u8 stream[DMDA_MAX_LANES];
	u8 lifetime[DMDA_NR_STREAMS];
	atomic_t turn;
};

/**
 * dmda_fdp_set() - the device has these lanes or handles from now on
 *
 * Context: may sleep; the caller serialises. Writes that are under way may see any of the lanes.
 */
void dmda_fdp_set(struct dmda *dmda, const struct dmda_discovery *discovery);

/**
 * dmda_fdp_choose() - the place of a write
 * @write: its run and verdict are known; gets its berth
 *
 * Context: from map.
 * Return: pages at its beginning for which that holds.
 */
u32 dmda_fdp_choose(struct dmda *dmda, struct dmda_write *write);

/**
 * dmda_fdp_moor() - a write goes to its berth, or nobody knows where
 * @write: as it is sent
 *
 * Context: from map.
 */
void dmda_fdp_moor(struct dmda *dmda, const struct dmda_write *write);

/**
 * dmda_fdp_attach() - send the berth with this write
 * @write: its bio is remapped to the device below, and it has a berth
 *
 * Context: from map.
 */
void dmda_fdp_attach(struct dmda *dmda, const struct dmda_write *write);

/**
 * dmda_fdp_lifetime() - the write stream of a kind of data
 *
 * Context: any.
 * Return: 0 if the kernel has it no longer; then no streams are sent from now on.
 */
u8 dmda_fdp_lifetime(struct dmda *dmda, enum dmda_stream kind);

/**
 * dmda_fdp_attach_kind() - send with this write what kind of data it is
 * @bio: a write that is remapped to the device below
 *
 * Context: where it is submitted.
 */
void dmda_fdp_attach_kind(struct dmda *dmda, struct bio *bio, enum dmda_stream kind);

/* Streams that are in use, for lanes or kinds of data */
u32 dmda_fdp_nr_streams(const struct dmda_fdp_way *way);

/* Has what users write several streams, by age? */
static inline bool dmda_fdp_has_ages(const struct dmda_fdp_way *way)
{
	return READ_ONCE(way->lifetime[DMDA_STREAM_HOT]) !=
	       READ_ONCE(way->lifetime[DMDA_STREAM_USER]);
}

static inline bool dmda_fdp_has_lanes(const struct dmda_fdp_way *way)
{
	return READ_ONCE(way->shape);
}

/**
 * dmda_fdp_unit_pages() - most pages that go to a lane at a time; 0: there are no lanes
 */
static inline u32 dmda_fdp_unit_pages(const struct dmda_fdp_way *way)
{
	return READ_ONCE(way->shape) >> 8;
}

#endif /* DMDA_HINT_FDP_H */
