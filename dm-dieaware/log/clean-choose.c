// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which segments are cleaned: those that gain the most for what is moved, or by the policy those
 * whose files are in most pieces; and as many as what is valid in them has places for, whatever
 * happens meanwhile.
 */
#include <linux/sort.h>

#include "commit.h"
#include "disk.h"
#include "evict.h"
#include "log.h"
#include "look-up.h"
#include "places.h"
#include "trace.h"

/* In idle time, a segment with more valid pages than this share of them stays as it is. */
#define MAX_IDLE_VALID(data_pages)	((data_pages) / 4 * 3)

/* Where an lpn is now. Return: 0 or a negative errno. */
static int where_is(struct dmda_log *log, u64 lpn, dpn_t *dpn)
{
	struct dmda_log_page *page;
	u32 entry;

	if (dmda_log_peek(log, lpn, dpn))
		return 0;
	page = dmda_log_page_wait(log, dmda_log_map_index(log, lpn, &entry));
	if (IS_ERR(page))
		return PTR_ERR(page);
	spin_lock_irq(&log->lock);
	*dpn = dmda_map_get(page->map.block, entry);
	dmda_log_page_put_locked(log, page);
	spin_unlock_irq(&log->lock);
	return 0;
}

static dpn_t summary_of(const struct dmda_log *log, const struct dmda_log_look *look)
{
	return dmda_summary_dpn(&log->super, look->seg);
}

/* All at the same time: each of them waits for what its die is doing. */
static void read_summaries(struct dmda_log *log, struct dmda_log_look *looks, u32 nr)
{
	struct blk_plug plug;

	blk_start_plug(&plug);
	for (u32 i = 0; i < nr; i++) {
		dmda_log_group_begin(&looks[i].group);
		dmda_log_begin_read(log, &looks[i].group, summary_of(log, &looks[i]),
				    looks[i].summary, log->super.summary_pages);
	}
	blk_finish_plug(&plug);
	for (u32 i = 0; i < nr; i++) {
		struct dmda_log_look *look = &looks[i];

		look->is_unread = !dmda_log_group_end(&look->group);
		look->is_known = !look->is_unread &&
			!dmda_summary_check(look->summary, &log->super, look->seg);
	}
}

/* Was a page of a segment written, and with what? */
static bool was_written(const struct dmda_log *log, const struct dmda_log_look *look, u32 page,
			u64 *lpn)
{
	struct dmda_written written;

	if (!dmda_summary_get(look->summary, page, &written))
		return false;
	*lpn = from_lpn(written.lpn);
	return *lpn < log->super.nr_lpns;
}

/*
 * Reads what of the map has to be known about pages of a segment, from one of them on.
 * Return: the first page of which that is not said.
 */
static u32 fetch_map(struct dmda_log *log, const struct dmda_log_look *look, u32 page)
{
	u32 nr_pages = dmda_super_data_pages(&log->super), entry;
	struct dmda_log_wanted wanted;
	u64 lpn;

	dmda_log_wanted_init(log, &wanted);
	for (; page < nr_pages; page++) {
		if (was_written(log, look, page, &lpn) &&
		    !dmda_log_wanted_add(log, &wanted, dmda_log_map_index(log, lpn, &entry)))
			break;
	}
	dmda_log_wanted_read(log, &wanted);
	return page;
}

static int find_valid(struct dmda_log *log, struct dmda_log_look *look)
{
	u64 first = from_dpn(dmda_super_segment_dpn(&log->super, look->seg));
	u32 nr_pages = dmda_super_data_pages(&log->super), nr_fetched = 0;

	for (u32 page = 0; page < nr_pages; page++) {
		dpn_t dpn;
		u64 lpn;

		if (page == nr_fetched)
			nr_fetched = fetch_map(log, look, page);
		if (!was_written(log, look, page, &lpn))
			continue;
		if (where_is(log, lpn, &dpn))
			return -EIO;
		if (from_dpn(dpn) != first + page)
			continue;
		look->is_valid[page / 64] |= BIT_ULL(page % 64);
		look->nr_valid++;
	}
	return 0;
}

/* What is valid in a closed segment only becomes less: was all of it found? */
static bool is_complete(struct dmda_log *log, const struct dmda_log_look *look)
{
	bool is;

	spin_lock_irq(&log->lock);
	is = log->space.segments.segment[from_seg(look->seg)].nr_valid <= look->nr_valid;
	spin_unlock_irq(&log->lock);
	return is;
}

void dmda_log_look_at(struct dmda_log_cleaner *cleaner, struct dmda_log_look *looks, u32 nr)
{
	struct dmda_log *log = cleaner->log;
	u32 nr_words = DIV_ROUND_UP(dmda_super_data_pages(&log->super), 64);

	read_summaries(log, looks, nr);
	for (u32 i = 0; i < nr; i++) {
		looks[i].nr_valid = 0;
		memset(looks[i].is_valid, 0, nr_words * sizeof(u64));
		if (looks[i].is_known)
			looks[i].is_unread = find_valid(log, &looks[i]);
		looks[i].is_known = looks[i].is_known && !looks[i].is_unread &&
			is_complete(log, &looks[i]);
		dmda_log_pages_shrink(log);
	}
}

/* What gains little is left alone in idle time. */
static u32 max_valid(const struct dmda_log_cleaner *cleaner)
{
	return cleaner->is_idle ? MAX_IDLE_VALID(dmda_super_data_pages(&cleaner->log->super)) :
		U32_MAX;
}

void dmda_log_hold(struct dmda_log *log, seg_t seg)
{
	atomic_inc(&log->space.readers[from_seg(seg)]);
}

/* The best segments, held. Return: how many. */
static u32 find_candidates(struct dmda_log_cleaner *cleaner, enum dmda_policy policy)
{
	struct dmda_log *log = cleaner->log;
	struct dmda_candidate found[DMDA_LOG_CANDIDATES];
	u32 nr;

	spin_lock_irq(&log->lock);
	nr = dmda_victim_find(&log->space.segments, log->journal.commit.batch.next_seq, policy,
			      max_valid(cleaner), found, DMDA_LOG_CANDIDATES);
	for (u32 i = 0; i < nr; i++) {
		dmda_log_hold(log, found[i].seg);
		cleaner->look[i].seg = found[i].seg;
	}
	spin_unlock_irq(&log->lock);
	return nr;
}

static int by_worth(const void *a, const void *b)
{
	const struct dmda_log_look *left = a, *right = b;

	return left->worth < right->worth ? 1 : left->worth > right->worth ? -1 : 0;
}

/* Of the best ones, those first whose files are in most pieces. */
static void sort_by_pieces(struct dmda_log_cleaner *cleaner, u32 nr)
{
	u32 nr_pages = dmda_super_data_pages(&cleaner->log->super);

	for (u32 i = 0; i < nr; i++) {
		struct dmda_log_look *look = &cleaner->look[i];

		look->worth = look->is_known ?
			dmda_victim_pieces(look->summary, look->is_valid, nr_pages,
					   &cleaner->files) : 0;
	}
	sort(cleaner->look, nr, sizeof(*cleaner->look), by_worth, NULL);
}

static void collect_moves(struct dmda_log_cleaner *cleaner, const struct dmda_log_look *look)
{
	struct dmda_log *log = cleaner->log;
	u64 first = from_dpn(dmda_super_segment_dpn(&log->super, look->seg));

	for (u32 page = 0; page < dmda_super_data_pages(&log->super); page++) {
		struct dmda_written written;

		if (!dmda_log_is_valid(look, page) ||
		    !dmda_summary_get(look->summary, page, &written))
			continue;
		cleaner->move[cleaner->plan.nr_moves++] = (struct dmda_log_move){
			.lpn = from_lpn(written.lpn),
			.from = to_dpn(first + page),
			.file = written.file,
			.fpage = written.fpage,
		};
	}
}

bool dmda_log_add_victim(struct dmda_log_cleaner *cleaner, const struct dmda_log_look *look)
{
	struct dmda_log *log = cleaner->log;
	u32 seg = from_seg(look->seg);

	if (!look->is_known) {
		DMWARN_LIMIT("%s: Segment %u cannot be cleaned: its valid pages are not known.",
			     dm_table_device_name(log->dmda->ti->table), seg);
		dmda_log_stick(cleaner, look->seg, look->is_unread ? DMDA_STUCK_UNREAD :
								     DMDA_STUCK_WRONG);
		return false;
	}
	if (!dmda_plan_has_room(&cleaner->plan, look->nr_valid))
		return false;
	collect_moves(cleaner, look);
	cleaner->mtime = max(cleaner->mtime, log->space.segments.segment[seg].mtime);
	cleaner->victim[cleaner->plan.nr_victims++] = look->seg;
	trace_dmda_log_clean(log->dmda->self_dev, look->seg, look->nr_valid);
	return true;
}

void dmda_log_forget_victims(struct dmda_log_cleaner *cleaner)
{
	dmda_plan_forget(&cleaner->plan);
	cleaner->mtime = 0;
	cleaner->is_again = false;
}

static u64 room_now(struct dmda_log *log)
{
	u64 room;

	spin_lock_irq(&log->lock);
	room = dmda_writer_room(&log->space.writer, DMDA_STREAM_MOVED, &log->space.segments);
	spin_unlock_irq(&log->lock);
	return room;
}

u32 dmda_log_sure_moves(struct dmda_log_cleaner *cleaner)
{
	struct dmda_log *log = cleaner->log;
	u64 room = room_now(log);

	/* What the last round has emptied may not be free yet. */
	if (room < cleaner->plan.kept_moves && READ_ONCE(log->space.segments.nr_empty) &&
	    !dmda_log_commit(log)) {
		queue_work(log->queue, &log->space.work);
		flush_work(&log->space.work);
		room = room_now(log);
	}
	return dmda_plan_sure(&cleaner->plan, room);
}

/* Takes in what fits of the best. Return: whether some are stuck now, and others are the best. */
static bool add_best(struct dmda_log_cleaner *cleaner, enum dmda_policy policy)
{
	u32 nr = find_candidates(cleaner, policy);
	bool are_stuck = false;

	dmda_log_look_at(cleaner, cleaner->look, nr);
	if (policy == DMDA_POLICY_FILE_AWARE)
		sort_by_pieces(cleaner, nr);
	for (u32 i = 0; i < nr; i++) {
		if (dmda_log_add_victim(cleaner, &cleaner->look[i]))
			continue;
		are_stuck = are_stuck || !cleaner->look[i].is_known;
		dmda_log_put_reader(cleaner->log, cleaner->look[i].seg);
	}
	return are_stuck;
}

/* Is nothing found yet, and may it be looked for? A look may take as long as a bad device does. */
static bool goes_on(const struct dmda_log_cleaner *cleaner)
{
	return !cleaner->plan.nr_victims && dmda_log_may_work(cleaner->log) &&
		!dmda_log_must_stop(cleaner);
}

static void add_some(struct dmda_log_cleaner *cleaner, enum dmda_policy policy)
{
	while (add_best(cleaner, policy) && goes_on(cleaner))
		;
}

u32 dmda_log_choose_victims(struct dmda_log_cleaner *cleaner, bool is_urgent)
{
	struct dmda_log *log = cleaner->log;
	enum dmda_policy policy = READ_ONCE(log->dmda->config.policy);

	cleaner->plan.max_moves = dmda_log_sure_moves(cleaner);
	/* When users wait, or others may not fit: the most space for the least work. */
	if (is_urgent || cleaner->plan.is_tight)
		policy = DMDA_POLICY_GREEDY;
	dmda_log_forget_victims(cleaner);
	cleaner->in_file_order = policy == DMDA_POLICY_FILE_AWARE;
	add_some(cleaner, policy);
	/* There is nothing to be gained elsewhere. */
	cleaner->is_again = goes_on(cleaner) && dmda_log_try_again(cleaner);
	if (cleaner->is_again)
		add_some(cleaner, policy);
	return cleaner->plan.nr_victims;
}
