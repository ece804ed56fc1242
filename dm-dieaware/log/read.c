// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads: looked up and sent on by the task that submits them, or by the worker, piece by piece, if
 * the page of the map is not in memory.
 */
#include "log.h"
#include "look-up.h"
#include "read.h"

/* With the lock, since it did not go without. Return: whether it is known; if not, @io waits. */
static bool look_up_or_wait(struct dmda_log *log, struct dmda_log_io *io,
			    struct dmda_log_found *found)
{
	unsigned long flags;
	bool is_known;

	spin_lock_irqsave(&log->lock, flags);
	is_known = dmda_log_look_up(log, io->first, dmda_log_io_pages(io), found);
	if (!is_known)
		dmda_log_go_on_locked(log, io);
	spin_unlock_irqrestore(&log->lock, flags);
	return is_known;
}

int dmda_log_map_read(struct dmda_log *log, struct bio *bio)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);
	struct dmda_log_found found;

	if (!dmda_log_look_up(log, io->first, dmda_log_io_pages(io), &found) &&
	    !look_up_or_wait(log, io, &found))
		return DM_MAPIO_SUBMITTED;
	io->seg = found.seg;
	io->stage = DMDA_LOG_DATA;
	if (found.nr_pages < dmda_log_io_pages(io))
		dm_accept_partial_bio(bio, found.nr_pages << DMDA_PAGE_SECTOR_SHIFT);
	if (found.dpn == DPN_NONE) {
		zero_fill_bio(bio);
		bio_endio(bio);
		return DM_MAPIO_SUBMITTED;
	}
	dmda_log_send_to(log, bio, found.dpn);
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
	return bioset_init(&log->ios.pieces, BIO_POOL_SIZE, offsetof(struct piece, bio), 0);
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

/* The page of the map is pinned: it is in memory. */
static u32 read_piece(struct dmda_log *log, struct dmda_log_io *io)
{
	struct bio *parent = dmda_log_bio(io);
	struct bio *bio = bio_alloc_clone(log->bdev, parent, GFP_NOIO, &log->ios.pieces);
	struct piece *piece = container_of(bio, struct piece, bio);
	struct dmda_log_found found;

	piece->log = log;
	piece->parent = parent;
	bio->bi_end_io = end_piece;
	spin_lock_irq(&log->lock);
	dmda_log_look_up(log, io->cursor, io->last - io->cursor + 1, &found);
	spin_unlock_irq(&log->lock);
	piece->seg = found.seg;
	bio_trim(bio, (io->cursor - io->first) << DMDA_PAGE_SECTOR_SHIFT,
		 (sector_t)found.nr_pages << DMDA_PAGE_SECTOR_SHIFT);
	bio_inc_remaining(parent);
	if (found.dpn == DPN_NONE) {
		zero_fill_bio(bio);
		bio_endio(bio);
	} else {
		bio->bi_iter.bi_sector = dmda_log_sector(log, found.dpn);
		submit_bio_noacct(bio);
	}
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
