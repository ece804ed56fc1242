// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metadata that was written well, its checksum included, and has numbers that cannot be: each kind
 * is refused with a sentence of its own, before anything is taken from it.
 */
#include <kunit/test.h>

#include "../core/block.c"
#include "../core/super.c"
#include "../core/record.c"
#include "../core/journal.c"
#include "../core/replay.c"
#include "../core/slots.c"
#include "../core/bitset.c"
#include "../core/ranks.c"
#include "../core/segments.c"
#include "../core/root.c"
#include "small_device.h"

static const u8 own_uuid[DMDA_UUID_BYTES] = { 1 };

static void *test_page(struct kunit *test)
{
	void *page = kunit_kzalloc(test, DMDA_BLOCK_BYTES, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	return page;
}

static struct dmda_super *new_super(struct kunit *test)
{
	struct dmda_super *super = kunit_kzalloc(test, sizeof(*super), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, super);
	make_small_device(test, super);
	return super;
}

/* It was changed, and its checksum is that of what it is now. */
static void seal_again(void *page)
{
	struct dmda_block_header *header = page;

	header->crc = cpu_to_le32(block_checksum(page));
}

static void a_page_of_another_version_is_refused(struct kunit *test)
{
	const struct dmda_block_id id = {
		.magic = DMDA_MAGIC_MAP, .nr_entries = 7, .dpn = to_dpn(9), .index = 3, .seq = 5,
		.epoch = 4, .uuid = own_uuid,
	};
	struct dmda_block_header *header = test_page(test);

	dmda_block_seal(header, &id);
	KUNIT_EXPECT_NULL(test, dmda_block_check(header, &id));
	header->version = cpu_to_le16(DMDA_FORMAT_VERSION + 1);
	KUNIT_EXPECT_STREQ(test, dmda_block_check(header, &id),
			   "a page of metadata has a wrong checksum");
	seal_again(header);
	KUNIT_EXPECT_STREQ(test, dmda_block_check(header, &id),
			   "a page of metadata has an unknown version");
}

/*
 * Roots
 */

struct root_case {
	struct dmda_super *super;
	struct dmda_root root;
	struct dmda_slots slots[DMDA_NR_TABLES];
	struct dmda_root_block *page;
};

static struct root_case *new_root(struct kunit *test)
{
	struct root_case *one = kunit_kzalloc(test, sizeof(*one), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, one);
	one->super = new_super(test);
	one->page = test_page(test);
	one->root = (struct dmda_root){ .epoch = 4, .journal.seq = 1 };
	return one;
}

/* Return: what is said of the root where one of this epoch does not belong, or does. */
static const char *take_root(struct root_case *one, u32 which)
{
	struct dmda_root found;

	return dmda_root_decode(&found, one->super, one->page, which);
}

/* A root whose numbers are these, in the place that it names */
static const char *take_numbers(struct root_case *one, u64 epoch, u64 seq, u32 which)
{
	struct dmda_block_header *header = &one->page->header;

	one->root.epoch = epoch;
	one->root.journal.seq = seq;
	dmda_root_encode(&one->root, one->super, one->slots, 0, one->page);
	header->dpn = cpu_to_le64(one->super->root_dpn[which]);
	seal_again(header);
	return take_root(one, which);
}

static void a_root_has_the_epoch_of_its_place(struct kunit *test)
{
	static const char impossible[] = "a root has impossible numbers";
	struct root_case *one = new_root(test);

	KUNIT_EXPECT_NULL(test, take_numbers(one, 4, 1, 0));
	KUNIT_EXPECT_NULL(test, take_numbers(one, 5, 1, 1));
	KUNIT_EXPECT_STREQ(test, take_numbers(one, 5, 1, 0), impossible);
	KUNIT_EXPECT_STREQ(test, take_numbers(one, 4, 1, 1), impossible);
	KUNIT_EXPECT_STREQ(test, take_numbers(one, 0, 1, 0), impossible);
	KUNIT_EXPECT_STREQ(test, take_numbers(one, 4, 0, 0), impossible);
}

static void a_root_is_of_as_many_pages_as_the_device_has(struct kunit *test)
{
	struct root_case *one = new_root(test);
	__le64 *const numbers[] = {
		&one->page->nr_segment_entries,
		&one->page->nr_open_entries,
		&one->page->nr_directory_entries,
	};

	for (u32 i = 0; i < ARRAY_SIZE(numbers); i++) {
		KUNIT_EXPECT_NULL(test, take_numbers(one, 4, 1, 0));
		*numbers[i] = cpu_to_le64(le64_to_cpu(*numbers[i]) + 1);
		seal_again(one->page);
		KUNIT_EXPECT_STREQ(test, take_root(one, 0),
				   "a root is of a device of another size");
	}
}

/*
 * Segments
 */

struct segments_case {
	struct dmda_super *super;
	struct dmda_segments segments;
	struct dmda_segments_block *block;
};

/* All are free, and the page says so. */
static struct segments_case *new_segments(struct kunit *test)
{
	struct segments_case *one = kunit_kzalloc(test, sizeof(*one), GFP_KERNEL);
	void *memory;

	KUNIT_ASSERT_NOT_NULL(test, one);
	one->super = new_super(test);
	one->block = test_page(test);
	memory = kunit_kzalloc(test, dmda_segments_bytes(one->super), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	dmda_segments_init(&one->segments, one->super, memory);
	dmda_segments_encode(&one->segments, 0, one->block);
	return one;
}

/* Return: what is said of a page with such an entry. */
static const char *take_segment(struct segments_case *one, u8 state, u8 open, u32 nr_valid)
{
	one->block->segment[2] = (struct dmda_segment_entry){
		.nr_valid = cpu_to_le32(nr_valid), .state = state, .open = open,
	};
	return dmda_segments_decode(&one->segments, 0, one->block);
}

static void a_segment_has_a_known_state_and_as_many_pages_as_it_can(struct kunit *test)
{
	static const char unknown[] = "a segment has an unknown state or open summary";
	static const char too_many[] = "a segment has more valid pages than it can";
	struct segments_case *one = new_segments(test);

	KUNIT_EXPECT_STREQ(test, take_segment(one, DMDA_SEGMENT_CLOSED + 1, 0, 0), unknown);
	KUNIT_EXPECT_STREQ(test, take_segment(one, DMDA_SEGMENT_OPEN, DMDA_MAX_OPEN, 0),
			   unknown);
	KUNIT_EXPECT_STREQ(test, take_segment(one, DMDA_SEGMENT_CLOSED, 0, DATA_PAGES + 1),
			   too_many);
	KUNIT_EXPECT_STREQ(test, take_segment(one, DMDA_SEGMENT_CLOSED, 0, U32_MAX), too_many);
	KUNIT_EXPECT_STREQ(test, take_segment(one, DMDA_SEGMENT_FREE, 0, 1), too_many);
	/* Nothing was taken from any of these. */
	KUNIT_EXPECT_EQ(test, one->segments.nr_valid, 0ULL);
	KUNIT_EXPECT_NULL(test, dmda_segments_check(&one->segments));

	KUNIT_EXPECT_NULL(test, take_segment(one, DMDA_SEGMENT_CLOSED, 0, DATA_PAGES));
	KUNIT_EXPECT_NULL(test, take_segment(one, DMDA_SEGMENT_OPEN, DMDA_MAX_OPEN - 1, 5));
	KUNIT_EXPECT_EQ(test, one->segments.nr_valid, 5ULL);
	KUNIT_EXPECT_NULL(test, dmda_segments_check(&one->segments));
}

static void a_segment_gets_no_more_pages_than_it_has(struct kunit *test)
{
	struct segments_case *one = new_segments(test);
	struct dmda_record record = {
		.kind = DMDA_RECORD_MAP, .nr_pages = DATA_PAGES - 4,
		.dpn = dmda_super_segment_dpn(one->super, to_seg(2)),
	};

	KUNIT_ASSERT_NULL(test, take_segment(one, DMDA_SEGMENT_OPEN, 0, 5));
	KUNIT_EXPECT_STREQ(test, dmda_segments_apply(&one->segments, &record, 1),
			   "a segment gets more valid pages than it can have");
	KUNIT_EXPECT_EQ(test, one->segments.segment[2].nr_valid, 5U);
	record.nr_pages--;
	KUNIT_EXPECT_NULL(test, dmda_segments_apply(&one->segments, &record, 1));
	KUNIT_EXPECT_EQ(test, one->segments.segment[2].nr_valid, (u32)DATA_PAGES);
}

/* Not one that cannot have happened. */
static void the_table_learns_of_an_operation_of_one_record(struct kunit *test)
{
	struct segments_case *one = new_segments(test);
	const struct dmda_segments_page *page = one->segments.page;
	struct dmda_record record = {
		.kind = DMDA_RECORD_MAP, .nr_pages = 3,
		.dpn = dmda_super_segment_dpn(one->super, to_seg(2)),
	};

	KUNIT_ASSERT_NULL(test, take_segment(one, DMDA_SEGMENT_OPEN, 0, 5));
	for (u32 i = 0; i < 2; i++) {
		KUNIT_EXPECT_NULL(test, dmda_segments_apply_only(&one->segments, &record, 7, 9));
		KUNIT_EXPECT_EQ(test, one->segments.segment[2].nr_valid, 8U);
		KUNIT_EXPECT_EQ(test, page->seq, 7ULL);
		KUNIT_EXPECT_EQ(test, page->dirty_sector, 9ULL);
	}
	record.nr_pages = DATA_PAGES;
	KUNIT_EXPECT_NOT_NULL(test, dmda_segments_apply_only(&one->segments, &record, 8, 10));
	KUNIT_EXPECT_EQ(test, page->seq, 7ULL);
}

static void the_check_of_segments_finds_what_does_not_fit(struct kunit *test)
{
	struct segments_case *one = new_segments(test);
	struct dmda_segments *segments = &one->segments;
	struct dmda_segment *segment = &segments->segment[2];

	KUNIT_ASSERT_NULL(test, take_segment(one, DMDA_SEGMENT_CLOSED, 0, 5));
	KUNIT_EXPECT_NULL(test, dmda_segments_check(segments));

	segment->nr_valid = DATA_PAGES + 1;
	KUNIT_EXPECT_STREQ(test, dmda_segments_check(segments),
			   "a segment has more valid pages than it can");
	segment->nr_valid = 5;

	segment->state = DMDA_SEGMENT_FREE;
	KUNIT_EXPECT_STREQ(test, dmda_segments_check(segments), "a free segment has valid pages");
	segment->state = DMDA_SEGMENT_CLOSED;

	dmda_bitset_put(&segments->free, 2, true);
	KUNIT_EXPECT_STREQ(test, dmda_segments_check(segments),
			   "a segment is not among those that it belongs to");
	dmda_bitset_put(&segments->free, 2, false);
	dmda_bitset_put(&segments->empty, 2, true);
	KUNIT_EXPECT_STREQ(test, dmda_segments_check(segments),
			   "a segment is not among those that it belongs to");
	dmda_bitset_put(&segments->empty, 2, false);

	segment->nr_valid = 6;
	segments->nr_valid = 6;
	KUNIT_EXPECT_STREQ(test, dmda_segments_check(segments),
			   "a segment is not among those that have as many valid pages");
	segment->nr_valid = 5;
	KUNIT_EXPECT_STREQ(test, dmda_segments_check(segments),
			   "sums over the segments are wrong");
	segments->nr_valid = 5;
	KUNIT_EXPECT_NULL(test, dmda_segments_check(segments));
}

/*
 * Records
 */

/* Return: what is said of a sector with these bytes as records. */
static const char *replay_bytes(struct kunit *test, const u8 *bytes, u32 nr)
{
	struct dmda_journal_sector *sector = test_page(test);
	struct dmda_op *op = kunit_kzalloc(test, sizeof(*op), GFP_KERNEL);
	struct dmda_replay replay;

	KUNIT_ASSERT_NOT_NULL(test, op);
	memcpy(sector->records, bytes, nr);
	sector->nr_bytes = cpu_to_le16(nr);
	dmda_replay_init(&replay, op, 1);
	dmda_replay_sector(&replay, sector);
	KUNIT_EXPECT_NULL(test, dmda_replay_next(&replay));
	return replay.why;
}

static void what_is_no_record_ends_the_journal(struct kunit *test)
{
	static const char none[] = "the journal has a record that is none";
	const struct dmda_record map = {
		.kind = DMDA_RECORD_MAP, .nr_pages = 1, .lpn = to_lpn(1), .dpn = to_dpn(2),
		.is_last = true,
	};
	u8 bytes[sizeof(struct dmda_record_map)];

	dmda_record_encode(bytes, &map);
	/* Cut off, of an unknown kind, of no pages */
	KUNIT_EXPECT_STREQ(test, replay_bytes(test, bytes, sizeof(bytes) - 1), none);
	bytes[0] = 0x7f;
	KUNIT_EXPECT_STREQ(test, replay_bytes(test, bytes, sizeof(bytes)), none);
	dmda_record_encode(bytes, &map);
	memset(((struct dmda_record_map *)bytes)->nr_pages, 0, 2);
	KUNIT_EXPECT_STREQ(test, replay_bytes(test, bytes, sizeof(bytes)), none);
}

/* A MAP and more DEAD than any write can take the place of, over many sectors */
static void an_operation_has_an_end(struct kunit *test)
{
	struct dmda_record record = {
		.kind = DMDA_RECORD_MAP, .nr_pages = 1, .lpn = to_lpn(1), .dpn = to_dpn(2),
	};
	struct dmda_journal_sector *sector = test_page(test);
	struct dmda_op *op = kunit_kzalloc(test, sizeof(*op), GFP_KERNEL);
	struct dmda_replay replay;
	u32 nr;

	KUNIT_ASSERT_NOT_NULL(test, op);
	dmda_replay_init(&replay, op, 1);
	for (nr = 0; nr <= DMDA_MAX_OP_RECORDS && !replay.why; nr++) {
		dmda_record_encode(sector->records, &record);
		sector->nr_bytes = cpu_to_le16(dmda_record_bytes(&record));
		dmda_replay_sector(&replay, sector);
		KUNIT_EXPECT_NULL(test, dmda_replay_next(&replay));
		record.kind = DMDA_RECORD_DEAD;
	}
	KUNIT_EXPECT_EQ(test, nr, DMDA_MAX_OP_RECORDS + 1);
	KUNIT_ASSERT_NOT_NULL(test, replay.why);
	KUNIT_EXPECT_STREQ(test, replay.why, "an operation of the journal is too long");
	KUNIT_EXPECT_EQ(test, op->nr_records, DMDA_MAX_OP_RECORDS);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_page_of_another_version_is_refused),
	KUNIT_CASE(a_root_has_the_epoch_of_its_place),
	KUNIT_CASE(a_root_is_of_as_many_pages_as_the_device_has),
	KUNIT_CASE(a_segment_has_a_known_state_and_as_many_pages_as_it_can),
	KUNIT_CASE(a_segment_gets_no_more_pages_than_it_has),
	KUNIT_CASE(the_table_learns_of_an_operation_of_one_record),
	KUNIT_CASE(the_check_of_segments_finds_what_does_not_fit),
	KUNIT_CASE(what_is_no_record_ends_the_journal),
	KUNIT_CASE(an_operation_has_an_end),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_damage",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of what dm-dieaware makes of damaged metadata");
MODULE_LICENSE("GPL");
