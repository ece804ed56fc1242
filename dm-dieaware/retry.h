/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hinted writes that failed are sent again without their hint; and if that helps, hints
 * are switched off.
 */
#ifndef DMDA_RETRY_H
#define DMDA_RETRY_H

#include <linux/bio.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct dmda;

/**
 * struct dmda_retry - a target's failed writes, and its doubts about hints
 * @lock: protects the fields below, taken at bio completion
 * @bios: failed writes to be sent again without a hint
 * @nr_doubts: number of retries that succeeded after an error that can have other causes than the
 *	hint, since @doubts_since
 * @doubts_since: time of the first of them, in jiffies
 * @work: worker that sends @bios
 * @off_work: worker that tells the world that the state went to REJECTED or STREAMS_GONE
 */
struct dmda_retry {
	spinlock_t lock; /* of the retries */
	struct bio_list bios;
	u32 nr_doubts;
	unsigned long doubts_since;
	struct work_struct work;
	struct work_struct off_work;
};

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
 * dmda_retry_streams_gone() - the kernel no longer has a write stream that was to be sent
 * @dmda: the target
 *
 * Context: any.
 */
void dmda_retry_streams_gone(struct dmda *dmda);

/**
 * dmda_retry_doubt() - writes of the target's own failed with hints and were taken without
 *
 * Context: any.
 */
void dmda_retry_doubt(struct dmda *dmda);

#endif /* DMDA_RETRY_H */
