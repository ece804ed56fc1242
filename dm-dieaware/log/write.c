// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes: get their places, are sent on, and are mapped when their data is written (apply.c); not
 * before, for a record must never name data that is not there. Pages of the map that are not in
 * memory are read while the data is being written, unless nothing was ever written to them: the
 * operation needs them, places do not; but where small writes are done in place, the map says where
 * that is, and has to be read first.
 *
 * A write is cut where the file, the segment or the longest operation ends. That is not for
 * device-mapper to do (max_io_len): it cuts at multiples of that length, small writes, too.
 */
#include "apply.h"
#include "bio.h"
#include "claims.h"
#include "hint.h"
#include "let-go.h"
#include "lifetime.h"
#include "log.h"
#include "places.h"
#include "trace.h"
#include "write.h"

/* What the bio begins with goes to one file; the rest comes again. */
static void identify(struct dmda_log *log, struct dmda_log_io *io, u32 *nr_pages)
{
	struct dmda_identity identity;
	u32 page_mask = DMDA_BLOCK_BYTES - 1;
	u32 nr;

	dmda_identify_write(log->dmda, dmda_log_bio(io), &identity);
	nr = identity.len_bytes >> DMDA_PAGE_SHIFT;
	if (identity.file.id && !(identity.pos_bytes & page_mask) && nr) {
		io->file = identity.file.id;
		io->fpage = identity.pos_bytes >> DMDA_PAGE_SHIFT;
		*nr_pages = min(*nr_pages, nr);
	}
	io->last = io->first + *nr_pages - 1;
	dmda_log_hint_plan(log, io, &identity);
}

/* The last page of the map that a write is on; it begins at an entry of the first. */
static u64 last_index(const struct dmda_log *log, const struct dmda_log_io *io, u64 first,
		      u32 entry)
{
	return first + (entry + dmda_log_io_pages(io) > dmda_super_map_entries(&log->super));
}

/* Return: whether all pages of the map that it needs are in memory; then they are pinned. */
static bool pin_pages_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 entry;
	u64 first = dmda_log_map_index(log, io->first, &entry);
	u64 last = last_index(log, io, first, entry);

	lockdep_assert_held(&log->lock);

	for (u64 i = first; i <= last; i++) {
		struct dmda_log_page *page;

		/* The worker may have got it. */
		if (io->pages[i - first])
			continue;
		page = dmda_log_page_find_locked(log, i);
		if (!page) {
			dmda_log_unpin_locked(log, io);
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

	lockdep_assert_held(&log->lock);

	/* Who came first is served first. */
	if (dmda_log_stay_locked(log, io)) {
		nr = dmda_log_io_pages(io);
	} else if (list_empty(&log->admission.starved)) {
		io->kind = dmda_log_kind_locked(log, io, whole);
		nr = dmda_log_take_locked(log, io->kind, dmda_log_io_pages(io), whole, &io->dpn,
					  &io->open);
	}
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

/* Pages of the map that were never changed need not be read: they are there at once. */
static void begin_fetching(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 entry;
	u64 first = dmda_log_map_index(log, io->first, &entry);
	u64 last = last_index(log, io, first, entry);
	unsigned long flags;

	for (u64 i = first; i <= last; i++)
		dmda_log_page_begin(log, i, !(dmda_log_bio(io)->bi_opf & REQ_NOWAIT));
	spin_lock_irqsave(&log->lock, flags);
	io->is_fetching = !pin_pages_locked(log, io);
	if (io->is_fetching)
		dmda_log_go_on_locked(log, io);
	else
		dmda_log_draft_make_locked(log, io);
	spin_unlock_irqrestore(&log->lock, flags);
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
	if (dmda_log_is_full_locked(log))
		dmda_log_time_begin_locked(log, io);
	if (dmda_log_claim_locked(log, io)) {
		if (dmda_log_needs_map_locked(log, io))
			dmda_log_go_on_locked(log, io);
		else
			nr = place_locked(log, io, false);
	}
	if (nr && nr < dmda_log_io_pages(io)) {
		is_begun = true;
		dmda_log_shorten_locked(log, io, nr);
	}
	if (nr)
		dmda_log_draft_make_locked(log, io);
	if (is_begun)
		dmda_writer_cut(&log->space.writer, to_lpn(io->last + 1));
	spin_unlock_irqrestore(&log->lock, flags);
	if (nr && io->is_fetching)
		begin_fetching(log, io);
	return nr;
}

/* It was not known at its end whether its data is written as its checksums say; now it is. */
static void end_looked_at(struct bio *bio)
{
	struct dmda_log_io *io = dmda_log_io_of(bio);

	if (dmda_log_end_write(io->log, io, &bio->bi_status))
		bio->bi_end_io(bio);
}

static void prepare_write(struct dmda_log *log, struct dmda_log_io *io)
{
	struct bio *bio = dmda_log_bio(io);

	/*
	 * It has its places, which would be nobody's if the device below refused it. So whoever
	 * submits it without waiting may wait for a request of that device after all: for as long
	 * as that takes to end another one. A worker who takes over would cost each write more.
	 */
	bio->bi_opf &= ~REQ_NOWAIT;
	io->is_fua = (bio->bi_opf & REQ_FUA) && !io->is_fua_below;
	/* The commit does it for the data, too. */
	if (io->is_fua)
		bio->bi_opf &= ~REQ_FUA;
	dmda_log_send_to(log, bio, io->dpn);
	trace_dmda_log_write(log->dmda->self_dev, io->first, io->dpn, dmda_log_io_pages(io),
			     io->file);
	/* The hint's way to the device goes by what the bio has. */
	if (io->check)
		dmda_log_check_begin(io->check, bio, io->first, io->dpn, end_looked_at);
	if (io->has_draft)
		dmda_log_draft_seal(log, io);
	dmda_log_hint_send(log, io);
}

/*
 * Most pages that are written at once: what one operation and one segment can take. They may be on
 * two pages of the map, but not on three.
 */
static u32 most_pages(const struct dmda_log *log)
{
	return min3(DMDA_MAX_OP_PAGES, dmda_super_data_pages(&log->super),
		    dmda_super_map_entries(&log->super));
}

int dmda_log_map_write(struct dmda_log *log, struct dmda_log_io *io)
{
	struct bio *bio = dmda_log_bio(io);
	u32 nr_bio = dmda_log_io_pages(io), most = most_pages(log);
	u32 nr_pages = min(nr_bio, most), nr;

	if (READ_ONCE(log->state) != DMDA_LOG_WRITE)
		return DM_MAPIO_KILL;
	if (dmda_log_hands_back(log))
		return DM_MAPIO_REQUEUE;
	if (dmda_super_has_sums(&log->super) && !dmda_log_get_check(log, io, &nr_pages))
		return DM_MAPIO_SUBMITTED;
	identify(log, io, &nr_pages);
	if (nr_pages < nr_bio)
		dm_accept_partial_bio(bio, nr_pages << DMDA_PAGE_SECTOR_SHIFT);
	nr = begin_write(log, io, nr_pages < nr_bio && nr_pages == most);
	if (!nr)
		return DM_MAPIO_SUBMITTED;
	if (nr < nr_pages)
		dm_accept_partial_bio(bio, nr << DMDA_PAGE_SECTOR_SHIFT);
	prepare_write(log, io);
	if (!io->has_draft)
		return DM_MAPIO_REMAPPED;
	submit_bio_noacct(bio);
	dmda_log_draft_send(log);
	return DM_MAPIO_SUBMITTED;
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
	dmda_log_look_locked(log, io);
	needs_map = dmda_log_needs_map_locked(log, io);
	spin_unlock_irq(&log->lock);
	if (!needs_map)
		return 0;
	page = dmda_log_page_get(log, dmda_log_map_index(log, io->first, &entry), io);
	if (!page)
		return -EAGAIN;
	if (IS_ERR(page))
		return PTR_ERR(page);
	io->has_waited = false;
	io->pages[0] = page;
	return 0;
}

void dmda_log_go_on_writing(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 nr;
	int ret;

	if (READ_ONCE(log->state) != DMDA_LOG_WRITE) {
		dmda_log_finish(log, io, BLK_STS_IOERR);
		return;
	}
	if (dmda_log_hands_back(log)) {
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
	dmda_log_look_locked(log, io);
	nr = place_locked(log, io, true);
	/* Who waits has nothing pinned. */
	if (!nr || io->is_in_place)
		dmda_log_unpin_locked(log, io);
	if (nr && io->is_fetching)
		dmda_log_go_on_locked(log, io);
	spin_unlock_irq(&log->lock);
	if (!nr)
		return;
	prepare_write(log, io);
	submit_bio_noacct(dmda_log_bio(io));
}

static void unpin(struct dmda_log *log, struct dmda_log_io *io)
{
	spin_lock_irq(&log->lock);
	dmda_log_unpin_locked(log, io);
	spin_unlock_irq(&log->lock);
}

/* Return: 0: all pages are pinned; -EAGAIN: it waits for one; -EIO: one cannot be read. */
static int get_pages(struct dmda_log *log, struct dmda_log_io *io)
{
	u32 entry;
	u64 first = dmda_log_map_index(log, io->first, &entry);
	u64 last = last_index(log, io, first, entry);

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
void dmda_log_go_on_mapping(struct dmda_log *log, struct dmda_log_io *io)
{
	int ret = get_pages(log, io);
	bool is_written;

	if (ret == -EAGAIN)
		return;
	spin_lock_irq(&log->lock);
	io->is_fetching = false;
	is_written = io->is_written;
	spin_unlock_irq(&log->lock);
	if (is_written)
		dmda_log_finish_write(log, io, ret ? BLK_STS_IOERR : dmda_log_bio(io)->bi_status);
}
