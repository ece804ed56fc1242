/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of a start share. Each state has a function that asks for a step and says whether
 * there is one left, one that takes what came of it, and maybe one for the end, which say what is
 * wrong, or NULL (start.c). Nobody else includes this.
 */
#ifndef DMDA_START_PARTS_H
#define DMDA_START_PARTS_H

#include "start.h"

static inline bool ask(struct dmda_start *start, enum dmda_start_step step)
{
	start->step = step;
	return true;
}

static inline bool ask_read(struct dmda_start *start, dpn_t dpn, void *memory, u32 nr_pages)
{
	start->dpn = dpn;
	start->memory = memory;
	start->nr_pages = nr_pages;
	return ask(start, DMDA_START_READ);
}

static inline bool ask_once(struct dmda_start *start, enum dmda_start_step step)
{
	return !start->index && ask(start, step);
}

/* Superblock and root: start-root.c */
bool dmda_start_ask_super(struct dmda_start *start);
const char *dmda_start_did_super(struct dmda_start *start, int error);
const char *dmda_start_leave_super(struct dmda_start *start);
bool dmda_start_ask_supers(struct dmda_start *start);
const char *dmda_start_did_supers(struct dmda_start *start, int error);
bool dmda_start_ask_roots(struct dmda_start *start);
const char *dmda_start_did_roots(struct dmda_start *start, int error);
const char *dmda_start_leave_roots(struct dmda_start *start);
bool dmda_start_ask_chosen(struct dmda_start *start);
const char *dmda_start_did_chosen(struct dmda_start *start, int error);
bool dmda_start_ask_grown(struct dmda_start *start);
const char *dmda_start_did_grown(struct dmda_start *start, int error);
const char *dmda_start_leave_grown(struct dmda_start *start);
const char *dmda_start_leave_doubt(struct dmda_start *start);
bool dmda_start_may_miss_root(const struct dmda_start *start); /* and what it led to */

/* The journal's ring: start-ring.c */
bool dmda_start_ask_ring(struct dmda_start *start, u32 page, u32 nr_pages);
const char *dmda_start_did_ring(struct dmda_start *start, int error);
u32 dmda_start_at_once(const struct dmda_start *start); /* sectors, whole pages */
bool dmda_start_ask_lost(struct dmda_start *start);
const char *dmda_start_did_lost(struct dmda_start *start, int error);

#endif /* DMDA_START_PARTS_H */
