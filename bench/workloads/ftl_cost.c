// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a command costs the FTL (nvmevirt-backend/core), on a drive of any size. Only the
 * FTL's own calls are timed; its clock is advanced to when the drive has done its work,
 * so that queues do not grow without end.
 *
 * Positions are spread evenly over the whole drive, the same number of them on every
 * drive, and are gone through once before the first round: what is compared is the
 * cost of deciding, not of memory that is touched for the first time. A round before that
 * finds the operation that takes longest, which is what all others wait for.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "ftl.h"
#include "profiles.h"
#include "util.h"

#define NR_ROUNDS	6
/* A gap between commands in which a drive of one die keeps up with single pages */
#define GAP_NS		300000U
/* As in nvmevirt-backend/trim.c */
#define ROOM_PAGES	32768U

/**
 * struct job - what to do
 * @capacity_bytes: of the drive
 * @channels: channels
 * @dies_per_channel: dies on each
 * @units_per_eblk: size of an erase block
 * @reserve_permille: of the flash
 * @nr_spots: positions
 * @nr_ops: operations of a round
 * @oob: keep what outlives a power failure (oob.h), records of trims among it
 * @age: fill the drive and overwrite as much at random first, so that it must collect
 * @op: name of the operation
 */
struct job {
	uint64_t capacity_bytes;
	uint64_t channels;
	uint64_t dies_per_channel;
	uint64_t units_per_eblk;
	uint64_t reserve_permille;
	uint64_t nr_spots;
	uint64_t nr_ops;
	int oob;
	int age;
	const char *op;
};

/**
 * struct drive - a drive and where it is
 * @ftl: the drive
 * @nr_pages: its pages
 * @spot_pages: distance of two positions
 * @nr_spots: positions
 * @now_ns: its clock
 * @state: of the generator of positions
 */
struct drive {
	struct ftl *ftl;
	uint64_t nr_pages;
	uint64_t spot_pages;
	uint64_t nr_spots;
	uint64_t now_ns;
	uint64_t state;
};

static void make_drive(const struct job *job, struct drive *drive)
{
	struct ftl_params params = ftl_profile_at(0)->params;
	const char *reason;
	void *memory;

	params.nr_channels = job->channels;
	params.dies_per_channel = job->dies_per_channel;
	params.units_per_eblk = job->units_per_eblk;
	params.reserve_permille = job->reserve_permille;
	params.oob = job->oob;
	params.wbuf_pages = (params.run_units + 4 * job->channels * job->dies_per_channel) *
			    params.unit_pages;
	reason = ftl_params_size(&params, job->capacity_bytes);
	errno = 0;
	if (reason)
		die("There can be no such drive: %s", reason);
	memory = mmap(NULL, ftl_bytes(&params), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		die("There is no memory for the drive");
	drive->ftl = ftl_init(&params, memory, 0);
	drive->nr_pages = params.nr_lpns;
	drive->nr_spots = job->nr_spots;
	drive->spot_pages = params.nr_lpns / job->nr_spots / params.unit_pages * params.unit_pages;
	if (!drive->spot_pages)
		die("The drive is too small for so many positions");
}

static struct ftl_request request(uint64_t first, uint32_t nr_pages, enum ftl_hint hint)
{
	struct ftl_request rq = {
		.first = to_lpn(first),
		.nr_pages = nr_pages,
		.bytes = nr_pages * PAGE_BYTES,
		.hint = hint,
		.pred = hint == FTL_HINT_APPEND ? to_lpn(first - 1) : LPN_NONE,
	};

	return rq;
}

static uint64_t spot(struct drive *drive)
{
	return random_next(&drive->state) % drive->nr_spots * drive->spot_pages;
}

static void write_pages(struct drive *drive, uint64_t first, uint32_t nr, enum ftl_hint hint)
{
	struct ftl_request rq = request(first, nr, hint);

	ftl_write(drive->ftl, &rq, drive->now_ns += GAP_NS);
}

static void write_page(struct drive *drive, uint64_t nr)
{
	(void)nr;
	write_pages(drive, spot(drive), 1, FTL_HINT_NONE);
}

/* Any page of the drive, not only those at the positions. */
static void write_any(struct drive *drive, uint64_t nr)
{
	(void)nr;
	write_pages(drive, random_next(&drive->state) % drive->nr_pages, 1, FTL_HINT_NONE);
}

static void write_unit(struct drive *drive, uint64_t nr)
{
	write_pages(drive, nr % drive->nr_spots * drive->spot_pages, 8, FTL_HINT_NONE);
}

static void overwrite_unit(struct drive *drive, uint64_t nr)
{
	(void)nr;
	write_pages(drive, spot(drive), 8, FTL_HINT_OVERWRITE);
}

static void append_page(struct drive *drive, uint64_t nr)
{
	(void)nr;
	write_pages(drive, spot(drive) + 1, 1, FTL_HINT_APPEND);
}

static void read_page(struct drive *drive, uint64_t nr)
{
	struct ftl_request rq = request(spot(drive), 1, FTL_HINT_NONE);

	(void)nr;
	ftl_read(drive->ftl, &rq, drive->now_ns += GAP_NS);
}

static void read_unit(struct drive *drive, uint64_t nr)
{
	struct ftl_request rq = request(spot(drive), 8, FTL_HINT_NONE);

	(void)nr;
	ftl_read(drive->ftl, &rq, drive->now_ns += GAP_NS);
}

/*
 * A page goes and comes back: with --oob, what is mapped changes where the records lead. Room for
 * more of these is made as the SSD's dispatcher does it, a step at a time.
 */
static void trim_page(struct drive *drive, uint64_t nr)
{
	uint64_t lpn = spot(drive);

	(void)nr;
	if (ftl_trim_step(drive->ftl, ROOM_PAGES, drive->now_ns) &&
	    !ftl_trim_has_room(drive->ftl, 1))
		return;
	ftl_trim(drive->ftl, to_lpn(lpn), 1, drive->now_ns += GAP_NS);
	write_pages(drive, lpn, 1, FTL_HINT_NONE);
}

static void flush(struct drive *drive, uint64_t nr)
{
	(void)nr;
	ftl_flush(drive->ftl, drive->now_ns += GAP_NS);
}

/**
 * struct op - an operation
 * @name: on the command line
 * @run: the @nr-th one
 */
struct op {
	const char *name;
	void (*run)(struct drive *drive, uint64_t nr);
};

static const struct op ops[] = {
	{ "write_unit", write_unit },
	{ "write_page", write_page },
	{ "write_any", write_any },
	{ "append_page", append_page },
	{ "overwrite_unit", overwrite_unit },
	{ "read_page", read_page },
	{ "read_unit", read_unit },
	{ "trim_page", trim_page },
	{ "flush", flush },
};

static const struct op *find_op(const char *name)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	}
	errno = 0;
	die("There is no operation '%s'", name);
}

static void age(struct drive *drive)
{
	for (uint64_t lpn = 0; lpn + 256 <= drive->nr_pages; lpn += 256)
		write_pages(drive, lpn, 256, FTL_HINT_NONE);
	for (uint64_t nr = 0; nr < drive->nr_pages; nr++)
		write_any(drive, nr);
}

/* Of this thread, so that others that run here do not count */
static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static uint64_t longest_ns(const struct job *job, const struct op *op, struct drive *drive)
{
	uint64_t longest = 0;

	for (uint64_t nr = 0; nr < job->nr_ops; nr++) {
		uint64_t begin = cpu_ns();
		uint64_t took;

		op->run(drive, nr);
		took = cpu_ns() - begin;
		longest = took > longest ? took : longest;
	}
	return longest;
}

static void run(const struct job *job)
{
	const struct op *op = find_op(job->op);
	struct drive drive = { .state = 1 };
	uint64_t samples[NR_ROUNDS];
	struct ftl_stats before, after;
	uint64_t longest;

	make_drive(job, &drive);
	if (job->age)
		age(&drive);
	for (uint64_t nr = 0; nr < drive.nr_spots && !job->age; nr++)
		write_unit(&drive, nr);
	longest = longest_ns(job, op, &drive);
	ftl_get_stats(drive.ftl, &before);
	for (size_t round = 0; round < NR_ROUNDS; round++) {
		uint64_t begin = now_ns();

		for (uint64_t nr = 0; nr < job->nr_ops; nr++)
			op->run(&drive, nr);
		samples[round] = (now_ns() - begin) / job->nr_ops;
	}
	ftl_get_stats(drive.ftl, &after);
	printf("bench: dies=%u programmed=%llu collected=%llu", ftl_nr_dies(drive.ftl),
	       (unsigned long long)(after.nand_pages_programmed - before.nand_pages_programmed),
	       (unsigned long long)(after.gc_runs - before.gc_runs));
	print_samples(samples, NR_ROUNDS);
	printf(" longest_ns=%llu\n", (unsigned long long)longest);
}

static const struct option options[] = {
	{ "capacity", required_argument, NULL, 'c' },
	{ "channels", required_argument, NULL, 'n' },
	{ "dies-per-channel", required_argument, NULL, 'd' },
	{ "units-per-eblk", required_argument, NULL, 'u' },
	{ "reserve-permille", required_argument, NULL, 'r' },
	{ "spots", required_argument, NULL, 's' },
	{ "ops", required_argument, NULL, 'O' },
	{ "oob", no_argument, NULL, 'b' },
	{ "age", no_argument, NULL, 'a' },
	{ "op", required_argument, NULL, 'o' },
	{ NULL, 0, NULL, 0 }
};

static void parse_option(struct job *job, int option)
{
	switch (option) {
	case 'c':
		job->capacity_bytes = parse_u64("--capacity", optarg);
		break;
	case 'n':
		job->channels = parse_u64("--channels", optarg);
		break;
	case 'd':
		job->dies_per_channel = parse_u64("--dies-per-channel", optarg);
		break;
	case 'u':
		job->units_per_eblk = parse_u64("--units-per-eblk", optarg);
		break;
	case 'r':
		job->reserve_permille = parse_u64("--reserve-permille", optarg);
		break;
	case 's':
		job->nr_spots = parse_u64("--spots", optarg);
		break;
	case 'O':
		job->nr_ops = parse_u64("--ops", optarg);
		break;
	case 'b':
		job->oob = 1;
		break;
	case 'a':
		job->age = 1;
		break;
	case 'o':
		job->op = optarg;
		break;
	default:
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct job job = {
		.capacity_bytes = 1024 * MIB,
		.channels = 4,
		.dies_per_channel = 2,
		.units_per_eblk = 512,
		.reserve_permille = 80,
		.nr_spots = 16 * KIB,
		.nr_ops = 16 * KIB,
		.op = "write_page",
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		parse_option(&job, option);
	errno = 0;
	if (!job.nr_spots || !job.nr_ops)
		die("There must be at least one position and one operation");
	run(&job);
	return 0;
}
