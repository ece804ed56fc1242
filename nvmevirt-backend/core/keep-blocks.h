/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A state file (keep.h) as a sequence of bytes in sealed blocks, written or read in the same calls.
 */
#ifndef FTL_KEEP_BLOCKS_H
#define FTL_KEEP_BLOCKS_H

#include "image.h"

#define FTL_KEEP_VERSION	8U

/* Words with which the first block begins: what the file is, and its version */
#define FTL_KEEP_PREFACE_WORDS	2U

/**
 * struct ftl_keep - a state file that is being written or read
 * @move: writes a block behind those before it, or reads the next one; gives NULL, or a complete
 *	sentence that ends it all
 * @context: first argument of @move
 * @block: memory of FTL_IMAGE_BLOCK_BYTES
 * @reads: whether it is read
 * @has_oob: whether it has out-of-band data
 * @at: number of bytes of @block that are done with
 * @number: number of blocks that were moved
 * @reason: NULL, or why it cannot be gone on with
 */
struct ftl_keep {
	const char *(*move)(void *context, void *block);
	void *context;
	void *block;

	bool reads;
	bool has_oob;
	u32 at;
	u64 number;
	const char *reason;
};

/**
 * ftl_keep_bytes() - the next bytes of the file are these, or become them
 * @value: the bytes; zero if there is a reason not to read them, NULL: nobody wants them
 */
void ftl_keep_bytes(struct ftl_keep *keep, void *value, u64 bytes);

/**
 * ftl_keep_refuse() - there is a reason not to go on, if @is_wrong
 * Return: whether there is none now.
 */
bool ftl_keep_refuse(struct ftl_keep *keep, bool is_wrong, const char *reason);

/**
 * ftl_keep_write_preface() - the file begins with what it is
 */
void ftl_keep_write_preface(struct ftl_keep *keep);

/**
 * ftl_keep_read_preface() - the file has to begin with what it is
 */
void ftl_keep_read_preface(struct ftl_keep *keep);

/**
 * ftl_keep_end_block() - what follows begins with a block of its own
 */
void ftl_keep_end_block(struct ftl_keep *keep);

/**
 * ftl_keep_read_block() - the next block is read into @keep->block, and its seal is looked at
 */
void ftl_keep_read_block(struct ftl_keep *keep);

/**
 * ftl_keep_write_block() - @keep->block is sealed and written; what it has no bytes for is zero
 */
void ftl_keep_write_block(struct ftl_keep *keep);

/**
 * ftl_keep_move() - write or read a block without a seal, unless something is wrong already
 */
void ftl_keep_move(struct ftl_keep *keep, void *block);

static inline void ftl_keep_u32(struct ftl_keep *keep, u32 *value)
{
	ftl_keep_bytes(keep, value, sizeof(*value));
}

static inline void ftl_keep_u64(struct ftl_keep *keep, u64 *value)
{
	ftl_keep_bytes(keep, value, sizeof(*value));
}

static inline void ftl_keep_bool(struct ftl_keep *keep, bool *value)
{
	u32 number = *value;

	ftl_keep_u32(keep, &number);
	*value = number;
}

#endif /* FTL_KEEP_BLOCKS_H */
