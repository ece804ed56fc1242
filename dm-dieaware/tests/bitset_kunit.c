// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets in which the next number is found quickly, beside an array in which it is looked for slowly:
 * of sizes around those at which a level gets another word, and of the segments of a large device.
 */
#include <kunit/test.h>

#include "../core/bitset.c"

struct both {
	struct dmda_bitset set;
	u8 *has;
	u32 nr;
	u32 random;
};

static struct both *new_sets(struct kunit *test, u32 nr)
{
	struct both *both = kunit_kzalloc(test, sizeof(*both), GFP_KERNEL);
	void *memory = kunit_kzalloc(test, dmda_bitset_bytes(nr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, both);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	both->has = kunit_kzalloc(test, nr, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, both->has);
	both->nr = nr;
	both->random = nr;
	dmda_bitset_init(&both->set, nr, memory);
	return both;
}

static void put(struct both *both, u32 number, bool has)
{
	dmda_bitset_put(&both->set, number, has);
	both->has[number] = has;
}

static u32 draw(struct both *both)
{
	both->random = both->random * 1103515245 + 12345;
	return (both->random >> 8) % both->nr;
}

static u32 next_slowly(const struct both *both, u32 from)
{
	while (from < both->nr && !both->has[from])
		from++;
	return from;
}

static void compare(struct kunit *test, const struct both *both, u32 from)
{
	KUNIT_ASSERT_EQ_MSG(test, dmda_bitset_next(&both->set, from), next_slowly(both, from),
			    "%u numbers, from %u", both->nr, from);
}

static const u32 sizes[] = { 1, 63, 64, 65, 4095, 4096, 4097, 70000 };

static void an_empty_set_has_no_number(struct kunit *test)
{
	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct both *both = new_sets(test, sizes[i]);

		compare(test, both, 0);
		compare(test, both, sizes[i] - 1);
		compare(test, both, sizes[i]);
	}
}

static void each_number_is_found_alone(struct kunit *test)
{
	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct both *both = new_sets(test, sizes[i]);
		u32 step = sizes[i] / 1000 + 1;

		for (u32 number = 0; number < sizes[i]; number += step) {
			put(both, number, true);
			KUNIT_ASSERT_EQ(test, dmda_bitset_next(&both->set, 0), number);
			KUNIT_ASSERT_EQ(test, dmda_bitset_next(&both->set, number), number);
			KUNIT_ASSERT_EQ(test, dmda_bitset_next(&both->set, number + 1), sizes[i]);
			put(both, number, false);
			KUNIT_ASSERT_EQ(test, dmda_bitset_next(&both->set, 0), sizes[i]);
		}
	}
}

/* Few, many, few: each level's words become 0 and something again. */
static void numbers_come_and_go(struct kunit *test)
{
	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct both *both = new_sets(test, sizes[i]);

		for (u32 turn = 0; turn < 2000; turn++) {
			put(both, draw(both), turn / 500 % 2 ? draw(both) % 3 == 0 : true);
			compare(test, both, draw(both));
			compare(test, both, 0);
		}
	}
}

static void what_is_put_twice_is_there_once(struct kunit *test)
{
	struct both *both = new_sets(test, 4097);

	put(both, 4096, true);
	put(both, 4096, true);
	compare(test, both, 0);
	put(both, 4096, false);
	put(both, 4096, false);
	put(both, 5, false);
	compare(test, both, 0);
}

static struct kunit_case bitset_cases[] = {
	KUNIT_CASE(an_empty_set_has_no_number),
	KUNIT_CASE(each_number_is_found_alone),
	KUNIT_CASE(numbers_come_and_go),
	KUNIT_CASE(what_is_put_twice_is_there_once),
	{}
};

static struct kunit_suite bitset_suite = {
	.name = "dm_dieaware_bitset",
	.test_cases = bitset_cases,
};

kunit_test_suite(bitset_suite);

MODULE_DESCRIPTION("Sets whose next number is found quickly");
MODULE_LICENSE("GPL");
