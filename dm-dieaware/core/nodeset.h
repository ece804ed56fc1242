/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The nodes of an extent map: a red-black tree in key order and a list in order of age.
 * Whatever needs memory, or takes it from others, is here; what extents say is not. Of use to
 * extents.c only.
 *
 * Calls on one map must not run at the same time; calls on different maps may.
 */
#ifndef DMDA_NODESET_H
#define DMDA_NODESET_H

#include "extents.h"

/**
 * struct dmda_place - a place between two extents of one chunk
 * @node: node to which an extent at this place would be added, or NULL if the chunk has none
 * @index: index of the last extent of @node that begins there or lower, or -1
 * @after: next node in key order, of any chunk, or NULL
 */
struct dmda_place {
	struct dmda_node *node;
	int index;
	struct dmda_node *after;
};

static inline void dmda_nodeset_read(struct dmda_node *node, u32 index, struct dmda_extent *extent)
{
	u32 word = node->words[index];

	extent->key_hi = node->key_hi;
	extent->key_lo = dmda_node_base(node) + dmda_word_key(word);
	extent->val_hi = node->is_wide ? dmda_node_vals_hi(node)[index] : 0;
	extent->val_lo = dmda_node_vals_lo(node)[index];
	extent->len = dmda_word_len(word);
}

/* Before extents of a node are moved or cut: drop a cursor that points there */
static inline void dmda_nodeset_touch(struct dmda_extents *map, const struct dmda_node *node)
{
	if (map->last != node)
		return;
	map->last = NULL;
	map->room = 0;
	map->at.len = 0;
}

/**
 * struct dmda_gap - a place between two nodes
 * @before: the last node that begins there or lower, of any key_hi, or NULL
 * @after: the first node above it, of any key_hi, or NULL
 */
struct dmda_gap {
	struct dmda_node *before;
	struct dmda_node *after;
};

static inline struct dmda_gap dmda_nodeset_descend(const struct dmda_extents *map, u64 key_hi,
						   u64 key_lo)
{
	struct rb_node *link = map->root.rb_node;
	struct dmda_gap gap = { NULL, NULL };

	while (link) {
		struct dmda_node *node = rb_entry(link, struct dmda_node, link);

		if (key_hi < node->key_hi ||
		    (key_hi == node->key_hi && key_lo < node->first_key)) {
			gap.after = node;
			link = node->link.rb_left;
		} else {
			gap.before = node;
			link = node->link.rb_right;
		}
	}
	return gap;
}

static inline struct dmda_place dmda_nodeset_place(const struct dmda_extents *map, u64 key_hi,
						   u64 key_lo)
{
	struct dmda_gap gap = dmda_nodeset_descend(map, key_hi, key_lo);
	struct dmda_place place = { .node = gap.before, .index = -1, .after = gap.after };

	if (dmda_node_is_in_chunk(gap.before, key_hi, key_lo)) {
		place.index = dmda_node_search(gap.before, dmda_in_chunk(key_lo));
	} else if (dmda_node_is_in_chunk(gap.after, key_hi, key_lo)) {
		place.node = gap.after;
		place.after = dmda_node_next(gap.after);
	} else {
		place.node = NULL;
	}
	return place;
}

/* The key in the chunk where the next extent behind a place begins, or where the chunk ends */
static inline u32 dmda_nodeset_room_end(const struct dmda_place *place)
{
	const struct dmda_node *node = place->node;

	if (place->index + 1 < node->nr)
		return dmda_word_key(node->words[place->index + 1]);
	if (dmda_node_is_in_chunk(place->after, node->key_hi, node->first_key))
		return dmda_in_chunk(place->after->first_key);
	return DMDA_CHUNK_KEYS;
}

static inline struct dmda_node *dmda_nodeset_first(const struct dmda_extents *map)
{
	return dmda_node_entry(rb_first(&map->root));
}

/**
 * dmda_nodeset_get() - a node that is in no tree yet
 * @map: the map
 * @size: smallest size that will do
 * @kept: a node that is not forgotten for it, or NULL
 *
 * Forgets up to MAX_VICTIMS other nodes if there is no memory. If even that does not help,
 * the memory of the last one of them is used, unless it is smaller.
 *
 * Return: an empty node, or NULL.
 */
struct dmda_node *dmda_nodeset_get(struct dmda_extents *map, u32 size,
				   const struct dmda_node *kept);

/**
 * dmda_nodeset_link() - put a node into the tree
 * @map: the map
 * @before: the node behind which it comes, or NULL: it is the first one
 * @node: the node, which counts as the youngest
 */
void dmda_nodeset_link(struct dmda_extents *map, struct dmda_node *before,
		       struct dmda_node *node);

/**
 * dmda_nodeset_forget() - a node with all that it says
 * @map: the map
 * @node: the node; its memory is given back
 */
void dmda_nodeset_forget(struct dmda_extents *map, struct dmda_node *node);

/**
 * dmda_nodeset_slim() - let a node that became much smaller move to one that fits
 * @map: the map
 * @node: the node, which is another one afterwards. If there is no memory it stays.
 */
void dmda_nodeset_slim(struct dmda_extents *map, struct dmda_node *node);

/**
 * dmda_nodeset_make_room() - for one extent at a place
 * @map: the map
 * @place: its @node must not be NULL. Another place may be right afterwards; its @after is
 *	lost.
 *
 * May evict any node but that one.
 *
 * Return: false if there is no memory; then the node is still full.
 */
bool dmda_nodeset_make_room(struct dmda_extents *map, struct dmda_place *place);

/**
 * dmda_nodeset_displace() - make room without memory, by forgetting an extent of the node
 * @map: the map
 * @place: its node is full; its index may be another one afterwards
 */
void dmda_nodeset_displace(struct dmda_extents *map, struct dmda_place *place);

#endif /* DMDA_NODESET_H */
