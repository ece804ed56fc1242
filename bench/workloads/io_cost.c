// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads or writes one block after the other with O_DIRECT, one at a time, and says
 * how long a block takes, and how much of that the CPUs were busy. Where one instruction
 * is one nanosecond, the busy time is the instructions of one I/O from the system call to
 * its return.
 *
 * Each round does the same I/O: the offsets are drawn again from the same seed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/**
 * struct job - what to do
 * @path: file or block device
 * @write: write, else read
 * @random: block offsets at random, else in order
 * @block_bytes: bytes of one I/O
 * @span_bytes: the I/O stays within the first so many bytes
 * @start_bytes: and begins here
 * @nr_blocks: I/Os of one round
 * @nr_rounds: rounds; the first warms up and is printed like the others
 */
struct job {
	const char *path;
	int write;
	int random;
	uint64_t block_bytes;
	uint64_t span_bytes;
	uint64_t start_bytes;
	uint64_t nr_blocks;
	uint64_t nr_rounds;
};

static void transfer(const struct job *job, int fd, void *buffer, uint64_t offset)
{
	ssize_t done;

	if (job->write)
		done = pwrite(fd, buffer, job->block_bytes, offset);
	else
		done = pread(fd, buffer, job->block_bytes, offset);
	if (done != (ssize_t)job->block_bytes)
		die("I/O at %llu failed", (unsigned long long)offset);
}

static uint64_t round_ns(const struct job *job, int fd, void *buffer)
{
	uint64_t span_blocks = job->span_bytes / job->block_bytes;
	uint64_t state = 1, begin = now_ns(), i;

	for (i = 0; i < job->nr_blocks; i++) {
		uint64_t block = job->random ? random_next(&state) : i;

		transfer(job, fd, buffer,
			 job->start_bytes + block % span_blocks * job->block_bytes);
	}
	return (now_ns() - begin) / job->nr_blocks;
}

static void run(const struct job *job)
{
	int fd = open_file(job->path, job->write ? O_WRONLY : O_RDONLY, 1);
	void *buffer = io_buffer(job->block_bytes);
	uint64_t *samples = calloc(2 * job->nr_rounds, sizeof(*samples));
	uint64_t *busy = samples + job->nr_rounds;
	uint64_t i, idle;

	if (!samples)
		die("There is no memory for the samples");
	pattern_fill(buffer, job->block_bytes, 1, 0);
	for (i = 0; i < job->nr_rounds; i++) {
		idle = idle_ns();
		samples[i] = round_ns(job, fd, buffer);
		busy[i] = samples[i] - (idle_ns() - idle) / job->nr_blocks;
	}
	printf("bench: blocks=%llu", (unsigned long long)job->nr_blocks);
	print_samples(samples, job->nr_rounds);
	print_busy(busy, job->nr_rounds);
	printf("\n");
	free(samples);
	close(fd);
}

static const struct option options[] = {
	{ "path", required_argument, NULL, 'p' },
	{ "write", no_argument, NULL, 'w' },
	{ "random", no_argument, NULL, 'r' },
	{ "block-bytes", required_argument, NULL, 'b' },
	{ "span-bytes", required_argument, NULL, 's' },
	{ "start-bytes", required_argument, NULL, 'S' },
	{ "blocks", required_argument, NULL, 'n' },
	{ "rounds", required_argument, NULL, 'R' },
	{ NULL, 0, NULL, 0 }
};

static void parse_option(struct job *job, int option)
{
	switch (option) {
	case 'p':
		job->path = optarg;
		break;
	case 'w':
		job->write = 1;
		break;
	case 'r':
		job->random = 1;
		break;
	case 'b':
		job->block_bytes = parse_u64("--block-bytes", optarg);
		break;
	case 's':
		job->span_bytes = parse_u64("--span-bytes", optarg);
		break;
	case 'S':
		job->start_bytes = parse_u64("--start-bytes", optarg);
		break;
	case 'n':
		job->nr_blocks = parse_u64("--blocks", optarg);
		break;
	case 'R':
		job->nr_rounds = parse_u64("--rounds", optarg);
		break;
	default:
		_exit(2);
	}
}

int main(int argc, char **argv)
{
	struct job job = {
		.block_bytes = PAGE_BYTES,
		.span_bytes = 32 * MIB,
		.nr_blocks = 2000,
		.nr_rounds = 6,
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		parse_option(&job, option);
	errno = 0;
	if (!job.path)
		die("--path is missing");
	if (!job.block_bytes || job.block_bytes % PAGE_BYTES || job.span_bytes < job.block_bytes)
		die("The block must be whole pages and fit into the span");
	if (!job.nr_blocks || !job.nr_rounds)
		die("There must be at least one block and one round");
	run(&job);
	return 0;
}
