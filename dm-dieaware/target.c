// SPDX-License-Identifier: GPL-2.0-only
/*
 * The target as device-mapper sees it: construction in three parts (understand the
 * line, get what it names, start), destruction in the reverse order, and what can be
 * asked of it from outside. What a mode does about it stands in its table of operations
 * (mode.h): hint-mode.c for hint mode, log/device.c for log mode.
 */
#include <linux/module.h>

#include "core/message.h"
#include "dieaware.h"
#include "fsmap.h"
#include "hint-control.h"
#include "mode.h"
#include "underlying.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static const struct dmda_mode_ops * const modes[DMDA_NR_MODES] = {
	[DMDA_MODE_HINT] = &dmda_hint_mode,
	[DMDA_MODE_LOG] = &dmda_log_mode,
};

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

	ti->error = (char *)dmda_underlying_complaint(dmda);
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

static void start(struct dmda *dmda)
{
	struct dm_target *ti = dmda->ti;

	dmda->self_dev = disk_devt(dm_disk(dm_table_get_md(ti->table)));
	dmda_underlying_locate(dmda);
	dmda_hints_start(dmda);

	ti->num_flush_bios = 1;
	ti->num_discard_bios = 1;
	ti->num_write_zeroes_bios = 1;
	ti->private = dmda;
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
	dmda_hints_init(dmda);
	dmda_retry_create(dmda);
	dmda_share_create(dmda);
	dmda_user_init(dmda);

	ret = -EINVAL;
	ti->error = (char *)dmda_config_parse(argc, argv, &dmda->config);
	if (ti->error)
		goto err_dmda;
	dmda->ops = modes[dmda->config.mode];
	ret = acquire(dmda);
	if (ret)
		goto err_dmda;
	ret = dmda->ops->create(dmda);
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

	dmda_user_end(dmda);
	dmda_hints_stop(dmda);
	if (dmda->ops->destroy)
		dmda->ops->destroy(dmda);
	dmda_share_destroy(dmda);
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
	return dmda->ops->map(dmda, bio);
}

static int dieaware_preresume(struct dm_target *ti)
{
	struct dmda *dmda = ti->private;

	return dmda->ops->preresume ? dmda->ops->preresume(dmda) : 0;
}

static void dieaware_presuspend(struct dm_target *ti)
{
	struct dmda *dmda = ti->private;

	if (dmda->ops->presuspend)
		dmda->ops->presuspend(dmda);
}

static void dieaware_presuspend_undo(struct dm_target *ti)
{
	struct dmda *dmda = ti->private;

	if (dmda->ops->presuspend_undo)
		dmda->ops->presuspend_undo(dmda);
}

static void dieaware_postsuspend(struct dm_target *ti)
{
	struct dmda *dmda = ti->private;

	if (dmda->ops->postsuspend)
		dmda->ops->postsuspend(dmda);
}

static void dieaware_resume(struct dm_target *ti)
{
	struct dmda *dmda = ti->private;

	dmda_hints_resume(dmda);
	if (dmda->ops->resume)
		dmda->ops->resume(dmda);
}

static void dieaware_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
			    char *result, unsigned int maxlen)
{
	struct dmda *dmda = ti->private;
	size_t sz = 0;

	switch (type) {
	case STATUSTYPE_INFO:
		dmda->ops->status(dmda, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		/* A message may change one: each is a word, and either value is right. */
		data_race(dmda_config_print(&dmda->config, result, maxlen));
		break;
	case STATUSTYPE_IMA:
		DMEMIT_TARGET_NAME_VERSION(ti->type);
		DMEMIT(",device_name=%s,start=%llu,mode=%s;", dmda->dev->name,
		       dmda->config.start_sectors, dmda->ops->name);
		break;
	}
}

static int dieaware_message(struct dm_target *ti, unsigned int argc, char **argv,
			    char *result, unsigned int maxlen)
{
	struct dmda *dmda = ti->private;
	struct dmda_message message;
	const char *complaint;
	int ret;

	complaint = dmda_message_parse(argc, argv, &message);
	if (complaint) {
		DMERR("%s: %s", dm_table_device_name(ti->table), complaint);
		return -EINVAL;
	}
	ret = dmda_hints_message(dmda, &message, result, maxlen);
	return ret == -ENOTTY ? dmda->ops->message(dmda, &message, result, maxlen) : ret;
}

static int dieaware_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct dmda *dmda = ti->private;

	return fn(ti, dmda->dev, dmda->config.start_sectors, ti->len, data);
}

static void dieaware_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct dmda *dmda = ti->private;

	dmda->ops->io_hints(dmda, limits);
}

/* ioctls are the device's only if the target is all of it */
static int dieaware_prepare_ioctl(DMDA_PREPARE_IOCTL_PARAMETERS)
{
	struct dmda *dmda = ti->private;

	*bdev = dmda->dev->bdev;
	return !dmda->ops->is_linear || dmda->config.start_sectors ||
		ti->len != bdev_nr_sectors(dmda->dev->bdev);
}

/*
 * Inline encryption is not passed on: below, data would be something else than what log mode has
 * taken checksums of, for drafts as well, which a start would then drop. The block layer encrypts
 * instead.
 */
static struct target_type dieaware_target = {
	.name = "dieaware",
	.version = { 0, 2, 0 },
	.features = DM_TARGET_NOWAIT | DMDA_TARGET_ATOMIC_WRITES,
	.module = THIS_MODULE,
	.ctr = dieaware_ctr,
	.dtr = dieaware_dtr,
	.map = dieaware_map,
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

/* The first @nr of them, in the reverse order */
static void exit_modes(u32 nr)
{
	while (nr--)
		if (modes[nr]->exit)
			modes[nr]->exit();
}

static int init_modes(void)
{
	u32 i;

	for (i = 0; i < DMDA_NR_MODES; i++) {
		int ret = modes[i]->init ? modes[i]->init() : 0;

		if (ret) {
			exit_modes(i);
			return ret;
		}
	}
	return 0;
}

static int __init dieaware_init(void)
{
	int ret;

	ret = dmda_runtable_init();
	if (ret)
		return ret;
	ret = dmda_retry_init();
	if (ret)
		goto err_runtable;
	ret = dmda_share_init();
	if (ret)
		goto err_retry;
	ret = init_modes();
	if (ret)
		goto err_share;
	ret = dm_register_target(&dieaware_target);
	if (ret)
		goto err_modes;
	return 0;

err_modes:
	exit_modes(DMDA_NR_MODES);
err_share:
	dmda_share_exit();
err_retry:
	dmda_retry_exit();
err_runtable:
	dmda_runtable_exit();
	return ret;
}

static void __exit dieaware_exit(void)
{
	dm_unregister_target(&dieaware_target);
	exit_modes(DMDA_NR_MODES);
	dmda_share_exit();
	dmda_retry_exit();
	dmda_runtable_exit();
}

module_init(dieaware_init);
module_exit(dieaware_exit);

MODULE_DESCRIPTION("Device-mapper target that keeps the pages of a file spread over the dies of an SSD");
MODULE_LICENSE("GPL");
