// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage: crash-both [--seed N] [--count N] [--ignore flush|fua]
 *
 * Log mode on a virtual SSD without power-loss protection, and both lose their power at the
 * same instant: with one of the SSD's programs or erases, also one of its collections, or of
 * those that the start after the failure before gave rise to. The SSD makes its maps anew
 * from its out-of-band data, log mode starts from what the SSD then returns, and each page
 * has to be what it was when a flush promised it last, or what was written later. Then the
 * work goes on, on the same image, until the next failure.
 *
 * Log mode is the core's decisions in the order of dm-dieaware/tests/volume.h. Data and
 * tables are writes, the journal and roots are writes with FUA behind a flush, as the target
 * sends them; segments are discarded before they are used again. Each drive is tried with
 * a device that has room, and with one that is full and is cleaned all the time: then
 * writes have to go on, however often the power fails.
 *
 *	--seed N	other work and other failures (default 1)
 *	--count N	power failures of each drive and fill (default 600)
 *	--ignore WHAT	the SSD does nothing for flushes, or FUA; this has to fail
 *
 * Exit status: 0 all is well, 1 not, 2 it could not be tried.
 */
#include <getopt.h>
#include <kunit/test.h>

#define SEGMENT_PAGES		64
#define DISK_PAGES		2960
#define MAP_PAGES		4
#define RESERVE_PERMILLE	200
#include "../../dm-dieaware/tests/volume.h"

#include "ssd.h"
#include "util.h"

#define MAX_LPNS	2500
#define MAX_FUA		256
#define MAX_WRITE	64
#define MAX_STEPS	100000
/* Segments that have to be free before users may write */
#define LOW_SEGMENTS	4
#define NR_FILLS	2

/* What a test runs out of is not freed when it fails. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/**
 * struct candidates - what a page may be after a power failure
 * @tag: the first is promised, the others were written since; 0: nothing
 * @nr: how many, at least 1
 */
struct candidates {
	u64 *tag;
	u64 nr;
};

/* A page that cleaning has copied, and where from. */
struct move {
	u64 lpn;
	dpn_t from;
	dpn_t to;
};

/**
 * struct tally - what there was, for a test that has tested nothing must not pass
 * @nr_cuts: power failures
 * @nr_start_cuts: those of them that a start did not survive
 * @nr_cleanings: victims
 * @nr_overwrites: pages that were overwritten in place
 * @nr_discards: segments that were discarded
 * @nr_promises: flushes that came to their end
 */
struct tally {
	u64 nr_cuts;
	u64 nr_start_cuts;
	u64 nr_cleanings;
	u64 nr_overwrites;
	u64 nr_discards;
	u64 nr_promises;
};

/**
 * struct bench - a device on a drive, and its past
 * @volume: the device
 * @ssd: the drive
 * @fua: pages of the disk to be written with FUA at the next flush
 * @nr_fua: how many
 * @nr_plain: writes that were sent since the last flush
 * @page: by lpn
 * @nr_used: pages that the work is about
 * @last_tag: of the last write
 * @random: state
 * @salt: starts
 * @op: for replay
 * @moves: what cleaning copies
 * @is_moving: whether it is under way
 * @is_mapped: by dpn
 * @tally: what there was
 */
struct bench {
	struct volume *volume;
	struct ssd *ssd;
	u64 fua[MAX_FUA];
	u32 nr_fua;
	u32 nr_plain;
	struct candidates page[MAX_LPNS];
	u64 nr_used;
	u64 last_tag;
	u64 random;
	u64 salt;
	struct dmda_op op;
	struct move moves[SEGMENT_PAGES];
	bool is_moving;
	bool is_mapped[DISK_PAGES];
	struct tally tally;
};

static struct volume *the_volume;

static bool is_meta(u64 page)
{
	return meta_index(&the_volume->super, page) >= 0;
}

static void release(u64 page, u64 content)
{
	if (content && is_meta(page))
		free((void *)content);
}

/* What the device has in a page of the disk now. */
static u64 content_of(const struct volume *volume, u64 page)
{
	int index = meta_index(&volume->super, page);
	struct page_bytes *bytes;

	if (index < 0)
		return volume->now->tag[page];
	bytes = must(aligned_alloc(8, sizeof(*bytes)));
	*bytes = volume->now->meta[index];
	return (u64)bytes;
}

static bool is_root(const struct volume *volume, u64 page)
{
	for (u32 i = 0; i < ARRAY_SIZE(volume->super.root_dpn); i++) {
		if (page - volume->super.root_dpn[i] < dmda_root_nr_pages(&volume->super))
			return true;
	}
	return false;
}

/* Sectors of the journal that share a page are one write. */
static void collect_fua(struct bench *bench, u64 page)
{
	if (bench->nr_fua && bench->fua[bench->nr_fua - 1] == page)
		return;
	if (bench->nr_fua == MAX_FUA)
		give_up("A batch is larger than expected");
	bench->fua[bench->nr_fua++] = page;
}

/* volume.cut: the last pending write goes to the drive, unless it is one that a flush precedes. */
static void send_write(struct volume *volume)
{
	const struct pending *pending = &volume->pending[volume->nr_pending - 1];
	struct bench *bench = volume->data;
	u64 content;

	if (pending->nr_sectors < DMDA_PAGE_SECTORS || is_root(volume, pending->dpn)) {
		collect_fua(bench, pending->dpn);
		return;
	}
	content = content_of(volume, pending->dpn);
	bench->nr_plain++;
	ssd_write(bench->ssd, &(struct ssd_write){
		.page = pending->dpn, .nr = 1, .content = &content,
	});
}

static void send_fua(struct bench *bench)
{
	u64 content[MAX_FUA];
	u32 i, nr;

	for (i = 0; i < bench->nr_fua; i += nr) {
		u64 first = bench->fua[i];

		for (nr = 0; i + nr < bench->nr_fua && bench->fua[i + nr] == first + nr; nr++)
			content[nr] = content_of(bench->volume, first + nr);
		ssd_write(bench->ssd, &(struct ssd_write){
			.page = first, .nr = nr, .content = content, .fua = true,
			.is_partial = !is_root(bench->volume, first),
		});
	}
	bench->nr_fua = 0;
	ssd_wait(bench->ssd);
}

/* volume.flushed: what is durable by FUA is not flushed, too. */
static void send_flush(struct volume *volume)
{
	struct bench *bench = volume->data;

	if (bench->nr_fua && bench->nr_plain)
		give_up("Journal or root are written before all else is flushed");
	if (bench->nr_fua)
		send_fua(bench);
	else
		ssd_flush(bench->ssd);
	bench->nr_plain = 0;
	volume->is_dead = ssd_is_off(bench->ssd);
}

static void check_power(struct bench *bench)
{
	if (ssd_is_off(bench->ssd))
		bench->volume->is_dead = true;
}

/* ---- what was promised */

static void note(struct bench *bench, u64 lpn, u32 nr_pages, u64 tag)
{
	for (u64 at = lpn; at < lpn + nr_pages; at++) {
		struct candidates *page = &bench->page[at];

		page->tag = grow(page->tag, page->nr, sizeof(*page->tag));
		page->tag[page->nr++] = tag ? tag + at : 0;
	}
}

static void is_now(struct candidates *page, u64 tag)
{
	page->tag[0] = tag;
	page->nr = 1;
}

static void promise(struct bench *bench)
{
	commit(bench->volume);
	if (bench->volume->is_dead)
		return;
	bench->tally.nr_promises++;
	for (u64 lpn = 0; lpn < bench->volume->super.nr_lpns; lpn++)
		is_now(&bench->page[lpn], bench->page[lpn].tag[bench->page[lpn].nr - 1]);
}

/* ---- work */

static void write_pages(struct bench *bench, u64 lpn, u32 nr_pages)
{
	u64 tag = ++bench->last_tag << 20;

	note(bench, lpn, nr_pages, tag);
	while (nr_pages) {
		dpn_t dpn;
		u32 nr = write_data(bench->volume, DMDA_STREAM_USER, lpn, nr_pages, tag, &dpn);

		map_data(bench->volume, lpn, dpn, nr);
		lpn += nr;
		nr_pages -= nr;
	}
}

static void trim(struct bench *bench, u64 lpn, u32 nr_pages)
{
	note(bench, lpn, nr_pages, 0);
	trim_pages(bench->volume, lpn, nr_pages);
}

/* Not while its old data is being copied. */
static void overwrite_in_place(struct bench *bench, u64 lpn)
{
	dpn_t dpn = where_is(bench->volume, lpn);
	u64 tag;

	if (dpn == DPN_NONE || bench->is_moving)
		return;
	tag = ++bench->last_tag << 20;
	note(bench, lpn, 1, tag);
	disk_write_tag(bench->volume, dpn, tag + lpn);
	bench->volume->commit.nr_overwrites++;
	bench->tally.nr_overwrites++;
}

static void do_something(struct bench *bench, u32 max_pages)
{
	u32 nr_pages = 1 + draw(&bench->random, draw(&bench->random, 4) ? 4 : max_pages);
	u64 lpn = draw(&bench->random, bench->nr_used - nr_pages);
	u32 what = draw(&bench->random, 100);

	/* Most goes to a third of the device. */
	if (draw(&bench->random, 4))
		lpn /= 3;
	if (what < 65)
		write_pages(bench, lpn, nr_pages);
	else if (what < 75)
		overwrite_in_place(bench, lpn);
	else if (what < 79)
		trim(bench, lpn, nr_pages);
	else if (what < 84)
		evict_map_page(bench->volume, draw(&bench->random,
						   bench->volume->slots[DMDA_TABLE_MAP].nr_pages));
	else if (what < 86)
		take_checkpoint(bench->volume);
	else if (what < 88)
		ssd_rest(bench->ssd, draw(&bench->random, 5000000));
	else
		promise(bench);
	check_power(bench);
}

/* volume.discarded */
static void send_discard(struct volume *volume, seg_t seg)
{
	struct bench *bench = volume->data;

	ssd_discard(bench->ssd, from_dpn(dmda_super_segment_dpn(&volume->super, seg)),
		    SEGMENT_PAGES);
	check_power(bench);
	bench->tally.nr_discards++;
}

/* Copies the valid pages of the best victim. Return: how many. */
static u32 begin_moves(struct bench *bench)
{
	enum dmda_policy policy = draw(&bench->random, 2) ? DMDA_POLICY_GREEDY :
		DMDA_POLICY_COST_BENEFIT;
	struct volume *volume = bench->volume;
	const struct dmda_summary_block *summary;
	struct dmda_candidate victim;
	u32 nr = 0;
	u64 first;

	if (!dmda_victim_candidates(&volume->segments, volume->commit.batch.next_seq, policy,
				    &victim, 1))
		return 0;
	bench->is_moving = true;
	bench->tally.nr_cleanings++;
	summary = read_meta(volume, volume->now, dmda_summary_dpn(&volume->super, victim.seg));
	KUNIT_ASSERT_NULL(volume->test, dmda_summary_check(summary, &volume->super, victim.seg));
	first = from_dpn(dmda_super_segment_dpn(&volume->super, victim.seg));
	for (u32 page = 0; page < dmda_super_data_pages(&volume->super); page++) {
		dpn_t dpn = to_dpn(first + page);
		struct dmda_written written;
		u64 lpn;

		if (!dmda_summary_get(summary, page, &written))
			continue;
		lpn = from_lpn(written.lpn);
		if (where_is(volume, lpn) != dpn)
			continue;
		bench->moves[nr] = (struct move){ .lpn = lpn, .from = dpn };
		write_data(volume, DMDA_STREAM_MOVED, lpn, 1,
			   volume->now->tag[from_dpn(dpn)] - lpn, &bench->moves[nr].to);
		nr++;
	}
	return nr;
}

/* A page that was written meanwhile is not moved. */
static void end_moves(struct bench *bench, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		const struct move *move = &bench->moves[i];

		if (where_is(bench->volume, move->lpn) == move->from)
			map_data(bench->volume, move->lpn, move->to, 1);
		else
			end_places(bench->volume, move->to, 1, 0);
	}
	bench->is_moving = false;
}

static u32 nr_spare(const struct volume *volume)
{
	return volume->segments.nr_free + volume->segments.nr_empty;
}

/*
 * One victim at a time, and what has moved becomes durable as a whole: however often the
 * power fails, cleaning loses no segment to a copy that was cut off.
 */
static void clean(struct bench *bench)
{
	struct volume *volume = bench->volume;

	for (u32 i = 0; i < 4 * NR_SEGMENTS && nr_spare(volume) < LOW_SEGMENTS; i++) {
		u32 nr;

		promise(bench);
		nr = begin_moves(bench);
		if (nr_spare(volume) >= LOW_SEGMENTS / 2)
			do_something(bench, 4);
		end_moves(bench, nr);
		promise(bench);
		free_empty_segments(volume);
		if (volume->is_dead)
			return;
	}
}

static void work(struct bench *bench)
{
	for (u32 i = 0; !bench->volume->is_dead; i++) {
		if (i == MAX_STEPS)
			give_up("The power does not fail");
		clean(bench);
		if (!bench->volume->is_dead)
			do_something(bench, MAX_WRITE);
	}
}

/* ---- after a power failure */

static void load_image(struct bench *bench)
{
	struct image *image = bench->volume->stable;

	for (u64 page = 0; page < DISK_PAGES; page++) {
		int index = meta_index(&bench->volume->super, page);
		u64 content = ssd_content(bench->ssd, page);

		if (index < 0)
			image->tag[page] = content;
		else if (content)
			image->meta[index] = *(struct page_bytes *)content;
		else
			memset(&image->meta[index], 0, sizeof(image->meta[index]));
	}
	copy_image(bench->volume->now, image);
}

static bool is_allowed(const struct candidates *page, u64 tag)
{
	for (u64 i = 0; i < page->nr; i++) {
		if (page->tag[i] == tag)
			return true;
	}
	return false;
}

static void expect_pages(struct bench *bench)
{
	struct volume *volume = bench->volume;

	memset(bench->is_mapped, 0, sizeof(bench->is_mapped));
	for (u64 lpn = 0; lpn < volume->super.nr_lpns; lpn++) {
		struct candidates *page = &bench->page[lpn];
		dpn_t dpn = where_is(volume, lpn);
		u64 tag = dpn == DPN_NONE ? 0 : volume->stable->tag[from_dpn(dpn)];

		KUNIT_ASSERT_TRUE_MSG(volume->test, is_allowed(page, tag),
				      "page %llu is version %llu, promised was %llu, written last %llu",
				      (unsigned long long)lpn, (unsigned long long)tag >> 20,
				      (unsigned long long)page->tag[0] >> 20,
				      (unsigned long long)page->tag[page->nr - 1] >> 20);
		is_now(page, tag);
		if (dpn == DPN_NONE)
			continue;
		KUNIT_ASSERT_FALSE_MSG(volume->test, bench->is_mapped[from_dpn(dpn)],
				       "two pages are mapped to the same place");
		bench->is_mapped[from_dpn(dpn)] = true;
	}
}

/* A page of an open segment that is mapped must be in its summary. */
static bool is_in_summary(struct volume *volume, u8 open, u64 dpn, u32 page)
{
	struct dmda_written written;

	return dmda_opened_get(&volume->opened, open, page, &written) &&
		from_dpn(where_is(volume, from_lpn(written.lpn))) == dpn;
}

static void expect_segments(struct bench *bench)
{
	struct volume *volume = bench->volume;

	for (u32 i = 0; i < volume->segments.nr_segments; i++) {
		const struct dmda_segment *segment = &volume->segments.segment[i];
		u64 first = from_dpn(dmda_super_segment_dpn(&volume->super, to_seg(i)));
		u32 nr_valid = 0;

		for (u32 page = 0; page < dmda_super_data_pages(&volume->super); page++) {
			if (!bench->is_mapped[first + page])
				continue;
			nr_valid++;
			if (segment->state == DMDA_SEGMENT_OPEN)
				KUNIT_ASSERT_TRUE(volume->test,
						  is_in_summary(volume, segment->open,
								first + page, page));
		}
		KUNIT_ASSERT_EQ(volume->test, nr_valid, segment->nr_valid);
	}
}

/* Both start from what the failure has left, and go on. */
static void restart(struct bench *bench)
{
	struct volume *volume = bench->volume;
	struct dmda_journal_place next;
	const char *why = ssd_power_on(bench->ssd);

	KUNIT_ASSERT_NULL_MSG(volume->test, why, "%s", why);
	bench->nr_fua = 0;
	bench->nr_plain = 0;
	bench->is_moving = false;
	volume->nr_pending = 0;
	volume->is_dead = false;
	load_image(bench);
	why = open_volume(volume, volume->stable, &bench->op, &next);
	KUNIT_ASSERT_NULL_MSG(volume->test, why, "%s", why);
	expect_pages(bench);
	expect_segments(bench);
	/* Sometimes at once, so that the start itself is cut. */
	ssd_cut_after(bench->ssd, 1 + draw(&bench->random, 8U << draw(&bench->random, 9)));
	resume_volume(volume, ++bench->salt);
	bench->tally.nr_start_cuts += volume->is_dead;
}

/* ---- all of it */

/**
 * struct options - of the command line
 * @seed: see above, like @count and @ignored
 */
struct options {
	u64 seed;
	u64 count;
	const char *ignored;
};

static void begin(struct bench *bench, struct kunit *test, u32 shape, u32 fill)
{
	struct volume *volume = new_volume(test);

	the_volume = volume;
	bench->volume = volume;
	bench->ssd = ssd_create(shape, DISK_PAGES, release);
	if (volume->super.nr_lpns > MAX_LPNS)
		give_up("The device is larger than expected");
	for (u64 lpn = 0; lpn < volume->super.nr_lpns; lpn++)
		note(bench, lpn, 1, 0);
	volume->data = bench;
	volume->cut = send_write;
	volume->flushed = send_flush;
	volume->discarded = send_discard;
	format_volume(volume);
	bench->nr_used = fill ? volume->super.nr_lpns : volume->super.nr_lpns / 2;
	for (u64 lpn = 0; lpn + MAX_WRITE <= bench->nr_used; lpn += MAX_WRITE)
		write_pages(bench, lpn, MAX_WRITE);
	promise(bench);
}

static void expect_tested(const struct bench *bench, u32 fill)
{
	const struct tally *tally = &bench->tally;
	struct kunit *test = bench->volume->test;

	printf("# lost=%llu collected=%llu starts_cut=%llu promises=%llu ",
	       (unsigned long long)ssd_nr_lost(bench->ssd),
	       (unsigned long long)ssd_nr_collected(bench->ssd),
	       (unsigned long long)tally->nr_start_cuts,
	       (unsigned long long)tally->nr_promises);
	printf("cleanings=%llu in_place=%llu discards=%llu laps=%llu\n",
	       (unsigned long long)tally->nr_cleanings, (unsigned long long)tally->nr_overwrites,
	       (unsigned long long)tally->nr_discards,
	       (unsigned long long)bench->volume->commit.batch.first.sector /
		       DMDA_MIN_JOURNAL_SECTORS);
	if (tally->nr_cuts < 100)
		return;
	KUNIT_EXPECT_GT(test, ssd_nr_lost(bench->ssd), tally->nr_cuts / 10);
	KUNIT_EXPECT_GT(test, ssd_nr_collected(bench->ssd), tally->nr_cuts / 10);
	KUNIT_EXPECT_GT(test, tally->nr_start_cuts, tally->nr_cuts / 20);
	KUNIT_EXPECT_GT(test, tally->nr_promises, tally->nr_cuts);
	KUNIT_EXPECT_GT(test, tally->nr_overwrites, tally->nr_cuts);
	KUNIT_EXPECT_GT(test, tally->nr_discards, tally->nr_cuts / 10);
	KUNIT_EXPECT_GT(test, tally->nr_cleanings, fill ? tally->nr_cuts / 2 : 0);
}

static void fail_again_and_again(struct bench *bench, const struct options *options)
{
	ssd_cut_after(bench->ssd, 1);
	ssd_ignores(bench->ssd, !strcmp(options->ignored, "flush"),
		    !strcmp(options->ignored, "fua"));
	for (u64 i = 0; i < options->count; i++) {
		work(bench);
		bench->tally.nr_cuts++;
		restart(bench);
	}
}

/* Return: whether all is well. */
static bool try_drive(const struct options *options, u32 shape, u32 fill)
{
	static struct bench bench;
	static struct kunit test;

	memset(&bench, 0, sizeof(bench));
	memset(&test, 0, sizeof(test));
	bench.random = (options->seed * NR_FILLS + fill) * ssd_nr_shapes() + shape;
	printf("# %s, %s\n", ssd_shape_name(shape), fill ? "full" : "half full");
	if (!setjmp(test.end)) {
		begin(&bench, &test, shape, fill);
		fail_again_and_again(&bench, options);
		expect_tested(&bench, fill);
	} else {
		printf("# after %llu power failures\n", (unsigned long long)bench.tally.nr_cuts);
	}
	ssd_destroy(bench.ssd);
	for (u64 lpn = 0; lpn < MAX_LPNS; lpn++)
		free(bench.page[lpn].tag);
	shim_kunit_free(&test);
	return !test.failed;
}

static u64 number(const char *text)
{
	char *end;
	u64 value = strtoull(text, &end, 0);

	if (end == text || *end)
		give_up("'%s' is not a figure", text);
	return value;
}

static void take_arguments(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "count", required_argument, NULL, 'c' },
		{ "ignore", required_argument, NULL, 'i' },
		{},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 's')
			options->seed = number(optarg);
		else if (option == 'c')
			options->count = number(optarg);
		else if (option == 'i')
			options->ignored = optarg;
		else
			exit(2);
	}
	if (optind != argc)
		give_up("It takes options only");
	if (*options->ignored && strcmp(options->ignored, "flush") &&
	    strcmp(options->ignored, "fua"))
		give_up("--ignore wants flush or fua, not '%s'", options->ignored);
}

int main(int argc, char **argv)
{
	struct options options = { .seed = 1, .count = 600, .ignored = "" };
	u32 nr_failed = 0;

	take_arguments(&options, argc, argv);
	for (u32 shape = 0; shape < ssd_nr_shapes(); shape++) {
		for (u32 fill = 0; fill < NR_FILLS; fill++)
			nr_failed += !try_drive(&options, shape, fill);
	}
	printf("%llu power failures of each of %u drives, %u of them failed\n",
	       (unsigned long long)options.count, ssd_nr_shapes() * NR_FILLS, nr_failed);
	return nr_failed != 0;
}
