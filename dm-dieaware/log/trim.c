// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trims (discard, write zeroes): from then on their lpns are nowhere. The worker does their
 * operations, page of the map by page of the map, since they may be as long as the device.
 */
#include "bio.h"
#include "claims.h"
#include "let-go.h"
#include "log.h"
#include "trim.h"

int dmda_log_map_trim(struct dmda_log *log, struct dmda_log_io *io)
{
	unsigned long flags;

	if (READ_ONCE(log->state) != DMDA_LOG_WRITE)
		return DM_MAPIO_KILL;
	if (dmda_log_hands_back(log))
		return DM_MAPIO_REQUEUE;
	io->is_fua = dmda_log_bio(io)->bi_opf & REQ_FUA;
	spin_lock_irqsave(&log->lock, flags);
	if (dmda_log_claim_locked(log, io))
		dmda_log_go_on_locked(log, io);
	spin_unlock_irqrestore(&log->lock, flags);
	return DM_MAPIO_SUBMITTED;
}

/* Pages, and pieces of what they held, that are trimmed under one holding of the lock */
#define TRIM_PAGES	128U
#define TRIM_RUNS	8U

/* Return: pages that hold nothing now; 0: no room in the batch, it waits. */
static u32 trim_some(struct dmda_log *log, struct dmda_log_io *io, struct dmda_log_page *page)
{
	struct dmda_map_page *pages[DMDA_OP_MAP_PAGES] = { &page->map };
	u32 entry, nr, nr_empty;

	dmda_log_map_index(log, io->cursor, &entry);
	nr = min3(io->last - io->cursor + 1, (u64)TRIM_PAGES, (u64)page->map.nr_entries - entry);
	spin_lock_irq(&log->lock);
	nr = dmda_change_most(pages, to_lpn(io->cursor), nr, TRIM_RUNS);
	if (dmda_log_has_room_locked(log, 1 + nr, 0)) {
		nr_empty = log->space.segments.nr_empty;
		dmda_change_trim(&log->journal.change, pages, to_lpn(io->cursor), nr);
		dmda_log_commit_late_locked(log);
		dmda_log_emptied_locked(log, nr_empty);
	} else {
		list_move_tail(&io->list, &log->ios.untrimmed);
		nr = 0;
	}
	dmda_log_page_put_locked(log, page);
	spin_unlock_irq(&log->lock);
	return nr;
}

/* Parts of the map that were never written need not be read for that. */
static bool skip_nothing(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 entry;
	u64 index = dmda_log_map_index(log, io->cursor, &entry);
	bool is_zero;

	spin_lock_irq(&log->lock);
	is_zero = dmda_log_page_is_zero_locked(log, index);
	spin_unlock_irq(&log->lock);
	if (is_zero)
		io->cursor += dmda_super_map_entries(&log->super) - entry;
	return is_zero;
}

static void end_trim(struct dmda_log *log, struct dmda_log_io *io)
{
	if (!io->is_fua) {
		dmda_log_finish(log, io, BLK_STS_OK);
		return;
	}
	spin_lock_irq(&log->lock);
	dmda_log_let_go_locked(log, io);
	dmda_log_commit_for_locked(log, io);
	spin_unlock_irq(&log->lock);
}

void dmda_log_go_on_trimming(struct dmda_log *log, struct dmda_log_io *io)
{
	if (io->cursor == io->first && dmda_log_hands_back(log)) {
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
		page = dmda_log_page_get(log, dmda_log_map_index(log, io->cursor, &entry), io);
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
