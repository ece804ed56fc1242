// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cleaning, its second half: the pages that are valid in some segments are read, written
 * to another one in the order of files and places in them, and mapped there unless they
 * were written anew meanwhile.
 *
 * They are read in the order of their places, and what lies between two of them in a flash
 * unit is read along: an SSD senses a whole unit for each page of it that it is asked for by
 * itself. So reading and writing do not have the same order, and what is read waits in memory.
 */
#include <linux/mm.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>

#include "credit.h"
#include "disk.h"
#include "evict.h"
#include "hint.h"
#include "log.h"
#include "places.h"

/* Most pages of a command */
#define CHUNK_PAGES		256U

/*
 * Most pages between two of a command that lie in different units: both units are sensed in any
 * case, and to hand over more takes longer than a command.
 */
#define MAX_GAP_PAGES		1U

/* Most pages that wait in memory: 32 MiB */
#define MAX_BUFFER_PAGES	8192U

/* Comparisons before others get the CPU if they want it: up to 1.7 million moves are sorted. */
#define COMPARE_AT_ONCE	4096U

/* @nr: comparisons so far */
static void compare_one_more(const void *nr)
{
	if (!(++*(u32 *)nr % COMPARE_AT_ONCE))
		cond_resched();
}

static int by_file(const void *a, const void *b, const void *nr)
{
	const struct dmda_log_move *left = a, *right = b;

	compare_one_more(nr);
	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	if (left->fpage != right->fpage)
		return left->fpage < right->fpage ? -1 : 1;
	return left->lpn < right->lpn ? -1 : left->lpn > right->lpn;
}

static int by_place(const void *a, const void *b, const void *nr)
{
	const struct dmda_log_move *left = a, *right = b;

	compare_one_more(nr);
	return from_dpn(left->from) < from_dpn(right->from) ? -1 :
		from_dpn(left->from) > from_dpn(right->from);
}

static void submit_read(struct dmda_log_cleaner *cleaner, struct dmda_log_group *group,
			const struct dmda_log_move *moves, u32 nr)
{
	struct dmda_log *log = cleaner->log;
	u32 nr_pages = from_dpn(moves[nr - 1].from) - from_dpn(moves->from) + 1;
	struct bio *bio = bio_alloc_bioset(log->bdev, nr_pages, REQ_OP_READ, GFP_NOIO,
					   &log->own_bios);
	u64 at = from_dpn(moves->from);

	bio->bi_iter.bi_sector = dmda_log_sector(log, moves->from);
	bio->bi_end_io = dmda_log_end_bio;
	bio->bi_private = group;
	for (u32 i = 0; i < nr; i++, at++) {
		for (; at < from_dpn(moves[i].from); at++)
			__bio_add_page(bio, cleaner->waste, DMDA_BLOCK_BYTES, 0);
		__bio_add_page(bio, cleaner->page[moves[i].slot], DMDA_BLOCK_BYTES, 0);
	}
	dmda_log_group_get(group);
	submit_bio(bio);
}

static seg_t segment_of(const struct dmda_log_cleaner *cleaner, const struct dmda_log_move *move)
{
	return dmda_log_segment_of(cleaner->log, move->from);
}

static bool is_stuck(const struct dmda_log_cleaner *cleaner, const struct dmda_log_move *move)
{
	const struct dmda_segment *segment = cleaner->log->space.segments.segment;

	return READ_ONCE(segment[from_seg(segment_of(cleaner, move))].stuck);
}

static void stick_unread(struct dmda_log_cleaner *cleaner, seg_t seg)
{
	DMWARN_LIMIT("%s: Segment %u cannot be cleaned: a page of it cannot be read.",
		     dm_table_device_name(cleaner->log->dmda->ti->table), from_seg(seg));
	dmda_log_stick(cleaner, seg, DMDA_STUCK_UNREAD);
}

/* Each may take as long as a bad device does: none is read that is of no use any more. */
static void read_one_by_one(struct dmda_log_cleaner *cleaner, struct dmda_log_move *moves, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		struct dmda_log_group group;

		moves[i].is_copied = false;
		if (is_stuck(cleaner, &moves[i]) || dmda_log_must_stop(cleaner))
			continue;
		dmda_log_group_begin(&group);
		submit_read(cleaner, &group, &moves[i], 1);
		moves[i].is_copied = dmda_log_group_end(&group);
		if (!moves[i].is_copied)
			stick_unread(cleaner, segment_of(cleaner, &moves[i]));
	}
}

/* Is what lies between two places read along? */
static bool are_read_together(u64 before, u64 at)
{
	return at / DMDA_LOG_UNIT_PAGES == before / DMDA_LOG_UNIT_PAGES ||
		at - before <= MAX_GAP_PAGES + 1;
}

/* Moves that one command reads */
static u32 length_of_read(const struct dmda_log_move *moves, u32 nr)
{
	u32 run;

	for (run = 1; run < nr; run++) {
		u64 at = from_dpn(moves[run].from);

		if (!are_read_together(from_dpn(moves[run - 1].from), at) ||
		    at - from_dpn(moves->from) >= CHUNK_PAGES)
			break;
	}
	return run;
}

/* Reads moves that are in the order of their places. What cannot be read stays there. */
static void read_pages(struct dmda_log_cleaner *cleaner, struct dmda_log_move *moves, u32 nr)
{
	struct blk_plug plug;
	struct dmda_log_group group;
	u32 i, run;

	for (i = 0; i < nr; i++) {
		moves[i].slot = i;
		moves[i].is_copied = true;
	}
	dmda_log_group_begin(&group);
	blk_start_plug(&plug);
	for (i = 0; i < nr; i += run) {
		run = length_of_read(&moves[i], nr - i);
		submit_read(cleaner, &group, &moves[i], run);
	}
	blk_finish_plug(&plug);
	if (!dmda_log_group_end(&group))
		read_one_by_one(cleaner, moves, nr);
}

/* Without the lock. They are compared when the map says which they should be. */
static void take_sums(struct dmda_log_cleaner *cleaner, struct dmda_log_move *moves, u32 nr)
{
	if (!dmda_super_has_sums(&cleaner->log->super))
		return;
	for (u32 i = 0; i < nr; i++) {
		moves[i].sum = dmda_log_sum(cleaner->page[moves[i].slot]);
		moves[i].is_wrong = false;
		cond_resched();
	}
}

/*
 * A segment with a page that cannot be read does not become empty: to move the others of its pages
 * would only cost places. Return: moves that are left.
 */
static u32 drop_stuck(const struct dmda_log_cleaner *cleaner, struct dmda_log_move *moves, u32 nr)
{
	u32 left = 0;

	for (u32 i = 0; i < nr; i++) {
		if (!is_stuck(cleaner, &moves[i]))
			moves[left++] = moves[i];
	}
	return left;
}

static void end_move_bio(struct bio *bio)
{
	struct dmda_own_bio *own = container_of(bio, struct dmda_own_bio, bio);
	struct dmda_log *log = own->log;
	unsigned long flags;

	if (READ_ONCE(own->io.fate) == DMDA_FATE_SENT && !bio->bi_status) {
		spin_lock_irqsave(&log->lock, flags);
		log->counters.nr_moved_hints++;
		spin_unlock_irqrestore(&log->lock, flags);
	}
	dmda_log_end_bio(bio);
}

/* A bio that writes some of the pages */
static struct dmda_own_bio *new_write(struct dmda_log_cleaner *cleaner,
				      struct dmda_log_group *group,
				      const struct dmda_log_move *moves, const struct dmda_run *run)
{
	struct dmda_log *log = cleaner->log;
	struct bio *bio = bio_alloc_bioset(log->bdev, run->nr_pages, REQ_OP_WRITE, GFP_NOIO,
					   &log->cleaning.moves);
	struct dmda_own_bio *own = container_of(bio, struct dmda_own_bio, bio);

	own->log = log;
	own->io.fate = DMDA_FATE_UNSEEN;
	bio->bi_iter.bi_sector = dmda_log_sector(log, run->dpn);
	bio->bi_end_io = end_move_bio;
	bio->bi_private = group;
	for (u32 i = 0; i < run->nr_pages; i++)
		__bio_add_page(bio, cleaner->page[moves[i].slot], DMDA_BLOCK_BYTES, 0);
	dmda_log_group_get(group);
	return own;
}

/* Writes some of the pages with a hint for the first of them, or without one. */
static void submit_write(struct dmda_log_cleaner *cleaner, struct dmda_log_group *group,
			 const struct dmda_log_move *moves, const struct dmda_run *run,
			 const struct dmda_verdict *verdict)
{
	struct dmda_own_bio *own = new_write(cleaner, group, moves, run);

	if (verdict->hint != DMDA_HINT_NONE) {
		own->bio.bi_opf |= REQ_NOMERGE;
		dmda_transport_attach_own(cleaner->log->dmda, own, verdict);
	}
	submit_bio(&own->bio);
}

/* All of them to the handle for what survived a cleaning, if there is one */
static void write_streamed(struct dmda_log_cleaner *cleaner, struct dmda_log_group *group,
			   const struct dmda_log_move *moves, const struct dmda_run *all)
{
	struct dmda_own_bio *own = new_write(cleaner, group, moves, all);
	u8 stream = dmda_fdp_lifetime(cleaner->log->dmda, DMDA_STREAM_MOVED);

	if (stream) {
		dmda_bio_set_write_stream(&own->bio, stream);
		own->io.fate = DMDA_FATE_SENT;
	}
	submit_bio(&own->bio);
}

/* Does a page go on in the file, or in the lpns of unknown ones, where another ends? */
static bool goes_on(const struct dmda_log_move *before, const struct dmda_log_move *move)
{
	if (before->file != move->file)
		return false;
	return move->file ? move->fpage == before->fpage + 1 : move->lpn == before->lpn + 1;
}

/* Return: whether a page gets a hint of its own. */
static bool find_hint(struct dmda_log_cleaner *cleaner, const struct dmda_log_move *move,
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

static u32 length_of_piece(const struct dmda_log_move *moves, u32 nr)
{
	u32 run;

	for (run = 1; run < nr; run++) {
		if (!goes_on(&moves[run - 1], &moves[run]))
			break;
	}
	return run;
}

/*
 * A bio for each large piece of a file, so that it has a hint. Small ones, and those of
 * which nothing is known, may as well follow the one before them.
 */
static void write_hinted(struct dmda_log_cleaner *cleaner, struct dmda_log_group *group,
			 const struct dmda_log_move *moves, const struct dmda_run *all)
{
	struct dmda_run run = { .dpn = all->dpn };
	struct dmda_verdict verdict = { .hint = DMDA_HINT_NONE };
	struct dmda_verdict next;
	u32 first = 0, piece;

	for (u32 i = 0; i < all->nr_pages; i += piece) {
		piece = length_of_piece(&moves[i], all->nr_pages - i);
		if (piece < DMDA_LOG_UNIT_PAGES || !find_hint(cleaner, &moves[i], &next))
			continue;
		if (i) {
			run.nr_pages = i - first;
			submit_write(cleaner, group, &moves[first], &run, &verdict);
			run.dpn = to_dpn(from_dpn(run.dpn) + run.nr_pages);
		}
		verdict = next;
		first = i;
	}
	run.nr_pages = all->nr_pages - first;
	submit_write(cleaner, group, &moves[first], &run, &verdict);
}

static bool write_plain(struct dmda_log_cleaner *cleaner, const struct dmda_log_move *moves,
			const struct dmda_run *all)
{
	const struct dmda_verdict none = { .hint = DMDA_HINT_NONE };
	struct dmda_log_group group;

	dmda_log_group_begin(&group);
	submit_write(cleaner, &group, moves, all, &none);
	return dmda_log_group_end(&group);
}

/* What fails with hints, or a stream, is tried without. */
static int write_pages(struct dmda_log_cleaner *cleaner, const struct dmda_log_move *moves,
		       dpn_t to, u32 nr)
{
	const struct dmda_run all = { .dpn = to, .nr_pages = nr };
	struct dmda *dmda = cleaner->log->dmda;
	enum dmda_state state = READ_ONCE(dmda->state);
	struct dmda_log_group group;
	struct blk_plug plug;

	if (state != DMDA_STATE_ON && state != DMDA_STATE_LIFETIMES)
		return write_plain(cleaner, moves, &all) ? 0 : -EIO;
	dmda_log_group_begin(&group);
	blk_start_plug(&plug);
	if (state == DMDA_STATE_LIFETIMES)
		write_streamed(cleaner, &group, moves, &all);
	else
		write_hinted(cleaner, &group, moves, &all);
	blk_finish_plug(&plug);
	if (dmda_log_group_end(&group))
		return 0;
	if (!write_plain(cleaner, moves, &all))
		return -EIO;
	dmda_retry_doubt(dmda);
	return 0;
}

/* Waits until there are places. Return: how many; 0: cleaning has to end. */
static u32 take_places(struct dmda_log_cleaner *cleaner, u32 wanted, dpn_t *dpn, u8 *open)
{
	struct dmda_log *log = cleaner->log;

	while (READ_ONCE(log->state) == DMDA_LOG_WRITE) {
		u32 nr, nr_free, kept;

		spin_lock_irq(&log->lock);
		nr = dmda_log_take_locked(log, DMDA_STREAM_MOVED, wanted, false, dpn, open);
		nr_free = log->space.segments.nr_free;
		kept = dmda_log_kept_from_locked(log, DMDA_STREAM_MOVED);
		spin_unlock_irq(&log->lock);
		if (nr)
			return nr;
		/* For room in the batch, for a segment to be closed, or to be freed */
		if (dmda_log_make_room(log))
			return 0;
		queue_work(log->queue, &log->space.work);
		flush_work(&log->space.work);
		dmda_log_wait_discards(log, kept);
		if (nr_free <= kept && READ_ONCE(log->space.segments.nr_free) <= kept) {
			cleaner->is_short = true;
			return 0;
		}
	}
	return 0;
}

/* Moves that are consecutive in every way, of lpns on one page of the map */
static u32 length_of_run(const struct dmda_log *log, const struct dmda_log_move *moves, u32 nr)
{
	u32 entry, run;

	dmda_log_map_index(log, moves->lpn, &entry);
	for (run = 1; run < nr && run < DMDA_MAX_OP_PAGES; run++) {
		if (moves[run].lpn != moves->lpn + run || moves[run].file != moves->file ||
		    (moves->file && moves[run].fpage != moves->fpage + run) ||
		    entry + run == dmda_super_map_entries(&log->super))
			break;
	}
	return run;
}

/* Is it there still, and is what was read what was written? */
static bool may_move(const struct dmda_log *log, const struct dmda_log_page *page,
		     struct dmda_log_move *move)
{
	u32 entry = move->lpn - page->map.index * page->map.nr_entries;

	if (!move->is_copied || move->is_wrong ||
	    dmda_map_get(page->map.block, entry) != move->from)
		return false;
	if (!dmda_super_has_sums(&log->super) ||
	    dmda_map_sums(page->map.block)->sum[entry] == move->sum)
		return true;
	move->is_wrong = true;
	move->sum = dmda_map_sums(page->map.block)->sum[entry];
	return false;
}

/*
 * Maps as many as one operation takes, or skips one, so that the lock is not held for long. Return:
 * how many are done.
 */
static u32 move_some_locked(struct dmda_log *log, struct dmda_log_page *page,
			    struct dmda_log_move *moves, u32 nr, dpn_t to)
{
	__le32 *sums = log->cleaning.cleaner->sums;
	struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES] = { page };
	struct dmda_written first = {
		.lpn = to_lpn(moves->lpn), .file = moves->file, .fpage = moves->fpage,
	};
	u32 run = 0;

	lockdep_assert_held(&log->lock);

	nr = min(nr, DMDA_LOG_PIECE_PAGES);
	for (; run < nr && may_move(log, page, &moves[run]); run++)
		sums[run] = moves[run].sum;
	if (!run)
		return 1;
	run = dmda_log_piece_locked(log, pages, first.lpn, run);
	if (!dmda_log_map_run_locked(log, pages, &first, to, run, sums))
		return 0;
	log->draft.nr_own++;
	return run;
}

static int map_run(struct dmda_log *log, struct dmda_log_move *moves, u32 nr, dpn_t to)
{
	u32 entry, done = 0;
	struct dmda_log_page *page =
		dmda_log_page_wait(log, dmda_log_map_index(log, moves->lpn, &entry));
	int ret = 0;

	if (IS_ERR(page))
		return PTR_ERR(page);
	while (done < nr && !ret) {
		u32 some;

		spin_lock_irq(&log->lock);
		some = move_some_locked(log, page, &moves[done], nr - done,
					to_dpn(from_dpn(to) + done));
		spin_unlock_irq(&log->lock);
		done += some;
		if (!some)
			ret = dmda_log_make_room(log);
	}
	dmda_log_page_put(log, page);
	return ret;
}

/* What was read wrong is where it was. If that is damaged, its segment cannot be emptied. */
static void look_at_wrong(struct dmda_log_cleaner *cleaner, const struct dmda_log_move *moves,
			  u32 nr)
{
	struct dmda_log *log = cleaner->log;

	for (u32 i = 0; i < nr; i++) {
		const struct dmda_log_move *move = &moves[i];

		if (move->is_wrong && !dmda_log_look_again(log, move->lpn, move->from,
							   cleaner->waste, move->sum))
			dmda_log_stick(cleaner, segment_of(cleaner, move), DMDA_STUCK_WRONG);
	}
}

/* Reads pages of the map for the first moves. Return: for how many. */
static u32 fetch_map(struct dmda_log *log, const struct dmda_log_move *moves, u32 nr)
{
	struct dmda_log_wanted wanted;
	u32 i, entry;

	dmda_log_wanted_init(log, &wanted);
	for (i = 0; i < nr; i++) {
		if (!dmda_log_wanted_add(log, &wanted,
					 dmda_log_map_index(log, moves[i].lpn, &entry)))
			break;
	}
	dmda_log_wanted_read(log, &wanted);
	return i;
}

static int map_moves(struct dmda_log *log, struct dmda_log_move *moves, u32 nr, dpn_t to)
{
	u32 run, nr_fetched = 0;

	for (u32 i = 0; i < nr; i += run) {
		int ret;

		if (i >= nr_fetched)
			nr_fetched = i + fetch_map(log, &moves[i], nr - i);
		run = length_of_run(log, &moves[i], nr - i);
		ret = map_run(log, &moves[i], run, to_dpn(from_dpn(to) + i));
		if (ret)
			return ret;
	}
	return 0;
}

/* Writes what was read. Return: how many moves are done, or 0: cleaning has to end. */
static u32 write_chunk(struct dmda_log_cleaner *cleaner, struct dmda_log_move *moves, u32 nr)
{
	struct dmda_log *log = cleaner->log;
	struct dmda_open *segment;
	dpn_t to;
	u8 open;
	int ret;

	nr = take_places(cleaner, min(nr, CHUNK_PAGES), &to, &open);
	if (!nr)
		return 0;
	ret = write_pages(cleaner, moves, to, nr);
	if (!ret)
		ret = map_moves(log, moves, nr, to);
	if (!ret)
		look_at_wrong(cleaner, moves, nr);
	segment = &log->space.closing.open[open];
	spin_lock_irq(&log->lock);
	segment->mtime = max(segment->mtime, cleaner->mtime);
	log->counters.moved_pages += nr;
	dmda_log_placed_locked(log, open, nr);
	dmda_log_pay_users_locked(cleaner, nr);
	spin_unlock_irq(&log->lock);
	if (ret)
		DMWARN_LIMIT("%s: Cleaning could not write.",
			     dm_table_device_name(log->dmda->ti->table));
	return ret ? 0 : nr;
}

static bool write_all(struct dmda_log_cleaner *cleaner, struct dmda_log_move *moves, u32 nr)
{
	u32 done;

	for (u32 i = 0; i < nr; i += done) {
		if (dmda_log_must_stop(cleaner))
			return false;
		done = write_chunk(cleaner, &moves[i], nr - i);
		if (!done)
			return false;
		dmda_log_pages_shrink(cleaner->log);
		cond_resched();
	}
	return true;
}

static void sort_moves(struct dmda_log_move *moves, u32 nr, cmp_r_func_t cmp)
{
	u32 nr_compared = 0;

	sort_r(moves, nr, sizeof(*moves), cmp, NULL, &nr_compared);
}

bool dmda_log_copy(struct dmda_log_cleaner *cleaner)
{
	u32 nr, left;

	/* What goes into memory at once is sorted there. */
	if (cleaner->plan.nr_moves > cleaner->nr_pages)
		sort_moves(cleaner->move, cleaner->plan.nr_moves,
			   cleaner->in_file_order ? by_file : by_place);
	for (u32 i = 0; i < cleaner->plan.nr_moves; i += nr) {
		struct dmda_log_move *moves = &cleaner->move[i];

		if (dmda_log_must_stop(cleaner))
			return false;
		nr = min(cleaner->plan.nr_moves - i, cleaner->nr_pages);
		sort_moves(moves, nr, by_place);
		read_pages(cleaner, moves, nr);
		left = drop_stuck(cleaner, moves, nr);
		take_sums(cleaner, moves, left);
		sort_moves(moves, left, by_file);
		if (!write_all(cleaner, moves, left))
			return false;
	}
	return true;
}

bool dmda_log_copy_create(struct dmda_log_cleaner *cleaner)
{
	u32 nr = min(cleaner->plan.max_moves, MAX_BUFFER_PAGES);

	cleaner->page = kvcalloc(nr, sizeof(*cleaner->page), GFP_KERNEL);
	cleaner->waste = alloc_page(GFP_KERNEL);
	cleaner->sums = kcalloc(CHUNK_PAGES, sizeof(*cleaner->sums), GFP_KERNEL);
	if (!cleaner->page || !cleaner->waste || !cleaner->sums)
		return false;
	for (; cleaner->nr_pages < nr; cleaner->nr_pages++) {
		cleaner->page[cleaner->nr_pages] = alloc_page(GFP_KERNEL);
		if (!cleaner->page[cleaner->nr_pages])
			return false;
	}
	return true;
}

void dmda_log_copy_destroy(struct dmda_log_cleaner *cleaner)
{
	while (cleaner->nr_pages)
		__free_page(cleaner->page[--cleaner->nr_pages]);
	if (cleaner->waste)
		__free_page(cleaner->waste);
	kfree(cleaner->sums);
	kvfree(cleaner->page);
}
