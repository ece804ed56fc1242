// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hints never make reading slower, on any profile, whatever its dies can do besides.
 *
 * A file of 2 MiB is written in pieces, after each of which somebody else writes, or its pieces
 * are overwritten one by one so. It is read in order, by windows as read-ahead does: a command
 * for each piece if their lpns are apart, else one for the window. Busy: somebody writes a few
 * units with each window.
 *
 * Contiguous is the file that nobody disturbed, without hints; ideal the same with hints. Hints
 * have to reach 99 percent of the faster one of both, and plain. But where plain is faster than
 * the file that nobody disturbed, it is by chance: pieces that lie in two units, or on more dies
 * than need be, cross two channels at a time, or arrive in smaller parts, so that the link begins
 * sooner. That costs a sense each, which pays only while nothing else is read: an eighth more die
 * time for a piece of half a unit in the mean. Whole units come as late as the channel takes for
 * one, and no later: on fast24
 *
 *	16 KiB on one die	3 + 36 + 20.5 + 5.1 = 64.6 us
 *	16 KiB, halves on two	3 + 36 + 10.2 + 5.1 = 54.3 us, 10.2 less
 *	128 KiB, four units	3 + 36 + 41 + 41 = 121 us
 *	128 KiB, eight halves	3 + 36 + 20.5 + 41 = 100.5 us, 20.5 less
 *	128 KiB, single pages	3 + 36 + 5.1 + 41 = 85.1 us, 35.9 less
 *
 * so the bound is 41 us, the channel's time of a unit, for each window; and as buses know the
 * order of transfers but for half of one (channel.h), half of a unit's time on the link.
 */
#include "drive_kunit.h"

#include "../core/profiles.c"

#define FILE_PAGES	512
#define RAW_PAGES	32768U
#define SECOND_NS	1000000000ULL
#define SEED		20240227
#define BUSY_PAGES	64
#define BUSY_WINDOW	256
#define NR_PHASES	8
#define NR_DRAWS	4
#define NR_WINDOWS	3

enum writer {
	CONTIGUOUS,
	IDEAL,
	PLAIN,
	HINTED,
	NR_WRITERS,
};

/**
 * struct gain - how a file is written and read
 * @nr_pages: pages of a piece
 * @apart: lpns of consecutive pieces are not consecutive
 * @overwrite: the file is there and its pieces are overwritten, else it grows by them
 * @others: pages that others write after each piece, 0: 1 to 32 times as many as a piece has
 * @window: pages of a window
 * @busy: others write while the file is read
 */
struct gain {
	u32 nr_pages;
	bool apart;
	bool overwrite;
	u32 others;
	u32 window;
	bool busy;
};

/**
 * struct bench - a drive with a file and somebody else's pages
 * @ftl: the drive
 * @gain: what is done to it
 * @now_ns: time of the next command
 * @next_other: lpn that the other one writes next
 * @random: state of the generator
 */
struct bench {
	struct ftl *ftl;
	const struct gain *gain;
	u64 now_ns;
	u64 next_other;
	u64 random;
};

/**
 * struct profile - one that is tried
 * @name: its name
 * @ideal_permille: what hints have to reach of the ideal file
 * @plain_permille: what they have to reach of a plain one that is no faster than the file nobody
 *	disturbed
 * @lacks_single: single pages that are apart are left out where planes sense by themselves and no
 *	register serves a second one. Those that come round the dies (rule 3c of place.h) begin with
 *	the first plane of each unit, and are sensed there one after the other; plain ones lie on
 *	all planes by chance
 * @luck_permille: what hints reach of the luckiest plain file of those that are tried on the
 *	profile as it is, when they are read by pieces, by 128 KiB and by 1 MiB
 */
struct profile {
	const char *name;
	u32 ideal_permille;
	u32 plain_permille;
	bool lacks_single;
	u32 luck_permille[NR_WINDOWS];
};

/*
 * All but xpoint, which takes no hints. The links of emmc and microsd are so slow that it decides
 * which pages of a window are the first that it can have. docs/drives.md has the last columns.
 */
static const struct profile tried[] = {
	{ "fast24", 990, 1000, true, { 862, 985, 1020 } },
	{ "nvme-a", 990, 1000, false, { 831, 604, 913 } },
	{ "nvme-b", 990, 1000, false, { 780, 649, 928 } },
	{ "nvme-c", 990, 1000, false, { 863, 708, 957 } },
	{ "nvme-d", 990, 1000, false, { 863, 796, 938 } },
	{ "sata-a", 990, 1000, false, { 1000, 1330, 1098 } },
	{ "sata-b", 990, 1000, false, { 893, 893, 991 } },
	{ "sata", 990, 1000, false, { 837, 912, 993 } },
	{ "tlc", 990, 1000, true, { 889, 665, 892 } },
	{ "qlc", 990, 1000, false, { 938, 819, 956 } },
	{ "modern", 990, 1000, false, { 844, 712, 852 } },
	{ "slc-cache", 990, 1000, false, { 878, 723, 926 } },
	{ "dramless", 990, 1000, false, { 862, 1184, 1104 } },
	{ "emmc", 985, 985, false, { 863, 924, 979 } },
	{ "ufs", 990, 1000, false, { 855, 748, 975 } },
	{ "microsd", 985, 985, false, { 831, 949, 986 } },
	{ "large", 990, 1000, false, { 868, 631, 781 } },
	{ "huge", 990, 1000, false, { 868, 589, 768 } },
};

static void describe_profile(const struct profile *profile, char *desc)
{
	strscpy(desc, profile->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(profile, tried, describe_profile);

static const struct profile *profile_of(struct kunit *test)
{
	return test->param_value;
}

static const struct ftl_params *params_of(struct kunit *test, const char *name)
{
	const struct ftl_profile *profile = NULL;

	for (u32 i = 0; (profile = ftl_profile_at(i)); i++) {
		if (!strcmp(profile->name, name))
			break;
	}
	KUNIT_ASSERT_NOT_NULL(test, profile);
	return &profile->params;
}

/* The profile with as few erase blocks as the file and the others need. */
static struct ftl_params small_drive(struct kunit *test, const char *name, bool has_stripes)
{
	struct ftl_params params = *params_of(test, name);
	u32 line_pages;

	params.units_per_eblk = 16;
	line_pages = params.nr_channels * params.dies_per_channel * params.units_per_eblk *
		     params.unit_pages;
	params.eblks_per_die = max(8U, RAW_PAGES / line_pages);
	params.stripe_lead = has_stripes ? 8 : 0;
	params.parity = has_stripes;
	/* The region is a property that is tried like others. */
	params.slc_pages = 0;
	params.nr_lpns = ftl_params_capacity(&params);
	return params;
}

static u64 lpn_of(const struct gain *gain, u32 page)
{
	u32 gap = gain->apart ? page / gain->nr_pages : 0;

	return page + (u64)gap * gain->nr_pages;
}

static void write_others(struct bench *bench, u32 nr_pages)
{
	if (bench->next_other + nr_pages > ftl_get_params(bench->ftl)->nr_lpns)
		bench->next_other = 2 * FILE_PAGES;
	for (u32 nr; nr_pages; nr_pages -= nr) {
		struct ftl_request rq;

		nr = min_t(u32, nr_pages, FTL_MAX_TRANSFER_PAGES);
		rq = request(bench->next_other, nr);
		bench->now_ns = ftl_write(bench->ftl, &rq, bench->now_ns);
		bench->next_other += nr;
	}
}

static void write_piece(struct bench *bench, u32 page, enum ftl_hint hint)
{
	const struct gain *gain = bench->gain;
	struct ftl_request rq = request(lpn_of(gain, page), gain->nr_pages);

	rq.hint = hint;
	if (hint == FTL_HINT_APPEND && page)
		rq.pred = to_lpn(lpn_of(gain, page - 1));
	else if (hint == FTL_HINT_APPEND)
		rq.hint = FTL_HINT_BEGIN;
	bench->now_ns = ftl_write(bench->ftl, &rq, bench->now_ns);
}

static void write_file(struct bench *bench, enum ftl_hint hint, bool disturbed)
{
	u32 nr_pages = bench->gain->nr_pages;

	for (u32 page = 0; page < FILE_PAGES; page += nr_pages) {
		u32 others = bench->gain->others ?:
			     (1 + next_random32(&bench->random) % 32) * nr_pages;

		write_piece(bench, page, hint);
		if (disturbed)
			write_others(bench, others);
	}
}

static void fold_all(struct bench *bench)
{
	do
		bench->now_ns += SECOND_NS;
	while (ftl_idle(bench->ftl, bench->now_ns));
}

/*
 * How long a resting drive folds differs, and which of a bus's windows (channel.h) a file begins in
 * is worth a per cent of what takes the link alone: so it begins with one of a second.
 */
static u64 begin_reading(const struct bench *bench)
{
	u64 start_ns = bench->now_ns + SECOND_NS;
	u32 late_ns = 0;

	if (ftl_get_params(bench->ftl)->slc_pages)
		div_u64_rem(start_ns, SECOND_NS, &late_ns);
	return start_ns - late_ns;
}

static void make_file(struct bench *bench, enum writer writer)
{
	bool is_hinted = writer == HINTED || writer == IDEAL;
	bool is_disturbed = writer == HINTED || writer == PLAIN;
	enum ftl_hint append = is_hinted ? FTL_HINT_APPEND : FTL_HINT_NONE;

	write_file(bench, append, is_disturbed && !bench->gain->overwrite);
	if (bench->gain->overwrite && writer != CONTIGUOUS)
		write_file(bench, is_hinted ? FTL_HINT_OVERWRITE : FTL_HINT_NONE, is_disturbed);
	if (ftl_get_params(bench->ftl)->slc_pages)
		fold_all(bench);
}

/*
 * Others write so many eighths of the dies ahead of the file. How far the two are apart on the dies
 * is worth 5 percent, for a file that nobody disturbed, too.
 */
static void begin_busy(struct bench *bench, u32 phase)
{
	u32 nr_dies = bench->ftl->geo.nr_dies;
	u32 first = die_of(bench->ftl, lpn_of(bench->gain, 0)) + phase * nr_dies / NR_PHASES;
	u32 unit_pages = bench->ftl->geo.unit_pages;

	while (bench->ftl->units.plain[0])
		write_others(bench, 1);
	while (from_die(bench->ftl->place.cursor[0]) != first % nr_dies)
		write_others(bench, unit_pages);
	bench->now_ns += SECOND_NS;
}

/* Return: the end of a window whose commands are all given at once. */
static u64 read_window(struct bench *bench, u32 page, u32 end, u64 now_ns)
{
	const struct gain *gain = bench->gain;
	u32 step = gain->apart ? min(gain->nr_pages, gain->window) : gain->window;
	u64 done_ns = now_ns;

	for (; page < end; page += step) {
		struct ftl_request rq = request(lpn_of(gain, page), min(step, end - page));

		done_ns = max(done_ns, ftl_read(bench->ftl, &rq, now_ns));
	}
	return done_ns;
}

/*
 * Return: the time that it takes to read the file, of which the dies remember nothing. Planes of
 * all dies are one row.
 */
static u64 read_file(struct bench *bench)
{
	u64 start_ns = begin_reading(bench);
	u64 now_ns = start_ns;

	for (u32 i = 0; i < ftl_nr_dies(bench->ftl) * bench->ftl->geo.unit_planes; i++)
		bench->ftl->nand.die[0].plane[i].held = 0;
	for (u32 page = 0; page < FILE_PAGES; page += bench->gain->window) {
		if (bench->gain->busy) {
			bench->now_ns = now_ns;
			write_others(bench, BUSY_PAGES);
		}
		now_ns = read_window(bench, page,
				     min_t(u32, page + bench->gain->window, FILE_PAGES), now_ns);
	}
	bench->now_ns = max(bench->now_ns, now_ns);
	return now_ns - start_ns;
}

/* The file of a writer, read by each of the windows: the times come on top of what is there. */
static void add_times(struct ftl *ftl, struct gain gain, u32 phase, enum writer writer,
		      const u32 *windows, u32 nr_windows, u64 (*times)[NR_WRITERS])
{
	struct bench bench = {
		.ftl = ftl,
		.gain = &gain,
		.next_other = 2 * FILE_PAGES,
		.random = SEED + phase,
	};

	make_file(&bench, writer);
	for (u32 i = 0; i < nr_windows; i++) {
		gain.window = windows[i];
		if (gain.busy)
			begin_busy(&bench, phase);
		times[i][writer] += read_file(&bench);
	}
}

/*
 * The dies on which others are can be lucky, and so can a random distance: then a time is the mean
 * over all phases, or over some draws.
 */
static void get_times(struct kunit *test, const struct ftl_params *params, struct gain gain,
		      const u32 *windows, u32 nr_windows, u64 (*times)[NR_WRITERS])
{
	u32 nr_phases = gain.busy ? NR_PHASES : gain.others ? 1 : NR_DRAWS;
	void *memory = drive_memory(test, params);

	memset(times, 0, nr_windows * sizeof(*times));
	for (enum writer writer = 0; writer < NR_WRITERS; writer++) {
		for (u32 phase = 0; phase < nr_phases; phase++) {
			memset(memory, 0, ftl_bytes(params));
			add_times(ftl_init(params, memory, 0), gain, phase, writer, windows,
				  nr_windows, times);
		}
		for (u32 i = 0; i < nr_windows; i++)
			times[i][writer] = div_u64(times[i][writer], nr_phases);
	}
	kunit_kfree(test, memory);
}

static void say(struct kunit *test, const struct ftl_params *params, const struct gain *gain,
		u32 window, const u64 *ns)
{
	kunit_info(test, "%s hits %u cache %u planes %u suspend %u ahead %u stripes %u slc %u: %s of %u pages%s, %u others, by %u%s: %llu contiguous, %llu ideal, %llu plain, %llu hinted\n",
		   profile_of(test)->name,
		   params->register_hits, params->cache_read, params->plane_read,
		   params->suspend_program, params->read_ahead_pages, params->stripe_lead,
		   params->slc_pages,
		   gain->overwrite ? "overwrites" : "appends", gain->nr_pages,
		   gain->apart ? " apart" : "", gain->others, window, gain->busy ? ", busy" : "",
		   ns[CONTIGUOUS], ns[IDEAL], ns[PLAIN], ns[HINTED]);
}

static void expect_gain(struct kunit *test, const struct ftl_params *params,
			const struct gain *gain, u32 window, const u64 *ns)
{
	u64 best_ns = min(ns[CONTIGUOUS], ns[IDEAL]);
	u32 unit_bytes = params->unit_pages * FTL_PAGE_BYTES;
	u64 unit_ns = div_u64(1000ULL * unit_bytes, params->channel_mbps);
	u64 early_ns = unit_ns + div_u64(500ULL * unit_bytes, params->link_mbps);
	const struct profile *profile = profile_of(test);
	u64 plain_ns = ns[PLAIN];

	if (plain_ns < ns[CONTIGUOUS])
		plain_ns = div_u64(1000 * min(ns[CONTIGUOUS],
					      plain_ns + FILE_PAGES / window * early_ns),
				   profile->ideal_permille);
	else
		plain_ns = div_u64(1000 * plain_ns, profile->plain_permille);
	plain_ns += unit_ns / 2;
	best_ns = div_u64(1000 * best_ns, profile->ideal_permille) + unit_ns / 2;
	if (ns[HINTED] > min(best_ns, plain_ns))
		say(test, params, gain, window, ns);
	KUNIT_EXPECT_LE(test, ns[HINTED], best_ns);
	KUNIT_EXPECT_LE(test, ns[HINTED], plain_ns);
}

static bool lacks_single(struct kunit *test, const struct ftl_params *params)
{
	return profile_of(test)->lacks_single && params->plane_read && !params->register_hits;
}

static void try_pieces(struct kunit *test, const struct ftl_params *params, u32 nr_pages,
		       u32 others)
{
	for (u32 how = 0; how < 4; how++) {
		struct gain gain = {
			.nr_pages = nr_pages,
			.apart = how & 1,
			.overwrite = how & 2,
			.others = others,
			.busy = params->suspend_program || !params->hold_ns,
		};
		u32 windows[NR_WINDOWS] = { nr_pages, 32, BUSY_WINDOW };
		u32 first = gain.busy ? 2 : 0;
		u64 ns[ARRAY_SIZE(windows)][NR_WRITERS];

		if (gain.apart && nr_pages == 1 && lacks_single(test, params))
			continue;
		get_times(test, params, gain, windows + first, ARRAY_SIZE(windows) - first, ns);
		for (u32 i = first; i < ARRAY_SIZE(windows); i++)
			expect_gain(test, params, &gain, windows[i], ns[i - first]);
	}
}

static void try_drive(struct kunit *test, const struct ftl_params *params, u32 others)
{
	u32 unit_pages = params->unit_pages;

	try_pieces(test, params, unit_pages, others);
	if (unit_pages > 2)
		try_pieces(test, params, unit_pages / 2, others);
	if (unit_pages > 4)
		try_pieces(test, params, unit_pages / 4, others);
	if (unit_pages > 1)
		try_pieces(test, params, 1, others);
}

/* Each property of a drive comes with it and without it. */
static u32 read_ahead_of(u32 drive)
{
	return hweight32(drive) & 1 ? 64 : 0;
}

static bool has_stripes(u32 drive)
{
	return hweight32(drive & 3) & 1;
}

static bool has_slc(u32 drive)
{
	return drive % 3 == 1;
}

/*
 * As large as the file, so that some of what is written with it is past the region. Pages that have
 * stayed there are read no faster: whose these are is chance. A drive that rests to fold would also
 * mend what is plain, which is not what is asked here.
 */
static void add_slc_region(struct ftl_params *params)
{
	params->cell_bits = 3;
	params->slc_pages = FILE_PAGES;
	params->slc_program_ns = params->program_ns / 3;
	params->slc_read_ns = params->read_ns[0];
	params->bg_mend = false;
}

/* Of the drives with and without cache read, register hits and plane read, every so many */
static void try_drives(struct kunit *test, u32 step, u32 others)
{
	const char *name = profile_of(test)->name;

	for (u32 drive = 0; drive < 8; drive += step) {
		struct ftl_params params = small_drive(test, name, has_stripes(drive));

		params.cache_read = drive & 1;
		params.register_hits = !(drive & 2);
		params.plane_read = drive & 4;
		params.hold_ns = 5000000;
		params.read_ahead_pages = read_ahead_of(drive);
		if (has_slc(drive))
			add_slc_region(&params);
		try_drive(test, &params, others);
	}
}

static void hinted_is_never_below_plain(struct kunit *test)
{
	try_drives(test, 1, 0);
}

/* As SQLite's rows with 100 KiB of others after each: of plain pieces many lie in two units. */
static void nor_is_it_where_others_are_not_aligned(struct kunit *test)
{
	try_drives(test, 3, 25);
}

static void nor_is_it_while_others_write(struct kunit *test)
{
	const char *name = profile_of(test)->name;

	/*
	 * Without stripes: others would not come back to the dies that they have begun on, so that
	 * the phases would not even out which dies those are.
	 */
	for (u32 drive = 0; drive < 8; drive++) {
		struct ftl_params params = small_drive(test, name, false);
		u32 nr_dies = params.nr_channels * params.dies_per_channel;

		if (BUSY_WINDOW % (nr_dies * params.unit_pages))
			kunit_skip(test, "It matters which dies a window is on.");
		params.cache_read = drive & 1;
		params.register_hits = !(drive & 2);
		params.suspend_program = drive & 4 ? 8 : 0;
		params.suspend_erase = params.suspend_program;
		params.hold_ns = 0;
		params.read_ahead_pages = read_ahead_of(drive);
		if (has_slc(drive))
			add_slc_region(&params);
		try_drive(test, &params, 0);
	}
}

/* What hints reach of a plain file, over all ways in which pieces of so many pages are written. */
static void add_luck(struct kunit *test, const struct ftl_params *params, u32 nr_pages, u32 others,
		     u32 *permille)
{
	for (u32 how = 0; how < 4; how++) {
		struct gain gain = {
			.nr_pages = nr_pages,
			.apart = how & 1,
			.overwrite = how & 2,
			.others = others,
		};
		u32 windows[NR_WINDOWS] = { nr_pages, 32, BUSY_WINDOW };
		u64 ns[NR_WINDOWS][NR_WRITERS];

		get_times(test, params, gain, windows, NR_WINDOWS, ns);
		for (u32 i = 0; i < NR_WINDOWS; i++) {
			u32 luck = div64_u64(1000 * ns[i][PLAIN], ns[i][HINTED]);

			permille[i] = min(permille[i], luck);
		}
	}
}

/*
 * A plain file whose pieces happen to lie on more dies than they need is read faster by who waits
 * for each request; so much. It is a figure to be told, not one to be reached: hints give what a
 * file that nobody disturbed has.
 */
static void luck_is_as_the_docs_have_it(struct kunit *test)
{
	const struct profile *profile = profile_of(test);
	u32 permille[NR_WINDOWS] = { U32_MAX, U32_MAX, U32_MAX };
	bool has_stripes = params_of(test, profile->name)->stripe_lead;
	struct ftl_params params = small_drive(test, profile->name, has_stripes);

	for (u32 nr_pages = 1; nr_pages <= params.unit_pages; nr_pages *= 2) {
		add_luck(test, &params, nr_pages, 0, permille);
		add_luck(test, &params, nr_pages, 25, permille);
	}
	for (u32 i = 0; i < NR_WINDOWS; i++)
		KUNIT_EXPECT_EQ(test, permille[i], profile->luck_permille[i]);
}

static struct kunit_case gain_cases[] = {
	KUNIT_CASE_PARAM(hinted_is_never_below_plain, profile_gen_params),
	KUNIT_CASE_PARAM(nor_is_it_where_others_are_not_aligned, profile_gen_params),
	KUNIT_CASE_PARAM(nor_is_it_while_others_write, profile_gen_params),
	KUNIT_CASE_PARAM(luck_is_as_the_docs_have_it, profile_gen_params),
	{}
};

static struct kunit_suite gain_suite = {
	.name = "nvmev_gain",
	.test_cases = gain_cases,
};

kunit_test_suite(gain_suite);

MODULE_DESCRIPTION("What hints gain, on all profiles");
MODULE_LICENSE("GPL");
