// SPDX-License-Identifier: GPL-2.0-only
/* Small queue and ghost queue of the cache of the map: directed cases, and a plain model. */
#include <kunit/test.h>

#include "../core/s3fifo.c"

#define NR_PAGES	100
/* A twentieth of that and one */
#define MAX_SMALL	6
/* Twice that and the slack */
#define SMALL_SIZE	76

static struct dmda_s3fifo *new_fifo(struct kunit *test, u64 nr_pages)
{
	struct dmda_s3fifo *fifo = kunit_kzalloc(test, sizeof(*fifo), GFP_KERNEL);
	void *memory = kunit_kzalloc(test, dmda_s3fifo_bytes(nr_pages), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fifo);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	dmda_s3fifo_init(fifo, nr_pages, memory);
	return fifo;
}

static void put_new(struct kunit *test, struct dmda_s3fifo *fifo, u64 index)
{
	u64 pushed;

	KUNIT_ASSERT_TRUE(test, dmda_s3fifo_put(fifo, index, &pushed));
	KUNIT_ASSERT_EQ(test, pushed, U64_MAX);
}

static void the_oldest_goes_first(struct kunit *test)
{
	struct dmda_s3fifo *fifo = new_fifo(test, NR_PAGES);

	for (u64 i = 0; i < MAX_SMALL + 2; i++)
		put_new(test, fifo, 1000 - i);
	KUNIT_EXPECT_EQ(test, dmda_s3fifo_take(fifo, false), 1000);
	KUNIT_EXPECT_EQ(test, dmda_s3fifo_take(fifo, false), 999);
}

static void a_short_queue_gives_nothing(struct kunit *test)
{
	struct dmda_s3fifo *fifo = new_fifo(test, NR_PAGES);

	KUNIT_EXPECT_EQ(test, dmda_s3fifo_take(fifo, false), U64_MAX);
	for (u64 i = 0; i < MAX_SMALL; i++)
		put_new(test, fifo, i);
	KUNIT_EXPECT_EQ(test, dmda_s3fifo_take(fifo, false), U64_MAX);
}

static void a_short_queue_gives_what_it_must(struct kunit *test)
{
	struct dmda_s3fifo *fifo = new_fifo(test, NR_PAGES);

	KUNIT_EXPECT_EQ(test, dmda_s3fifo_take(fifo, true), U64_MAX);
	put_new(test, fifo, 5);
	put_new(test, fifo, 3);
	KUNIT_EXPECT_EQ(test, dmda_s3fifo_take(fifo, true), 5);
	KUNIT_EXPECT_EQ(test, dmda_s3fifo_take(fifo, true), 3);
	KUNIT_EXPECT_EQ(test, dmda_s3fifo_take(fifo, true), U64_MAX);
}

static void a_ghost_does_not_queue_again(struct kunit *test)
{
	struct dmda_s3fifo *fifo = new_fifo(test, NR_PAGES);
	u64 pushed;

	dmda_s3fifo_gone(fifo, 7);
	KUNIT_EXPECT_FALSE(test, dmda_s3fifo_put(fifo, 7, &pushed));
	KUNIT_EXPECT_EQ(test, pushed, U64_MAX);
	KUNIT_EXPECT_EQ(test, fifo->nr_small, 0);
	/* It is a ghost once only. */
	put_new(test, fifo, 7);
}

static void a_ghost_drives_out_another(struct kunit *test)
{
	struct dmda_s3fifo *fifo = new_fifo(test, NR_PAGES);
	u64 pushed;

	dmda_s3fifo_gone(fifo, 7);
	dmda_s3fifo_gone(fifo, 8);
	dmda_s3fifo_gone(fifo, 7 + NR_PAGES);
	put_new(test, fifo, 7);
	KUNIT_EXPECT_FALSE(test, dmda_s3fifo_put(fifo, 8, &pushed));
	KUNIT_EXPECT_FALSE(test, dmda_s3fifo_put(fifo, 7 + NR_PAGES, &pushed));
}

/* Nobody has come for what a zeroed table could be taken for. */
static void an_index_that_wraps_is_no_ghost(struct kunit *test)
{
	struct dmda_s3fifo *fifo = new_fifo(test, NR_PAGES);

	put_new(test, fifo, U32_MAX);
	put_new(test, fifo, 0);
}

static void a_full_queue_pushes_the_oldest_out(struct kunit *test)
{
	struct dmda_s3fifo *fifo = new_fifo(test, NR_PAGES);
	u64 pushed;

	for (u64 i = 0; i < SMALL_SIZE; i++)
		put_new(test, fifo, i);
	KUNIT_EXPECT_TRUE(test, dmda_s3fifo_put(fifo, SMALL_SIZE, &pushed));
	KUNIT_EXPECT_EQ(test, pushed, 0);
	KUNIT_EXPECT_EQ(test, dmda_s3fifo_take(fifo, false), 1);
}

/* Round and round the ring, at all lengths: what is taken is what was put, in order. */
static void the_ring_keeps_order(struct kunit *test)
{
	struct dmda_s3fifo *fifo = new_fifo(test, NR_PAGES);
	u64 next_put = 0, next_taken = 0;

	for (u32 round = 0; round < 50; round++) {
		for (u32 i = 0; i < 7 + round; i++) {
			u64 pushed;

			KUNIT_ASSERT_TRUE(test, dmda_s3fifo_put(fifo, next_put++, &pushed));
			if (pushed != U64_MAX)
				KUNIT_ASSERT_EQ(test, pushed, next_taken++);
		}
		for (u64 index; (index = dmda_s3fifo_take(fifo, false)) != U64_MAX; next_taken++)
			KUNIT_ASSERT_EQ(test, index, next_taken);
		KUNIT_ASSERT_EQ(test, next_put - next_taken, MAX_SMALL);
	}
}

static void the_smallest_cache_works(struct kunit *test)
{
	struct dmda_s3fifo *fifo = new_fifo(test, 1);
	u64 pushed;

	put_new(test, fifo, 3);
	put_new(test, fifo, 4);
	KUNIT_EXPECT_EQ(test, dmda_s3fifo_take(fifo, false), 3);
	dmda_s3fifo_gone(fifo, 3);
	KUNIT_EXPECT_EQ(test, dmda_s3fifo_take(fifo, false), U64_MAX);
	KUNIT_EXPECT_FALSE(test, dmda_s3fifo_put(fifo, 3, &pushed));
}

static struct kunit_case s3fifo_cases[] = {
	KUNIT_CASE(the_oldest_goes_first),
	KUNIT_CASE(a_short_queue_gives_nothing),
	KUNIT_CASE(a_short_queue_gives_what_it_must),
	KUNIT_CASE(a_ghost_does_not_queue_again),
	KUNIT_CASE(a_ghost_drives_out_another),
	KUNIT_CASE(an_index_that_wraps_is_no_ghost),
	KUNIT_CASE(a_full_queue_pushes_the_oldest_out),
	KUNIT_CASE(the_ring_keeps_order),
	KUNIT_CASE(the_smallest_cache_works),
	{}
};

static struct kunit_suite s3fifo_suite = {
	.name = "dm_dieaware_s3fifo",
	.test_cases = s3fifo_cases,
};

kunit_test_suite(s3fifo_suite);

MODULE_DESCRIPTION("What a cache keeps");
MODULE_LICENSE("GPL");
