// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cleaning: what is valid in some segments is copied to another one, sorted by file and
 * place in the file, and mapped there unless it was written anew meanwhile. Then they
 * have no valid page any more, and are freed as any such segment.
 *
 * Cleaning needs no memory but what is set aside for it, and segments that nobody else
 * may open; so it always comes to an end.
 *
 * The segments that are being cleaned are counted as being read: none of them can be
 * freed and written again before their pages have been compared with the map.
 */
#include <linux/mm.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>

#include "log.h"
#include "trace.h"

/* Pages that are copied at once */
#define CHUNK_PAGES	256U

/* Segments that are compared, and those that are cleaned together */
#define NR_CANDIDATES	8U
#define MAX_VICTIMS	8U

/* In idle time, a segment with more valid pages than this share of them stays as it is. */
#define MAX_IDLE_VALID(data_pages)	((data_pages) / 4 * 3)

/* Pages that users may write while cleaning does nothing for them */
#define MAX_CREDIT	4096

/**
 * struct move - a page that is valid in a victim
 * @lpn: which
 * @from: where it is
 * @file: of which file, 0: not known
 * @fpage: which page of that
 * @is_copied: it was read and written
 */
struct move {
	u64 lpn;
	dpn_t from;
	u64 file;
	u32 fpage;
	bool is_copied;
};

/**
 * struct dmda_log_cleaner - memory for cleaning
 * @log: whose
 * @is_idle: cleaning ends when somebody reads or writes
 * @victim: segments that are being cleaned; memory for all there are
 * @nr_victims: how many
 * @move: their valid pages
 * @nr_moves: how many
 * @max_moves: how many there may be
 * @mtime: age of the newest data in them
 * @summary: of one segment
 * @is_valid: a bit for each page of one segment
 * @files: files of one segment
 * @page: memory for CHUNK_PAGES pages
 * @is_stuck: a bit for each segment: it has pages that cannot be read
 * @is_left: likewise: it is still to be cleaned, when all are
 */
struct dmda_log_cleaner {
	struct dmda_log *log;
	bool is_idle;
	seg_t *victim;
	u32 nr_victims;
	struct move *move;
	u32 nr_moves;
	u32 max_moves;
	u64 mtime;
	struct dmda_summary_block *summary;
	u64 *is_valid;
	struct dmda_file_set files;
	struct page *page[CHUNK_PAGES];
	unsigned long *is_stuck;
	unsigned long *is_left;
};

static bool may_work(const struct dmda_log *log)
{
	return READ_ONCE(log->state) == DMDA_LOG_WRITE && !READ_ONCE(log->is_quiet);
}

static bool may_clean(const struct dmda_log *log)
{
	return may_work(log) && READ_ONCE(log->dmda->config.cleaning);
}

static unsigned long idle_end(const struct dmda_log *log)
{
	return READ_ONCE(log->last_io) + msecs_to_jiffies(READ_ONCE(log->dmda->config.idle_ms));
}

static bool is_idle(const struct dmda_log *log)
{
	return READ_ONCE(log->dmda->config.idle_ms) && time_after_eq(jiffies, idle_end(log));
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

/* Reads a segment's summary and finds its valid pages. */
static int look_at(struct dmda_log_cleaner *cleaner, seg_t seg, u32 *nr_valid)
{
	struct dmda_log *log = cleaner->log;
	u64 first = from_dpn(dmda_super_segment_dpn(&log->super, seg));
	u32 nr_pages = dmda_super_data_pages(&log->super);
	const char *why;

	*nr_valid = 0;
	memset(cleaner->is_valid, 0, DIV_ROUND_UP(nr_pages, 64) * sizeof(u64));
	if (dmda_log_read(log, dmda_summary_dpn(&log->super, seg), cleaner->summary,
			  log->super.summary_pages))
		return -EIO;
	why = dmda_summary_check(cleaner->summary, &log->super, seg);
	if (why)
		return -EIO;
	for (u32 page = 0; page < nr_pages; page++) {
		struct dmda_written written;
		dpn_t dpn;

		if (!dmda_summary_get(cleaner->summary, page, &written) ||
		    from_lpn(written.lpn) >= log->super.nr_lpns)
			continue;
		if (where_is(log, from_lpn(written.lpn), &dpn))
			return -EIO;
		if (from_dpn(dpn) != first + page)
			continue;
		cleaner->is_valid[page / 64] |= BIT_ULL(page % 64);
		++*nr_valid;
	}
	dmda_log_pages_shrink(log);
	return 0;
}

/* What cannot be read, or in idle time gains little, is left alone. */
static bool is_worth_it(const struct dmda_log_cleaner *cleaner, seg_t seg)
{
	const struct dmda_log *log = cleaner->log;

	if (test_bit(from_seg(seg), cleaner->is_stuck))
		return false;
	return !cleaner->is_idle || log->segments.segment[from_seg(seg)].nr_valid <=
		MAX_IDLE_VALID(dmda_super_data_pages(&log->super));
}

static void hold(struct dmda_log *log, seg_t seg)
{
	atomic_inc(&log->readers[from_seg(seg)]);
}

/* The best segments, held. Return: how many. */
static u32 find_candidates(struct dmda_log_cleaner *cleaner, enum dmda_policy policy,
			   struct dmda_candidate *candidates)
{
	struct dmda_log *log = cleaner->log;
	struct dmda_candidate found[DMDA_MAX_CANDIDATES];
	u32 nr_found, nr = 0;

	spin_lock_irq(&log->lock);
	nr_found = dmda_victim_candidates(&log->segments, log->batch.next_seq, policy, found,
					  DMDA_MAX_CANDIDATES);
	for (u32 i = 0; i < nr_found && nr < NR_CANDIDATES; i++) {
		if (!is_worth_it(cleaner, found[i].seg))
			continue;
		hold(log, found[i].seg);
		candidates[nr++] = found[i];
	}
	spin_unlock_irq(&log->lock);
	return nr;
}

static int by_worth(const void *a, const void *b)
{
	const struct dmda_candidate *left = a, *right = b;

	return left->worth < right->worth ? 1 : left->worth > right->worth ? -1 : 0;
}

/* Of the best ones, those first whose files are in most pieces. */
static void sort_by_pieces(struct dmda_log_cleaner *cleaner, struct dmda_candidate *candidates,
			   u32 nr)
{
	u32 nr_pages = dmda_super_data_pages(&cleaner->log->super);

	for (u32 i = 0; i < nr; i++) {
		u32 nr_valid;

		candidates[i].worth = 0;
		if (!look_at(cleaner, candidates[i].seg, &nr_valid))
			candidates[i].worth = dmda_victim_pieces(cleaner->summary,
								 cleaner->is_valid, nr_pages,
								 &cleaner->files);
	}
	sort(candidates, nr, sizeof(*candidates), by_worth, NULL);
}

static void collect_moves(struct dmda_log_cleaner *cleaner, seg_t seg)
{
	struct dmda_log *log = cleaner->log;
	u64 first = from_dpn(dmda_super_segment_dpn(&log->super, seg));

	for (u32 page = 0; page < dmda_super_data_pages(&log->super); page++) {
		struct dmda_written written;

		if (!(cleaner->is_valid[page / 64] >> page % 64 & 1) ||
		    !dmda_summary_get(cleaner->summary, page, &written))
			continue;
		cleaner->move[cleaner->nr_moves++] = (struct move){
			.lpn = from_lpn(written.lpn),
			.from = to_dpn(first + page),
			.file = written.file,
			.fpage = written.fpage,
		};
	}
}

/* Takes a segment in, if what is valid in it has room. */
static bool add_victim(struct dmda_log_cleaner *cleaner, seg_t seg)
{
	struct dmda_log *log = cleaner->log;
	u32 nr_valid;

	if (look_at(cleaner, seg, &nr_valid)) {
		DMWARN_LIMIT("%s: Segment %u cannot be cleaned: its summary cannot be read.",
			     dm_table_device_name(log->dmda->ti->table), from_seg(seg));
		set_bit(from_seg(seg), cleaner->is_stuck);
		return false;
	}
	if (cleaner->nr_moves && cleaner->nr_moves + nr_valid > cleaner->max_moves)
		return false;
	collect_moves(cleaner, seg);
	cleaner->mtime = max(cleaner->mtime, log->segments.segment[from_seg(seg)].mtime);
	cleaner->victim[cleaner->nr_victims++] = seg;
	trace_dmda_log_clean(log->dmda->self_dev, seg, nr_valid);
	return true;
}

static void forget_victims(struct dmda_log_cleaner *cleaner)
{
	cleaner->nr_victims = 0;
	cleaner->nr_moves = 0;
	cleaner->mtime = 0;
}

static u32 choose_victims(struct dmda_log_cleaner *cleaner, bool is_urgent)
{
	struct dmda_log *log = cleaner->log;
	enum dmda_policy policy = READ_ONCE(log->dmda->config.policy);
	struct dmda_candidate candidates[NR_CANDIDATES];
	u32 nr;

	/* When users wait, the most space for the least work. */
	if (is_urgent)
		policy = DMDA_POLICY_GREEDY;
	forget_victims(cleaner);
	nr = find_candidates(cleaner, policy, candidates);
	if (policy == DMDA_POLICY_FILE_AWARE)
		sort_by_pieces(cleaner, candidates, nr);
	for (u32 i = 0; i < nr; i++) {
		if (cleaner->nr_victims == MAX_VICTIMS ||
		    !add_victim(cleaner, candidates[i].seg))
			dmda_log_put_reader(log, candidates[i].seg);
	}
	return cleaner->nr_victims;
}

/*
 * Copying
 */

static int by_file(const void *a, const void *b)
{
	const struct move *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	if (left->fpage != right->fpage)
		return left->fpage < right->fpage ? -1 : 1;
	return left->lpn < right->lpn ? -1 : left->lpn > right->lpn;
}

static void end_copy_bio(struct bio *bio)
{
	struct dmda_log_group *group = bio->bi_private;
	bool failed = bio->bi_status;

	bio_put(bio);
	dmda_log_group_put(group, failed);
}

static void fill_bio(struct dmda_log_cleaner *cleaner, struct dmda_log_group *group,
		     struct bio *bio, u32 first, u32 nr)
{
	bio->bi_private = group;
	for (u32 i = 0; i < nr; i++)
		__bio_add_page(bio, cleaner->page[first + i], DMDA_BLOCK_BYTES, 0);
	dmda_log_group_get(group);
}

static void submit_read(struct dmda_log_cleaner *cleaner, struct dmda_log_group *group,
			dpn_t dpn, u32 first, u32 nr)
{
	struct dmda_log *log = cleaner->log;
	struct bio *bio = bio_alloc(log->bdev, nr, REQ_OP_READ, GFP_NOIO);

	bio->bi_iter.bi_sector = dmda_log_sector(log, dpn);
	bio->bi_end_io = end_copy_bio;
	fill_bio(cleaner, group, bio, first, nr);
	submit_bio(bio);
}

static void read_one_by_one(struct dmda_log_cleaner *cleaner, struct move *moves, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		struct dmda_log_group group;
		u32 page;

		dmda_log_group_begin(&group);
		submit_read(cleaner, &group, moves[i].from, i, 1);
		moves[i].is_copied = dmda_log_group_end(&group);
		if (moves[i].is_copied)
			continue;
		set_bit(from_seg(dmda_super_segment_of(&cleaner->log->super, moves[i].from,
						       &page)), cleaner->is_stuck);
	}
}

/* What cannot be read stays where it is. */
static void read_pages(struct dmda_log_cleaner *cleaner, struct move *moves, u32 nr)
{
	struct blk_plug plug;
	struct dmda_log_group group;
	u32 i, run;

	dmda_log_group_begin(&group);
	blk_start_plug(&plug);
	for (i = 0; i < nr; i += run) {
		for (run = 1; i + run < nr; run++) {
			if (from_dpn(moves[i + run].from) != from_dpn(moves[i].from) + run)
				break;
		}
		submit_read(cleaner, &group, moves[i].from, i, run);
	}
	blk_finish_plug(&plug);
	if (!dmda_log_group_end(&group)) {
		read_one_by_one(cleaner, moves, nr);
		return;
	}
	for (i = 0; i < nr; i++)
		moves[i].is_copied = true;
}

static void end_move_bio(struct bio *bio)
{
	struct dmda_own_bio *own = container_of(bio, struct dmda_own_bio, bio);
	struct dmda_log *log = own->log;
	unsigned long flags;

	if (own->io.fate == DMDA_FATE_SENT && !bio->bi_status) {
		spin_lock_irqsave(&log->lock, flags);
		log->counters.nr_moved_hints++;
		spin_unlock_irqrestore(&log->lock, flags);
	}
	end_copy_bio(bio);
}

/* Writes some of the pages with a hint for the first of them, or without one. */
static void submit_write(struct dmda_log_cleaner *cleaner, struct dmda_log_group *group,
			 const struct dmda_run *run, u32 first,
			 const struct dmda_verdict *verdict)
{
	struct dmda_log *log = cleaner->log;
	struct bio *bio = bio_alloc_bioset(log->bdev, run->nr_pages, REQ_OP_WRITE, GFP_NOIO,
					   &log->moves);
	struct dmda_own_bio *own = container_of(bio, struct dmda_own_bio, bio);

	own->log = log;
	own->io.fate = DMDA_FATE_UNSEEN;
	bio->bi_iter.bi_sector = dmda_log_sector(log, run->dpn);
	bio->bi_end_io = end_move_bio;
	fill_bio(cleaner, group, bio, first, run->nr_pages);
	if (verdict->hint != DMDA_HINT_NONE) {
		bio->bi_opf |= REQ_NOMERGE;
		dmda_transport_attach_own(log->dmda, own, verdict);
	}
	submit_bio(bio);
}

/* Does a page go on in the file, or in the lpns of unknown ones, where another ends? */
static bool goes_on(const struct move *before, const struct move *move)
{
	if (before->file != move->file)
		return false;
	return move->file ? move->fpage == before->fpage + 1 : move->lpn == before->lpn + 1;
}

/* Return: whether a page gets a hint of its own. */
static bool find_hint(struct dmda_log_cleaner *cleaner, const struct move *move,
		      struct dmda_verdict *verdict)
{
	const struct dmda_run run = {
		.file = { .id = move->file },
		.fpage = move->fpage,
		.dpn = to_dpn(move->lpn),
		.nr_pages = 1,
	};
	bool follows = move > cleaner->move && goes_on(move - 1, move);

	return dmda_log_hint_moved(cleaner->log, &run, follows ? move[-1].lpn : U64_MAX,
				   verdict);
}

/*
 * A bio for each piece of a file, so that it has a hint. A page of which nothing is known
 * may as well follow the one before it.
 */
static void write_hinted(struct dmda_log_cleaner *cleaner, struct dmda_log_group *group,
			 const struct move *moves, const struct dmda_run *all)
{
	struct dmda_run run = { .dpn = all->dpn };
	struct dmda_verdict verdict = { .hint = DMDA_HINT_NONE };
	struct dmda_verdict next;
	u32 first = 0;

	find_hint(cleaner, moves, &verdict);
	for (u32 i = 1; i <= all->nr_pages; i++) {
		if (i < all->nr_pages && (goes_on(&moves[i - 1], &moves[i]) ||
					  !find_hint(cleaner, &moves[i], &next)))
			continue;
		run.nr_pages = i - first;
		submit_write(cleaner, group, &run, first, &verdict);
		run.dpn = to_dpn(from_dpn(run.dpn) + run.nr_pages);
		verdict = next;
		first = i;
	}
}

static bool write_plain(struct dmda_log_cleaner *cleaner, const struct dmda_run *all)
{
	const struct dmda_verdict none = { .hint = DMDA_HINT_NONE };
	struct dmda_log_group group;

	dmda_log_group_begin(&group);
	submit_write(cleaner, &group, all, 0, &none);
	return dmda_log_group_end(&group);
}

/* What fails with hints is tried without. */
static int write_pages(struct dmda_log_cleaner *cleaner, const struct move *moves, dpn_t to,
		       u32 nr)
{
	const struct dmda_run all = { .dpn = to, .nr_pages = nr };
	struct dmda *dmda = cleaner->log->dmda;
	struct dmda_log_group group;
	struct blk_plug plug;

	if (READ_ONCE(dmda->state) != DMDA_STATE_ON)
		return write_plain(cleaner, &all) ? 0 : -EIO;
	dmda_log_group_begin(&group);
	blk_start_plug(&plug);
	write_hinted(cleaner, &group, moves, &all);
	blk_finish_plug(&plug);
	if (dmda_log_group_end(&group))
		return 0;
	if (!write_plain(cleaner, &all))
		return -EIO;
	dmda_retry_doubt(dmda);
	return 0;
}

/* Waits until there are places. Return: how many; 0: cleaning has to end. */
static u32 take_places(struct dmda_log *log, u32 wanted, dpn_t *dpn, u8 *open)
{
	while (READ_ONCE(log->state) == DMDA_LOG_WRITE) {
		u32 nr, nr_free;

		spin_lock_irq(&log->lock);
		nr = dmda_log_take_locked(log, DMDA_STREAM_MOVED, wanted, false, dpn, open);
		nr_free = log->segments.nr_free;
		spin_unlock_irq(&log->lock);
		if (nr)
			return nr;
		/* For room in the batch, for a segment to be closed, or to be freed */
		if (dmda_log_commit(log))
			return 0;
		queue_work(log->queue, &log->space_work);
		flush_work(&log->space_work);
		if (!nr_free && !READ_ONCE(log->segments.nr_free))
			return 0;
	}
	return 0;
}

/* Moves that are consecutive in every way, of lpns on one page of the map */
static u32 length_of_run(const struct move *moves, u32 nr)
{
	u32 entry, run;

	dmda_map_index(to_lpn(moves->lpn), &entry);
	for (run = 1; run < nr && run < DMDA_MAX_OP_PAGES; run++) {
		if (moves[run].lpn != moves->lpn + run || moves[run].file != moves->file ||
		    (moves->file && moves[run].fpage != moves->fpage + run) ||
		    entry + run == DMDA_MAP_ENTRIES)
			break;
	}
	return run;
}

static bool is_still_there(const struct dmda_log_page *page, const struct move *move)
{
	u32 entry;

	dmda_map_index(to_lpn(move->lpn), &entry);
	return move->is_copied && dmda_map_get(page->map.block, entry) == move->from;
}

/* Maps as many as can be with one operation, or skips one. Return: how many are done. */
static u32 move_some_locked(struct dmda_log *log, struct dmda_log_page *page,
			    const struct move *moves, u32 nr, dpn_t to)
{
	struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES] = { page };
	struct dmda_written first = {
		.lpn = to_lpn(moves->lpn), .file = moves->file, .fpage = moves->fpage,
	};
	u32 run = 0;

	lockdep_assert_held(&log->lock);

	while (run < nr && is_still_there(page, &moves[run]))
		run++;
	if (!run)
		return 1;
	return dmda_log_map_run_locked(log, pages, &first, to, run) ? run : 0;
}

static int map_run(struct dmda_log *log, const struct move *moves, u32 nr, dpn_t to)
{
	u32 entry, done = 0;
	struct dmda_log_page *page =
		dmda_log_page_wait(log, dmda_map_index(to_lpn(moves->lpn), &entry));
	int ret = 0;

	if (IS_ERR(page))
		return PTR_ERR(page);
	while (done < nr && !ret) {
		u32 some = 1;

		spin_lock_irq(&log->lock);
		while (done < nr && some) {
			some = move_some_locked(log, page, &moves[done], nr - done,
						to_dpn(from_dpn(to) + done));
			done += some;
		}
		spin_unlock_irq(&log->lock);
		if (!some)
			ret = dmda_log_make_room(log);
	}
	dmda_log_page_put(log, page);
	return ret;
}

static int map_moves(struct dmda_log *log, const struct move *moves, u32 nr, dpn_t to)
{
	u32 run;

	for (u32 i = 0; i < nr; i += run) {
		int ret;

		run = length_of_run(&moves[i], nr - i);
		ret = map_run(log, &moves[i], run, to_dpn(from_dpn(to) + i));
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * For what cleaning gains, users may write, and more than that as long as there are segments
 * to spare.
 */
static void pay_users_locked(struct dmda_log_cleaner *cleaner, u32 nr_moved)
{
	struct dmda_log *log = cleaner->log;
	u64 nr_pages = (u64)cleaner->nr_victims * dmda_super_data_pages(&log->super);
	u64 gain = div_u64((nr_pages - cleaner->nr_moves) * nr_moved, cleaner->nr_moves);
	u32 spare = log->segments.nr_free > DMDA_LOG_KEPT_SEGMENTS ?
		log->segments.nr_free - DMDA_LOG_KEPT_SEGMENTS : 1;

	log->credit = min_t(s64, log->credit + gain * spare, MAX_CREDIT);
	dmda_log_feed_locked(log);
}

/* Return: how many moves are done, or 0: cleaning has to end. */
static u32 move_chunk(struct dmda_log_cleaner *cleaner, struct move *moves, u32 nr)
{
	struct dmda_log *log = cleaner->log;
	dpn_t to;
	u8 open;
	int ret;

	nr = take_places(log, min(nr, CHUNK_PAGES), &to, &open);
	if (!nr)
		return 0;
	read_pages(cleaner, moves, nr);
	ret = write_pages(cleaner, moves, to, nr);
	if (!ret)
		ret = map_moves(log, moves, nr, to);
	spin_lock_irq(&log->lock);
	log->mtime[open] = max(log->mtime[open], cleaner->mtime);
	log->counters.moved_pages += nr;
	dmda_log_placed_locked(log, open, nr);
	pay_users_locked(cleaner, nr);
	spin_unlock_irq(&log->lock);
	if (ret)
		DMWARN_LIMIT("%s: Cleaning could not write.",
			     dm_table_device_name(log->dmda->ti->table));
	return ret ? 0 : nr;
}

static bool move_all(struct dmda_log_cleaner *cleaner)
{
	u32 nr;

	sort(cleaner->move, cleaner->nr_moves, sizeof(*cleaner->move), by_file, NULL);
	for (u32 i = 0; i < cleaner->nr_moves; i += nr) {
		if (cleaner->is_idle && !is_idle(cleaner->log))
			return false;
		nr = move_chunk(cleaner, &cleaner->move[i], cleaner->nr_moves - i);
		if (!nr)
			return false;
		dmda_log_pages_shrink(cleaner->log);
		cond_resched();
	}
	return true;
}

static void release_victims(struct dmda_log_cleaner *cleaner, bool is_done)
{
	struct dmda_log *log = cleaner->log;

	for (u32 i = 0; i < cleaner->nr_victims; i++)
		dmda_log_put_reader(log, cleaner->victim[i]);
	spin_lock_irq(&log->lock);
	if (is_done)
		log->counters.nr_cleaned += cleaner->nr_victims;
	if (is_done && cleaner->is_idle)
		log->counters.nr_idle_cleaned += cleaner->nr_victims;
	spin_unlock_irq(&log->lock);
	dmda_log_kick(log, &log->space_work);
}

static bool clean_some(struct dmda_log_cleaner *cleaner, bool is_urgent)
{
	bool is_done;

	if (!choose_victims(cleaner, is_urgent))
		return false;
	is_done = move_all(cleaner);
	release_victims(cleaner, is_done);
	/* What was taken away must be durable before it is free. */
	return is_done && !dmda_log_commit(cleaner->log);
}

/*
 * Cleaning everything, once: as many segments at a time as there are free ones for what is
 * valid in them. The more they are, the more of a file comes together.
 */

/* Most pages that are sorted together: 64 MiB of memory */
#define MAX_SORTED_PAGES	(64U * 1024 * 1024 / sizeof(struct move))

static void mark_all(struct dmda_log_cleaner *cleaner)
{
	struct dmda_log *log = cleaner->log;

	bitmap_zero(cleaner->is_left, log->segments.nr_segments);
	spin_lock_irq(&log->lock);
	for (u32 i = 0; i < log->segments.nr_segments; i++) {
		if (log->segments.segment[i].state == DMDA_SEGMENT_CLOSED &&
		    log->segments.segment[i].nr_valid && !test_bit(i, cleaner->is_stuck))
			set_bit(i, cleaner->is_left);
	}
	spin_unlock_irq(&log->lock);
}

/* Is a segment to be cleaned, still? Then it is held. */
static bool hold_if_closed(struct dmda_log *log, u32 i)
{
	bool is_closed;

	spin_lock_irq(&log->lock);
	is_closed = log->segments.segment[i].state == DMDA_SEGMENT_CLOSED;
	if (is_closed)
		hold(log, to_seg(i));
	spin_unlock_irq(&log->lock);
	return is_closed;
}

/* Takes the next ones that are left. Return: whether there are any. */
static bool choose_next(struct dmda_log_cleaner *cleaner)
{
	struct dmda_log *log = cleaner->log;
	u32 i;

	forget_victims(cleaner);
	for_each_set_bit(i, cleaner->is_left, log->segments.nr_segments) {
		if (!hold_if_closed(log, i)) {
			clear_bit(i, cleaner->is_left);
			continue;
		}
		if (add_victim(cleaner, to_seg(i))) {
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

static u32 room_for_all(struct dmda_log *log)
{
	u32 data_pages = dmda_super_data_pages(&log->super);
	u32 nr;

	spin_lock_irq(&log->lock);
	nr = log->segments.nr_free;
	spin_unlock_irq(&log->lock);
	nr = nr > DMDA_LOG_LOW_SEGMENTS ? nr - DMDA_LOG_LOW_SEGMENTS : 1;
	return min_t(u64, (u64)nr * data_pages, MAX_SORTED_PAGES);
}

static bool clean_all_left(struct dmda_log_cleaner *cleaner)
{
	while (may_work(cleaner->log) && choose_next(cleaner)) {
		bool is_done = move_all(cleaner);

		release_victims(cleaner, is_done);
		if (!is_done || dmda_log_commit(cleaner->log))
			return false;
		flush_work(&cleaner->log->space_work);
	}
	return bitmap_empty(cleaner->is_left, cleaner->log->segments.nr_segments);
}

static void clean_everything(struct dmda_log_cleaner *cleaner)
{
	struct move *own = cleaner->move;
	u32 own_max = cleaner->max_moves;
	u32 max_moves = max(room_for_all(cleaner->log), own_max);
	struct move *more = kvmalloc_array(max_moves, sizeof(*more), GFP_NOIO);

	if (more) {
		cleaner->move = more;
		cleaner->max_moves = max_moves;
	}
	mark_all(cleaner);
	if (clean_all_left(cleaner))
		WRITE_ONCE(cleaner->log->must_clean_all, false);
	cleaner->move = own;
	cleaner->max_moves = own_max;
	kvfree(more);
}

/*
 * When
 */

static u32 nr_to_be_had(struct dmda_log *log)
{
	u32 nr;

	spin_lock_irq(&log->lock);
	nr = log->segments.nr_free + log->segments.nr_empty;
	spin_unlock_irq(&log->lock);
	return nr;
}

static void set_pacing(struct dmda_log *log, bool is_pacing)
{
	spin_lock_irq(&log->lock);
	if (is_pacing && !log->is_pacing)
		log->credit = MAX_CREDIT;
	log->is_pacing = is_pacing;
	dmda_log_feed_locked(log);
	spin_unlock_irq(&log->lock);
}

/* In idle time. When somebody comes, it goes on after the next pause. */
static void clean_idle(struct dmda_log *log)
{
	struct dmda_log_cleaner *cleaner = log->cleaner;

	cleaner->is_idle = true;
	while (may_clean(log) && is_idle(log) && nr_to_be_had(log) <= dmda_log_soft_mark(log)) {
		if (!clean_some(cleaner, false))
			break;
	}
	cleaner->is_idle = false;
	if (!is_idle(log) && nr_to_be_had(log) <= dmda_log_soft_mark(log))
		dmda_log_wait_idle(log);
}

void dmda_log_wait_idle(struct dmda_log *log)
{
	if (may_clean(log) && READ_ONCE(log->dmda->config.idle_ms))
		queue_delayed_work(log->clean_queue, &log->idle_work,
				   msecs_to_jiffies(READ_ONCE(log->dmda->config.idle_ms)));
}

void dmda_log_do_idle(struct work_struct *work)
{
	struct dmda_log *log = container_of(to_delayed_work(work), struct dmda_log, idle_work);

	if (!may_clean(log) || !READ_ONCE(log->dmda->config.idle_ms))
		return;
	if (is_idle(log))
		dmda_log_begin_clean(log);
	else
		queue_delayed_work(log->clean_queue, &log->idle_work,
				   max_t(long, idle_end(log) - jiffies, 1));
}

void dmda_log_do_clean(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, clean_work);

	if (READ_ONCE(log->must_clean_all))
		clean_everything(log->cleaner);
	while (may_clean(log)) {
		u32 nr = nr_to_be_had(log);

		if (nr > DMDA_LOG_LOW_SEGMENTS)
			break;
		set_pacing(log, true);
		if (!clean_some(log->cleaner, nr <= DMDA_LOG_KEPT_SEGMENTS))
			break;
	}
	set_pacing(log, false);
	clean_idle(log);
}

void dmda_log_kick_clean(struct dmda_log *log)
{
	if (may_clean(log))
		dmda_log_begin_clean(log);
}

/*
 * Memory
 */

static bool allocate_pages(struct dmda_log_cleaner *cleaner)
{
	for (u32 i = 0; i < CHUNK_PAGES; i++) {
		cleaner->page[i] = alloc_page(GFP_KERNEL);
		if (!cleaner->page[i])
			return false;
	}
	return true;
}

int dmda_log_cleaner_create(struct dmda_log *log)
{
	struct dmda_log_cleaner *cleaner = kvzalloc(sizeof(*cleaner), GFP_KERNEL);
	u32 data_pages = dmda_super_data_pages(&log->super);
	u32 nr_segments = dmda_super_nr_segments(&log->super);

	log->cleaner = cleaner;
	if (!cleaner)
		return -ENOMEM;
	cleaner->log = log;
	cleaner->max_moves = 2 * data_pages;
	cleaner->files.nr_slots = roundup_pow_of_two(data_pages + 1);
	cleaner->move = kvcalloc(cleaner->max_moves, sizeof(*cleaner->move), GFP_KERNEL);
	cleaner->summary = kvcalloc(log->super.summary_pages, sizeof(*cleaner->summary),
				    GFP_KERNEL);
	cleaner->is_valid = kvcalloc(DIV_ROUND_UP(data_pages, 64), sizeof(u64), GFP_KERNEL);
	cleaner->files.slot = kvcalloc(cleaner->files.nr_slots, sizeof(u64), GFP_KERNEL);
	cleaner->victim = kvcalloc(nr_segments, sizeof(*cleaner->victim), GFP_KERNEL);
	cleaner->is_stuck = kvcalloc(BITS_TO_LONGS(nr_segments), sizeof(long), GFP_KERNEL);
	cleaner->is_left = kvcalloc(BITS_TO_LONGS(nr_segments), sizeof(long), GFP_KERNEL);
	if (!cleaner->move || !cleaner->victim || !cleaner->is_left ||
	    !cleaner->summary || !cleaner->is_valid || !cleaner->files.slot ||
	    !cleaner->is_stuck || !allocate_pages(cleaner))
		return -ENOMEM;
	return 0;
}

void dmda_log_cleaner_destroy(struct dmda_log *log)
{
	struct dmda_log_cleaner *cleaner = log->cleaner;

	if (!cleaner)
		return;
	for (u32 i = 0; i < CHUNK_PAGES; i++) {
		if (cleaner->page[i])
			__free_page(cleaner->page[i]);
	}
	kvfree(cleaner->victim);
	kvfree(cleaner->is_left);
	kvfree(cleaner->is_stuck);
	kvfree(cleaner->files.slot);
	kvfree(cleaner->is_valid);
	kvfree(cleaner->summary);
	kvfree(cleaner->move);
	kvfree(cleaner);
	log->cleaner = NULL;
}
