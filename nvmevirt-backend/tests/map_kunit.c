// SPDX-License-Identifier: GPL-2.0-only
/*
 * A map that is not all in memory. Times are worked out by hand from the latencies below: a map
 * page that is missing takes its sense and its way over the channel, and nothing else.
 */
#include "drive_kunit.h"

/* tR, and 4 KiB at 800 MB/s */
#define SENSE_NS	36000ULL
#define TRANSFER_NS	5120ULL

/* Long enough for all that is under way to end */
#define REST_NS		1000000000ULL

#define MAP_PAGE	((u64)FTL_MAP_PAGE_LPNS)

static const struct drive_shape shape = { "four dies", 2, 2, 4, 64, 24, 4, 70 };

/**
 * struct bench - a drive and the time
 * @params: its parameters
 * @ftl: the drive
 * @now_ns: present time
 */
struct bench {
	struct ftl_params params;
	struct ftl *ftl;
	u64 now_ns;
};

static struct ftl_params map_params(u32 map_cache_pages)
{
	struct ftl_params params = drive_params(&shape);

	params.nr_page_kinds = 1;
	params.read_ns[0] = SENSE_NS;
	params.register_hits = false;
	params.map_cache_pages = map_cache_pages;
	return params;
}

static void begin(struct kunit *test, struct bench *bench, const struct ftl_params *params)
{
	bench->params = *params;
	bench->ftl = make_drive(test, params);
	bench->now_ns = REST_NS;
}

/* All of the map is on NAND, and nothing of it in memory. */
static void forget_map(struct bench *bench)
{
	ftl_map_write_all(bench->ftl, bench->now_ns);
	bench->now_ns += REST_NS;
	ftl_map_cache_drop_all(&bench->ftl->map_cache);
}

/* A drive that has so many pages and has been off since. */
static void begin_filled(struct kunit *test, struct bench *bench, u32 map_cache_pages, u64 nr_pages)
{
	struct ftl_params params = map_params(map_cache_pages);

	begin(test, bench, &params);
	for (u64 lpn = 0; lpn < nr_pages; lpn += params.unit_pages)
		write_plain(bench->ftl, lpn, params.unit_pages);
	bench->now_ns = bench->ftl->programmed_ns + REST_NS;
	ftl_power_off(bench->ftl);
	bench->ftl->stats = (struct ftl_stats){};
}

/* How long it takes; nothing is under way when it begins, and when it has ended. */
static u64 read_alone(struct bench *bench, u64 first, u32 nr_pages)
{
	struct ftl_request rq = request(first, nr_pages);
	u64 done_ns = ftl_read(bench->ftl, &rq, bench->now_ns);
	u64 ns = done_ns - bench->now_ns;

	bench->now_ns = done_ns + REST_NS;
	return ns;
}

static u64 write_alone(struct bench *bench, const struct ftl_request *rq)
{
	u64 done_ns = ftl_write(bench->ftl, rq, bench->now_ns);
	u64 ns = done_ns - bench->now_ns;

	bench->now_ns = max(done_ns, bench->ftl->programmed_ns) + REST_NS;
	return ns;
}

/* A unit of which all pages are in one map page; with hold_ns 0 it is programmed at once. */
static u64 write_unit(struct bench *bench, u64 first)
{
	struct ftl_request rq = request(first, bench->params.unit_pages);

	return write_alone(bench, &rq);
}

static u64 hits(const struct bench *bench)
{
	return bench->ftl->stats.map_hits;
}

static u64 misses(const struct bench *bench)
{
	return bench->ftl->stats.map_misses;
}

static u64 senses_of(const struct bench *bench, u32 die)
{
	return bench->ftl->nand.die[die].units_read;
}

static void missing_map_page_takes_one_sense_and_its_transfer(struct kunit *test)
{
	struct bench bench;
	u64 miss_ns, hit_ns, before;

	begin_filled(test, &bench, 4, 3 * MAP_PAGE);
	/* Map pages lie on the dies in turn: the third on the third die, page 2048 on the first. */
	KUNIT_ASSERT_EQ(test, die_of(bench.ftl, 2 * MAP_PAGE), 0U);
	before = senses_of(&bench, 2);
	miss_ns = read_alone(&bench, 2 * MAP_PAGE, 1);
	KUNIT_EXPECT_EQ(test, senses_of(&bench, 2) - before, 1ULL);
	KUNIT_EXPECT_EQ(test, misses(&bench), 1ULL);
	KUNIT_EXPECT_EQ(test, hits(&bench), 0ULL);
	hit_ns = read_alone(&bench, 2 * MAP_PAGE, 1);
	KUNIT_EXPECT_EQ(test, senses_of(&bench, 2) - before, 1ULL);
	KUNIT_EXPECT_EQ(test, miss_ns - hit_ns, SENSE_NS + TRANSFER_NS);
	KUNIT_EXPECT_EQ(test, misses(&bench), 1ULL);
	KUNIT_EXPECT_EQ(test, hits(&bench), 1ULL);
	/* All the entries of a map page come together, and no others. */
	KUNIT_EXPECT_EQ(test, read_alone(&bench, 3 * MAP_PAGE - 1, 1), hit_ns);
	KUNIT_EXPECT_EQ(test, read_alone(&bench, 2 * MAP_PAGE - 1, 1), miss_ns);
}

static void missing_map_pages_of_a_command_come_at_the_same_time(struct kunit *test)
{
	struct bench bench;
	u64 there_ns;

	begin_filled(test, &bench, 4, 3 * MAP_PAGE);
	/* They are on dies of two channels. */
	there_ns = bench.now_ns + bench.params.cmd_ns + SENSE_NS + TRANSFER_NS;
	KUNIT_EXPECT_GT(test, read_alone(&bench, MAP_PAGE - 2, 4) + bench.params.cmd_ns,
			2 * (SENSE_NS + TRANSFER_NS));
	for (u32 i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, ftl_map_cache_find(&bench.ftl->map_cache, i)->there_ns,
				there_ns);
	read_alone(&bench, MAP_PAGE - 2, 4);
	KUNIT_EXPECT_EQ(test, misses(&bench), 2ULL);
	KUNIT_EXPECT_EQ(test, hits(&bench), 2ULL);
}

static void who_needs_a_map_page_that_is_on_its_way_waits_for_it(struct kunit *test)
{
	struct bench bench;
	struct ftl_request first = request(0, 1), second = request(4, 1);
	u64 first_ns, second_ns;

	begin_filled(test, &bench, 4, MAP_PAGE);
	KUNIT_ASSERT_NE(test, die_of(bench.ftl, 0), die_of(bench.ftl, 4));
	first_ns = ftl_read(bench.ftl, &first, bench.now_ns);
	second_ns = ftl_read(bench.ftl, &second, bench.now_ns);
	KUNIT_EXPECT_EQ(test, misses(&bench), 1ULL);
	KUNIT_EXPECT_GE(test, second_ns - bench.now_ns, 2 * (SENSE_NS + TRANSFER_NS));
	KUNIT_EXPECT_LE(test, second_ns - first_ns, TRANSFER_NS);
}

static void map_page_that_was_not_used_for_longest_makes_room(struct kunit *test)
{
	struct bench bench;

	begin_filled(test, &bench, 2, 4 * MAP_PAGE);
	read_alone(&bench, 0, 1);
	read_alone(&bench, MAP_PAGE, 1);
	read_alone(&bench, 0, 1);
	read_alone(&bench, 2 * MAP_PAGE, 1);
	KUNIT_EXPECT_EQ(test, misses(&bench), 3ULL);
	read_alone(&bench, 0, 1);
	KUNIT_EXPECT_EQ(test, misses(&bench), 3ULL);
	read_alone(&bench, MAP_PAGE, 1);
	KUNIT_EXPECT_EQ(test, misses(&bench), 4ULL);
	KUNIT_EXPECT_EQ(test, bench.ftl->stats.map_programs, 0ULL);
	EXPECT_CONSISTENT(test, bench.ftl);
}

/* A drive whose cache has room for all of its map, and one that has all of it in memory */
static void cache_of_the_whole_map_costs_nothing(struct kunit *test)
{
	struct bench bench[2];
	u64 random = 1;

	for (u32 i = 0; i < 2; i++) {
		struct ftl_params params = map_params(i ? 1000 : 0);

		begin(test, &bench[i], &params);
	}
	for (u32 i = 0; i < 60000; i++) {
		u64 lpn = next_random32(&random) % bench[0].params.nr_lpns;
		struct ftl_request rq = request(lpn, 1);
		u64 done_ns[2];

		for (u32 k = 0; k < 2; k++)
			done_ns[k] = i % 3 ? ftl_write(bench[k].ftl, &rq, bench[k].now_ns) :
					     ftl_read(bench[k].ftl, &rq, bench[k].now_ns);
		KUNIT_ASSERT_EQ(test, done_ns[0], done_ns[1]);
		bench[0].now_ns = done_ns[0];
		bench[1].now_ns = done_ns[0];
	}
	KUNIT_EXPECT_GT(test, bench[1].ftl->stats.gc_runs, 0ULL);
	KUNIT_EXPECT_EQ(test, misses(&bench[1]), 0ULL);
	KUNIT_EXPECT_EQ(test, bench[1].ftl->stats.map_programs, 0ULL);
	KUNIT_EXPECT_EQ(test, bench[1].ftl->map_cache.nr,
			ftl_nr_map_pages(bench[1].params.nr_lpns));
	KUNIT_EXPECT_EQ(test, hits(&bench[0]), 0ULL);
	KUNIT_EXPECT_EQ(test, ftl_map_cache_bytes(&bench[0].params), (size_t)0);
}

static void changed_map_page_is_programmed_before_it_makes_room(struct kunit *test)
{
	struct ftl_params params = map_params(1);
	const struct ftl_stats *stats;
	struct bench bench;
	u64 before;

	begin(test, &bench, &params);
	stats = &bench.ftl->stats;
	write_unit(&bench, 0);
	KUNIT_EXPECT_EQ(test, stats->map_programs, 0ULL);
	before = bench.ftl->nand.die[0].units_programmed;
	write_unit(&bench, MAP_PAGE);
	KUNIT_EXPECT_EQ(test, stats->map_programs, 1ULL);
	KUNIT_EXPECT_EQ(test, stats->map_pages_programmed, 1ULL);
	KUNIT_EXPECT_EQ(test, bench.ftl->nand.die[0].units_programmed - before, 1ULL);
	/* Two units of the host and one of the map, of which one page is no padding */
	KUNIT_EXPECT_EQ(test, stats->nand_pages_programmed, 12ULL);
	KUNIT_EXPECT_EQ(test, stats->pages_padded, 3ULL);
	/* What comes back by a read goes without a program. */
	read_alone(&bench, 0, 1);
	KUNIT_EXPECT_EQ(test, stats->map_programs, 2ULL);
	KUNIT_EXPECT_EQ(test, misses(&bench), 1ULL);
	read_alone(&bench, MAP_PAGE, 1);
	KUNIT_EXPECT_EQ(test, stats->map_programs, 2ULL);
	KUNIT_EXPECT_EQ(test, misses(&bench), 2ULL);
	/* It is sensed on the die that it was programmed on: the first one. */
	before = senses_of(&bench, 0);
	KUNIT_ASSERT_NE(test, die_of(bench.ftl, 0), 0U + 1);
	bench.ftl->nand.die[1].units_read = 0;
	read_alone(&bench, 0, 1);
	KUNIT_EXPECT_EQ(test, bench.ftl->nand.die[1].units_read, 0ULL);
	KUNIT_EXPECT_EQ(test, senses_of(&bench, 0) - before, 2ULL);
	EXPECT_CONSISTENT(test, bench.ftl);
}

static void program_takes_as_many_changed_map_pages_as_a_unit_has_pages(struct kunit *test)
{
	struct ftl_params params = map_params(6);
	const struct ftl_stats *stats;
	struct bench bench;

	begin(test, &bench, &params);
	stats = &bench.ftl->stats;
	for (u32 i = 0; i < 6; i++)
		write_unit(&bench, i * MAP_PAGE);
	KUNIT_EXPECT_EQ(test, stats->map_programs, 0ULL);
	write_unit(&bench, 6 * MAP_PAGE);
	KUNIT_EXPECT_EQ(test, stats->map_programs, 1ULL);
	KUNIT_EXPECT_EQ(test, stats->map_pages_programmed, 4ULL);
	/* Three of the four are still there, and as they are on NAND. */
	for (u32 i = 7; i < 10; i++)
		write_unit(&bench, i * MAP_PAGE);
	KUNIT_EXPECT_EQ(test, stats->map_programs, 1ULL);
	write_unit(&bench, 10 * MAP_PAGE);
	KUNIT_EXPECT_EQ(test, stats->map_programs, 2ULL);
	KUNIT_EXPECT_EQ(test, stats->pages_padded, 0ULL);
	EXPECT_CONSISTENT(test, bench.ftl);
}

/* An erase block's worth of programs on each die, and one more on the first */
static void map_pages_take_their_share_of_erases(struct kunit *test)
{
	struct ftl_params params = map_params(1);
	struct bench bench;
	u64 nr_programs = 4ULL * params.units_per_eblk;

	begin(test, &bench, &params);
	for (u32 i = 0; bench.ftl->stats.map_programs < nr_programs; i++)
		write_unit(&bench, i % 2 * MAP_PAGE);
	KUNIT_EXPECT_EQ(test, bench.ftl->stats.gc_runs, 0ULL);
	for (u32 die = 0; die < 4; die++)
		KUNIT_EXPECT_EQ(test, bench.ftl->nand.die[die].eblks_erased, 0ULL);
	write_unit(&bench, 2 * MAP_PAGE);
	KUNIT_EXPECT_EQ(test, bench.ftl->stats.map_programs, nr_programs + 1);
	KUNIT_EXPECT_EQ(test, bench.ftl->nand.die[0].eblks_erased, 1ULL);
	KUNIT_EXPECT_EQ(test, bench.ftl->nand.die[1].eblks_erased, 0ULL);
}

static void write_does_not_wait_for_the_map(struct kunit *test)
{
	struct bench bench;
	u64 miss_ns;

	begin_filled(test, &bench, 4, 2 * MAP_PAGE);
	miss_ns = write_unit(&bench, 0);
	KUNIT_EXPECT_EQ(test, misses(&bench), 1ULL);
	KUNIT_EXPECT_EQ(test, write_unit(&bench, 4), miss_ns);
	KUNIT_EXPECT_EQ(test, misses(&bench), 1ULL);
	KUNIT_EXPECT_EQ(test, hits(&bench), 1ULL);
}

/* Where a program is faster than a sense, the unit's room waits for the sense. */
static void unit_leaves_the_buffer_when_the_map_has_it(struct kunit *test)
{
	struct ftl_params params = map_params(4);
	struct bench bench;
	const struct ftl_wbuf *wbuf;
	u64 written_ns;

	params.program_ns = 1000;
	begin(test, &bench, &params);
	write_unit(&bench, 0);
	ftl_power_off(bench.ftl);
	wbuf = &bench.ftl->wbuf;
	wbuf->program[0].end_ns = 0;
	written_ns = bench.now_ns;
	written_ns += write_unit(&bench, 0);
	KUNIT_ASSERT_EQ(test, wbuf->nr_programs, 1U);
	KUNIT_EXPECT_EQ(test, wbuf->program[wbuf->first & wbuf->ring_mask].end_ns - written_ns,
			SENSE_NS + TRANSFER_NS);
}

/* When what a write filled is programmed; what it takes itself must be @write_ns. */
static u64 program_of(struct kunit *test, struct bench *bench, const struct ftl_request *rq,
		      u64 write_ns)
{
	u64 begin_ns = bench->now_ns;

	KUNIT_EXPECT_EQ(test, write_alone(bench, rq), write_ns);
	return bench->ftl->programmed_ns - begin_ns;
}

/* How much later the map page is there than the data of a command of so many pages */
static u64 known_after(const struct bench *bench, u32 nr_pages)
{
	return SENSE_NS + TRANSFER_NS - nr_pages * FTL_PAGE_BYTES * 10 / 32 -
	       bench->params.write_ns - nr_pages * bench->params.page_ns;
}

static void unit_is_programmed_when_what_its_hints_name_is_known(struct kunit *test)
{
	struct bench bench;
	struct ftl_request over = request(4, 4), append = request(2 * MAP_PAGE, 4);
	u64 write_ns, known_ns;

	begin_filled(test, &bench, 4, 2 * MAP_PAGE);
	write_ns = write_unit(&bench, 0);
	KUNIT_EXPECT_EQ(test, misses(&bench), 1ULL);
	over.hint = FTL_HINT_OVERWRITE;
	known_ns = program_of(test, &bench, &over, write_ns);
	KUNIT_EXPECT_EQ(test, misses(&bench), 1ULL);
	/* The map page is on another die, so that this one has nothing else to do. */
	over.first = to_lpn(MAP_PAGE + 8);
	KUNIT_ASSERT_EQ(test, die_of(bench.ftl, MAP_PAGE + 8), 2U);
	KUNIT_EXPECT_EQ(test, program_of(test, &bench, &over, write_ns) - known_ns,
			known_after(&bench, 4));
	KUNIT_EXPECT_EQ(test, misses(&bench), 2ULL);
	append.hint = FTL_HINT_APPEND;
	append.pred = to_lpn(2 * MAP_PAGE - 1);
	KUNIT_EXPECT_EQ(test, program_of(test, &bench, &append, write_ns), known_ns);
	ftl_power_off(bench.ftl);
	append.first = to_lpn(2 * MAP_PAGE + 4);
	append.pred = to_lpn(MAP_PAGE + 3);
	KUNIT_ASSERT_EQ(test, die_of(bench.ftl, MAP_PAGE + 3), 0U);
	KUNIT_EXPECT_EQ(test, program_of(test, &bench, &append, write_ns) - known_ns,
			known_after(&bench, 4));
}

static void draft_is_programmed_when_what_its_hint_names_is_known(struct kunit *test)
{
	struct ftl_params params = map_params(4);
	struct ftl_request over = request(8, 1);
	struct bench bench;
	u64 known_ns;

	params.plp = false;
	begin(test, &bench, &params);
	for (u64 lpn = 0; lpn < MAP_PAGE; lpn += params.unit_pages)
		write_plain(bench.ftl, lpn, params.unit_pages);
	bench.now_ns = bench.ftl->programmed_ns + REST_NS;
	forget_map(&bench);
	read_alone(&bench, 0, 1);
	over.hint = FTL_HINT_OVERWRITE;
	over.fua = true;
	known_ns = write_alone(&bench, &over);
	forget_map(&bench);
	over.first = to_lpn(12);
	KUNIT_EXPECT_EQ(test, write_alone(&bench, &over) - known_ns, known_after(&bench, 1));
	/* So is the one of a flush. */
	over.fua = false;
	over.first = to_lpn(16);
	write_alone(&bench, &over);
	known_ns = ftl_flush(bench.ftl, bench.now_ns) - bench.now_ns;
	bench.now_ns = bench.ftl->programmed_ns + REST_NS;
	forget_map(&bench);
	over.first = to_lpn(20);
	ftl_write(bench.ftl, &over, bench.now_ns);
	KUNIT_EXPECT_EQ(test, ftl_flush(bench.ftl, bench.now_ns) - bench.now_ns - known_ns,
			SENSE_NS + TRANSFER_NS);
}

/* Pages of a run that is put out take with them from when on their places are known. */
static void what_is_put_out_is_not_known_earlier(struct kunit *test)
{
	struct ftl_params params = map_params(4);
	struct ftl_request over = request(4, 1);
	struct bench bench;
	struct ftl_unit *mixed;

	params.run_units = 1;
	begin(test, &bench, &params);
	for (u64 lpn = 0; lpn < 2 * MAP_PAGE; lpn += params.unit_pages)
		write_plain(bench.ftl, lpn, params.unit_pages);
	bench.now_ns = bench.ftl->programmed_ns + REST_NS;
	over.hint = FTL_HINT_OVERWRITE;
	write_alone(&bench, &over);
	over.first = to_lpn(8);
	write_alone(&bench, &over);
	mixed = bench.ftl->units.die[1].mixed;
	KUNIT_ASSERT_NOT_NULL(test, mixed);
	KUNIT_EXPECT_LT(test, mixed->known_ns, bench.now_ns);
	forget_map(&bench);
	over.first = to_lpn(MAP_PAGE + 4);
	KUNIT_ASSERT_EQ(test, die_of(bench.ftl, MAP_PAGE + 4), 1U);
	ftl_write(bench.ftl, &over, bench.now_ns);
	over.first = to_lpn(MAP_PAGE + 12);
	ftl_write(bench.ftl, &over, bench.now_ns);
	KUNIT_EXPECT_PTR_EQ(test, bench.ftl->units.die[1].mixed, mixed);
	KUNIT_EXPECT_EQ(test, mixed->nr_valid, 2U);
	KUNIT_EXPECT_GT(test, mixed->known_ns, bench.now_ns + SENSE_NS);
}

static void page_written_in_part_needs_the_map_and_then_its_data(struct kunit *test)
{
	struct bench bench;
	struct ftl_request rq = request(MAP_PAGE, 1);
	u64 miss_ns, hit_ns;

	begin_filled(test, &bench, 4, 2 * MAP_PAGE);
	rq.head_partial = true;
	rq.bytes = 512;
	miss_ns = write_alone(&bench, &rq);
	rq.first = to_lpn(MAP_PAGE + 4);
	hit_ns = write_alone(&bench, &rq);
	KUNIT_EXPECT_EQ(test, miss_ns - hit_ns, SENSE_NS + TRANSFER_NS);
}

/* Map pages that are sensed for one program of a command put off another one of it. */
static void durable_write_waits_for_what_the_map_puts_off(struct kunit *test)
{
	struct ftl_params params = map_params(1);
	u64 random = 1;
	struct bench bench;

	params.plp = false;
	params.oob = true;
	params.suspend_program = 20;
	params.suspend_ns = 20000;
	params.nr_lpns = ftl_params_capacity(&params);
	begin(test, &bench, &params);
	for (u64 lpn = 0; lpn < params.nr_lpns; lpn += params.unit_pages)
		write_plain(bench.ftl, lpn, min_t(u64, params.unit_pages, params.nr_lpns - lpn));
	bench.now_ns = bench.ftl->programmed_ns + REST_NS;
	for (u32 i = 0; i < 2000; i++) {
		u64 first = next_random32(&random) % (params.nr_lpns - 9);
		struct ftl_request rq = request(first, next_random32(&random) % 9 + 1);

		/* Units of runs that are put out have pages of many map pages. */
		rq.hint = i % 3 ? FTL_HINT_BEGIN : FTL_HINT_NONE;
		rq.fua = i % 2;
		bench.now_ns = ftl_write(bench.ftl, &rq, bench.now_ns);
		ftl_advance(bench.ftl, bench.now_ns);
		for (u32 page = 0; page < rq.nr_pages && rq.fua; page++)
			KUNIT_ASSERT_TRUE(test, ftl_is_durable(bench.ftl, to_lpn(first + page)));
	}
	KUNIT_EXPECT_GT(test, bench.ftl->nand.nr_suspensions, 10ULL);
}

static void trim_changes_each_map_page_once_and_does_not_wait(struct kunit *test)
{
	struct bench bench;
	u64 done_ns;

	begin_filled(test, &bench, 8, 2 * MAP_PAGE);
	done_ns = ftl_trim(bench.ftl, to_lpn(MAP_PAGE - 8), MAP_PAGE, bench.now_ns);
	KUNIT_EXPECT_EQ(test, done_ns - bench.now_ns, (u64)bench.params.cmd_ns);
	KUNIT_EXPECT_EQ(test, misses(&bench), 2ULL);
	KUNIT_EXPECT_EQ(test, hits(&bench), 0ULL);
	/* Nothing is there any more, or ever was. */
	ftl_trim(bench.ftl, to_lpn(MAP_PAGE - 8), MAP_PAGE, done_ns);
	ftl_trim(bench.ftl, to_lpn(2 * MAP_PAGE), 2 * MAP_PAGE, done_ns);
	KUNIT_EXPECT_EQ(test, misses(&bench) + hits(&bench), 2ULL);
	ftl_map_write_all(bench.ftl, done_ns);
	KUNIT_EXPECT_EQ(test, bench.ftl->stats.map_pages_programmed, 2ULL);
	EXPECT_CONSISTENT(test, bench.ftl);
}

static void pages_that_were_never_written_need_no_map_page(struct kunit *test)
{
	struct bench bench;

	begin_filled(test, &bench, 2, MAP_PAGE);
	/* Command and link: 4 KiB at 3200 MB/s */
	KUNIT_EXPECT_EQ(test, read_alone(&bench, 4 * MAP_PAGE, 1), bench.params.cmd_ns + 1280ULL);
	KUNIT_EXPECT_EQ(test, misses(&bench) + hits(&bench), 0ULL);
	KUNIT_EXPECT_EQ(test, bench.ftl->map_cache.nr, 0U);
}

static void every_page_of_the_drive_has_an_entry(struct kunit *test)
{
	struct bench bench;
	u64 nr_lpns, nr_map_pages;

	begin_filled(test, &bench, 100, drive_params(&shape).nr_lpns / 4 * 4);
	nr_lpns = bench.params.nr_lpns / 4 * 4;
	nr_map_pages = ftl_nr_map_pages(nr_lpns);
	KUNIT_ASSERT_GT(test, nr_map_pages * MAP_PAGE, nr_lpns);
	for (u64 lpn = 0; lpn < nr_lpns; lpn++)
		read_alone(&bench, lpn, 1);
	KUNIT_EXPECT_EQ(test, misses(&bench), nr_map_pages);
	KUNIT_EXPECT_EQ(test, hits(&bench), nr_lpns - nr_map_pages);
}

/* Pages programmed are those of the host, of collection, of the map, and padding. */
static void expect_all_is_counted(struct kunit *test, const struct ftl *ftl)
{
	u64 nr_pages = ftl->stats.map_pages_programmed + ftl->stats.pages_padded;
	u64 nr_units = 0;

	for (u32 die = 0; die < ftl->geo.nr_dies; die++) {
		nr_pages += ftl->nand.die[die].pages_host + ftl->nand.die[die].pages_gc;
		nr_units += ftl->nand.die[die].units_programmed;
	}
	KUNIT_EXPECT_EQ(test, ftl->stats.nand_pages_programmed, nr_pages);
	KUNIT_EXPECT_EQ(test, ftl->stats.nand_pages_programmed, nr_units * ftl->geo.unit_pages);
}

static void overwrite_at_random(struct bench *bench, u32 nr, u64 *random)
{
	for (u32 i = 0; i < nr; i++) {
		struct ftl_request rq = request(next_random32(random) % bench->params.nr_lpns, 1);

		bench->now_ns = ftl_write(bench->ftl, &rq, bench->now_ns);
	}
}

/*
 * An idle drive collects at times that are past when it is asked, and leaves the channels alone. So
 * a read that comes then is as fast as one that finds nothing to be done.
 */
static void idle_collection_changes_the_map_in_the_past(struct kunit *test)
{
	struct ftl_params params = map_params(6);
	struct ftl_request rq = request(0, 1);
	struct bench bench;
	u64 random = 1, before, ns;

	params.bg_eblks = 3;
	begin(test, &bench, &params);
	overwrite_at_random(&bench, 40000, &random);
	bench.now_ns += REST_NS;
	before = bench.ftl->stats.map_misses;
	for (u32 i = 0; i < 1000 && ftl_idle(bench.ftl, bench.now_ns); i++)
		bench.now_ns += REST_NS / 100;
	KUNIT_EXPECT_GT(test, bench.ftl->stats.map_misses, before);
	KUNIT_EXPECT_GT(test, bench.ftl->stats.map_programs, 0ULL);
	/* Nothing that is done then is booked for the time to come. */
	for (u32 i = 0; i < bench.ftl->geo.nr_channels; i++)
		KUNIT_EXPECT_EQ(test, bench.ftl->nand.channel[i].late_end_ns, 0ULL);
	bench.now_ns += REST_NS;
	ns = ftl_read(bench.ftl, &rq, bench.now_ns) - bench.now_ns;
	/* Two senses, the link, and what the windows of the channels round up */
	KUNIT_EXPECT_LE(test, ns, params.cmd_ns + 2 * (SENSE_NS + TRANSFER_NS) + 1280 + 4096);
	EXPECT_CONSISTENT(test, bench.ftl);
	expect_all_is_counted(test, bench.ftl);
}

/* Collection changes the map as the host does. */
static void small_cache_costs_random_writes_their_speed(struct kunit *test)
{
	struct bench bench[2];
	u64 random[2] = { 1, 1 };

	for (u32 i = 0; i < 2; i++) {
		struct ftl_params params = map_params(i ? 6 : 0);

		begin(test, &bench[i], &params);
		overwrite_at_random(&bench[i], 60000, &random[i]);
		KUNIT_EXPECT_GT(test, bench[i].ftl->stats.gc_runs, 0ULL);
		EXPECT_CONSISTENT(test, bench[i].ftl);
		expect_all_is_counted(test, bench[i].ftl);
	}
	/* 6 of 21 map pages are in memory: 71 % of the writes miss, more for what is moved. */
	KUNIT_EXPECT_GT(test, 10 * misses(&bench[1]), 7 * 60000ULL);
	KUNIT_EXPECT_GT(test, bench[1].now_ns, bench[0].now_ns * 5 / 4);
	for (u64 lpn = 0; lpn < bench[0].params.nr_lpns; lpn++)
		KUNIT_ASSERT_EQ(test, die_of(bench[0].ftl, lpn), die_of(bench[1].ftl, lpn));
}

/* Also those in memory that were changed, and nothing of the data */
static void power_failure_loses_what_is_in_memory_of_the_map(struct kunit *test)
{
	struct ftl_params params = map_params(6);
	struct bench bench;
	u64 random = 1;

	params.plp = false;
	params.oob = true;
	params.eblks_per_die = 60;
	params.nr_lpns = 20000;
	begin(test, &bench, &params);
	for (u32 i = 0; i < 8; i++) {
		overwrite_at_random(&bench, 8000, &random);
		bench.now_ns = ftl_flush(bench.ftl, bench.now_ns);
		ftl_power_cut(bench.ftl, bench.now_ns);
		KUNIT_ASSERT_NULL(test, ftl_rebuild(bench.ftl, bench.now_ns));
		KUNIT_EXPECT_EQ(test, ftl_nr_mapped(bench.ftl, to_lpn(0), params.nr_lpns),
				stats_of(bench.ftl).pages_mapped);
		EXPECT_CONSISTENT(test, bench.ftl);
	}
	bench.now_ns += REST_NS;
	ftl_power_off(bench.ftl);
	KUNIT_EXPECT_EQ(test, bench.ftl->map_cache.nr, 0U);
	bench.ftl->stats.map_misses = 0;
	read_alone(&bench, 0, 1);
	KUNIT_EXPECT_EQ(test, misses(&bench), 1ULL);
}

/* The page that gets data, and the one that has it */
static void share_looks_at_one_map_page_and_changes_the_other(struct kunit *test)
{
	struct ftl_share_range range = { to_lpn(MAP_PAGE), to_lpn(0), 4 };
	struct ftl_params params = map_params(8);
	struct bench bench;
	u64 done_ns;

	params.share_pages = 64;
	params.share_log_kib = 4;
	begin(test, &bench, &params);
	write_unit(&bench, 0);
	KUNIT_ASSERT_EQ(test, (u32)ftl_share(bench.ftl, &range, 1, bench.now_ns, &done_ns),
			(u32)FTL_SHARE_DONE);
	ftl_map_write_all(bench.ftl, done_ns);
	KUNIT_EXPECT_EQ(test, bench.ftl->stats.map_pages_programmed, 2ULL);
	ftl_power_off(bench.ftl);
	bench.now_ns = done_ns + REST_NS;
	bench.ftl->stats.map_misses = 0;
	/* The same again finds both by their map pages. */
	KUNIT_EXPECT_EQ(test, ftl_share(bench.ftl, &range, 1, bench.now_ns, &done_ns),
			FTL_SHARE_DONE);
	KUNIT_EXPECT_EQ(test, misses(&bench), 2ULL);
	KUNIT_EXPECT_GE(test, done_ns - bench.now_ns, SENSE_NS + TRANSFER_NS);
	EXPECT_CONSISTENT(test, bench.ftl);
}

static struct kunit_case map_cases[] = {
	KUNIT_CASE(missing_map_page_takes_one_sense_and_its_transfer),
	KUNIT_CASE(missing_map_pages_of_a_command_come_at_the_same_time),
	KUNIT_CASE(who_needs_a_map_page_that_is_on_its_way_waits_for_it),
	KUNIT_CASE(map_page_that_was_not_used_for_longest_makes_room),
	KUNIT_CASE(cache_of_the_whole_map_costs_nothing),
	KUNIT_CASE(changed_map_page_is_programmed_before_it_makes_room),
	KUNIT_CASE(program_takes_as_many_changed_map_pages_as_a_unit_has_pages),
	KUNIT_CASE(map_pages_take_their_share_of_erases),
	KUNIT_CASE(write_does_not_wait_for_the_map),
	KUNIT_CASE(unit_leaves_the_buffer_when_the_map_has_it),
	KUNIT_CASE(unit_is_programmed_when_what_its_hints_name_is_known),
	KUNIT_CASE(draft_is_programmed_when_what_its_hint_names_is_known),
	KUNIT_CASE(what_is_put_out_is_not_known_earlier),
	KUNIT_CASE(page_written_in_part_needs_the_map_and_then_its_data),
	KUNIT_CASE(durable_write_waits_for_what_the_map_puts_off),
	KUNIT_CASE(trim_changes_each_map_page_once_and_does_not_wait),
	KUNIT_CASE(pages_that_were_never_written_need_no_map_page),
	KUNIT_CASE(every_page_of_the_drive_has_an_entry),
	KUNIT_CASE(small_cache_costs_random_writes_their_speed),
	KUNIT_CASE(idle_collection_changes_the_map_in_the_past),
	KUNIT_CASE(power_failure_loses_what_is_in_memory_of_the_map),
	KUNIT_CASE(share_looks_at_one_map_page_and_changes_the_other),
	{}
};

static struct kunit_suite map_suite = {
	.name = "nvmev_map",
	.test_cases = map_cases,
};

kunit_test_suite(map_suite);

MODULE_DESCRIPTION("A map that is not all in memory");
MODULE_LICENSE("GPL");
