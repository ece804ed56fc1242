// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places for what is written: taken in a stream's open segment, and in another one when these run
 * out. To open one takes no I/O, and is done where places are taken; what is full is closed by a
 * worker (space.c).
 */
#include "credit.h"
#include "log.h"
#include "places.h"
#include "trace.h"

void dmda_log_retire_locked(struct dmda_log *log, enum dmda_stream stream)
{
	seg_t seg = log->space.writer.open[stream].seg;

	lockdep_assert_held(&log->lock);

	if (seg == SEG_NONE)
		return;
	dmda_writer_open(&log->space.writer, stream, SEG_NONE, 0);
	if (dmda_close_retire(&log->space.closing, log->space.segments.segment[from_seg(seg)].open))
		dmda_log_kick(log, &log->space.work);
}

static bool has_free_locked(const struct dmda_log *log, enum dmda_stream stream)
{
	lockdep_assert_held(&log->lock);

	return log->space.segments.nr_free > dmda_log_kept_from_locked(log, stream);
}

bool dmda_log_can_open_locked(struct dmda_log *log, enum dmda_stream stream)
{
	u8 next = dmda_writer_next_summary(&log->space.writer, stream);

	lockdep_assert_held(&log->lock);

	return has_free_locked(log, stream) && log->space.closing.open[next].seg == SEG_NONE &&
		dmda_log_has_room_locked(log, 1, 0);
}

/* May it be opened; and if not, is somebody at work on that? */
static bool may_open_locked(struct dmda_log *log, enum dmda_stream stream)
{
	lockdep_assert_held(&log->lock);

	dmda_log_clean_if_few_locked(log);
	/* What waits to be freed may wait for a commit. */
	if (!has_free_locked(log, stream) && log->space.segments.nr_empty)
		dmda_log_kick(log, &log->space.work);
	return dmda_log_can_open_locked(log, stream);
}

static bool open_segment_locked(struct dmda_log *log, enum dmda_stream stream)
{
	u8 open = dmda_writer_next_summary(&log->space.writer, stream);
	struct dmda_record record = { .kind = DMDA_RECORD_OPEN, .open = open };
	u64 seq;

	lockdep_assert_held(&log->lock);

	record.seg = dmda_segments_find_free(&log->space.segments);
	if (record.seg == SEG_NONE)
		return false;
	trace_dmda_log_segment(log->dmda->self_dev, record.seg, record.kind);
	seq = dmda_change_segment(&log->journal.change, &record);
	log->draft.nr_own++;
	dmda_opened_begin(&log->space.opened, open, seq,
			  log->journal.commit.batch.first.sector);
	dmda_writer_open(&log->space.writer, stream, record.seg, 0);
	dmda_lifetimes_opened(&log->space.lifetimes, record.seg, stream);
	dmda_close_opened(&log->space.closing, open, record.seg, 0);
	return true;
}

/* Has the stream's segment something to be gained by cleaning, which only takes closed ones? */
static bool has_holes_locked(const struct dmda_log *log, enum dmda_stream stream)
{
	u32 seg = from_seg(log->space.writer.open[stream].seg);
	const struct dmda_segment *segment = &log->space.segments.segment[seg];

	lockdep_assert_held(&log->lock);

	return segment->nr_valid + log->space.closing.open[segment->open].nr_writing <
		log->space.writer.open[stream].next_page;
}

/*
 * Users get no segment: what their others hold, and has no room for this write, is cleaning's if
 * there is something to be gained.
 */
static void retire_others_locked(struct dmda_log *log, enum dmda_stream stream)
{
	lockdep_assert_held(&log->lock);

	for (u32 other = 0; other < DMDA_NR_STREAMS; other++) {
		if (other == stream || !dmda_stream_is_users(other) ||
		    log->space.writer.open[other].seg == SEG_NONE)
			continue;
		if (!dmda_writer_places_left(&log->space.writer, other) ||
		    has_holes_locked(log, other))
			dmda_log_retire_locked(log, other);
	}
}

u32 dmda_log_take_locked(struct dmda_log *log, enum dmda_stream stream, u32 nr_pages,
			 bool whole, dpn_t *dpn, u8 *open)
{
	u32 left = dmda_writer_places_left(&log->space.writer, stream);
	bool is_users = dmda_stream_is_users(stream);
	u32 nr;

	lockdep_assert_held(&log->lock);

	if (is_users && !dmda_log_has_credit_locked(log))
		return 0;
	if (!left || (whole && left < nr_pages)) {
		bool may = may_open_locked(log, stream);

		/* What is left is not wasted for nothing: others may be content with it. */
		if (may || !left || has_holes_locked(log, stream))
			dmda_log_retire_locked(log, stream);
		if (is_users && !may && !dmda_log_spare_locked(log))
			retire_others_locked(log, stream);
		if (!may || !open_segment_locked(log, stream))
			return 0;
	}
	*open = log->space.segments.segment[from_seg(log->space.writer.open[stream].seg)].open;
	nr = dmda_writer_take(&log->space.writer, stream, nr_pages, dpn);
	dmda_close_took(&log->space.closing, *open, nr);
	if (is_users)
		dmda_log_spend_credit_locked(log, nr);
	return nr;
}

void dmda_log_placed_locked(struct dmda_log *log, u8 open, u32 nr_pages)
{
	lockdep_assert_held(&log->lock);

	if (dmda_close_placed(&log->space.closing, open, nr_pages))
		dmda_log_kick(log, &log->space.work);
}

void dmda_log_put_reader(struct dmda_log *log, seg_t seg)
{
	/* It may be the one that is waited for. */
	if (atomic_dec_and_test(&log->space.readers[from_seg(seg)]) &&
	    !READ_ONCE(log->space.segments.segment[from_seg(seg)].nr_valid))
		dmda_log_kick(log, &log->space.work);
}
