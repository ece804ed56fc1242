// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looking up where lpns are while the map changes: what was found holds until something changes on
 * its page of the map, and not a moment longer. What may run at the same time in the kernel is done
 * here step by step, at the worst moment.
 */
#include <kunit/test.h>

#include "volume.h"
#include "../core/lookup.c"

#define NR_PAGES	8U

/* Its first pages lie together, and the page of the map that says where is shown. */
static struct volume *volume_with_data_of(struct kunit *test, bool checksums)
{
	struct volume *volume = new_volume_of(test, checksums);
	dpn_t dpn;

	format_volume(volume);
	KUNIT_ASSERT_EQ(test, write_data(volume, DMDA_STREAM_USER, 0, NR_PAGES, 1 << 20, &dpn),
			NR_PAGES);
	map_data(volume, 0, dpn, NR_PAGES);
	dmda_map_page_show(&volume->map[0]);
	return volume;
}

static struct volume *volume_with_data(struct kunit *test)
{
	return volume_with_data_of(test, false);
}

static void overwrite(struct volume *volume, u64 lpn)
{
	dpn_t dpn;

	write_data(volume, DMDA_STREAM_USER, lpn, 1, 2 << 20, &dpn);
	map_data(volume, lpn, dpn, 1);
}

static void what_is_found_is_what_the_map_says(struct kunit *test)
{
	struct volume *volume = volume_with_data(test);
	struct dmda_lookup lookup;
	dpn_t first = dmda_map_get(volume->map[0].block, 0);

	KUNIT_ASSERT_TRUE(test, dmda_lookup_begin(&lookup, &volume->map[0], 2, 100, NULL));
	KUNIT_EXPECT_EQ(test, from_dpn(lookup.dpn), from_dpn(first) + 2);
	KUNIT_EXPECT_EQ(test, lookup.nr_pages, NR_PAGES - 2);
	KUNIT_EXPECT_TRUE(test, dmda_lookup_holds(&lookup));
	KUNIT_ASSERT_TRUE(test, dmda_lookup_begin(&lookup, &volume->map[0], NR_PAGES, 100, NULL));
	KUNIT_EXPECT_EQ(test, from_dpn(lookup.dpn), from_dpn(DPN_NONE));
	KUNIT_EXPECT_EQ(test, lookup.nr_pages, 100U);
}

static void it_holds_until_the_page_of_the_map_changes(struct kunit *test)
{
	struct volume *volume = volume_with_data(test);
	struct dmda_lookup lookup;

	KUNIT_ASSERT_TRUE(test, dmda_lookup_begin(&lookup, &volume->map[0], 0, 1, NULL));
	overwrite(volume, 0);
	KUNIT_EXPECT_FALSE(test, dmda_lookup_holds(&lookup));

	KUNIT_ASSERT_TRUE(test, dmda_lookup_begin(&lookup, &volume->map[0], 0, 1, NULL));
	trim_pages(volume, 0, 1);
	KUNIT_EXPECT_FALSE(test, dmda_lookup_holds(&lookup));

	/* Nobody looks which of its lpns have changed. */
	KUNIT_ASSERT_TRUE(test, dmda_lookup_begin(&lookup, &volume->map[0], 0, 1, NULL));
	overwrite(volume, 5);
	KUNIT_EXPECT_FALSE(test, dmda_lookup_holds(&lookup));
}

static void what_changes_nothing_there_does_not_matter(struct kunit *test)
{
	struct volume *volume = volume_with_data(test);
	struct dmda_lookup lookup;

	KUNIT_ASSERT_TRUE(test, dmda_lookup_begin(&lookup, &volume->map[0], 0, 1, NULL));
	overwrite(volume, DMDA_MAP_ENTRIES);
	trim_pages(volume, NR_PAGES, 4);
	commit(volume);
	KUNIT_EXPECT_TRUE(test, dmda_lookup_holds(&lookup));
}

static void an_operation_on_two_pages_of_the_map_changes_both(struct kunit *test)
{
	struct volume *volume = volume_with_data(test);
	struct dmda_lookup left, right;
	dpn_t dpn;

	dmda_map_page_show(&volume->map[1]);
	KUNIT_ASSERT_TRUE(test, dmda_lookup_begin(&left, &volume->map[0], 0, 1, NULL));
	KUNIT_ASSERT_TRUE(test, dmda_lookup_begin(&right, &volume->map[1], 7, 1, NULL));
	KUNIT_ASSERT_EQ(test, write_data(volume, DMDA_STREAM_USER, DMDA_MAP_ENTRIES - 1, 2, 2 << 20,
					 &dpn), 2U);
	map_data(volume, DMDA_MAP_ENTRIES - 1, dpn, 2);
	KUNIT_EXPECT_FALSE(test, dmda_lookup_holds(&left));
	KUNIT_EXPECT_FALSE(test, dmda_lookup_holds(&right));
}

static void a_page_that_is_changing_is_not_looked_into(struct kunit *test)
{
	struct volume *volume = volume_with_data(test);
	struct dmda_lookup lookup;

	raw_write_seqcount_begin(&volume->map[0].version);
	KUNIT_EXPECT_FALSE(test, dmda_lookup_begin(&lookup, &volume->map[0], 0, 1, NULL));
	raw_write_seqcount_end(&volume->map[0].version);
	KUNIT_EXPECT_TRUE(test, dmda_lookup_begin(&lookup, &volume->map[0], 0, 1, NULL));
}

/* Between a page's going and its memory's, another one with its bytes may have come and changed. */
static void a_page_that_goes_takes_along_what_was_found_in_it(struct kunit *test)
{
	struct volume *volume = volume_with_data(test);
	struct dmda_lookup lookup;

	KUNIT_EXPECT_FALSE(test, dmda_lookup_begin(&lookup, &volume->map[1], 0, 1, NULL));
	KUNIT_ASSERT_TRUE(test, dmda_lookup_begin(&lookup, &volume->map[0], 0, 1, NULL));
	dmda_map_page_hide(&volume->map[0]);
	KUNIT_EXPECT_FALSE(test, dmda_lookup_holds(&lookup));
	KUNIT_EXPECT_FALSE(test, dmda_lookup_begin(&lookup, &volume->map[0], 0, 1, NULL));
}

static void checksums_are_those_of_what_is_found(struct kunit *test)
{
	struct volume *volume = volume_with_data_of(test, true);
	__le32 sums[NR_PAGES + 1] = { 0 };
	struct dmda_lookup lookup;

	KUNIT_ASSERT_TRUE(test, dmda_lookup_begin(&lookup, &volume->map[0], 2, NR_PAGES, sums));
	KUNIT_ASSERT_EQ(test, lookup.nr_pages, NR_PAGES - 2);
	for (u32 i = 0; i < lookup.nr_pages; i++)
		KUNIT_EXPECT_EQ(test, sums[i], sum_of_tag((1 << 20) + 2 + i));
	KUNIT_EXPECT_EQ(test, sums[NR_PAGES - 2], 0U);
}

/* Pages of the map are as large as they are, whatever is asked for. */
static void a_run_ends_with_its_page_of_the_map(struct kunit *test)
{
	struct volume *volume = volume_with_data_of(test, true);
	struct dmda_lookup lookup;

	/* Checksums stand behind the last entry: those of nothing look like entries of nothing. */
	trim_pages(volume, 0, NR_PAGES);
	KUNIT_ASSERT_TRUE(test, dmda_lookup_begin(&lookup, &volume->map[0], NR_PAGES, 1000, NULL));
	KUNIT_EXPECT_EQ(test, lookup.nr_pages, DMDA_MAP_SUMS_ENTRIES - NR_PAGES);
}

static struct kunit_case lookup_cases[] = {
	KUNIT_CASE(what_is_found_is_what_the_map_says),
	KUNIT_CASE(it_holds_until_the_page_of_the_map_changes),
	KUNIT_CASE(what_changes_nothing_there_does_not_matter),
	KUNIT_CASE(an_operation_on_two_pages_of_the_map_changes_both),
	KUNIT_CASE(a_page_that_is_changing_is_not_looked_into),
	KUNIT_CASE(a_page_that_goes_takes_along_what_was_found_in_it),
	KUNIT_CASE(checksums_are_those_of_what_is_found),
	KUNIT_CASE(a_run_ends_with_its_page_of_the_map),
	{}
};

static struct kunit_suite lookup_suite = {
	.name = "dm_dieaware_lookup",
	.test_cases = lookup_cases,
};

kunit_test_suite(lookup_suite);

MODULE_DESCRIPTION("Looking up where lpns are while the map changes");
MODULE_LICENSE("GPL");
