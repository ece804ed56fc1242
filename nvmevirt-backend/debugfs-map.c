// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be watched of a namespace: /sys/kernel/debug/nvmev/<name>/nsN/
 *
 *   map    write "FIRST_LBA NR_LBAS", read a line "LBA DIE UNIT" for each page; "-" where
 *          nothing is mapped. Two pages with the same unit are read by one sense. What one
 *          read() gets, at most 16 KiB of text, is of one moment.
 *   stats  size, what it holds, bytes moved
 *
 * The first namespace's `map` stands one level higher as well.
 */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "debugfs-map.h"
#include "nvmev.h"
#include "outage.h"
#include "turn.h"

#define RANGE_TEXT_BYTES	64
/* Some 1000 lines, which is how long the FTL has to wait at most */
#define MAP_TEXT_BYTES		(16 << 10)
#define DIR_NAME_BYTES		8

static struct nvmev *nvmev_of(const struct nvmev_ns *ns)
{
	const struct nvmev_ns *first = ns - (ns->nsid - 1);

	return container_of(first, struct nvmev, ns[0]);
}

/**
 * struct map_range - what one open `map` file answers for
 * @nvmev: the SSD
 * @ns: the namespace
 * @first: first page of the namespace
 * @end: page behind the last
 */
struct map_range {
	struct nvmev *nvmev;
	const struct nvmev_ns *ns;
	u64 first;
	u64 end;
};

static void *map_at(struct map_range *range, loff_t *pos)
{
	return *pos < range->end - range->first ? pos : NULL;
}

/* Until map_stop() no unit goes to NAND: its pages would seem to lie in two. */
static void *map_start(struct seq_file *seq, loff_t *pos)
{
	struct map_range *range = seq->private;
	struct nvmev *nvmev = range->nvmev;

	nvmev_ftl_visit(nvmev);
	ftl_advance(nvmev->ftl, nvmev_now(nvmev));
	return map_at(range, pos);
}

static void *map_next(struct seq_file *seq, void *data, loff_t *pos)
{
	++*pos;
	return map_at(seq->private, pos);
}

static void map_stop(struct seq_file *seq, void *data)
{
	const struct map_range *range = seq->private;

	nvmev_ftl_leave(range->nvmev);
}

static int map_show(struct seq_file *seq, void *data)
{
	struct map_range *range = seq->private;
	struct nvmev *nvmev = range->nvmev;
	u64 page = range->first + *(loff_t *)data;
	lpn_t lpn = to_lpn(range->ns->first_page + page);
	u64 lba;

	lba = page << (FTL_PAGE_SHIFT - range->ns->lba_shift);
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
	struct seq_file *seq;

	if (!range)
		return -ENOMEM;
	range->ns = inode->i_private;
	range->nvmev = nvmev_of(range->ns);
	range->end = range->ns->nr_pages;
	seq = file->private_data;
	seq->buf = kvmalloc(MAP_TEXT_BYTES, GFP_KERNEL);
	/* Else it gets a page when it is read. */
	if (seq->buf)
		seq->size = MAP_TEXT_BYTES;
	return 0;
}

static ssize_t map_write(struct file *file, const char __user *text, size_t bytes, loff_t *pos)
{
	struct seq_file *seq = file->private_data;
	struct map_range *range = seq->private;
	u32 shift = FTL_PAGE_SHIFT - READ_ONCE(range->ns->lba_shift);
	char buf[RANGE_TEXT_BYTES] = {};
	u64 lba, nr_lbas;

	if (bytes >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, text, bytes))
		return -EFAULT;
	if (sscanf(buf, "%llu %llu", &lba, &nr_lbas) != 2)
		return -EINVAL;
	if (nvmev_ns_check(range->ns, lba, nr_lbas))
		return -ERANGE;
	mutex_lock(&seq->lock);
	/* The namespace may just have been formatted with other LBAs. */
	range->first = min(lba >> shift, range->ns->nr_pages);
	range->end = clamp((lba + nr_lbas + BIT_ULL(shift) - 1) >> shift, range->first,
			   range->ns->nr_pages);
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

static int stats_show(struct seq_file *seq, void *data)
{
	const struct nvmev_ns *ns = seq->private;
	struct nvmev *nvmev = nvmev_of(ns);

	guard(nvmev_visit)(nvmev);
	seq_printf(seq, "lba_bytes %u\n", 1U << ns->lba_shift);
	seq_printf(seq, "nr_lbas %llu\n", nvmev_ns_nr_lbas(ns));
	seq_printf(seq, "first_page %llu\n", ns->first_page);
	seq_printf(seq, "pages_mapped %llu\n",
		   ftl_nr_mapped(nvmev->ftl, to_lpn(ns->first_page), ns->nr_pages));
	seq_printf(seq, "bytes_read %llu\n", READ_ONCE(ns->bytes_read));
	seq_printf(seq, "bytes_written %llu\n", READ_ONCE(ns->bytes_written));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

void nvmev_map_add(struct nvmev *nvmev)
{
	char name[DIR_NAME_BYTES];
	struct dentry *dir;
	u32 i;

	for (i = 0; i < nvmev->nr_ns; i++) {
		snprintf(name, sizeof(name), "ns%u", nvmev->ns[i].nsid);
		dir = debugfs_create_dir(name, nvmev->debugfs);
		debugfs_create_file("map", 0644, dir, &nvmev->ns[i], &map_fops);
		debugfs_create_file("stats", 0444, dir, &nvmev->ns[i], &stats_fops);
	}
	debugfs_create_file("map", 0644, nvmev->debugfs, &nvmev->ns[0], &map_fops);
}
