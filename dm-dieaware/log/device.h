/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device in log mode from construction to destruction.
 */
#ifndef DMDA_LOG_DEVICE_H
#define DMDA_LOG_DEVICE_H

#include <linux/types.h>

struct dmda;
struct dmda_log;
struct queue_limits;

/**
 * dmda_log_create() - prepare log mode for a target
 * @dmda: the target, whose device is known; ti->len is checked
 *
 * Reads the superblock, and no more: another target may still be writing.
 *
 * Context: may sleep.
 * Return: 0, or a negative errno with ti->error set.
 */
int dmda_log_create(struct dmda *dmda);

/**
 * dmda_log_destroy() - give everything back; writes nothing
 */
void dmda_log_destroy(struct dmda *dmda);

/**
 * dmda_log_preresume() - start, or go on
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int dmda_log_preresume(struct dmda *dmda);

/**
 * dmda_log_resume() - bios may come
 */
void dmda_log_resume(struct dmda *dmda);

/**
 * dmda_log_presuspend() - bios still come, but not for long
 *
 * Who has sent a message holds up the suspension until that is done.
 */
void dmda_log_presuspend(struct dmda *dmda);

/**
 * dmda_log_presuspend_undo() - it goes on
 */
void dmda_log_presuspend_undo(struct dmda *dmda);

/**
 * dmda_log_postsuspend() - no bio is under way: make everything durable
 */
void dmda_log_postsuspend(struct dmda *dmda);

/**
 * dmda_log_limits() - what bios may be like
 */
void dmda_log_limits(const struct dmda_log *log, struct queue_limits *limits);

#endif /* DMDA_LOG_DEVICE_H */
