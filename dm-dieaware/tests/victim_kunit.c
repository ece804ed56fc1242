// SPDX-License-Identifier: GPL-2.0-only
/* Which segments are cleaned, and the table that says what they hold. */
#include <kunit/test.h>

#include "../core/block.c"
#include "../core/super.c"
#include "../core/record.c"
#include "../core/bitset.c"
#include "../core/ranks.c"
#include "../core/segments.c"
#include "../core/summary.c"
#include "../core/victim.c"
#include "small_device.h"

/**
 * struct table - a segment table
 * @super: of the device
 * @segments: the table
 * @seq: last operation
 */
struct table {
	struct dmda_super super;
	struct dmda_segments segments;
	u64 seq;
};

static struct table *new_table_of(struct kunit *test, u64 nr_device_pages)
{
	struct table *table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);
	void *memory;

	KUNIT_ASSERT_NOT_NULL(test, table);
	make_device(test, &table->super, nr_device_pages, SEGMENT_PAGES);
	memory = kunit_kzalloc(test, dmda_segments_bytes(&table->super), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	dmda_segments_init(&table->segments, &table->super, memory);
	return table;
}

static struct table *new_table(struct kunit *test)
{
	return new_table_of(test, SMALL_DEVICE_PAGES);
}

static const char *apply(struct table *table, const struct dmda_record *record)
{
	const char *why = dmda_segments_apply(&table->segments, record, ++table->seq);

	if (!why)
		dmda_segments_applied(&table->segments, record, table->seq, 1);
	return why;
}

static const char *change_state_of(struct table *table, u8 kind, u32 seg, u64 mtime)
{
	const struct dmda_record record = { .kind = kind, .seg = to_seg(seg), .mtime = mtime };

	return apply(table, &record);
}

static const char *change_valid(struct table *table, u8 kind, u32 seg, u32 page, u32 nr_pages)
{
	u64 first = from_dpn(dmda_super_segment_dpn(&table->super, to_seg(seg)));
	const struct dmda_record record = {
		.kind = kind, .dpn = to_dpn(first + page), .nr_pages = nr_pages,
	};

	return apply(table, &record);
}

/* A closed segment. */
static void fill_segment(struct kunit *test, struct table *table, u32 seg, u32 nr_valid,
			 u64 mtime)
{
	KUNIT_ASSERT_NULL(test, change_state_of(table, DMDA_RECORD_OPEN, seg, 0));
	if (nr_valid)
		KUNIT_ASSERT_NULL(test, change_valid(table, DMDA_RECORD_MAP, seg, 0, nr_valid));
	KUNIT_ASSERT_NULL(test, change_state_of(table, DMDA_RECORD_CLOSE, seg, mtime));
}

static void greedy_takes_the_emptiest(struct kunit *test)
{
	struct table *table = new_table(test);
	struct dmda_candidate found[3];

	fill_segment(test, table, 0, 50, 1);
	fill_segment(test, table, 1, 0, 1);
	fill_segment(test, table, 2, 10, 1);
	fill_segment(test, table, 3, DATA_PAGES, 1);
	fill_segment(test, table, 4, 20, 1);
	fill_segment(test, table, 5, 5, 1);
	KUNIT_ASSERT_NULL(test, change_state_of(table, DMDA_RECORD_OPEN, 6, 0));
	KUNIT_ASSERT_EQ(test, dmda_victim_candidates(&table->segments, 100, DMDA_POLICY_GREEDY,
						     found, 3), 3U);
	KUNIT_EXPECT_EQ(test, from_seg(found[0].seg), 5U);
	KUNIT_EXPECT_EQ(test, from_seg(found[1].seg), 2U);
	KUNIT_EXPECT_EQ(test, from_seg(found[2].seg), 4U);
}

static void cost_benefit_prefers_what_lay_still(struct kunit *test)
{
	struct table *table = new_table(test);
	struct dmda_candidate found[3];

	fill_segment(test, table, 0, 20, 1000);
	fill_segment(test, table, 1, 30, 10);
	fill_segment(test, table, 2, 20, 10);
	KUNIT_ASSERT_EQ(test, dmda_victim_candidates(&table->segments, 1001,
						     DMDA_POLICY_COST_BENEFIT, found, 3), 3U);
	KUNIT_EXPECT_EQ(test, from_seg(found[0].seg), 2U);
	KUNIT_EXPECT_EQ(test, from_seg(found[1].seg), 1U);
	KUNIT_EXPECT_EQ(test, from_seg(found[2].seg), 0U);
}

#define NR_MANY	2000U

/* Closed ones of all ages, in whose lists others came first than after a start */
static struct table *new_large_table(struct kunit *test)
{
	struct table *table = new_table_of(test, (NR_MANY + 100) * SEGMENT_PAGES);
	u32 random = 1;

	KUNIT_ASSERT_GE(test, table->segments.nr_segments, NR_MANY);
	for (u32 seg = 0; seg < NR_MANY; seg++) {
		random = random * 1103515245 + 12345;
		fill_segment(test, table, seg, 10 + (random >> 8) % (DATA_PAGES - 9),
			     (random >> 16) % NR_MANY);
	}
	return table;
}

/* What a walk through all of them finds */
static u64 best_of_all(const struct table *table, u64 now_seq, enum dmda_policy policy)
{
	u64 best = 0;

	for (u32 seg = 0; seg < NR_MANY; seg++) {
		const struct dmda_segment *segment = &table->segments.segment[seg];
		u64 worth = policy == DMDA_POLICY_GREEDY ?
			worth_greedy(DATA_PAGES, segment) :
			worth_cost_benefit(DATA_PAGES, segment, now_seq);

		best = max(best, worth);
	}
	return best;
}

static void of_many_the_best_are_found(struct kunit *test)
{
	struct table *table = new_large_table(test);
	struct dmda_candidate found[DMDA_MAX_CANDIDATES];
	u64 best;

	KUNIT_ASSERT_EQ(test, dmda_victim_candidates(&table->segments, NR_MANY, DMDA_POLICY_GREEDY,
						     found, ARRAY_SIZE(found)), ARRAY_SIZE(found));
	KUNIT_EXPECT_EQ(test, found[0].worth, best_of_all(table, NR_MANY, DMDA_POLICY_GREEDY));
	KUNIT_EXPECT_GE(test, found[ARRAY_SIZE(found) - 1].worth + 1, found[0].worth);

	dmda_segments_sort(&table->segments);
	KUNIT_EXPECT_NULL(test, dmda_segments_check(&table->segments));
	KUNIT_ASSERT_EQ(test, dmda_victim_candidates(&table->segments, NR_MANY,
						     DMDA_POLICY_COST_BENEFIT, found,
						     ARRAY_SIZE(found)), ARRAY_SIZE(found));
	best = best_of_all(table, NR_MANY, DMDA_POLICY_COST_BENEFIT);
	KUNIT_EXPECT_EQ(test, found[0].worth, best);
}

static void nothing_to_clean_is_no_candidate(struct kunit *test)
{
	struct table *table = new_table(test);
	struct dmda_candidate found;

	fill_segment(test, table, 0, 0, 1);
	fill_segment(test, table, 1, DATA_PAGES, 1);
	KUNIT_EXPECT_EQ(test, dmda_victim_candidates(&table->segments, 100, DMDA_POLICY_GREEDY,
						     &found, 1), 0U);
}

/**
 * struct pieces_case - files of consecutive pages
 * @files: a letter for each page; upper case: valid, lower case: not, ".": unknown
 * @nr_pieces: pieces that cleaning would save
 */
struct pieces_case {
	const char *files;
	u32 nr_pieces;
};

static const struct pieces_case pieces_cases[] = {
	{ "", 0 },
	{ "AAAA", 0 },
	{ "AABB", 0 },
	{ "ABAB", 2 },
	{ "AABA", 1 },
	{ "AbbA", 1 },
	{ "AaaA", 1 },
	{ "aaaa", 0 },
	{ "A..A", 1 },
	{ "....", 0 },
	{ "ABCABCABC", 6 },
};

static void pieces_are_counted_as_the_paper_does(struct kunit *test)
{
	struct dmda_summary_block *summary = kunit_kzalloc(test, sizeof(*summary), GFP_KERNEL);
	u64 slot[16];
	struct dmda_file_set files = { .nr_slots = ARRAY_SIZE(slot), .slot = slot };

	KUNIT_ASSERT_NOT_NULL(test, summary);
	for (u32 i = 0; i < ARRAY_SIZE(pieces_cases); i++) {
		const char *letters = pieces_cases[i].files;
		u32 nr_pages = strlen(letters);
		u64 is_valid = 0;

		for (u32 page = 0; page < nr_pages; page++) {
			bool is_upper = letters[page] <= 'Z';
			const struct dmda_written written = {
				.lpn = to_lpn(page),
				.file = letters[page] == '.' ? 0 : letters[page] & 31,
			};

			dmda_summary_put(summary, page, &written);
			is_valid |= (u64)is_upper << page;
		}
		KUNIT_EXPECT_EQ(test, dmda_victim_pieces(summary, &is_valid, nr_pages, &files),
				pieces_cases[i].nr_pieces);
	}
}

static void what_cannot_happen_to_a_segment_is_refused(struct kunit *test)
{
	struct table *table = new_table(test);
	u32 nr_segments = table->segments.nr_segments;

	KUNIT_EXPECT_NOT_NULL(test, change_valid(table, DMDA_RECORD_MAP, 0, 0, 1));
	KUNIT_EXPECT_NOT_NULL(test, change_valid(table, DMDA_RECORD_DEAD, 0, 0, 1));
	KUNIT_EXPECT_NOT_NULL(test, change_state_of(table, DMDA_RECORD_CLOSE, 0, 0));
	KUNIT_EXPECT_NOT_NULL(test, change_state_of(table, DMDA_RECORD_FREE, 0, 0));
	KUNIT_EXPECT_NOT_NULL(test, change_state_of(table, DMDA_RECORD_OPEN, nr_segments, 0));
	fill_segment(test, table, 0, 10, 0);
	KUNIT_EXPECT_NOT_NULL(test, change_state_of(table, DMDA_RECORD_FREE, 0, 0));
	KUNIT_EXPECT_NOT_NULL(test, change_valid(table, DMDA_RECORD_DEAD, 0, 0, 11));
	KUNIT_EXPECT_NOT_NULL(test, change_valid(table, DMDA_RECORD_DEAD, 0, DATA_PAGES, 1));
	KUNIT_EXPECT_NOT_NULL(test, change_valid(table, DMDA_RECORD_DEAD, 0, 60, 4));
	KUNIT_EXPECT_NULL(test, change_valid(table, DMDA_RECORD_DEAD, 0, 0, 10));
	KUNIT_EXPECT_NULL(test, change_state_of(table, DMDA_RECORD_FREE, 0, 0));
	KUNIT_EXPECT_NULL(test, dmda_segments_check(&table->segments));
}

static struct kunit_case victim_cases[] = {
	KUNIT_CASE(greedy_takes_the_emptiest),
	KUNIT_CASE(cost_benefit_prefers_what_lay_still),
	KUNIT_CASE(of_many_the_best_are_found),
	KUNIT_CASE(nothing_to_clean_is_no_candidate),
	KUNIT_CASE(pieces_are_counted_as_the_paper_does),
	KUNIT_CASE(what_cannot_happen_to_a_segment_is_refused),
	{}
};

static struct kunit_suite victim_suite = {
	.name = "dm_dieaware_victim",
	.test_cases = victim_cases,
};

kunit_test_suite(victim_suite);

MODULE_DESCRIPTION("Which segment is cleaned");
MODULE_LICENSE("GPL");
