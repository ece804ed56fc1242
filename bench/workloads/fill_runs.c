// SPDX-License-Identifier: GPL-2.0-only
/*
 * Puts runs into the table of a hint target, as if files had been written: a message "runs add"
 * after the other, by the ioctl of device-mapper itself. dmsetup would be started a thousand
 * times for as many runs.
 *
 * Of the files, either each has a random number of fragments of random sizes, until the target
 * forgets the first run for its memory; or two grow in turn by fragments of one size, so that no
 * two neighbours can be merged, until the given number of pages is covered.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/dm-ioctl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util.h"

#define CONTROL			"/dev/mapper/control"
#define BUFFER_BYTES		(256 * KIB)
#define MAX_RUNS		2048
/* Powers of two that the number of a file's fragments, and the pages of one, stay below */
#define FRAGMENTS_LOG2		11
#define PAGES_LOG2		9
#define FIRST_INODE		100
/* More than fit into any table that is not far larger than the default */
#define MOST_FILES		100000

/**
 * struct job - what to do
 * @target: name of the device-mapper device
 * @first_page: the first page on it that belongs to a file
 * @pages: two files take that many; 0: files of all sizes
 * @fragment_pages: of each fragment of the two
 */
struct job {
	const char *target;
	uint64_t first_page;
	uint64_t pages;
	uint64_t fragment_pages;
};

/**
 * struct message - one that is being made, and what it is answered
 * @fd: device-mapper's control device
 * @target: name of the device
 * @io: header and text, BUFFER_BYTES
 * @length: of the text so far
 */
struct message {
	int fd;
	const char *target;
	struct dm_ioctl *io;
	size_t length;
};

static struct dm_target_msg *payload(const struct message *message)
{
	return (struct dm_target_msg *)(message->io + 1);
}

static void __attribute__((format(printf, 2, 3)))
add_words(struct message *message, const char *format, ...)
{
	size_t room = BUFFER_BYTES - sizeof(*message->io) - sizeof(struct dm_target_msg);
	va_list args;

	va_start(args, format);
	message->length += vsnprintf(payload(message)->message + message->length,
				     room - message->length, format, args);
	va_end(args);
	if (message->length >= room)
		die("A message became too long");
}

static void begin(struct message *message)
{
	struct dm_ioctl *io = message->io;

	memset(io, 0, sizeof(*io) + sizeof(struct dm_target_msg));
	io->version[0] = DM_VERSION_MAJOR;
	io->data_size = BUFFER_BYTES;
	io->data_start = sizeof(*io);
	snprintf(io->name, sizeof(io->name), "%s", message->target);
	message->length = 0;
}

static void begin_file(struct message *message, uint64_t inode)
{
	begin(message);
	add_words(message, "runs add 259:0 %llu 0", (unsigned long long)inode);
}

static void add_run(struct message *message, uint64_t fpage, uint64_t dpn, uint64_t pages)
{
	add_words(message, " %llu %llu %llu", (unsigned long long)fpage,
		  (unsigned long long)dpn, (unsigned long long)pages);
}

static void send(struct message *message)
{
	if (ioctl(message->fd, DM_TARGET_MSG, message->io))
		die("The target '%s' refused a message", message->target);
}

static uint64_t nr_evicted(struct message *message)
{
	const char *answer, *word;

	begin(message);
	add_words(message, "runs stats");
	send(message);
	answer = (const char *)message->io + message->io->data_start;
	word = strstr(answer, " evicted=");
	if (!(message->io->flags & DM_DATA_OUT_FLAG) || !word)
		die("The target '%s' does not say what it evicted", message->target);
	return strtoull(word + strlen(" evicted="), NULL, 10);
}

/* From 1 to 2^log2 - 1; each power of two is as likely as the other */
static uint64_t random_size(uint64_t *state, unsigned int log2)
{
	uint64_t power = random_next(state) % log2;

	return (1ull << power) + random_next(state) % (1ull << power);
}

static void all_sizes(struct message *message, uint64_t dpn)
{
	uint64_t state = 1, inode = FIRST_INODE, total = 0;

	while (!nr_evicted(message)) {
		uint64_t nr = random_size(&state, FRAGMENTS_LOG2), fpage = 0, i;

		if (inode - FIRST_INODE == MOST_FILES)
			die("The run table did not become full");
		begin_file(message, inode++);
		for (i = 0; i < nr; i++) {
			uint64_t pages = random_size(&state, PAGES_LOG2);

			add_run(message, fpage, dpn, pages);
			fpage += pages;
			/* A page between two, so that none can be merged */
			dpn += pages + 1;
		}
		send(message);
		total += nr;
	}
	printf("%llu runs of %llu files\n", (unsigned long long)total,
	       (unsigned long long)(inode - FIRST_INODE));
}

static void two_in_turn(struct message *message, const struct job *job)
{
	uint64_t nr = job->pages / job->fragment_pages / 2, done, i, file, len;

	for (done = 0; done < nr; done += len) {
		len = nr - done < MAX_RUNS ? nr - done : MAX_RUNS;
		for (file = 0; file < 2; file++) {
			begin_file(message, FIRST_INODE + file);
			for (i = done; i < done + len; i++)
				add_run(message, i * job->fragment_pages,
					job->first_page + (2 * i + file) * job->fragment_pages,
					job->fragment_pages);
			send(message);
		}
	}
	printf("%llu runs of 2 files\n", (unsigned long long)(2 * nr));
}

static const struct option options[] = {
	{ "target", required_argument, NULL, 't' },
	{ "first-page", required_argument, NULL, 'f' },
	{ "pages", required_argument, NULL, 'p' },
	{ "fragment-pages", required_argument, NULL, 'F' },
	{ NULL, 0, NULL, 0 }
};

static void parse_option(struct job *job, int option)
{
	switch (option) {
	case 't':
		job->target = optarg;
		break;
	case 'f':
		job->first_page = parse_u64("--first-page", optarg);
		break;
	case 'p':
		job->pages = parse_u64("--pages", optarg);
		break;
	case 'F':
		job->fragment_pages = parse_u64("--fragment-pages", optarg);
		break;
	default:
		_exit(2);
	}
}

int main(int argc, char **argv)
{
	struct job job = { .fragment_pages = 256 };
	struct message message = {};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		parse_option(&job, option);
	errno = 0;
	if (!job.target || !job.fragment_pages)
		die("--target or the pages of a fragment are missing");
	message.target = job.target;
	message.fd = open_file(CONTROL, O_RDWR, 0);
	message.io = io_buffer(BUFFER_BYTES);
	if (job.pages)
		two_in_turn(&message, &job);
	else
		all_sizes(&message, job.first_page);
	close(message.fd);
	return 0;
}
