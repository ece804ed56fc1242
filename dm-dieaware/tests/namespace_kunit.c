// SPDX-License-Identifier: GPL-2.0-only
/* Formats of namespaces: those with metadata are told apart, wherever their number stands. */
#include <kunit/test.h>

#include "../core/namespace.c"

/* One with so many formats, of which format @format has @metadata_bytes, and is not in use */
static u8 *namespace_with(struct kunit *test, u32 nr_formats, u32 format, u16 metadata_bytes)
{
	u8 *id = kunit_kzalloc(test, DMDA_IDENTIFY_BYTES, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, id);
	id[NR_FORMATS_AT] = nr_formats - 1;
	for (u32 i = 0; i < nr_formats; i++)
		id[FORMATS_AT + 4 * i + 2] = 12;
	id[FORMATS_AT + 4 * format] = metadata_bytes & 0xff;
	id[FORMATS_AT + 4 * format + 1] = metadata_bytes >> 8;
	return id;
}

static void metadata_counts_of_the_format_in_use(struct kunit *test)
{
	u8 *id = namespace_with(test, 4, 2, 8);

	KUNIT_EXPECT_FALSE(test, dmda_namespace_has_metadata(id));
	id[FORMAT_AT] = 2;
	KUNIT_EXPECT_TRUE(test, dmda_namespace_has_metadata(id));
	/* The same as a part of each block, of which the kernel tells nobody */
	id[FORMAT_AT] = 2 | BIT(4);
	KUNIT_EXPECT_TRUE(test, dmda_namespace_has_metadata(id));
	id[FORMAT_AT] = 3 | BIT(4);
	KUNIT_EXPECT_FALSE(test, dmda_namespace_has_metadata(id));
}

static void metadata_may_be_whole_pages(struct kunit *test)
{
	u8 *id = namespace_with(test, 4, 2, 4096);

	id[FORMAT_AT] = 2;
	KUNIT_EXPECT_TRUE(test, dmda_namespace_has_metadata(id));
}

static void many_formats_have_longer_numbers(struct kunit *test)
{
	u8 *id = namespace_with(test, 64, 0x35, 8);

	id[FORMAT_AT] = 0x65;
	KUNIT_EXPECT_TRUE(test, dmda_namespace_has_metadata(id));
	id[FORMAT_AT] = 0x25;
	KUNIT_EXPECT_FALSE(test, dmda_namespace_has_metadata(id));
	/* With few formats these bits are none of the number. */
	id = namespace_with(test, 16, 5, 8);
	id[FORMAT_AT] = 0x65;
	KUNIT_EXPECT_TRUE(test, dmda_namespace_has_metadata(id));
}

static void protection_is_metadata(struct kunit *test)
{
	u8 *id = namespace_with(test, 4, 2, 8);

	for (u8 type = 1; type <= 3; type++) {
		id[PROTECTION_AT] = type;
		KUNIT_EXPECT_TRUE(test, dmda_namespace_has_metadata(id));
	}
	/* Where it would stand */
	id[PROTECTION_AT] = BIT(3);
	KUNIT_EXPECT_FALSE(test, dmda_namespace_has_metadata(id));
}

static void any_answer_is_read(struct kunit *test)
{
	u8 *id = namespace_with(test, 1, 0, 0);

	memset(id, 0xff, DMDA_IDENTIFY_BYTES);
	KUNIT_EXPECT_TRUE(test, dmda_namespace_has_metadata(id));
	memset(id, 0, DMDA_IDENTIFY_BYTES);
	KUNIT_EXPECT_FALSE(test, dmda_namespace_has_metadata(id));
}

static void filesystems_hear_of_what_they_can_align_to(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, dmda_stripe_is_worth(32 << 10, 256 << 10, 4096));
	KUNIT_EXPECT_TRUE(test, dmda_stripe_is_worth(96 << 10, 768 << 10, 16384));
	KUNIT_EXPECT_TRUE(test, dmda_stripe_is_worth(DMDA_UNIT_LEAST_BYTES, DMDA_STRIPE_MOST_BYTES,
						     512));
	/* Nothing is known. */
	KUNIT_EXPECT_FALSE(test, dmda_stripe_is_worth(0, 0, 4096));
	KUNIT_EXPECT_FALSE(test, dmda_stripe_is_worth(32 << 10, 0, 4096));
	/* No sense, or so much that all of it would be read ahead twice */
	KUNIT_EXPECT_FALSE(test, dmda_stripe_is_worth(4096, U32_MAX - 4095, 4096));
	KUNIT_EXPECT_FALSE(test, dmda_stripe_is_worth(1 << 20, 32 << 20, 4096));
	KUNIT_EXPECT_FALSE(test, dmda_stripe_is_worth(32 << 20, 32 << 20, 4096));
	KUNIT_EXPECT_FALSE(test, dmda_stripe_is_worth(32 << 10, (1ULL << 32) + (32 << 10), 4096));
	/* No whole units, or blocks */
	KUNIT_EXPECT_FALSE(test, dmda_stripe_is_worth(32 << 10, 48 << 10, 4096));
	KUNIT_EXPECT_FALSE(test, dmda_stripe_is_worth(24 << 10, 96 << 10, 16384));
}

static struct kunit_case namespace_cases[] = {
	KUNIT_CASE(metadata_counts_of_the_format_in_use),
	KUNIT_CASE(metadata_may_be_whole_pages),
	KUNIT_CASE(many_formats_have_longer_numbers),
	KUNIT_CASE(protection_is_metadata),
	KUNIT_CASE(any_answer_is_read),
	KUNIT_CASE(filesystems_hear_of_what_they_can_align_to),
	{}
};

static struct kunit_suite namespace_suite = {
	.name = "dm_dieaware_namespace",
	.test_cases = namespace_cases,
};

kunit_test_suite(namespace_suite);

MODULE_DESCRIPTION("What namespaces say of their format");
MODULE_LICENSE("GPL");
