/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of the FTL that must not be mixed up, as types that sparse tells apart.
 *
 * lpn_t  logical page: the 4 KiB page number that the host sees, [0, nr_lpns)
 * ppn_t  place of a page: on NAND, or in a buffered unit that is not programmed yet
 * die_t  die number, [0, nr_dies), channel fastest: die d is on channel d % nr_channels
 */
#ifndef FTL_UNITS_H
#define FTL_UNITS_H

#include <dieaware/platform.h>

#define FTL_PAGE_SHIFT	12
#define FTL_PAGE_BYTES	4096U

typedef u64 __bitwise lpn_t;
typedef u64 __bitwise ppn_t;
typedef u32 __bitwise die_t;

static inline lpn_t to_lpn(u64 nr) { return (__force lpn_t)nr; }
static inline u64 from_lpn(lpn_t lpn) { return (__force u64)lpn; }
static inline ppn_t to_ppn(u64 nr) { return (__force ppn_t)nr; }
static inline u64 from_ppn(ppn_t ppn) { return (__force u64)ppn; }
static inline die_t to_die(u32 nr) { return (__force die_t)nr; }
static inline u32 from_die(die_t die) { return (__force u32)die; }

#define LPN_NONE	((__force lpn_t)~0ULL)
#define PPN_NONE	((__force ppn_t)~0ULL)
#define DIE_NONE	((__force die_t)~0U)

#endif /* FTL_UNITS_H */
