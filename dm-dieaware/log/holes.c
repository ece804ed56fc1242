// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places that hold nothing, among valid pages in segments that are not going to be cleaned soon. An
 * SSD that moves pages itself, since they are overwritten in place, should know of these as well as
 * of free segments, and so they are discarded where they are.
 *
 * What is found to be invalid in a closed segment stays so until the segment is free, which it
 * cannot become while it is held. It may go when what took it away is durable, and nobody
 * reads there that has seen the map as it was before (core/free.h). Where that is not so,
 * the next time is early enough.
 */
#include "commit.h"
#include "disk.h"
#include "holes.h"
#include "log.h"
#include "places.h"

/* With fewer that it has not been told of, a segment is left alone. */
#define MIN_UNTOLD		DMDA_LOG_UNIT_PAGES

bool dmda_log_holes_create(struct dmda_log *log)
{
	struct dmda_log_holes *holes = &log->holes;
	u32 nr_words = DIV_ROUND_UP(dmda_super_data_pages(&log->super), 64);

	holes->nr_told = dmda_log_table_alloc(dmda_super_nr_segments(&log->super), sizeof(u32));
	holes->look.summary = kvcalloc(log->super.summary_pages, sizeof(*holes->look.summary),
				       GFP_KERNEL);
	holes->look.is_valid = kvcalloc(nr_words, sizeof(u64), GFP_KERNEL);
	return holes->nr_told && holes->look.summary && holes->look.is_valid;
}

void dmda_log_holes_destroy(struct dmda_log *log)
{
	kvfree(log->holes.look.is_valid);
	kvfree(log->holes.look.summary);
	kvfree(log->holes.nr_told);
}

/* Has a segment so many holes that it is worth it? Then it is held. */
static bool hold_if_worth(struct dmda_log *log, seg_t seg)
{
	const struct dmda_segment *segment = &log->space.segments.segment[from_seg(seg)];
	u32 nr_pages = dmda_super_data_pages(&log->super);
	bool is_worth;

	spin_lock_irq(&log->lock);
	is_worth = segment->state == DMDA_SEGMENT_CLOSED && segment->nr_valid &&
		   segment->nr_valid + log->holes.nr_told[from_seg(seg)] + MIN_UNTOLD <= nr_pages;
	if (is_worth)
		dmda_log_hold(log, seg);
	spin_unlock_irq(&log->lock);
	return is_worth;
}

/* May what was found to be invalid go? Of the readers one is us. */
static bool may_lose(struct dmda_log *log)
{
	const struct dmda_log_look *look = &log->holes.look;
	bool may;

	spin_lock_irq(&log->lock);
	/* Against who looks up without the lock, see core/lookup.h. */
	smp_mb__after_spinlock();
	may = dmda_free_may_lose(&log->space.freeing, look->seg, look->nr_valid,
				 atomic_read(&log->space.readers[from_seg(look->seg)]) - 1);
	spin_unlock_irq(&log->lock);
	return may;
}

/* The next hole from @page on. Return: its length; 0: there is none. */
static u32 next_hole(const struct dmda_log *log, u32 *page)
{
	const struct dmda_log_look *look = &log->holes.look;
	u32 end, nr_pages = dmda_super_data_pages(&log->super);

	while (*page < nr_pages && dmda_log_is_valid(look, *page))
		++*page;
	for (end = *page; end < nr_pages && !dmda_log_is_valid(look, end); end++)
		;
	return end - *page;
}

/* Some holes from @page on. Return: the page behind them. */
static u32 discard_some(struct dmda_log *log, u32 page)
{
	u64 first = from_dpn(dmda_super_segment_dpn(&log->super, log->holes.look.seg));
	struct dmda_log_group group;
	u32 nr;

	dmda_log_group_begin(&group);
	for (u32 i = 0; i < DMDA_LOG_DISCARDS_AT_ONCE; i++) {
		nr = next_hole(log, &page);
		if (!nr)
			break;
		dmda_log_begin_discard(log, &group, to_dpn(first + page), nr);
		page += nr;
	}
	/* A device that does not forget loses nothing. */
	dmda_log_group_end(&group);
	return page;
}

static void tell(struct dmda_log *log)
{
	const struct dmda_log_look *look = &log->holes.look;
	u32 nr_pages = dmda_super_data_pages(&log->super), page = 0;

	while (page < nr_pages && dmda_log_may_discard(log))
		page = discard_some(log, page);
	if (page < nr_pages)
		return;
	spin_lock_irq(&log->lock);
	dmda_log_forget_holes_locked(log, look->seg);
	log->holes.nr_told[from_seg(look->seg)] = nr_pages - look->nr_valid;
	log->holes.nr_told_all += nr_pages - look->nr_valid;
	spin_unlock_irq(&log->lock);
}

static void tell_of(struct dmda_log *log, seg_t seg)
{
	struct dmda_log_look *look = &log->holes.look;

	look->seg = seg;
	dmda_log_look_at(log->cleaning.cleaner, look, 1);
	if (look->is_known && (may_lose(log) || (!dmda_log_commit(log) && may_lose(log))))
		tell(log);
	dmda_log_put_reader(log, seg);
}

void dmda_log_do_holes(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, holes.work);

	for (u32 i = 0; i < log->space.segments.nr_segments && dmda_log_may_discard(log); i++) {
		if (hold_if_worth(log, to_seg(i)))
			tell_of(log, to_seg(i));
		cond_resched();
	}
}
