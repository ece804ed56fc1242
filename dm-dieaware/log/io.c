// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bio's way through log mode.
 *
 *   read   looked up and sent on, by the task that submits it. A worker takes over if the
 *	    page of the map is not in memory.
 *   write  claims its lpns, so that writes of the same ones are done as they were
 *	    submitted; gets places; is sent on; when its data is written, its operation is
 *	    done; with FUA it then waits for a commit. Who has to wait for something goes on
 *	    by the worker. Pages of the map that are not in memory are read while the data is
 *	    being written: the operation needs them, places do not; but where small writes are
 *	    done in place, the map says where that is, and has to be read first.
 *   trim   (discard, write zeroes) claims its lpns; the worker does its operations.
 *	    Before a suspension that does not wait for writes, those that have no places yet,
 *	    and trims that have not begun, go back to dm. All of them, lest one overtakes
 *	    another of the same lpns.
 *   flush  waits for a commit. What is under way when it comes does not concern it: nobody
 *	    was told yet that it is written.
 *
 * A write is cut where the file, the segment or the longest operation ends. That is not for
 * device-mapper to do (max_io_len): it cuts at multiples of that length, small writes, too.
 */
#include <linux/interval_tree_generic.h>

#include "hint.h"
#include "log.h"
#include "trace.h"

#define FIRST_OF(io)	((io)->first)
#define LAST_OF(io)	((io)->last)

INTERVAL_TREE_DEFINE(struct dmda_log_io, node, u64, subtree_last, FIRST_OF, LAST_OF,
		     static __maybe_unused, claims)

void dmda_log_go_on_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	list_move_tail(&io->list, &log->ios.ready);
	dmda_log_kick(log, &log->ios.work);
}

/*
 * Who waits has claimed, too: what comes after it must not overtake it.
 * Return: false if it has to wait for others, whose ends let it go on.
 */
static bool claim_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	struct dmda_log_io *other;

	lockdep_assert_held(&log->lock);

	io->nr_blockers = 0;
	for (other = claims_iter_first(&log->ios.claims, io->first, io->last); other;
	     other = claims_iter_next(other, io->first, io->last))
		io->nr_blockers++;
	claims_insert(io, &log->ios.claims);
	io->has_claim = true;
	if (io->nr_blockers)
		return false;
	io->stage = DMDA_LOG_PLACE;
	return true;
}

/* All that overlap have come later, for whoever came earlier was waited for. */
static void unclaim_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	struct dmda_log_io *other;

	lockdep_assert_held(&log->lock);

	if (!io->has_claim)
		return;
	claims_remove(io, &log->ios.claims);
	io->has_claim = false;
	for (other = claims_iter_first(&log->ios.claims, io->first, io->last); other;
	     other = claims_iter_next(other, io->first, io->last)) {
		if (--other->nr_blockers)
			continue;
		other->stage = DMDA_LOG_PLACE;
		dmda_log_go_on_locked(log, other);
	}
}

static void unpin_locked(struct dmda_log_io *io)
{
	for (u32 i = 0; i < DMDA_OP_MAP_PAGES; i++) {
		if (io->pages[i])
			dmda_log_page_put_locked(io->pages[i]);
		io->pages[i] = NULL;
	}
}

static void let_go_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	unpin_locked(io);
	unclaim_locked(log, io);
	io->stage = DMDA_LOG_MAPPED;
}

void dmda_log_finish(struct dmda_log *log, struct dmda_log_io *io, blk_status_t status)
{
	struct bio *bio = dmda_log_bio(io);

	spin_lock_irq(&log->lock);
	let_go_locked(log, io);
	spin_unlock_irq(&log->lock);
	bio->bi_status = status;
	bio_endio(bio);
}

static void init_io(struct dmda_log *log, struct bio *bio)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);
	sector_t sector = dm_target_offset(log->dmda->ti, bio->bi_iter.bi_sector);

	INIT_LIST_HEAD(&io->list);
	io->first = sector >> DMDA_PAGE_SECTOR_SHIFT;
	io->last = io->first + (bio_sectors(bio) >> DMDA_PAGE_SECTOR_SHIFT) - 1;
	io->cursor = io->first;
	memset(io->pages, 0, sizeof(io->pages));
	io->seg = SEG_NONE;
	io->file = 0;
	io->fpage = 0;
	dmda_log_hint_init(io);
	io->stage = DMDA_LOG_CLAIM;
	io->has_claim = false;
	io->is_fua = false;
	io->is_fetching = false;
	io->has_waited = false;
	io->is_written = false;
	io->is_rest = false;
	io->is_in_place = false;
}

static void send_to(struct dmda_log *log, struct bio *bio, dpn_t dpn)
{
	bio_set_dev(bio, log->bdev);
	bio->bi_iter.bi_sector = dmda_log_sector(log, dpn);
}

/*
 * Reads
 */

/* Counts the reader while the map still points there: from then on nobody frees it. */
static u32 look_up_locked(struct dmda_log *log, const struct dmda_log_page *page, u64 lpn,
			  u32 nr_pages, dpn_t *dpn, seg_t *seg)
{
	u32 entry, nr;

	dmda_map_index(to_lpn(lpn), &entry);
	nr = dmda_map_run(page->map.block, entry, nr_pages, dpn);
	*seg = SEG_NONE;
	if (*dpn == DPN_NONE)
		return nr;
	*seg = dmda_log_segment_of(log, *dpn);
	if (*seg != SEG_NONE)
		atomic_inc(&log->space.readers[from_seg(*seg)]);
	return nr;
}

static int map_read(struct dmda_log *log, struct bio *bio)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);
	struct dmda_log_page *page;
	unsigned long flags;
	u32 entry, nr = 0;
	dpn_t dpn;

	spin_lock_irqsave(&log->lock, flags);
	page = dmda_log_page_find_locked(log, dmda_map_index(to_lpn(io->first), &entry));
	if (page)
		nr = look_up_locked(log, page, io->first, dmda_log_io_pages(io), &dpn, &io->seg);
	else
		dmda_log_go_on_locked(log, io);
	spin_unlock_irqrestore(&log->lock, flags);
	if (!page)
		return DM_MAPIO_SUBMITTED;
	io->stage = DMDA_LOG_DATA;
	if (nr < dmda_log_io_pages(io))
		dm_accept_partial_bio(bio, nr << DMDA_PAGE_SECTOR_SHIFT);
	if (dpn == DPN_NONE) {
		zero_fill_bio(bio);
		bio_endio(bio);
		return DM_MAPIO_SUBMITTED;
	}
	send_to(log, bio, dpn);
	return DM_MAPIO_REMAPPED;
}

/**
 * struct piece - a part of a read that the worker does
 * @log: whose it is
 * @parent: the bio
 * @seg: segment whose readers it is counted among
 * @bio: the part; must be the last member
 */
struct piece {
	struct dmda_log *log;
	struct bio *parent;
	seg_t seg;
	struct bio bio;
};

int dmda_log_init_pieces(struct dmda_log *log)
{
	return bioset_init(&log->ios.pieces, BIO_POOL_SIZE, offsetof(struct piece, bio), 0) ?:
		bioset_init(&log->cleaning.moves, BIO_POOL_SIZE, offsetof(struct dmda_own_bio, bio),
			    BIOSET_NEED_BVECS);
}

static void end_piece(struct bio *bio)
{
	struct piece *piece = container_of(bio, struct piece, bio);
	struct bio *parent = piece->parent;

	if (bio->bi_status)
		parent->bi_status = bio->bi_status;
	if (piece->seg != SEG_NONE)
		dmda_log_put_reader(piece->log, piece->seg);
	bio_put(bio);
	bio_endio(parent);
}

static u32 read_piece(struct dmda_log *log, struct dmda_log_io *io,
		      const struct dmda_log_page *page)
{
	struct bio *parent = dmda_log_bio(io);
	struct bio *bio = bio_alloc_clone(log->bdev, parent, GFP_NOIO, &log->ios.pieces);
	struct piece *piece = container_of(bio, struct piece, bio);
	dpn_t dpn;
	u32 nr;

	piece->log = log;
	piece->parent = parent;
	bio->bi_end_io = end_piece;
	spin_lock_irq(&log->lock);
	nr = look_up_locked(log, page, io->cursor, io->last - io->cursor + 1, &dpn, &piece->seg);
	spin_unlock_irq(&log->lock);
	bio_trim(bio, (io->cursor - io->first) << DMDA_PAGE_SECTOR_SHIFT,
		 (sector_t)nr << DMDA_PAGE_SECTOR_SHIFT);
	bio_inc_remaining(parent);
	if (dpn == DPN_NONE) {
		zero_fill_bio(bio);
		bio_endio(bio);
	} else {
		bio->bi_iter.bi_sector = dmda_log_sector(log, dpn);
		submit_bio_noacct(bio);
	}
	return nr;
}

static void go_on_reading(struct dmda_log *log, struct dmda_log_io *io)
{
	struct bio *bio = dmda_log_bio(io);
	blk_status_t status = BLK_STS_OK;

	io->stage = DMDA_LOG_MAPPED;
	while (io->cursor <= io->last) {
		struct dmda_log_page *page;
		u32 entry;

		page = dmda_log_page_get(log, dmda_map_index(to_lpn(io->cursor), &entry), io);
		if (!page)
			return;
		if (IS_ERR(page)) {
			status = BLK_STS_IOERR;
			break;
		}
		io->cursor += read_piece(log, io, page);
		io->has_waited = false;
		dmda_log_page_put(log, page);
	}
	if (status)
		bio->bi_status = status;
	bio_endio(bio);
}

/*
 * Writes
 */

/* What the bio begins with goes to one file; the rest comes again. */
static void identify(struct dmda_log *log, struct bio *bio, u32 *nr_pages)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);
	struct dmda_identity identity;
	u32 page_mask = DMDA_BLOCK_BYTES - 1;
	u32 nr;

	dmda_identify_write(log->dmda, bio, &identity);
	nr = identity.len_bytes >> DMDA_PAGE_SHIFT;
	if (identity.file.id && !(identity.pos_bytes & page_mask) && nr) {
		io->file = identity.file.id;
		io->fpage = identity.pos_bytes >> DMDA_PAGE_SHIFT;
		*nr_pages = min(*nr_pages, nr);
	}
	io->last = io->first + *nr_pages - 1;
	dmda_log_hint_plan(log, io, &identity);
}

/* Return: whether all pages of the map that it needs are in memory; then they are pinned. */
static bool pin_pages_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 entry;
	u64 first = dmda_map_index(to_lpn(io->first), &entry);
	u64 last = dmda_map_index(to_lpn(io->last), &entry);

	for (u64 i = first; i <= last; i++) {
		struct dmda_log_page *page;

		/* The worker may have got it. */
		if (io->pages[i - first])
			continue;
		page = dmda_log_page_find_locked(log, i);
		if (!page) {
			unpin_locked(io);
			return false;
		}
		page->nr_pins++;
		io->pages[i - first] = page;
	}
	return true;
}

/* Return: how many pages have places now, and may be sent on; 0: it waits for some. */
static u32 place_locked(struct dmda_log *log, struct dmda_log_io *io, bool whole)
{
	u32 nr = 0;

	/* Who came first is served first. */
	if (dmda_log_stay_locked(log, io))
		nr = dmda_log_io_pages(io);
	else if (list_empty(&log->admission.starved))
		nr = dmda_log_take_locked(log, DMDA_STREAM_USER, dmda_log_io_pages(io), whole,
					  &io->dpn, &io->open);
	if (!nr) {
		dmda_log_starve_locked(log, io);
		return 0;
	}
	log->counters.user_pages += nr;
	/* What is overwritten in place takes no space, and does not show that there is any. */
	if (!io->is_in_place)
		dmda_patience_renew(&log->admission.patience);
	io->stage = DMDA_LOG_DATA;
	io->is_fetching = !io->is_in_place && !pin_pages_locked(log, io);
	dmda_log_hint_place_locked(log, io);
	return nr;
}

/* Others may have what the bio is not going to write; it comes again as another one. */
static void shorten_locked(struct dmda_log *log, struct dmda_log_io *io, u32 nr_pages)
{
	if (nr_pages == dmda_log_io_pages(io))
		return;
	claims_remove(io, &log->ios.claims);
	io->last = io->first + nr_pages - 1;
	claims_insert(io, &log->ios.claims);
}

/*
 * As far as it goes without waiting.
 * @is_begun: it is the beginning of a longer write
 * Return: pages that can be sent on; 0: it waits.
 */
static u32 begin_write(struct dmda_log *log, struct dmda_log_io *io, bool is_begun)
{
	unsigned long flags;
	u32 nr = 0;

	spin_lock_irqsave(&log->lock, flags);
	io->is_rest = dmda_writer_is_rest(&log->space.writer, to_lpn(io->first));
	if (claim_locked(log, io)) {
		if (dmda_log_needs_map_locked(log, io))
			dmda_log_go_on_locked(log, io);
		else
			nr = place_locked(log, io, false);
	}
	if (nr) {
		is_begun = is_begun || nr < dmda_log_io_pages(io);
		shorten_locked(log, io, nr);
		if (io->is_fetching)
			dmda_log_go_on_locked(log, io);
	}
	if (is_begun)
		dmda_writer_cut(&log->space.writer, to_lpn(io->last + 1));
	spin_unlock_irqrestore(&log->lock, flags);
	return nr;
}

static void prepare_write(struct dmda_log *log, struct bio *bio)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);

	io->is_fua = bio->bi_opf & REQ_FUA;
	/* The commit does it for the data, too. */
	bio->bi_opf &= ~REQ_FUA;
	send_to(log, bio, io->dpn);
	trace_dmda_log_write(log->dmda->self_dev, io->first, io->dpn, dmda_log_io_pages(io),
			     io->file);
	dmda_log_hint_send(log, io);
}

dpn_t dmda_log_where_locked(struct dmda_log *log, u64 lpn)
{
	struct dmda_log_page *page;
	struct dmda_log_io *io;
	u32 entry;

	lockdep_assert_held(&log->lock);

	/* Of those who claim it, one at most has its places. */
	for (io = claims_iter_first(&log->ios.claims, lpn, lpn); io;
	     io = claims_iter_next(io, lpn, lpn)) {
		if (io->stage == DMDA_LOG_DATA)
			return to_dpn(from_dpn(io->dpn) + lpn - io->first);
	}
	page = dmda_log_page_find_locked(log, dmda_map_index(to_lpn(lpn), &entry));
	return page ? dmda_map_get(page->map.block, entry) : DPN_NONE;
}

/* Most pages that are written at once: what one operation and one segment can take */
static u32 most_pages(const struct dmda_log *log)
{
	return min(DMDA_MAX_OP_PAGES, dmda_super_data_pages(&log->super));
}

static int map_write(struct dmda_log *log, struct bio *bio)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);
	u32 nr_bio = dmda_log_io_pages(io), most = most_pages(log);
	u32 nr_pages = min(nr_bio, most), nr;

	if (READ_ONCE(log->state) != DMDA_LOG_WRITE)
		return DM_MAPIO_KILL;
	if (READ_ONCE(log->admission.hands_back))
		return DM_MAPIO_REQUEUE;
	identify(log, bio, &nr_pages);
	if (nr_pages < nr_bio)
		dm_accept_partial_bio(bio, nr_pages << DMDA_PAGE_SECTOR_SHIFT);
	nr = begin_write(log, io, nr_pages < nr_bio && nr_pages == most);
	if (!nr)
		return DM_MAPIO_SUBMITTED;
	if (nr < nr_pages)
		dm_accept_partial_bio(bio, nr << DMDA_PAGE_SECTOR_SHIFT);
	prepare_write(log, bio);
	return DM_MAPIO_REMAPPED;
}

/*
 * Pins the page of the map without which it is not known whether a write stays where its pages are.
 * Return: 0: it is pinned, or none is needed; -EAGAIN: @io waits for it; -EIO: it cannot be read.
 */
static int get_needed_page(struct dmda_log *log, struct dmda_log_io *io)
{
	struct dmda_log_page *page;
	bool needs_map;
	u32 entry;

	spin_lock_irq(&log->lock);
	needs_map = dmda_log_needs_map_locked(log, io);
	spin_unlock_irq(&log->lock);
	if (!needs_map)
		return 0;
	page = dmda_log_page_get(log, dmda_map_index(to_lpn(io->first), &entry), io);
	if (!page)
		return -EAGAIN;
	if (IS_ERR(page))
		return PTR_ERR(page);
	io->has_waited = false;
	io->pages[0] = page;
	return 0;
}

static void go_on_writing(struct dmda_log *log, struct dmda_log_io *io)
{
	struct bio *bio = dmda_log_bio(io);
	u32 nr;
	int ret;

	if (READ_ONCE(log->state) != DMDA_LOG_WRITE) {
		dmda_log_finish(log, io, BLK_STS_IOERR);
		return;
	}
	if (READ_ONCE(log->admission.hands_back)) {
		dmda_log_finish(log, io, BLK_STS_DM_REQUEUE);
		return;
	}
	ret = get_needed_page(log, io);
	if (ret == -EAGAIN)
		return;
	if (ret) {
		dmda_log_finish(log, io, BLK_STS_IOERR);
		return;
	}
	spin_lock_irq(&log->lock);
	nr = place_locked(log, io, true);
	/* Who waits has nothing pinned. */
	if (!nr || io->is_in_place)
		unpin_locked(io);
	if (nr && io->is_fetching)
		dmda_log_go_on_locked(log, io);
	spin_unlock_irq(&log->lock);
	if (!nr)
		return;
	prepare_write(log, bio);
	submit_bio_noacct(bio);
}

bool dmda_log_map_run_locked(struct dmda_log *log,
			     struct dmda_log_page *const pages[DMDA_OP_MAP_PAGES],
			     struct dmda_written *first, dpn_t dpn, u32 nr_pages)
{
	struct dmda_map_page *map[DMDA_OP_MAP_PAGES];

	lockdep_assert_held(&log->lock);

	if (!dmda_log_has_room_locked(log, 1 + nr_pages))
		return false;
	for (u32 i = 0; i < DMDA_OP_MAP_PAGES; i++)
		map[i] = pages[i] ? &pages[i]->map : NULL;
	first->seq = dmda_change_map(&log->journal.change, map, first->lpn, dpn, nr_pages);
	dmda_opened_put(&log->space.opened, dpn, first, nr_pages, log->journal.batch.first.sector);
	return true;
}

/* Nothing becomes of its places. */
static void give_up_write_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	if (io->is_in_place)
		dmda_log_stayed_locked(log, io);
	else
		dmda_log_placed_locked(log, io->open, dmda_log_io_pages(io));
	let_go_locked(log, io);
}

/* Return: whether the batch had room for its operation. */
static bool apply_write_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 nr = dmda_log_io_pages(io), nr_empty = log->space.segments.nr_empty;
	struct dmda_written first = {
		.lpn = to_lpn(io->first), .file = io->file, .fpage = io->fpage,
	};

	if (io->is_in_place) {
		log->journal.nr_overwrites++;
		dmda_log_commit_late(log);
		give_up_write_locked(log, io);
		return true;
	}
	if (!dmda_log_map_run_locked(log, io->pages, &first, io->dpn, nr))
		return false;
	dmda_log_commit_late(log);
	log->space.open[io->open].mtime = first.seq;
	dmda_log_emptied_locked(log, nr_empty);
	dmda_log_placed_locked(log, io->open, nr);
	let_go_locked(log, io);
	return true;
}

static void commit_for_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	list_move_tail(&io->list, &log->journal.committing);
	log->counters.nr_flushes++;
	dmda_log_kick(log, &log->journal.work);
}

/*
 * What its data has come to. Return: whether the bio is to be ended with @status; if not, it
 * waits for pages of the map, room in the batch or a commit.
 */
static bool finish_write_locked(struct dmda_log *log, struct dmda_log_io *io,
				blk_status_t *status)
{
	lockdep_assert_held(&log->lock);

	if (io->is_fetching) {
		io->is_written = true;
		return false;
	}
	if (*status || log->state == DMDA_LOG_FAILED) {
		*status = *status ?: BLK_STS_IOERR;
		give_up_write_locked(log, io);
		return true;
	}
	if (!apply_write_locked(log, io)) {
		list_move_tail(&io->list, &log->ios.unmapped);
		return false;
	}
	if (io->is_fua)
		commit_for_locked(log, io);
	return !io->is_fua;
}

static void fail_if_wrong(struct dmda_log *log, const char *why)
{
	if (unlikely(why))
		dmda_log_fail(log, "changing the map", why);
}

static int end_write(struct dmda_log *log, struct dmda_log_io *io, blk_status_t *status)
{
	unsigned long flags;
	const char *why;
	bool is_done;

	spin_lock_irqsave(&log->lock, flags);
	is_done = finish_write_locked(log, io, status);
	why = log->journal.change.why;
	spin_unlock_irqrestore(&log->lock, flags);
	fail_if_wrong(log, why);
	return is_done ? DM_ENDIO_DONE : DM_ENDIO_INCOMPLETE;
}

static void unpin(struct dmda_log *log, struct dmda_log_io *io)
{
	spin_lock_irq(&log->lock);
	unpin_locked(io);
	spin_unlock_irq(&log->lock);
}

/* Return: 0: all pages are pinned; -EAGAIN: it waits for one; -EIO: one cannot be read. */
static int get_pages(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 entry;
	u64 first = dmda_map_index(to_lpn(io->first), &entry);
	u64 last = dmda_map_index(to_lpn(io->last), &entry);

	for (u64 i = first; i <= last; i++) {
		struct dmda_log_page *page;

		page = dmda_log_page_get(log, i, io);
		if (!page) {
			unpin(log, io);
			return -EAGAIN;
		}
		if (IS_ERR(page))
			return PTR_ERR(page);
		io->pages[i - first] = page;
	}
	return 0;
}

/* The write's data may be on its way, or written already: then its operation is done here. */
static void go_on_fetching(struct dmda_log *log, struct dmda_log_io *io)
{
	struct bio *bio = dmda_log_bio(io);
	blk_status_t status = BLK_STS_OK;
	int ret = get_pages(log, io);
	bool is_done = false;
	const char *why;

	if (ret == -EAGAIN)
		return;
	spin_lock_irq(&log->lock);
	io->is_fetching = false;
	if (io->is_written) {
		status = ret ? BLK_STS_IOERR : bio->bi_status;
		is_done = finish_write_locked(log, io, &status);
	}
	why = log->journal.change.why;
	spin_unlock_irq(&log->lock);
	fail_if_wrong(log, why);
	if (!is_done)
		return;
	bio->bi_status = status;
	bio_endio(bio);
}

/*
 * Trims and flushes
 */

static int map_trim(struct dmda_log *log, struct bio *bio)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);
	unsigned long flags;

	if (READ_ONCE(log->state) != DMDA_LOG_WRITE)
		return DM_MAPIO_KILL;
	if (READ_ONCE(log->admission.hands_back))
		return DM_MAPIO_REQUEUE;
	io->is_fua = bio->bi_opf & REQ_FUA;
	spin_lock_irqsave(&log->lock, flags);
	if (claim_locked(log, io))
		dmda_log_go_on_locked(log, io);
	spin_unlock_irqrestore(&log->lock, flags);
	return DM_MAPIO_SUBMITTED;
}

/* Return: pages that hold nothing now; 0: no room in the batch, it waits. */
static u32 trim_some(struct dmda_log *log, struct dmda_log_io *io, struct dmda_log_page *page)
{
	struct dmda_map_page *pages[DMDA_OP_MAP_PAGES] = { &page->map };
	u32 entry, nr, nr_empty;

	dmda_map_index(to_lpn(io->cursor), &entry);
	nr = min3(io->last - io->cursor + 1, (u64)DMDA_MAX_OP_PAGES,
		  (u64)DMDA_MAP_ENTRIES - entry);
	spin_lock_irq(&log->lock);
	if (dmda_log_has_room_locked(log, 1 + nr)) {
		nr_empty = log->space.segments.nr_empty;
		dmda_change_trim(&log->journal.change, pages, to_lpn(io->cursor), nr);
		dmda_log_commit_late(log);
		dmda_log_emptied_locked(log, nr_empty);
	} else {
		list_move_tail(&io->list, &log->ios.unmapped);
		nr = 0;
	}
	dmda_log_page_put_locked(page);
	spin_unlock_irq(&log->lock);
	return nr;
}

/* Parts of the map that were never written need not be read for that. */
static bool skip_nothing(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 entry;
	u64 index = dmda_map_index(to_lpn(io->cursor), &entry);
	bool is_zero;

	spin_lock_irq(&log->lock);
	is_zero = dmda_log_page_is_zero_locked(log, index);
	spin_unlock_irq(&log->lock);
	if (is_zero)
		io->cursor += DMDA_MAP_ENTRIES - entry;
	return is_zero;
}

static void end_trim(struct dmda_log *log, struct dmda_log_io *io)
{
	if (!io->is_fua) {
		dmda_log_finish(log, io, BLK_STS_OK);
		return;
	}
	spin_lock_irq(&log->lock);
	let_go_locked(log, io);
	commit_for_locked(log, io);
	spin_unlock_irq(&log->lock);
}

static void go_on_trimming(struct dmda_log *log, struct dmda_log_io *io)
{
	if (io->cursor == io->first && READ_ONCE(log->admission.hands_back)) {
		dmda_log_finish(log, io, BLK_STS_DM_REQUEUE);
		return;
	}
	while (io->cursor <= io->last) {
		struct dmda_log_page *page;
		u32 entry, nr;

		if (READ_ONCE(log->state) != DMDA_LOG_WRITE) {
			dmda_log_finish(log, io, BLK_STS_IOERR);
			return;
		}
		if (skip_nothing(log, io))
			continue;
		page = dmda_log_page_get(log, dmda_map_index(to_lpn(io->cursor), &entry), io);
		if (!page)
			return;
		if (IS_ERR(page)) {
			dmda_log_finish(log, io, BLK_STS_IOERR);
			return;
		}
		nr = trim_some(log, io, page);
		if (!nr)
			return;
		io->cursor += nr;
		io->has_waited = false;
	}
	end_trim(log, io);
}

static bool all_is_durable_locked(const struct dmda_log *log)
{
	const struct dmda_log_journal *journal = &log->journal;
	u64 next_seq = journal->has_batch ? journal->batch.next_seq : journal->next_place.seq;

	return journal->durable_seq + 1 == next_seq &&
		journal->durable_overwrites == journal->nr_overwrites;
}

static int map_flush(struct dmda_log *log, struct bio *bio)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);
	int ret = DM_MAPIO_SUBMITTED;
	unsigned long flags;
	bool is_done = false;

	io->stage = DMDA_LOG_MAPPED;
	spin_lock_irqsave(&log->lock, flags);
	if (log->state == DMDA_LOG_FAILED)
		ret = DM_MAPIO_KILL;
	else if (log->state != DMDA_LOG_WRITE || all_is_durable_locked(log))
		is_done = true;
	else
		commit_for_locked(log, io);
	spin_unlock_irqrestore(&log->lock, flags);
	if (is_done)
		bio_endio(bio);
	return ret;
}

/*
 * All together
 */

int dmda_log_map(struct dmda *dmda, struct bio *bio)
{
	struct dmda_log *log = dmda->log;

	init_io(log, bio);
	WRITE_ONCE(log->cleaning.last_io, jiffies);
	/* Who waits for it cannot know when it is sent on. */
	bio->bi_opf &= ~REQ_POLLED;
	if (bio->bi_opf & REQ_PREFLUSH)
		return map_flush(log, bio);
	if (dmda_watches(dmda))
		dmda_hint_watch(dmda, bio, dm_target_offset(dmda->ti, bio->bi_iter.bi_sector));
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return map_read(log, bio);
	case REQ_OP_WRITE:
		return map_write(log, bio);
	case REQ_OP_DISCARD:
	case REQ_OP_WRITE_ZEROES:
		return map_trim(log, bio);
	default:
		return DM_MAPIO_KILL;
	}
}

int dmda_log_end_io(struct dmda *dmda, struct bio *bio, blk_status_t *status)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);

	if (io->stage != DMDA_LOG_DATA)
		return DM_ENDIO_DONE;
	if (bio_op(bio) == REQ_OP_WRITE)
		return end_write(dmda->log, io, status);
	if (io->seg != SEG_NONE)
		dmda_log_put_reader(dmda->log, io->seg);
	return DM_ENDIO_DONE;
}

/* Those whose data is written, as far as there is room. */
static void map_some_locked(struct dmda_log *log, struct list_head *done,
			    struct list_head *failed)
{
	struct dmda_log_io *io, *next;

	list_for_each_entry_safe(io, next, &log->ios.unmapped, list) {
		if (bio_op(dmda_log_bio(io)) != REQ_OP_WRITE) {
			dmda_log_go_on_locked(log, io);
		} else if (log->state == DMDA_LOG_FAILED) {
			give_up_write_locked(log, io);
			list_move_tail(&io->list, failed);
		} else if (!apply_write_locked(log, io)) {
			return;
		} else if (io->is_fua) {
			commit_for_locked(log, io);
		} else {
			list_move_tail(&io->list, done);
		}
	}
}

void dmda_log_map_written(struct dmda_log *log)
{
	LIST_HEAD(failed);
	LIST_HEAD(done);

	spin_lock_irq(&log->lock);
	map_some_locked(log, &done, &failed);
	dmda_log_feed_locked(log);
	spin_unlock_irq(&log->lock);
	dmda_log_end_list(&done, BLK_STS_OK);
	dmda_log_end_list(&failed, BLK_STS_IOERR);
}

void dmda_log_end_list(struct list_head *ios, blk_status_t status)
{
	struct dmda_log_io *io, *next;

	list_for_each_entry_safe(io, next, ios, list) {
		struct bio *bio = dmda_log_bio(io);

		list_del_init(&io->list);
		if (status)
			bio->bi_status = status;
		bio_endio(bio);
	}
}

void dmda_log_do_io(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, ios.work);
	struct dmda_log_io *io, *next;
	struct blk_plug plug;
	LIST_HEAD(ready);

	spin_lock_irq(&log->lock);
	list_splice_init(&log->ios.ready, &ready);
	spin_unlock_irq(&log->lock);
	blk_start_plug(&plug);
	list_for_each_entry_safe(io, next, &ready, list) {
		list_del_init(&io->list);
		switch (bio_op(dmda_log_bio(io))) {
		case REQ_OP_READ:
			go_on_reading(log, io);
			break;
		case REQ_OP_WRITE:
			if (io->stage == DMDA_LOG_DATA)
				go_on_fetching(log, io);
			else
				go_on_writing(log, io);
			break;
		default:
			go_on_trimming(log, io);
		}
	}
	blk_finish_plug(&plug);
	dmda_log_pages_shrink(log);
}
