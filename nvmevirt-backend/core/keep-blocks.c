// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blocks of a state file. Writing and reading are one sequence of calls that name each number
 * once, and move it in the one direction or the other: so what is written and what is read cannot
 * differ. After the first thing that is wrong nothing is moved any more, and what is read is zero.
 */
#include "keep-blocks.h"

/* "dieawUSE" */
#define KEEP_MAGIC	0x4553557761656964ULL

bool ftl_keep_refuse(struct ftl_keep *keep, bool is_wrong, const char *reason)
{
	if (is_wrong && !keep->reason)
		keep->reason = reason;
	return !keep->reason;
}

void ftl_keep_move(struct ftl_keep *keep, void *block)
{
	if (!keep->reason)
		keep->reason = keep->move(keep->context, block);
	keep->number++;
}

static void check_seal(struct ftl_keep *keep)
{
	if (!keep->reason && ftl_image_check(keep->block, keep->number - 1, FTL_KEEP_VERSION))
		keep->reason = "A block of the state file is damaged.";
}

void ftl_keep_read_block(struct ftl_keep *keep)
{
	ftl_keep_move(keep, keep->block);
	check_seal(keep);
	keep->at = 0;
}

void ftl_keep_write_block(struct ftl_keep *keep)
{
	memset((u8 *)keep->block + keep->at, 0, FTL_IMAGE_PART_BYTES - keep->at);
	ftl_image_pack(keep->block, keep->number, FTL_KEEP_VERSION);
	ftl_keep_move(keep, keep->block);
	keep->at = 0;
}

void ftl_keep_end_block(struct ftl_keep *keep)
{
	if (keep->reads)
		keep->at = FTL_IMAGE_PART_BYTES;
	else if (keep->at)
		ftl_keep_write_block(keep);
}

static void copy_bytes(const struct ftl_keep *keep, void *value, u32 bytes)
{
	u8 *there = (u8 *)keep->block + keep->at;

	if (!keep->reads)
		memcpy(there, value, bytes);
	else if (value && keep->reason)
		memset(value, 0, bytes);
	else if (value)
		memcpy(value, there, bytes);
}

void ftl_keep_bytes(struct ftl_keep *keep, void *value, u64 bytes)
{
	u32 nr;

	for (; bytes; bytes -= nr) {
		if (keep->at == FTL_IMAGE_PART_BYTES && keep->reads)
			ftl_keep_read_block(keep);
		else if (keep->at == FTL_IMAGE_PART_BYTES)
			ftl_keep_write_block(keep);
		nr = min_t(u64, bytes, FTL_IMAGE_PART_BYTES - keep->at);
		copy_bytes(keep, value, nr);
		if (value)
			value = (u8 *)value + nr;
		keep->at += nr;
	}
}

/* A file of another kind or version is told by what it is, and not as one that is damaged. */
void ftl_keep_read_preface(struct ftl_keep *keep)
{
	const u64 *words = keep->block;

	ftl_keep_move(keep, keep->block);
	if (keep->reason)
		return;
	if (words[0] != KEEP_MAGIC)
		keep->reason = "The file is not a state file of a virtual SSD.";
	else if (words[1] != FTL_KEEP_VERSION)
		keep->reason = "The state file is of a version that this program does not know.";
	check_seal(keep);
	keep->at = FTL_KEEP_PREFACE_WORDS * sizeof(u64);
}

void ftl_keep_write_preface(struct ftl_keep *keep)
{
	u64 words[FTL_KEEP_PREFACE_WORDS] = { KEEP_MAGIC, FTL_KEEP_VERSION };

	ftl_keep_bytes(keep, words, sizeof(words));
}
