// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a phone, and days of its use: the scenario of the janusd paper (ATC'17, section
 * 5.1) in small. Six applications, which are updated every ten days. What they do between was
 * traced there; here it is drawn:
 *
 *	6 of 10		grow one of their files by 4 to 32 KiB, and sync it; it begins anew at 4 MiB
 *	2 of 10		write a page of one of their files again, and sync it
 *	2 of 10		put one of their cached files in the place of another
 *
 * and each day a picture of 1 MiB comes, and the oldest one goes.
 *
 *	--make		all of the files, so many that the filesystem is filled to --fill percent
 *	--days N	use them for so many days, the first of which is --first-day
 *	--read		the applications and their files, from front to back with O_DIRECT
 *
 * The same seed makes the same days.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "util.h"

#define NR_APPS		6
#define NR_DATA		4
#define NR_CACHED	96
#define PACKAGE_BYTES	(8 * MIB)
#define FIRST_BYTES	(512 * KIB)
#define MOST_BYTES	(4 * MIB)
#define PICTURE_BYTES	MIB
#define DOWNLOAD_BYTES	(64 * KIB)
#define READ_BYTES	(512 * KIB)
#define DAYS_OF_UPDATE	10
#define WORK_OF_DAY	120
#define WORK_OF_SYNC	20

/**
 * struct phone - whose files they are
 * @folder: where they are; the program works in it
 * @fill_percent: how full the filesystem is made
 * @first_day: number of the first day of use
 * @nr_days: days of use
 * @seed: of all that is drawn
 * @random: state of the generator of a day
 * @buffer: READ_BYTES
 */
struct phone {
	const char *folder;
	uint64_t fill_percent;
	uint64_t first_day;
	uint64_t nr_days;
	uint64_t seed;
	uint64_t random;
	void *buffer;
};

static uint32_t draw(struct phone *phone, uint32_t nr)
{
	return random_next(&phone->random) % nr;
}

static void sync_file(int fd, const char *name)
{
	if (fsync(fd))
		die("'%s' could not be synced", name);
}

static void put(struct phone *phone, int fd, uint64_t bytes, uint64_t offset)
{
	pattern_fill(phone->buffer, bytes, phone->seed, offset);
	write_all(fd, phone->buffer, bytes, offset);
}

/* Written by DOWNLOAD_BYTES, which the page cache brings together as it does for everybody. */
static void make_file(struct phone *phone, const char *name, uint64_t bytes)
{
	int fd = open_file(name, O_WRONLY | O_CREAT | O_TRUNC, 0);
	uint64_t offset, piece;

	for (offset = 0; offset < bytes; offset += piece) {
		piece = bytes - offset < DOWNLOAD_BYTES ? bytes - offset : DOWNLOAD_BYTES;
		put(phone, fd, piece, offset);
	}
	close(fd);
}

static void name_data(char *name, size_t bytes, uint32_t app, uint32_t data)
{
	snprintf(name, bytes, "data.%u.%u", app, data);
}

static void name_package(char *name, size_t bytes, uint32_t app)
{
	snprintf(name, bytes, "package.%u", app);
}

static void name_picture(char *name, size_t bytes, uint64_t nr)
{
	snprintf(name, bytes, "picture.%llu", (unsigned long long)nr);
}

static void make_applications(struct phone *phone)
{
	char name[32];

	for (uint32_t app = 0; app < NR_APPS; app++) {
		name_package(name, sizeof(name), app);
		make_file(phone, name, PACKAGE_BYTES);
		for (uint32_t data = 0; data < NR_DATA; data++) {
			name_data(name, sizeof(name), app, data);
			make_file(phone, name, FIRST_BYTES);
		}
	}
}

static unsigned int percent_used(void)
{
	struct statvfs fs;

	sync();
	if (statvfs(".", &fs))
		die("The filesystem does not say how full it is");
	return 100 - 100 * fs.f_bfree / fs.f_blocks;
}

static void make(struct phone *phone)
{
	uint64_t nr = 0;
	char name[32];

	make_applications(phone);
	while (percent_used() < phone->fill_percent) {
		name_picture(name, sizeof(name), nr++);
		make_file(phone, name, PICTURE_BYTES);
	}
	printf("bench: pictures=%llu percent=%u\n", (unsigned long long)nr, percent_used());
}

static uint64_t count_pictures(void)
{
	uint64_t nr = 0;
	char name[32];

	do
		name_picture(name, sizeof(name), nr++);
	while (!access(name, F_OK));
	return nr - 1;
}

/* Each day another one is the oldest, whose name the new one takes. */
static void take_picture(struct phone *phone, uint64_t day)
{
	uint64_t nr = count_pictures();
	char name[32];

	if (!nr)
		return;
	name_picture(name, sizeof(name), day % nr);
	if (unlink(name))
		die("'%s' could not be removed", name);
	make_file(phone, name, PICTURE_BYTES);
}

static void work_on_data(struct phone *phone, bool grows)
{
	uint64_t bytes = PAGE_BYTES, offset, size;
	char name[32];
	int fd;

	name_data(name, sizeof(name), draw(phone, NR_APPS), draw(phone, NR_DATA));
	fd = open_file(name, O_WRONLY, 0);
	size = file_bytes(fd, name);
	if (size >= MOST_BYTES && ftruncate(fd, 0))
		die("'%s' could not be cut", name);
	size = size >= MOST_BYTES ? 0 : size;
	if (grows || !size) {
		bytes *= 1 + draw(phone, 8);
		offset = size;
	} else {
		offset = (uint64_t)draw(phone, size / PAGE_BYTES) * PAGE_BYTES;
	}
	put(phone, fd, bytes, offset);
	sync_file(fd, name);
	close(fd);
}

static void cache_a_file(struct phone *phone)
{
	char name[32];

	snprintf(name, sizeof(name), "cached.%u", draw(phone, NR_CACHED));
	if (unlink(name) && errno != ENOENT)
		die("'%s' could not be removed", name);
	make_file(phone, name, PAGE_BYTES * (1 + draw(phone, 64)));
}

/* All packages come at the same time, a piece of each in turn, as downloads do. */
static void update_applications(struct phone *phone)
{
	int fd[NR_APPS];
	char name[32];

	for (uint32_t app = 0; app < NR_APPS; app++) {
		snprintf(name, sizeof(name), "new.%u", app);
		fd[app] = open_file(name, O_WRONLY | O_CREAT | O_TRUNC, 0);
	}
	for (uint64_t at = 0; at < PACKAGE_BYTES; at += DOWNLOAD_BYTES) {
		for (uint32_t app = 0; app < NR_APPS; app++) {
			put(phone, fd[app], DOWNLOAD_BYTES, at);
			sync_file(fd[app], "new");
		}
	}
	for (uint32_t app = 0; app < NR_APPS; app++) {
		char package[32];

		close(fd[app]);
		snprintf(name, sizeof(name), "new.%u", app);
		name_package(package, sizeof(package), app);
		if (rename(name, package))
			die("'%s' could not be renamed", name);
	}
}

static void use_a_day(struct phone *phone, uint64_t day)
{
	phone->random = phone->seed + day;
	for (uint32_t i = 0; i < WORK_OF_DAY; i++) {
		uint32_t what = draw(phone, 10);

		if (what < 8)
			work_on_data(phone, what < 6);
		else
			cache_a_file(phone);
		if (i % WORK_OF_SYNC == WORK_OF_SYNC - 1)
			sync();
	}
	take_picture(phone, day);
	if (day % DAYS_OF_UPDATE == DAYS_OF_UPDATE - 1)
		update_applications(phone);
	sync();
}

static void read_a_file(struct phone *phone, const char *name, uint64_t *bytes, uint64_t *ns,
			long *extents)
{
	int fd = open_file(name, O_RDONLY, 1);
	uint64_t begin = now_ns(), offset = 0;
	ssize_t got;

	while ((got = pread(fd, phone->buffer, READ_BYTES, offset)) > 0)
		offset += got;
	if (got < 0)
		die("'%s' could not be read", name);
	*ns += now_ns() - begin;
	*bytes += offset;
	*extents += count_extents(fd);
	close(fd);
}

static void read_all(struct phone *phone)
{
	uint64_t bytes = 0, ns = 0;
	long extents = 0;
	char name[32];

	for (uint32_t app = 0; app < NR_APPS; app++) {
		name_package(name, sizeof(name), app);
		read_a_file(phone, name, &bytes, &ns, &extents);
		for (uint32_t data = 0; data < NR_DATA; data++) {
			name_data(name, sizeof(name), app, data);
			read_a_file(phone, name, &bytes, &ns, &extents);
		}
	}
	printf("bench: bytes=%llu extents=%ld runs_ns=%llu\n", (unsigned long long)bytes, extents,
	       (unsigned long long)ns);
}

static const struct option options[] = {
	{ "folder", required_argument, NULL, 'f' },
	{ "make", no_argument, NULL, 'm' },
	{ "read", no_argument, NULL, 'r' },
	{ "fill", required_argument, NULL, 'p' },
	{ "first-day", required_argument, NULL, 'd' },
	{ "days", required_argument, NULL, 'n' },
	{ "seed", required_argument, NULL, 'S' },
	{ NULL, 0, NULL, 0 }
};

int main(int argc, char **argv)
{
	struct phone phone = { .fill_percent = 83, .seed = 1 };
	int option, makes = 0, reads = 0;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'f':
			phone.folder = optarg;
			break;
		case 'm':
			makes = 1;
			break;
		case 'r':
			reads = 1;
			break;
		case 'p':
			phone.fill_percent = parse_u64("--fill", optarg);
			break;
		case 'd':
			phone.first_day = parse_u64("--first-day", optarg);
			break;
		case 'n':
			phone.nr_days = parse_u64("--days", optarg);
			break;
		case 'S':
			phone.seed = parse_u64("--seed", optarg);
			break;
		default:
			return 2;
		}
	}
	errno = 0;
	if (!phone.folder)
		die("--folder is missing");
	if (chdir(phone.folder))
		die("There is no folder '%s'", phone.folder);
	phone.buffer = io_buffer(READ_BYTES);
	if (makes)
		make(&phone);
	for (uint64_t day = 0; day < phone.nr_days; day++)
		use_a_day(&phone, phone.first_day + day);
	if (reads)
		read_all(&phone);
	return 0;
}
