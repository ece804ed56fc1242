// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes blocks of 4 KiB in random order and reads them back in the same order, again and
 * again, with O_DIRECT and libaio's system calls, and looks at every byte: what the fio job
 * libaio-4k-random-qd32 does, without what fio does besides. Like fio it submits requests
 * one by one, takes completions one by one, and gives the buffer that was used last to the
 * next request, so that a completed read's buffer waits for its turn while others arrive.
 *
 * Each block says which one it is and when it was written, so that a wrong one tells whose
 * data it has. What is found goes to standard output as lines of JSON: "wrong" for each
 * wrong block, "buffer" for each buffer as it then is, "done" at the end.
 *
 * Exit status: 0 all was right, 1 something was wrong, 2 it could not be tried.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES	4096
#define WORDS		(BLOCK_BYTES / sizeof(uint64_t))
#define DEPTH		32
/* Reads of everything for each write of everything */
#define READ_LAPS	3
/* After so many writes of everything a file is removed and made anew */
#define LAPS_PER_FILE	8
#define STEP		0x9e3779b97f4a7c15ULL

/* What a buffer is used for; @block was the last thing that was read into it. */
struct buffer {
	uint64_t *words;
	uint32_t block;
	uint32_t lap;
	uint64_t submitted_ns;
	bool in_flight;
	bool was_read;
	struct iocb iocb;
};

struct run {
	const char *path;
	bool is_file;
	int fd;
	uint32_t nr_blocks;
	uint64_t swap_at;
	aio_context_t aio;
	struct buffer buffers[DEPTH];
	uint32_t stack[DEPTH];
	uint32_t nr_free;
	uint32_t *order;
	uint32_t lap;
	uint64_t random;
	uint64_t nr_reads;
	uint64_t nr_writes;
	uint32_t nr_wrong;
};

static void fail(const char *what)
{
	fprintf(stderr, "reread: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static uint32_t draw(struct run *run, uint32_t below)
{
	run->random = run->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (run->random >> 33) % below;
}

static void shuffle(struct run *run)
{
	uint32_t i, j, other;

	for (i = run->nr_blocks - 1; i; i--) {
		j = draw(run, i + 1);
		other = run->order[i];
		run->order[i] = run->order[j];
		run->order[j] = other;
	}
}

/* The first word names the block and the lap. */
static uint64_t name_of(uint32_t block, uint32_t lap)
{
	return (uint64_t)lap << 32 | block;
}

static void fill(uint64_t *words, uint32_t block, uint32_t lap)
{
	uint64_t value = name_of(block, lap);
	uint32_t i;

	for (i = 0; i < WORDS; i++, value += STEP)
		words[i] = value;
}

static bool has(const uint64_t *words, uint32_t block, uint32_t lap)
{
	uint64_t value = name_of(block, lap);
	uint64_t differences = 0;
	uint32_t i;

	for (i = 0; i < WORDS; i++, value += STEP)
		differences |= words[i] ^ value;
	return !differences;
}

/* Where the buffer is in physical memory, as a command names it; 0 is unknown. */
static uint64_t physical(const void *address)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY);

	if (fd < 0)
		return 0;
	if (pread(fd, &entry, sizeof(entry), (uintptr_t)address / BLOCK_BYTES * 8) != 8)
		entry = 0;
	close(fd);
	return (entry & ((1ULL << 55) - 1)) * BLOCK_BYTES;
}

static void show_buffer(const struct run *run, const char *what, const struct buffer *buffer)
{
	printf("{\"%s\": {\"buffer\": %td, \"physical\": %llu, ", what,
	       buffer - run->buffers, (unsigned long long)physical(buffer->words));
	printf("\"block\": %u, \"lap\": %u, \"in_flight\": %s, \"was_read\": %s, ",
	       buffer->block, buffer->lap, buffer->in_flight ? "true" : "false",
	       buffer->was_read ? "true" : "false");
	printf("\"submitted_ns\": %llu, \"now_ns\": %llu, \"first\": %llu, \"last\": %llu}}\n",
	       (unsigned long long)buffer->submitted_ns, (unsigned long long)now_ns(),
	       (unsigned long long)buffer->words[0],
	       (unsigned long long)buffer->words[WORDS - 1]);
}

static void read_again(const struct run *run, const struct buffer *buffer)
{
	uint64_t *words = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
	bool good;

	if (!words || pread(run->fd, words, BLOCK_BYTES, (off_t)buffer->block * BLOCK_BYTES) !=
	    BLOCK_BYTES)
		fail("reading again");
	good = has(words, buffer->block, buffer->lap);
	printf("{\"again\": {\"block\": %u, \"good\": %s, \"first\": %llu}}\n", buffer->block,
	       good ? "true" : "false", (unsigned long long)words[0]);
	free(words);
}

static void tell_wrong(struct run *run, const struct buffer *buffer, const char *what)
{
	uint32_t i;

	if (!run->nr_wrong++) {
		for (i = 0; i < DEPTH; i++)
			show_buffer(run, "buffer", &run->buffers[i]);
	}
	show_buffer(run, what, buffer);
	read_again(run, buffer);
	fflush(stdout);
}

static void check_read(struct run *run, struct buffer *buffer)
{
	uint64_t other;

	run->nr_reads++;
	/* What the tests of this test ask for: wrong data that did not come from the drive. */
	if (run->nr_reads == run->swap_at) {
		other = (buffer - run->buffers + 1) % DEPTH;
		memcpy(buffer->words, run->buffers[other].words, BLOCK_BYTES);
	}
	if (!has(buffer->words, buffer->block, buffer->lap))
		tell_wrong(run, buffer, "wrong");
	buffer->was_read = true;
}

/* Between its check and its next use nobody may write to a buffer. */
static void check_idle(struct run *run, struct buffer *buffer)
{
	if (buffer->was_read && buffer->words[0] != name_of(buffer->block, buffer->lap))
		tell_wrong(run, buffer, "overwritten");
	buffer->was_read = false;
}

static void complete_one(struct run *run)
{
	struct io_event event;
	struct buffer *buffer;
	long nr;

	do {
		nr = syscall(SYS_io_getevents, run->aio, 1, 1, &event, NULL);
	} while (nr < 0 && errno == EINTR);
	if (nr != 1)
		fail("io_getevents");
	buffer = &run->buffers[event.data];
	if (event.res != BLOCK_BYTES) {
		errno = event.res < 0 ? -event.res : EIO;
		fail("a request");
	}
	buffer->in_flight = false;
	if (buffer->iocb.aio_lio_opcode == IOCB_CMD_PREAD)
		check_read(run, buffer);
	else
		run->nr_writes++;
	run->stack[run->nr_free++] = event.data;
}

static void submit_one(struct run *run, uint16_t opcode, uint32_t block)
{
	uint32_t index = run->stack[--run->nr_free];
	struct buffer *buffer = &run->buffers[index];
	struct iocb *iocbs[1] = { &buffer->iocb };

	check_idle(run, buffer);
	buffer->block = block;
	buffer->lap = run->lap;
	if (opcode == IOCB_CMD_PWRITE)
		fill(buffer->words, block, run->lap);
	buffer->iocb = (struct iocb){
		.aio_data = index,
		.aio_lio_opcode = opcode,
		.aio_fildes = run->fd,
		.aio_buf = (uintptr_t)buffer->words,
		.aio_nbytes = BLOCK_BYTES,
		.aio_offset = (int64_t)block * BLOCK_BYTES,
	};
	buffer->in_flight = true;
	buffer->submitted_ns = now_ns();
	if (syscall(SYS_io_submit, run->aio, 1, iocbs) != 1)
		fail("io_submit");
}

static void go_over_all(struct run *run, uint16_t opcode)
{
	uint32_t i;

	for (i = 0; i < run->nr_blocks; i++) {
		if (!run->nr_free)
			complete_one(run);
		submit_one(run, opcode, run->order[i]);
	}
	while (run->nr_free < DEPTH)
		complete_one(run);
}

static void open_path(struct run *run)
{
	int flags = O_RDWR | O_DIRECT;

	if (run->is_file) {
		if (run->fd >= 0) {
			close(run->fd);
			unlink(run->path);
		}
		flags |= O_CREAT;
	}
	if (run->is_file || run->fd < 0)
		run->fd = open(run->path, flags, 0600);
	if (run->fd < 0)
		fail(run->path);
}

static void begin(struct run *run)
{
	uint64_t *area = mmap(NULL, DEPTH * BLOCK_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t i;

	run->order = calloc(run->nr_blocks, sizeof(*run->order));
	if (area == MAP_FAILED || !run->order)
		fail("memory");
	if (syscall(SYS_io_setup, DEPTH, &run->aio))
		fail("io_setup");
	for (i = 0; i < run->nr_blocks; i++)
		run->order[i] = i;
	for (i = 0; i < DEPTH; i++) {
		run->buffers[i].words = area + i * WORDS;
		memset(run->buffers[i].words, 0, BLOCK_BYTES);
		run->stack[run->nr_free++] = i;
	}
}

static void loop(struct run *run, uint64_t until_ns)
{
	uint32_t i;

	while (!run->nr_wrong && now_ns() < until_ns) {
		if (run->lap++ % LAPS_PER_FILE == 0)
			open_path(run);
		shuffle(run);
		go_over_all(run, IOCB_CMD_PWRITE);
		for (i = 0; i < READ_LAPS && !run->nr_wrong; i++)
			go_over_all(run, IOCB_CMD_PREAD);
	}
}

int main(int argc, char **argv)
{
	struct run run = { .fd = -1 };
	uint64_t seconds;

	if (argc < 6) {
		fputs("usage: reread file|device PATH MIB SECONDS SEED [SWAP_AT]\n", stderr);
		return 2;
	}
	run.is_file = !strcmp(argv[1], "file");
	run.path = argv[2];
	run.nr_blocks = strtoul(argv[3], NULL, 10) * ((1 << 20) / BLOCK_BYTES);
	seconds = strtoull(argv[4], NULL, 10);
	run.random = strtoull(argv[5], NULL, 10);
	run.swap_at = argc > 6 ? strtoull(argv[6], NULL, 10) : 0;
	if (run.nr_blocks < DEPTH) {
		fprintf(stderr, "reread: %s MiB are too few.\n", argv[3]);
		return 2;
	}
	begin(&run);
	loop(&run, now_ns() + seconds * 1000000000ULL);
	printf("{\"done\": {\"reads\": %llu, \"writes\": %llu, \"wrong\": %u}}\n",
	       (unsigned long long)run.nr_reads, (unsigned long long)run.nr_writes, run.nr_wrong);
	return run.nr_wrong ? 1 : 0;
}
