// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hypothetical workloads of the die-aware paper (FAST'24, section 5.2): one file
 * is appended to or overwritten in pieces of one die unit, and other data goes to
 * a second file between the pieces.
 *
 *	none	no other data
 *	worst	a stripe less one unit: without hints every piece lands on one die
 *	random	one unit to 1 MiB, in whole units
 *
 * Pieces reach the device in the order written: with O_DIRECT by nature, through the
 * page cache because each is written back before the next. The file's data is
 * pattern_fill() with the seed given, so that readback can verify it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "util.h"

#define OTHER_MAX_BYTES	MIB
#define OTHER_SEED	0x07e4u

enum between { BETWEEN_NONE, BETWEEN_WORST, BETWEEN_RANDOM };

static const char * const between_names[] = { "none", "worst", "random" };

/**
 * struct job - what to write
 * @file: path of the file under test
 * @other: path of the file that takes the data in between
 * @between: how much goes there after each piece
 * @overwrite: the file exists, write over it from front to back
 * @direct: O_DIRECT, else page cache with write-back after each piece
 * @file_bytes: size of the file under test
 * @piece_bytes: bytes of one write to it
 * @unit_bytes: die unit of the device
 * @stripe_bytes: die unit times dies
 * @seed: of the file's data
 * @random_state: of the sizes in between
 */
struct job {
	const char *file;
	const char *other;
	enum between between;
	int overwrite;
	int direct;
	uint64_t file_bytes;
	uint64_t piece_bytes;
	uint64_t unit_bytes;
	uint64_t stripe_bytes;
	uint64_t seed;
	uint64_t random_state;
};

static void put(const struct job *job, struct stream *stream, uint64_t bytes)
{
	stream_put(stream, bytes);
	if (!job->direct)
		push_out(stream->fd, stream->offset - bytes, bytes);
}

static uint64_t between_bytes(struct job *job)
{
	switch (job->between) {
	case BETWEEN_WORST:
		return job->stripe_bytes - job->unit_bytes;
	case BETWEEN_RANDOM:
		return job->unit_bytes * (1 + random_next(&job->random_state) %
					  (OTHER_MAX_BYTES / job->unit_bytes));
	default:
		return 0;
	}
}

static void run(struct job *job)
{
	uint64_t buffer_bytes = OTHER_MAX_BYTES;
	struct stream file = { .seed = job->seed };
	struct stream other = { .seed = OTHER_SEED };

	if (job->piece_bytes > buffer_bytes)
		buffer_bytes = job->piece_bytes;
	if (job->stripe_bytes > buffer_bytes)
		buffer_bytes = job->stripe_bytes;
	file.buffer = io_buffer(buffer_bytes);
	file.fd = open_file(job->file, O_WRONLY | (job->overwrite ? 0 : O_CREAT | O_TRUNC),
			    job->direct);
	if (job->between != BETWEEN_NONE) {
		other.buffer = io_buffer(buffer_bytes);
		other.fd = open_file(job->other, O_WRONLY | O_CREAT | O_TRUNC, job->direct);
	}

	while (file.offset < job->file_bytes) {
		uint64_t bytes;

		put(job, &file, job->piece_bytes);
		bytes = between_bytes(job);
		if (bytes)
			put(job, &other, bytes);
	}
	stream_finish(&file, job->file);
	if (job->between != BETWEEN_NONE)
		stream_finish(&other, job->other);
	printf("bench: written=%llu other=%llu\n", (unsigned long long)file.offset,
	       (unsigned long long)other.offset);
}

static void check(const struct job *job)
{
	errno = 0;
	if (!job->file)
		die("--file is missing");
	if (!job->other && job->between != BETWEEN_NONE)
		die("--other is missing");
	if (!job->unit_bytes || job->unit_bytes % PAGE_BYTES || job->unit_bytes > OTHER_MAX_BYTES)
		die("The die unit must be whole pages and at most 1 MiB");
	if (job->stripe_bytes <= job->unit_bytes || job->stripe_bytes % job->unit_bytes)
		die("A stripe must be several whole die units");
	if (!job->piece_bytes || job->piece_bytes % PAGE_BYTES ||
	    job->file_bytes % job->piece_bytes)
		die("The file must be whole pieces, and a piece whole pages");
}

static const struct option options[] = {
	{ "file", required_argument, NULL, 'f' },
	{ "other", required_argument, NULL, 'o' },
	{ "between", required_argument, NULL, 'b' },
	{ "overwrite", no_argument, NULL, 'w' },
	{ "direct", no_argument, NULL, 'd' },
	{ "file-bytes", required_argument, NULL, 'F' },
	{ "piece-bytes", required_argument, NULL, 'p' },
	{ "unit-bytes", required_argument, NULL, 'u' },
	{ "stripe-bytes", required_argument, NULL, 's' },
	{ "seed", required_argument, NULL, 'S' },
	{ "random-seed", required_argument, NULL, 'r' },
	{ NULL, 0, NULL, 0 }
};

static void parse_option(struct job *job, int option)
{
	switch (option) {
	case 'f':
		job->file = optarg;
		break;
	case 'o':
		job->other = optarg;
		break;
	case 'b':
		job->between = parse_word("--between", optarg, between_names,
					  sizeof(between_names) / sizeof(between_names[0]));
		break;
	case 'w':
		job->overwrite = 1;
		break;
	case 'd':
		job->direct = 1;
		break;
	case 'F':
		job->file_bytes = parse_u64("--file-bytes", optarg);
		break;
	case 'p':
		job->piece_bytes = parse_u64("--piece-bytes", optarg);
		break;
	case 'u':
		job->unit_bytes = parse_u64("--unit-bytes", optarg);
		break;
	case 's':
		job->stripe_bytes = parse_u64("--stripe-bytes", optarg);
		break;
	case 'S':
		job->seed = parse_u64("--seed", optarg);
		break;
	case 'r':
		job->random_state = parse_u64("--random-seed", optarg);
		break;
	default:
		_exit(2);
	}
}

int main(int argc, char **argv)
{
	struct job job = {
		.file_bytes = 8 * MIB,
		.piece_bytes = 32 * KIB,
		.unit_bytes = 32 * KIB,
		.stripe_bytes = 256 * KIB,
		.seed = 1,
		.random_state = 1,
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		parse_option(&job, option);
	check(&job);
	run(&job);
	return 0;
}
