// SPDX-License-Identifier: GPL-2.0-only
/* Announced rewrites: what a write is planned as, and what is left of it; against a model. */
#include <kunit/test.h>

#include "../core/announced.c"

#define FILE_A	((struct dmda_file){ .id = 0xa })
#define FILE_B	((struct dmda_file){ .id = 0xb })
#define MOST	8U

/**
 * struct table - a small table and its memory
 * @announced: the table
 * @runs: its memory
 */
struct table {
	struct dmda_announced announced;
	struct dmda_run runs[MOST];
};

static void begin(struct table *table)
{
	dmda_announced_init(&table->announced, table->runs, MOST);
}

static struct dmda_run run_of(struct dmda_file file, u64 fpage, u64 dpn, u32 nr_pages)
{
	return (struct dmda_run){ .file = file, .fpage = fpage, .dpn = to_dpn(dpn),
				  .nr_pages = nr_pages };
}

static bool add(struct table *table, struct dmda_file file, u64 fpage, u64 dpn, u32 nr_pages)
{
	struct dmda_run run = run_of(file, fpage, dpn, nr_pages);

	return dmda_announced_add(&table->announced, &run);
}

static struct dmda_share_plan plan_of(const struct table *table, struct dmda_file file, u64 fpage,
				      u64 dpn, u32 nr_pages)
{
	struct dmda_run write = run_of(file, fpage, dpn, nr_pages);
	struct dmda_share_plan plan;

	dmda_announced_plan(&table->announced, &write, &plan);
	return plan;
}

static void expect_range(struct kunit *test, const struct dmda_share_plan *plan, u32 index,
			 u64 from, u32 nr_pages)
{
	KUNIT_ASSERT_LT(test, index, plan->nr_ranges);
	KUNIT_EXPECT_EQ(test, from_dpn(plan->range[index].from), from);
	KUNIT_EXPECT_EQ(test, plan->range[index].nr_pages, nr_pages);
}

static void a_write_is_planned_as_far_as_it_was_announced(struct kunit *test)
{
	struct dmda_share_plan plan;
	struct table table;

	begin(&table);
	KUNIT_EXPECT_TRUE(test, add(&table, FILE_A, 13, 90, 2));
	KUNIT_EXPECT_TRUE(test, add(&table, FILE_A, 10, 700, 3));
	KUNIT_EXPECT_TRUE(test, add(&table, FILE_B, 15, 1, 100));
	plan = plan_of(&table, FILE_A, 11, 4000, 5);
	KUNIT_EXPECT_EQ(test, from_dpn(plan.to), 4000ULL);
	KUNIT_EXPECT_EQ(test, plan.nr_pages, 4U);
	KUNIT_EXPECT_EQ(test, plan.nr_ranges, 2U);
	expect_range(test, &plan, 0, 701, 2);
	expect_range(test, &plan, 1, 90, 2);
	/* Neither what only its end was announced of, nor another file's page */
	KUNIT_EXPECT_EQ(test, plan_of(&table, FILE_A, 9, 4000, 5).nr_pages, 0U);
	KUNIT_EXPECT_EQ(test, plan_of(&table, FILE_A, 15, 4000, 5).nr_pages, 0U);
	KUNIT_EXPECT_EQ(test, plan_of(&table, FILE_B, 11, 4000, 4).nr_pages, 0U);
}

static void pages_that_follow_each_other_are_one_range(struct kunit *test)
{
	struct dmda_share_plan plan;
	struct table table;

	begin(&table);
	add(&table, FILE_A, 0, 50, 4);
	add(&table, FILE_A, 4, 54, 4);
	plan = plan_of(&table, FILE_A, 0, 4000, 8);
	KUNIT_EXPECT_EQ(test, plan.nr_ranges, 1U);
	expect_range(test, &plan, 0, 50, 8);
}

static void no_page_is_both_old_and_new_place(struct kunit *test)
{
	struct table table;

	begin(&table);
	add(&table, FILE_A, 0, 100, 16);
	/* Where it is, a little further, a little before, and just beside */
	KUNIT_EXPECT_EQ(test, plan_of(&table, FILE_A, 0, 100, 16).nr_pages, 0U);
	KUNIT_EXPECT_EQ(test, plan_of(&table, FILE_A, 0, 104, 16).nr_pages, 4U);
	KUNIT_EXPECT_EQ(test, plan_of(&table, FILE_A, 0, 96, 16).nr_pages, 0U);
	KUNIT_EXPECT_EQ(test, plan_of(&table, FILE_A, 0, 116, 16).nr_pages, 16U);
	KUNIT_EXPECT_EQ(test, plan_of(&table, FILE_A, 0, 84, 16).nr_pages, 16U);
}

static void a_plan_is_no_longer_than_a_command(struct kunit *test)
{
	struct dmda_run runs[2 * DMDA_SHARE_MOST_RANGES];
	struct dmda_announced announced;
	struct dmda_run write = run_of(FILE_A, 0, 1 << 20, ARRAY_SIZE(runs));
	struct dmda_share_plan plan;

	dmda_announced_init(&announced, runs, ARRAY_SIZE(runs));
	for (u32 i = 0; i < ARRAY_SIZE(runs); i++) {
		struct dmda_run run = run_of(FILE_A, i, 2 * i, 1);

		KUNIT_ASSERT_TRUE(test, dmda_announced_add(&announced, &run));
	}
	dmda_announced_plan(&announced, &write, &plan);
	KUNIT_EXPECT_EQ(test, plan.nr_ranges, DMDA_SHARE_MOST_RANGES);
	KUNIT_EXPECT_EQ(test, plan.nr_pages, DMDA_SHARE_MOST_RANGES);

	dmda_announced_init(&announced, runs, ARRAY_SIZE(runs));
	write.nr_pages = 2 * DMDA_SHARE_MOST_PAGES;
	write.dpn = to_dpn(10);
	dmda_announced_add(&announced, &write);
	write.dpn = to_dpn(1 << 20);
	dmda_announced_plan(&announced, &write, &plan);
	KUNIT_EXPECT_EQ(test, plan.nr_pages, DMDA_SHARE_MOST_PAGES);
	expect_range(test, &plan, 0, 10, DMDA_SHARE_MOST_PAGES);
}

static void a_plan_is_trimmed_to_whole_pages(struct kunit *test)
{
	struct dmda_share_plan plan;
	struct table table;

	begin(&table);
	add(&table, FILE_A, 0, 50, 4);
	add(&table, FILE_A, 4, 90, 4);
	plan = plan_of(&table, FILE_A, 0, 4000, 8);
	dmda_share_plan_trim(&plan, 6);
	KUNIT_EXPECT_EQ(test, plan.nr_pages, 6U);
	KUNIT_EXPECT_EQ(test, plan.nr_ranges, 2U);
	expect_range(test, &plan, 1, 90, 2);
	dmda_share_plan_trim(&plan, 4);
	KUNIT_EXPECT_EQ(test, plan.nr_ranges, 1U);
	expect_range(test, &plan, 0, 50, 4);
	dmda_share_plan_trim(&plan, 1);
	expect_range(test, &plan, 0, 50, 1);
}

static void what_has_no_room_is_refused(struct kunit *test)
{
	struct table table;

	begin(&table);
	for (u32 i = 0; i < MOST; i++)
		KUNIT_EXPECT_TRUE(test, add(&table, FILE_A, 10 * i, 100 * i, 5));
	KUNIT_EXPECT_FALSE(test, add(&table, FILE_B, 0, 7, 1));
	KUNIT_EXPECT_EQ(test, plan_of(&table, FILE_B, 0, 4000, 1).nr_pages, 0U);
	/* Instead of another one there is room. */
	KUNIT_EXPECT_TRUE(test, add(&table, FILE_A, 10, 7000, 5));
	KUNIT_EXPECT_EQ(test, from_dpn(plan_of(&table, FILE_A, 10, 1, 1).range[0].from), 7000ULL);
	/* Two pieces where one was: the second is forgotten. */
	dmda_announced_forget(&table.announced, FILE_A, 22, 1);
	KUNIT_EXPECT_EQ(test, table.announced.nr, MOST);
	KUNIT_EXPECT_EQ(test, plan_of(&table, FILE_A, 20, 1, 5).nr_pages, 2U);
	KUNIT_EXPECT_EQ(test, plan_of(&table, FILE_A, 23, 1, 1).nr_pages, 0U);
}

static void a_file_is_forgotten_and_no_other(struct kunit *test)
{
	struct dmda_file between = { .id = 0xaa };
	struct table table;

	begin(&table);
	dmda_announced_forget_file(&table.announced, FILE_A);
	for (u32 i = 0; i < 2; i++) {
		add(&table, FILE_B, 10 * i, 100 * i, 5);
		add(&table, between, DMDA_FPAGE_LIMIT - 10 * i - 5, 300 * i, 5);
		add(&table, FILE_A, 10 * i, 200 * i, 5);
	}
	dmda_announced_forget_file(&table.announced, between);
	dmda_announced_forget_file(&table.announced, between);
	KUNIT_EXPECT_EQ(test, table.announced.nr, 4U);
	KUNIT_EXPECT_TRUE(test, dmda_announced_has(&table.announced, FILE_A, 14));
	KUNIT_EXPECT_TRUE(test, dmda_announced_has(&table.announced, FILE_B, 0));
	dmda_announced_forget_file(&table.announced, FILE_A);
	KUNIT_EXPECT_EQ(test, table.announced.nr, 2U);
	KUNIT_EXPECT_TRUE(test, dmda_announced_has(&table.announced, FILE_B, 14));
	dmda_announced_forget_file(&table.announced, FILE_B);
	KUNIT_EXPECT_EQ(test, table.announced.nr, 0U);
}

#define MODEL_PAGES	48U
#define MODEL_MAX	64U

/* Each page by itself, of two files */
struct model {
	u64 dpn[2][MODEL_PAGES];
	bool is_announced[2][MODEL_PAGES];
};

static u32 next(u64 *state, u32 below)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(*state >> 33) % below;
}

static void expect_same(struct kunit *test, const struct dmda_announced *announced,
			const struct model *model)
{
	for (u32 i = 1; i < announced->nr; i++) {
		const struct dmda_run *run = &announced->runs[i];

		KUNIT_ASSERT_TRUE(test, is_before(run - 1, run->file, run->fpage));
	}
	for (u32 file = 0; file < 2; file++) {
		for (u32 page = 0; page < MODEL_PAGES; page++) {
			struct dmda_run write = run_of(file ? FILE_B : FILE_A, page, 1 << 20, 1);
			struct dmda_share_plan plan;

			dmda_announced_plan(announced, &write, &plan);
			KUNIT_ASSERT_EQ(test, plan.nr_pages,
					(u32)model->is_announced[file][page]);
			KUNIT_ASSERT_EQ(test, dmda_announced_has(announced, write.file, page),
					model->is_announced[file][page]);
			if (plan.nr_pages)
				KUNIT_ASSERT_EQ(test, from_dpn(plan.range[0].from),
						model->dpn[file][page]);
		}
	}
}

static void it_is_the_model_page_by_page(struct kunit *test)
{
	struct dmda_run *runs = kunit_kzalloc(test, MODEL_MAX * sizeof(*runs), GFP_KERNEL);
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	struct dmda_announced announced;
	u64 state = 77;

	KUNIT_ASSERT_NOT_NULL(test, runs);
	KUNIT_ASSERT_NOT_NULL(test, model);
	dmda_announced_init(&announced, runs, MODEL_MAX);
	for (u32 turn = 0; turn < 2000; turn++) {
		u32 file = next(&state, 2), first = next(&state, MODEL_PAGES);
		u32 nr = 1 + next(&state, min(12U, MODEL_PAGES - first));
		struct dmda_run run = run_of(file ? FILE_B : FILE_A, first,
					     next(&state, 1 << 16), nr);
		bool is_add = next(&state, 2);

		if (is_add)
			KUNIT_ASSERT_TRUE(test, dmda_announced_add(&announced, &run));
		else
			dmda_announced_forget(&announced, run.file, first, nr);
		for (u32 i = 0; i < nr; i++) {
			model->dpn[file][first + i] = from_dpn(run.dpn) + i;
			model->is_announced[file][first + i] = is_add;
		}
		expect_same(test, &announced, model);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_write_is_planned_as_far_as_it_was_announced),
	KUNIT_CASE(pages_that_follow_each_other_are_one_range),
	KUNIT_CASE(no_page_is_both_old_and_new_place),
	KUNIT_CASE(a_plan_is_no_longer_than_a_command),
	KUNIT_CASE(a_plan_is_trimmed_to_whole_pages),
	KUNIT_CASE(what_has_no_room_is_refused),
	KUNIT_CASE(a_file_is_forgotten_and_no_other),
	KUNIT_CASE(it_is_the_model_page_by_page),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_announced",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of dm-dieaware's announced rewrites");
MODULE_LICENSE("GPL");
