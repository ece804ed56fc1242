// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wire format of include/dieaware/hint.h, pinned. A host and a device of different
 * versions must agree on every number here: change the header, not this file.
 */
#include <kunit/test.h>

#include <dieaware/platform.h>
#include <dieaware/hint.h>

#define EXPECT_AT(test, type, member, at) \
	KUNIT_EXPECT_EQ(test, offsetof(struct type, member), (size_t)(at))

static_assert(sizeof(struct dieaware_id) == 32);
static_assert(sizeof(struct dieaware_log_geometry) == 64);
static_assert(sizeof(struct dieaware_die_stats) == 64);
static_assert(sizeof(struct dieaware_log_dies) == 64);

static void command_bits_are_those_of_the_paper(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, DIEAWARE_CDW12_APPEND, 0x01000000U);
	KUNIT_EXPECT_EQ(test, DIEAWARE_CDW12_OVERWRITE, 0x02000000U);
	KUNIT_EXPECT_EQ(test, DIEAWARE_CONTROL_APPEND, 0x0100U);
	KUNIT_EXPECT_EQ(test, DIEAWARE_CONTROL_OVERWRITE, 0x0200U);
}

static void the_bit_of_a_beginning_is_one_of_its_own(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, DIEAWARE_CDW12_BEGIN, 0x00010000U);
	KUNIT_EXPECT_EQ(test, DIEAWARE_CONTROL_BEGIN, 0x0001U);
	KUNIT_EXPECT_EQ(test, DIEAWARE_FEATURE_BEGIN, 16U);
}

static void identify_data_is_where_it_was(struct kunit *test)
{
	/* Bytes 3072 to 4095 of Identify Controller are the vendor's. */
	KUNIT_EXPECT_GE(test, DIEAWARE_ID_OFFSET, 3072);
	KUNIT_EXPECT_LE(test, DIEAWARE_ID_OFFSET + sizeof(struct dieaware_id), (size_t)4096);
	KUNIT_EXPECT_EQ(test, strlen(DIEAWARE_ID_MAGIC), sizeof_field(struct dieaware_id, magic));
	KUNIT_EXPECT_EQ(test, DIEAWARE_FEATURE_APPEND, 1U);
	KUNIT_EXPECT_EQ(test, DIEAWARE_FEATURE_OVERWRITE, 2U);
	EXPECT_AT(test, dieaware_id, magic, 0);
	EXPECT_AT(test, dieaware_id, version, 8);
	EXPECT_AT(test, dieaware_id, features, 10);
	EXPECT_AT(test, dieaware_id, log_geometry, 12);
	EXPECT_AT(test, dieaware_id, log_dies, 13);
	EXPECT_AT(test, dieaware_id, log_map, 14);
	EXPECT_AT(test, dieaware_id, log_dof, 15);
	EXPECT_AT(test, dieaware_id, log_wear, 16);
	EXPECT_AT(test, dieaware_id, log_defrag, 17);
	EXPECT_AT(test, dieaware_id, log_late, 18);
	EXPECT_AT(test, dieaware_id, reserved, 19);
}

static void geometry_log_is_as_it_was(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, DIEAWARE_LOG_GEOMETRY, 0xc0);
	EXPECT_AT(test, dieaware_log_geometry, version, 0);
	EXPECT_AT(test, dieaware_log_geometry, header_bytes, 2);
	EXPECT_AT(test, dieaware_log_geometry, nr_channels, 4);
	EXPECT_AT(test, dieaware_log_geometry, nr_dies, 8);
	EXPECT_AT(test, dieaware_log_geometry, page_bytes, 12);
	EXPECT_AT(test, dieaware_log_geometry, die_unit_bytes, 16);
	EXPECT_AT(test, dieaware_log_geometry, open_units, 20);
	EXPECT_AT(test, dieaware_log_geometry, stripe_bytes, 24);
	EXPECT_AT(test, dieaware_log_geometry, reserved, 32);
}

static void die_log_is_as_it_was(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, DIEAWARE_LOG_DIES, 0xc1);
	EXPECT_AT(test, dieaware_log_dies, version, 0);
	EXPECT_AT(test, dieaware_log_dies, entry_bytes, 2);
	EXPECT_AT(test, dieaware_log_dies, nr_dies, 4);
	EXPECT_AT(test, dieaware_log_dies, hints_append, 8);
	EXPECT_AT(test, dieaware_log_dies, hints_overwrite, 16);
	EXPECT_AT(test, dieaware_log_dies, hints_ignored, 24);
	EXPECT_AT(test, dieaware_log_dies, writes_plain, 32);
	EXPECT_AT(test, dieaware_log_dies, reserved, 40);
	EXPECT_AT(test, dieaware_log_dies, die, 64);
	EXPECT_AT(test, dieaware_die_stats, units_read, 0);
	EXPECT_AT(test, dieaware_die_stats, units_programmed, 8);
	EXPECT_AT(test, dieaware_die_stats, eblks_erased, 16);
	EXPECT_AT(test, dieaware_die_stats, pages_host, 24);
	EXPECT_AT(test, dieaware_die_stats, pages_gc, 32);
	EXPECT_AT(test, dieaware_die_stats, pages_valid, 40);
	EXPECT_AT(test, dieaware_die_stats, busy_ns, 48);
	EXPECT_AT(test, dieaware_die_stats, reserved, 56);
}

static struct kunit_case hint_cases[] = {
	KUNIT_CASE(command_bits_are_those_of_the_paper),
	KUNIT_CASE(the_bit_of_a_beginning_is_one_of_its_own),
	KUNIT_CASE(identify_data_is_where_it_was),
	KUNIT_CASE(geometry_log_is_as_it_was),
	KUNIT_CASE(die_log_is_as_it_was),
	{}
};

static struct kunit_suite hint_suite = {
	.name = "nvmev_hint",
	.test_cases = hint_cases,
};

kunit_test_suite(hint_suite);

MODULE_DESCRIPTION("The hint contract's numbers");
MODULE_LICENSE("GPL");
