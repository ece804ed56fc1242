// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>

#include "../core/geometry.c"
#include "../core/oob.c"
#include "../core/oob-slots.c"
#include "../core/oob-booked.c"
#include "../core/oob-memory.c"
#include "../core/table.c"
#include "../core/l2p.c"
#include "../core/l2p-change.h"
#include "../core/share.c"
#include "../core/defrag.c"
#include "../core/defrag-compact.c"
#include "../core/defrag-replay.c"

#define NR_LPNS		40
#define NR_PLACES	64

static struct ftl_l2p make_map(struct kunit *test)
{
	void *memory = kunit_kzalloc(test, ftl_l2p_bytes(NR_LPNS, NR_PLACES), GFP_KERNEL);
	struct ftl_l2p map;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	ftl_l2p_init(&map, NR_LPNS, NR_PLACES, memory);
	return map;
}

static void zeroed_memory_is_an_empty_map(struct kunit *test)
{
	struct ftl_l2p map = make_map(test);

	for (u64 lpn = 0; lpn < NR_LPNS; lpn++)
		KUNIT_EXPECT_TRUE(test, ftl_l2p_get(&map, to_lpn(lpn)) == PPN_NONE);
	for (u64 place = 0; place < NR_PLACES; place++)
		KUNIT_EXPECT_TRUE(test, ftl_l2p_owner(&map, to_ppn(place)) == LPN_NONE);
}

static void page_and_place_point_to_each_other(struct kunit *test)
{
	struct ftl_l2p map = make_map(test);

	/* The first and the last numbers are as good as any. */
	ftl_l2p_put(&map, to_lpn(0), to_ppn(NR_PLACES - 1));
	ftl_l2p_put(&map, to_lpn(NR_LPNS - 1), to_ppn(0));
	KUNIT_EXPECT_EQ(test, from_ppn(ftl_l2p_get(&map, to_lpn(0))), NR_PLACES - 1ULL);
	KUNIT_EXPECT_EQ(test, from_ppn(ftl_l2p_get(&map, to_lpn(NR_LPNS - 1))), 0ULL);
	KUNIT_EXPECT_EQ(test, from_lpn(ftl_l2p_owner(&map, to_ppn(NR_PLACES - 1))), 0ULL);
	KUNIT_EXPECT_EQ(test, from_lpn(ftl_l2p_owner(&map, to_ppn(0))), NR_LPNS - 1ULL);
}

static void page_leaves_its_old_place(struct kunit *test)
{
	struct ftl_l2p map = make_map(test);

	ftl_l2p_put(&map, to_lpn(3), to_ppn(5));
	ftl_l2p_put(&map, to_lpn(3), to_ppn(6));
	KUNIT_EXPECT_TRUE(test, ftl_l2p_owner(&map, to_ppn(5)) == LPN_NONE);
	KUNIT_EXPECT_EQ(test, from_lpn(ftl_l2p_owner(&map, to_ppn(6))), 3ULL);
	ftl_l2p_move(&map, to_ppn(6), to_ppn(7));
	KUNIT_EXPECT_TRUE(test, ftl_l2p_owner(&map, to_ppn(6)) == LPN_NONE);
	KUNIT_EXPECT_EQ(test, from_ppn(ftl_l2p_get(&map, to_lpn(3))), 7ULL);
	ftl_l2p_clear(&map, to_lpn(3), to_ppn(7));
	KUNIT_EXPECT_TRUE(test, ftl_l2p_get(&map, to_lpn(3)) == PPN_NONE);
	KUNIT_EXPECT_TRUE(test, ftl_l2p_owner(&map, to_ppn(7)) == LPN_NONE);
}

static void moving_a_hole_moves_a_hole(struct kunit *test)
{
	struct ftl_l2p map = make_map(test);

	ftl_l2p_move(&map, to_ppn(1), to_ppn(2));
	KUNIT_EXPECT_TRUE(test, ftl_l2p_owner(&map, to_ppn(2)) == LPN_NONE);
	for (u64 lpn = 0; lpn < NR_LPNS; lpn++)
		KUNIT_EXPECT_TRUE(test, ftl_l2p_get(&map, to_lpn(lpn)) == PPN_NONE);
}

/* Places 8 to 11 are a row; lpns 2 to 5 are in it, 6 is just behind, 7 just before. */
static void run_ends_with_its_row(struct kunit *test)
{
	struct ftl_l2p map = make_map(test);

	ftl_l2p_put(&map, to_lpn(2), to_ppn(11));
	ftl_l2p_put(&map, to_lpn(3), to_ppn(8));
	ftl_l2p_put(&map, to_lpn(4), to_ppn(9));
	ftl_l2p_put(&map, to_lpn(5), to_ppn(10));
	ftl_l2p_put(&map, to_lpn(6), to_ppn(12));
	ftl_l2p_put(&map, to_lpn(7), to_ppn(7));
	KUNIT_EXPECT_EQ(test, ftl_l2p_run(&map, to_lpn(2), 30, 8, 4), 4U);
	KUNIT_EXPECT_EQ(test, ftl_l2p_run(&map, to_lpn(3), 30, 8, 4), 3U);
	KUNIT_EXPECT_EQ(test, ftl_l2p_run(&map, to_lpn(3), 2, 8, 4), 2U);
	KUNIT_EXPECT_EQ(test, ftl_l2p_run(&map, to_lpn(6), 30, 12, 4), 1U);
	KUNIT_EXPECT_EQ(test, ftl_l2p_run(&map, to_lpn(7), 30, 4, 4), 1U);
}

static void run_of_unmapped_pages_ends_with_a_mapped_one(struct kunit *test)
{
	struct ftl_l2p map = make_map(test);

	ftl_l2p_put(&map, to_lpn(9), to_ppn(0));
	KUNIT_EXPECT_EQ(test, ftl_l2p_run(&map, to_lpn(2), 30, 0, 4), 7U);
	KUNIT_EXPECT_EQ(test, ftl_l2p_run(&map, to_lpn(2), 5, 0, 4), 5U);
	KUNIT_EXPECT_EQ(test, ftl_l2p_run(&map, to_lpn(9), 30, 0, 4), 1U);
	KUNIT_EXPECT_EQ(test, ftl_l2p_skip_unmapped(&map, 2, NR_LPNS), 9ULL);
	KUNIT_EXPECT_EQ(test, ftl_l2p_skip_unmapped(&map, 9, NR_LPNS), 9ULL);
	KUNIT_EXPECT_EQ(test, ftl_l2p_skip_unmapped(&map, 10, NR_LPNS), (u64)NR_LPNS);
	KUNIT_EXPECT_EQ(test, ftl_l2p_skip_unmapped(&map, 2, 4), 4ULL);
}

/* Three whole regions and a part of one */
#define NR_MANY		(3 * FTL_REGION_PAGES + 100)

static u64 count_one_by_one(const struct ftl_l2p *map, u64 lpn, u64 end)
{
	u64 nr = 0;

	for (; lpn < end; lpn++)
		nr += ftl_l2p_get(map, to_lpn(lpn)) != PPN_NONE;
	return nr;
}

static u64 next_one_by_one(const struct ftl_l2p *map, u64 lpn, u64 end)
{
	while (lpn < end && ftl_l2p_get(map, to_lpn(lpn)) == PPN_NONE)
		lpn++;
	return lpn;
}

/* Maps or unmaps pages from @lpn on. */
static void turn(struct ftl_l2p *map, u64 lpn, u64 nr)
{
	for (u64 end = min(lpn + nr, map->nr_lpns); lpn < end; lpn++) {
		ppn_t ppn = ftl_l2p_get(map, to_lpn(lpn));

		if (ppn == PPN_NONE)
			ftl_l2p_put(map, to_lpn(lpn), to_ppn(lpn));
		else
			ftl_l2p_clear(map, to_lpn(lpn), ppn);
	}
}

static void mapped_pages_are_counted_by_regions(struct kunit *test)
{
	static const u64 ends[] = { 0, 1, FTL_REGION_PAGES - 1, FTL_REGION_PAGES,
		FTL_REGION_PAGES + 1, 2 * FTL_REGION_PAGES, 3 * FTL_REGION_PAGES, NR_MANY - 1,
		NR_MANY };
	void *memory = kunit_kzalloc(test, ftl_l2p_bytes(NR_MANY, NR_MANY), GFP_KERNEL);
	struct ftl_l2p map;
	u64 seed = 1;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	ftl_l2p_init(&map, NR_MANY, NR_MANY, memory);
	for (u32 round = 0; round < 40; round++) {
		for (u32 i = 0; i < ARRAY_SIZE(ends); i++) {
			for (u32 j = i; j < ARRAY_SIZE(ends); j++) {
				KUNIT_ASSERT_EQ(test, ftl_l2p_nr_mapped(&map, ends[i], ends[j]),
						count_one_by_one(&map, ends[i], ends[j]));
				KUNIT_ASSERT_EQ(test, ftl_l2p_skip_unmapped(&map, ends[i], ends[j]),
						next_one_by_one(&map, ends[i], ends[j]));
			}
		}
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		/* Now and then a region and more, so that some are empty or full. */
		turn(&map, (seed >> 33) % NR_MANY, round % 4 ? (seed >> 20) % 500 :
		     FTL_REGION_PAGES * 2);
	}
}

static void a_page_that_moves_is_counted_once(struct kunit *test)
{
	struct ftl_l2p map = make_map(test);

	ftl_l2p_put(&map, to_lpn(3), to_ppn(5));
	ftl_l2p_put(&map, to_lpn(3), to_ppn(6));
	ftl_l2p_move(&map, to_ppn(6), to_ppn(7));
	KUNIT_EXPECT_EQ(test, ftl_l2p_nr_mapped(&map, 0, NR_LPNS), 1ULL);
	ftl_l2p_clear(&map, to_lpn(3), to_ppn(7));
	KUNIT_EXPECT_EQ(test, ftl_l2p_nr_mapped(&map, 0, NR_LPNS), 0ULL);
}

/* A region without pages takes a look, as does each page of one that has some. */
static void reach_passes_over_what_is_empty(struct kunit *test)
{
	const u64 nr_lpns = 20 * FTL_REGION_PAGES;
	void *memory = kunit_kzalloc(test, ftl_l2p_bytes(nr_lpns, NR_PLACES), GFP_KERNEL);
	struct ftl_l2p map;
	u32 most = 12;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	ftl_l2p_init(&map, nr_lpns, NR_PLACES, memory);
	KUNIT_EXPECT_EQ(test, ftl_l2p_reach(&map, 5, nr_lpns, &most), 12ULL * FTL_REGION_PAGES);
	KUNIT_EXPECT_EQ(test, most, 0U);
	ftl_l2p_put(&map, to_lpn(3 * FTL_REGION_PAGES + 7), to_ppn(1));
	most = 12;
	KUNIT_EXPECT_EQ(test, ftl_l2p_reach(&map, 5, nr_lpns, &most), 3ULL * FTL_REGION_PAGES + 9);
	most = FTL_REGION_PAGES + 12;
	KUNIT_EXPECT_EQ(test, ftl_l2p_reach(&map, 5, nr_lpns, &most), 13ULL * FTL_REGION_PAGES);
	most = 100;
	KUNIT_EXPECT_EQ(test, ftl_l2p_reach(&map, 5, FTL_REGION_PAGES + 3, &most),
			FTL_REGION_PAGES + 3ULL);
	KUNIT_EXPECT_EQ(test, most, 98U);
}

static struct kunit_case l2p_cases[] = {
	KUNIT_CASE(zeroed_memory_is_an_empty_map),
	KUNIT_CASE(page_and_place_point_to_each_other),
	KUNIT_CASE(page_leaves_its_old_place),
	KUNIT_CASE(mapped_pages_are_counted_by_regions),
	KUNIT_CASE(a_page_that_moves_is_counted_once),
	KUNIT_CASE(moving_a_hole_moves_a_hole),
	KUNIT_CASE(run_ends_with_its_row),
	KUNIT_CASE(run_of_unmapped_pages_ends_with_a_mapped_one),
	KUNIT_CASE(reach_passes_over_what_is_empty),
	{}
};

static struct kunit_suite l2p_suite = {
	.name = "nvmev_l2p",
	.test_cases = l2p_cases,
};

kunit_test_suite(l2p_suite);

MODULE_DESCRIPTION("The FTL's maps");
MODULE_LICENSE("GPL");
