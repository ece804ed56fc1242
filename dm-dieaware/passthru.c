// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queues of an NVMe device can be reached from a block device only through the driver's ioctl
 * for users, which wants its data in a user's memory. So the task that constructs or resumes the
 * target, or sends it a message, lends two pages of its address space for as long as that takes;
 * after a resume, and for what it has announced, to a worker. It is privileged: nobody else may
 * load a table.
 *
 * Commands have the time that the driver gives its own (timeout_ms is 0), as the administrator has
 * set it: where one is late, the driver resets the controller, and stops everybody's I/O.
 */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "passthru.h"

/* The lent memory: a command, and behind it the page of its data */
#define LENT_BYTES		(2 * PAGE_SIZE)

bool dmda_passthru_open(struct dmda_passthru *passthru, struct block_device *bdev, bool stays)
{
	unsigned long flags = MAP_PRIVATE | MAP_ANONYMOUS | (stays ? MAP_LOCKED : 0);

	passthru->bdev = bdev->bd_disk->part0;
	if (!current->mm)
		return false;
	passthru->lent = vm_mmap(NULL, 0, LENT_BYTES, PROT_READ | PROT_WRITE, flags, 0);
	return !IS_ERR_VALUE(passthru->lent);
}

void dmda_passthru_close(struct dmda_passthru *passthru)
{
	vm_munmap(passthru->lent, LENT_BYTES);
}

static int disk_ioctl(struct block_device *bdev, unsigned int cmd, unsigned long arg)
{
	const struct block_device_operations *fops = bdev->bd_disk->fops;

	return fops->ioctl ? fops->ioctl(bdev, DMDA_MODE_WRITE, cmd, arg) : -ENOTTY;
}

int dmda_passthru_nsid(struct block_device *bdev)
{
	if (strncmp(bdev->bd_disk->disk_name, "nvme", 4))
		return -ENOTTY;
	return disk_ioctl(bdev->bd_disk->part0, NVME_IOCTL_ID, 0);
}

/* A namespace's disk has the controller as parent, and that has what it is on. */
bool dmda_passthru_is_local(struct block_device *bdev)
{
	const struct device *controller = disk_to_dev(bdev->bd_disk)->parent;

	return controller && controller->parent && dev_is_pci(controller->parent);
}

bool dmda_passthru_give(struct dmda_passthru *passthru, const void *buf, size_t size)
{
	return !copy_to_user((void __user *)(passthru->lent + PAGE_SIZE), buf, size);
}

int dmda_passthru_run(struct dmda_passthru *passthru, unsigned int queue,
		      struct nvme_passthru_cmd *cmd)
{
	void __user *cmd_page = (void __user *)passthru->lent;
	int ret;

	cmd->addr = (__u64)(passthru->lent + PAGE_SIZE);
	if (copy_to_user(cmd_page, cmd, sizeof(*cmd)))
		return -EFAULT;
	ret = disk_ioctl(passthru->bdev, queue, passthru->lent);
	if (ret)
		return ret;
	return copy_from_user(cmd, cmd_page, sizeof(*cmd)) ? -EFAULT : 0;
}

bool dmda_passthru_take(struct dmda_passthru *passthru, void *buf, size_t offset, size_t size)
{
	return !copy_from_user(buf, (void __user *)(passthru->lent + PAGE_SIZE) + offset, size);
}
