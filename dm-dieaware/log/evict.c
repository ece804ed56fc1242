// SPDX-License-Identifier: GPL-2.0-only
/*
 * Eviction of pages of the map: those that are needed least leave the cache when there are more
 * than there should be. One that was changed is written before that.
 *
 * Which ones are evicted is S3-FIFO's choice, but that its main queue is a clock that goes round by
 * index: what was used gets as many more chances as it was used, up to DMDA_LOG_MAX_USES. The use
 * that it was read for is none.
 *
 * Nobody waits for a page that is written to be evicted, as long as there is room: some room is
 * made before it is needed.
 *
 * When the kernel has no memory, which it may hope to get by writing to this very device, a page
 * takes the place of another one, however few there are. All pages that are pinned then are let
 * go without the io worker's help, who may be the one that waits: who waits for a page has pinned
 * no other, unless it is the worker that waits; long writes, which are the worker's to go on
 * with, it goes on with while it waits; and writes that wait for room in the journal's batch get
 * it by workers of another queue, for which the kernel has a thread even when it has one for all
 * of the io worker's. The few that are set aside are enough for everybody to go on by and by.
 *
 * When the kernel asks for memory, pages go that the device has as they are, down to a part of the
 * cache that cleaning and writes need to get on at all. Nothing is written for that: who asks may
 * be the one that writes are waited for with.
 */
#include <linux/wait.h>

#include "../compat.h"
#include "evict.h"
#include "log.h"
#include "near.h"

/* Pages that are evicted together */
#define EVICT_AT_ONCE	32U

/* Of the cache, this part is being made free before somebody needs it; but no more than so many */
#define AHEAD_PART	32U
#define MAX_AHEAD	64U

/* Of the cache, this part stays when the kernel asks for memory */
#define STAYING_PART	16U

/* Pages that are looked at before those go that were found */
#define LOOK_AT_ONCE	256U

/*
 * Pages that are looked at under one holding of the lock. Where few of a large map are in memory,
 * the clock's way to the next takes thousands of instructions.
 */
#define LOOK_LOCKED	2U

/* Pages that are made like the others under one holding of the lock; that takes no such way. */
#define FORGET_LOCKED	64U

/* Pages whose memory may be on its way to be free: of the cache this part, or so many */
#define GONE_PART	8U
#define LEAST_GONE	1024U

/* Pages that go when there is no memory */
#define SQUEEZED_AT_ONCE	8U

static u64 nr_ahead(u64 max_pages)
{
	return min_t(u64, div_u64(max_pages, AHEAD_PART), MAX_AHEAD);
}

/* Nothing is ever evicted if all pages have room. */
static u64 fifo_pages(const struct dmda_log *log, u64 max_pages)
{
	u64 nr_pages = dmda_super_nr_pages(&log->super, DMDA_TABLE_MAP);

	return nr_pages + nr_ahead(max_pages) > max_pages ? max_pages : 1;
}

/* The memory of pages that are gone counts as the cache's: there is no more of it than this. */
static void wait_for_gone(struct dmda_log *log)
{
	u64 most = max_t(u64, div_u64(READ_ONCE(log->cache.max_pages), GONE_PART), LEAST_GONE);

	if (atomic_read(&log->cache.nr_gone) > most)
		rcu_barrier();
}

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

void dmda_log_evict_came_locked(struct dmda_log *log, struct dmda_log_page *page)
{
	u64 pushed;

	lockdep_assert_held(&log->lock);

	page->is_new = dmda_s3fifo_put(&log->cache.fifo, page->map.index, &pushed);
	if (pushed != U64_MAX)
		is_new_no_more_locked(log, pushed);
}

/*
 * What came lately has one chance, and then is like the others.
 * Return: it, if it had none, and is going to leave.
 */
static struct dmda_log_page *take_new_locked(struct dmda_log *log, u64 index, bool may_write)
{
	struct dmda_log_page *page = is_new_no_more_locked(log, index);

	lockdep_assert_held(&log->lock);

	if (page->nr_pins || READ_ONCE(page->nr_uses) > 0 ||
	    (dmda_log_page_is_dirty(page) && !may_write)) {
		WRITE_ONCE(page->nr_uses, 0);
		return NULL;
	}
	dmda_s3fifo_gone(&log->cache.fifo, index);
	return page;
}

/* Looks at one page. Return: it, if nobody needs it, and it need not be written, or may be. */
static struct dmda_log_page *take_next_locked(struct dmda_log *log, bool is_squeezing,
					      bool may_write)
{
	u64 index = dmda_s3fifo_take(&log->cache.fifo, is_squeezing);
	struct dmda_log_page *page;

	lockdep_assert_held(&log->lock);

	if (index != U64_MAX)
		return take_new_locked(log, index, may_write);
	page = next_page_locked(log);
	return page && has_no_chance(page) && (may_write || !dmda_log_page_is_dirty(page)) ?
		page : NULL;
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

static void add_victim_locked(struct dmda_log *log, struct victims *victims,
			      struct dmda_log_page *page)
{
	lockdep_assert_held(&log->lock);

	if (dmda_log_page_is_dirty(page)) {
		page->is_leaving = true;
		WRITE_ONCE(page->nr_uses, 0);
		page->nr_pins++;
		WRITE_ONCE(log->cache.nr_leaving, log->cache.nr_leaving + 1);
		victims->page[victims->nr++] = page;
		return;
	}
	dmda_log_page_take_out_locked(log, page);
	victims->page[victims->nr++] = page;
	swap(victims->page[victims->nr_clean], victims->page[victims->nr - 1]);
	victims->nr_clean++;
}

/* In replay, too: it goes to a slot that neither the root nor the journal needs. */
static bool may_write_pages(const struct dmda_log *log)
{
	enum dmda_log_state state = READ_ONCE(log->state);

	return state == DMDA_LOG_WRITE || (state == DMDA_LOG_NEW && log->may_write);
}

/* Looks at one page, and takes it if that is possible. */
static void find_victim_locked(struct dmda_log *log, struct victims *victims, bool is_squeezing)
{
	struct dmda_log_page *page = take_next_locked(log, is_squeezing, may_write_pages(log));

	lockdep_assert_held(&log->lock);

	if (page)
		add_victim_locked(log, victims, page);
}

/* Looks at some pages, not at many: irqs are off. Return: whether there are few enough. */
static bool look_at_some(struct dmda_log *log, struct victims *victims, u32 nr_coming)
{
	bool is_enough = false;

	spin_lock_irq(&log->lock);
	for (u32 i = 0; i < LOOK_LOCKED && victims->nr < EVICT_AT_ONCE && !is_enough; i++) {
		is_enough = !nr_too_many_locked(log, nr_coming);
		if (!is_enough)
			find_victim_locked(log, victims, false);
	}
	spin_unlock_irq(&log->lock);
	return is_enough;
}

/* Return: whether there are few enough without them. */
static bool find_victims(struct dmda_log *log, struct victims *victims, u32 nr_coming)
{
	bool is_enough = false;

	*victims = (struct victims){};
	for (u32 i = 0; i < LOOK_AT_ONCE && victims->nr < EVICT_AT_ONCE && !is_enough;
	     i += LOOK_LOCKED)
		is_enough = look_at_some(log, victims, nr_coming);
	return is_enough && !victims->nr;
}

/* The same when there is no memory. */
static void look_at_any(struct dmda_log *log, struct victims *victims)
{
	spin_lock_irq(&log->lock);
	for (u32 i = 0; i < LOOK_LOCKED && victims->nr < SQUEEZED_AT_ONCE; i++)
		find_victim_locked(log, victims, true);
	spin_unlock_irq(&log->lock);
}

static void find_any_victims(struct dmda_log *log, struct victims *victims)
{
	*victims = (struct victims){};
	for (u32 i = 0; i < LOOK_AT_ONCE && victims->nr < SQUEEZED_AT_ONCE; i += LOOK_LOCKED)
		look_at_any(log, victims);
}

static void evict(struct dmda_log *log, const struct victims *victims)
{
	struct blk_plug plug;

	for (u32 i = 0; i < victims->nr_clean; i++)
		dmda_log_page_free(log, victims->page[i]);
	blk_start_plug(&plug);
	for (u32 i = victims->nr_clean; i < victims->nr; i++)
		dmda_log_write_map_page(&log->cache.leaving, victims->page[i]);
	blk_finish_plug(&plug);
}

static bool is_small_enough(struct dmda_log *log)
{
	return READ_ONCE(log->cache.nr_pages) <= READ_ONCE(log->cache.max_pages) ||
		!READ_ONCE(log->cache.nr_leaving);
}

bool dmda_log_evict_has_room_locked(const struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	return log->cache.nr_pages < log->cache.max_pages;
}

/* After so many times each page has been looked at once for each of its chances. */
static u64 most_looks(const struct dmda_log *log)
{
	u64 nr_rounds = div_u64(READ_ONCE(log->cache.nr_pages), LOOK_AT_ONCE) + 1;

	return (DMDA_LOG_MAX_USES + 2) * nr_rounds;
}

/*
 * Where no page may be written, all that are there may be pages that stay, and each that comes
 * would have all of them looked at in vain. A part of them is enough then: the hand goes on from
 * there the next time, and comes by whatever can go.
 */
void dmda_log_evict_make_room(struct dmda_log *log, u32 nr_coming)
{
	u64 nr_looks = may_write_pages(log) ? most_looks(log) : 1;
	struct victims victims;

	while (nr_looks && !find_victims(log, &victims, nr_coming)) {
		evict(log, &victims);
		nr_looks -= !victims.nr;
		cond_resched();
	}
}

void dmda_log_pages_shrink(struct dmda_log *log)
{
	dmda_log_evict_make_room(log, 0);
	wait_event(log->wait, is_small_enough(log));
	wait_for_gone(log);
}

/* Pages that came lately are like the others from now on. Return: whether all are. */
static bool empty_fifo_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	for (u32 i = 0; i < FORGET_LOCKED; i++) {
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

int dmda_log_evict_resize(struct dmda_log *log, u64 max_pages)
{
	void *memory = kvzalloc(dmda_s3fifo_bytes(fifo_pages(log, max_pages)), GFP_NOIO);

	if (!memory)
		return -ENOMEM;
	kvfree(replace_fifo(log, max_pages, memory));
	return 0;
}

bool dmda_log_evict_squeeze(struct dmda_log *log)
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
			       dmda_log_map_pages(0));
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
		page = take_next_locked(log, true, false);
		if (page)
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
		nr = min_t(unsigned long, control->nr_to_scan - nr_looks, LOOK_LOCKED);
		nr = find_clean_victims(log, &victims, nr);
		evict(log, &victims);
		nr_looks += nr;
		nr_given += victims.nr;
	} while (nr);
	control->nr_scanned = nr_looks;
	return nr_looks ? nr_given : SHRINK_STOP;
}

int dmda_log_evict_init(struct dmda_log *log)
{
	struct dmda_log_cache *cache = &log->cache;
	u64 nr_pages = fifo_pages(log, cache->max_pages);

	cache->fifo_memory = kvzalloc(dmda_s3fifo_bytes(nr_pages), GFP_KERNEL);
	if (!cache->fifo_memory)
		return -ENOMEM;
	dmda_s3fifo_init(&cache->fifo, nr_pages, cache->fifo_memory);
	cache->shrinker = dmda_shrinker_create(count_pages, give_back, log);
	return cache->shrinker ? 0 : -ENOMEM;
}

void dmda_log_evict_stop(struct dmda_log *log)
{
	dmda_shrinker_destroy(log->cache.shrinker);
}

void dmda_log_evict_exit(struct dmda_log *log)
{
	kvfree(log->cache.fifo_memory);
}
