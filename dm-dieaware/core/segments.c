// SPDX-License-Identifier: GPL-2.0-only
/*
 * The segment table in memory: records applied to it, and its sums.
 *
 * Applying is in two steps, since an operation can have several records for segments of one
 * page: dmda_segments_apply() does what a record says unless the page knows the operation,
 * and dmda_segments_applied() lets the page know it when all are done.
 *
 * How many segments are free or empty, and how many pages valid, is asked at each write and
 * must not take a walk through the table. So each change keeps the sums.
 */
#include "segments.h"

size_t dmda_segments_bytes(const struct dmda_super *super)
{
	return dmda_super_nr_segments(super) * sizeof(struct dmda_segment) +
		dmda_super_nr_pages(super, DMDA_TABLE_SEGMENTS) *
		sizeof(struct dmda_segments_page);
}

void dmda_segments_init(struct dmda_segments *segments, const struct dmda_super *super,
			void *zeroed)
{
	u64 nr_pages = dmda_super_nr_pages(super, DMDA_TABLE_SEGMENTS);

	memset(segments, 0, sizeof(*segments));
	segments->super = super;
	segments->nr_segments = dmda_super_nr_segments(super);
	segments->nr_free = segments->nr_segments;
	segments->segment = zeroed;
	segments->page = (struct dmda_segments_page *)(segments->segment + segments->nr_segments);
	for (u64 i = 0; i < nr_pages; i++)
		segments->page[i].dirty_sector = U64_MAX;
}

static bool is_empty(const struct dmda_segment *segment)
{
	return segment->state == DMDA_SEGMENT_CLOSED && !segment->nr_valid;
}

/* The sums are kept by taking a segment out of them before it changes, and back in after. */
static void uncount(struct dmda_segments *segments, const struct dmda_segment *segment)
{
	segments->nr_free -= segment->state == DMDA_SEGMENT_FREE;
	segments->nr_empty -= is_empty(segment);
	segments->nr_valid -= segment->nr_valid;
}

static void count(struct dmda_segments *segments, const struct dmda_segment *segment)
{
	segments->nr_free += segment->state == DMDA_SEGMENT_FREE;
	segments->nr_empty += is_empty(segment);
	segments->nr_valid += segment->nr_valid;
}

static u32 table_page_of(u32 seg)
{
	return seg / DMDA_SEGMENTS_PER_PAGE;
}

static u32 entries_of(const struct dmda_segments *segments, u64 index)
{
	return min_t(u64, segments->nr_segments - index * DMDA_SEGMENTS_PER_PAGE,
		     DMDA_SEGMENTS_PER_PAGE);
}

static const char *decode_entry(struct dmda_segments *segments,
				struct dmda_segment *segment,
				const struct dmda_segment_entry *entry)
{
	u32 nr_valid = le32_to_cpu(entry->nr_valid);

	if (entry->state > DMDA_SEGMENT_CLOSED || entry->open >= DMDA_MAX_OPEN)
		return "a segment has an unknown state or open summary";
	if (nr_valid > dmda_super_data_pages(segments->super) ||
	    (entry->state == DMDA_SEGMENT_FREE && nr_valid))
		return "a segment has more valid pages than it can";
	uncount(segments, segment);
	segment->nr_valid = nr_valid;
	segment->state = entry->state;
	segment->open = entry->open;
	segment->mtime = le64_to_cpu(entry->mtime);
	count(segments, segment);
	return NULL;
}

const char *dmda_segments_decode(struct dmda_segments *segments, u64 index,
				 const struct dmda_segments_block *block)
{
	u32 nr = entries_of(segments, index);
	u32 first = index * DMDA_SEGMENTS_PER_PAGE;

	for (u32 i = 0; i < nr; i++) {
		const char *why = decode_entry(segments, &segments->segment[first + i],
					       &block->segment[i]);

		if (why)
			return why;
	}
	segments->page[index].seq = le64_to_cpu(block->header.seq);
	return NULL;
}

u32 dmda_segments_encode(const struct dmda_segments *segments, u64 index,
			 struct dmda_segments_block *block)
{
	u32 nr = entries_of(segments, index);

	memset(block->segment, 0, sizeof(block->segment));
	for (u32 i = 0; i < nr; i++) {
		const struct dmda_segment *segment =
			&segments->segment[index * DMDA_SEGMENTS_PER_PAGE + i];
		struct dmda_segment_entry *entry = &block->segment[i];

		entry->nr_valid = cpu_to_le32(segment->nr_valid);
		entry->state = segment->state;
		entry->open = segment->open;
		entry->mtime = cpu_to_le64(segment->mtime);
	}
	return nr;
}

static const char *add_valid(struct dmda_segments *segments, struct dmda_segment *segment,
			     u32 nr_pages)
{
	if (segment->state != DMDA_SEGMENT_OPEN)
		return "pages are mapped to a segment that is not open";
	if (nr_pages > dmda_super_data_pages(segments->super) - segment->nr_valid)
		return "a segment gets more valid pages than it can have";
	segment->nr_valid += nr_pages;
	return NULL;
}

static const char *take_valid(struct dmda_segment *segment, u32 nr_pages)
{
	if (nr_pages > segment->nr_valid)
		return "a segment loses more valid pages than it has";
	segment->nr_valid -= nr_pages;
	return NULL;
}

static const char *change_state(struct dmda_segment *segment, const struct dmda_record *record)
{
	static const u8 before[] = {
		[DMDA_RECORD_OPEN] = DMDA_SEGMENT_FREE,
		[DMDA_RECORD_CLOSE] = DMDA_SEGMENT_OPEN,
		[DMDA_RECORD_FREE] = DMDA_SEGMENT_CLOSED,
	};
	static const u8 after[] = {
		[DMDA_RECORD_OPEN] = DMDA_SEGMENT_OPEN,
		[DMDA_RECORD_CLOSE] = DMDA_SEGMENT_CLOSED,
		[DMDA_RECORD_FREE] = DMDA_SEGMENT_FREE,
	};

	if (record->open >= DMDA_MAX_OPEN)
		return "a segment is opened with an unknown summary";
	if (segment->state != before[record->kind])
		return "a segment changes from a state that it is not in";
	if (record->kind == DMDA_RECORD_FREE && segment->nr_valid)
		return "a segment with valid pages becomes free";
	segment->state = after[record->kind];
	if (record->kind == DMDA_RECORD_OPEN)
		segment->open = record->open;
	if (record->kind != DMDA_RECORD_FREE)
		segment->mtime = record->mtime;
	return NULL;
}

/* The segment that a record is about, or SEG_NONE: none, or none that exists. */
static seg_t segment_of(const struct dmda_segments *segments, const struct dmda_record *record)
{
	u32 page;

	switch (record->kind) {
	case DMDA_RECORD_MAP:
	case DMDA_RECORD_DEAD:
		return dmda_super_segment_of(segments->super, record->dpn, &page);
	case DMDA_RECORD_OPEN:
	case DMDA_RECORD_CLOSE:
	case DMDA_RECORD_FREE:
		return from_seg(record->seg) < segments->nr_segments ? record->seg : SEG_NONE;
	default:
		return SEG_NONE;
	}
}

static bool is_within(const struct dmda_segments *segments, const struct dmda_record *record)
{
	u32 page;

	return (record->kind != DMDA_RECORD_MAP && record->kind != DMDA_RECORD_DEAD) ||
		(dmda_super_segment_of(segments->super, record->dpn, &page) != SEG_NONE &&
		 page + record->nr_pages <= dmda_super_data_pages(segments->super));
}

const char *dmda_segments_apply(struct dmda_segments *segments,
				const struct dmda_record *record, u64 seq)
{
	seg_t seg = segment_of(segments, record);
	struct dmda_segment *segment;
	const char *why;

	if (record->kind == DMDA_RECORD_TRIM)
		return NULL;
	if (seg == SEG_NONE || !is_within(segments, record))
		return "a record names a place where no data can be";
	if (segments->page[table_page_of(from_seg(seg))].seq >= seq)
		return NULL;
	segment = &segments->segment[from_seg(seg)];
	uncount(segments, segment);
	if (record->kind == DMDA_RECORD_MAP)
		why = add_valid(segments, segment, record->nr_pages);
	else if (record->kind == DMDA_RECORD_DEAD)
		why = take_valid(segment, record->nr_pages);
	else
		why = change_state(segment, record);
	segment->last_seq = seq;
	count(segments, segment);
	return why;
}

void dmda_segments_applied(struct dmda_segments *segments, const struct dmda_record *record,
			   u64 seq, u64 sector)
{
	seg_t seg = segment_of(segments, record);
	struct dmda_segments_page *page;

	if (seg == SEG_NONE)
		return;
	page = &segments->page[table_page_of(from_seg(seg))];
	if (page->seq >= seq)
		return;
	page->seq = seq;
	page->dirty_sector = min(page->dirty_sector, sector);
}

seg_t dmda_segments_find_free(struct dmda_segments *segments)
{
	for (u32 i = 0; segments->nr_free && i < segments->nr_segments; i++) {
		u32 seg = segments->next;

		segments->next = seg + 1 < segments->nr_segments ? seg + 1 : 0;
		if (segments->segment[seg].state == DMDA_SEGMENT_FREE)
			return to_seg(seg);
	}
	return SEG_NONE;
}

seg_t dmda_segments_find_empty(const struct dmda_segments *segments, u64 durable_seq, u32 *from)
{
	for (; segments->nr_empty && *from < segments->nr_segments; ++*from) {
		const struct dmda_segment *segment = &segments->segment[*from];

		if (is_empty(segment) && segment->last_seq <= durable_seq)
			return to_seg((*from)++);
	}
	return SEG_NONE;
}

const char *dmda_segments_check(const struct dmda_segments *segments)
{
	u32 nr_free = 0, nr_empty = 0;
	u64 nr_valid = 0;

	for (u32 i = 0; i < segments->nr_segments; i++) {
		const struct dmda_segment *segment = &segments->segment[i];

		if (segment->nr_valid > dmda_super_data_pages(segments->super))
			return "a segment has more valid pages than it can";
		if (segment->state == DMDA_SEGMENT_FREE && segment->nr_valid)
			return "a free segment has valid pages";
		nr_free += segment->state == DMDA_SEGMENT_FREE;
		nr_empty += is_empty(segment);
		nr_valid += segment->nr_valid;
	}
	if (nr_free != segments->nr_free || nr_empty != segments->nr_empty ||
	    nr_valid != segments->nr_valid)
		return "sums over the segments are wrong";
	return NULL;
}
