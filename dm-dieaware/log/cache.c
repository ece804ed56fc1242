// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of the map in memory. They are read when something needs them, and evicted when
 * there are more than there should be (evict.c). The only place where it is known where a page is
 * to be read from is dmda_log_tables.slots, which learns of a write when it is done: until then the
 * page stays.
 *
 * Who knows which pages he is going to need, as replay and cleaning do, has them read together.
 * Room for them is made before, so that they stay until then; but nothing is pinned for it, and a
 * page that has gone again is read once more.
 *
 * Who only wants to know where something lies takes neither lock nor pin (look-up.c). So the memory
 * of a page that goes is free only when all who may have found it before have looked: after a grace
 * period of RCU. What was set aside comes back then; who needs it waits for that.
 */
#include <linux/sched.h>
#include <linux/wait.h>

#include "evict.h"
#include "group.h"
#include "log.h"
#include "near.h"
#include "trace.h"
#include "write.h"

/* Of the cache, at most this part is read together */
#define WANTED_PART	4U

#define MIN_MAP_PAGES		64U

/* There is no memory, and no page can go just now. */
#define NO_MEMORY_JIFFIES	(HZ / 50)

/* Without insisting: there are other ways. */
#define TRY_GFP			(GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN)

/* A page has no room to say whose it is. */
struct fetch {
	struct dmda_log *log;
	struct dmda_log_group *group; /* that it is waited for with, or NULL */
	struct bio bio;
};

static struct kmem_cache *page_cache;

int dmda_log_map_init(void)
{
	page_cache = kmem_cache_create("dmda_map_page", sizeof(struct dmda_log_page), 0, 0, NULL);
	return page_cache ? 0 : -ENOMEM;
}

void dmda_log_map_exit(void)
{
	kmem_cache_destroy(page_cache);
}

u64 dmda_log_map_pages(u32 mb)
{
	return max_t(u64, (u64)mb << (20 - DMDA_PAGE_SHIFT), MIN_MAP_PAGES);
}

/* Pages of the map that are in memory at most; there are no more than the map has. */
static u64 near_pages(const struct dmda_log *log, u64 max_pages)
{
	return min(dmda_super_nr_pages(&log->super, DMDA_TABLE_MAP), max_pages);
}

struct dmda_log_page *dmda_log_page_peek(struct dmda_log *log, u64 index)
{
	return dmda_log_near_find(log, index) ?: xa_load(&log->cache.pages, index);
}

/* It is found with one look the next time. */
static struct dmda_log_page *load_locked(struct dmda_log *log, u64 index)
{
	struct dmda_log_page *page = dmda_log_near_find(log, index);

	lockdep_assert_held(&log->lock);

	if (page)
		return page;
	page = xa_load(&log->cache.pages, index);
	if (page)
		dmda_log_near_put_locked(log, page);
	return page;
}

struct dmda_log_page *dmda_log_page_find_locked(struct dmda_log *log, u64 index)
{
	struct dmda_log_page *page = load_locked(log, index);

	lockdep_assert_held(&log->lock);

	if (!page || !page->map.is_shown)
		return NULL;
	dmda_log_page_used(page);
	return page;
}

bool dmda_log_page_is_there_locked(struct dmda_log *log, u64 index)
{
	const struct dmda_log_page *page = load_locked(log, index);

	lockdep_assert_held(&log->lock);

	return page && page->map.is_shown;
}

bool dmda_log_page_is_zero_locked(struct dmda_log *log, u64 index)
{
	lockdep_assert_held(&log->lock);

	return !xa_load(&log->cache.pages, index) &&
		!log->tables.slots[DMDA_TABLE_MAP].newest[index];
}

void dmda_log_page_put_locked(struct dmda_log *log, struct dmda_log_page *page)
{
	lockdep_assert_held(&log->lock);

	page->nr_pins--;
}

void dmda_log_page_put(struct dmda_log *log, struct dmda_log_page *page)
{
	unsigned long flags;

	spin_lock_irqsave(&log->lock, flags);
	dmda_log_page_put_locked(log, page);
	spin_unlock_irqrestore(&log->lock, flags);
}

/* Of a page that nobody can look into */
static void free_memory(struct dmda_log *log, struct dmda_log_page *page)
{
	mempool_free(virt_to_page(page->map.block), &log->cache.blocks);
	mempool_free(page, &log->cache.structs);
}

static void free_gone(struct rcu_head *rcu)
{
	struct dmda_log_page *page = container_of(rcu, struct dmda_log_page, rcu);
	struct dmda_log *log = (void *)page_private(virt_to_page(page->map.block));

	atomic_dec(&log->cache.nr_gone);
	free_memory(log, page);
}

void dmda_log_page_free(struct dmda_log *log, struct dmda_log_page *page)
{
	atomic_inc(&log->cache.nr_gone);
	/* The page has no room to say whose it is. */
	set_page_private(virt_to_page(page->map.block), (unsigned long)log);
	call_rcu(&page->rcu, free_gone);
}

static int resize_map(struct dmda_log *log, u32 mb)
{
	u64 max_pages = dmda_log_map_pages(mb);
	struct dmda_log_near *near = dmda_log_near_alloc(near_pages(log, max_pages), GFP_NOIO);

	if (!near || dmda_log_evict_resize(log, max_pages)) {
		kvfree(near);
		return -ENOMEM;
	}
	dmda_log_near_replace(log, near);
	WRITE_ONCE(log->dmda->config.map_cache_mb, mb);
	dmda_log_pages_shrink(log);
	return 0;
}

/* The queue of new pages and the table for one look are made for the same size. */
int dmda_log_resize_map(struct dmda_log *log, u32 mb)
{
	int ret;

	mutex_lock(&log->cache.resize_lock);
	ret = resize_map(log, mb);
	mutex_unlock(&log->cache.resize_lock);
	return ret;
}

/*
 * Coming
 */

static struct dmda_log_page *init_page(struct dmda_log *log, struct dmda_log_page *page,
				       struct page *block, u64 index)
{
	memset(page, 0, sizeof(*page));
	page->map.block = page_address(block);
	page->map.index = index;
	page->map.nr_entries = dmda_super_map_entries(&log->super);
	page->map.dirty_sector = U64_MAX;
	page->nr_uses = -1;
	return page;
}

/*
 * @is_needed: it may be of what is set aside, which comes last; and it comes back first, when pages
 *	go
 * Return: NULL if there is no memory.
 */
static struct dmda_log_page *take_memory(struct dmda_log *log, u64 index, gfp_t gfp,
					 bool is_needed)
{
	struct dmda_log_page *page = kmem_cache_alloc(page_cache, gfp);
	struct page *block = alloc_page(gfp);

	if (!page && is_needed)
		page = mempool_alloc(&log->cache.structs, GFP_NOWAIT);
	if (!block && is_needed)
		block = mempool_alloc(&log->cache.blocks, GFP_NOWAIT);
	if (page && block)
		return init_page(log, page, block, index);
	mempool_free(block, &log->cache.blocks);
	mempool_free(page, &log->cache.structs);
	return NULL;
}

/* When what is replayed may not be written, it does not go: to wait for that would be forever. */
static bool is_waiting_futile(const struct dmda_log *log)
{
	return READ_ONCE(log->state) == DMDA_LOG_NEW && !log->may_write;
}

/*
 * Who waits for memory may be the worker that has to go on with long writes, which keep pages.
 * Return: NULL if there is no memory and no use in waiting.
 */
static struct dmda_log_page *new_page(struct dmda_log *log, u64 index)
{
	struct dmda_log_page *page;

	while (!(page = take_memory(log, index, TRY_GFP, true))) {
		dmda_log_map_begun(log);
		if (dmda_log_evict_squeeze(log))
			continue;
		if (is_waiting_futile(log))
			return NULL;
		schedule_timeout_uninterruptible(NO_MEMORY_JIFFIES);
	}
	return page;
}

static void begin_waiting(struct dmda_log_page *page, struct dmda_log_io *io)
{
	INIT_LIST_HEAD(&io->list);
	if (page->waiters)
		list_add_tail(&io->list, page->waiters);
	else
		page->waiters = &io->list;
}

static void end_waiting_locked(struct dmda_log *log, struct dmda_log_page *page)
{
	LIST_HEAD(waiters);

	lockdep_assert_held(&log->lock);

	if (!page->waiters)
		return;
	/* The list gets a head, before the first. */
	list_add_tail(&waiters, page->waiters);
	list_splice_tail(&waiters, &log->ios.ready);
	page->waiters = NULL;
	dmda_log_kick(log, &log->ios.work);
}

/* The page was read, or could not be. */
static void page_is_there(struct dmda_log *log, struct dmda_log_page *page, bool failed)
{
	unsigned long flags;

	spin_lock_irqsave(&log->lock, flags);
	if (!failed)
		dmda_map_page_show(&page->map);
	page->is_failed = failed;
	page->nr_pins--;
	end_waiting_locked(log, page);
	/* Under the lock: behind it, the last bio may have ended and the target be gone. */
	wake_up_all(&log->wait);
	spin_unlock_irqrestore(&log->lock, flags);
}

static u64 seq_slot_of(const struct dmda_log *log, const struct dmda_log_page *page)
{
	return log->tables.slots[DMDA_TABLE_MAP].newest[page->map.index];
}

static const char *check_page(const struct dmda_log *log, const struct dmda_log_page *page)
{
	struct dmda_block_id id = dmda_slots_newest_id(log->tables.slots, &log->super,
						       DMDA_TABLE_MAP, page->map.index);

	return dmda_block_check(page->map.block, &id) ?:
		dmda_map_check(page->map.block, &log->super);
}

static void page_was_read(struct bio *bio)
{
	struct dmda_log_page *page = bio->bi_private;
	struct dmda_log_group *group = container_of(bio, struct fetch, bio)->group;
	struct dmda_log *log = container_of(bio, struct fetch, bio)->log;
	const char *why = bio->bi_status ? "the device reports an error" :
					   check_page(log, page);

	bio_put(bio);
	if (why)
		dmda_log_fail(log, "reading a page of the map", why);
	page_is_there(log, page, why);
	if (group)
		dmda_log_group_put(group, why);
}

static struct bio *new_fetch(struct dmda_log *log, struct dmda_log_group *group)
{
	struct bio *bio = bio_alloc_bioset(log->bdev, 1, REQ_OP_READ | REQ_META, GFP_NOIO,
					   &log->cache.fetches);
	struct fetch *fetch = container_of(bio, struct fetch, bio);

	if (group)
		dmda_log_group_get(group);
	fetch->log = log;
	fetch->group = group;
	return bio;
}

/* The slot cannot change: only what is in memory is ever written. */
static void read_page(struct dmda_log *log, struct dmda_log_page *page,
		      struct dmda_log_group *group)
{
	u64 seq_slot = seq_slot_of(log, page);
	struct bio *bio;
	dpn_t dpn;

	if (!seq_slot) {
		trace_dmda_log_map_fetch(log->dmda->self_dev, page->map.index, 0);
		memset(page->map.block, 0, DMDA_BLOCK_BYTES);
		page_is_there(log, page, false);
		return;
	}
	dpn = dmda_super_slot(&log->super, DMDA_TABLE_MAP, page->map.index,
			      dmda_slot_of(seq_slot));
	trace_dmda_log_map_fetch(log->dmda->self_dev, page->map.index, from_dpn(dpn));
	page->map.seq = dmda_slot_seq(seq_slot);
	bio = new_fetch(log, group);
	bio->bi_iter.bi_sector = dmda_log_sector(log, dpn);
	bio->bi_end_io = page_was_read;
	bio->bi_private = page;
	__bio_add_page(bio, virt_to_page(page->map.block), DMDA_BLOCK_BYTES, 0);
	submit_bio(bio);
}

/* Return: the page, pinned; -EAGAIN: @io waits for it; -EIO: it cannot be read. */
static struct dmda_log_page *use_page_locked(struct dmda_log *log, struct dmda_log_page *page,
					     struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	if (page->is_failed)
		return ERR_PTR(-EIO);
	if (!page->map.is_shown && io) {
		begin_waiting(page, io);
		return ERR_PTR(-EAGAIN);
	}
	dmda_log_page_used(page);
	page->nr_pins++;
	return page;
}

/* Return: false if what was reserved for it is gone: another page came there, and went. */
static bool insert_locked(struct dmda_log *log, u64 index, struct dmda_log_page *page)
{
	lockdep_assert_held(&log->lock);

	if (xa_is_err(xa_store(&log->cache.pages, index, page, GFP_NOWAIT)))
		return false;
	dmda_log_evict_came_locked(log, page);
	/* Pinned until it is read. */
	page->nr_pins = 1;
	dmda_log_near_put_locked(log, page);
	WRITE_ONCE(log->cache.nr_pages, log->cache.nr_pages + 1);
	/* What was never written is not read either. */
	log->counters.nr_map_reads += !!seq_slot_of(log, page);
	return true;
}

/*
 * A node of the index has places for 64 pages, and there is no other way to get one: so it may
 * come from what the kernel keeps for those by whose work it gets memory back.
 */
static void reserve_place(struct dmda_log *log, u64 index)
{
	if (!xa_reserve_irq(&log->cache.pages, index, TRY_GFP))
		return;
	while (xa_reserve_irq(&log->cache.pages, index, TRY_GFP | __GFP_MEMALLOC))
		schedule_timeout_uninterruptible(NO_MEMORY_JIFFIES);
}

/*
 * @used: gets the page as use_page_locked() has it; NULL: it is not used yet
 * Return: the page that is in the map now: @fresh, unless somebody else was faster.
 */
static struct dmda_log_page *find_or_insert(struct dmda_log *log, struct dmda_log_page *fresh,
					    struct dmda_log_io *io, struct dmda_log_page **used)
{
	u64 index = fresh->map.index;
	struct dmda_log_page *page;

	do {
		reserve_place(log, index);
		spin_lock_irq(&log->lock);
		page = xa_load(&log->cache.pages, index);
		if (!page && insert_locked(log, index, fresh))
			page = fresh;
		if (page && used)
			*used = use_page_locked(log, page, io);
		spin_unlock_irq(&log->lock);
	} while (!page);
	return page;
}

static bool may_begin_locked(struct dmda_log *log, u64 index)
{
	lockdep_assert_held(&log->lock);

	return dmda_log_page_is_zero_locked(log, index) && dmda_log_evict_has_room_locked(log);
}

/* Return: whether @fresh is in the map now. */
static bool begin_page(struct dmda_log *log, struct dmda_log_page *fresh, gfp_t gfp)
{
	u64 index = fresh->map.index;
	bool is_in;

	if (xa_reserve_irq(&log->cache.pages, index, gfp))
		return false;
	spin_lock_irq(&log->lock);
	is_in = may_begin_locked(log, index) && insert_locked(log, index, fresh);
	spin_unlock_irq(&log->lock);
	/* Or the place would be kept until somebody needs that page. */
	if (!is_in)
		xa_cmpxchg_irq(&log->cache.pages, index, XA_ZERO_ENTRY, NULL, 0);
	return is_in;
}

void dmda_log_page_begin(struct dmda_log *log, u64 index, bool may_wait)
{
	gfp_t gfp = may_wait ? TRY_GFP : GFP_NOWAIT | __GFP_NOWARN;
	struct dmda_log_page *fresh;
	bool may_begin;

	spin_lock_irq(&log->lock);
	may_begin = may_begin_locked(log, index);
	spin_unlock_irq(&log->lock);
	if (!may_begin)
		return;
	fresh = take_memory(log, index, gfp, false);
	if (!fresh)
		return;
	if (begin_page(log, fresh, gfp))
		read_page(log, fresh, NULL);
	else
		free_memory(log, fresh);
}

static struct dmda_log_page *get_page_of_map(struct dmda_log *log, u64 index,
					     struct dmda_log_io *io)
{
	struct dmda_log_page *page, *used = NULL, *fresh;

	spin_lock_irq(&log->lock);
	page = load_locked(log, index);
	if (page)
		used = use_page_locked(log, page, io);
	spin_unlock_irq(&log->lock);
	if (page)
		return used;

	fresh = new_page(log, index);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	if (find_or_insert(log, fresh, io, &used) == fresh)
		read_page(log, fresh, NULL);
	else
		free_memory(log, fresh);
	return used;
}

struct dmda_log_page *dmda_log_page_get(struct dmda_log *log, u64 index,
					struct dmda_log_io *io)
{
	struct dmda_log_page *page;

	/* What it waited for may have gone again before it came back. This time it cannot. */
	if (io->has_waited)
		return dmda_log_page_wait(log, index);
	page = get_page_of_map(log, index, io);
	if (page != ERR_PTR(-EAGAIN))
		return page;
	io->has_waited = true;
	return NULL;
}

struct dmda_log_page *dmda_log_page_wait(struct dmda_log *log, u64 index)
{
	struct dmda_log_page *page = get_page_of_map(log, index, NULL);

	if (IS_ERR(page))
		return page;
	wait_event(log->wait, READ_ONCE(page->map.is_shown) || READ_ONCE(page->is_failed));
	if (!READ_ONCE(page->is_failed))
		return page;
	dmda_log_page_put(log, page);
	return ERR_PTR(-EIO);
}

/*
 * Together
 */

u32 dmda_log_wanted_max(const struct dmda_log *log)
{
	return min_t(u64, div_u64(READ_ONCE(log->cache.max_pages), WANTED_PART), DMDA_AHEAD_PAGES);
}

void dmda_log_wanted_init(struct dmda_log *log, struct dmda_log_wanted *wanted)
{
	wanted->max = dmda_log_wanted_max(log);
	wanted->nr = 0;
}

static bool is_in_memory(struct dmda_log *log, u64 index)
{
	bool is_there;

	rcu_read_lock();
	is_there = dmda_log_page_peek(log, index);
	rcu_read_unlock();
	return is_there;
}

bool dmda_log_wanted_add(struct dmda_log *log, struct dmda_log_wanted *wanted, u64 index)
{
	if ((wanted->nr && wanted->index[wanted->nr - 1] == index) || is_in_memory(log, index))
		return true;
	if (wanted->nr == wanted->max)
		return false;
	wanted->index[wanted->nr++] = index;
	return true;
}

/* Return: whether there is memory for more. It is not used until somebody needs it. */
static bool read_ahead(struct dmda_log *log, u64 index, struct dmda_log_group *group)
{
	struct dmda_log_page *fresh;

	if (is_in_memory(log, index))
		return true;
	fresh = take_memory(log, index, TRY_GFP, false);
	if (!fresh)
		return false;
	if (find_or_insert(log, fresh, NULL, NULL) == fresh)
		read_page(log, fresh, group);
	else
		free_memory(log, fresh);
	return true;
}

void dmda_log_wanted_read(struct dmda_log *log, const struct dmda_log_wanted *wanted)
{
	struct dmda_log_group group;
	struct blk_plug plug;

	/* For one, nothing is gained. */
	if (wanted->nr < 2)
		return;
	if (!is_waiting_futile(log))
		dmda_log_evict_make_room(log, wanted->nr);
	dmda_log_group_begin(&group);
	blk_start_plug(&plug);
	for (u32 i = 0; i < wanted->nr; i++) {
		if (!read_ahead(log, wanted->index[i], &group))
			break;
	}
	blk_finish_plug(&plug);
	dmda_log_group_end(&group);
}

int dmda_log_pages_settle(struct dmda_log *log)
{
	int ret = dmda_log_writes_end(&log->cache.leaving);

	dmda_log_writes_begin(&log->cache.leaving, log);
	return ret;
}

/*
 * All of it
 */

int dmda_log_init_map(struct dmda_log *log, int nr_reserved)
{
	struct dmda_log_cache *cache = &log->cache;
	struct dmda_log_near *near;

	near = dmda_log_near_alloc(near_pages(log, cache->max_pages), GFP_KERNEL);
	RCU_INIT_POINTER(cache->near, near);
	if (!near)
		return -ENOMEM;
	return mempool_init_page_pool(&cache->blocks, nr_reserved, 0) ?:
		mempool_init_slab_pool(&cache->structs, nr_reserved, page_cache) ?:
		bioset_init(&cache->fetches, BIO_POOL_SIZE, offsetof(struct fetch, bio),
			    BIOSET_NEED_BVECS) ?:
		dmda_log_evict_init(log);
}

static void free_pages_of_map(struct dmda_log *log)
{
	struct dmda_log_page *page;
	unsigned long index;

	xa_for_each(&log->cache.pages, index, page)
		free_memory(log, page);
	log->cache.nr_pages = 0;
	xa_destroy(&log->cache.pages);
}

void dmda_log_exit_map(struct dmda_log *log)
{
	/* Before the pages go: the kernel may be asking for some. */
	dmda_log_evict_stop(log);
	free_pages_of_map(log);
	/* For pages that are on their way back to the reserves. */
	rcu_barrier();
	bioset_exit(&log->cache.fetches);
	mempool_exit(&log->cache.structs);
	mempool_exit(&log->cache.blocks);
	kvfree(rcu_access_pointer(log->cache.near));
	dmda_log_evict_exit(log);
}
