// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far a segment is on its way is noted with the segment, so that two who free segments at a
 * time, one with discards and one without, do not meet in the same.
 */
#include "free.h"

enum leaving {
	LEAVING_NOT,
	LEAVING_CLAIMED,
	LEAVING_DISCARDING,
	LEAVING_TOLD,
	LEAVING_ASIDE,
};

static struct dmda_segment *segment_at(const struct dmda_freeing *freeing, seg_t seg)
{
	return &freeing->segments->segment[from_seg(seg)];
}

/* All but @nr_valid of its pages */
static bool may_be_lost(const struct dmda_freeing *freeing, const struct dmda_segment *segment,
			u32 nr_valid)
{
	return segment->state == DMDA_SEGMENT_CLOSED && segment->nr_valid == nr_valid &&
		segment->last_seq <= dmda_commit_sure_seq(freeing->commit);
}

static bool is_to_be_had(const struct dmda_freeing *freeing, const struct dmda_segment *segment)
{
	return segment->leaving == LEAVING_NOT && may_be_lost(freeing, segment, 0);
}

seg_t dmda_free_find(const struct dmda_freeing *freeing, u32 *from)
{
	for (u32 i = 0; i < DMDA_FREE_LOOKS; i++) {
		seg_t seg = dmda_segments_find_empty(freeing->segments, from);

		if (seg == SEG_NONE || is_to_be_had(freeing, segment_at(freeing, seg)))
			return seg;
	}
	return SEG_NONE;
}

bool dmda_free_claim(struct dmda_freeing *freeing, seg_t seg, u32 nr_readers)
{
	struct dmda_segment *segment = segment_at(freeing, seg);

	if (nr_readers || !is_to_be_had(freeing, segment))
		return false;
	segment->leaving = LEAVING_CLAIMED;
	freeing->nr_claimed++;
	return true;
}

bool dmda_free_discard(struct dmda_freeing *freeing, seg_t seg)
{
	struct dmda_segment *segment = segment_at(freeing, seg);

	if (segment->leaving != LEAVING_CLAIMED)
		return false;
	segment->leaving = LEAVING_DISCARDING;
	return true;
}

void dmda_free_discarded(struct dmda_freeing *freeing, seg_t seg)
{
	struct dmda_segment *segment = segment_at(freeing, seg);

	if (segment->leaving == LEAVING_DISCARDING)
		segment->leaving = LEAVING_TOLD;
}

static bool is_claimed(const struct dmda_segment *segment)
{
	return segment->leaving == LEAVING_CLAIMED || segment->leaving == LEAVING_TOLD;
}

bool dmda_free_record(const struct dmda_freeing *freeing, seg_t seg, struct dmda_record *record)
{
	if (!is_claimed(segment_at(freeing, seg)))
		return false;
	*record = (struct dmda_record){ .kind = DMDA_RECORD_FREE, .seg = seg };
	return true;
}

void dmda_free_end(struct dmda_freeing *freeing, seg_t seg)
{
	struct dmda_segment *segment = segment_at(freeing, seg);

	if (!is_claimed(segment))
		return;
	/* If somebody has opened it already, it has what is written there. */
	if (segment->leaving == LEAVING_CLAIMED && segment->state == DMDA_SEGMENT_FREE)
		dmda_bitset_put(&freeing->segments->untold, from_seg(seg), true);
	segment->leaving = LEAVING_NOT;
	freeing->nr_claimed--;
}

seg_t dmda_free_set_aside(struct dmda_freeing *freeing)
{
	struct dmda_segments *segments = freeing->segments;
	u32 seg = dmda_bitset_next(&segments->untold, 0);

	if (seg == segments->nr_segments)
		return SEG_NONE;
	dmda_bitset_put(&segments->untold, seg, false);
	dmda_segments_set_aside(segments, to_seg(seg), true);
	segments->segment[seg].leaving = LEAVING_ASIDE;
	freeing->nr_aside++;
	return to_seg(seg);
}

void dmda_free_put_back(struct dmda_freeing *freeing, seg_t seg)
{
	struct dmda_segment *segment = segment_at(freeing, seg);

	if (segment->leaving != LEAVING_ASIDE)
		return;
	segment->leaving = LEAVING_NOT;
	freeing->nr_aside--;
	dmda_segments_set_aside(freeing->segments, seg, false);
}

bool dmda_free_may_lose(const struct dmda_freeing *freeing, seg_t seg, u32 nr_valid,
			u32 nr_readers)
{
	return !nr_readers && may_be_lost(freeing, segment_at(freeing, seg), nr_valid);
}
