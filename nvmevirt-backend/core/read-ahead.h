/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading ahead by LBA: a drive that sees a host read in order has its dies sense what comes next
 * before it is asked for, and keeps it in memory of its own.
 *
 * A read that begins where an earlier one has ended goes on with a stream. From the second read of
 * a stream on the drive keeps between a half and all of params.read_ahead_pages behind it in
 * memory. Streams are found by where they go on; the one that was not used for longest gives way.
 *
 * A page that was read ahead is known by its place, so one that moved since is not taken for what
 * was read. One that gets other data is forgotten, since it may lie in that place again: on a
 * medium that is written in place it does at once. What is left stays until the host has it, for
 * this is no cache; or until another takes its slot, which a page of the same stream does not
 * before there is no use for it any more.
 */
#ifndef FTL_READ_AHEAD_H
#define FTL_READ_AHEAD_H

#include "params.h"

#define FTL_READ_STREAMS	8U

/**
 * struct ftl_read_stream - reads of the host, one behind the other
 * @next: page behind the last one that was read
 * @until: page behind the last one that was read ahead, not before @next
 * @used: number of the read that was its last, 0: there is none
 */
struct ftl_read_stream {
	u64 next;
	u64 until;
	u64 used;
};

/**
 * struct ftl_read_slot - a page that was read ahead
 * @there_ns: time at which it is in the drive's memory
 * @lpn: the page plus one, or 0
 * @ppn: place where it was read
 */
struct ftl_read_slot {
	u64 there_ns;
	u32 lpn;
	ppn_t ppn;
};

/**
 * struct ftl_read_ahead - what was read ahead, and for whom
 * @nr_pages: number of pages that are read ahead of a stream at most; 0: none
 * @mask: the bits of a page's number that say which slot it has
 * @nr_reads: number of reads so far
 * @stream: the streams, in any order
 * @slot: pages, by the lower bits of their number
 */
struct ftl_read_ahead {
	u32 nr_pages;
	u32 mask;
	u64 nr_reads;
	struct ftl_read_stream stream[FTL_READ_STREAMS];
	struct ftl_read_slot *slot;
};

/**
 * ftl_read_ahead_bytes() - memory of the pages
 */
size_t ftl_read_ahead_bytes(const struct ftl_params *params);

/**
 * ftl_read_ahead_init() - no streams, and nothing read
 * @zeroed: ftl_read_ahead_bytes() bytes
 */
void ftl_read_ahead_init(struct ftl_read_ahead *ahead, const struct ftl_params *params,
			 void *zeroed);

/**
 * ftl_read_ahead_forget() - the same once more
 */
void ftl_read_ahead_forget(struct ftl_read_ahead *ahead);

/**
 * ftl_read_ahead_note() - the host reads pages
 * @nr_lpns: pages of the drive
 * @from: gets the first page that is to be read ahead
 *
 * Return: number of these pages, or 0.
 */
u32 ftl_read_ahead_note(struct ftl_read_ahead *ahead, u64 first, u32 nr_pages, u64 nr_lpns,
			u64 *from);

/**
 * ftl_read_ahead_find() - is a page in memory, as it is at this place?
 * Return: its slot, or NULL.
 */
static inline const struct ftl_read_slot *ftl_read_ahead_find(const struct ftl_read_ahead *ahead,
							      u64 lpn, ppn_t ppn)
{
	const struct ftl_read_slot *slot = &ahead->slot[lpn & ahead->mask];

	return slot->lpn == lpn + 1 && from_ppn(slot->ppn) == from_ppn(ppn) ? slot : NULL;
}

/**
 * ftl_read_ahead_drop() - pages that were found are with the host now, and no longer in memory
 */
void ftl_read_ahead_drop(struct ftl_read_ahead *ahead, u64 lpn, u32 nr);

/**
 * ftl_read_ahead_outdate() - pages get other data: what was read of them before is of no use
 */
void ftl_read_ahead_outdate(struct ftl_read_ahead *ahead, lpn_t first, u32 nr_pages);

/**
 * ftl_read_ahead_put() - a page at this place is in memory from @there_ns on
 */
void ftl_read_ahead_put(struct ftl_read_ahead *ahead, u64 lpn, ppn_t ppn, u64 there_ns);

#endif /* FTL_READ_AHEAD_H */
