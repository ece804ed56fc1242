// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads: looked up and sent on by the task that submits them, or by the worker, piece by piece, if
 * the page of the map is not in memory.
 */
#include "log.h"
#include "look-up.h"
#include "places.h"
#include "read.h"

/* With the lock, since it did not go without. Return: whether it is known; if not, @io waits. */
static bool look_up_or_wait(struct dmda_log *log, struct dmda_log_io *io, u32 nr_pages,
			    struct dmda_log_found *found)
{
	unsigned long flags;
	bool is_known;

	spin_lock_irqsave(&log->lock, flags);
	is_known = dmda_log_look_up(log, io->first, nr_pages, found);
	if (!is_known) {
		/* Each of its pieces will have some of its own. */
		dmda_log_drop_check(io);
		dmda_log_go_on_locked(log, io);
	}
	spin_unlock_irqrestore(&log->lock, flags);
	return is_known;
}

/* It was not known at its end whether its data is what it should be; now it is. */
static void end_looked_at(struct bio *bio)
{
	dmda_log_end_read(dmda_log_io_of(bio));
	bio->bi_end_io(bio);
}

int dmda_log_map_read(struct dmda_log *log, struct dmda_log_io *io)
{
	struct bio *bio = dmda_log_bio(io);
	struct dmda_log_found found = { .sums = NULL };
	u32 nr_pages = dmda_log_io_pages(io);

	if (dmda_super_has_sums(&log->super)) {
		if (!dmda_log_get_check(log, io, &nr_pages))
			return DM_MAPIO_SUBMITTED;
		found.sums = io->check->sum;
	}
	if (!dmda_log_look_up(log, io->first, nr_pages, &found) &&
	    !look_up_or_wait(log, io, nr_pages, &found))
		return DM_MAPIO_SUBMITTED;
	io->seg = found.seg;
	io->stage = DMDA_LOG_DATA;
	if (found.nr_pages < dmda_log_io_pages(io))
		dm_accept_partial_bio(bio, found.nr_pages << DMDA_PAGE_SECTOR_SHIFT);
	if (found.dpn == DPN_NONE) {
		dmda_log_drop_check(io);
		zero_fill_bio(bio);
		bio_endio(bio);
		return DM_MAPIO_SUBMITTED;
	}
	dmda_log_send_to(log, bio, found.dpn);
	if (io->check)
		dmda_log_check_begin(io->check, bio, io->first, found.dpn, end_looked_at);
	return DM_MAPIO_REMAPPED;
}

/**
 * struct piece - a part of a read that the worker does
 * @log: whose it is
 * @parent: the bio
 * @seg: segment whose readers it is counted among
 * @check: its checksums, or NULL
 * @bio: the part; must be the last member
 */
struct piece {
	struct dmda_log *log;
	struct bio *parent;
	seg_t seg;
	struct dmda_log_check *check;
	struct bio bio;
};

int dmda_log_init_pieces(struct dmda_log *log)
{
	return bioset_init(&log->ios.pieces, BIO_POOL_SIZE, offsetof(struct piece, bio), 0);
}

static struct piece *piece_of(struct bio *bio)
{
	return container_of(bio, struct piece, bio);
}

static void finish_piece(struct bio *bio)
{
	struct piece *piece = piece_of(bio);
	struct bio *parent = piece->parent;

	if (piece->check)
		dmda_log_check_put(piece->check);
	if (bio->bi_status)
		parent->bi_status = bio->bi_status;
	if (piece->seg != SEG_NONE)
		dmda_log_put_reader(piece->log, piece->seg);
	bio_put(bio);
	bio_endio(parent);
}

static void end_piece(struct bio *bio)
{
	struct piece *piece = piece_of(bio);

	if (!piece->check || dmda_log_check_end(piece->check))
		finish_piece(bio);
}

static struct piece *new_piece(struct dmda_log *log, struct bio *parent, u32 *nr_pages)
{
	struct bio *bio = bio_alloc_clone(log->bdev, parent, GFP_NOIO, &log->ios.pieces);
	struct piece *piece = piece_of(bio);

	piece->log = log;
	piece->parent = parent;
	piece->check = NULL;
	bio->bi_end_io = end_piece;
	if (dmda_super_has_sums(&log->super)) {
		*nr_pages = min(*nr_pages, DMDA_LOG_CHECK_PAGES);
		piece->check = dmda_log_check_get(log, REQ_OP_READ, *nr_pages, GFP_NOIO);
	}
	return piece;
}

static void send_piece(struct piece *piece, u64 first, dpn_t dpn)
{
	struct bio *bio = &piece->bio;

	bio->bi_iter.bi_sector = dmda_log_sector(piece->log, dpn);
	if (piece->check)
		dmda_log_check_begin(piece->check, bio, first, dpn, finish_piece);
	submit_bio_noacct(bio);
}

static void end_empty_piece(struct piece *piece)
{
	if (piece->check)
		dmda_log_check_put(piece->check);
	piece->check = NULL;
	zero_fill_bio(&piece->bio);
	bio_endio(&piece->bio);
}

/* The page of the map is pinned: it is in memory. */
static u32 read_piece(struct dmda_log *log, struct dmda_log_io *io)
{
	struct bio *parent = dmda_log_bio(io);
	u32 nr_pages = io->last - io->cursor + 1;
	struct piece *piece = new_piece(log, parent, &nr_pages);
	struct dmda_log_found found = { .sums = piece->check ? piece->check->sum : NULL };
	struct bio *bio = &piece->bio;

	spin_lock_irq(&log->lock);
	dmda_log_look_up(log, io->cursor, nr_pages, &found);
	spin_unlock_irq(&log->lock);
	piece->seg = found.seg;
	bio_trim(bio, (io->cursor - io->first) << DMDA_PAGE_SECTOR_SHIFT,
		 (sector_t)found.nr_pages << DMDA_PAGE_SECTOR_SHIFT);
	bio_inc_remaining(parent);
	if (found.dpn == DPN_NONE)
		end_empty_piece(piece);
	else
		send_piece(piece, io->cursor, found.dpn);
	return found.nr_pages;
}

void dmda_log_go_on_reading(struct dmda_log *log, struct dmda_log_io *io)
{
	struct bio *bio = dmda_log_bio(io);
	blk_status_t status = BLK_STS_OK;

	io->stage = DMDA_LOG_MAPPED;
	while (io->cursor <= io->last) {
		struct dmda_log_page *page;
		u32 entry;

		page = dmda_log_page_get(log, dmda_log_map_index(log, io->cursor, &entry), io);
		if (!page)
			return;
		if (IS_ERR(page)) {
			status = BLK_STS_IOERR;
			break;
		}
		io->cursor += read_piece(log, io);
		io->has_waited = false;
		dmda_log_page_put(log, page);
	}
	if (status)
		bio->bi_status = status;
	bio_endio(bio);
}
