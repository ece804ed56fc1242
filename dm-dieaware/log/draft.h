/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drafts at work (core/draft.h): for which writes one is made, and its way to the device.
 */
#ifndef DMDA_LOG_DRAFT_H
#define DMDA_LOG_DRAFT_H

#include <linux/bio.h>

#include "../core/ondisk.h"

struct dmda_log;
struct dmda_log_io;

/**
 * struct dmda_log_draft - the draft that there is, or memory for one
 * @bio: bio that writes it
 * @sectors: the vector of @bio
 * @copy: pages with the data of its write, which must not change while it is written
 * @before: vectors that the write came with
 * @is_busy: whether its write's data is on its way, from @copy
 * @is_writing: whether @bio is on its way
 * @has_writes: whether the batch that is being filled has pages that somebody has written; copies
 *	that cleaning makes say nothing of what is flushed
 * @nr_own: number of operations in that batch for which no user has asked: pages that cleaning has
 *	moved, segments that have changed their state
 * @credit: what the last commits say about whether a write is alone in its own: more than
 *	0, if they have been of such; less, if a draft has been in vain
 */
struct dmda_log_draft {
	struct bio bio;
	struct bio_vec sectors;
	struct bio_vec copy[DMDA_MAX_DRAFT_PAGES];
	struct bio_vec *before;
	bool is_busy;
	bool is_writing;
	bool has_writes;
	u32 nr_own;
	int credit;
};

/**
 * dmda_log_draft_create() - memory for drafts, if the device has some
 *
 * Return: 0 or -ENOMEM; dmda_log_draft_destroy() is due in both cases.
 */
int dmda_log_draft_create(struct dmda_log *log);
void dmda_log_draft_destroy(struct dmda_log *log);

/**
 * dmda_log_draft_make_locked() - a write has its places: is a flush likely to follow it at once?
 *
 * Then a draft may be made; dmda_log_draft_seal() and dmda_log_draft_send() are due.
 */
void dmda_log_draft_make_locked(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_draft_seal() - a write that has a draft is about to be sent to its place
 *
 * What is written is a copy from now on, or has checksums already.
 */
void dmda_log_draft_seal(struct dmda_log *log, struct dmda_log_io *io);

/**
 * dmda_log_draft_send() - its data has been sent: send the draft
 *
 * Somebody waits for the data; that the draft is written is waited for later.
 */
void dmda_log_draft_send(struct dmda_log *log);

/**
 * dmda_log_draft_end() - the data of a write with a draft was written, or not
 *
 * Context: any; without the lock.
 */
void dmda_log_draft_end(struct dmda_log *log, struct dmda_log_io *io, blk_status_t status);

/**
 * dmda_log_draft_wait() - wait until a draft is written
 *
 * Context: may sleep.
 */
void dmda_log_draft_wait(struct dmda_log *log);

/**
 * dmda_log_draft_learn_locked() - a commit begins
 * @is_asked: whether somebody waits for it
 */
void dmda_log_draft_learn_locked(struct dmda_log *log, bool is_asked);

#endif /* DMDA_LOG_DRAFT_H */
