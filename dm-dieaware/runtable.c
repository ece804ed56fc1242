// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shards, locks and memory around core/extents. See runtable.h.
 *
 * Memory: extents are allocated where a shard needs one, without sleeping and without
 * reclaim, and counted in one atomic for the whole table. A shard that gets none
 * recycles its own oldest extents, which core/extents does by itself. So that a
 * shard which comes late is not left with nothing, each may have MIN_EXTENTS
 * whatever the count says; the limit allows for that.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "core/extents.h"
#include "runtable.h"

#define SHARD_BITS	6
#define NR_SHARDS	((u32)BIT(SHARD_BITS))

/* Keys of one chunk lie in one shard: few look-ups cross, and files share the locks */
#define CHUNK_SHIFT	13
#define CHUNK_PAGES	((u32)BIT(CHUNK_SHIFT))

#define MIN_EXTENTS	8
#define MAX_SPARES	32
#define EMPTY_BATCH	256

struct shard {
	spinlock_t lock; /* of the map */
	struct dmda_extents map;
} ____cacheline_aligned_in_smp;

struct dmda_runtable {
	struct shard owners[NR_SHARDS];
	struct shard runs[NR_SHARDS];
	u32 max_allocated;
	atomic_t nr_allocated;
	struct shrinker *shrinker;
	/* Next shard to shrink; races are harmless */
	u32 shrink_next;
};

static struct kmem_cache *extent_cache;

static struct shard *owners_shard(struct dmda_runtable *table, u64 dpn)
{
	return &table->owners[hash_64(dpn >> CHUNK_SHIFT, SHARD_BITS)];
}

static struct shard *runs_shard(struct dmda_runtable *table, struct dmda_file file, u64 fpage)
{
	return &table->runs[hash_64(file.id + (fpage >> CHUNK_SHIFT), SHARD_BITS)];
}

static struct shard *nth_shard(struct dmda_runtable *table, u32 index)
{
	return index < NR_SHARDS ? &table->owners[index] : &table->runs[index - NR_SHARDS];
}

static u32 chunk_left(u64 key)
{
	return CHUNK_PAGES - (key & (CHUNK_PAGES - 1));
}

static void free_spares_locked(struct dmda_runtable *table, struct shard *shard, u32 keep)
{
	lockdep_assert_held(&shard->lock);

	while (shard->map.nr_spares > keep) {
		kmem_cache_free(extent_cache, dmda_extents_take(&shard->map));
		atomic_dec(&table->nr_allocated);
	}
}

/* Count one extent more, if the table or the shard may have it */
static bool reserve_locked(struct dmda_runtable *table, const struct shard *shard)
{
	bool has_few = shard->map.nr_extents + shard->map.nr_spares < MIN_EXTENTS;

	lockdep_assert_held(&shard->lock);

	if (!has_few && atomic_read(&table->nr_allocated) >= table->max_allocated)
		return false;
	if (atomic_inc_return(&table->nr_allocated) <= table->max_allocated || has_few)
		return true;
	atomic_dec(&table->nr_allocated);
	return false;
}

static void refill_locked(struct dmda_runtable *table, struct shard *shard, u32 nr_spares)
{
	struct dmda_extent *extent;

	lockdep_assert_held(&shard->lock);

	while (shard->map.nr_spares < nr_spares && reserve_locked(table, shard)) {
		extent = kmem_cache_alloc(extent_cache, GFP_NOWAIT | __GFP_NOWARN);
		if (!extent) {
			atomic_dec(&table->nr_allocated);
			return;
		}
		dmda_extents_give(&shard->map, extent);
	}
}

/* What was forgotten is for other shards as well: nobody may come back to this one */
static void trim_locked(struct dmda_runtable *table, struct shard *shard)
{
	lockdep_assert_held(&shard->lock);

	if (unlikely(shard->map.nr_spares > MAX_SPARES))
		free_spares_locked(table, shard, MAX_SPARES);
}

void dmda_runtable_owner(struct dmda_runtable *table, dpn_t dpn, struct dmda_owner *owner)
{
	struct shard *shard = owners_shard(table, from_dpn(dpn));
	struct dmda_extent_hit hit = { .len = 0 };

	spin_lock(&shard->lock);
	dmda_extents_find(&shard->map, 0, from_dpn(dpn), &hit);
	spin_unlock(&shard->lock);

	owner->nr_pages = hit.len;
	owner->file.id = hit.val_hi;
	owner->fpage = hit.val_lo;
}

dpn_t dmda_runtable_where(struct dmda_runtable *table, struct dmda_file file, u64 fpage)
{
	struct shard *shard = runs_shard(table, file, fpage);
	struct dmda_extent_hit hit;
	bool found;

	spin_lock(&shard->lock);
	found = dmda_extents_find(&shard->map, file.id, fpage, &hit);
	spin_unlock(&shard->lock);
	return found ? to_dpn(hit.val_lo) : DPN_NONE;
}

u32 dmda_runtable_nr_other(struct dmda_runtable *table, const struct dmda_run *run)
{
	u32 done = 0;

	while (done < run->nr_pages) {
		struct dmda_extent part = {
			.key_lo = from_dpn(run->dpn) + done,
			.val_hi = run->file.id,
			.val_lo = run->fpage + done,
		};
		struct shard *shard = owners_shard(table, part.key_lo);
		u32 nr_other;

		part.len = min(run->nr_pages - done, chunk_left(part.key_lo));
		spin_lock(&shard->lock);
		nr_other = dmda_extents_nr_other(&shard->map, &part);
		spin_unlock(&shard->lock);
		done += nr_other;
		if (nr_other < part.len)
			break;
	}
	return done;
}

static void set_in_shard(struct dmda_runtable *table, struct shard *shard,
			 const struct dmda_extent *extent)
{
	spin_lock(&shard->lock);
	refill_locked(table, shard, DMDA_EXTENTS_SET_SPARES);
	dmda_extents_set(&shard->map, extent);
	trim_locked(table, shard);
	spin_unlock(&shard->lock);
}

void dmda_runtable_set(struct dmda_runtable *table, const struct dmda_run *run)
{
	u32 done, len;

	for (done = 0; done < run->nr_pages; done += len) {
		struct dmda_extent owner = {
			.key_lo = from_dpn(run->dpn) + done,
			.val_hi = run->file.id,
			.val_lo = run->fpage + done,
		};

		len = min(run->nr_pages - done, chunk_left(owner.key_lo));
		owner.len = len;
		set_in_shard(table, owners_shard(table, owner.key_lo), &owner);
	}
	for (done = 0; done < run->nr_pages; done += len) {
		struct dmda_extent where = {
			.key_hi = run->file.id,
			.key_lo = run->fpage + done,
			.val_lo = from_dpn(run->dpn) + done,
		};

		len = min(run->nr_pages - done, chunk_left(where.key_lo));
		where.len = len;
		set_in_shard(table, runs_shard(table, run->file, where.key_lo), &where);
	}
}

static void clear_in_shard(struct dmda_runtable *table, struct shard *shard, u64 dpn, u64 nr_pages)
{
	bool empty;

	/* Without the lock: what is being set right now may as well come after this */
	if (!READ_ONCE(shard->map.nr_extents))
		return;
	do {
		spin_lock(&shard->lock);
		refill_locked(table, shard, DMDA_EXTENTS_CLEAR_SPARES);
		empty = dmda_extents_clear(&shard->map, 0, dpn, nr_pages);
		trim_locked(table, shard);
		spin_unlock(&shard->lock);
	} while (!empty);
}

void dmda_runtable_forget(struct dmda_runtable *table, dpn_t first, u64 nr_pages)
{
	u64 dpn = from_dpn(first), end = dpn + nr_pages, len;
	u32 i;

	/* A range of more chunks than shards: every shard is asked once for all of it */
	if (nr_pages >= (u64)NR_SHARDS * CHUNK_PAGES) {
		for (i = 0; i < NR_SHARDS; i++)
			clear_in_shard(table, &table->owners[i], dpn, nr_pages);
		return;
	}
	for (; dpn < end; dpn += len) {
		len = min_t(u64, end - dpn, chunk_left(dpn));
		clear_in_shard(table, owners_shard(table, dpn), dpn, len);
	}
}

/* Free extents of a shard, the oldest first; returns how many */
static u32 shrink_shard(struct dmda_runtable *table, struct shard *shard, u32 nr)
{
	u32 nr_freed;

	spin_lock(&shard->lock);
	dmda_extents_evict(&shard->map, nr);
	nr_freed = shard->map.nr_spares;
	free_spares_locked(table, shard, 0);
	spin_unlock(&shard->lock);
	return nr_freed;
}

/* The same because they are not wanted any more: nothing was forgotten for its memory */
static u32 empty_shard(struct dmda_runtable *table, struct shard *shard)
{
	u64 nr_evicted;
	u32 nr_freed;

	spin_lock(&shard->lock);
	nr_evicted = shard->map.nr_evicted;
	dmda_extents_evict(&shard->map, EMPTY_BATCH);
	shard->map.nr_evicted = nr_evicted;
	nr_freed = shard->map.nr_spares;
	free_spares_locked(table, shard, 0);
	spin_unlock(&shard->lock);
	return nr_freed;
}

void dmda_runtable_clear(struct dmda_runtable *table)
{
	u32 i;

	for (i = 0; i < 2 * NR_SHARDS; i++)
		while (empty_shard(table, nth_shard(table, i)))
			cond_resched();
}

void dmda_runtable_stats(struct dmda_runtable *table, struct dmda_runtable_stats *stats)
{
	u32 i;

	stats->nr_extents = 0;
	stats->nr_evicted = 0;
	for (i = 0; i < 2 * NR_SHARDS; i++) {
		struct shard *shard = nth_shard(table, i);

		spin_lock(&shard->lock);
		stats->nr_extents += shard->map.nr_extents;
		stats->nr_evicted += shard->map.nr_evicted;
		spin_unlock(&shard->lock);
	}
	stats->bytes = (u64)atomic_read(&table->nr_allocated) * kmem_cache_size(extent_cache);
	stats->limit_bytes = (u64)(table->max_allocated + 2 * NR_SHARDS * MIN_EXTENTS) *
			     kmem_cache_size(extent_cache);
}

static unsigned long shrink_count(struct shrinker *shrinker, struct shrink_control *control)
{
	struct dmda_runtable *table = dmda_shrinker_owner(shrinker);
	int nr = atomic_read(&table->nr_allocated);

	return nr > 0 ? nr : SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *shrinker, struct shrink_control *control)
{
	struct dmda_runtable *table = dmda_shrinker_owner(shrinker);
	u32 per_shard = control->nr_to_scan / (2 * NR_SHARDS) + 1;
	unsigned long freed = 0;
	u32 i;

	for (i = 0; i < 2 * NR_SHARDS && freed < control->nr_to_scan; i++) {
		u32 index = READ_ONCE(table->shrink_next) % (2 * NR_SHARDS);

		WRITE_ONCE(table->shrink_next, index + 1);
		freed += shrink_shard(table, nth_shard(table, index), per_shard);
	}
	return freed ? freed : SHRINK_STOP;
}

struct dmda_runtable *dmda_runtable_create(u32 limit_mb)
{
	struct dmda_runtable *table = kvzalloc(sizeof(*table), GFP_KERNEL);
	u32 i;

	if (!table)
		return NULL;
	for (i = 0; i < 2 * NR_SHARDS; i++) {
		spin_lock_init(&nth_shard(table, i)->lock);
		dmda_extents_init(&nth_shard(table, i)->map);
	}
	table->max_allocated = div_u64((u64)limit_mb << 20, kmem_cache_size(extent_cache)) -
			       2 * NR_SHARDS * MIN_EXTENTS;
	table->shrinker = dmda_shrinker_create(shrink_count, shrink_scan, table);
	if (!table->shrinker) {
		kvfree(table);
		return NULL;
	}
	return table;
}

void dmda_runtable_destroy(struct dmda_runtable *table)
{
	if (!table)
		return;
	dmda_shrinker_destroy(table->shrinker);
	dmda_runtable_clear(table);
	kvfree(table);
}

int dmda_runtable_init(void)
{
	extent_cache = kmem_cache_create("dmda_extent", sizeof(struct dmda_extent), 0,
					 SLAB_RECLAIM_ACCOUNT, NULL);
	return extent_cache ? 0 : -ENOMEM;
}

void dmda_runtable_exit(void)
{
	kmem_cache_destroy(extent_cache);
}
