// SPDX-License-Identifier: GPL-2.0-only
/*
 * Single power failures, each at a moment of its own: what a buffer held, an overwrite, a unit
 * that was half programmed, trims, a collection, a failure that was due in the past; and areas
 * that someone has changed. power_kunit.c fails at every operation of a long workload.
 */
#include "drive_kunit.h"

static struct ftl *make_volatile_drive(struct kunit *test, bool plp)
{
	const struct drive_shape shape = { "small", 2, 1, 4, 4, 24, 4, 70 };
	struct ftl_params params = drive_params(&shape);

	params.plp = plp;
	params.oob = true;
	params.nr_lpns = ftl_params_capacity(&params);
	return make_drive(test, &params);
}

static void buffered_data_is_lost_without_protection(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, false);

	write_plain(ftl, 0, 1);
	KUNIT_EXPECT_FALSE(test, ftl_is_durable(ftl, to_lpn(0)));
	cut_power(test, ftl, 1000000000);
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(0)));
}

static void buffered_data_stays_with_protection(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, true);
	u64 seq;

	write_plain(ftl, 0, 1);
	write_append(ftl, 20, 1, 0);
	seq = ftl_seq_of(ftl, to_lpn(20));
	cut_power(test, ftl, 0);
	KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(0)));
	KUNIT_EXPECT_EQ(test, ftl_seq_of(ftl, to_lpn(20)), seq);
	KUNIT_EXPECT_NOT_NULL(test, open_unit_of(ftl, 20));
}

static void lost_overwrite_leaves_the_old_data(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, false);
	u64 done_ns, seq;

	write_plain(ftl, 0, 1);
	done_ns = ftl_flush(ftl, 0);
	seq = ftl_seq_of(ftl, to_lpn(0));
	write_plain(ftl, 0, 1);
	KUNIT_EXPECT_GT(test, ftl_seq_of(ftl, to_lpn(0)), seq);
	cut_power(test, ftl, done_ns);
	KUNIT_EXPECT_EQ(test, ftl_seq_of(ftl, to_lpn(0)), seq);
}

/* A flush makes a page durable and leaves it in its unit; the whole unit counts later. */
static void draft_keeps_data_until_its_unit_is_programmed(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, false);
	u64 done_ns, seq;

	write_plain(ftl, 0, 1);
	seq = ftl_seq_of(ftl, to_lpn(0));
	done_ns = ftl_flush(ftl, 0);
	KUNIT_EXPECT_NOT_NULL(test, open_unit_of(ftl, 0));
	ftl_advance(ftl, done_ns - 1);
	KUNIT_EXPECT_FALSE(test, ftl_is_durable(ftl, to_lpn(0)));
	ftl_advance(ftl, done_ns);
	KUNIT_EXPECT_TRUE(test, ftl_is_durable(ftl, to_lpn(0)));
	write_plain(ftl, 1, 3);
	done_ns = ftl_flush(ftl, done_ns);
	cut_power(test, ftl, done_ns);
	KUNIT_EXPECT_EQ(test, ftl_seq_of(ftl, to_lpn(0)), seq);
	for (u64 lpn = 1; lpn < 4; lpn++)
		KUNIT_EXPECT_EQ(test, unit_of(ftl, lpn), unit_of(ftl, 0));
}

static void torn_unit_is_not_written_again(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, false);
	u64 done_ns;

	write_plain(ftl, 0, 1);
	done_ns = ftl_flush(ftl, 0);
	cut_power(test, ftl, done_ns - 1);
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(0)));
	/* The block held nothing else, so it was erased. */
	KUNIT_EXPECT_EQ(test, ftl->blocks.eblk[0].nr_erases, 1U);
}

static void trims_stay(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, false);
	u64 done_ns;

	write_plain(ftl, 0, 8);
	done_ns = ftl_flush(ftl, 0);
	ftl_trim(ftl, to_lpn(2), 3, done_ns);
	/* More records than fit: the table takes their place. */
	for (u32 i = 0; i < FTL_OOB_TRIMS + 9; i++)
		ftl_trim(ftl, to_lpn(10 + i % 2 * 2), 1, done_ns);
	KUNIT_EXPECT_NE(test, ftl->oob.head->table_seq, 0ULL);
	cut_power(test, ftl, done_ns);
	for (u64 lpn = 0; lpn < 8; lpn++)
		KUNIT_EXPECT_EQ(test, ftl_is_mapped(ftl, to_lpn(lpn)), lpn < 2 || lpn > 4);
}

/* Of what was trimmed more than once, only what was written after the last of these is there. */
static void the_newest_of_some_trims_counts(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, true);

	write_plain(ftl, 0, 16);
	ftl_trim(ftl, to_lpn(6), 4, 0);
	write_plain(ftl, 4, 4);
	ftl_trim(ftl, to_lpn(2), 4, 0);
	write_plain(ftl, 3, 1);
	ftl_trim(ftl, to_lpn(7), 1, 0);
	ftl_trim(ftl, to_lpn(12), 4, 0);
	KUNIT_ASSERT_EQ(test, ftl->oob.head->nr_trims, 4U);
	cut_power(test, ftl, 0);
	for (u64 lpn = 0; lpn < 16; lpn++)
		KUNIT_EXPECT_EQ(test, ftl_is_mapped(ftl, to_lpn(lpn)),
				lpn < 2 || lpn == 3 || lpn == 6 || lpn == 10 || lpn == 11);
}

/* More trims than there are records, while what followed the first is in the buffer. */
static void trims_stay_when_there_are_many(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, false);
	struct ftl_request rq = request(5, 1);
	u64 now_ns = ftl_write(ftl, &rq, 0);
	u64 seq;

	now_ns = ftl_flush(ftl, now_ns);
	seq = ftl_seq_of(ftl, to_lpn(5));
	now_ns = ftl_trim(ftl, to_lpn(5), 1, now_ns);
	now_ns = ftl_write(ftl, &rq, now_ns);
	for (u32 i = 0; i < 2 * FTL_OOB_TRIMS; i++)
		now_ns = ftl_trim(ftl, to_lpn(20 + i % 2 * 2), 1, now_ns);
	cut_power(test, ftl, now_ns);
	KUNIT_EXPECT_NE(test, ftl_seq_of(ftl, to_lpn(5)), seq);
	EXPECT_CONSISTENT(test, ftl);
}

static void trim_often(struct ftl *ftl, u64 now_ns)
{
	for (u32 i = 0; i < FTL_OOB_TRIMS + 9; i++)
		ftl_trim(ftl, to_lpn(20 + i % 2 * 2), 1, now_ns);
}

/* The table is made anew only where something has changed, also since a power failure. */
static void table_follows_what_was_mapped_since(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, false);
	u64 now_ns;

	write_plain(ftl, 0, 8);
	trim_often(ftl, ftl_flush(ftl, 0));
	EXPECT_CONSISTENT(test, ftl);
	for (u32 round = 0; round < 2; round++) {
		write_plain(ftl, 9 + round, 1);
		now_ns = ftl_flush(ftl, 0);
		ftl_trim(ftl, to_lpn(3 + round), 1, now_ns);
		trim_often(ftl, now_ns);
		EXPECT_CONSISTENT(test, ftl);
		cut_power(test, ftl, now_ns);
		EXPECT_CONSISTENT(test, ftl);
		KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(9 + round)));
		KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(3 + round)));
	}
	/* The first start erases what holds nothing, so the second finds none of these pages. */
	ftl_trim(ftl, to_lpn(0), 16, now_ns);
	cut_power(test, ftl, now_ns);
	cut_power(test, ftl, now_ns);
	EXPECT_CONSISTENT(test, ftl);
}

/* The same with data of another page, which the defrag log does not have for good yet. */
static void trims_stay_when_pages_are_shared(struct kunit *test)
{
	const struct drive_shape shape = { "small", 2, 1, 4, 4, 24, 4, 70 };
	const struct ftl_share_range range = { .to = to_lpn(5), .from = to_lpn(0), .nr = 1 };
	struct ftl_params params = drive_params(&shape);
	u64 now_ns, done_ns, seq;
	struct ftl *ftl;

	params.plp = false;
	params.oob = true;
	params.share_log_kib = 4;
	params.nr_lpns = ftl_params_capacity(&params);
	params.share_pages = 8;
	ftl = make_drive(test, &params);
	write_plain(ftl, 0, 8);
	now_ns = ftl_flush(ftl, 0);
	seq = ftl_seq_of(ftl, to_lpn(5));
	now_ns = ftl_trim(ftl, to_lpn(5), 1, now_ns);
	KUNIT_ASSERT_EQ(test, ftl_share(ftl, &range, 1, now_ns, &done_ns), FTL_SHARE_DONE);
	for (u32 i = 0; i < FTL_OOB_TRIMS; i++)
		ftl_trim(ftl, to_lpn(20 + i % 2 * 2), 1, now_ns);
	cut_power(test, ftl, done_ns - 1);
	KUNIT_EXPECT_NE(test, ftl_seq_of(ftl, to_lpn(5)), seq);
}

static void power_fails_after_so_many_operations(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, false);
	u64 done_ns;

	ftl_cut_after(ftl, 2);
	write_plain(ftl, 0, 4);
	KUNIT_EXPECT_EQ(test, ftl_cut_ns(ftl, 0), U64_MAX);
	write_plain(ftl, 4, 1);
	done_ns = ftl_flush(ftl, 0);
	KUNIT_EXPECT_LE(test, ftl_cut_ns(ftl, 0), done_ns);
	write_plain(ftl, 8, 4);
	cut_power(test, ftl, done_ns);
	KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(4)));
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(8)));
	KUNIT_EXPECT_EQ(test, ftl_cut_ns(ftl, 0), U64_MAX);
}

/*
 * Fills blocks of both dies, and leaves three of the four pages of each unit valid in the
 * first block of the first die. Return: the time at which all of that is durable.
 */
static u64 make_victim(struct ftl *ftl)
{
	u64 done_ns;

	write_plain(ftl, 0, 128);
	done_ns = ftl_flush(ftl, 0);
	for (u64 lpn = 3; lpn < 32; lpn += 8) {
		struct ftl_request rq = request(lpn, 1);

		ftl_write(ftl, &rq, done_ns);
	}
	return ftl_flush(ftl, done_ns);
}

static void collection_that_was_cut_off_is_undone(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, false);
	u64 done_ns = make_victim(ftl);
	u64 unit[32];
	u32 nr_moved = 0;

	for (u32 lpn = 0; lpn < 32; lpn++)
		unit[lpn] = unit_of(ftl, lpn);
	ftl_advance(ftl, done_ns);
	ftl_gc_step(ftl, to_die(0), done_ns);
	for (u32 lpn = 0; lpn < 32; lpn++)
		nr_moved += unit_of(ftl, lpn) != unit[lpn];
	KUNIT_ASSERT_GT(test, nr_moved, 3U);
	/* The copies are durable, and the data that they are of is still there. */
	cut_power(test, ftl, ftl->nand.die[0].busy_until_ns);
	for (u32 lpn = 0; lpn < 32; lpn++)
		KUNIT_EXPECT_EQ(test, unit_of(ftl, lpn), unit[lpn]);
}

/*
 * A die that has rested for long collects at a time that is past, and the power is to fail with
 * that: what was flushed to the other die meanwhile, and was answered, is there all the same.
 */
static void power_does_not_fail_in_the_past(struct kunit *test)
{
	const struct drive_shape shape = { "resting", 2, 1, 4, 4, 24, 4, 70 };
	struct ftl_params params = drive_params(&shape);
	struct ftl_request rq = request(200, 1);
	struct ftl *ftl;
	u64 now_ns;

	params.plp = false;
	params.oob = true;
	params.bg_eblks = 20;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	now_ns = make_victim(ftl) + 1000 * FTL_IDLE_NS;
	/* What has ended so far makes room in the lists for what follows. */
	ftl_oob_settle(&ftl->oob, now_ns);
	ftl_write(ftl, &rq, now_ns);
	now_ns = ftl_flush(ftl, now_ns);
	ftl_cut_after(ftl, 1);
	ftl_idle(ftl, now_ns);
	KUNIT_ASSERT_LT(test, ftl->oob.cut_op_ns, now_ns);
	KUNIT_EXPECT_EQ(test, ftl_cut_ns(ftl, now_ns), now_ns);
	/* It is not put off by those who ask again. */
	KUNIT_EXPECT_EQ(test, ftl_cut_ns(ftl, now_ns + 1), now_ns);
	cut_power(test, ftl, ftl_cut_ns(ftl, now_ns));
	KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(200)));
}

/* A full drive that collects a little with each program, and has lost its spare blocks. */
static struct ftl *make_pacing_drive(struct kunit *test)
{
	const struct drive_shape shape = { "paced", 4, 1, 8, 16, 17, 8, 70 };
	struct ftl_params params = drive_params(&shape);
	struct ftl *ftl;

	params.bg_eblks = 3;
	params.spare_eblks = 1;
	params.oob = true;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	for (u32 die = 0; die < ftl->geo.nr_dies; die++)
		ftl_fail_erase(ftl, to_die(die), 1);
	for (u64 lpn = 0; lpn < params.nr_lpns; lpn++)
		write_plain(ftl, lpn, 1);
	return ftl;
}

/* In the middle of a victim, and what it moves into was the last free block of the die. */
static bool has_taken_last_block(const struct ftl *ftl)
{
	for (u32 die = 0; die < ftl->geo.nr_dies; die++) {
		if (ftl->gc[die].victim.eblk && !ftl->blocks.die[die].free.nr)
			return true;
	}
	return false;
}

/* The last block also has pages of the victim before, which had waited in the GC unit. */
static void collection_with_protection_goes_on(struct kunit *test)
{
	struct ftl *ftl = make_pacing_drive(test);
	u64 nr_lpns = ftl->params.nr_lpns;
	u64 *seq = kunit_kcalloc(test, nr_lpns, sizeof(*seq), GFP_KERNEL);
	u64 random = 1;
	u32 nr_cuts = 0;

	KUNIT_ASSERT_NOT_NULL(test, seq);
	for (u32 i = 0; i < 10000; i++) {
		u32 nr_pages = next_random32(&random) % 8 + 1;

		write_plain(ftl, next_random32(&random) % (nr_lpns - nr_pages), nr_pages);
		if (!has_taken_last_block(ftl))
			continue;
		for (u64 lpn = 0; lpn < nr_lpns; lpn++)
			seq[lpn] = ftl_seq_of(ftl, to_lpn(lpn));
		cut_power(test, ftl, ftl->now_ns);
		for (u64 lpn = 0; lpn < nr_lpns; lpn++)
			KUNIT_ASSERT_EQ(test, ftl_seq_of(ftl, to_lpn(lpn)), seq[lpn]);
		nr_cuts++;
	}
	KUNIT_EXPECT_FALSE(test, ftl_is_read_only(ftl));
	KUNIT_EXPECT_GT(test, nr_cuts, 10U);
	kunit_info(test, "%u failures in the middle of a victim\n", nr_cuts);
}

static void flush_programs_new_data_in_a_unit_of_collection(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, false);
	u64 done_ns = make_victim(ftl);
	struct ftl_request rq;
	u64 lpn, seq;

	ftl_advance(ftl, done_ns);
	ftl_gc_step(ftl, to_die(0), done_ns);
	for (lpn = 0; lpn < 32 && !open_unit_of(ftl, lpn);)
		lpn++;
	KUNIT_ASSERT_LT(test, lpn, 32ULL);
	KUNIT_ASSERT_EQ(test, open_unit_of(ftl, lpn)->kind, (u32)FTL_UNIT_GC);
	done_ns = ftl->nand.die[0].busy_until_ns;
	rq = request(lpn, 1);
	rq.hint = FTL_HINT_OVERWRITE;
	done_ns = ftl_write(ftl, &rq, done_ns);
	KUNIT_ASSERT_EQ(test, open_unit_of(ftl, lpn)->kind, (u32)FTL_UNIT_GC);
	seq = ftl_seq_of(ftl, to_lpn(lpn));
	done_ns = ftl_flush(ftl, done_ns);
	cut_power(test, ftl, done_ns);
	KUNIT_EXPECT_EQ(test, ftl_seq_of(ftl, to_lpn(lpn)), seq);
}

/* What waits beside the new data is on NAND in the victim only, which the flush calls to an end. */
static struct ftl *make_overwritten_in_collection(struct kunit *test, u64 *seq, u64 *now_ns)
{
	const struct drive_shape shape = { "collecting", 2, 1, 4, 4, 24, 4, 70 };
	struct ftl_params params = drive_params(&shape);
	struct ftl_request rq;
	struct ftl *ftl;

	params.plp = false;
	params.oob = true;
	params.bg_eblks = 20;
	params.nr_lpns = ftl_params_capacity(&params);
	ftl = make_drive(test, &params);
	*now_ns = make_victim(ftl);
	ftl_advance(ftl, *now_ns);
	ftl_gc_step(ftl, to_die(0), *now_ns);
	for (u64 lpn = 0; lpn < 32; lpn++)
		seq[lpn] = ftl_seq_of(ftl, to_lpn(lpn));
	for (u64 lpn = 0; lpn < 32; lpn++) {
		if (!open_unit_of(ftl, lpn) || open_unit_of(ftl, lpn)->kind != FTL_UNIT_GC)
			continue;
		rq = request(lpn, 1);
		*now_ns = ftl_write(ftl, &rq, ftl->nand.die[0].busy_until_ns);
		return ftl;
	}
	KUNIT_FAIL(test, "Nothing waits in a unit of collection.");
	return ftl;
}

static void flush_keeps_what_collection_has_not_programmed(struct kunit *test)
{
	u64 seq[32], now_ns;

	for (u32 nr_ops = 1; nr_ops < 20; nr_ops++) {
		struct ftl *ftl = make_overwritten_in_collection(test, seq, &now_ns);

		ftl_cut_after(ftl, nr_ops);
		now_ns = ftl_flush(ftl, now_ns);
		ftl_idle(ftl, now_ns + FTL_IDLE_NS);
		if (ftl_cut_ns(ftl, 0) == U64_MAX)
			break;
		cut_power(test, ftl, ftl_cut_ns(ftl, 0));
		for (u64 lpn = 0; lpn < 32; lpn++)
			KUNIT_ASSERT_GE(test, ftl_seq_of(ftl, to_lpn(lpn)), seq[lpn]);
	}
}

static void statistics_go_on(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, true);
	struct ftl_die_stats before, after;

	write_plain(ftl, 0, 17);
	ftl_get_die_stats(ftl, to_die(0), &before);
	cut_power(test, ftl, 1000000000);
	ftl_get_die_stats(ftl, to_die(0), &after);
	KUNIT_EXPECT_EQ(test, after.pages_host, before.pages_host);
	KUNIT_EXPECT_EQ(test, after.busy_ns, before.busy_ns);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).host_pages_written, 17ULL);
}

static void hostile_area_is_refused_or_harmless(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, true);
	u64 random = 5;
	u32 nr_refused = 0;
	size_t bytes;
	u8 *area, *copy;

	for (u32 i = 0; i < 400; i++)
		write_plain(ftl, next_random32(&random) % (ftl->params.nr_lpns - 3), 3);
	ftl_power_cut(ftl, 1000000000);
	area = ftl_area(ftl, &bytes);
	copy = kunit_kzalloc(test, bytes, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, area, bytes);
	for (u32 turn = 0; turn < 2000; turn++) {
		memcpy(area, copy, bytes);
		for (u32 i = next_random32(&random) % 20 + 1; i; i--)
			area[next_random32(&random) % bytes] = next_random32(&random);
		if (ftl_rebuild(ftl, 1000000000))
			nr_refused++;
		else
			EXPECT_CONSISTENT(test, ftl);
	}
	KUNIT_EXPECT_GT(test, nr_refused, 10U);
	KUNIT_EXPECT_LT(test, nr_refused, 2000U);
}

static struct kunit_case cut_test_cases[] = {
	KUNIT_CASE(buffered_data_is_lost_without_protection),
	KUNIT_CASE(buffered_data_stays_with_protection),
	KUNIT_CASE(lost_overwrite_leaves_the_old_data),
	KUNIT_CASE(draft_keeps_data_until_its_unit_is_programmed),
	KUNIT_CASE(torn_unit_is_not_written_again),
	KUNIT_CASE(trims_stay),
	KUNIT_CASE(the_newest_of_some_trims_counts),
	KUNIT_CASE(trims_stay_when_there_are_many),
	KUNIT_CASE(table_follows_what_was_mapped_since),
	KUNIT_CASE(trims_stay_when_pages_are_shared),
	KUNIT_CASE(power_fails_after_so_many_operations),
	KUNIT_CASE(collection_that_was_cut_off_is_undone),
	KUNIT_CASE(power_does_not_fail_in_the_past),
	KUNIT_CASE(collection_with_protection_goes_on),
	KUNIT_CASE(flush_programs_new_data_in_a_unit_of_collection),
	KUNIT_CASE(flush_keeps_what_collection_has_not_programmed),
	KUNIT_CASE(statistics_go_on),
	KUNIT_CASE(hostile_area_is_refused_or_harmless),
	{}
};

static struct kunit_suite cut_suite = {
	.name = "nvmev_cut",
	.test_cases = cut_test_cases,
};

kunit_test_suite(cut_suite);

MODULE_DESCRIPTION("Single power failures");
MODULE_LICENSE("GPL");
