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
 * The map is a cache: it may forget anything at any time, but what it says is always
 * what was set last. Memory comes from the caller as spare extents; when there is
 * none, the extent that has not been used for longest is forgotten and its memory
 * taken. No call can fail.
 *
 * "Not used for longest" is approximate, so that a hit costs one store: a hit marks
 * the extent, and eviction passes over a marked one once.
 *
 * Calls on one map must not run at the same time, dmda_extents_find() included;
 * calls on different maps may.
 */
#ifndef DMDA_EXTENTS_H
#define DMDA_EXTENTS_H

#include "units.h"

/* Spare extents with which dmda_extents_set() never has to evict */
#define DMDA_EXTENTS_SET_SPARES		2

/* Spare extents with which dmda_extents_clear() never forgets more than asked */
#define DMDA_EXTENTS_CLEAR_SPARES	1

/* Extents that dmda_extents_clear() forgets in one call */
#define DMDA_EXTENTS_CLEAR_BATCH	256

/**
 * struct dmda_extent - consecutive keys with consecutive values
 * @node: in dmda_extents.root; meaningless in a spare
 * @age: in dmda_extents.ages, or in dmda_extents.spares
 * @key_hi: upper half of every key
 * @key_lo: lower half of the first key
 * @val_hi: upper half of every value
 * @val_lo: lower half of the first key's value
 * @len: number of keys, at least 1; neither key_lo + len - 1 nor val_lo + len - 1 wraps
 * @used: found since eviction last came by
 */
struct dmda_extent {
	struct rb_node node;
	struct list_head age;
	u64 key_hi;
	u64 key_lo;
	u64 val_hi;
	u64 val_lo;
	u32 len;
	bool used;
};

/**
 * struct dmda_extents - the map
 * @root: the extents, ordered by key
 * @last: the extent that was found or set last, or NULL
 * @room: how far @last could grow: that many keys behind its end are in no extent, and
 *	no number would wrap. A lower bound; 0 when nobody has looked.
 * @ages: the extents, oldest first
 * @spares: extents that hold nothing
 * @nr_extents: length of @ages
 * @nr_spares: length of @spares
 * @nr_evicted: extents forgotten for their memory since dmda_extents_init()
 */
struct dmda_extents {
	struct rb_root root;
	struct dmda_extent *last;
	u32 room;

	struct list_head ages;
	struct list_head spares;
	u32 nr_extents;
	u32 nr_spares;
	u64 nr_evicted;
};

/**
 * struct dmda_extent_hit - the answer to a look-up
 * @val_hi: upper half of the key's value
 * @val_lo: lower half of the key's value
 * @len: keys from this one on to which the extent goes on, itself included
 */
struct dmda_extent_hit {
	u64 val_hi;
	u64 val_lo;
	u32 len;
};

/**
 * dmda_extents_init() - an empty map without spares
 * @map: memory of the caller
 *
 * There is no counterpart: to get the memory back, evict everything and take the
 * spares.
 *
 * Context: any.
 */
void dmda_extents_init(struct dmda_extents *map);

/**
 * dmda_extents_give() - give the map memory for one more extent
 * @map: the map
 * @spare: memory that belongs to the map from now on; need not be initialised
 *
 * Context: any; the caller serialises.
 */
void dmda_extents_give(struct dmda_extents *map, struct dmda_extent *spare);

/**
 * dmda_extents_take() - take a spare's memory back
 * @map: the map
 *
 * Context: any; the caller serialises.
 * Return: memory that is the caller's again, or NULL when there is no spare.
 */
struct dmda_extent *dmda_extents_take(struct dmda_extents *map);

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
bool dmda_extents_find(struct dmda_extents *map, u64 key_hi, u64 key_lo,
		       struct dmda_extent_hit *hit);

/**
 * dmda_extents_nr_other() - how far the map disagrees with an extent
 * @map: the map; nothing is remembered as recently used
 * @extent: keys and values to compare with; only key_hi to len are looked at, len at
 *	least 1
 *
 * Context: any; the caller serialises. Takes time for every extent passed.
 * Return: number of keys before the first one that has in the map the value that it
 * has in @extent; @extent's len if there is no such key.
 */
u32 dmda_extents_nr_other(const struct dmda_extents *map, const struct dmda_extent *extent);

/**
 * dmda_extents_set() - keys have these values from now on
 * @map: the map
 * @extent: keys and values; only key_hi to len are looked at, the memory stays the
 *	caller's. What reaches beyond key 2^64 - 1 is cut off. If the values wrap, or
 *	the map has no memory at all, the keys are forgotten instead.
 *
 * Uses at most DMDA_EXTENTS_SET_SPARES spares, and evicts when there are fewer.
 *
 * Context: any; the caller serialises. Takes time for every extent covered.
 */
void dmda_extents_set(struct dmda_extents *map, const struct dmda_extent *extent);

/**
 * dmda_extents_clear() - forget a range of keys
 * @map: the map
 * @key_hi: upper half of the keys
 * @key_lo: lower half of the first key
 * @nr_keys: length of the range; what reaches beyond key 2^64 - 1 is cut off
 *
 * Forgets DMDA_EXTENTS_CLEAR_BATCH extents at most, so that a caller with a lock can
 * let others in between. Uses at most DMDA_EXTENTS_CLEAR_SPARES spares; without one
 * it can forget more than asked for, never less.
 *
 * Context: any; the caller serialises.
 * Return: true when the range is empty, false when the caller must call again.
 */
bool dmda_extents_clear(struct dmda_extents *map, u64 key_hi, u64 key_lo, u64 nr_keys);

/**
 * dmda_extents_evict() - turn extents that were not used for long into spares
 * @map: the map
 * @nr: how many
 *
 * Context: any; the caller serialises.
 * Return: how many there were, [0, @nr].
 */
u32 dmda_extents_evict(struct dmda_extents *map, u32 nr);

/**
 * dmda_extents_check() - verify every rule of the structure; for tests
 * @map: the map
 *
 * Context: any; the caller serialises. Takes time for every extent and spare.
 * Return: NULL, or the broken rule as a sentence.
 */
const char *dmda_extents_check(const struct dmda_extents *map);

#endif /* DMDA_EXTENTS_H */
