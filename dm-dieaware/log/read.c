// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads: looked up and sent on by the task that submits them, or by the worker, piece by piece, if
 * the page of the map is not in memory. A read is counted among the readers of its segment while
 * the map still points there; from then on nobody frees that.
 */
#include "log.h"
#include "read.h"

/* Counts the reader while the map still points there: from then on nobody frees it. */
static u32 look_up_locked(struct dmda_log *log, const struct dmda_log_page *page, u64 lpn,
			  u32 nr_pages, dpn_t *dpn, seg_t *seg)
{
	u32 entry, nr;

	lockdep_assert_held(&log->lock);

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

int dmda_log_map_read(struct dmda_log *log, struct bio *bio)
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
	dmda_log_send_to(log, bio, dpn);
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

void dmda_log_go_on_reading(struct dmda_log *log, struct dmda_log_io *io)
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
