// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes whose bytes the device has already: held, compared, and shared instead of written. Why
 * that is safe stands in share.h. Whatever goes wrong, the write is sent as if nobody had
 * announced it, and the caller learns nothing of it.
 *
 * One write after the other: reading, Share and reading again take what the device takes, and the
 * filesystem that defragments has more of them under way than one.
 */
#include <linux/highmem.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <dieaware/vendor.h>

#include "core/message.h"
#include "dieaware.h"
#include "hint-send.h"
#include "underlying.h"

/* Announcements that a target keeps: 128 KiB of memory, from the first one on */
#define MOST_ANNOUNCEMENTS	4096

#define HOLDS_JIFFIES		(60 * HZ)

/* While announced writes are held, it is looked so often whether they still are. */
#define LOOK_JIFFIES		HZ

/* Statuses of NVMe, without the bit that says "do not retry" */
#define STATUS_MASK		0x7ff
#define STATUS_DEALLOCATED	0x287

/**
 * struct dmda_held - a write that is held
 * @list: in dmda_share.held
 * @write: the write, as it is to be sent if it cannot be shared
 * @plan: where its bytes lie
 */
struct dmda_held {
	struct list_head list;
	struct dmda_write write;
	struct dmda_share_plan plan;
};

static struct workqueue_struct *share_queue;

/* Read pages to the buffer. Each bio is sent before the one after the next is made. */
static int read_pages(struct dmda *dmda, const struct dmda_share_range *range, u32 nr_ranges)
{
	void *at = dmda->share.buf;
	struct bio *bio = NULL;
	u32 nr_pages = 0;
	int ret;

	for (u32 i = 0; i < nr_ranges; i++) {
		struct bio *next = bio_alloc(dmda->dev->bdev, range[i].nr_pages, REQ_OP_READ,
					     GFP_NOIO);

		next->bi_iter.bi_sector = dmda->config.start_sectors +
					  (from_dpn(range[i].from) << DMDA_PAGE_SECTOR_SHIFT);
		for (u32 page = 0; page < range[i].nr_pages; page++) {
			__bio_add_page(next, vmalloc_to_page(at), BIT(DMDA_PAGE_SHIFT),
				       offset_in_page(at));
			at += BIT(DMDA_PAGE_SHIFT);
		}
		nr_pages += range[i].nr_pages;
		if (bio) {
			bio_chain(bio, next);
			submit_bio(bio);
		}
		bio = next;
	}
	ret = submit_bio_wait(bio);
	bio_put(bio);
	invalidate_kernel_vmap_range(dmda->share.buf, nr_pages << DMDA_PAGE_SHIFT);
	return ret;
}

/* Does a write have the bytes that were read? */
static bool is_same(struct bio *bio, const void *buf)
{
	struct bvec_iter iter;
	struct bio_vec bvec;

	bio_for_each_segment(bvec, bio, iter) {
		void *data = bvec_kmap_local(&bvec);
		bool is_same = !memcmp(data, buf, bvec.bv_len);

		kunmap_local(data);
		if (!is_same)
			return false;
		buf += bvec.bv_len;
	}
	return true;
}

static bool lies_at(struct dmda *dmda, struct dmda_held *held,
		    const struct dmda_share_range *range, u32 nr_ranges,
		    enum dmda_counter otherwise)
{
	bool can_read = !read_pages(dmda, range, nr_ranges);

	if (can_read && is_same(held->write.bio, dmda->share.buf))
		return true;
	dmda_count(&dmda->stats, can_read ? otherwise : DMDA_COUNT_SHARE_REFUSED);
	return false;
}

static __le64 lba_of(const struct dmda *dmda, dpn_t dpn)
{
	u64 sector = dmda->first_sector + (from_dpn(dpn) << DMDA_PAGE_SECTOR_SHIFT);

	return cpu_to_le64(sector >> dmda->lba_shift);
}

/* 0, the device's status, or a negative errno */
static int send_share(struct dmda *dmda, const struct dmda_share_plan *plan)
{
	struct dmda_share *share = &dmda->share;
	struct nvme_passthru_cmd cmd = {
		.opcode = DIEAWARE_CMD_SHARE,
		.nsid = share->nsid,
		.data_len = plan->nr_ranges * sizeof(*share->wire),
		.cdw10 = plan->nr_ranges - 1,
	};
	u64 to = from_dpn(plan->to);
	int ret = -EFAULT;

	for (u32 i = 0; i < plan->nr_ranges; i++) {
		const struct dmda_share_range *range = &plan->range[i];

		share->wire[i] = (struct dieaware_share_range){
			.from = lba_of(dmda, range->from),
			.to = lba_of(dmda, to_dpn(to)),
			.nr_lbas = cpu_to_le32(range->nr_pages <<
					       (DMDA_PAGE_SECTOR_SHIFT - dmda->lba_shift)),
		};
		to += range->nr_pages;
	}
	kthread_use_mm(share->lent);
	if (dmda_passthru_give(&share->passthru, share->wire, cmd.data_len))
		ret = dmda_passthru_run(&share->passthru, NVME_IOCTL_IO_CMD, &cmd);
	kthread_unuse_mm(share->lent);
	return ret;
}

/*
 * The device refuses what it has no room for, does not know, or cannot do now: so it will the rest.
 * But a page without data is a matter of that page.
 */
static void refused(struct dmda *dmda, int status)
{
	dmda_count(&dmda->stats, DMDA_COUNT_SHARE_REFUSED);
	if (status > 0 && (status & STATUS_MASK) == STATUS_DEALLOCATED)
		return;
	DMWARN_LIMIT("%s: The device does not share pages (%d): they are written.",
		     dm_table_device_name(dmda->ti->table), status);
	dmda_share_forget(dmda);
}

/* Whether the device has at the new place what was to be written there, for good */
static bool is_shared(struct dmda *dmda, struct dmda_held *held)
{
	const struct dmda_share_plan *plan = &held->plan;
	struct dmda_share_range new_place = { .from = plan->to, .nr_pages = plan->nr_pages };
	int status;

	if (!dmda->share.lent || !dmda_share_is_on(dmda))
		return false;
	if (!lies_at(dmda, held, plan->range, plan->nr_ranges, DMDA_COUNT_SHARE_DIFFERS))
		return false;
	status = send_share(dmda, plan);
	if (status) {
		refused(dmda, status);
		return false;
	}
	return lies_at(dmda, held, &new_place, 1, DMDA_COUNT_SHARE_UNDONE);
}

static void forget_held(struct dmda_share *share, struct dmda_held *held)
{
	spin_lock(&share->lock);
	list_del(&held->list);
	spin_unlock(&share->lock);
}

static void finish(struct dmda *dmda, struct dmda_held *held)
{
	struct bio *bio = held->write.bio;
	bool is_done;

	mutex_lock(&dmda->share.device_lock);
	is_done = is_shared(dmda, held);
	mutex_unlock(&dmda->share.device_lock);
	forget_held(&dmda->share, held);
	if (is_done) {
		dmda_count_pages(&dmda->stats, DMDA_COUNT_SHARED_PAGES, held->plan.nr_pages);
		bio_endio(bio);
	} else {
		dmda_hint_send(dmda, &held->write);
		submit_bio_noacct(bio);
	}
	kfree(held);
}

/* It stays in the list until the worker, of which there is one, is through with it. */
static struct dmda_held *first_held(struct dmda_share *share)
{
	struct dmda_held *held;

	spin_lock(&share->lock);
	held = list_first_entry_or_null(&share->held, struct dmda_held, list);
	spin_unlock(&share->lock);
	return held;
}

static void take_care(struct work_struct *work)
{
	struct dmda *dmda = container_of(work, struct dmda, share.work);
	/* Somebody may be waiting for these writes to get memory. */
	unsigned int noio = memalloc_noio_save();
	struct dmda_held *held;

	while ((held = first_held(&dmda->share))) {
		finish(dmda, held);
		cond_resched();
	}
	memalloc_noio_restore(noio);
}

/* Only a page's own writeback: its filesystem says which file it is, and keeps it as it is. */
static bool can_be_held(const struct dmda_write *write)
{
	const struct dmda_identity *identity = &write->identity;
	const struct dmda_run *run = &write->run;
	struct bio *bio = write->bio;
	u32 size = bio->bi_iter.bi_size;

	return identity->source == DMDA_SOURCE_PAGE &&
	       !(bio->bi_opf & (REQ_PREFLUSH | REQ_FUA | REQ_NOWAIT | REQ_POLLED)) &&
	       !dmda_bio_is_atomic(bio) &&
	       run->file.id && run->file.id == identity->file.id &&
	       run->fpage << DMDA_PAGE_SHIFT == identity->pos_bytes &&
	       (u64)run->nr_pages << DMDA_PAGE_SHIFT == size && identity->len_bytes >= size;
}

static bool is_announced(struct dmda_share *share, const struct dmda_run *run)
{
	bool is_announced;

	spin_lock(&share->lock);
	is_announced = dmda_announced_has(&share->announced, run->file, run->fpage);
	spin_unlock(&share->lock);
	return is_announced;
}

struct dmda_held *dmda_share_recognise(struct dmda *dmda, const struct dmda_write *write)
{
	struct dmda_share *share = &dmda->share;
	struct dmda_held *held;

	if (!can_be_held(write) || !is_announced(share, &write->run))
		return NULL;
	held = kmalloc(sizeof(*held), GFP_NOWAIT | __GFP_NOWARN);
	if (!held)
		return NULL;
	spin_lock(&share->lock);
	dmda_announced_plan(&share->announced, &write->run, &held->plan);
	spin_unlock(&share->lock);
	if (held->plan.nr_pages)
		return held;
	kfree(held);
	return NULL;
}

u32 dmda_share_nr_pages(const struct dmda_held *held)
{
	return held->plan.nr_pages;
}

void dmda_share_hold(struct dmda *dmda, struct dmda_held *held, const struct dmda_write *write)
{
	struct dmda_share *share = &dmda->share;
	const struct dmda_run *run = &write->run;

	held->write = *write;
	dmda_share_plan_trim(&held->plan, run->nr_pages);
	spin_lock(&share->lock);
	dmda_announced_forget(&share->announced, run->file, run->fpage, run->nr_pages);
	list_add_tail(&held->list, &share->held);
	spin_unlock(&share->lock);
	queue_work(share_queue, &share->work);
}

void dmda_share_let_go(struct dmda_held *held)
{
	kfree(held);
}

/* NULL, or why nothing can be shared */
static const char *complaint(const struct dmda *dmda)
{
	if (dmda->config.mode != DMDA_MODE_HINT)
		return "Pages are shared in mode hint only.";
	if (READ_ONCE(dmda->state) != DMDA_STATE_ON)
		return "Pages are shared only while hints are on, by which files are known.";
	if (!READ_ONCE(dmda->asking.discovery.knows_share))
		return "The device does not announce that it shares pages.";
	/* It could come after the write that is sent in its stead, and after later ones. */
	if (!dmda_passthru_is_local(dmda->dev->bdev))
		return "The device is not on PCI Express itself: Share might run late.";
	/* Share names blocks of the device, and writes to whatever lies there. */
	if (dmda_underlying_has_moved(dmda))
		return "The device has other blocks than at the last resume.";
	/* The device shares pages of its own. */
	if (READ_ONCE(dmda->first_sector) & (DMDA_PAGE_SECTORS - 1))
		return "The target does not begin at a page of the device.";
	return NULL;
}

bool dmda_share_is_on(const struct dmda *dmda)
{
	return !complaint(dmda);
}

static int make_room(struct dmda_share *share)
{
	struct dmda_run *runs;

	if (share->buf)
		return 0;
	runs = kvmalloc_array(MOST_ANNOUNCEMENTS, sizeof(*runs), GFP_KERNEL);
	share->wire = kmalloc_array(DMDA_SHARE_MOST_RANGES, sizeof(*share->wire), GFP_KERNEL);
	share->buf = vmalloc(DMDA_SHARE_MOST_PAGES << DMDA_PAGE_SHIFT);
	if (!runs || !share->wire || !share->buf)
		goto err_memory;
	spin_lock(&share->lock);
	dmda_announced_init(&share->announced, runs, MOST_ANNOUNCEMENTS);
	spin_unlock(&share->lock);
	return 0;

err_memory:
	vfree(share->buf);
	share->buf = NULL;
	kfree(share->wire);
	share->wire = NULL;
	kvfree(runs);
	return -ENOMEM;
}

/* Memory of a task that has ended: all of it is kept for our two pages. */
static void drop_left_locked(struct dmda_share *share)
{
	lockdep_assert_held(&share->device_lock);

	if (!share->lent || atomic_read(&share->lent->mm_users) > 1)
		return;
	mmput(share->lent);
	share->lent = NULL;
}

static int lend_locked(struct dmda *dmda)
{
	struct dmda_share *share = &dmda->share;
	int ret = make_room(share);
	int nsid;

	lockdep_assert_held(&share->device_lock);

	drop_left_locked(share);
	if (ret || share->lent)
		return ret;
	nsid = dmda_passthru_nsid(dmda->dev->bdev);
	if (nsid <= 0)
		return -ENODEV;
	if (!dmda_passthru_open(&share->passthru, dmda->dev->bdev, true))
		return -ENOMEM;
	share->nsid = nsid;
	share->lent = get_task_mm(current);
	return 0;
}

/*
 * Somebody may have announced more since it was to be looked at. What is held is announced no more,
 * and needs the way to the device all the same.
 */
static bool is_over(struct dmda_share *share)
{
	bool is_over;

	spin_lock(&share->lock);
	if (!time_before(jiffies, share->until))
		share->announced.nr = 0;
	is_over = !share->announced.nr && list_empty(&share->held);
	if (!share->announced.nr && !is_over)
		mod_delayed_work(system_long_wq, &share->expire, LOOK_JIFFIES);
	spin_unlock(&share->lock);
	return is_over;
}

static void give_back_locked(struct dmda_share *share)
{
	lockdep_assert_held(&share->device_lock);

	kthread_use_mm(share->lent);
	dmda_passthru_close(&share->passthru);
	kthread_unuse_mm(share->lent);
	mmput(share->lent);
	share->lent = NULL;
}

/* In a worker, which alone can take somebody else's memory for its own. */
static void expire(struct work_struct *work)
{
	struct dmda_share *share = container_of(work, struct dmda_share, expire.work);

	/* Whoever announces has it from when memory is lent until he has announced. */
	mutex_lock(&share->device_lock);
	if (is_over(share) && share->lent)
		give_back_locked(share);
	mutex_unlock(&share->device_lock);
}

void dmda_share_clear(struct dmda *dmda, struct dmda_file file)
{
	struct dmda_share *share = &dmda->share;
	bool has_others;

	spin_lock(&share->lock);
	if (file.id)
		dmda_announced_forget_file(&share->announced, file);
	else
		share->announced.nr = 0;
	has_others = share->announced.nr;
	spin_unlock(&share->lock);
	if (!has_others)
		mod_delayed_work(system_long_wq, &share->expire, 0);
}

void dmda_share_forget(struct dmda *dmda)
{
	dmda_share_clear(dmda, DMDA_ANONYMOUS);
}

static int add(struct dmda *dmda, const struct dmda_message *message)
{
	struct dmda_share *share = &dmda->share;
	bool has_room = true;
	u32 i;

	for (i = 0; i < message->nr_runs && has_room; i++) {
		struct dmda_run run = dmda_message_run(message, i);

		spin_lock(&share->lock);
		has_room = dmda_announced_add(&share->announced, &run);
		share->until = jiffies + HOLDS_JIFFIES;
		spin_unlock(&share->lock);
		cond_resched();
	}
	if (has_room)
		return 0;
	DMERR("%s: There is no room for so many rewrites: announce fewer at a time.",
	      dm_table_device_name(dmda->ti->table));
	return -ENOSPC;
}

static int announce_locked(struct dmda *dmda, const struct dmda_message *message)
{
	int ret = lend_locked(dmda);

	lockdep_assert_held(&dmda->share.device_lock);

	if (ret) {
		DMERR("%s: There is no way to the device for commands (%d).",
		      dm_table_device_name(dmda->ti->table), ret);
		return ret;
	}
	ret = add(dmda, message);
	mod_delayed_work(system_long_wq, &dmda->share.expire, HOLDS_JIFFIES);
	return ret;
}

int dmda_share_announce(struct dmda *dmda, const struct dmda_message *message)
{
	const char *why = complaint(dmda);
	unsigned int noio;
	int ret;

	if (why) {
		DMERR("%s: %s", dm_table_device_name(dmda->ti->table), why);
		return -EOPNOTSUPP;
	}
	/* As when a device is asked: nothing here may wait for a filesystem on the target. */
	noio = memalloc_noio_save();
	mutex_lock(&dmda->share.device_lock);
	ret = announce_locked(dmda, message);
	mutex_unlock(&dmda->share.device_lock);
	memalloc_noio_restore(noio);
	return ret;
}

void dmda_share_create(struct dmda *dmda)
{
	struct dmda_share *share = &dmda->share;

	spin_lock_init(&share->lock);
	mutex_init(&share->device_lock);
	INIT_LIST_HEAD(&share->held);
	INIT_WORK(&share->work, take_care);
	INIT_DELAYED_WORK(&share->expire, expire);
}

void dmda_share_destroy(struct dmda *dmda)
{
	struct dmda_share *share = &dmda->share;

	flush_work(&share->work);
	dmda_share_forget(dmda);
	flush_delayed_work(&share->expire);
	vfree(share->buf);
	kfree(share->wire);
	kvfree(share->announced.runs);
	mutex_destroy(&share->device_lock);
}

int dmda_share_init(void)
{
	share_queue = alloc_workqueue("dm-dieaware-share", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	return share_queue ? 0 : -ENOMEM;
}

void dmda_share_exit(void)
{
	destroy_workqueue(share_queue);
}
