/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The extent map beside a plain array that says the same: for the suite, which makes
 * up operations from a seed, and for the fuzzer, which makes them up from bytes.
 *
 * Keys come from three stretches of MODEL_STRETCH keys, each with its own key_hi. The
 * second one ends at the last key of all, and some values lie just below 2^64, so that
 * every wrap can happen; the other two have the same key_lo, and a chunk ends in the
 * middle of them. Each node is memory of its own, so that who looks at it too late is seen.
 * Include after core/extents.c.
 */
#ifndef EXTENTS_MODEL_H
#define EXTENTS_MODEL_H

#include <linux/slab.h>

#define MODEL_STRETCHES	3
#define MODEL_STRETCH	2048

enum model_kind {
	MODEL_SET,
	MODEL_APPEND,		/* a set that begins where the one before it ended */
	MODEL_CLEAR,
	MODEL_FIND,
	MODEL_NR_OTHER,
	MODEL_LIMIT,		/* bytes that all nodes may have from now on */
	MODEL_FAIL,		/* one of the next allocations fails, and some behind it */
	MODEL_EVICT,
	MODEL_EMPTY,
	MODEL_KINDS,
};

/**
 * struct model_op - one call
 * @kind: kind of call, taken modulo MODEL_KINDS
 * @stretch: stretch of the keys, taken modulo MODEL_STRETCHES
 * @offset: offset of the first key in its stretch, taken modulo MODEL_STRETCH
 * @len: number of keys, bytes or nodes
 * @value: choice among a few lines of values, so that many extents join
 */
struct model_op {
	u8 kind;
	u8 stretch;
	u16 offset;
	u16 len;
	u8 value;
};

struct model_key {
	bool known;
	u64 val_hi;
	u64 val_lo;
};

/**
 * struct model - the map, the array, and their memory
 * @map: map under test
 * @keys: what the map must say, by key
 * @nr_bytes: memory that the map has
 * @limit_bytes: upper bound of it
 * @nr_taken: allocations, also those that failed
 * @first_failure: number of the first allocation that fails
 * @nr_failures: allocations from that one on that fail
 * @exchanged_bytes: memory for which a node of at least twice its size has to come back
 * @appended: the extent that was set last
 * @can_lose: whether there was too little memory, so that the map may know less than the array
 * @wrong: forbidden thing that the map did to its memory, or NULL
 */
struct model {
	struct dmda_extents map;
	struct model_key keys[MODEL_STRETCHES * MODEL_STRETCH];
	u64 nr_bytes;
	u64 limit_bytes;
	u64 nr_taken;
	u64 first_failure;
	u64 nr_failures;
	u32 exchanged_bytes;
	struct dmda_extent appended;
	bool can_lose;
	const char *wrong;
};

static inline struct model *model_of(struct dmda_extents *map)
{
	return container_of(map, struct model, map);
}

/* May the map have that memory? */
static inline bool model_allows(struct model *model, u32 bytes, bool is_exchange)
{
	if (model->nr_taken++ - model->first_failure < model->nr_failures)
		return false;
	if (!is_exchange)
		return model->nr_bytes + bytes <= model->limit_bytes;
	if (bytes > DMDA_EXTENTS_EXCHANGE_BYTES || model->exchanged_bytes)
		model->wrong = "More is taken for an exchange than may be.";
	model->exchanged_bytes = bytes;
	return true;
}

static inline struct dmda_node *model_take(struct dmda_extents *map, u32 size, bool is_exchange)
{
	struct model *model = model_of(map);
	u32 bytes = dmda_node_bytes(size);
	struct dmda_node *node = NULL;

	if (model_allows(model, bytes, is_exchange))
		node = kmalloc(bytes, GFP_KERNEL);
	if (node)
		model->nr_bytes += bytes;
	else
		model->can_lose = true;
	return node;
}

static inline void model_give(struct dmda_extents *map, struct dmda_node *node)
{
	struct model *model = model_of(map);
	u32 bytes = dmda_node_bytes(node->size);

	model->nr_bytes -= bytes;
	if (bytes >= 2 * model->exchanged_bytes)
		model->exchanged_bytes = 0;
	kfree(node);
}

static const struct dmda_extents_memory model_memory = { .take = model_take, .give = model_give };

static inline u64 model_first_key(unsigned int stretch)
{
	return stretch == 1 ? 0 - (u64)MODEL_STRETCH : DMDA_CHUNK_KEYS - MODEL_STRETCH / 2;
}

static inline void model_init(struct model *model, u64 limit_bytes)
{
	memset(model, 0, sizeof(*model));
	dmda_extents_init(&model->map, &model_memory, true);
	model->limit_bytes = limit_bytes;
	model->appended.key_lo = model_first_key(0);
}

/* Return: NULL, or what is wrong with the map. */
static inline const char *model_exit(struct model *model)
{
	if (!dmda_extents_empty(&model->map, U32_MAX))
		return "The map does not become empty.";
	return model->nr_bytes ? "Memory did not come back." : NULL;
}

static inline struct dmda_extent model_extent(const struct model_op *op)
{
	static const u64 lines[] = { 0, 70000, 0 - (u64)MODEL_STRETCH - 1000, 0 - (u64)1000 };
	unsigned int stretch = op->stretch % MODEL_STRETCHES;
	u32 offset = op->offset % MODEL_STRETCH;

	return (struct dmda_extent) {
		.key_hi = stretch,
		.key_lo = model_first_key(stretch) + offset,
		.val_hi = op->value >> 7,
		.val_lo = lines[(op->value >> 4) % ARRAY_SIZE(lines)] + offset + op->value % 2,
		.len = op->len,
	};
}

static inline struct model_key *model_key(struct model *model, u64 key_hi, u64 key_lo)
{
	return &model->keys[key_hi * MODEL_STRETCH + (key_lo - model_first_key(key_hi))];
}

/* Keys of the array that a range of this length has; what reaches beyond is cut off */
static inline u32 model_clip(u64 key_hi, u64 key_lo, u64 len)
{
	u64 most = MODEL_STRETCH - (key_lo - model_first_key(key_hi));

	return min(len, most);
}

static inline void model_set(struct model *model, const struct dmda_extent *extent)
{
	u32 most = DMDA_CHUNK_KEYS - extent->key_lo % DMDA_CHUNK_KEYS;
	u32 len = min(extent->len, most);
	struct model_key *key = model_key(model, extent->key_hi, extent->key_lo);
	u32 i;

	for (i = 0; i < len; i++) {
		key[i].known = extent->val_lo + len - 1 >= extent->val_lo;
		key[i].val_hi = extent->val_hi;
		key[i].val_lo = extent->val_lo + i;
	}
}

/* Does the key after this one go on with the next value? */
static inline bool model_goes_on(const struct model *model, u32 index)
{
	u64 key_lo = model_first_key(index / MODEL_STRETCH) + index % MODEL_STRETCH;
	const struct model_key *key = &model->keys[index];

	return (index + 1) % MODEL_STRETCH && (key_lo + 1) % DMDA_CHUNK_KEYS &&
	       key[0].known && key[1].known && key[0].val_hi == key[1].val_hi &&
	       key[1].val_lo - key[0].val_lo == 1 && key[1].val_lo;
}

static inline const char *model_check_find(struct model *model, const struct dmda_extent *extent)
{
	const struct model_key *key = model_key(model, extent->key_hi, extent->key_lo);
	u32 index = key - model->keys;
	struct dmda_extent_hit hit;
	u32 len = 1;

	if (!dmda_extents_find(&model->map, extent->key_hi, extent->key_lo, &hit))
		return key->known && !model->can_lose ? "A key that was set is not found." : NULL;
	if (!key->known)
		return "A key is found that was not set.";
	if (hit.val_hi != key->val_hi || hit.val_lo != key->val_lo)
		return "A key is found with a wrong value.";
	while (model_goes_on(model, index + len - 1))
		len++;
	if (hit.len > len || (hit.len < len && !model->can_lose))
		return "A key is found with a wrong length.";
	return NULL;
}

static inline const char *model_check_nr_other(struct model *model,
					       const struct dmda_extent *extent)
{
	const struct model_key *key = model_key(model, extent->key_hi, extent->key_lo);
	u32 nr_other = dmda_extents_nr_other(&model->map, extent);
	u32 i;

	for (i = 0; i < extent->len; i++)
		if (key[i].known && key[i].val_hi == extent->val_hi &&
		    key[i].val_lo == extent->val_lo + i)
			break;
	if (nr_other < i || (nr_other > i && !model->can_lose))
		return "The first key with the same value is not where it was set.";
	return NULL;
}

/* Whatever the nodes say must stand in the array, and the other way round */
static inline const char *model_compare_extent(struct model *model,
					       const struct dmda_extent *extent)
{
	const struct model_key *key = model_key(model, extent->key_hi, extent->key_lo);
	u32 i;

	for (i = 0; i < extent->len; i++)
		if (!key[i].known || key[i].val_hi != extent->val_hi ||
		    key[i].val_lo != extent->val_lo + i)
			return "The map says what was not set.";
	return NULL;
}

static inline const char *model_compare(struct model *model)
{
	struct dmda_node *node;
	u32 nr_keys = 0;
	u32 nr_extents = 0;
	u32 i;

	for (node = dmda_nodeset_first(&model->map); node; node = dmda_node_next(node)) {
		for (i = 0; i < node->nr; i++) {
			struct dmda_extent extent;
			const char *wrong;

			dmda_nodeset_read(node, i, &extent);
			wrong = model_compare_extent(model, &extent);
			if (wrong)
				return wrong;
			nr_keys += extent.len;
		}
	}
	if (model->can_lose)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(model->keys); i++) {
		nr_keys -= model->keys[i].known;
		nr_extents += model->keys[i].known && !model_goes_on(model, i);
	}
	if (nr_keys)
		return "The map has lost something though it had memory.";
	if (nr_extents != model->map.nr_extents)
		return "Neighbours that continue each other were not joined.";
	return NULL;
}

static inline const char *model_evict(struct model *model, u64 nr_bytes)
{
	u64 nr_evicted = model->map.nr_evicted, before = model->map.nr_bytes;
	u64 nr_extents = model->map.nr_extents;
	u64 freed = dmda_extents_evict(&model->map, nr_bytes);

	if (freed < min(nr_bytes, before))
		return "Eviction did not give back as much as asked for.";
	if (freed != before - model->map.nr_bytes)
		return "Eviction gave back something else than it says.";
	if (model->map.nr_evicted - nr_evicted != nr_extents - model->map.nr_extents)
		return "Eviction was not counted.";
	/* What is gone is known only to the map */
	model->can_lose |= nr_bytes != 0;
	return NULL;
}

static inline const char *model_empty(struct model *model, u32 nr_nodes)
{
	u64 nr_evicted = model->map.nr_evicted;
	bool empty = dmda_extents_empty(&model->map, nr_nodes);

	model->can_lose |= nr_nodes != 0;
	if (empty != !model->map.nr_bytes)
		return "The map is not as empty as it says.";
	return model->map.nr_evicted == nr_evicted ? NULL : "Emptying counts as eviction.";
}

static inline const char *model_clear(struct model *model, const struct dmda_extent *extent,
				      u64 nr_keys)
{
	u32 len = model_clip(extent->key_hi, extent->key_lo, nr_keys);
	struct model_key *key = model_key(model, extent->key_hi, extent->key_lo);
	unsigned int nr_calls = 0;
	u32 i;

	while (!dmda_extents_clear(&model->map, extent->key_hi, extent->key_lo, nr_keys))
		if (++nr_calls > MODEL_STRETCH / DMDA_EXTENTS_CLEAR_BATCH)
			return "A range does not become empty.";
	for (i = 0; i < len; i++)
		key[i].known = false;
	return NULL;
}

/* Without what the array does not have, nor what lies in another chunk than the first key */
static inline void model_fit(struct dmda_extent *extent)
{
	u32 most = DMDA_CHUNK_KEYS - extent->key_lo % DMDA_CHUNK_KEYS;

	extent->len = model_clip(extent->key_hi, extent->key_lo, extent->len);
	extent->len = min(extent->len, most);
}

/* One that the cursor knows more of than a random one: it begins where the last one ended */
static inline void model_append(const struct dmda_extent *appended, struct dmda_extent *extent)
{
	extent->key_hi = appended->key_hi;
	extent->key_lo = appended->key_lo + appended->len;
	extent->val_hi = appended->val_hi;
	extent->val_lo = appended->val_lo + appended->len;
	/* Begin anew behind the last key */
	if (extent->key_lo - model_first_key(extent->key_hi) >= MODEL_STRETCH)
		extent->key_lo = model_first_key(extent->key_hi);
}

static inline void model_do_set(struct model *model, struct dmda_extent *extent, u32 most)
{
	extent->len %= most;
	/* The second stretch has nothing behind it, not even numbers; the others have keys. */
	if (extent->key_hi != 1)
		extent->len = model_clip(extent->key_hi, extent->key_lo, extent->len);
	dmda_extents_set(&model->map, extent);
	model_set(model, extent);
	model->appended = *extent;
}

/* What is wrong with the map's memory, or with the map itself, after a call */
static inline const char *model_check(struct model *model)
{
	const char *wrong = model->wrong;

	if (!wrong && model->exchanged_bytes)
		wrong = "A node taken for an exchange was not exchanged.";
	if (!wrong && model->map.nr_bytes != model->nr_bytes)
		wrong = "Memory was lost or appeared.";
	if (!wrong)
		wrong = dmda_extents_check(&model->map);
	return wrong ? wrong : model_compare(model);
}

/* Carry one operation out on both. Return: NULL or what is wrong with the map. */
static inline const char *model_apply(struct model *model, const struct model_op *op)
{
	struct dmda_extent extent = model_extent(op);
	const char *wrong = NULL;

	switch (op->kind % MODEL_KINDS) {
	case MODEL_APPEND:
		model_append(&model->appended, &extent);
		fallthrough;
	case MODEL_SET:
		model_do_set(model, &extent, op->value % 8 ? 16 : 512);
		break;
	case MODEL_CLEAR:
		wrong = model_clear(model, &extent, op->len == U16_MAX ? U64_MAX : op->len % 512);
		break;
	case MODEL_FIND:
		wrong = model_check_find(model, &extent);
		break;
	case MODEL_NR_OTHER:
		extent.len = 1 + extent.len % 512;
		model_fit(&extent);
		wrong = model_check_nr_other(model, &extent);
		break;
	case MODEL_LIMIT:
		model->limit_bytes = op->value % 4 ? op->len : U64_MAX;
		break;
	case MODEL_FAIL:
		model->first_failure = model->nr_taken + op->offset % 8;
		model->nr_failures = op->value % 16;
		break;
	case MODEL_EVICT:
		wrong = model_evict(model, op->len % 4096);
		break;
	case MODEL_EMPTY:
		wrong = model_empty(model, op->len % 4);
		break;
	}
	return wrong ? wrong : model_check(model);
}

#endif /* EXTENTS_MODEL_H */
