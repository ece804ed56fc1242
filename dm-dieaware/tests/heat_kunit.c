// SPDX-License-Identifier: GPL-2.0-only
/* Which pages are overwritten most often: loads of which that is known. */
#include <kunit/test.h>

#include "../core/heat.c"

#define NR_PAGES	64
#define TURN_WRITES	(NR_PAGES * DMDA_HEAT_STEP)
/* Until counts no longer depend on how it began */
#define SETTLING_TURNS	16
/* So many pages that no turn writes each of them twice */
#define MANY_PAGES	100000

/**
 * struct load - some pages get half of the writes, each as many, others the rest
 * @first: first page of the former
 * @nr: number of the former
 */
struct load {
	u64 first;
	u32 nr;
};

static u32 seed;

static u32 next_random(u32 below)
{
	seed = seed * 1664525 + 1013904223;
	return (u64)seed * below >> 32;
}

static struct dmda_heat *new_heat(struct kunit *test, u32 nr_pages)
{
	struct dmda_heat *heat = kunit_kzalloc(test, sizeof(*heat), GFP_KERNEL);
	void *memory = kunit_kzalloc(test, dmda_heat_bytes(nr_pages) + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, heat);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	dmda_heat_init(heat, nr_pages, memory);
	seed = 1;
	return heat;
}

/* Return: in how many of a thousand the pages were cold. */
static u32 write_some(struct dmda_heat *heat, u64 first, u32 nr, u32 nr_writes)
{
	u32 nr_cold = 0;

	for (u32 i = 0; i < nr_writes; i++)
		nr_cold += dmda_heat_write(heat, first + next_random(nr));
	return nr_cold * 1000ULL / nr_writes;
}

static void write_load(struct dmda_heat *heat, const struct load *load, u32 nr_turns)
{
	for (u32 i = 0; i < nr_turns * TURN_WRITES / 2; i++) {
		write_some(heat, load->first, load->nr, 1);
		write_some(heat, MANY_PAGES, MANY_PAGES, 1);
	}
}

static void expect_consistent(struct kunit *test, const struct dmda_heat *heat)
{
	u32 nr_hot = 0;

	for (u32 i = 0; i < heat->nr_places * DMDA_HEAT_WAYS; i++) {
		KUNIT_EXPECT_LE(test, heat->entry[i].count, DMDA_HEAT_MAX);
		KUNIT_EXPECT_TRUE(test, heat->entry[i].count || !heat->entry[i].is_hot);
		nr_hot += heat->entry[i].is_hot;
	}
	KUNIT_EXPECT_EQ(test, heat->nr_hot, nr_hot);
	KUNIT_EXPECT_LE(test, nr_hot, heat->nr_places);
}

static void none_is_cold_at_first(struct kunit *test)
{
	struct dmda_heat *heat = new_heat(test, NR_PAGES);

	KUNIT_EXPECT_EQ(test, write_some(heat, 0, MANY_PAGES, TURN_WRITES), 0);
}

static void none_is_cold_without_a_table(struct kunit *test)
{
	struct dmda_heat *heat = new_heat(test, 0);

	KUNIT_EXPECT_EQ(test, write_some(heat, 0, MANY_PAGES, TURN_WRITES), 0);
}

static void none_is_cold_where_all_are_alike(struct kunit *test)
{
	static const u32 nr_pages[] = { 16 * NR_PAGES, 64 * NR_PAGES, MANY_PAGES };

	for (u32 i = 0; i < ARRAY_SIZE(nr_pages); i++) {
		struct dmda_heat *heat = new_heat(test, NR_PAGES);

		KUNIT_EXPECT_EQ(test, write_some(heat, 0, nr_pages[i],
						 SETTLING_TURNS * TURN_WRITES), 0);
		expect_consistent(test, heat);
	}
}

static void none_is_cold_where_all_have_room(struct kunit *test)
{
	struct dmda_heat *heat = new_heat(test, NR_PAGES);

	write_some(heat, 0, NR_PAGES / 2, SETTLING_TURNS * TURN_WRITES);
	/* Nor is the first write of another one. */
	KUNIT_EXPECT_FALSE(test, dmda_heat_write(heat, MANY_PAGES));
}

static void those_that_are_written_often_are_hot(struct kunit *test)
{
	struct dmda_heat *heat = new_heat(test, NR_PAGES);
	const struct load load = { 0, NR_PAGES * 3 / 4 };

	write_load(heat, &load, SETTLING_TURNS);
	expect_consistent(test, heat);
	KUNIT_EXPECT_LE(test, write_some(heat, load.first, load.nr, 100), 20);
	KUNIT_EXPECT_GE(test, write_some(heat, MANY_PAGES, MANY_PAGES, 100), 950);
}

/* Numbers that are far apart, as of pages of many files */
static void it_does_not_matter_where_pages_are(struct kunit *test)
{
	struct dmda_heat *heat = new_heat(test, NR_PAGES);
	u32 nr_cold = 0;

	for (u32 i = 0; i < SETTLING_TURNS * TURN_WRITES; i++) {
		bool is_late = i >= (SETTLING_TURNS - 1) * TURN_WRITES;

		nr_cold += dmda_heat_write(heat, (u64)next_random(NR_PAGES / 2) << 20) && is_late;
		dmda_heat_write(heat, (u64)next_random(MANY_PAGES) * 512 + 1);
	}
	KUNIT_EXPECT_LE(test, nr_cold, TURN_WRITES / 50);
}

static void others_can_become_hot(struct kunit *test)
{
	struct dmda_heat *heat = new_heat(test, NR_PAGES);
	const struct load before = { 0, NR_PAGES / 2 }, after = { 1000, NR_PAGES / 2 };

	write_load(heat, &before, SETTLING_TURNS);
	write_load(heat, &after, SETTLING_TURNS);
	KUNIT_EXPECT_LE(test, write_some(heat, after.first, after.nr, 100), 20);
	KUNIT_EXPECT_GE(test, write_some(heat, before.first, before.nr, 10), 900);
}

static void get_hot(const struct dmda_heat *heat, u32 nr_pages, bool *is_hot)
{
	memset(is_hot, 0, nr_pages);
	for (u32 i = 0; i < heat->nr_places * DMDA_HEAT_WAYS; i++) {
		if (heat->entry[i].is_hot && heat->entry[i].tag < nr_pages)
			is_hot[heat->entry[i].tag] = true;
	}
}

/* Of pages that are as good as each other, more than there is room for, the same stay hot. */
static void who_is_hot_stays_so(struct kunit *test)
{
	struct dmda_heat *heat = new_heat(test, NR_PAGES);
	const struct load load = { 0, 2 * NR_PAGES };
	bool before[2 * NR_PAGES], after[2 * NR_PAGES];
	u32 nr_stayed = 0;

	write_load(heat, &load, SETTLING_TURNS);
	get_hot(heat, load.nr, before);
	write_load(heat, &load, SETTLING_TURNS);
	get_hot(heat, load.nr, after);
	for (u32 i = 0; i < load.nr; i++)
		nr_stayed += before[i] && after[i];
	KUNIT_EXPECT_GE(test, nr_stayed, NR_PAGES * 9 / 10);
	expect_consistent(test, heat);
}

static void one_page_can_get_all_writes(struct kunit *test)
{
	struct dmda_heat *heat = new_heat(test, 1);

	KUNIT_EXPECT_EQ(test, write_some(heat, 7, 1, 10000), 0);
	KUNIT_EXPECT_TRUE(test, dmda_heat_write(heat, 8));
	KUNIT_EXPECT_FALSE(test, dmda_heat_write(heat, 7));
	expect_consistent(test, heat);
}

static struct kunit_case heat_cases[] = {
	KUNIT_CASE(none_is_cold_at_first),
	KUNIT_CASE(none_is_cold_without_a_table),
	KUNIT_CASE(none_is_cold_where_all_are_alike),
	KUNIT_CASE(none_is_cold_where_all_have_room),
	KUNIT_CASE(those_that_are_written_often_are_hot),
	KUNIT_CASE(it_does_not_matter_where_pages_are),
	KUNIT_CASE(others_can_become_hot),
	KUNIT_CASE(who_is_hot_stays_so),
	KUNIT_CASE(one_page_can_get_all_writes),
	{}
};

static struct kunit_suite heat_suite = {
	.name = "dm_dieaware_heat",
	.test_cases = heat_cases,
};

kunit_test_suite(heat_suite);

MODULE_DESCRIPTION("Which pages are overwritten most often");
MODULE_LICENSE("GPL");
