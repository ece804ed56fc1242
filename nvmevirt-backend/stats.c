// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be watched: /sys/kernel/debug/nvmev/<name>/
 *
 *   dies        a line for each die: work done, and where it stands
 *   ftl         totals of the FTL
 *   controller  commands, hints on the wire, memory in use
 *   map         write "FIRST_LBA NR_LBAS", read a line "LBA DIE UNIT" for each page;
 *               "-" where nothing is mapped. Two pages with the same unit are read
 *               by one sense.
 *   fail        write "program DIE N" or "erase DIE N": let an operation fail
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "nvmev.h"

#define RANGE_TEXT_BYTES	64

static struct dentry *debugfs_root;

static int dies_show(struct seq_file *seq, void *data)
{
	struct nvmev *nvmev = seq->private;
	u64 now_ns = ktime_get_ns();
	struct ftl_die_stats stats;
	u32 die;

	guard(mutex)(&nvmev->ftl_lock);
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

	guard(mutex)(&nvmev->ftl_lock);
	ftl_advance(nvmev->ftl, ktime_get_ns());
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
	seq_printf(seq, "hints_ignored %llu\n", stats.hints_ignored + malformed);
	seq_printf(seq, "pages_off_die %llu\n", stats.pages_off_die);
	seq_printf(seq, "buffer_hits %llu\n", stats.buffer_hits);
	seq_printf(seq, "run_units_evicted %llu\n", stats.run_units_evicted);
	seq_printf(seq, "gc_runs %llu\n", stats.gc_runs);
	seq_printf(seq, "pages_levelled %llu\n", stats.pages_levelled);
	seq_printf(seq, "programs_failed %llu\n", stats.programs_failed);
	seq_printf(seq, "erases_failed %llu\n", stats.erases_failed);
	seq_printf(seq, "eblks_bad %llu\n", stats.eblks_bad);
	seq_printf(seq, "spares_left %llu\n", stats.spares_left);
	seq_printf(seq, "read_only %u\n", ftl_is_read_only(nvmev->ftl));
	seq_printf(seq, "rows_mended %llu\n", stats.rows_mended);
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
	guard(mutex)(&nvmev->ftl_lock);
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
	const struct nvmev *nvmev = seq->private;
	const struct nvmev_counters *counters = &nvmev->counters;

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
	seq_printf(seq, "wakeups %llu\n", READ_ONCE(counters->wakeups));
	seq_printf(seq, "commands_in_flight %u\n",
		   NVMEV_NR_SLOTS - READ_ONCE(nvmev->queues.nr_free));
	seq_printf(seq, "data_pages_in_memory %llu\n", nvmev_store_nr_pages(&nvmev->store));
	seq_printf(seq, "lba_bytes %u\n", 1U << READ_ONCE(nvmev->lba_shift));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(controller);

/**
 * struct map_range - what one open `map` file answers for
 * @nvmev: the SSD
 * @first: first page
 * @end: page behind the last
 */
struct map_range {
	struct nvmev *nvmev;
	u64 first;
	u64 end;
};

static void *map_at(struct map_range *range, loff_t *pos)
{
	return *pos < range->end - range->first ? pos : NULL;
}

static void *map_start(struct seq_file *seq, loff_t *pos)
{
	return map_at(seq->private, pos);
}

static void *map_next(struct seq_file *seq, void *data, loff_t *pos)
{
	++*pos;
	return map_at(seq->private, pos);
}

static void map_stop(struct seq_file *seq, void *data)
{
}

static int map_show(struct seq_file *seq, void *data)
{
	struct map_range *range = seq->private;
	struct nvmev *nvmev = range->nvmev;
	u64 page = range->first + *(loff_t *)data;
	lpn_t lpn = to_lpn(page);
	u64 lba;

	guard(mutex)(&nvmev->ftl_lock);
	ftl_advance(nvmev->ftl, ktime_get_ns());
	lba = page << (FTL_PAGE_SHIFT - nvmev->lba_shift);
	if (ftl_is_mapped(nvmev->ftl, lpn))
		seq_printf(seq, "%llu %u %llu\n", lba, from_die(ftl_die_of(nvmev->ftl, lpn)),
			   ftl_unit_of(nvmev->ftl, lpn));
	else
		seq_printf(seq, "%llu - -\n", lba);
	return 0;
}

static const struct seq_operations map_seq_ops = {
	.start = map_start,
	.next = map_next,
	.stop = map_stop,
	.show = map_show,
};

static int map_open(struct inode *inode, struct file *file)
{
	struct map_range *range = __seq_open_private(file, &map_seq_ops, sizeof(*range));

	if (!range)
		return -ENOMEM;
	range->nvmev = inode->i_private;
	range->end = range->nvmev->config.ftl.nr_lpns;
	return 0;
}

static ssize_t map_write(struct file *file, const char __user *text, size_t bytes, loff_t *pos)
{
	struct seq_file *seq = file->private_data;
	struct map_range *range = seq->private;
	struct nvmev *nvmev = range->nvmev;
	u32 shift = FTL_PAGE_SHIFT - READ_ONCE(nvmev->lba_shift);
	char buf[RANGE_TEXT_BYTES] = {};
	u64 lba, nr_lbas;

	if (bytes >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, text, bytes))
		return -EFAULT;
	if (sscanf(buf, "%llu %llu", &lba, &nr_lbas) != 2)
		return -EINVAL;
	if (lba > nvmev_ns_nr_lbas(nvmev) || nr_lbas > nvmev_ns_nr_lbas(nvmev) - lba)
		return -ERANGE;
	mutex_lock(&seq->lock);
	range->first = lba >> shift;
	range->end = max(range->first, (lba + nr_lbas + BIT_ULL(shift) - 1) >> shift);
	mutex_unlock(&seq->lock);
	/* The next read begins with the first line of the new range. */
	*pos = 0;
	return bytes;
}

static const struct file_operations map_fops = {
	.owner = THIS_MODULE,
	.open = map_open,
	.read = seq_read,
	.write = map_write,
	.llseek = seq_lseek,
	.release = seq_release_private,
};

void nvmev_stats_add(struct nvmev *nvmev)
{
	nvmev->debugfs = debugfs_create_dir(nvmev->name, debugfs_root);
	debugfs_create_file("dies", 0444, nvmev->debugfs, nvmev, &dies_fops);
	debugfs_create_file("ftl", 0444, nvmev->debugfs, nvmev, &ftl_fops);
	debugfs_create_file("fail", 0200, nvmev->debugfs, nvmev, &fail_fops);
	debugfs_create_file("controller", 0444, nvmev->debugfs, nvmev, &controller_fops);
	debugfs_create_file("inject", 0600, nvmev->debugfs, nvmev, &nvmev_inject_fops);
	debugfs_create_file("map", 0644, nvmev->debugfs, nvmev, &map_fops);
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
