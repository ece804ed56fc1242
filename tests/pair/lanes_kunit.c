// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host that chooses dies against the FTL that puts pages there: the workloads of the virtual
 * SSD's suite "model", with reclaim groups instead of hints. Files are read as fast as if they
 * had been written in one piece, or as fast as they can be without hints where that is said.
 *
 * The two halves share no code, so they are two files; it runs as an ordinary program only.
 */
#include "../../nvmevirt-backend/tests/drive_kunit.h"
#include "lanes_host.h"

#define UNIT_PAGES	8
#define FILE_PAGES	2048
#define READ_PAGES	256
#define SEED		20240227

enum { FILE_READ = 1, FILE_OTHER };

static const struct drive_shape fast24 = { "fast24", 4, 2, UNIT_PAGES, 64, 32, 16, 70 };

struct bench {
	struct ftl *ftl;
	u64 now_ns;
	u64 nr_other;
	u64 random;
	bool is_plain;
};

static void begin(struct kunit *test, struct bench *bench)
{
	struct ftl_params params = drive_params(&fast24);

	params.wbuf_pages = 1024;
	*bench = (struct bench){ .ftl = make_drive(test, &params), .random = SEED };
	host_reset();
}

static void write_pages(struct bench *bench, u64 file, u64 fpage, u64 lpn, u32 nr_pages)
{
	while (nr_pages) {
		u32 nr = nr_pages;
		u32 lane = bench->is_plain ? 0 : host_place(file, fpage, lpn, &nr);
		struct ftl_request rq = request(lpn, nr);

		rq.hint = bench->is_plain ? FTL_HINT_NONE : FTL_HINT_ALL_DIE;
		rq.die = to_die(lane);
		bench->now_ns = ftl_write(bench->ftl, &rq, bench->now_ns);
		fpage += nr;
		lpn += nr;
		nr_pages -= nr;
	}
}

/* In pieces, with so many units of another file between them; 0: a random number up to 1 MiB */
static void write_file(struct bench *bench, u32 piece_pages, u32 nr_between)
{
	u32 nr_pages;

	for (u32 fpage = 0; fpage < FILE_PAGES; fpage += piece_pages) {
		write_pages(bench, FILE_READ, fpage, fpage, piece_pages);
		nr_pages = nr_between ?: 1 + next_random32(&bench->random) % 32;
		nr_pages *= UNIT_PAGES;
		if (FILE_PAGES + bench->nr_other + nr_pages > ftl_get_params(bench->ftl)->nr_lpns)
			bench->nr_other = 0;
		write_pages(bench, FILE_OTHER, bench->nr_other, FILE_PAGES + bench->nr_other,
			    nr_pages);
		bench->nr_other += nr_pages;
	}
}

static u64 read_ns(struct bench *bench)
{
	u64 start_ns = bench->now_ns + 1000000000;

	bench->now_ns = read_in_order(bench->ftl, FILE_PAGES, READ_PAGES, start_ns);
	return bench->now_ns - start_ns;
}

/* What a file reads at that was written plain in one go, in thousandths of it */
static u32 of_contiguous(struct kunit *test, struct bench *bench)
{
	u64 mine_ns = read_ns(bench), whole_ns;
	struct bench whole;
	u32 permille;

	EXPECT_CONSISTENT(test, bench->ftl);
	begin(test, &whole);
	whole.is_plain = true;
	write_pages(&whole, FILE_READ, 0, 0, FILE_PAGES);
	whole_ns = read_ns(&whole);
	permille = div64_u64(whole_ns * 1000, mine_ns);
	kunit_info(test, "%u per mille\n", permille);
	return permille;
}

/* Appended to, or so and then overwritten as well; by units, and by two at a time */
static void files_in_units_are_in_die_order(struct kunit *test)
{
	for (u32 i = 0; i < 8; i++) {
		u32 piece_pages = i & 1 ? 2 * UNIT_PAGES : UNIT_PAGES, nr_between = i & 2 ? 0 : 7;
		struct bench bench;

		begin(test, &bench);
		write_file(&bench, piece_pages, nr_between);
		if (i & 4)
			write_file(&bench, piece_pages, nr_between);
		KUNIT_EXPECT_GE(test, of_contiguous(test, &bench), 990U);
	}
}

static void without_the_host_they_are_on_one_die(struct kunit *test)
{
	struct bench bench;

	begin(test, &bench);
	bench.is_plain = true;
	write_file(&bench, UNIT_PAGES, 7);
	KUNIT_EXPECT_LE(test, of_contiguous(test, &bench), 200U);
}

/* A file of before the host was there, or that it has forgotten, is put in order by overwrites. */
static void what_is_not_known_is_put_in_order(struct kunit *test)
{
	struct bench bench;

	begin(test, &bench);
	bench.is_plain = true;
	write_file(&bench, UNIT_PAGES, 7);
	bench.is_plain = false;
	write_file(&bench, UNIT_PAGES, 7);
	KUNIT_EXPECT_GE(test, of_contiguous(test, &bench), 990U);

	begin(test, &bench);
	write_file(&bench, UNIT_PAGES, 7);
	host_forget();
	write_file(&bench, UNIT_PAGES, 7);
	KUNIT_EXPECT_GE(test, of_contiguous(test, &bench), 990U);
}

/*
 * What is smaller than a unit shares it with whatever else goes to the die then, since a group has
 * one open unit: with hints each file has its own. The dies are right all the same.
 */
static void small_pieces_share_units_and_still_go_round(struct kunit *test)
{
	struct bench bench;
	u32 speed;

	begin(test, &bench);
	write_file(&bench, 4, 7);
	for (u32 i = 0; i < FILE_PAGES; i++)
		KUNIT_ASSERT_EQ(test, die_of(bench.ftl, i),
				(die_of(bench.ftl, 0) + i / UNIT_PAGES) % 8);
	speed = of_contiguous(test, &bench);
	KUNIT_EXPECT_GE(test, speed, 700U);
	KUNIT_EXPECT_LE(test, speed, 900U);
}

static struct kunit_case lanes_cases[] = {
	KUNIT_CASE(files_in_units_are_in_die_order),
	KUNIT_CASE(without_the_host_they_are_on_one_die),
	KUNIT_CASE(what_is_not_known_is_put_in_order),
	KUNIT_CASE(small_pieces_share_units_and_still_go_round),
	{}
};

static struct kunit_suite lanes_suite = {
	.name = "pair_lanes",
	.test_cases = lanes_cases,
};

kunit_test_suite(lanes_suite);

MODULE_DESCRIPTION("The host that chooses dies against the FTL");
MODULE_LICENSE("GPL");
