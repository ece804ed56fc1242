// SPDX-License-Identifier: GPL-2.0-only
/* Berths: every rule by which a write gets one, and what is kept of it. */
#include <kunit/test.h>

#include "../core/lanes.c"

#define FILE_A	((struct dmda_file){ .id = 0xa })

/* A power of two, and shapes that are none; units of one page, too */
static const struct dmda_lanes shapes[] = {
	{ .nr = 8, .unit_pages = 8 }, { .nr = 3, .unit_pages = 5 },
	{ .nr = 126, .unit_pages = 4096 }, { .nr = 2, .unit_pages = 1 },
};

static const struct dmda_lanes eight = { .nr = 8, .unit_pages = 8 };

static const struct dmda_moorings nothing = { .before = DMDA_BERTH_NONE };

static struct dmda_run run_of(struct dmda_file file, u64 fpage, u64 dpn, u32 nr_pages)
{
	return (struct dmda_run){ .file = file, .fpage = fpage, .dpn = to_dpn(dpn),
				  .nr_pages = nr_pages };
}

static struct dmda_verdict verdict_of(enum dmda_hint hint, u64 pred)
{
	return (struct dmda_verdict){ .hint = hint, .pred = to_dpn(pred) };
}

static struct dmda_verdict plain_verdict(enum dmda_hint hint)
{
	return (struct dmda_verdict){ .hint = hint, .pred = DPN_NONE };
}

static void expect(struct kunit *test, struct dmda_berth berth, u32 first, u32 nr_pages)
{
	KUNIT_EXPECT_EQ(test, berth.first, first);
	KUNIT_EXPECT_EQ(test, berth.nr_pages, nr_pages);
}

static void what_is_kept_goes_on_from_page_to_page(struct kunit *test)
{
	static const u64 dpns[] = { 0, 1, 7, 4095, 1ULL << 32, (1ULL << 60) - 3 };

	for (u32 i = 0; i < ARRAY_SIZE(shapes); i++) {
		u32 stripe = shapes[i].nr * shapes[i].unit_pages;

		for (u32 j = 0; j < ARRAY_SIZE(dpns); j++) {
			u64 value = dmda_lanes_value(&shapes[i], to_dpn(dpns[j]), stripe - 1);

			KUNIT_ASSERT_GE(test, value, dpns[j]);
			KUNIT_ASSERT_LT(test, value, dpns[j] + stripe);
			for (u32 k = 0; k < 3 * stripe; k += 1 + stripe / 64) {
				u32 berth = (stripe - 1 + k) % stripe;
				dpn_t dpn = to_dpn(dpns[j] + k);

				KUNIT_ASSERT_EQ(test, dmda_lanes_berth(&shapes[i], value + k),
						berth);
				KUNIT_ASSERT_EQ(test, dmda_lanes_value(&shapes[i], dpn, berth),
						value + k);
			}
		}
	}
}

static void an_append_goes_on_behind_its_predecessor(struct kunit *test)
{
	struct dmda_run run = run_of(FILE_A, 10, 500, 4);
	struct dmda_verdict append = verdict_of(DMDA_HINT_APPEND, 77);
	struct dmda_moorings known = nothing;

	known.before = 9;
	expect(test, dmda_lanes_choose(&eight, &run, &append, &known), 10, 4);
	/* Three pages are left in the unit; then the next lane, after the last one the first. */
	known.before = 12;
	expect(test, dmda_lanes_choose(&eight, &run, &append, &known), 13, 3);
	known.before = 15;
	expect(test, dmda_lanes_choose(&eight, &run, &append, &known), 16, 4);
	known.before = 63;
	expect(test, dmda_lanes_choose(&eight, &run, &append, &known), 0, 4);
	/* What lies at the place that it is written to is somebody else's. */
	known.here = (struct dmda_berth){ .first = 30, .nr_pages = 1 };
	expect(test, dmda_lanes_choose(&eight, &run, &append, &known), 0, 4);
}

static void files_begin_one_lane_further_each(struct kunit *test)
{
	struct dmda_run run = run_of(FILE_A, 0, 500, 20);
	struct dmda_verdict begin = plain_verdict(DMDA_HINT_APPEND);
	struct dmda_moorings known = nothing;

	KUNIT_EXPECT_TRUE(test, dmda_lanes_begins(&begin));
	for (known.turn = U32_MAX - 20; known.turn != 20; known.turn++)
		expect(test, dmda_lanes_choose(&eight, &run, &begin, &known),
		       known.turn % 8 * 8, 8);
	begin.pred = to_dpn(0);
	KUNIT_EXPECT_FALSE(test, dmda_lanes_begins(&begin));
	begin = plain_verdict(DMDA_HINT_OVERWRITE);
	KUNIT_EXPECT_FALSE(test, dmda_lanes_begins(&begin));
}

static void an_overwrite_stays_where_its_page_is(struct kunit *test)
{
	struct dmda_run run = run_of(FILE_A, 10, 500, 6);
	struct dmda_verdict over = plain_verdict(DMDA_HINT_OVERWRITE);
	struct dmda_moorings known = nothing;

	known.here = (struct dmda_berth){ .first = 26, .nr_pages = 100 };
	expect(test, dmda_lanes_choose(&eight, &run, &over, &known), 26, 6);
	known.here.first = 28;
	expect(test, dmda_lanes_choose(&eight, &run, &over, &known), 28, 4);
	/* Only so far as the berths go on from there */
	known.here.nr_pages = 3;
	expect(test, dmda_lanes_choose(&eight, &run, &over, &known), 28, 3);
}

/* Pieces of a file, in any order, of which no berth is known: as if it had been written in order */
static void what_is_not_known_goes_by_the_place_in_the_file(struct kunit *test)
{
	for (u32 i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct dmda_lanes *lanes = &shapes[i];
		u32 stripe = lanes->nr * lanes->unit_pages;
		struct dmda_run run = run_of(FILE_A, 0, 77, 1);
		struct dmda_verdict verdicts[] = {
			plain_verdict(DMDA_HINT_NONE), plain_verdict(DMDA_HINT_OVERWRITE),
			verdict_of(DMDA_HINT_APPEND, 8),
		};
		u32 base = FILE_A.id % lanes->nr * lanes->unit_pages;

		for (run.fpage = 0; run.fpage < 2 * stripe; run.fpage += 1 + stripe / 100) {
			for (u32 j = 0; j < ARRAY_SIZE(verdicts); j++)
				expect(test, dmda_lanes_choose(lanes, &run, &verdicts[j], &nothing),
				       (base + run.fpage) % stripe, 1);
		}
	}
}

static void pages_of_unknown_files_stay_or_go_by_their_place_on_the_device(struct kunit *test)
{
	struct dmda_run run = run_of(DMDA_ANONYMOUS, 0, 6 * 64 + 13, 20);
	struct dmda_verdict none = plain_verdict(DMDA_HINT_NONE);
	struct dmda_verdict append = verdict_of(DMDA_HINT_APPEND, 6 * 64 + 12);
	struct dmda_moorings known = nothing;

	/* It may be anything, and nobody needs it in order: the device does as it likes. */
	expect(test, dmda_lanes_choose(&eight, &run, &none, &known), DMDA_BERTH_NONE, 20);
	expect(test, dmda_lanes_choose(&eight, &run, &append, &known), 13, 3);
	known.before = 31;
	expect(test, dmda_lanes_choose(&eight, &run, &append, &known), 32, 8);
	known.here = (struct dmda_berth){ .first = 2, .nr_pages = 64 };
	expect(test, dmda_lanes_choose(&eight, &run, &none, &known), 2, 6);
	expect(test, dmda_lanes_choose(&eight, &run, &append, &known), 2, 6);
}

/* Whatever is written and known: the berth exists, and no piece goes beyond its unit. */
static void no_choice_is_beyond_its_unit(struct kunit *test)
{
	static const u32 lengths[] = { 1, 2, 7, 8, 9, 4096, 1U << 20 };
	static const u64 fpages[] = { 0, 1, 12, (1ULL << 52) - 1 };

	u32 nr = ARRAY_SIZE(shapes) * ARRAY_SIZE(lengths) * ARRAY_SIZE(fpages) * 3;

	for (u32 i = 0; i < nr; i++) {
		const struct dmda_lanes *lanes = &shapes[i % ARRAY_SIZE(shapes)];
		u32 rest = i / ARRAY_SIZE(shapes), stripe = lanes->nr * lanes->unit_pages;
		u32 length = lengths[rest % ARRAY_SIZE(lengths)];
		u64 fpage = fpages[rest / ARRAY_SIZE(lengths) % ARRAY_SIZE(fpages)];
		enum dmda_hint hint = rest / ARRAY_SIZE(lengths) / ARRAY_SIZE(fpages);
		struct dmda_file file = { .id = ~0ULL - i };
		struct dmda_run run = run_of(file, fpage, ~0ULL >> 4, length);

		for (u32 before = 0; before < stripe; before += 1 + stripe / 50) {
			struct dmda_verdict verdict = verdict_of(hint, 5);
			struct dmda_moorings known = {
				.before = before, .here = { .first = before, .nr_pages = i % 5 } };
			struct dmda_berth berth = dmda_lanes_choose(lanes, &run, &verdict, &known);

			KUNIT_ASSERT_LT(test, berth.first, stripe);
			KUNIT_ASSERT_GE(test, berth.nr_pages, 1U);
			KUNIT_ASSERT_LE(test, berth.nr_pages, length);
			KUNIT_ASSERT_LE(test, berth.first % lanes->unit_pages + berth.nr_pages,
					lanes->unit_pages);
		}
	}
}

static struct kunit_case lanes_cases[] = {
	KUNIT_CASE(what_is_kept_goes_on_from_page_to_page),
	KUNIT_CASE(an_append_goes_on_behind_its_predecessor),
	KUNIT_CASE(files_begin_one_lane_further_each),
	KUNIT_CASE(an_overwrite_stays_where_its_page_is),
	KUNIT_CASE(what_is_not_known_goes_by_the_place_in_the_file),
	KUNIT_CASE(pages_of_unknown_files_stay_or_go_by_their_place_on_the_device),
	KUNIT_CASE(no_choice_is_beyond_its_unit),
	{}
};

static struct kunit_suite lanes_suite = {
	.name = "dm_dieaware_lanes",
	.test_cases = lanes_cases,
};

kunit_test_suite(lanes_suite);

MODULE_DESCRIPTION("Where writes go when the host chooses it");
MODULE_LICENSE("GPL");
