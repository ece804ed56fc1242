// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of the map in memory. They are read when something needs them, and evicted when
 * there are more than there should be; one that was changed is written before that. The
 * only place where it is known where a page is to be read from is dmda_log_tables.slots, which
 * learns of a write when it is done: until then the page stays.
 *
 * Which ones are evicted is S3-FIFO's choice, but that its main queue is a clock that goes round by
 * index: what was used gets as many more chances as it was used, up to DMDA_LOG_MAX_USES. The use
 * that it was read for is none.
 *
 * Nobody waits for a page that is written to be evicted, as long as there is room: some room is
 * made before it is needed.
 *
 * Who knows which pages he is going to need, as replay and cleaning do, has them read together.
 * Room for them is made before, so that they stay until then; but nothing is pinned for it, and a
 * page that has gone again is read once more.
 *
 * When the kernel has no memory, which it may hope to get by writing to this very device, a page
 * takes the place of another one, however few there are. All pages that are pinned then are let
 * go without the io worker's help, who may be the one that waits: who waits for a page has pinned
 * no other, unless it is the worker that waits. The few that are set aside are enough for
 * everybody to go on by and by.
 *
 * Who only wants to know where something lies takes neither lock nor pin (look-up.c). So the memory
 * of a page that goes is free only when all who may have found it before have looked: after a grace
 * period of RCU. What was set aside comes back then; who needs it waits for that.
 *
 * When the kernel asks for memory, pages go that the device has as they are, down to a part of the
 * cache that cleaning and writes need to get on at all. Nothing is written for that: who asks may
 * be the one that writes are waited for with.
 */
#include <linux/sched.h>
#include <linux/wait.h>

#include "../compat.h"
#include "group.h"
#include "log.h"
#include "near.h"
#include "trace.h"

/* Of the cache, at most this part is read together */
#define WANTED_PART	4U

/* Pages that are evicted together */
#define EVICT_AT_ONCE	32U

/* Of the cache, this part is being made free before somebody needs it; but no more than so many */
#define AHEAD_PART	32U
#define MAX_AHEAD	64U

#define MIN_MAP_PAGES		64U

/* Of the cache, this part stays when the kernel asks for memory */
#define STAYING_PART	16U

/* Pages that are looked at under one holding of the lock */
#define LOOK_AT_ONCE	256U

/* Pages whose memory may be on its way to be free: of the cache this part, or so many */
#define GONE_PART	8U
#define LEAST_GONE	1024U

/* Pages that go when there is no memory */
#define SQUEEZED_AT_ONCE	8U

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

static u64 nr_ahead(u64 max_pages)
{
	return min_t(u64, div_u64(max_pages, AHEAD_PART), MAX_AHEAD);
}

/* Pages of the map that are in memory at most; there are no more than the map has. */
static u64 near_pages(const struct dmda_log *log, u64 max_pages)
{
	return min(dmda_super_nr_pages(&log->super, DMDA_TABLE_MAP), max_pages);
}

/* Nothing is ever evicted if all pages have room. */
static u64 fifo_pages(const struct dmda_log *log, u64 max_pages)
{
	u64 nr_pages = dmda_super_nr_pages(&log->super, DMDA_TABLE_MAP);

	return nr_pages + nr_ahead(max_pages) > max_pages ? max_pages : 1;
}

static bool is_dirty(const struct dmda_log_page *page)
{
	return page->map.dirty_sector != U64_MAX;
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

/* The memory of pages that are gone counts as the cache's: there is no more of it than this. */
static void wait_for_gone(struct dmda_log *log)
{
	u64 most = max_t(u64, div_u64(READ_ONCE(log->cache.max_pages), GONE_PART), LEAST_GONE);

	if (atomic_read(&log->cache.nr_gone) > most)
		rcu_barrier();
}

/*
 * Eviction
 */

/* The page at the hand, which moves on; round and round. */
static struct dmda_log_page *next_page_locked(struct dmda_log *log)
{
	struct dmda_log_cache *cache = &log->cache;
	struct dmda_log_page *page = xa_find(&cache->pages, &cache->hand, ULONG_MAX, XA_PRESENT);

	lockdep_assert_held(&log->lock);

	if (!page) {
		cache->hand = 0;
		page = xa_find(&cache->pages, &cache->hand, ULONG_MAX, XA_PRESENT);
	}
	if (page)
		cache->hand = page->map.index + 1;
	return page;
}

/* A page that was used has one chance less. Return: whether it had none any more. */
static bool has_no_chance(struct dmda_log_page *page)
{
	s8 nr_uses = READ_ONCE(page->nr_uses);

	if (page->nr_pins || page->is_new)
		return false;
	if (nr_uses <= 0)
		return true;
	WRITE_ONCE(page->nr_uses, nr_uses - 1);
	return false;
}

/* A page has left the small queue: from now on it is like the others. Return: it. */
static struct dmda_log_page *is_new_no_more_locked(struct dmda_log *log, u64 index)
{
	struct dmda_log_page *page = xa_load(&log->cache.pages, index);

	lockdep_assert_held(&log->lock);

	page->is_new = false;
	return page;
}

/* What came lately has one chance, and then is like the others. Return: it, if it had none. */
static struct dmda_log_page *take_new_locked(struct dmda_log *log, u64 index)
{
	struct dmda_log_page *page = is_new_no_more_locked(log, index);

	lockdep_assert_held(&log->lock);

	if (page->nr_pins || READ_ONCE(page->nr_uses) > 0) {
		WRITE_ONCE(page->nr_uses, 0);
		return NULL;
	}
	dmda_s3fifo_gone(&log->cache.fifo, index);
	return page;
}

/* Looks at one page. Return: it, if nobody needs it. */
static struct dmda_log_page *take_next_locked(struct dmda_log *log, bool is_squeezing)
{
	u64 index = dmda_s3fifo_take(&log->cache.fifo, is_squeezing);
	struct dmda_log_page *page;

	lockdep_assert_held(&log->lock);

	if (index != U64_MAX)
		return take_new_locked(log, index);
	page = next_page_locked(log);
	return page && has_no_chance(page) ? page : NULL;
}

/*
 * When @nr_coming more are on their way. While a root is on its way no page can be written; nobody
 * waits for that before he must.
 */
static u64 nr_too_many_locked(const struct dmda_log *log, u32 nr_coming)
{
	const struct dmda_log_cache *cache = &log->cache;
	u64 nr_wanted = cache->max_pages - nr_ahead(cache->max_pages);
	u64 nr_staying = cache->nr_pages - cache->nr_leaving + nr_coming;

	lockdep_assert_held(&log->lock);

	if (log->tables.slots[DMDA_TABLE_MAP].pending && cache->nr_pages <= cache->max_pages)
		return 0;
	return nr_staying > nr_wanted ? nr_staying - nr_wanted : 0;
}

/**
 * struct victims - pages that are evicted together
 * @page: the pages
 * @nr: how many
 * @nr_clean: the first so many are out of the map; the others have to be written, and are pinned
 */
struct victims {
	struct dmda_log_page *page[EVICT_AT_ONCE];
	u32 nr;
	u32 nr_clean;
};

static void take_out_locked(struct dmda_log *log, struct dmda_log_page *page)
{
	lockdep_assert_held(&log->lock);

	dmda_map_page_hide(&page->map);
	dmda_log_near_drop_locked(log, page);
	xa_erase(&log->cache.pages, page->map.index);
	WRITE_ONCE(log->cache.nr_pages, log->cache.nr_pages - 1);
}

static void add_victim_locked(struct dmda_log *log, struct victims *victims,
			      struct dmda_log_page *page)
{
	lockdep_assert_held(&log->lock);

	if (is_dirty(page)) {
		page->is_leaving = true;
		WRITE_ONCE(page->nr_uses, 0);
		page->nr_pins++;
		WRITE_ONCE(log->cache.nr_leaving, log->cache.nr_leaving + 1);
		victims->page[victims->nr++] = page;
		return;
	}
	take_out_locked(log, page);
	victims->page[victims->nr++] = page;
	swap(victims->page[victims->nr_clean], victims->page[victims->nr - 1]);
	victims->nr_clean++;
}

/* In replay, too: it goes to a slot that neither the root nor the journal needs. */
static bool may_write_pages(const struct dmda_log *log)
{
	return log->state == DMDA_LOG_WRITE || (log->state == DMDA_LOG_NEW && log->may_write);
}

/* Looks at one page, and takes it if that is possible. */
static void find_victim_locked(struct dmda_log *log, struct victims *victims, bool is_squeezing)
{
	struct dmda_log_page *page = take_next_locked(log, is_squeezing);

	lockdep_assert_held(&log->lock);

	if (page && (!is_dirty(page) || may_write_pages(log)))
		add_victim_locked(log, victims, page);
}

/* Looks at some pages, not at all: irqs are off. Return: whether there are few enough. */
static bool find_victims(struct dmda_log *log, struct victims *victims, u32 nr_coming)
{
	bool is_enough;

	*victims = (struct victims){};
	spin_lock_irq(&log->lock);
	is_enough = !nr_too_many_locked(log, nr_coming);
	for (u32 i = 0; i < LOOK_AT_ONCE && victims->nr < EVICT_AT_ONCE; i++) {
		if (!nr_too_many_locked(log, nr_coming))
			break;
		find_victim_locked(log, victims, false);
	}
	spin_unlock_irq(&log->lock);
	return is_enough;
}

/* The same when there is no memory. */
static void find_any_victims(struct dmda_log *log, struct victims *victims)
{
	*victims = (struct victims){};
	spin_lock_irq(&log->lock);
	for (u32 i = 0; i < LOOK_AT_ONCE && victims->nr < SQUEEZED_AT_ONCE; i++)
		find_victim_locked(log, victims, true);
	spin_unlock_irq(&log->lock);
}

static void evict(struct dmda_log *log, const struct victims *victims)
{
	for (u32 i = 0; i < victims->nr_clean; i++)
		dmda_log_page_free(log, victims->page[i]);
	for (u32 i = victims->nr_clean; i < victims->nr; i++)
		dmda_log_write_map_page(&log->cache.leaving, victims->page[i]);
}

bool dmda_log_page_leaves_locked(struct dmda_log *log, struct dmda_log_page *page)
{
	lockdep_assert_held(&log->lock);

	page->is_leaving = false;
	WRITE_ONCE(log->cache.nr_leaving, log->cache.nr_leaving - 1);
	/* Somebody may have come for it while it was written. */
	if (page->nr_pins || READ_ONCE(page->nr_uses) > 0 || is_dirty(page))
		return false;
	take_out_locked(log, page);
	return true;
}

static bool is_small_enough(struct dmda_log *log)
{
	return READ_ONCE(log->cache.nr_pages) <= READ_ONCE(log->cache.max_pages) ||
		!READ_ONCE(log->cache.nr_leaving);
}

/* After so many times each page has been looked at once for each of its chances. */
static u64 most_looks(const struct dmda_log *log)
{
	u64 nr_rounds = div_u64(READ_ONCE(log->cache.nr_pages), LOOK_AT_ONCE) + 1;

	return (DMDA_LOG_MAX_USES + 2) * nr_rounds;
}

static void make_room(struct dmda_log *log, u32 nr_coming)
{
	u64 nr_looks = most_looks(log);
	struct victims victims;

	while (nr_looks && !find_victims(log, &victims, nr_coming)) {
		evict(log, &victims);
		nr_looks -= !victims.nr;
	}
}

void dmda_log_pages_shrink(struct dmda_log *log)
{
	make_room(log, 0);
	wait_event(log->wait, is_small_enough(log));
	wait_for_gone(log);
}

/* Pages that came lately are like the others from now on. Return: whether all are. */
static bool empty_fifo_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	for (u32 i = 0; i < LOOK_AT_ONCE; i++) {
		u64 index = dmda_s3fifo_take(&log->cache.fifo, true);

		if (index == U64_MAX)
			return true;
		is_new_no_more_locked(log, index);
	}
	return false;
}

/* Return: memory that is needed no more. */
static void *replace_fifo(struct dmda_log *log, u64 max_pages, void *memory)
{
	bool is_done;

	do {
		spin_lock_irq(&log->lock);
		is_done = empty_fifo_locked(log);
		if (is_done) {
			swap(log->cache.fifo_memory, memory);
			dmda_s3fifo_init(&log->cache.fifo, fifo_pages(log, max_pages),
					 log->cache.fifo_memory);
			WRITE_ONCE(log->cache.max_pages, max_pages);
		}
		spin_unlock_irq(&log->lock);
	} while (!is_done);
	return memory;
}

int dmda_log_resize_map(struct dmda_log *log, u32 mb)
{
	u64 max_pages = dmda_log_map_pages(mb);
	void *memory = kvzalloc(dmda_s3fifo_bytes(fifo_pages(log, max_pages)), GFP_NOIO);
	struct dmda_log_near *near = dmda_log_near_alloc(near_pages(log, max_pages), GFP_NOIO);

	if (!memory || !near) {
		kvfree(near);
		kvfree(memory);
		return -ENOMEM;
	}
	kvfree(replace_fifo(log, max_pages, memory));
	dmda_log_near_replace(log, near);
	WRITE_ONCE(log->dmda->config.map_cache_mb, mb);
	dmda_log_pages_shrink(log);
	return 0;
}

/* There is no memory, and a page is needed. Return: whether others have gone. */
static bool squeeze(struct dmda_log *log)
{
	u64 nr_looks = most_looks(log);
	struct victims victims = {};

	while (nr_looks-- && !victims.nr)
		find_any_victims(log, &victims);
	evict(log, &victims);
	wait_event(log->wait, !READ_ONCE(log->cache.nr_leaving));
	if (victims.nr)
		rcu_barrier();
	return victims.nr;
}

/*
 * The kernel asks for memory
 */

/* Pages that could go if all were as the device has them; how many are not, nobody counts. */
static u64 nr_to_give_back(const struct dmda_log *log)
{
	const struct dmda_log_cache *cache = &log->cache;
	u64 nr_staying = max_t(u64, div_u64(READ_ONCE(cache->max_pages), STAYING_PART),
			       MIN_MAP_PAGES);
	u64 nr_pages = READ_ONCE(cache->nr_pages);

	return nr_pages > nr_staying ? nr_pages - nr_staying : 0;
}

static unsigned long count_pages(struct shrinker *shrinker, struct shrink_control *control)
{
	return nr_to_give_back(dmda_shrinker_owner(shrinker)) ?: SHRINK_EMPTY;
}

/*
 * Looks at some pages, first at those that came lately, and takes what nobody needs and the device
 * has. Return: looks.
 */
static u32 find_clean_victims(struct dmda_log *log, struct victims *victims, u32 nr_most)
{
	u32 i;

	*victims = (struct victims){};
	spin_lock_irq(&log->lock);
	for (i = 0; i < nr_most && victims->nr < EVICT_AT_ONCE; i++) {
		struct dmda_log_page *page;

		if (!nr_to_give_back(log))
			break;
		page = take_next_locked(log, true);
		if (page && !is_dirty(page))
			add_victim_locked(log, victims, page);
	}
	log->counters.nr_map_given_back += victims->nr;
	spin_unlock_irq(&log->lock);
	return i;
}

static unsigned long give_back(struct shrinker *shrinker, struct shrink_control *control)
{
	struct dmda_log *log = dmda_shrinker_owner(shrinker);
	unsigned long nr_looks = 0, nr_given = 0;
	struct victims victims;
	u32 nr;

	do {
		nr = min_t(unsigned long, control->nr_to_scan - nr_looks, LOOK_AT_ONCE);
		nr = find_clean_victims(log, &victims, nr);
		evict(log, &victims);
		nr_looks += nr;
		nr_given += victims.nr;
	} while (nr);
	control->nr_scanned = nr_looks;
	return nr_looks ? nr_given : SHRINK_STOP;
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
static struct dmda_log_page *take_memory(struct dmda_log *log, u64 index, bool is_needed)
{
	struct dmda_log_page *page = kmem_cache_alloc(page_cache, TRY_GFP);
	struct page *block = alloc_page(TRY_GFP);

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

/* Return: NULL if there is no memory and no use in waiting. */
static struct dmda_log_page *new_page(struct dmda_log *log, u64 index)
{
	struct dmda_log_page *page;

	while (!(page = take_memory(log, index, true))) {
		if (squeeze(log))
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
	u64 pushed;

	lockdep_assert_held(&log->lock);

	if (xa_is_err(xa_store(&log->cache.pages, index, page, GFP_NOWAIT)))
		return false;
	page->is_new = dmda_s3fifo_put(&log->cache.fifo, index, &pushed);
	if (pushed != U64_MAX)
		is_new_no_more_locked(log, pushed);
	/* Pinned until it is read. */
	page->nr_pins = 1;
	dmda_log_near_put_locked(log, page);
	WRITE_ONCE(log->cache.nr_pages, log->cache.nr_pages + 1);
	log->counters.nr_map_reads++;
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
	fresh = take_memory(log, index, false);
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
		make_room(log, wanted->nr);
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
	u64 nr_pages = fifo_pages(log, cache->max_pages);
	struct dmda_log_near *near;
	int ret;

	near = dmda_log_near_alloc(near_pages(log, cache->max_pages), GFP_KERNEL);
	RCU_INIT_POINTER(cache->near, near);
	cache->fifo_memory = kvzalloc(dmda_s3fifo_bytes(nr_pages), GFP_KERNEL);
	if (!near || !cache->fifo_memory)
		return -ENOMEM;
	dmda_s3fifo_init(&cache->fifo, nr_pages, cache->fifo_memory);
	ret = mempool_init_page_pool(&cache->blocks, nr_reserved, 0) ?:
		mempool_init_slab_pool(&cache->structs, nr_reserved, page_cache) ?:
		bioset_init(&cache->fetches, BIO_POOL_SIZE, offsetof(struct fetch, bio),
			    BIOSET_NEED_BVECS);
	if (ret)
		return ret;
	cache->shrinker = dmda_shrinker_create(count_pages, give_back, log);
	return cache->shrinker ? 0 : -ENOMEM;
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
	dmda_shrinker_destroy(log->cache.shrinker);
	free_pages_of_map(log);
	/* For pages that are on their way back to the reserves. */
	rcu_barrier();
	bioset_exit(&log->cache.fetches);
	mempool_exit(&log->cache.structs);
	mempool_exit(&log->cache.blocks);
	kvfree(rcu_access_pointer(log->cache.near));
	kvfree(log->cache.fifo_memory);
}
