// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preconditioning leaves a drive as the same commands of a host do, and its clock where it was. The
 * host is written here once more, with a generator of its own.
 */
#include "../core/precondition.h"
#include "drive_kunit.h"

#define SEED	0ULL
#define SECOND_NS	1000000000ULL
#define BEGIN_NS	SECOND_NS
/* So much later that windows of channels begin at the same places */
#define LATER_NS	BIT_ULL(40)

/**
 * struct variant - a kind of drive to try
 * @name: name that is shown with the case
 * @plp: whether it has power-loss protection, as in struct ftl_params, like all that follow
 */
struct variant {
	const char *name;
	bool plp;
	bool oob;
	bool suspends;
	u32 hold_ns;
	u32 bg_eblks;
	u32 wear_permille;
	u32 share_pages;
};

static const struct variant variants[] = {
	{ "protected",		true,	false,	false,	0,		0,	0,	0 },
	{ "protected, kept",	true,	true,	false,	0,		3,	20,	0 },
	{ "volatile",		false,	true,	false,	0,		3,	20,	0 },
	{ "with all",		true,	false,	true,	5000000,	3,	20,	64 },
	{ "volatile, with all",	false,	true,	true,	5000000,	3,	20,	64 },
};

static void describe_variant(const struct variant *variant, char *desc)
{
	strscpy(desc, variant->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(variant, variants, describe_variant);
KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

static struct ftl_params variant_params(struct kunit *test)
{
	static const struct drive_shape shape = { "", 2, 2, 8, 8, 64, 4, 150 };
	const struct variant *variant = test->param_value;
	struct ftl_params params = drive_params(&shape);

	params.wbuf_pages = 160;
	params.plp = variant->plp;
	params.oob = variant->oob;
	params.hold_ns = variant->hold_ns;
	params.bg_eblks = variant->bg_eblks;
	params.wear_permille = variant->wear_permille;
	params.share_pages = variant->share_pages;
	params.share_log_kib = 64;
	params.map_cache_pages = variant->suspends ? 4 : 0;
	params.stripe_lead = variant->suspends ? 4 : 0;
	params.parity = variant->suspends;
	if (variant->suspends)
		add_slc(&params, 2, 4);
	if (variant->suspends) {
		params.suspend_program = 8;
		params.suspend_erase = 8;
		params.suspend_ns = 100000;
	}
	params.nr_lpns = ftl_params_capacity(&params);
	return params;
}

static struct ftl_precondition whole(const struct ftl *ftl, u32 random_percent)
{
	struct ftl_precondition work = {
		.range = { { to_lpn(0), ftl_get_params(ftl)->nr_lpns } },
		.nr_ranges = 1,
		.random_percent = random_percent,
		.state = SEED,
	};

	return work;
}

static void run(struct ftl *ftl, struct ftl_precondition *work, u64 now_ns)
{
	ftl_precondition_begin(ftl, work);
	while (ftl_precondition_step(ftl, work))
		;
	ftl_precondition_end(ftl, work, now_ns);
}

static u64 split_mix(u64 *seed)
{
	u64 z;

	*seed += 0x9E3779B97F4A7C15ULL;
	z = *seed;
	z ^= z >> 30;
	z *= 0xBF58476D1CE4E5B9ULL;
	z ^= z >> 27;
	z *= 0x94D049BB133111EBULL;
	return z ^ z >> 31;
}

static u64 host_write(struct ftl *ftl, u64 first, u32 nr_pages, u64 now_ns)
{
	struct ftl_request rq = request(first, nr_pages);

	return ftl_write(ftl, &rq, now_ns);
}

/* Return: the time at which the last command is complete. */
static u64 host_writes(struct ftl *ftl, const struct ftl_precondition *work, u64 now_ns)
{
	u64 seed = SEED, nr_pages = 0, nr_random;

	for (u32 i = 0; i < work->nr_ranges; i++) {
		const struct ftl_lpn_range *range = &work->range[i];

		for (u32 at = 0; at < range->nr; at += 256)
			now_ns = host_write(ftl, from_lpn(range->first) + at,
					    min(256U, range->nr - at), now_ns);
		nr_pages += range->nr;
	}
	nr_random = div_u64(nr_pages * work->random_percent, 100);
	for (; nr_random; nr_random--) {
		u64 page = (split_mix(&seed) >> 32) * nr_pages >> 32;
		u32 i = 0;

		while (page >= work->range[i].nr)
			page -= work->range[i++].nr;
		now_ns = host_write(ftl, from_lpn(work->range[i].first) + page, 1, now_ns);
	}
	return ftl_flush(ftl, now_ns);
}

/* What waits in the buffer for its time gets it. */
static void host_rests(struct ftl *ftl, u64 now_ns)
{
	ftl_advance(ftl, now_ns);
	if (ftl_get_params(ftl)->oob)
		ftl_oob_settle(&ftl->oob, now_ns);
}

/* But not for long enough to do something of its own accord. */
static void has_rested(struct ftl *ftl, u64 now_ns)
{
	host_rests(ftl, now_ns);
	ftl->begun_ns = now_ns;
	ftl->command_ns = now_ns;
	ftl->idle_die = 0;
	for (u32 i = 0; i < ftl_nr_dies(ftl); i++)
		ftl->gc[i].idle_until_ns = 0;
}

static void expect_same_places(struct kunit *test, const struct ftl *a, const struct ftl *b)
{
	u64 nr_elsewhere = 0;

	for (u64 lpn = 0; lpn < ftl_get_params(a)->nr_lpns; lpn++)
		nr_elsewhere += unit_of(a, lpn) != unit_of(b, lpn) ||
			ftl_is_mapped(a, to_lpn(lpn)) != ftl_is_mapped(b, to_lpn(lpn));
	KUNIT_EXPECT_EQ(test, nr_elsewhere, 0ULL);
	EXPECT_CONSISTENT(test, a);
}

static void expect_same(struct kunit *test, const struct ftl *a, const struct ftl *b)
{
	struct ftl_stats left = stats_of(a), right = stats_of(b);

	KUNIT_EXPECT_EQ(test, memcmp(&left, &right, sizeof(left)), 0);
	for (u32 i = 0; i < ftl_nr_dies(a); i++) {
		struct ftl_die_stats one = {}, other = {};

		ftl_get_die_stats(a, to_die(i), &one);
		ftl_get_die_stats(b, to_die(i), &other);
		one.busy_until_ns = 0;
		other.busy_until_ns = 0;
		KUNIT_EXPECT_EQ(test, memcmp(&one, &other, sizeof(one)), 0);
	}
	expect_same_places(test, a, b);
}

static void generator_is_split_mix(struct kunit *test)
{
	u64 seed = 0;

	KUNIT_EXPECT_EQ(test, split_mix(&seed), 0xe220a8397b1dcdafULL);
	KUNIT_EXPECT_EQ(test, split_mix(&seed), 0x6e789e6aa1b965f4ULL);
	KUNIT_EXPECT_EQ(test, split_mix(&seed), 0x06c45d188009454fULL);
}

static void shape_is_as_a_host_leaves_it(struct kunit *test)
{
	struct ftl *ftl = make_shape(test), *same = make_shape(test);
	struct ftl_precondition work = whole(ftl, 250);
	struct ftl_precondition as_asked = work;

	run(ftl, &work, 0);
	host_rests(same, host_writes(same, &as_asked, 0) + SECOND_NS);
	expect_same(test, ftl, same);
}

static void variant_is_as_a_host_leaves_it(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *ftl = make_drive(test, &params), *same = make_drive(test, &params);
	struct ftl_precondition work = whole(ftl, 250);
	struct ftl_precondition as_asked = work;
	u64 done_ns;

	run(ftl, &work, BEGIN_NS);
	done_ns = host_writes(same, &as_asked, 0);
	host_rests(same, done_ns + SECOND_NS);
	expect_same(test, ftl, same);
	KUNIT_EXPECT_GT(test, stats_of(ftl).gc_runs, 100ULL);
	kunit_info(test, "%llu s of the drive, write amplification %llu %%\n",
		   div_u64(done_ns, SECOND_NS),
		   div64_u64(100 * stats_of(ftl).nand_pages_programmed,
			     stats_of(ftl).host_pages_written));
}

static void same_seed_gives_the_same_at_any_time(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *ftl = make_drive(test, &params), *same = make_drive(test, &params);
	struct ftl *other = make_drive(test, &params);
	struct ftl_precondition work = whole(ftl, 100), again = work, another = work;
	struct ftl_stats left, right;

	run(ftl, &work, BEGIN_NS);
	/* Somebody has looked at it. */
	read_in_order(same, 33, 11, BEGIN_NS);
	run(same, &again, 3 * BEGIN_NS / 2 + 777);
	left = stats_of(ftl);
	right = stats_of(same);
	KUNIT_EXPECT_EQ(test, right.host_pages_read, 33ULL);
	right.host_pages_read = 0;
	KUNIT_EXPECT_EQ(test, memcmp(&left, &right, sizeof(left)), 0);
	expect_same_places(test, ftl, same);
	another.state = SEED + 1;
	run(other, &another, BEGIN_NS);
	KUNIT_EXPECT_NE(test, stats_of(other).nand_pages_programmed,
			stats_of(ftl).nand_pages_programmed);
}

static void used_drive_is_as_a_host_leaves_it(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *ftl = make_drive(test, &params), *same = make_drive(test, &params);
	struct ftl_precondition work = whole(ftl, 100);
	struct ftl_precondition as_asked;
	struct ftl *both[] = { ftl, same };

	work.range[0] = (struct ftl_lpn_range){ to_lpn(100), 500 };
	work.range[1] = (struct ftl_lpn_range){ to_lpn(1000), 700 };
	work.nr_ranges = 2;
	as_asked = work;
	for (u32 i = 0; i < ARRAY_SIZE(both); i++) {
		const struct ftl_share_range range = { to_lpn(200), to_lpn(620), 20 };
		u64 done_ns;

		write_plain(both[i], 0, 900);
		write_over(both[i], 300, 8);
		if (params.share_pages)
			KUNIT_EXPECT_EQ(test, (int)ftl_share(both[i], &range, 1, 0, &done_ns),
					(int)FTL_SHARE_DONE);
		trim(both[i], 550, 10);
	}
	run(ftl, &work, BEGIN_NS);
	has_rested(same, LATER_NS);
	host_rests(same, host_writes(same, &as_asked, LATER_NS) + SECOND_NS);
	expect_same(test, ftl, same);
	KUNIT_EXPECT_EQ(test, ftl_nr_mapped(ftl, to_lpn(0), params.nr_lpns), 900ULL + 700);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).host_pages_written, 908ULL + 2 * 1200);
}

/* Commands of all kinds. Return: the sum of what they take. */
static u64 use(struct ftl *ftl, u64 now_ns)
{
	u64 seed = 7, sum_ns = 0, begun_ns = now_ns;

	for (u32 i = 0; i < 3000; i++) {
		struct ftl_request rq =
			request((split_mix(&seed) >> 32) * ftl_get_params(ftl)->nr_lpns >> 32, 1);
		u64 done_ns;

		if (split_mix(&seed) % 3)
			done_ns = ftl_read(ftl, &rq, now_ns);
		else
			done_ns = ftl_write(ftl, &rq, now_ns);
		sum_ns += done_ns - now_ns;
		/* Some come together, some after a while. */
		if (i % 8 == 7)
			now_ns += split_mix(&seed) % 4000000;
	}
	return sum_ns + ftl_flush(ftl, now_ns) - begun_ns;
}

/*
 * From now on the drive takes for everything what one takes that has rested after the same commands
 * of a host, much later.
 */
static void clock_is_where_it_was(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *ftl = make_drive(test, &params), *same = make_drive(test, &params);
	struct ftl_precondition work = whole(ftl, 100);
	struct ftl_precondition as_asked = work;

	run(ftl, &work, BEGIN_NS);
	for (u32 i = 0; i < ftl_nr_dies(ftl); i++) {
		struct ftl_die_stats stats;

		ftl_get_die_stats(ftl, to_die(i), &stats);
		KUNIT_EXPECT_LE(test, stats.busy_until_ns, BEGIN_NS);
	}
	KUNIT_ASSERT_LT(test, host_writes(same, &as_asked, 0), LATER_NS);
	has_rested(same, LATER_NS + BEGIN_NS);
	KUNIT_EXPECT_EQ(test, use(ftl, BEGIN_NS), use(same, LATER_NS + BEGIN_NS));
	expect_same(test, ftl, same);
}

static void nothing_of_it_is_lost_with_the_power(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *ftl = make_drive(test, &params);
	struct ftl_precondition work = whole(ftl, 150);
	const char *reason;

	if (!params.oob) {
		kunit_skip(test, "A drive without out-of-band data loses nothing.");
		return;
	}
	run(ftl, &work, BEGIN_NS);
	for (u64 lpn = 0; lpn < params.nr_lpns; lpn++)
		KUNIT_ASSERT_TRUE(test, ftl_is_durable(ftl, to_lpn(lpn)));
	ftl_power_cut(ftl, BEGIN_NS);
	reason = ftl_rebuild(ftl, BEGIN_NS);
	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	KUNIT_EXPECT_EQ(test, ftl_nr_mapped(ftl, to_lpn(0), params.nr_lpns), params.nr_lpns);
	EXPECT_CONSISTENT(test, ftl);
}

static void can_be_ended_behind_any_step(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	u32 nr_steps = 0;
	bool more = true;

	for (; more; nr_steps++) {
		struct ftl *ftl = make_drive(test, &params);
		struct ftl_precondition work = whole(ftl, 50);
		u64 before = 0;

		ftl_precondition_begin(ftl, &work);
		for (u32 i = 0; i < nr_steps && more; i++) {
			more = ftl_precondition_step(ftl, &work);
			KUNIT_EXPECT_LE(test, stats_of(ftl).host_pages_written - before, 2048ULL);
			before = stats_of(ftl).host_pages_written;
		}
		ftl_precondition_end(ftl, &work, BEGIN_NS);
		EXPECT_CONSISTENT(test, ftl);
		KUNIT_EXPECT_EQ(test, ftl->now_ns, BEGIN_NS);
	}
	KUNIT_EXPECT_GT(test, nr_steps, 4U);
}

static void drive_that_wears_out_meanwhile_is_left(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl_precondition work;
	struct ftl *ftl;

	ftl = make_drive(test, &params);
	work = whole(ftl, 100);
	/* There is no spare block. */
	ftl_fail_program(ftl, to_die(1), 3);
	run(ftl, &work, BEGIN_NS);
	KUNIT_EXPECT_TRUE(test, ftl_is_read_only(ftl));
	KUNIT_EXPECT_LT(test, stats_of(ftl).host_pages_written, 2 * params.nr_lpns);
	EXPECT_CONSISTENT(test, ftl);
}

static void what_cannot_be_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, ftl_precondition_check(1, 0));
	KUNIT_EXPECT_NULL(test, ftl_precondition_check(100, 10000));
	KUNIT_EXPECT_NOT_NULL(test, ftl_precondition_check(0, 0));
	KUNIT_EXPECT_NOT_NULL(test, ftl_precondition_check(101, 0));
	KUNIT_EXPECT_NOT_NULL(test, ftl_precondition_check(U64_MAX, 0));
	KUNIT_EXPECT_NOT_NULL(test, ftl_precondition_check(50, 10001));
	KUNIT_EXPECT_NOT_NULL(test, ftl_precondition_check(50, U64_MAX));
	KUNIT_EXPECT_EQ(test, ftl_precondition_share(U32_MAX, 100), U32_MAX);
	KUNIT_EXPECT_EQ(test, ftl_precondition_share(1000, 90), 900U);
	KUNIT_EXPECT_EQ(test, ftl_precondition_share(10, 1), 0U);
}

static struct kunit_case precondition_cases[] = {
	KUNIT_CASE(generator_is_split_mix),
	KUNIT_CASE_PARAM(shape_is_as_a_host_leaves_it, shape_gen_params),
	KUNIT_CASE_PARAM(variant_is_as_a_host_leaves_it, variant_gen_params),
	KUNIT_CASE_PARAM(same_seed_gives_the_same_at_any_time, variant_gen_params),
	KUNIT_CASE_PARAM(used_drive_is_as_a_host_leaves_it, variant_gen_params),
	KUNIT_CASE_PARAM(clock_is_where_it_was, variant_gen_params),
	KUNIT_CASE_PARAM(nothing_of_it_is_lost_with_the_power, variant_gen_params),
	KUNIT_CASE_PARAM(can_be_ended_behind_any_step, variant_gen_params),
	KUNIT_CASE_PARAM(drive_that_wears_out_meanwhile_is_left, variant_gen_params),
	KUNIT_CASE(what_cannot_be_is_refused),
	{}
};

static struct kunit_suite precondition_suite = {
	.name = "nvmev_precondition",
	.test_cases = precondition_cases,
};

kunit_test_suite(precondition_suite);

MODULE_DESCRIPTION("KUnit suite of the virtual SSD's preconditioning");
MODULE_LICENSE("GPL");
