// SPDX-License-Identifier: GPL-2.0-only
/* The extent map: directed cases, and random operations against a plain array. */
#include <kunit/test.h>

#include "../core/extents.c"
#include "../core/file-id.h"
#include "extents_model.h"

#define NR_MEMORY	64
#define NR_RANDOM_OPS	10000

struct fixture {
	struct dmda_extents map;
	struct dmda_extent memory[NR_MEMORY];
};

static int init_fixture(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	unsigned int i;

	if (!fixture)
		return -ENOMEM;
	dmda_extents_init(&fixture->map);
	for (i = 0; i < NR_MEMORY; i++)
		dmda_extents_give(&fixture->map, &fixture->memory[i]);
	test->priv = fixture;
	return 0;
}

static struct dmda_extents *map_of(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	return &fixture->map;
}

/* Leave the map this many spares */
static void keep_spares(struct kunit *test, u32 nr_spares)
{
	struct dmda_extents *map = map_of(test);

	while (map->nr_spares > nr_spares)
		dmda_extents_take(map);
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
	KUNIT_EXPECT_EQ(test, map_of(test)->nr_extents, nr_extents);
}

static void an_empty_map_knows_nothing(struct kunit *test)
{
	expect_nothing_at(test, 0);
	expect_nothing_at(test, U64_MAX);
	KUNIT_EXPECT_EQ(test, dmda_extents_evict(map_of(test), 3), 0U);
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
	keep_spares(test, DMDA_EXTENTS_SET_SPARES);
	set(test, 104, 7, 4, 3);
	set(test, 100, 7, 0, 10);
	expect_nr(test, 1);
	expect_at(test, 100, 7, 0, 10);
	KUNIT_EXPECT_EQ(test, map_of(test)->nr_spares, 2U);
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

static void an_extent_does_not_grow_beyond_its_length(struct kunit *test)
{
	set(test, 0, 7, 0, U32_MAX);
	set(test, U32_MAX, 7, U32_MAX, 5);
	expect_nr(test, 2);
	expect_at(test, 0, 7, 0, U32_MAX);
	expect_at(test, U32_MAX, 7, U32_MAX, 5);
	set(test, (u64)U32_MAX + 5, 7, (u64)U32_MAX + 5, U32_MAX - 5);
	expect_nr(test, 2);
	expect_at(test, U32_MAX, 7, U32_MAX, U32_MAX);
}

static void the_cursor_does_not_outlive_its_extent(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);

	set(test, 100, 7, 0, 10);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, 100, 10));
	set(test, 110, 7, 10, 1);
	expect_at(test, 110, 7, 10, 1);
	KUNIT_EXPECT_EQ(test, dmda_extents_evict(map, 1), 1U);
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

static void a_large_range_is_cleared_in_batches(struct kunit *test)
{
	const u32 nr_extents = 2 * DMDA_EXTENTS_CLEAR_BATCH + 10;
	struct dmda_extents *map = map_of(test);
	struct dmda_extent *more = kunit_kcalloc(test, nr_extents, sizeof(*more), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, more);
	for (i = 0; i < nr_extents; i++)
		dmda_extents_give(map, &more[i]);
	for (i = 0; i < nr_extents; i++)
		set(test, 3 * i, 7, 0, 2);
	KUNIT_EXPECT_FALSE(test, dmda_extents_clear(map, 0, 0, U64_MAX));
	expect_nr(test, nr_extents - DMDA_EXTENTS_CLEAR_BATCH);
	KUNIT_EXPECT_FALSE(test, dmda_extents_clear(map, 0, 0, U64_MAX));
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, 0, U64_MAX));
	expect_nr(test, 0);
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map) ?: "sound", "sound");
}

static void without_memory_nothing_is_kept_and_nothing_breaks(struct kunit *test)
{
	keep_spares(test, 0);
	set(test, 100, 7, 0, 10);
	expect_nothing_at(test, 100);
	expect_nr(test, 0);
}

static void with_memory_for_one_the_newest_is_kept(struct kunit *test)
{
	keep_spares(test, 1);
	set(test, 100, 7, 0, 10);
	expect_at(test, 100, 7, 0, 10);
	set(test, 110, 7, 10, 1);
	expect_at(test, 110, 7, 10, 1);
	set(test, 105, 8, 0, 1);
	expect_at(test, 105, 8, 0, 1);
	expect_nr(test, 1);
	KUNIT_EXPECT_GT(test, map_of(test)->nr_evicted, 0ULL);
}

static void a_split_without_memory_keeps_the_longer_part(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);

	set(test, 100, 7, 0, 10);
	set(test, 200, 8, 0, 10);
	keep_spares(test, 0);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, 103, 1));
	expect_nothing_at(test, 100);
	expect_at(test, 104, 7, 4, 6);
	KUNIT_EXPECT_TRUE(test, dmda_extents_clear(map, 0, 206, 2));
	expect_at(test, 200, 8, 0, 6);
	expect_nothing_at(test, 208);
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map) ?: "sound", "sound");
}

static void the_unused_are_evicted_first(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	unsigned int i;

	for (i = 0; i < 6; i++)
		set(test, 10 * i, 7, 0, 1);
	expect_at(test, 0, 7, 0, 1);
	expect_at(test, 20, 7, 0, 1);
	KUNIT_EXPECT_EQ(test, dmda_extents_evict(map, 2), 2U);
	expect_at(test, 0, 7, 0, 1);
	expect_nothing_at(test, 10);
	expect_at(test, 20, 7, 0, 1);
	expect_nothing_at(test, 30);
	expect_at(test, 40, 7, 0, 1);
	KUNIT_EXPECT_EQ(test, map->nr_evicted, 2ULL);
	KUNIT_EXPECT_EQ(test, dmda_extents_evict(map, 100), 4U);
	expect_nr(test, 0);
}

static void eviction_passes_over_a_bounded_number(struct kunit *test)
{
	struct dmda_extent *extent;
	unsigned int nr_used = 0;
	unsigned int i;

	for (i = 0; i < 40; i++) {
		set(test, 10 * i, 7, 0, 1);
		expect_at(test, 10 * i, 7, 0, 1);
	}
	KUNIT_EXPECT_EQ(test, dmda_extents_evict(map_of(test), 1), 1U);
	expect_nr(test, 39);
	list_for_each_entry(extent, &map_of(test)->ages, age)
		nr_used += extent->used;
	KUNIT_EXPECT_EQ(test, nr_used, 39U - SECOND_CHANCES);
}

static void all_memory_comes_back(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	unsigned int nr = 0;
	unsigned int i;

	for (i = 0; i < 30; i++)
		set(test, 10 * i, 7, 0, 5);
	dmda_extents_evict(map, U32_MAX);
	while (dmda_extents_take(map))
		nr++;
	KUNIT_EXPECT_EQ(test, nr, NR_MEMORY);
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

/* The check is what the random cases rely on: it must see damage */
static void the_check_finds_damage(struct kunit *test)
{
	struct dmda_extents *map = map_of(test);
	struct dmda_extent *first;

	set(test, 100, 7, 0, 10);
	set(test, 110, 8, 0, 10);
	first = first_of(map);
	first->len = 11;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map), "Extents overlap.");
	first->len = 0;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map), "An extent has no keys.");
	first->len = 10;
	first->key_lo = 115;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map), "Extents are out of order.");
	first->key_lo = U64_MAX;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map), "The keys of an extent wrap.");
	first->key_lo = 100;
	first->val_lo = U64_MAX - 1;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map), "The values of an extent wrap.");
	first->val_lo = 0;
	map->last = first;
	map->room = 1;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map),
			   "The room behind the cursor is not free.");
	map->room = 0;
	map->nr_extents++;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map),
			   "The tree does not have as many extents as were counted.");
	map->nr_extents--;
	map->nr_spares--;
	KUNIT_EXPECT_STREQ(test, dmda_extents_check(map),
			   "The list of spares does not have as many as were counted.");
	map->nr_spares++;
	KUNIT_EXPECT_NULL(test, dmda_extents_check(map));
}

/**
 * struct random_case - what one run of random operations is made of
 * @name: for the report
 * @nr_memory: extents that there are
 * @moves_memory: eviction, giving and taking happen as well
 */
struct random_case {
	const char *name;
	u32 nr_memory;
	bool moves_memory;
};

static const struct random_case random_cases[] = {
	{ "enough memory", MODEL_ENOUGH, false },
	{ "memory comes and goes", MODEL_ENOUGH, true },
	{ "no memory", 0, false },
	{ "memory for 1", 1, true },
	{ "memory for 2", 2, false },
	{ "memory for 3", 3, true },
	{ "memory for 7", 7, false },
	{ "memory for 100", 100, true },
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
		.kind = (bits & 0xff) % (moves_memory ? MODEL_KINDS : MODEL_GIVE),
		.stretch = bits >> 8,
		.offset = bits >> 16,
		.len = bits >> 32,
		.value = bits >> 48,
	};
}

static void random_operations_agree_with_an_array(struct kunit *test)
{
	const struct random_case *param = test->param_value;
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	struct dmda_extent *memory = kunit_kcalloc(test, param->nr_memory + 1, sizeof(*memory),
						   GFP_KERNEL);
	struct dmda_extent **outside = kunit_kcalloc(test, param->nr_memory + 1,
						     sizeof(*outside), GFP_KERNEL);
	u64 state = 20240229 + param->nr_memory;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, model);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_NOT_NULL(test, outside);
	kunit_info(test, "seed %llu", state);
	model_init(model, memory, outside, param->nr_memory);
	for (i = 0; i < NR_RANDOM_OPS; i++) {
		struct model_op op = random_op(&state, param->moves_memory);
		const char *wrong = model_apply(model, &op);

		KUNIT_ASSERT_TRUE_MSG(test, !wrong, "operation %u: %s", i, wrong);
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
	KUNIT_CASE(an_extent_does_not_grow_beyond_its_length),
	KUNIT_CASE(the_cursor_does_not_outlive_its_extent),
	KUNIT_CASE(room_behind_the_cursor_is_seen_to_shrink),
	KUNIT_CASE(clearing_cuts_and_counts),
	KUNIT_CASE(a_large_range_is_cleared_in_batches),
	KUNIT_CASE(without_memory_nothing_is_kept_and_nothing_breaks),
	KUNIT_CASE(with_memory_for_one_the_newest_is_kept),
	KUNIT_CASE(a_split_without_memory_keeps_the_longer_part),
	KUNIT_CASE(the_unused_are_evicted_first),
	KUNIT_CASE(eviction_passes_over_a_bounded_number),
	KUNIT_CASE(all_memory_comes_back),
	KUNIT_CASE(the_first_page_at_its_place_is_found_behind_others),
	KUNIT_CASE(the_check_finds_damage),
	KUNIT_CASE_PARAM(random_operations_agree_with_an_array, random_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_extents",
	.init = init_fixture,
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of dm-dieaware's extent map");
MODULE_LICENSE("GPL");
