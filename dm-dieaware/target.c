// SPDX-License-Identifier: GPL-2.0-only
/*
 * The target as device-mapper sees it: construction in three parts (understand the
 * line, get what it names, start), destruction in the reverse order, and what can be
 * asked of it from outside. What happens to a bio is in hint-io.c.
 */
#include <linux/blk-integrity.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>

#include "core/message.h"
#include "dieaware.h"
#include "log/cache.h"
#include "log/device.h"
#include "log/io.h"
#include "log/message.h"
#include "log/status.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Bios carry positions in the target; a namespace's block is at most one page */
#define MAX_LOGICAL_BLOCK_BYTES	BIT(DMDA_PAGE_SHIFT)

static const char * const state_names[] = {
	[DMDA_STATE_ON] = "on",
	[DMDA_STATE_OFF] = "off:requested",
	[DMDA_STATE_REJECTED] = "off:rejected",
	[DMDA_STATE_NOT_NVME] = "off:not_nvme",
	[DMDA_STATE_NOT_ANNOUNCED] = "off:not_announced",
	[DMDA_STATE_NO_ANSWER] = "off:no_answer",
	[DMDA_STATE_UNFIT] = "off:unfit",
	[DMDA_STATE_ASKING] = "off:asking",
};

const char *dmda_state_name(enum dmda_state state)
{
	return state_names[state];
}

static const char *size_complaint(struct dmda *dmda)
{
	u64 nr_sectors = bdev_nr_sectors(dmda->dev->bdev);
	u64 end_sector;

	/* In log mode the superblock knows. */
	if (dmda->config.mode == DMDA_MODE_LOG)
		return dmda->config.start_sectors >= nr_sectors ?
			"The device is too small for this start sector." : NULL;
	if (check_add_overflow(dmda->config.start_sectors, (u64)dmda->ti->len, &end_sector))
		return "The start sector and the length add up to more than a device can have.";
	if (end_sector > nr_sectors)
		return "The device is too small for this start sector and length.";
	return NULL;
}

static const char *device_complaint(struct dmda *dmda)
{
	struct block_device *bdev = dmda->dev->bdev;

	if (bdev_is_zoned(bdev))
		return "Zoned devices are not supported.";
	if (blk_get_integrity(bdev->bd_disk))
		return "The device has metadata, where hints would mean something else.";
	if (bdev_logical_block_size(bdev) > MAX_LOGICAL_BLOCK_BYTES)
		return "The device's logical blocks are larger than 4 KiB.";
	return size_complaint(dmda);
}

/* Everything but the device: what may fail for want of memory alone */
static int acquire_parts(struct dmda *dmda)
{
	int ret;

	ret = dmda_stats_init(&dmda->stats);
	if (ret)
		return ret;
	dmda->table = dmda_runtable_create(dmda->config.runs_mb);
	if (!dmda->table) {
		ret = -ENOMEM;
		goto err_stats;
	}
	ret = dmda_transport_get();
	if (ret)
		goto err_table;
	dmda_fsmap_get();
	return 0;

err_table:
	dmda_runtable_destroy(dmda->table);
err_stats:
	dmda_stats_exit(&dmda->stats);
	return ret;
}

static void release_parts(struct dmda *dmda)
{
	dmda_fsmap_put();
	dmda_transport_put();
	dmda_runtable_destroy(dmda->table);
	dmda_stats_exit(&dmda->stats);
}

static int acquire(struct dmda *dmda)
{
	struct dm_target *ti = dmda->ti;
	int ret;

	ret = dm_get_device(ti, dmda->config.device, dm_table_get_mode(ti->table), &dmda->dev);
	if (ret) {
		ti->error = ret == -EBUSY ? "The device is in use." :
					    "The device cannot be opened.";
		return ret;
	}
	dmda->config.device = dmda->dev->name;

	ti->error = (char *)device_complaint(dmda);
	if (ti->error) {
		ret = -EINVAL;
		goto err_device;
	}
	ret = acquire_parts(dmda);
	if (ret) {
		ti->error = "There is not enough memory for the target.";
		goto err_device;
	}
	return 0;

err_device:
	dm_put_device(ti, dmda->dev);
	return ret;
}

/* What the configuration and the device's answer come to */
static enum dmda_state wanted_state(const struct dmda *dmda)
{
	if (dmda->config.hints == DMDA_HINTS_OFF)
		return DMDA_STATE_OFF;
	if (dmda->is_unfit)
		return DMDA_STATE_UNFIT;
	return dmda->config.hints == DMDA_HINTS_ON ? DMDA_STATE_ON : dmda->discovery.state;
}

/*
 * Decide again. While writes go by unseen, what the run table knew gets out of date.
 */
static void decide_locked(struct dmda *dmda)
{
	lockdep_assert_held(&dmda->admin_lock);

	dmda_retry_trust(dmda);
	WRITE_ONCE(dmda->state, wanted_state(dmda));
	if (!dmda_watches(dmda))
		dmda_hint_forget_all(dmda);
}

/*
 * There is reason to ask the device. Until it has answered, it knows no more than the
 * paper's hints, and those it gets only if the configuration says so. Returns the number
 * of the question.
 */
static u32 question_locked(struct dmda *dmda)
{
	lockdep_assert_held(&dmda->admin_lock);

	if (dmda->config.hints != DMDA_HINTS_OFF) {
		dmda->discovery.state = DMDA_STATE_ASKING;
		WRITE_ONCE(dmda->discovery.knows_begin, false);
	}
	decide_locked(dmda);
	return ++dmda->nr_questions;
}

/*
 * What it said, if nothing has happened since it was asked. Who asks for the status holds no
 * lock, and sees the old geometry until then.
 */
static void answer_locked(struct dmda *dmda, u32 question, const struct dmda_discovery *found)
{
	lockdep_assert_held(&dmda->admin_lock);

	if (question != dmda->nr_questions)
		return;
	/* With other dies it is another device. */
	if (found->state == DMDA_STATE_ON &&
	    (found->die_unit_bytes != dmda->discovery.die_unit_bytes ||
	     found->stripe_bytes != dmda->discovery.stripe_bytes))
		dmda_hint_forget_all(dmda);
	dmda->discovery.state = found->state;
	WRITE_ONCE(dmda->discovery.knows_begin, found->knows_begin);
	WRITE_ONCE(dmda->discovery.die_unit_bytes, found->die_unit_bytes);
	WRITE_ONCE(dmda->discovery.stripe_bytes, found->stripe_bytes);
	if (READ_ONCE(dmda->state) == DMDA_STATE_ASKING)
		decide_locked(dmda);
}

/* A resume that waits for admin_lock must not wait for the device: it is not held meanwhile. */
static void ask(struct dmda *dmda, u32 question)
{
	struct dmda_discovery found;

	dmda_discover(dmda->dev->bdev, &found);
	mutex_lock(&dmda->admin_lock);
	answer_locked(dmda, question, &found);
	mutex_unlock(&dmda->admin_lock);
}

/*
 * Memory that this takes may have to wait for writes, and the device may take its time: all
 * of which a resume must not wait for, since nothing can be written before it is over.
 */
static void ask_after_resume(struct work_struct *work)
{
	struct dmda *dmda = container_of(work, struct dmda, ask_work);
	struct mm_struct *lent;
	u32 question;

	mutex_lock(&dmda->admin_lock);
	lent = dmda->lent;
	dmda->lent = NULL;
	question = dmda->nr_questions;
	mutex_unlock(&dmda->admin_lock);
	if (!lent)
		return;
	kthread_use_mm(lent);
	ask(dmda, question);
	kthread_unuse_mm(lent);
	mmput(lent);
}

/* Where the target lies on the disk, and in which blocks. Returns whether that has changed. */
static bool locate(struct dmda *dmda)
{
	struct block_device *bdev = dmda->dev->bdev;
	sector_t first_sector = get_start_sect(bdev) + dmda->config.start_sectors;
	u8 lba_shift = ilog2(bdev_logical_block_size(bdev) >> SECTOR_SHIFT);
	bool has_changed = first_sector != dmda->first_sector || lba_shift != dmda->lba_shift;

	dmda->first_sector = first_sector;
	dmda->lba_shift = lba_shift;
	return has_changed;
}

/*
 * Is the device still one for which a table would be loaded? Whatever it is, reads and writes
 * go on as if the target were not there.
 */
static void check_again_locked(struct dmda *dmda)
{
	const char *complaint = device_complaint(dmda);

	lockdep_assert_held(&dmda->admin_lock);

	if (complaint)
		DMWARN("%s: There are no hints from now on. %s",
		       dm_table_device_name(dmda->ti->table), complaint);
	dmda->is_unfit = complaint;
	/* What lay on the device is gone. */
	if (locate(dmda))
		dmda_hint_forget_all(dmda);
}

/* While it was suspended, the device may have become another one. */
static void look_again_locked(struct dmda *dmda)
{
	lockdep_assert_held(&dmda->admin_lock);

	check_again_locked(dmda);
	question_locked(dmda);
	if (dmda->config.hints == DMDA_HINTS_OFF)
		return;
	if (!dmda->lent)
		dmda->lent = get_task_mm(current);
	if (dmda->lent) {
		queue_work(system_long_wq, &dmda->ask_work);
		return;
	}
	dmda->discovery.state = DMDA_STATE_NO_ANSWER;
	decide_locked(dmda);
}

static void stop_asking(struct dmda *dmda)
{
	cancel_work_sync(&dmda->ask_work);
	if (dmda->lent)
		mmput(dmda->lent);
}

static void start(struct dmda *dmda)
{
	struct dm_target *ti = dmda->ti;

	dmda->self_dev = disk_devt(dm_disk(dm_table_get_md(ti->table)));
	locate(dmda);
	dmda_discover(dmda->dev->bdev, &dmda->discovery);
	dmda->state = wanted_state(dmda);

	ti->num_flush_bios = 1;
	ti->num_discard_bios = 1;
	ti->num_write_zeroes_bios = 1;
	ti->private = dmda;
	if (dmda->log) {
		ti->per_io_data_size = sizeof(struct dmda_log_io);
		ti->discards_supported = true;
		ti->flush_supported = true;
	} else {
		ti->per_io_data_size = sizeof(struct dmda_io);
		ti->num_secure_erase_bios = 1;
		dmda_flush_bypasses_map(ti);
	}
}

static int dieaware_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct dmda *dmda = kzalloc(sizeof(*dmda), GFP_KERNEL);
	int ret;

	if (!dmda) {
		ti->error = "There is not enough memory for the target.";
		return -ENOMEM;
	}
	dmda->ti = ti;
	mutex_init(&dmda->admin_lock);
	INIT_WORK(&dmda->ask_work, ask_after_resume);
	dmda_retry_create(dmda);

	ret = -EINVAL;
	ti->error = (char *)dmda_config_parse(argc, argv, &dmda->config);
	if (ti->error)
		goto err_dmda;
	ret = acquire(dmda);
	if (ret)
		goto err_dmda;
	if (dmda->config.mode == DMDA_MODE_LOG)
		ret = dmda_log_create(dmda);
	if (ret)
		goto err_parts;
	start(dmda);
	return 0;

err_parts:
	release_parts(dmda);
	dm_put_device(ti, dmda->dev);
err_dmda:
	mutex_destroy(&dmda->admin_lock);
	kfree(dmda);
	return ret;
}

static void dieaware_dtr(struct dm_target *ti)
{
	struct dmda *dmda = ti->private;

	stop_asking(dmda);
	dmda_log_destroy(dmda);
	dmda_retry_destroy(dmda);
	release_parts(dmda);
	dm_put_device(ti, dmda->dev);
	mutex_destroy(&dmda->admin_lock);
	kfree(dmda);
}

static int dieaware_map(struct dm_target *ti, struct bio *bio)
{
	struct dmda *dmda = ti->private;

	/*
	 * Device-mapper marks a polled bio with it; what is left of one that was cut inherits
	 * the mark, and the NVMe driver would take that for its multipath.
	 */
	bio->bi_opf &= ~REQ_DRV;
	return dmda->log ? dmda_log_map(dmda, bio) : dmda_hint_map(dmda, bio);
}

static int dieaware_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *status)
{
	struct dmda *dmda = ti->private;

	return dmda->log ? dmda_log_end_io(dmda, bio, status) : DM_ENDIO_DONE;
}

static int dieaware_preresume(struct dm_target *ti)
{
	struct dmda *dmda = ti->private;

	return dmda->log ? dmda_log_preresume(dmda) : 0;
}

static void dieaware_presuspend(struct dm_target *ti)
{
	struct dmda *dmda = ti->private;

	if (dmda->log)
		dmda_log_presuspend(dmda);
}

static void dieaware_presuspend_undo(struct dm_target *ti)
{
	struct dmda *dmda = ti->private;

	if (dmda->log)
		dmda_log_presuspend_undo(dmda);
}

static void dieaware_postsuspend(struct dm_target *ti)
{
	struct dmda *dmda = ti->private;

	if (dmda->log)
		dmda_log_postsuspend(dmda);
}

/* The first resume comes right after construction, which has asked. */
static void dieaware_resume(struct dm_target *ti)
{
	struct dmda *dmda = ti->private;

	mutex_lock(&dmda->admin_lock);
	if (dmda->resumed)
		look_again_locked(dmda);
	dmda->resumed = true;
	mutex_unlock(&dmda->admin_lock);
	if (dmda->log)
		dmda_log_resume(dmda);
}

size_t dmda_hints_status(struct dmda *dmda, char *result, unsigned int maxlen)
{
	struct dmda_runtable_stats runs;
	size_t sz = 0;

	DMEMIT(" transport=%s hints=%s", dmda_transport_name(),
	       dmda_state_name(READ_ONCE(dmda->state)));
	sz += dmda_stats_print(&dmda->stats, result + sz, maxlen - sz);
	dmda_runtable_stats(dmda->table, &runs);
	DMEMIT(" runs_extents=%llu runs_bytes=%llu runs_limit_bytes=%llu runs_evicted=%llu",
	       runs.nr_extents, runs.bytes, runs.limit_bytes, runs.nr_evicted);
	DMEMIT(" die_unit_bytes=%u stripe_bytes=%llu",
	       READ_ONCE(dmda->discovery.die_unit_bytes),
	       READ_ONCE(dmda->discovery.stripe_bytes));
	return sz;
}

static void status_info(struct dmda *dmda, char *result, unsigned int maxlen)
{
	size_t sz = 0;

	DMEMIT("mode=hint");
	dmda_hints_status(dmda, result + sz, maxlen - sz);
}

static void dieaware_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
			    char *result, unsigned int maxlen)
{
	struct dmda *dmda = ti->private;
	size_t sz = 0;

	switch (type) {
	case STATUSTYPE_INFO:
		if (dmda->log)
			dmda_log_status(dmda, result, maxlen);
		else
			status_info(dmda, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		/* A message may change one: each is a word, and either value is right. */
		data_race(dmda_config_print(&dmda->config, result, maxlen));
		break;
	case STATUSTYPE_IMA:
		DMEMIT_TARGET_NAME_VERSION(ti->type);
		DMEMIT(",device_name=%s,start=%llu,mode=%s;", dmda->dev->name,
		       dmda->config.start_sectors, dmda->log ? "log" : "hint");
		break;
	}
}

static int add_runs(struct dmda *dmda, const struct dmda_message *message)
{
	u64 nr_pages = dmda->ti->len >> DMDA_PAGE_SECTOR_SHIFT;
	u32 i;

	for (i = 0; i < message->nr_runs; i++) {
		struct dmda_run run = dmda_message_run(message, i);

		if (from_dpn(run.dpn) + run.nr_pages > nr_pages) {
			DMERR("%s: A run ends behind the last page of the target.",
			      dm_table_device_name(dmda->ti->table));
			return -EINVAL;
		}
	}
	for (i = 0; i < message->nr_runs; i++) {
		struct dmda_run run = dmda_message_run(message, i);

		dmda_runtable_set(dmda->table, &run);
		cond_resched();
	}
	return 0;
}

static int print_runs(struct dmda *dmda, char *result, unsigned int maxlen)
{
	struct dmda_runtable_stats runs;
	size_t sz = 0;

	dmda_runtable_stats(dmda->table, &runs);
	DMEMIT("extents=%llu bytes=%llu limit_bytes=%llu evicted=%llu", runs.nr_extents,
	       runs.bytes, runs.limit_bytes, runs.nr_evicted);
	return 1;
}

static int obey_locked(struct dmda *dmda, const struct dmda_message *message,
		       char *result, unsigned int maxlen)
{
	lockdep_assert_held(&dmda->admin_lock);

	switch (message->verb) {
	case DMDA_VERB_RESET_COUNTERS:
		dmda_stats_reset(&dmda->stats);
		return 0;
	case DMDA_VERB_RUNS_ADD:
		return add_runs(dmda, message);
	case DMDA_VERB_RUNS_CLEAR:
		dmda_runtable_clear(dmda->table);
		return 0;
	case DMDA_VERB_RUNS_STATS:
		return print_runs(dmda, result, maxlen);
	default:
		return -ENOTTY;
	}
}

static int set_hints(struct dmda *dmda, enum dmda_hints_mode hints)
{
	u32 question;

	mutex_lock(&dmda->admin_lock);
	dmda->config.hints = hints;
	question = question_locked(dmda);
	mutex_unlock(&dmda->admin_lock);
	if (hints != DMDA_HINTS_OFF)
		ask(dmda, question);
	return 0;
}

int dmda_obey_hints(struct dmda *dmda, const struct dmda_message *message, char *result,
		    unsigned int maxlen)
{
	int ret;

	if (message->verb == DMDA_VERB_HINTS)
		return set_hints(dmda, message->hints);
	mutex_lock(&dmda->admin_lock);
	ret = obey_locked(dmda, message, result, maxlen);
	mutex_unlock(&dmda->admin_lock);
	return ret;
}

static int obey(struct dmda *dmda, const struct dmda_message *message, char *result,
		unsigned int maxlen)
{
	int ret = dmda_obey_hints(dmda, message, result, maxlen);

	if (ret != -ENOTTY)
		return ret;
	if (dmda->log)
		return dmda_log_message(dmda, message);
	DMERR("%s: This is a message for log mode.", dm_table_device_name(dmda->ti->table));
	return -EINVAL;
}

static int dieaware_message(struct dm_target *ti, unsigned int argc, char **argv,
			    char *result, unsigned int maxlen)
{
	struct dmda *dmda = ti->private;
	struct dmda_message message;
	const char *complaint;

	complaint = dmda_message_parse(argc, argv, &message);
	if (complaint) {
		DMERR("%s: %s", dm_table_device_name(ti->table), complaint);
		return -EINVAL;
	}
	return obey(dmda, &message, result, maxlen);
}

static int dieaware_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct dmda *dmda = ti->private;

	return fn(ti, dmda->dev, dmda->config.start_sectors, ti->len, data);
}

/* Filesystems align to whole die units and stripes when they know them */
static void dieaware_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct dmda *dmda = ti->private;
	const struct dmda_discovery *discovery = &dmda->discovery;

	if (dmda->log) {
		dmda_log_limits(dmda->log, limits);
		return;
	}
	if (!discovery->die_unit_bytes)
		return;
	limits->io_min = max(limits->io_min, discovery->die_unit_bytes);
	limits->io_opt = discovery->stripe_bytes;
}

/* ioctls are the device's only if the target is all of it */
static int dieaware_prepare_ioctl(DMDA_PREPARE_IOCTL_PARAMETERS)
{
	struct dmda *dmda = ti->private;

	*bdev = dmda->dev->bdev;
	return dmda->log || dmda->config.start_sectors ||
		ti->len != bdev_nr_sectors(dmda->dev->bdev);
}

static struct target_type dieaware_target = {
	.name = "dieaware",
	.version = { 0, 1, 0 },
	.features = DM_TARGET_NOWAIT | DM_TARGET_PASSES_CRYPTO | DMDA_TARGET_ATOMIC_WRITES,
	.module = THIS_MODULE,
	.ctr = dieaware_ctr,
	.dtr = dieaware_dtr,
	.map = dieaware_map,
	.end_io = dieaware_end_io,
	.presuspend = dieaware_presuspend,
	.presuspend_undo = dieaware_presuspend_undo,
	.postsuspend = dieaware_postsuspend,
	.preresume = dieaware_preresume,
	.resume = dieaware_resume,
	.status = dieaware_status,
	.message = dieaware_message,
	.iterate_devices = dieaware_iterate_devices,
	.io_hints = dieaware_io_hints,
	.prepare_ioctl = dieaware_prepare_ioctl,
};

static int __init dieaware_init(void)
{
	int ret;

	ret = dmda_runtable_init();
	if (ret)
		return ret;
	ret = dmda_retry_init();
	if (ret)
		goto err_runtable;
	ret = dmda_log_map_init();
	if (ret)
		goto err_retry;
	ret = dm_register_target(&dieaware_target);
	if (ret)
		goto err_log;
	return 0;

err_log:
	dmda_log_map_exit();
err_retry:
	dmda_retry_exit();
err_runtable:
	dmda_runtable_exit();
	return ret;
}

static void __exit dieaware_exit(void)
{
	dm_unregister_target(&dieaware_target);
	dmda_log_map_exit();
	dmda_retry_exit();
	dmda_runtable_exit();
}

module_init(dieaware_init);
module_exit(dieaware_exit);

MODULE_DESCRIPTION("Device-mapper target that keeps the pages of a file spread over the dies of an SSD");
MODULE_LICENSE("GPL");
