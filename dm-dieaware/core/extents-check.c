// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every rule of the extent map's structure, for tests: no map in use is looked at as a whole. Apart
 * from extents.c, where what they check is kept.
 */
#include "nodeset.h"

static const char *check_cursor(const struct dmda_extents *map)
{
	struct dmda_extent at;
	struct dmda_place place;

	if (!map->last)
		return map->room || map->at.len ? "There is room behind no extent." : NULL;
	place = dmda_nodeset_place(map, map->at.key_hi, map->at.key_lo);
	if (place.node != map->last || place.index != map->index)
		return "The cursor points at an extent that is not in the tree.";
	dmda_nodeset_read(place.node, place.index, &at);
	if (at.key_lo != map->at.key_lo || at.val_hi != map->at.val_hi ||
	    at.val_lo != map->at.val_lo || at.len != map->at.len)
		return "The cursor does not say what its extent says.";
	if (map->room > U64_MAX - (at.val_lo + at.len - 1))
		return "The room behind the cursor reaches beyond the last number.";
	if (map->room > dmda_nodeset_room_end(&place) - dmda_in_chunk(at.key_lo) - at.len)
		return "The room behind the cursor is not free.";
	return NULL;
}

static const char *check_node(struct dmda_node *node)
{
	u64 *vals = dmda_node_vals_lo(node);
	u32 i, word;

	if (!node->nr || node->nr > node->capacity)
		return "A node has no extents, or more than fit.";
	if (dmda_word_key(node->words[0]) != dmda_in_chunk(node->first_key))
		return "A node does not begin where its first extent does.";
	for (i = 0; i < node->nr; i++) {
		word = node->words[i];
		if (dmda_word_end(word) > DMDA_CHUNK_KEYS)
			return "An extent goes beyond its chunk.";
		if (vals[i] + dmda_word_len(word) - 1 < vals[i])
			return "The values of an extent wrap.";
		if (i + 1 < node->nr && dmda_word_end(word) > dmda_word_key(node->words[i + 1]))
			return "Extents overlap, or are out of order.";
	}
	return NULL;
}

static const char *check_neighbours(struct dmda_node *node, struct dmda_node *next)
{
	struct dmda_extent end;

	if (!next || node->key_hi < next->key_hi)
		return NULL;
	if (node->key_hi > next->key_hi || node->first_key >= next->first_key)
		return "Nodes are out of order.";
	dmda_nodeset_read(node, node->nr - 1, &end);
	if (end.key_lo + (end.len - 1) >= next->first_key)
		return "Nodes overlap.";
	return NULL;
}

static const char *check_free(const struct dmda_extents *map)
{
	u64 first = dmda_free_first(map->free);
	u32 end = dmda_in_chunk(first) + dmda_free_nr(map->free);
	struct dmda_place place;

	if (!map->free)
		return NULL;
	if (!dmda_free_nr(map->free))
		return "There are no free keys behind the first one.";
	place = dmda_nodeset_place(map, 0, first);
	if (end > DMDA_CHUNK_KEYS)
		return "The free keys go beyond their chunk.";
	if (!place.node)
		return NULL;
	if (place.index >= 0 &&
	    dmda_word_end(place.node->words[place.index]) > dmda_in_chunk(first))
		return "The first of the free keys is in an extent.";
	if (dmda_nodeset_room_end(&place) < end)
		return "The free keys reach into an extent.";
	return NULL;
}

const char *dmda_extents_check(const struct dmda_extents *map)
{
	const char *broken = NULL;
	const struct list_head *age;
	struct dmda_node *node;
	u64 nr_extents = 0, nr_bytes = 0, nr_nodes = 0;

	for (node = dmda_nodeset_first(map); node; node = dmda_node_next(node)) {
		broken = check_node(node);
		if (!broken)
			broken = check_neighbours(node, dmda_node_next(node));
		if (broken)
			return broken;
		nr_extents += node->nr;
		nr_bytes += dmda_node_bytes(node->size);
		nr_nodes++;
	}
	if (nr_extents != map->nr_extents)
		return "The nodes do not have as many extents as were counted.";
	if (nr_bytes != map->nr_bytes)
		return "The nodes do not have as much memory as was counted.";
	list_for_each(age, &map->ages)
		nr_nodes--;
	if (nr_nodes)
		return "The list of ages does not have as many nodes as the tree.";
	broken = check_cursor(map);
	return broken ? broken : check_free(map);
}
