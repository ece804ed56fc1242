/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How well the times of the model are kept: a completion that this machine could not post at
 * the time at which it was due is late.
 */
#ifndef NVMEV_LATENESS_H
#define NVMEV_LATENESS_H

#include <linux/types.h>

struct nvmev;

/* A completion that is so much behind its time counts as late. */
#define NVMEV_LATE_NS		10000

/**
 * struct nvmev_lateness - how well the times of the model are kept, since power on
 * @nr: number of I/O commands that were completed
 * @nr_late: number of those that were ready to be posted NVMEV_LATE_NS after they were due, or
 *	later
 * @sum_ns: sum of the lateness of all @nr commands
 * @model_ns: sum of what they take in the model
 * @worst_ns: largest lateness of a command
 *
 * How long a completion waits for the host to make room in its queue does not count.
 */
struct nvmev_lateness {
	u64 nr;
	u64 nr_late;
	u64 sum_ns;
	u64 model_ns;
	u64 worst_ns;
};

/**
 * nvmev_get_lateness() - how late were completions?
 * @nvmev: the SSD
 * @lateness: gets the answer
 */
void nvmev_get_lateness(struct nvmev *nvmev, struct nvmev_lateness *lateness);

#endif /* NVMEV_LATENESS_H */
