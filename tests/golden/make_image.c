// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes an image of a device that the core has used: random writes, overwrites, trims,
 * flushes, cleaning and checkpoints. Then it starts the device from that image and prints
 * what it is, in the form of "dieaware dump".
 *
 *	make_image SEED CRASHES STEPS IMAGE [FORMATTED]
 *
 * SEED is odd: the power fails at the end, and any part of what was not flushed is in the
 * image, down to single sectors. It has failed CRASHES times before. Data is not written.
 * FORMATTED: an image that the tool has formatted, to begin with.
 *
 * make_large_image and make_sums_image are the same with other devices.
 */
#include <kunit/test.h>

/* The tool has programs of its own for those with drafts. */
#define DRAFTS	false
#include "../../dm-dieaware/tests/volume.h"
#include "core_text.h"

#include <fcntl.h>
#include <unistd.h>

#ifndef CHECKSUMS
#define CHECKSUMS	false
#endif

struct work {
	u64 random;
	u64 salt;
	u32 cuts_left;
	bool is_failing;
	struct volume *after;
	struct image *image;
	struct dmda_op op;
};

static u32 random_below(struct volume *volume, u32 limit)
{
	struct work *work = volume->data;

	work->random = work->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (work->random >> 33) % limit;
}

/* What a power failure leaves. */
static void fail_power(struct volume *volume)
{
	struct work *work = volume->data;

	copy_image(work->image, volume->stable);
	for (u32 i = 0; i < volume->nr_pending; i++) {
		u32 fate = random_below(volume, 4);
		u32 sectors = fate < 2 ? ~0U : fate == 2 ? 0 : random_below(volume, 256);

		put_pending(&volume->super, work->image, &volume->pending[i], sectors);
	}
	volume->is_dead = true;
}

static void count_down(struct volume *volume)
{
	struct work *work = volume->data;

	if (work->is_failing && !work->cuts_left--)
		fail_power(volume);
}

static void write_pages(struct volume *volume, u64 lpn, u32 nr_pages)
{
	while (nr_pages) {
		dpn_t dpn;
		u32 nr = write_data(volume, DMDA_STREAM_USER, lpn, nr_pages, 1, &dpn);

		map_data(volume, lpn, dpn, nr);
		lpn += nr;
		nr_pages -= nr;
	}
}

static void do_something(struct volume *volume)
{
	u32 nr_pages = 1 + random_below(volume, random_below(volume, 4) ? 4 : 100);
	u64 lpn = random_below(volume, volume->super.nr_lpns - nr_pages);
	u32 what = random_below(volume, 100);

	if (random_below(volume, 4))
		lpn /= 3;
	if (what < 80)
		write_pages(volume, lpn, nr_pages);
	else if (what < 88)
		trim_pages(volume, lpn, nr_pages);
	else
		commit(volume);
}

/* Moves all valid pages of the best victim. */
static void clean(struct volume *volume)
{
	const struct dmda_summary_block *summary;
	struct dmda_candidate victim;
	u64 first;

	if (!dmda_victim_candidates(&volume->segments, volume->commit.batch.next_seq,
				    DMDA_POLICY_GREEDY, &victim, 1))
		return;
	summary = read_meta(volume, volume->now, dmda_summary_dpn(&volume->super, victim.seg));
	first = from_dpn(dmda_super_segment_dpn(&volume->super, victim.seg));
	for (u32 page = 0; page < dmda_super_data_pages(&volume->super); page++) {
		struct dmda_written written;
		dpn_t to;

		if (!dmda_summary_get(summary, page, &written) ||
		    from_dpn(where_is(volume, from_lpn(written.lpn))) != first + page)
			continue;
		write_data(volume, DMDA_STREAM_MOVED, from_lpn(written.lpn), 1, 1, &to);
		map_data(volume, from_lpn(written.lpn), to, 1);
	}
}

static void work_for(struct volume *volume, u32 nr_steps)
{
	for (u32 i = 1; i <= nr_steps && !volume->is_dead; i++) {
		if (i % 40 == 0)
			begin_checkpoint(volume);
		go_on_with_checkpoint(volume, 4);
		do_something(volume);
		if (volume->segments.nr_free + volume->segments.nr_empty < 14)
			clean(volume);
	}
	if (!volume->is_dead)
		commit(volume);
}

static void restart(struct volume *volume)
{
	struct work *work = volume->data;
	struct dmda_journal_place next;
	const char *why;

	copy_image(volume->stable, work->image);
	copy_image(volume->now, work->image);
	volume->nr_pending = 0;
	volume->is_dead = false;
	work->is_failing = false;
	why = open_volume(volume, volume->stable, &work->op, &next);
	KUNIT_ASSERT_NULL_MSG(volume->test, why, "%s", why);
	resume_volume(volume, ++work->salt);
}

/* As the tool does: the second superblock, too. */
static void write_second_super(struct volume *volume)
{
	volume->super.epoch = 2;
	dmda_super_encode(&volume->super, (struct dmda_super_block *)&volume->scratch);
	disk_write(volume, dmda_super_dpn(2), &volume->scratch);
	disk_flush(volume);
}

/* The newer one of the tool's superblocks; but for its name, it is the test's own. */
static void load_super(struct volume *volume, const struct image *image)
{
	struct dmda_super expected = volume->super;
	struct dmda_super first;
	const char *why;

	why = dmda_super_decode((const void *)&image->meta[DMDA_SUPER_DPN_A],
				to_dpn(DMDA_SUPER_DPN_A), &first);
	KUNIT_ASSERT_NULL_MSG(volume->test, why, "%s", why);
	why = dmda_super_decode((const void *)&image->meta[DMDA_SUPER_DPN_B],
				to_dpn(DMDA_SUPER_DPN_B), &volume->super);
	KUNIT_ASSERT_NULL_MSG(volume->test, why, "%s", why);
	expected.epoch = 1;
	memcpy(expected.uuid, first.uuid, sizeof(expected.uuid));
	memcpy(expected.label, first.label, sizeof(expected.label));
	KUNIT_ASSERT_EQ(volume->test, memcmp(&expected, &first, sizeof(expected)), 0);
	expected.epoch = 2;
	KUNIT_ASSERT_EQ(volume->test, memcmp(&expected, &volume->super, sizeof(expected)), 0);
}

/* Begins with what the tool has formatted. */
static void load(struct volume *volume, const char *path)
{
	struct work *work = volume->data;
	int fd = open(path, O_RDONLY);
	bool ok = fd >= 0;

	/* Everything before the segments */
	for (u64 dpn = 0; ok && dpn < volume->super.area[0].segments_dpn; dpn++)
		ok = pread(fd, work->image->meta[dpn].byte, DMDA_BLOCK_BYTES,
			   dpn * DMDA_BLOCK_BYTES) == DMDA_BLOCK_BYTES;
	KUNIT_ASSERT_TRUE_MSG(volume->test, ok, "%s cannot be read", path);
	close(fd);
	load_super(volume, work->image);
	work->after->super = volume->super;
	restart(volume);
}

static void format(struct volume *volume)
{
	format_volume(volume);
	write_second_super(volume);
	((struct work *)volume->data)->after->super = volume->super;
}

static void save(struct volume *volume, const char *path)
{
	struct work *work = volume->data;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	bool ok = fd >= 0 && !ftruncate(fd, (off_t)DISK_PAGES * DMDA_BLOCK_BYTES);

	for (u64 dpn = 0; ok && dpn < DISK_PAGES; dpn++) {
		int index = meta_index(&volume->super, dpn);

		ok = index < 0 ||
			pwrite(fd, work->image->meta[index].byte, DMDA_BLOCK_BYTES,
			       dpn * DMDA_BLOCK_BYTES) == DMDA_BLOCK_BYTES;
	}
	KUNIT_ASSERT_TRUE_MSG(volume->test, ok, "%s cannot be written", path);
	close(fd);
}

static void make_image(struct kunit *test, char **args)
{
	u64 seed = strtoull(args[0], NULL, 0);
	u32 nr_steps = strtoul(args[2], NULL, 0);
	struct volume *volume = new_volume_of(test, CHECKSUMS);
	struct work *work = test_memory(test, sizeof(*work));
	struct dmda_journal_place next;
	const char *why;

	work->random = seed;
	work->after = new_volume_of(test, CHECKSUMS);
	work->image = new_image(test);
	volume->data = work;
	format(volume);
	if (args[4])
		load(volume, args[4]);
	volume->cut = count_down;
	for (long left = strtol(args[1], NULL, 0); left >= 0; left--) {
		work->is_failing = left || seed & 1;
		work->cuts_left = random_below(volume, 40 * nr_steps);
		work_for(volume, nr_steps);
		if (!volume->is_dead)
			fail_power(volume);
		if (left)
			restart(volume);
	}
	save(volume, args[3]);
	why = open_volume(work->after, work->image, &work->op, &next);
	KUNIT_ASSERT_NULL_MSG(test, why, "%s", why);
	print_volume(work->after, work->image, next.seq);
}

int main(int argc, char **argv)
{
	struct kunit test = { 0 };

	if (argc < 5 || argc > 6) {
		fprintf(stderr, "Usage: make_image SEED CRASHES STEPS IMAGE [FORMATTED]\n");
		return 2;
	}
	if (!setjmp(test.end))
		make_image(&test, &argv[1]);
	free_memory(&test);
	return test.failed;
}
