// SPDX-License-Identifier: GPL-2.0-only
/*
 * Freeing a segment, step by step: which one may be claimed and when, and that nothing out of order
 * is done. That no page is used again before its loss is durable is the volume suite's to see.
 */
#include <kunit/test.h>

#include "volume.h"

#define NR_PAGES	(SEGMENT_PAGES - SUMMARY_PAGES)

static void write_segment(struct volume *volume, u64 lpn)
{
	u32 nr;

	for (u32 i = 0; i < NR_PAGES; i += nr) {
		dpn_t dpn;

		nr = write_data(volume, DMDA_STREAM_USER, lpn + i, NR_PAGES - i, 1 << 20, &dpn);
		map_data(volume, lpn + i, dpn, nr);
	}
}

/* Its first segment is closed, and empty, by operations that are in the batch. */
static struct volume *volume_with_empty_segment(struct kunit *test)
{
	struct volume *volume = new_volume(test);

	format_volume(volume);
	write_segment(volume, 0);
	write_segment(volume, NR_PAGES);
	commit(volume);
	trim_pages(volume, 0, NR_PAGES);
	KUNIT_ASSERT_EQ(test, volume->segments.nr_empty, 1U);
	return volume;
}

static seg_t find(const struct volume *volume)
{
	u32 from = 0;

	return dmda_free_find(&volume->freeing, &from);
}

static void a_segment_is_claimed_when_its_loss_is_durable_and_nobody_reads(struct kunit *test)
{
	struct volume *volume = volume_with_empty_segment(test);
	struct dmda_freeing *freeing = &volume->freeing;

	KUNIT_EXPECT_EQ(test, from_seg(find(volume)), from_seg(SEG_NONE));
	KUNIT_EXPECT_FALSE(test, dmda_free_claim(freeing, to_seg(0), 0));
	commit(volume);
	KUNIT_EXPECT_EQ(test, from_seg(find(volume)), 0U);
	KUNIT_EXPECT_FALSE(test, dmda_free_claim(freeing, to_seg(0), 1));
	KUNIT_EXPECT_EQ(test, freeing->nr_claimed, 0U);
	KUNIT_EXPECT_TRUE(test, dmda_free_claim(freeing, to_seg(0), 0));
	KUNIT_EXPECT_EQ(test, freeing->nr_claimed, 1U);
}

/* The last page of a closed segment, written elsewhere by what is the journal's last draft then */
static void empty_by_draft(struct volume *volume)
{
	dpn_t dpn;

	trim_pages(volume, 1, NR_PAGES - 1);
	/* So that none has to be opened where the draft is made. */
	open_segment(volume, DMDA_STREAM_USER);
	commit(volume);
	KUNIT_ASSERT_EQ(volume->test, take_places(volume, DMDA_STREAM_USER, 1, &dpn), 1U);
	KUNIT_ASSERT_TRUE(volume->test, make_draft(volume, 0, dpn, 1));
	write_draft(volume, 1 << 20);
	write_tags(volume, dpn, 1, 1 << 20);
	map_data(volume, 0, dpn, 1);
	commit(volume);
	KUNIT_ASSERT_EQ(volume->test, volume->nr_kept, 1U);
	KUNIT_ASSERT_EQ(volume->test, volume->segments.nr_empty, 1U);
}

/* If the draft's data is damaged, a start has that page where it was before. */
static void what_the_last_draft_takes_away_is_kept_until_another_batch(struct kunit *test)
{
	struct volume *volume = new_volume(test);
	struct dmda_commit *journal = &volume->commit;

	format_volume(volume);
	write_segment(volume, 0);
	write_segment(volume, NR_PAGES);
	empty_by_draft(volume);
	KUNIT_EXPECT_TRUE(test, dmda_commit_is_idle(journal));
	KUNIT_EXPECT_EQ(test, from_seg(find(volume)), from_seg(SEG_NONE));
	KUNIT_EXPECT_FALSE(test, dmda_free_claim(&volume->freeing, to_seg(0), 0));
	KUNIT_EXPECT_FALSE(test, dmda_free_may_lose(&volume->freeing, to_seg(0), 0, 0));
	/* Whoever needs it has one written. */
	dmda_commit_end_kept(journal);
	KUNIT_EXPECT_FALSE(test, dmda_commit_is_idle(journal));
	commit(volume);
	KUNIT_EXPECT_TRUE(test, dmda_commit_is_idle(journal));
	KUNIT_EXPECT_EQ(test, from_seg(find(volume)), 0U);
	KUNIT_EXPECT_TRUE(test, dmda_free_may_lose(&volume->freeing, to_seg(0), 0, 0));
	/* Then there is nothing to be had by it. */
	dmda_commit_end_kept(journal);
	KUNIT_EXPECT_TRUE(test, dmda_commit_is_idle(journal));
}

/* So it is behind a power failure: the next one may find that data damaged, by the older root. */
static void what_the_last_draft_takes_away_is_kept_over_a_start(struct kunit *test)
{
	struct volume *volume = new_volume(test);
	struct dmda_op *op = test_memory(test, sizeof(*op));
	struct dmda_journal_place next;

	format_volume(volume);
	write_segment(volume, 0);
	write_segment(volume, NR_PAGES);
	empty_by_draft(volume);
	volume->nr_pending = 0;
	KUNIT_ASSERT_NULL(test, open_volume(volume, volume->stable, op, &next));
	resume_volume(volume, 1);
	KUNIT_ASSERT_EQ(test, volume->segments.nr_empty, 1U);
	KUNIT_EXPECT_EQ(test, from_seg(find(volume)), from_seg(SEG_NONE));
	dmda_commit_end_kept(&volume->commit);
	commit(volume);
	KUNIT_EXPECT_EQ(test, from_seg(find(volume)), 0U);
}

static void others_are_not_claimed(struct kunit *test)
{
	struct volume *volume = volume_with_empty_segment(test);

	commit(volume);
	/* One has valid pages or is open, the other was never used. */
	KUNIT_EXPECT_FALSE(test, dmda_free_claim(&volume->freeing, to_seg(1), 0));
	KUNIT_EXPECT_FALSE(test, dmda_free_claim(&volume->freeing, to_seg(5), 0));
}

static void it_is_one_claimants(struct kunit *test)
{
	struct volume *volume = volume_with_empty_segment(test);
	struct dmda_freeing *freeing = &volume->freeing;

	commit(volume);
	KUNIT_ASSERT_TRUE(test, dmda_free_claim(freeing, to_seg(0), 0));
	KUNIT_EXPECT_EQ(test, from_seg(find(volume)), from_seg(SEG_NONE));
	KUNIT_EXPECT_FALSE(test, dmda_free_claim(freeing, to_seg(0), 0));
	/* The device has failed: it is given up. */
	dmda_free_end(freeing, to_seg(0));
	KUNIT_EXPECT_EQ(test, freeing->nr_claimed, 0U);
	KUNIT_EXPECT_EQ(test, from_seg(find(volume)), 0U);
}

static void it_is_not_free_before_its_discard_has_ended(struct kunit *test)
{
	struct volume *volume = volume_with_empty_segment(test);
	struct dmda_freeing *freeing = &volume->freeing;
	struct dmda_record record;

	commit(volume);
	KUNIT_ASSERT_TRUE(test, dmda_free_claim(freeing, to_seg(0), 0));
	KUNIT_EXPECT_TRUE(test, dmda_free_discard(freeing, to_seg(0)));
	KUNIT_EXPECT_FALSE(test, dmda_free_discard(freeing, to_seg(0)));
	KUNIT_EXPECT_FALSE(test, dmda_free_record(freeing, to_seg(0), &record));
	dmda_free_end(freeing, to_seg(0));
	KUNIT_EXPECT_EQ(test, freeing->nr_claimed, 1U);
	dmda_free_discarded(freeing, to_seg(0));
	KUNIT_EXPECT_TRUE(test, dmda_free_record(freeing, to_seg(0), &record));
	KUNIT_EXPECT_EQ(test, record.kind, DMDA_RECORD_FREE);
	KUNIT_EXPECT_EQ(test, from_seg(record.seg), 0U);
}

static void without_a_claim_there_is_nothing(struct kunit *test)
{
	struct volume *volume = volume_with_empty_segment(test);
	struct dmda_freeing *freeing = &volume->freeing;
	struct dmda_record record;

	commit(volume);
	KUNIT_EXPECT_FALSE(test, dmda_free_discard(freeing, to_seg(0)));
	dmda_free_discarded(freeing, to_seg(0));
	KUNIT_EXPECT_FALSE(test, dmda_free_record(freeing, to_seg(0), &record));
	dmda_free_end(freeing, to_seg(0));
	KUNIT_EXPECT_EQ(test, freeing->nr_claimed, 0U);
}

/* Part of a segment was taken away: the same order holds for that part. */
static void holes_go_when_their_loss_is_durable_and_nobody_reads(struct kunit *test)
{
	struct volume *volume = new_volume(test);
	struct dmda_freeing *freeing = &volume->freeing;

	format_volume(volume);
	write_segment(volume, 0);
	write_segment(volume, NR_PAGES);
	commit(volume);
	trim_pages(volume, 0, 1);
	KUNIT_EXPECT_FALSE(test, dmda_free_may_lose(freeing, to_seg(0), NR_PAGES - 1, 0));
	commit(volume);
	KUNIT_EXPECT_TRUE(test, dmda_free_may_lose(freeing, to_seg(0), NR_PAGES - 1, 0));
	KUNIT_EXPECT_FALSE(test, dmda_free_may_lose(freeing, to_seg(0), NR_PAGES - 1, 1));
	/* What was found is not what the table knows. */
	KUNIT_EXPECT_FALSE(test, dmda_free_may_lose(freeing, to_seg(0), NR_PAGES - 2, 0));
	/* One more goes meanwhile. */
	trim_pages(volume, 1, 1);
	KUNIT_EXPECT_FALSE(test, dmda_free_may_lose(freeing, to_seg(0), NR_PAGES - 1, 0));
	KUNIT_EXPECT_FALSE(test, dmda_free_may_lose(freeing, to_seg(0), NR_PAGES - 2, 0));
	/* An open one still gets pages, a free one has none. */
	KUNIT_EXPECT_FALSE(test, dmda_free_may_lose(freeing, to_seg(5), 0, 0));
}

/* The first segment is free, and the device below was not told of it. */
static struct volume *volume_with_untold_segment(struct kunit *test)
{
	struct volume *volume = volume_with_empty_segment(test);

	commit(volume);
	KUNIT_ASSERT_TRUE(test, dmda_free_claim(&volume->freeing, to_seg(0), 0));
	change_segment(volume, DMDA_RECORD_FREE, to_seg(0), 0, 0);
	dmda_free_end(&volume->freeing, to_seg(0));
	return volume;
}

static void nobody_finds_a_free_segment_while_it_is_discarded(struct kunit *test)
{
	struct volume *volume = volume_with_untold_segment(test);
	struct dmda_freeing *freeing = &volume->freeing;
	u32 nr_free = volume->segments.nr_free;

	KUNIT_EXPECT_EQ(test, from_seg(dmda_free_set_aside(freeing)), 0U);
	KUNIT_EXPECT_EQ(test, freeing->nr_aside, 1U);
	KUNIT_EXPECT_EQ(test, volume->segments.nr_free, nr_free - 1);
	for (u32 i = 0; i < 2 * volume->segments.nr_segments; i++)
		KUNIT_EXPECT_NE(test, from_seg(dmda_segments_find_free(&volume->segments)), 0U);
	KUNIT_EXPECT_FALSE(test, dmda_free_claim(freeing, to_seg(0), 0));
	dmda_free_put_back(freeing, to_seg(0));
	KUNIT_EXPECT_EQ(test, freeing->nr_aside, 0U);
	KUNIT_EXPECT_EQ(test, volume->segments.nr_free, nr_free);
	KUNIT_EXPECT_NULL(test, dmda_segments_check(&volume->segments));
	/* It is told once. */
	KUNIT_EXPECT_EQ(test, from_seg(dmda_free_set_aside(freeing)), from_seg(SEG_NONE));
	dmda_free_put_back(freeing, to_seg(0));
	KUNIT_EXPECT_EQ(test, volume->segments.nr_free, nr_free);
}

static void what_was_discarded_needs_no_telling(struct kunit *test)
{
	struct volume *volume = volume_with_empty_segment(test);
	struct dmda_freeing *freeing = &volume->freeing;

	commit(volume);
	KUNIT_ASSERT_TRUE(test, dmda_free_claim(freeing, to_seg(0), 0));
	KUNIT_ASSERT_TRUE(test, dmda_free_discard(freeing, to_seg(0)));
	dmda_free_discarded(freeing, to_seg(0));
	KUNIT_EXPECT_FALSE(test, dmda_free_discard(freeing, to_seg(0)));
	change_segment(volume, DMDA_RECORD_FREE, to_seg(0), 0, 0);
	dmda_free_end(freeing, to_seg(0));
	KUNIT_EXPECT_EQ(test, from_seg(dmda_free_set_aside(freeing)), from_seg(SEG_NONE));
}

static void what_is_opened_is_not_discarded(struct kunit *test)
{
	struct volume *volume = volume_with_untold_segment(test);

	change_segment(volume, DMDA_RECORD_OPEN, to_seg(0), 7, 0);
	KUNIT_EXPECT_EQ(test, from_seg(dmda_free_set_aside(&volume->freeing)),
			from_seg(SEG_NONE));
}

/* It was opened before the claim had ended, or the claim was given up. */
static void what_is_not_free_at_the_end_is_not_discarded(struct kunit *test)
{
	struct volume *volume = volume_with_empty_segment(test);
	struct dmda_freeing *freeing = &volume->freeing;

	commit(volume);
	KUNIT_ASSERT_TRUE(test, dmda_free_claim(freeing, to_seg(0), 0));
	dmda_free_end(freeing, to_seg(0));
	KUNIT_EXPECT_EQ(test, from_seg(dmda_free_set_aside(freeing)), from_seg(SEG_NONE));
	KUNIT_ASSERT_TRUE(test, dmda_free_claim(freeing, to_seg(0), 0));
	change_segment(volume, DMDA_RECORD_FREE, to_seg(0), 0, 0);
	change_segment(volume, DMDA_RECORD_OPEN, to_seg(0), 7, 0);
	dmda_free_end(freeing, to_seg(0));
	KUNIT_EXPECT_EQ(test, freeing->nr_claimed, 0U);
	KUNIT_EXPECT_EQ(test, from_seg(dmda_free_set_aside(freeing)), from_seg(SEG_NONE));
}

static struct kunit_case free_cases[] = {
	KUNIT_CASE(a_segment_is_claimed_when_its_loss_is_durable_and_nobody_reads),
	KUNIT_CASE(what_the_last_draft_takes_away_is_kept_until_another_batch),
	KUNIT_CASE(what_the_last_draft_takes_away_is_kept_over_a_start),
	KUNIT_CASE(others_are_not_claimed),
	KUNIT_CASE(it_is_one_claimants),
	KUNIT_CASE(it_is_not_free_before_its_discard_has_ended),
	KUNIT_CASE(without_a_claim_there_is_nothing),
	KUNIT_CASE(holes_go_when_their_loss_is_durable_and_nobody_reads),
	KUNIT_CASE(nobody_finds_a_free_segment_while_it_is_discarded),
	KUNIT_CASE(what_was_discarded_needs_no_telling),
	KUNIT_CASE(what_is_opened_is_not_discarded),
	KUNIT_CASE(what_is_not_free_at_the_end_is_not_discarded),
	{}
};

static struct kunit_suite free_suite = {
	.name = "dm_dieaware_free",
	.test_cases = free_cases,
};

kunit_test_suite(free_suite);

MODULE_DESCRIPTION("The steps of freeing a segment");
MODULE_LICENSE("GPL");
