// SPDX-License-Identifier: GPL-2.0-only
/*
 * What bios of all kinds have in common: they are sent to a place on the device below, with memory
 * for checksums if that has some; they are let go on by the worker, which is io.c's, and end.
 */
#include "bio.h"
#include "log.h"

void dmda_log_go_on_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	list_move_tail(&io->list, &log->ios.ready);
	dmda_log_kick(log, &log->ios.work);
}

void dmda_log_go_on_list_locked(struct dmda_log *log, struct list_head *ios)
{
	lockdep_assert_held(&log->lock);

	if (list_empty(ios))
		return;
	list_splice_tail_init(ios, &log->ios.ready);
	dmda_log_kick(log, &log->ios.work);
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

bool dmda_log_get_check(struct dmda_log *log, struct dmda_log_io *io, u32 *nr_pages)
{
	struct bio *bio = dmda_log_bio(io);

	*nr_pages = min(*nr_pages, DMDA_LOG_CHECK_PAGES);
	io->check = dmda_log_check_get(log, bio_op(bio), *nr_pages,
				       bio->bi_opf & REQ_NOWAIT ? GFP_NOWAIT : GFP_NOIO);
	if (io->check)
		return true;
	bio_wouldblock_error(bio);
	return false;
}

void dmda_log_send_to(struct dmda_log *log, struct bio *bio, dpn_t dpn)
{
	bio_set_dev(bio, log->bdev);
	bio->bi_iter.bi_sector = dmda_log_sector(log, dpn);
}
