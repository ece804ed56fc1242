// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cleaning: what is valid in some segments is copied to another one (copy.c). Then they
 * have no valid page any more, and are freed as any such segment. Here it is decided when
 * that is done, and to which segments.
 *
 * Cleaning needs no memory but what is set aside for it, and segments that nobody else
 * may open; so it always comes to an end.
 *
 * It never begins to move more pages than its own segment and the free ones have places for. So
 * the victims of a round can be emptied, also if the power fails on the way: what is left to be
 * moved then is less by as much as the places are, since cleaning goes on in the same segment.
 *
 * The segments that are being cleaned are counted as being read: none of them can be
 * freed and written again before their pages have been compared with the map.
 */
#include <linux/mm.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>

#include "disk.h"
#include "log.h"
#include "trace.h"

/* In idle time, a segment with more valid pages than this share of them stays as it is. */
#define MAX_IDLE_VALID(data_pages)	((data_pages) / 4 * 3)

static bool may_work(const struct dmda_log *log)
{
	return READ_ONCE(log->state) == DMDA_LOG_WRITE && !READ_ONCE(log->is_quiet);
}

static bool may_clean(const struct dmda_log *log)
{
	return may_work(log) && READ_ONCE(log->dmda->config.cleaning);
}

/*
 * Choosing
 */

/* Where an lpn is now. Return: 0 or a negative errno. */
static int where_is(struct dmda_log *log, u64 lpn, dpn_t *dpn)
{
	u32 entry;
	struct dmda_log_page *page = dmda_log_page_wait(log, dmda_map_index(to_lpn(lpn), &entry));

	if (IS_ERR(page))
		return PTR_ERR(page);
	spin_lock_irq(&log->lock);
	*dpn = dmda_map_get(page->map.block, entry);
	dmda_log_page_put_locked(page);
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
	struct dmda_log_group group;
	struct blk_plug plug;
	bool are_read;

	dmda_log_group_begin(&group);
	blk_start_plug(&plug);
	for (u32 i = 0; i < nr; i++)
		dmda_log_begin_read(log, &group, summary_of(log, &looks[i]), looks[i].summary,
				    log->super.summary_pages);
	blk_finish_plug(&plug);
	are_read = dmda_log_group_end(&group);
	for (u32 i = 0; i < nr; i++) {
		struct dmda_log_look *look = &looks[i];

		/* Which one was it? */
		look->is_known = are_read ||
			!dmda_log_read(log, summary_of(log, look), look->summary,
				       log->super.summary_pages);
		look->is_known = look->is_known &&
			!dmda_summary_check(look->summary, &log->super, look->seg);
	}
}

static int find_valid(struct dmda_log *log, struct dmda_log_look *look)
{
	u64 first = from_dpn(dmda_super_segment_dpn(&log->super, look->seg));
	u32 nr_pages = dmda_super_data_pages(&log->super);

	for (u32 page = 0; page < nr_pages; page++) {
		struct dmda_written written;
		dpn_t dpn;

		if (!dmda_summary_get(look->summary, page, &written) ||
		    from_lpn(written.lpn) >= log->super.nr_lpns)
			continue;
		if (where_is(log, from_lpn(written.lpn), &dpn))
			return -EIO;
		if (from_dpn(dpn) != first + page)
			continue;
		look->is_valid[page / 64] |= BIT_ULL(page % 64);
		look->nr_valid++;
	}
	return 0;
}

/* Finds the valid pages of segments. */
static void look_at(struct dmda_log_cleaner *cleaner, struct dmda_log_look *looks, u32 nr)
{
	struct dmda_log *log = cleaner->log;
	u32 nr_words = DIV_ROUND_UP(dmda_super_data_pages(&log->super), 64);

	read_summaries(log, looks, nr);
	for (u32 i = 0; i < nr; i++) {
		looks[i].nr_valid = 0;
		memset(looks[i].is_valid, 0, nr_words * sizeof(u64));
		looks[i].is_known = looks[i].is_known && !find_valid(log, &looks[i]);
		dmda_log_pages_shrink(log);
	}
}

/* What cannot be read, or in idle time gains little, is left alone. */
static bool is_worth_it(const struct dmda_log_cleaner *cleaner, seg_t seg)
{
	const struct dmda_log *log = cleaner->log;

	if (test_bit(from_seg(seg), cleaner->is_stuck))
		return false;
	return !cleaner->is_idle || log->space.segments.segment[from_seg(seg)].nr_valid <=
		MAX_IDLE_VALID(dmda_super_data_pages(&log->super));
}

static void hold(struct dmda_log *log, seg_t seg)
{
	atomic_inc(&log->space.readers[from_seg(seg)]);
}

/* The best segments, held. Return: how many. */
static u32 find_candidates(struct dmda_log_cleaner *cleaner, enum dmda_policy policy)
{
	struct dmda_log *log = cleaner->log;
	struct dmda_candidate found[DMDA_MAX_CANDIDATES];
	u32 nr_found, nr = 0;

	spin_lock_irq(&log->lock);
	nr_found = dmda_victim_candidates(&log->space.segments, log->journal.batch.next_seq, policy,
					  found, DMDA_MAX_CANDIDATES);
	for (u32 i = 0; i < nr_found && nr < DMDA_LOG_CANDIDATES; i++) {
		if (!is_worth_it(cleaner, found[i].seg))
			continue;
		hold(log, found[i].seg);
		cleaner->look[nr++].seg = found[i].seg;
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

		if (!(look->is_valid[page / 64] >> page % 64 & 1) ||
		    !dmda_summary_get(look->summary, page, &written))
			continue;
		cleaner->move[cleaner->nr_moves++] = (struct dmda_log_move){
			.lpn = from_lpn(written.lpn),
			.from = to_dpn(first + page),
			.file = written.file,
			.fpage = written.fpage,
		};
	}
}

static bool has_room_for(const struct dmda_log_cleaner *cleaner, const struct dmda_log_look *look)
{
	if (cleaner->is_tight && cleaner->nr_victims)
		return false;
	return cleaner->nr_moves + look->nr_valid <= cleaner->max_moves;
}

/* Takes a segment in, if what is valid in it has room. */
static bool add_victim(struct dmda_log_cleaner *cleaner, const struct dmda_log_look *look)
{
	struct dmda_log *log = cleaner->log;
	u32 seg = from_seg(look->seg);

	if (!look->is_known) {
		DMWARN_LIMIT("%s: Segment %u cannot be cleaned: its summary cannot be read.",
			     dm_table_device_name(log->dmda->ti->table), seg);
		set_bit(seg, cleaner->is_stuck);
		return false;
	}
	if (!has_room_for(cleaner, look))
		return false;
	collect_moves(cleaner, look);
	cleaner->mtime = max(cleaner->mtime, log->space.segments.segment[seg].mtime);
	cleaner->victim[cleaner->nr_victims++] = look->seg;
	trace_dmda_log_clean(log->dmda->self_dev, look->seg, look->nr_valid);
	return true;
}

static void forget_victims(struct dmda_log_cleaner *cleaner)
{
	cleaner->nr_victims = 0;
	cleaner->nr_moves = 0;
	cleaner->mtime = 0;
}

static u64 room_now(struct dmda_log *log)
{
	u64 room;

	spin_lock_irq(&log->lock);
	room = dmda_writer_room(&log->space.writer, DMDA_STREAM_MOVED, &log->space.segments);
	spin_unlock_irq(&log->lock);
	return room;
}

/* Moves for which there is room whatever users do: they take none of the last segments. */
static u32 sure_moves(struct dmda_log_cleaner *cleaner)
{
	struct dmda_log *log = cleaner->log;
	u64 room = room_now(log);

	/* What the last round has emptied may not be free yet. */
	if (room < cleaner->kept_moves && READ_ONCE(log->space.segments.nr_empty) &&
	    !dmda_log_commit(log)) {
		queue_work(log->queue, &log->space.work);
		flush_work(&log->space.work);
		room = room_now(log);
	}
	cleaner->is_tight = room < cleaner->kept_moves;
	return min_t(u64, room, cleaner->kept_moves);
}

static u32 choose_victims(struct dmda_log_cleaner *cleaner, bool is_urgent)
{
	struct dmda_log *log = cleaner->log;
	enum dmda_policy policy = READ_ONCE(log->dmda->config.policy);
	u32 nr;

	cleaner->max_moves = sure_moves(cleaner);
	/* When users wait, or others may not fit: the most space for the least work. */
	if (is_urgent || cleaner->is_tight)
		policy = DMDA_POLICY_GREEDY;
	forget_victims(cleaner);
	cleaner->in_file_order = policy == DMDA_POLICY_FILE_AWARE;
	nr = find_candidates(cleaner, policy);
	look_at(cleaner, cleaner->look, nr);
	if (policy == DMDA_POLICY_FILE_AWARE)
		sort_by_pieces(cleaner, nr);
	for (u32 i = 0; i < nr; i++) {
		if (!add_victim(cleaner, &cleaner->look[i]))
			dmda_log_put_reader(log, cleaner->look[i].seg);
	}
	return cleaner->nr_victims;
}

static void release_victims(struct dmda_log_cleaner *cleaner, bool is_done)
{
	struct dmda_log *log = cleaner->log;

	for (u32 i = 0; i < cleaner->nr_victims; i++)
		dmda_log_put_reader(log, cleaner->victim[i]);
	spin_lock_irq(&log->lock);
	dmda_log_end_victims_locked(cleaner);
	if (is_done)
		log->counters.nr_cleaned += cleaner->nr_victims;
	if (is_done && cleaner->is_idle)
		log->counters.nr_idle_cleaned += cleaner->nr_victims;
	spin_unlock_irq(&log->lock);
	dmda_log_kick(log, &log->space.work);
}

static bool clean_chosen(struct dmda_log_cleaner *cleaner)
{
	bool is_done;

	dmda_log_begin_victims(cleaner);
	is_done = dmda_log_copy(cleaner);
	release_victims(cleaner, is_done);
	/* What was taken away must be durable before it is free. */
	return is_done && !dmda_log_commit(cleaner->log);
}

static bool clean_some(struct dmda_log_cleaner *cleaner, bool is_urgent)
{
	return choose_victims(cleaner, is_urgent) && clean_chosen(cleaner);
}

static u32 nr_to_be_had(struct dmda_log *log)
{
	u32 nr;

	spin_lock_irq(&log->lock);
	nr = log->space.segments.nr_free + log->space.segments.nr_empty;
	spin_unlock_irq(&log->lock);
	return nr;
}

/* Until there is enough for a while, as long as it @may. */
static void gain_room(struct dmda_log *log, bool (*may)(const struct dmda_log *log))
{
	while (may(log)) {
		u32 nr = nr_to_be_had(log);

		if (nr > DMDA_LOG_LOW_SEGMENTS)
			break;
		dmda_log_set_pacing(log, true);
		if (!clean_some(log->cleaning.cleaner, nr <= DMDA_LOG_KEPT_SEGMENTS))
			break;
	}
	dmda_log_set_pacing(log, false);
}

/* Overwrites in place go on meanwhile, and pay for more of it. */
static void gather(struct dmda_log *log)
{
	while (may_clean(log) && dmda_log_begin_gathering(log)) {
		/* The most space for the least work */
		if (!clean_some(log->cleaning.cleaner, true))
			break;
	}
}

/*
 * Cleaning everything, once: as many segments at a time as there are free ones for what is
 * valid in them. The more they are, the more of a file comes together. Users may take some of
 * the free ones meanwhile: then a round ends before the last are taken, without which nothing
 * could ever be cleaned, and the next takes no more than goes into those.
 */

/* Most pages that are sorted together: 64 MiB of memory */
#define MAX_SORTED_PAGES	(64U * 1024 * 1024 / sizeof(struct dmda_log_move))

static void mark_all(struct dmda_log_cleaner *cleaner)
{
	struct dmda_log *log = cleaner->log;

	bitmap_zero(cleaner->is_left, log->space.segments.nr_segments);
	spin_lock_irq(&log->lock);
	for (u32 i = 0; i < log->space.segments.nr_segments; i++) {
		if (log->space.segments.segment[i].state == DMDA_SEGMENT_CLOSED &&
		    log->space.segments.segment[i].nr_valid && !test_bit(i, cleaner->is_stuck))
			set_bit(i, cleaner->is_left);
	}
	spin_unlock_irq(&log->lock);
}

/* Is a segment to be cleaned, still? Then it is held. An empty one may be on its way to be free. */
static bool hold_if_worth(struct dmda_log *log, u32 i)
{
	const struct dmda_segment *segment = &log->space.segments.segment[i];
	bool is_worth;

	spin_lock_irq(&log->lock);
	is_worth = segment->state == DMDA_SEGMENT_CLOSED && segment->nr_valid;
	if (is_worth)
		hold(log, to_seg(i));
	spin_unlock_irq(&log->lock);
	return is_worth;
}

/* Takes the next ones that are left. Return: whether there are any. */
static bool choose_next(struct dmda_log_cleaner *cleaner)
{
	struct dmda_log_look *look = &cleaner->look[0];
	struct dmda_log *log = cleaner->log;
	u32 i;

	forget_victims(cleaner);
	for_each_set_bit(i, cleaner->is_left, log->space.segments.nr_segments) {
		if (!hold_if_worth(log, i)) {
			clear_bit(i, cleaner->is_left);
			continue;
		}
		look->seg = to_seg(i);
		look_at(cleaner, look, 1);
		if (add_victim(cleaner, look)) {
			clear_bit(i, cleaner->is_left);
			continue;
		}
		dmda_log_put_reader(log, to_seg(i));
		if (!test_bit(i, cleaner->is_stuck))
			break;
		clear_bit(i, cleaner->is_left);
	}
	return cleaner->nr_victims;
}

/* Moves for which there is room beside what users need; memory is limited, too. */
static u32 room_for_all(struct dmda_log *log)
{
	u32 data_pages = dmda_super_data_pages(&log->super);
	u32 nr;

	spin_lock_irq(&log->lock);
	nr = log->space.segments.nr_free;
	spin_unlock_irq(&log->lock);
	nr = nr > DMDA_LOG_LOW_SEGMENTS ? nr - DMDA_LOG_LOW_SEGMENTS : 0;
	return min_t(u64, (u64)nr * data_pages, MAX_SORTED_PAGES);
}

static void limit_moves(struct dmda_log_cleaner *cleaner, u32 max_moves)
{
	struct dmda_log *log = cleaner->log;

	cleaner->max_moves = max_moves;
	spin_lock_irq(&log->lock);
	log->cleaning.leaves_kept = max_moves > cleaner->kept_moves;
	spin_unlock_irq(&log->lock);
}

/* As many as there is room for, or for as many as there is in any case */
static void begin_round(struct dmda_log_cleaner *cleaner, u32 nr_memory)
{
	u32 room = cleaner->is_short ? 0 : min(room_for_all(cleaner->log), nr_memory);

	limit_moves(cleaner, max(room, sure_moves(cleaner)));
	cleaner->in_file_order = true;
	cleaner->is_short = false;
}

/* What was not done of them comes again. */
static void put_victims_back(struct dmda_log_cleaner *cleaner)
{
	for (u32 i = 0; i < cleaner->nr_victims; i++)
		set_bit(from_seg(cleaner->victim[i]), cleaner->is_left);
}

/* Return: whether it goes on. */
static bool clean_next(struct dmda_log_cleaner *cleaner, u32 nr_memory)
{
	begin_round(cleaner, nr_memory);
	if (!choose_next(cleaner))
		return false;
	if (clean_chosen(cleaner)) {
		flush_work(&cleaner->log->space.work);
		return true;
	}
	put_victims_back(cleaner);
	return cleaner->is_short && cleaner->max_moves > cleaner->kept_moves;
}

static bool clean_all_left(struct dmda_log_cleaner *cleaner, u32 nr_memory)
{
	struct dmda_log *log = cleaner->log;

	cleaner->is_short = false;
	while (may_work(log) && !dmda_log_must_stop(cleaner)) {
		limit_moves(cleaner, cleaner->kept_moves);
		gain_room(log, may_work);
		if (!clean_next(cleaner, nr_memory))
			break;
	}
	limit_moves(cleaner, cleaner->kept_moves);
	return bitmap_empty(cleaner->is_left, log->space.segments.nr_segments);
}

static void clean_everything(struct dmda_log_cleaner *cleaner)
{
	struct dmda_log_move *own = cleaner->move;
	u32 nr_memory = max(room_for_all(cleaner->log), cleaner->kept_moves);
	struct dmda_log_move *more = kvmalloc_array(nr_memory, sizeof(*more), GFP_NOIO);

	if (more)
		cleaner->move = more;
	cleaner->is_all = true;
	mark_all(cleaner);
	if (clean_all_left(cleaner, more ? nr_memory : cleaner->kept_moves))
		WRITE_ONCE(cleaner->log->cleaning.must_clean_all, false);
	cleaner->is_all = false;
	cleaner->move = own;
	kvfree(more);
}

/*
 * When
 */

/* When it will have been idle for long enough, if nobody comes; in jiffies */
static unsigned long idle_end(const struct dmda_log *log)
{
	return READ_ONCE(log->cleaning.last_io) +
		msecs_to_jiffies(READ_ONCE(log->dmda->config.idle_ms));
}

static bool is_idle(const struct dmda_log *log)
{
	return READ_ONCE(log->dmda->config.idle_ms) && time_after_eq(jiffies, idle_end(log));
}

bool dmda_log_must_stop(const struct dmda_log_cleaner *cleaner)
{
	if (!cleaner->is_idle && !cleaner->is_all)
		return false;
	return READ_ONCE(cleaner->log->is_suspending) ||
		(cleaner->is_idle && !is_idle(cleaner->log));
}

/* In idle time. When somebody comes, it goes on after the next pause. */
static void clean_idle(struct dmda_log *log)
{
	struct dmda_log_cleaner *cleaner = log->cleaning.cleaner;

	cleaner->is_idle = true;
	while (may_clean(log) && !dmda_log_must_stop(cleaner) &&
	       nr_to_be_had(log) <= dmda_log_soft_mark(log)) {
		if (!clean_some(cleaner, false))
			break;
	}
	cleaner->is_idle = false;
	if (!is_idle(log) && nr_to_be_had(log) <= dmda_log_soft_mark(log))
		dmda_log_wait_idle(log);
}

u32 dmda_log_soft_mark(const struct dmda_log *log)
{
	return DMDA_LOG_LOW_SEGMENTS +
		mult_frac(log->space.segments.nr_segments,
			  READ_ONCE(log->dmda->config.idle_free_percent), 100);
}

void dmda_log_begin_clean(struct dmda_log *log)
{
	if (!READ_ONCE(log->is_quiet))
		queue_work(log->cleaning.queue, &log->cleaning.work);
}

void dmda_log_wait_idle(struct dmda_log *log)
{
	if (may_clean(log) && READ_ONCE(log->dmda->config.idle_ms))
		queue_delayed_work(log->cleaning.queue, &log->cleaning.idle_work,
				   msecs_to_jiffies(READ_ONCE(log->dmda->config.idle_ms)));
}

void dmda_log_do_idle(struct work_struct *work)
{
	struct dmda_log *log = container_of(to_delayed_work(work), struct dmda_log,
					    cleaning.idle_work);

	if (!may_clean(log) || !READ_ONCE(log->dmda->config.idle_ms))
		return;
	if (is_idle(log))
		dmda_log_begin_clean(log);
	else
		queue_delayed_work(log->cleaning.queue, &log->cleaning.idle_work,
				   max_t(long, idle_end(log) - jiffies, 1));
}

void dmda_log_do_clean(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, cleaning.work);

	if (READ_ONCE(log->cleaning.must_clean_all))
		clean_everything(log->cleaning.cleaner);
	gain_room(log, may_clean);
	gather(log);
	clean_idle(log);
}

void dmda_log_segment_is_new(struct dmda_log *log, seg_t seg)
{
	clear_bit(from_seg(seg), log->cleaning.cleaner->is_stuck);
}

void dmda_log_kick_clean(struct dmda_log *log)
{
	if (may_clean(log))
		dmda_log_begin_clean(log);
}

/*
 * Memory
 */

static bool looks_create(struct dmda_log_cleaner *cleaner)
{
	struct dmda_log *log = cleaner->log;
	u32 nr_words = DIV_ROUND_UP(dmda_super_data_pages(&log->super), 64);

	for (u32 i = 0; i < DMDA_LOG_CANDIDATES; i++) {
		struct dmda_log_look *look = &cleaner->look[i];

		look->summary = kvcalloc(log->super.summary_pages, sizeof(*look->summary),
					 GFP_KERNEL);
		look->is_valid = kvcalloc(nr_words, sizeof(u64), GFP_KERNEL);
		if (!look->summary || !look->is_valid)
			return false;
	}
	return true;
}

static void looks_destroy(struct dmda_log_cleaner *cleaner)
{
	for (u32 i = 0; i < DMDA_LOG_CANDIDATES; i++) {
		kvfree(cleaner->look[i].summary);
		kvfree(cleaner->look[i].is_valid);
	}
}

int dmda_log_cleaner_create(struct dmda_log *log)
{
	struct dmda_log_cleaner *cleaner = kvzalloc(sizeof(*cleaner), GFP_KERNEL);
	u32 data_pages = dmda_super_data_pages(&log->super);
	u32 nr_segments = dmda_super_nr_segments(&log->super);

	log->cleaning.cleaner = cleaner;
	if (!cleaner)
		return -ENOMEM;
	cleaner->log = log;
	cleaner->kept_moves = 2 * data_pages;
	cleaner->max_moves = cleaner->kept_moves;
	cleaner->files.nr_slots = roundup_pow_of_two(data_pages + 1);
	cleaner->move = kvcalloc(cleaner->max_moves, sizeof(*cleaner->move), GFP_KERNEL);
	cleaner->files.slot = kvcalloc(cleaner->files.nr_slots, sizeof(u64), GFP_KERNEL);
	cleaner->victim = kvcalloc(nr_segments, sizeof(*cleaner->victim), GFP_KERNEL);
	cleaner->is_stuck = kvcalloc(BITS_TO_LONGS(nr_segments), sizeof(long), GFP_KERNEL);
	cleaner->is_victim = kvcalloc(BITS_TO_LONGS(nr_segments), sizeof(long), GFP_KERNEL);
	cleaner->is_left = kvcalloc(BITS_TO_LONGS(nr_segments), sizeof(long), GFP_KERNEL);
	if (!cleaner->move || !cleaner->victim || !cleaner->is_left || !cleaner->files.slot ||
	    !cleaner->is_stuck || !cleaner->is_victim || !looks_create(cleaner) ||
	    !dmda_log_copy_create(cleaner))
		return -ENOMEM;
	return 0;
}

void dmda_log_cleaner_destroy(struct dmda_log *log)
{
	struct dmda_log_cleaner *cleaner = log->cleaning.cleaner;

	if (!cleaner)
		return;
	dmda_log_copy_destroy(cleaner);
	looks_destroy(cleaner);
	kvfree(cleaner->victim);
	kvfree(cleaner->is_left);
	kvfree(cleaner->is_victim);
	kvfree(cleaner->is_stuck);
	kvfree(cleaner->files.slot);
	kvfree(cleaner->move);
	kvfree(cleaner);
	log->cleaning.cleaner = NULL;
}
