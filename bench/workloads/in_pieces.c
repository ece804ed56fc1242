// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a file that lies in pieces on its filesystem, with those of another one between them.
 *
 *	--allocate none		what is written lies where it is written: pieces of both in turn
 *	--allocate each		the same for a filesystem that keeps space for a file that
 *				grows: each piece is allocated before it is written
 *	--allocate first	both are allocated in turn, then the file alone is written, from
 *				front to back: it is in pieces, its pages on the dies in order
 *
 * With --whole-bytes, each so many bytes in pieces are followed by as many in one: the synthetic
 * file of the FragPicker paper (SOSP'21, section 5.2). Everything is written with O_DIRECT. The
 * file's data is pattern_fill() with the seed given, so that readback can verify it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "util.h"

#define OTHER_SEED	0x07e4u

enum allocate { ALLOCATE_NONE, ALLOCATE_EACH, ALLOCATE_FIRST };

static const char * const allocate_names[] = { "none", "each", "first" };

/**
 * struct job - what to make
 * @file: path of the file
 * @other: path of the file whose pieces lie between
 * @allocate: how the filesystem learns where they are to lie
 * @file_bytes: size of the file
 * @piece_bytes: of a piece of either file
 * @whole_bytes: so many in pieces are followed by so many in one, 0: all is in pieces
 * @seed: of the file's data
 */
struct job {
	const char *file;
	const char *other;
	enum allocate allocate;
	uint64_t file_bytes;
	uint64_t piece_bytes;
	uint64_t whole_bytes;
	uint64_t seed;
};

static void open_stream(struct stream *stream, const struct job *job, const char *path,
			uint64_t seed)
{
	uint64_t bytes = job->whole_bytes ? job->whole_bytes : job->piece_bytes;

	stream->fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 1);
	stream->seed = seed;
	stream->buffer = io_buffer(bytes);
}

static void allocate(const struct stream *stream, uint64_t offset, uint64_t bytes)
{
	errno = posix_fallocate(stream->fd, offset, bytes);
	if (errno)
		die("%llu bytes could not be allocated", (unsigned long long)bytes);
}

static void put(const struct job *job, struct stream *stream, uint64_t bytes)
{
	if (job->allocate == ALLOCATE_EACH)
		allocate(stream, stream->offset, bytes);
	stream_put(stream, bytes);
}

static void allocate_in_turn(const struct job *job, const struct stream *file,
			     const struct stream *other)
{
	uint64_t offset;

	for (offset = 0; offset < job->file_bytes; offset += job->piece_bytes) {
		allocate(file, offset, job->piece_bytes);
		allocate(other, offset, job->piece_bytes);
	}
}

/* Write pieces of both in turn, up to @bytes of the file. */
static void put_pieces(const struct job *job, struct stream *file, struct stream *other,
		       uint64_t bytes)
{
	for (; bytes; bytes -= job->piece_bytes) {
		put(job, file, job->piece_bytes);
		if (job->allocate != ALLOCATE_FIRST)
			put(job, other, job->piece_bytes);
	}
}

static void run(const struct job *job)
{
	struct stream file = { 0 }, other = { 0 };

	open_stream(&file, job, job->file, job->seed);
	open_stream(&other, job, job->other, OTHER_SEED);
	if (job->allocate == ALLOCATE_FIRST)
		allocate_in_turn(job, &file, &other);
	if (!job->whole_bytes)
		put_pieces(job, &file, &other, job->file_bytes);
	while (file.offset < job->file_bytes) {
		put_pieces(job, &file, &other, job->whole_bytes);
		put(job, &file, job->whole_bytes);
	}
	printf("bench: written=%llu extents=%ld\n", (unsigned long long)file.offset,
	       count_extents(file.fd));
	stream_finish(&file, job->file);
	stream_finish(&other, job->other);
}

static void check(const struct job *job)
{
	errno = 0;
	if (!job->file || !job->other)
		die("--file or --other is missing");
	if (!job->piece_bytes || job->piece_bytes % PAGE_BYTES ||
	    job->file_bytes % job->piece_bytes)
		die("The file must be whole pieces, and a piece whole pages");
	if (job->whole_bytes && (job->whole_bytes % job->piece_bytes ||
				 job->file_bytes % (2 * job->whole_bytes)))
		die("The file must be whole turns, and a turn whole pieces");
	if (job->whole_bytes && job->allocate == ALLOCATE_FIRST)
		die("--whole-bytes does not go with --allocate first");
}

static const struct option options[] = {
	{ "file", required_argument, NULL, 'f' },
	{ "other", required_argument, NULL, 'o' },
	{ "allocate", required_argument, NULL, 'a' },
	{ "file-bytes", required_argument, NULL, 'F' },
	{ "piece-bytes", required_argument, NULL, 'p' },
	{ "whole-bytes", required_argument, NULL, 'w' },
	{ "seed", required_argument, NULL, 'S' },
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
	case 'a':
		job->allocate = parse_word("--allocate", optarg, allocate_names,
					   sizeof(allocate_names) / sizeof(allocate_names[0]));
		break;
	case 'F':
		job->file_bytes = parse_u64("--file-bytes", optarg);
		break;
	case 'p':
		job->piece_bytes = parse_u64("--piece-bytes", optarg);
		break;
	case 'w':
		job->whole_bytes = parse_u64("--whole-bytes", optarg);
		break;
	case 'S':
		job->seed = parse_u64("--seed", optarg);
		break;
	default:
		_exit(2);
	}
}

int main(int argc, char **argv)
{
	struct job job = { .piece_bytes = 32 * KIB, .seed = 1 };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		parse_option(&job, option);
	check(&job);
	run(&job);
	return 0;
}
