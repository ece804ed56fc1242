// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a drive gets into its backing file, as a sequence of steps that the caller carries out
 * (backing.c). The order of writes and syncs is what a crash of the machine puts to the test, so
 * it is decided here, without I/O, where a suite can stop behind every step and lose or tear any
 * block that was not synced (tests/saving_kunit.c).
 *
 * The caller's record of the file changes when the new header is safe. If a step before that
 * fails, it still says what the file had before, and so does the file.
 */
#include "image-write.h"

enum phase {
	PHASE_DOUBT,
	PHASE_DECIDE,
	PHASE_DECIDED,
	PHASE_CLEAR,
	PHASE_AREA,
	PHASE_PAGES,
	PHASE_HEAD,
	PHASE_SWITCH,
	PHASE_FREE,
	PHASE_END,
};

void ftl_saving_begin(struct ftl_saving *saving)
{
	saving->phase = saving->image->is_doubtful ? PHASE_DOUBT : PHASE_CLEAR;
	saving->at = 0;
	saving->page = 0;
}

/* First block of the half that the drive goes to. */
static u64 new_half(const struct ftl_saving *saving)
{
	return ftl_image_half(saving->image, saving->image->epoch + 1);
}

static struct ftl_saving_step free_half(const struct ftl_saving *saving)
{
	return (struct ftl_saving_step){
		.action = FTL_SAVING_FREE,
		.first = new_half(saving),
		.nr = ftl_image_half_blocks(saving->image),
	};
}

static struct ftl_saving_step write_block(u64 number, const void *data)
{
	return (struct ftl_saving_step){ FTL_SAVING_WRITE, number, 1, data };
}

static struct ftl_saving_step sync_blocks(struct ftl_saving *saving, u32 next)
{
	saving->phase = next;
	return (struct ftl_saving_step){ .action = FTL_SAVING_SYNC };
}

/* In the place of the header of which nobody knows whether the disk has it */
static struct ftl_saving_step write_mark(struct ftl_saving *saving)
{
	struct ftl_image *image = saving->image;

	image->state = FTL_IMAGE_IN_USE;
	image->serial++;
	ftl_image_pack_head(image, saving->block);
	image->serial--;
	saving->phase = PHASE_DECIDE;
	return write_block((image->serial + 1) % FTL_IMAGE_HEADS, saving->block);
}

static struct ftl_saving_step free_new_half(struct ftl_saving *saving)
{
	saving->phase = PHASE_AREA;
	return free_half(saving);
}

/* The mark is on the disk. */
static struct ftl_saving_step decided(struct ftl_saving *saving)
{
	saving->image->serial++;
	saving->image->is_doubtful = false;
	return free_new_half(saving);
}

/* Block @saving->at of the half; its first FTL_IMAGE_PART_BYTES are set. */
static struct ftl_saving_step write_sealed(struct ftl_saving *saving)
{
	u64 number = new_half(saving) + saving->at++;

	ftl_image_pack(saving->block, number, saving->image->epoch + 1);
	return write_block(number, saving->block);
}

static struct ftl_saving_step next_of_area(struct ftl_saving *saving)
{
	const u64 from = saving->at * FTL_IMAGE_PART_BYTES;
	const u64 left = saving->image->area_bytes - from;

	memset(saving->block, 0, FTL_IMAGE_PART_BYTES);
	memcpy(saving->block, (const u8 *)saving->area + from,
	       min_t(u64, left, FTL_IMAGE_PART_BYTES));
	return write_sealed(saving);
}

/* The next page that has data, or the block of checksums that ends before it. */
static struct ftl_saving_step next_of_pages(struct ftl_saving *saving)
{
	const struct ftl_image *image = saving->image;
	const u64 nr_before = ftl_image_area_blocks(image) + ftl_image_sum_blocks(image);
	const u64 first = (saving->at - ftl_image_area_blocks(image)) * FTL_IMAGE_PART_SUMS;
	const u64 end = min(first + FTL_IMAGE_PART_SUMS, image->nr_lpns);

	if (saving->page == first)
		memset(saving->block, 0, FTL_IMAGE_PART_BYTES);
	while (saving->page < end) {
		const u64 page = saving->page++;
		u8 marks = 0;
		const void *data = saving->page_of(saving->context, page, &marks);

		if (!data)
			continue;
		ftl_image_set_page(saving->block, page, data, marks);
		return write_block(new_half(saving) + nr_before + page, data);
	}
	return write_sealed(saving);
}

static struct ftl_saving_step write_head(struct ftl_saving *saving)
{
	struct ftl_image *image = saving->image;
	const u32 state = image->state;

	/* Until it is on the disk the file is what it was. */
	image->state = FTL_IMAGE_CLEAN;
	image->serial++;
	image->epoch++;
	ftl_image_pack_head(image, saving->block);
	image->state = state;
	image->serial--;
	image->epoch--;
	image->is_doubtful = true;
	saving->phase = PHASE_SWITCH;
	return write_block((image->serial + 1) % FTL_IMAGE_HEADS, saving->block);
}

static struct ftl_saving_step end(struct ftl_saving *saving)
{
	saving->image->state = FTL_IMAGE_CLEAN;
	saving->image->serial++;
	saving->image->epoch++;
	saving->image->is_doubtful = false;
	saving->phase = PHASE_END;
	/* The one in which it was is that in which it will be next. */
	return free_half(saving);
}

struct ftl_saving_step ftl_saving_next(struct ftl_saving *saving)
{
	const u64 area_blocks = ftl_image_area_blocks(saving->image);
	const u64 nr_sealed = area_blocks + ftl_image_sum_blocks(saving->image);

	switch (saving->phase) {
	case PHASE_DOUBT:
		return write_mark(saving);
	case PHASE_DECIDE:
		return sync_blocks(saving, PHASE_DECIDED);
	case PHASE_DECIDED:
		return decided(saving);
	case PHASE_CLEAR:
		return free_new_half(saving);
	case PHASE_AREA:
		if (saving->at < area_blocks)
			return next_of_area(saving);
		saving->phase = PHASE_PAGES;
		fallthrough;
	case PHASE_PAGES:
		if (saving->at < nr_sealed)
			return next_of_pages(saving);
		return sync_blocks(saving, PHASE_HEAD);
	case PHASE_HEAD:
		return write_head(saving);
	case PHASE_SWITCH:
		return sync_blocks(saving, PHASE_FREE);
	case PHASE_FREE:
		return end(saving);
	default:
		return (struct ftl_saving_step){ .action = FTL_SAVING_END };
	}
}
