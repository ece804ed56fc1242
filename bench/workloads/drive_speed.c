// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a profile of the virtual SSD is, on a virtual clock: the FTL and the timing model of the
 * kernel module (nvmevirt-backend/core), and a host that costs nothing and keeps so many commands
 * in flight. All that the module adds to a command's time is in there: it asks the FTL when a
 * command is done as soon as it has fetched it, and completes it then.
 *
 * Prints a line for each figure. It is the same every time.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ftl.h"
#include "map-cache.h"
#include "profiles.h"
#include "util.h"

#define SEQUENTIAL_PAGES	32
#define MOST_PAGES		256
#define MAX_DEPTH		512
/* At which makers rate client drives: 32 from each of four threads */
#define RATED_DEPTH		128

/* What is read was written in order and is so large; random writes to a new drive go so far. */
#define READ_SPAN		((uint64_t)1 << 30)
#define RANDOM_SPAN		((uint64_t)8 << 30)
/* What a figure is taken over, and at least so many commands */
#define MEASURED_BYTES		((uint64_t)256 << 20)
#define LEAST_COMMANDS		4096

/* The dispatcher asks an idle drive so often whether it has work; nobody waits for it longer. */
#define LOOK_NS			50000000u
#define MAX_LOOKS		1200

/**
 * struct drive - a drive and the host's clock
 * @ftl: the drive, in @memory
 * @memory: of @bytes
 * @bytes: size of @memory
 * @nr_pages: its pages
 * @now_ns: time of the last command
 * @random: state of the generator of places
 */
struct drive {
	struct ftl *ftl;
	void *memory;
	size_t bytes;
	uint64_t nr_pages;
	uint64_t now_ns;
	uint64_t random;
};

/**
 * struct load - commands of one kind
 * @is_write: Write, else Read
 * @is_random: at places drawn from @span, else one after the other
 * @nr_pages: of a command
 * @step_pages: from the begin of a command to that of the next one, if not random
 * @depth: commands in flight
 * @first: page where they begin
 * @span: pages that they go through, again and again
 * @nr_before: commands before those that are measured
 * @nr: commands that are measured
 */
struct load {
	bool is_write;
	bool is_random;
	uint32_t nr_pages;
	uint32_t step_pages;
	uint32_t depth;
	uint64_t first;
	uint64_t span;
	uint64_t nr_before;
	uint64_t nr;
};

/* What the host can have in flight on the profile; nothing is said of more. */
static uint32_t most_depth;

/* Ends of the commands in flight: a heap with the earliest one at the top. */
static uint64_t ends[MAX_DEPTH];

static void put_down(uint32_t nr_ends)
{
	uint64_t end_ns = ends[0];
	uint32_t at = 0;

	for (uint32_t child; (child = 2 * at + 1) < nr_ends; at = child) {
		if (child + 1 < nr_ends && ends[child + 1] < ends[child])
			child++;
		if (ends[child] >= end_ns)
			break;
		ends[at] = ends[child];
	}
	ends[at] = end_ns;
}

static uint64_t place_of(struct drive *drive, const struct load *load, uint64_t nr)
{
	uint64_t nr_places = load->span / load->step_pages;
	uint64_t place = load->is_random ? random_next(&drive->random) : nr;

	return load->first + place % nr_places * load->step_pages;
}

static uint64_t send(struct drive *drive, const struct load *load, uint64_t nr)
{
	struct ftl_request rq = {
		.first = to_lpn(place_of(drive, load, nr)),
		.nr_pages = load->nr_pages,
		.bytes = load->nr_pages * PAGE_BYTES,
		.pred = LPN_NONE,
	};

	return load->is_write ? ftl_write(drive->ftl, &rq, drive->now_ns) :
				ftl_read(drive->ftl, &rq, drive->now_ns);
}

/*
 * Whenever a command ends the next one is sent. Return: the time from the first command that is
 * measured to the first one behind those.
 */
static uint64_t run(struct drive *drive, const struct load *load)
{
	uint64_t begin_ns = 0;

	for (uint32_t i = 0; i < load->depth; i++)
		ends[i] = drive->now_ns;
	for (uint64_t nr = 0; nr < load->nr_before + load->nr; nr++) {
		drive->now_ns = ends[0];
		if (nr == load->nr_before)
			begin_ns = drive->now_ns;
		ends[0] = send(drive, load, nr);
		put_down(load->depth);
	}
	drive->now_ns = ends[0];
	return drive->now_ns - begin_ns;
}

/* The host leaves the drive alone until it has nothing more to do. */
static void rest(struct drive *drive)
{
	/* What was in flight has ended. */
	drive->now_ns += 1000000000;
	for (uint32_t i = 0; i < MAX_LOOKS; i++) {
		drive->now_ns += LOOK_NS;
		if (!ftl_idle(drive->ftl, drive->now_ns))
			return;
	}
}

static void print_figure(const char *name, const struct load *load, uint64_t ns)
{
	printf("%s depth=%u bytes=%u commands=%llu ns=%llu\n", name, load->depth,
	       load->nr_pages * PAGE_BYTES, (unsigned long long)load->nr, (unsigned long long)ns);
	fflush(stdout);
}

static void measure(struct drive *drive, const char *name, const struct load *load)
{
	uint64_t ns = run(drive, load);

	if (load->depth <= most_depth)
		print_figure(name, load, ns);
}

static uint64_t nr_commands(uint64_t bytes, uint32_t nr_pages)
{
	uint64_t nr = bytes / ((uint64_t)nr_pages * PAGE_BYTES);

	return nr > LEAST_COMMANDS ? nr : LEAST_COMMANDS;
}

/* Commands one after the other over as much as there is of a span. */
static struct load in_order(const struct drive *drive, bool is_write, uint32_t depth, uint64_t span)
{
	uint64_t pages = span / PAGE_BYTES;

	return (struct load) {
		.is_write = is_write,
		.nr_pages = SEQUENTIAL_PAGES,
		.step_pages = SEQUENTIAL_PAGES,
		.depth = depth,
		.span = pages < drive->nr_pages ? pages : drive->nr_pages,
		.nr_before = 2 * depth,
		.nr = nr_commands(MEASURED_BYTES, SEQUENTIAL_PAGES),
	};
}

static struct load at_random(const struct drive *drive, bool is_write, uint32_t depth,
			     uint64_t span)
{
	struct load load = in_order(drive, is_write, depth, span);

	load.is_random = true;
	load.nr_pages = 1;
	load.step_pages = 1;
	load.nr = nr_commands(MEASURED_BYTES, 1);
	return load;
}

/* Twice what the buffer holds comes first: a figure is of what goes on. */
static void fill_buffer(const struct drive *drive, struct load *load)
{
	load->nr_before = 2 * ftl_get_params(drive->ftl)->wbuf_pages / load->nr_pages;
}

static void make_drive(struct drive *drive, const struct ftl_params *params)
{
	drive->bytes = ftl_bytes(params);
	drive->memory = mmap(NULL, drive->bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (drive->memory == MAP_FAILED)
		die("There is no memory for the drive");
	drive->ftl = ftl_init(params, drive->memory, 0);
	drive->nr_pages = params->nr_lpns;
	drive->now_ns = 0;
	drive->random = 1;
}

static void free_drive(struct drive *drive)
{
	munmap(drive->memory, drive->bytes);
}

static const uint32_t depths[] = { 1, 32 };

#define NR_DEPTHS	(sizeof(depths) / sizeof(depths[0]))

static void write_fresh(const struct ftl_params *params)
{
	struct drive drive;
	struct load load;

	for (size_t i = 0; i < NR_DEPTHS; i++) {
		make_drive(&drive, params);
		load = in_order(&drive, true, depths[i], RANDOM_SPAN);
		fill_buffer(&drive, &load);
		measure(&drive, "fresh sequential write", &load);
		free_drive(&drive);
		make_drive(&drive, params);
		load = at_random(&drive, true, depths[i], RANDOM_SPAN);
		fill_buffer(&drive, &load);
		measure(&drive, "fresh random write", &load);
		free_drive(&drive);
	}
	make_drive(&drive, params);
	load = at_random(&drive, true, RATED_DEPTH, RANDOM_SPAN);
	fill_buffer(&drive, &load);
	measure(&drive, "fresh random write", &load);
	free_drive(&drive);
}

static void read_at_depths(struct drive *drive, const char *sequential, const char *random,
			   uint64_t random_span)
{
	struct load load;

	for (size_t i = 0; i < NR_DEPTHS; i++) {
		load = in_order(drive, false, depths[i], READ_SPAN);
		measure(drive, sequential, &load);
		load = at_random(drive, false, depths[i], random_span);
		measure(drive, random, &load);
	}
}

/* Pages so far apart: single ones as in Fig. 8 of the FAST'24 paper, units as in its Fig. 11 */
static void read_apart(struct drive *drive, const char *name, uint32_t nr_pages,
		       uint32_t step_pages, uint32_t depth)
{
	struct load load = in_order(drive, false, depth, READ_SPAN);

	load.nr_pages = nr_pages;
	load.step_pages = step_pages;
	load.span -= load.span % step_pages;
	load.nr = nr_commands(MEASURED_BYTES / 4, nr_pages);
	measure(drive, name, &load);
}

/* 8 MiB by commands of a size, as in Fig. 7 there */
static void read_by(struct drive *drive, const char *name, uint32_t nr_pages)
{
	struct load load = in_order(drive, false, 1, READ_SPAN);

	load.nr_pages = nr_pages;
	load.step_pages = nr_pages;
	load.nr = (8 << 20) / (nr_pages * PAGE_BYTES);
	measure(drive, name, &load);
}

static void read_fresh(const struct ftl_params *params)
{
	uint32_t stripe_pages = params->nr_channels * params->dies_per_channel *
				params->unit_pages;
	struct drive drive;
	struct load load;

	make_drive(&drive, params);
	load = in_order(&drive, true, 32, READ_SPAN);
	load.nr_before = 0;
	load.nr = load.span / load.nr_pages;
	run(&drive, &load);
	rest(&drive);
	read_at_depths(&drive, "fresh sequential read", "fresh random read", READ_SPAN);
	read_apart(&drive, "fresh page after page read", 1, 1, most_depth);
	read_apart(&drive, "fresh page of each stripe read", 1, stripe_pages, most_depth);
	read_apart(&drive, "fresh unit of each stripe read", params->unit_pages, stripe_pages, 32);
	read_by(&drive, "fresh 8 MiB read", 8);
	read_by(&drive, "fresh 8 MiB read", MOST_PAGES);
	load = at_random(&drive, false, RATED_DEPTH, READ_SPAN);
	measure(&drive, "fresh random read", &load);
	free_drive(&drive);
}

/*
 * The whole drive is written in order, and another half of it again; then twice as much as it holds
 * at random, single pages.
 */
static void measure_steady(const struct ftl_params *params)
{
	struct drive drive;
	struct load load;

	make_drive(&drive, params);
	load = in_order(&drive, true, 32, UINT64_MAX);
	load.nr_before = load.span / load.nr_pages / 4 * 5;
	load.nr = load.span / load.nr_pages / 8;
	measure(&drive, "steady sequential write", &load);
	load.depth = 1;
	load.first = load.span / 8 * 3;
	load.span /= 2;
	load.nr_before = 0;
	measure(&drive, "steady sequential write", &load);
	rest(&drive);
	for (size_t i = 0; i < NR_DEPTHS; i++) {
		load = in_order(&drive, false, depths[i], READ_SPAN);
		measure(&drive, "steady sequential read", &load);
	}
	load = at_random(&drive, true, 32, UINT64_MAX);
	load.nr_before = drive.nr_pages / 8 * 15;
	load.nr = drive.nr_pages / 8;
	measure(&drive, "steady random write", &load);
	load.depth = 1;
	load.nr_before = 0;
	load.nr = drive.nr_pages / 16;
	measure(&drive, "steady random write", &load);
	rest(&drive);
	read_at_depths(&drive, "scattered sequential read", "steady random read", UINT64_MAX);
	free_drive(&drive);
}

/* What is read or written before a figure: enough for the cache of the map to have its share */
static uint64_t nr_to_warm(uint64_t span)
{
	uint64_t nr_map_pages = span / ((uint64_t)FTL_MAP_PAGE_LPNS * PAGE_BYTES);

	return nr_commands(4 * nr_map_pages * PAGE_BYTES, 1);
}

/*
 * Single pages at random over so much of a drive that was written in order, for drives that do not
 * have all of their map in memory. Writes leave room enough for nothing to be collected.
 */
static void measure_spans(const struct ftl_params *params)
{
	static const uint32_t gib[] = { 1, 8, 16, 32, 64, 96 };
	struct drive drive;
	struct load load;
	char name[32];

	make_drive(&drive, params);
	load = in_order(&drive, true, 32, UINT64_MAX);
	load.nr_before = 0;
	load.nr = load.span / load.nr_pages;
	run(&drive, &load);
	for (uint32_t is_write = 0; is_write < 2; is_write++) {
		for (size_t i = 0; i < sizeof(gib) / sizeof(gib[0]); i++) {
			if ((uint64_t)gib[i] << 30 > drive.nr_pages * PAGE_BYTES)
				break;
			for (size_t k = 0; k < NR_DEPTHS; k++) {
				uint64_t span = (uint64_t)gib[i] << 30;

				rest(&drive);
				load = at_random(&drive, is_write, depths[k], span);
				load.nr_before = nr_to_warm(span);
				load.nr = 32768;
				snprintf(name, sizeof(name), "span %u random %s", gib[i],
					 is_write ? "write" : "read");
				measure(&drive, name, &load);
			}
		}
	}
	free_drive(&drive);
}

static const struct ftl_profile *find_profile(const char *name)
{
	const struct ftl_profile *profile;

	for (uint32_t i = 0; (profile = ftl_profile_at(i)); i++) {
		if (!strcmp(profile->name, name))
			return profile;
	}
	errno = 0;
	die("There is no profile '%s'", name);
}

static const struct option options[] = {
	{ "list", no_argument, NULL, 'l' },
	{ "profile", required_argument, NULL, 'p' },
	{ "capacity", required_argument, NULL, 'c' },
	{ "steady", no_argument, NULL, 'S' },
	{ "spans", no_argument, NULL, 's' },
	{ NULL, 0, NULL, 0 }
};

static void list_profiles(void)
{
	const struct ftl_profile *profile;

	for (uint32_t i = 0; (profile = ftl_profile_at(i)); i++)
		printf("%s\n", profile->name);
}

int main(int argc, char **argv)
{
	const struct ftl_profile *profile = ftl_profile_at(0);
	uint64_t capacity_bytes = 0;
	int option, is_steady = 0, is_spans = 0;
	struct ftl_params params;
	const char *reason;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'l':
			list_profiles();
			return 0;
		case 'p':
			profile = find_profile(optarg);
			break;
		case 'c':
			capacity_bytes = parse_u64("--capacity", optarg);
			break;
		case 'S':
			is_steady = 1;
			break;
		case 's':
			is_spans = 1;
			break;
		default:
			return 2;
		}
	}
	most_depth = profile->queue_depth < MAX_DEPTH ? profile->queue_depth : MAX_DEPTH;
	params = profile->params;
	reason = ftl_params_size(&params, capacity_bytes ?: profile->capacity_bytes);
	errno = 0;
	if (reason)
		die("There can be no such drive: %s", reason);
	if (is_spans) {
		if (params.map_cache_pages)
			measure_spans(&params);
		return 0;
	}
	if (is_steady) {
		measure_steady(&params);
		return 0;
	}
	write_fresh(&params);
	read_fresh(&params);
	return 0;
}
