// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drives that are drawn: each has several of the properties that other suites try one by one, in
 * combinations that nobody has chosen. They get commands of all kinds; now and then the power
 * fails, or the drive is written to a state file, and goes on together with the one that comes
 * out of that: both have to answer the same from then on, to the nanosecond.
 *
 * What is promised at a failure of the power is what power_kunit.c says.
 */
#include "../core/keep.h"
#include "../core/precondition.h"
#include "../core/rest.h"
#include "drive_kunit.h"
#include "history.h"

#ifndef FIRST_SEED
#define FIRST_SEED	0
#endif
#define NR_COMMANDS	700
#define NR_SHAPES	5
#define MAX_PAGES	3000
#define MAX_SEQS	BIT(18)
#define FILE_BLOCKS	128
#define AFTER_CUT_NS	1000000

static const u32 seeds[] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
};

static void describe_seed(const u32 *seed, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "seed %u", *seed);
}

KUNIT_ARRAY_PARAM(seed, seeds, describe_seed);

/**
 * struct file - a state file
 * @keep: what writes or reads it
 * @nr: number of blocks that it has
 * @at: number of blocks that were read
 * @block: memory for @keep
 * @data: the blocks
 */
struct file {
	struct ftl_keep keep;
	u64 nr;
	u64 at;
	u8 block[FTL_IMAGE_BLOCK_BYTES];
	u8 data[FILE_BLOCKS * FTL_IMAGE_BLOCK_BYTES];
};

/**
 * struct bench - a drive and its past
 * @test: the case
 * @params: of the drive
 * @memory: of the drive and its twin
 * @ftl: the drive, and NULL or what came out of a state file of it
 * @history: by lpn
 * @content: by number: the number with which the same data was written first
 * @file: two state files
 * @random: state of the workload
 * @now_ns: time of the present command
 * @done_ns: when the last one was complete
 */
struct bench {
	struct kunit *test;
	struct ftl_params params;
	void *memory[2];
	struct ftl *ftl[2];
	struct history *history;
	u32 *content;
	struct file *file[2];
	u64 random;
	u64 now_ns;
	u64 done_ns;
};

static u32 draw(struct bench *bench, u32 below)
{
	return next_random32(&bench->random) % below;
}

static void draw_params(struct bench *bench)
{
	struct ftl_params *params = &bench->params;
	struct drive_shape shape = drive_shapes[draw(bench, NR_SHAPES)];
	u32 nr_dies;

	*params = drive_params(&shape);
	nr_dies = params->nr_channels * params->dies_per_channel;
	params->oob = draw(bench, 4);
	params->plp = !params->oob || !draw(bench, 3);
	/* What a power failure can take needs room on every die. */
	if (params->oob && !params->plp)
		params->eblks_per_die *= 2 + draw(bench, 5);
	params->planes_per_die = 1 + draw(bench, 4);
	params->plane_read = draw(bench, 2);
	params->cache_read = draw(bench, 2);
	params->register_hits = draw(bench, 2);
	if (!draw(bench, 3)) {
		params->suspend_program = draw(bench, 5);
		params->suspend_erase = draw(bench, 5);
		params->suspend_ns = 20000;
	}
	params->bg_eblks = draw(bench, 2) ? 3 + draw(bench, 4) : 0;
	params->bg_mend = draw(bench, 2);
	params->wear_permille = draw(bench, 2) * 20;
	if (draw(bench, 2)) {
		params->hold_ns = 1000000;
		params->wbuf_pages += 6 * params->unit_pages;
	}
	if (!draw(bench, 3)) {
		params->spare_eblks = 1 + draw(bench, 4);
		params->eblks_per_die += params->spare_eblks;
		if (draw(bench, 2))
			params->factory_bad_permille = 1000 / params->eblks_per_die + 1;
	}
	if (draw(bench, 2)) {
		params->stripe_lead = 1 + draw(bench, 4);
		params->parity = nr_dies > 1 && draw(bench, 2);
	}
	params->map_cache_pages = draw(bench, 2);
	params->read_ahead_pages = draw(bench, 2) * 8;
	if (draw(bench, 2))
		add_slc(params, 1 + draw(bench, 2), 2 + draw(bench, 2));
	else if (!params->stripe_lead && draw(bench, 2))
		add_handles(params, 2 + draw(bench, 3));
	params->nr_lpns = ftl_params_capacity(params);
	params->share_pages = draw(bench, 2) ? min_t(u64, params->nr_lpns, 90) : 0;
	params->share_log_kib = 4;
	if (params->plp && !draw(bench, 8))
		make_in_place(params);
	params->seed_die = draw(bench, nr_dies);
}

static struct bench *make_bench(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bench);
	bench->test = test;
	bench->random = FIRST_SEED + *(const u32 *)test->param_value;
	for (u32 i = 0; i < 8; i++)
		draw(bench, 2);
	do {
		draw_params(bench);
	} while (ftl_params_check(&bench->params) || bench->params.nr_lpns > MAX_PAGES);
	bench->history = kunit_kcalloc(test, bench->params.nr_lpns, sizeof(*bench->history),
				       GFP_KERNEL);
	bench->content = kunit_kcalloc(test, MAX_SEQS, sizeof(*bench->content), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bench->history);
	KUNIT_ASSERT_NOT_NULL(test, bench->content);
	for (u32 i = 0; i < 2; i++) {
		bench->memory[i] = kunit_kzalloc(test, ftl_bytes(&bench->params), GFP_KERNEL);
		bench->file[i] = kunit_kzalloc(test, sizeof(*bench->file[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, bench->memory[i]);
		KUNIT_ASSERT_NOT_NULL(test, bench->file[i]);
	}
	bench->ftl[0] = ftl_init(&bench->params, bench->memory[0], 0);
	return bench;
}

static u64 seq_of(const struct bench *bench, u64 lpn)
{
	if (!bench->params.oob)
		return ftl_is_mapped(bench->ftl[0], to_lpn(lpn));
	return ftl_seq_of(bench->ftl[0], to_lpn(lpn));
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

static u64 newest(const struct bench *bench, u64 lpn)
{
	const struct history *history = &bench->history[lpn];

	return history->nr ? history->version[history->nr - 1].seq : 0;
}

/* What the drive wrote again by itself has the same data under a new number. */
static void note_moved(struct bench *bench)
{
	for (u64 lpn = 0; lpn < bench->params.nr_lpns && bench->params.oob; lpn++) {
		u64 before = newest(bench, lpn);
		u64 seq = seq_of(bench, lpn);

		if (!before || seq == before)
			continue;
		KUNIT_ASSERT_LT(bench->test, seq, (u64)MAX_SEQS);
		bench->content[seq] = bench->content[before];
		note_version(bench, lpn, seq, bench->params.plp);
	}
}

enum action {
	STEP_WRITE,
	STEP_READ,
	STEP_TRIM,
	STEP_TRIM_ON,
	STEP_FLUSH,
	STEP_SHARE,
	STEP_COMPACT,
	STEP_IDLE,
	STEP_FAIL_PROGRAM,
	STEP_FAIL_ERASE,
	STEP_HANDLE_ANEW,
	STEP_SEND_ANEW,
	STEP_POWER_OFF,
};

/**
 * struct step - what a drive is asked for
 * @action: which of all
 * @rq: pages of a read, write or trim
 * @range: ranges of a share command
 * @nr: how many of these, or of the program that fails; a handle
 * @die: a die
 * @result: gets what became of a share command
 */
struct step {
	enum action action;
	struct ftl_request rq;
	struct ftl_share_range range[2];
	u32 nr;
	die_t die;
	enum ftl_share_result result;
};

/* Return: when it is done, or the like. */
static u64 take_step(struct ftl *ftl, struct step *step, u64 now_ns)
{
	const struct ftl_request *rq = &step->rq;
	u64 done_ns = now_ns;

	switch (step->action) {
	case STEP_WRITE:
		return ftl_write(ftl, rq, now_ns);
	case STEP_READ:
		return ftl_read(ftl, rq, now_ns);
	case STEP_TRIM:
		return ftl_trim(ftl, rq->first, rq->nr_pages, now_ns);
	case STEP_TRIM_ON:
		ftl_trim_on(ftl, rq->first, rq->nr_pages, now_ns);
		break;
	case STEP_FLUSH:
		return ftl_flush(ftl, now_ns);
	case STEP_SHARE:
		step->result = ftl_share(ftl, step->range, step->nr, now_ns, &done_ns);
		break;
	case STEP_COMPACT:
		return ftl_compact(ftl, now_ns);
	case STEP_IDLE:
		return ftl_idle(ftl, now_ns);
	case STEP_FAIL_PROGRAM:
		ftl_fail_program(ftl, step->die, step->nr);
		break;
	case STEP_FAIL_ERASE:
		ftl_fail_erase(ftl, step->die, step->nr);
		break;
	case STEP_HANDLE_ANEW:
		ftl_handle_anew(ftl, step->nr, now_ns);
		break;
	case STEP_SEND_ANEW:
		ftl_send_anew(ftl, step->die);
		break;
	case STEP_POWER_OFF:
		ftl_power_off(ftl);
		break;
	}
	return done_ns;
}

/* Both drives say the same. */
static void expect_same(struct bench *bench, const char *what, u64 a, u64 b)
{
	KUNIT_ASSERT_EQ_MSG(bench->test, a, b, "twins differ: %s", what);
}

static u64 on_both(struct bench *bench, struct step *step)
{
	u64 done_ns = take_step(bench->ftl[0], step, bench->now_ns);

	if (bench->ftl[1])
		expect_same(bench, "time", done_ns,
			    take_step(bench->ftl[1], step, bench->now_ns));
	return done_ns;
}

static void play_write(struct bench *bench, const struct ftl_request *rq)
{
	struct step step = { .action = STEP_WRITE, .rq = *rq };
	u64 first = from_lpn(rq->first);
	u64 nr_exchanged = stats_of(bench->ftl[0]).pages_exchanged;
	u64 seq;

	bench->done_ns = on_both(bench, &step);
	seq = bench->params.oob ? ftl_last_seq(bench->ftl[0]) - rq->nr_pages + 1 : 0;
	KUNIT_ASSERT_LT(bench->test, seq + rq->nr_pages, (u64)MAX_SEQS);
	if (stats_of(bench->ftl[0]).pages_exchanged > nr_exchanged) {
		for (u64 lpn = 0; lpn < bench->params.nr_lpns && bench->params.oob; lpn++) {
			u64 before = newest(bench, lpn);
			u64 now = seq_of(bench, lpn);

			if (!before || now == before || now >= seq)
				continue;
			bench->content[now] = bench->content[before];
			note_version(bench, lpn, now, bench->params.plp);
		}
	}
	for (u32 i = 0; i < rq->nr_pages; i++) {
		u64 number = bench->params.oob ? seq + i : 1;

		note_version(bench, first + i, number, bench->params.plp || rq->fua);
		bench->content[number] = number;
	}
}

static void play_share(struct bench *bench)
{
	struct step step = { .action = STEP_SHARE, .nr = draw(bench, 2) + 1 };
	u64 nr_lpns = bench->params.nr_lpns;

	for (u32 i = 0; i < step.nr; i++) {
		u32 nr = draw(bench, 5) + 1;

		step.range[i] = (struct ftl_share_range){
			.to = to_lpn(draw(bench, nr_lpns - nr)),
			.from = to_lpn(draw(bench, nr_lpns - nr)),
			.nr = nr,
		};
	}
	bench->done_ns = on_both(bench, &step);
	for (u32 i = 0; i < step.nr && step.result == FTL_SHARE_DONE; i++) {
		for (u32 page = 0; page < step.range[i].nr; page++) {
			u64 to = from_lpn(step.range[i].to) + page;
			u64 from = from_lpn(step.range[i].from) + page;
			u64 seq = seq_of(bench, to);

			bench->content[seq] = bench->content[seq_of(bench, from)];
			note_version(bench, to, seq, bench->params.plp);
		}
	}
}

static void play_redistribute(struct bench *bench)
{
	u32 nr = 1 + draw(bench, min_t(u64, bench->params.nr_lpns, 40));
	struct ftl_lpn_range range = {
		to_lpn(draw(bench, bench->params.nr_lpns - nr + 1)), nr,
	};
	struct ftl_redistribution job[2];

	for (u32 i = 0; i < 2 && bench->ftl[i]; i++) {
		job[i] = (struct ftl_redistribution){
			.range = &range,
			.nr_ranges = 1,
			.nr_pages = nr,
			.threshold_permille = draw(bench, 2) * 300,
		};
		if (i)
			job[1].threshold_permille = job[0].threshold_permille;
		job[i].memory = kunit_kzalloc(bench->test, ftl_dof_bytes(bench->ftl[i], nr),
					      GFP_KERNEL);
		ftl_redistribute(bench->ftl[i], &job[i], bench->now_ns);
	}
	bench->done_ns = job[0].done_ns;
	if (bench->ftl[1])
		expect_same(bench, "redistribute", job[0].done_ns, job[1].done_ns);
	note_moved(bench);
}

static void play_trim(struct bench *bench, const struct ftl_request *rq)
{
	struct step step = { .action = STEP_TRIM, .rq = *rq };
	u64 first = from_lpn(rq->first);
	u64 end = first + rq->nr_pages;
	u32 more = draw(bench, 3) ? 0 : draw(bench, bench->params.nr_lpns - end + 1);

	bench->done_ns = on_both(bench, &step);
	if (more) {
		step.action = STEP_TRIM_ON;
		step.rq = request(end, more);
		on_both(bench, &step);
	}
	for (u64 lpn = first; lpn < end + more; lpn++)
		note_version(bench, lpn, 0, true);
}

static void promise_all(struct bench *bench)
{
	for (u64 lpn = 0; lpn < bench->params.nr_lpns; lpn++) {
		struct history *history = &bench->history[lpn];

		for (u32 i = 0; i < history->nr; i++) {
			struct version *version = &history->version[i];

			if (version->done_ns <= bench->now_ns)
				version->durable_ns = min(version->durable_ns, bench->done_ns);
		}
	}
}

static void play_flush(struct bench *bench)
{
	struct step step = { .action = STEP_FLUSH };

	bench->done_ns = on_both(bench, &step);
	promise_all(bench);
}

static void let_fail(struct bench *bench)
{
	struct step step = {
		.action = draw(bench, 2) ? STEP_FAIL_PROGRAM : STEP_FAIL_ERASE,
		.die = to_die(draw(bench, bench->ftl[0]->geo.nr_dies)),
		.nr = draw(bench, 6) + 1,
	};

	on_both(bench, &step);
}

static void play_reads(struct bench *bench)
{
	u64 nr_lpns = bench->params.nr_lpns;
	u64 first = draw(bench, nr_lpns);

	for (u32 nr = draw(bench, 8); nr; nr--) {
		u32 nr_pages = min_t(u64, 1 + draw(bench, 4), nr_lpns - first);
		struct step step = { .action = STEP_READ, .rq = request(first, nr_pages) };

		bench->done_ns = on_both(bench, &step);
		bench->now_ns += draw(bench, 2) * 100000;
		first = first + nr_pages < nr_lpns ? first + nr_pages : 0;
	}
}

static void check(struct bench *bench)
{
	for (u32 i = 0; i < 2 && bench->ftl[i]; i++) {
		const char *reason = ftl_check(bench->ftl[i]);

		KUNIT_ASSERT_NULL_MSG(bench->test, reason, "drive %u: %s", i, reason);
	}
	for (u64 lpn = 0; lpn < bench->params.nr_lpns; lpn++) {
		u64 seq = seq_of(bench, lpn);
		u64 written;

		if (bench->ftl[1])
			expect_same(bench, "unit", unit_of(bench->ftl[0], lpn),
				    unit_of(bench->ftl[1], lpn));
		KUNIT_ASSERT_EQ_MSG(bench->test, seq, newest(bench, lpn),
				    "page %llu is not what was written", lpn);
		if (!seq || !bench->params.oob)
			continue;
		written = ftl_oob_seq(&bench->ftl[0]->oob,
				      ftl_l2p_get(&bench->ftl[0]->map, to_lpn(lpn)));
		KUNIT_ASSERT_EQ_MSG(bench->test, bench->content[seq], bench->content[written],
				    "page %llu has the wrong data", lpn);
	}
}

/* From now on a page is what it is. */
static void begin_anew(struct bench *bench)
{
	bench->done_ns = bench->now_ns;
	for (u64 lpn = 0; lpn < bench->params.nr_lpns; lpn++) {
		bench->history[lpn].nr = 0;
		note_version(bench, lpn, seq_of(bench, lpn), true);
	}
}

static void fail_power(struct bench *bench, u64 cut_ns)
{
	struct step off = { .action = STEP_POWER_OFF };
	struct step idle = { .action = STEP_IDLE };
	const char *reason;

	if (!bench->params.oob) {
		on_both(bench, &off);
		return;
	}
	bench->now_ns = cut_ns;
	if (draw(bench, 2))
		on_both(bench, &idle);
	for (u32 i = 0; i < 2 && bench->ftl[i]; i++) {
		ftl_power_cut(bench->ftl[i], cut_ns);
		reason = ftl_rebuild(bench->ftl[i], cut_ns);
		KUNIT_ASSERT_NULL_MSG(bench->test, reason, "%s", reason);
	}
	for (u64 lpn = 0; lpn < bench->params.nr_lpns; lpn++) {
		struct history *history = &bench->history[lpn];
		u64 seq = seq_of(bench, lpn);

		forget_older(history, cut_ns);
		if (history->nr && history->version[0].durable_ns > cut_ns)
			history->version[0].durable_ns = U64_MAX;
		KUNIT_ASSERT_TRUE_MSG(bench->test, is_allowed(history, seq),
				      "page %llu has %llu, promised was %llu, power failed at %llu ns",
				      lpn, seq, history->nr ? history->version[0].seq : 0, cut_ns);
	}
	begin_anew(bench);
	check(bench);
	bench->now_ns = cut_ns + AFTER_CUT_NS;
}

static const char *write_next(void *context, void *block)
{
	struct file *file = context;

	if (file->nr == FILE_BLOCKS)
		return "The file is too small.";
	memcpy(file->data + file->nr++ * FTL_IMAGE_BLOCK_BYTES, block, FTL_IMAGE_BLOCK_BYTES);
	return NULL;
}

static const char *read_next(void *context, void *block)
{
	struct file *file = context;

	if (file->at == file->nr)
		return "The file is too short.";
	memcpy(block, file->data + file->at++ * FTL_IMAGE_BLOCK_BYTES, FTL_IMAGE_BLOCK_BYTES);
	return NULL;
}

static void save(struct bench *bench, u32 i)
{
	struct ftl_keep_layout layout = { .nr = 1, .nr_pages = { bench->params.nr_lpns } };
	struct file *file = bench->file[i];
	const char *reason;

	memset(file, 0, sizeof(*file));
	file->keep = (struct ftl_keep){
		.move = write_next, .context = file, .block = file->block,
	};
	reason = ftl_keep_save(&file->keep, bench->ftl[i], &layout) ?:
		ftl_keep_save_pages(&file->keep, bench->params.nr_lpns, NULL, NULL);
	KUNIT_ASSERT_NULL_MSG(bench->test, reason, "%s", reason);
}

static const char *take_none(void *context, u64 lpn, const void *page, u8 marks)
{
	return "There is data.";
}

static void make_twin(struct bench *bench)
{
	struct file *file = bench->file[0];
	const char *reason;

	for (u32 die = 0; die < bench->ftl[0]->geo.nr_dies; die++) {
		ftl_fail_program(bench->ftl[0], to_die(die), 0);
		ftl_fail_erase(bench->ftl[0], to_die(die), 0);
	}
	save(bench, 0);
	bench->now_ns = max(bench->now_ns, bench->ftl[0]->now_ns);
	ftl_set_clock(bench->ftl[0], bench->now_ns);
	memset(bench->memory[1], 0, ftl_bytes(&bench->params));
	bench->ftl[1] = ftl_init(&bench->params, bench->memory[1], bench->now_ns);
	file->keep = (struct ftl_keep){
		.move = read_next, .context = file, .block = file->block,
	};
	reason = ftl_keep_load(&file->keep, bench->ftl[1], NULL, bench->now_ns) ?:
		ftl_keep_load_pages(&file->keep, bench->params.nr_lpns, NULL, take_none, NULL);
	KUNIT_ASSERT_NULL_MSG(bench->test, reason, "%s", reason);
	begin_anew(bench);
	check(bench);
	if (draw(bench, 2))
		return;
	save(bench, 1);
	KUNIT_ASSERT_EQ(bench->test, bench->file[0]->nr, bench->file[1]->nr);
	KUNIT_ASSERT_EQ(bench->test, 0,
			memcmp(bench->file[0]->data, bench->file[1]->data,
			       file->nr * FTL_IMAGE_BLOCK_BYTES));
	/* Saving has given its clock what the other one has had as well. */
	ftl_set_clock(bench->ftl[0], bench->now_ns);
	ftl_set_clock(bench->ftl[1], bench->now_ns);
}

/* The one that came out of the file goes on alone. */
static void become_twin(struct bench *bench)
{
	if (!bench->ftl[1])
		return;
	swap(bench->memory[0], bench->memory[1]);
	bench->ftl[0] = bench->ftl[1];
	bench->ftl[1] = NULL;
}

static u64 draw_first(struct bench *bench)
{
	u64 nr_lpns = bench->params.nr_lpns;

	return draw(bench, 2) ? draw(bench, nr_lpns) : draw(bench, nr_lpns / 10 + 1);
}

static void draw_write(struct bench *bench, struct ftl_request *rq)
{
	u64 first = from_lpn(rq->first);

	rq->fua = !draw(bench, 12);
	rq->hint = draw(bench, FTL_HINT_ALL_DIE + 1);
	rq->pred = first ? to_lpn(first - 1) : LPN_NONE;
	rq->die = to_die(draw(bench, bench->ftl[0]->geo.nr_dies));
	rq->handle = first % 6;
	rq->head_partial = !draw(bench, 4);
	rq->tail_partial = !draw(bench, 4);
	play_write(bench, rq);
}

static void play_alone(struct bench *bench, enum action action, u32 nr)
{
	struct step step = { .action = action, .nr = nr };

	on_both(bench, &step);
}

static void draw_command(struct bench *bench)
{
	u64 nr_lpns = bench->params.nr_lpns;
	u64 first = draw_first(bench);
	u32 nr_pages = min_t(u64, draw(bench, draw(bench, 20) ? 7 : 60) + 1, nr_lpns - first);
	struct ftl_request rq = request(first, nr_pages);
	u32 kind = draw(bench, 24);

	if (kind == 0)
		play_flush(bench);
	else if (kind == 1)
		play_trim(bench, &rq);
	else if (kind == 2)
		play_alone(bench, STEP_IDLE, 0);
	else if (kind == 3 && bench->params.share_pages && bench->params.oob)
		play_alone(bench, STEP_COMPACT, 0);
	else if (kind < 7 && bench->params.share_pages)
		play_share(bench);
	else if (kind == 7 && bench->params.spare_eblks)
		let_fail(bench);
	else if (kind == 8)
		play_redistribute(bench);
	else if (kind == 9 && bench->params.nr_handles)
		play_alone(bench, STEP_HANDLE_ANEW, draw(bench, bench->params.nr_handles));
	else if (kind == 10)
		play_alone(bench, STEP_SEND_ANEW, 0);
	else if (kind < 14)
		play_reads(bench);
	else
		draw_write(bench, &rq);
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

static void drawn_drive_keeps_its_promises(struct kunit *test)
{
	struct bench *bench = make_bench(test);

	for (u64 lpn = 0; lpn < bench->params.nr_lpns; lpn++) {
		struct ftl_request rq = request(lpn, 1);

		play_write(bench, &rq);
		bench->now_ns = bench->done_ns;
	}
	for (u32 i = 0; i < NR_COMMANDS; i++) {
		if (ftl_is_read_only(bench->ftl[0]))
			break;
		draw_command(bench);
		pass_time(bench);
		if (!draw(bench, 10))
			check(bench);
		if (!draw(bench, 30))
			fail_power(bench, bench->now_ns + draw(bench, 3000000));
		if (!draw(bench, 40))
			make_twin(bench);
		if (!draw(bench, 40))
			become_twin(bench);
	}
	check(bench);
}

static struct kunit_case mix_cases[] = {
	KUNIT_CASE_PARAM(drawn_drive_keeps_its_promises, seed_gen_params),
	{}
};

static struct kunit_suite mix_suite = {
	.name = "nvmev_mix",
	.test_cases = mix_cases,
};

kunit_test_suite(mix_suite);

MODULE_DESCRIPTION("Drives with properties that are drawn");
MODULE_LICENSE("GPL");
