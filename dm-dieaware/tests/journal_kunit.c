// SPDX-License-Identifier: GPL-2.0-only
/* The journal: operations into sectors and back, and where reading has to stop. */
#include <kunit/test.h>

#include "../core/block.c"
#include "../core/super.c"
#include "../core/record.c"
#include "../core/journal.c"
#include "../core/replay.c"

#define NR_SECTORS	64

/**
 * struct ring - a journal and what was put into it
 * @super: with the size of the ring, and a UUID
 * @sectors: a batch
 * @batch: it
 * @op: for reading
 */
struct ring {
	struct dmda_super super;
	struct dmda_journal_sector sectors[NR_SECTORS];
	struct dmda_journal_batch batch;
	struct dmda_op op;
};

static const struct dmda_journal_place first_place = { .sector = 7, .chain = 99, .seq = 5 };

static struct ring *new_ring(struct kunit *test, u32 unit_sectors)
{
	struct ring *ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ring);
	ring->super.journal_sectors = NR_SECTORS;
	ring->super.journal_unit_sectors = unit_sectors;
	ring->super.uuid[0] = 1;
	dmda_journal_begin(&ring->batch, &ring->super, ring->sectors, NR_SECTORS, &first_place);
	return ring;
}

/* An operation of a MAP and so many DEAD. */
static void put_op(struct ring *ring, u64 lpn, u32 nr_dead)
{
	struct dmda_record record = {
		.kind = DMDA_RECORD_MAP, .nr_pages = 1, .lpn = to_lpn(lpn), .dpn = to_dpn(lpn + 1),
	};

	dmda_journal_put(&ring->batch, &record);
	record.kind = DMDA_RECORD_DEAD;
	for (u32 i = 0; i < nr_dead; i++) {
		record.dpn = to_dpn(lpn + 1000 + i);
		dmda_journal_put(&ring->batch, &record);
	}
	dmda_journal_end_op(&ring->batch);
}

/* Reads the batch. Return: whole operations; checks that they are those of put_op(). */
static u32 read_ops(struct kunit *test, struct ring *ring, u32 nr_sectors)
{
	struct dmda_journal_reader reader;
	struct dmda_replay replay;
	u32 nr = 0;

	dmda_journal_open(&reader, &ring->super, &first_place);
	dmda_replay_init(&replay, &ring->op, first_place.seq);
	for (u32 i = 0; i < nr_sectors; i++) {
		const struct dmda_op *op;

		if (!dmda_journal_accept(&reader, &ring->sectors[i]))
			break;
		dmda_replay_sector(&replay, &ring->sectors[i]);
		while ((op = dmda_replay_next(&replay))) {
			KUNIT_EXPECT_EQ(test, op->seq, first_place.seq + nr);
			KUNIT_EXPECT_EQ(test, from_lpn(op->record[0].lpn), (u64)nr);
			KUNIT_EXPECT_EQ(test, from_dpn(op->record[0].dpn), (u64)nr + 1);
			KUNIT_EXPECT_EQ(test, op->nr_records, nr * 3 + 1);
			nr++;
		}
		KUNIT_EXPECT_NULL(test, replay.why);
	}
	KUNIT_EXPECT_EQ(test, reader.next.seq, first_place.seq + nr);
	return nr;
}

static u32 seal(struct ring *ring, struct dmda_journal_place *next)
{
	u32 nr_sectors = dmda_journal_end(&ring->batch, &ring->super, next);

	next->chain = dmda_journal_seal(&ring->batch);
	return nr_sectors;
}

static void operations_come_back_also_across_sectors(struct kunit *test)
{
	struct ring *ring = new_ring(test, 1);
	struct dmda_journal_place next;
	u32 nr_sectors;

	for (u32 i = 0; i < 40; i++)
		put_op(ring, i, i * 3);
	nr_sectors = seal(ring, &next);
	KUNIT_EXPECT_GT(test, nr_sectors, 30U);
	KUNIT_EXPECT_EQ(test, next.sector, first_place.sector + nr_sectors);
	KUNIT_EXPECT_EQ(test, read_ops(test, ring, nr_sectors), 40U);
}

static void an_operation_that_is_cut_off_does_not_count(struct kunit *test)
{
	struct ring *ring = new_ring(test, 1);
	struct dmda_journal_place next;
	u32 nr_sectors, before = 0;

	for (u32 i = 0; i < 40; i++)
		put_op(ring, i, i * 3);
	nr_sectors = seal(ring, &next);
	for (u32 i = 0; i < nr_sectors; i++) {
		u32 nr = read_ops(test, ring, i);

		KUNIT_EXPECT_GE(test, nr, before);
		KUNIT_EXPECT_LT(test, nr, 40U);
		before = nr;
	}
}

/* An eighth of the smallest rings need not be of whole units. */
static void all_of_a_batch_can_be_used_whatever_the_size_of_the_ring(struct kunit *test)
{
	const u32 most_op_sectors = DIV_ROUND_UP(DMDA_MAX_OP_RECORDS,
						 DMDA_RECORDS_BYTES / DMDA_MAX_RECORD_BYTES);
	struct dmda_super super = { .journal_unit_sectors = 8 };

	for (u32 nr = DMDA_MIN_JOURNAL_SECTORS; nr <= 4 * DMDA_MIN_JOURNAL_SECTORS; nr += 8) {
		u32 most = min_t(u32, nr / 8, DMDA_MAX_BATCH_SECTORS);
		u32 batch;

		super.journal_sectors = nr;
		batch = dmda_journal_batch_sectors(&super);
		KUNIT_EXPECT_EQ(test, batch % 8, 0U);
		KUNIT_EXPECT_GE(test, batch, most_op_sectors);
		KUNIT_EXPECT_LE(test, batch, most);
		KUNIT_EXPECT_GT(test, batch + 8, most);
	}
}

static void a_batch_is_a_multiple_of_the_unit(struct kunit *test)
{
	struct ring *ring = new_ring(test, 8);
	struct dmda_journal_place next;

	put_op(ring, 0, 0);
	KUNIT_EXPECT_EQ(test, seal(ring, &next), 8U);
	KUNIT_EXPECT_EQ(test, next.sector, first_place.sector + 8);
	KUNIT_EXPECT_EQ(test, read_ops(test, ring, 8), 1U);
}

static void any_changed_byte_ends_the_journal(struct kunit *test)
{
	struct ring *ring = new_ring(test, 1);
	struct dmda_journal_place next;
	u8 *byte = (u8 *)&ring->sectors[0];

	put_op(ring, 0, 0);
	seal(ring, &next);
	for (u32 i = 0; i < DMDA_SECTOR_BYTES; i++) {
		byte[i] ^= 1 << i % 8;
		KUNIT_ASSERT_EQ(test, read_ops(test, ring, 1), 0U);
		byte[i] ^= 1 << i % 8;
	}
	KUNIT_EXPECT_EQ(test, read_ops(test, ring, 1), 1U);
}

static void a_sector_of_another_past_is_no_successor(struct kunit *test)
{
	struct ring *ring = new_ring(test, 1);
	struct ring *other = new_ring(test, 1);
	struct dmda_journal_place next;

	for (u32 i = 0; i < 40; i++) {
		put_op(ring, i, i * 3);
		put_op(other, i, i * 3);
	}
	other->batch.first.chain++;
	seal(ring, &next);
	seal(other, &next);
	ring->sectors[20] = other->sectors[20];
	KUNIT_EXPECT_EQ(test, read_ops(test, ring, 30), read_ops(test, ring, 20));
}

static void a_sector_of_an_older_lap_is_no_successor(struct kunit *test)
{
	struct ring *ring = new_ring(test, 1);
	struct dmda_journal_reader reader;
	struct dmda_journal_place next, later = first_place;

	put_op(ring, 0, 0);
	seal(ring, &next);
	later.sector += NR_SECTORS;
	dmda_journal_open(&reader, &ring->super, &later);
	KUNIT_EXPECT_FALSE(test, dmda_journal_accept(&reader, &ring->sectors[0]));
	KUNIT_EXPECT_EQ(test, dmda_journal_sector_at(&ring->super, later.sector), 7U);
}

static void a_sector_of_another_device_is_no_successor(struct kunit *test)
{
	struct ring *ring = new_ring(test, 1);
	struct dmda_journal_place next;

	put_op(ring, 0, 0);
	seal(ring, &next);
	ring->super.uuid[0]++;
	KUNIT_EXPECT_EQ(test, read_ops(test, ring, 1), 0U);
}

/* As it is when the sector behind the end was durable once. */
static void a_sector_far_behind_the_end_shows_damage(struct kunit *test)
{
	struct ring *ring = new_ring(test, 1);
	struct dmda_journal_place place = first_place, next;
	struct dmda_journal_reader reader;

	dmda_journal_open(&reader, &ring->super, &first_place);
	place.sector += DMDA_MAX_BATCH_SECTORS - 2;
	dmda_journal_begin(&ring->batch, &ring->super, ring->sectors, NR_SECTORS, &place);
	for (u32 i = 0; i < 40; i++)
		put_op(ring, i, i * 3);
	KUNIT_ASSERT_GE(test, seal(ring, &next), 3U);
	/* Begins a batch; is in the middle of one; is too far away for that */
	KUNIT_EXPECT_TRUE(test, dmda_journal_is_beyond(&reader, &ring->sectors[0]));
	KUNIT_EXPECT_FALSE(test, dmda_journal_is_beyond(&reader, &ring->sectors[1]));
	KUNIT_EXPECT_TRUE(test, dmda_journal_is_beyond(&reader, &ring->sectors[2]));
	reader.next.sector = place.sector;
	KUNIT_EXPECT_FALSE(test, dmda_journal_is_beyond(&reader, &ring->sectors[0]));
	/* With a number that no operation behind the end can have */
	reader.next.seq = first_place.seq - 1;
	KUNIT_EXPECT_TRUE(test, dmda_journal_is_beyond(&reader, &ring->sectors[0]));
	reader.next.sector = place.sector + 1;
	KUNIT_EXPECT_FALSE(test, dmda_journal_is_beyond(&reader, &ring->sectors[1]));
	reader.next = first_place;
	reader.seed++;
	KUNIT_EXPECT_FALSE(test, dmda_journal_is_beyond(&reader, &ring->sectors[0]));
	reader.seed--;
	ring->sectors[0].records[100] ^= 1;
	KUNIT_EXPECT_FALSE(test, dmda_journal_is_beyond(&reader, &ring->sectors[0]));
}

static void bytes_that_are_no_records_are_refused(struct kunit *test)
{
	struct dmda_record record;
	u8 bytes[DMDA_MAX_RECORD_BYTES] = { 0 };

	for (u32 kind = 0; kind < 256; kind++) {
		bytes[0] = kind;
		for (u32 room = 0; room <= sizeof(bytes); room++) {
			unsigned int got = dmda_record_decode(bytes, room, &record);

			KUNIT_ASSERT_EQ(test, dmda_record_length(bytes, room), got);
			/* Zero pages: only changes of a segment's state can be. */
			if (got)
				KUNIT_ASSERT_GE(test, record.kind, (u8)DMDA_RECORD_OPEN);
			KUNIT_ASSERT_LE(test, got, room);
		}
	}
}

/* As many as the longest operation has, and one more */
static void a_record_of_too_many_pages_is_none(struct kunit *test)
{
	struct dmda_record record = {
		.lpn = to_lpn(1), .dpn = to_dpn(1), .nr_pages = DMDA_MAX_OP_PAGES,
	};
	u8 bytes[DMDA_MAX_RECORD_BYTES];

	for (record.kind = DMDA_RECORD_MAP; record.kind <= DMDA_RECORD_TRIM; record.kind++) {
		struct dmda_record got;

		record.nr_pages = DMDA_MAX_OP_PAGES;
		dmda_record_encode(bytes, &record);
		KUNIT_EXPECT_GT(test, dmda_record_decode(bytes, sizeof(bytes), &got), 0U);
		KUNIT_EXPECT_EQ(test, dmda_record_length(bytes, sizeof(bytes)),
				dmda_record_bytes(&record));
		KUNIT_EXPECT_EQ(test, got.nr_pages, record.nr_pages);
		record.nr_pages++;
		dmda_record_encode(bytes, &record);
		KUNIT_EXPECT_EQ(test, dmda_record_decode(bytes, sizeof(bytes), &got), 0U);
		KUNIT_EXPECT_EQ(test, dmda_record_length(bytes, sizeof(bytes)), 0U);
	}
}

/* Also at the end of what is there, and with none, or more than one can have */
static void a_record_of_checksums_is_as_long_as_it_says(struct kunit *test)
{
	u8 *bytes = kunit_kzalloc(test, DMDA_RECORDS_BYTES, GFP_KERNEL);
	struct dmda_record record;

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	bytes[0] = DMDA_RECORD_SUMS;
	for (u32 nr = 0; nr < 256; nr++) {
		u32 all = sizeof(struct dmda_record_sums) + nr * DMDA_SUM_BYTES;
		bool is_one = nr && nr <= DMDA_MAX_RECORD_SUMS;

		bytes[1] = nr;
		for (u32 room = 0; room <= DMDA_RECORDS_BYTES; room++) {
			u32 length = is_one && room >= all ? all : 0;

			KUNIT_ASSERT_EQ(test, dmda_record_length(bytes, room), length);
			KUNIT_ASSERT_EQ(test, dmda_record_decode(bytes, room, &record), length);
		}
	}
	KUNIT_EXPECT_EQ(test, dmda_record_length(bytes, 0), 0U);
}

/* A MAP of so many pages, their checksums, and pages that lie dead by it. */
static void put_summed_op(struct ring *ring, const __le32 *sums, u32 nr_pages)
{
	struct dmda_record record = {
		.kind = DMDA_RECORD_MAP, .nr_pages = nr_pages, .lpn = to_lpn(1), .dpn = to_dpn(1),
	};

	dmda_journal_put(&ring->batch, &record);
	dmda_journal_put_sums(&ring->batch, sums, nr_pages);
	record.kind = DMDA_RECORD_DEAD;
	record.nr_pages = 1;
	for (u32 i = 0; i < nr_pages; i++)
		dmda_journal_put(&ring->batch, &record);
	dmda_journal_end_op(&ring->batch);
}

/* The first operation of the batch, if it is whole; @why: or why there is none. */
static const struct dmda_op *first_op(struct ring *ring, const char **why)
{
	struct dmda_journal_reader reader;
	const struct dmda_op *op = NULL;
	struct dmda_journal_place next;
	struct dmda_replay replay;

	seal(ring, &next);
	dmda_journal_open(&reader, &ring->super, &first_place);
	dmda_replay_init(&replay, &ring->op, first_place.seq);
	for (u32 i = 0; i < ring->batch.nr_used && !op && !replay.why; i++) {
		if (!dmda_journal_accept(&reader, &ring->sectors[i]))
			break;
		dmda_replay_sector(&replay, &ring->sectors[i]);
		op = dmda_replay_next(&replay);
	}
	*why = replay.why;
	return op;
}

/* As many pages as the longest operation has, each of which was somewhere else, and one more */
static void an_operation_of_too_many_records_is_refused(struct kunit *test)
{
	struct ring *ring = new_ring(test, 1);
	const char *why;

	put_op(ring, 0, DMDA_MAX_OP_RECORDS - 1);
	KUNIT_EXPECT_NOT_NULL(test, first_op(ring, &why));
	ring = new_ring(test, 1);
	put_op(ring, 0, DMDA_MAX_OP_RECORDS);
	KUNIT_EXPECT_NULL(test, first_op(ring, &why));
	KUNIT_EXPECT_STREQ(test, why, "an operation of the journal is too long");
}

/* Records all over the first sector, the last of which begins where the second does */
static void put_more_than_fits(struct ring *ring)
{
	const struct dmda_record record = {
		.kind = DMDA_RECORD_TRIM, .nr_pages = 1, .is_last = true,
	};
	const u32 bytes = sizeof(struct dmda_record_range);
	u8 *records = ring->sectors[0].records;

	for (u32 at = 0; at < DMDA_RECORDS_BYTES; at += bytes)
		dmda_record_encode(records + at, &record);
	dmda_record_encode((u8 *)&ring->sectors[1], &record);
	ring->sectors[0].nr_bytes = cpu_to_le16(DMDA_SECTOR_FIRST | (DMDA_RECORDS_BYTES + bytes));
}

/* One that checks all the same: numbers of bytes and of its operation stand for what is in it. */
static void a_sector_of_other_numbers_is_none(struct kunit *test)
{
	struct ring *ring = new_ring(test, 1);
	struct dmda_journal_sector *sector = ring->sectors;
	struct dmda_journal_sector good;
	struct dmda_journal_reader reader;
	struct dmda_journal_place next;

	put_op(ring, 0, 0);
	seal(ring, &next);
	good = *sector;
	for (u32 i = 0; i < 3; i++) {
		dmda_journal_open(&reader, &ring->super, &first_place);
		*sector = good;
		if (i == 1)
			sector->seq = cpu_to_le64(first_place.seq + 1);
		else if (i == 2)
			put_more_than_fits(ring);
		sector->crc = cpu_to_le32(sector_checksum(reader.seed, sector));
		KUNIT_EXPECT_EQ(test, dmda_journal_accept(&reader, sector), !i);
	}
}

static struct ring *new_summed_ring(struct kunit *test)
{
	struct ring *ring = new_ring(test, 1);

	ring->super.incompat = DMDA_INCOMPAT_CHECKSUMS;
	ring->super.nr_lpns = 10000;
	return ring;
}

static void checksums_come_back_also_across_sectors(struct kunit *test)
{
	struct ring *ring = new_summed_ring(test);
	__le32 sums[DMDA_MAP_SUMS_ENTRIES];

	for (u32 i = 0; i < DMDA_MAP_SUMS_ENTRIES; i++)
		sums[i] = cpu_to_le32(i * 2654435761U);
	for (u32 nr = 1; nr <= DMDA_MAP_SUMS_ENTRIES; nr++) {
		const struct dmda_op *op;
		const char *why;

		dmda_journal_begin(&ring->batch, &ring->super, ring->sectors, NR_SECTORS,
				   &first_place);
		put_summed_op(ring, sums, nr);
		op = first_op(ring, &why);
		KUNIT_ASSERT_NOT_NULL(test, op);
		KUNIT_ASSERT_EQ(test, op->nr_records, 1 + nr);
		KUNIT_ASSERT_EQ(test, op->nr_sums, nr);
		KUNIT_ASSERT_EQ(test, memcmp(op->sum, sums, nr * sizeof(*sums)), 0);
		KUNIT_ASSERT_NULL(test, dmda_op_complaint(op, &ring->super));
	}
}

/* Whatever has room by its number of records and checksums goes into the batch. */
static void an_operation_with_checksums_has_the_room_it_was_promised(struct kunit *test)
{
	struct ring *ring = new_summed_ring(test);
	__le32 sums[DMDA_MAP_SUMS_ENTRIES] = { 0 };
	struct dmda_journal_place next;

	for (u32 nr = 1; nr <= DMDA_MAP_SUMS_ENTRIES; nr++) {
		u32 nr_ops = 0;

		dmda_journal_begin(&ring->batch, &ring->super, ring->sectors, NR_SECTORS,
				   &first_place);
		while (dmda_journal_has_room(&ring->batch, 1 + nr, nr)) {
			put_summed_op(ring, sums, nr);
			nr_ops++;
		}
		KUNIT_ASSERT_GT(test, nr_ops, 0U);
		KUNIT_ASSERT_LE(test, ring->batch.nr_used, (u32)NR_SECTORS);
		KUNIT_ASSERT_EQ(test, ring->batch.next_seq, first_place.seq + nr_ops);
		/* Nothing was left out for want of it. */
		seal(ring, &next);
		KUNIT_ASSERT_EQ(test, next.seq, first_place.seq + nr_ops);
	}
}

static void put_sums(struct ring *ring, u32 nr)
{
	static const __le32 sums[DMDA_MAP_SUMS_ENTRIES + 1];

	dmda_journal_put_sums(&ring->batch, sums, nr);
}

static void put_pages(struct ring *ring, u8 kind, u32 nr_pages)
{
	const struct dmda_record record = {
		.kind = kind, .nr_pages = nr_pages, .lpn = to_lpn(1), .dpn = to_dpn(1),
	};

	dmda_journal_put(&ring->batch, &record);
}

/**
 * struct wrong_case - an operation that cannot be
 * @first: kind of its first record, of @nr_pages pages; 0: none
 * @nr_pages: number of pages
 * @then: kind of its second record; 0: none
 * @nr_sums: number of checksums that follow
 * @why: what is said of it
 */
static const struct wrong_case {
	u8 first;
	u32 nr_pages;
	u8 then;
	u32 nr_sums;
	const char *why;
} wrong_cases[] = {
	{ 0, 0, 0, 1, "the journal has checksums of nothing" },
	{ DMDA_RECORD_TRIM, 1, 0, 1, "the journal has checksums of nothing" },
	{ DMDA_RECORD_MAP, 1, DMDA_RECORD_DEAD, 1, "the journal has checksums of nothing" },
	{ DMDA_RECORD_MAP, 449, 0, 449, "an operation of the journal has too many checksums" },
	{ DMDA_RECORD_MAP, 449, 0, 448,
	  "an operation of the journal is about three pages of the map" },
	{ DMDA_RECORD_TRIM, 449, 0, 0,
	  "an operation of the journal is about three pages of the map" },
	{ DMDA_RECORD_MAP, 2, 0, 1,
	  "an operation of the journal has not a checksum of each of its pages" },
	{ DMDA_RECORD_MAP, 1, 0, 2,
	  "an operation of the journal has not a checksum of each of its pages" },
	{ DMDA_RECORD_MAP, 1, 0, 0,
	  "an operation of the journal has not a checksum of each of its pages" },
};

static void checksums_that_cannot_be_are_refused(struct kunit *test)
{
	for (u32 i = 0; i < ARRAY_SIZE(wrong_cases); i++) {
		const struct wrong_case *wrong = &wrong_cases[i];
		struct ring *ring = new_summed_ring(test);
		const struct dmda_op *op;
		const char *why;

		if (wrong->first)
			put_pages(ring, wrong->first, wrong->nr_pages);
		if (wrong->then)
			put_pages(ring, wrong->then, 1);
		put_sums(ring, wrong->nr_sums);
		dmda_journal_end_op(&ring->batch);
		op = first_op(ring, &why);
		KUNIT_EXPECT_STREQ(test, op ? dmda_op_complaint(op, &ring->super) : why,
				   wrong->why);
	}
}

static void a_device_without_checksums_has_none_in_its_journal(struct kunit *test)
{
	struct ring *ring = new_summed_ring(test);
	const struct dmda_op *op;
	const char *why;

	ring->super.incompat = 0;
	put_pages(ring, DMDA_RECORD_MAP, 1);
	put_sums(ring, 1);
	dmda_journal_end_op(&ring->batch);
	op = first_op(ring, &why);
	KUNIT_ASSERT_NOT_NULL(test, op);
	KUNIT_EXPECT_STREQ(test, dmda_op_complaint(op, &ring->super),
			   "an operation of the journal has not a checksum of each of its pages");
	ring->op.nr_sums = 0;
	KUNIT_EXPECT_NULL(test, dmda_op_complaint(op, &ring->super));
}

static struct kunit_case journal_cases[] = {
	KUNIT_CASE(operations_come_back_also_across_sectors),
	KUNIT_CASE(an_operation_that_is_cut_off_does_not_count),
	KUNIT_CASE(a_batch_is_a_multiple_of_the_unit),
	KUNIT_CASE(all_of_a_batch_can_be_used_whatever_the_size_of_the_ring),
	KUNIT_CASE(any_changed_byte_ends_the_journal),
	KUNIT_CASE(a_sector_of_another_past_is_no_successor),
	KUNIT_CASE(a_sector_of_an_older_lap_is_no_successor),
	KUNIT_CASE(a_sector_of_another_device_is_no_successor),
	KUNIT_CASE(a_sector_far_behind_the_end_shows_damage),
	KUNIT_CASE(bytes_that_are_no_records_are_refused),
	KUNIT_CASE(a_record_of_too_many_pages_is_none),
	KUNIT_CASE(a_record_of_checksums_is_as_long_as_it_says),
	KUNIT_CASE(an_operation_of_too_many_records_is_refused),
	KUNIT_CASE(a_sector_of_other_numbers_is_none),
	KUNIT_CASE(checksums_come_back_also_across_sectors),
	KUNIT_CASE(an_operation_with_checksums_has_the_room_it_was_promised),
	KUNIT_CASE(checksums_that_cannot_be_are_refused),
	KUNIT_CASE(a_device_without_checksums_has_none_in_its_journal),
	{}
};

static struct kunit_suite journal_suite = {
	.name = "dm_dieaware_journal",
	.test_cases = journal_cases,
};

kunit_test_suite(journal_suite);

MODULE_DESCRIPTION("Records of the journal");
MODULE_LICENSE("GPL");
