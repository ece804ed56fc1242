// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets the core start a device from an image of make_image, whatever has become of it since.
 * Prints what the device is, in the form of "dieaware dump", or "refused" and the reason.
 *
 *	open_image IMAGE
 *
 * open_sums_image is the same for those of make_sums_image.
 */
#include <kunit/test.h>

#include "../../dm-dieaware/tests/volume.h"
#include "core_text.h"

#include <fcntl.h>
#include <unistd.h>

#ifndef CHECKSUMS
#define CHECKSUMS	false
#endif

static void load(struct volume *volume, struct image *image, const char *path)
{
	int fd = open(path, O_RDONLY);
	bool ok = fd >= 0;

	for (u64 dpn = 0; ok && dpn < DISK_PAGES; dpn++) {
		int index = meta_index(&volume->super, dpn);

		ok = index < 0 ||
			pread(fd, image->meta[index].byte, DMDA_BLOCK_BYTES,
			      dpn * DMDA_BLOCK_BYTES) == DMDA_BLOCK_BYTES;
	}
	KUNIT_ASSERT_TRUE_MSG(volume->test, ok, "%s cannot be read", path);
	close(fd);
}

/* Of pages of the image, as it is; volume.data is its path. */
static int read_image_sums(struct volume *volume)
{
	struct dmda_start *start = &volume->start;
	int fd = open(volume->data, O_RDONLY);
	bool ok = fd >= 0;

	for (u32 i = 0; ok && i < start->nr_pages; i++) {
		u8 page[DMDA_BLOCK_BYTES];

		ok = pread(fd, page, sizeof(page), (from_dpn(start->dpn) + i) * sizeof(page)) ==
			sizeof(page);
		start->sums[i] = cpu_to_le32(crc32c(~0U, page, sizeof(page)));
	}
	close(fd);
	return ok ? 0 : -EIO;
}

static void open_image(struct kunit *test, const char *path)
{
	struct volume *volume = new_volume_of(test, CHECKSUMS);
	struct image *image = new_image(test);
	struct dmda_op *op = test_memory(test, sizeof(*op));
	struct dmda_journal_place next;
	const char *why;

	load(volume, image, path);
	volume->read_sums = read_image_sums;
	volume->data = (void *)path;
	why = open_volume(volume, image, op, &next);
	if (why)
		printf("refused %s\n", why);
	else
		print_volume(volume, image, next.seq);
}

int main(int argc, char **argv)
{
	struct kunit test = { 0 };

	if (argc != 2) {
		fprintf(stderr, "Usage: open_image IMAGE\n");
		return 2;
	}
	if (!setjmp(test.end))
		open_image(&test, argv[1]);
	free_memory(&test);
	return test.failed;
}
