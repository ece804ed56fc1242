/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the user was promised: for each page the oldest version that may be there after a
 * power failure, and the newest.
 *
 * A version is promised when the write was done before a flush was submitted, and the
 * flush is done; or with FUA, when the write is done. A version may be there as soon as
 * it was submitted. Writes to the same page count in the order of submission.
 */
#ifndef CRASH_MODEL_H
#define CRASH_MODEL_H

#include "events.h"
#include "stamp.h"

/**
 * struct past - the operations on a page
 * @op: their indexes, in order
 * @nr: how many
 * @from: the first that may be the last one that is there; 0: none has to be
 * @base: what the page held before all of them
 */
struct past {
	u64 *op;
	u64 nr;
	u64 from;
	struct stamp base;
};

/**
 * struct model - all pages
 * @events: what happens
 * @past: by lpn
 * @nr_lpns: how many
 * @done: operations in the order in which they were done
 * @nr_done: how many
 * @nr_promised: how many of them are promised
 * @nr_done_at: by flush: @nr_done when it was submitted
 */
struct model {
	const struct events *events;
	struct past *past;
	u64 nr_lpns;
	u64 *done;
	u64 nr_done;
	u64 nr_promised;
	u64 *nr_done_at;
};

/**
 * model_init() - nothing happened yet
 * @nr_lpns: pages of the device; the caller fills in past[].base
 */
void model_init(struct model *model, const struct events *events, u64 nr_lpns);

/**
 * model_happen() - something happens
 */
void model_happen(struct model *model, const struct event *event);

/**
 * model_allows() - may a page hold this after a power failure now?
 * @why: gets a sentence if not
 */
bool model_allows(const struct model *model, u64 lpn, const struct stamp *stamp, char why[160]);

#endif /* CRASH_MODEL_H */
