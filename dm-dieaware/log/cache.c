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
 */
#include <linux/sched.h>
#include <linux/wait.h>

#include "apply.h"
#include "evict.h"
#include "group.h"
#include "log.h"
#include "near.h"
#include "trace.h"

/* Of the cache, at most this part is read together */
#define WANTED_PART	4U

/*
 * What is read at once: so many pages, those that lie between included, of which there may be so
 * many at a place. A page of the map has two slots: between one and the next there lie up to two.
 */
#define MOST_AT_ONCE	32U
#define MOST_BETWEEN	2U

/* There is no memory, and no page can go just now. */
#define NO_MEMORY_JIFFIES	(HZ / 50)

/* Without insisting: there are other ways. */
#define TRY_GFP			(GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN)

/**
 * struct fetch - a read of pages of the map, which have no room to say whose they are
 * @log: the device
 * @group: reads that it is waited for with, or NULL
 * @nr: number of @pages
 * @pages: pages that are read at once, from struct together; or NULL: it is one
 * @bio: the read
 */
struct fetch {
	struct dmda_log *log;
	struct dmda_log_group *group;
	u32 nr;
	struct dmda_log_page **pages;
	struct bio bio;
};

/**
 * struct together - pages of the map that are read together
 * @log: the device
 * @group: the reads
 * @nr: number of @page
 * @page: the pages, as they are wanted; NULL: it was read, or is another read's
 * @dpn: where each of them lies
 * @nr_spares: number of @spare
 * @spare: memory for what lies between two of them, and nobody wants
 */
struct together {
	struct dmda_log *log;
	struct dmda_log_group group;
	u32 nr;
	struct dmda_log_page *page[DMDA_AHEAD_PAGES];
	dpn_t dpn[DMDA_AHEAD_PAGES];
	u32 nr_spares;
	struct page *spare[DMDA_AHEAD_PAGES * MOST_BETWEEN];
};

/* Pages of the map that are in memory at most; there are no more than the map has. */
static u64 near_pages(const struct dmda_log *log, u64 max_pages)
{
	return min(dmda_super_nr_pages(&log->super, DMDA_TABLE_MAP), max_pages);
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

	while (!(page = dmda_log_page_alloc(log, index, TRY_GFP, true))) {
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

/* Return: whether it is what it should be. */
static bool page_has_come(struct dmda_log *log, struct dmda_log_page *page, blk_status_t status)
{
	const char *why = status ? "the device reports an error" : check_page(log, page);

	if (why)
		dmda_log_fail(log, "reading a page of the map", why);
	page_is_there(log, page, why);
	return !why;
}

static void page_was_read(struct bio *bio)
{
	struct dmda_log_group *group = container_of(bio, struct fetch, bio)->group;
	struct dmda_log *log = container_of(bio, struct fetch, bio)->log;
	struct dmda_log_page *page = bio->bi_private;
	blk_status_t status = bio->bi_status;
	bool is_good;

	bio_put(bio);
	is_good = page_has_come(log, page, status);
	if (group)
		dmda_log_group_put(group, !is_good);
}

static struct bio *new_fetch(struct dmda_log *log, struct dmda_log_group *group, u32 nr_vecs,
			     dpn_t dpn)
{
	struct bio *bio = bio_alloc_bioset(log->bdev, nr_vecs, REQ_OP_READ | REQ_META, GFP_NOIO,
					   &log->cache.fetches);
	struct fetch *fetch = container_of(bio, struct fetch, bio);

	if (group)
		dmda_log_group_get(group);
	fetch->log = log;
	fetch->group = group;
	fetch->pages = NULL;
	bio->bi_iter.bi_sector = dmda_log_sector(log, dpn);
	return bio;
}

static void add_to_fetch(struct bio *bio, struct page *page)
{
	__bio_add_page(bio, page, DMDA_BLOCK_BYTES, 0);
}

/* What was never written need not be read. Return: whether it was not. */
static bool is_blank(struct dmda_log *log, struct dmda_log_page *page)
{
	if (seq_slot_of(log, page))
		return false;
	trace_dmda_log_map_fetch(log->dmda->self_dev, page->map.index, 0);
	memset(page->map.block, 0, DMDA_BLOCK_BYTES);
	page_is_there(log, page, false);
	return true;
}

/* The slot cannot change: only what is in memory is ever written. */
static dpn_t place_of(const struct dmda_log *log, const struct dmda_log_page *page)
{
	return dmda_super_slot(&log->super, DMDA_TABLE_MAP, page->map.index,
			       dmda_slot_of(seq_slot_of(log, page)));
}

static void begin_fetch(struct dmda_log *log, struct dmda_log_page *page, dpn_t dpn)
{
	trace_dmda_log_map_fetch(log->dmda->self_dev, page->map.index, from_dpn(dpn));
	page->map.seq = dmda_slot_seq(seq_slot_of(log, page));
}

static void read_page(struct dmda_log *log, struct dmda_log_page *page,
		      struct dmda_log_group *group)
{
	struct bio *bio;
	dpn_t dpn;

	if (is_blank(log, page))
		return;
	dpn = place_of(log, page);
	begin_fetch(log, page, dpn);
	bio = new_fetch(log, group, 1, dpn);
	bio->bi_end_io = page_was_read;
	bio->bi_private = page;
	add_to_fetch(bio, virt_to_page(page->map.block));
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
 * @used: gets the page as use_page_locked() has it
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
		if (page)
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

static bool is_missing_locked(struct dmda_log *log, u64 index)
{
	lockdep_assert_held(&log->lock);

	return !xa_load(&log->cache.pages, index);
}

/* Does not wait. Return: whether @fresh is in the map now. */
static bool try_insert(struct dmda_log *log, struct dmda_log_page *fresh, gfp_t gfp,
		       bool (*may_locked)(struct dmda_log *log, u64 index))
{
	u64 index = fresh->map.index;
	bool is_in;

	if (xa_reserve_irq(&log->cache.pages, index, gfp))
		return false;
	spin_lock_irq(&log->lock);
	is_in = may_locked(log, index) && insert_locked(log, index, fresh);
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
	fresh = dmda_log_page_alloc(log, index, gfp, false);
	if (!fresh)
		return;
	if (try_insert(log, fresh, gfp, may_begin_locked))
		read_page(log, fresh, NULL);
	else
		dmda_log_page_free_unseen(log, fresh);
}

static struct dmda_log_page *get_page_of_map(struct dmda_log *log, u64 index,
					     struct dmda_log_io *io)
{
	struct dmda_log_page *page, *used = NULL, *fresh;

	spin_lock_irq(&log->lock);
	page = dmda_log_page_load_locked(log, index);
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
		dmda_log_page_free_unseen(log, fresh);
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

static void add_page(struct together *together, struct dmda_log_page *page)
{
	together->dpn[together->nr] = place_of(together->log, page);
	together->page[together->nr++] = page;
}

/*
 * It is not used until somebody needs it. Nothing is waited for: those that were taken before are
 * not being read yet, and who waits for them may be who could give memory back.
 * Return: whether there is memory for more.
 */
static bool read_ahead(struct together *together, u64 index)
{
	struct dmda_log *log = together->log;
	struct dmda_log_page *fresh = dmda_log_page_alloc(log, index, TRY_GFP, false);

	if (!fresh)
		return false;
	if (!try_insert(log, fresh, TRY_GFP, is_missing_locked)) {
		dmda_log_page_free_unseen(log, fresh);
		/* Unless somebody else was faster */
		return xa_load(&log->cache.pages, index);
	}
	if (!is_blank(log, fresh))
		add_page(together, fresh);
	return true;
}

/*
 * If one of them cannot be read, or what lies between them, who waits has each read alone. There
 * are devices that cannot read what was never written.
 */
static void pages_were_read(struct bio *bio)
{
	struct fetch *fetch = container_of(bio, struct fetch, bio);
	struct dmda_log_group *group = fetch->group;
	bool failed = bio->bi_status;

	for (u32 i = 0; i < fetch->nr && !failed; i++) {
		page_has_come(fetch->log, fetch->pages[i], BLK_STS_OK);
		fetch->pages[i] = NULL;
	}
	bio_put(bio);
	dmda_log_group_put(group, failed);
}

/*
 * Pages from number @first on that lie close to each other. Those between are read as well, for
 * each command that is saved takes longer than they do.
 * @nr_places: gets the number of pages that they take with these
 */
static u32 close_pages(const struct together *together, u32 first, u32 *nr_places)
{
	u64 begin = from_dpn(together->dpn[first]);
	u32 nr = 1;

	*nr_places = 1;
	while (first + nr < together->nr && !READ_ONCE(together->log->cache.reads_alone)) {
		/* Of one that lies before it is more than any number of pages. */
		u64 nr_before = from_dpn(together->dpn[first + nr]) - begin;

		if (nr_before - *nr_places > MOST_BETWEEN || nr_before >= MOST_AT_ONCE)
			break;
		*nr_places = nr_before + 1;
		nr++;
	}
	return nr;
}

static bool add_spares(struct together *together, struct bio *bio, u32 nr)
{
	while (nr--) {
		struct page *spare = dmda_log_spare_get(&together->log->spares, TRY_GFP);

		if (!spare)
			return false;
		together->spare[together->nr_spares++] = spare;
		add_to_fetch(bio, spare);
	}
	return true;
}

/* Return: whether there is memory for what lies between them. */
static bool add_wanted(struct together *together, struct bio *bio, u32 first, u32 nr)
{
	u64 begin = from_dpn(together->dpn[first]);

	for (u32 i = first; i < first + nr; i++) {
		struct dmda_log_page *page = together->page[i];
		dpn_t dpn = together->dpn[i];

		if (!add_spares(together, bio, from_dpn(dpn) - begin - bio->bi_vcnt))
			return false;
		begin_fetch(together->log, page, dpn);
		add_to_fetch(bio, virt_to_page(page->map.block));
	}
	return true;
}

/* Return: whether they are being read. */
static bool read_at_once(struct together *together, u32 first, u32 nr, u32 nr_places)
{
	struct bio *bio = new_fetch(together->log, &together->group, nr_places,
				    together->dpn[first]);
	struct fetch *fetch = container_of(bio, struct fetch, bio);

	fetch->pages = &together->page[first];
	fetch->nr = nr;
	bio->bi_end_io = pages_were_read;
	if (add_wanted(together, bio, first, nr)) {
		submit_bio(bio);
		return true;
	}
	bio_put(bio);
	dmda_log_group_put(&together->group, false);
	return false;
}

/* Each of them alone, if it was not read yet */
static void read_alone(struct together *together, u32 first, u32 nr)
{
	for (u32 i = first; i < first + nr; i++) {
		struct dmda_log_page *page = together->page[i];

		/* From then on it may go. */
		together->page[i] = NULL;
		if (page)
			read_page(together->log, page, &together->group);
	}
}

static void begin_reading(struct together *together)
{
	struct blk_plug plug;
	u32 nr;

	blk_start_plug(&plug);
	for (u32 i = 0; i < together->nr; i += nr) {
		u32 nr_places;

		nr = close_pages(together, i, &nr_places);
		if (nr == 1 || !read_at_once(together, i, nr, nr_places))
			read_alone(together, i, nr);
	}
	blk_finish_plug(&plug);
}

static void read_wanted(struct together *together, const struct dmda_log_wanted *wanted)
{
	for (u32 i = 0; i < wanted->nr; i++) {
		if (!read_ahead(together, wanted->index[i]))
			break;
	}
	dmda_log_group_begin(&together->group);
	begin_reading(together);
	if (!dmda_log_group_end(&together->group)) {
		dmda_log_group_begin(&together->group);
		read_alone(together, 0, together->nr);
		/* So it was what lies between them. */
		if (dmda_log_group_end(&together->group) && together->nr_spares)
			WRITE_ONCE(together->log->cache.reads_alone, true);
	}
	while (together->nr_spares)
		dmda_log_spare_put(&together->log->spares,
				   together->spare[--together->nr_spares]);
}

void dmda_log_wanted_read(struct dmda_log *log, const struct dmda_log_wanted *wanted)
{
	struct together *together;

	/* For one, nothing is gained. */
	if (wanted->nr < 2)
		return;
	together = kzalloc(sizeof(*together), TRY_GFP);
	if (!together)
		return;
	together->log = log;
	if (!is_waiting_futile(log))
		dmda_log_evict_make_room(log, wanted->nr);
	read_wanted(together, wanted);
	kfree(together);
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
	return dmda_log_page_reserves_init(log, nr_reserved) ?:
		bioset_init(&cache->fetches, BIO_POOL_SIZE, offsetof(struct fetch, bio),
			    BIOSET_NEED_BVECS) ?:
		dmda_log_evict_init(log);
}

static void free_pages_of_map(struct dmda_log *log)
{
	struct dmda_log_page *page;
	unsigned long index;

	xa_for_each(&log->cache.pages, index, page)
		dmda_log_page_free_unseen(log, page);
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
	dmda_log_page_reserves_exit(log);
	kvfree(rcu_access_pointer(log->cache.near));
	dmda_log_evict_exit(log);
}
