// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hint mode as the target sees it: dm-linear whose writes say where they belong. It keeps
 * nothing of its own: no format, nothing to start or to make durable, and all that it
 * remembers may be lost. So most of what a mode can do is not here; a bio's way is in
 * hint-io.c.
 */
#include "core/namespace.h"
#include "dieaware.h"
#include "hint-control.h"
#include "hint-io.h"
#include "mode.h"

static const char *size_complaint(const struct dmda *dmda)
{
	u64 nr_sectors = bdev_nr_sectors(dmda->dev->bdev);
	u64 end_sector;

	if (check_add_overflow(dmda->config.start_sectors, (u64)dmda->ti->len, &end_sector))
		return "The start sector and the length add up to more than a device can have.";
	if (end_sector > nr_sectors)
		return "The device is too small for this start sector and length.";
	return NULL;
}

static int create(struct dmda *dmda)
{
	struct dm_target *ti = dmda->ti;

	ti->per_io_data_size = sizeof(struct dmda_io);
	ti->num_secure_erase_bios = 1;
	dmda_flush_bypasses_map(ti);
	return 0;
}

static int preresume(struct dmda *dmda)
{
	struct dmda_refusal refusal = dmda_user_begin(dmda, dmda->ti->len);

	if (!refusal.why)
		return 0;
	DMERR("%s: It cannot be resumed: %s (the target of %s).",
	      dm_table_device_name(dmda->ti->table), refusal.why, refusal.device);
	return -EBUSY;
}

static size_t status(struct dmda *dmda, char *result, unsigned int maxlen)
{
	size_t sz = 0;

	DMEMIT("mode=hint");
	sz += dmda_hints_status(dmda, result + sz, maxlen - sz);
	return sz;
}

static int refuse_message(struct dmda *dmda, const struct dmda_message *message, char *result,
			  unsigned int maxlen)
{
	DMERR("%s: This is a message for log mode.", dm_table_device_name(dmda->ti->table));
	return -EINVAL;
}

/*
 * Filesystems align to whole die units and stripes when they know them. The block layer reads ahead
 * by two stripes, and does not take that back: so a device is not believed whatever it says.
 */
static void io_hints(struct dmda *dmda, struct queue_limits *limits)
{
	const struct dmda_discovery *discovery = &dmda->asking.discovery;

	if (dmda->config.hints == DMDA_HINTS_OFF ||
	    !dmda_stripe_is_worth(discovery->die_unit_bytes, discovery->stripe_bytes,
				  limits->physical_block_size))
		return;
	limits->io_min = max(limits->io_min, discovery->die_unit_bytes);
	limits->io_opt = discovery->stripe_bytes;
}

const struct dmda_mode_ops dmda_hint_mode = {
	.name = "hint",
	.is_linear = true,
	.size_complaint = size_complaint,
	.create = create,
	.map = dmda_hint_map,
	.preresume = preresume,
	.postsuspend = dmda_user_end,
	.status = status,
	.message = refuse_message,
	.io_hints = io_hints,
};
