// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drafts at work. One that is in vain costs a write of a unit of the journal, so they are made
 * where a flush is to be expected: of a write with FUA, and where the last commits were asked for
 * after each write. Threads that flush beside each other share commits, and have no use for drafts.
 *
 * The checksum of the data must be that of what is written, while users may change it. So it is
 * copied; on a device with checksums of data that has been seen to (sums.c).
 *
 * There is memory for one draft. Its write's data may be on its way still when a commit has gone
 * another way; there is no other draft before it has ended.
 */
#include "disk.h"
#include "draft.h"
#include "log.h"
#include "sums.h"

/* So many commits in a row were of one write: the next one will be. */
#define CREDIT_ENOUGH		2

/* So many commits of one write are waited for when a draft was in vain. */
#define CREDIT_IN_VAIN		(-8)

static bool is_expected_locked(const struct dmda_log *log, const struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	return dmda_log_bio(io)->bi_opf & REQ_FUA ? log->draft.credit >= 0 :
						    log->draft.credit >= CREDIT_ENOUGH;
}

void dmda_log_draft_make_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	struct dmda_map_page *map[DMDA_OP_MAP_PAGES];
	u32 nr_pages = dmda_log_io_pages(io);

	lockdep_assert_held(&log->lock);

	/* Where pages are overwritten in place, what a draft names could not be. */
	if (!is_expected_locked(log, io) || !dmda_super_has_drafts(&log->super) ||
	    nr_pages > DMDA_MAX_DRAFT_PAGES || io->is_in_place || io->is_fetching ||
	    log->draft.is_busy || dmda_log_is_full_locked(log))
		return;
	dmda_log_map_of(io->pages, map);
	if (!dmda_commit_draft(&log->journal.commit, map, to_lpn(io->first), io->dpn, nr_pages))
		return;
	io->has_draft = true;
	log->draft.is_busy = true;
	WRITE_ONCE(log->draft.is_writing, true);
}

/* Return: the checksums of what is written from now on. */
static const __le32 *copy_data(struct dmda_log_draft *draft, struct bio *bio, __le32 *sums)
{
	struct bvec_iter iter = bio->bi_iter;
	u32 nr_pages = bio->bi_iter.bi_size >> DMDA_PAGE_SHIFT;

	for (u32 i = 0; i < nr_pages; i++) {
		struct page *page = draft->copy[i].bv_page;

		dmda_log_copy_page(bio, &iter, page_address(page), false);
		sums[i] = dmda_log_sum(page);
	}
	/* The bio is a clone, as in sums.c. */
	draft->before = bio->bi_io_vec;
	bio->bi_io_vec = draft->copy;
	bio->bi_iter.bi_idx = 0;
	bio->bi_iter.bi_bvec_done = 0;
	return sums;
}

/* The device may be gone when it is seen that the draft is written, but not before the lock is. */
static void end_draft(struct bio *bio)
{
	struct dmda_log *log = container_of(bio, struct dmda_log, draft.bio);
	unsigned long flags;

	spin_lock_irqsave(&log->lock, flags);
	dmda_draft_written(&log->journal.commit.draft, bio->bi_status);
	WRITE_ONCE(log->draft.is_writing, false);
	wake_up_all(&log->wait);
	spin_unlock_irqrestore(&log->lock, flags);
}

void dmda_log_draft_seal(struct dmda_log *log, struct dmda_log_io *io)
{
	__le32 sums[DMDA_MAX_DRAFT_PAGES];

	dmda_draft_seal(&log->journal.commit.draft, &log->super, io->check ? io->check->sum :
			copy_data(&log->draft, dmda_log_bio(io), sums));
}

void dmda_log_draft_send(struct dmda_log *log)
{
	const struct dmda_draft *draft = &log->journal.commit.draft;

	log->draft.sectors.bv_len = draft->nr << SECTOR_SHIFT;
	dmda_log_begin_sectors(log, &log->draft.bio, &log->draft.sectors,
			       dmda_journal_sector_at(&log->super, draft->batch.first.sector),
			       end_draft);
}

void dmda_log_draft_end(struct dmda_log *log, struct dmda_log_io *io, blk_status_t status)
{
	unsigned long flags;

	if (!io->check)
		dmda_log_bio(io)->bi_io_vec = log->draft.before;
	spin_lock_irqsave(&log->lock, flags);
	io->has_draft = false;
	log->draft.is_busy = false;
	if (status) {
		dmda_commit_void(&log->journal.commit);
		dmda_log_commit_late_locked(log);
	}
	spin_unlock_irqrestore(&log->lock, flags);
}

void dmda_log_draft_wait(struct dmda_log *log)
{
	wait_event(log->wait, !READ_ONCE(log->draft.is_writing));
	/* Who has written it is through. */
	spin_lock_irq(&log->lock);
	spin_unlock_irq(&log->lock);
}

/*
 * The target's own operations in the batch, which wait for the next commit, are nobody's writes.
 * But a draft that they came behind was in vain.
 */
static bool is_of_one_write_locked(const struct dmda_log *log, u32 nr_own)
{
	const struct dmda_commit *commit = &log->journal.commit;

	lockdep_assert_held(&log->lock);

	return commit->sealed_seq == commit->durable_seq + nr_own + 1 &&
		(nr_own ? !commit->draft.nr : commit->nr == log->super.journal_unit_sectors);
}

void dmda_log_draft_learn_locked(struct dmda_log *log, bool is_asked)
{
	const struct dmda_commit *commit = &log->journal.commit;
	int *credit = &log->draft.credit;
	bool has_writes = log->draft.has_writes;
	u32 nr_own = log->draft.nr_own;

	lockdep_assert_held(&log->lock);

	log->draft.has_writes = false;
	log->draft.nr_own = 0;
	/* A segment that is free, or nothing, is written while nobody does anything. */
	if (!has_writes && !commit->draft.nr)
		return;
	if (is_asked && is_of_one_write_locked(log, nr_own))
		*credit = min(*credit + 1, CREDIT_ENOUGH);
	else if (commit->draft.nr)
		*credit = CREDIT_IN_VAIN;
	else
		*credit = min(*credit, 0);
}

int dmda_log_draft_create(struct dmda_log *log)
{
	struct page *page;

	if (!dmda_super_has_drafts(&log->super))
		return 0;
	page = alloc_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	log->draft.sectors = (struct bio_vec){ .bv_page = page };
	log->journal.commit.draft.sectors = page_address(page);
	for (u32 i = 0; i < DMDA_MAX_DRAFT_PAGES; i++) {
		page = alloc_page(GFP_KERNEL);
		if (!page)
			return -ENOMEM;
		log->draft.copy[i].bv_page = page;
		log->draft.copy[i].bv_len = DMDA_BLOCK_BYTES;
	}
	return 0;
}

/* Pages that were never had are NULL. */
void dmda_log_draft_destroy(struct dmda_log *log)
{
	for (u32 i = 0; i < DMDA_MAX_DRAFT_PAGES; i++) {
		if (log->draft.copy[i].bv_page)
			__free_page(log->draft.copy[i].bv_page);
	}
	if (log->draft.sectors.bv_page)
		__free_page(log->draft.sectors.bv_page);
}
