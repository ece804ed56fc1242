// SPDX-License-Identifier: GPL-2.0-only
/* The extent map: directed cases, and random operations against a plain array. */
#include <kunit/test.h>
#include <linux/sched.h>

#include "../core/node.c"
#include "../core/nodeset.c"
#include "../core/extents.c"
#include "../core/extents-check.c"
#include "../core/file-id.h"
#include "extents_model.h"

#define NR_RANDOM_OPS	10000

/* The model lends the directed cases its memory; they do not look at its array. */
static int init_fixture(struct kunit *test)
{
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);

	if (!model)
		return -ENOMEM;
	model_init(model, U64_MAX);
	test->priv = model;
	return 0;
}

static void exit_fixture(struct kunit *test)
{
	if (test->priv)
		KUNIT_EXPECT_STREQ(test, model_exit(test->priv) ?: "sound", "sound");
}

static struct dmda_extents *map_of(struct kunit *test)
{
	struct model *model = test->priv;

	return &model->map;
}

/* Bytes that the map may have from now on */
static void limit(struct kunit *test, u64 limit_bytes)
{
	struct model *model = test->priv;

	model->limit_bytes = limit_bytes;
}

static void set(struct kunit *test, u64 key, u64 file, u64 fpage, u32 len)
{
	struct dmda_extents *map = map_of(test);

	dmda_extents_set(map, &(struct dmda_extent) {
		.key_lo = key, .val_hi = file, .val_lo = fpage, .len = len });
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map) ?: "sound", "sound");
}

static void expect_at(struct kunit *test, u64 key, u64 file, u64 fpage, u32 len)
{
	struct dmda_extent_hit hit = { 0 };

	KUNIT_ASSERT_TRUE(test, dmda_extents_find(map_of(test), 0, key, &hit));
	KUNIT_EXPECT_EQ(test, hit.val_hi, file);
	KUNIT_EXPECT_EQ(test, hit.val_lo, fpage);
	KUNIT_EXPECT_EQ(test, hit.len, len);
}

static void expect_nothing_at(struct kunit *test, u64 key)
{
	struct dmda_extent_hit hit;

	KUNIT_EXPECT_FALSE(test, dmda_extents_find(map_of(test), 0, key, &hit));
}

static void expect_nr(struct kunit *test, u32 nr_extents)
{
	KUNIT_EXPECT_EQ(test, map_of(test)->nr_extents, (u64)nr_extents);
}

static void an_empty_map_knows_nothing(struct kunit *test)
{
	expect_nothing_at(test, 0);
	expect_nothing_at(test, U64_MAX);
	KUNIT_EXPECT_EQ(test, dmda_extents_evict(map_of(test), 3), 0ULL);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map_of(test), 0, 0, U64_MAX));
	KUNIT_EXPECT_NULL(test, map_of(test)->last);
}

static void every_key_of_an_extent_is_found_with_its_value(struct kunit *test)
{
	set(test, 100, 7, 1000, 10);
	expect_nothing_at(test, 99);
	expect_at(test, 100, 7, 1000, 10);
	expect_at(test, 104, 7, 1004, 6);
	expect_at(test, 109, 7, 1009, 1);
	expect_nothing_at(test, 110);
}

static void the_upper_half_of_a_key_tells_files_apart(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	struct dmda_extent extent = { .key_hi = 5, .key_lo = 10, .val_lo = 1, .len = 4 };
	struct dmda_extent_hit hit;

	dmda_extents_set(map, &extent);
	extent.key_hi = 6;
	extent.val_lo = 500;
	dmda_extents_set(map, &extent);
	KUNIT_ASSERT_TRUE(test, dmda_extents_find(map, 5, 11, &hit));
	KUNIT_EXPECT_EQ(test, hit.val_lo, 2ULL);
	KUNIT_ASSERT_TRUE(test, dmda_extents_find(map, 6, 11, &hit));
	KUNIT_EXPECT_EQ(test, hit.val_lo, 501ULL);
	KUNIT_EXPECT_FALSE(test, dmda_extents_find(map, 4, 11, &hit));
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 5, 0, U64_MAX));
	KUNIT_EXPECT_FALSE(test, dmda_extents_find(map, 5, 11, &hit));
	KUNIT_EXPECT_TRUE(test, dmda_extents_find(map, 6, 11, &hit));
}

static void another_file_does_not_go_into_the_room(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	struct dmda_extent extent = { .key_hi = 5, .key_lo = 10, .val_lo = 1, .len = 4 };
	struct dmda_extent_hit hit;

	dmda_extents_set(map, &extent);
	extent.key_hi = 4;
	extent.key_lo = 16;
	dmda_extents_set(map, &extent);
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map) ?: "sound", "sound");
	KUNIT_EXPECT_TRUE(test, dmda_extents_find(map, 4, 16, &hit));
	KUNIT_EXPECT_FALSE(test, dmda_extents_find(map, 5, 16, &hit));
}

static void appends_become_one_extent(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 1000; i++)
		set(test, 100 + i, 7, i, 1);
	expect_nr(test, 1);
	expect_at(test, 100, 7, 0, 1000);
}

static void prepends_become_one_extent(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 100; i++)
		set(test, 500 - i, 7, 100 - i, 1);
	expect_nr(test, 1);
	expect_at(test, 401, 7, 1, 100);
}

static void a_filled_gap_joins_both_sides(struct kunit *test)
{
	set(test, 100, 7, 0, 10);
	set(test, 120, 7, 20, 10);
	expect_nr(test, 2);
	set(test, 110, 7, 10, 10);
	expect_nr(test, 1);
	expect_at(test, 100, 7, 0, 30);
}

static void an_append_joins_what_it_reaches(struct kunit *test)
{
	set(test, 120, 7, 20, 10);
	set(test, 100, 7, 0, 10);
	/* Less than the room, then exactly the room */
	set(test, 110, 7, 10, 5);
	set(test, 115, 7, 15, 5);
	expect_nr(test, 1);
	expect_at(test, 100, 7, 0, 30);
}

static void an_append_cuts_what_it_runs_into(struct kunit *test)
{
	set(test, 120, 9, 0, 10);
	set(test, 100, 7, 0, 10);
	set(test, 110, 7, 10, 15);
	expect_at(test, 100, 7, 0, 25);
	expect_at(test, 125, 9, 5, 5);
	expect_nr(test, 2);
}

static void pages_of_other_files_do_not_join(struct kunit *test)
{
	set(test, 100, 7, 0, 10);
	set(test, 110, 8, 10, 10);
	set(test, 120, 8, 30, 10);
	expect_nr(test, 3);
	expect_at(test, 105, 7, 5, 5);
	expect_at(test, 110, 8, 10, 10);
}

static void a_page_in_the_middle_splits(struct kunit *test)
{
	set(test, 100, 7, 0, 10);
	set(test, 104, 8, 77, 2);
	expect_nr(test, 3);
	expect_at(test, 100, 7, 0, 4);
	expect_at(test, 104, 8, 77, 2);
	expect_at(test, 106, 7, 6, 4);
}

static void a_new_extent_covers_many_old_ones(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		set(test, 100 + 2 * i, i + 1, 0, 2);
	set(test, 103, 99, 0, 32);
	expect_at(test, 100, 1, 0, 2);
	expect_at(test, 102, 2, 0, 1);
	expect_at(test, 103, 99, 0, 32);
	expect_at(test, 135, 18, 1, 1);
	expect_at(test, 136, 19, 0, 2);
	expect_at(test, 138, 20, 0, 2);
	expect_nr(test, 6);
}

static void setting_the_same_again_changes_nothing(struct kunit *test)
{
	set(test, 100, 7, 0, 10);
	limit(test, 0);
	set(test, 104, 7, 4, 3);
	set(test, 100, 7, 0, 10);
	expect_nr(test, 1);
	expect_at(test, 100, 7, 0, 10);
}

static void length_zero_means_nothing(struct kunit *test)
{
	set(test, 100, 7, 0, 0);
	expect_nr(test, 0);
	set(test, 100, 7, 0, 4);
	set(test, 104, 7, 4, 0);
	set(test, 102, 8, 4, 0);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map_of(test), 0, 101, 0));
	expect_at(test, 100, 7, 0, 4);
	expect_nr(test, 1);
}

static void the_last_key_of_all_can_be_used(struct kunit *test)
{
	set(test, U64_MAX - 3, 7, 0, 4);
	expect_at(test, U64_MAX, 7, 3, 1);
	/* An append to it would begin at key 0, and belongs to nobody */
	set(test, 0, 7, 4, 1);
	expect_nr(test, 2);
	expect_at(test, 0, 7, 4, 1);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map_of(test), 0, U64_MAX, 1));
	expect_nothing_at(test, U64_MAX);
	expect_at(test, U64_MAX - 1, 7, 2, 1);
}

static void keys_beyond_the_last_are_cut_off(struct kunit *test)
{
	set(test, U64_MAX - 3, 7, 0, 100);
	expect_at(test, U64_MAX - 3, 7, 0, 4);
	expect_nothing_at(test, 0);
	set(test, U64_MAX - 1, 8, 0, U32_MAX);
	expect_at(test, U64_MAX - 3, 7, 0, 2);
	expect_at(test, U64_MAX - 1, 8, 0, 2);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map_of(test), 0, U64_MAX - 2, U64_MAX));
	expect_at(test, U64_MAX - 3, 7, 0, 1);
	expect_nr(test, 1);
}

static void values_that_wrap_are_forgotten(struct kunit *test)
{
	set(test, 100, 7, 0, 10);
	set(test, 105, 7, U64_MAX - 1, 3);
	expect_at(test, 100, 7, 0, 5);
	expect_nothing_at(test, 105);
	expect_nothing_at(test, 107);
	expect_at(test, 108, 7, 8, 2);
	/* The last value of all is none that wraps, but nothing continues it */
	set(test, 200, 7, U64_MAX - 1, 2);
	set(test, 202, 7, 0, 2);
	expect_at(test, 200, 7, U64_MAX - 1, 2);
	expect_at(test, 202, 7, 0, 2);
}

static void an_extent_does_not_grow_beyond_its_chunk(struct kunit *test)
{
	const u32 end = DMDA_CHUNK_KEYS;

	set(test, end - 10, 7, 0, 4);
	set(test, end - 6, 7, 4, U32_MAX);
	expect_nr(test, 1);
	expect_at(test, end - 10, 7, 0, 10);
	expect_nothing_at(test, end);
	set(test, end, 7, 10, end);
	expect_nr(test, 2);
	expect_at(test, end - 1, 7, 9, 1);
	expect_at(test, end, 7, 10, end);
}

static void the_cursor_does_not_outlive_its_extent(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);

	set(test, 100, 7, 0, 10);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, 100, 10));
	set(test, 110, 7, 10, 1);
	expect_at(test, 110, 7, 10, 1);
	KUNIT_EXPECT_GT(test, dmda_extents_evict(map, 1), 0ULL);
	expect_nothing_at(test, 110);
	set(test, 111, 7, 11, 1);
	expect_at(test, 111, 7, 11, 1);
	expect_nr(test, 1);
}

static void room_behind_the_cursor_is_seen_to_shrink(struct kunit *test)
{
	set(test, 100, 7, 0, 10);
	/* Cuts the extent that the cursor points at, and leaves a tail near it */
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map_of(test), 0, 104, 2));
	expect_at(test, 106, 7, 6, 4);
	set(test, 104, 7, 4, 1);
	expect_at(test, 100, 7, 0, 5);
	expect_at(test, 106, 7, 6, 4);
	expect_nothing_at(test, 105);
}

static void clearing_cuts_and_counts(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);

	set(test, 100, 7, 0, 10);
	set(test, 200, 8, 0, 10);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, 105, 100));
	expect_at(test, 100, 7, 0, 5);
	expect_nothing_at(test, 105);
	expect_at(test, 205, 8, 5, 5);
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map) ?: "sound", "sound");
}

static void what_is_free_beside_a_cleared_range_is_known(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);

	set(test, 100, 7, 0, 10);
	set(test, 200, 8, 0, 10);
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, 150, 1));
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, 150, 1));
	KUNIT_EXPECT_TRUE(test, dmda_extents_are_free(map, 110, 90));
	KUNIT_EXPECT_TRUE(test, dmda_extents_are_free(map, 199, 1));
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, 109, 1));
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, 109, 2));
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, 110, 91));
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, 200, 1));
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, 150, U64_MAX));
	/* Until something is set, wherever that is */
	set(test, 205, 8, 5, 1);
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, 150, 1));
}

static void free_keys_are_not_taken_for_others(struct kunit *test)
{
	const u64 most = U64_MAX >> DMDA_FREE_BITS;
	struct dmda_extents *map = map_of(test);

	/* The last chunk whose free keys are remembered, and the first one whose keys are not */
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, most - 9, 10));
	KUNIT_EXPECT_TRUE(test, dmda_extents_are_free(map, most - (DMDA_CHUNK_KEYS - 1),
						      DMDA_CHUNK_KEYS));
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, most, 2));
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, most - DMDA_CHUNK_KEYS, 1));
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, most + 1, 10));
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, most + 1, 1));
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, 0, 1));
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, U64_MAX, 1));
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, U64_MAX, 1));
	/* What other upper halves have free says nothing about these. */
	set(test, 0, 7, 0, 1);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 5, 0, 10));
	KUNIT_EXPECT_FALSE(test, dmda_extents_are_free(map, 0, 1));
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map) ?: "sound", "sound");
}

static void a_large_range_is_cleared_in_batches(struct kunit *test)
{
	const u32 nr_extents = 2 * DMDA_EXTENTS_CLEAR_BATCH + 10;
	struct dmda_extents *map = map_of(test);
	u32 i, nr_calls = 1;

	for (i = 0; i < nr_extents; i++)
		set(test, 3 * i, 7, 0, 2);
	KUNIT_EXPECT_FALSE(test, dmda_extents_clear(map, 0, 0, U64_MAX));
	KUNIT_EXPECT_LE(test, map->nr_extents, (u64)nr_extents - DMDA_EXTENTS_CLEAR_BATCH);
	KUNIT_EXPECT_GT(test, map->nr_extents,
			(u64)nr_extents - DMDA_EXTENTS_CLEAR_BATCH - U8_MAX);
	while (!dmda_extents_clear(map, 0, 0, U64_MAX))
		nr_calls++;
	KUNIT_EXPECT_LE(test, nr_calls, 3U);
	expect_nr(test, 0);
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map) ?: "sound", "sound");
}

static void a_range_of_many_chunks_is_cleared(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 5; i++)
		set(test, i * DMDA_CHUNK_KEYS + 10, 7, 0, 100);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map_of(test), 0, DMDA_CHUNK_KEYS + 60,
						   3 * DMDA_CHUNK_KEYS));
	expect_nr(test, 3);
	expect_at(test, 10, 7, 0, 100);
	expect_at(test, DMDA_CHUNK_KEYS + 10, 7, 0, 50);
	expect_nothing_at(test, 2 * DMDA_CHUNK_KEYS + 10);
	expect_at(test, 4 * DMDA_CHUNK_KEYS + 60, 7, 50, 50);
}

static void full_nodes_are_split_and_found_again(struct kunit *test)
{
	u32 i;

	/* From both ends to the middle */
	for (i = 0; i < 200; i++) {
		set(test, 10 * i, 7, 0, 3);
		set(test, 8000 - 10 * i, 8, 0, 3);
	}
	expect_nr(test, 400);
	for (i = 0; i < 200; i++) {
		expect_at(test, 10 * i + 2, 7, 2, 1);
		expect_at(test, 8000 - 10 * i, 8, 0, 3);
		expect_nothing_at(test, 10 * i + 3);
	}
}

static void neighbours_in_two_nodes_are_joined(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	struct dmda_node *first, *second;
	struct dmda_extent a, b;
	u32 i;

	for (i = 0; i < 100; i++)
		set(test, 10 * i, 7, 10 * i, 3);
	first = dmda_nodeset_first(map);
	second = dmda_node_next(first);
	KUNIT_ASSERT_NOT_NULL(test, second);
	dmda_nodeset_read(first, first->nr - 1, &a);
	dmda_nodeset_read(second, 0, &b);
	set(test, a.key_lo + 3, 7, a.key_lo + 3, b.key_lo - a.key_lo - 3);
	expect_nr(test, 99);
	expect_at(test, a.key_lo, 7, a.val_lo, b.key_lo + 3 - a.key_lo);
}

static void without_memory_nothing_is_kept_and_nothing_breaks(struct kunit *test)
{
	limit(test, 0);
	set(test, 100, 7, 0, 10);
	expect_nothing_at(test, 100);
	expect_nr(test, 0);
}

static void with_memory_for_one_the_newest_is_kept(struct kunit *test)
{
	limit(test, dmda_node_bytes(0));
	set(test, 100, 7, 0, 10);
	expect_at(test, 100, 7, 0, 10);
	set(test, 110, 7, 10, 1);
	expect_at(test, 110, 7, 10, 1);
	set(test, 105, 8, 0, 1);
	expect_at(test, 105, 8, 0, 1);
	expect_nr(test, 1);
	KUNIT_EXPECT_GT(test, map_of(test)->nr_evicted, 0ULL);
	set(test, 5 * DMDA_CHUNK_KEYS, 9, 0, 1);
	expect_at(test, 5 * DMDA_CHUNK_KEYS, 9, 0, 1);
	expect_nr(test, 1);
}

static void a_node_without_memory_to_grow_forgets_what_was_not_used(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	u32 i;

	for (i = 0; !dmda_nodeset_first(map) || dmda_nodeset_first(map)->nr < 6; i++)
		set(test, 10 * i, 7, 0, 1);
	KUNIT_ASSERT_EQ(test, dmda_nodeset_first(map)->capacity, 6);
	limit(test, 0);
	for (i = 0; i < 6; i++)
		if (i != 4)
			expect_at(test, 10 * i, 7, 0, 1);
	set(test, 55, 8, 0, 1);
	expect_nothing_at(test, 40);
	expect_at(test, 30, 7, 0, 1);
	expect_at(test, 50, 7, 0, 1);
	expect_at(test, 55, 8, 0, 1);
	KUNIT_EXPECT_EQ(test, map->nr_evicted, 1ULL);
}

static void a_split_without_memory_keeps_the_longer_part(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);

	set(test, 100, 7, 0, 10);
	set(test, 200, 8, 0, 10);
	set(test, 300, 9, 0, 10);
	KUNIT_ASSERT_EQ(test, dmda_nodeset_first(map)->capacity, 3);
	limit(test, 0);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, 103, 1));
	expect_nothing_at(test, 100);
	expect_at(test, 104, 7, 4, 6);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, 206, 2));
	expect_at(test, 200, 8, 0, 6);
	expect_nothing_at(test, 208);
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map) ?: "sound", "sound");
}

/* The first key of the chunk with that number; each is a node of its own */
static u64 chunk(unsigned int nr)
{
	return (u64)nr * DMDA_CHUNK_KEYS;
}

static void the_unused_are_evicted_first(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	u32 bytes = dmda_node_bytes(0);
	unsigned int i;

	for (i = 0; i < 6; i++)
		set(test, chunk(i), 7, 0, 1);
	expect_at(test, chunk(0), 7, 0, 1);
	expect_at(test, chunk(2), 7, 0, 1);
	KUNIT_EXPECT_EQ(test, dmda_extents_evict(map, bytes + 1), 2ULL * bytes);
	expect_at(test, chunk(0), 7, 0, 1);
	expect_nothing_at(test, chunk(1));
	expect_at(test, chunk(2), 7, 0, 1);
	expect_nothing_at(test, chunk(3));
	expect_at(test, chunk(4), 7, 0, 1);
	KUNIT_EXPECT_EQ(test, map->nr_evicted, 2ULL);
	KUNIT_EXPECT_EQ(test, dmda_extents_evict(map, U64_MAX), 4ULL * bytes);
	expect_nr(test, 0);
}

static void what_grows_is_young(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		set(test, chunk(i), 7, 0, 1);
	set(test, chunk(0) + 100, 8, 0, 1);
	dmda_extents_evict(map_of(test), 1);
	expect_nothing_at(test, chunk(1));
	expect_at(test, chunk(0), 7, 0, 1);
}

static void eviction_passes_over_a_bounded_number(struct kunit *test)
{
	struct dmda_node *node;
	unsigned int used = 0;
	unsigned int i;

	for (i = 0; i < 40; i++) {
		set(test, chunk(i), 7, 0, 1);
		expect_at(test, chunk(i), 7, 0, 1);
	}
	KUNIT_EXPECT_EQ(test, dmda_extents_evict(map_of(test), 1), (u64)dmda_node_bytes(0));
	expect_nr(test, 39);
	list_for_each_entry(node, &map_of(test)->ages, age)
		used += nr_used(node);
	KUNIT_EXPECT_EQ(test, used, 39U - SECOND_CHANCES);
}

static void one_in_use_does_not_keep_memory_of_many(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	unsigned int i;

	for (i = 0; i < 40; i++)
		set(test, 10 * i, 7, 0, 1);
	expect_at(test, 170, 7, 0, 1);
	set(test, chunk(1), 8, 0, 1);
	dmda_extents_evict(map, 1);
	expect_at(test, 170, 7, 0, 1);
	expect_nr(test, 1);
	KUNIT_EXPECT_LE(test, map->nr_bytes, 128ULL);
	KUNIT_EXPECT_EQ(test, map->nr_evicted, 40ULL);
}

static void memory_of_what_was_cleared_comes_back(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	unsigned int i;

	for (i = 0; i < 40; i++)
		set(test, 10 * i, 7, 0, 1);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, 20, 1000));
	expect_nr(test, 2);
	expect_at(test, 10, 7, 0, 1);
	KUNIT_EXPECT_LE(test, map->nr_bytes, 128ULL);
	KUNIT_EXPECT_EQ(test, map->nr_evicted, 0ULL);
}

static void all_memory_comes_back(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	struct model *model = test->priv;
	unsigned int i;

	for (i = 0; i < 30; i++)
		set(test, chunk(i / 3) + 10 * i, 7, 0, 5);
	KUNIT_EXPECT_GT(test, model->nr_bytes, 0ULL);
	KUNIT_EXPECT_FALSE(test, dmda_extents_empty(map, 3));
	KUNIT_EXPECT_TRUE(test, dmda_extents_empty(map, 100));
	KUNIT_EXPECT_EQ(test, model->nr_bytes, 0ULL);
	KUNIT_EXPECT_EQ(test, map->nr_evicted, 0ULL);
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map) ?: "sound", "sound");
}

static void the_first_page_at_its_place_is_found_behind_others(struct kunit *test)
{
	struct dmda_extent write = { .key_lo = 100, .val_hi = 7, .val_lo = 50, .len = 20 };
	struct dmda_extents *map = map_of(test);

	KUNIT_EXPECT_EQ(test, dmda_extents_nr_other(map, &write), 20U);
	set(test, 90, 7, 0, 13);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_other(map, &write), 20U);
	set(test, 108, 8, 58, 2);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_other(map, &write), 20U);
	set(test, 112, 7, 62, 30);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_other(map, &write), 12U);
	set(test, 98, 7, 48, 5);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_other(map, &write), 0U);
	write.len = 1;
	write.key_lo = 111;
	write.val_lo = 61;
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_other(map, &write), 1U);
}

static void it_is_told_how_long_nothing_is_known(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);

	KUNIT_EXPECT_EQ(test, dmda_extents_nr_unknown(map, 0, 100, 20), 20U);
	set(test, 90, 7, 0, 10);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_unknown(map, 0, 100, 20), 20U);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_unknown(map, 0, 99, 20), 0U);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_unknown(map, 0, 80, 20), 10U);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_unknown(map, 0, 80, 5), 5U);
	set(test, 112, 8, 0, 2);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_unknown(map, 0, 100, 20), 12U);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_unknown(map, 0, 113, 20), 0U);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_unknown(map, 0, 114, 20), 20U);
	KUNIT_EXPECT_EQ(test, dmda_extents_nr_unknown(map, 0, chunk(1), 20), 20U);
}

/* The check is what the random cases rely on: it must see damage */
static void the_check_finds_damage(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	struct dmda_node *node;
	u32 word;

	set(test, 100, 7, 0, 10);
	set(test, 110, 8, 0, 10);
	set(test, chunk(1), 8, 0, 10);
	node = dmda_nodeset_first(map);
	word = node->words[0];
	node->words[0] = dmda_word(100, 11);
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map),
			   "Extents overlap, or are out of order.");
	node->words[0] = dmda_word(101, 9);
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map),
			   "A node does not begin where its first extent does.");
	node->words[0] = word;
	node->words[1] = dmda_word(8191, 2);
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map), "An extent goes beyond its chunk.");
	node->words[1] = dmda_word(110, 10);
	dmda_node_vals_lo(node)[0] = U64_MAX - 1;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map), "The values of an extent wrap.");
	dmda_node_vals_lo(node)[0] = 0;
	node->nr = 0;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map),
			   "A node has no extents, or more than fit.");
	node->nr = 2;
	node->key_hi = 1;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map), "Nodes are out of order.");
	node->key_hi = 0;
	map->room++;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map),
			   "The room behind the cursor is not free.");
	map->room--;
	map->at.len--;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map),
			   "The cursor does not say what its extent says.");
	map->at.len++;
	map->nr_extents++;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map),
			   "The nodes do not have as many extents as were counted.");
	map->nr_extents--;
	map->nr_bytes--;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map),
			   "The nodes do not have as much memory as was counted.");
	map->nr_bytes++;
	KUNIT_EXPECT_NULL(test, dmda_extents_check(map));
}

/* ---- a large device: what benchmarks.md calls cost.run_table_mib ------------ */

/* A tebibyte; under KASAN, which takes half a minute for each, an eighth of one */
#ifdef CONFIG_KASAN
#define SHARE_OF_TIB	8
#else
#define SHARE_OF_TIB	1
#endif
#define TIB_PAGES	BIT_ULL(28)
#define FRAGMENT_PAGES	256U
#define NR_FRAGMENTS	((u32)(TIB_PAGES / FRAGMENT_PAGES / SHARE_OF_TIB))
#define MOST_BYTES	((64ULL << 20) / SHARE_OF_TIB)

/* Fragments in an order in which neighbours do not meet: a permutation of the bits of a mask */
static u32 shuffled(u32 i, u32 mask)
{
	u32 round;

	for (round = 0; round < 3; round++) {
		i = (i * 0x9e3779b1U) & mask;
		i ^= i >> 9;
	}
	return i;
}

/* Two files whose fragments take turns, so that each is an extent in both maps */
static void set_fragment(struct dmda_extents *owners, struct dmda_extents *runs, u32 nr)
{
	struct dmda_extent owner = {
		.key_lo = (u64)nr * FRAGMENT_PAGES,
		.val_hi = nr % 2 + 1,
		.val_lo = (u64)(nr / 2) * FRAGMENT_PAGES,
		.len = FRAGMENT_PAGES,
	};
	struct dmda_extent run = {
		.key_hi = owner.val_hi,
		.key_lo = owner.val_lo,
		.val_lo = owner.key_lo,
		.len = FRAGMENT_PAGES,
	};

	dmda_extents_set(owners, &owner);
	dmda_extents_set(runs, &run);
}

static void expect_fragment(struct kunit *test, struct dmda_extents *owners,
			    struct dmda_extents *runs, u32 nr)
{
	struct dmda_extent_hit owner, run;

	KUNIT_ASSERT_TRUE(test, dmda_extents_find(owners, 0, (u64)nr * FRAGMENT_PAGES, &owner));
	KUNIT_ASSERT_EQ(test, owner.len, FRAGMENT_PAGES);
	KUNIT_ASSERT_TRUE(test, dmda_extents_find(runs, owner.val_hi, owner.val_lo + 7, &run));
	KUNIT_ASSERT_EQ(test, run.val_lo, (u64)nr * FRAGMENT_PAGES + 7);
}

static void fit_a_tebibyte(struct kunit *test, bool in_order)
{
	struct model *model = kunit_kzalloc(test, 2 * sizeof(*model), GFP_KERNEL);
	struct dmda_extents *owners, *runs;
	u64 nr_bytes;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, model);
	model_init(&model[0], MOST_BYTES);
	model_init(&model[1], MOST_BYTES);
	owners = &model[0].map;
	runs = &model[1].map;
	dmda_extents_init(runs, &model_memory, false);
	for (i = 0; i < NR_FRAGMENTS; i++) {
		set_fragment(owners, runs, in_order ? i : shuffled(i, NR_FRAGMENTS - 1));
		if (!(i % 1024))
			cond_resched();
	}

	nr_bytes = model[0].nr_bytes + model[1].nr_bytes;
	kunit_info(test, "%llu KiB, %llu bytes a fragment", nr_bytes >> 10,
		   nr_bytes / NR_FRAGMENTS);
	KUNIT_EXPECT_EQ(test, owners->nr_extents, (u64)NR_FRAGMENTS);
	KUNIT_EXPECT_EQ(test, runs->nr_extents, (u64)NR_FRAGMENTS);
	KUNIT_EXPECT_EQ(test, owners->nr_evicted + runs->nr_evicted, 0ULL);
	KUNIT_EXPECT_LE(test, nr_bytes, (44ULL << 20) / SHARE_OF_TIB);
	for (i = 0; i < NR_FRAGMENTS; i += 97)
		expect_fragment(test, owners, runs, i);
	KUNIT_EXPECT_NULL(test, model_exit(&model[0]));
	KUNIT_EXPECT_NULL(test, model_exit(&model[1]));
}

static void a_tebibyte_in_order_fits(struct kunit *test)
{
	fit_a_tebibyte(test, true);
}

static void a_tebibyte_in_any_order_fits(struct kunit *test)
{
	fit_a_tebibyte(test, false);
}

/* Fragments so short that a chunk is many nodes: what is empty of these is bounded, too */
static void nodes_are_well_filled_in_any_order(struct kunit *test)
{
	struct model *model = test->priv;
	const u32 nr_extents = 1U << 14;
	u32 i;

	for (i = 0; i < nr_extents; i++) {
		u32 nr = shuffled(i << 6 | 5, BIT(20) - 1) >> 6;

		/* Some come twice, and some not at all */
		dmda_extents_set(&model->map, &(struct dmda_extent) {
			.key_lo = 2ULL * nr, .val_hi = nr, .len = 1 });
	}
	KUNIT_EXPECT_GT(test, model->map.nr_extents, nr_extents / 2ULL);
	kunit_info(test, "%llu bytes an extent", model->nr_bytes / model->map.nr_extents);
	KUNIT_EXPECT_LE(test, model->nr_bytes, 34 * model->map.nr_extents);
}

/* ---- random operations ------------------------------------------------------- */

/**
 * struct random_case - what one run of random operations is made of
 * @name: for the report
 * @limit_bytes: memory that there is
 * @moves_memory: eviction happens, allocations fail and the limit changes
 */
struct random_case {
	const char *name;
	u64 limit_bytes;
	bool moves_memory;
};

static const struct random_case random_cases[] = {
	{ "enough memory", U64_MAX, false },
	{ "memory comes and goes", U64_MAX, true },
	{ "no memory", 0, false },
	{ "memory for 1", 80, true },
	{ "memory for 2", 160, false },
	{ "memory for 3", 240, true },
	{ "memory for a small node", 700, false },
	{ "memory for a few nodes", 8000, true },
};

static void describe_random(const struct random_case *param, char *desc)
{
	strscpy(desc, param->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(random, random_cases, describe_random);

static struct model_op random_op(u64 *state, bool moves_memory)
{
	u64 bits = dmda_mix64(++*state);

	return (struct model_op) {
		.kind = (bits & 0xff) % (moves_memory ? MODEL_KINDS : MODEL_LIMIT),
		.stretch = bits >> 8,
		.offset = bits >> 16,
		.len = bits >> 32,
		.value = bits >> 48,
	};
}

/* Return: allocations that there were */
static u64 do_random_ops(struct kunit *test, struct model *model, u64 state, u32 nr_ops,
			 bool moves_memory)
{
	const char *wrong;
	u32 i;

	for (i = 0; i < nr_ops; i++) {
		struct model_op op = random_op(&state, moves_memory);

		wrong = model_apply(model, &op);
		KUNIT_ASSERT_TRUE_MSG(test, !wrong, "operation %u: %s", i, wrong);
	}
	wrong = model_exit(model);
	KUNIT_EXPECT_TRUE_MSG(test, !wrong, "at the end: %s", wrong);
	return model->nr_taken;
}

static void random_operations_agree_with_an_array(struct kunit *test)
{
	const struct random_case *param = test->param_value;
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	u64 state = 20240229 + param->limit_bytes;

	KUNIT_ASSERT_NOT_NULL(test, model);
	kunit_info(test, "seed %llu", state);
	model_init(model, param->limit_bytes);
	do_random_ops(test, model, state, NR_RANDOM_OPS, param->moves_memory);
}

/* Enough operations that nodes grow, split, shrink and go */
#define NR_FAILING_OPS	500

static void any_allocation_may_fail(struct kunit *test)
{
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	u64 nr_taken, i;

	KUNIT_ASSERT_NOT_NULL(test, model);
	model_init(model, U64_MAX);
	nr_taken = do_random_ops(test, model, 1, NR_FAILING_OPS, false);
	KUNIT_EXPECT_GT(test, nr_taken, 20ULL);
	for (i = 0; i < 2 * nr_taken; i++) {
		model_init(model, U64_MAX);
		model->first_failure = i / 2;
		/* That one only, or no memory at all from there on */
		model->nr_failures = i % 2 ? 1 : U64_MAX;
		do_random_ops(test, model, 1, NR_FAILING_OPS, false);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(an_empty_map_knows_nothing),
	KUNIT_CASE(every_key_of_an_extent_is_found_with_its_value),
	KUNIT_CASE(the_upper_half_of_a_key_tells_files_apart),
	KUNIT_CASE(another_file_does_not_go_into_the_room),
	KUNIT_CASE(appends_become_one_extent),
	KUNIT_CASE(prepends_become_one_extent),
	KUNIT_CASE(a_filled_gap_joins_both_sides),
	KUNIT_CASE(an_append_joins_what_it_reaches),
	KUNIT_CASE(an_append_cuts_what_it_runs_into),
	KUNIT_CASE(pages_of_other_files_do_not_join),
	KUNIT_CASE(a_page_in_the_middle_splits),
	KUNIT_CASE(a_new_extent_covers_many_old_ones),
	KUNIT_CASE(setting_the_same_again_changes_nothing),
	KUNIT_CASE(length_zero_means_nothing),
	KUNIT_CASE(the_last_key_of_all_can_be_used),
	KUNIT_CASE(keys_beyond_the_last_are_cut_off),
	KUNIT_CASE(values_that_wrap_are_forgotten),
	KUNIT_CASE(an_extent_does_not_grow_beyond_its_chunk),
	KUNIT_CASE(the_cursor_does_not_outlive_its_extent),
	KUNIT_CASE(room_behind_the_cursor_is_seen_to_shrink),
	KUNIT_CASE(clearing_cuts_and_counts),
	KUNIT_CASE(what_is_free_beside_a_cleared_range_is_known),
	KUNIT_CASE(free_keys_are_not_taken_for_others),
	KUNIT_CASE(a_large_range_is_cleared_in_batches),
	KUNIT_CASE(a_range_of_many_chunks_is_cleared),
	KUNIT_CASE(full_nodes_are_split_and_found_again),
	KUNIT_CASE(neighbours_in_two_nodes_are_joined),
	KUNIT_CASE(without_memory_nothing_is_kept_and_nothing_breaks),
	KUNIT_CASE(with_memory_for_one_the_newest_is_kept),
	KUNIT_CASE(a_node_without_memory_to_grow_forgets_what_was_not_used),
	KUNIT_CASE(a_split_without_memory_keeps_the_longer_part),
	KUNIT_CASE(the_unused_are_evicted_first),
	KUNIT_CASE(what_grows_is_young),
	KUNIT_CASE(eviction_passes_over_a_bounded_number),
	KUNIT_CASE(one_in_use_does_not_keep_memory_of_many),
	KUNIT_CASE(memory_of_what_was_cleared_comes_back),
	KUNIT_CASE(all_memory_comes_back),
	KUNIT_CASE(the_first_page_at_its_place_is_found_behind_others),
	KUNIT_CASE(it_is_told_how_long_nothing_is_known),
	KUNIT_CASE(the_check_finds_damage),
	KUNIT_CASE_SLOW(a_tebibyte_in_order_fits),
	KUNIT_CASE_SLOW(a_tebibyte_in_any_order_fits),
	KUNIT_CASE(nodes_are_well_filled_in_any_order),
	KUNIT_CASE_PARAM(random_operations_agree_with_an_array, random_gen_params),
	KUNIT_CASE(any_allocation_may_fail),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_extents",
	.init = init_fixture,
	.exit = exit_fixture,
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of dm-dieaware's extent map");
MODULE_LICENSE("GPL");
