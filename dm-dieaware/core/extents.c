// SPDX-License-Identifier: GPL-2.0-only
/*
 * The extent map: a red-black tree of nodes in key order, a list of them in order of age, and
 * a cursor.
 *
 * Almost every call is about the extent of the call before it, or about the free keys
 * right behind that: a file being written or read in order. The cursor (last, index, room,
 * at) answers those without a descent. It may know of less room than there is, never of
 * more: whoever moves extents of its node, or cuts one, drops it.
 *
 * What is cleared is often free already, as are the keys around it: a file that nobody knows is
 * written in an area of its own. These free keys are remembered, until something is set anywhere.
 *
 * The tree has no node without extents, no extent without keys and no two that share a key.
 * A node reaches up to where the next one of its chunk begins. Neighbours that continue each
 * other are joined when one of them is set, also those of two nodes.
 */
#include "nodeset.h"

/* Does @b begin, in key and value, where @a of the same chunk ends? */
static inline bool continues(const struct dmda_extent *a, const struct dmda_extent *b)
{
	return b->key_lo - a->key_lo == a->len && b->val_lo - a->val_lo == a->len &&
	       a->val_hi == b->val_hi && b->val_lo > a->val_lo;
}

/* How far the extent at a place could grow, which says @at */
static inline u32 room_behind(const struct dmda_place *place, const struct dmda_extent *at)
{
	u32 room = dmda_nodeset_room_end(place) - dmda_in_chunk(at->key_lo) - at->len;

	return min_t(u64, room, U64_MAX - (at->val_lo + at->len - 1));
}

/* Remember the extent at a place as the last one */
static inline void point_cursor(struct dmda_extents *map, const struct dmda_place *place)
{
	dmda_nodeset_read(place->node, place->index, &map->at);
	map->last = place->node;
	map->index = place->index;
	map->room = room_behind(place, &map->at);
}

/* Apart, so that others do not pay for its registers */
static noinline void look_for_room(struct dmda_extents *map)
{
	struct dmda_place place = {
		.node = map->last,
		.index = map->index,
		.after = dmda_node_next(map->last),
	};

	map->room = room_behind(&place, &map->at);
}

/*
 * Point the cursor at the last extent of a node that begins at the key or before it. Return:
 * whether the key is one of its own.
 */
static inline bool look_in_node(struct dmda_extents *map, struct dmda_node *node, u64 key_lo)
{
	u32 index = dmda_node_search(node, dmda_in_chunk(key_lo));
	u32 word = node->words[index];
	u32 offset = dmda_in_chunk(key_lo) - dmda_word_key(word);
	struct dmda_extent *at = &map->at;

	map->last = node;
	map->index = index;
	map->room = 0;
	at->key_hi = node->key_hi;
	at->key_lo = key_lo - offset;
	at->val_lo = dmda_node_vals_lo(node)[index];
	at->len = dmda_word_len(word);
	if (node->is_wide)
		at->val_hi = dmda_node_vals_hi(node)[index];
	return offset < at->len;
}

/* Apart, so that free keys behind the cursor do not pay for the registers of a descent */
static noinline bool find_slowly(struct dmda_extents *map, u64 key_hi, u64 key_lo)
{
	struct dmda_node *node = map->last;
	bool found;

	/* The cursor's node has many neighbours. What is not in it may be in another one. */
	found = dmda_node_is_in_chunk(node, key_hi, key_lo) && key_lo >= node->first_key &&
		look_in_node(map, node, key_lo);
	if (!found) {
		node = dmda_nodeset_descend(map, key_hi, key_lo).before;
		if (!dmda_node_is_in_chunk(node, key_hi, key_lo))
			return false;
		found = look_in_node(map, node, key_lo);
	}
	/* Behind the last key, whether it was found or not, something is likely to be set. */
	if (!found || key_lo - map->at.key_lo == map->at.len - 1)
		look_for_room(map);
	return found;
}

bool dmda_extents_turn_to(struct dmda_extents *map, u64 key_hi, u64 key_lo)
{
	const struct dmda_extent *at = &map->at;

	/* Is it one of the free keys that the cursor knows behind its extent? */
	if (key_lo - at->key_lo < at->len + map->room && at->key_hi == key_hi)
		return false;
	return find_slowly(map, key_hi, key_lo);
}

/* To the next extent of the chunk, if there is one */
static bool go_on(struct dmda_place *place)
{
	const struct dmda_node *node = place->node;

	if (place->index + 1 < node->nr) {
		place->index++;
		return true;
	}
	if (!dmda_node_is_in_chunk(place->after, node->key_hi, node->first_key))
		return false;
	place->node = place->after;
	place->after = dmda_node_next(place->node);
	place->index = 0;
	return true;
}

u32 dmda_extents_nr_other(const struct dmda_extents *map, const struct dmda_extent *extent)
{
	struct dmda_place place = dmda_nodeset_place(map, extent->key_hi, extent->key_lo);
	struct dmda_extent other;
	u64 nr_before = 0;

	if (!place.node || (place.index < 0 && !go_on(&place)))
		return extent->len;
	do {
		dmda_nodeset_read(place.node, place.index, &other);
		/* Keys before @other cannot be what we look for */
		if (other.key_lo > extent->key_lo)
			nr_before = other.key_lo - extent->key_lo;
		if (nr_before >= extent->len)
			break;
		if (extent->key_lo + nr_before - other.key_lo < other.len &&
		    other.val_hi == extent->val_hi &&
		    other.val_lo - extent->val_lo == other.key_lo - extent->key_lo)
			return nr_before;
	} while (go_on(&place));
	return extent->len;
}

u32 dmda_extents_nr_unknown(const struct dmda_extents *map, u64 key_hi, u64 key_lo, u32 nr_keys)
{
	struct dmda_place place = dmda_nodeset_place(map, key_hi, key_lo);
	struct dmda_extent other;

	if (!place.node || (place.index < 0 && !go_on(&place)))
		return nr_keys;
	do {
		dmda_nodeset_read(place.node, place.index, &other);
		if (other.key_lo > key_lo)
			return min_t(u64, other.key_lo - key_lo, nr_keys);
		if (key_lo - other.key_lo < other.len)
			return 0;
	} while (go_on(&place));
	return nr_keys;
}

/* Add an extent right behind a place in a node with room, and be there */
static void add_extent(struct dmda_extents *map, struct dmda_place *place,
		       const struct dmda_extent *wanted, bool used)
{
	struct dmda_node *node = place->node;
	u32 word = dmda_word(dmda_in_chunk(wanted->key_lo), wanted->len);

	dmda_nodeset_touch(map, node);
	dmda_node_insert(node, ++place->index, word | (used ? DMDA_WORD_USED : 0),
			 wanted->val_hi, wanted->val_lo);
	if (!place->index)
		node->first_key = wanted->key_lo;
	map->nr_extents++;
	list_move_tail(&node->age, &map->ages);
}

/* Does an extent begin before the range, and end behind it? */
static bool is_inside(const struct dmda_place *place, u64 first, u64 final)
{
	u64 base;
	u32 word;

	if (!place->node || place->index < 0)
		return false;
	base = dmda_node_base(place->node);
	word = place->node->words[place->index];
	return base + dmda_word_key(word) < first && final - base < dmda_word_end(word) - 1;
}

/*
 * Cut the range out of the middle of an extent. Without memory for the second part, the
 * shorter one is forgotten.
 */
static void cut_middle(struct dmda_extents *map, struct dmda_place *place, u64 first, u64 final)
{
	struct dmda_node *node = place->node;
	u32 index = place->index, old_word = node->words[index];
	struct dmda_extent front, tail;
	u32 used = old_word & DMDA_WORD_USED;

	dmda_nodeset_touch(map, node);
	dmda_nodeset_read(node, index, &front);
	tail = front;
	front.len = first - front.key_lo;
	tail.key_lo = final + 1;
	tail.len -= tail.key_lo - front.key_lo;
	tail.val_lo += tail.key_lo - front.key_lo;

	node->words[index] = dmda_word(dmda_in_chunk(front.key_lo), front.len) | used;
	if (dmda_nodeset_make_room(map, place)) {
		add_extent(map, place, &tail, used);
	} else if (front.len < tail.len) {
		node->words[index] = old_word;
		dmda_node_trim_front(node, index, dmda_in_chunk(tail.key_lo));
		dmda_node_set_first_key(node);
	}
}

/*
 * Forget the keys [first, end) of the node's chunk, which are not in the middle of an extent.
 * Return: number of extents that are gone.
 */
static u32 cut_node(struct dmda_extents *map, struct dmda_node *node, u32 first, u32 end)
{
	int index = dmda_node_search(node, first);
	u32 from = index + 1, to, word;

	dmda_nodeset_touch(map, node);
	if (index >= 0 && dmda_word_end(node->words[index]) > first) {
		word = node->words[index];
		if (dmda_word_key(word) == first)
			from = index;
		else
			node->words[index] = dmda_word(dmda_word_key(word),
						       first - dmda_word_key(word)) |
					     (word & DMDA_WORD_USED);
	}
	for (to = from; to < node->nr && dmda_word_end(node->words[to]) <= end; to++)
		;
	if (to < node->nr && dmda_word_key(node->words[to]) < end)
		dmda_node_trim_front(node, to, end);
	dmda_node_remove(node, from, to - from);
	map->nr_extents -= to - from;
	if (node->nr)
		dmda_node_set_first_key(node);
	return to - from;
}

/**
 * struct keys - keys with the same upper half
 * @key_hi: upper half
 * @first: lower half of the first key
 * @final: lower half of the last key
 */
struct keys {
	u64 key_hi;
	u64 first;
	u64 final;
};

/* Forget a range, which begins at @place, until @budget extents or a few more are gone */
static bool cut(struct dmda_extents *map, struct dmda_place *place, const struct keys *range,
		u32 budget)
{
	struct dmda_node *node = place->node ? place->node : place->after, *next;
	u64 first = range->first, final = range->final;
	u32 nr_gone = 0, nr;

	if (is_inside(place, first, final)) {
		cut_middle(map, place, first, final);
		return true;
	}
	for (; node && node->key_hi == range->key_hi && node->first_key <= final; node = next) {
		u64 base = dmda_node_base(node);

		if (nr_gone >= budget)
			return false;
		next = dmda_node_next(node);
		nr = cut_node(map, node, first > base ? first - base : 0,
			      min_t(u64, final - base, DMDA_CHUNK_KEYS - 1) + 1);
		nr_gone += nr;
		if (!node->nr)
			dmda_nodeset_forget(map, node);
		else if (nr)
			dmda_nodeset_slim(map, node);
	}
	return true;
}

/*
 * Is all of a range, which begins at @place, between two extents of one chunk? Then remember the
 * free keys there.
 */
static bool note_free(struct dmda_extents *map, const struct dmda_place *place,
		      const struct keys *range)
{
	u64 base = range->first - dmda_in_chunk(range->first);
	u32 begin = 0, end = DMDA_CHUNK_KEYS;

	if (place->node && place->index >= 0)
		begin = dmda_word_end(place->node->words[place->index]);
	if (place->node)
		end = dmda_nodeset_room_end(place);
	if (dmda_in_chunk(range->first) < begin || range->final - base >= end)
		return false;
	if (!range->key_hi && base <= U64_MAX >> DMDA_FREE_BITS)
		WRITE_ONCE(map->free, (base + begin) << DMDA_FREE_BITS | (end - begin));
	return true;
}

/* An extent of its own in a gap */
static void fill_with_new(struct dmda_extents *map, struct dmda_place *place,
			  const struct dmda_extent *wanted)
{
	struct dmda_gap gap;

	if (!place->node) {
		place->node = dmda_nodeset_get(map, 0, NULL);
		if (!place->node)
			return;
		place->node->key_hi = wanted->key_hi;
		/* After the eviction, which may have taken whatever was before */
		gap = dmda_nodeset_descend(map, wanted->key_hi, wanted->key_lo);
		dmda_nodeset_link(map, gap.before, place->node);
	} else if (!dmda_nodeset_make_room(map, place)) {
		dmda_nodeset_displace(map, place);
	}
	add_extent(map, place, wanted, false);
	place->after = dmda_node_next(place->node);
	point_cursor(map, place);
}

/* Let the extent at @place grow by @len keys, the last of which are those of @joined, if any */
static void grow_behind(struct dmda_extents *map, struct dmda_place *place, u32 len,
			struct dmda_place *joined)
{
	struct dmda_node *node = joined ? joined->node : NULL;
	u32 *word;

	if (node) {
		u32 key = dmda_word_key(node->words[joined->index]);

		cut_node(map, node, key, dmda_word_end(node->words[joined->index]));
		if (!node->nr) {
			place->after = joined->after;
			dmda_nodeset_forget(map, node);
		}
	}
	word = &place->node->words[place->index];
	*word = (*word + (len << DMDA_WORD_LEN_SHIFT)) | DMDA_WORD_USED;
	point_cursor(map, place);
}

/* Let the extent at @place begin where @wanted does, which it continues */
static void grow_ahead(struct dmda_extents *map, struct dmda_place *place,
		       const struct dmda_extent *wanted)
{
	struct dmda_node *node = place->node;
	u32 len = dmda_word_len(node->words[place->index]);

	node->words[place->index] = dmda_word(dmda_in_chunk(wanted->key_lo), wanted->len + len) |
				    DMDA_WORD_USED;
	dmda_node_vals_lo(node)[place->index] = wanted->val_lo;
	dmda_node_set_first_key(node);
	point_cursor(map, place);
}

/* Fill a gap: by growing a neighbour, else with an extent of its own */
static void fill_gap(struct dmda_extents *map, struct dmda_place *place,
		     const struct dmda_extent *wanted)
{
	struct dmda_extent before, after;
	struct dmda_place next = *place;
	bool joins_after = false;

	if (place->node && go_on(&next)) {
		dmda_nodeset_read(next.node, next.index, &after);
		joins_after = continues(wanted, &after);
	}
	if (place->node && place->index >= 0) {
		dmda_nodeset_read(place->node, place->index, &before);
		if (continues(&before, wanted)) {
			grow_behind(map, place, wanted->len + (joins_after ? after.len : 0),
				    joins_after ? &next : NULL);
			return;
		}
	}
	if (joins_after)
		grow_ahead(map, &next, wanted);
	else
		fill_with_new(map, place, wanted);
}

/* Is everything that @wanted says a part of what is said at the place? */
static bool includes(const struct dmda_place *place, const struct dmda_extent *wanted)
{
	struct dmda_extent extent;
	u64 offset;

	if (!place->node || place->index < 0)
		return false;
	dmda_nodeset_read(place->node, place->index, &extent);
	offset = wanted->key_lo - extent.key_lo;
	return extent.val_hi == wanted->val_hi && offset < extent.len &&
	       wanted->len <= extent.len - offset && wanted->val_lo - extent.val_lo == offset;
}

/* Are keys of @wanted in an extent already? */
static bool is_taken(const struct dmda_place *place, const struct dmda_extent *wanted)
{
	u32 first = dmda_in_chunk(wanted->key_lo);

	if (!place->node)
		return false;
	if (place->index >= 0 && dmda_word_end(place->node->words[place->index]) > first)
		return true;
	return dmda_nodeset_room_end(place) < first + wanted->len;
}

/*
 * A new extent behind the last one: the cursor knows that the keys are free and that no
 * neighbour is reached, so nothing has to be looked up or cut.
 */
static bool add_in_room(struct dmda_extents *map, const struct dmda_extent *wanted)
{
	struct dmda_node *node = map->last;
	u64 nr_skipped = wanted->key_lo - map->at.key_lo - map->at.len;

	if (!node || node->key_hi != wanted->key_hi || node->nr == node->capacity ||
	    nr_skipped >= map->room || wanted->len >= map->room - nr_skipped ||
	    wanted->len > U64_MAX - wanted->val_lo)
		return false;

	dmda_node_insert(node, ++map->index, dmda_word(dmda_in_chunk(wanted->key_lo), wanted->len),
			 wanted->val_hi, wanted->val_lo);
	list_move_tail(&node->age, &map->ages);
	map->nr_extents++;
	map->at = *wanted;
	map->room = min_t(u64, map->room - nr_skipped - wanted->len,
			  U64_MAX - (wanted->val_lo + wanted->len - 1));
	return true;
}

static void set_anywhere(struct dmda_extents *map, struct dmda_extent wanted)
{
	struct dmda_place place = dmda_nodeset_place(map, wanted.key_hi, wanted.key_lo);

	wanted.len = min(wanted.len, DMDA_CHUNK_KEYS - dmda_in_chunk(wanted.key_lo));
	if (includes(&place, &wanted)) {
		place.node->words[place.index] |= DMDA_WORD_USED;
		return;
	}
	if (is_taken(&place, &wanted)) {
		struct keys range = {
			.key_hi = wanted.key_hi,
			.first = wanted.key_lo,
			.final = wanted.key_lo + (wanted.len - 1),
		};

		cut(map, &place, &range, U32_MAX);
		place = dmda_nodeset_place(map, wanted.key_hi, wanted.key_lo);
	}
	if (wanted.len - 1 <= U64_MAX - wanted.val_lo)
		fill_gap(map, &place, &wanted);
}

/* Apart, so that growing the last extent does not pay for the registers of the rest */
static noinline void set_slowly(struct dmda_extents *map, const struct dmda_extent *extent)
{
	if (extent->len && !add_in_room(map, extent))
		set_anywhere(map, *extent);
}

void dmda_extents_set(struct dmda_extents *map, const struct dmda_extent *extent)
{
	struct dmda_extent *at = &map->at;

	WRITE_ONCE(map->free, 0);
	/* A file goes on where it was: less than all the room, so it meets no neighbour */
	if (extent->len < map->room && extent->key_lo - at->key_lo == at->len &&
	    extent->val_lo - at->val_lo == at->len && extent->key_hi == at->key_hi &&
	    extent->val_hi == at->val_hi) {
		u32 *word = &map->last->words[map->index];

		*word = (*word + (extent->len << DMDA_WORD_LEN_SHIFT)) | DMDA_WORD_USED;
		at->len += extent->len;
		map->room -= extent->len;
		return;
	}
	set_slowly(map, extent);
}

/* Apart, so that what is known to be free does not pay for the registers of a descent */
static noinline bool clear_slowly(struct dmda_extents *map, u64 key_hi, u64 first, u64 final)
{
	struct keys range = { .key_hi = key_hi, .first = first, .final = final };
	struct dmda_place place = dmda_nodeset_place(map, key_hi, first);

	return note_free(map, &place, &range) ||
	       cut(map, &place, &range, DMDA_EXTENTS_CLEAR_BATCH);
}

bool dmda_extents_clear(struct dmda_extents *map, u64 key_hi, u64 key_lo, u64 nr_keys)
{
	u64 final;

	if (!nr_keys)
		return true;
	if (check_add_overflow(key_lo, nr_keys - 1, &final))
		final = U64_MAX;
	if (!key_hi && dmda_extents_are_free(map, key_lo, nr_keys))
		return true;
	return clear_slowly(map, key_hi, key_lo, final);
}
