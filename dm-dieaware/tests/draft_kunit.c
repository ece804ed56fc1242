// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drafts by themselves: when one is made, what a commit makes of it, what has to stay as it is, and
 * what a start takes for one. That what was promised survives is the volume suite's to see.
 */
#include <kunit/test.h>

#include "volume.h"

#define TAG	0x100000ULL

static struct volume *formatted_volume(struct kunit *test)
{
	struct volume *volume = new_volume(test);

	format_volume(volume);
	/* So that no segment has to be opened where a draft is made. */
	open_segment(volume, DMDA_STREAM_USER);
	commit(volume);
	return volume;
}

/* A write of some pages whose draft is there, and whose data is; nothing is mapped yet. */
static dpn_t write_drafted(struct volume *volume, u64 lpn, u32 nr_pages)
{
	dpn_t dpn;

	KUNIT_ASSERT_EQ(volume->test, take_places(volume, DMDA_STREAM_USER, nr_pages, &dpn),
			nr_pages);
	KUNIT_ASSERT_TRUE(volume->test, make_draft(volume, lpn, dpn, nr_pages));
	write_draft(volume, TAG + lpn);
	write_tags(volume, dpn, nr_pages, TAG + lpn);
	return dpn;
}

static dpn_t write_one(struct volume *volume, u64 lpn)
{
	dpn_t dpn;

	write_data(volume, DMDA_STREAM_USER, lpn, 1, TAG, &dpn);
	map_data(volume, lpn, dpn, 1);
	return dpn;
}

static void a_draft_is_made_where_a_write_would_be_alone(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	dpn_t dpn;

	take_places(volume, DMDA_STREAM_USER, DMDA_MAX_DRAFT_PAGES + 1, &dpn);
	KUNIT_EXPECT_FALSE(test, make_draft(volume, 0, dpn, DMDA_MAX_DRAFT_PAGES + 1));
	volume->super.incompat &= ~DMDA_INCOMPAT_DRAFTS;
	KUNIT_EXPECT_FALSE(test, make_draft(volume, 0, dpn, 1));
	volume->super.incompat |= DMDA_INCOMPAT_DRAFTS;
	KUNIT_EXPECT_TRUE(test, make_draft(volume, 0, dpn, DMDA_MAX_DRAFT_PAGES));
	/* There is one. */
	KUNIT_EXPECT_FALSE(test, make_draft(volume, 0, dpn, 1));
	dmda_draft_written(&volume->commit.draft, true);
	write_one(volume, 40);
	commit(volume);
	/* Something else is in the batch, or a commit is under way. */
	write_one(volume, 41);
	KUNIT_EXPECT_FALSE(test, make_draft(volume, 0, dpn, 1));
	dmda_commit_begin(&volume->commit);
	KUNIT_EXPECT_TRUE(test, dmda_commit_begin_batch(&volume->commit));
	KUNIT_EXPECT_FALSE(test, make_draft(volume, 0, dpn, 1));
}

static void a_batch_that_was_foreseen_is_only_flushed(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	u64 durable_seq = commit->durable_seq, sector = commit->batch.first.sector;
	dpn_t dpn = write_drafted(volume, 5, 2);

	map_data(volume, 5, dpn, 2);
	dmda_commit_begin(commit);
	KUNIT_EXPECT_TRUE(test, dmda_commit_begin_batch(commit));
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_AWAIT);
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_FLUSH);
	KUNIT_EXPECT_EQ(test, commit->durable_seq, durable_seq);
	KUNIT_EXPECT_FALSE(test, dmda_commit_is_idle(commit));
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_DONE);
	KUNIT_EXPECT_EQ(test, commit->durable_seq, durable_seq + 1);
	KUNIT_EXPECT_EQ(test, commit->batch.first.sector, sector + 1);
	KUNIT_EXPECT_EQ(test, commit->batch.first.chain,
			le32_to_cpu(volume->draft_sectors->crc));
}

static void what_is_not_flushed_is_not_durable(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	u64 durable_seq = commit->durable_seq;

	map_data(volume, 5, write_drafted(volume, 5, 1), 1);
	dmda_commit_begin(commit);
	dmda_commit_did(commit, 0);
	dmda_commit_did(commit, -EIO);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_FAILED);
	KUNIT_EXPECT_EQ(test, commit->durable_seq, durable_seq);
}

/* The next commit writes a batch at the draft's place. Return: bytes of its first records. */
static u32 expect_written_over(struct volume *volume, u64 sector)
{
	struct dmda_commit *commit = &volume->commit;
	u32 bytes;

	dmda_commit_begin(commit);
	KUNIT_EXPECT_EQ(volume->test, dmda_commit_next(commit), DMDA_COMMIT_AWAIT);
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_EQ(volume->test, dmda_commit_next(commit), DMDA_COMMIT_SEAL);
	dmda_commit_seal(commit);
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_EQ(volume->test, dmda_commit_next(commit), DMDA_COMMIT_WRITE);
	KUNIT_EXPECT_EQ(volume->test, commit->first, sector);
	KUNIT_EXPECT_FALSE(volume->test, dmda_draft_is(commit->sealed));
	bytes = dmda_journal_bytes(commit->sealed);
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_EQ(volume->test, dmda_commit_next(commit), DMDA_COMMIT_DONE);
	KUNIT_EXPECT_TRUE(volume->test, dmda_commit_is_idle(commit));
	/* That is done once. */
	KUNIT_EXPECT_TRUE(volume->test, dmda_commit_begin_batch(commit));
	dmda_commit_begin(commit);
	KUNIT_EXPECT_EQ(volume->test, dmda_commit_next(commit), DMDA_COMMIT_DONE);
	return bytes;
}

static void a_batch_that_is_something_else_is_written_over_its_draft(struct kunit *test)
{
	for (u32 first = 0; first < 3; first++) {
		struct volume *volume = formatted_volume(test);
		u64 sector = volume->commit.batch.first.sector;
		dpn_t dpn = write_drafted(volume, 5, 1);

		/* Another one before it, or instead of it; or behind it */
		if (first < 2)
			write_one(volume, 6);
		if (first != 1)
			map_data(volume, 5, dpn, 1);
		if (first == 2)
			write_one(volume, 6);
		KUNIT_EXPECT_GT(test, expect_written_over(volume, sector), 0U);
	}
}

static void a_draft_that_was_not_written_is_none(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	u64 sector = volume->commit.batch.first.sector;

	map_data(volume, 5, write_drafted(volume, 5, 1), 1);
	dmda_draft_written(&volume->commit.draft, true);
	KUNIT_EXPECT_FALSE(test, dmda_commit_begin_kept(&volume->commit));
	KUNIT_EXPECT_GT(test, expect_written_over(volume, sector), 0U);
}

/* Else it would be found when something newer, which has no records, is durable. */
static void a_draft_of_nothing_is_written_over(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	u64 sector = volume->commit.batch.first.sector;

	write_drafted(volume, 5, 1);
	dmda_commit_void(&volume->commit);
	volume->commit.nr_overwrites++;
	KUNIT_EXPECT_EQ(test, expect_written_over(volume, sector), 0U);
}

/* What users did since, which may have had no records, is not durable while a start may find it. */
static void a_flush_beside_a_draft_of_nothing_has_to_commit(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	u64 sector = volume->commit.batch.first.sector;

	write_drafted(volume, 5, 1);
	KUNIT_EXPECT_TRUE(test, dmda_commit_is_idle(&volume->commit));
	dmda_commit_void(&volume->commit);
	KUNIT_EXPECT_FALSE(test, dmda_commit_is_idle(&volume->commit));
	KUNIT_EXPECT_EQ(test, expect_written_over(volume, sector), 0U);
}

/* What the draft of a failed write would undo: see write_in_vain() of the volume suite. */
static void nothing_is_durable_by_itself_beside_a_draft_of_nothing(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	u64 seq = commit->durable_seq;

	for (u32 late = 0; late < 2; late++) {
		dpn_t dpn = write_drafted(volume, 5, 1);

		KUNIT_EXPECT_TRUE(test, dmda_commit_covers(commit, seq));
		if (!late)
			dmda_commit_void(commit);
		else
			write_one(volume, 6);
		KUNIT_EXPECT_EQ(test, dmda_commit_covers(commit, seq), late);
		dmda_commit_begin(commit);
		dmda_commit_begin_batch(commit);
		dmda_commit_did(commit, 0);
		/* Its data was on its way until now; another batch goes to its place. */
		dmda_commit_void(commit);
		KUNIT_EXPECT_FALSE(test, dmda_commit_covers(commit, seq));
		KUNIT_EXPECT_TRUE(test, dmda_draft_names(&commit->draft, dpn, 1));
		dmda_commit_seal(commit);
		dmda_commit_did(commit, 0);
		KUNIT_EXPECT_FALSE(test, dmda_commit_covers(commit, seq));
		dmda_commit_did(commit, 0);
		KUNIT_EXPECT_TRUE(test, dmda_commit_covers(commit, seq));
		KUNIT_EXPECT_FALSE(test, dmda_draft_names(&commit->draft, dpn, 1));
		/* No start finds it any more, whatever becomes of its data. */
		dmda_commit_void(commit);
		KUNIT_EXPECT_TRUE(test, dmda_commit_covers(commit, seq));
	}
}

static void a_draft_that_cannot_be_written_is_one_of_nothing(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	u64 seq = volume->commit.durable_seq;

	write_drafted(volume, 5, 1);
	dmda_draft_written(&volume->commit.draft, true);
	KUNIT_EXPECT_FALSE(test, dmda_commit_covers(&volume->commit, seq));
	commit(volume);
	KUNIT_EXPECT_TRUE(test, dmda_commit_covers(&volume->commit, seq));
}

/* A commit of what came before it: nothing was said about the draft's write. */
static void a_draft_whose_data_is_on_its_way_stays(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	dpn_t dpn = write_drafted(volume, 5, 1);

	commit->nr_overwrites++;
	dmda_commit_begin(commit);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_FLUSH);
	dmda_commit_did(commit, 0);
	map_data(volume, 5, dpn, 1);
	KUNIT_EXPECT_TRUE(test, dmda_commit_begin_kept(commit));
}

static void a_flush_is_a_commit_where_nothing_else_is_left(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *commit = &volume->commit;
	dpn_t dpn = write_drafted(volume, 5, 1);

	/* It is not mapped, or its draft not written, or another commit is under way. */
	KUNIT_EXPECT_FALSE(test, dmda_commit_begin_kept(commit));
	map_data(volume, 5, dpn, 1);
	commit->draft.is_written = false;
	KUNIT_EXPECT_FALSE(test, dmda_commit_begin_kept(commit));
	commit->draft.is_written = true;
	dmda_commit_begin(commit);
	dmda_commit_begin_batch(commit);
	KUNIT_EXPECT_FALSE(test, dmda_commit_begin_kept(commit));
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_FALSE(test, dmda_commit_begin_kept(commit));
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_FALSE(test, dmda_commit_begin_kept(commit));

	map_data(volume, 7, write_drafted(volume, 7, 1), 1);
	KUNIT_EXPECT_TRUE(test, dmda_commit_begin_kept(commit));
	KUNIT_EXPECT_EQ(test, dmda_commit_next(commit), DMDA_COMMIT_FLUSH);
	dmda_commit_begin_batch(commit);
	map_data(volume, 8, dpn, 1);
	dmda_commit_did(commit, 0);
	KUNIT_EXPECT_EQ(test, commit->durable_seq + 2, commit->batch.next_seq);
}

static void what_the_last_draft_names_stays_as_it_is(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_commit *under_way = &volume->commit;
	const struct dmda_draft *draft = &under_way->draft;
	dpn_t first = write_drafted(volume, 5, 2), second;

	KUNIT_EXPECT_TRUE(test, dmda_draft_names(draft, first, 1));
	KUNIT_EXPECT_TRUE(test, dmda_draft_names(draft, to_dpn(from_dpn(first) + 1), 4));
	KUNIT_EXPECT_TRUE(test, dmda_draft_names(draft, to_dpn(from_dpn(first) - 1), 2));
	KUNIT_EXPECT_FALSE(test, dmda_draft_names(draft, to_dpn(from_dpn(first) - 1), 1));
	KUNIT_EXPECT_FALSE(test, dmda_draft_names(draft, to_dpn(from_dpn(first) + 2), 1));
	map_data(volume, 5, first, 2);
	commit(volume);
	KUNIT_EXPECT_TRUE(test, dmda_draft_names(draft, first, 1));
	/* The next one is not durable before it is flushed. */
	second = write_drafted(volume, 7, 1);
	map_data(volume, 7, second, 1);
	dmda_commit_begin(under_way);
	dmda_commit_begin_batch(under_way);
	dmda_commit_did(under_way, 0);
	KUNIT_EXPECT_EQ(test, dmda_commit_next(under_way), DMDA_COMMIT_FLUSH);
	KUNIT_EXPECT_TRUE(test, dmda_draft_names(draft, first, 1));
	KUNIT_EXPECT_TRUE(test, dmda_draft_names(draft, second, 1));
	dmda_commit_did(under_way, 0);
	KUNIT_EXPECT_FALSE(test, dmda_draft_names(draft, first, 2));
	KUNIT_EXPECT_TRUE(test, dmda_draft_names(draft, second, 1));
	write_one(volume, 9);
	KUNIT_EXPECT_TRUE(test, dmda_draft_names(draft, second, 1));
	commit(volume);
	KUNIT_EXPECT_FALSE(test, dmda_draft_names(draft, second, 1));
}

/*
 * Starts
 */

/* Return: NULL, or what is wrong; @seq gets the number of the next operation. */
static const char *start_from(struct volume *volume, const struct image *image, u64 *seq)
{
	struct volume *after = new_volume(volume->test);
	struct dmda_op *op = test_memory(volume->test, sizeof(*op));
	struct dmda_journal_place next;
	const char *why = open_volume(after, image, op, &next);

	*seq = next.seq;
	return why;
}

static void the_last_draft_counts_if_its_data_is_there(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	dpn_t first = write_drafted(volume, 5, 2), second;
	u64 seq, first_seq = volume->commit.batch.next_seq;

	map_data(volume, 5, first, 2);
	commit(volume);
	KUNIT_EXPECT_NULL(test, start_from(volume, volume->stable, &seq));
	KUNIT_EXPECT_EQ(test, seq, first_seq + 1);
	volume->stable->tag[from_dpn(first) + 1]++;
	KUNIT_EXPECT_NULL(test, start_from(volume, volume->stable, &seq));
	KUNIT_EXPECT_EQ(test, seq, first_seq);
	/* Behind it is another one, with its data and without: then it was durable. */
	second = write_drafted(volume, 7, 1);
	map_data(volume, 7, second, 1);
	commit(volume);
	KUNIT_EXPECT_NULL(test, start_from(volume, volume->stable, &seq));
	KUNIT_EXPECT_EQ(test, seq, first_seq + 2);
	volume->stable->tag[from_dpn(second)]++;
	KUNIT_EXPECT_NULL(test, start_from(volume, volume->stable, &seq));
	KUNIT_EXPECT_EQ(test, seq, first_seq + 1);
}

/* If the first root of a start is lost, the next one finds the draft once more. */
static void what_a_start_finds_as_its_last_draft_stays_as_it_is(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_op *op = test_memory(test, sizeof(*op));
	dpn_t dpn = write_drafted(volume, 5, 2);
	struct dmda_journal_place next;

	map_data(volume, 5, dpn, 2);
	commit(volume);
	volume->nr_pending = 0;
	KUNIT_ASSERT_NULL(test, open_volume(volume, volume->stable, op, &next));
	resume_volume(volume, 1);
	KUNIT_EXPECT_TRUE(test, dmda_draft_names(&volume->commit.draft, dpn, 1));
	write_one(volume, 9);
	commit(volume);
	KUNIT_EXPECT_FALSE(test, dmda_draft_names(&volume->commit.draft, dpn, 1));
}

static void the_last_draft_counts_if_its_data_cannot_be_read(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_start *start = &volume->start;
	dpn_t dpn = write_drafted(volume, 5, 2);
	u64 first_seq = volume->commit.batch.next_seq;
	enum dmda_start_step step;
	u32 nr_asked = 0;

	map_data(volume, 5, dpn, 2);
	commit(volume);
	reset_memory(volume);
	start->op = test_memory(test, sizeof(*start->op));
	dmda_start_begin(start, DMDA_START_READ_ONLY);
	while ((step = dmda_start_next(start)) < DMDA_START_DRAW) {
		if (step == DMDA_START_SUMS) {
			KUNIT_EXPECT_EQ(test, from_dpn(start->dpn), from_dpn(dpn));
			KUNIT_EXPECT_EQ(test, start->nr_pages, 2U);
			nr_asked++;
			dmda_start_did(start, -EIO);
		} else {
			dmda_start_did(start, do_read_step(volume, volume->stable, step));
		}
	}
	KUNIT_EXPECT_EQ(test, step, DMDA_START_DONE);
	KUNIT_EXPECT_EQ(test, nr_asked, 1U);
	KUNIT_EXPECT_EQ(test, start->end.seq, first_seq + 1);
}

/* A sector as no target writes it */
struct odd {
	void (*change)(struct volume *volume, struct dmda_journal_sector *sector);
	const char *why;
};

static void has_no_first(struct volume *volume, struct dmda_journal_sector *sector)
{
	sector->nr_bytes &= ~cpu_to_le16(DMDA_SECTOR_FIRST);
}

static void has_no_room(struct volume *volume, struct dmda_journal_sector *sector)
{
	u32 bytes = dmda_journal_bytes(sector);

	/* DEADs up to the end */
	sector->records[0] &= ~DMDA_RECORD_END;
	while (bytes + sizeof(struct dmda_record_range) <= DMDA_RECORDS_BYTES) {
		struct dmda_record dead = {
			.kind = DMDA_RECORD_DEAD, .dpn = to_dpn(2000), .nr_pages = 1,
		};

		dead.is_last = bytes + 2 * sizeof(struct dmda_record_range) > DMDA_RECORDS_BYTES;
		dmda_record_encode(&sector->records[bytes], &dead);
		bytes += sizeof(struct dmda_record_range);
	}
	sector->nr_bytes = cpu_to_le16(bytes | DMDA_SECTOR_FIRST | DMDA_SECTOR_DRAFT);
}

static void is_not_whole(struct volume *volume, struct dmda_journal_sector *sector)
{
	sector->records[0] &= ~DMDA_RECORD_END;
}

static void put_record(struct dmda_journal_sector *sector, const struct dmda_record *record)
{
	u32 at = 0;

	if (record->kind != DMDA_RECORD_TRIM && record->nr_pages == 1)
		at = dmda_journal_bytes(sector);
	dmda_record_encode(&sector->records[at], record);
	sector->nr_bytes = cpu_to_le16((at + dmda_record_bytes(record)) |
				       DMDA_SECTOR_FIRST | DMDA_SECTOR_DRAFT);
}

static void has_two_operations(struct volume *volume, struct dmda_journal_sector *sector)
{
	put_record(sector, &(struct dmda_record){
		.kind = DMDA_RECORD_MAP, .is_last = true, .dpn = volume->commit.draft.kept.dpn,
		.nr_pages = 1,
	});
}

static void has_a_trim(struct volume *volume, struct dmda_journal_sector *sector)
{
	put_record(sector, &(struct dmda_record){
		.kind = DMDA_RECORD_TRIM, .is_last = true, .nr_pages = 1,
	});
}

static void has_many_pages(struct volume *volume, struct dmda_journal_sector *sector)
{
	put_record(sector, &(struct dmda_record){
		.kind = DMDA_RECORD_MAP, .is_last = true, .dpn = volume->commit.draft.kept.dpn,
		.nr_pages = DMDA_MAX_DRAFT_PAGES + 1,
	});
}

static void names_metadata(struct volume *volume, struct dmda_journal_sector *sector)
{
	put_record(sector, &(struct dmda_record){
		.kind = DMDA_RECORD_MAP, .is_last = true, .dpn = to_dpn(2), .nr_pages = 2,
	});
}

static const struct odd odds[] = {
	{ has_no_first },
	{ has_no_room },
	{ is_not_whole },
	{ has_two_operations },
	{ has_a_trim },
	{ has_many_pages },
	{ names_metadata },
};

/* Sealed again: what is wrong is not its checksum. */
static void change_last(struct volume *volume, const struct odd *odd)
{
	struct dmda_journal_sector sector = volume->draft_sectors[0];
	u32 at = dmda_journal_sector_at(&volume->super, le64_to_cpu(sector.sector));
	struct page_bytes *page =
		&volume->stable->meta[volume->super.journal_dpn + at / DMDA_PAGE_SECTORS];

	odd->change(volume, &sector);
	sector.crc = cpu_to_le32(sector_checksum(seed_of(&volume->super), &sector));
	memcpy(&page->byte[at % DMDA_PAGE_SECTORS * DMDA_SECTOR_BYTES], &sector, sizeof(sector));
}

static void a_draft_that_is_none_is_refused(struct kunit *test)
{
	for (u32 i = 0; i < ARRAY_SIZE(odds); i++) {
		struct volume *volume = formatted_volume(test);
		const char *why;
		u64 seq;

		map_data(volume, 5, write_drafted(volume, 5, 1), 1);
		commit(volume);
		change_last(volume, &odds[i]);
		why = start_from(volume, volume->stable, &seq);
		KUNIT_EXPECT_STREQ_MSG(test, why ?: "it starts",
				       "the journal has a draft that is none", "number %u", i);
	}
}

static void a_device_without_drafts_has_none(struct kunit *test)
{
	struct volume *volume = formatted_volume(test);
	struct dmda_op *op = test_memory(test, sizeof(*op));
	struct dmda_draft_pages pages;
	u32 sum;

	write_drafted(volume, 5, 1);
	KUNIT_EXPECT_NULL(test, dmda_draft_read(volume->draft_sectors, &volume->super, 1, op,
						&pages, &sum));
	volume->super.incompat = 0;
	KUNIT_EXPECT_NOT_NULL(test, dmda_draft_read(volume->draft_sectors, &volume->super, 1, op,
						    &pages, &sum));
}

static struct kunit_case draft_cases[] = {
	KUNIT_CASE(a_draft_is_made_where_a_write_would_be_alone),
	KUNIT_CASE(a_batch_that_was_foreseen_is_only_flushed),
	KUNIT_CASE(what_is_not_flushed_is_not_durable),
	KUNIT_CASE(a_batch_that_is_something_else_is_written_over_its_draft),
	KUNIT_CASE(a_draft_that_was_not_written_is_none),
	KUNIT_CASE(a_draft_of_nothing_is_written_over),
	KUNIT_CASE(a_flush_beside_a_draft_of_nothing_has_to_commit),
	KUNIT_CASE(nothing_is_durable_by_itself_beside_a_draft_of_nothing),
	KUNIT_CASE(a_draft_that_cannot_be_written_is_one_of_nothing),
	KUNIT_CASE(a_draft_whose_data_is_on_its_way_stays),
	KUNIT_CASE(a_flush_is_a_commit_where_nothing_else_is_left),
	KUNIT_CASE(what_the_last_draft_names_stays_as_it_is),
	KUNIT_CASE(the_last_draft_counts_if_its_data_is_there),
	KUNIT_CASE(what_a_start_finds_as_its_last_draft_stays_as_it_is),
	KUNIT_CASE(the_last_draft_counts_if_its_data_cannot_be_read),
	KUNIT_CASE(a_draft_that_is_none_is_refused),
	KUNIT_CASE(a_device_without_drafts_has_none),
	{}
};

static struct kunit_suite draft_suite = {
	.name = "dm_dieaware_draft",
	.test_cases = draft_cases,
};

kunit_test_suite(draft_suite);

MODULE_DESCRIPTION("Drafts of the journal's batches");
MODULE_LICENSE("GPL");
