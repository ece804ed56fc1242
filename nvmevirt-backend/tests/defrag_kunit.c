// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power failures while a file is defragmented without copies, as a host does it: the pieces of the
 * file are shared to a row of pages, one command after the other, while others write and the drive
 * collects; then the host flushes, and trims the old place. This is played again for every
 * operation of the NAND in it, those of the defrag log included, and the power fails when that has
 * begun, just before it ends, and when it has.
 *
 * What is promised: the old place has its data until it is trimmed. The new place of a piece has
 * the data when the flush is complete, or with protection its command, and before that all of it,
 * or what was there. A page of each piece is written just before, so that the drive has it in its
 * buffer; it is durable with the command. After the power failure the host defragments what is
 * left, and the power fails again when all is done.
 */
#include "drive_kunit.h"

#define NR_PIECES	6
#define PIECE_PAGES	5
#define FILE_PAGES	(NR_PIECES * PIECE_PAGES)

/* Pieces lie so far apart. */
#define PIECE_STEP	(PIECE_PAGES + 3)

/**
 * struct defrag_case - a drive
 * @shape: geometry
 * @plp: with protection
 * @bg_eblks: as in struct ftl_params
 * @nr_before: commands that shared a page before, so that the log is compacted
 */
struct defrag_case {
	struct drive_shape shape;
	bool plp;
	u32 bg_eblks;
	u32 nr_before;
};

static const struct defrag_case defrag_cases[] = {
	{ { "one die", 1, 1, 4, 4, 40, 1, 100 }, false, 0, 0 },
	{ { "two dies, full log", 2, 1, 4, 4, 30, 1, 70 }, false, 0, 98 },
	{ { "three dies, background", 3, 1, 3, 5, 26, 2, 70 }, false, 8, 0 },
	{ { "two dies, protection, full log", 2, 1, 4, 4, 24, 1, 70 }, true, 0, 98 },
};

static void describe_case(const struct defrag_case *defrag_case, char *desc)
{
	strscpy(desc, defrag_case->shape.name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(defrag, defrag_cases, describe_case);

/**
 * enum moment - when the power fails, by the operation with which it does
 * @MOMENT_BEGUN: it has begun
 * @MOMENT_ENDING: it is about to end
 * @MOMENT_ENDED: it has ended
 */
enum moment {
	MOMENT_BEGUN,
	MOMENT_ENDING,
	MOMENT_ENDED,
	NR_MOMENTS,
};

/**
 * struct host - a drive and whoever defragments a file on it
 * @test: the case
 * @params: of the drive
 * @memory: of the drive
 * @ftl: the drive
 * @random: state of what others write
 * @now_ns: present time
 * @cut_ns: time at which the power fails, U64_MAX while that is not known
 * @moment: how that follows from the operation
 * @new_place: first page of the row
 * @is_trimmed: the old place was given up
 * @old: by page of the file: number of the data in the old place
 * @older: likewise: what it has if that was not durable, or the same
 * @before: by page of the file: number of the data that was in the new place
 * @given: likewise: number that the command gave it, under which the drive may write it later
 * @done_ns: by piece: when it was promised to be durable, U64_MAX if it was not
 */
struct host {
	struct kunit *test;
	struct ftl_params params;
	void *memory;
	struct ftl *ftl;
	u64 random;
	u64 now_ns;
	u64 cut_ns;
	enum moment moment;
	u64 new_place;
	bool is_trimmed;
	u64 old[FILE_PAGES];
	u64 older[FILE_PAGES];
	u64 before[FILE_PAGES];
	u64 given[FILE_PAGES];
	u64 done_ns[NR_PIECES];
};

static struct host *make_host(struct kunit *test)
{
	const struct defrag_case *defrag_case = test->param_value;
	struct host *host = kunit_kzalloc(test, sizeof(*host), GFP_KERNEL);
	const char *reason;

	KUNIT_ASSERT_NOT_NULL(test, host);
	host->test = test;
	host->params = drive_params(&defrag_case->shape);
	host->params.oob = true;
	host->params.plp = defrag_case->plp;
	host->params.bg_eblks = defrag_case->bg_eblks;
	host->params.share_pages = 64;
	host->params.share_log_kib = 4;
	host->params.nr_lpns = ftl_params_capacity(&host->params);
	reason = ftl_params_check(&host->params);
	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	KUNIT_ASSERT_GT(test, host->params.nr_lpns,
			(u64)NR_PIECES * PIECE_STEP + FILE_PAGES + 2);
	host->memory = kunit_kzalloc(test, ftl_bytes(&host->params), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, host->memory);
	host->new_place = NR_PIECES * PIECE_STEP;
	return host;
}

static u64 old_page(u32 page)
{
	return page / PIECE_PAGES * PIECE_STEP + page % PIECE_PAGES;
}

/* The number with which the data of a page was written, whoever's it was then; 0: it has none. */
static u64 content_of(const struct ftl *ftl, u64 lpn)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn));

	return ppn == PPN_NONE ? 0 : ftl_oob_seq(&ftl->oob, ppn);
}

static void write_pages(struct host *host, u64 first, u32 nr_pages)
{
	struct ftl_request rq = request(first, nr_pages);

	host->now_ns = ftl_write(host->ftl, &rq, host->now_ns);
}

static u64 share_piece(struct host *host, u64 to, u64 from, u32 nr)
{
	const struct ftl_share_range range = { to_lpn(to), to_lpn(from), nr };
	u64 done_ns = 0;

	KUNIT_ASSERT_EQ(host->test, ftl_share(host->ftl, &range, 1, host->now_ns, &done_ns),
			FTL_SHARE_DONE);
	return done_ns;
}

/* Pages behind the new place, which others write */
static void write_other(struct host *host)
{
	u64 first = host->new_place + FILE_PAGES;
	u64 nr = host->params.nr_lpns - first - 2;

	write_pages(host, first + next_random32(&host->random) % nr, 1);
}

/* Entries of the log that are outdated when the file has its turn */
static void fill_log(struct host *host, u32 nr_commands)
{
	u64 last = host->params.nr_lpns - 2;

	for (u32 i = 0; i < nr_commands; i++) {
		host->now_ns = share_piece(host, last, last + 1, 1);
		write_pages(host, last, 1);
	}
}

/* Programs and erases of all dies, those of the log included */
static u64 count_operations(const struct ftl *ftl)
{
	u64 nr = 0;

	for (u32 die = 0; die < ftl->geo.nr_dies; die++)
		nr += ftl->nand.die[die].units_programmed + ftl->nand.die[die].eblks_erased;
	return nr;
}

/* A drive that has all of its pages, on NAND and durable. Others had the new place before. */
static void begin(struct host *host)
{
	const struct defrag_case *defrag_case = host->test->param_value;

	memset(host->memory, 0, ftl_bytes(&host->params));
	host->ftl = ftl_init(&host->params, host->memory, 0);
	host->random = 1;
	host->now_ns = 0;
	host->cut_ns = U64_MAX;
	host->is_trimmed = false;
	for (u64 lpn = 0; lpn < host->params.nr_lpns; lpn++)
		write_pages(host, lpn, 1);
	fill_log(host, defrag_case->nr_before);
	for (u64 i = 0; i < 2 * host->params.nr_lpns; i++)
		write_other(host);
	host->now_ns = ftl_flush(host->ftl, host->now_ns);
	host->now_ns = ftl_trim(host->ftl, to_lpn(host->new_place), PIECE_PAGES, host->now_ns);
	for (u32 page = 0; page < FILE_PAGES; page++) {
		host->old[page] = content_of(host->ftl, old_page(page));
		host->older[page] = host->old[page];
		host->given[page] = 0;
		host->before[page] = content_of(host->ftl, host->new_place + page);
	}
	for (u32 piece = 0; piece < NR_PIECES; piece++)
		host->done_ns[piece] = U64_MAX;
}

/*
 * Has the power failed when the command that began at @sent_ns is complete? What was to happen
 * before it began cannot be known before.
 */
static bool has_failed(struct host *host, u64 sent_ns)
{
	u64 end_ns = ftl_cut_ns(host->ftl, sent_ns);
	u64 before_ns = 0;

	if (end_ns == U64_MAX)
		return false;
	if (host->moment == MOMENT_BEGUN)
		before_ns = host->params.program_ns - 1;
	else if (host->moment == MOMENT_ENDING)
		before_ns = 1;
	if (host->cut_ns == U64_MAX)
		host->cut_ns = max(sent_ns, end_ns - min(before_ns, end_ns));
	return host->now_ns >= host->cut_ns;
}

static bool disturb(struct host *host)
{
	for (u32 i = 0; i < 8; i++) {
		u64 sent_ns = host->now_ns;

		write_other(host);
		if (has_failed(host, sent_ns))
			return false;
	}
	return true;
}

static bool renew_page(struct host *host, u32 page)
{
	u64 sent_ns = host->now_ns;

	write_pages(host, old_page(page), 1);
	host->older[page] = host->old[page];
	host->old[page] = content_of(host->ftl, old_page(page));
	return !has_failed(host, sent_ns);
}

/* Others do not wait for the command. */
static bool move_piece(struct host *host, u32 piece)
{
	u64 sent_ns, done_ns;
	bool is_on;

	if (!renew_page(host, piece * PIECE_PAGES + piece % PIECE_PAGES))
		return false;
	sent_ns = host->now_ns;
	done_ns = share_piece(host, host->new_place + piece * PIECE_PAGES,
			      (u64)piece * PIECE_STEP, PIECE_PAGES);
	if (host->params.plp)
		host->done_ns[piece] = done_ns;
	for (u32 page = piece * PIECE_PAGES; page < (piece + 1) * PIECE_PAGES; page++)
		host->given[page] = ftl_seq_of(host->ftl, to_lpn(host->new_place + page));
	is_on = !has_failed(host, sent_ns) && disturb(host);
	host->now_ns = max(host->now_ns, done_ns);
	return is_on && host->now_ns < host->cut_ns;
}

static bool flush(struct host *host)
{
	u64 sent_ns = host->now_ns;

	host->now_ns = ftl_flush(host->ftl, host->now_ns);
	for (u32 piece = 0; piece < NR_PIECES; piece++)
		host->done_ns[piece] = min(host->done_ns[piece], host->now_ns);
	return !has_failed(host, sent_ns);
}

static bool give_up_old_place(struct host *host)
{
	for (u32 piece = 0; piece < NR_PIECES; piece++) {
		u64 sent_ns = host->now_ns;

		host->is_trimmed = true;
		host->now_ns = ftl_trim(host->ftl, to_lpn((u64)piece * PIECE_STEP), PIECE_PAGES,
					host->now_ns);
		if (has_failed(host, sent_ns))
			return false;
	}
	return true;
}

/* Return: whether the power is still on when all is done. */
static bool defragment(struct host *host)
{
	for (u32 piece = 0; piece < NR_PIECES; piece++) {
		if (!move_piece(host, piece))
			return false;
	}
	return flush(host) && give_up_old_place(host) && disturb(host) && disturb(host) &&
		flush(host);
}

static void fail_power(struct host *host, u64 cut_ns)
{
	const char *reason;

	ftl_power_cut(host->ftl, cut_ns);
	reason = ftl_rebuild(host->ftl, cut_ns);
	KUNIT_ASSERT_NULL_MSG(host->test, reason, "%s", reason);
	EXPECT_CONSISTENT(host->test, host->ftl);
	host->now_ns = cut_ns;
	host->cut_ns = U64_MAX;
}

static void check_old_place(struct host *host, u32 page, bool is_durable)
{
	u64 content = content_of(host->ftl, old_page(page));

	KUNIT_ASSERT_TRUE_MSG(host->test, content == host->old[page] ||
			      (!is_durable && content == host->older[page]),
			      "page %u of the old place has %llu, and had %llu", page, content,
			      host->old[page]);
}

static bool has_data(const struct host *host, u32 page)
{
	u64 content = content_of(host->ftl, host->new_place + page);

	return content == host->old[page] || (content && content == host->given[page]);
}

/* Return: whether the new place of a piece has the file's data. */
static bool check_piece(struct host *host, u32 piece, u64 cut_ns)
{
	bool is_complete = host->done_ns[piece] <= cut_ns;
	bool is_new = has_data(host, piece * PIECE_PAGES);

	for (u32 page = piece * PIECE_PAGES; page < (piece + 1) * PIECE_PAGES; page++) {
		if (is_new)
			KUNIT_ASSERT_TRUE_MSG(host->test, has_data(host, page),
					      "page %u is not in the new place", page);
		else
			KUNIT_ASSERT_EQ_MSG(host->test, host->before[page],
					    content_of(host->ftl, host->new_place + page),
					    "page %u of the new place was another", page);
		if (!host->is_trimmed)
			check_old_place(host, page, is_new);
	}
	if (is_complete)
		KUNIT_ASSERT_TRUE_MSG(host->test, is_new, "piece %u is not there", piece);
	return is_new;
}

static void finish(struct host *host, u32 first_piece)
{
	for (u32 page = first_piece * PIECE_PAGES; page < FILE_PAGES; page++) {
		host->old[page] = content_of(host->ftl, old_page(page));
		host->given[page] = 0;
	}
	for (u32 piece = first_piece; piece < NR_PIECES && !host->is_trimmed; piece++)
		move_piece(host, piece);
	flush(host);
	give_up_old_place(host);
	fail_power(host, host->now_ns);
	for (u32 piece = 0; piece < NR_PIECES; piece++)
		KUNIT_ASSERT_TRUE(host->test, check_piece(host, piece, U64_MAX));
}

/* Return: whether there is such an operation. */
static bool fail_at(struct host *host, u64 operation)
{
	u32 nr_there = 0;
	u64 cut_ns;

	begin(host);
	ftl_cut_after(host->ftl, operation);
	if (defragment(host) && host->cut_ns == U64_MAX)
		return false;
	cut_ns = host->cut_ns;
	fail_power(host, cut_ns);
	for (u32 piece = 0; piece < NR_PIECES; piece++)
		nr_there += check_piece(host, piece, cut_ns);
	finish(host, nr_there);
	return true;
}

static void file_is_whole_whenever_the_power_fails(struct kunit *test)
{
	struct host *host = make_host(test);
	struct ftl_stats stats;
	u64 operation, nr_before, nr_operations;

	begin(host);
	nr_before = stats_of(host->ftl).gc_runs;
	nr_operations = count_operations(host->ftl);
	KUNIT_EXPECT_TRUE(test, defragment(host));
	nr_operations = count_operations(host->ftl) - nr_operations;
	stats = stats_of(host->ftl);
	KUNIT_EXPECT_GT(test, stats.gc_runs, nr_before);
	KUNIT_EXPECT_EQ(test, stats.defrag_compactions,
			((const struct defrag_case *)test->param_value)->nr_before ? 1ULL : 0ULL);
	for (host->moment = MOMENT_BEGUN; host->moment < NR_MOMENTS; host->moment++) {
		for (operation = 1; fail_at(host, operation); operation++)
			KUNIT_ASSERT_LE(test, operation, nr_operations);
		KUNIT_EXPECT_EQ(test, operation - 1, nr_operations);
	}
	kunit_info(test, "%llu programs and erases, three failures at each\n", nr_operations);
}

static struct kunit_case defrag_test_cases[] = {
	KUNIT_CASE_PARAM(file_is_whole_whenever_the_power_fails, defrag_gen_params),
	{}
};

static struct kunit_suite defrag_suite = {
	.name = "nvmev_defrag",
	.test_cases = defrag_test_cases,
};

kunit_test_suite(defrag_suite);

MODULE_DESCRIPTION("Power failures while a file is defragmented without copies");
MODULE_LICENSE("GPL");
