// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads whole files from front to back, several times, and says how long each
 * time took. Before each time the page cache is dropped. The file stays open, so
 * that after the first time its metadata is warm: what is measured is the data.
 *
 * With --verify SEED the data is compared afterwards, outside the measured time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util.h"

/**
 * struct job - what to read
 * @file: path
 * @direct: O_DIRECT
 * @read_bytes: bytes of one read
 * @nr_reads: times to read the whole file
 * @verify: compare the data
 * @seed: of the data expected
 */
struct job {
	const char *file;
	int direct;
	uint64_t read_bytes;
	uint64_t nr_reads;
	int verify;
	uint64_t seed;
};

static size_t read_some(int fd, void *buffer, size_t bytes, uint64_t offset)
{
	ssize_t done = pread(fd, buffer, bytes, offset);

	if (done < 0)
		die("Reading %zu bytes at %llu failed", bytes, (unsigned long long)offset);
	return done;
}

static uint64_t read_once(const struct job *job, int fd, void *buffer, uint64_t expected)
{
	uint64_t begin, offset = 0;
	size_t done;

	drop_page_cache();
	begin = now_ns();
	while ((done = read_some(fd, buffer, job->read_bytes, offset)))
		offset += done;
	begin = now_ns() - begin;
	errno = 0;
	if (offset != expected)
		die("'%s' gave %llu bytes instead of %llu", job->file,
		    (unsigned long long)offset, (unsigned long long)expected);
	return begin;
}

static void verify(const struct job *job, int fd, void *buffer, uint64_t bytes)
{
	uint64_t offset = 0;

	drop_page_cache();
	while (offset < bytes) {
		size_t done = read_some(fd, buffer, job->read_bytes, offset);
		size_t good;

		errno = 0;
		if (!done)
			die("'%s' ends at %llu", job->file, (unsigned long long)offset);
		good = pattern_check(buffer, done, job->seed, offset);
		if (good < done)
			die("The data of '%s' at %llu is not what was written", job->file,
			    (unsigned long long)(offset + good));
		offset += done;
	}
}

static void run(const struct job *job)
{
	int fd = open_file(job->file, O_RDONLY, job->direct);
	uint64_t bytes = file_bytes(fd, job->file);
	void *buffer = io_buffer(job->read_bytes);
	uint64_t *samples = calloc(job->nr_reads, sizeof(*samples));
	uint64_t i;

	if (!samples)
		die("There is no memory for the samples");
	for (i = 0; i < job->nr_reads; i++)
		samples[i] = read_once(job, fd, buffer, bytes);
	if (job->verify)
		verify(job, fd, buffer, bytes);
	printf("bench: bytes=%llu extents=%ld verified=%d", (unsigned long long)bytes,
	       count_extents(fd), job->verify);
	print_samples(samples, job->nr_reads);
	printf("\n");
	free(samples);
	close(fd);
}

static const struct option options[] = {
	{ "file", required_argument, NULL, 'f' },
	{ "direct", no_argument, NULL, 'd' },
	{ "read-bytes", required_argument, NULL, 'b' },
	{ "reads", required_argument, NULL, 'n' },
	{ "verify", required_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 }
};

int main(int argc, char **argv)
{
	struct job job = { .read_bytes = MIB, .nr_reads = 10 };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'f':
			job.file = optarg;
			break;
		case 'd':
			job.direct = 1;
			break;
		case 'b':
			job.read_bytes = parse_u64("--read-bytes", optarg);
			break;
		case 'n':
			job.nr_reads = parse_u64("--reads", optarg);
			break;
		case 'v':
			job.verify = 1;
			job.seed = parse_u64("--verify", optarg);
			break;
		default:
			return 2;
		}
	}
	errno = 0;
	if (!job.file)
		die("--file is missing");
	if (!job.nr_reads || !job.read_bytes || job.read_bytes % PAGE_BYTES)
		die("There must be at least one read, in whole pages");
	run(&job);
	return 0;
}
