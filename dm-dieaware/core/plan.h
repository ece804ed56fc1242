/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much a round of cleaning takes on: no more than there are places for, whatever happens
 * meanwhile. Else a device that is full could come to a state in which no segment can be emptied.
 *
 * The places are those of cleaning's own segment and of the free ones. Users leave it so many
 * segments that it can move what is valid in two in most cases. If there are fewer places, it is
 * one victim at a time, so that one is empty as soon as possible.
 */
#ifndef DMDA_PLAN_H
#define DMDA_PLAN_H

#include "super.h"

/**
 * struct dmda_plan - what a round of cleaning moves
 * @kept_moves: number of pages that the segments that users leave have places for in most cases
 * @max_moves: largest @nr_moves of this round
 * @is_tight: whether there are fewer places than @kept_moves, so that it is one victim at a time
 * @nr_victims: segments that are being cleaned
 * @nr_moves: pages that are valid in them
 */
struct dmda_plan {
	u32 kept_moves;
	u32 max_moves;
	bool is_tight;
	u32 nr_victims;
	u32 nr_moves;
};

/**
 * dmda_plan_init() - there are no victims yet
 * @super: superblock of the device
 */
void dmda_plan_init(struct dmda_plan *plan, const struct dmda_super *super);

/**
 * dmda_plan_forget() - there are no victims again
 */
void dmda_plan_forget(struct dmda_plan *plan);

/**
 * dmda_plan_sure() - moves for which there is room whatever users do
 * @room: places that there are for cleaning
 *
 * They take none of the last segments. Sets is_tight.
 *
 * Return: how many.
 */
u32 dmda_plan_sure(struct dmda_plan *plan, u64 room);

/**
 * dmda_plan_has_room() - may one more segment become a victim?
 * @nr_valid: its valid pages
 */
bool dmda_plan_has_room(const struct dmda_plan *plan, u32 nr_valid);

#endif /* DMDA_PLAN_H */
