/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The segment table: what each segment is and how many of its pages count.
 *
 *	FREE --open--> OPEN --close--> CLOSED --free--> FREE
 *
 * It changes by operations only, in the order of their seq: while the device works and in
 * the same way when the journal is read after a crash. So every page of the table has the
 * seq of the last operation that it knows; one that it knows already changes nothing.
 *
 * A segment without a valid page may be freed when the operation that took the last one
 * away is durable, and its pages written again only then: a crash before that would bring
 * back a map that still points to them.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_SEGMENTS_H
#define DMDA_SEGMENTS_H

#include "bitset.h"
#include "ranks.h"
#include "record.h"
#include "super.h"

/**
 * enum dmda_stuck - why a segment cannot be cleaned
 * @DMDA_STUCK_NOT: it can
 * @DMDA_STUCK_UNREAD: the device does not read something of it, which may be so for a while only
 * @DMDA_STUCK_WRONG: something that was read is damaged: until it is free
 */
enum dmda_stuck {
	DMDA_STUCK_NOT,
	DMDA_STUCK_UNREAD,
	DMDA_STUCK_WRONG,
};

/**
 * struct dmda_segment - a segment
 * @nr_valid: number of its pages that an lpn is mapped to
 * @state: DMDA_SEGMENT_*
 * @open: number of the open summary that it has, or had
 * @leaving: how far it is on its way to be free, see free.c
 * @stuck: whether it cannot be cleaned, and until when, as enum dmda_stuck
 * @mtime: age of its newest data, as an operation's number
 * @last_seq: last operation that changed it, as far as known since start
 */
struct dmda_segment {
	u32 nr_valid;
	u8 state;
	u8 open;
	u8 leaving;
	u8 stuck;
	u64 mtime;
	u64 last_seq;
};

/**
 * struct dmda_segments_page - state of a page of the table
 * @seq: last operation that changed it
 * @dirty_sector: first journal sector from which on a start has to bring it up to date, which is
 *	that of a batch; U64_MAX if the device has it as it is
 */
struct dmda_segments_page {
	u64 seq;
	u64 dirty_sector;
};

/**
 * struct dmda_segments - the segment table
 * @super: superblock of the device
 * @segment: segments, by number
 * @page: state of the table's pages
 * @nr_segments: number of segments
 * @nr_free: number of segments that are FREE, but for those that are set aside
 * @nr_empty: number of segments that are CLOSED and have no valid page
 * @nr_valid: number of valid pages in all segments
 * @nr_unread: number of segments that are DMDA_STUCK_UNREAD
 * @nr_wrong: number of segments that are DMDA_STUCK_WRONG
 * @next: segment at which the search for a free one goes on
 * @free: those that are FREE, but for those that are set aside
 * @empty: those that are CLOSED and have no valid page
 * @untold: those that are FREE and of which the device below was not told that; see core/free.h
 * @by_valid: those that are CLOSED, not stuck, and have some valid pages, but not all they can
 * @rank_shift: how many valid pages more are a rank more, as a power of two
 */
struct dmda_segments {
	const struct dmda_super *super;
	struct dmda_segment *segment;
	struct dmda_segments_page *page;
	u32 nr_segments;
	u32 nr_free;
	u32 nr_empty;
	u64 nr_valid;
	u32 nr_unread;
	u32 nr_wrong;
	u32 next;
	struct dmda_bitset free;
	struct dmda_bitset empty;
	struct dmda_bitset untold;
	struct dmda_ranks by_valid;
	u8 rank_shift;
};

/**
 * dmda_segments_bytes() - memory for the table
 */
size_t dmda_segments_bytes(const struct dmda_super *super);

/**
 * dmda_segments_init() - all segments are free
 * @zeroed: dmda_segments_bytes() bytes
 */
void dmda_segments_init(struct dmda_segments *segments, const struct dmda_super *super,
			void *zeroed);

/**
 * dmda_segments_decode() - take a page of the table as it was read
 * @block: a page whose header was checked
 *
 * Return: NULL, or what is wrong.
 */
const char *dmda_segments_decode(struct dmda_segments *segments, u64 index,
				 const struct dmda_segments_block *block);

/**
 * dmda_segments_encode() - fill in a page of the table but for its header
 * Return: entries in use.
 */
u32 dmda_segments_encode(const struct dmda_segments *segments, u64 index,
			 struct dmda_segments_block *block);

/**
 * dmda_segments_do() - do what a record says, in daily work
 * @record: one of operation @seq, which is newer than all that any page of the table knows but for
 *	those that its other records are about
 * @sector: first sector of the operation's batch
 *
 * Its page of the table knows the operation from now on: nobody else may look at that before all of
 * the operation's records are done.
 *
 * Return: NULL, or why this cannot have happened.
 */
const char *dmda_segments_do(struct dmda_segments *segments, const struct dmda_record *record,
			     u64 seq, u64 sector);

/**
 * dmda_segments_apply() - do what a record says, in replay
 * @record: one of operation @seq
 *
 * Pages of the table that know @seq already stay as they are.
 *
 * Return: NULL, or why this cannot have happened.
 */
const char *dmda_segments_apply(struct dmda_segments *segments,
				const struct dmda_record *record, u64 seq);

/**
 * dmda_segments_applied() - all records of an operation have been applied
 * @record: one of them; to be called with each
 * @sector: first sector of the operation's batch, or when reading, any one up to its own
 */
void dmda_segments_applied(struct dmda_segments *segments, const struct dmda_record *record,
			   u64 seq, u64 sector);

/**
 * dmda_segments_apply_only() - apply the only record of an operation
 * @sector: as above
 *
 * Nearly all operations of a device that is filled have one.
 *
 * Return: NULL, or why this cannot have happened.
 */
const char *dmda_segments_apply_only(struct dmda_segments *segments,
				     const struct dmda_record *record, u64 seq, u64 sector);

/**
 * dmda_segments_find_free() - find a free segment
 * Return: a segment, or SEG_NONE. Goes round the device.
 */
seg_t dmda_segments_find_free(struct dmda_segments *segments);

/**
 * dmda_segments_set_aside() - nobody finds a free segment, or it can be found again
 * @is_aside: whether it is set aside from now on; it was the other way round before
 */
void dmda_segments_set_aside(struct dmda_segments *segments, seg_t seg, bool is_aside);

/**
 * dmda_segments_stick() - what is in a segment cannot be read: it is none that may be cleaned
 * @why: until when; of several reasons the one that stays for longest counts
 */
void dmda_segments_stick(struct dmda_segments *segments, seg_t seg, enum dmda_stuck why);

/**
 * dmda_segments_unstick() - what could not be read of some segments may be readable again
 * @from: the first of them
 * @to: the one behind the last
 */
void dmda_segments_unstick(struct dmda_segments *segments, u32 from, u32 to);

/**
 * dmda_segments_find_empty() - find a segment that has nothing left
 * @from: segment to begin at; gets the one at which to go on
 *
 * Return: a CLOSED segment without a valid page, or SEG_NONE. That it has lost the last one may not
 * be durable yet.
 */
seg_t dmda_segments_find_empty(const struct dmda_segments *segments, u32 *from);

/**
 * dmda_segments_sort() - a start has read all there is: the oldest of each rank come first
 */
void dmda_segments_sort(struct dmda_segments *segments);

/**
 * dmda_segments_check() - do the sums agree with the segments?
 * Return: NULL, or what is wrong.
 */
const char *dmda_segments_check(const struct dmda_segments *segments);

#endif /* DMDA_SEGMENTS_H */
