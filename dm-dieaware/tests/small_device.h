/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The superblock of a device with small segments. Included behind ../core/super.c.
 */
#ifndef SMALL_DEVICE_H
#define SMALL_DEVICE_H

#define SEGMENT_PAGES	64
#define DATA_PAGES	63

static inline void make_small_device(struct kunit *test, struct dmda_super *super)
{
	static const u8 uuid[DMDA_UUID_BYTES];
	const struct dmda_format format = {
		.uuid = uuid,
		.nr_device_pages = 8192,
		.stripe_pages = 8,
		.segment_pages = SEGMENT_PAGES,
		.journal_sectors = DMDA_MIN_JOURNAL_SECTORS,
		.journal_unit_sectors = 1,
		.reserve_permille = 100,
	};

	KUNIT_ASSERT_NULL(test, dmda_super_make(&format, super));
}

#endif /* SMALL_DEVICE_H */
