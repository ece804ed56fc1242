/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * include/dieaware/platform.h for ordinary programs: the kernel's names that core/
 * and its suites use, over the C library. Only what is used is here; where the
 * kernel would warn, a program stops, so that tests and fuzzers see it.
 */
#ifndef DIEAWARE_PLATFORM_H
#define DIEAWARE_PLATFORM_H

#include <asm/byteorder.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <linux/types.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "types.h"
#include "math.h"
#include "crc32c.h"
#include "list.h"
#include "rbtree.h"
#include "seqlock.h"
#include "text.h"

#endif /* DIEAWARE_PLATFORM_H */
