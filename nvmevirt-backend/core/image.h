/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A drive in a file: what each block of it looks like.
 *
 *	blocks 0 and 1         headers: the one with the higher serial number counts
 *	then, twice            a half:
 *	                       the out-of-band area (oob.h), FTL_IMAGE_PART_BYTES a block
 *	                       checksums and marks of the data pages, FTL_IMAGE_PART_SUMS a
 *	                       block: first its checksums, then a byte of marks for each
 *	                       the data pages, by lpn
 *
 * The drive is written to the half in which it is not, and then the next header says so
 * (image-write.h): whenever the machine stops, one half is whole, and a header that says which.
 *
 * The header says what drive it is, in which state the file is, and an epoch: an even one
 * is in the first half, an odd one in the second. All blocks of the area and of checksums
 * carry it. Each of these ends with its number, the epoch, and a CRC32C of all of it. A
 * checksum of 0 is a page that is not in the file. A mark is a bit for each sector of a
 * page that the host has declared unreadable. Numbers are little-endian but for what
 * the area and @identity have in them: a file is read on machines of the same byte order.
 *
 * Nothing here may be run at the same time on the same block.
 */
#ifndef FTL_IMAGE_H
#define FTL_IMAGE_H

#include <dieaware/platform.h>

#define FTL_IMAGE_BLOCK_BYTES	4096U
#define FTL_IMAGE_PART_BYTES	4032U
#define FTL_IMAGE_PART_SUMS	(FTL_IMAGE_PART_BYTES / 5)
#define FTL_IMAGE_IDENTITY_BYTES 2048U
#define FTL_IMAGE_HEADS		2U
#define FTL_IMAGE_VERSION	5U

/**
 * enum ftl_image_state - state of a file
 * @FTL_IMAGE_CLEAN: it holds the drive as it was switched off
 * @FTL_IMAGE_IN_USE: the drive was on, or was being written to the file, and nobody came
 *	back. The half of @epoch holds the drive as it was switched off before; with an
 *	@epoch of 0 there is none.
 */
enum ftl_image_state {
	FTL_IMAGE_CLEAN = 1,
	FTL_IMAGE_IN_USE = 2,
};

/**
 * struct ftl_image - contents of a file's header
 * @state: enum ftl_image_state
 * @serial: serial number of the header, 0 before the first; an even one stands in block 0
 * @epoch: number of the last time that the drive was written to it
 * @area_bytes: size of the out-of-band area
 * @nr_lpns: pages of the drive
 * @identity: all else that makes it this drive; compared or restored by the caller
 * @is_doubtful: not in the header: whether the next one, of the next epoch, may be on the disk as
 *	well, since it was written and could not be synced
 */
struct ftl_image {
	u32 state;
	u64 serial;
	u64 epoch;
	u64 area_bytes;
	u64 nr_lpns;
	u8 identity[FTL_IMAGE_IDENTITY_BYTES];
	bool is_doubtful;
};

/**
 * ftl_image_area_blocks() - blocks of the out-of-band area
 */
u64 ftl_image_area_blocks(const struct ftl_image *image);

/**
 * ftl_image_sum_blocks() - blocks of checksums
 */
u64 ftl_image_sum_blocks(const struct ftl_image *image);

/**
 * ftl_image_half_blocks() - blocks of a half
 */
u64 ftl_image_half_blocks(const struct ftl_image *image);

/**
 * ftl_image_half() - first block of the half that an epoch is in
 */
u64 ftl_image_half(const struct ftl_image *image, u64 epoch);

/**
 * ftl_image_page_block() - the block that holds a data page, in the half of the image's @epoch
 */
u64 ftl_image_page_block(const struct ftl_image *image, u64 lpn);

/**
 * ftl_image_pack_head() - make the header, for block @serial % FTL_IMAGE_HEADS
 * @block: gets the header
 */
void ftl_image_pack_head(const struct ftl_image *image, void *block);

/**
 * ftl_image_unpack_head() - read a header
 * @block: contents of block 0 or 1
 * @image: gets the contents of the header
 *
 * Return: NULL, or a complete sentence that says why it is none that can be used. One of a
 * file that is in use can be read; whether it is used is the caller's decision.
 */
const char *ftl_image_unpack_head(const void *block, struct ftl_image *image);

/**
 * ftl_image_choose() - find the header that counts
 * @first: contents of block 0
 * @second: contents of block 1
 * @image: gets the contents of the header that counts
 * @other_is_damaged: gets whether the other one cannot be read: it may have been newer
 *
 * Return: NULL, or a complete sentence that says why there is none.
 */
const char *ftl_image_choose(const void *first, const void *second, struct ftl_image *image,
			     bool *other_is_damaged);

/**
 * ftl_image_get_sum() - checksum of a page
 * @block: block of checksums that has it
 */
u32 ftl_image_get_sum(const void *block, u64 lpn);

/**
 * ftl_image_get_marks() - marks of a page
 * @block: block of checksums that has it
 */
u8 ftl_image_get_marks(const void *block, u64 lpn);

/**
 * ftl_image_set_page() - keep checksum and marks of a page
 * @block: block of checksums that has it
 * @page: its data
 */
void ftl_image_set_page(void *block, u64 lpn, const void *page, u8 marks);

/**
 * ftl_image_pack() - seal a block of the area or of checksums
 * @block: the block, the first FTL_IMAGE_PART_BYTES of which are set
 * @number: its number in the file
 * @epoch: epoch of the file
 */
void ftl_image_pack(void *block, u64 number, u64 epoch);

/**
 * ftl_image_check() - is this the block that was sealed?
 * Return: NULL, or a complete sentence.
 */
const char *ftl_image_check(const void *block, u64 number, u64 epoch);

/**
 * ftl_image_sum() - checksum of a data page, never 0
 */
u32 ftl_image_sum(const void *page);

#endif /* FTL_IMAGE_H */
