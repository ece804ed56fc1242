/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node of the extent map: many extents of one chunk in one piece of memory.
 *
 * An extent by itself would need more memory for its place in a tree and in a list of ages
 * than for what it says. So these are paid once for all neighbours, as in a T-tree (Lehman
 * and Carey, A study of index structures for main memory database management systems,
 * VLDB 1986), and what neighbours share is written once: the upper half of their keys, and
 * which chunk of DMDA_CHUNK_KEYS keys they lie in. What is left of an extent are one word
 * for its first key, its length and its use, and its value. The words stand together, so
 * that a search touches few cache lines.
 *
 * A node comes in one of DMDA_NODE_SIZES sizes and moves to the next one when it is full: a
 * file of one extent takes no more than it did with a tree node of its own.
 *
 * Calls on different nodes may run at the same time.
 */
#ifndef DMDA_NODE_H
#define DMDA_NODE_H

#include "units.h"

/* Keys that share a node at most, from a multiple of as many on */
#define DMDA_CHUNK_SHIFT	13
#define DMDA_CHUNK_KEYS		((u32)BIT(DMDA_CHUNK_SHIFT))

/* Sizes of nodes, see dmda_node_bytes() */
#define DMDA_NODE_SIZES		8U

/**
 * struct dmda_node - consecutive extents of one chunk, ordered by key
 * @link: link in dmda_extents.root, ordered by @key_hi and @first_key
 * @age: link in dmda_extents.ages
 * @key_hi: upper half of every key
 * @first_key: lower half of the first extent's first key
 * @size: index of its size, [0, DMDA_NODE_SIZES)
 * @is_wide: whether values have upper halves; else these are 0 and take no memory
 * @capacity: number of extents that fit
 * @nr: number of extents, at least 1 in the tree
 * @vals_at: offset of the values, in units of 8 bytes from the node on
 * @words: a word for each extent: first key within its chunk, length less one, and whether it was
 *	used since eviction last came by. Behind @capacity words come the lower halves of the
 *	values, then the upper ones.
 */
struct dmda_node {
	struct rb_node link;
	struct list_head age;
	u64 key_hi;
	u64 first_key;
	u8 size : 7;
	u8 is_wide : 1;
	u8 capacity;
	u8 nr;
	u8 vals_at;
	u32 words[];
};

#define DMDA_WORD_USED		1U
#define DMDA_WORD_LEN_SHIFT	1
#define DMDA_WORD_KEY_SHIFT	(DMDA_WORD_LEN_SHIFT + DMDA_CHUNK_SHIFT)

static inline u32 dmda_word(u32 key, u32 len)
{
	return key << DMDA_WORD_KEY_SHIFT | (len - 1) << DMDA_WORD_LEN_SHIFT;
}

/* First key of an extent, [0, DMDA_CHUNK_KEYS) */
static inline u32 dmda_word_key(u32 word)
{
	return word >> DMDA_WORD_KEY_SHIFT;
}

static inline u32 dmda_word_len(u32 word)
{
	return ((word >> DMDA_WORD_LEN_SHIFT) & (DMDA_CHUNK_KEYS - 1)) + 1;
}

/* The key behind an extent, at most DMDA_CHUNK_KEYS */
static inline u32 dmda_word_end(u32 word)
{
	return dmda_word_key(word) + dmda_word_len(word);
}

static inline u64 *dmda_node_vals_lo(struct dmda_node *node)
{
	return (u64 *)node + node->vals_at;
}

/* Only of a node that is wide */
static inline u64 *dmda_node_vals_hi(struct dmda_node *node)
{
	return dmda_node_vals_lo(node) + node->capacity;
}

/* The key as its node knows it */
static inline u32 dmda_in_chunk(u64 key_lo)
{
	return key_lo & (DMDA_CHUNK_KEYS - 1);
}

/* Lower half of the key that the node's chunk begins with */
static inline u64 dmda_node_base(const struct dmda_node *node)
{
	return node->first_key - dmda_in_chunk(node->first_key);
}

/* After the first extent of a node has changed, or gone */
static inline void dmda_node_set_first_key(struct dmda_node *node)
{
	node->first_key = dmda_node_base(node) + dmda_word_key(node->words[0]);
}

/* Does the node lie in the chunk of that key? NULL does not. */
static inline bool dmda_node_is_in_chunk(const struct dmda_node *node, u64 key_hi, u64 key_lo)
{
	return node && node->key_hi == key_hi &&
	       (node->first_key ^ key_lo) >> DMDA_CHUNK_SHIFT == 0;
}

static inline struct dmda_node *dmda_node_entry(struct rb_node *link)
{
	return rb_entry_safe(link, struct dmda_node, link);
}

static inline struct dmda_node *dmda_node_next(const struct dmda_node *node)
{
	return dmda_node_entry(rb_next(&node->link));
}

/**
 * dmda_node_search() - the last extent that begins at a key or before it
 * @node: a node of at least one extent
 * @key: the key in the chunk
 *
 * Return: its index, or -1.
 */
static inline int dmda_node_search(const struct dmda_node *node, u32 key)
{
	u32 most = dmda_word(key, DMDA_CHUNK_KEYS) | DMDA_WORD_USED;
	const u32 *words = node->words;
	unsigned long nr = node->nr;

	while (nr > 1) {
		const u32 *middle = words + nr / 2;

		words = *middle <= most ? middle : words;
		nr -= nr / 2;
	}
	return (int)(words - node->words) - (*words > most);
}

/**
 * dmda_node_bytes() - memory of a node
 * @size: index of its size
 *
 * Return: bytes, a multiple of 8 that grows with @size.
 */
u32 dmda_node_bytes(u32 size);

/**
 * dmda_node_size_for() - the smallest size that has room
 * @nr: extents
 * @is_wide: their values have upper halves
 *
 * Return: the size, or DMDA_NODE_SIZES if none has.
 */
u32 dmda_node_size_for(u32 nr, bool is_wide);

/**
 * dmda_node_init() - an empty node that is nowhere
 * @node: dmda_node_bytes() bytes, aligned to 8
 * @size: index of its size
 * @is_wide: values have upper halves
 */
void dmda_node_init(struct dmda_node *node, u32 size, bool is_wide);

/**
 * dmda_node_insert() - add an extent
 * @node: a node with room
 * @index: index that it is to have
 * @word: its word
 * @val_hi: upper half of its first value, 0 unless the node is wide
 * @val_lo: lower half of it
 *
 * Nothing is known of keys here: the caller sets first_key.
 */
void dmda_node_insert(struct dmda_node *node, u32 index, u32 word, u64 val_hi, u64 val_lo);

/**
 * dmda_node_remove() - take extents out
 * @node: the node
 * @index: the first of them
 * @nr: number of extents, may be 0
 */
void dmda_node_remove(struct dmda_node *node, u32 index, u32 nr);

/**
 * dmda_node_trim_front() - cut the first keys of an extent off
 * @node: the node
 * @index: the extent
 * @key: the first key that it keeps, one of its own
 */
void dmda_node_trim_front(struct dmda_node *node, u32 index, u32 key);

/**
 * dmda_node_copy() - extents of one node to the end of another one
 * @to: the other one; has room
 * @from: the node
 * @index: the first of them
 * @nr: number of extents
 */
void dmda_node_copy(struct dmda_node *to, struct dmda_node *from, u32 index, u32 nr);

#endif /* DMDA_NODE_H */
