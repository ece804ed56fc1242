// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>

#include "../core/pqueue.c"

#define NR_ITEMS	64
#define SEED		7

static struct ftl_pqueue make_queue(struct kunit *test)
{
	struct ftl_pqueue queue = {
		.entry = kunit_kzalloc(test, NR_ITEMS * sizeof(*queue.entry), GFP_KERNEL),
		.position = kunit_kzalloc(test, NR_ITEMS * sizeof(*queue.position), GFP_KERNEL),
	};

	KUNIT_ASSERT_NOT_NULL(test, queue.entry);
	KUNIT_ASSERT_NOT_NULL(test, queue.position);
	return queue;
}

static u32 next_random(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void items_come_out_by_key(struct kunit *test)
{
	struct ftl_pqueue queue = make_queue(test);
	u32 state = SEED;
	u64 last = 0;

	for (u32 item = 0; item < NR_ITEMS; item++)
		ftl_pqueue_push(&queue, next_random(&state) % 40, item);
	for (u32 i = 0; i < NR_ITEMS; i++) {
		struct ftl_pqueue_entry first = ftl_pqueue_pop(&queue);

		KUNIT_EXPECT_GE(test, first.key, last);
		KUNIT_EXPECT_FALSE(test, ftl_pqueue_has(&queue, first.item));
		last = first.key;
	}
	KUNIT_EXPECT_EQ(test, queue.nr, 0U);
}

static void lowered_item_comes_out_earlier(struct kunit *test)
{
	struct ftl_pqueue queue = make_queue(test);

	for (u32 item = 0; item < NR_ITEMS; item++)
		ftl_pqueue_push(&queue, 100 + item, item);
	ftl_pqueue_lower(&queue, 50, NR_ITEMS - 1);
	ftl_pqueue_lower(&queue, 99, 40);
	KUNIT_EXPECT_EQ(test, ftl_pqueue_pop(&queue).item, NR_ITEMS - 1U);
	KUNIT_EXPECT_EQ(test, ftl_pqueue_pop(&queue).item, 40U);
	KUNIT_EXPECT_EQ(test, ftl_pqueue_pop(&queue).item, 0U);
}

/* Against a table of keys that is searched from front to back. */
static void queue_agrees_with_a_table(struct kunit *test)
{
	struct ftl_pqueue queue = make_queue(test);
	u64 key[NR_ITEMS] = { 0 };
	u32 state = SEED;

	for (u32 i = 0; i < 20000; i++) {
		u32 item = next_random(&state) % NR_ITEMS;
		u64 smallest = U64_MAX;

		if (!ftl_pqueue_has(&queue, item)) {
			key[item] = 1 + next_random(&state) % 1000;
			ftl_pqueue_push(&queue, key[item], item);
			continue;
		}
		if (i % 7 == 0) {
			ftl_pqueue_remove(&queue, item);
			KUNIT_ASSERT_FALSE(test, ftl_pqueue_has(&queue, item));
			continue;
		}
		if (i % 3) {
			key[item] -= min_t(u64, key[item] - 1, next_random(&state) % 10);
			ftl_pqueue_lower(&queue, key[item], item);
			continue;
		}
		for (u32 other = 0; other < NR_ITEMS; other++) {
			if (ftl_pqueue_has(&queue, other))
				smallest = min(smallest, key[other]);
		}
		KUNIT_ASSERT_EQ(test, ftl_pqueue_pop(&queue).key, smallest);
	}
}

static struct kunit_case pqueue_cases[] = {
	KUNIT_CASE(items_come_out_by_key),
	KUNIT_CASE(lowered_item_comes_out_earlier),
	KUNIT_CASE(queue_agrees_with_a_table),
	{}
};

static struct kunit_suite pqueue_suite = {
	.name = "nvmev_pqueue",
	.test_cases = pqueue_cases,
};

kunit_test_suite(pqueue_suite);

MODULE_DESCRIPTION("The FTL's priority queue");
MODULE_LICENSE("GPL");
