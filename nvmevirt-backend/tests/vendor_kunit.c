// SPDX-License-Identifier: GPL-2.0-only
/* The wire format of include/dieaware/vendor.h, pinned, as hint_kunit.c does for hint.h. */
#include <kunit/test.h>

#include <dieaware/platform.h>
#include <dieaware/hint.h>
#include <dieaware/vendor.h>

#define EXPECT_AT(test, type, member, at) \
	KUNIT_EXPECT_EQ(test, offsetof(struct type, member), (size_t)(at))

static_assert(sizeof(struct dieaware_share_range) == 32);
static_assert(sizeof(struct dieaware_spread_range) == 16);

static void opcodes_are_the_vendors_and_take_data(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, DIEAWARE_CMD_SHARE, 0x81);
	KUNIT_EXPECT_EQ(test, DIEAWARE_CMD_REDISTRIBUTE, 0x85);
	KUNIT_EXPECT_EQ(test, DIEAWARE_CMD_COMPACT, 0x84);
	KUNIT_EXPECT_EQ(test, DIEAWARE_CMD_SHARE & 3, 1);
	KUNIT_EXPECT_EQ(test, DIEAWARE_CMD_REDISTRIBUTE & 3, 1);
}

static void features_are_bits_of_their_own(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, DIEAWARE_FEATURE_SHARE, 4U);
	KUNIT_EXPECT_EQ(test, DIEAWARE_FEATURE_REDISTRIBUTE, 8U);
	KUNIT_EXPECT_EQ(test, DIEAWARE_FEATURE_COMPACT, 32U);
	KUNIT_EXPECT_EQ(test, (DIEAWARE_FEATURE_SHARE | DIEAWARE_FEATURE_REDISTRIBUTE |
			 DIEAWARE_FEATURE_COMPACT) &
			(DIEAWARE_FEATURE_APPEND | DIEAWARE_FEATURE_OVERWRITE |
			 DIEAWARE_FEATURE_BEGIN), 0U);
}

static void ranges_are_as_they_were(struct kunit *test)
{
	EXPECT_AT(test, dieaware_share_range, from, 0);
	EXPECT_AT(test, dieaware_share_range, to, 8);
	EXPECT_AT(test, dieaware_share_range, nr_lbas, 16);
	EXPECT_AT(test, dieaware_share_range, reserved, 20);
	EXPECT_AT(test, dieaware_spread_range, first, 0);
	EXPECT_AT(test, dieaware_spread_range, nr_lbas, 8);
	EXPECT_AT(test, dieaware_spread_range, reserved, 12);
	KUNIT_EXPECT_EQ(test, DIEAWARE_CDW10_NR_RANGES(0xffff007fU), 128U);
}

static void result_has_both_degrees(struct kunit *test)
{
	u32 dw = 875 | 31 << 16 | DIEAWARE_SPREAD_DONE;

	KUNIT_EXPECT_EQ(test, dw, 0x801f036bU);
	KUNIT_EXPECT_EQ(test, DIEAWARE_SPREAD_BEFORE(dw), 875U);
	KUNIT_EXPECT_EQ(test, DIEAWARE_SPREAD_AFTER(dw), 31U);
	KUNIT_EXPECT_EQ(test, DIEAWARE_CDW11_THRESHOLD(~0U), (u32)DIEAWARE_THRESHOLD_DEFAULT);
}

static struct kunit_case vendor_cases[] = {
	KUNIT_CASE(opcodes_are_the_vendors_and_take_data),
	KUNIT_CASE(features_are_bits_of_their_own),
	KUNIT_CASE(ranges_are_as_they_were),
	KUNIT_CASE(result_has_both_degrees),
	{}
};

static struct kunit_suite vendor_suite = {
	.name = "nvmev_vendor",
	.test_cases = vendor_cases,
};

kunit_test_suite(vendor_suite);

MODULE_DESCRIPTION("The wire format of the vendor-specific commands");
MODULE_LICENSE("GPL");
