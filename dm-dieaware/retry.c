// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mending a hinted write that the device failed: the same data once more, without a
 * hint. What the second attempt ends with is what the caller gets.
 *
 * Only after an error that a hint can cause. What failed for another reason is the
 * caller's to judge, and at once: a second attempt of a write that met a reservation,
 * say, could land behind a newer write of the host that holds it.
 *
 * Whether hints are to blame shows only when the second attempt is over. If it succeeds,
 * and the first error was one that says "I do not know this command", hints are switched
 * off. The others have other causes than hints, too (a reset, a lost path): these switch
 * hints off when several come together in a short time.
 *
 * Completion can be in interrupt context, so a worker submits. dm waits for these
 * bios when it suspends, since they have not ended for it.
 */
#include <linux/jiffies.h>

#include "dieaware.h"

#define MAX_DOUBTS		4
#define DOUBT_WINDOW_JIFFIES	(60 * HZ)

static struct workqueue_struct *retry_queue;

static bool blames_command(blk_status_t status)
{
	return status == BLK_STS_NOTSUPP || status == BLK_STS_PROTECTION ||
	       dmda_blames_write_stream(status);
}

/* What the driver makes of an invalid field, of a status of the vendor's, of an LBA out of range */
static bool may_be_the_hint(const struct dmda_io *io, blk_status_t status)
{
	if (io->stream && dmda_blames_write_stream(status))
		return true;
	switch (status) {
	case BLK_STS_NOTSUPP:
	case BLK_STS_PROTECTION:
	case BLK_STS_TARGET:
	case BLK_STS_IOERR:
		return true;
	default:
		return false;
	}
}

static bool too_many_doubts(struct dmda_retry *retry)
{
	unsigned long flags;
	bool many;

	spin_lock_irqsave(&retry->lock, flags);
	if (!retry->nr_doubts || time_after(jiffies, retry->doubts_since + DOUBT_WINDOW_JIFFIES)) {
		retry->doubts_since = jiffies;
		retry->nr_doubts = 0;
	}
	many = ++retry->nr_doubts >= MAX_DOUBTS;
	spin_unlock_irqrestore(&retry->lock, flags);
	return many;
}

static bool switch_off(struct dmda *dmda, enum dmda_state from, enum dmda_state to)
{
	if (cmpxchg(&dmda->state, from, to) != from)
		return false;
	queue_work(retry_queue, &dmda->retry.off_work);
	return true;
}

static bool switch_streams_off(struct dmda *dmda, enum dmda_state to)
{
	return switch_off(dmda, DMDA_STATE_STREAMS, to) ||
	       switch_off(dmda, DMDA_STATE_LIFETIMES, to);
}

void dmda_retry_streams_gone(struct dmda *dmda)
{
	switch_streams_off(dmda, DMDA_STATE_STREAMS_GONE);
}

static bool carries_hint(const struct dmda_io *io)
{
	return io->hint != DMDA_HINT_NONE || io->stream;
}

/* The device took without its hint what it had failed with it */
static void rejected(struct dmda *dmda, blk_status_t status)
{
	if (!blames_command(status) && !too_many_doubts(&dmda->retry))
		return;
	if (!switch_off(dmda, DMDA_STATE_ON, DMDA_STATE_REJECTED))
		switch_streams_off(dmda, DMDA_STATE_REJECTED);
}

static void switched_off(struct work_struct *work)
{
	struct dmda *dmda = container_of(work, struct dmda, retry.off_work);
	bool are_gone = READ_ONCE(dmda->state) == DMDA_STATE_STREAMS_GONE;

	DMWARN("%s: The %s: they are sent without from now on.",
	       dm_table_device_name(dmda->ti->table),
	       are_gone ? "kernel has too few write streams for writes with hints" :
			  "device rejects writes with hints");
	dmda_hint_forget_all(dmda);
	dm_table_event(dmda->ti->table);
}

void dmda_retry_trust(struct dmda *dmda)
{
	spin_lock_irq(&dmda->retry.lock);
	dmda->retry.nr_doubts = 0;
	spin_unlock_irq(&dmda->retry.lock);
}

void dmda_retry_doubt(struct dmda *dmda)
{
	rejected(dmda, BLK_STS_IOERR);
}

static void retried_end_io(struct bio *bio)
{
	struct dmda_io *io = dmda_io_of(bio);

	if (!bio->bi_status) {
		if (carries_hint(io))
			dmda_count(&io->dmda->stats, DMDA_COUNT_REJECTED);
		rejected(io->dmda, io->status);
	}
	bio->bi_end_io = io->end_io;
	bio->bi_end_io(bio);
}

/* As it was when it was sent first, for it may have been split, merged or moved */
static void restore(struct bio *bio)
{
	struct dmda_io *io = dmda_io_of(bio);

	io->status = bio->bi_status;
	bio->bi_status = BLK_STS_OK;
	bio->bi_iter = io->iter;
	bio->bi_opf = io->opf & ~(REQ_NOWAIT | REQ_POLLED);
	bio->bi_flags = io->flags;
	if (io->stream)
		dmda_bio_set_write_stream(bio, 0);
	bio->bi_next = NULL;
	bio->bi_cookie = BLK_QC_T_NONE;
	atomic_set(&bio->__bi_remaining, 1);
	bio->bi_end_io = retried_end_io;
}

bool dmda_retry(struct bio *bio)
{
	struct dmda_io *io = dmda_io_of(bio);
	struct dmda *dmda = io->dmda;
	unsigned long flags;

	if (READ_ONCE(io->fate) != DMDA_FATE_SENT || !may_be_the_hint(io, bio->bi_status))
		return false;
	if (carries_hint(io))
		dmda_count(&dmda->stats, DMDA_COUNT_RETRIED);
	restore(bio);
	spin_lock_irqsave(&dmda->retry.lock, flags);
	bio_list_add(&dmda->retry.bios, bio);
	/* Under the lock: behind it, the last bio may have ended and the target be gone */
	queue_work(retry_queue, &dmda->retry.work);
	spin_unlock_irqrestore(&dmda->retry.lock, flags);
	return true;
}

static void submit_retries(struct work_struct *work)
{
	struct dmda *dmda = container_of(work, struct dmda, retry.work);
	struct bio_list retries;
	struct bio *bio;

	spin_lock_irq(&dmda->retry.lock);
	retries = dmda->retry.bios;
	bio_list_init(&dmda->retry.bios);
	spin_unlock_irq(&dmda->retry.lock);

	while ((bio = bio_list_pop(&retries))) {
		bio_set_dev(bio, dmda->dev->bdev);
		submit_bio_noacct(bio);
	}
}

void dmda_retry_create(struct dmda *dmda)
{
	spin_lock_init(&dmda->retry.lock);
	bio_list_init(&dmda->retry.bios);
	INIT_WORK(&dmda->retry.work, submit_retries);
	INIT_WORK(&dmda->retry.off_work, switched_off);
}

void dmda_retry_destroy(struct dmda *dmda)
{
	flush_work(&dmda->retry.work);
	flush_work(&dmda->retry.off_work);
}

int dmda_retry_init(void)
{
	retry_queue = alloc_workqueue("dm-dieaware", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	return retry_queue ? 0 : -ENOMEM;
}

void dmda_retry_exit(void)
{
	destroy_workqueue(retry_queue);
}
