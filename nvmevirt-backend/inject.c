// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors on request, through the debugfs file `inject`: a line written to it is something
 * that goes wrong from then on; reading it lists what does.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "health.h"
#include "nvmev.h"
#include "turn.h"

#define LINE_BYTES		80
#define NORMAL_KELVIN		(273 + 36)

/* A day is longer than any timeout. */
#define MOST_MS			(24 * 3600 * MSEC_PER_SEC)

/**
 * struct word - what a line can begin with
 * @name: the word
 * @nr_numbers: how many numbers follow
 * @kind: the fault it makes, if it makes one
 */
struct word {
	const char *name;
	int nr_numbers;
	enum nvmev_fault_kind kind;
};

static const struct word words[] = {
	{ "read_error", 2, NVMEV_FAULT_READ },
	{ "write_fault", 2, NVMEV_FAULT_WRITE },
	{ "delay", 3, NVMEV_FAULT_DELAY },
	{ "drop", 3, NVMEV_FAULT_DROP },
	{ "misread", 3, NVMEV_FAULT_MISREAD },
	{ "clear", 0, NVMEV_FAULT_NONE },
	{ "fatal", 0, NVMEV_FAULT_NONE },
	{ "temperature", 1, NVMEV_FAULT_NONE },
	{ "spare", 1, NVMEV_FAULT_NONE },
	{ "fdp", 1, NVMEV_FAULT_NONE },
	{ "delay_admin", 1, NVMEV_FAULT_NONE },
};

void nvmev_inject_init(struct nvmev_inject *inject)
{
	memset(inject, 0, sizeof(*inject));
	mutex_init(&inject->lock);
	inject->temperature = NORMAL_KELVIN;
	inject->spare = NVMEV_SPARE_IS_TRUE;
}

static struct nvmev_fault *free_fault(struct nvmev_inject *inject)
{
	u32 i;

	for (i = 0; i < NVMEV_MAX_FAULTS; i++)
		if (inject->faults[i].kind == NVMEV_FAULT_NONE)
			return &inject->faults[i];
	return NULL;
}

static int add_fault(struct nvmev_inject *inject, const struct nvmev_fault *fault)
{
	struct nvmev_fault *slot = free_fault(inject);

	if (!slot)
		return -ENOSPC;
	*slot = *fault;
	WRITE_ONCE(inject->nr_faults, inject->nr_faults + 1);
	return 0;
}

static void remove_fault(struct nvmev_inject *inject, struct nvmev_fault *fault)
{
	fault->kind = NVMEV_FAULT_NONE;
	WRITE_ONCE(inject->nr_faults, inject->nr_faults - 1);
}

/* It has happened to one of the commands that it was to happen to. */
static void use_up(struct nvmev_inject *inject, struct nvmev_fault *fault)
{
	if (!--fault->amount)
		remove_fault(inject, fault);
}

static bool touches(const struct nvmev_fault *fault, const struct nvmev_cmd *cmd, u64 first,
		    u64 end)
{
	return fault->kind != NVMEV_FAULT_NONE && fault->nsid == cmd->ns->nsid &&
	       first < fault->end && fault->first < end;
}

/* What was written can be read. A range that is healed in its middle becomes two. */
static void heal(struct nvmev_inject *inject, struct nvmev_fault *fault, u64 first, u64 end)
{
	struct nvmev_fault behind = *fault;

	if (first <= fault->first && end >= fault->end) {
		remove_fault(inject, fault);
	} else if (first <= fault->first) {
		fault->first = end;
	} else {
		fault->end = first;
		behind.first = end;
		/* With no entry left the rest is healed as well. */
		if (behind.first < behind.end)
			add_fault(inject, &behind);
	}
}

static void heal_all_locked(struct nvmev_inject *inject, const struct nvmev_cmd *cmd, u64 first,
			    u64 end)
{
	u32 i;

	lockdep_assert_held(&inject->lock);

	for (i = 0; i < NVMEV_MAX_FAULTS; i++)
		if (inject->faults[i].kind == NVMEV_FAULT_READ &&
		    touches(&inject->faults[i], cmd, first, end))
			heal(inject, &inject->faults[i], first, end);
}

static bool is_read(u8 opcode)
{
	return opcode == nvme_cmd_read || opcode == nvme_cmd_compare || opcode == nvme_cmd_verify;
}

static bool is_write(u8 opcode)
{
	return opcode == nvme_cmd_write || opcode == nvme_cmd_write_zeroes ||
	       opcode == nvme_cmd_write_uncor;
}

/* Of several faults the one with the lowest LBA is met first. */
static void fail(struct nvmev_cmd *cmd, const struct nvmev_fault *fault, u16 status)
{
	u64 lba = max(le64_to_cpu(cmd->sqe.rw.slba), fault->first);

	if (cmd->status && cmd->fault_lba <= lba)
		return;
	cmd->status = status | NVMEV_DNR;
	cmd->fault_lba = lba;
}

static void apply(struct nvmev *nvmev, struct nvmev_cmd *cmd, struct nvmev_fault *fault)
{
	u8 opcode = cmd->sqe.common.opcode;

	switch (fault->kind) {
	case NVMEV_FAULT_READ:
		if (is_read(opcode))
			fail(cmd, fault, NVME_SC_READ_ERROR);
		break;
	case NVMEV_FAULT_WRITE:
		if (is_write(opcode))
			fail(cmd, fault, NVME_SC_WRITE_FAULT);
		break;
	case NVMEV_FAULT_DELAY:
		/* One that is dropped besides must not get a time before all others. */
		cmd->due_ns = min_t(u64, cmd->due_ns + fault->amount * NSEC_PER_MSEC, KTIME_MAX);
		break;
	case NVMEV_FAULT_DROP:
		/* In the heap for ever, until it is aborted or its queue deleted. */
		cmd->due_ns = KTIME_MAX;
		use_up(&nvmev->inject, fault);
		break;
	case NVMEV_FAULT_MISREAD:
		if (opcode != nvme_cmd_read)
			break;
		cmd->is_misread = true;
		use_up(&nvmev->inject, fault);
		break;
	default:
		break;
	}
}

void nvmev_inject_apply(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	struct nvmev_inject *inject = &nvmev->inject;
	u8 opcode = cmd->sqe.common.opcode;
	u64 first = le64_to_cpu(cmd->sqe.rw.slba);
	u64 end = first + le16_to_cpu(cmd->sqe.rw.length) + 1;
	u32 i;

	if (!READ_ONCE(inject->nr_faults) || (!is_read(opcode) && !is_write(opcode)))
		return;
	guard(mutex)(&inject->lock);
	for (i = 0; i < NVMEV_MAX_FAULTS; i++)
		if (touches(&inject->faults[i], cmd, first, end))
			apply(nvmev, cmd, &inject->faults[i]);
	if (cmd->status) {
		nvmev->counters.media_errors++;
		return;
	}
	if (is_write(opcode))
		heal_all_locked(inject, cmd, first, end);
}

void nvmev_inject_written(struct nvmev *nvmev, const struct nvmev_cmd *cmd, u64 slba, u64 nr_lbas)
{
	struct nvmev_inject *inject = &nvmev->inject;

	if (!READ_ONCE(inject->nr_faults))
		return;
	guard(mutex)(&inject->lock);
	heal_all_locked(inject, cmd, slba, slba + nr_lbas);
}

/* A fault that a command must meet before it has done anything */
static u16 meet(struct nvmev *nvmev, struct nvmev_cmd *cmd, enum nvmev_fault_kind kind, u64 slba,
		u64 nr_lbas)
{
	struct nvmev_inject *inject = &nvmev->inject;
	u64 first = slba + nr_lbas;
	u32 i;

	if (!READ_ONCE(inject->nr_faults))
		return 0;
	guard(mutex)(&inject->lock);
	for (i = 0; i < NVMEV_MAX_FAULTS; i++)
		if (inject->faults[i].kind == kind &&
		    touches(&inject->faults[i], cmd, slba, slba + nr_lbas))
			first = min(first, max(slba, inject->faults[i].first));
	if (first == slba + nr_lbas)
		return 0;
	nvmev->counters.media_errors++;
	cmd->fault_lba = first;
	return (kind == NVMEV_FAULT_READ ? NVME_SC_READ_ERROR : NVME_SC_WRITE_FAULT) | NVMEV_DNR;
}

u16 nvmev_inject_read(struct nvmev *nvmev, struct nvmev_cmd *cmd, u64 slba, u64 nr_lbas)
{
	return meet(nvmev, cmd, NVMEV_FAULT_READ, slba, nr_lbas);
}

u16 nvmev_inject_write(struct nvmev *nvmev, struct nvmev_cmd *cmd, u64 slba, u64 nr_lbas)
{
	return meet(nvmev, cmd, NVMEV_FAULT_WRITE, slba, nr_lbas);
}

static void clear_all(struct nvmev_inject *inject)
{
	memset(inject->faults, 0, sizeof(inject->faults));
	WRITE_ONCE(inject->nr_faults, 0);
	WRITE_ONCE(inject->temperature, NORMAL_KELVIN);
	WRITE_ONCE(inject->spare, NVMEV_SPARE_IS_TRUE);
	WRITE_ONCE(inject->fdp_is_off, false);
	WRITE_ONCE(inject->admin_ms, 0);
}

static int set_condition(struct nvmev_inject *inject, const char *name, u64 value)
{
	if (!strcmp(name, "clear")) {
		clear_all(inject);
	} else if (!strcmp(name, "fatal")) {
		WRITE_ONCE(inject->fatal, true);
	} else if (!strcmp(name, "temperature")) {
		if (value > U16_MAX)
			return -ERANGE;
		WRITE_ONCE(inject->temperature, value);
		WRITE_ONCE(inject->check_health, true);
	} else if (!strcmp(name, "fdp")) {
		if (value > 1)
			return -ERANGE;
		WRITE_ONCE(inject->fdp_is_off, !value);
	} else if (!strcmp(name, "delay_admin")) {
		if (value > MOST_MS)
			return -ERANGE;
		WRITE_ONCE(inject->admin_ms, value);
	} else {
		if (value > 100)
			return -ERANGE;
		WRITE_ONCE(inject->spare, value);
		WRITE_ONCE(inject->check_health, true);
	}
	return 0;
}

static int break_range(struct nvmev_inject *inject, const struct word *word, u32 nsid,
		       const u64 *numbers)
{
	struct nvmev_fault fault = {
		.kind = word->kind,
		.nsid = nsid,
		.first = numbers[0],
		.amount = numbers[2],
	};

	if (!numbers[1] || check_add_overflow(numbers[0], numbers[1], &fault.end))
		return -ERANGE;
	if (word->nr_numbers == 3 && (!fault.amount || fault.amount > MOST_MS))
		return -ERANGE;
	return add_fault(inject, &fault);
}

/* "WORD:NSID" is about another namespace than the first. */
static int split_name(char *name, u32 *nsid)
{
	char *rest = name;

	strsep(&rest, ":");
	*nsid = 1;
	return rest ? kstrtou32(rest, 10, nsid) : 0;
}

static int obey(struct nvmev *nvmev, const char *line)
{
	struct nvmev_inject *inject = &nvmev->inject;
	u64 numbers[3] = {};
	char name[20];
	u32 i, nsid;
	int nr;

	nr = sscanf(line, "%19s %llu %llu %llu", name, &numbers[0], &numbers[1], &numbers[2]);
	if (nr < 1 || split_name(name, &nsid) || !nvmev_ns_find(nvmev, nsid))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(name, words[i].name))
			continue;
		if (nr != 1 + words[i].nr_numbers)
			return -EINVAL;
		guard(mutex)(&inject->lock);
		if (words[i].kind == NVMEV_FAULT_NONE)
			return set_condition(inject, name, numbers[0]);
		return break_range(inject, &words[i], nsid, numbers);
	}
	return -EINVAL;
}

static ssize_t inject_write(struct file *file, const char __user *text, size_t bytes, loff_t *pos)
{
	struct nvmev *nvmev = file_inode(file)->i_private;
	char line[LINE_BYTES] = {};
	int ret;

	if (bytes >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, text, bytes))
		return -EFAULT;
	/* The timer takes it for granted that there are no faults. */
	scoped_guard(nvmev_turn, nvmev)
		ret = obey(nvmev, line);
	if (ret)
		return ret;
	nvmev_wake(nvmev);
	return bytes;
}

static const char *name_of(enum nvmev_fault_kind kind)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(words) && words[i].kind != kind; i++)
		;
	return words[i].name;
}

static int inject_show(struct seq_file *seq, void *data)
{
	struct nvmev *nvmev = seq->private;
	struct nvmev_inject *inject = &nvmev->inject;
	u8 spare = nvmev_available_spare(nvmev);
	const struct nvmev_fault *fault;
	u32 i;

	guard(mutex)(&inject->lock);
	seq_printf(seq, "temperature %u\nspare %u\n", inject->temperature, spare);
	if (inject->fdp_is_off)
		seq_puts(seq, "fdp 0\n");
	if (inject->admin_ms)
		seq_printf(seq, "delay_admin %u\n", inject->admin_ms);
	for (i = 0; i < NVMEV_MAX_FAULTS; i++) {
		fault = &inject->faults[i];
		if (fault->kind == NVMEV_FAULT_NONE)
			continue;
		seq_puts(seq, name_of(fault->kind));
		if (fault->nsid != 1)
			seq_printf(seq, ":%u", fault->nsid);
		seq_printf(seq, " %llu %llu", fault->first, fault->end - fault->first);
		if (fault->amount)
			seq_printf(seq, " %llu", fault->amount);
		seq_putc(seq, '\n');
	}
	return 0;
}

static int inject_open(struct inode *inode, struct file *file)
{
	return single_open(file, inject_show, inode->i_private);
}

const struct file_operations nvmev_inject_fops = {
	.owner = THIS_MODULE,
	.open = inject_open,
	.read = seq_read,
	.write = inject_write,
	.llseek = seq_lseek,
	.release = single_release,
};
