// SPDX-License-Identifier: GPL-2.0-only
/* The answer to the message "where": its lines, and what is left out when it is full. */
#include <kunit/test.h>

#include "../core/map.c"
#include "../core/where.c"

#define MEMORY_BYTES	4096

/**
 * struct answer - an answer and the page of the map that it is about
 * @where: the answer
 * @super: superblock of the device
 * @map: the page
 * @text: memory of @where
 */
struct answer {
	struct dmda_where where;
	struct dmda_super super;
	struct dmda_map_block map;
	char text[MEMORY_BYTES];
};

static struct answer *new_answer(struct kunit *test, u64 lpn, size_t bytes)
{
	struct answer *answer = kunit_kzalloc(test, sizeof(*answer), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, answer);
	memset(answer->text, 'x', sizeof(answer->text));
	dmda_where_begin(&answer->where, &answer->super, to_lpn(lpn), answer->text, bytes);
	return answer;
}

static void map_pages(struct answer *answer, u32 entry, u64 dpn, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		dmda_map_set(&answer->map, entry + i, to_dpn(dpn + i));
}

static void nothing_was_asked(struct kunit *test)
{
	struct answer *answer = new_answer(test, 77, MEMORY_BYTES);

	dmda_where_end(&answer->where);
	KUNIT_EXPECT_STREQ(test, answer->text, "next=77");
}

static void runs_and_holes_have_lines(struct kunit *test)
{
	struct answer *answer = new_answer(test, 3, MEMORY_BYTES);

	map_pages(answer, 0, 100, 6);
	map_pages(answer, 6, 50, 2);
	map_pages(answer, 10, 60, 1);
	map_pages(answer, 11, 62, 1);
	KUNIT_EXPECT_TRUE(test, dmda_where_add(&answer->where, &answer->map, 11));
	KUNIT_EXPECT_EQ(test, from_lpn(dmda_where_next(&answer->where)), 14ULL);
	dmda_where_end(&answer->where);
	KUNIT_EXPECT_STREQ(test, answer->text,
			   "3 103 3\n6 50 2\n8 - 2\n10 60 1\n11 62 1\n12 - 2\nnext=14");
}

static void runs_go_on_over_pages_of_the_map(struct kunit *test)
{
	struct answer *answer = new_answer(test, 0, MEMORY_BYTES);
	struct dmda_where *where = &answer->where;

	map_pages(answer, DMDA_MAP_ENTRIES - 2, 200, 2);
	KUNIT_EXPECT_TRUE(test, dmda_where_add(where, &answer->map, 5000));
	KUNIT_EXPECT_EQ(test, from_lpn(dmda_where_next(where)), (u64)DMDA_MAP_ENTRIES);
	memset(&answer->map, 0, sizeof(answer->map));
	map_pages(answer, 0, 202, 3);
	KUNIT_EXPECT_TRUE(test, dmda_where_add(where, &answer->map, 5000));
	/* Two of which nothing is mapped, and the first of a third */
	KUNIT_EXPECT_TRUE(test, dmda_where_add(where, NULL, 5000));
	KUNIT_EXPECT_TRUE(test, dmda_where_add(where, NULL, 1));
	dmda_where_end(where);
	KUNIT_EXPECT_STREQ(test, answer->text,
			   "0 - 804\n804 200 5\n809 - 1610\nnext=2419");
}

static void no_more_than_was_asked_is_answered(struct kunit *test)
{
	struct answer *answer = new_answer(test, DMDA_MAP_ENTRIES + 5, MEMORY_BYTES);

	map_pages(answer, 0, 1000, DMDA_MAP_ENTRIES);
	KUNIT_EXPECT_TRUE(test, dmda_where_add(&answer->where, &answer->map, 7));
	dmda_where_end(&answer->where);
	KUNIT_EXPECT_STREQ(test, answer->text, "811 1005 7\nnext=818");
}

/* What an answer must be that has room for so many runs of one page. */
static void print_short_runs(char *text, size_t size, u32 nr)
{
	size_t at = 0;

	for (u32 i = 0; i < nr; i++)
		at += scnprintf(text + at, size - at, "%u %u 1\n", i, 5000 - 2 * i);
	scnprintf(text + at, size - at, "next=%u", nr);
}

/* Each entry a run: an answer in so many bytes says as much as fits, and where to go on. */
static void check_full(struct kunit *test, size_t bytes)
{
	struct answer *answer = new_answer(test, 0, bytes);
	char *wanted = kunit_kzalloc(test, MEMORY_BYTES, GFP_KERNEL);
	u32 nr = 0;

	KUNIT_ASSERT_NOT_NULL(test, wanted);
	for (u32 i = 0; i < DMDA_MAP_ENTRIES; i++)
		dmda_map_set(&answer->map, i, to_dpn(5000 - 2 * i));
	KUNIT_EXPECT_FALSE(test, dmda_where_add(&answer->where, &answer->map, 800));
	dmda_where_end(&answer->where);
	KUNIT_ASSERT_LT(test, strnlen(answer->text, MEMORY_BYTES), bytes);
	KUNIT_EXPECT_EQ(test, answer->text[bytes], 'x');
	for (char *at = answer->text; *at; at++)
		nr += *at == '\n';
	KUNIT_EXPECT_GT(test, nr, 0U);
	print_short_runs(wanted, MEMORY_BYTES, nr);
	KUNIT_EXPECT_STREQ(test, answer->text, wanted);
}

static void a_full_answer_says_where_to_go_on(struct kunit *test)
{
	for (size_t bytes = DMDA_WHERE_LEAST_BYTES; bytes < DMDA_WHERE_LEAST_BYTES + 80; bytes++)
		check_full(test, bytes);
}

static void the_largest_numbers_fit(struct kunit *test)
{
	struct answer *answer = new_answer(test, 0, DMDA_WHERE_LEAST_BYTES);
	struct dmda_where *where = &answer->where;

	where->lpn = to_lpn(10000000000000000001ULL);
	where->dpn = to_dpn(10000000000000000002ULL);
	where->nr_pages = 1000000000000000000ULL;
	where->nr_pages *= 4;
	dmda_where_end(where);
	KUNIT_EXPECT_STREQ(test, answer->text,
			   "10000000000000000001 10000000000000000002 4000000000000000000\n"
			   "next=14000000000000000001");
	KUNIT_EXPECT_EQ(test, strlen(answer->text), (size_t)DMDA_WHERE_LEAST_BYTES - 2);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(nothing_was_asked),
	KUNIT_CASE(runs_and_holes_have_lines),
	KUNIT_CASE(runs_go_on_over_pages_of_the_map),
	KUNIT_CASE(no_more_than_was_asked_is_answered),
	KUNIT_CASE(a_full_answer_says_where_to_go_on),
	KUNIT_CASE(the_largest_numbers_fit),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_where",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of dm-dieaware's answer where pages lie");
MODULE_LICENSE("GPL");
