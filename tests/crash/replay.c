// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage: crash-replay [OPTION]... BASE LOG TRACE
 *
 * BASE is what a disk held, LOG and TRACE are what happened to it then, see events.h. At each
 * write, and whenever something becomes durable or is promised, the power fails, several
 * times with different losses. Each time a device in log mode is started from what is
 * left, has to be consistent, and every page has to hold what the user was promised.
 *
 *	--raw			the disk itself is the device; its pages do not tear, and are
 *				zeroes when discarded
 *	--whole			pages of the disk do not tear: no more is promised of those that
 *				are overwritten in place
 *	--ignore WHAT		"flush", "fua" or "both": the disk does nothing for it; this has to
 *				fail
 *	--losses N		power failures at each place, at least 1 (default 4); where a
 *				write is submitted one less, as it leaves what the one before
 *				has left
 *	--every N		only at every Nth place (default 1)
 *	--durable		only where something becomes durable or is promised; of a sample,
 *				every other failure loses all that it may
 *	--seed N		other losses
 *	--sample N		only N power failures, spread over all places
 *	--cut PLACE:LOSS	only this one
 *	--scarcest		say which failure leaves the fewest segments without data
 *	--end			only at the end, when all is written; the core starts nothing
 *	--write FILE		write what is left to FILE, which is all zeroes before the first
 *				power failure, and which nobody else writes to
 *	--up COMMAND		run this then, with CUT and LINE (of TRACE) in the environment
 *	--device FILE		the pages to be compared are those of FILE: the real
 *				target's, started by COMMAND from what was written
 *	--down COMMAND		run this in the end
 *
 * Exit status: 0 all is well, 1 not, 2 it could not be tried.
 */
#include <fcntl.h>
#include <getopt.h>
#include <unistd.h>

#include "disk.h"
#include "model.h"
#include "start.h"
#include "util.h"

#define MAX_FAILED	10

/* All memory is needed to the end. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/**
 * struct replay - the whole
 * @raw: see above, like @whole, @nr_losses, @at_end, @every, @durable, @seed, @nr_sampled,
 *	@file, @up, @device, @down
 * @ignored: of --ignore
 * @only_place: of --cut, or U64_MAX
 * @only_loss: of --cut
 * @scarcest: see above
 * @least_spare: segments without data after the failure that has left the fewest
 * @scarcest_cut: that failure
 * @image: descriptor of @file
 * @events: what happens
 * @disk: to this disk
 * @model: what was promised
 * @start: for starting, NULL if the disk itself is the device
 * @nr_places: places for cuts so far
 * @nr_cuts: power failures
 * @nr_failed: how many were not survived
 * @nr_drafts: journals that ended with a draft, by whether it counts
 */
struct replay {
	bool raw;
	bool whole;
	const char *ignored;
	bool at_end;
	u32 nr_losses;
	u32 every;
	bool durable;
	u64 seed;
	u32 nr_sampled;
	const char *file;
	const char *up;
	const char *device;
	const char *down;
	u64 only_place;
	u32 only_loss;
	bool scarcest;
	u64 least_spare;
	char scarcest_cut[48];
	int image;
	struct events events;
	struct disk disk;
	struct model model;
	struct start *start;
	u64 nr_places;
	u64 nr_cuts;
	u64 nr_failed;
	u64 nr_drafts[2];
};

static struct stamp stamp_of(struct replay *replay, u64 lpn)
{
	u64 dpn = replay->raw ? lpn : start_where(replay->start, lpn);

	if (dpn == U64_MAX)
		return (struct stamp){ .kind = STAMP_ZERO };
	return disk_stamp(&replay->disk, dpn);
}

/* All pages of the real target. */
static u8 *read_device(const struct replay *replay)
{
	u64 bytes = replay->model.nr_lpns * STAMP_PAGE_BYTES;
	int fd = open(replay->device, O_RDONLY | O_DIRECT);
	u8 *pages = must(aligned_alloc(STAMP_PAGE_BYTES, bytes));

	for (u64 at = 0; fd >= 0 && at < bytes; at += 1 << 20) {
		if (pread(fd, pages + at, min(bytes - at, 1ULL << 20), at) <= 0) {
			close(fd);
			fd = -1;
		}
	}
	if (fd < 0) {
		free(pages);
		return NULL;
	}
	close(fd);
	return pages;
}

/* Return: whether all pages are what they may be. */
static bool check_pages(struct replay *replay, const u8 *pages, char why[160])
{
	for (u64 lpn = 0; replay->events.nr_ops && lpn < replay->model.nr_lpns; lpn++) {
		struct stamp stamp = pages ? stamp_read(pages + lpn * STAMP_PAGE_BYTES) :
			stamp_of(replay, lpn);

		if (!model_allows(&replay->model, lpn, &stamp, why))
			return false;
	}
	return true;
}

static bool check_started(struct replay *replay, char why[160])
{
	const char *wrong;

	if (replay->raw)
		return true;
	wrong = start_open(replay->start, &replay->disk);
	if (!wrong)
		wrong = start_check(replay->start);
	if (wrong)
		snprintf(why, 160, "%s", wrong);
	return !wrong;
}

/* The pages that the image does not have, as many at a time as lie together. */
static void write_image(struct replay *replay)
{
	struct disk *disk = &replay->disk;
	u64 at, end;

	for (at = 0; at < disk->nr_pages; at = end) {
		u64 bytes;

		for (end = at + 1; end < disk->nr_pages && end < at + 256; end++) {
			if (disk->is_changed[end] != disk->is_changed[at])
				break;
		}
		bytes = (end - at) * STAMP_PAGE_BYTES;
		if (!disk->is_changed[at])
			continue;
		if (pwrite(replay->image, disk_page(disk, at), bytes,
			   at * STAMP_PAGE_BYTES) != bytes)
			give_up("What is left cannot be written: %s", strerror(errno));
		memset(&disk->is_changed[at], false, end - at);
	}
}

static void write_what_is_left(struct replay *replay)
{
	replay->image = open(replay->file, O_WRONLY | O_DIRECT);
	if (replay->image < 0)
		give_up("%s: %s", replay->file, strerror(errno));
	write_image(replay);
	if (fsync(replay->image))
		give_up("%s: %s", replay->file, strerror(errno));
	close(replay->image);
}

static bool run(const char *command, char why[160])
{
	int status;

	if (!command)
		return true;
	fflush(stdout);
	status = system(command);
	if (status)
		snprintf(why, 160, "'%s' failed with status %d", command, WEXITSTATUS(status));
	return !status;
}

/* The real target has to survive it, too. */
static bool check_real(struct replay *replay, u64 line, char why[160])
{
	char text[48];
	u8 *pages = NULL;
	bool good;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)line);
	setenv("LINE", text, 1);
	if (replay->file)
		write_what_is_left(replay);
	if (!run(replay->up, why))
		return false;
	if (replay->device) {
		pages = read_device(replay);
		if (!pages) {
			snprintf(why, 160, "The device cannot be read");
			return false;
		}
	}
	good = check_pages(replay, pages, why);
	free(pages);
	return good && run(replay->down, why);
}

/* Of several the last: most has happened by then. */
static void note_spare(struct replay *replay, const char *cut)
{
	u64 nr_spare;

	if (!replay->scarcest)
		return;
	nr_spare = start_nr_spare(replay->start);
	if (nr_spare > replay->least_spare)
		return;
	replay->least_spare = nr_spare;
	snprintf(replay->scarcest_cut, sizeof(replay->scarcest_cut), "%s", cut);
}

static void note_draft(struct replay *replay)
{
	bool counts;

	if (replay->start && start_had_draft(replay->start, &counts))
		replay->nr_drafts[counts]++;
}

static void fail_power(struct replay *replay, u64 line, u32 loss)
{
	u64 random = (replay->seed + replay->nr_places * 64 + loss) * 0x9e3779b97f4a7c15ULL;
	char cut[48];
	char why[160];

	snprintf(cut, sizeof(cut), "%llu:%u", (unsigned long long)replay->nr_places, loss);
	setenv("CUT", cut, 1);
	disk_fail(&replay->disk, loss < LOSS_SOME ? loss : LOSS_SOME, random);
	replay->nr_cuts++;
	if ((!replay->at_end && (!check_started(replay, why) || !check_pages(replay, NULL, why))) ||
	    !check_real(replay, line, why)) {
		replay->nr_failed++;
		printf("cut %s, line %llu of the trace: %s\n", cut, (unsigned long long)line, why);
	} else {
		note_spare(replay, cut);
		note_draft(replay);
	}
	disk_undo(&replay->disk);
}

/* What gets lost in the next failure of a sample */
static u32 loss_of_sample(const struct replay *replay)
{
	u64 random = (replay->seed + replay->nr_places) * 0x9e3779b97f4a7c15ULL;

	if (replay->durable)
		return replay->nr_cuts % 2 && replay->nr_losses > LOSS_SOME ? LOSS_SOME : LOSS_ALL;
	return draw(&random, replay->nr_losses);
}

/*
 * Where a write is only submitted, nothing becomes durable and nothing is promised: when all that
 * may be lost is lost, that leaves what it left at the place before.
 */
static u32 first_loss(const struct event *event)
{
	return event->kind == EVENT_QUEUE ? LOSS_ALL + 1 : LOSS_ALL;
}

/* The power may fail here. */
static void visit_place(struct replay *replay, const struct event *event)
{
	u64 line = event->line;

	replay->nr_places++;
	if (replay->only_place != U64_MAX) {
		if (replay->nr_places == replay->only_place)
			fail_power(replay, line, replay->only_loss);
		return;
	}
	if (replay->at_end || replay->nr_places % replay->every)
		return;
	if (replay->nr_sampled) {
		fail_power(replay, line, loss_of_sample(replay));
		return;
	}
	for (u32 loss = first_loss(event);
	     loss < replay->nr_losses && replay->nr_failed < MAX_FAILED; loss++)
		fail_power(replay, line, loss);
}

static bool is_place(const struct replay *replay, const struct event *event)
{
	return events_is_place(&replay->events, event) &&
		!(replay->durable && event->kind == EVENT_QUEUE);
}

static void play(struct replay *replay)
{
	for (u64 i = 0; i < replay->events.nr && replay->nr_failed < MAX_FAILED; i++) {
		const struct event *event = &replay->events.event[i];

		disk_happen(&replay->disk, event);
		model_happen(&replay->model, event);
		if (is_place(replay, event))
			visit_place(replay, event);
	}
	if (replay->at_end)
		fail_power(replay, replay->events.nr_lines, LOSS_NONE);
}

/* What the pages held before everything. */
static void take_base(struct replay *replay)
{
	u64 nr_lpns = replay->disk.nr_pages;
	char why[160];

	if (!replay->raw) {
		replay->start = start_create(&replay->disk);
		if (!check_started(replay, why))
			give_up("What the disk held at first does not start: %s", why);
		nr_lpns = start_nr_lpns(replay->start);
	}
	model_init(&replay->model, &replay->events, nr_lpns);
	for (u64 lpn = 0; lpn < nr_lpns; lpn++)
		replay->model.past[lpn].base = stamp_of(replay, lpn);
}

/* Places of a sample are so far apart. */
static u32 distance(const struct replay *replay)
{
	u64 nr_places = 0;

	for (u64 i = 0; i < replay->events.nr; i++)
		nr_places += is_place(replay, &replay->events.event[i]);
	return max(nr_places / replay->nr_sampled, 1ULL);
}

static void begin(struct replay *replay, char **file)
{
	events_read(&replay->events, file[2], file[1]);
	disk_open(&replay->disk, file[0], &replay->events);
	if (*replay->ignored) {
		replay->disk.ignores_flush = strcmp(replay->ignored, "fua");
		replay->disk.ignores_fua = strcmp(replay->ignored, "flush");
	}
	if (replay->raw || replay->whole)
		replay->disk.atom_sectors = DISK_SECTORS;
	if (replay->raw)
		replay->disk.discarded = 0;
	take_base(replay);
	if (replay->nr_sampled)
		replay->every = distance(replay);
}

static u64 number(const char *text)
{
	char *end;
	u64 value = strtoull(text, &end, 0);

	if (end == text || *end)
		give_up("'%s' is not a figure", text);
	return value;
}

static void take_option(struct replay *replay, char option)
{
	unsigned long long place;

	switch (option) {
	case 'r':
		replay->raw = true;
		break;
	case 'W':
		replay->whole = true;
		break;
	case 'i':
		replay->ignored = optarg;
		break;
	case 'E':
		replay->at_end = true;
		break;
	case 'n':
		replay->nr_losses = number(optarg);
		break;
	case 'e':
		replay->every = number(optarg);
		break;
	case 'P':
		replay->durable = true;
		break;
	case 's':
		replay->seed = number(optarg);
		break;
	case 'S':
		replay->nr_sampled = number(optarg);
		break;
	case 'c':
		if (sscanf(optarg, "%llu:%u", &place, &replay->only_loss) != 2)
			give_up("--cut wants PLACE:LOSS, not '%s'", optarg);
		replay->only_place = place;
		break;
	case 'f':
		replay->scarcest = true;
		break;
	case 'w':
		replay->file = optarg;
		break;
	case 'u':
		replay->up = optarg;
		break;
	case 'd':
		replay->device = optarg;
		break;
	case 'D':
		replay->down = optarg;
		break;
	default:
		exit(2);
	}
}

static void take_arguments(struct replay *replay, int argc, char **argv)
{
	static const struct option options[] = {
		{ "raw", no_argument, NULL, 'r' },
		{ "whole", no_argument, NULL, 'W' },
		{ "ignore", required_argument, NULL, 'i' },
		{ "end", no_argument, NULL, 'E' },
		{ "losses", required_argument, NULL, 'n' },
		{ "every", required_argument, NULL, 'e' },
		{ "durable", no_argument, NULL, 'P' },
		{ "seed", required_argument, NULL, 's' },
		{ "sample", required_argument, NULL, 'S' },
		{ "cut", required_argument, NULL, 'c' },
		{ "scarcest", no_argument, NULL, 'f' },
		{ "write", required_argument, NULL, 'w' },
		{ "up", required_argument, NULL, 'u' },
		{ "device", required_argument, NULL, 'd' },
		{ "down", required_argument, NULL, 'D' },
		{},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		take_option(replay, option);
	if (argc - optind != 3)
		give_up("It needs three files: BASE LOG TRACE");
	if (*replay->ignored && strcmp(replay->ignored, "flush") &&
	    strcmp(replay->ignored, "fua") && strcmp(replay->ignored, "both"))
		give_up("--ignore wants flush, fua or both, not '%s'", replay->ignored);
	if (replay->scarcest && (replay->raw || replay->at_end))
		give_up("--scarcest wants a device in log mode that is started");
	if (!replay->every || !replay->nr_losses)
		give_up("--every and --losses want at least 1");
}

int main(int argc, char **argv)
{
	static struct replay replay = {
		.nr_losses = NR_LOSSES, .every = 1, .ignored = "", .only_place = U64_MAX,
		.least_spare = U64_MAX,
	};

	take_arguments(&replay, argc, argv);
	begin(&replay, argv + optind);
	play(&replay);
	if (replay.only_place != U64_MAX && !replay.nr_cuts)
		give_up("There is no such cut: there are %llu places",
			(unsigned long long)replay.nr_places);
	printf("%llu cuts, %llu failed (%llu writes below, %llu operations, last cut %s)\n",
	       (unsigned long long)replay.nr_cuts, (unsigned long long)replay.nr_failed,
	       (unsigned long long)replay.events.nr_bios,
	       (unsigned long long)replay.events.nr_ops, getenv("CUT") ?: "none");
	if (replay.start)
		printf("%llu drafts counted, %llu did not\n",
		       (unsigned long long)replay.nr_drafts[true],
		       (unsigned long long)replay.nr_drafts[false]);
	if (replay.scarcest)
		printf("scarcest %s, %llu segments without data\n", replay.scarcest_cut,
		       (unsigned long long)replay.least_spare);
	return replay.nr_failed != 0;
}
