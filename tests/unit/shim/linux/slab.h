/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's allocator for suites and fuzzers whose code takes memory by itself. */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include <stdlib.h>

#define kmalloc(bytes, gfp)	malloc(bytes)
#define kfree(memory)		free(memory)

#endif /* SHIM_LINUX_SLAB_H */
