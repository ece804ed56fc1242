// SPDX-License-Identifier: GPL-2.0-only
/*
 * How nodes of an extent map come, grow, split, shrink and go.
 *
 * Ages are of nodes: the list has in front the one to which nothing was added for longest.
 * A node of which something was found since eviction last came by goes to the end of it; if
 * the rest of its extents takes half of its memory, that is forgotten at once. So a few
 * extents in use keep no memory of many that are not.
 */
#include "nodeset.h"

/* Nodes with marked extents that one eviction passes over: bounds its time */
#define SECOND_CHANCES	8

/* Nodes that are forgotten for the memory of one: the smallest may go first */
#define MAX_VICTIMS	16

void dmda_extents_init(struct dmda_extents *map, const struct dmda_extents_memory *memory,
		       bool is_wide)
{
	memset(map, 0, sizeof(*map));
	INIT_LIST_HEAD(&map->ages);
	map->memory = memory;
	map->is_wide = is_wide;
}

static struct dmda_node *take_node(struct dmda_extents *map, u32 size, bool is_exchange)
{
	struct dmda_node *node = map->memory->take(map, size, is_exchange);

	if (node) {
		dmda_node_init(node, size, map->is_wide);
		map->nr_bytes += dmda_node_bytes(size);
	}
	return node;
}

static void give_node(struct dmda_extents *map, struct dmda_node *node)
{
	map->nr_bytes -= dmda_node_bytes(node->size);
	map->memory->give(map, node);
}

/* Out of the tree: what the node says is forgotten. Its memory stays. */
static void unlink_node(struct dmda_extents *map, struct dmda_node *node)
{
	dmda_nodeset_touch(map, node);
	map->nr_extents -= node->nr;
	rb_erase(&node->link, &map->root);
	list_del(&node->age);
}

void dmda_nodeset_forget(struct dmda_extents *map, struct dmda_node *node)
{
	unlink_node(map, node);
	give_node(map, node);
}

void dmda_nodeset_link(struct dmda_extents *map, struct dmda_node *before,
		       struct dmda_node *node)
{
	struct rb_node *parent = before ? &before->link : NULL;
	struct rb_node **link = before ? &before->link.rb_right : &map->root.rb_node;

	while (*link) {
		parent = *link;
		link = &parent->rb_left;
	}
	rb_link_node(&node->link, parent, link);
	rb_insert_color(&node->link, &map->root);
	list_add_tail(&node->age, &map->ages);
}

/* A node's extents go on in another one, which takes its place */
static void replace_node(struct dmda_extents *map, struct dmda_node *old, struct dmda_node *node)
{
	dmda_nodeset_touch(map, old);
	node->key_hi = old->key_hi;
	node->first_key = old->first_key;
	dmda_node_copy(node, old, 0, old->nr);
	rb_replace_node(&old->link, &node->link, &map->root);
	list_replace(&old->age, &node->age);
	give_node(map, old);
}

/* A node for so few of its extents that it is worth it to move them, or NULL */
static struct dmda_node *take_smaller(struct dmda_extents *map, const struct dmda_node *node,
				      u32 nr)
{
	/* One more: the next extent that comes should not find it full. */
	u32 size = dmda_node_size_for(nr + 1, map->is_wide);

	if (size >= node->size || 2 * dmda_node_bytes(size) > dmda_node_bytes(node->size) ||
	    dmda_node_bytes(size) > DMDA_EXTENTS_EXCHANGE_BYTES)
		return NULL;
	return take_node(map, size, true);
}

void dmda_nodeset_slim(struct dmda_extents *map, struct dmda_node *node)
{
	struct dmda_node *smaller = take_smaller(map, node, node->nr);

	if (smaller)
		replace_node(map, node, smaller);
}

static u32 nr_used(const struct dmda_node *node)
{
	u32 i, nr = 0;

	for (i = 0; i < node->nr; i++)
		nr += node->words[i] & DMDA_WORD_USED;
	return nr;
}

static void forget_unused(struct dmda_extents *map, struct dmda_node *node)
{
	u32 i;

	for (i = node->nr; i--;) {
		if (node->words[i] & DMDA_WORD_USED)
			continue;
		dmda_node_remove(node, i, 1);
		map->nr_extents--;
		map->nr_evicted++;
	}
	dmda_node_set_first_key(node);
}

/* A node with @nr extents that were used keeps these, and the others if they cost nothing. */
static void give_chance(struct dmda_extents *map, struct dmda_node *node, u32 nr)
{
	struct dmda_node *smaller = take_smaller(map, node, nr);
	u32 i;

	list_move_tail(&node->age, &map->ages);
	if (smaller) {
		dmda_nodeset_touch(map, node);
		forget_unused(map, node);
		replace_node(map, node, smaller);
		node = smaller;
	}
	for (i = 0; i < node->nr; i++)
		node->words[i] &= ~DMDA_WORD_USED;
}

/* The oldest node but @kept, after second chances; NULL if there is none */
static struct dmda_node *find_victim(struct dmda_extents *map, const struct dmda_node *kept)
{
	u32 nr_chances = SECOND_CHANCES;

	while (!list_empty(&map->ages)) {
		struct dmda_node *oldest = list_first_entry(&map->ages, struct dmda_node, age);
		u32 nr;

		if (oldest == kept) {
			if (list_is_singular(&map->ages))
				break;
			list_move_tail(&oldest->age, &map->ages);
			continue;
		}
		nr = nr_used(oldest);
		if (!nr || !nr_chances)
			return oldest;
		nr_chances--;
		give_chance(map, oldest, nr);
	}
	return NULL;
}

u64 dmda_extents_evict(struct dmda_extents *map, u64 nr_bytes)
{
	u64 before = map->nr_bytes;
	struct dmda_node *victim;

	while (before - map->nr_bytes < nr_bytes) {
		victim = find_victim(map, NULL);
		if (!victim)
			break;
		map->nr_evicted += victim->nr;
		dmda_nodeset_forget(map, victim);
	}
	return before - map->nr_bytes;
}

bool dmda_extents_empty(struct dmda_extents *map, u32 nr_nodes)
{
	for (; nr_nodes && !list_empty(&map->ages); nr_nodes--)
		dmda_nodeset_forget(map, list_first_entry(&map->ages, struct dmda_node, age));
	return list_empty(&map->ages);
}

/*
 * A new node, for which others than @kept may have to be forgotten. If even that does not
 * help, the memory of the last one of them is used, whatever its size, if it is no smaller.
 */
struct dmda_node *dmda_nodeset_get(struct dmda_extents *map, u32 size, const struct dmda_node *kept)
{
	struct dmda_node *node = take_node(map, size, false);
	u32 nr_victims;

	for (nr_victims = 1; !node; nr_victims++) {
		struct dmda_node *victim = find_victim(map, kept);

		if (!victim)
			return NULL;
		map->nr_evicted += victim->nr;
		unlink_node(map, victim);
		if (victim->size == size || (victim->size > size && nr_victims == MAX_VICTIMS)) {
			dmda_node_init(victim, victim->size, map->is_wide);
			return victim;
		}
		give_node(map, victim);
		if (nr_victims == MAX_VICTIMS)
			return NULL;
		node = take_node(map, size, false);
	}
	return node;
}

/* A new node behind one that is full, for a part of its extents or for those to come */
static bool split_node(struct dmda_extents *map, struct dmda_place *place)
{
	struct dmda_node *node = place->node, *behind;
	u32 at = place->index + 1;
	/* What comes in order would leave half of each node empty. */
	u32 nr_stay = at == node->nr ? node->nr : node->nr / 2;
	u32 size = dmda_node_size_for(node->nr - nr_stay + 1, map->is_wide);

	behind = dmda_nodeset_get(map, size, node);
	if (!behind)
		return false;
	behind->key_hi = node->key_hi;
	if (nr_stay < node->nr) {
		dmda_nodeset_touch(map, node);
		behind->first_key = dmda_node_base(node) + dmda_word_key(node->words[nr_stay]);
		dmda_node_copy(behind, node, nr_stay, node->nr - nr_stay);
		node->nr = nr_stay;
	}
	dmda_nodeset_link(map, node, behind);
	if (at >= nr_stay) {
		place->node = behind;
		place->index -= nr_stay;
	}
	return true;
}

/* Make room for one extent behind a place. The place may be another then; @after is lost. */
bool dmda_nodeset_make_room(struct dmda_extents *map, struct dmda_place *place)
{
	struct dmda_node *node = place->node, *larger;

	if (node->nr < node->capacity)
		return true;
	if (node->size == DMDA_NODE_SIZES - 1)
		return split_node(map, place);
	larger = dmda_nodeset_get(map, node->size + 1, node);
	if (!larger)
		return false;
	replace_node(map, node, larger);
	place->node = larger;
	return true;
}

/* Without memory: another extent of the node goes, if possible one that was not used */
void dmda_nodeset_displace(struct dmda_extents *map, struct dmda_place *place)
{
	struct dmda_node *node = place->node;
	u32 victim = 0;

	while (victim < node->nr && node->words[victim] & DMDA_WORD_USED)
		victim++;
	if (victim == node->nr)
		victim = 0;
	dmda_nodeset_touch(map, node);
	dmda_node_remove(node, victim, 1);
	if (node->nr)
		dmda_node_set_first_key(node);
	if ((int)victim <= place->index)
		place->index--;
	map->nr_extents--;
	map->nr_evicted++;
}
