// SPDX-License-Identifier: GPL-2.0-only
/* How long writes wait for places. */
#include <kunit/test.h>

#include "../core/patience.c"

#define TIMEOUT	60
#define LONG	100000

/* Writes begin to wait at this time; there is no space. */
static struct dmda_patience waiting_since(u64 now)
{
	struct dmda_patience patience = { .used = 0 };

	dmda_patience_look(&patience, now, true);
	return patience;
}

static void writes_wait_until_the_timeout(struct kunit *test)
{
	struct dmda_patience patience = waiting_since(1000);

	KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, TIMEOUT), TIMEOUT);
	dmda_patience_look(&patience, 1000 + TIMEOUT - 1, true);
	KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, TIMEOUT), 1);
	dmda_patience_look(&patience, 1000 + TIMEOUT, true);
	KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, TIMEOUT), 0);
	dmda_patience_look(&patience, 1000 + LONG, true);
	KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, TIMEOUT), 0);
}

/* Looks are as many as they like. */
static void what_lies_between_looks_adds_up(struct kunit *test)
{
	struct dmda_patience patience = waiting_since(0);

	for (u64 now = 1; now < TIMEOUT; now++) {
		dmda_patience_look(&patience, now, true);
		KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, TIMEOUT), TIMEOUT - now);
	}
}

static void what_is_under_way_is_waited_for_without_end(struct kunit *test)
{
	struct dmda_patience patience = { .used = 0 };

	for (u64 now = 0; now < LONG; now += TIMEOUT / 2) {
		dmda_patience_look(&patience, now, false);
		KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, TIMEOUT), U64_MAX);
	}
}

/* A device that does not answer takes nothing from the time that there is for space. */
static void only_time_without_space_counts(struct kunit *test)
{
	struct dmda_patience patience = waiting_since(0);

	dmda_patience_look(&patience, 10, true);
	dmda_patience_look(&patience, 20, false);
	KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, TIMEOUT), U64_MAX);
	dmda_patience_look(&patience, LONG, false);
	dmda_patience_look(&patience, LONG + 10, true);
	KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, TIMEOUT), TIMEOUT - 10);
	dmda_patience_look(&patience, LONG + 20, true);
	KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, TIMEOUT), TIMEOUT - 20);
}

/* Else somebody for whom the device does something now and then would keep them waiting. */
static void but_it_counts_in_spite_of_what_comes_between(struct kunit *test)
{
	struct dmda_patience patience = { .used = 0 };
	u64 now = 0;

	while (dmda_patience_left(&patience, TIMEOUT) && now < LONG) {
		now++;
		dmda_patience_look(&patience, now, now % 4);
	}
	KUNIT_EXPECT_LE(test, now, 2ULL * TIMEOUT);
}

static void places_renew_it(struct kunit *test)
{
	struct dmda_patience patience = waiting_since(0);

	dmda_patience_look(&patience, TIMEOUT - 1, true);
	dmda_patience_renew(&patience);
	KUNIT_EXPECT_NE(test, dmda_patience_left(&patience, TIMEOUT), 0);
	dmda_patience_look(&patience, TIMEOUT, true);
	KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, TIMEOUT), TIMEOUT);
}

static void without_a_timeout_nobody_waits_for_space(struct kunit *test)
{
	struct dmda_patience patience = waiting_since(5);

	KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, 0), 0);
	dmda_patience_look(&patience, 6, false);
	KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience, 0), U64_MAX);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(writes_wait_until_the_timeout),
	KUNIT_CASE(what_lies_between_looks_adds_up),
	KUNIT_CASE(what_is_under_way_is_waited_for_without_end),
	KUNIT_CASE(only_time_without_space_counts),
	KUNIT_CASE(but_it_counts_in_spite_of_what_comes_between),
	KUNIT_CASE(places_renew_it),
	KUNIT_CASE(without_a_timeout_nobody_waits_for_space),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_patience",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of how long dm-dieaware's writes wait for space");
MODULE_LICENSE("GPL");
