/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every workload program needs: errors, time, buffers that O_DIRECT
 * accepts, and a data pattern that can be checked afterwards.
 */
#ifndef BENCH_UTIL_H
#define BENCH_UTIL_H

#include <stddef.h>
#include <stdint.h>

#define PAGE_BYTES	4096u
#define HUGE_PAGE_BYTES	((size_t)2 << 20)
#define KIB		1024u
#define MIB		(1024u * KIB)

/**
 * die() - say what went wrong as a sentence and exit with status 1
 * @format: printf format; ": <strerror>" follows when errno is set
 */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/**
 * parse_u64() - a number, with an optional suffix K, M or G (powers of 1024)
 * @name: what the number is, for the error
 * @text: what the user wrote
 */
uint64_t parse_u64(const char *name, const char *text);

/**
 * parse_word() - one of some words
 * @name: what the word is for, for the error
 * @text: what the user wrote
 *
 * Return: which of @words it is.
 */
size_t parse_word(const char *name, const char *text, const char * const *words, size_t nr_words);

/**
 * now_ns() - monotonic time
 */
uint64_t now_ns(void);

/**
 * io_buffer() - page-aligned memory that was touched once; lives until exit
 */
void *io_buffer(size_t bytes);

/**
 * open_file() - open or create a file, or exit
 * @direct: with O_DIRECT
 */
int open_file(const char *path, int flags, int direct);

/**
 * write_all() - write at an offset, or exit; short writes are continued
 */
void write_all(int fd, const void *buffer, size_t bytes, uint64_t offset);

/**
 * file_bytes() - size of an open file, or exit
 */
uint64_t file_bytes(int fd, const char *path);

/**
 * struct stream - a file being written from front to back
 * @fd: open file
 * @offset: where the next write goes
 * @seed: of its data
 * @buffer: has room for the largest write
 */
struct stream {
	int fd;
	uint64_t offset;
	uint64_t seed;
	void *buffer;
};

/**
 * stream_put() - write the next bytes of pattern_fill()
 */
void stream_put(struct stream *stream, uint64_t bytes);

/**
 * stream_finish() - sync and close the file, or exit
 */
void stream_finish(const struct stream *stream, const char *path);

/**
 * push_out() - send one written range of the page cache to the device and wait
 */
void push_out(int fd, uint64_t offset, uint64_t bytes);

/**
 * drop_page_cache() - forget clean page-cache pages of the whole machine
 */
void drop_page_cache(void);

/**
 * pattern_fill() - data that differs from page to page, file to file and time to time
 * @seed: names the file and the generation of its data
 * @offset: where in the file the buffer belongs, a multiple of PAGE_BYTES
 */
void pattern_fill(void *buffer, size_t bytes, uint64_t seed, uint64_t offset);

/**
 * pattern_check() - is this what pattern_fill() made?
 *
 * Return: offset of the first wrong page in the buffer, or @bytes.
 */
size_t pattern_check(const void *buffer, size_t bytes, uint64_t seed, uint64_t offset);

/**
 * random_next() - splitmix64; the same numbers everywhere for the same state
 */
uint64_t random_next(uint64_t *state);

/**
 * count_extents() - extents that the filesystem reports for a file
 *
 * Return: the number, or -1 where the filesystem cannot say.
 */
long count_extents(int fd);

/**
 * print_samples() - print " trimmed_mean_ns=... runs_ns=a,b,c"
 * @samples: in the order taken; the first is left out of the mean, for it paid for cold
 *	metadata, and so are the fastest and the slowest of the rest when there are
 *	more than three
 */
void print_samples(const uint64_t *samples, size_t nr_samples);

/**
 * idle_ns() - how long the CPUs have been idle since boot, waiting for I/O or not
 */
uint64_t idle_ns(void);

/* The same since it was @before. */
uint64_t idle_since_ns(uint64_t before);

/**
 * print_list() - print " NAME=a,b,c"
 * @values: of each sample, say the instructions, where one takes a nanosecond
 */
void print_list(const char *name, const uint64_t *values, size_t nr);

#endif /* BENCH_UTIL_H */
