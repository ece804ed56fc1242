// SPDX-License-Identifier: GPL-2.0-only
/* Classification: every rule, and what each of them must not be fooled by. */
#include <kunit/test.h>

#include "../core/classify.c"

#define FILE_A	((struct dmda_file){ .id = 0xa })
#define FILE_B	((struct dmda_file){ .id = 0xb })

static struct dmda_run write_of(struct dmda_file file, u64 fpage, u64 dpn, u32 nr_pages)
{
	return (struct dmda_run) {
		.file = file, .fpage = fpage, .dpn = to_dpn(dpn), .nr_pages = nr_pages };
}

static struct dmda_owner owner_of(struct dmda_file file, u64 fpage, u32 nr_pages)
{
	return (struct dmda_owner) { .file = file, .fpage = fpage, .nr_pages = nr_pages };
}

static struct dmda_neighbour neighbour_at(u64 dpn, struct dmda_owner owner)
{
	return (struct dmda_neighbour) { .dpn = to_dpn(dpn), .owner = owner };
}

static const struct dmda_neighbour no_neighbour = { .dpn = DPN_NONE };

static void expect(struct kunit *test, const struct dmda_verdict *verdict, enum dmda_hint hint,
		   dpn_t pred, u32 nr_pages)
{
	KUNIT_EXPECT_EQ(test, (int)verdict->hint, (int)hint);
	KUNIT_EXPECT_EQ(test, from_dpn(verdict->pred), from_dpn(pred));
	KUNIT_EXPECT_EQ(test, verdict->nr_pages, nr_pages);
}

static void the_same_page_at_the_same_place_is_an_overwrite(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 10, 500, 4);
	struct dmda_owner here = owner_of(FILE_A, 10, 4);
	struct dmda_verdict verdict;

	KUNIT_ASSERT_TRUE(test, dmda_classify_overwrite(&write, &here, &verdict));
	expect(test, &verdict, DMDA_HINT_OVERWRITE, DPN_NONE, 4);
	dmda_classify(&write, &here, &no_neighbour, 0, &verdict);
	expect(test, &verdict, DMDA_HINT_OVERWRITE, DPN_NONE, 4);
}

static void an_overwrite_wins_over_an_append(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 10, 500, 4);
	struct dmda_owner here = owner_of(FILE_A, 10, 90);
	struct dmda_neighbour before = neighbour_at(499, owner_of(FILE_A, 9, 91));
	struct dmda_verdict verdict;

	dmda_classify(&write, &here, &before, 0, &verdict);
	expect(test, &verdict, DMDA_HINT_OVERWRITE, DPN_NONE, 4);
}

static void an_overwrite_ends_where_the_known_pages_end(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 10, 500, 8);
	struct dmda_owner here = owner_of(FILE_A, 10, 3);
	struct dmda_verdict verdict;

	dmda_classify(&write, &here, &no_neighbour, 8, &verdict);
	expect(test, &verdict, DMDA_HINT_OVERWRITE, DPN_NONE, 3);
}

static void another_page_or_file_at_the_place_is_no_overwrite(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 10, 500, 1);
	struct dmda_owner others[] = {
		owner_of(FILE_A, 11, 5), owner_of(FILE_A, 9, 5), owner_of(FILE_B, 10, 5),
		owner_of(DMDA_ANONYMOUS, 500, 5), DMDA_OWNER_UNKNOWN, owner_of(FILE_A, 10, 0),
	};
	struct dmda_verdict verdict;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		KUNIT_EXPECT_FALSE(test, dmda_classify_overwrite(&write, &others[i], &verdict));
		dmda_classify(&write, &others[i], &no_neighbour, 1, &verdict);
		expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 1);
	}
}

static void a_write_behind_its_predecessor_is_an_append(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 10, 500, 4);
	struct dmda_owner here = DMDA_OWNER_UNKNOWN;
	struct dmda_neighbour before = neighbour_at(77, owner_of(FILE_A, 9, 1));
	struct dmda_verdict verdict;

	dmda_classify(&write, &here, &before, 4, &verdict);
	expect(test, &verdict, DMDA_HINT_APPEND, to_dpn(77), 4);
	/* Also over a page that belonged to another file */
	here = owner_of(FILE_B, 10, 4);
	dmda_classify(&write, &here, &before, 4, &verdict);
	expect(test, &verdict, DMDA_HINT_APPEND, to_dpn(77), 4);
}

static void a_write_of_the_first_page_begins_its_file(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 0, 500, 4);
	struct dmda_owner here = owner_of(FILE_B, 7, 4);
	struct dmda_neighbour before = neighbour_at(499, owner_of(FILE_B, 6, 1));
	struct dmda_verdict verdict;

	dmda_classify(&write, &here, &before, 3, &verdict);
	expect(test, &verdict, DMDA_HINT_APPEND, DPN_NONE, 3);
	/* Not when it is there already, and not if the file is unknown */
	here = owner_of(FILE_A, 0, 4);
	dmda_classify(&write, &here, &no_neighbour, 4, &verdict);
	expect(test, &verdict, DMDA_HINT_OVERWRITE, DPN_NONE, 4);
	write = write_of(DMDA_ANONYMOUS, 0, 0, 4);
	dmda_classify(&write, &DMDA_OWNER_UNKNOWN, &no_neighbour, 4, &verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 4);
}

static void device_page_zero_is_a_predecessor(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 1, 1, 1);
	struct dmda_owner here = DMDA_OWNER_UNKNOWN;
	struct dmda_neighbour before = neighbour_at(0, owner_of(FILE_A, 0, 1));
	struct dmda_verdict verdict;

	dmda_classify(&write, &here, &before, 1, &verdict);
	expect(test, &verdict, DMDA_HINT_APPEND, to_dpn(0), 1);
}

static void a_stale_predecessor_is_not_believed(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 10, 500, 4);
	struct dmda_owner here = DMDA_OWNER_UNKNOWN;
	struct dmda_owner others[] = {
		DMDA_OWNER_UNKNOWN, owner_of(FILE_B, 9, 1), owner_of(FILE_A, 8, 1),
		owner_of(FILE_A, 10, 1), owner_of(DMDA_ANONYMOUS, 77, 1), owner_of(FILE_A, 9, 0),
	};
	struct dmda_verdict verdict;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		struct dmda_neighbour before = neighbour_at(77, others[i]);

		dmda_classify(&write, &here, &before, 4, &verdict);
		expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 4);
	}
}

static void a_page_at_the_same_place_of_another_file_may_be_both(struct kunit *test)
{
	struct dmda_owner owner = owner_of(FILE_B, 9, 4);

	KUNIT_EXPECT_TRUE(test, dmda_classify_is_alias(&owner, 9));
	KUNIT_EXPECT_FALSE(test, dmda_classify_is_alias(&owner, 10));
	owner.file.id = 0;
	KUNIT_EXPECT_FALSE(test, dmda_classify_is_alias(&owner, 9));
	KUNIT_EXPECT_FALSE(test, dmda_classify_is_alias(&DMDA_OWNER_UNKNOWN, 0));
}

static void the_first_page_of_a_file_has_no_predecessor(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 0, 500, 4);
	struct dmda_owner here = DMDA_OWNER_UNKNOWN;
	/* What a wrapped page number would find */
	struct dmda_neighbour before = neighbour_at(77, owner_of(FILE_A, U64_MAX, 1));
	struct dmda_verdict verdict;

	dmda_classify(&write, &here, &before, 4, &verdict);
	expect(test, &verdict, DMDA_HINT_APPEND, DPN_NONE, 4);
}

static void a_verdict_ends_before_a_later_overwrite(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 10, 500, 8);
	struct dmda_owner here = DMDA_OWNER_UNKNOWN;
	struct dmda_neighbour before = neighbour_at(77, owner_of(FILE_A, 9, 1));
	struct dmda_verdict verdict;

	dmda_classify(&write, &here, &before, 5, &verdict);
	expect(test, &verdict, DMDA_HINT_APPEND, to_dpn(77), 5);
	dmda_classify(&write, &here, &no_neighbour, 5, &verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 5);
}

static void a_verdict_holds_for_a_page_at_least_and_the_write_at_most(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 10, 500, 8);
	struct dmda_owner here = DMDA_OWNER_UNKNOWN;
	struct dmda_verdict verdict;

	/* 0 happens when another CPU teaches the table between two look-ups */
	dmda_classify(&write, &here, &no_neighbour, 0, &verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 1);
	dmda_classify(&write, &here, &no_neighbour, U32_MAX, &verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 8);
	here = owner_of(FILE_A, 10, U32_MAX);
	dmda_classify(&write, &here, &no_neighbour, 0, &verdict);
	expect(test, &verdict, DMDA_HINT_OVERWRITE, DPN_NONE, 8);
}

static void an_unknown_file_continues_its_neighbour(struct kunit *test)
{
	struct dmda_run write = write_of(DMDA_ANONYMOUS, 500, 500, 4);
	struct dmda_owner here = DMDA_OWNER_UNKNOWN;
	struct dmda_neighbour before = neighbour_at(499, owner_of(DMDA_ANONYMOUS, 499, 1));
	struct dmda_verdict verdict;

	dmda_classify(&write, &here, &before, 2, &verdict);
	expect(test, &verdict, DMDA_HINT_APPEND, to_dpn(499), 4);
	/* The place belonged to a known file before */
	here = owner_of(FILE_A, 10, 4);
	dmda_classify(&write, &here, &before, 4, &verdict);
	expect(test, &verdict, DMDA_HINT_APPEND, to_dpn(499), 4);
}

static void an_unknown_file_does_not_continue_a_known_one(struct kunit *test)
{
	struct dmda_run write = write_of(DMDA_ANONYMOUS, 500, 500, 4);
	struct dmda_owner here = DMDA_OWNER_UNKNOWN;
	struct dmda_neighbour before = neighbour_at(499, owner_of(FILE_A, 499, 1));
	struct dmda_verdict verdict;

	dmda_classify(&write, &here, &before, 4, &verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 4);
	before = neighbour_at(499, DMDA_OWNER_UNKNOWN);
	dmda_classify(&write, &here, &before, 4, &verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 4);
	dmda_classify(&write, &here, &no_neighbour, 4, &verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 4);
}

static void an_unknown_file_never_overwrites(struct kunit *test)
{
	struct dmda_run write = write_of(DMDA_ANONYMOUS, 500, 500, 4);
	struct dmda_owner here = owner_of(DMDA_ANONYMOUS, 500, 4);
	struct dmda_neighbour before = neighbour_at(499, owner_of(DMDA_ANONYMOUS, 499, 5));
	struct dmda_verdict verdict;

	KUNIT_EXPECT_FALSE(test, dmda_classify_overwrite(&write, &here, &verdict));
	/* Nor does it append: the page it would follow goes on here already */
	dmda_classify(&write, &here, &before, 4, &verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 4);
}

static void an_overwrite_in_part_follows_its_predecessor_as_a_whole(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 10, 500, 3);
	struct dmda_neighbour before = neighbour_at(77, owner_of(FILE_A, 9, 1));
	struct dmda_verdict verdict;

	dmda_classify_whole(&write, &before, &verdict);
	expect(test, &verdict, DMDA_HINT_APPEND, to_dpn(77), 3);
	/* It may be stale, or not be known. */
	before.owner.fpage = 8;
	dmda_classify_whole(&write, &before, &verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 3);
	dmda_classify_whole(&write, &no_neighbour, &verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 3);
	/* A file of which a part is there has begun. */
	write.fpage = 0;
	dmda_classify_whole(&write, &no_neighbour, &verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 3);
}

static u32 cut_at(u64 sector, u32 nr_pages, u32 nr_alike, u32 whole_sectors)
{
	return dmda_classify_cut(sector, nr_pages, nr_alike, whole_sectors,
				 DMDA_LEAST_PIECE_PAGES);
}

static void no_piece_is_shorter_than_what_is_worth_a_command(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, cut_at(0, 256, 1, 1), 0U);
	KUNIT_EXPECT_EQ(test, cut_at(0, 256, 3, 1), 0U);
	KUNIT_EXPECT_EQ(test, cut_at(0, 256, 4, 1), 4U);
	KUNIT_EXPECT_EQ(test, cut_at(0, 256, 252, 1), 252U);
	KUNIT_EXPECT_EQ(test, cut_at(0, 256, 253, 1), 0U);
	KUNIT_EXPECT_EQ(test, cut_at(0, 8, 4, 1), 4U);
	KUNIT_EXPECT_EQ(test, cut_at(0, 7, 4, 1), 0U);
}

/* Sizes of blocks in sectors, and where in one a write begins, in pages */
static void no_block_of_the_device_is_cut(struct kunit *test)
{
	static const u32 blocks[] = { 1, 8, 32, 128, 512, 2048 };

	for (unsigned int i = 0; i < ARRAY_SIZE(blocks); i++) {
		for (u64 sector = 1ULL << 40; sector < (1ULL << 40) + 4096; sector += 8) {
			for (u32 nr_alike = 1; nr_alike < 300; nr_alike += 7) {
				u32 cut = cut_at(sector, 300, nr_alike, blocks[i]);

				KUNIT_ASSERT_LE(test, cut, nr_alike);
				if (!cut)
					continue;
				KUNIT_ASSERT_EQ(test, (u32)((sector + cut * 8) % blocks[i]), 0U);
				KUNIT_ASSERT_GE(test, cut * 8, blocks[i]);
				KUNIT_ASSERT_GE(test, (300 - cut) * 8, blocks[i]);
			}
		}
	}
	/* One block each is enough; what is alike beyond the last whole one goes with the rest. */
	KUNIT_EXPECT_EQ(test, cut_at(0, 32, 16, 128), 16U);
	KUNIT_EXPECT_EQ(test, cut_at(0, 33, 17, 128), 16U);
	KUNIT_EXPECT_EQ(test, cut_at(0, 32, 15, 128), 0U);
	KUNIT_EXPECT_EQ(test, cut_at(64, 48, 24, 128), 24U);
	KUNIT_EXPECT_EQ(test, cut_at(64, 32, 24, 128), 0U);
	KUNIT_EXPECT_EQ(test, cut_at(64, 48, 8, 128), 0U);
}

static void a_partition_that_begins_within_a_block_is_cut_at_no_page(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, cut_at(63, 256, 128, 8), 0U);
	KUNIT_EXPECT_EQ(test, cut_at(63, 256, 128, 1), 128U);
}

static void a_device_that_knows_no_beginnings_hears_of_none(struct kunit *test)
{
	struct dmda_run write = write_of(FILE_A, 0, 500, 4);
	struct dmda_owner here = DMDA_OWNER_UNKNOWN;
	struct dmda_neighbour before = neighbour_at(77, owner_of(FILE_A, 9, 1));
	struct dmda_verdict verdict;

	dmda_classify(&write, &here, &no_neighbour, 4, &verdict);
	dmda_classify_forgo_begin(&verdict);
	expect(test, &verdict, DMDA_HINT_NONE, DPN_NONE, 4);
	/* The other two it knows. */
	here = owner_of(FILE_A, 0, 4);
	dmda_classify(&write, &here, &no_neighbour, 4, &verdict);
	dmda_classify_forgo_begin(&verdict);
	expect(test, &verdict, DMDA_HINT_OVERWRITE, DPN_NONE, 4);
	write.fpage = 10;
	dmda_classify(&write, &DMDA_OWNER_UNKNOWN, &before, 4, &verdict);
	dmda_classify_forgo_begin(&verdict);
	expect(test, &verdict, DMDA_HINT_APPEND, to_dpn(77), 4);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(the_same_page_at_the_same_place_is_an_overwrite),
	KUNIT_CASE(an_overwrite_wins_over_an_append),
	KUNIT_CASE(an_overwrite_ends_where_the_known_pages_end),
	KUNIT_CASE(another_page_or_file_at_the_place_is_no_overwrite),
	KUNIT_CASE(a_write_behind_its_predecessor_is_an_append),
	KUNIT_CASE(a_write_of_the_first_page_begins_its_file),
	KUNIT_CASE(device_page_zero_is_a_predecessor),
	KUNIT_CASE(a_stale_predecessor_is_not_believed),
	KUNIT_CASE(a_page_at_the_same_place_of_another_file_may_be_both),
	KUNIT_CASE(the_first_page_of_a_file_has_no_predecessor),
	KUNIT_CASE(a_verdict_ends_before_a_later_overwrite),
	KUNIT_CASE(a_verdict_holds_for_a_page_at_least_and_the_write_at_most),
	KUNIT_CASE(an_unknown_file_continues_its_neighbour),
	KUNIT_CASE(an_unknown_file_does_not_continue_a_known_one),
	KUNIT_CASE(an_unknown_file_never_overwrites),
	KUNIT_CASE(a_device_that_knows_no_beginnings_hears_of_none),
	KUNIT_CASE(an_overwrite_in_part_follows_its_predecessor_as_a_whole),
	KUNIT_CASE(no_piece_is_shorter_than_what_is_worth_a_command),
	KUNIT_CASE(no_block_of_the_device_is_cut),
	KUNIT_CASE(a_partition_that_begins_within_a_block_is_cut_at_no_page),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_classify",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of dm-dieaware's classification of writes");
MODULE_LICENSE("GPL");
