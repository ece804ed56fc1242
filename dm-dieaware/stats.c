// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU counters: adding up, resetting, printing. What is counted when is decided
 * where dmda_count() is called. A reset does not touch the words of other CPUs, which may be
 * counting: it remembers the sums, and printing takes them off.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "stats.h"

static const char * const counter_names[DMDA_NR_COUNTERS] = {
	[DMDA_COUNT_WRITES] = "writes",
	[DMDA_COUNT_PAGE] = "page",
	[DMDA_COUNT_IOMAP] = "iomap",
	[DMDA_COUNT_ADJACENCY] = "adjacency",
	[DMDA_COUNT_METADATA] = "metadata",
	[DMDA_COUNT_UNKNOWN] = "unknown",
	[DMDA_COUNT_NONE] = "none",
	[DMDA_COUNT_APPEND] = "append",
	[DMDA_COUNT_OVERWRITE] = "overwrite",
	[DMDA_COUNT_CONFIRMED_APPEND] = "confirmed_append",
	[DMDA_COUNT_CONFIRMED_OVERWRITE] = "confirmed_overwrite",
	[DMDA_COUNT_LOST_UNSEEN] = "lost_unseen",
	[DMDA_COUNT_LOST_MERGED] = "lost_merged",
	[DMDA_COUNT_LOST_MOVED] = "lost_moved",
	[DMDA_COUNT_REJECTED] = "rejected",
	[DMDA_COUNT_RETRIED] = "retried",
	[DMDA_COUNT_CUT] = "cut",
	[DMDA_COUNT_LEARNED] = "learned",
	[DMDA_COUNT_STREAMED] = "streamed",
	[DMDA_COUNT_SHARED_PAGES] = "shared_pages",
	[DMDA_COUNT_SHARE_DIFFERS] = "share_differs",
	[DMDA_COUNT_SHARE_REFUSED] = "share_refused",
	[DMDA_COUNT_SHARE_UNDONE] = "share_undone",
};

static void add_writes(const struct dmda_cpu *cpu, u64 sums[DMDA_NR_COUNTERS])
{
	enum dmda_source source;
	enum dmda_hint hint;

	for (source = 0; source < DMDA_NR_SOURCES; source++)
		for (hint = 0; hint < DMDA_NR_HINTS; hint++) {
			u64 nr = READ_ONCE(cpu->writes[source][hint]);

			sums[DMDA_COUNT_WRITES] += nr;
			sums[DMDA_COUNT_PAGE + source] += nr;
			sums[DMDA_COUNT_NONE + hint] += nr;
		}
}

/* Of all CPUs */
static void add_up(struct dmda_stats *stats, u64 sums[DMDA_NR_COUNTERS])
{
	enum dmda_counter counter;
	int nr;

	memset(sums, 0, DMDA_NR_COUNTERS * sizeof(*sums));
	for_each_possible_cpu(nr) {
		const struct dmda_cpu *cpu = per_cpu_ptr(stats->cpu, nr);

		for (counter = 0; counter < DMDA_NR_COUNTERS; counter++)
			sums[counter] += READ_ONCE(cpu->counters[counter]);
		add_writes(cpu, sums);
	}
}

int dmda_stats_init(struct dmda_stats *stats)
{
	memset(stats->base, 0, sizeof(stats->base));
	stats->cpu = alloc_percpu(struct dmda_cpu);
	return stats->cpu ? 0 : -ENOMEM;
}

void dmda_stats_exit(struct dmda_stats *stats)
{
	free_percpu(stats->cpu);
}

void dmda_stats_reset(struct dmda_stats *stats)
{
	u64 sums[DMDA_NR_COUNTERS];
	enum dmda_counter counter;

	add_up(stats, sums);
	for (counter = 0; counter < DMDA_NR_COUNTERS; counter++)
		/* Whoever sees it finds no less in the counters. */
		smp_store_release(&stats->base[counter], sums[counter]);
}

size_t dmda_stats_print(struct dmda_stats *stats, char *buf, size_t size)
{
	u64 base[DMDA_NR_COUNTERS], sums[DMDA_NR_COUNTERS];
	enum dmda_counter counter;
	size_t len = 0;

	for (counter = 0; counter < DMDA_NR_COUNTERS; counter++)
		/* Before the sums: a reset in between must not make any less than nothing. */
		base[counter] = smp_load_acquire(&stats->base[counter]);
	add_up(stats, sums);
	for (counter = 0; counter < DMDA_NR_COUNTERS; counter++)
		len += scnprintf(buf + len, size - len, " %s=%llu", counter_names[counter],
				 sums[counter] - base[counter]);
	return len;
}
