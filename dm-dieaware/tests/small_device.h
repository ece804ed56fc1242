/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The superblock of a device, above all of one with small segments. Included behind
 * ../core/super.c.
 */
#ifndef SMALL_DEVICE_H
#define SMALL_DEVICE_H

#define SMALL_DEVICE_PAGES	8192
#define SEGMENT_PAGES		64
#define DATA_PAGES		63

static inline void make_device(struct kunit *test, struct dmda_super *super, u64 nr_pages,
			       u32 segment_pages)
{
	static const u8 uuid[DMDA_UUID_BYTES];
	const struct dmda_format format = {
		.uuid = uuid,
		.nr_device_pages = nr_pages,
		.stripe_pages = 8,
		.segment_pages = segment_pages,
		.journal_sectors = DMDA_MIN_JOURNAL_SECTORS,
		.journal_unit_sectors = 1,
		.reserve_permille = 100,
	};

	KUNIT_ASSERT_NULL(test, dmda_super_make(&format, super));
}

static inline void make_small_device(struct kunit *test, struct dmda_super *super)
{
	make_device(test, super, SMALL_DEVICE_PAGES, SEGMENT_PAGES);
}

#endif /* SMALL_DEVICE_H */
