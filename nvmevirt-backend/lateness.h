/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How well the times of the model are kept: a completion that this machine could not post at
 * the time at which it was due is late.
 */
#ifndef NVMEV_LATENESS_H
#define NVMEV_LATENESS_H

#include <dieaware/log.h>
#include <linux/math64.h>
#include <linux/types.h>

struct nvmev;

/* A completion that is so much behind its time counts as late. */
#define NVMEV_LATE_NS		10000

/**
 * struct nvmev_lateness - how well the times of the model are kept, since power on
 * @nr: number of I/O commands that were completed, but for those that were done in steps or pieces
 * @nr_late: number of those that were ready to be posted NVMEV_LATE_NS after they were due, or
 *	later
 * @sum_ns: sum of the lateness of all @nr commands
 * @model_ns: sum of what they take in the model
 * @worst_ns: largest lateness of a command
 * @bucket: commands by lateness, as in struct dieaware_log_late
 *
 * How long a completion waits for the host to make room in its queue does not count.
 */
struct nvmev_lateness {
	u64 nr;
	u64 nr_late;
	u64 sum_ns;
	u64 model_ns;
	u64 worst_ns;
	u64 bucket[DIEAWARE_LATE_BUCKETS];
};

/**
 * nvmev_get_lateness() - how late were completions?
 * @nvmev: the SSD
 * @lateness: gets the answer
 */
void nvmev_get_lateness(struct nvmev *nvmev, struct nvmev_lateness *lateness);

/* By how much a measurement is wrong that takes this machine's times for the model's */
static inline u64 nvmev_late_permille(const struct nvmev_lateness *lateness)
{
	if (!lateness->model_ns)
		return 0;
	return div64_u64(lateness->sum_ns, div64_u64(lateness->model_ns, 1000) ?: 1);
}

#endif /* NVMEV_LATENESS_H */
