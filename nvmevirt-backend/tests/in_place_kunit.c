// SPDX-License-Identifier: GPL-2.0-only
/* What is written in place: where it is, what it costs, and what a power failure leaves of it. */
#include "../core/rebuild.h"
#include "drive_kunit.h"

#define SEED	77

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

static struct ftl_params in_place_params(const struct drive_shape *shape)
{
	struct ftl_params params = drive_params(shape);

	make_in_place(&params);
	return params;
}

static struct ftl *make_medium(struct kunit *test)
{
	struct ftl_params params = in_place_params(shape_of(test));

	return make_drive(test, &params);
}

static void all_that_the_dies_hold_is_shown(struct kunit *test)
{
	struct ftl_params params = in_place_params(shape_of(test));
	u64 raw = (u64)params.nr_channels * params.dies_per_channel * params.eblks_per_die *
		params.units_per_eblk * params.unit_pages;

	KUNIT_EXPECT_EQ(test, params.nr_lpns, raw);
}

static void expect_homes(struct kunit *test, const struct ftl *ftl)
{
	u32 nr = ftl->geo.unit_pages;

	for (u64 lpn = 0; lpn < ftl->map.nr_lpns; lpn++) {
		KUNIT_EXPECT_EQ(test, die_of(ftl, lpn), (u32)lpn / nr % ftl->geo.nr_dies);
		KUNIT_EXPECT_EQ(test, slot_of(ftl, lpn), (u32)lpn % nr);
		KUNIT_EXPECT_EQ(test, unit_of(ftl, lpn), unit_of(ftl, (u32)lpn / nr * nr));
	}
}

/* In any order, with any hints, again and again: never more is written than the host does. */
static void pages_are_where_their_numbers_say(struct kunit *test)
{
	struct ftl *ftl = make_medium(test);
	u64 nr_lpns = ftl->map.nr_lpns, nr_written = 0, state = SEED;
	struct ftl_stats stats;

	for (u64 lpn = 0; lpn < nr_lpns; lpn++, nr_written++)
		write_plain(ftl, nr_lpns - 1 - lpn, 1);
	expect_homes(test, ftl);
	for (u32 i = 0; i < 4 * nr_lpns; i++) {
		u32 nr = 1 + next_random32(&state) % 7;
		struct ftl_request rq = request(next_random32(&state) % (nr_lpns - nr), nr);

		rq.hint = next_random32(&state) % (FTL_HINT_ALL_DIE + 1);
		rq.pred = to_lpn(next_random32(&state) % nr_lpns);
		ftl_write(ftl, &rq, 0);
		nr_written += nr;
	}
	expect_homes(test, ftl);
	EXPECT_CONSISTENT(test, ftl);
	stats = stats_of(ftl);
	KUNIT_EXPECT_EQ(test, stats.nand_pages_programmed, nr_written);
	KUNIT_EXPECT_EQ(test, stats.pages_mapped, nr_lpns);
	KUNIT_EXPECT_EQ(test, stats.gc_runs, 0ULL);
	KUNIT_EXPECT_EQ(test, stats.hints_append + stats.hints_overwrite + stats.hints_die, 0ULL);
	KUNIT_EXPECT_EQ(test, stats.hints_ignored + stats.writes_plain, nr_lpns + 4 * nr_lpns);
	KUNIT_EXPECT_GT(test, stats.hints_ignored, 3 * nr_lpns);
	KUNIT_EXPECT_FALSE(test, ftl_idle(ftl, 1ULL << 40));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).nand_pages_programmed, nr_written);
}

#define LINK_NS		1280U	/* a page on a link of 3200 MB/s */
#define CHANNEL_NS	5120U	/* and on a channel of 800 */
#define WRITE_NS	(1000U + LINK_NS + 2000U + 100U)	/* up to where a die is asked */
#define READ_NS		(1000U + 30000U + CHANNEL_NS + LINK_NS)
#define PROGRAM_NS	185000U

static u64 write_at(struct ftl *ftl, u64 lpn, u64 now_ns)
{
	struct ftl_request rq = request(lpn, 1);

	return ftl_write(ftl, &rq, now_ns);
}

static u64 read_at(struct ftl *ftl, u64 lpn, u64 now_ns)
{
	struct ftl_request rq = request(lpn, 1);

	return ftl_read(ftl, &rq, now_ns);
}

/* Dies 0 and 1 of two, units of a page: pages of even numbers are on die 0. */
static void write_ends_when_its_die_has_it(struct kunit *test)
{
	struct ftl_params params = in_place_params(&drive_shapes[1]);
	struct ftl *ftl;

	params.nr_page_kinds = 1;
	ftl = make_drive(test, &params);
	KUNIT_EXPECT_EQ(test, write_at(ftl, 0, 0), (u64)WRITE_NS + CHANNEL_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns,
			(u64)WRITE_NS + CHANNEL_NS + PROGRAM_NS);
	/* The other die is free, the channel of both after the first page. */
	KUNIT_EXPECT_LE(test, write_at(ftl, 1, 0), (u64)WRITE_NS + LINK_NS + 2 * CHANNEL_NS);
	/* The same die takes the next page when it has written what it has. */
	KUNIT_EXPECT_EQ(test, write_at(ftl, 2, 0), (u64)WRITE_NS + 2 * CHANNEL_NS + PROGRAM_NS);
	/* And nobody reads from it before. */
	KUNIT_EXPECT_EQ(test, read_at(ftl, 0, 0), (u64)WRITE_NS + 2 * CHANNEL_NS + 2 * PROGRAM_NS +
			30000 + CHANNEL_NS + LINK_NS);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 0, 1000000), 1000000ULL + READ_NS - 30000);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 2, 2000000), 2000000ULL + READ_NS);
	/* What was not written is nowhere. */
	KUNIT_EXPECT_EQ(test, read_at(ftl, 4, 3000000), 3000000ULL + 1000 + LINK_NS);
}

/* Pages of one unit go together, and the die works once; those of two work at the same time. */
static void units_are_written_once_for_all_their_pages(struct kunit *test)
{
	struct ftl_params params = in_place_params(&drive_shapes[5]);
	struct ftl *ftl = make_drive(test, &params);

	write_plain(ftl, 3, 2);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_programmed, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].pages_host, 2ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_ns, 2ULL * CHANNEL_NS + PROGRAM_NS);
	write_plain(ftl, 7, 10);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_programmed, 2ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[1].units_programmed, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[1].busy_ns, 8ULL * CHANNEL_NS + PROGRAM_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[2].pages_host, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).nand_pages_programmed, 12ULL);
}

static void page_written_in_part_is_read_first(struct kunit *test)
{
	struct ftl_params params = in_place_params(&drive_shapes[1]);
	struct ftl_request rq = request(0, 1);
	struct ftl *ftl;

	params.nr_page_kinds = 1;
	ftl = make_drive(test, &params);
	write_at(ftl, 0, 0);
	rq.head_partial = true;
	rq.bytes = 512;
	KUNIT_EXPECT_EQ(test, ftl_write(ftl, &rq, 1000000),
			1000000ULL + 1000 + 30000 + CHANNEL_NS + 2000 + 100 + CHANNEL_NS);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, 1ULL);
}

/* The same bytes a second on a new drive, and after each page was written five times at random. */
static void random_writes_never_get_slower(struct kunit *test)
{
	struct ftl *ftl = make_medium(test);
	u64 nr_lpns = ftl->map.nr_lpns, now_ns = 0, lap_ns[5];

	for (u32 lap = 0; lap < ARRAY_SIZE(lap_ns); lap++) {
		u64 state = SEED;

		ftl_advance(ftl, now_ns += 10000000);
		lap_ns[lap] = now_ns;
		for (u64 i = 0; i < nr_lpns; i++)
			now_ns = write_at(ftl, next_random32(&state) % nr_lpns, now_ns);
		lap_ns[lap] = now_ns - lap_ns[lap];
		/* Windows of the channel begin elsewhere. */
		KUNIT_EXPECT_LE(test, abs_diff(lap_ns[lap], lap_ns[0]) * 1000, lap_ns[0]);
	}
}

static void what_is_trimmed_is_nowhere(struct kunit *test)
{
	struct ftl *ftl = make_medium(test);
	u64 nr_lpns = ftl->map.nr_lpns;

	for (u64 lpn = 0; lpn < nr_lpns; lpn++)
		write_plain(ftl, lpn, 1);
	trim(ftl, 3, nr_lpns - 5);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, 5ULL);
	KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(2)));
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(3)));
	KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(nr_lpns - 1)));
	EXPECT_CONSISTENT(test, ftl);
	write_plain(ftl, 3, 1);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, 6ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void power_failure_takes_nothing(struct kunit *test)
{
	struct ftl_params params = in_place_params(shape_of(test));
	u64 nr_lpns = params.nr_lpns, state = SEED;
	struct ftl *ftl;

	params.oob = true;
	ftl = make_drive(test, &params);
	for (u32 lap = 0; lap < 3; lap++) {
		u64 nr_mapped, nr_programmed;

		for (u32 i = 0; i < nr_lpns / 2; i++)
			write_plain(ftl, next_random32(&state) % nr_lpns, 1);
		trim(ftl, next_random32(&state) % (nr_lpns / 2), nr_lpns / 8);
		write_plain(ftl, next_random32(&state) % nr_lpns, 1);
		nr_mapped = stats_of(ftl).pages_mapped;
		nr_programmed = stats_of(ftl).nand_pages_programmed;
		/* The dies work on what they were given last. */
		cut_power(test, ftl, 0);
		KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, nr_mapped);
		KUNIT_EXPECT_EQ(test, stats_of(ftl).nand_pages_programmed, nr_programmed);
	}
}

static void page_in_another_place_is_refused(struct kunit *test)
{
	struct ftl_params params = in_place_params(&drive_shapes[3]);
	const char *reason;
	struct ftl *ftl;
	size_t bytes;

	params.oob = true;
	ftl = make_drive(test, &params);
	write_plain(ftl, 0, 3);
	ftl_power_cut(ftl, 0);
	ftl_area(ftl, &bytes);
	/* The second page says that it is the ninth. */
	ftl->oob.lpn[1] = 9;
	reason = ftl_rebuild(ftl, 0);
	KUNIT_ASSERT_NOT_NULL(test, reason);
	KUNIT_EXPECT_NOT_NULL(test, strstr(reason, "elsewhere"));
}

static void expect_refusal(struct kunit *test, const struct ftl_params *params, const char *words)
{
	const char *reason = ftl_params_check(params);

	KUNIT_ASSERT_NOT_NULL(test, reason);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(reason, words), "%s", reason);
	KUNIT_EXPECT_EQ(test, reason[strlen(reason) - 1], '.');
}

/* One member of the parameters that cannot be @value */
static void expect_bad(struct kunit *test, size_t offset, u32 value, const char *words)
{
	struct ftl_params params = in_place_params(&drive_shapes[5]);

	KUNIT_ASSERT_NULL(test, ftl_params_check(&params));
	memcpy((u8 *)&params + offset, &value, sizeof(value));
	expect_refusal(test, &params, words);
}

static void what_does_not_go_with_it_is_refused(struct kunit *test)
{
	struct ftl_params params = in_place_params(&drive_shapes[5]);

	params.plp = false;
	expect_refusal(test, &params, "needs plp");
	expect_bad(test, offsetof(struct ftl_params, nr_handles), 2, "nowhere else");
	expect_bad(test, offsetof(struct ftl_params, share_pages), 1, "nowhere else");
	expect_bad(test, offsetof(struct ftl_params, stripe_lead), 2, "does not wait");
	expect_bad(test, offsetof(struct ftl_params, hold_ns), 1, "does not wait");
	expect_bad(test, offsetof(struct ftl_params, map_cache_pages), 1, "no map");
	expect_bad(test, offsetof(struct ftl_params, spare_eblks), 1, "no block free");
	expect_bad(test, offsetof(struct ftl_params, bg_eblks), 1, "no block free");
}

static struct kunit_case in_place_cases[] = {
	KUNIT_CASE_PARAM(all_that_the_dies_hold_is_shown, shape_gen_params),
	KUNIT_CASE_PARAM(pages_are_where_their_numbers_say, shape_gen_params),
	KUNIT_CASE(write_ends_when_its_die_has_it),
	KUNIT_CASE(units_are_written_once_for_all_their_pages),
	KUNIT_CASE(page_written_in_part_is_read_first),
	KUNIT_CASE_PARAM(random_writes_never_get_slower, shape_gen_params),
	KUNIT_CASE_PARAM(what_is_trimmed_is_nowhere, shape_gen_params),
	KUNIT_CASE_PARAM(power_failure_takes_nothing, shape_gen_params),
	KUNIT_CASE(page_in_another_place_is_refused),
	KUNIT_CASE(what_does_not_go_with_it_is_refused),
	{}
};

static struct kunit_suite in_place_suite = {
	.name = "nvmev_in_place",
	.test_cases = in_place_cases,
};

kunit_test_suite(in_place_suite);

MODULE_DESCRIPTION("Data that is written where it is stays there, and costs what it costs");
MODULE_LICENSE("GPL");
