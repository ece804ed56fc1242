/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands for an NVMe device from outside its driver, and what the driver lets a module have of
 * them: its interface to users, which wants command and data in a user's memory.
 */
#ifndef DMDA_PASSTHRU_H
#define DMDA_PASSTHRU_H

#include <linux/nvme_ioctl.h>
#include <linux/types.h>

struct block_device;

/**
 * struct dmda_passthru - way to a device for one command at a time
 * @bdev: the whole disk
 * @lent: address of two pages in the task's memory: a command, and its data
 */
struct dmda_passthru {
	struct block_device *bdev;
	unsigned long lent;
};

/**
 * dmda_passthru_open() - take two pages of the task's memory
 * @passthru: the way
 * @bdev: the device, or a partition of it
 * @stays: it is never swapped out, as swap may be above the target, and wait for what is done here
 *
 * Context: may sleep; in a task that has a user's memory, as for all functions here.
 * Return: whether there are any.
 */
bool dmda_passthru_open(struct dmda_passthru *passthru, struct block_device *bdev, bool stays);

/**
 * dmda_passthru_close() - give them back
 * @passthru: an open way
 *
 * Context: may sleep.
 */
void dmda_passthru_close(struct dmda_passthru *passthru);

/**
 * dmda_passthru_give() - set the data of the next command
 * @passthru: an open way
 * @buf: the data
 * @size: bytes of it, a page at most
 *
 * Context: may sleep.
 * Return: whether it could be set.
 */
bool dmda_passthru_give(struct dmda_passthru *passthru, const void *buf, size_t size);

/**
 * dmda_passthru_run() - run a command
 * @passthru: an open way
 * @queue: NVME_IOCTL_ADMIN_CMD or NVME_IOCTL_IO_CMD
 * @cmd: the command, with @timeout_ms 0; has its result afterwards, if it has succeeded
 *
 * Context: may sleep; for memory, too, which the caller restricts.
 * Return: 0, or the status with which the device failed it, or a negative errno.
 */
int dmda_passthru_run(struct dmda_passthru *passthru, unsigned int queue,
		      struct nvme_passthru_cmd *cmd);

/**
 * dmda_passthru_take() - take what a command has fetched
 * @passthru: an open way
 * @buf: memory for it
 * @offset: where it begins in the command's data
 * @size: bytes of it
 *
 * Context: may sleep.
 * Return: whether it could be taken.
 */
bool dmda_passthru_take(struct dmda_passthru *passthru, void *buf, size_t offset, size_t size);

/**
 * dmda_passthru_nsid() - which namespace is it?
 * @bdev: the device, or a partition of it
 *
 * Context: may sleep; any task.
 * Return: its number, or a negative errno: -ENOTTY if it is not NVMe; others if that cannot be said
 * now, as of a head without a path.
 */
int dmda_passthru_nsid(struct block_device *bdev);

/**
 * dmda_passthru_is_local() - does what was cut off never run later?
 * @bdev: the device, or a partition of it
 *
 * The driver ends a command only once the controller has stopped, where it has it on PCI Express
 * itself. Over a network it ends one as soon as the connection is lost, while the device may still
 * be at it.
 *
 * Context: any.
 * Return: whether it is a namespace on PCI Express; false for a head of several paths.
 */
bool dmda_passthru_is_local(struct block_device *bdev);

#endif /* DMDA_PASSTHRU_H */
