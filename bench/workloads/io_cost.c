// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads or writes one block after the other with O_DIRECT, one at a time, and says
 * how long a block takes, and how much of that the CPUs were busy. Where one instruction
 * is one nanosecond, the busy time is the instructions of one I/O from the system call to
 * its return.
 *
 * Each round does the same I/O: the offsets are drawn again from the same seed. With a second
 * file each block is transferred in both, so that whatever makes I/O dearer for a while meets
 * both alike; their times are measured apart then, and the CPU must not rest.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/**
 * struct job - what to do
 * @path: file or block device
 * @beside: the second one, or NULL
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
	const char *beside;
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

static uint64_t block_offset(const struct job *job, uint64_t i, uint64_t *state)
{
	uint64_t block = job->random ? random_next(state) : i;

	return job->start_bytes + block % (job->span_bytes / job->block_bytes) * job->block_bytes;
}

static uint64_t round_ns(const struct job *job, int fd, void *buffer)
{
	uint64_t state = 1, begin = now_ns(), i;

	for (i = 0; i < job->nr_blocks; i++)
		transfer(job, fd, buffer, block_offset(job, i, &state));
	return (now_ns() - begin) / job->nr_blocks;
}

/*
 * Each block in both files, either first by chance: a write in four may be dearer by some thousand
 * instructions, and must not always be the same file's.
 */
static void round_beside(const struct job *job, const int fds[2], void *buffer, uint64_t ns[2])
{
	uint64_t state = 1, order = 2, begin, i;
	unsigned int first, turn;

	ns[0] = 0;
	ns[1] = 0;
	for (i = 0; i < job->nr_blocks; i++) {
		uint64_t offset = block_offset(job, i, &state);

		first = random_next(&order) >> 32 & 1;
		for (turn = 0; turn < 2; turn++) {
			unsigned int which = first ^ turn;

			begin = now_ns();
			transfer(job, fds[which], buffer, offset);
			ns[which] += now_ns() - begin;
		}
	}
	ns[0] /= job->nr_blocks;
	ns[1] /= job->nr_blocks;
}

/*
 * The device's worker and whoever waits for it take turns on one CPU. Which of them goes on when
 * one wakes the other must not depend on how long both have run before: that is worth 1,000
 * instructions.
 */
static void be_first(void)
{
	const struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("The scheduling class could not be set");
}

static int open_job(const struct job *job, const char *path)
{
	return open_file(path, job->write ? O_WRONLY : O_RDONLY, 1);
}

static void run_beside(const struct job *job)
{
	int fds[2] = { open_job(job, job->path), open_job(job, job->beside) };
	void *buffer = io_buffer(job->block_bytes);
	uint64_t *samples = calloc(2 * job->nr_rounds, sizeof(*samples));
	uint64_t *beside = samples + job->nr_rounds;
	uint64_t i, ns[2], begin = now_ns(), idle = idle_ns();

	if (!samples)
		die("There is no memory for the samples");
	pattern_fill(buffer, job->block_bytes, 1, 0);
	be_first();
	for (i = 0; i < job->nr_rounds; i++) {
		round_beside(job, fds, buffer, ns);
		samples[i] = ns[0];
		beside[i] = ns[1];
	}
	if (idle_since_ns(idle) * 100 > now_ns() - begin)
		die("The CPU has rested while a device was waited for");
	printf("bench: blocks=%llu", (unsigned long long)job->nr_blocks);
	print_samples(samples, job->nr_rounds);
	print_list("beside_ns", beside, job->nr_rounds);
	printf("\n");
	free(samples);
}

static void run(const struct job *job)
{
	int fd = open_job(job, job->path);
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
		busy[i] = samples[i] - idle_since_ns(idle) / job->nr_blocks;
	}
	printf("bench: blocks=%llu", (unsigned long long)job->nr_blocks);
	print_samples(samples, job->nr_rounds);
	print_list("busy_ns", busy, job->nr_rounds);
	printf("\n");
	free(samples);
	close(fd);
}

static const struct option options[] = {
	{ "path", required_argument, NULL, 'p' },
	{ "beside", required_argument, NULL, 'B' },
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
	case 'B':
		job->beside = optarg;
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
	if (job.beside)
		run_beside(&job);
	else
		run(&job);
	return 0;
}
