// SPDX-License-Identifier: GPL-2.0-only
/* Blocks of a backing file: whatever byte of them changes, it is noticed. */
#include <kunit/test.h>

#include "../core/image.c"

#define NR_BLOCKS	3

static struct ftl_image make_image(void)
{
	struct ftl_image image = {
		.state = FTL_IMAGE_CLEAN,
		.serial = 12,
		.epoch = 7,
		.area_bytes = 2 * FTL_IMAGE_PART_BYTES + 1,
		.nr_lpns = FTL_IMAGE_PART_SUMS + 1,
	};

	for (u32 i = 0; i < FTL_IMAGE_IDENTITY_BYTES; i++)
		image.identity[i] = i * 7;
	return image;
}

static void file_is_laid_out_without_gaps(struct kunit *test)
{
	struct ftl_image image = make_image();

	KUNIT_EXPECT_EQ(test, ftl_image_area_blocks(&image), 3ULL);
	KUNIT_EXPECT_EQ(test, ftl_image_sum_blocks(&image), 2ULL);
	KUNIT_EXPECT_EQ(test, ftl_image_half(&image, 6), 2ULL);
	KUNIT_EXPECT_EQ(test, ftl_image_half(&image, 7), 2 + ftl_image_half_blocks(&image));
	KUNIT_EXPECT_EQ(test, ftl_image_page_block(&image, 9), ftl_image_half(&image, 7) + 14);
	image.epoch++;
	KUNIT_EXPECT_EQ(test, ftl_image_page_block(&image, 0), 7ULL);
	KUNIT_EXPECT_EQ(test, ftl_image_page_block(&image, image.nr_lpns - 1),
			ftl_image_half(&image, 7) - 1);
}

static void sums_and_marks_of_all_pages_have_a_place(struct kunit *test)
{
	u8 *block = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);
	u8 *page = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);
	const u64 first = 3 * FTL_IMAGE_PART_SUMS;

	KUNIT_ASSERT_NOT_NULL(test, block);
	KUNIT_ASSERT_NOT_NULL(test, page);
	for (u32 i = 0; i < FTL_IMAGE_PART_SUMS; i++) {
		page[0] = i;
		page[1] = i >> 8;
		ftl_image_set_page(block, first + i, page, i * 7);
	}
	for (u32 i = 0; i < FTL_IMAGE_PART_SUMS; i++) {
		page[0] = i;
		page[1] = i >> 8;
		KUNIT_ASSERT_EQ(test, ftl_image_get_sum(block, first + i), ftl_image_sum(page));
		KUNIT_ASSERT_EQ(test, ftl_image_get_marks(block, first + i), (u8)(i * 7));
	}
	/* The rest is the seal's. */
	for (u32 i = FTL_IMAGE_PART_BYTES; i < FTL_IMAGE_BLOCK_BYTES; i++)
		KUNIT_EXPECT_EQ(test, block[i], 0);
}

static void header_says_what_was_put_into_it(struct kunit *test)
{
	struct ftl_image image = make_image(), found = {};
	u8 *block = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);
	const char *reason;

	KUNIT_ASSERT_NOT_NULL(test, block);
	ftl_image_pack_head(&image, block);
	reason = ftl_image_unpack_head(block, &found);
	KUNIT_EXPECT_NULL_MSG(test, reason, "%s", reason);
	KUNIT_EXPECT_EQ(test, memcmp(&image, &found, sizeof(image)), 0);
}

static void header_in_use_can_be_told(struct kunit *test)
{
	struct ftl_image image = make_image(), found = {};
	u8 *block = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, block);
	image.state = FTL_IMAGE_IN_USE;
	ftl_image_pack_head(&image, block);
	KUNIT_EXPECT_NULL(test, ftl_image_unpack_head(block, &found));
	KUNIT_EXPECT_EQ(test, found.state, (u32)FTL_IMAGE_IN_USE);
	KUNIT_EXPECT_EQ(test, found.epoch, image.epoch);
	image.state = FTL_IMAGE_IN_USE + 1;
	ftl_image_pack_head(&image, block);
	KUNIT_EXPECT_NOT_NULL(test, ftl_image_unpack_head(block, &found));
}

static void every_changed_byte_of_a_header_is_noticed(struct kunit *test)
{
	struct ftl_image image = make_image(), found;
	u8 *block = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, block);
	ftl_image_pack_head(&image, block);
	for (u32 i = 0; i < FTL_IMAGE_BLOCK_BYTES; i++) {
		for (u32 change = 1; change < 256; change <<= 1) {
			block[i] ^= change;
			KUNIT_ASSERT_NOT_NULL(test, ftl_image_unpack_head(block, &found));
			block[i] ^= change;
		}
	}
	KUNIT_EXPECT_NULL(test, ftl_image_unpack_head(block, &found));
}

static void every_changed_byte_of_a_block_is_noticed(struct kunit *test)
{
	u8 *block = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, block);
	for (u64 number = 1; number <= NR_BLOCKS; number++) {
		memset(block, number * 11, FTL_IMAGE_PART_BYTES);
		ftl_image_pack(block, number, 7);
		KUNIT_EXPECT_NULL(test, ftl_image_check(block, number, 7));
		for (u32 i = 0; i < FTL_IMAGE_BLOCK_BYTES; i++) {
			block[i] ^= 1 << i % 8;
			KUNIT_ASSERT_NOT_NULL(test, ftl_image_check(block, number, 7));
			block[i] ^= 1 << i % 8;
		}
	}
}

/* Which of both is written next follows from their numbers: the wrong one would be lost. */
static void headers_in_each_others_place_are_refused(struct kunit *test)
{
	struct ftl_image even = make_image(), odd = make_image(), found;
	u8 *first = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);
	u8 *second = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);
	u8 *blank = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);
	bool is_damaged;

	KUNIT_ASSERT_NOT_NULL(test, first);
	KUNIT_ASSERT_NOT_NULL(test, second);
	KUNIT_ASSERT_NOT_NULL(test, blank);
	odd.serial = even.serial + 1;
	ftl_image_pack_head(&even, first);
	ftl_image_pack_head(&odd, second);
	KUNIT_EXPECT_NULL(test, ftl_image_choose(first, second, &found, &is_damaged));
	KUNIT_EXPECT_EQ(test, found.serial, odd.serial);
	KUNIT_EXPECT_FALSE(test, is_damaged);
	KUNIT_EXPECT_NOT_NULL(test, ftl_image_choose(second, first, &found, &is_damaged));
	KUNIT_EXPECT_NOT_NULL(test, ftl_image_choose(blank, first, &found, &is_damaged));
	/* One that is where it belongs counts, and what is wrong with the other is told. */
	KUNIT_EXPECT_NULL(test, ftl_image_choose(first, first, &found, &is_damaged));
	KUNIT_EXPECT_EQ(test, found.serial, even.serial);
	KUNIT_EXPECT_TRUE(test, is_damaged);
}

static void block_of_another_place_or_time_is_noticed(struct kunit *test)
{
	u8 *block = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, block);
	ftl_image_pack(block, 4, 7);
	KUNIT_EXPECT_NOT_NULL(test, ftl_image_check(block, 5, 7));
	KUNIT_EXPECT_NOT_NULL(test, ftl_image_check(block, 4, 6));
	KUNIT_EXPECT_NULL(test, ftl_image_check(block, 4, 7));
}

static void checksum_of_a_page_notices_every_bit(struct kunit *test)
{
	u8 *page = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);
	u32 sum;

	KUNIT_ASSERT_NOT_NULL(test, page);
	sum = ftl_image_sum(page);
	KUNIT_EXPECT_NE(test, sum, 0U);
	for (u32 bit = 0; bit < FTL_IMAGE_BLOCK_BYTES * 8; bit += 13) {
		page[bit / 8] ^= 1 << bit % 8;
		KUNIT_EXPECT_NE(test, ftl_image_sum(page), sum);
		page[bit / 8] ^= 1 << bit % 8;
	}
}

static struct kunit_case image_cases[] = {
	KUNIT_CASE(file_is_laid_out_without_gaps),
	KUNIT_CASE(sums_and_marks_of_all_pages_have_a_place),
	KUNIT_CASE(header_says_what_was_put_into_it),
	KUNIT_CASE(header_in_use_can_be_told),
	KUNIT_CASE(every_changed_byte_of_a_header_is_noticed),
	KUNIT_CASE(every_changed_byte_of_a_block_is_noticed),
	KUNIT_CASE(headers_in_each_others_place_are_refused),
	KUNIT_CASE(block_of_another_place_or_time_is_noticed),
	KUNIT_CASE(checksum_of_a_page_notices_every_bit),
	{}
};

static struct kunit_suite image_suite = {
	.name = "nvmev_image",
	.test_cases = image_cases,
};

kunit_test_suite(image_suite);

MODULE_DESCRIPTION("Blocks of a backing file");
MODULE_LICENSE("GPL");
