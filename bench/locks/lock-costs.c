// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's parameter "lock_costs": a line for each function that took a lock, "NAME NR TICKS
 * MAX_TICKS". What is written to it is ignored, and all counts are 0 then.
 */
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/timex.h>

#define NR_EMPTY 16

static LIST_HEAD(all_sites);
static struct lock_site *held_at;
static u64 held_since;
/* What is counted where a lock is taken and let go of at once */
static u64 least_ticks;
static unsigned int nr_nested;

void lock_costs_begin(struct lock_site *site)
{
	if (held_at)
		nr_nested++;
	if (!site->is_known) {
		site->is_known = true;
		list_add_tail(&site->list, &all_sites);
	}
	held_at = site;
	held_since = get_cycles();
}

void lock_costs_end(void)
{
	u64 ticks = get_cycles() - held_since;
	struct lock_site *site = held_at;

	held_at = NULL;
	if (!site)
		return;
	ticks -= min(ticks, least_ticks);
	site->nr++;
	site->ticks += ticks;
	site->max_ticks = max(site->max_ticks, ticks);
}

static void forget(void)
{
	struct lock_site *site;
	unsigned long flags;

	local_irq_save(flags);
	list_for_each_entry(site, &all_sites, list) {
		site->nr = 0;
		site->ticks = 0;
		site->max_ticks = 0;
	}
	nr_nested = 0;
	local_irq_restore(flags);
}

/* The second of two empty holdings finds everything in its place. */
static void calibrate(void)
{
	struct lock_site empty = { .is_known = true };
	unsigned long flags;
	unsigned int i;

	local_irq_save(flags);
	for (i = 0; i < NR_EMPTY; i++) {
		empty.ticks = 0;
		lock_costs_begin(&empty);
		lock_costs_end();
	}
	least_ticks += empty.ticks;
	local_irq_restore(flags);
}

static int lock_costs_set(const char *value, const struct kernel_param *param)
{
	if (!least_ticks)
		calibrate();
	forget();
	return 0;
}

static int lock_costs_get(char *buffer, const struct kernel_param *param)
{
	struct lock_site *site;
	int size = 0;

	list_for_each_entry(site, &all_sites, list) {
		if (site->nr)
			size += scnprintf(buffer + size, PAGE_SIZE - size, "%s %llu %llu %llu\n",
					  site->name, site->nr, site->ticks, site->max_ticks);
	}
	if (nr_nested)
		size += scnprintf(buffer + size, PAGE_SIZE - size, "nested %u 0 0\n", nr_nested);
	return size;
}

static const struct kernel_param_ops lock_costs_ops = {
	.set = lock_costs_set,
	.get = lock_costs_get,
};

module_param_cb(lock_costs, &lock_costs_ops, NULL, 0644);
MODULE_PARM_DESC(lock_costs, "What is done inside locks, by function");
