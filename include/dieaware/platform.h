/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel headers that files under core/ may use. A userspace build (tests,
 * fuzzers, the simulator) puts include/user ahead of this directory and finds another
 * platform.h there, with the same names over the C library.
 */
#ifndef DIEAWARE_PLATFORM_H
#define DIEAWARE_PLATFORM_H

#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/log2.h>
#include <linux/hash.h>
#include <linux/crc32c.h>
#include <linux/seqlock.h>
#include <linux/kstrtox.h>
#include <asm/byteorder.h>

#endif /* DIEAWARE_PLATFORM_H */
