// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checksums of data.
 *
 * Who writes may change the data while it is being written. Nobody can say what is on the device
 * then, and a checksum of what was there before would make damage of it. So what is written is a
 * copy, but for pages of a page cache under writeback, which filesystems do not change where a
 * device says that it wants that, as this one does. For whoever does so all the same, and where
 * there was no memory for a copy, checksums are taken once more after the write, and where both
 * differ, a copy is written to the same place, which nobody has read yet.
 *
 * Who reads may do the same with the memory that is read to; and what comes over a cable may be
 * wrong once. So what does not fit is read again, to memory of our own, before it is called
 * damaged.
 *
 * A few pages are looked at where the bio ends, which may be in an interrupt; more of them, and
 * what does not fit, by a worker.
 */
#include "disk.h"
#include "log.h"
#include "sums.h"

/* Pages that are looked at in an interrupt: some microseconds */
#define FEW_PAGES	8U

/* Bios of each kind that go on when there is no memory */
#define NR_RESERVED	16

static size_t check_bytes(u32 nr_pages)
{
	return sizeof(struct dmda_log_check) + nr_pages * sizeof(__le32);
}

static u32 pages_of(const struct dmda_log_check *check)
{
	return check->iter.bi_size >> DMDA_PAGE_SHIFT;
}

static bool is_write(const struct dmda_log_check *check)
{
	return op_is_write(bio_op(check->bio));
}

/* The checksum of the bio's next page, which may lie in several pieces. */
static __le32 next_sum(const struct dmda_log_check *check, struct bvec_iter *iter)
{
	u32 crc = ~0U, left = DMDA_BLOCK_BYTES;

	while (left) {
		struct bio_vec vec = bio_iter_iovec(check->bio, *iter);
		u32 nr = min(left, vec.bv_len);
		void *from = bvec_kmap_local(&vec);

		crc = crc32c(crc, from, nr);
		kunmap_local(from);
		bio_advance_iter_single(check->bio, iter, nr);
		left -= nr;
	}
	return cpu_to_le32(crc);
}

void dmda_log_copy_page(struct bio *bio, struct bvec_iter *iter, u8 *at, bool to_bio)
{
	u32 left = DMDA_BLOCK_BYTES;

	while (left) {
		struct bio_vec vec = bio_iter_iovec(bio, *iter);

		vec.bv_len = min(left, vec.bv_len);
		if (to_bio)
			memcpy_to_bvec(&vec, at);
		else
			memcpy_from_bvec(at, &vec);
		bio_advance_iter_single(bio, iter, vec.bv_len);
		at += vec.bv_len;
		left -= vec.bv_len;
	}
}

/* Copies a page of the bio's data, from it or to it. */
static void copy_data(const struct dmda_log_check *check, u32 index, struct page *page, bool to_bio)
{
	struct bvec_iter iter = check->iter;

	bio_advance_iter(check->bio, &iter, index * DMDA_BLOCK_BYTES);
	dmda_log_copy_page(check->bio, &iter, page_address(page), to_bio);
}

static dpn_t place_of(const struct dmda_log_check *check, u32 index)
{
	return to_dpn(from_dpn(check->dpn) + index);
}

__le32 dmda_log_sum(struct page *page)
{
	return cpu_to_le32(crc32c(~0U, page_address(page), DMDA_BLOCK_BYTES));
}

static void count(struct dmda_log *log, u64 *counter)
{
	spin_lock_irq(&log->lock);
	++*counter;
	spin_unlock_irq(&log->lock);
}

/* A drive that goes bad has many damaged pages. */
static void tell_of_damage(struct dmda_log *log, u64 lpn, dpn_t dpn)
{
	const char *name = dm_table_device_name(log->dmda->ti->table);
	unsigned long last = READ_ONCE(log->sums.last_event);

	DMERR_LIMIT("%s: Page %llu is damaged: what lies at page %llu below has another checksum.",
		    name, lpn, from_dpn(dpn));
	if (time_before(jiffies, last + HZ) ||
	    cmpxchg(&log->sums.last_event, last, jiffies) != last)
		return;
	dm_table_event(log->dmda->ti->table);
}

bool dmda_log_look_again(struct dmda_log *log, u64 lpn, dpn_t dpn, struct page *page, __le32 sum)
{
	if (!dmda_log_read(log, dpn, page_address(page), 1) && dmda_log_sum(page) == sum) {
		count(log, &log->sums.nr_mended);
		return true;
	}
	count(log, &log->sums.nr_damaged);
	tell_of_damage(log, lpn, dpn);
	return false;
}

/* Return: whether the bio has the right data now. */
static bool mend_read(struct dmda_log_check *check, u32 index)
{
	struct dmda_log *log = check->log;
	struct page *page = mempool_alloc(&log->sums.pages, GFP_NOIO);
	bool is_right = dmda_log_look_again(log, check->first + index, place_of(check, index),
					    page, check->sum[index]);

	if (is_right)
		copy_data(check, index, page, true);
	mempool_free(page, &log->sums.pages);
	return is_right;
}

/* Return: whether a page is on the device as its checksum says. */
static bool write_again(struct dmda_log_check *check, u32 index)
{
	struct dmda_log *log = check->log;
	struct page *page = mempool_alloc(&log->sums.pages, GFP_NOIO);
	int ret;

	copy_data(check, index, page, false);
	check->sum[index] = dmda_log_sum(page);
	ret = dmda_log_write_data(log, place_of(check, index), page_address(page));
	mempool_free(page, &log->sums.pages);
	count(log, &log->sums.nr_changed);
	return !ret;
}

static void mend(struct dmda_log_check *check, u32 index)
{
	struct bio *bio = check->bio;

	if (is_write(check)) {
		if (!write_again(check, index))
			bio->bi_status = BLK_STS_IOERR;
	} else if (!mend_read(check, index)) {
		bio->bi_status = BLK_STS_PROTECTION;
	}
}

static void do_check(struct work_struct *work)
{
	struct dmda_log_check *check = container_of(work, struct dmda_log_check, work);
	struct bvec_iter iter = check->iter;

	for (u32 i = 0; i < pages_of(check) && !check->bio->bi_status; i++) {
		if (next_sum(check, &iter) != check->sum[i])
			mend(check, i);
		cond_resched();
	}
	check->end(check->bio);
}

static bool is_under_writeback(const struct dmda_log_check *check)
{
	struct bvec_iter iter;
	struct bio_vec vec;

	__bio_for_each_segment(vec, check->bio, iter, check->iter) {
		if (!folio_test_writeback(page_folio(vec.bv_page)))
			return false;
	}
	return true;
}

static void free_copy(struct bio_vec *copy, u32 nr_pages)
{
	while (nr_pages--)
		__free_page(copy[nr_pages].bv_page);
	kfree(copy);
}

/* Return: pages with what is to be written, or NULL: there is no memory for all of them. */
static struct bio_vec *make_copy(struct dmda_log_check *check)
{
	u32 nr_pages = pages_of(check);
	struct bio_vec *copy = kmalloc_array(nr_pages, sizeof(*copy), GFP_NOWAIT | __GFP_NOWARN);

	for (u32 i = 0; copy && i < nr_pages; i++) {
		struct page *page = alloc_page(GFP_NOWAIT | __GFP_NOWARN);

		if (!page) {
			free_copy(copy, i);
			return NULL;
		}
		copy_data(check, i, page, false);
		copy[i] = (struct bio_vec){ .bv_page = page, .bv_len = DMDA_BLOCK_BYTES };
	}
	return copy;
}

/* The bio is a clone: it has no vectors of its own, and nobody frees those. */
static void write_copy(struct dmda_log_check *check)
{
	struct bio *bio = check->bio;

	check->copy = make_copy(check);
	if (!check->copy)
		return;
	check->before = bio->bi_io_vec;
	bio->bi_io_vec = check->copy;
	bio->bi_iter.bi_idx = 0;
	bio->bi_iter.bi_bvec_done = 0;
	check->iter = bio->bi_iter;
}

static void drop_copy(struct dmda_log_check *check)
{
	if (!check->copy)
		return;
	check->bio->bi_io_vec = check->before;
	free_copy(check->copy, pages_of(check));
	check->copy = NULL;
}

static void take_sums(struct dmda_log_check *check)
{
	struct bvec_iter iter;

	if (!is_under_writeback(check))
		write_copy(check);
	iter = check->iter;
	for (u32 i = 0; i < pages_of(check); i++)
		check->sum[i] = next_sum(check, &iter);
}

void dmda_log_check_begin(struct dmda_log_check *check, struct bio *bio, u64 first, dpn_t dpn,
			  void (*end)(struct bio *bio))
{
	check->bio = bio;
	check->iter = bio->bi_iter;
	check->first = first;
	check->dpn = dpn;
	check->end = end;
	if (is_write(check))
		take_sums(check);
}

bool dmda_log_check_end(struct dmda_log_check *check)
{
	struct bvec_iter iter = check->iter;
	bool is_right = pages_of(check) <= FEW_PAGES;

	/* What was copied is ours alone. It goes here, where no lock is held. */
	if (check->copy || check->bio->bi_status) {
		drop_copy(check);
		return true;
	}
	for (u32 i = 0; i < pages_of(check) && is_right; i++)
		is_right = next_sum(check, &iter) == check->sum[i];
	if (!is_right)
		queue_work(check->log->sums.queue, &check->work);
	return is_right;
}

struct dmda_log_check *dmda_log_check_get(struct dmda_log *log, enum req_op op, u32 nr_pages,
					  gfp_t gfp)
{
	mempool_t *reserve = op_is_write(op) ? &log->sums.writes : &log->sums.reads;
	struct dmda_log_check *check = kmalloc(check_bytes(nr_pages), GFP_NOWAIT | __GFP_NOWARN);
	bool is_reserved = !check;

	if (is_reserved)
		check = mempool_alloc(reserve, gfp);
	if (!check)
		return NULL;
	check->log = log;
	check->copy = NULL;
	check->reserve = is_reserved ? reserve : NULL;
	INIT_WORK(&check->work, do_check);
	return check;
}

void dmda_log_check_put(struct dmda_log_check *check)
{
	if (check->reserve)
		mempool_free(check, check->reserve);
	else
		kfree(check);
}

int dmda_log_sums_create(struct dmda_log *log)
{
	struct dmda_log_sums *sums = &log->sums;
	size_t bytes = check_bytes(DMDA_LOG_CHECK_PAGES);

	if (!dmda_super_has_sums(&log->super))
		return 0;
	sums->last_event = jiffies - HZ;
	sums->queue = alloc_workqueue("dm-dieaware-sums", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!sums->queue)
		return -ENOMEM;
	return mempool_init_kmalloc_pool(&sums->reads, NR_RESERVED, bytes) ?:
		mempool_init_kmalloc_pool(&sums->writes, NR_RESERVED, bytes) ?:
		mempool_init_page_pool(&sums->pages, NR_RESERVED, 0);
}

/* Pools that were never made are zero. */
void dmda_log_sums_destroy(struct dmda_log *log)
{
	struct dmda_log_sums *sums = &log->sums;

	if (sums->queue)
		destroy_workqueue(sums->queue);
	mempool_exit(&sums->pages);
	mempool_exit(&sums->writes);
	mempool_exit(&sums->reads);
}
