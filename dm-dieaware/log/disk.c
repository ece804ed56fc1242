// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading and writing metadata, and waiting for it. Memory may be vmalloc's.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "disk.h"
#include "log.h"

/*
 * Somebody waits for it, as for a journal of a filesystem's: REQ_IDLE has writeback throttling
 * below let it pass, which else holds it back behind whatever is written in the background.
 */
#define WRITE_META	(REQ_OP_WRITE | REQ_META | REQ_SYNC | REQ_IDLE)

static struct page *page_of(const void *memory)
{
	return is_vmalloc_addr(memory) ? vmalloc_to_page(memory) : virt_to_page(memory);
}

/* Adds memory to a bio until one of them is full. Return: bytes. */
static u32 add_pages_of(struct bio *bio, u8 *memory, u32 bytes)
{
	u32 added = 0;

	while (added < bytes) {
		u32 offset = offset_in_page(memory + added);
		u32 nr = min_t(u32, bytes - added, PAGE_SIZE - offset);

		if (bio_add_page(bio, page_of(memory + added), nr, offset) != nr)
			break;
		added += nr;
	}
	return added;
}

/* A bio for as much of the memory as goes into one: @nr bytes */
static struct bio *new_bio(struct dmda_log *log, sector_t sector, u8 *memory, u32 bytes,
			   blk_opf_t opf, u32 *nr)
{
	u32 nr_vecs = min_t(u32, DIV_ROUND_UP(bytes, PAGE_SIZE) + 1, BIO_MAX_VECS);
	struct bio *bio = bio_alloc_bioset(log->bdev, nr_vecs, opf, GFP_NOIO, &log->own_bios);

	bio->bi_iter.bi_sector = sector;
	*nr = add_pages_of(bio, memory, bytes);
	return bio;
}

static int transfer(struct dmda_log *log, sector_t sector, u8 *memory, u32 bytes,
		    blk_opf_t opf)
{
	int ret = 0;

	while (bytes && !ret) {
		u32 nr;
		struct bio *bio = new_bio(log, sector, memory, bytes, opf, &nr);

		ret = submit_bio_wait(bio);
		bio_put(bio);
		sector += nr >> SECTOR_SHIFT;
		memory += nr;
		bytes -= nr;
		/* A flush in front of the first is one in front of all. */
		opf &= ~REQ_PREFLUSH;
	}
	return ret;
}

int dmda_log_read(struct dmda_log *log, dpn_t dpn, void *memory, u32 nr_pages)
{
	return transfer(log, dmda_log_sector(log, dpn), memory, nr_pages << DMDA_PAGE_SHIFT,
			REQ_OP_READ | REQ_META | REQ_SYNC);
}

void dmda_log_end_bio(struct bio *bio)
{
	struct dmda_log_group *group = bio->bi_private;
	bool failed = bio->bi_status;

	bio_put(bio);
	dmda_log_group_put(group, failed);
}

void dmda_log_begin_read(struct dmda_log *log, struct dmda_log_group *group, dpn_t dpn,
			 void *memory, u32 nr_pages)
{
	sector_t sector = dmda_log_sector(log, dpn);
	u32 bytes = nr_pages << DMDA_PAGE_SHIFT;

	while (bytes) {
		u32 nr;
		struct bio *bio = new_bio(log, sector, memory, bytes,
					  REQ_OP_READ | REQ_META | REQ_SYNC, &nr);

		bio->bi_end_io = dmda_log_end_bio;
		bio->bi_private = group;
		dmda_log_group_get(group);
		submit_bio(bio);
		sector += nr >> SECTOR_SHIFT;
		memory += nr;
		bytes -= nr;
	}
}

bool dmda_log_has_discards(const struct dmda_log *log)
{
	return log->dmda->config.discard_passdown && bdev_max_discard_sectors(log->bdev);
}

bool dmda_log_can_discard_pages(const struct dmda_log *log)
{
	return dmda_log_has_discards(log) &&
		bdev_discard_granularity(log->bdev) <= DMDA_BLOCK_BYTES;
}

bool dmda_log_may_discard(const struct dmda_log *log)
{
	return dmda_log_may_work(log) && !READ_ONCE(log->is_suspending);
}

void dmda_log_begin_discard(struct dmda_log *log, struct dmda_log_group *group, dpn_t dpn,
			    u32 nr_pages)
{
	struct bio *bio = bio_alloc_bioset(log->bdev, 0, REQ_OP_DISCARD, GFP_NOIO, &log->own_bios);

	bio->bi_iter.bi_sector = dmda_log_sector(log, dpn);
	bio->bi_iter.bi_size = nr_pages * DMDA_BLOCK_BYTES;
	bio->bi_private = group;
	bio->bi_end_io = dmda_log_end_bio;
	dmda_log_group_get(group);
	submit_bio(bio);
}

static void count_meta(struct dmda_log *log, u32 nr_sectors)
{
	unsigned long flags;

	spin_lock_irqsave(&log->lock, flags);
	log->counters.meta_pages += DIV_ROUND_UP(nr_sectors, DMDA_PAGE_SECTORS);
	spin_unlock_irqrestore(&log->lock, flags);
}

int dmda_log_write(struct dmda_log *log, dpn_t dpn, void *memory, u32 nr_pages,
		   blk_opf_t opf)
{
	count_meta(log, nr_pages << DMDA_PAGE_SECTOR_SHIFT);
	return transfer(log, dmda_log_sector(log, dpn), memory, nr_pages << DMDA_PAGE_SHIFT,
			WRITE_META | opf);
}

int dmda_log_write_super(struct dmda_log *log, struct dmda_super *super, blk_opf_t opf)
{
	void *page = (void *)get_zeroed_page(GFP_NOIO);
	int ret;

	if (!page)
		return -ENOMEM;
	super->epoch++;
	dmda_super_encode(super, page);
	ret = dmda_log_write(log, dmda_super_dpn(super->epoch), page, 1, opf);
	if (ret)
		super->epoch--;
	free_page((unsigned long)page);
	return ret;
}

int dmda_log_write_supers(struct dmda_log *log, struct dmda_super *super)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < 2; i++)
		ret = dmda_log_write_super(log, super, REQ_FUA);
	return ret;
}

int dmda_log_write_data(struct dmda_log *log, dpn_t dpn, void *memory)
{
	return transfer(log, dmda_log_sector(log, dpn), memory, DMDA_BLOCK_BYTES,
			REQ_OP_WRITE | REQ_SYNC);
}

int dmda_log_write_sectors(struct dmda_log *log, u32 at, void *memory, u32 nr_sectors,
			   blk_opf_t opf)
{
	sector_t first = dmda_log_sector(log, to_dpn(log->super.journal_dpn));
	u32 nr = min(nr_sectors, log->super.journal_sectors - at);
	u32 bytes = nr << SECTOR_SHIFT;
	int ret;

	count_meta(log, nr_sectors);
	opf |= WRITE_META;
	ret = transfer(log, first + at, memory, bytes, opf);
	if (ret || nr == nr_sectors)
		return ret;
	/* The ring's end: the rest goes to its beginning. */
	return transfer(log, first, memory + bytes, (nr_sectors - nr) << SECTOR_SHIFT,
			opf & ~REQ_PREFLUSH);
}

void dmda_log_begin_sectors(struct dmda_log *log, struct bio *bio, struct bio_vec *vec, u32 at,
			    bio_end_io_t *end)
{
	count_meta(log, vec->bv_len >> SECTOR_SHIFT);
	bio_init(bio, log->bdev, vec, 1, WRITE_META);
	bio->bi_vcnt = 1;
	bio->bi_iter.bi_sector = dmda_log_sector(log, to_dpn(log->super.journal_dpn)) + at;
	bio->bi_iter.bi_size = vec->bv_len;
	bio->bi_end_io = end;
	submit_bio(bio);
}

int dmda_log_flush(struct dmda_log *log)
{
	struct bio *bio = bio_alloc_bioset(log->bdev, 0, REQ_OP_WRITE | REQ_PREFLUSH, GFP_NOIO,
					   &log->own_bios);
	int ret = submit_bio_wait(bio);

	bio_put(bio);
	return ret;
}
