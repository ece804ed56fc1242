/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets at work, and which part of which device each of them uses: see users.c.
 */
#ifndef DMDA_USERS_H
#define DMDA_USERS_H

#include <linux/list.h>
#include <linux/types.h>

struct dmda;

/**
 * struct dmda_user - what a target at work uses of the device below it; under a lock of users.c
 * @list: in the list of all, or empty: it is not at work
 * @end_sector: end of what it uses, from its start sector on
 */
struct dmda_user {
	struct list_head list;
	u64 end_sector;
};

/**
 * struct dmda_refusal - why a target must not be at work
 * @why: half a sentence, or NULL: it may
 * @device: number of the dm device whose target is in the way, or empty
 */
struct dmda_refusal {
	const char *why;
	char device[16];
};

/**
 * dmda_refusal_set() - another target is in the way
 * @refusal: filled
 * @why: half a sentence
 * @other: the other one; it must not go meanwhile
 *
 * Context: any.
 */
void dmda_refusal_set(struct dmda_refusal *refusal, const char *why, const struct dmda *other);

/**
 * dmda_user_init() - a target that is not at work
 * @dmda: the target
 */
void dmda_user_init(struct dmda *dmda);

/**
 * dmda_user_begin() - a target is going to work
 * @dmda: the target; its mode is known, and its device open; it may be at work already
 * @nr_sectors: what it uses of the device, from its start sector on
 *
 * Context: may sleep; at each resume.
 * Return: why it must not, if so.
 */
struct dmda_refusal dmda_user_begin(struct dmda *dmda, u64 nr_sectors);

/**
 * dmda_user_end() - a target is no longer at work, if it was
 * @dmda: the target
 *
 * Context: may sleep; when it is suspended, and before it goes.
 */
void dmda_user_end(struct dmda *dmda);

#endif /* DMDA_USERS_H */
