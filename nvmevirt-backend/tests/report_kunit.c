// SPDX-License-Identifier: GPL-2.0-only
/* Vendor log pages: their layout, pinned, and what they say of drives that are known. */
#include "drive_kunit.h"

#define EXPECT_AT(test, type, member, at) \
	KUNIT_EXPECT_EQ(test, offsetof(struct type, member), (size_t)(at))

static_assert(sizeof(struct dieaware_map_entry) == 8);
static_assert(sizeof(struct dieaware_dof_entry) == 16);
static_assert(sizeof(struct dieaware_log_wear) == 64);
static_assert(sizeof(struct dieaware_wear_die) == 32);
static_assert(sizeof(struct dieaware_wear_eblk) == 8);
static_assert(sizeof(struct dieaware_log_defrag) == 64);
static_assert(sizeof(struct dieaware_log_late) == 248);

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

static void layouts_are_as_they_were(struct kunit *test)
{
	EXPECT_AT(test, dieaware_map_entry, die, 0);
	EXPECT_AT(test, dieaware_map_entry, unit, 4);
	EXPECT_AT(test, dieaware_dof_entry, dof_permille, 0);
	EXPECT_AT(test, dieaware_dof_entry, nr_pages, 4);
	EXPECT_AT(test, dieaware_dof_entry, nr_units, 8);
	EXPECT_AT(test, dieaware_dof_entry, most_units, 12);
	EXPECT_AT(test, dieaware_log_wear, nr_dies, 8);
	EXPECT_AT(test, dieaware_log_wear, eblks_per_die, 12);
	EXPECT_AT(test, dieaware_log_wear, rated_cycles, 16);
	EXPECT_AT(test, dieaware_wear_die, erases, 0);
	EXPECT_AT(test, dieaware_wear_die, erases_least, 8);
	EXPECT_AT(test, dieaware_wear_die, erases_most, 12);
	EXPECT_AT(test, dieaware_wear_die, eblks_free, 16);
	EXPECT_AT(test, dieaware_wear_die, eblks_bad, 20);
	EXPECT_AT(test, dieaware_wear_eblk, erases, 0);
	EXPECT_AT(test, dieaware_wear_eblk, state, 4);
	EXPECT_AT(test, dieaware_log_defrag, entries, 8);
	EXPECT_AT(test, dieaware_log_defrag, most_entries, 12);
	EXPECT_AT(test, dieaware_log_defrag, pages, 16);
	EXPECT_AT(test, dieaware_log_defrag, most_pages, 20);
	EXPECT_AT(test, dieaware_log_defrag, compactions, 24);
	EXPECT_AT(test, dieaware_log_defrag, kept, 32);
	EXPECT_AT(test, dieaware_log_late, late_ns, 4);
	EXPECT_AT(test, dieaware_log_late, completions, 8);
	EXPECT_AT(test, dieaware_log_late, worst_ns, 40);
	EXPECT_AT(test, dieaware_log_late, late_permille, 48);
	EXPECT_AT(test, dieaware_log_late, nr_buckets, 52);
	EXPECT_AT(test, dieaware_log_late, bucket, 56);
}

static void map_says_where_pages_are(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 stripe = ftl->geo.unit_pages * ftl->geo.nr_dies;
	struct dieaware_map_entry *entry = kunit_kcalloc(test, stripe + 2, sizeof(*entry),
							 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, entry);
	write_plain(ftl, 1, stripe);
	ftl_report_map(ftl, to_lpn(0), stripe + 2, entry);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(entry[0].die), DIEAWARE_DIE_NONE);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(entry[0].unit), U32_MAX);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(entry[stripe + 1].die), DIEAWARE_DIE_NONE);
	for (u32 i = 0; i < stripe; i++) {
		KUNIT_EXPECT_EQ(test, le16_to_cpu(entry[i + 1].die), i / ftl->geo.unit_pages);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(entry[i + 1].unit), unit_of(ftl, i + 1));
	}
}

static void dof_of_a_range_is_that_of_its_pages(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 stripe = ftl->geo.unit_pages * ftl->geo.nr_dies;
	void *memory = kunit_kzalloc(test, ftl_dof_bytes(ftl, 2 * stripe), GFP_KERNEL);
	struct dieaware_dof_entry entry;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	memset(memory, 0xff, ftl_dof_bytes(ftl, 2 * stripe));
	ftl_report_dof(ftl, to_lpn(0), 2 * stripe, memory, &entry);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(entry.nr_pages), 0U);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(entry.dof_permille), 0);
	write_plain(ftl, 0, 2 * stripe);
	ftl_report_dof(ftl, to_lpn(0), 2 * stripe, memory, &entry);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(entry.nr_pages), 2 * stripe);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(entry.nr_units), 2 * ftl->geo.nr_dies);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(entry.most_units), 2U);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(entry.dof_permille), 0);
}

static void wear_counts_every_erase(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	const struct ftl_geometry *geo = &ftl->geo;
	u8 *log = kunit_kzalloc(test, ftl_report_wear_bytes(ftl), GFP_KERNEL);
	const struct dieaware_wear_die *die = (void *)(log + sizeof(struct dieaware_log_wear));
	const struct dieaware_wear_eblk *eblk = (void *)(die + geo->nr_dies);
	u64 nr_lpns = ftl->params.nr_lpns;
	struct ftl_report_part whole;

	KUNIT_ASSERT_NOT_NULL(test, log);
	for (u32 round = 0; round < 4; round++)
		for (u64 lpn = 0; lpn < nr_lpns; lpn++)
			write_plain(ftl, lpn, 1);
	whole = (struct ftl_report_part){ .bytes = ftl_report_wear_bytes(ftl), .data = log };
	KUNIT_EXPECT_EQ(test, ftl_report_wear(ftl, 3000, &whole), geo->nr_dies + geo->nr_eblks);
	for (u32 i = 0; i < geo->nr_dies; i++) {
		u64 sum = 0;
		u32 nr_free = 0;

		for (u32 j = 0; j < geo->die_eblks; j++, eblk++) {
			sum += le32_to_cpu(eblk->erases);
			nr_free += eblk->state == DIEAWARE_EBLK_FREE;
		}
		KUNIT_EXPECT_GT(test, sum, 0ULL);
		KUNIT_EXPECT_EQ(test, le64_to_cpu(die[i].erases), sum);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(die[i].eblks_free), nr_free);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(die[i].eblks_bad), 0U);
	}
	KUNIT_EXPECT_PTR_EQ(test, (const u8 *)eblk, (const u8 *)log + ftl_report_wear_bytes(ftl));
}

/* Whatever part is asked for is the same as in the whole, and takes no more entries than it has. */
static void part_of_wear_takes_what_it_has(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u32 bytes = ftl_report_wear_bytes(ftl);
	u8 *log = kunit_kzalloc(test, bytes, GFP_KERNEL);
	u8 *data = kunit_kzalloc(test, bytes + 64, GFP_KERNEL);
	struct ftl_report_part whole = { .bytes = bytes, .data = log };

	KUNIT_ASSERT_NOT_NULL(test, log);
	KUNIT_ASSERT_NOT_NULL(test, data);
	for (u64 lpn = 0; lpn < ftl->params.nr_lpns; lpn++)
		write_plain(ftl, lpn, 1);
	ftl_report_wear(ftl, 3000, &whole);
	for (u32 first = 0; first <= bytes; first += 4) {
		for (u32 nr = 4; nr <= 60; nr += 28) {
			struct ftl_report_part part = { first, nr, data };
			u32 present = min(nr, bytes - first);

			memset(data, 0xff, nr);
			KUNIT_ASSERT_LE(test, ftl_report_wear(ftl, 3000, &part),
					nr / (u32)sizeof(struct dieaware_wear_eblk) + 2);
			KUNIT_ASSERT_EQ(test, memcmp(data, log + first, present), 0);
			KUNIT_ASSERT_EQ(test, data[present], nr > present ? 0xff : data[present]);
		}
	}
}

static struct kunit_case report_cases[] = {
	KUNIT_CASE(layouts_are_as_they_were),
	KUNIT_CASE_PARAM(map_says_where_pages_are, shape_gen_params),
	KUNIT_CASE_PARAM(dof_of_a_range_is_that_of_its_pages, shape_gen_params),
	KUNIT_CASE_PARAM(wear_counts_every_erase, shape_gen_params),
	KUNIT_CASE_PARAM(part_of_wear_takes_what_it_has, shape_gen_params),
	{}
};

static struct kunit_suite report_suite = {
	.name = "nvmev_report",
	.test_cases = report_cases,
};

kunit_test_suite(report_suite);

MODULE_DESCRIPTION("Vendor log pages");
MODULE_LICENSE("GPL");
