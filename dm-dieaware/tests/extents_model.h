/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The extent map beside a plain array that says the same: for the suite, which makes
 * up operations from a seed, and for the fuzzer, which makes them up from bytes.
 *
 * Keys come from three stretches of MODEL_STRETCH keys, each with its own key_hi. The
 * second one ends at the last key of all, and some values lie just below 2^64, so that
 * every wrap can happen; the other two have the same key_lo.
 * Include after core/extents.c.
 */
#ifndef EXTENTS_MODEL_H
#define EXTENTS_MODEL_H

#define MODEL_STRETCHES	3
#define MODEL_STRETCH	2048

enum model_kind {
	MODEL_SET,
	MODEL_APPEND,		/* a set that begins where the one before it ended */
	MODEL_CLEAR,
	MODEL_FIND,
	MODEL_NR_OTHER,
	MODEL_GIVE,
	MODEL_TAKE,
	MODEL_EVICT,
	MODEL_KINDS,
};

/**
 * struct model_op - one call
 * @kind: which, taken modulo MODEL_KINDS
 * @stretch: of the keys, taken modulo MODEL_STRETCHES
 * @offset: of the first key in its stretch, taken modulo MODEL_STRETCH
 * @len: number of keys or extents
 * @value: chooses among a few lines of values, so that many extents join
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
 * struct model - the map, the array, and the memory of both
 * @map: under test
 * @keys: what must be in it
 * @memory: every extent there is
 * @nr_memory: length of @memory
 * @outside: those of @memory that were never given to the map or were taken back
 * @nr_outside: length of @outside
 * @appended: the extent that was set last
 * @can_lose: too little memory: the map may know less than the array
 */
struct model {
	struct dmda_extents map;
	struct model_key keys[MODEL_STRETCHES * MODEL_STRETCH];
	struct dmda_extent *memory;
	u32 nr_memory;
	struct dmda_extent **outside;
	u32 nr_outside;
	struct dmda_extent appended;
	bool can_lose;
};

/* Room for all that the array could need: every key apart, and a set on top */
#define MODEL_ENOUGH	(MODEL_STRETCHES * MODEL_STRETCH + DMDA_EXTENTS_SET_SPARES)

static inline u64 model_first_key(unsigned int stretch)
{
	return stretch == 1 ? 0 - (u64)MODEL_STRETCH : 1000;
}

/* The map owns all of @memory at first */
static inline void model_init(struct model *model, struct dmda_extent *memory,
			      struct dmda_extent **outside, u32 nr_memory)
{
	u32 i;

	memset(model, 0, sizeof(*model));
	dmda_extents_init(&model->map);
	model->memory = memory;
	model->nr_memory = nr_memory;
	model->outside = outside;
	model->can_lose = nr_memory < MODEL_ENOUGH;
	for (i = 0; i < nr_memory; i++)
		dmda_extents_give(&model->map, &memory[i]);
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
	u32 len = model_clip(extent->key_hi, extent->key_lo, extent->len);
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
	const struct model_key *key = &model->keys[index];

	return (index + 1) % MODEL_STRETCH && key[0].known && key[1].known &&
	       key[0].val_hi == key[1].val_hi && key[1].val_lo - key[0].val_lo == 1 &&
	       key[1].val_lo;
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
	u32 len = model_clip(extent->key_hi, extent->key_lo, extent->len);
	u32 nr_other = dmda_extents_nr_other(&model->map, extent);
	u32 i;

	for (i = 0; i < len; i++)
		if (key[i].known && key[i].val_hi == extent->val_hi &&
		    key[i].val_lo == extent->val_lo + i)
			break;
	if (i == len)
		i = extent->len;
	if (nr_other < i || (nr_other > i && !model->can_lose))
		return "The first key with the same value is not where it was set.";
	return NULL;
}

/* Whatever the tree says must stand in the array, and the other way round */
static inline const char *model_compare(struct model *model)
{
	struct rb_node *node;
	u32 nr_keys = 0;
	u32 nr_extents = 0;
	u32 i;

	for (node = rb_first(&model->map.root); node; node = rb_next(node)) {
		const struct dmda_extent *extent = rb_entry(node, struct dmda_extent, node);
		const struct model_key *key = model_key(model, extent->key_hi, extent->key_lo);

		for (i = 0; i < extent->len; i++)
			if (!key[i].known || key[i].val_hi != extent->val_hi ||
			    key[i].val_lo != extent->val_lo + i)
				return "The map says what was not set.";
		nr_keys += extent->len;
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

static inline const char *model_evict(struct model *model, u32 nr)
{
	u32 most = min(nr, model->map.nr_extents);
	u64 nr_before = model->map.nr_evicted;

	if (dmda_extents_evict(&model->map, nr) != most)
		return "Eviction did not take as many as asked for.";
	if (model->map.nr_evicted - nr_before != most)
		return "Eviction was not counted.";
	/* What is gone is known only to the map */
	model->can_lose |= most != 0;
	return NULL;
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

static inline void model_move_memory(struct model *model, bool take)
{
	struct dmda_extent *spare;

	if (take) {
		spare = dmda_extents_take(&model->map);
		if (spare)
			model->outside[model->nr_outside++] = spare;
	} else if (model->nr_outside) {
		dmda_extents_give(&model->map, model->outside[--model->nr_outside]);
	}
	model->can_lose |= model->nr_outside != 0;
}

/* Carry one operation out on both. Return: NULL or what is wrong with the map. */
static inline const char *model_apply(struct model *model, const struct model_op *op)
{
	struct dmda_extent extent = model_extent(op);
	struct dmda_extent *appended = &model->appended;
	const char *wrong = NULL;

	switch (op->kind % MODEL_KINDS) {
	case MODEL_APPEND:
		extent.key_hi = appended->key_hi;
		extent.key_lo = appended->key_lo + appended->len;
		extent.val_hi = appended->val_hi;
		extent.val_lo = appended->val_lo + appended->len;
		if (extent.key_lo - model_first_key(extent.key_hi) >= MODEL_STRETCH)
			return NULL;
		fallthrough;
	case MODEL_SET:
		extent.len %= op->value % 8 ? 16 : 512;
		/* These stretches have keys behind them that the array has not */
		if (extent.key_hi != 1)
			extent.len = model_clip(extent.key_hi, extent.key_lo, extent.len);
		dmda_extents_set(&model->map, &extent);
		model_set(model, &extent);
		*appended = extent;
		break;
	case MODEL_CLEAR:
		wrong = model_clear(model, &extent, op->len == U16_MAX ? U64_MAX : op->len % 512);
		break;
	case MODEL_FIND:
		wrong = model_check_find(model, &extent);
		break;
	case MODEL_NR_OTHER:
		extent.len = 1 + extent.len % 512;
		wrong = model_check_nr_other(model, &extent);
		break;
	case MODEL_GIVE:
	case MODEL_TAKE:
		model_move_memory(model, op->kind % MODEL_KINDS == MODEL_TAKE);
		break;
	case MODEL_EVICT:
		wrong = model_evict(model, op->len % 4);
		break;
	}
	if (!wrong)
		wrong = dmda_extents_check(&model->map);
	if (!wrong && model->map.nr_extents + model->map.nr_spares + model->nr_outside !=
		      model->nr_memory)
		wrong = "Memory was lost or appeared.";
	return wrong ? wrong : model_compare(model);
}

#endif /* EXTENTS_MODEL_H */
