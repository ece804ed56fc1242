// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>

#include "../core/wbuf.c"

#define NR_UNITS	5
#define NR_OPENED	2

static struct ftl_wbuf make_wbuf(struct kunit *test)
{
	void *memory = kunit_kzalloc(test, ftl_wbuf_bytes(NR_UNITS, NR_OPENED), GFP_KERNEL);
	struct ftl_wbuf wbuf;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	ftl_wbuf_init(&wbuf, NR_UNITS, NR_OPENED, memory);
	return wbuf;
}

static void unit_enters_at_once_while_there_is_room(struct kunit *test)
{
	struct ftl_wbuf wbuf = make_wbuf(test);

	for (u32 i = 1; i < NR_UNITS; i++) {
		KUNIT_EXPECT_EQ(test, ftl_wbuf_admit(&wbuf, 1, 10), 10ULL);
		ftl_wbuf_program(&wbuf, 1000, 0);
	}
	KUNIT_EXPECT_EQ(test, ftl_wbuf_admit(&wbuf, 1, 10), 10ULL);
}

static void unit_waits_for_the_program_that_ends_first(struct kunit *test)
{
	struct ftl_wbuf wbuf = make_wbuf(test);
	static const u64 end_ns[] = { 700, 300, 900, 500, 800 };

	for (u32 i = 0; i < NR_UNITS; i++)
		ftl_wbuf_program(&wbuf, end_ns[i], 0);
	KUNIT_EXPECT_EQ(test, ftl_wbuf_admit(&wbuf, 1, 0), 300ULL);
	ftl_wbuf_program(&wbuf, 600, 0);
	KUNIT_EXPECT_EQ(test, ftl_wbuf_admit(&wbuf, 1, 0), 500ULL);
	KUNIT_EXPECT_EQ(test, ftl_wbuf_admit(&wbuf, 2, 0), 600ULL);
	KUNIT_EXPECT_EQ(test, ftl_wbuf_admit(&wbuf, 2, 750), 750ULL);
	KUNIT_EXPECT_EQ(test, ftl_wbuf_admit(&wbuf, 4, 750), 800ULL);
}

static void units_do_not_overtake_each_other(struct kunit *test)
{
	struct ftl_wbuf wbuf = make_wbuf(test);

	for (u32 i = 0; i < NR_UNITS; i++)
		ftl_wbuf_program(&wbuf, 100 + i, 0);
	KUNIT_EXPECT_EQ(test, ftl_wbuf_admit(&wbuf, 3, 0), 102ULL);
	KUNIT_EXPECT_EQ(test, ftl_wbuf_admit(&wbuf, 1, 50), 102ULL);
}

/* More units may be open than fit: then there is nothing to wait for. */
static void open_units_alone_do_not_block(struct kunit *test)
{
	struct ftl_wbuf wbuf = make_wbuf(test);

	ftl_wbuf_program(&wbuf, 100, 0);
	KUNIT_EXPECT_EQ(test, ftl_wbuf_admit(&wbuf, NR_UNITS + 1, 7), 100ULL);
	KUNIT_EXPECT_EQ(test, ftl_wbuf_admit(&wbuf, NR_UNITS + 1, 200), 200ULL);
}

/* The ring is used many times over, with ends that come out of order. */
static void ends_stay_sorted(struct kunit *test)
{
	struct ftl_wbuf wbuf = make_wbuf(test);
	u64 last_ns = 0;

	for (u32 i = 0; i < 1000; i++) {
		u64 at_ns = ftl_wbuf_admit(&wbuf, 1, i * 10);

		KUNIT_ASSERT_GE(test, at_ns, last_ns);
		KUNIT_ASSERT_LE(test, wbuf.nr_programs, NR_UNITS - 1U);
		for (u32 j = 1; j < wbuf.nr_programs; j++)
			KUNIT_ASSERT_LE(test, program_at(&wbuf, j - 1)->end_ns,
					program_at(&wbuf, j)->end_ns);
		last_ns = at_ns;
		ftl_wbuf_program(&wbuf, at_ns + (i * 37) % 101, 0);
	}
}

/* Of the first die, what ends after 100 ends 60 later. */
static void programs_that_are_put_off_change_places(struct kunit *test)
{
	struct ftl_wbuf wbuf = make_wbuf(test);

	ftl_wbuf_program(&wbuf, 100, 0);
	ftl_wbuf_program(&wbuf, 110, 0);
	ftl_wbuf_program(&wbuf, 150, 1);
	ftl_wbuf_delay(&wbuf, 0, 100, 60);
	KUNIT_EXPECT_EQ(test, program_at(&wbuf, 0)->end_ns, 100ULL);
	KUNIT_EXPECT_EQ(test, program_at(&wbuf, 1)->end_ns, 150ULL);
	KUNIT_EXPECT_EQ(test, program_at(&wbuf, 2)->end_ns, 170ULL);
	KUNIT_EXPECT_EQ(test, program_at(&wbuf, 2)->die, 0U);
}

static struct kunit_case wbuf_cases[] = {
	KUNIT_CASE(programs_that_are_put_off_change_places),
	KUNIT_CASE(unit_enters_at_once_while_there_is_room),
	KUNIT_CASE(unit_waits_for_the_program_that_ends_first),
	KUNIT_CASE(units_do_not_overtake_each_other),
	KUNIT_CASE(open_units_alone_do_not_block),
	KUNIT_CASE(ends_stay_sorted),
	{}
};

static struct kunit_suite wbuf_suite = {
	.name = "nvmev_wbuf",
	.test_cases = wbuf_cases,
};

kunit_test_suite(wbuf_suite);

MODULE_DESCRIPTION("Room in the FTL's write buffer");
MODULE_LICENSE("GPL");
