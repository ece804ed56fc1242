// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power failures. One recorded workload (writes with and without hints, FUA, overwrites,
 * trims, flushes, on a drive so full that it collects) is played again for every program
 * and erase in it, and the power fails as that begins, just before it ends, and when it
 * has. What the rebuilt drive has is compared with what was promised, then the
 * workload goes on, and the power fails once more after a last flush.
 *
 * What is promised: data is durable when its FUA write is complete, or the flush that
 * was sent after its write was complete, or with protection the write itself. Of every
 * page the drive has that or something newer that was sent, never anything older. A
 * share command is durable when it is complete, and of one that is not all pages have what
 * it gave them, or none; where a page is, there is the data that it was given.
 */
#include "drive_kunit.h"

#define NR_COMMANDS	200
#define MAX_VERSIONS	32
#define NR_WORN		100
#define MAX_OPS		8192
#define MAX_SEQS	65536
#define MAX_SHARED	64
#define AFTER_CUT_NS	1000000

/**
 * struct power_case - a drive to cut
 * @shape: geometry
 * @plp: with protection
 * @bg_eblks: as in struct ftl_params; if not 0, it mends and holds full units, too
 * @share_pages: as in struct ftl_params; the log has room for a few more than 100
 * @spare_eblks: likewise; if not 0, programs and erases fail, too
 * @is_worn: the first die is, so that cold pages move there
 */
struct power_case {
	struct drive_shape shape;
	bool plp;
	u32 bg_eblks;
	u32 share_pages;
	u32 spare_eblks;
	bool is_worn;
};

static const struct power_case power_cases[] = {
	{ { "one die", 1, 1, 4, 4, 24, 1, 100 }, false, 0 },
	{ { "one page a unit", 1, 2, 1, 2, 60, 2, 20 }, false, 0 },
	{ { "three dies", 3, 1, 3, 5, 22, 2, 70 }, false, 0 },
	{ { "one die, background", 1, 1, 4, 4, 24, 1, 100 }, false, 6 },
	{ { "three dies, background", 3, 1, 3, 5, 22, 2, 70 }, false, 8 },
	{ { "three dies, failures", 3, 1, 3, 5, 22, 2, 70 }, false, 0, 0, 6 },
	{ { "three dies, background, failures", 3, 1, 3, 5, 22, 2, 70 }, false, 8, 0, 6 },
	{ { "one die, protection, failures", 1, 1, 4, 4, 12, 1, 100 }, true, 0, 0, 4 },
	{ { "one die, protection", 1, 1, 4, 4, 12, 1, 100 }, true, 0 },
	{ { "three dies, protection, background", 3, 1, 3, 5, 9, 2, 70 }, true, 3 },
	{ { "one die, shared", 1, 1, 4, 4, 24, 1, 100 }, false, 0, 60 },
	{ { "three dies, background, shared", 3, 1, 3, 5, 22, 2, 70 }, false, 8, 90 },
	{ { "three dies, protection, shared", 3, 1, 3, 5, 9, 2, 70 }, true, 3, 50 },
	{ { "three dies, worn", 3, 1, 3, 5, 22, 2, 70 }, false, 0, 0, 0, true },
};

static void describe_case(const struct power_case *power_case, char *desc)
{
	strscpy(desc, power_case->shape.name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(power, power_cases, describe_case);

/**
 * struct version - something that a page was
 * @seq: number of its data, 0 when it was trimmed
 * @done_ns: when its command was complete
 * @durable_ns: when it was promised to be durable, U64_MAX if not yet
 */
struct version {
	u64 seq;
	u64 done_ns;
	u64 durable_ns;
};

/**
 * struct history - what a page was, the newest last
 * @nr: entries of @version
 * @version: begins with what was promised last when the history was cut short
 */
struct history {
	u32 nr;
	struct version version[MAX_VERSIONS];
};

/**
 * struct shared - a page that a share command gave data
 * @lpn: the page
 * @seq: number that it got
 * @command: number of the command
 */
struct shared {
	u64 lpn;
	u64 seq;
	u32 command;
};

/**
 * struct outlook - what the drive says before a power failure that a page can be after it
 * @newest: its newest data, which it is if @is_durable
 * @flash: if not that, it has this or older
 * @is_durable: nothing can happen to it
 */
struct outlook {
	u64 newest;
	u64 flash;
	bool is_durable;
};

/**
 * struct bench - a drive and its past
 * @test: the case
 * @params: of the drive
 * @memory: of the drive
 * @ftl: the drive
 * @history: by lpn
 * @outlook: by lpn
 * @random: state of the workload
 * @now_ns: time of the present command
 * @done_ns: when the last one was complete
 * @nr_ops: programs and erases of the workload
 * @op: the same
 * @content: by number: the number with which the same data was written first
 * @nr_shares: share commands that were done
 * @nr_shared: entries of @shared that were made; it is a ring
 * @shared: what the latest of them gave
 */
struct bench {
	struct kunit *test;
	struct ftl_params params;
	void *memory;
	struct ftl *ftl;
	struct history *history;
	struct outlook *outlook;
	u64 random;
	u64 now_ns;
	u64 done_ns;
	u32 nr_ops;
	struct ftl_op op[MAX_OPS];
	u32 content[MAX_SEQS];
	u32 nr_shares;
	u32 nr_shared;
	struct shared shared[MAX_SHARED];
};

static struct bench *make_bench(struct kunit *test)
{
	const struct power_case *power_case = test->param_value;
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);
	const char *reason;

	KUNIT_ASSERT_NOT_NULL(test, bench);
	bench->test = test;
	bench->params = drive_params(&power_case->shape);
	bench->params.plp = power_case->plp;
	bench->params.bg_eblks = power_case->bg_eblks;
	bench->params.bg_mend = power_case->bg_eblks;
	if (power_case->bg_eblks) {
		bench->params.hold_ns = 1000000;
		bench->params.wbuf_pages += 6 * bench->params.unit_pages;
	}
	bench->params.oob = true;
	bench->params.share_pages = power_case->share_pages;
	bench->params.share_log_kib = 4;
	bench->params.spare_eblks = power_case->spare_eblks;
	bench->params.eblks_per_die += power_case->spare_eblks;
	bench->params.wear_permille = power_case->is_worn ? 20 : 0;
	bench->params.nr_lpns = ftl_params_capacity(&bench->params);
	reason = ftl_params_check(&bench->params);
	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	bench->memory = kunit_kzalloc(test, ftl_bytes(&bench->params), GFP_KERNEL);
	bench->history = kunit_kcalloc(test, bench->params.nr_lpns, sizeof(*bench->history),
				       GFP_KERNEL);
	bench->outlook = kunit_kcalloc(test, bench->params.nr_lpns, sizeof(*bench->outlook),
				       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bench->memory);
	KUNIT_ASSERT_NOT_NULL(test, bench->history);
	KUNIT_ASSERT_NOT_NULL(test, bench->outlook);
	return bench;
}

/* As if the first die had been erased more often than all others from the beginning. */
static void wear_out(struct ftl *ftl)
{
	for (u32 eblk = 0; eblk < ftl->geo.die_eblks; eblk++)
		ftl->oob.erases[eblk] = NR_WORN;
	ftl_rebuild(ftl, 0);
}

static void begin_play(struct bench *bench)
{
	memset(bench->memory, 0, ftl_bytes(&bench->params));
	memset(bench->history, 0, bench->params.nr_lpns * sizeof(*bench->history));
	bench->ftl = ftl_init(&bench->params, bench->memory, 0);
	if (bench->params.wear_permille)
		wear_out(bench->ftl);
	bench->random = 1;
	bench->now_ns = 0;
	bench->done_ns = 0;
	bench->nr_shares = 0;
	bench->nr_shared = 0;
}

/* The newest version that is promised; those before it do not matter any more. */
static void forget_older(struct history *history, u64 now_ns)
{
	u32 promised = 0;

	for (u32 i = 0; i < history->nr; i++) {
		if (history->version[i].durable_ns <= now_ns)
			promised = i;
	}
	history->nr -= promised;
	memmove(history->version, history->version + promised,
		history->nr * sizeof(*history->version));
}

static void note_version(struct bench *bench, u64 lpn, u64 seq, bool durable)
{
	struct history *history = &bench->history[lpn];

	if (history->nr == MAX_VERSIONS)
		forget_older(history, bench->now_ns);
	KUNIT_ASSERT_LT(bench->test, history->nr, (u32)MAX_VERSIONS);
	history->version[history->nr++] = (struct version){
		.seq = seq,
		.done_ns = bench->done_ns,
		.durable_ns = durable ? bench->done_ns : U64_MAX,
	};
}

/* What the drive moved from die to die by itself has the same data under a new number. */
static void note_exchanged(struct bench *bench)
{
	for (u64 lpn = 0; lpn < bench->params.nr_lpns; lpn++) {
		const struct history *history = &bench->history[lpn];
		u64 before = history->nr ? history->version[history->nr - 1].seq : 0;
		u64 seq = ftl_seq_of(bench->ftl, to_lpn(lpn));

		if (!before || seq == before)
			continue;
		bench->content[seq] = bench->content[before];
		note_version(bench, lpn, seq, bench->params.plp);
	}
}

static void play_write(struct bench *bench, struct ftl_request *rq)
{
	u64 first = from_lpn(rq->first);
	u64 nr_exchanged = stats_of(bench->ftl).pages_exchanged;
	u64 seq;

	bench->done_ns = ftl_write(bench->ftl, rq, bench->now_ns);
	if (stats_of(bench->ftl).pages_exchanged > nr_exchanged)
		note_exchanged(bench);
	seq = ftl_last_seq(bench->ftl) - rq->nr_pages + 1;
	KUNIT_ASSERT_LT(bench->test, seq + rq->nr_pages, (u64)MAX_SEQS);
	for (u32 i = 0; i < rq->nr_pages; i++) {
		note_version(bench, first + i, seq + i, bench->params.plp || rq->fua);
		bench->content[seq + i] = seq + i;
	}
}

static void note_shared(struct bench *bench, u64 to, u64 from, u64 last_seq)
{
	u64 seq = ftl_seq_of(bench->ftl, to_lpn(to));

	KUNIT_ASSERT_LT(bench->test, seq, (u64)MAX_SEQS);
	bench->content[seq] = bench->content[ftl_seq_of(bench->ftl, to_lpn(from))];
	note_version(bench, to, seq, true);
	/* It had the data already. */
	if (seq <= last_seq)
		return;
	bench->shared[bench->nr_shared++ % MAX_SHARED] = (struct shared){
		.lpn = to,
		.seq = seq,
		.command = bench->nr_shares,
	};
}

static void play_share(struct bench *bench, const struct ftl_share_range *range, u32 nr_ranges)
{
	u64 last_seq = ftl_last_seq(bench->ftl);

	if (ftl_share(bench->ftl, range, nr_ranges, bench->now_ns, &bench->done_ns))
		return;
	for (u32 i = 0; i < nr_ranges; i++) {
		for (u32 page = 0; page < range[i].nr; page++)
			note_shared(bench, from_lpn(range[i].to) + page,
				    from_lpn(range[i].from) + page, last_seq);
	}
	bench->nr_shares++;
}

static void play_trim(struct bench *bench, const struct ftl_request *rq)
{
	u64 first = from_lpn(rq->first);

	bench->done_ns = ftl_trim(bench->ftl, rq->first, rq->nr_pages, bench->now_ns);
	for (u32 i = 0; i < rq->nr_pages; i++)
		note_version(bench, first + i, 0, true);
}

static void play_flush(struct bench *bench)
{
	bench->done_ns = ftl_flush(bench->ftl, bench->now_ns);
	for (u64 lpn = 0; lpn < bench->params.nr_lpns; lpn++) {
		struct history *history = &bench->history[lpn];

		for (u32 i = 0; i < history->nr; i++) {
			struct version *version = &history->version[i];

			if (version->done_ns <= bench->now_ns)
				version->durable_ns = min(version->durable_ns, bench->done_ns);
		}
	}
}

static u32 draw(struct bench *bench, u32 below)
{
	return next_random32(&bench->random) % below;
}

static void draw_share(struct bench *bench)
{
	struct ftl_share_range range[2];
	u32 nr_ranges = draw(bench, 2) + 1;

	for (u32 i = 0; i < nr_ranges; i++) {
		range[i].nr = draw(bench, 5) + 1;
		range[i].to = to_lpn(draw(bench, bench->params.nr_lpns - range[i].nr));
		range[i].from = to_lpn(draw(bench, bench->params.nr_lpns - range[i].nr));
	}
	play_share(bench, range, nr_ranges);
}

static void let_fail(struct bench *bench)
{
	die_t die = to_die(draw(bench, bench->ftl->geo.nr_dies));

	if (draw(bench, 2))
		ftl_fail_program(bench->ftl, die, draw(bench, 6) + 1);
	else
		ftl_fail_erase(bench->ftl, die, 1);
}

/* Half of the writes fall on a tenth of the pages, so that many are overwritten soon. */
static u64 draw_first(struct bench *bench)
{
	u64 nr_lpns = bench->params.nr_lpns;
	u64 first;

	if (!bench->params.wear_permille)
		return draw(bench, 2) ? draw(bench, nr_lpns) : draw(bench, nr_lpns / 10 + 1);
	do {
		first = draw(bench, nr_lpns);
	} while (ftl_die_of(bench->ftl, to_lpn(first)) != to_die(0) && draw(bench, 8));
	return first;
}

static void draw_command(struct bench *bench)
{
	u64 nr_lpns = bench->params.nr_lpns;
	u64 first = draw_first(bench);
	u32 nr_pages = min_t(u64, draw(bench, 7) + 1, nr_lpns - first);
	struct ftl_request rq = request(first, nr_pages);
	u32 kind = draw(bench, 20);

	rq.fua = !draw(bench, 12);
	rq.hint = draw(bench, 3);
	rq.pred = first ? to_lpn(first - 1) : LPN_NONE;
	if (kind == 0)
		play_flush(bench);
	else if (kind == 1)
		play_trim(bench, &rq);
	else if (kind == 2)
		ftl_idle(bench->ftl, bench->now_ns);
	else if (kind < 7 && bench->params.share_pages)
		draw_share(bench);
	else if (kind == 3 && bench->params.spare_eblks)
		let_fail(bench);
	else
		play_write(bench, &rq);
}

/* One command goes after the other, or some time passes, or several are sent at once. */
static void pass_time(struct bench *bench)
{
	switch (draw(bench, 4)) {
	case 0:
		bench->now_ns = max(bench->now_ns, bench->done_ns);
		break;
	case 1:
		bench->now_ns += draw(bench, 2000000) << draw(bench, 10);
		break;
	default:
		bench->now_ns += draw(bench, 20000);
	}
}

static void record_ops(struct bench *bench)
{
	const struct ftl_oob *oob = &bench->ftl->oob;

	for (u32 die = 0; die < bench->ftl->geo.nr_dies; die++) {
		for (u32 nr = oob->ops[die].first; nr; nr = oob->op[nr - 1].next) {
			const struct ftl_op *op = &oob->op[nr - 1];

			KUNIT_ASSERT_LE(bench->test, op->stamp, (u64)MAX_OPS);
			bench->op[op->stamp - 1] = *op;
			bench->nr_ops = max_t(u32, bench->nr_ops, op->stamp);
		}
	}
}

/* Writes every page, until the power is going to fail. */
static void fill(struct bench *bench, u64 until_ns)
{
	for (u64 lpn = 0; lpn < bench->params.nr_lpns && bench->now_ns < until_ns; lpn++) {
		struct ftl_request rq = request(lpn, 1);

		play_write(bench, &rq);
		record_ops(bench);
		bench->now_ns = bench->done_ns;
	}
}

/* What is in a page's place was written as what the page has. */
static void check_contents(struct bench *bench)
{
	for (u64 lpn = 0; lpn < bench->params.nr_lpns; lpn++) {
		u64 seq = ftl_seq_of(bench->ftl, to_lpn(lpn));
		u64 written;

		if (!seq)
			continue;
		written = ftl_oob_seq(&bench->ftl->oob, ftl_l2p_get(&bench->ftl->map, to_lpn(lpn)));
		KUNIT_ASSERT_EQ_MSG(bench->test, bench->content[seq], bench->content[written],
				    "page %llu has the wrong data", lpn);
	}
}

/* Plays without a failure and keeps the times of all programs and erases. */
static void record(struct bench *bench)
{
	begin_play(bench);
	fill(bench, U64_MAX);
	for (u32 i = 0; i < NR_COMMANDS; i++) {
		draw_command(bench);
		record_ops(bench);
		pass_time(bench);
	}
	KUNIT_EXPECT_GT(bench->test, stats_of(bench->ftl).gc_runs, 2ULL);
	if (bench->params.spare_eblks)
		KUNIT_EXPECT_GT(bench->test, stats_of(bench->ftl).eblks_bad, 1ULL);
	KUNIT_EXPECT_EQ(bench->test, bench->nr_shares > 5, bench->params.share_pages > 0);
	KUNIT_EXPECT_EQ(bench->test, stats_of(bench->ftl).pages_exchanged > 20,
			bench->params.wear_permille > 0);
	check_contents(bench);
	EXPECT_CONSISTENT(bench->test, bench->ftl);
}

/* A page that is unmapped may be so because of a trim that came later. */
static bool was_trimmed_after(const struct bench *bench, const struct shared *shared)
{
	const struct history *history = &bench->history[shared->lpn];
	bool is_after = false;

	for (u32 i = 0; i < history->nr; i++) {
		if (is_after && !history->version[i].seq)
			return true;
		is_after |= history->version[i].seq == shared->seq;
	}
	return false;
}

static bool is_allowed(const struct history *history, u64 seq)
{
	/* Never written, or nothing promised yet */
	if (!history->nr || (!seq && history->version[0].durable_ns == U64_MAX))
		return !seq;
	for (u32 i = 0; i < history->nr; i++) {
		if (history->version[i].seq == seq)
			return true;
	}
	return false;
}

/* Of a command nothing is missing if something of it is there. */
static void check_whole_commands(struct bench *bench)
{
	u32 first = bench->nr_shared - min_t(u32, bench->nr_shared, MAX_SHARED);
	u32 there = U32_MAX, missing = U32_MAX;

	for (u32 i = first; i < bench->nr_shared; i++) {
		const struct shared *shared = &bench->shared[i % MAX_SHARED];
		u64 seq = ftl_seq_of(bench->ftl, to_lpn(shared->lpn));

		if (seq == shared->seq)
			there = shared->command;
		else if (seq < shared->seq && !was_trimmed_after(bench, shared))
			missing = shared->command;
		KUNIT_ASSERT_FALSE_MSG(bench->test, there == missing && there != U32_MAX,
				       "share command %u is there in part", there);
	}
	bench->nr_shared = 0;
}

static void compare(struct bench *bench, u64 cut_ns)
{
	for (u64 lpn = 0; lpn < bench->params.nr_lpns; lpn++) {
		struct history *history = &bench->history[lpn];
		u64 seq = ftl_seq_of(bench->ftl, to_lpn(lpn));

		forget_older(history, cut_ns);
		if (history->nr && history->version[0].durable_ns > cut_ns)
			history->version[0].durable_ns = U64_MAX;
		KUNIT_ASSERT_TRUE_MSG(bench->test, is_allowed(history, seq),
				      "page %llu has %llu, promised was %llu, power failed at %llu ns",
				      lpn, seq, history->nr ? history->version[0].seq : 0, cut_ns);
		/* From now on this is what it is. */
		history->nr = 0;
		bench->done_ns = cut_ns;
		note_version(bench, lpn, seq, true);
	}
}

static void look_out(struct bench *bench)
{
	for (u64 lpn = 0; lpn < bench->params.nr_lpns && !bench->params.plp; lpn++) {
		bench->outlook[lpn] = (struct outlook){
			.newest = ftl_seq_of(bench->ftl, to_lpn(lpn)),
			.flash = ftl_flash_seq_of(bench->ftl, to_lpn(lpn)),
			.is_durable = ftl_is_durable(bench->ftl, to_lpn(lpn)),
		};
	}
}

static void look_back(struct bench *bench)
{
	for (u64 lpn = 0; lpn < bench->params.nr_lpns && !bench->params.plp; lpn++) {
		const struct outlook *outlook = &bench->outlook[lpn];
		u64 seq = ftl_seq_of(bench->ftl, to_lpn(lpn));

		if (seq == outlook->newest)
			continue;
		KUNIT_ASSERT_FALSE(bench->test, outlook->is_durable);
		KUNIT_ASSERT_LE(bench->test, seq, outlook->flash);
	}
}

static void fail_power(struct bench *bench, u64 cut_ns)
{
	const char *reason;

	look_out(bench);
	ftl_power_cut(bench->ftl, cut_ns);
	reason = ftl_rebuild(bench->ftl, cut_ns);
	KUNIT_ASSERT_NULL_MSG(bench->test, reason, "%s (power failed at %llu ns)", reason, cut_ns);
	reason = ftl_check(bench->ftl);
	KUNIT_ASSERT_NULL_MSG(bench->test, reason, "%s (power failed at %llu ns)", reason, cut_ns);
	look_back(bench);
	check_contents(bench);
	check_whole_commands(bench);
	compare(bench, cut_ns);
	bench->now_ns = cut_ns + AFTER_CUT_NS;
}

static void play_with_failure(struct bench *bench, u64 cut_ns)
{
	bool failed = false;

	begin_play(bench);
	fill(bench, cut_ns);
	for (u32 i = 0; i < NR_COMMANDS; i++) {
		if (!failed && bench->now_ns >= cut_ns) {
			fail_power(bench, cut_ns);
			failed = true;
		}
		draw_command(bench);
		pass_time(bench);
	}
	/* In the second life everything that was flushed is there, too. */
	bench->now_ns = max(bench->now_ns, bench->done_ns);
	if (!failed)
		bench->now_ns = max(bench->now_ns, cut_ns);
	play_flush(bench);
	fail_power(bench, bench->done_ns);
}

static void any_operation_may_be_the_last(struct kunit *test)
{
	struct bench *bench = make_bench(test);
	u32 nr_unseen = 0;

	record(bench);
	for (u32 i = 0; i < bench->nr_ops; i++) {
		const struct ftl_op *op = &bench->op[i];

		nr_unseen += !op->stamp;
		if (!op->stamp)
			continue;
		play_with_failure(bench, op->start_ns + 1);
		play_with_failure(bench, op->end_ns - 1);
		play_with_failure(bench, op->end_ns);
	}
	/* Background work may be over when the command is that gave occasion for it. */
	KUNIT_EXPECT_LT(test, nr_unseen * 10, bench->nr_ops);
	kunit_info(test, "%u programs and erases, three failures at each\n", bench->nr_ops);
}

static void power_may_fail_again_and_again(struct kunit *test)
{
	struct bench *bench = make_bench(test);

	begin_play(bench);
	fill(bench, U64_MAX);
	for (u32 i = 0; i < 3000; i++) {
		draw_command(bench);
		pass_time(bench);
		if (!draw(bench, 4))
			fail_power(bench, bench->now_ns + draw(bench, 3000000));
	}
}

static struct ftl *make_volatile_drive(struct kunit *test, bool plp)
{
	const struct drive_shape shape = { "small", 2, 1, 4, 4, 24, 4, 70 };
	struct ftl_params params = drive_params(&shape);

	params.plp = plp;
	params.oob = true;
	params.nr_lpns = ftl_params_capacity(&params);
	return make_drive(test, &params);
}

static void fail_at(struct kunit *test, struct ftl *ftl, u64 now_ns)
{
	const char *reason;

	ftl_power_cut(ftl, now_ns);
	reason = ftl_rebuild(ftl, now_ns);
	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	EXPECT_CONSISTENT(test, ftl);
}

static void buffered_data_is_lost_without_protection(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, false);

	write_plain(ftl, 0, 1);
	KUNIT_EXPECT_FALSE(test, ftl_is_durable(ftl, to_lpn(0)));
	fail_at(test, ftl, 1000000000);
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(0)));
}

static void buffered_data_stays_with_protection(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, true);
	u64 seq;

	write_plain(ftl, 0, 1);
	write_append(ftl, 20, 1, 0);
	seq = ftl_seq_of(ftl, to_lpn(20));
	fail_at(test, ftl, 0);
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
	fail_at(test, ftl, done_ns);
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
	fail_at(test, ftl, done_ns);
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
	fail_at(test, ftl, done_ns - 1);
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
	fail_at(test, ftl, done_ns);
	for (u64 lpn = 0; lpn < 8; lpn++)
		KUNIT_EXPECT_EQ(test, ftl_is_mapped(ftl, to_lpn(lpn)), lpn < 2 || lpn > 4);
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
	fail_at(test, ftl, now_ns);
	KUNIT_EXPECT_NE(test, ftl_seq_of(ftl, to_lpn(5)), seq);
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
	fail_at(test, ftl, done_ns - 1);
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
	fail_at(test, ftl, done_ns);
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
	fail_at(test, ftl, ftl->nand.die[0].busy_until_ns);
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
	fail_at(test, ftl, ftl_cut_ns(ftl, now_ns));
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
		if (ftl->gc[die].victim && !ftl->blocks.die[die].free.nr)
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
		fail_at(test, ftl, ftl->now_ns);
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
	fail_at(test, ftl, done_ns);
	KUNIT_EXPECT_EQ(test, ftl_seq_of(ftl, to_lpn(lpn)), seq);
}

static void statistics_go_on(struct kunit *test)
{
	struct ftl *ftl = make_volatile_drive(test, true);
	struct ftl_die_stats before, after;

	write_plain(ftl, 0, 17);
	ftl_get_die_stats(ftl, to_die(0), &before);
	fail_at(test, ftl, 1000000000);
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

static struct kunit_case power_test_cases[] = {
	KUNIT_CASE_PARAM(any_operation_may_be_the_last, power_gen_params),
	KUNIT_CASE_PARAM(power_may_fail_again_and_again, power_gen_params),
	KUNIT_CASE(buffered_data_is_lost_without_protection),
	KUNIT_CASE(buffered_data_stays_with_protection),
	KUNIT_CASE(lost_overwrite_leaves_the_old_data),
	KUNIT_CASE(draft_keeps_data_until_its_unit_is_programmed),
	KUNIT_CASE(torn_unit_is_not_written_again),
	KUNIT_CASE(trims_stay),
	KUNIT_CASE(trims_stay_when_there_are_many),
	KUNIT_CASE(trims_stay_when_pages_are_shared),
	KUNIT_CASE(power_fails_after_so_many_operations),
	KUNIT_CASE(collection_that_was_cut_off_is_undone),
	KUNIT_CASE(power_does_not_fail_in_the_past),
	KUNIT_CASE(collection_with_protection_goes_on),
	KUNIT_CASE(flush_programs_new_data_in_a_unit_of_collection),
	KUNIT_CASE(statistics_go_on),
	KUNIT_CASE(hostile_area_is_refused_or_harmless),
	{}
};

static struct kunit_suite power_suite = {
	.name = "nvmev_power",
	.test_cases = power_test_cases,
};

kunit_test_suite(power_suite);

MODULE_DESCRIPTION("Power failures, at every operation of the NAND");
MODULE_LICENSE("GPL");
