// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bio's life in hint mode. Every bio goes to the same sector of the device below,
 * as with dm-linear; this file decides what is said with a write, and what the run
 * table learns.
 *
 *   write of a known file    cut where file or class changes, if that is worth it,
 *                            classified, remembered, hinted
 *   write of anything else   its pages no longer belong to a file; an append if it
 *                            continues another one of the kind. Most are of whole pages of
 *                            the user's, and continue nothing: these have a short way
 *   discard, write zeroes    their pages no longer belong to a file
 *   read of the page cache   tells where a file lies that was written before us
 *
 * A write that was announced is held when all that is known, since it may not have to be written.
 *
 * The run table learns when a write is mapped, not when it is done. If the write
 * fails, it is wrong, and costs a hint.
 */
#include "dieaware.h"
#include "fsmap.h"
#include "hint-io.h"
#include "hint-send.h"

/*
 * So much of what one task reads lets the device begin. It is what the block layer
 * takes for enough of a single request.
 */
#define ENOUGH_SECTORS	((128 * 1024) >> SECTOR_SHIFT)

/* What must reach the device in one piece */
static bool can_cut(const struct bio *bio)
{
	return !(bio->bi_opf & REQ_PREFLUSH) && !dmda_bio_is_atomic(bio);
}

static void cut(struct dmda *dmda, struct dmda_write *write, u32 nr_pages)
{
	dm_accept_partial_bio(write->bio, nr_pages << DMDA_PAGE_SECTOR_SHIFT);
	write->run.nr_pages = nr_pages;
	dmda_count(&dmda->stats, DMDA_COUNT_CUT);
}

/*
 * Where a write may be cut of which the first pages are alike; 0: it goes as it is. What
 * the device below writes whole or not at all, it gets whole: somebody may rely on it.
 */
static u32 cut_at(struct dmda *dmda, const struct dmda_write *write, u32 nr_alike, u32 least_pages)
{
	struct block_device *bdev = dmda->dev->bdev;
	u32 whole_bytes = dmda_most_whole_bytes(bdev);
	u64 sector = dmda->first_sector + (from_dpn(write->run.dpn) << DMDA_PAGE_SECTOR_SHIFT);
	u32 nr_pages = write->bio->bi_iter.bi_size >> DMDA_PAGE_SHIFT;

	if (!can_cut(write->bio))
		return 0;
	return dmda_classify_cut(sector, nr_pages, nr_alike, whole_bytes >> SECTOR_SHIFT,
				 least_pages);
}

/* Make the bio its first run, a part of it. False if it must not be cut. */
static noinline bool cut_to_run(struct dmda *dmda, struct dmda_write *write)
{
	u32 nr_pages = cut_at(dmda, write, write->run.nr_pages, DMDA_LEAST_PIECE_PAGES);

	if (!nr_pages)
		return false;
	cut(dmda, write, nr_pages);
	return true;
}

static bool fit_to_run(struct dmda *dmda, struct dmda_write *write)
{
	return write->run.nr_pages == write->bio->bi_iter.bi_size >> DMDA_PAGE_SHIFT ||
	       cut_to_run(dmda, write);
}

/* No overwrite of what is known to be its own, at least not in its first page */
static noinline void classify_new(struct dmda *dmda, struct dmda_write *write,
				  struct dmda_owner *here)
{
	const struct dmda_run *run = &write->run;
	struct dmda_neighbour before;
	u32 nr_other = 1;

	if (dmda_hint_adopt(dmda, run, here) &&
	    dmda_classify_overwrite(run, here, &write->verdict))
		return;
	dmda_hint_look_before(dmda, run, &before);
	if (run->nr_pages > 1)
		nr_other = dmda_runtable_nr_other(dmda->table, run);
	dmda_classify(run, here, &before, nr_other, &write->verdict);
	dmda_hint_fit(dmda, &write->verdict);
}

static void classify_file(struct dmda *dmda, struct dmda_write *write)
{
	/* Set as a whole, too */
	struct dmda_owner here __uninitialized;

	dmda_runtable_owner(dmda->table, write->run.dpn, &here);
	if (unlikely(here.nr_pages < write->run.nr_pages))
		dmda_runtable_go_on(dmda->table, write->run.dpn, write->run.nr_pages, &here);
	if (!dmda_classify_overwrite(&write->run, &here, &write->verdict))
		classify_new(dmda, write, &here);
}

/* Make the bio one to which the verdict applies as a whole, or find one that does */
static noinline void fit_to_verdict(struct dmda *dmda, struct dmda_write *write)
{
	struct dmda_neighbour before;
	u32 nr_pages;

	nr_pages = cut_at(dmda, write, write->verdict.nr_pages, DMDA_LEAST_PIECE_PAGES);
	if (nr_pages) {
		cut(dmda, write, nr_pages);
		return;
	}
	dmda_hint_look_before(dmda, &write->run, &before);
	dmda_classify_whole(&write->run, &before, &write->verdict);
}

/*
 * Choose the place of the bio, and make it as long as has room there. Where it must not be cut, a
 * die that gets a little too much is better than none; but one that gets all is not.
 */
static noinline void fit_to_berth(struct dmda *dmda, struct dmda_write *write)
{
	u32 nr_pages = dmda_fdp_choose(dmda, write);

	if (nr_pages >= write->run.nr_pages)
		return;
	nr_pages = cut_at(dmda, write, nr_pages, 1);
	if (!nr_pages) {
		if (write->run.nr_pages > dmda_fdp_unit_pages(&dmda->fdp))
			write->berth = DMDA_BERTH_NONE;
		return;
	}
	cut(dmda, write, nr_pages);
	/* The rest goes on there. */
	if (!write->run.file.id)
		dmda_tail_put(&dmda->tails, to_dpn(from_dpn(write->run.dpn) + nr_pages));
}

/* A piece of a file, or of something unknown, in whole pages */
static void work_out_run(struct dmda *dmda, struct dmda_write *write)
{
	bool known = write->run.file.id;

	write->verdict.nr_pages = write->run.nr_pages;
	if (known)
		classify_file(dmda, write);
	else if (dmda->config.lba_adjacency)
		dmda_hint_follow(dmda, write);
	if (write->verdict.nr_pages < write->run.nr_pages)
		fit_to_verdict(dmda, write);
	if (READ_ONCE(dmda->state) == DMDA_STATE_STREAMS)
		fit_to_berth(dmda, write);
	if (!known)
		dmda_runtable_forget(dmda->table, write->run.dpn, write->run.nr_pages);
	else if (write->verdict.hint != DMDA_HINT_OVERWRITE)
		dmda_runtable_set(dmda->table, &write->run);
}

/* Is a write of a known file, no run of whole pages, a part of what its device pages hold? */
static noinline bool is_held(struct dmda *dmda, const struct dmda_write *write, sector_t sector)
{
	const struct dmda_identity *identity = &write->identity;
	u64 shift_sectors = (identity->pos_bytes >> SECTOR_SHIFT) - sector;
	struct dmda_owner owner;

	dmda_runtable_owner(dmda->table, write->run.dpn, &owner);
	dmda_runtable_go_on(dmda->table, write->run.dpn, write->run.nr_pages, &owner);
	return !(shift_sectors & (DMDA_PAGE_SECTORS - 1)) &&
	       identity->len_bytes == write->bio->bi_iter.bi_size &&
	       owner.file.id == identity->file.id &&
	       owner.fpage == identity->pos_bytes >> DMDA_PAGE_SHIFT &&
	       owner.nr_pages >= write->run.nr_pages;
}

/* Pieces of files that go down together, without a hint, are known all the same. */
static noinline void remember_pieces(struct dmda *dmda, struct bio *bio, sector_t sector)
{
	struct dmda_write piece = { .bio = bio };
	struct bvec_iter all = bio->bi_iter;

	while (bio->bi_iter.bi_size) {
		dmda_identify_write(dmda, bio, &piece.identity);
		if (piece.identity.source != DMDA_SOURCE_PAGE || !dmda_hint_run(&piece, sector))
			break;
		dmda_runtable_set(dmda->table, &piece.run);
		bio_advance_iter(bio, &bio->bi_iter, piece.run.nr_pages << DMDA_PAGE_SHIFT);
		sector += (sector_t)piece.run.nr_pages << DMDA_PAGE_SECTOR_SHIFT;
	}
	bio->bi_iter = all;
}

/* Metadata, parts of pages, or pieces of several files that must not be cut: there is no hint. */
static noinline void work_out_rest(struct dmda *dmda, struct dmda_write *write, sector_t sector)
{
	write->run.fpage = 0;
	write->run.dpn = to_dpn(sector >> DMDA_PAGE_SECTOR_SHIFT);
	write->run.nr_pages = DIV_ROUND_UP((sector & (DMDA_PAGE_SECTORS - 1)) +
					   bio_sectors(write->bio), DMDA_PAGE_SECTORS);
	/* Nobody knows then what its device pages hold. */
	if (!write->identity.file.id || !is_held(dmda, write, sector))
		dmda_hint_forget(dmda, sector, bio_sectors(write->bio));
	if (write->identity.len_bytes < write->bio->bi_iter.bi_size)
		remember_pieces(dmda, write->bio, sector);
}

static void work_out(struct dmda *dmda, struct dmda_write *write, sector_t sector)
{
	write->run.file = DMDA_ANONYMOUS;
	write->verdict.hint = DMDA_HINT_NONE;
	write->verdict.pred = DPN_NONE;
	write->berth = DMDA_BERTH_NONE;
	dmda_identify_write(dmda, write->bio, &write->identity);
	if (write->identity.source != DMDA_SOURCE_METADATA && dmda_hint_run(write, sector) &&
	    fit_to_run(dmda, write))
		work_out_run(dmda, write);
	else
		work_out_rest(dmda, write, sector);
	if (dmda_fdp_has_lanes(&dmda->fdp))
		dmda_fdp_moor(dmda, write);
}

static void remap(struct dmda *dmda, struct bio *bio, sector_t sector)
{
	bio_set_dev(bio, dmda->dev->bdev);
	bio->bi_iter.bi_sector = dmda->config.start_sectors + sector;
}

/* So many pages of a write are announced: make it no longer. The rest is to be worth it, too. */
static bool fit_to_share(struct dmda *dmda, struct dmda_write *write, u32 nr_announced)
{
	u32 least_pages = max_t(u32, DMDA_LEAST_PIECE_PAGES,
				dmda_most_whole_bytes(dmda->dev->bdev) >> DMDA_PAGE_SHIFT);
	u32 nr_pages = write->run.nr_pages;

	if (nr_announced == nr_pages)
		return true;
	if (nr_pages > least_pages)
		nr_announced = min(nr_announced, nr_pages - least_pages);
	nr_pages = cut_at(dmda, write, nr_announced, DMDA_LEAST_PIECE_PAGES);
	if (nr_pages)
		cut(dmda, write, nr_pages);
	return nr_pages;
}

/* What was announced of a write is held; the rest of it comes again. */
static noinline bool hold(struct dmda *dmda, struct dmda_write *write, sector_t sector)
{
	struct dmda_held *held = dmda_share_recognise(dmda, write);

	if (!held)
		return false;
	if (!fit_to_share(dmda, write, dmda_share_nr_pages(held))) {
		dmda_share_let_go(held);
		return false;
	}
	remap(dmda, write->bio, sector);
	dmda_share_hold(dmda, held, write);
	return true;
}

/* Apart, so that plain writes do not pay for its stack */
static noinline int map_any_write(struct dmda *dmda, struct bio *bio, sector_t sector)
{
	/* All of it is set before it is used: to clear it first would take as long as a look-up. */
	struct dmda_write write __uninitialized;

	write.bio = bio;
	work_out(dmda, &write, sector);
	if (dmda_share_has_any(&dmda->share) && hold(dmda, &write, sector))
		return DM_MAPIO_SUBMITTED;
	remap(dmda, bio, sector);
	dmda_hint_send(dmda, &write);
	return DM_MAPIO_REMAPPED;
}

/*
 * Is this a write of whole pages of the user's, of which no filesystem has said anything, and which
 * does not continue another one? Then there is nothing to look up, to cut or to choose. Asked in an
 * order in which a write of a known file is told apart soon.
 */
static inline bool is_plain(struct dmda *dmda, const struct bio *bio, sector_t sector)
{
	u32 page_mask = (1U << DMDA_PAGE_SHIFT) - 1;

	if (dmda_fsmap_may_have(bio) || !dmda_is_users(bio) ||
	    (sector & (DMDA_PAGE_SECTORS - 1)) || (bio->bi_iter.bi_size & page_mask))
		return false;
	if (!dmda->config.lba_adjacency ||
	    dmda_tail_is_at(&dmda->tails, to_dpn(sector >> DMDA_PAGE_SECTOR_SHIFT)))
		return false;
	return READ_ONCE(dmda->state) != DMDA_STATE_STREAMS && !dmda_fdp_has_lanes(&dmda->fdp) &&
	       !dmda_share_has_any(&dmda->share);
}

/* What map_any_write() does with a plain one */
static noinline int map_plain_write(struct dmda *dmda, struct bio *bio, sector_t sector)
{
	u64 first = sector >> DMDA_PAGE_SECTOR_SHIFT;
	u32 nr_pages = bio->bi_iter.bi_size >> DMDA_PAGE_SHIFT;

	dmda_tail_put(&dmda->tails, to_dpn(first + nr_pages));
	dmda_runtable_forget(dmda->table, to_dpn(first), nr_pages);
	remap(dmda, bio, sector);
	dmda_hint_send_unknown(dmda, bio, to_dpn(first), nr_pages);
	return DM_MAPIO_REMAPPED;
}

static inline int map_write(struct dmda *dmda, struct bio *bio, sector_t sector)
{
	if (is_plain(dmda, bio, sector))
		return map_plain_write(dmda, bio, sector);
	return map_any_write(dmda, bio, sector);
}

/*
 * A large read of a fragmented file is many small requests of one task. The block
 * layer holds back 32 of them before it prepares them all and tells the device of the
 * first, and the dies idle meanwhile. Send what waits as soon as it is worth a request
 * of the size that the block layer itself would not hold back; but not in front of a
 * read that goes on where the last one ended, which may become one request with it.
 */
static inline void begin_waiting_reads(struct dmda *dmda, const struct bio *bio, sector_t sector)
{
	struct dmda_cpu *cpu = raw_cpu_ptr(dmda->stats.cpu);
	const struct blk_plug *plug = current->plug;
	bool goes_on = sector == READ_ONCE(cpu->read_end);

	/* Another task may run here meanwhile: then a request is sent too early or too late. */
	WRITE_ONCE(cpu->read_end, sector + bio_sectors(bio));
	if (!goes_on && plug && plug->rq_count * bio_sectors(bio) >= ENOUGH_SECTORS)
		dmda_hint_send_waiting();
}

/* Most reads are for the user's pages, of which nothing can be learnt: they are not asked more. */
static void watch_read(struct dmda *dmda, struct bio *bio, sector_t sector)
{
	if (dmda->config.early_reads)
		begin_waiting_reads(dmda, bio, sector);
	if (dmda->config.learn_reads && dmda_fills_cache(bio))
		dmda_hint_learn(dmda, bio, sector);
}

/* Apart, so that writes do not pay for its registers besides their own */
static noinline int map_other(struct dmda *dmda, struct bio *bio, sector_t sector, bool watched)
{
	if (watched && bio_op(bio) == REQ_OP_READ)
		watch_read(dmda, bio, sector);
	else if (watched)
		dmda_hint_watch(dmda, bio, sector);
	remap(dmda, bio, sector);
	return DM_MAPIO_REMAPPED;
}

int dmda_hint_map(struct dmda *dmda, struct bio *bio)
{
	sector_t sector = dm_target_offset(dmda->ti, bio->bi_iter.bi_sector);
	bool watched = dmda_watches(dmda) && bio_sectors(bio);

	if (watched && bio_op(bio) == REQ_OP_WRITE)
		return map_write(dmda, bio, sector);
	return map_other(dmda, bio, sector, watched);
}
