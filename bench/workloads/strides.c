// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of one size to a file with O_DIRECT, one after the other, and how long they take.
 *
 *	--rounds N	at every --step-bytes from front to back, N times
 *	--until-term	at random, until SIGTERM; SIGUSR1 begins to count anew. For a job whose
 *			speed is wanted while something else runs
 *
 * With --write the same data is written that is there already, pattern_fill() with the seed given,
 * so that readback can still verify it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util.h"

/**
 * struct job - what to do
 * @file: path
 * @write: write instead of reading
 * @until_term: at random until SIGTERM, not in rounds
 * @request_bytes: of one request
 * @step_bytes: from the beginning of one to that of the next
 * @nr_rounds: times through the file
 * @seed: of the file's data
 */
struct job {
	const char *file;
	int write;
	int until_term;
	uint64_t request_bytes;
	uint64_t step_bytes;
	uint64_t nr_rounds;
	uint64_t seed;
};

static atomic_int has_ended;
static atomic_int begins_anew;

static void take_signal(int number)
{
	if (number == SIGTERM)
		has_ended = 1;
	else
		begins_anew = 1;
}

static void request(const struct job *job, int fd, void *buffer, uint64_t offset)
{
	if (job->write) {
		write_all(fd, buffer, job->request_bytes, offset);
		return;
	}
	errno = 0;
	if (pread(fd, buffer, job->request_bytes, offset) != (ssize_t)job->request_bytes)
		die("'%s' could not be read at %llu", job->file, (unsigned long long)offset);
}

/* How long a way through the file takes, but for the data that is made up. */
static uint64_t one_round(const struct job *job, int fd, void *buffer, uint64_t bytes)
{
	uint64_t offset, before, ns = 0;

	for (offset = 0; offset + job->request_bytes <= bytes; offset += job->step_bytes) {
		if (job->write)
			pattern_fill(buffer, job->request_bytes, job->seed, offset);
		before = now_ns();
		request(job, fd, buffer, offset);
		ns += now_ns() - before;
	}
	return ns;
}

static void in_rounds(const struct job *job, int fd, void *buffer, uint64_t bytes)
{
	uint64_t *samples = calloc(job->nr_rounds, sizeof(*samples));
	uint64_t i;

	if (!samples)
		die("There is no memory for the samples");
	for (i = 0; i < job->nr_rounds; i++)
		samples[i] = one_round(job, fd, buffer, bytes);
	printf("bench: requests=%llu extents=%ld",
	       (unsigned long long)((bytes - job->request_bytes) / job->step_bytes + 1),
	       count_extents(fd));
	print_samples(samples, job->nr_rounds);
	printf("\n");
	free(samples);
}

static void at_random(const struct job *job, int fd, void *buffer, uint64_t bytes)
{
	uint64_t nr_places = bytes / job->request_bytes, state = 1;
	uint64_t begin = now_ns(), nr = 0, longest = 0, before, ns;

	while (!has_ended) {
		if (begins_anew) {
			begins_anew = 0;
			begin = now_ns();
			nr = 0;
			longest = 0;
		}
		before = now_ns();
		request(job, fd, buffer, random_next(&state) % nr_places * job->request_bytes);
		ns = now_ns() - before;
		longest = ns > longest ? ns : longest;
		nr++;
	}
	printf("bench: requests=%llu longest_ns=%llu runs_ns=%llu\n", (unsigned long long)nr,
	       (unsigned long long)longest, (unsigned long long)(now_ns() - begin));
}

static void run(const struct job *job)
{
	int fd = open_file(job->file, job->write ? O_RDWR : O_RDONLY, 1);
	uint64_t bytes = file_bytes(fd, job->file);
	void *buffer = io_buffer(job->request_bytes);

	errno = 0;
	if (bytes < job->request_bytes)
		die("'%s' is smaller than a request", job->file);
	if (job->until_term)
		at_random(job, fd, buffer, bytes);
	else
		in_rounds(job, fd, buffer, bytes);
	if (job->write && fsync(fd))
		die("'%s' could not be synced", job->file);
	close(fd);
}

static const struct option options[] = {
	{ "file", required_argument, NULL, 'f' },
	{ "write", no_argument, NULL, 'w' },
	{ "until-term", no_argument, NULL, 'u' },
	{ "request-bytes", required_argument, NULL, 'b' },
	{ "step-bytes", required_argument, NULL, 's' },
	{ "rounds", required_argument, NULL, 'n' },
	{ "seed", required_argument, NULL, 'S' },
	{ NULL, 0, NULL, 0 }
};

static void parse_option(struct job *job, int option)
{
	switch (option) {
	case 'f':
		job->file = optarg;
		break;
	case 'w':
		job->write = 1;
		break;
	case 'u':
		job->until_term = 1;
		break;
	case 'b':
		job->request_bytes = parse_u64("--request-bytes", optarg);
		break;
	case 's':
		job->step_bytes = parse_u64("--step-bytes", optarg);
		break;
	case 'n':
		job->nr_rounds = parse_u64("--rounds", optarg);
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
	struct job job = { .request_bytes = 128 * KIB, .nr_rounds = 5, .seed = 1 };
	struct sigaction action = { .sa_handler = take_signal, .sa_flags = SA_RESTART };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		parse_option(&job, option);
	errno = 0;
	if (!job.file)
		die("--file is missing");
	if (!job.request_bytes || job.request_bytes % PAGE_BYTES)
		die("A request must be whole pages");
	if (!job.step_bytes)
		job.step_bytes = job.request_bytes;
	if (sigaction(SIGTERM, &action, NULL) || sigaction(SIGUSR1, &action, NULL))
		die("Signals cannot be taken");
	run(&job);
	return 0;
}
