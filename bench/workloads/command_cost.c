// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads or writes blocks of one or two devices with O_DIRECT, so many at a time on
 * each, or waits; and says how long a command took and how much of that the CPUs were
 * busy. Where one instruction is one nanosecond, the busy time of a command is the
 * instructions that the whole machine spent on it: program, kernel, driver and, if it
 * is emulated in the same kernel, the device.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util.h"

#define MAX_PATHS	2
#define MAX_DEPTH	256
#define MAX_FLIGHT	(MAX_PATHS * MAX_DEPTH)

/**
 * struct job - what to do
 * @paths: block devices; all are used at the same time
 * @nr_paths: how many there are; none: wait
 * @write: write, else read
 * @random: block offsets at random, else in order
 * @depth: commands in flight on each device
 * @block_bytes: bytes of one command
 * @span_bytes: the commands stay within the first so many bytes
 * @nr_blocks: commands of one round, on all devices together
 * @nr_rounds: rounds; the first warms up and is printed like the others
 * @wait_seconds: how long a round waits where there is no device
 */
struct job {
	const char *paths[MAX_PATHS];
	uint32_t nr_paths;
	int write;
	int random;
	uint64_t depth;
	uint64_t block_bytes;
	uint64_t span_bytes;
	uint64_t nr_blocks;
	uint64_t nr_rounds;
	uint64_t wait_seconds;
};

/**
 * struct flight - the commands in flight
 * @context: of the kernel's asynchronous I/O
 * @slots: a command each; the slots of a device follow each other
 * @state: of the random offsets
 * @nr_begun: commands given to the kernel
 */
struct flight {
	aio_context_t context;
	struct iocb slots[MAX_FLIGHT];
	uint64_t state;
	uint64_t nr_begun;
};

static void submit(struct flight *flight, struct iocb **cbs, long nr)
{
	long done;

	while (nr) {
		done = syscall(SYS_io_submit, flight->context, nr, cbs);
		if (done <= 0)
			die("The commands cannot be submitted");
		cbs += done;
		nr -= done;
	}
}

/* Give a slot its next offset. */
static struct iocb *next_command(const struct job *job, struct flight *flight, struct iocb *cb)
{
	uint64_t nr = flight->nr_begun++ / job->nr_paths;
	uint64_t block = job->random ? random_next(&flight->state) : nr;

	cb->aio_offset = block % (job->span_bytes / job->block_bytes) * job->block_bytes;
	return cb;
}

/* All commands of a round, as soon as there is room for each. */
static void run_round(const struct job *job, struct flight *flight)
{
	uint64_t nr_slots = job->nr_paths * job->depth, nr_done = 0;
	struct io_event events[MAX_FLIGHT];
	struct iocb *cbs[MAX_FLIGHT];
	long nr = 0, i, got;

	flight->nr_begun = 0;
	flight->state = 1;
	while (flight->nr_begun < nr_slots && flight->nr_begun < job->nr_blocks) {
		cbs[nr] = next_command(job, flight, &flight->slots[nr]);
		nr++;
	}
	for (; nr_done < job->nr_blocks; nr_done += got) {
		submit(flight, cbs, nr);
		got = syscall(SYS_io_getevents, flight->context, 1, nr_slots, events, NULL);
		if (got <= 0)
			die("Waiting for commands failed");
		for (nr = 0, i = 0; i < got; i++) {
			if (events[i].res != (int64_t)job->block_bytes)
				die("A command ended with %lld", (long long)events[i].res);
			if (flight->nr_begun < job->nr_blocks)
				cbs[nr++] = next_command(job, flight,
							 (struct iocb *)(uintptr_t)events[i].obj);
		}
	}
}

static void prepare(const struct job *job, struct flight *flight)
{
	char *buffer = io_buffer(job->nr_paths * job->depth * job->block_bytes);
	uint64_t i, slot = 0;
	uint32_t path;

	pattern_fill(buffer, job->nr_paths * job->depth * job->block_bytes, 1, 0);
	if (syscall(SYS_io_setup, MAX_FLIGHT, &flight->context))
		die("Asynchronous I/O cannot be set up");
	for (path = 0; path < job->nr_paths; path++) {
		int fd = open_file(job->paths[path], job->write ? O_WRONLY : O_RDONLY, 1);

		for (i = 0; i < job->depth; i++, slot++)
			flight->slots[slot] = (struct iocb){
				.aio_fildes = fd,
				.aio_lio_opcode = job->write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
				.aio_buf = (uintptr_t)(buffer + slot * job->block_bytes),
				.aio_nbytes = job->block_bytes,
			};
	}
}

/* Samples are of one command, or of one second of waiting. */
static void run(const struct job *job)
{
	uint64_t *samples = calloc(2 * job->nr_rounds, sizeof(*samples));
	uint64_t *busy = samples + job->nr_rounds;
	struct flight *flight = calloc(1, sizeof(*flight));
	uint64_t i, begin, idle, nr = job->nr_paths ? job->nr_blocks : job->wait_seconds;

	if (!samples || !flight)
		die("There is no memory");
	if (job->nr_paths)
		prepare(job, flight);
	for (i = 0; i < job->nr_rounds; i++) {
		idle = idle_ns();
		begin = now_ns();
		if (job->nr_paths)
			run_round(job, flight);
		else
			sleep(job->wait_seconds);
		samples[i] = (now_ns() - begin) / nr;
		busy[i] = samples[i] - idle_since_ns(idle) / nr;
	}
	printf("bench: blocks=%llu", (unsigned long long)nr);
	print_samples(samples, job->nr_rounds);
	print_list("busy_ns", busy, job->nr_rounds);
	printf("\n");
}

static const struct option options[] = {
	{ "path", required_argument, NULL, 'p' },
	{ "write", no_argument, NULL, 'w' },
	{ "random", no_argument, NULL, 'r' },
	{ "depth", required_argument, NULL, 'd' },
	{ "block-bytes", required_argument, NULL, 'b' },
	{ "span-bytes", required_argument, NULL, 's' },
	{ "blocks", required_argument, NULL, 'n' },
	{ "rounds", required_argument, NULL, 'R' },
	{ "wait", required_argument, NULL, 'W' },
	{ NULL, 0, NULL, 0 }
};

static void parse_option(struct job *job, int option)
{
	switch (option) {
	case 'p':
		if (job->nr_paths == MAX_PATHS)
			die("There may be %d devices", MAX_PATHS);
		job->paths[job->nr_paths++] = optarg;
		break;
	case 'w':
		job->write = 1;
		break;
	case 'r':
		job->random = 1;
		break;
	case 'd':
		job->depth = parse_u64("--depth", optarg);
		break;
	case 'b':
		job->block_bytes = parse_u64("--block-bytes", optarg);
		break;
	case 's':
		job->span_bytes = parse_u64("--span-bytes", optarg);
		break;
	case 'n':
		job->nr_blocks = parse_u64("--blocks", optarg);
		break;
	case 'R':
		job->nr_rounds = parse_u64("--rounds", optarg);
		break;
	case 'W':
		job->wait_seconds = parse_u64("--wait", optarg);
		break;
	default:
		_exit(2);
	}
}

static void check(const struct job *job)
{
	errno = 0;
	if (!job->nr_paths == !job->wait_seconds)
		die("Either --path or --wait is wanted");
	if (!job->depth || job->depth > MAX_DEPTH)
		die("The depth is from 1 to %d", MAX_DEPTH);
	if (!job->block_bytes || job->block_bytes % PAGE_BYTES ||
	    job->span_bytes < job->block_bytes)
		die("The block must be whole pages and fit into the span");
	if (!job->nr_blocks || !job->nr_rounds)
		die("There must be at least one block and one round");
}

int main(int argc, char **argv)
{
	struct job job = {
		.depth = 1,
		.block_bytes = PAGE_BYTES,
		.span_bytes = 32 * MIB,
		.nr_blocks = 2000,
		.nr_rounds = 4,
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		parse_option(&job, option);
	check(&job);
	run(&job);
	return 0;
}
