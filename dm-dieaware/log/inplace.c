// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overwriting pages where they are, without a word in map and journal.
 *
 * What cleaning moves for each page that it gains grows with how full the device is, beyond
 * all bounds. From some point on it is better to leave small overwrites to the SSD, which
 * moves pages as well, but has room of its own for that, and what is free here besides. Large
 * writes go on to new places: what they replace, they replace whole segments of.
 *
 * But some drives are slow at that. So the time of both ways is measured (core/update.h), and while
 * there are free segments that cleaning in idle time brings back, the quicker one is taken.
 *
 * When the power fails before a flush, some pages of an overwrite in place may be written and
 * others not, as on any disk. Each page is written whole or not at all, since users are told that
 * the device's blocks have 4096 bytes: so it is only done where the device below does that.
 *
 * The SSD has what is free here if it knows of it: segments are discarded, and holes among valid
 * pages, too (holes.c). Where it cannot be told of these, two pages may be moved for each that is
 * overwritten in place, until most of the holes are gone; after that, nothing makes new ones.
 *
 * With FUA, such a write goes on with FUA if what has put its pages there is durable: nothing is
 * left that a commit could do for it. There are no checksums to be changed, as a device that has
 * some overwrites nothing in place.
 *
 * What the last batch of the journal names, if it is a draft, stays as it is: a start looks whether
 * it is there (core/draft.h).
 *
 * What cleaning copies must not change meanwhile: a victim takes no such writes, and those
 * that are under way are waited for.
 */
#include "log.h"

/*
 * Of the segments that cleaning makes free in idle time, one in so many must be free for small
 * overwrites to begin with new places, and to go on with them.
 */
#define SHARE_TO_BEGIN		2U
#define SHARE_TO_END		4U

/* Victims that are looked at under one holding of the lock */
#define VICTIMS_AT_ONCE		256U

/* What is left of a large write would be left of what that replaces, too. */
static bool is_small(const struct dmda_log_io *io)
{
	return dmda_log_io_pages(io) < DMDA_LOG_UNIT_PAGES && !io->is_rest;
}

void dmda_log_look_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	io->may_stay = dmda_log_is_full_locked(log) && is_small(io) &&
		log->inplace.update.way == DMDA_UPDATE_IN_PLACE;
}

/*
 * Are a @share, as one of so many, of the segments that cleaning makes free in idle time free? It
 * brings them back then.
 */
static bool has_room_locked(const struct dmda_log *log, u32 share)
{
	const struct dmda_segments *segments = &log->space.segments;
	const struct dmda_config *config = &log->dmda->config;
	u64 nr_low = min(segments->nr_free, DMDA_LOG_LOW_SEGMENTS);

	lockdep_assert_held(&log->lock);

	return READ_ONCE(config->cleaning) && READ_ONCE(config->idle_ms) &&
		(segments->nr_free - nr_low) * 100 * share >
		(u64)segments->nr_segments * READ_ONCE(config->idle_free_percent);
}

void dmda_log_time_begin_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	struct dmda_update *update = &log->inplace.update;
	/* With in_place=0 they stay, however long that takes. */
	bool has_choice = READ_ONCE(log->dmda->config.in_place_percent);

	lockdep_assert_held(&log->lock);

	if (update->way == DMDA_UPDATE_NEW_PLACE &&
	    !(has_choice && has_room_locked(log, SHARE_TO_END)))
		dmda_update_stay(update, ktime_get_ns());
	io->may_stay = is_small(io) && update->way == DMDA_UPDATE_IN_PLACE;
	if (!has_choice)
		return;
	io->is_timed = true;
	dmda_update_begin(update, update->nr_writing ? 0 : ktime_get_ns());
	if (dmda_log_bio(io)->bi_opf & REQ_FUA)
		dmda_update_flush(update);
}

void dmda_log_time_end_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	struct dmda_update *update = &log->inplace.update;
	u64 now_ns;

	lockdep_assert_held(&log->lock);

	io->is_timed = false;
	now_ns = ktime_get_ns();
	if (dmda_update_end(update, dmda_log_io_pages(io), is_small(io), now_ns))
		dmda_update_judge(update, has_room_locked(log, SHARE_TO_BEGIN), now_ns);
}

bool dmda_log_needs_map_locked(struct dmda_log *log, const struct dmda_log_io *io)
{
	u64 index;
	u32 entry;

	lockdep_assert_held(&log->lock);

	if (!io->may_stay)
		return false;
	index = dmda_log_map_index(log, io->first, &entry);
	/* Those on two pages of the map never stay. */
	return entry + dmda_log_io_pages(io) <= dmda_super_map_entries(&log->super) &&
		!dmda_log_page_is_there_locked(log, index);
}

/*
 * Where all pages of a write are, one behind the other; or DPN_NONE. @seq gets an operation that is
 * no older than those that have put them there.
 */
static dpn_t present_place_locked(struct dmda_log *log, const struct dmda_log_io *io, u64 *seq)
{
	u32 entry;
	u64 index = dmda_log_map_index(log, io->first, &entry);
	struct dmda_log_page *page = io->pages[0] ?: dmda_log_page_find_locked(log, index);
	u32 nr_pages = dmda_log_io_pages(io);
	dpn_t dpn;

	lockdep_assert_held(&log->lock);

	if (!page || entry + nr_pages > page->map.nr_entries ||
	    dmda_map_run(page->map.block, entry, nr_pages, &dpn) < nr_pages)
		return DPN_NONE;
	*seq = page->map.seq;
	return dpn;
}

bool dmda_log_stay_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 nr_pages = dmda_log_io_pages(io);
	seg_t seg;
	dpn_t dpn;
	u64 seq;

	lockdep_assert_held(&log->lock);

	if (!io->may_stay)
		return false;
	dpn = present_place_locked(log, io, &seq);
	if (dpn == DPN_NONE || dmda_draft_names(&log->journal.commit.draft, dpn, nr_pages))
		return false;
	seg = dmda_log_segment_of(log, dpn);
	if (seg == SEG_NONE || test_bit(from_seg(seg), log->cleaning.cleaner->is_victim))
		return false;
	io->dpn = dpn;
	io->seg = seg;
	io->is_in_place = true;
	/* It has claimed its lpns, and cleaning leaves the segment alone: so that stays true. */
	io->is_fua_below = (dmda_log_bio(io)->bi_opf & REQ_FUA) &&
		dmda_commit_covers(&log->journal.commit, seq);
	log->inplace.nr_writing[from_seg(seg)]++;
	log->counters.in_place_pages += nr_pages;
	log->inplace.nr_pages += nr_pages;
	dmda_log_clean_if_holey_locked(log);
	return true;
}

void dmda_log_stayed_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 seg = from_seg(io->seg);

	lockdep_assert_held(&log->lock);

	if (!--log->inplace.nr_writing[seg] && test_bit(seg, log->cleaning.cleaner->is_victim))
		wake_up_all(&log->wait);
}

/* Some of the victims; there may be as many as the device has segments. */
static void mark_victims(struct dmda_log_cleaner *cleaner, u32 from, bool are_victims)
{
	u32 to = min(from + VICTIMS_AT_ONCE, cleaner->plan.nr_victims);

	spin_lock_irq(&cleaner->log->lock);
	for (u32 i = from; i < to; i++)
		__assign_bit(from_seg(cleaner->victim[i]), cleaner->is_victim, are_victims);
	spin_unlock_irq(&cleaner->log->lock);
}

static bool are_some_written_in_place(struct dmda_log_cleaner *cleaner, u32 from)
{
	struct dmda_log *log = cleaner->log;
	u32 to = min(from + VICTIMS_AT_ONCE, cleaner->plan.nr_victims);
	bool are = false;

	spin_lock_irq(&log->lock);
	for (u32 i = from; i < to; i++)
		are = are || log->inplace.nr_writing[from_seg(cleaner->victim[i])];
	spin_unlock_irq(&log->lock);
	return are;
}

/* All are marked: of which that is not so any more, it stays so. */
static bool are_written_in_place(struct dmda_log_cleaner *cleaner)
{
	for (u32 i = 0; i < cleaner->plan.nr_victims; i += VICTIMS_AT_ONCE) {
		if (are_some_written_in_place(cleaner, i))
			return true;
	}
	return false;
}

void dmda_log_begin_victims(struct dmda_log_cleaner *cleaner)
{
	for (u32 i = 0; i < cleaner->plan.nr_victims; i += VICTIMS_AT_ONCE)
		mark_victims(cleaner, i, true);
	wait_event(cleaner->log->wait, !are_written_in_place(cleaner));
}

void dmda_log_end_victims(struct dmda_log_cleaner *cleaner)
{
	for (u32 i = 0; i < cleaner->plan.nr_victims; i += VICTIMS_AT_ONCE)
		mark_victims(cleaner, i, false);
}
