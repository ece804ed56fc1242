// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints where a block device reads as zeroes, a line "OFFSET BYTES" for each stretch of whole
 * pages: what was never written, was trimmed, or was zeroed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/**
 * struct stretch - zeroes that follow each other
 * @offset: where they begin
 * @bytes: how many there are so far
 */
struct stretch {
	uint64_t offset;
	uint64_t bytes;
};

static int is_zero(const char *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE_BYTES - 1);
}

static void end_stretch(struct stretch *stretch)
{
	if (stretch->bytes)
		printf("%llu %llu\n", (unsigned long long)stretch->offset,
		       (unsigned long long)stretch->bytes);
	stretch->bytes = 0;
}

static void add_page(struct stretch *stretch, uint64_t offset, const char *page)
{
	if (!is_zero(page)) {
		end_stretch(stretch);
		return;
	}
	if (!stretch->bytes)
		stretch->offset = offset;
	stretch->bytes += PAGE_BYTES;
}

static void scan(const char *path)
{
	int fd = open_file(path, O_RDONLY, 1);
	char *buffer = io_buffer(MIB);
	struct stretch stretch = {};
	uint64_t offset = 0;
	ssize_t got, i;

	while ((got = pread(fd, buffer, MIB, offset)) > 0) {
		for (i = 0; i + PAGE_BYTES <= got; i += PAGE_BYTES)
			add_page(&stretch, offset + i, buffer + i);
		offset += got;
	}
	if (got < 0)
		die("%s cannot be read", path);
	end_stretch(&stretch);
	close(fd);
}

static const struct option options[] = {
	{ "path", required_argument, NULL, 'p' },
	{ NULL, 0, NULL, 0 }
};

int main(int argc, char **argv)
{
	const char *path = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != 'p')
			_exit(2);
		path = optarg;
	}
	errno = 0;
	if (!path)
		die("--path is missing");
	scan(path);
	return 0;
}
