// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be watched: /sys/kernel/debug/nvmev/<name>/
 *
 *   dies        a line for each die: work done, and where it stands
 *   ftl         totals of the FTL
 *   controller  commands, hints on the wire, memory in use
 *   map, nsN    what the namespaces hold, see debugfs-map.c
 *   check_moves  compare once more what each read and write has moved, see moved.h
 *   fail        write "program DIE N" or "erase DIE N": let an operation fail
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "debugfs-map.h"
#include "debugfs.h"
#include "nvmev.h"
#include "outage.h"
#include "turn.h"

#define RANGE_TEXT_BYTES	64

static struct dentry *debugfs_root;

static int dies_show(struct seq_file *seq, void *data)
{
	struct nvmev *nvmev = seq->private;
	u64 now_ns = nvmev_now(nvmev);
	struct ftl_die_stats stats;
	u32 die;

	guard(nvmev_visit)(nvmev);
	ftl_advance(nvmev->ftl, now_ns);
	seq_puts(seq, "die channel units_read units_programmed eblks_erased pages_host pages_gc pages_valid busy_ns free_in_ns eblks eblks_free eblks_bad erases_least erases_most gc_ns\n");
	for (die = 0; die < ftl_nr_dies(nvmev->ftl); die++) {
		ftl_get_die_stats(nvmev->ftl, to_die(die), &stats);
		seq_printf(seq, "%u %u %llu %llu %llu %llu %llu %llu %llu %llu %u %u %u %u %u %llu\n",
			   die, die % nvmev->config.ftl.nr_channels, stats.units_read,
			   stats.units_programmed, stats.eblks_erased, stats.pages_host,
			   stats.pages_gc, stats.pages_valid, stats.busy_ns,
			   stats.busy_until_ns > now_ns ? stats.busy_until_ns - now_ns : 0,
			   stats.eblks, stats.eblks_free, stats.eblks_bad, stats.erases_least,
			   stats.erases_most, stats.gc_ns);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(dies);

static int ftl_show(struct seq_file *seq, void *data)
{
	struct nvmev *nvmev = seq->private;
	u64 malformed = READ_ONCE(nvmev->counters.hints_malformed);
	struct ftl_stats stats;

	guard(nvmev_visit)(nvmev);
	ftl_advance(nvmev->ftl, nvmev_now(nvmev));
	ftl_get_stats(nvmev->ftl, &stats);
	seq_printf(seq, "host_pages_read %llu\n", stats.host_pages_read);
	seq_printf(seq, "host_pages_written %llu\n", stats.host_pages_written);
	seq_printf(seq, "nand_pages_programmed %llu\n", stats.nand_pages_programmed);
	seq_printf(seq, "pages_padded %llu\n", stats.pages_padded);
	seq_printf(seq, "pages_drafted %llu\n", stats.pages_drafted);
	seq_printf(seq, "pages_trimmed %llu\n", stats.pages_trimmed);
	seq_printf(seq, "pages_mapped %llu\n", stats.pages_mapped);
	seq_printf(seq, "writes_plain %llu\n", stats.writes_plain - malformed);
	seq_printf(seq, "hints_append %llu\n", stats.hints_append);
	seq_printf(seq, "hints_overwrite %llu\n", stats.hints_overwrite);
	seq_printf(seq, "hints_die %llu\n", stats.hints_die);
	seq_printf(seq, "hints_ignored %llu\n", stats.hints_ignored + malformed);
	seq_printf(seq, "pages_off_die %llu\n", stats.pages_off_die);
	seq_printf(seq, "buffer_hits %llu\n", stats.buffer_hits);
	seq_printf(seq, "pages_read_ahead %llu\n", stats.pages_read_ahead);
	seq_printf(seq, "ahead_hits %llu\n", stats.ahead_hits);
	seq_printf(seq, "run_units_evicted %llu\n", stats.run_units_evicted);
	seq_printf(seq, "gc_runs %llu\n", stats.gc_runs);
	seq_printf(seq, "pages_levelled %llu\n", stats.pages_levelled);
	seq_printf(seq, "pages_exchanged %llu\n", stats.pages_exchanged);
	seq_printf(seq, "eblks_levelled %llu\n", stats.eblks_levelled);
	seq_printf(seq, "programs_failed %llu\n", stats.programs_failed);
	seq_printf(seq, "erases_failed %llu\n", stats.erases_failed);
	seq_printf(seq, "eblks_bad %llu\n", stats.eblks_bad);
	seq_printf(seq, "spares_left %llu\n", stats.spares_left);
	seq_printf(seq, "read_only %u\n", ftl_is_read_only(nvmev->ftl));
	seq_printf(seq, "rows_mended %llu\n", stats.rows_mended);
	seq_printf(seq, "slc_programs %llu\n", stats.slc_programs);
	seq_printf(seq, "slc_folds %llu\n", stats.slc_folds);
	seq_printf(seq, "slc_pages_folded %llu\n", stats.slc_pages_folded);
	seq_printf(seq, "slc_pages_free %llu\n", stats.slc_pages_free);
	seq_printf(seq, "pages_remapped %llu\n", stats.pages_remapped);
	seq_printf(seq, "pages_shared %llu\n", stats.pages_shared);
	seq_printf(seq, "pages_redistributed %llu\n", stats.pages_redistributed);
	seq_printf(seq, "defrag_entries %llu\n", stats.defrag_entries);
	seq_printf(seq, "defrag_programs %llu\n", stats.defrag_programs);
	seq_printf(seq, "defrag_compactions %llu\n", stats.defrag_compactions);
	seq_printf(seq, "defrag_kept %llu\n", stats.defrag_kept);
	seq_printf(seq, "map_hits %llu\n", stats.map_hits);
	seq_printf(seq, "map_misses %llu\n", stats.map_misses);
	seq_printf(seq, "map_programs %llu\n", stats.map_programs);
	seq_printf(seq, "map_pages_programmed %llu\n", stats.map_pages_programmed);
	seq_printf(seq, "stripe_moves %llu\n", stats.stripe_moves);
	seq_printf(seq, "stripe_pads %llu\n", stats.stripe_pads);
	seq_printf(seq, "stripe_skips %llu\n", stats.stripe_skips);
	seq_printf(seq, "parity_programs %llu\n", stats.parity_programs);
	/* Pages programmed for each that the host wrote: more than 1000 is amplification. */
	seq_printf(seq, "write_amplification_permille %llu\n", stats.host_pages_written ?
		   div64_u64(1000 * stats.nand_pages_programmed, stats.host_pages_written) : 0);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ftl);

/* "program DIE N" or "erase DIE N": the die's Nth operation of that kind from now fails. */
static ssize_t fail_write(struct file *file, const char __user *text, size_t bytes, loff_t *pos)
{
	struct nvmev *nvmev = file->private_data;
	char buf[RANGE_TEXT_BYTES] = {};
	char what[8];
	u32 die, nr;

	if (bytes >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, text, bytes))
		return -EFAULT;
	if (sscanf(buf, "%7s %u %u", what, &die, &nr) != 3)
		return -EINVAL;
	/* It has no blocks that could fail. */
	if (nvmev->config.ftl.in_place)
		return -EOPNOTSUPP;
	guard(nvmev_visit)(nvmev);
	if (die >= ftl_nr_dies(nvmev->ftl))
		return -ERANGE;
	if (!strcmp(what, "program"))
		ftl_fail_program(nvmev->ftl, to_die(die), nr);
	else if (!strcmp(what, "erase"))
		ftl_fail_erase(nvmev->ftl, to_die(die), nr);
	else
		return -EINVAL;
	return bytes;
}

static const struct file_operations fail_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = fail_write,
};

static int controller_show(struct seq_file *seq, void *data)
{
	struct nvmev *nvmev = seq->private;
	const struct nvmev_counters *counters = &nvmev->counters;
	struct nvmev_lateness lateness;

	nvmev_get_lateness(nvmev, &lateness);
	seq_printf(seq, "reads %llu\n", READ_ONCE(counters->reads));
	seq_printf(seq, "writes %llu\n", READ_ONCE(counters->writes));
	seq_printf(seq, "bytes_read %llu\n", READ_ONCE(counters->bytes_read));
	seq_printf(seq, "bytes_written %llu\n", READ_ONCE(counters->bytes_written));
	seq_printf(seq, "admin_commands %llu\n", READ_ONCE(counters->admin));
	seq_printf(seq, "failed_commands %llu\n", READ_ONCE(counters->errors));
	seq_printf(seq, "hints_seen %llu\n", READ_ONCE(counters->hints_seen));
	seq_printf(seq, "hints_malformed %llu\n", READ_ONCE(counters->hints_malformed));
	seq_printf(seq, "hints_rejected %llu\n", READ_ONCE(counters->hints_rejected));
	seq_printf(seq, "busy_ns %llu\n", READ_ONCE(counters->busy_ns));
	seq_printf(seq, "pieces %llu\n", READ_ONCE(counters->pieces));
	seq_printf(seq, "wakeups %llu\n", READ_ONCE(counters->wakeups));
	seq_printf(seq, "announced %llu\n", READ_ONCE(counters->announced));
	seq_printf(seq, "looks %llu\n", READ_ONCE(counters->looks));
	seq_printf(seq, "served_as_rung %llu\n", READ_ONCE(counters->served_as_rung));
	seq_printf(seq, "handlers_called %llu\n", READ_ONCE(nvmev->queues.nr_handlers));
	seq_printf(seq, "completions %llu\n", lateness.nr);
	seq_printf(seq, "completions_late %llu\n", lateness.nr_late);
	seq_printf(seq, "late_ns_mean %llu\n",
		   lateness.nr ? div64_u64(lateness.sum_ns, lateness.nr) : 0);
	seq_printf(seq, "late_ns_worst %llu\n", lateness.worst_ns);
	seq_printf(seq, "late_permille %llu\n", nvmev_late_permille(&lateness));
	seq_printf(seq, "commands_in_flight %u\n",
		   NVMEV_ALL_SLOTS - READ_ONCE(nvmev->queues.nr_free));
	seq_printf(seq, "data_pages_in_memory %llu\n", nvmev_store_nr_pages(&nvmev->store));
	seq_printf(seq, "lba_bytes %u\n", 1U << READ_ONCE(nvmev->ns[0].lba_shift));
	seq_printf(seq, "moves_checked %llu\n", READ_ONCE(nvmev->moved.checked));
	seq_printf(seq, "reads_differing %llu\n", READ_ONCE(nvmev->moved.reads_differing));
	seq_printf(seq, "writes_differing %llu\n", READ_ONCE(nvmev->moved.writes_differing));
	seq_printf(seq, "commands_changed %llu\n", READ_ONCE(nvmev->moved.other_commands));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(controller);

void nvmev_stats_add(struct nvmev *nvmev)
{
	nvmev->debugfs = debugfs_create_dir(nvmev->name, debugfs_root);
	debugfs_create_file("dies", 0444, nvmev->debugfs, nvmev, &dies_fops);
	debugfs_create_file("ftl", 0444, nvmev->debugfs, nvmev, &ftl_fops);
	debugfs_create_file("fail", 0200, nvmev->debugfs, nvmev, &fail_fops);
	debugfs_create_file("controller", 0444, nvmev->debugfs, nvmev, &controller_fops);
	debugfs_create_bool("check_moves", 0600, nvmev->debugfs, &nvmev->check_moves);
	debugfs_create_file("inject", 0600, nvmev->debugfs, nvmev, &nvmev_inject_fops);
	nvmev_map_add(nvmev);
}

void nvmev_stats_remove(struct nvmev *nvmev)
{
	debugfs_remove_recursive(nvmev->debugfs);
}

void nvmev_stats_init(void)
{
	debugfs_root = debugfs_create_dir("nvmev", NULL);
}

void nvmev_stats_exit(void)
{
	debugfs_remove_recursive(debugfs_root);
}
