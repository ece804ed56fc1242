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
#include "../core/policy.c"
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

static void what_is_stuck_is_no_candidate_until_it_is_free(struct kunit *test)
{
	struct table *table = new_table(test);
	struct dmda_candidate found[1];

	fill_segment(test, table, 0, 10, 1);
	fill_segment(test, table, 1, 20, 1);
	for (u32 i = 0; i < 2; i++) {
		dmda_segments_stick(&table->segments, to_seg(0), DMDA_STUCK_WRONG);
		KUNIT_EXPECT_NULL(test, dmda_segments_check(&table->segments));
		KUNIT_ASSERT_EQ(test, dmda_victim_candidates(&table->segments, 100,
							     DMDA_POLICY_GREEDY, found, 1), 1U);
		KUNIT_EXPECT_EQ(test, from_seg(found[0].seg), 1U);
	}
	/* It loses what it has, as others do. */
	KUNIT_ASSERT_NULL(test, change_valid(table, DMDA_RECORD_DEAD, 0, 0, 9));
	KUNIT_EXPECT_NULL(test, dmda_segments_check(&table->segments));
	KUNIT_ASSERT_NULL(test, change_valid(table, DMDA_RECORD_DEAD, 0, 9, 1));
	KUNIT_EXPECT_EQ(test, table->segments.nr_empty, 1U);
	KUNIT_ASSERT_NULL(test, change_state_of(table, DMDA_RECORD_FREE, 0, 0));
	KUNIT_EXPECT_EQ(test, table->segments.nr_wrong, 0U);
	fill_segment(test, table, 0, 10, 1);
	KUNIT_EXPECT_NULL(test, dmda_segments_check(&table->segments));
	KUNIT_ASSERT_EQ(test, dmda_victim_candidates(&table->segments, 100, DMDA_POLICY_GREEDY,
						     found, 1), 1U);
	KUNIT_EXPECT_EQ(test, from_seg(found[0].seg), 0U);
}

static void what_could_not_be_read_is_one_again_when_that_is_forgotten(struct kunit *test)
{
	struct table *table = new_table(test);
	struct dmda_candidate found[3];

	for (u32 i = 0; i < 3; i++) {
		fill_segment(test, table, i, 10 * (i + 1), 1);
		dmda_segments_stick(&table->segments, to_seg(i), DMDA_STUCK_UNREAD);
	}
	dmda_segments_stick(&table->segments, to_seg(1), DMDA_STUCK_WRONG);
	/* What is wrong was read. */
	dmda_segments_stick(&table->segments, to_seg(1), DMDA_STUCK_UNREAD);
	KUNIT_EXPECT_EQ(test, table->segments.nr_unread, 2U);
	KUNIT_EXPECT_EQ(test, table->segments.nr_wrong, 1U);
	KUNIT_EXPECT_EQ(test, dmda_victim_candidates(&table->segments, 100, DMDA_POLICY_GREEDY,
						     found, 3), 0U);
	/* One that was emptied meanwhile has no rank. */
	KUNIT_ASSERT_NULL(test, change_valid(table, DMDA_RECORD_DEAD, 0, 0, 10));
	dmda_segments_unstick(&table->segments, 0, table->segments.nr_segments);
	KUNIT_EXPECT_EQ(test, table->segments.nr_unread, 0U);
	KUNIT_EXPECT_EQ(test, table->segments.nr_wrong, 1U);
	KUNIT_EXPECT_NULL(test, dmda_segments_check(&table->segments));
	KUNIT_ASSERT_EQ(test, dmda_victim_candidates(&table->segments, 100, DMDA_POLICY_GREEDY,
						     found, 3), 1U);
	KUNIT_EXPECT_EQ(test, from_seg(found[0].seg), 2U);
}

static void what_is_free_is_not_among_what_could_not_be_read(struct kunit *test)
{
	struct table *table = new_table(test);

	fill_segment(test, table, 0, 10, 1);
	dmda_segments_stick(&table->segments, to_seg(0), DMDA_STUCK_UNREAD);
	KUNIT_EXPECT_EQ(test, table->segments.nr_unread, 1U);
	KUNIT_EXPECT_EQ(test, table->segments.nr_wrong, 0U);
	KUNIT_ASSERT_NULL(test, change_valid(table, DMDA_RECORD_DEAD, 0, 0, 10));
	KUNIT_ASSERT_NULL(test, change_state_of(table, DMDA_RECORD_FREE, 0, 0));
	KUNIT_EXPECT_EQ(test, table->segments.nr_unread, 0U);
	KUNIT_EXPECT_NULL(test, dmda_segments_check(&table->segments));
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

		if (segment->nr_valid < DATA_PAGES)
			best = max(best, worth_of(segment, DATA_PAGES, now_seq, policy));
	}
	return best;
}

static void of_many_the_best_are_found(struct kunit *test)
{
	struct table *table = new_large_table(test);
	struct dmda_candidate found[32];
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
	dmda_victim_candidates(&table->segments, NR_MANY, DMDA_POLICY_FILE_AWARE, found, 1);
	best = best_of_all(table, NR_MANY, DMDA_POLICY_FILE_AWARE);
	KUNIT_EXPECT_EQ(test, found[0].worth, best);
}

/* A power of two has its logarithm, and between two of them nothing goes back. */
static void logarithms_grow(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, log_of(1), 0U);
	KUNIT_EXPECT_EQ(test, log_of(3), 3U << (LOG_SHIFT - 1));
	KUNIT_EXPECT_EQ(test, log_of(1ULL << 40), 40U << LOG_SHIFT);
	for (u64 x = 1; x < 70000; x++)
		KUNIT_ASSERT_LT(test, log_of(x), log_of(x + 1));
}

/* What is 32 times as old weighs 4 times as much, where the age as it is would weigh 32 times. */
static void the_age_of_file_aware_is_damped(struct kunit *test)
{
	struct table *table = new_table(test);
	struct dmda_candidate found[3];

	fill_segment(test, table, 0, DATA_PAGES - 10, NR_MANY - 31);
	fill_segment(test, table, 1, DATA_PAGES - 3, NR_MANY - 1023);
	fill_segment(test, table, 2, DATA_PAGES - 2, NR_MANY - 1023);
	KUNIT_ASSERT_EQ(test, dmda_victim_candidates(&table->segments, NR_MANY,
						     DMDA_POLICY_COST_BENEFIT, found, 3), 3U);
	KUNIT_EXPECT_EQ(test, from_seg(found[2].seg), 0U);
	KUNIT_ASSERT_EQ(test, dmda_victim_candidates(&table->segments, NR_MANY,
						     DMDA_POLICY_FILE_AWARE, found, 3), 3U);
	KUNIT_EXPECT_EQ(test, from_seg(found[0].seg), 1U);
	KUNIT_EXPECT_EQ(test, from_seg(found[1].seg), 0U);
	KUNIT_EXPECT_EQ(test, from_seg(found[2].seg), 2U);
}

/* However many are worth more: cleaning in idle time leaves what is nearly full as it is. */
static void what_has_too_many_valid_pages_is_left_out(struct kunit *test)
{
	static const enum dmda_policy policies[] = {
		DMDA_POLICY_GREEDY, DMDA_POLICY_COST_BENEFIT, DMDA_POLICY_FILE_AWARE,
	};
	struct table *table = new_table_of(test, 4 * SMALL_DEVICE_PAGES);
	const u32 nr_full = 64, max_valid = DATA_PAGES / 4 * 3;
	struct dmda_candidate found[32];

	KUNIT_ASSERT_GT(test, table->segments.nr_segments, nr_full + 2);
	for (u32 seg = 0; seg < nr_full; seg++)
		fill_segment(test, table, seg, max_valid + 1 + seg % 8, 1);
	fill_segment(test, table, nr_full, max_valid, NR_MANY - 1);
	fill_segment(test, table, nr_full + 1, max_valid + 1, NR_MANY - 1);
	for (u32 i = 0; i < ARRAY_SIZE(policies); i++) {
		KUNIT_ASSERT_EQ(test, dmda_victim_find(&table->segments, NR_MANY, policies[i],
						       max_valid, found, ARRAY_SIZE(found)), 1U);
		KUNIT_EXPECT_EQ(test, from_seg(found[0].seg), nr_full);
	}
	KUNIT_ASSERT_EQ(test, dmda_victim_candidates(&table->segments, NR_MANY,
						     DMDA_POLICY_FILE_AWARE, found,
						     ARRAY_SIZE(found)), ARRAY_SIZE(found));
	for (u32 i = 0; i < ARRAY_SIZE(found); i++)
		KUNIT_EXPECT_NE(test, from_seg(found[i].seg), nr_full);
}

/*
 * A device that is overwritten and cleaned
 */

#define LOAD_SEGMENTS	200U
#define LOAD_PAGES	(LOAD_SEGMENTS * DATA_PAGES * 6 / 10)
#define LOAD_WRITES	(12 * LOAD_PAGES)
#define LOAD_FREE	6U

/**
 * struct load - what is written where
 * @table: the segments
 * @place: by page: segment * DATA_PAGES + place in it
 * @page: by place: the page that was last written there
 * @open: the segment that is filled by writes, and the one by moves
 * @next: its next place
 * @mtime: age of the newest data in it
 * @random: state of the random numbers
 * @is_skewed: whether some pages are overwritten more often than others
 * @nr_moved: pages that were moved
 */
struct load {
	struct table *table;
	u32 *place;
	u32 *page;
	u32 open[2];
	u32 next[2];
	u64 mtime[2];
	u64 random;
	bool is_skewed;
	u64 nr_moved;
};

static u32 random_below(struct load *load, u32 nr)
{
	load->random = load->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (load->random >> 33) % nr;
}

/* Four of five go to a fifth of the pages, four of five of these to a fifth of that, and so on. */
static u32 draw(struct load *load)
{
	u32 first = 0, nr = LOAD_PAGES;

	while (load->is_skewed && nr > 10) {
		if (random_below(load, 5) == 0) {
			first += nr / 5;
			nr -= nr / 5;
			break;
		}
		nr /= 5;
	}
	return first + random_below(load, nr);
}

static void open_next(struct kunit *test, struct load *load, u32 stream)
{
	struct dmda_segments *segments = &load->table->segments;
	const struct dmda_record record = {
		.kind = DMDA_RECORD_OPEN, .seg = dmda_segments_find_free(segments), .open = stream,
	};

	KUNIT_ASSERT_NE(test, from_seg(record.seg), from_seg(SEG_NONE));
	KUNIT_ASSERT_NULL(test, apply(load->table, &record));
	load->open[stream] = from_seg(record.seg);
	load->next[stream] = 0;
	load->mtime[stream] = 0;
}

static void write_page(struct kunit *test, struct load *load, u32 stream, u32 page, u64 mtime)
{
	u32 old = load->place[page], to;

	if (load->next[stream] == DATA_PAGES) {
		KUNIT_ASSERT_NULL(test, change_state_of(load->table, DMDA_RECORD_CLOSE,
							load->open[stream], load->mtime[stream]));
		open_next(test, load, stream);
	}
	to = load->open[stream] * DATA_PAGES + load->next[stream]++;
	if (old != U32_MAX)
		KUNIT_ASSERT_NULL(test, change_valid(load->table, DMDA_RECORD_DEAD,
						     old / DATA_PAGES, old % DATA_PAGES, 1));
	KUNIT_ASSERT_NULL(test, change_valid(load->table, DMDA_RECORD_MAP, to / DATA_PAGES,
					     to % DATA_PAGES, 1));
	load->place[page] = to;
	load->page[to] = page;
	load->mtime[stream] = max(load->mtime[stream], mtime);
}

static void clean_one(struct kunit *test, struct load *load, enum dmda_policy policy)
{
	struct dmda_segments *segments = &load->table->segments;
	struct dmda_candidate victim;
	u32 seg, first;
	u64 mtime;

	KUNIT_ASSERT_EQ(test, dmda_victim_candidates(segments, load->table->seq, policy, &victim,
						     1), 1U);
	seg = from_seg(victim.seg);
	first = seg * DATA_PAGES;
	mtime = segments->segment[seg].mtime;
	for (u32 i = first; i < first + DATA_PAGES; i++) {
		if (load->place[load->page[i]] != i)
			continue;
		write_page(test, load, 1, load->page[i], mtime);
		load->nr_moved++;
	}
}

/* What has become empty without it is free as well. */
static void free_empty(struct kunit *test, struct load *load)
{
	struct dmda_segments *segments = &load->table->segments;

	for (u32 seg = 0; segments->nr_empty && seg < LOAD_SEGMENTS; seg++) {
		const struct dmda_segment *segment = &segments->segment[seg];

		if (segment->state == DMDA_SEGMENT_CLOSED && !segment->nr_valid)
			KUNIT_ASSERT_NULL(test, change_state_of(load->table, DMDA_RECORD_FREE, seg,
								0));
	}
}

static struct load *new_load(struct kunit *test, bool is_skewed)
{
	struct load *load = kunit_kzalloc(test, sizeof(*load), GFP_KERNEL);
	u64 nr_pages = (LOAD_SEGMENTS + 8) * SEGMENT_PAGES;

	KUNIT_ASSERT_NOT_NULL(test, load);
	load->table = new_table_of(test, nr_pages);
	load->table->segments.nr_segments = LOAD_SEGMENTS;
	load->table->segments.nr_free = LOAD_SEGMENTS;
	load->place = kunit_kcalloc(test, LOAD_PAGES, sizeof(*load->place), GFP_KERNEL);
	load->page = kunit_kcalloc(test, LOAD_SEGMENTS * DATA_PAGES, sizeof(*load->page),
				   GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, load->place);
	KUNIT_ASSERT_NOT_NULL(test, load->page);
	memset(load->place, 0xff, LOAD_PAGES * sizeof(*load->place));
	load->random = 1;
	load->is_skewed = is_skewed;
	return load;
}

/* Return: pages that cleaning moves for 1000 that are written, in the second half of it all. */
static u32 moved_by(struct kunit *test, enum dmda_policy policy, bool is_skewed)
{
	struct load *load = new_load(test, is_skewed);

	open_next(test, load, 0);
	open_next(test, load, 1);
	for (u32 i = 0; i < LOAD_PAGES; i++)
		write_page(test, load, 0, i, load->table->seq);
	for (u32 i = 0; i < LOAD_WRITES; i++) {
		if (i == LOAD_WRITES / 2)
			load->nr_moved = 0;
		write_page(test, load, 0, draw(load), load->table->seq);
		free_empty(test, load);
		while (load->table->segments.nr_free < LOAD_FREE) {
			clean_one(test, load, policy);
			free_empty(test, load);
		}
	}
	return div_u64(load->nr_moved * 1000, LOAD_WRITES / 2);
}

/* Where all pages are alike, nothing beats greedy: then it moves hardly more than that. */
static void file_aware_moves_least(struct kunit *test)
{
	u32 skewed[3], uniform[3];

	for (u32 policy = 0; policy < ARRAY_SIZE(skewed); policy++) {
		skewed[policy] = moved_by(test, policy, true);
		uniform[policy] = moved_by(test, policy, false);
		kunit_info(test, "%s moves %u of 1000, or %u if all pages are alike",
			   dmda_policy_name(policy), skewed[policy], uniform[policy]);
	}
	KUNIT_EXPECT_LT(test, skewed[DMDA_POLICY_FILE_AWARE] * 100,
			skewed[DMDA_POLICY_GREEDY] * 92);
	KUNIT_EXPECT_LT(test, skewed[DMDA_POLICY_FILE_AWARE] * 100,
			skewed[DMDA_POLICY_COST_BENEFIT] * 85);
	KUNIT_EXPECT_LT(test, uniform[DMDA_POLICY_FILE_AWARE] * 100,
			uniform[DMDA_POLICY_GREEDY] * 107);
	KUNIT_EXPECT_LT(test, uniform[DMDA_POLICY_FILE_AWARE],
			uniform[DMDA_POLICY_COST_BENEFIT]);
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

			dmda_summary_put(&summary->entry[page], &written, 0);
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
	KUNIT_CASE(what_is_stuck_is_no_candidate_until_it_is_free),
	KUNIT_CASE(what_could_not_be_read_is_one_again_when_that_is_forgotten),
	KUNIT_CASE(what_is_free_is_not_among_what_could_not_be_read),
	KUNIT_CASE(cost_benefit_prefers_what_lay_still),
	KUNIT_CASE(of_many_the_best_are_found),
	KUNIT_CASE(logarithms_grow),
	KUNIT_CASE(the_age_of_file_aware_is_damped),
	KUNIT_CASE(what_has_too_many_valid_pages_is_left_out),
	KUNIT_CASE(file_aware_moves_least),
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
