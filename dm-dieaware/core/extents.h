/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An ordered map in which neighbouring keys usually have neighbouring values.
 *
 * A key is a pair (hi, lo), and so is a value. One struct dmda_extent says that the
 * keys (key_hi, key_lo + i) have the values (val_hi, val_lo + i) for i in [0, len).
 * Extents never overlap; a new one cuts what it covers, and joins a neighbour that it
 * continues in key and value. The run table is made of two kinds of these maps:
 *
 *   owners  (0, dpn)       -> (file, fpage)   what a device page holds
 *   runs    (file, fpage)  -> (0, dpn)        where a page of a file lies
 *
 * Keys come in chunks of DMDA_CHUNK_KEYS; no extent goes beyond its chunk. Extents of one
 * chunk lie together in nodes (node.h), with 13 to 27 bytes for each where a chunk has
 * dozens, and 80 for one that is alone.
 *
 * The map is a cache: it may forget anything at any time, but what it says is always
 * what was set last. Memory comes from the caller's functions; when these have none, the
 * node that has not been used for longest is forgotten and its memory given back. No
 * call can fail.
 *
 * "Not used for longest" is approximate, so that a hit costs one store: a hit marks
 * the extent, and eviction passes over a node with a marked one once.
 *
 * Calls on one map must not run at the same time, dmda_extents_find() included, but for
 * dmda_extents_are_free(); calls on different maps may.
 */
#ifndef DMDA_EXTENTS_H
#define DMDA_EXTENTS_H

#include "node.h"

/* For a number of keys of one chunk. What does not fit beside it into a word is not remembered. */
#define DMDA_FREE_BITS	(DMDA_CHUNK_SHIFT + 1)

/* Extents after which dmda_extents_clear() stops, at the end of a node */
#define DMDA_EXTENTS_CLEAR_BATCH	256

struct dmda_extents;

/**
 * struct dmda_extents_memory - source of the memory of nodes
 * @take: takes memory for a node of a size, dmda_node_bytes(), aligned to 8; NULL if there is none.
 *	With @is_exchange a node of at least twice its bytes is given back by the same call of the
 *	map.
 * @give: gives a node's memory back; of its members only the size counts
 *
 * Both are called within calls of the map, and must not call it. They may read its
 * nr_bytes, which does not have what is being taken yet, and no more what is being given.
 */
struct dmda_extents_memory {
	struct dmda_node *(*take)(struct dmda_extents *map, u32 size, bool is_exchange);
	void (*give)(struct dmda_extents *map, struct dmda_node *node);
};

/* The largest memory that is taken for an exchange */
#define DMDA_EXTENTS_EXCHANGE_BYTES	512U

/**
 * struct dmda_extent - consecutive keys with consecutive values
 * @key_hi: upper half of every key
 * @key_lo: lower half of the first key
 * @val_hi: upper half of every value
 * @val_lo: lower half of the first key's value
 * @len: number of keys
 */
struct dmda_extent {
	u64 key_hi;
	u64 key_lo;
	u64 val_hi;
	u64 val_lo;
	u32 len;
};

/**
 * struct dmda_extents - the map
 * @last: node with the extent that was found or set last, or NULL
 * @index: index of that extent in @last
 * @room: lower bound of the keys by which that extent could grow: they are behind its end, in its
 *	chunk and in no extent, and no value would wrap; 0 if @last is NULL
 * @at: copy of that extent; its length is 0 if @last is NULL
 * @free: some keys of one chunk that are in no extent, and whose upper half is 0: the first of them
 *	<< DMDA_FREE_BITS | their number; 0 after each dmda_extents_set(). In one word, for it is
 *	read while others write it
 * @root: tree of the nodes, ordered by key
 * @ages: list of the nodes, those to which no extent was added for longest in front
 * @memory: source of the memory of nodes
 * @is_wide: whether values have upper halves; else these are 0
 * @nr_extents: extents in all nodes
 * @nr_bytes: memory of all nodes
 * @nr_evicted: extents forgotten for their memory since dmda_extents_init()
 */
struct dmda_extents {
	struct dmda_node *last;
	u32 index;
	u32 room;
	struct dmda_extent at;

	u64 free;

	struct rb_root root;
	struct list_head ages;
	const struct dmda_extents_memory *memory;
	bool is_wide;
	u64 nr_extents;
	u64 nr_bytes;
	u64 nr_evicted;
};

/**
 * struct dmda_extent_hit - the answer to a look-up
 * @val_hi: upper half of the key's value
 * @val_lo: lower half of the key's value
 * @len: number of keys, this one included, to the end of the extent
 */
struct dmda_extent_hit {
	u64 val_hi;
	u64 val_lo;
	u32 len;
};

/**
 * dmda_extents_init() - an empty map
 * @map: memory of the caller
 * @memory: source of the memory of its nodes
 * @is_wide: values have upper halves
 *
 * There is no counterpart: dmda_extents_empty() gives all memory back.
 *
 * Context: any.
 */
void dmda_extents_init(struct dmda_extents *map, const struct dmda_extents_memory *memory,
		       bool is_wide);

/**
 * dmda_extents_turn_to() - point the cursor at the extent that has a key; of use below only
 * @map: the map
 * @key_hi: upper half of the key, which is not in the extent @map->at
 * @key_lo: lower half of the key
 *
 * Context: any; the caller serialises.
 * Return: whether the key is in the map.
 */
bool dmda_extents_turn_to(struct dmda_extents *map, u64 key_hi, u64 key_lo);

/**
 * dmda_extents_find() - look one key up
 * @map: the map; the extent found is remembered as recently used
 * @key_hi: upper half of the key
 * @key_lo: lower half of the key
 * @hit: the answer; unchanged if there is none
 *
 * Context: any; the caller serialises.
 * Return: whether the key is in the map.
 */
static inline bool dmda_extents_find(struct dmda_extents *map, u64 key_hi, u64 key_lo,
				     struct dmda_extent_hit *hit)
{
	const struct dmda_extent *at = &map->at;
	u64 offset = key_lo - at->key_lo;

	if (offset >= at->len || at->key_hi != key_hi) {
		if (!dmda_extents_turn_to(map, key_hi, key_lo))
			return false;
		offset = key_lo - at->key_lo;
	}
	map->last->words[map->index] |= DMDA_WORD_USED;
	hit->val_hi = at->val_hi;
	hit->val_lo = at->val_lo + offset;
	hit->len = at->len - (u32)offset;
	return true;
}

/**
 * dmda_extents_nr_other() - how far the map disagrees with an extent
 * @map: the map; nothing is remembered as recently used
 * @extent: keys and values to compare with, of one chunk; len at least 1
 *
 * Context: any; the caller serialises. Takes time for every extent passed.
 * Return: number of keys before the first one that has in the map the value that it
 * has in @extent; @extent's len if there is no such key.
 */
u32 dmda_extents_nr_other(const struct dmda_extents *map, const struct dmda_extent *extent);

/**
 * dmda_extents_nr_unknown() - how long nothing is known
 * @map: the map; nothing is remembered as recently used
 * @key_hi: upper half of the keys
 * @key_lo: lower half of the first key
 * @nr_keys: number of keys of one chunk to look at
 *
 * Context: any; the caller serialises.
 * Return: number of keys before the first one that has a value; @nr_keys if there is none.
 */
u32 dmda_extents_nr_unknown(const struct dmda_extents *map, u64 key_hi, u64 key_lo, u32 nr_keys);

/**
 * dmda_extents_set() - keys have these values from now on
 * @map: the map
 * @extent: keys and values; the memory stays the caller's. What reaches beyond the chunk
 *	of the first key is cut off. If the values wrap, or the map has no memory at all,
 *	the keys are forgotten instead.
 *
 * Context: any; the caller serialises. Takes time for every extent covered.
 */
void dmda_extents_set(struct dmda_extents *map, const struct dmda_extent *extent);

static inline u64 dmda_free_first(u64 free)
{
	return free >> DMDA_FREE_BITS;
}

static inline u32 dmda_free_nr(u64 free)
{
	return free & ((1U << DMDA_FREE_BITS) - 1);
}

/**
 * dmda_extents_are_free() - are keys known to be in no extent, beside others that were cleared?
 * @map: the map
 * @key_lo: lower half of the first key; the upper half is 0
 * @nr_keys: length of the range, not 0
 *
 * Context: any, also while others call the map: then the answer was true at some moment of this
 * call, and what is being set meanwhile may come before or after that.
 * Return: false if they are not, or it is not known.
 */
static inline bool dmda_extents_are_free(const struct dmda_extents *map, u64 key_lo, u64 nr_keys)
{
	u64 free = READ_ONCE(map->free);
	u64 offset = key_lo - dmda_free_first(free);

	return offset < dmda_free_nr(free) && nr_keys <= dmda_free_nr(free) - offset;
}

/**
 * dmda_extents_clear() - forget a range of keys
 * @map: the map
 * @key_hi: upper half of the keys
 * @key_lo: lower half of the first key
 * @nr_keys: length of the range; what reaches beyond key 2^64 - 1 is cut off
 *
 * Stops after DMDA_EXTENTS_CLEAR_BATCH extents, so that a caller with a lock can let
 * others in between. Where a range lies in the middle of an extent and there is no memory
 * for the second part, it forgets more than asked for, never less.
 *
 * Context: any; the caller serialises.
 * Return: true when the range is empty, false when the caller must call again.
 */
bool dmda_extents_clear(struct dmda_extents *map, u64 key_hi, u64 key_lo, u64 nr_keys);

/**
 * dmda_extents_evict() - forget what was not used for long
 * @map: the map
 * @nr_bytes: memory to give back
 *
 * Context: any; the caller serialises.
 * Return: memory that was given back; less than @nr_bytes only if the map is empty now.
 */
u64 dmda_extents_evict(struct dmda_extents *map, u64 nr_bytes);

/**
 * dmda_extents_empty() - forget nodes that nobody wants any more, which is no eviction
 * @map: the map
 * @nr_nodes: most nodes to forget
 *
 * Context: any; the caller serialises.
 * Return: whether the map is empty now.
 */
bool dmda_extents_empty(struct dmda_extents *map, u32 nr_nodes);

/**
 * dmda_extents_check() - verify every rule of the structure; for tests
 * @map: the map
 *
 * Context: any; the caller serialises. Takes time for every extent.
 * Return: NULL, or the broken rule as a sentence.
 */
const char *dmda_extents_check(const struct dmda_extents *map);

#endif /* DMDA_EXTENTS_H */
