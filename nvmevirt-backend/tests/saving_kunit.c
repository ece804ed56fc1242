// SPDX-License-Identifier: GPL-2.0-only
/*
 * A drive is written to its file again and again, and the machine stops behind every step
 * of that: what the disk has is the drive of this time, or of the time before, and which of
 * both it says itself. What was not synced is on the disk, or not, or half of the last block
 * is: the steps of a real disk are no smaller than that, and it may do them in any order.
 */
#include <kunit/test.h>

#include "../core/image.c"
#include "../core/image-write.c"

#define NR_LPNS		(FTL_IMAGE_PART_SUMS + 3)
#define AREA_BYTES	(FTL_IMAGE_PART_BYTES + 100)
#define NR_BLOCKS	(FTL_IMAGE_HEADS + 2 * (2 + 2 + NR_LPNS))
#define CHUNK_BLOCKS	64
#define NR_CHUNKS	DIV_ROUND_UP(NR_BLOCKS, CHUNK_BLOCKS)
#define MAX_UNSYNCED	64
#define NR_TIMES	3

/**
 * enum loss - what becomes of that which was not synced
 * @LOSS_ALL: none of it is on the disk
 * @LOSS_NONE: all of it is
 * @LOSS_TORN: all of it, of the last block the first half
 * @LOSS_SOME: some of it, drawn, and some of that torn
 * @NR_LOSSES: so many of them
 */
enum loss {
	LOSS_ALL,
	LOSS_NONE,
	LOSS_TORN,
	LOSS_SOME,
	NR_LOSSES,
};

/**
 * struct disk - a disk, in pieces that can be allocated everywhere
 * @chunk: CHUNK_BLOCKS blocks each
 */
struct disk {
	u8 *chunk[NR_CHUNKS];
};

/**
 * struct bench - a drive, and the disk that has its file
 * @image: the file
 * @time: the drive's: what its area and pages have follows from that
 * @page: memory of a page
 * @block: memory of a block
 * @area: its area
 * @other_area: that of another time
 * @disk: what is on the disk
 * @found: what a disk is found with
 * @unsynced: steps since the last sync
 * @data: blocks of those that are writes
 * @nr_unsynced: how many
 * @random: state
 */
struct bench {
	struct ftl_image image;
	u64 time;
	u8 page[FTL_IMAGE_BLOCK_BYTES];
	u8 block[FTL_IMAGE_BLOCK_BYTES];
	u8 area[AREA_BYTES];
	u8 other_area[AREA_BYTES];
	struct disk disk;
	struct disk found;
	struct ftl_saving_step unsynced[MAX_UNSYNCED];
	u8 *data[MAX_UNSYNCED];
	u32 nr_unsynced;
	u64 random;
};

static u8 *block_at(const struct disk *disk, u64 number)
{
	return disk->chunk[number / CHUNK_BLOCKS] +
		number % CHUNK_BLOCKS * FTL_IMAGE_BLOCK_BYTES;
}

static u32 draw(struct bench *bench, u32 below)
{
	bench->random = bench->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(bench->random >> 33) % below;
}

/* Few pages have data, other ones at other times, and those around a block of checksums. */
static bool has_data(u64 time, u64 lpn)
{
	return lpn % 101 == time % 101 || lpn == 0 || lpn >= NR_LPNS - 4;
}

static u8 marks_at(u64 time, u64 lpn)
{
	return time * 37 + lpn * 5;
}

static void make_area(u8 *area, u64 time)
{
	for (u32 i = 0; i < AREA_BYTES; i++)
		area[i] = i * 3 + time;
}

static const void *page_of(void *context, u64 lpn, u8 *marks)
{
	struct bench *bench = context;

	*marks = marks_at(bench->time, lpn);
	memset(bench->page, bench->time * 16 + lpn % 13, sizeof(bench->page));
	return has_data(bench->time, lpn) ? bench->page : NULL;
}

static void make_disk(struct kunit *test, struct disk *disk)
{
	for (u32 i = 0; i < NR_CHUNKS; i++) {
		disk->chunk[i] = kunit_kcalloc(test, CHUNK_BLOCKS, FTL_IMAGE_BLOCK_BYTES,
					       GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, disk->chunk[i]);
	}
}

static struct bench *make_bench(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bench);
	make_disk(test, &bench->disk);
	make_disk(test, &bench->found);
	for (u32 i = 0; i < MAX_UNSYNCED; i++) {
		bench->data[i] = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, bench->data[i]);
	}
	bench->image.area_bytes = AREA_BYTES;
	bench->image.nr_lpns = NR_LPNS;
	bench->random = 1;
	return bench;
}

static void apply(struct bench *bench, struct disk *disk, u32 nr, u32 bytes)
{
	const struct ftl_saving_step *step = &bench->unsynced[nr];

	if (step->action == FTL_SAVING_WRITE)
		memcpy(block_at(disk, step->first), bench->data[nr], bytes);
	for (u64 i = 0; step->action == FTL_SAVING_FREE && bytes && i < step->nr; i++)
		memset(block_at(disk, step->first + i), 0, FTL_IMAGE_BLOCK_BYTES);
}

/* The machine stops: @found becomes what the disk may have. */
static void stop(struct bench *bench, enum loss loss)
{
	const u32 whole = FTL_IMAGE_BLOCK_BYTES;

	for (u32 i = 0; i < NR_CHUNKS; i++)
		memcpy(bench->found.chunk[i], bench->disk.chunk[i],
		       CHUNK_BLOCKS * FTL_IMAGE_BLOCK_BYTES);
	for (u32 i = 0; i < bench->nr_unsynced; i++) {
		if (loss == LOSS_NONE || (loss == LOSS_TORN && i + 1 < bench->nr_unsynced))
			apply(bench, &bench->found, i, whole);
		else if (loss == LOSS_TORN)
			apply(bench, &bench->found, i, whole / 2);
		else if (loss == LOSS_SOME && draw(bench, 2))
			apply(bench, &bench->found, i, draw(bench, 4) ? whole : draw(bench, whole));
	}
}

static void sync_disk(struct bench *bench)
{
	for (u32 i = 0; i < bench->nr_unsynced; i++)
		apply(bench, &bench->disk, i, FTL_IMAGE_BLOCK_BYTES);
	bench->nr_unsynced = 0;
}

static void do_step(struct kunit *test, struct bench *bench, const struct ftl_saving_step *step)
{
	if (step->action == FTL_SAVING_SYNC) {
		sync_disk(bench);
		return;
	}
	KUNIT_ASSERT_LT(test, bench->nr_unsynced, (u32)MAX_UNSYNCED);
	KUNIT_ASSERT_LE(test, step->first + step->nr, (u64)NR_BLOCKS);
	bench->unsynced[bench->nr_unsynced] = *step;
	if (step->action == FTL_SAVING_WRITE)
		memcpy(bench->data[bench->nr_unsynced], step->data, FTL_IMAGE_BLOCK_BYTES);
	bench->nr_unsynced++;
}

/* As the drive does when it is switched on. */
static void begin_use(struct kunit *test, struct bench *bench)
{
	struct ftl_saving_step step = { .action = FTL_SAVING_WRITE, .nr = 1 };

	bench->image.state = FTL_IMAGE_IN_USE;
	bench->image.serial++;
	ftl_image_pack_head(&bench->image, bench->block);
	step.first = bench->image.serial % FTL_IMAGE_HEADS;
	step.data = bench->block;
	do_step(test, bench, &step);
	sync_disk(bench);
}

static void begin_saving(struct bench *bench, struct ftl_saving *saving)
{
	make_area(bench->area, bench->time);
	*saving = (struct ftl_saving){
		.image = &bench->image,
		.area = bench->area,
		.page_of = page_of,
		.context = bench,
		.block = bench->block,
	};
	ftl_saving_begin(saving);
}

/* Return: why the half that the header names is not whole, or not of @time. */
static const char *check_half(struct bench *bench, const struct ftl_image *image, u64 time)
{
	const u64 half = ftl_image_half(image, image->epoch);
	const u64 nr_area = ftl_image_area_blocks(image);
	const u8 *area = bench->other_area;
	const char *reason;

	make_area(bench->other_area, time);
	for (u64 i = 0; i < nr_area + ftl_image_sum_blocks(image); i++) {
		reason = ftl_image_check(block_at(&bench->found, half + i), half + i, image->epoch);
		if (reason)
			return reason;
	}
	if (memcmp(block_at(&bench->found, half), area, FTL_IMAGE_PART_BYTES) ||
	    memcmp(block_at(&bench->found, half + 1), area + FTL_IMAGE_PART_BYTES,
		   AREA_BYTES - FTL_IMAGE_PART_BYTES))
		return "The area is of another time.";
	for (u64 lpn = 0; lpn < NR_LPNS; lpn++) {
		const u8 *data = block_at(&bench->found, ftl_image_page_block(image, lpn));
		const u64 number = half + nr_area + lpn / FTL_IMAGE_PART_SUMS;
		const void *sums = block_at(&bench->found, number);
		u32 sum = ftl_image_get_sum(sums, lpn);

		if (has_data(time, lpn) != !!sum)
			return "The pages are those of another time.";
		if (sum && (ftl_image_sum(data) != sum || data[5] != (u8)(time * 16 + lpn % 13)))
			return "A page is damaged, or of another time.";
		if (sum && ftl_image_get_marks(sums, lpn) != marks_at(time, lpn))
			return "The marks are those of another page or time.";
	}
	return NULL;
}

static const char *choose(const struct disk *disk, struct ftl_image *image, bool *is_damaged)
{
	return ftl_image_choose(block_at(disk, 0), block_at(disk, 1), image, is_damaged);
}

/**
 * check_found() - the disk has the drive of the time before, or of this one
 * @test: test case
 * @bench: drive and disk
 * @may_be_new: the header of this time was written
 * @must_be_new: and synced
 */
static void check_found(struct kunit *test, struct bench *bench, bool may_be_new,
			bool must_be_new)
{
	struct ftl_image *found = kunit_kzalloc(test, sizeof(*found), GFP_KERNEL);
	bool is_damaged, is_new;
	const char *reason;

	KUNIT_ASSERT_NOT_NULL(test, found);
	reason = choose(&bench->found, found, &is_damaged);
	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	is_new = found->state == FTL_IMAGE_CLEAN;
	KUNIT_ASSERT_TRUE(test, may_be_new || !is_new);
	KUNIT_ASSERT_TRUE(test, is_new || !must_be_new);
	/* Only a header that was being written can be damaged. */
	KUNIT_ASSERT_TRUE(test, !is_damaged || (may_be_new && !must_be_new && !is_new));
	if (found->epoch)
		reason = check_half(bench, found, found->epoch);
	KUNIT_ASSERT_NULL_MSG(test, reason, "%s (epoch %llu)", reason, found->epoch);
}

/* Of all there was at some time the last that was switched off is found, wherever it stops. */
static void machine_may_stop_behind_every_step(struct kunit *test)
{
	struct bench *bench = make_bench(test);
	struct ftl_saving saving;
	struct ftl_saving_step step;
	u32 nr_syncs, nr_steps = 0;

	for (bench->time = 1; bench->time <= NR_TIMES; bench->time++) {
		bool has_head = false;

		begin_use(test, bench);
		begin_saving(bench, &saving);
		nr_syncs = 0;
		do {
			step = ftl_saving_next(&saving);
			if (step.action == FTL_SAVING_END)
				break;
			do_step(test, bench, &step);
			nr_syncs += step.action == FTL_SAVING_SYNC;
			has_head |= step.action == FTL_SAVING_WRITE && step.first < FTL_IMAGE_HEADS;
			for (u32 loss = 0; loss < NR_LOSSES; loss++) {
				stop(bench, loss);
				check_found(test, bench, has_head, nr_syncs == 2);
			}
			nr_steps++;
		} while (true);
		KUNIT_EXPECT_EQ(test, nr_syncs, 2U);
		KUNIT_EXPECT_EQ(test, bench->image.epoch, bench->time);
		KUNIT_EXPECT_EQ(test, bench->image.state, (u32)FTL_IMAGE_CLEAN);
	}
	kunit_info(test, "%u steps, %u losses at each\n", nr_steps, (u32)NR_LOSSES);
}

/* What an attempt that failed has left does no harm to the next. */
static void writing_may_fail_and_be_tried_again(struct kunit *test)
{
	struct bench *bench = make_bench(test);
	struct ftl_saving saving;
	struct ftl_saving_step step;

	begin_use(test, bench);
	for (u32 nr_good = 1; bench->image.epoch < 2; nr_good += 3) {
		u64 before = bench->image.epoch;

		bench->time = before + 1;
		begin_saving(bench, &saving);
		for (u32 i = 0; i < nr_good; i++) {
			step = ftl_saving_next(&saving);
			if (step.action != FTL_SAVING_END)
				do_step(test, bench, &step);
		}
		sync_disk(bench);
		stop(bench, LOSS_NONE);
		check_found(test, bench, true, false);
		if (bench->image.epoch == before)
			continue;
		nr_good = 1;
		begin_use(test, bench);
	}
}

/* What a header names that a disk is found with is whole. */
static void check_whole(struct kunit *test, struct bench *bench, struct ftl_image *found)
{
	bool is_damaged;
	const char *reason = choose(&bench->found, found, &is_damaged);

	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	reason = check_half(bench, found, found->epoch);
	KUNIT_ASSERT_NULL_MSG(test, reason, "%s (epoch %llu)", reason, found->epoch);
}

/* Return: whether all of it was done; if it fails, it does so at the sync of the new header. */
static bool save(struct kunit *test, struct bench *bench, bool fails)
{
	struct ftl_saving saving;
	struct ftl_saving_step step;
	bool has_head = false;

	begin_saving(bench, &saving);
	for (step = ftl_saving_next(&saving); step.action != FTL_SAVING_END;
	     step = ftl_saving_next(&saving)) {
		if (fails && has_head)
			return false;
		do_step(test, bench, &step);
		has_head |= step.action == FTL_SAVING_WRITE && step.first < FTL_IMAGE_HEADS;
	}
	return true;
}

/*
 * Of a header that could not be synced nobody knows whether the disk has it, and the half that it
 * names is the one that is written next. Nor does anybody switch the drive on before.
 */
static void an_attempt_after_a_lost_sync_may_stop_anywhere(struct kunit *test)
{
	struct bench *bench = make_bench(test);
	struct ftl_image *found = kunit_kzalloc(test, sizeof(*found), GFP_KERNEL);
	struct ftl_saving saving;
	struct ftl_saving_step step;

	KUNIT_ASSERT_NOT_NULL(test, found);
	begin_use(test, bench);
	bench->time = 1;
	KUNIT_ASSERT_TRUE(test, save(test, bench, false));
	bench->time = 2;
	KUNIT_ASSERT_FALSE(test, save(test, bench, true));
	sync_disk(bench);
	begin_saving(bench, &saving);
	for (step = ftl_saving_next(&saving); step.action != FTL_SAVING_END;
	     step = ftl_saving_next(&saving)) {
		do_step(test, bench, &step);
		for (u32 loss = 0; loss < NR_LOSSES; loss++) {
			stop(bench, loss);
			check_whole(test, bench, found);
		}
	}
	KUNIT_EXPECT_EQ(test, bench->image.epoch, 2ULL);
	sync_disk(bench);
	stop(bench, LOSS_ALL);
	check_whole(test, bench, found);
	KUNIT_EXPECT_EQ(test, found->epoch, 2ULL);
	KUNIT_EXPECT_EQ(test, found->state, (u32)FTL_IMAGE_CLEAN);
}

/* With either header damaged the other is used, if the user wants that. */
static void damaged_header_is_told(struct kunit *test)
{
	struct bench *bench = make_bench(test);
	struct ftl_image *found = kunit_kzalloc(test, sizeof(*found), GFP_KERNEL);
	bool is_damaged;

	KUNIT_ASSERT_NOT_NULL(test, found);
	begin_use(test, bench);
	KUNIT_EXPECT_NULL(test, choose(&bench->disk, found, &is_damaged));
	KUNIT_EXPECT_FALSE_MSG(test, is_damaged, "a new file has one header");
	begin_use(test, bench);
	for (u32 nr = 0; nr < 2; nr++) {
		for (u32 i = 0; i < FTL_IMAGE_BLOCK_BYTES; i += 7) {
			block_at(&bench->disk, nr)[i] ^= 4;
			KUNIT_ASSERT_NULL(test, choose(&bench->disk, found, &is_damaged));
			KUNIT_ASSERT_TRUE(test, is_damaged);
			KUNIT_ASSERT_EQ(test, found->serial, 2ULL - (nr == 0));
			block_at(&bench->disk, nr)[i] ^= 4;
		}
	}
	KUNIT_EXPECT_NULL(test, choose(&bench->disk, found, &is_damaged));
	KUNIT_EXPECT_FALSE(test, is_damaged);
	KUNIT_EXPECT_EQ(test, found->serial, 2ULL);
	swap(bench->disk.chunk[0], bench->found.chunk[0]);
	memcpy(block_at(&bench->disk, 0), block_at(&bench->found, 1), FTL_IMAGE_BLOCK_BYTES);
	memcpy(block_at(&bench->disk, 1), block_at(&bench->found, 0), FTL_IMAGE_BLOCK_BYTES);
	KUNIT_EXPECT_NOT_NULL(test, choose(&bench->disk, found, &is_damaged));
	memset(block_at(&bench->disk, 0), 0, FTL_IMAGE_HEADS * FTL_IMAGE_BLOCK_BYTES);
	KUNIT_EXPECT_NOT_NULL(test, choose(&bench->disk, found, &is_damaged));
}

static struct kunit_case saving_cases[] = {
	KUNIT_CASE(machine_may_stop_behind_every_step),
	KUNIT_CASE(writing_may_fail_and_be_tried_again),
	KUNIT_CASE(an_attempt_after_a_lost_sync_may_stop_anywhere),
	KUNIT_CASE(damaged_header_is_told),
	{}
};

static struct kunit_suite saving_suite = {
	.name = "nvmev_saving",
	.test_cases = saving_cases,
};

kunit_test_suite(saving_suite);

MODULE_DESCRIPTION("A drive on its way into its file");
MODULE_LICENSE("GPL");
