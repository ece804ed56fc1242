// SPDX-License-Identifier: GPL-2.0-only
/* The superblock: layouts that can be, and pages that cannot. */
#include <kunit/test.h>

#include "../core/block.c"
#include "../core/super.c"

static const u8 uuid[DMDA_UUID_BYTES] = "a device's uuid";

/**
 * struct layout_case - a device to be laid out
 * @name: for people
 * @nr_device_pages: its size
 * @stripe_pages: its stripe
 * @reserve_permille: asked for
 * @checksums: whether it has checksums
 */
struct layout_case {
	const char *name;
	u64 nr_device_pages;
	u32 stripe_pages;
	u32 reserve_permille;
	bool checksums;
};

static const struct layout_case layout_cases[] = {
	{ "64 MiB", 16384, 8, 100 },
	{ "1 GiB", 262144, 64, 80 },
	{ "60 GB, odd stripe", 14648437, 152, 80 },
	{ "1 TiB", 1ULL << 28, 256, 20 },
	{ "16 TiB", 1ULL << 32, 8192, 70 },
	{ "4 PiB", (1ULL << 40) - 1, 64, 900 },
	{ "64 MiB, checksums", 16384, 8, 100, true },
	{ "1 TiB, checksums", 1ULL << 28, 256, 20, true },
	{ "16 TiB, checksums", 1ULL << 32, 8192, 70, true },
};

static void describe_layout(const struct layout_case *layout, char *desc)
{
	strscpy(desc, layout->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(layout, layout_cases, describe_layout);

static struct dmda_format format_of(const struct layout_case *layout)
{
	return (struct dmda_format){
		.uuid = uuid,
		.label = "test",
		.nr_device_pages = layout->nr_device_pages,
		.stripe_pages = layout->stripe_pages,
		.journal_unit_sectors = 8,
		.reserve_permille = layout->reserve_permille,
		.checksums = layout->checksums,
	};
}

static struct dmda_super_block *new_block(struct kunit *test)
{
	struct dmda_super_block *block = kunit_kzalloc(test, sizeof(*block), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, block);
	return block;
}

static struct dmda_super *make_super(struct kunit *test, const struct layout_case *layout)
{
	struct dmda_super *super = kunit_kzalloc(test, sizeof(*super), GFP_KERNEL);
	struct dmda_format format = format_of(layout);
	const char *why;

	KUNIT_ASSERT_NOT_NULL(test, super);
	why = dmda_super_make(&format, super);
	KUNIT_ASSERT_NULL_MSG(test, why, "%s", why);
	return super;
}

static void a_layout_comes_back_from_its_page(struct kunit *test)
{
	struct dmda_super *super = make_super(test, test->param_value);
	struct dmda_super *read = kunit_kzalloc(test, sizeof(*read), GFP_KERNEL);
	struct dmda_super_block *block = new_block(test);
	const char *why;

	KUNIT_ASSERT_NOT_NULL(test, read);
	dmda_super_encode(super, block);
	why = dmda_super_decode(block, dmda_super_dpn(super->epoch), read);
	KUNIT_ASSERT_NULL_MSG(test, why, "%s", why);
	KUNIT_EXPECT_EQ(test, memcmp(super, read, sizeof(*super)), 0);
	KUNIT_EXPECT_NOT_NULL(test, dmda_super_decode(block, to_dpn(DMDA_SUPER_DPN_B), read));
}

static void nothing_overlaps(struct kunit *test)
{
	const struct dmda_super *super = make_super(test, test->param_value);
	u64 free_dpn = DMDA_FIRST_ROOT_DPN + 2 * super->root_pages;
	u64 nr_segments = dmda_super_nr_segments(super);

	KUNIT_EXPECT_EQ(test, super->journal_dpn, free_dpn);
	free_dpn += super->journal_sectors / DMDA_PAGE_SECTORS;
	for (u32 table = 0; table < DMDA_NR_TABLES; table++) {
		u64 nr_pages = dmda_super_nr_pages(super, table);

		KUNIT_ASSERT_GT(test, nr_pages, 0ULL);
		KUNIT_EXPECT_GE(test, from_dpn(dmda_super_slot(super, table, 0, 0)), free_dpn);
		free_dpn = from_dpn(dmda_super_slot(super, table, nr_pages - 1, 1)) + 1;
	}
	KUNIT_EXPECT_GE(test, from_dpn(dmda_super_segment_dpn(super, to_seg(0))), free_dpn);
	KUNIT_EXPECT_LE(test, from_dpn(dmda_super_segment_dpn(super, to_seg(nr_segments - 1))) +
			super->segment_pages, super->nr_device_pages);
	KUNIT_EXPECT_LE(test, super->nr_lpns, (nr_segments - DMDA_RESERVED_SEGMENTS) *
			dmda_super_data_pages(super));
}

static void places_and_segments_agree(struct kunit *test)
{
	const struct dmda_super *super = make_super(test, test->param_value);
	u64 nr_segments = dmda_super_nr_segments(super);
	u64 first = from_dpn(dmda_super_segment_dpn(super, to_seg(nr_segments / 2)));
	u32 page;

	KUNIT_EXPECT_EQ(test, first % super->stripe_pages, 0ULL);
	for (u32 at = 0; at < super->segment_pages; at++) {
		seg_t seg = dmda_super_segment_of(super, to_dpn(first + at), &page);

		if (at >= dmda_super_data_pages(super)) {
			KUNIT_ASSERT_EQ(test, from_seg(seg), from_seg(SEG_NONE));
			continue;
		}
		KUNIT_ASSERT_EQ(test, from_seg(seg), (u32)(nr_segments / 2));
		KUNIT_ASSERT_EQ(test, page, at);
	}
	KUNIT_EXPECT_EQ(test, from_seg(dmda_super_segment_of(super, to_dpn(0), &page)),
			from_seg(SEG_NONE));
}

static void what_cannot_be_is_refused_with_a_sentence(struct kunit *test)
{
	const struct dmda_format good = format_of(&layout_cases[1]);
	struct dmda_format bad[11];
	struct dmda_super *super = make_super(test, &layout_cases[1]);

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++)
		bad[i] = good;
	bad[0].nr_device_pages = 1ULL << 40;
	bad[1].nr_device_pages = 8000;
	bad[2].stripe_pages = 0;
	bad[3].segment_pages = 100;
	bad[4].segment_pages = 1 << 17;
	bad[5].journal_unit_sectors = 2;
	bad[6].journal_sectors = 1000;
	bad[7].journal_sectors = 4097;
	bad[8].reserve_permille = 19;
	bad[9].label = "a label that is longer than 31 characters";
	bad[10].journal_sectors = 1200;
	bad[10].journal_unit_sectors = 8;
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *why = dmda_super_make(&bad[i], super);

		KUNIT_ASSERT_NOT_NULL(test, why);
		KUNIT_EXPECT_EQ(test, why[strlen(why) - 1], '.');
	}
}

/* Whole, but for one number that does not go with the others */
static void a_superblock_that_cannot_be_is_refused(struct kunit *test)
{
	const struct dmda_super *good = make_super(test, &layout_cases[1]);
	struct dmda_super *bad = kunit_kcalloc(test, 9, sizeof(*bad), GFP_KERNEL);
	struct dmda_super *read = kunit_kzalloc(test, sizeof(*read), GFP_KERNEL);
	struct dmda_super_block *block = new_block(test);
	static const char * const words[] = {
		"a root at an impossible place", "a root at an impossible place",
		"the journal at an impossible place", "a root that is too small",
		"more pages than there are", "size of segments", "size of the journal",
		"segments behind the end", "size of segments",
	};

	KUNIT_ASSERT_NOT_NULL(test, bad);
	KUNIT_ASSERT_NOT_NULL(test, read);
	for (u32 i = 0; i < ARRAY_SIZE(words); i++)
		bad[i] = *good;
	bad[0].root_dpn[1] = good->nr_device_pages - good->root_pages + 1;
	bad[1].root_dpn[0] = DMDA_FIRST_ROOT_DPN - 1;
	bad[2].journal_dpn = good->nr_device_pages - good->journal_sectors / DMDA_PAGE_SECTORS + 1;
	bad[3].root_pages--;
	bad[4].nr_lpns = (dmda_super_nr_segments(good) - DMDA_RESERVED_SEGMENTS) *
			 dmda_super_data_pages(good) + 1;
	bad[5].summary_pages--;
	bad[6].journal_unit_sectors = 2;
	bad[7].nr_device_pages = good->area[0].segments_dpn + 1;
	bad[8].segment_pages = 2 * DMDA_MAX_SEGMENT_PAGES;
	bad[8].summary_pages = summary_pages(bad[8].segment_pages);
	for (u32 i = 0; i < ARRAY_SIZE(words); i++) {
		const char *why;

		dmda_super_encode(&bad[i], block);
		why = dmda_super_decode(block, dmda_super_dpn(bad[i].epoch), read);
		KUNIT_ASSERT_NOT_NULL(test, why);
		KUNIT_EXPECT_TRUE_MSG(test, strstr(why, words[i]), "%s", why);
	}
}

static void any_changed_byte_is_noticed(struct kunit *test)
{
	struct dmda_super *super = make_super(test, &layout_cases[1]);
	struct dmda_super_block *block = new_block(test);
	u8 *byte = (u8 *)block;

	dmda_super_encode(super, block);
	for (u32 i = 0; i < DMDA_BLOCK_BYTES; i++) {
		byte[i] ^= 1 << i % 8;
		KUNIT_ASSERT_NOT_NULL(test,
				      dmda_super_decode(block, to_dpn(DMDA_SUPER_DPN_A), super));
		byte[i] ^= 1 << i % 8;
	}
}

/* Its epoch says which of both it is: who takes it for the other one would write over it. */
static void each_place_has_its_epochs(struct kunit *test)
{
	struct dmda_super *super = make_super(test, &layout_cases[1]);
	struct dmda_super_block *block = new_block(test);
	struct dmda_block_id id = {
		.magic = DMDA_MAGIC_SUPER, .dpn = to_dpn(DMDA_SUPER_DPN_A), .uuid = uuid,
	};

	for (u64 epoch = 1; epoch < 5; epoch++) {
		const char *why;

		super->epoch = epoch;
		dmda_super_encode(super, block);
		id.seq = epoch;
		id.epoch = epoch;
		dmda_block_seal(block, &id);
		why = dmda_super_decode(block, to_dpn(DMDA_SUPER_DPN_A), super);
		KUNIT_EXPECT_EQ(test, !why, epoch & 1);
	}
}

/* Someone may have written nonsense with a right checksum. */
static void nonsense_that_is_sealed_never_leads_out_of_the_device(struct kunit *test)
{
	struct dmda_super *super = make_super(test, &layout_cases[1]);
	struct dmda_super_block *block = new_block(test);
	u64 random = 1;

	for (u32 i = 0; i < 20000; i++) {
		struct dmda_block_id id = {
			.magic = DMDA_MAGIC_SUPER, .epoch = 1, .seq = 1, .uuid = uuid,
		};
		u64 nr_segments, nr_pages;
		u32 at, page;
		dpn_t last;

		dmda_super_encode(super, block);
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		at = 64 + (random >> 33) % 208;
		((u8 *)block)[at] = random >> 24;
		dmda_block_seal(block, &id);
		if (dmda_super_decode(block, to_dpn(DMDA_SUPER_DPN_A), super)) {
			struct dmda_format format = format_of(&layout_cases[1]);

			dmda_super_make(&format, super);
			continue;
		}
		nr_segments = dmda_super_nr_segments(super);
		last = dmda_super_segment_dpn(super, to_seg(nr_segments - 1));
		KUNIT_ASSERT_LE(test, from_dpn(last), super->nr_device_pages);
		nr_pages = dmda_super_nr_pages(super, DMDA_TABLE_MAP);
		last = dmda_super_slot(super, DMDA_TABLE_MAP, nr_pages - 1, 1);
		KUNIT_ASSERT_LT(test, from_dpn(last), super->nr_device_pages);
		dmda_super_segment_of(super, to_dpn(random >> 24), &page);
	}
}

/* All that was there is where it was, and what is new lies behind it. */
static void expect_grown(struct kunit *test, const struct dmda_super *before,
			 const struct dmda_super *super)
{
	const struct dmda_area *area = &super->area[super->nr_areas - 1];
	u64 nr_before = dmda_super_nr_segments(before);

	for (u32 table = 0; table < DMDA_NR_TABLES; table++) {
		u64 nr_pages = dmda_super_nr_pages(before, table);

		KUNIT_EXPECT_EQ(test, from_dpn(dmda_super_slot(super, table, nr_pages - 1, 1)),
				from_dpn(dmda_super_slot(before, table, nr_pages - 1, 1)));
		nr_pages = dmda_super_nr_pages(super, table);
		KUNIT_EXPECT_LT(test, from_dpn(dmda_super_slot(super, table, nr_pages - 1, 1)),
				area->segments_dpn);
	}
	KUNIT_EXPECT_EQ(test, from_dpn(dmda_super_segment_dpn(super, to_seg(nr_before - 1))),
			from_dpn(dmda_super_segment_dpn(before, to_seg(nr_before - 1))));
	KUNIT_EXPECT_GE(test, super->root_dpn[0], before->area[before->nr_areas - 1].segments_dpn +
			before->area[before->nr_areas - 1].nr_segments * before->segment_pages);
	KUNIT_EXPECT_GE(test, super->root_dpn[1], super->root_dpn[0] + super->root_pages);
	KUNIT_EXPECT_GE(test, area->tables_dpn, super->root_dpn[1] + super->root_pages);
	KUNIT_EXPECT_GT(test, super->nr_lpns, before->nr_lpns);
}

static void a_device_grows_until_it_has_no_more_areas(struct kunit *test)
{
	static const u64 percent[] = { 101, 150, 300 };
	struct dmda_super *super = make_super(test, test->param_value);
	struct dmda_super *before = make_super(test, test->param_value);
	struct dmda_super_block *block = new_block(test);
	u64 nr_device_pages = super->nr_device_pages;
	const char *why;

	while (super->nr_areas < DMDA_MAX_AREAS) {
		nr_device_pages = nr_device_pages * percent[super->nr_areas % 3] / 100 +
			2 * super->segment_pages;
		if (nr_device_pages >= 1ULL << 40)
			return;
		*before = *super;
		why = dmda_super_grow(super, nr_device_pages);
		KUNIT_ASSERT_NULL_MSG(test, why, "%s", why);
		expect_grown(test, before, super);
		dmda_super_encode(super, block);
		*before = *super;
		why = dmda_super_decode(block, dmda_super_dpn(super->epoch), super);
		KUNIT_ASSERT_NULL_MSG(test, why, "%s", why);
		KUNIT_EXPECT_EQ(test, memcmp(super, before, sizeof(*super)), 0);
	}
	KUNIT_EXPECT_NOT_NULL(test, dmda_super_grow(super, 2 * nr_device_pages));
}

static void a_device_does_not_grow_by_less_than_a_segment(struct kunit *test)
{
	struct dmda_super *super = make_super(test, &layout_cases[1]);
	struct dmda_super *grown = make_super(test, &layout_cases[1]);
	const struct dmda_area *area = &super->area[0];
	const u64 sizes[] = {
		0, super->nr_device_pages - 1, super->nr_device_pages,
		area->segments_dpn + (area->nr_segments + 1) * super->segment_pages, 1ULL << 40,
	};

	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++) {
		*grown = *super;
		KUNIT_EXPECT_NOT_NULL(test, dmda_super_grow(grown, sizes[i]));
	}
}

static bool is_within(size_t at, size_t begin, size_t bytes)
{
	return at >= begin && at < begin + bytes;
}

static bool may_change(size_t at)
{
	return is_within(at, offsetof(struct dmda_super, epoch), sizeof(u64)) ||
		is_within(at, offsetof(struct dmda_super, flags), sizeof(u32)) ||
		is_within(at, offsetof(struct dmda_super, label), 32) ||
		at >= offsetof(struct dmda_super, area[2]);
}

static void any_number_that_sizes_depend_on_makes_another_layout(struct kunit *test)
{
	struct dmda_super *super = make_super(test, &layout_cases[1]);
	struct dmda_super *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_ASSERT_NULL(test, dmda_super_grow(super, 2 * super->nr_device_pages));
	for (size_t at = 0; at < sizeof(*super); at++) {
		*other = *super;
		((u8 *)other)[at] ^= 1;
		KUNIT_EXPECT_EQ_MSG(test, dmda_super_is_same_layout(super, other), may_change(at),
				    "byte %zu", at);
	}
}

/* A superblock of a later version that has a right checksum. */
static void features_that_nobody_knows_are_refused(struct kunit *test)
{
	struct dmda_super *super = make_super(test, &layout_cases[1]);
	struct dmda_super_block *block = new_block(test);
	const u64 feature = BIT_ULL(63);

	KUNIT_EXPECT_NULL(test, dmda_super_unknown_features(super, false));
	super->compat = feature;
	KUNIT_EXPECT_NULL(test, dmda_super_unknown_features(super, false));
	super->ro_compat = feature;
	dmda_super_encode(super, block);
	super->ro_compat = 0;
	KUNIT_ASSERT_NULL(test, dmda_super_decode(block, dmda_super_dpn(super->epoch), super));
	KUNIT_EXPECT_NOT_NULL(test, dmda_super_unknown_features(super, false));
	KUNIT_EXPECT_NULL(test, dmda_super_unknown_features(super, true));
	super->incompat = feature;
	super->ro_compat = 0;
	KUNIT_EXPECT_NOT_NULL(test, dmda_super_unknown_features(super, false));
	KUNIT_EXPECT_NOT_NULL(test, dmda_super_unknown_features(super, true));
}

static struct kunit_case super_cases[] = {
	KUNIT_CASE_PARAM(a_layout_comes_back_from_its_page, layout_gen_params),
	KUNIT_CASE_PARAM(nothing_overlaps, layout_gen_params),
	KUNIT_CASE_PARAM(places_and_segments_agree, layout_gen_params),
	KUNIT_CASE_PARAM(a_device_grows_until_it_has_no_more_areas, layout_gen_params),
	KUNIT_CASE(a_device_does_not_grow_by_less_than_a_segment),
	KUNIT_CASE(what_cannot_be_is_refused_with_a_sentence),
	KUNIT_CASE(a_superblock_that_cannot_be_is_refused),
	KUNIT_CASE(any_changed_byte_is_noticed),
	KUNIT_CASE(each_place_has_its_epochs),
	KUNIT_CASE(any_number_that_sizes_depend_on_makes_another_layout),
	KUNIT_CASE(features_that_nobody_knows_are_refused),
	KUNIT_CASE_SLOW(nonsense_that_is_sealed_never_leads_out_of_the_device),
	{}
};

static struct kunit_suite super_suite = {
	.name = "dm_dieaware_super",
	.test_cases = super_cases,
};

kunit_test_suite(super_suite);

MODULE_DESCRIPTION("The superblock and where everything lies");
MODULE_LICENSE("GPL");
