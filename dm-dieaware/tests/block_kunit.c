// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of metadata that are whole, and do not belong here: of another device, place or time, or
 * with numbers that lead out of the device. Each is sealed anew, so that its checksum says nothing.
 */
#include <kunit/test.h>

#include "../core/block.c"
#include "../core/map.c"
#include "../core/root.c"
#include "../core/slots.c"
#include "../core/summary.c"
#include "../core/super.c"

static const u8 uuid[DMDA_UUID_BYTES] = "a device's uuid";
static const u8 other_uuid[DMDA_UUID_BYTES] = "another's uuid!";

/* What a page should have */
static struct dmda_block_id make_id(void)
{
	return (struct dmda_block_id){
		.magic = DMDA_MAGIC_MAP,
		.nr_entries = 7,
		.dpn = to_dpn(1000),
		.index = 3,
		.seq = 40,
		.epoch = 5,
		.uuid = uuid,
	};
}

static void *new_pages(struct kunit *test, u32 nr)
{
	void *pages = kunit_kzalloc(test, nr * DMDA_BLOCK_BYTES, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pages);
	return pages;
}

/* What is said of a page that has these numbers */
static const char *said_of(struct kunit *test, const struct dmda_block_id *has)
{
	const struct dmda_block_id id = make_id();
	void *page = new_pages(test, 1);

	dmda_block_seal(page, has);
	return dmda_block_check(page, &id);
}

static void a_page_that_belongs_elsewhere_is_refused(struct kunit *test)
{
	struct dmda_block_id has[6];
	static const char * const words[] = {
		"magic number", "another device", "another one belongs", "another one belongs",
		"another time", "another time",
	};

	for (u32 i = 0; i < ARRAY_SIZE(has); i++)
		has[i] = make_id();
	KUNIT_EXPECT_NULL(test, said_of(test, &has[0]));
	has[0].magic = DMDA_MAGIC_SEGMENTS;
	has[1].uuid = other_uuid;
	has[2].dpn = to_dpn(1001);
	has[3].index++;
	has[4].seq--;
	has[5].epoch++;
	for (u32 i = 0; i < ARRAY_SIZE(has); i++) {
		const char *why = said_of(test, &has[i]);

		KUNIT_ASSERT_NOT_NULL(test, why);
		KUNIT_EXPECT_TRUE_MSG(test, strstr(why, words[i]), "%s", why);
	}
}

static void fewer_entries_are_fine_and_more_are_not(struct kunit *test)
{
	struct dmda_block_id has = make_id();
	u32 most = has.nr_entries;

	has.nr_entries = 0;
	KUNIT_EXPECT_NULL(test, said_of(test, &has));
	has.nr_entries = most + 1;
	KUNIT_EXPECT_NOT_NULL(test, said_of(test, &has));
}

static void a_time_that_is_not_known_may_be_any(struct kunit *test)
{
	struct dmda_block_id any = make_id();
	void *page = new_pages(test, 1);

	dmda_block_seal(page, &any);
	any.seq = 0;
	any.epoch = 0;
	KUNIT_EXPECT_NULL(test, dmda_block_check(page, &any));
}

static void make_super(struct kunit *test, bool checksums, struct dmda_super *super)
{
	const struct dmda_format format = {
		.uuid = uuid, .label = "test", .nr_device_pages = 262144, .stripe_pages = 512,
		.journal_unit_sectors = 8, .reserve_permille = 80, .checksums = checksums,
	};

	KUNIT_ASSERT_NULL(test, dmda_super_make(&format, super));
}

static void expect_entry(struct kunit *test, struct dmda_map_block *map,
			 const struct dmda_super *super, u32 entry, u64 dpn)
{
	dmda_map_set(map, entry, to_dpn(dpn));
	KUNIT_EXPECT_EQ_MSG(test, !dmda_map_check(map, super), dpn < super->nr_device_pages,
			    "entry %u is %llu of %llu", entry, dpn, super->nr_device_pages);
	dmda_map_set(map, entry, DPN_NONE);
}

/* Around each number from which on another byte of an entry tells, and around the end */
static void expect_entries(struct kunit *test, struct dmda_map_block *map,
			   const struct dmda_super *super, u32 entry)
{
	for (u32 bit = 0; bit < DMDA_DPN_BYTES * 8; bit++)
		expect_entry(test, map, super, entry, 1ull << bit);
	expect_entry(test, map, super, entry, (1ull << (DMDA_DPN_BYTES * 8)) - 1);
	for (u64 dpn = super->nr_device_pages - 300; dpn < super->nr_device_pages + 300; dpn++)
		expect_entry(test, map, super, entry, dpn);
}

/*
 * Any entry of a page, and the last one, for it stands before checksums, or at the end; of a device
 * whose end is a round number, and of others
 */
static void a_map_does_not_lead_out_of_the_device(struct kunit *test)
{
	static const u32 more[] = { 0, 1, 255 };
	struct dmda_map_block *map = new_pages(test, 1);
	struct dmda_super super;

	for (u32 i = 0; i < 2 * ARRAY_SIZE(more); i++) {
		make_super(test, i % 2, &super);
		super.nr_device_pages += more[i / 2];
		/* Behind the entries is something else. */
		memset(map, 0xff, sizeof(*map));
		dmda_map_clear(map, 0, dmda_super_map_entries(&super));
		for (u32 entry = 0; entry < dmda_super_map_entries(&super); entry++) {
			expect_entry(test, map, &super, entry, super.nr_device_pages - 1);
			expect_entry(test, map, &super, entry, super.nr_device_pages);
		}
		expect_entries(test, map, &super, 0);
		expect_entries(test, map, &super, dmda_super_map_entries(&super) - 1);
	}
}

static void what_is_nowhere_has_no_checksum(struct kunit *test)
{
	struct dmda_map_sums_block *map = new_pages(test, 1);
	__le32 sums[2] = { cpu_to_le32(1), cpu_to_le32(2) };

	dmda_map_set_sums((struct dmda_map_block *)map, 4, 2, sums);
	KUNIT_EXPECT_EQ(test, memcmp(&map->sum[4], sums, sizeof(sums)), 0);
	dmda_map_set_sums((struct dmda_map_block *)map, 5, 1, NULL);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(map->sum[4]), 1U);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(map->sum[5]), 0U);
}

/* Of the same device, whole, and of another segment or another page: what was left behind */
static void a_summary_is_that_of_its_segment_as_a_whole(struct kunit *test)
{
	struct dmda_summary_block *summary, *other;
	struct dmda_super super;

	make_super(test, false, &super);
	KUNIT_ASSERT_GT(test, super.summary_pages, 1U);
	summary = new_pages(test, super.summary_pages);
	other = new_pages(test, super.summary_pages);
	dmda_summary_seal(summary, &super, to_seg(1), 1);
	KUNIT_EXPECT_NULL(test, dmda_summary_check(summary, &super, to_seg(1)));
	KUNIT_EXPECT_NOT_NULL(test, dmda_summary_check(summary, &super, to_seg(2)));
	for (u32 page = 0; page < super.summary_pages; page++) {
		struct dmda_block_id as_here = id_of(&super, to_seg(2), page);

		/* It lies there, as a segment's may after growing, and is another one's. */
		memcpy(other, summary, super.summary_pages * DMDA_BLOCK_BYTES);
		as_here.dpn = id_of(&super, to_seg(1), page).dpn;
		dmda_block_seal(&other[page], &as_here);
		KUNIT_EXPECT_NOT_NULL(test, dmda_summary_check(other, &super, to_seg(1)));
	}
}

/* Those of a device whose tables were never written */
static struct dmda_slots *new_slots(struct kunit *test, const struct dmda_super *super)
{
	struct dmda_slots *slots = kunit_kcalloc(test, DMDA_NR_TABLES, sizeof(*slots), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, slots);
	for (u32 table = 0; table < DMDA_NR_TABLES; table++) {
		u64 nr = dmda_super_nr_pages(super, table);
		void *memory = kunit_kzalloc(test, dmda_slots_bytes(nr), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, memory);
		dmda_slots_init(&slots[table], nr, memory);
	}
	return slots;
}

/* The lowest bit of its number says where it lies: else the next one would be written over it. */
static void a_root_in_the_others_place_is_refused(struct kunit *test)
{
	struct dmda_root root = { .epoch = 2, .journal.seq = 1 };
	struct dmda_root_block *page = new_pages(test, 1);
	struct dmda_block_id there;
	struct dmda_super super;

	make_super(test, false, &super);
	dmda_root_encode(&root, &super, new_slots(test, &super), 0, page);
	KUNIT_EXPECT_NULL(test, dmda_root_decode(&root, &super, page, 0));
	there = (struct dmda_block_id){
		.magic = DMDA_MAGIC_ROOT, .dpn = to_dpn(super.root_dpn[1]), .seq = 2, .epoch = 2,
		.uuid = uuid,
	};
	dmda_block_seal(page, &there);
	KUNIT_EXPECT_NOT_NULL(test, dmda_root_decode(&root, &super, page, 1));
}

/* What is left of the root before the last lies in the same place. */
static void a_root_with_a_page_of_an_older_one_is_refused(struct kunit *test)
{
	struct dmda_root root = { .epoch = 1, .journal.seq = 1 };
	struct dmda_slots_block *page = new_pages(test, 1);
	struct dmda_slots *slots;
	struct dmda_super super;

	make_super(test, false, &super);
	slots = new_slots(test, &super);
	dmda_root_encode(&root, &super, slots, 1, page);
	KUNIT_EXPECT_NULL(test, dmda_root_decode_entries(&root, &super, 1, page, slots));
	root.epoch = 3;
	KUNIT_EXPECT_NOT_NULL(test, dmda_root_decode_entries(&root, &super, 1, page, slots));
}

static void a_directory_that_its_root_does_not_name_is_refused(struct kunit *test)
{
	struct dmda_slots_block *page = new_pages(test, 1);
	struct dmda_slots *map;
	struct dmda_super super;

	make_super(test, false, &super);
	map = &new_slots(test, &super)[DMDA_TABLE_MAP];
	dmda_directory_encode(&super, map, 0, 1, 4, page);
	KUNIT_EXPECT_NULL(test, dmda_directory_decode(&super, 0, 4 << 1 | 1, page, map));
	KUNIT_EXPECT_NOT_NULL(test, dmda_directory_decode(&super, 0, 6 << 1 | 1, page, map));
	KUNIT_EXPECT_NOT_NULL(test, dmda_directory_decode(&super, 0, 4 << 1, page, map));
}

/* The journal's next operation has a number that no table knows. */
static void tables_know_no_operation_that_is_to_come(struct kunit *test)
{
	static const enum dmda_table tables[] = {
		DMDA_TABLE_SEGMENTS, DMDA_TABLE_OPEN, DMDA_TABLE_MAP,
	};
	struct dmda_slots *slots;
	struct dmda_super super;

	make_super(test, false, &super);
	slots = new_slots(test, &super);
	for (u32 i = 0; i < ARRAY_SIZE(tables); i++) {
		struct dmda_slots *table = &slots[tables[i]];

		dmda_slots_load(table, table->nr_pages - 1, 7 << 1);
		KUNIT_EXPECT_NULL(test, dmda_root_check_times(slots, 8));
		KUNIT_EXPECT_NOT_NULL(test, dmda_root_check_times(slots, 7));
		dmda_slots_load(table, table->nr_pages - 1, 0);
	}
}

static struct kunit_case block_cases[] = {
	KUNIT_CASE(a_page_that_belongs_elsewhere_is_refused),
	KUNIT_CASE(fewer_entries_are_fine_and_more_are_not),
	KUNIT_CASE(a_time_that_is_not_known_may_be_any),
	KUNIT_CASE(a_map_does_not_lead_out_of_the_device),
	KUNIT_CASE(what_is_nowhere_has_no_checksum),
	KUNIT_CASE(a_summary_is_that_of_its_segment_as_a_whole),
	KUNIT_CASE(a_root_in_the_others_place_is_refused),
	KUNIT_CASE(a_root_with_a_page_of_an_older_one_is_refused),
	KUNIT_CASE(a_directory_that_its_root_does_not_name_is_refused),
	KUNIT_CASE(tables_know_no_operation_that_is_to_come),
	{}
};

static struct kunit_suite block_suite = {
	.name = "dm_dieaware_block",
	.test_cases = block_cases,
};

kunit_test_suite(block_suite);

MODULE_DESCRIPTION("Pages of metadata, and what they may say");
MODULE_LICENSE("GPL");
