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
 * share command is durable as a write is, and of one that is not all pages have what
 * it gave them, or none; where a page is, there is the data that it was given.
 */
#include "drive_kunit.h"
#include "history.h"

#define NR_COMMANDS	200
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
 * @nr_suspends: as in struct ftl_params, of programs and erases; if not 0, pages are read, too
 * @slc_eblks: erase blocks of each die in the SLC region; if not 0, the drive comes to rest, too
 * @nr_handles: placement handles, or 0
 */
struct power_case {
	struct drive_shape shape;
	bool plp;
	u32 bg_eblks;
	u32 share_pages;
	u32 spare_eblks;
	bool is_worn;
	u32 nr_suspends;
	u32 slc_eblks;
	u32 nr_handles;
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
	{ { "one die, suspended", 1, 1, 4, 4, 24, 1, 100 }, false, 0, 0, 0, false, 3 },
	{ { "three dies, background, suspended", 3, 1, 3, 5, 22, 2, 70 },
	  false, 8, 0, 0, false, 20 },
	{ { "three dies, shared, suspended", 3, 1, 3, 5, 22, 2, 70 }, false, 0, 90, 0, false, 4 },
	{ { "three dies, protection, suspended", 3, 1, 3, 5, 9, 2, 70 }, true, 3, 0, 0, false, 4 },
	{ { "one die, SLC", 1, 1, 4, 4, 24, 1, 100 }, false, 0, 0, 0, false, 0, 2 },
	{ { "one page a unit, SLC", 1, 2, 1, 2, 60, 2, 20 }, false, 0, 0, 0, false, 0, 4 },
	{ { "three dies, background, SLC", 3, 1, 3, 5, 22, 2, 70 }, false, 8, 0, 0, false, 0, 1 },
	{ { "three dies, shared, SLC", 3, 1, 3, 5, 22, 2, 70 }, false, 0, 90, 0, false, 0, 2 },
	{ { "three dies, failures, SLC", 3, 1, 3, 5, 22, 2, 70 }, false, 0, 0, 6, false, 0, 2 },
	{ { "three dies, suspended, SLC", 3, 1, 3, 5, 22, 2, 70 }, false, 8, 0, 0, false, 4, 2 },
	{ { "one die, protection, SLC", 1, 1, 4, 4, 12, 1, 100 }, true, 3, 0, 0, false, 0, 2 },
	{ { "one die, handles", 1, 1, 4, 4, 24, 1, 100 }, .nr_handles = 2 },
	{ { "three dies, background, handles", 3, 1, 3, 5, 22, 2, 70 }, false, 8, .nr_handles = 3 },
	{ { "three dies, background, shared, handles", 3, 1, 3, 5, 22, 2, 70 },
	  false, 8, 90, .nr_handles = 2 },
	{ { "one die, protection, failures, handles", 1, 1, 4, 4, 12, 1, 100 },
	  true, 0, 0, 4, .nr_handles = 2 },
	{ { "one die, protection, handles", 1, 1, 4, 4, 12, 1, 100 }, true, 3, .nr_handles = 5 },
};

static void describe_case(const struct power_case *power_case, char *desc)
{
	strscpy(desc, power_case->shape.name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(power, power_cases, describe_case);

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
	bench->params.suspend_program = power_case->nr_suspends;
	bench->params.suspend_erase = power_case->nr_suspends;
	bench->params.suspend_ns = power_case->nr_suspends ? 20000 : 0;
	bench->params.share_pages = power_case->share_pages;
	bench->params.share_log_kib = 4;
	bench->params.spare_eblks = power_case->spare_eblks;
	bench->params.eblks_per_die += power_case->spare_eblks;
	if (power_case->slc_eblks)
		add_slc(&bench->params, power_case->slc_eblks, 2);
	if (power_case->nr_handles)
		add_handles(&bench->params, power_case->nr_handles);
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

static void note_version(struct bench *bench, u64 lpn, u64 seq, bool durable)
{
	const struct version version = {
		.seq = seq,
		.done_ns = bench->done_ns,
		.durable_ns = durable ? bench->done_ns : U64_MAX,
	};

	put_version(bench->test, &bench->history[lpn], &version, bench->now_ns);
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
	note_version(bench, to, seq, bench->params.plp);
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

/* What programs and erases give way to */
static void draw_reads(struct bench *bench)
{
	for (u32 nr = draw(bench, 4); nr; nr--) {
		struct ftl_request rq = request(draw(bench, bench->params.nr_lpns), 1);

		ftl_read(bench->ftl, &rq, bench->now_ns);
	}
}

/* A drive that has come to rest since the last command folds. */
static void look_at_folding(struct bench *bench)
{
	if (bench->params.slc_pages)
		ftl_idle(bench->ftl, bench->now_ns);
}

static void draw_command(struct bench *bench)
{
	u64 nr_lpns = bench->params.nr_lpns;
	u64 first = draw_first(bench);
	u32 nr_pages = min_t(u64, draw(bench, 7) + 1, nr_lpns - first);
	struct ftl_request rq = request(first, nr_pages);
	u32 kind = draw(bench, 20);

	look_at_folding(bench);
	if (bench->params.suspend_program)
		draw_reads(bench);
	rq.fua = !draw(bench, 12);
	rq.hint = draw(bench, 3);
	rq.pred = first ? to_lpn(first - 1) : LPN_NONE;
	rq.handle = first % 6;
	if (kind == 0)
		play_flush(bench);
	else if (kind == 1)
		play_trim(bench, &rq);
	else if (kind == 2)
		ftl_idle(bench->ftl, bench->now_ns);
	else if (kind == 7 && bench->params.share_pages)
		bench->done_ns = ftl_compact(bench->ftl, bench->now_ns);
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
	u32 shift;

	switch (draw(bench, 4)) {
	case 0:
		bench->now_ns = max(bench->now_ns, bench->done_ns);
		break;
	case 1:
		shift = draw(bench, 10);
		bench->now_ns += draw(bench, 2000000) << shift;
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
	KUNIT_EXPECT_GT(bench->test, stats_of(bench->ftl).gc_runs +
			stats_of(bench->ftl).slc_folds, 2ULL);
	if (bench->params.spare_eblks)
		KUNIT_EXPECT_GT(bench->test, stats_of(bench->ftl).eblks_bad, 1ULL);
	KUNIT_EXPECT_EQ(bench->test, bench->nr_shares > 5, bench->params.share_pages > 0);
	KUNIT_EXPECT_EQ(bench->test, stats_of(bench->ftl).pages_exchanged > 20,
			bench->params.wear_permille > 0);
	kunit_info(bench->test, "%llu suspensions\n", bench->ftl->nand.nr_suspensions);
	KUNIT_EXPECT_EQ(bench->test, bench->ftl->nand.nr_suspensions > 2,
			bench->params.suspend_program > 0);
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

	bench->now_ns = cut_ns;
	look_at_folding(bench);
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
	KUNIT_EXPECT_LT(test, nr_unseen * (bench->params.slc_pages ? 2 : 10), bench->nr_ops);
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

static struct kunit_case power_test_cases[] = {
	KUNIT_CASE_PARAM(any_operation_may_be_the_last, power_gen_params),
	KUNIT_CASE_PARAM(power_may_fail_again_and_again, power_gen_params),
	{}
};

static struct kunit_suite power_suite = {
	.name = "nvmev_power",
	.test_cases = power_test_cases,
};

kunit_test_suite(power_suite);

MODULE_DESCRIPTION("Power failures, at every operation of the NAND");
MODULE_LICENSE("GPL");
