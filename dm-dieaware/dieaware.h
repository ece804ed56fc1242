/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target as its files share it.
 *
 * Locks. Those of one line are never taken together, nor is any below another that
 * is not listed so, but share.lock, which is taken below admin_lock and device_lock; every lock is
 * taken in process context only (a bio is mapped by the task that submits it), except
 * dmda_retry.lock.
 *
 *   lock                     protects                            context
 *   dmda.admin_lock          hints mode, discovery, reset        message, resume, worker; sleeps
 *   transport users (static) probes registered or not            ctr, dtr; sleeps
 *   users_lock (users.c)     which targets are at work            resume, suspend, dtr; sleeps
 *   shard.lock (runtable.c)  one shard's map and its memory      map, message, shrinker
 *   slot.busy (fsmap.c)      one slot; a bit, only ever tried    map, tracepoint
 *   share.device_lock        memory that was lent for commands   message, worker; sleeps
 *   share.lock               announced rewrites, held writes     map, message, worker
 *   dmda_retry.lock          bios to be sent again, doubts       irq; bio completion
 *
 * dmda.state has no lock: it is one word, and a bio that sees the old value is sent
 * with a hint too many or too few.
 */
#ifndef DMDA_DIEAWARE_H
#define DMDA_DIEAWARE_H

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/mutex.h>

#include "compat.h"
#include "core/classify.h"
#include "core/config.h"
#include "core/units.h"
#include "hint-fdp.h"
#include "hint-memory.h"
#include "hint-state.h"
#include "identity.h"
#include "retry.h"
#include "runtable.h"
#include "share.h"
#include "stats.h"
#include "transport.h"
#include "users.h"

#define DM_MSG_PREFIX "dieaware"

struct dmda_log;
struct dmda_mode_ops;

/**
 * struct dmda - one target
 * @ti: device-mapper's side of the target
 * @dev: the device below
 * @ops: operations of its mode
 * @log: log mode's part, or NULL
 * @self_dev: number of the dm device that the target is part of
 * @table: run table; in log mode, its device pages are those that the target shows
 * @first_sector: the target's first sector on the whole disk below; a resume may change it
 * @lba_shift: log2 of sectors in a logical block of the device below; likewise
 * @stats: counters
 * @state: enum dmda_state, whether hints are sent; see the table of locks
 * @tails: ends of recent writes of unknown files
 * @fdp: lanes, and what files have begun on them
 * @admin_lock: protects @config and @asking
 * @config: what the table line asks for; @config.hints changes by message
 * @asking: answers of the device, and the worker that asks it
 * @retry: failed writes that are sent again without a hint
 * @share: announced rewrites, and writes that are held because of them
 * @user: what it uses of the device below while it is at work
 */
struct dmda {
	struct dm_target *ti;
	struct dm_dev *dev;
	const struct dmda_mode_ops *ops;
	struct dmda_log *log;
	dev_t self_dev;
	sector_t first_sector;
	u8 lba_shift;
	struct dmda_runtable *table;
	struct dmda_stats stats;
	enum dmda_state state;
	struct dmda_tails tails;
	struct dmda_fdp_way fdp;

	struct mutex admin_lock; /* of the configuration */
	struct dmda_config config;
	struct dmda_asking asking;

	struct dmda_retry retry;

	struct dmda_share share;

	struct dmda_user user;
};

/* Are writes looked at? If the device is still being asked, no hint is sent with them. */
static inline bool dmda_watches(const struct dmda *dmda)
{
	enum dmda_state state = READ_ONCE(dmda->state);

	return state == DMDA_STATE_ON || state == DMDA_STATE_STREAMS || state == DMDA_STATE_ASKING;
}

/**
 * dmda_hint_fit() - leave out of a verdict what the device does not know
 * @verdict: changed
 *
 * Context: any.
 */
static inline void dmda_hint_fit(const struct dmda *dmda, struct dmda_verdict *verdict)
{
	if (!READ_ONCE(dmda->asking.discovery.knows_begin) &&
	    READ_ONCE(dmda->state) != DMDA_STATE_STREAMS)
		dmda_classify_forgo_begin(verdict);
}

/**
 * struct dmda_write - a write, or a read that teaches, as it is being worked on
 * @bio: the bio
 * @identity: identity of what the bio begins with
 * @run: pages of the write; in log mode, where the target shows them until they have their places
 * @verdict: hint of the write
 * @berth: where it goes, if the target chooses that; else DMDA_BERTH_NONE; in hint mode only
 */
struct dmda_write {
	struct bio *bio;
	struct dmda_identity identity;
	struct dmda_run run;
	struct dmda_verdict verdict;
	u32 berth;
};

/**
 * dmda_hint_run() - the whole pages of its file that a bio begins with, as a run
 * @write: its @identity is known; gets its @run
 * @sector: first sector of the bio, in the target
 *
 * Context: from map.
 * Return: false if the bio does not begin and end at pages, or at a place in the file that
 * is none.
 */
static inline bool dmda_hint_run(struct dmda_write *write, sector_t sector)
{
	const struct dmda_identity *identity = &write->identity;
	u32 size = write->bio->bi_iter.bi_size;
	u32 page_mask = (1U << DMDA_PAGE_SHIFT) - 1;
	u32 nr_pages = min(identity->len_bytes, size) >> DMDA_PAGE_SHIFT;

	if ((sector & (DMDA_PAGE_SECTORS - 1)) || (size & page_mask) ||
	    (identity->pos_bytes & page_mask) || !nr_pages)
		return false;
	write->run.file = identity->file;
	write->run.fpage = identity->pos_bytes >> DMDA_PAGE_SHIFT;
	write->run.dpn = to_dpn(sector >> DMDA_PAGE_SECTOR_SHIFT);
	write->run.nr_pages = nr_pages;
	return true;
}

#endif /* DMDA_DIEAWARE_H */
