// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "disk.h"
#include "util.h"

/* Which pages are not zeroes, as an image is at first: all but the file's holes. */
static void find_data(struct disk *disk, int fd)
{
	off_t begin = 0, end;

	while ((begin = lseek(fd, begin, SEEK_DATA)) >= 0) {
		end = lseek(fd, begin, SEEK_HOLE);
		for (; begin < end; begin += STAMP_PAGE_BYTES)
			disk->is_changed[begin / STAMP_PAGE_BYTES] = true;
	}
}

void disk_open(struct disk *disk, const char *file, const struct events *events)
{
	int fd = open(file, O_RDONLY);
	off_t bytes = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (bytes < STAMP_PAGE_BYTES)
		give_up("%s: %s", file, fd < 0 ? strerror(errno) : "is too small for a disk");
	memset(disk, 0, sizeof(*disk));
	disk->nr_pages = bytes / STAMP_PAGE_BYTES;
	disk->bytes = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_POPULATE,
			   fd, 0);
	if (disk->bytes == MAP_FAILED)
		give_up("%s: %s", file, strerror(errno));
	disk->events = events;
	disk->atom_sectors = 1;
	disk->discarded = 0xdb;
	disk->stamp = must(calloc(disk->nr_pages, sizeof(*disk->stamp)));
	disk->is_changed = must(calloc(disk->nr_pages, sizeof(*disk->is_changed)));
	find_data(disk, fd);
	close(fd);
	disk->last = must(calloc(disk->nr_pages * DISK_SECTORS, sizeof(*disk->last)));
	disk->saved_in = must(calloc(disk->nr_pages, sizeof(*disk->saved_in)));
	disk->pending = must(calloc(events->nr_bios + 1, sizeof(*disk->pending)));
	disk->nr_done = must(calloc(events->nr_bios + 1, sizeof(*disk->nr_done)));
	disk->done = must(calloc(events->nr_bios + 1, sizeof(*disk->done)));
	disk->is_durable = must(calloc(events->nr_bios + 1, sizeof(*disk->is_durable)));
}

static void put_sector(struct disk *disk, const struct bio *bio, u32 i)
{
	u64 sector = bio->sector + i;
	u8 *to = disk->bytes + sector * STAMP_SECTOR_BYTES;

	if (bio->is_discard)
		memset(to, disk->discarded, STAMP_SECTOR_BYTES);
	else if (bio->data)
		memcpy(to, bio->data + i * STAMP_SECTOR_BYTES, STAMP_SECTOR_BYTES);
	disk->stamp[sector / DISK_SECTORS].kind = STAMP_UNKNOWN;
	disk->is_changed[sector / DISK_SECTORS] = true;
}

static void check_range(const struct disk *disk, const struct bio *bio)
{
	if (bio->sector + bio->nr_sectors > disk->nr_pages * DISK_SECTORS)
		give_up("A write goes behind the end of the disk");
}

static void make_durable(struct disk *disk, u64 index)
{
	const struct bio *bio = &disk->events->bio[index];
	u64 kept = 0;

	if (disk->is_durable[index])
		return;
	disk->is_durable[index] = true;
	for (u32 i = 0; i < bio->nr_sectors; i++) {
		u64 *last = &disk->last[bio->sector + i];

		if (*last > index + 1)
			continue;
		*last = index + 1;
		put_sector(disk, bio, i);
	}
	for (u64 i = 0; i < disk->nr_pending; i++) {
		if (disk->pending[i] != index)
			disk->pending[kept++] = disk->pending[i];
	}
	disk->nr_pending = kept;
}

static void queue_bio(struct disk *disk, u64 index)
{
	const struct bio *bio = &disk->events->bio[index];

	if (bio->is_flush)
		disk->nr_done[index] = disk->nr_all_done;
	if (!bio->nr_sectors)
		return;
	check_range(disk, bio);
	disk->pending[disk->nr_pending++] = index;
}

static void end_bio(struct disk *disk, u64 index)
{
	const struct bio *bio = &disk->events->bio[index];

	if (!bio->is_good)
		return;
	if (bio->is_flush) {
		while (!disk->ignores_flush && disk->nr_flushed < disk->nr_done[index])
			make_durable(disk, disk->done[disk->nr_flushed++]);
	} else if (bio->is_fua && !disk->ignores_fua) {
		make_durable(disk, index);
	} else {
		disk->done[disk->nr_all_done++] = index;
	}
}

void disk_happen(struct disk *disk, const struct event *event)
{
	if (event->kind == EVENT_QUEUE)
		queue_bio(disk, event->index);
	else if (event->kind == EVENT_DONE)
		end_bio(disk, event->index);
}

static void save_page(struct disk *disk, u64 dpn)
{
	struct saved_page *saved;

	if (disk->saved_in[dpn] == disk->nr_failures)
		return;
	disk->saved_in[dpn] = disk->nr_failures;
	if (disk->nr_saved == disk->nr_room) {
		disk->nr_room = 2 * disk->nr_room + 64;
		disk->saved = must(realloc(disk->saved, disk->nr_room * sizeof(*disk->saved)));
	}
	saved = &disk->saved[disk->nr_saved++];
	saved->dpn = dpn;
	saved->stamp = disk->stamp[dpn];
	memcpy(saved->bytes, disk_page(disk, dpn), STAMP_PAGE_BYTES);
}

static void put_part(struct disk *disk, u64 index, u32 percent, u64 *random)
{
	const struct bio *bio = &disk->events->bio[index];

	bool stays = true;

	for (u32 i = 0; i < bio->nr_sectors; i++) {
		u64 sector = bio->sector + i;

		if (percent < 100 && i % disk->atom_sectors == 0)
			stays = draw(random, 100) < percent;
		if (!stays || disk->last[sector] > index + 1)
			continue;
		save_page(disk, sector / DISK_SECTORS);
		put_sector(disk, bio, i);
	}
}

/* Return: percent of a write's sectors that stay. */
static u32 share_that_stays(enum loss loss, bool is_last, u32 mood, u64 *random)
{
	switch (loss) {
	case LOSS_NONE:
		return 100;
	case LOSS_LAST:
		return is_last ? draw(random, 100) : 100;
	case LOSS_SOME:
		/* Most writes are there or not; some are torn. */
		if (!draw(random, 4))
			return draw(random, 100);
		return draw(random, 100) < mood ? 100 : 0;
	default:
		return 0;
	}
}

void disk_fail(struct disk *disk, enum loss loss, u64 random)
{
	u32 mood = 10 + draw(&random, 81);

	disk->nr_failures++;
	disk->nr_saved = 0;
	for (u64 i = 0; i < disk->nr_pending; i++) {
		bool is_last = i + 1 == disk->nr_pending;
		u32 percent = share_that_stays(loss, is_last, mood, &random);

		if (percent)
			put_part(disk, disk->pending[i], percent, &random);
	}
}

void disk_undo(struct disk *disk)
{
	for (u64 i = 0; i < disk->nr_saved; i++) {
		const struct saved_page *saved = &disk->saved[i];

		memcpy(disk->bytes + saved->dpn * STAMP_PAGE_BYTES, saved->bytes,
		       STAMP_PAGE_BYTES);
		disk->stamp[saved->dpn] = saved->stamp;
		disk->is_changed[saved->dpn] = true;
	}
	disk->nr_saved = 0;
}
