/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Defragmentation without copies, under any filesystem: a write that was announced, and whose bytes
 * the device has already, is not written; the device gives the new place the old one's pages (Share
 * of vendor.h; janusdL of Hahn et al., USENIX ATC 2017). In hint mode only.
 *
 *   message "share add"     these pages of a file lie there, and are going to be written elsewhere
 *   map                     such a write is recognised by its file and page, and held
 *   worker                  reads the old place and compares
 *                             the same: Share, and the new place is read and compared
 *                             all is well: the write ends
 *                           else: it is sent as the ordinary write that it is, with its hint
 *
 * What makes it safe is the last comparison, not the first. While a write is held, its new place
 * is its own, as that of any write under way: whoever else writes there at the same time may find
 * either on any disk. So what was read there after Share is what stays there, whatever became of
 * the old place before, between, or behind: written, discarded, given to another file, or wrong
 * from the beginning. No write, discard or flush waits for a held one, nor is looked at for its
 * sake. The first comparison spares the device a Share in vain, and the new place others' bytes.
 *
 *   flush     covers what has ended before. Share has ended when it is durable, so what was shared
 *             is as durable as a flush could make it, before that is asked for.
 *   FUA, preflush, atomic writes, those encrypted inline, those that must not wait: not held.
 *   suspend   waits for held writes, as they have not ended for device-mapper; the worker needs
 *             nothing but the device below for them. Announcements are forgotten at the resume.
 *   power     fails before Share has ended: the new place is what it was or has the bytes, as with
 *             any write that was not acknowledged; after that it has them. The old place has them
 *             in both cases. (If somebody writes to the old place between the first comparison and
 *             Share, the new one has that until the write has followed. Nobody reads there after a
 *             power failure as long as it is new: announced is what is not overwritten in place.)
 *   a page that is changed while it is held: what was compared is what would have been sent, and
 *             whoever changes a page under writeback has it written again.
 *
 * Several may announce at a time, each other files: who has come to his end takes back his own.
 *
 * The way to the device goes through memory of the task that announced (passthru.h). It is kept for
 * as long as announcements hold: a minute after the last one; and until no write is held that was
 * announced. It is not swapped out meanwhile.
 */
#ifndef DMDA_SHARE_H
#define DMDA_SHARE_H

#include <linux/bio.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/announced.h"
#include "passthru.h"

struct dieaware_share_range;
struct dmda;
struct dmda_held;
struct dmda_message;
struct dmda_write;
struct mm_struct;

/**
 * struct dmda_share - a target's announcements, and writes that may not have to be written
 * @lock: protects @announced, @until and @held
 * @announced: announcements; without memory before the first one
 * @until: time at which they are forgotten, in jiffies
 * @held: list of struct dmda_held, in the order in which they came; the worker is at the first
 * @work: worker that takes care of @held
 * @expire: worker by which announcements are forgotten, and @lent is given back
 * @device_lock: protects the fields below, and keeps the worker to one command at a time
 * @lent: memory of the task that announced, or NULL
 * @passthru: way to the device through it
 * @nsid: namespace of the device
 * @buf: DMDA_SHARE_MOST_PAGES pages to compare with, or NULL before the first announcement
 * @wire: DMDA_SHARE_MOST_RANGES ranges as the device wants them; likewise
 */
struct dmda_share {
	spinlock_t lock; /* of what is announced and held */
	struct dmda_announced announced;
	unsigned long until;
	struct list_head held;

	struct work_struct work;
	struct delayed_work expire;

	struct mutex device_lock; /* of the way to the device */
	struct mm_struct *lent;
	struct dmda_passthru passthru;
	u32 nsid;
	void *buf;
	struct dieaware_share_range *wire;
};

/**
 * dmda_share_init() - once, when the module is loaded
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int dmda_share_init(void);

/**
 * dmda_share_exit() - when the module is unloaded
 *
 * Context: may sleep.
 */
void dmda_share_exit(void);

/**
 * dmda_share_create() - prepare a target's part
 * @dmda: the target
 *
 * Context: any.
 */
void dmda_share_create(struct dmda *dmda);

/**
 * dmda_share_destroy() - wait for what is still under way, and give all back
 * @dmda: the target; no bio of it is under way
 *
 * Context: may sleep.
 */
void dmda_share_destroy(struct dmda *dmda);

/**
 * dmda_share_is_on() - could writes be shared, if they were announced?
 * @dmda: the target
 *
 * Context: any.
 */
bool dmda_share_is_on(const struct dmda *dmda);

/**
 * dmda_share_announce() - obey the message "share add"
 * @dmda: the target
 * @message: pages of a file, and where they lie
 *
 * Context: may sleep; the task that sent the message, whose memory is used from now on.
 * Return: 0 or a negative errno, and a sentence in the log.
 */
int dmda_share_announce(struct dmda *dmda, const struct dmda_message *message);

/**
 * dmda_share_forget() - nothing is announced any more
 * @dmda: the target
 *
 * Context: process.
 */
void dmda_share_forget(struct dmda *dmda);

/**
 * dmda_share_clear() - nothing is announced of a file any more
 * @dmda: the target
 * @file: the file, or anonymous: of any
 *
 * Context: process.
 */
void dmda_share_clear(struct dmda *dmda, struct dmda_file file);

/* Without the lock: what is being announced right now may as well be so after this. */
static inline bool dmda_share_has_any(const struct dmda_share *share)
{
	return READ_ONCE(share->announced.nr);
}

/**
 * dmda_share_recognise() - was this write announced?
 * @dmda: the target
 * @write: all of it
 *
 * Context: from map.
 * Return: what it takes to hold it, for dmda_share_hold() or dmda_share_let_go(); or NULL.
 */
struct dmda_held *dmda_share_recognise(struct dmda *dmda, const struct dmda_write *write);

/**
 * dmda_share_nr_pages() - so many of the write's first pages were announced
 *
 * Context: any.
 */
u32 dmda_share_nr_pages(const struct dmda_held *held);

/**
 * dmda_share_hold() - take a write over: it ends, or is sent, later
 * @dmda: the target
 * @held: what dmda_share_recognise() has made of it
 * @write: the write, remapped, and cut to as many pages as were announced or fewer
 *
 * Context: from map.
 */
void dmda_share_hold(struct dmda *dmda, struct dmda_held *held, const struct dmda_write *write);

/**
 * dmda_share_let_go() - it is not held after all
 *
 * Context: any.
 */
void dmda_share_let_go(struct dmda_held *held);

#endif /* DMDA_SHARE_H */
