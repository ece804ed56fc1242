// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shards, locks and memory around core/extents. See runtable.h.
 *
 * Memory: nodes of extents are allocated where a shard needs one, without sleeping and
 * without reclaim, and their bytes counted in one atomic for the whole table. A shard that
 * gets none forgets its own oldest nodes, which core/extents does by itself. So that a
 * shard which comes late is not left with nothing, each may have MIN_BYTES whatever the
 * count says, and while one node is exchanged for a smaller one both may be there; the
 * limit allows for that.
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

/* Of the three maps together */
#define NR_ALL		(3 * NR_SHARDS)

#define MIN_BYTES	640
#define EMPTY_BATCH	16

/* What the limit leaves to shards above the count */
#define RESERVE_BYTES	(NR_ALL * (MIN_BYTES + DMDA_EXTENTS_EXCHANGE_BYTES))

/* The shrinker's objects: nodes have several sizes */
#define SHRINK_BYTES	256

/* Keys of one chunk lie in one shard: few look-ups cross, and files share the locks */
struct shard {
	spinlock_t lock; /* of the map */
	struct dmda_extents map;
	struct dmda_runtable *table;
} ____cacheline_aligned_in_smp;

struct dmda_runtable {
	struct shard owners[NR_SHARDS];
	struct shard runs[NR_SHARDS];
	struct shard berths[NR_SHARDS];
	u64 max_bytes;
	atomic64_t nr_bytes;
	struct shrinker *shrinker;
	/* Next shard to shrink; races are harmless */
	u32 shrink_next;
};

static struct kmem_cache *node_caches[DMDA_NODE_SIZES];

/* Of the shards of a map that has device pages as keys */
static struct shard *page_shard(struct shard *shards, u64 dpn)
{
	return &shards[hash_64(dpn >> DMDA_CHUNK_SHIFT, SHARD_BITS)];
}

static struct shard *owners_shard(struct dmda_runtable *table, u64 dpn)
{
	return page_shard(table->owners, dpn);
}

static struct shard *runs_shard(struct dmda_runtable *table, struct dmda_file file, u64 fpage)
{
	return &table->runs[hash_64(file.id + (fpage >> DMDA_CHUNK_SHIFT), SHARD_BITS)];
}

static struct shard *berths_shard(struct dmda_runtable *table, u64 dpn)
{
	return page_shard(table->berths, dpn);
}

static struct shard *nth_shard(struct dmda_runtable *table, u32 index)
{
	if (index < NR_SHARDS)
		return &table->owners[index];
	if (index < 2 * NR_SHARDS)
		return &table->runs[index - NR_SHARDS];
	return &table->berths[index - 2 * NR_SHARDS];
}

static u32 chunk_left(u64 key)
{
	return DMDA_CHUNK_KEYS - (key & (DMDA_CHUNK_KEYS - 1));
}

/* Count memory of one node more, if the table or the shard may have it */
static bool reserve_locked(struct shard *shard, u32 bytes, bool is_exchange)
{
	struct dmda_runtable *table = shard->table;
	bool may_exceed = is_exchange || shard->map.nr_bytes + bytes <= MIN_BYTES;

	lockdep_assert_held(&shard->lock);

	if (!may_exceed && atomic64_read(&table->nr_bytes) + bytes > table->max_bytes)
		return false;
	if (atomic64_add_return(bytes, &table->nr_bytes) <= table->max_bytes || may_exceed)
		return true;
	atomic64_sub(bytes, &table->nr_bytes);
	return false;
}

static struct dmda_node *take_locked(struct dmda_extents *map, u32 size, bool is_exchange)
{
	struct shard *shard = container_of(map, struct shard, map);
	struct dmda_node *node;

	lockdep_assert_held(&shard->lock);

	if (!reserve_locked(shard, dmda_node_bytes(size), is_exchange))
		return NULL;
	node = kmem_cache_alloc(node_caches[size], GFP_NOWAIT | __GFP_NOWARN);
	if (!node)
		atomic64_sub(dmda_node_bytes(size), &shard->table->nr_bytes);
	return node;
}

static void give_locked(struct dmda_extents *map, struct dmda_node *node)
{
	struct shard *shard = container_of(map, struct shard, map);
	u32 size = node->size;

	lockdep_assert_held(&shard->lock);

	kmem_cache_free(node_caches[size], node);
	atomic64_sub(dmda_node_bytes(size), &shard->table->nr_bytes);
}

static const struct dmda_extents_memory node_memory = {
	.take = take_locked,
	.give = give_locked,
};

void dmda_runtable_owner(struct dmda_runtable *table, dpn_t dpn, struct dmda_owner *owner)
{
	struct shard *shard = owners_shard(table, from_dpn(dpn));
	struct dmda_extent_hit hit = { .len = 0 };

	spin_lock(&shard->lock);
	dmda_extents_find(&shard->map, 0, from_dpn(dpn), &hit);
	/* Under the lock, so that no register has to be saved over its end */
	owner->nr_pages = hit.len;
	owner->file.id = hit.val_hi;
	owner->fpage = hit.val_lo;
	spin_unlock(&shard->lock);
}

void dmda_runtable_go_on(struct dmda_runtable *table, dpn_t dpn, u32 nr_pages,
			 struct dmda_owner *owner)
{
	while (owner->file.id && owner->nr_pages < nr_pages) {
		u64 end = from_dpn(dpn) + owner->nr_pages;
		struct dmda_owner next;

		if (chunk_left(end) != DMDA_CHUNK_KEYS)
			return;
		dmda_runtable_owner(table, to_dpn(end), &next);
		if (next.file.id != owner->file.id || next.fpage != owner->fpage + owner->nr_pages)
			return;
		owner->nr_pages += next.nr_pages;
	}
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

static void set_in_shard(struct shard *shard, const struct dmda_extent *extent)
{
	spin_lock(&shard->lock);
	dmda_extents_set(&shard->map, extent);
	spin_unlock(&shard->lock);
}

static void set_owners(struct dmda_runtable *table, const struct dmda_run *run)
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
		set_in_shard(owners_shard(table, owner.key_lo), &owner);
	}
}

static void set_where(struct dmda_runtable *table, const struct dmda_run *run)
{
	u32 done, len;

	for (done = 0; done < run->nr_pages; done += len) {
		struct dmda_extent where = {
			.key_hi = run->file.id,
			.key_lo = run->fpage + done,
			.val_lo = from_dpn(run->dpn) + done,
		};

		len = min(run->nr_pages - done, chunk_left(where.key_lo));
		where.len = len;
		set_in_shard(runs_shard(table, run->file, where.key_lo), &where);
	}
}

void dmda_runtable_set(struct dmda_runtable *table, const struct dmda_run *run)
{
	set_owners(table, run);
	set_where(table, run);
}

/* Pages of one chunk, from the first one on, that have an owner who keeps them, or all have none */
static u32 nr_alike(struct dmda_runtable *table, const struct dmda_run *run, bool *is_kept)
{
	struct shard *shard = owners_shard(table, from_dpn(run->dpn));
	u32 nr_pages = min(run->nr_pages, chunk_left(from_dpn(run->dpn)));
	struct dmda_owner owner;
	u32 nr_unknown;

	spin_lock(&shard->lock);
	nr_unknown = dmda_extents_nr_unknown(&shard->map, 0, from_dpn(run->dpn), nr_pages);
	spin_unlock(&shard->lock);
	*is_kept = false;
	if (nr_unknown)
		return nr_unknown;
	dmda_runtable_owner(table, run->dpn, &owner);
	*is_kept = owner.file.id && (owner.file.id != run->file.id || owner.fpage == run->fpage);
	return clamp(owner.nr_pages, 1U, nr_pages);
}

/* Return: whether there are pages that nobody had, or the file itself in another place */
static bool learn_owners(struct dmda_runtable *table, const struct dmda_run *run)
{
	struct dmda_run part = *run;
	bool has_learned = false;
	u32 left = run->nr_pages;

	for (; left; left -= part.nr_pages) {
		bool is_kept;

		part.nr_pages = left;
		part.nr_pages = nr_alike(table, &part, &is_kept);
		if (!is_kept) {
			set_owners(table, &part);
			has_learned = true;
		}
		part.fpage += part.nr_pages;
		part.dpn = to_dpn(from_dpn(part.dpn) + part.nr_pages);
	}
	return has_learned;
}

bool dmda_runtable_learn(struct dmda_runtable *table, const struct dmda_run *run)
{
	bool has_learned = learn_owners(table, run);
	u32 last = run->nr_pages - 1;

	if (!has_learned &&
	    dmda_runtable_where(table, run->file, run->fpage) == run->dpn &&
	    dmda_runtable_where(table, run->file, run->fpage + last) ==
	    to_dpn(from_dpn(run->dpn) + last))
		return false;
	set_where(table, run);
	return true;
}

static void clear_in_shard(struct shard *shard, u64 dpn, u64 nr_pages)
{
	bool empty;

	/* Without the lock: what is being set right now may as well come after this */
	if (!READ_ONCE(shard->map.nr_extents))
		return;
	do {
		spin_lock(&shard->lock);
		empty = dmda_extents_clear(&shard->map, 0, dpn, nr_pages);
		spin_unlock(&shard->lock);
	} while (!empty);
}

/* Apart, so that what is free does not pay for its registers */
static noinline void clear_chunks(struct shard *shards, u64 dpn, u64 nr_pages)
{
	u64 end = dpn + nr_pages, len;
	u32 i;

	/* A range of more chunks than shards: every shard is asked once for all of it */
	if (nr_pages >= (u64)NR_SHARDS * DMDA_CHUNK_KEYS) {
		for (i = 0; i < NR_SHARDS; i++)
			clear_in_shard(&shards[i], dpn, nr_pages);
		return;
	}
	for (; dpn < end; dpn += len) {
		len = min_t(u64, end - dpn, chunk_left(dpn));
		clear_in_shard(page_shard(shards, dpn), dpn, len);
	}
}

/* Nearly always free already, and known to be. No lock, for the same reason. */
static void clear_in_map(struct shard *shards, u64 dpn, u64 nr_pages)
{
	if (!dmda_extents_are_free(&page_shard(shards, dpn)->map, dpn, nr_pages))
		clear_chunks(shards, dpn, nr_pages);
}

void dmda_runtable_forget(struct dmda_runtable *table, dpn_t first, u64 nr_pages)
{
	clear_in_map(table->owners, from_dpn(first), nr_pages);
}

void dmda_runtable_unmoor(struct dmda_runtable *table, dpn_t first, u64 nr_pages)
{
	clear_in_map(table->berths, from_dpn(first), nr_pages);
}

void dmda_runtable_moor(struct dmda_runtable *table, dpn_t first, u32 nr_pages, u64 value)
{
	u32 done, len;

	for (done = 0; done < nr_pages; done += len) {
		struct dmda_extent berths = {
			.key_lo = from_dpn(first) + done,
			.val_lo = value + done,
		};

		len = min(nr_pages - done, chunk_left(berths.key_lo));
		berths.len = len;
		set_in_shard(berths_shard(table, berths.key_lo), &berths);
	}
}

u32 dmda_runtable_berth(struct dmda_runtable *table, dpn_t dpn, u64 *value)
{
	struct shard *shard = berths_shard(table, from_dpn(dpn));
	struct dmda_extent_hit hit = { .len = 0, .val_lo = 0 };

	spin_lock(&shard->lock);
	dmda_extents_find(&shard->map, 0, from_dpn(dpn), &hit);
	spin_unlock(&shard->lock);
	*value = hit.val_lo;
	return hit.len;
}

/* Not wanted any more: nothing is forgotten for its memory. Return: whether it is empty now. */
static bool empty_shard(struct shard *shard)
{
	bool empty;

	spin_lock(&shard->lock);
	empty = dmda_extents_empty(&shard->map, EMPTY_BATCH);
	spin_unlock(&shard->lock);
	return empty;
}

void dmda_runtable_clear(struct dmda_runtable *table)
{
	u32 i;

	for (i = 0; i < NR_ALL; i++)
		while (!empty_shard(nth_shard(table, i)))
			cond_resched();
}

void dmda_runtable_stats(struct dmda_runtable *table, struct dmda_runtable_stats *stats)
{
	u32 i;

	stats->nr_extents = 0;
	stats->nr_evicted = 0;
	for (i = 0; i < NR_ALL; i++) {
		struct shard *shard = nth_shard(table, i);

		spin_lock(&shard->lock);
		stats->nr_extents += shard->map.nr_extents;
		stats->nr_evicted += shard->map.nr_evicted;
		spin_unlock(&shard->lock);
	}
	stats->bytes = atomic64_read(&table->nr_bytes);
	stats->limit_bytes = table->max_bytes + RESERVE_BYTES;
}

static unsigned long shrink_count(struct shrinker *shrinker, struct shrink_control *control)
{
	struct dmda_runtable *table = dmda_shrinker_owner(shrinker);
	u64 nr_bytes = atomic64_read(&table->nr_bytes);

	return nr_bytes ? DIV_ROUND_UP_ULL(nr_bytes, SHRINK_BYTES) : SHRINK_EMPTY;
}

/* Free memory of a shard, the oldest first; returns how much */
static u64 shrink_shard(struct shard *shard, u64 nr_bytes)
{
	u64 nr_freed;

	spin_lock(&shard->lock);
	nr_freed = dmda_extents_evict(&shard->map, nr_bytes);
	spin_unlock(&shard->lock);
	return nr_freed;
}

static unsigned long shrink_scan(struct shrinker *shrinker, struct shrink_control *control)
{
	struct dmda_runtable *table = dmda_shrinker_owner(shrinker);
	u64 nr_bytes = (u64)control->nr_to_scan * SHRINK_BYTES;
	u64 per_shard = nr_bytes / NR_ALL + 1;
	u64 freed = 0;
	u32 i;

	for (i = 0; i < NR_ALL && freed < nr_bytes; i++) {
		u32 index = READ_ONCE(table->shrink_next) % NR_ALL;

		WRITE_ONCE(table->shrink_next, index + 1);
		freed += shrink_shard(nth_shard(table, index), per_shard);
	}
	return freed ? DIV_ROUND_UP_ULL(freed, SHRINK_BYTES) : SHRINK_STOP;
}

struct dmda_runtable *dmda_runtable_create(u32 limit_mb)
{
	struct dmda_runtable *table = kvzalloc(sizeof(*table), GFP_KERNEL);
	u32 i;

	if (!table)
		return NULL;
	for (i = 0; i < NR_ALL; i++) {
		struct shard *shard = nth_shard(table, i);

		spin_lock_init(&shard->lock);
		dmda_extents_init(&shard->map, &node_memory, i < NR_SHARDS);
		shard->table = table;
	}
	table->max_bytes = ((u64)limit_mb << 20) - RESERVE_BYTES;
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
	char name[16];
	u32 size;

	for (size = 0; size < DMDA_NODE_SIZES; size++) {
		snprintf(name, sizeof(name), "dmda_node_%u", dmda_node_bytes(size));
		node_caches[size] = kmem_cache_create(name, dmda_node_bytes(size), sizeof(u64),
						      SLAB_RECLAIM_ACCOUNT, NULL);
		if (!node_caches[size]) {
			dmda_runtable_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

void dmda_runtable_exit(void)
{
	u32 size;

	/* Those that there are; NULL is fine */
	for (size = 0; size < DMDA_NODE_SIZES; size++)
		kmem_cache_destroy(node_caches[size]);
}
