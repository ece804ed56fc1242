// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void die(const char *format, ...)
{
	int saved = errno;
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	if (saved)
		fprintf(stderr, ": %s.\n", strerror(saved));
	else
		fprintf(stderr, ".\n");
	exit(1);
}

uint64_t parse_u64(const char *name, const char *text)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno)
		die("%s '%s' is out of range", name, text);
	switch (*end) {
	case 'G':
		value <<= 10;
		/* fallthrough */
	case 'M':
		value <<= 10;
		/* fallthrough */
	case 'K':
		value <<= 10;
		end++;
	}
	if (end == text || *end)
		die("%s '%s' is not a number", name, text);
	return value;
}

size_t parse_word(const char *name, const char *text, const char * const *words, size_t nr_words)
{
	char all[256] = "";
	size_t i, used = 0;

	for (i = 0; i < nr_words; i++) {
		if (!strcmp(text, words[i]))
			return i;
		used += snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", words[i]);
	}
	errno = 0;
	die("%s '%s' is none of %s", name, text, all);
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec;
}

void *io_buffer(size_t bytes)
{
	size_t whole = (bytes + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
	void *buffer = aligned_alloc(HUGE_PAGE_BYTES, whole);

	if (!buffer)
		die("There is no memory for a buffer of %zu bytes", bytes);
	/*
	 * Scattered pages cost the kernel instructions, and how they are scattered is a
	 * matter of what ran before.
	 */
	madvise(buffer, whole, MADV_HUGEPAGE);
	/* Page faults must not fall into the measurement. */
	memset(buffer, 0, bytes);
	return buffer;
}

int open_file(const char *path, int flags, int direct)
{
	int fd = open(path, flags | (direct ? O_DIRECT : 0) | O_CLOEXEC, 0644);

	if (fd < 0)
		die("Cannot open '%s'", path);
	return fd;
}

void write_all(int fd, const void *buffer, size_t bytes, uint64_t offset)
{
	const char *data = buffer;

	while (bytes) {
		ssize_t done = pwrite(fd, data, bytes, offset);

		if (done <= 0)
			die("Writing %zu bytes at %llu failed", bytes, (unsigned long long)offset);
		data += done;
		bytes -= done;
		offset += done;
	}
}

uint64_t file_bytes(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st))
		die("The size of '%s' is unknown", path);
	return st.st_size;
}

void stream_put(struct stream *stream, uint64_t bytes)
{
	pattern_fill(stream->buffer, bytes, stream->seed, stream->offset);
	write_all(stream->fd, stream->buffer, bytes, stream->offset);
	stream->offset += bytes;
}

void stream_finish(const struct stream *stream, const char *path)
{
	if (fsync(stream->fd) || close(stream->fd))
		die("Finishing '%s' failed", path);
}

void push_out(int fd, uint64_t offset, uint64_t bytes)
{
	if (sync_file_range(fd, offset, bytes, SYNC_FILE_RANGE_WAIT_BEFORE |
			    SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER))
		die("Writing back %llu bytes at %llu failed", (unsigned long long)bytes,
		    (unsigned long long)offset);
}

void drop_page_cache(void)
{
	int fd = open_file("/proc/sys/vm/drop_caches", O_WRONLY, 0);

	if (write(fd, "1", 1) != 1)
		die("The page cache cannot be dropped");
	close(fd);
}

static uint64_t mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
	return value ^ (value >> 31);
}

uint64_t random_next(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return mix(*state);
}

static uint64_t page_start(uint64_t seed, uint64_t offset)
{
	return mix(mix(seed) + offset / PAGE_BYTES);
}

#define PAGE_WORDS	(PAGE_BYTES / sizeof(uint64_t))
#define WORD_STEP	0xd1b54a32d192ed03u

void pattern_fill(void *buffer, size_t bytes, uint64_t seed, uint64_t offset)
{
	uint64_t *word = buffer;
	size_t page, i;

	for (page = 0; page < bytes; page += PAGE_BYTES) {
		uint64_t value = page_start(seed, offset + page);

		for (i = 0; i < PAGE_WORDS; i++, value += WORD_STEP)
			*word++ = value;
	}
}

size_t pattern_check(const void *buffer, size_t bytes, uint64_t seed, uint64_t offset)
{
	const uint64_t *word = buffer;
	size_t page, i;

	for (page = 0; page < bytes; page += PAGE_BYTES) {
		uint64_t value = page_start(seed, offset + page);

		for (i = 0; i < PAGE_WORDS; i++, value += WORD_STEP)
			if (*word++ != value)
				return page;
	}
	return bytes;
}

long count_extents(int fd)
{
	struct fiemap map = { .fm_length = FIEMAP_MAX_OFFSET };

	if (ioctl(fd, FS_IOC_FIEMAP, &map))
		return -1;
	return map.fm_mapped_extents;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void print_samples(const uint64_t *samples, size_t nr_samples)
{
	size_t nr = nr_samples > 1 ? nr_samples - 1 : nr_samples;
	size_t first = 0, end = nr, i;
	uint64_t sum = 0, *sorted;

	sorted = calloc(nr, sizeof(*sorted));
	if (!sorted)
		die("There is no memory for %zu samples", nr);
	memcpy(sorted, samples + nr_samples - nr, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare_u64);
	if (nr > 3) {
		first++;
		end--;
	}
	for (i = first; i < end; i++)
		sum += sorted[i];
	free(sorted);

	printf(" trimmed_mean_ns=%llu runs_ns=", (unsigned long long)(sum / (end - first)));
	for (i = 0; i < nr_samples; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)samples[i]);
}

/* Lines " .idle_sleeptime : N nsecs" and " .iowait_sleeptime: N nsecs" */
static int timers_idle(const char *line, uint64_t *idle)
{
	unsigned long long value;

	if (sscanf(line, " .idle_sleeptime : %llu", &value) != 1 &&
	    sscanf(line, " .iowait_sleeptime: %llu", &value) != 1)
		return 0;
	*idle = value;
	return 1;
}

/* Of lines "cpuN", the seventh number is for how long tasks have run. */
static int tasks_idle(const char *line, uint64_t *idle)
{
	unsigned long long ran;

	if (sscanf(line, "cpu%*u %*u %*u %*u %*u %*u %*u %llu", &ran) != 1)
		return 0;
	*idle = now_ns() - ran;
	return 1;
}

/* The sum over all lines that say something; how many do is returned. */
static int sum_of_lines(const char *path, int (*says)(const char *line, uint64_t *value),
			uint64_t *sum)
{
	FILE *file = fopen(path, "r");
	uint64_t value;
	char line[256];
	int found = 0;

	if (!file)
		die("Cannot open %s", path);
	while (fgets(line, sizeof(line), file)) {
		if (says(line, &value)) {
			*sum += value;
			found++;
		}
	}
	fclose(file);
	errno = 0;
	return found;
}

/* Since Linux 7.2 at the latest the timers do not say so any more. */
uint64_t idle_ns(void)
{
	uint64_t sum = 0;

	if (!sum_of_lines("/proc/timer_list", timers_idle, &sum) &&
	    !sum_of_lines("/proc/schedstat", tasks_idle, &sum))
		die("The kernel does not say how long its CPUs were idle");
	return sum;
}

/* How long a task has run is known when another one follows; so it may seem to be too long. */
uint64_t idle_since_ns(uint64_t before)
{
	uint64_t idle = idle_ns();

	return idle > before ? idle - before : 0;
}

void print_list(const char *name, const uint64_t *values, size_t nr)
{
	size_t i;

	printf(" %s=", name);
	for (i = 0; i < nr; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)values[i]);
}
