/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target as its files share it.
 *
 * Locks. Those of one line are never taken together, nor is any below another that
 * is not listed so; every lock is taken in process context only (a bio is mapped by
 * the task that submits it), except retry_lock.
 *
 *   lock                     protects                            context
 *   dmda.admin_lock          hints mode, discovery, reset        message, resume, worker; sleeps
 *   transport users (static) probes registered or not            ctr, dtr; sleeps
 *   shard.lock (runtable.c)  one shard's map and spares          map, message, shrinker
 *   slot.lock (fsmap.c)      one slot; only ever tried           map, tracepoint
 *   dmda.retry_lock          bios to be sent again               irq; bio completion
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
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "core/classify.h"
#include "core/config.h"
#include "core/units.h"
#include "hint-memory.h"
#include "hint-state.h"
#include "runtable.h"
#include "stats.h"
#include "transport.h"

#define DM_MSG_PREFIX "dieaware"

struct dmda_log;
struct dmda_mode_ops;

/**
 * struct dmda - one target
 * @ti: dm's side of it
 * @dev: the device below
 * @ops: what its mode does
 * @log: log mode's part, or NULL
 * @self_dev: number of the dm device that the target is part of
 * @table: the run table; in log mode, its device pages are those that the target shows
 * @first_sector: the target's first sector on the whole disk below; a resume may change it
 * @lba_shift: log2 of sectors in a logical block of the device below; likewise
 * @stats: counters
 * @state: enum dmda_state; see the table of locks
 * @tails: where recent writes of unknown files ended
 * @admin_lock: protects the fields below
 * @config: the table line; @config.hints changes by message
 * @asking: what the device has answered
 * @retry_lock: protects the fields below; taken at bio completion
 * @retries: failed writes to be sent again without a hint
 * @nr_doubts: retries that succeeded after an error that can have other causes than
 *	the hint, since @doubts_since
 * @doubts_since: jiffies of the first of them
 * @retry_work: sends @retries
 * @off_work: tells the world that the state went to REJECTED
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

	struct mutex admin_lock; /* of the configuration */
	struct dmda_config config;
	struct dmda_asking asking;

	spinlock_t retry_lock; /* of the retries */
	struct bio_list retries;
	u32 nr_doubts;
	unsigned long doubts_since;
	struct work_struct retry_work;
	struct work_struct off_work;
};

/* Are writes looked at? If the device is still being asked, no hint is sent with them. */
static inline bool dmda_watches(const struct dmda *dmda)
{
	enum dmda_state state = READ_ONCE(dmda->state);

	return state == DMDA_STATE_ON || state == DMDA_STATE_ASKING;
}

/**
 * dmda_hint_fit() - leave out of a verdict what the device does not know
 * @verdict: changed
 *
 * Context: any.
 */
static inline void dmda_hint_fit(const struct dmda *dmda, struct dmda_verdict *verdict)
{
	if (!READ_ONCE(dmda->asking.discovery.knows_begin))
		dmda_classify_forgo_begin(verdict);
}

/**
 * enum dmda_source - how the file of a write was found out
 * @DMDA_SOURCE_PAGE: the page cache
 * @DMDA_SOURCE_IOMAP: what the filesystem mapped
 * @DMDA_SOURCE_ADJACENCY: nothing but the place of an earlier write
 * @DMDA_SOURCE_METADATA: not file data, never hinted
 * @DMDA_SOURCE_UNKNOWN: data of an unknown file
 */
enum dmda_source {
	DMDA_SOURCE_PAGE,
	DMDA_SOURCE_IOMAP,
	DMDA_SOURCE_ADJACENCY,
	DMDA_SOURCE_METADATA,
	DMDA_SOURCE_UNKNOWN,
};

/**
 * struct dmda_identity - what the beginning of a bio is
 * @source: how that is known
 * @file: the file; anonymous for METADATA and UNKNOWN
 * @ino: its inode number, for the tracepoint
 * @pos_bytes: place of the bio's first byte in the file
 * @len_bytes: bytes of the bio that go on in the file
 */
struct dmda_identity {
	enum dmda_source source;
	struct dmda_file file;
	u64 ino;
	u64 pos_bytes;
	u32 len_bytes;
};

/**
 * struct dmda_write - a write, or a read that teaches, as it is being worked on
 * @bio: the bio
 * @identity: what it begins with
 * @run: its pages; in log mode, where the target shows them until they have their places
 * @verdict: its hint
 */
struct dmda_write {
	struct bio *bio;
	struct dmda_identity identity;
	struct dmda_run run;
	struct dmda_verdict verdict;
};

/*
 * Functions defined in identity.c
 */

/**
 * dmda_identify_write() - which file a write belongs to
 * @dmda: the target
 * @bio: the write, not remapped yet
 * @identity: the answer
 *
 * Context: from map.
 */
void dmda_identify_write(struct dmda *dmda, struct bio *bio, struct dmda_identity *identity);

/**
 * dmda_identify_read() - which file a read of the page cache fetches
 * @bio: the read, not remapped yet
 * @identity: the answer; source PAGE
 *
 * Context: from map.
 * Return: whether all of the bio is one piece of a known file.
 */
bool dmda_identify_read(struct bio *bio, struct dmda_identity *identity);

/*
 * Functions defined in fsmap.c
 */

/**
 * dmda_fsmap_get() - a target wants to know what filesystems map
 *
 * Context: may sleep. Without the tracepoint in the kernel, nothing is ever found.
 */
void dmda_fsmap_get(void);

/**
 * dmda_fsmap_put() - a target wants no more
 *
 * Context: may sleep.
 */
void dmda_fsmap_put(void);

/**
 * dmda_fsmap_find() - the file for which this task writes to a place
 * @self_dev: the dm device
 * @bio: the write, not remapped yet
 * @identity: the answer; unchanged if there is none
 *
 * Context: from map, in the task that wrote.
 * Return: whether the filesystem told.
 */
bool dmda_fsmap_find(dev_t self_dev, const struct bio *bio, struct dmda_identity *identity);

/*
 * Functions defined in retry.c
 */

/**
 * dmda_retry_init() - once, when the module is loaded
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int dmda_retry_init(void);

/**
 * dmda_retry_exit() - when the module is unloaded
 *
 * Context: may sleep.
 */
void dmda_retry_exit(void);

/**
 * dmda_retry_create() - prepare a target's part
 * @dmda: the target
 *
 * Context: any.
 */
void dmda_retry_create(struct dmda *dmda);

/**
 * dmda_retry_destroy() - wait for what is still under way
 * @dmda: the target; no bio of it is under way
 *
 * Context: may sleep.
 */
void dmda_retry_destroy(struct dmda *dmda);

/**
 * dmda_retry() - a hinted write failed: can it be the hint's fault, then try without
 * @bio: the bio at its end
 *
 * Context: bio completion.
 * Return: true when the bio is on its way again, false when it failed for good.
 */
bool dmda_retry(struct bio *bio);

/**
 * dmda_retry_trust() - hints get another chance: earlier doubts no longer count
 * @dmda: the target
 *
 * Context: process.
 */
void dmda_retry_trust(struct dmda *dmda);

/**
 * dmda_retry_doubt() - writes of the target's own failed with hints and were taken without
 *
 * Context: any.
 */
void dmda_retry_doubt(struct dmda *dmda);

/*
 * Functions defined in discover.c
 */

/**
 * dmda_discover() - ask the device whether it understands hints, and its geometry
 * @bdev: the device below
 * @discovery: the answer
 *
 * Context: may sleep; in a task that has a user's memory, of which two pages are used for
 * the way through the NVMe driver's interface to users.
 */
void dmda_discover(struct block_device *bdev, struct dmda_discovery *discovery);

#endif /* DMDA_DIEAWARE_H */
