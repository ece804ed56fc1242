/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One number for one file, the same whether the kernel meets an inode or userspace
 * names it in a message.
 *
 * An inode number alone is not enough: it is used again after a delete (hence the
 * generation), and several filesystems can lie on one target (hence the device).
 * Two files that fall on the same number share their runs: a wrong hint now and
 * then, never wrong data. With 2^64 numbers that takes billions of files.
 */
#ifndef DMDA_FILE_ID_H
#define DMDA_FILE_ID_H

#include "units.h"

/* A step of a mixing function: every bit of @x reaches every bit of the result */
static inline u64 dmda_mix64(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	return x;
}

/**
 * dmda_file_id() - the identity of a file
 * @dev: s_dev of its filesystem as the kernel holds it (major << 20 | minor)
 * @ino: inode number
 * @gen: inode generation (what FS_IOC_GETVERSION answers)
 *
 * Context: any.
 * Return: a number that is never 0.
 */
static inline struct dmda_file dmda_file_id(u32 dev, u64 ino, u32 gen)
{
	u64 id = dmda_mix64(ino ^ dmda_mix64((u64)dev << 32 | gen));

	return (struct dmda_file){ .id = id ? id : 1 };
}

#endif /* DMDA_FILE_ID_H */
