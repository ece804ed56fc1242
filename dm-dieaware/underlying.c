// SPDX-License-Identifier: GPL-2.0-only
/*
 * The underlying device: can a target be put on it, and where on the disk does the target
 * lie then? Both are asked when a table is loaded, and again at each resume, before which
 * the device may have become another one.
 */
#include <linux/blk-integrity.h>

#include "dieaware.h"
#include "mode.h"
#include "underlying.h"

/* Bios carry positions in the target; a namespace's block is at most one page */
#define MAX_LOGICAL_BLOCK_BYTES	BIT(DMDA_PAGE_SHIFT)

const char *dmda_underlying_complaint(struct dmda *dmda)
{
	struct block_device *bdev = dmda->dev->bdev;

	if (bdev_is_zoned(bdev))
		return "Zoned devices are not supported.";
	if (blk_get_integrity(bdev->bd_disk))
		return "The device has metadata, where hints would mean something else.";
	if (bdev_logical_block_size(bdev) > MAX_LOGICAL_BLOCK_BYTES)
		return "The device's logical blocks are larger than 4 KiB.";
	return dmda->ops->size_complaint(dmda);
}

static sector_t first_sector_of(const struct dmda *dmda)
{
	return get_start_sect(dmda->dev->bdev) + dmda->config.start_sectors;
}

static u8 lba_shift_of(const struct dmda *dmda)
{
	return ilog2(bdev_logical_block_size(dmda->dev->bdev) >> SECTOR_SHIFT);
}

bool dmda_underlying_has_moved(const struct dmda *dmda)
{
	return READ_ONCE(dmda->first_sector) != first_sector_of(dmda) ||
	       READ_ONCE(dmda->lba_shift) != lba_shift_of(dmda);
}

bool dmda_underlying_locate(struct dmda *dmda)
{
	bool has_changed = dmda_underlying_has_moved(dmda);

	WRITE_ONCE(dmda->first_sector, first_sector_of(dmda));
	WRITE_ONCE(dmda->lba_shift, lba_shift_of(dmda));
	return has_changed;
}
