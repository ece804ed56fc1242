// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blocks of a backing file. The same file is written over and over, so that a block is whole
 * says too little: it may be of an older power off, or have been written to the wrong place. So
 * each one is sealed with its number and the epoch under one CRC32C. Data pages are whole blocks
 * and have no room for that; their checksums stand in sealed blocks.
 *
 * Of two headers the newer one counts. If one is damaged, it may have been the newer; whether the
 * other one will do is for the user to say (backing_recover), so here it is only reported.
 */
#include "image.h"

/* "dieawSSD" */
#define MAGIC	0x4453537761656964ULL

/**
 * struct head - block 0 or 1
 * @magic: MAGIC
 * @version: FTL_IMAGE_VERSION
 * @state: as in struct ftl_image, like the next ones
 * @epoch: as above
 * @serial: as above
 * @area_bytes: as above
 * @nr_lpns: as above
 * @identity: as above
 * @zero: nothing yet
 * @crc: CRC32C of all that is before it
 */
struct head {
	__le64 magic;
	__le32 version;
	__le32 state;
	__le64 epoch;
	__le64 serial;
	__le64 area_bytes;
	__le64 nr_lpns;
	u8 identity[FTL_IMAGE_IDENTITY_BYTES];
	u8 zero[FTL_IMAGE_BLOCK_BYTES - FTL_IMAGE_IDENTITY_BYTES - 52];
	__le32 crc;
};

/**
 * struct seal - ends a block of the area or of checksums
 * @number: of the block
 * @epoch: of the file
 * @zero: nothing yet
 * @crc: CRC32C of the block before it
 */
struct seal {
	__le64 number;
	__le64 epoch;
	u8 zero[FTL_IMAGE_BLOCK_BYTES - FTL_IMAGE_PART_BYTES - 20];
	__le32 crc;
};

static u32 sum_block(const void *block)
{
	return crc32c(~0U, block, FTL_IMAGE_BLOCK_BYTES - sizeof(__le32));
}

u64 ftl_image_area_blocks(const struct ftl_image *image)
{
	return div_u64(image->area_bytes + FTL_IMAGE_PART_BYTES - 1, FTL_IMAGE_PART_BYTES);
}

u64 ftl_image_sum_blocks(const struct ftl_image *image)
{
	return div_u64(image->nr_lpns + FTL_IMAGE_PART_SUMS - 1, FTL_IMAGE_PART_SUMS);
}

u32 ftl_image_get_sum(const void *block, u64 lpn)
{
	const __le32 *sums = block;

	return le32_to_cpu(sums[lpn % FTL_IMAGE_PART_SUMS]);
}

u8 ftl_image_get_marks(const void *block, u64 lpn)
{
	const u8 *marks = (const u8 *)block + FTL_IMAGE_PART_SUMS * sizeof(__le32);

	return marks[lpn % FTL_IMAGE_PART_SUMS];
}

void ftl_image_set_page(void *block, u64 lpn, const void *page, u8 marks)
{
	u32 nr = lpn % FTL_IMAGE_PART_SUMS;
	__le32 *sums = block;

	sums[nr] = cpu_to_le32(ftl_image_sum(page));
	((u8 *)block)[FTL_IMAGE_PART_SUMS * sizeof(__le32) + nr] = marks;
}

u64 ftl_image_half_blocks(const struct ftl_image *image)
{
	return ftl_image_area_blocks(image) + ftl_image_sum_blocks(image) + image->nr_lpns;
}

u64 ftl_image_half(const struct ftl_image *image, u64 epoch)
{
	return FTL_IMAGE_HEADS + (epoch & 1 ? ftl_image_half_blocks(image) : 0);
}

u64 ftl_image_page_block(const struct ftl_image *image, u64 lpn)
{
	return ftl_image_half(image, image->epoch) + ftl_image_area_blocks(image) +
		ftl_image_sum_blocks(image) + lpn;
}

void ftl_image_pack_head(const struct ftl_image *image, void *block)
{
	struct head *head = block;

	BUILD_BUG_ON(sizeof(*head) != FTL_IMAGE_BLOCK_BYTES);
	memset(head, 0, sizeof(*head));
	head->magic = cpu_to_le64(MAGIC);
	head->version = cpu_to_le32(FTL_IMAGE_VERSION);
	head->state = cpu_to_le32(image->state);
	head->epoch = cpu_to_le64(image->epoch);
	head->serial = cpu_to_le64(image->serial);
	head->area_bytes = cpu_to_le64(image->area_bytes);
	head->nr_lpns = cpu_to_le64(image->nr_lpns);
	memcpy(head->identity, image->identity, sizeof(head->identity));
	head->crc = cpu_to_le32(sum_block(block));
}

const char *ftl_image_unpack_head(const void *block, struct ftl_image *image)
{
	const struct head *head = block;

	if (le64_to_cpu(head->magic) != MAGIC)
		return "The backing file is not one of a virtual SSD.";
	if (le32_to_cpu(head->version) != FTL_IMAGE_VERSION)
		return "The backing file is of a version that this module does not know.";
	if (le32_to_cpu(head->crc) != sum_block(block))
		return "The header of the backing file is damaged.";
	image->state = le32_to_cpu(head->state);
	image->epoch = le64_to_cpu(head->epoch);
	image->serial = le64_to_cpu(head->serial);
	image->area_bytes = le64_to_cpu(head->area_bytes);
	image->nr_lpns = le64_to_cpu(head->nr_lpns);
	memcpy(image->identity, head->identity, sizeof(image->identity));
	if (image->state != FTL_IMAGE_CLEAN && image->state != FTL_IMAGE_IN_USE)
		return "The backing file is in a state that this module does not know.";
	return NULL;
}

static bool is_blank(const u8 *block)
{
	return !memchr_inv(block, 0, FTL_IMAGE_BLOCK_BYTES);
}

static const char *read_head(const void *block, u32 number, struct ftl_image *image)
{
	const char *reason = ftl_image_unpack_head(block, image);

	if (!reason && image->serial % FTL_IMAGE_HEADS != number)
		reason = "The headers of the backing file stand in each other's place.";
	return reason;
}

const char *ftl_image_choose(const void *first, const void *second, struct ftl_image *image,
			     bool *other_is_damaged)
{
	const char *reason = read_head(first, 0, image);
	bool has_first = !reason;
	u64 serial = image->serial;

	*other_is_damaged = false;
	if (!read_head(second, 1, image) && (!has_first || image->serial > serial)) {
		/* The first header of all goes to block 1, and there is no other. */
		*other_is_damaged = !has_first && (image->serial > 1 || !is_blank(first));
		return NULL;
	}
	if (!has_first)
		return is_blank(first) ? read_head(second, 1, image) : reason;
	*other_is_damaged = !!read_head(second, 1, image);
	return read_head(first, 0, image);
}

void ftl_image_pack(void *block, u64 number, u64 epoch)
{
	struct seal *seal = (struct seal *)((u8 *)block + FTL_IMAGE_PART_BYTES);

	memset(seal, 0, sizeof(*seal));
	seal->number = cpu_to_le64(number);
	seal->epoch = cpu_to_le64(epoch);
	seal->crc = cpu_to_le32(sum_block(block));
}

const char *ftl_image_check(const void *block, u64 number, u64 epoch)
{
	const struct seal *seal = (const struct seal *)((const u8 *)block + FTL_IMAGE_PART_BYTES);

	if (le32_to_cpu(seal->crc) != sum_block(block))
		return "A block of the backing file is damaged.";
	if (le64_to_cpu(seal->number) != number)
		return "A block of the backing file stands in another one's place.";
	if (le64_to_cpu(seal->epoch) != epoch)
		return "The backing file has blocks of different times.";
	return NULL;
}

u32 ftl_image_sum(const void *page)
{
	return crc32c(~0U, page, FTL_IMAGE_BLOCK_BYTES) ?: 1;
}
