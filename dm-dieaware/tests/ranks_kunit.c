// SPDX-License-Identifier: GPL-2.0-only
/* Lists of numbers by rank, beside an array that says when each of them has joined its list. */
#include <kunit/test.h>

#include "../core/ranks.c"

#define NR	1000

/**
 * struct both - ranks, and what they should be
 * @ranks: under test
 * @rank: of each number
 * @since: when it got it
 * @now: the time
 * @random: state of a generator
 */
struct both {
	struct dmda_ranks ranks;
	u32 rank[NR];
	u32 since[NR];
	u32 now;
	u32 random;
};

static struct both *new_both(struct kunit *test)
{
	struct both *both = kunit_kzalloc(test, sizeof(*both), GFP_KERNEL);
	void *memory = kunit_kzalloc(test, dmda_ranks_bytes(NR), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, both);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	dmda_ranks_init(&both->ranks, memory);
	for (u32 number = 0; number < NR; number++)
		both->rank[number] = DMDA_RANK_NONE;
	return both;
}

static u32 draw(struct both *both, u32 below)
{
	both->random = both->random * 1103515245 + 12345;
	return (both->random >> 8) % below;
}

static void move(struct both *both, u32 number, u32 to)
{
	dmda_ranks_move(&both->ranks, number, both->rank[number], to);
	if (to != both->rank[number])
		both->since[number] = ++both->now;
	both->rank[number] = to;
}

/* Each list has those of its rank, in the order of @since, and is the same from behind. */
static void expect_same(struct kunit *test, const struct both *both)
{
	u32 nr = 0, nr_ranked = 0;

	for (u32 number = 0; number < NR; number++)
		nr_ranked += both->rank[number] != DMDA_RANK_NONE;
	for (u32 rank = 0; rank < DMDA_NR_RANKS; rank++) {
		u32 before = DMDA_RANKS_END;

		for (u32 at = dmda_ranks_first(&both->ranks, rank); at != DMDA_RANKS_END;
		     at = dmda_ranks_after(&both->ranks, at)) {
			KUNIT_ASSERT_EQ(test, both->rank[at], rank);
			KUNIT_ASSERT_EQ(test, both->ranks.link[at].before - 1, before);
			if (before != DMDA_RANKS_END)
				KUNIT_ASSERT_LE(test, both->since[before], both->since[at]);
			before = at;
			KUNIT_ASSERT_LE(test, ++nr, NR);
		}
		KUNIT_ASSERT_EQ(test, both->ranks.last[rank] - 1, before);
	}
	KUNIT_EXPECT_EQ(test, nr, nr_ranked);
}

static void lists_have_those_of_their_rank_in_order(struct kunit *test)
{
	struct both *both = new_both(test);

	expect_same(test, both);
	for (u32 i = 0; i < 20000; i++) {
		move(both, draw(both, NR), draw(both, DMDA_NR_RANKS + 1));
		if (i % 100 == 0)
			expect_same(test, both);
	}
	for (u32 number = 0; number < NR; number++)
		move(both, number, DMDA_RANK_NONE);
	expect_same(test, both);
}

static bool is_older(const void *arg, u32 a, u32 b)
{
	const struct both *both = arg;

	return both->since[a] < both->since[b];
}

static void sorting_puts_them_in_another_order(struct kunit *test)
{
	struct both *both = new_both(test);

	/* Lists of all lengths from none on, with equals */
	for (u32 number = 0; number < NR; number++)
		move(both, number, draw(both, 1 + number * DMDA_NR_RANKS / NR));
	for (u32 number = 0; number < NR; number++)
		both->since[number] = draw(both, NR / 2);
	dmda_ranks_sort(&both->ranks, is_older, both);
	expect_same(test, both);
	both->now = NR;
	for (u32 i = 0; i < 1000; i++)
		move(both, draw(both, NR), draw(both, DMDA_NR_RANKS + 1));
	expect_same(test, both);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(lists_have_those_of_their_rank_in_order),
	KUNIT_CASE(sorting_puts_them_in_another_order),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_ranks",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of dm-dieaware's lists by rank");
MODULE_LICENSE("GPL");
