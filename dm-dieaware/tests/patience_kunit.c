// SPDX-License-Identifier: GPL-2.0-only
/* How long writes wait for places. */
#include <kunit/test.h>

#include "../core/patience.c"

#define TIMEOUT	60
#define GRACE	30

static u64 left(u64 waited, bool any_empty)
{
	const struct dmda_patience patience = {
		.waited = waited, .timeout = TIMEOUT, .grace = GRACE, .any_empty = any_empty,
	};

	return dmda_patience_left(&patience);
}

static void writes_wait_until_the_timeout(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, left(0, false), TIMEOUT);
	KUNIT_EXPECT_EQ(test, left(TIMEOUT - 1, false), 1);
	KUNIT_EXPECT_EQ(test, left(TIMEOUT, false), 0);
	KUNIT_EXPECT_EQ(test, left(U64_MAX, false), 0);
}

static void what_is_going_to_be_free_is_waited_for(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, left(0, true), TIMEOUT + GRACE);
	KUNIT_EXPECT_EQ(test, left(TIMEOUT, true), GRACE);
}

static void but_not_for_ever(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, left(TIMEOUT + GRACE - 1, true), 1);
	KUNIT_EXPECT_EQ(test, left(TIMEOUT + GRACE, true), 0);
	KUNIT_EXPECT_EQ(test, left(U64_MAX, true), 0);
}

static void without_a_timeout_nobody_waits(struct kunit *test)
{
	const struct dmda_patience patience = { .timeout = 0, .grace = GRACE };

	KUNIT_EXPECT_EQ(test, dmda_patience_left(&patience), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(writes_wait_until_the_timeout),
	KUNIT_CASE(what_is_going_to_be_free_is_waited_for),
	KUNIT_CASE(but_not_for_ever),
	KUNIT_CASE(without_a_timeout_nobody_waits),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_patience",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of how long dm-dieaware's writes wait for space");
MODULE_LICENSE("GPL");
