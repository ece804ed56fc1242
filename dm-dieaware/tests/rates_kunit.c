// SPDX-License-Identifier: GPL-2.0-only
/* What is overwritten in place, and how often: loads of which that is known. */
#include <kunit/test.h>

#include "../core/rates.c"

#define NR_LPNS		4096U
/* Until counts no longer depend on how it began */
#define SETTLING	(64 * NR_LPNS)

static u32 seed;

static u32 next_random(u32 below)
{
	seed = seed * 1664525 + 1013904223;
	return (u64)seed * below >> 32;
}

static struct dmda_rates *new_rates(struct kunit *test, u64 nr_lpns)
{
	struct dmda_rates *rates = kunit_kzalloc(test, sizeof(*rates), GFP_KERNEL);
	void *memory = kunit_kzalloc(test, dmda_rates_bytes(nr_lpns) + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rates);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	dmda_rates_init(rates, nr_lpns, memory);
	seed = 1;
	return rates;
}

/* Pages of which the first get so many of a hundred writes. Return: the page that is written. */
static u32 next_page(u32 nr_first, u32 percent)
{
	return next_random(100) < percent ? next_random(nr_first) :
					    nr_first + next_random(NR_LPNS - nr_first);
}

/* Return: how many of a thousand writes to the first pages, or to the others, were of that kind. */
static u32 share_of(struct dmda_rates *rates, u32 nr_first, u32 percent, bool of_first,
		    enum dmda_stream kind)
{
	u32 nr = 0, nr_kind = 0;

	for (u32 i = 0; i < SETTLING; i++)
		dmda_rates_write(rates, next_page(nr_first, percent));
	for (u32 i = 0; i < SETTLING; i++) {
		u32 page = next_page(nr_first, percent);
		enum dmda_stream found = dmda_rates_write(rates, page);
		bool is_first = page < nr_first;

		if (is_first != of_first)
			continue;
		nr++;
		nr_kind += found == kind;
	}
	return nr_kind * 1000ULL / nr;
}

static void where_all_is_written_alike_it_is_of_one_kind(struct kunit *test)
{
	struct dmda_rates *rates = new_rates(test, NR_LPNS);

	KUNIT_EXPECT_GT(test, share_of(rates, NR_LPNS / 2, 50, true, DMDA_STREAM_USER), 950U);
}

/* A device that is hardly used is judged by what is. */
static void where_few_parts_are_written_they_are_alike(struct kunit *test)
{
	struct dmda_rates *rates = new_rates(test, 16 * NR_LPNS);

	KUNIT_EXPECT_GT(test, share_of(rates, NR_LPNS / 2, 50, true, DMDA_STREAM_USER), 950U);
}

static void what_gets_most_writes_is_warm_and_the_rest_cold(struct kunit *test)
{
	struct dmda_rates *rates = new_rates(test, NR_LPNS);

	/* 9 times as often as the mean, and a ninth of it; but most others drop out of the mean. */
	KUNIT_EXPECT_GT(test, share_of(rates, NR_LPNS / 10, 90, true, DMDA_STREAM_WARM) +
			share_of(rates, NR_LPNS / 10, 90, true, DMDA_STREAM_HOT), 980U);
	KUNIT_EXPECT_GT(test, share_of(rates, NR_LPNS / 10, 90, false, DMDA_STREAM_MOVED), 980U);
}

static void what_gets_nearly_all_of_them_is_hot(struct kunit *test)
{
	struct dmda_rates *rates = new_rates(test, NR_LPNS);

	KUNIT_EXPECT_GT(test, share_of(rates, NR_LPNS / 50, 50, true, DMDA_STREAM_HOT), 980U);
	KUNIT_EXPECT_LT(test, share_of(rates, NR_LPNS / 50, 50, false, DMDA_STREAM_HOT), 5U);
}

static void what_was_hot_once_is_forgotten(struct kunit *test)
{
	struct dmda_rates *rates = new_rates(test, NR_LPNS);

	for (u32 i = 0; i < SETTLING; i++)
		dmda_rates_write(rates, next_page(NR_LPNS / 50, 50));
	KUNIT_EXPECT_EQ(test, (u32)dmda_rates_write(rates, 0), (u32)DMDA_STREAM_HOT);
	for (u32 i = 0; i < SETTLING; i++)
		dmda_rates_write(rates, NR_LPNS / 50 + next_random(NR_LPNS / 2));
	KUNIT_EXPECT_EQ(test, (u32)dmda_rates_write(rates, 0), (u32)DMDA_STREAM_MOVED);
}

/* Sums are what they are sums of, also where counts end. */
static void sums_are_right(struct kunit *test)
{
	struct dmda_rates *rates = new_rates(test, NR_LPNS);
	u64 sum = 0, nr = 0;

	for (u32 i = 0; i < 2 * SETTLING; i++)
		dmda_rates_write(rates, next_page(1, 99));
	for (u32 i = 0; i < rates->nr_parts; i++) {
		sum += rates->count[i];
		nr += !!rates->count[i];
	}
	KUNIT_EXPECT_EQ(test, rates->sum, sum);
	KUNIT_EXPECT_EQ(test, rates->nr_written, nr);
}

static void large_devices_have_no_more_counters(struct kunit *test)
{
	struct dmda_rates rates;
	u16 count;

	KUNIT_EXPECT_EQ(test, dmda_rates_bytes(0), 0U);
	KUNIT_EXPECT_EQ(test, dmda_rates_bytes(1), 2U);
	KUNIT_EXPECT_EQ(test, dmda_rates_bytes(65536), 131072U);
	KUNIT_EXPECT_EQ(test, dmda_rates_bytes(65537), 65538U);
	KUNIT_EXPECT_EQ(test, dmda_rates_bytes(1ULL << 32), 131072U);
	KUNIT_EXPECT_EQ(test, dmda_rates_bytes((1ULL << 40) - 1), 131072U);
	dmda_rates_init(&rates, (1ULL << 32) + 1, &count);
	KUNIT_EXPECT_EQ(test, rates.part_bits, 17U);
	/* Without memory, and behind what the device had when it was started */
	dmda_rates_init(&rates, NR_LPNS, NULL);
	KUNIT_EXPECT_EQ(test, (u32)dmda_rates_write(&rates, 0), (u32)DMDA_STREAM_USER);
	count = 0;
	dmda_rates_init(&rates, 1, &count);
	KUNIT_EXPECT_EQ(test, (u32)dmda_rates_write(&rates, 1), (u32)DMDA_STREAM_USER);
	KUNIT_EXPECT_EQ(test, (u32)dmda_rates_write(&rates, U64_MAX), (u32)DMDA_STREAM_USER);
	KUNIT_EXPECT_EQ(test, count, 0U);
}

static struct kunit_case rates_cases[] = {
	KUNIT_CASE(where_all_is_written_alike_it_is_of_one_kind),
	KUNIT_CASE(where_few_parts_are_written_they_are_alike),
	KUNIT_CASE(what_gets_most_writes_is_warm_and_the_rest_cold),
	KUNIT_CASE(what_gets_nearly_all_of_them_is_hot),
	KUNIT_CASE(what_was_hot_once_is_forgotten),
	KUNIT_CASE(sums_are_right),
	KUNIT_CASE(large_devices_have_no_more_counters),
	{}
};

static struct kunit_suite rates_suite = {
	.name = "dm_dieaware_rates",
	.test_cases = rates_cases,
};

kunit_test_suite(rates_suite);

MODULE_DESCRIPTION("How often parts of a device are written");
MODULE_LICENSE("GPL");
