// SPDX-License-Identifier: GPL-2.0-only
#include "drive_kunit.h"

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

/**
 * struct blocks - erase blocks without the rest of a drive
 * @geo: their sizes
 * @all: the blocks
 * @die: the last die, whose numbers do not begin with 0
 */
struct blocks {
	struct ftl_geometry geo;
	struct ftl_eblks all;
	die_t die;
};

static struct blocks *make_blocks(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));
	struct blocks *blocks = kunit_kzalloc(test, sizeof(*blocks), GFP_KERNEL);
	void *memory;

	KUNIT_ASSERT_NOT_NULL(test, blocks);
	ftl_geometry_init(&blocks->geo, &params);
	memory = kunit_kzalloc(test, ftl_eblks_bytes(blocks->geo.nr_dies, blocks->geo.die_eblks),
			       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	ftl_eblks_init(&blocks->all, &blocks->geo, memory);
	blocks->die = to_die(blocks->geo.nr_dies - 1);
	return blocks;
}

/* Return: the block that was filled, with @nr_valid valid pages in its first unit. */
static u32 fill_block(struct kunit *test, struct blocks *blocks, enum ftl_stream stream,
		      u32 nr_valid)
{
	u32 first;

	KUNIT_ASSERT_TRUE(test, ftl_eblks_needs_open(&blocks->all, blocks->die, stream));
	ftl_eblks_open_next(&blocks->all, blocks->die, stream);
	first = ftl_eblks_take_unit(&blocks->all, blocks->die, stream);
	ftl_eblks_add_valid(&blocks->all, first, nr_valid);
	for (u32 i = 1; i < blocks->geo.eblk_units; i++) {
		ftl_eblks_close_if_full(&blocks->all, blocks->die, stream);
		KUNIT_ASSERT_FALSE(test, ftl_eblks_needs_open(&blocks->all, blocks->die, stream));
		KUNIT_ASSERT_EQ(test, ftl_eblks_take_unit(&blocks->all, blocks->die, stream),
				first + i);
	}
	ftl_eblks_close_if_full(&blocks->all, blocks->die, stream);
	return ftl_flash_unit_eblk(&blocks->geo, first);
}

static void blocks_of_a_die_are_used_in_turn(struct kunit *test)
{
	struct blocks *blocks = make_blocks(test);
	u32 first = from_die(blocks->die) * blocks->geo.die_eblks;

	for (u32 i = 0; i < blocks->geo.die_eblks; i++) {
		KUNIT_EXPECT_EQ(test, fill_block(test, blocks, FTL_STREAM_HOST, 1), first + i);
		KUNIT_EXPECT_EQ(test, ftl_eblks_nr_full(&blocks->all, blocks->die), i + 1);
		KUNIT_EXPECT_EQ(test, ftl_eblks_nr_free(&blocks->all, blocks->die),
				blocks->geo.die_eblks - i - 1);
	}
	/* Freed first, used first. */
	for (u32 i = 0; i < 3; i++)
		ftl_eblks_free(&blocks->all, ftl_eblks_take_victim(&blocks->all, blocks->die));
	for (u32 i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, blocks->all.eblk[fill_block(test, blocks, FTL_STREAM_GC, 1)]
				.nr_erases, 1U);
}

static void streams_write_to_different_blocks(struct kunit *test)
{
	struct blocks *blocks = make_blocks(test);
	u32 host, gc;

	ftl_eblks_open_next(&blocks->all, blocks->die, FTL_STREAM_HOST);
	ftl_eblks_open_next(&blocks->all, blocks->die, FTL_STREAM_GC);
	host = ftl_eblks_take_unit(&blocks->all, blocks->die, FTL_STREAM_HOST);
	gc = ftl_eblks_take_unit(&blocks->all, blocks->die, FTL_STREAM_GC);
	KUNIT_EXPECT_NE(test, ftl_flash_unit_eblk(&blocks->geo, host),
			ftl_flash_unit_eblk(&blocks->geo, gc));
	KUNIT_EXPECT_EQ(test, ftl_eblks_take_unit(&blocks->all, blocks->die, FTL_STREAM_HOST),
			host + 1);
}

static void victim_is_the_block_with_the_fewest_valid_pages(struct kunit *test)
{
	struct blocks *blocks = make_blocks(test);
	u32 many = fill_block(test, blocks, FTL_STREAM_HOST, 9);
	u32 few = fill_block(test, blocks, FTL_STREAM_HOST, 3);
	u32 some = fill_block(test, blocks, FTL_STREAM_GC, 5);

	ftl_eblks_drop_valid(&blocks->all, ftl_eblk_first_unit(&blocks->geo, many), 7);
	KUNIT_EXPECT_EQ(test, ftl_eblks_take_victim(&blocks->all, blocks->die), many);
	KUNIT_EXPECT_EQ(test, ftl_eblks_take_victim(&blocks->all, blocks->die), few);
	/* A victim's pages may go away, too. */
	ftl_eblks_drop_valid(&blocks->all, ftl_eblk_first_unit(&blocks->geo, few), 1);
	KUNIT_EXPECT_EQ(test, blocks->all.eblk[few].nr_valid, 2U);
	KUNIT_EXPECT_EQ(test, ftl_eblks_take_victim(&blocks->all, blocks->die), some);
	KUNIT_EXPECT_EQ(test, ftl_eblks_nr_full(&blocks->all, blocks->die), 0U);
}

static struct kunit_case eblk_cases[] = {
	KUNIT_CASE_PARAM(blocks_of_a_die_are_used_in_turn, shape_gen_params),
	KUNIT_CASE_PARAM(streams_write_to_different_blocks, shape_gen_params),
	KUNIT_CASE_PARAM(victim_is_the_block_with_the_fewest_valid_pages, shape_gen_params),
	{}
};

static struct kunit_suite eblk_suite = {
	.name = "nvmev_eblk",
	.test_cases = eblk_cases,
};

kunit_test_suite(eblk_suite);

MODULE_DESCRIPTION("The FTL's erase blocks");
MODULE_LICENSE("GPL");
