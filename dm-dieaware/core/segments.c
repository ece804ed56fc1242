// SPDX-License-Identifier: GPL-2.0-only
/*
 * The segment table in memory: records applied to it, and its sums.
 *
 * In replay, applying is in two steps, since an operation can have several records for segments of
 * one page: dmda_segments_apply() does what a record says unless the page knows the operation,
 * and dmda_segments_applied() lets the page know it when all are done. In daily work no page can
 * know an operation that is just being done, and one step is enough.
 *
 * How many segments are free or empty, and how many pages valid, is asked at each write and
 * must not take a walk through the table; nor must it to find one of them, or one that is worth
 * cleaning. So each change keeps the sums, three sets, and lists of those with about as many valid
 * pages. What is long in one of these lists has lost nothing for long.
 */
#include "segments.h"

size_t dmda_segments_bytes(const struct dmda_super *super)
{
	u32 nr_segments = dmda_super_nr_segments(super);

	return nr_segments * sizeof(struct dmda_segment) +
		dmda_super_nr_pages(super, DMDA_TABLE_SEGMENTS) *
		sizeof(struct dmda_segments_page) + 3 * dmda_bitset_bytes(nr_segments) +
		dmda_ranks_bytes(nr_segments);
}

void dmda_segments_init(struct dmda_segments *segments, const struct dmda_super *super,
			void *zeroed)
{
	u64 nr_pages = dmda_super_nr_pages(super, DMDA_TABLE_SEGMENTS);
	u8 *sets;

	memset(segments, 0, sizeof(*segments));
	segments->super = super;
	segments->nr_segments = dmda_super_nr_segments(super);
	segments->nr_free = segments->nr_segments;
	segments->segment = zeroed;
	segments->page = (struct dmda_segments_page *)(segments->segment + segments->nr_segments);
	for (u64 i = 0; i < nr_pages; i++)
		segments->page[i].dirty_sector = U64_MAX;
	sets = (u8 *)(segments->page + nr_pages);
	dmda_bitset_init(&segments->free, segments->nr_segments, sets);
	sets += dmda_bitset_bytes(segments->nr_segments);
	dmda_bitset_init(&segments->empty, segments->nr_segments, sets);
	sets += dmda_bitset_bytes(segments->nr_segments);
	dmda_bitset_init(&segments->untold, segments->nr_segments, sets);
	sets += dmda_bitset_bytes(segments->nr_segments);
	dmda_ranks_init(&segments->by_valid, sets);
	while (dmda_super_data_pages(super) >> segments->rank_shift >= DMDA_NR_RANKS)
		segments->rank_shift++;
	for (u32 seg = 0; seg < segments->nr_segments; seg++)
		dmda_bitset_put(&segments->free, seg, true);
}

static bool would_be_empty(u8 state, u32 nr_valid)
{
	return state == DMDA_SEGMENT_CLOSED && !nr_valid;
}

static bool is_empty(const struct dmda_segment *segment)
{
	return would_be_empty(segment->state, segment->nr_valid);
}

/* A segment joins or leaves those that are free, or those that are empty. */
static void count_free(struct dmda_segments *segments, const struct dmda_segment *segment, bool is)
{
	dmda_bitset_put(&segments->free, segment - segments->segment, is);
	segments->nr_free += is ? 1 : -1;
}

static void count_empty(struct dmda_segments *segments, const struct dmda_segment *segment, bool is)
{
	dmda_bitset_put(&segments->empty, segment - segments->segment, is);
	segments->nr_empty += is ? 1 : -1;
}

/* Of what may be cleaned: the more valid pages, the higher */
static u32 rank_of(const struct dmda_segments *segments, const struct dmda_segment *segment,
		   u8 state, u32 nr_valid)
{
	if (state != DMDA_SEGMENT_CLOSED || !nr_valid || segment->stuck ||
	    nr_valid >= dmda_super_data_pages(segments->super))
		return DMDA_RANK_NONE;
	return nr_valid >> segments->rank_shift;
}

static u32 present_rank(const struct dmda_segments *segments, const struct dmda_segment *segment)
{
	return rank_of(segments, segment, segment->state, segment->nr_valid);
}

/* A segment that had @nr_before valid pages in @state_before goes to where it belongs. */
static void rank(struct dmda_segments *segments, const struct dmda_segment *segment,
		 u8 state_before, u32 nr_before)
{
	dmda_ranks_move(&segments->by_valid, segment - segments->segment,
			rank_of(segments, segment, state_before, nr_before),
			present_rank(segments, segment));
}

static void set_stuck(struct dmda_segments *segments, struct dmda_segment *segment, u8 stuck)
{
	segments->nr_unread += stuck == DMDA_STUCK_UNREAD;
	segments->nr_unread -= segment->stuck == DMDA_STUCK_UNREAD;
	segments->nr_wrong += stuck == DMDA_STUCK_WRONG;
	segments->nr_wrong -= segment->stuck == DMDA_STUCK_WRONG;
	segment->stuck = stuck;
}

/* The sums follow what has become of a segment. */
static void count(struct dmda_segments *segments, const struct dmda_segment *segment,
		  u8 state_before, u32 nr_before)
{
	bool is_free = segment->state == DMDA_SEGMENT_FREE;
	bool was_free = state_before == DMDA_SEGMENT_FREE;

	if (is_free != was_free)
		count_free(segments, segment, is_free);
	if (is_empty(segment) != would_be_empty(state_before, nr_before))
		count_empty(segments, segment, is_empty(segment));
	rank(segments, segment, state_before, nr_before);
	segments->nr_valid += (u64)segment->nr_valid - nr_before;
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
	u32 nr_valid = le32_to_cpu(entry->nr_valid), nr_before = segment->nr_valid;
	u8 state_before = segment->state;

	if (entry->state > DMDA_SEGMENT_CLOSED || entry->open >= DMDA_MAX_OPEN)
		return "a segment has an unknown state or open summary";
	if (nr_valid > dmda_super_data_pages(segments->super) ||
	    (entry->state == DMDA_SEGMENT_FREE && nr_valid))
		return "a segment has more valid pages than it can";
	segment->nr_valid = nr_valid;
	segment->state = entry->state;
	segment->open = entry->open;
	segment->mtime = le64_to_cpu(entry->mtime);
	count(segments, segment, state_before, nr_before);
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

/* Nobody cleans an open segment, or takes it for empty or free: only the sum of all changes. */
static const char *add_valid(struct dmda_segments *segments, struct dmda_segment *segment,
			     u32 nr_pages)
{
	if (segment->state != DMDA_SEGMENT_OPEN)
		return "pages are mapped to a segment that is not open";
	if (nr_pages > dmda_super_data_pages(segments->super) - segment->nr_valid)
		return "a segment gets more valid pages than it can have";
	segment->nr_valid += nr_pages;
	segments->nr_valid += nr_pages;
	return NULL;
}

static const char *take_valid(struct dmda_segments *segments, struct dmda_segment *segment,
			      u32 nr_pages)
{
	if (nr_pages > segment->nr_valid)
		return "a segment loses more valid pages than it has";
	segment->nr_valid -= nr_pages;
	segments->nr_valid -= nr_pages;
	/* One that is open is none that is empty or ranked. */
	if (segment->state != DMDA_SEGMENT_CLOSED)
		return NULL;
	if (!segment->nr_valid)
		count_empty(segments, segment, true);
	rank(segments, segment, DMDA_SEGMENT_CLOSED, segment->nr_valid + nr_pages);
	return NULL;
}

static const char *change_state(struct dmda_segments *segments, struct dmda_segment *segment,
				const struct dmda_record *record)
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
	u8 state_before = segment->state;

	if (segment->state != before[record->kind])
		return "a segment changes from a state that it is not in";
	if (record->kind == DMDA_RECORD_FREE && segment->nr_valid)
		return "a segment with valid pages becomes free";
	segment->state = after[record->kind];
	if (record->kind == DMDA_RECORD_FREE)
		set_stuck(segments, segment, DMDA_STUCK_NOT);
	if (record->kind == DMDA_RECORD_OPEN) {
		segment->open = record->open;
		dmda_bitset_put(&segments->untold, segment - segments->segment, false);
	}
	if (record->kind != DMDA_RECORD_FREE)
		segment->mtime = record->mtime;
	count(segments, segment, state_before, segment->nr_valid);
	return NULL;
}

/* The segment that a record is about, or SEG_NONE: none, none that exists, or not it alone. */
static inline seg_t segment_of(const struct dmda_segments *segments,
			       const struct dmda_record *record)
{
	seg_t seg;
	u32 page;

	switch (record->kind) {
	case DMDA_RECORD_MAP:
	case DMDA_RECORD_DEAD:
		seg = dmda_super_segment_of(segments->super, record->dpn, &page);
		return seg != SEG_NONE &&
		       page + record->nr_pages <= dmda_super_data_pages(segments->super) ?
			seg : SEG_NONE;
	case DMDA_RECORD_OPEN:
	case DMDA_RECORD_CLOSE:
	case DMDA_RECORD_FREE:
		return from_seg(record->seg) < segments->nr_segments ? record->seg : SEG_NONE;
	default:
		return SEG_NONE;
	}
}

static const char nowhere[] = "a record names a place where no data can be";

static const char *change(struct dmda_segments *segments, seg_t seg,
			  const struct dmda_record *record, u64 seq)
{
	struct dmda_segment *segment = &segments->segment[from_seg(seg)];

	segment->last_seq = seq;
	switch (record->kind) {
	case DMDA_RECORD_MAP:
		return add_valid(segments, segment, record->nr_pages);
	case DMDA_RECORD_DEAD:
		return take_valid(segments, segment, record->nr_pages);
	default:
		return change_state(segments, segment, record);
	}
}

static void mark_page(struct dmda_segments_page *page, u64 seq, u64 sector)
{
	page->seq = seq;
	page->dirty_sector = min(page->dirty_sector, sector);
}

const char *dmda_segments_do(struct dmda_segments *segments, const struct dmda_record *record,
			     u64 seq, u64 sector)
{
	seg_t seg;

	if (record->kind == DMDA_RECORD_TRIM)
		return NULL;
	seg = segment_of(segments, record);
	if (seg == SEG_NONE)
		return nowhere;
	mark_page(&segments->page[table_page_of(from_seg(seg))], seq, sector);
	return change(segments, seg, record, seq);
}

/* @page: gets the page of the table that does not know the operation yet, or NULL */
static inline const char *apply_record(struct dmda_segments *segments,
				       const struct dmda_record *record, u64 seq,
				       struct dmda_segments_page **page)
{
	seg_t seg = segment_of(segments, record);

	*page = NULL;
	if (record->kind == DMDA_RECORD_TRIM)
		return NULL;
	/* Also if the table knows the operation: open summaries may not know it yet. */
	if (record->open >= DMDA_MAX_OPEN)
		return "a segment is opened with an unknown summary";
	if (seg == SEG_NONE)
		return nowhere;
	if (segments->page[table_page_of(from_seg(seg))].seq >= seq)
		return NULL;
	*page = &segments->page[table_page_of(from_seg(seg))];
	return change(segments, seg, record, seq);
}

const char *dmda_segments_apply(struct dmda_segments *segments,
				const struct dmda_record *record, u64 seq)
{
	struct dmda_segments_page *page;

	return apply_record(segments, record, seq, &page);
}

const char *dmda_segments_apply_only(struct dmda_segments *segments,
				     const struct dmda_record *record, u64 seq, u64 sector)
{
	struct dmda_segments_page *page;
	const char *why = apply_record(segments, record, seq, &page);

	if (!why && page)
		mark_page(page, seq, sector);
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
	if (page->seq < seq)
		mark_page(page, seq, sector);
}

seg_t dmda_segments_find_free(struct dmda_segments *segments)
{
	u32 seg;

	if (!segments->nr_free)
		return SEG_NONE;
	seg = dmda_bitset_next(&segments->free, segments->next);
	if (seg == segments->nr_segments)
		seg = dmda_bitset_next(&segments->free, 0);
	segments->next = seg + 1 < segments->nr_segments ? seg + 1 : 0;
	return to_seg(seg);
}

void dmda_segments_set_aside(struct dmda_segments *segments, seg_t seg, bool is_aside)
{
	count_free(segments, &segments->segment[from_seg(seg)], !is_aside);
}

void dmda_segments_stick(struct dmda_segments *segments, seg_t seg, enum dmda_stuck why)
{
	struct dmda_segment *segment = &segments->segment[from_seg(seg)];
	u32 rank = present_rank(segments, segment);

	set_stuck(segments, segment, max_t(u8, segment->stuck, why));
	dmda_ranks_move(&segments->by_valid, from_seg(seg), rank, DMDA_RANK_NONE);
}

void dmda_segments_unstick(struct dmda_segments *segments, u32 from, u32 to)
{
	for (u32 i = from; i < to; i++) {
		struct dmda_segment *segment = &segments->segment[i];

		if (segment->stuck != DMDA_STUCK_UNREAD)
			continue;
		set_stuck(segments, segment, DMDA_STUCK_NOT);
		dmda_ranks_move(&segments->by_valid, i, DMDA_RANK_NONE,
				present_rank(segments, segment));
	}
}

seg_t dmda_segments_find_empty(const struct dmda_segments *segments, u32 *from)
{
	u32 seg = dmda_bitset_next(&segments->empty, *from);

	*from = seg;
	if (seg == segments->nr_segments)
		return SEG_NONE;
	++*from;
	return to_seg(seg);
}

static bool is_older(const void *arg, u32 a, u32 b)
{
	const struct dmda_segments *segments = arg;

	return segments->segment[a].mtime < segments->segment[b].mtime;
}

void dmda_segments_sort(struct dmda_segments *segments)
{
	dmda_ranks_sort(&segments->by_valid, is_older, segments);
}

static bool is_in(const struct dmda_bitset *set, u32 seg)
{
	return dmda_bitset_next(set, seg) == seg;
}

/* Are the lists of those that may be cleaned as long as they should be, with what belongs there? */
static bool are_ranked(const struct dmda_segments *segments, u32 nr_ranked)
{
	u32 nr = 0;

	for (u32 rank = 0; rank < DMDA_NR_RANKS; rank++) {
		for (u32 seg = dmda_ranks_first(&segments->by_valid, rank);
		     seg != DMDA_RANKS_END && nr <= nr_ranked;
		     seg = dmda_ranks_after(&segments->by_valid, seg), nr++) {
			if (present_rank(segments, &segments->segment[seg]) != rank)
				return false;
		}
	}
	return nr == nr_ranked;
}

const char *dmda_segments_check(const struct dmda_segments *segments)
{
	u32 nr_free = 0, nr_empty = 0, nr_ranked = 0;
	u64 nr_valid = 0;

	for (u32 i = 0; i < segments->nr_segments; i++) {
		const struct dmda_segment *segment = &segments->segment[i];
		bool is_free = segment->state == DMDA_SEGMENT_FREE;

		if (segment->nr_valid > dmda_super_data_pages(segments->super))
			return "a segment has more valid pages than it can";
		if (is_free && segment->nr_valid)
			return "a free segment has valid pages";
		if (is_in(&segments->free, i) != is_free ||
		    is_in(&segments->empty, i) != is_empty(segment))
			return "a segment is not among those that it belongs to";
		nr_free += is_free;
		nr_empty += is_empty(segment);
		nr_ranked += present_rank(segments, segment) != DMDA_RANK_NONE;
		nr_valid += segment->nr_valid;
	}
	if (!are_ranked(segments, nr_ranked))
		return "a segment is not among those that have as many valid pages";
	if (nr_free != segments->nr_free || nr_empty != segments->nr_empty ||
	    nr_valid != segments->nr_valid)
		return "sums over the segments are wrong";
	return NULL;
}
