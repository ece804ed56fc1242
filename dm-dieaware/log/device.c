// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device in log mode from construction to destruction. Metadata is read at the first
 * resume, for until then another target may be writing it; all is durable at the end of
 * a suspend, and what comes later writes nothing.
 */
#include <linux/sched/mm.h>
#include <linux/vmalloc.h>

#include "../mode.h"
#include "cache.h"
#include "commit.h"
#include "grow.h"
#include "hint.h"
#include "holes.h"
#include "io.h"
#include "list.h"
#include "log.h"
#include "message.h"
#include "needs-check.h"
#include "read.h"
#include "start.h"
#include "status.h"

/* Reserves, so that going on never depends on memory */
#define NR_RESERVED_PAGES	16

/* Of a discard or write-zeroes bio */
#define MAX_TRIM_SECTORS	BIT(21)

static void free_tables(struct dmda_log *log)
{
	struct dmda_log_space *space = &log->space;

	dmda_log_cleaner_destroy(log);
	kvfree(log->journal.commit.sectors[0]);
	kvfree(log->journal.commit.sectors[1]);
	kvfree(log->checkpoint.pages);
	dmda_log_holes_destroy(log);
	kvfree(log->inplace.heat.entry);
	kvfree(log->inplace.rates.count);
	kvfree(log->inplace.nr_writing);
	kvfree(space->summary);
	kvfree(space->readers);
	kvfree(space->lifetimes_memory);
	kvfree(space->segments_memory);
	kvfree(space->opened_memory);
	for (int i = 0; i < DMDA_NR_TABLES; i++)
		kvfree(log->tables.slots_memory[i]);
}

static bool allocate_space(struct dmda_log *log)
{
	const struct dmda_super *super = &log->super;
	struct dmda_log_space *space = &log->space;
	u32 nr_segments = dmda_super_nr_segments(super);

	space->summary = kvcalloc(super->summary_pages, sizeof(*space->summary), GFP_KERNEL);
	space->readers = dmda_log_table_alloc(nr_segments, sizeof(*space->readers));
	space->lifetimes_memory = dmda_log_table_alloc(1, dmda_lifetimes_bytes(super));
	space->segments_memory = dmda_log_table_alloc(1, dmda_segments_bytes(super));
	space->opened_memory = kvzalloc(dmda_opened_bytes(super), GFP_KERNEL);
	return space->summary && space->readers && space->lifetimes_memory &&
		space->segments_memory && space->opened_memory;
}

/* What depends on the size of the device */
static bool allocate_tables(struct dmda_log *log)
{
	const struct dmda_super *super = &log->super;
	struct dmda_commit *commit = &log->journal.commit;
	size_t batch_bytes = commit->batch_sectors * sizeof(struct dmda_journal_sector);
	bool is_complete = true;

	commit->sectors[0] = kvzalloc(batch_bytes, GFP_KERNEL);
	commit->sectors[1] = kvzalloc(batch_bytes, GFP_KERNEL);
	log->checkpoint.pages = dmda_log_table_alloc(dmda_root_nr_pages(super), DMDA_BLOCK_BYTES);
	log->inplace.nr_writing = dmda_log_table_alloc(dmda_super_nr_segments(super), sizeof(u32));
	for (int i = 0; i < DMDA_NR_TABLES; i++) {
		size_t bytes = dmda_slots_bytes(dmda_super_nr_pages(super, i));

		log->tables.slots_memory[i] = dmda_log_table_alloc(1, bytes);
		is_complete = is_complete && log->tables.slots_memory[i];
	}
	is_complete = dmda_log_holes_create(log) && is_complete;
	return allocate_space(log) && is_complete && commit->sectors[0] && commit->sectors[1] &&
		log->checkpoint.pages && log->inplace.nr_writing;
}

static void init_tables(struct dmda_log *log)
{
	struct dmda_log_space *space = &log->space;

	dmda_segments_init(&space->segments, &log->super, space->segments_memory);
	dmda_opened_init(&space->opened, &log->super, &space->segments, space->opened_memory);
	for (int i = 0; i < DMDA_NR_TABLES; i++)
		dmda_slots_init(&log->tables.slots[i], dmda_super_nr_pages(&log->super, i),
				log->tables.slots_memory[i]);
	dmda_writer_init(&space->writer, &log->super);
	dmda_lifetimes_init(&space->lifetimes, &log->super, space->lifetimes_memory);
	dmda_close_init(&space->closing, &space->opened);
	log->journal.change = (struct dmda_change){
		.super = &log->super, .segments = &space->segments,
		.batch = &log->journal.commit.batch,
	};
	space->freeing.segments = &space->segments;
	space->freeing.commit = &log->journal.commit;
	log->journal.commit.super = &log->super;
	log->journal.commit.root = &log->checkpoint.root;
	log->journal.commit.change = &log->journal.change;
	log->checkpoint.order = (struct dmda_checkpoint){
		.tables = {
			.super = &log->super, .slots = log->tables.slots,
			.segments = &space->segments, .opened = &space->opened,
		},
		.batch = &log->journal.commit.batch,
		.root = &log->checkpoint.root,
	};
}

static int init_reserves(struct dmda_log *log)
{
	return dmda_log_sums_create(log) ?:
		dmda_log_draft_create(log) ?:
		dmda_log_init_pieces(log) ?:
		bioset_init(&log->cleaning.moves, BIO_POOL_SIZE, offsetof(struct dmda_own_bio, bio),
			    BIOSET_NEED_BVECS) ?:
		dmda_log_init_map(log, NR_RESERVED_PAGES) ?:
		dmda_log_spares_pool(&log->spares, &log->tables.buffers, NR_RESERVED_PAGES) ?:
		mempool_init_kmalloc_pool(&log->tables.writes, NR_RESERVED_PAGES,
					  sizeof(struct dmda_log_page_write));
}

static void exit_reserves(struct dmda_log *log)
{
	mempool_exit(&log->tables.writes);
	mempool_exit(&log->tables.buffers);
	dmda_log_spares_free(&log->spares);
	dmda_log_exit_map(log);
	bioset_exit(&log->cleaning.moves);
	bioset_exit(&log->ios.pieces);
	dmda_log_draft_destroy(log);
	dmda_log_sums_destroy(log);
}

static void init_parts(struct dmda_log *log)
{
	init_rwsem(&log->message_lock);
	mutex_init(&log->journal.commit_lock);
	mutex_init(&log->checkpoint.lock);
	mutex_init(&log->cleaning.all_lock);
	mutex_init(&log->cache.resize_lock);
	spin_lock_init(&log->lock);
	dmda_log_spares_init(&log->spares);
	init_waitqueue_head(&log->wait);
	xa_init_flags(&log->cache.pages, XA_FLAGS_LOCK_IRQ);
	INIT_LIST_HEAD(&log->ios.ready);
	INIT_LIST_HEAD(&log->admission.starved);
	INIT_LIST_HEAD(&log->ios.begun);
	INIT_LIST_HEAD(&log->ios.unmapped);
	INIT_LIST_HEAD(&log->ios.untrimmed);
	INIT_LIST_HEAD(&log->journal.committing);
	log->ios.claims = RB_ROOT_CACHED;
	INIT_WORK(&log->ios.work, dmda_log_do_io);
	INIT_WORK(&log->journal.work, dmda_log_do_commit);
	INIT_DELAYED_WORK(&log->journal.late_work, dmda_log_do_late);
	INIT_WORK(&log->space.work, dmda_log_do_space);
	INIT_WORK(&log->space.discard_work, dmda_log_do_discard);
	INIT_WORK(&log->holes.work, dmda_log_do_holes);
	INIT_WORK(&log->checkpoint.work, dmda_log_do_checkpoint);
	INIT_DELAYED_WORK(&log->cleaning.idle_work, dmda_log_do_idle);
	INIT_DELAYED_WORK(&log->admission.work, dmda_log_do_no_space);
	INIT_WORK(&log->failure.work, dmda_log_tell_failure);
	INIT_WORK(&log->cleaning.work, dmda_log_do_clean);
	dmda_log_writes_begin(&log->cache.leaving, log);
	log->is_quiet = true;
}

static const char *size_complaint(const struct dmda_log *log)
{
	const struct dmda *dmda = log->dmda;
	u64 nr_sectors = log->super.nr_device_pages << DMDA_PAGE_SECTOR_SHIFT;

	if (nr_sectors + dmda->config.start_sectors > bdev_nr_sectors(log->bdev))
		return "The device is smaller than when it was formatted.";
	if (dmda->ti->begin % DMDA_PAGE_SECTORS || dmda->ti->len % DMDA_PAGE_SECTORS)
		return "In log mode begin and length must be multiples of 8 sectors.";
	return NULL;
}

/* It was formatted elsewhere, and copied; or what is below has become another one. */
static const char *blocks_complaint(const struct dmda_log *log)
{
	if (!dmda_log_wants_read_only(log) &&
	    log->super.journal_unit_sectors << SECTOR_SHIFT < bdev_logical_block_size(log->bdev))
		return "The device's blocks are larger than what its journal is written in.";
	return NULL;
}

/* Does the device write pages whole, so that they may be overwritten where they are? */
static bool can_overwrite(const struct dmda_log *log)
{
	return dmda_whole_bytes(log->bdev) >= DMDA_BLOCK_BYTES && !dmda_super_has_sums(&log->super);
}

/* More than there is needs a larger device below, and grows when it is started. */
static const char *length_complaint(struct dmda_log *log)
{
	u64 nr_pages = log->dmda->ti->len >> DMDA_PAGE_SECTOR_SHIFT;
	struct dmda_super *grown;
	const char *why = NULL;

	if (nr_pages <= log->super.nr_lpns)
		return NULL;
	grown = kmalloc(sizeof(*grown), GFP_KERNEL);
	if (!grown)
		return "There is not enough memory for log mode.";
	if (!dmda_log_may_grow(log, grown) || nr_pages > grown->nr_lpns) {
		why = "The length is more than the formatted device presents.";
	} else {
		log->grows_to = grown->nr_device_pages;
		log->super = *grown;
	}
	kfree(grown);
	return why;
}

static int look_at_super(struct dmda_log *log)
{
	struct dm_target *ti = log->dmda->ti;
	const char *why;

	if (log->dmda->config.start_sectors % DMDA_PAGE_SECTORS) {
		ti->error = "In log mode the start must be a multiple of 8 sectors.";
		return -EINVAL;
	}
	if (bdev_nr_sectors(log->bdev) < log->dmda->config.start_sectors +
	    ((DMDA_SUPER_DPN_B + 1) << DMDA_PAGE_SECTOR_SHIFT)) {
		ti->error = "The device is too small to be formatted for log mode.";
		return -EINVAL;
	}
	why = dmda_log_read_super(log, &log->super);
	if (why) {
		DMERR("%s: The superblock: %s.", dm_table_device_name(ti->table), why);
		ti->error = "The device is not formatted for log mode, or is damaged.";
		return -EINVAL;
	}
	ti->error = (char *)size_complaint(log);
	if (!ti->error)
		ti->error = (char *)blocks_complaint(log);
	if (!ti->error)
		ti->error = (char *)dmda_super_unknown_features(&log->super,
								dmda_log_wants_read_only(log));
	if (!ti->error)
		ti->error = (char *)length_complaint(log);
	return ti->error ? -EINVAL : 0;
}

/* Reads the superblock, and no more: another target may still be writing. */
static int create(struct dmda *dmda)
{
	struct dm_target *ti = dmda->ti;
	struct dmda_log *log = kzalloc(sizeof(*log), GFP_KERNEL);
	int ret = -ENOMEM;

	ti->error = "There is not enough memory for log mode.";
	if (!log)
		return ret;
	log->dmda = dmda;
	log->bdev = dmda->dev->bdev;
	init_parts(log);
	ret = bioset_init(&log->own_bios, BIO_POOL_SIZE, 0, BIOSET_NEED_BVECS);
	if (ret)
		goto err_log;
	ret = look_at_super(log);
	if (ret)
		goto err_bios;
	ret = -ENOMEM;
	if (dmda_log_tables_too_large(&log->super)) {
		ti->error = "A table of the device takes more than 2 GiB of memory at once.";
		goto err_bios;
	}
	ti->error = "There is not enough memory for log mode.";
	log->journal.commit.batch_sectors = dmda_journal_batch_sectors(&log->super);
	log->cache.max_pages = dmda_log_map_pages(dmda->config.map_cache_mb);
	log->queue = alloc_workqueue("dm-dieaware-log", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!log->queue)
		goto err_bios;
	log->commit_queue = alloc_workqueue("dm-dieaware-commit", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!log->commit_queue)
		goto err_queue;
	log->cleaning.queue = alloc_workqueue("dm-dieaware-clean", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!log->cleaning.queue)
		goto err_commit_queue;
	if (init_reserves(log) || !allocate_tables(log) || dmda_log_cleaner_create(log))
		goto err_tables;
	init_tables(log);
	dmda_log_list_enter(log);
	ti->per_io_data_size = sizeof(struct dmda_log_io);
	ti->discards_supported = true;
	ti->flush_supported = true;
	ti->error = NULL;
	dmda->log = log;
	return 0;

err_tables:
	free_tables(log);
	exit_reserves(log);
	destroy_workqueue(log->cleaning.queue);
err_commit_queue:
	destroy_workqueue(log->commit_queue);
err_queue:
	destroy_workqueue(log->queue);
err_bios:
	bioset_exit(&log->own_bios);
err_log:
	kfree(log);
	return ret;
}

/* Writes nothing. */
static void destroy(struct dmda *dmda)
{
	struct dmda_log *log = dmda->log;

	dmda_log_list_leave(log);
	cancel_delayed_work_sync(&log->cleaning.idle_work);
	cancel_delayed_work_sync(&log->journal.late_work);
	destroy_workqueue(log->cleaning.queue);
	destroy_workqueue(log->queue);
	destroy_workqueue(log->commit_queue);
	dmda_log_draft_wait(log);
	free_tables(log);
	exit_reserves(log);
	bioset_exit(&log->own_bios);
	kfree(log);
	dmda->log = NULL;
}

/* Is it the layout for which there is memory, or does it grow to that? @grown: memory */
static bool is_as_loaded(const struct dmda_log *log, const struct dmda_super *found,
			 struct dmda_super *grown)
{
	*grown = *found;
	if (log->grows_to && dmda_super_grow(grown, log->grows_to))
		return false;
	return dmda_super_is_same_layout(grown, &log->super);
}

static const char *take_super(struct dmda_log *log, struct dmda_super found[2])
{
	const char *why = dmda_log_read_super(log, &found[0]);

	if (!why && !is_as_loaded(log, &found[0], &found[1]))
		why = "it has changed since the table was loaded";
	if (!why)
		log->super = found[0];
	return why;
}

/*
 * The superblock may be another one than when the table was loaded. Whoever writes, also to have
 * memory, waits for the resume.
 */
static const char *read_super_again(struct dmda_log *log)
{
	unsigned int noio = memalloc_noio_save();
	struct dmda_super *found = kmalloc_array(2, sizeof(*found), GFP_NOIO);
	const char *why = found ? take_super(log, found) : "there is not enough memory";

	kfree(found);
	memalloc_noio_restore(noio);
	return why;
}

static int first_start(struct dmda_log *log)
{
	const char *name = dm_table_device_name(log->dmda->ti->table);
	bool read_only = dmda_log_wants_read_only(log);
	const char *why = read_super_again(log);

	if (why) {
		DMERR("%s: The superblock: %s.", name, why);
		return -EINVAL;
	}
	if (log->super.flags & DMDA_SUPER_NEEDS_CHECK && !read_only) {
		DMWARN("%s: The device needs 'dieaware check': it can only be read.", name);
		read_only = true;
	}
	log->may_write = !read_only;
	if (log->grows_to)
		why = read_only ? "it cannot grow while it can only be read" : dmda_log_grow(log);
	dmda_log_hint_start(log);
	dmda_update_init(&log->inplace.update, log->super.nr_lpns);
	why = why ?: dmda_log_start(log, read_only);
	if (why) {
		DMERR("%s: The device cannot be started: %s.", name, why);
		return -EINVAL;
	}
	spin_lock_irq(&log->lock);
	if (log->state == DMDA_LOG_NEW)
		WRITE_ONCE(log->state, read_only ? DMDA_LOG_READ_ONLY : DMDA_LOG_WRITE);
	spin_unlock_irq(&log->lock);
	return 0;
}

/* Says why, if somebody else has the device. */
static int begin(struct dmda_log *log)
{
	u64 nr_pages = max(log->super.nr_device_pages, log->grows_to);
	struct dmda_refusal refusal = dmda_user_begin(log->dmda,
						      nr_pages << DMDA_PAGE_SECTOR_SHIFT);

	if (!refusal.why) {
		refusal = dmda_log_list_begin(log);
		if (!refusal.why)
			return 0;
		dmda_user_end(log->dmda);
	}
	DMERR("%s: It cannot be resumed: %s (%s%s%sUUID %pU).",
	      dm_table_device_name(log->dmda->ti->table), refusal.why,
	      refusal.device[0] ? "the target of " : "", refusal.device,
	      refusal.device[0] ? "; " : "", log->super.uuid);
	return -EBUSY;
}

/* At the start, and when the device below has become another one */
static void tell_whether_in_place(const struct dmda_log *log)
{
	const char *name = dm_table_device_name(log->dmda->ti->table);

	if (log->dmda->config.in_place_percent >= 100)
		return;
	if (!log->inplace.is_possible)
		DMINFO("%s: No pages are overwritten in place: %s.", name,
		       dmda_super_has_sums(&log->super) ? "they have checksums" :
							  "a power failure might tear them");
	else if (log->state != DMDA_LOG_NEW)
		DMINFO("%s: Pages are overwritten in place again.", name);
}

/* One that is gone is not small: whoever waits for it gets its errors when all is resumed. */
static const char *below_complaint(const struct dmda_log *log)
{
	const char *why = bdev_nr_sectors(log->bdev) ? size_complaint(log) : NULL;

	return why ?: blocks_complaint(log);
}

/*
 * The device below may be a dm device that has got another table since it was looked at: its size,
 * and what it writes whole, are asked at each resume. Return: whether it can be used at all.
 */
static bool look_below(struct dmda_log *log)
{
	const char *why = below_complaint(log);
	bool was_possible = log->inplace.is_possible;

	spin_lock_irq(&log->lock);
	log->inplace.is_possible = can_overwrite(log);
	spin_unlock_irq(&log->lock);
	if (!why && (log->state == DMDA_LOG_NEW || log->inplace.is_possible != was_possible))
		tell_whether_in_place(log);
	if (why)
		DMERR("%s: It cannot be resumed: %s",
		      dm_table_device_name(log->dmda->ti->table), why);
	return !why;
}

static int preresume(struct dmda *dmda)
{
	struct dmda_log *log = dmda->log;
	int ret;

	/* It never gets to work: nobody is to make way for it. */
	if (log->is_broken) {
		DMERR("%s: It could not be started: its table has to be loaded again.",
		      dm_table_device_name(dmda->ti->table));
		return -EIO;
	}
	/* It may be another device below, or one that was mended. */
	WRITE_ONCE(log->cache.reads_alone, false);
	if (!look_below(log))
		return -EINVAL;
	ret = begin(log);
	if (ret)
		return ret;
	if (dmda_super_has_sums(&log->super))
		dmda_stable_writes_of_disk(dmda->ti);
	if (log->state == DMDA_LOG_NEW && first_start(log)) {
		/* It may be about to say so in the superblock, which is another's then. */
		flush_work(&log->failure.work);
		dmda_log_list_end(log);
		dmda_user_end(dmda);
		log->is_broken = true;
		WRITE_ONCE(log->state, DMDA_LOG_FAILED);
		return -EINVAL;
	}
	dmda_log_list_take(log);
	return 0;
}

static void resume(struct dmda *dmda)
{
	struct dmda_log *log = dmda->log;

	/* Whoever resumes it may have mended what is below. */
	dmda_log_renew_cleaner(log->cleaning.cleaner);
	WRITE_ONCE(log->is_suspending, false);
	WRITE_ONCE(log->is_quiet, false);
	dmda_log_kick(log, &log->space.work);
	dmda_log_kick(log, &log->ios.work);
	dmda_log_kick_clean(log);
	dmda_log_wait_idle(log);
}

/* Who has sent a message holds up the suspension until that is done. */
static void presuspend(struct dmda *dmda)
{
	WRITE_ONCE(dmda->log->is_suspending, true);
	if (dm_noflush_suspending(dmda->ti))
		dmda_log_hand_back(dmda->log, true);
}

static void presuspend_undo(struct dmda *dmda)
{
	WRITE_ONCE(dmda->log->is_suspending, false);
	dmda_log_hand_back(dmda->log, false);
	dmda_log_kick(dmda->log, &dmda->log->space.work);
	dmda_log_wait_idle(dmda->log);
}

/* Each of them may have begun another one before all was quiet. */
static void wait_for_workers(struct dmda_log *log)
{
	for (u32 i = 0; i < 2; i++) {
		cancel_delayed_work_sync(&log->cleaning.idle_work);
		flush_work(&log->cleaning.work);
		flush_work(&log->ios.work);
		flush_work(&log->checkpoint.work);
		flush_work(&log->space.work);
		flush_work(&log->space.discard_work);
		flush_work(&log->holes.work);
		flush_work(&log->journal.work);
		cancel_delayed_work_sync(&log->journal.late_work);
		flush_work(&log->failure.work);
	}
	/* If that has failed, the device has. */
	dmda_log_pages_settle(log);
	dmda_log_draft_wait(log);
}

static void postsuspend(struct dmda *dmda)
{
	struct dmda_log *log = dmda->log;

	/* A message that came before writes no more when another target has the device. */
	down_write(&log->message_lock);
	WRITE_ONCE(log->is_quiet, true);
	up_write(&log->message_lock);
	dmda_log_hand_back(log, false);
	cancel_delayed_work_sync(&log->admission.work);
	wait_for_workers(log);
	if (READ_ONCE(log->state) == DMDA_LOG_WRITE)
		dmda_log_checkpoint(log, true);
	/* If that has failed, it has told so. */
	flush_work(&log->failure.work);
	dmda_log_list_end(log);
	dmda_user_end(dmda);
}

static void io_hints(struct dmda *dmda, struct queue_limits *limits)
{
	limits->logical_block_size = DMDA_BLOCK_BYTES;
	limits->physical_block_size = DMDA_BLOCK_BYTES;
	limits->io_min = DMDA_BLOCK_BYTES;
	limits->io_opt = dmda->log->super.stripe_pages * DMDA_BLOCK_BYTES;
	limits->discard_granularity = DMDA_BLOCK_BYTES;
	limits->discard_alignment = 0;
	limits->max_discard_sectors = MAX_TRIM_SECTORS;
	limits->max_hw_discard_sectors = MAX_TRIM_SECTORS;
	dmda_zeroes_unmap(limits, MAX_TRIM_SECTORS);
	dmda_no_atomic_writes(limits);
	if (dmda_super_has_sums(&dmda->log->super))
		dmda_stable_writes(limits);
}

/* The superblock knows the rest. */
static const char *start_complaint(const struct dmda *dmda)
{
	return dmda->config.start_sectors >= bdev_nr_sectors(dmda->dev->bdev) ?
		"The device is too small for this start sector." : NULL;
}

static int init_mode(void)
{
	int ret = dmda_log_map_init();

	if (ret)
		return ret;
	ret = dmda_log_list_init();
	if (ret)
		dmda_log_map_exit();
	return ret;
}

static void exit_mode(void)
{
	dmda_log_list_exit();
	dmda_log_map_exit();
}

const struct dmda_mode_ops dmda_log_mode = {
	.name = "log",
	.init = init_mode,
	.exit = exit_mode,
	.size_complaint = start_complaint,
	.create = create,
	.destroy = destroy,
	.map = dmda_log_map,
	.preresume = preresume,
	.resume = resume,
	.presuspend = presuspend,
	.presuspend_undo = presuspend_undo,
	.postsuspend = postsuspend,
	.status = dmda_log_status,
	.message = dmda_log_message,
	.io_hints = io_hints,
};
