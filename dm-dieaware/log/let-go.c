// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bio lets go of what others may wait for: the pages of the map that it has pinned, and its
 * claims. Its end comes behind that.
 */
#include "bio.h"
#include "claims.h"
#include "let-go.h"
#include "log.h"

void dmda_log_unpin_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	for (u32 i = 0; i < DMDA_OP_MAP_PAGES; i++) {
		if (io->pages[i])
			dmda_log_page_put_locked(log, io->pages[i]);
		io->pages[i] = NULL;
	}
}

void dmda_log_let_go_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	dmda_log_unpin_locked(log, io);
	dmda_log_unclaim_locked(log, io);
	if (io->is_timed)
		dmda_log_time_end_locked(log, io);
	dmda_log_drop_check(io);
	io->stage = DMDA_LOG_MAPPED;
}

void dmda_log_finish(struct dmda_log *log, struct dmda_log_io *io, blk_status_t status)
{
	struct bio *bio = dmda_log_bio(io);

	spin_lock_irq(&log->lock);
	dmda_log_let_go_locked(log, io);
	spin_unlock_irq(&log->lock);
	bio->bi_status = status;
	bio_endio(bio);
}
