// SPDX-License-Identifier: GPL-2.0-only
/*
 * The extent map: a red-black tree in key order, a list in order of age, and a cursor.
 *
 * Almost every call is about the extent of the call before it, or about the free keys
 * right behind that: a file being written or read in order. The cursor (last, room)
 * answers those without a descent. It may know of less room than there is, never of
 * more: whoever cuts an extent sets room to 0.
 *
 * The tree has no extent with len 0 and no two that share a key. Neighbours that
 * continue each other are joined when one of them is set; a cut can leave two behind
 * that could be joined only where the joint length had not fitted before.
 */
#include "extents.h"

/* Marked extents that one eviction passes over: bounds its time */
#define SECOND_CHANCES	8

static inline struct dmda_extent *entry_of(struct rb_node *node)
{
	return rb_entry_safe(node, struct dmda_extent, node);
}

static inline struct dmda_extent *next_of(const struct dmda_extent *extent)
{
	return entry_of(rb_next(&extent->node));
}

static inline u64 last_key(const struct dmda_extent *extent)
{
	return extent->key_lo + extent->len - 1;
}

/* Does @b begin, in key and value, where @a ends, and can they be one extent? */
static inline bool continues(const struct dmda_extent *a, const struct dmda_extent *b)
{
	return b->key_lo - a->key_lo == a->len && b->val_lo - a->val_lo == a->len &&
	       a->key_hi == b->key_hi && a->val_hi == b->val_hi &&
	       b->key_lo > a->key_lo && b->val_lo > a->val_lo &&
	       b->len <= U32_MAX - a->len;
}

void dmda_extents_init(struct dmda_extents *map)
{
	memset(map, 0, sizeof(*map));
	INIT_LIST_HEAD(&map->ages);
	INIT_LIST_HEAD(&map->spares);
}

void dmda_extents_give(struct dmda_extents *map, struct dmda_extent *spare)
{
	list_add(&spare->age, &map->spares);
	map->nr_spares++;
}

struct dmda_extent *dmda_extents_take(struct dmda_extents *map)
{
	struct dmda_extent *spare;

	if (!map->nr_spares)
		return NULL;
	spare = list_first_entry(&map->spares, struct dmda_extent, age);
	list_del(&spare->age);
	map->nr_spares--;
	return spare;
}

static void forget(struct dmda_extents *map, struct dmda_extent *extent)
{
	if (map->last == extent) {
		map->last = NULL;
		map->room = 0;
	}
	rb_erase(&extent->node, &map->root);
	list_move(&extent->age, &map->spares);
	map->nr_extents--;
	map->nr_spares++;
}

u32 dmda_extents_evict(struct dmda_extents *map, u32 nr)
{
	u32 nr_evicted = 0;
	u32 nr_chances = SECOND_CHANCES;

	while (nr_evicted < nr && map->nr_extents) {
		struct dmda_extent *oldest = list_first_entry(&map->ages, struct dmda_extent, age);

		if (oldest->used && nr_chances) {
			oldest->used = false;
			list_move_tail(&oldest->age, &map->ages);
			nr_chances--;
			continue;
		}
		forget(map, oldest);
		nr_evicted++;
		nr_chances = SECOND_CHANCES;
	}
	map->nr_evicted += nr_evicted;
	return nr_evicted;
}

/**
 * struct gap - a place between two extents
 * @before: the last extent that begins there or lower, of any key_hi, or NULL
 * @after: the first extent above it, of any key_hi, or NULL
 */
struct gap {
	struct dmda_extent *before;
	struct dmda_extent *after;
};

static inline struct gap descend(const struct dmda_extents *map, u64 key_hi, u64 key_lo)
{
	struct rb_node *node = map->root.rb_node;
	struct gap gap = { NULL, NULL };

	while (node) {
		struct dmda_extent *extent = rb_entry(node, struct dmda_extent, node);

		if (key_hi < extent->key_hi ||
		    (key_hi == extent->key_hi && key_lo < extent->key_lo)) {
			gap.after = extent;
			node = node->rb_left;
		} else {
			gap.before = extent;
			node = node->rb_right;
		}
	}
	return gap;
}

/* Is the key one of the cursor's extent, or of the free ones that it knows behind it? */
static inline bool is_near_cursor(const struct dmda_extents *map, u64 key_hi, u64 key_lo)
{
	const struct dmda_extent *last = map->last;

	/* The sum is at most U32_MAX */
	return last && last->key_hi == key_hi && key_lo - last->key_lo < last->len + map->room;
}

static inline struct gap gap_at(const struct dmda_extents *map, u64 key_hi, u64 key_lo)
{
	if (is_near_cursor(map, key_hi, key_lo))
		return (struct gap){ map->last, next_of(map->last) };
	return descend(map, key_hi, key_lo);
}

/* Remember the extent as the last one, and how far it could grow */
static inline void point_cursor(struct dmda_extents *map, struct dmda_extent *extent,
				const struct dmda_extent *after)
{
	u64 room = U64_MAX - last_key(extent);

	if (after && after->key_hi == extent->key_hi)
		room = after->key_lo - last_key(extent) - 1;
	room = min(room, U64_MAX - (extent->val_lo + extent->len - 1));
	map->last = extent;
	map->room = min_t(u64, room, U32_MAX - extent->len);
}

bool dmda_extents_find(struct dmda_extents *map, u64 key_hi, u64 key_lo,
		       struct dmda_extent_hit *hit)
{
	struct dmda_extent *extent = map->last;
	u64 offset;

	if (!is_near_cursor(map, key_hi, key_lo)) {
		struct gap gap = descend(map, key_hi, key_lo);

		extent = gap.before;
		if (!extent || extent->key_hi != key_hi)
			return false;
		/* Also for a miss: a set of the same key is likely to follow */
		point_cursor(map, extent, gap.after);
	}

	offset = key_lo - extent->key_lo;
	if (offset >= extent->len)
		return false;
	extent->used = true;
	hit->val_hi = extent->val_hi;
	hit->val_lo = extent->val_lo + offset;
	hit->len = extent->len - (u32)offset;
	return true;
}

u32 dmda_extents_nr_other(const struct dmda_extents *map, const struct dmda_extent *extent)
{
	struct gap gap = descend(map, extent->key_hi, extent->key_lo);
	const struct dmda_extent *other = gap.before;
	u64 nr_before = 0;

	if (!other || other->key_hi != extent->key_hi)
		other = gap.after;
	for (; other && other->key_hi == extent->key_hi; other = next_of(other)) {
		/* Keys before @other cannot be what we look for */
		if (other->key_lo > extent->key_lo)
			nr_before = other->key_lo - extent->key_lo;
		if (nr_before >= extent->len)
			break;
		if (extent->key_lo + nr_before - other->key_lo < other->len &&
		    other->val_hi == extent->val_hi &&
		    other->val_lo - extent->val_lo == other->key_lo - extent->key_lo)
			return nr_before;
	}
	return extent->len;
}

/* Put a filled extent into the tree, right behind @before, or first if that is NULL */
static void link_behind(struct dmda_extents *map, struct dmda_extent *before,
			struct dmda_extent *extent)
{
	struct rb_node *parent = before ? &before->node : NULL;
	struct rb_node **link = before ? &before->node.rb_right : &map->root.rb_node;

	while (*link) {
		parent = *link;
		link = &parent->rb_left;
	}
	rb_link_node(&extent->node, parent, link);
	rb_insert_color(&extent->node, &map->root);
	list_add_tail(&extent->age, &map->ages);
	map->nr_extents++;
}

static inline void copy_content(struct dmda_extent *to, const struct dmda_extent *from)
{
	to->key_hi = from->key_hi;
	to->key_lo = from->key_lo;
	to->val_hi = from->val_hi;
	to->val_lo = from->val_lo;
	to->len = from->len;
}

/* Cut the first keys off, up to @end, which lies inside the extent */
static void trim_front(struct dmda_extent *extent, u64 end)
{
	u64 nr_keys = end - extent->key_lo;

	extent->key_lo += nr_keys;
	extent->val_lo += nr_keys;
	extent->len -= nr_keys;
}

/* Keys first_key to final_key, both included so that the last key of all has a number */
struct key_range {
	u64 key_hi;
	u64 first_key;
	u64 final_key;
};

static inline bool begins_in(const struct dmda_extent *extent, const struct key_range *range)
{
	return extent && extent->key_hi == range->key_hi && extent->key_lo <= range->final_key;
}

/*
 * Cut a range out of the middle of gap.before. Without memory for the second part, the
 * shorter one is forgotten.
 */
static struct gap split(struct dmda_extents *map, struct gap gap, const struct key_range *range)
{
	struct dmda_extent *extent = gap.before;
	u32 nr_front = range->first_key - extent->key_lo;
	struct dmda_extent *tail = dmda_extents_take(map);

	if (tail) {
		copy_content(tail, extent);
		tail->used = extent->used;
		trim_front(tail, range->final_key + 1);
		extent->len = nr_front;
		link_behind(map, extent, tail);
		gap.after = tail;
	} else if (nr_front >= last_key(extent) - range->final_key) {
		extent->len = nr_front;
	} else {
		trim_front(extent, range->final_key + 1);
		gap.before = entry_of(rb_prev(&extent->node));
		gap.after = extent;
	}
	return gap;
}

/*
 * Make a range free, given the gap at its first key. Stops when @budget extents are
 * forgotten; if that was too few, the first one left in the range is gap.after.
 */
static struct gap carve(struct dmda_extents *map, struct gap gap, const struct key_range *range,
			u32 budget)
{
	struct dmda_extent *before = gap.before;

	if (before && before->key_hi == range->key_hi && last_key(before) >= range->first_key) {
		map->room = 0;
		if (before->key_lo != range->first_key && last_key(before) > range->final_key)
			return split(map, gap, range);
		if (before->key_lo == range->first_key) {
			gap.after = before;
			gap.before = entry_of(rb_prev(&before->node));
		} else {
			before->len = range->first_key - before->key_lo;
		}
	}

	while (begins_in(gap.after, range)) {
		struct dmda_extent *extent = gap.after;

		if (last_key(extent) > range->final_key) {
			trim_front(extent, range->final_key + 1);
			break;
		}
		if (!budget--)
			break;
		gap.after = next_of(extent);
		forget(map, extent);
	}
	return gap;
}

/* A spare becomes an extent of its own. Return: the extent, or NULL without a spare. */
static struct dmda_extent *add_extent(struct dmda_extents *map, struct dmda_extent *before,
				      const struct dmda_extent *wanted)
{
	struct dmda_extent *extent = dmda_extents_take(map);

	if (extent) {
		copy_content(extent, wanted);
		extent->used = false;
		link_behind(map, before, extent);
	}
	return extent;
}

/* Fill a gap: by growing a neighbour, else with an extent of its own */
static void fill_gap(struct dmda_extents *map, const struct gap *gap,
		     const struct dmda_extent *wanted)
{
	struct dmda_extent *before = gap->before;
	struct dmda_extent *after = gap->after;

	if (before && continues(before, wanted)) {
		before->len += wanted->len;
		before->used = true;
		if (after && continues(before, after)) {
			before->len += after->len;
			forget(map, after);
			after = next_of(before);
		}
		point_cursor(map, before, after);
	} else if (after && continues(wanted, after)) {
		after->key_lo = wanted->key_lo;
		after->val_lo = wanted->val_lo;
		after->len += wanted->len;
		after->used = true;
		point_cursor(map, after, next_of(after));
	} else {
		before = add_extent(map, before, wanted);
		if (before)
			point_cursor(map, before, after);
	}
}

/* Is everything that @wanted says a part of what @extent says? */
static bool includes(const struct dmda_extent *extent, const struct dmda_extent *wanted)
{
	u64 offset = wanted->key_lo - extent->key_lo;

	return extent->key_hi == wanted->key_hi && extent->val_hi == wanted->val_hi &&
	       offset < extent->len && wanted->len <= extent->len - offset &&
	       wanted->val_lo - extent->val_lo == offset;
}

/*
 * A new extent behind the last one: the cursor knows that the keys are free and that no
 * neighbour is reached, so nothing has to be looked up or cut.
 */
static bool add_in_room(struct dmda_extents *map, const struct dmda_extent *wanted)
{
	struct dmda_extent *last = map->last;
	u64 nr_skipped;

	if (!last || last->key_hi != wanted->key_hi || !map->nr_spares)
		return false;
	nr_skipped = wanted->key_lo - last->key_lo - last->len;
	if (nr_skipped >= map->room || wanted->len >= map->room - nr_skipped ||
	    wanted->len > U64_MAX - wanted->val_lo)
		return false;

	map->last = add_extent(map, last, wanted);
	map->room -= nr_skipped + wanted->len;
	map->room = min_t(u64, map->room, U64_MAX - (wanted->val_lo + wanted->len - 1));
	return true;
}

static void set_anywhere(struct dmda_extents *map, struct dmda_extent wanted)
{
	struct key_range range;
	struct gap gap;

	if (wanted.len - 1 > U64_MAX - wanted.key_lo)
		wanted.len = U64_MAX - wanted.key_lo + 1;
	/* Before any look-up, since eviction may take every extent */
	if (map->nr_spares < DMDA_EXTENTS_SET_SPARES)
		dmda_extents_evict(map, DMDA_EXTENTS_SET_SPARES - map->nr_spares);

	gap = gap_at(map, wanted.key_hi, wanted.key_lo);
	if (gap.before && includes(gap.before, &wanted)) {
		gap.before->used = true;
		return;
	}
	range.key_hi = wanted.key_hi;
	range.first_key = wanted.key_lo;
	range.final_key = last_key(&wanted);
	gap = carve(map, gap, &range, U32_MAX);
	if (wanted.len - 1 <= U64_MAX - wanted.val_lo)
		fill_gap(map, &gap, &wanted);
}

/* Apart, so that growing the last extent does not pay for the registers of the rest */
static noinline void set_slowly(struct dmda_extents *map, const struct dmda_extent *extent)
{
	if (extent->len && !add_in_room(map, extent))
		set_anywhere(map, *extent);
}

void dmda_extents_set(struct dmda_extents *map, const struct dmda_extent *extent)
{
	struct dmda_extent *last = map->last;

	/* A file goes on where it was: less than all the room, so it meets no neighbour */
	if (last && extent->len < map->room && extent->key_lo - last->key_lo == last->len &&
	    extent->val_lo - last->val_lo == last->len && extent->key_hi == last->key_hi &&
	    extent->val_hi == last->val_hi) {
		last->len += extent->len;
		last->used = true;
		map->room -= extent->len;
		return;
	}
	set_slowly(map, extent);
}

bool dmda_extents_clear(struct dmda_extents *map, u64 key_hi, u64 key_lo, u64 nr_keys)
{
	struct key_range range = { .key_hi = key_hi, .first_key = key_lo };
	struct gap gap;

	if (!nr_keys)
		return true;
	if (check_add_overflow(key_lo, nr_keys - 1, &range.final_key))
		range.final_key = U64_MAX;
	gap = carve(map, gap_at(map, key_hi, key_lo), &range, DMDA_EXTENTS_CLEAR_BATCH);
	return !begins_in(gap.after, &range);
}

static struct dmda_extent *first_of(const struct dmda_extents *map)
{
	return entry_of(rb_first(&map->root));
}

static const char *check_cursor(const struct dmda_extents *map)
{
	const struct dmda_extent *last = map->last;
	const struct dmda_extent *next;

	if (!last)
		return map->room ? "There is room behind no extent." : NULL;
	if (descend(map, last->key_hi, last->key_lo).before != last)
		return "The cursor points at an extent that is not in the tree.";
	if (map->room > U32_MAX - last->len)
		return "The room behind the cursor exceeds the length of an extent.";
	if (map->room > U64_MAX - last_key(last) ||
	    map->room > U64_MAX - (last->val_lo + last->len - 1))
		return "The room behind the cursor reaches beyond the last number.";
	next = next_of(last);
	if (next && next->key_hi == last->key_hi &&
	    map->room > next->key_lo - last_key(last) - 1)
		return "The room behind the cursor is not free.";
	return NULL;
}

static const char *check_extent(const struct dmda_extent *extent, const struct dmda_extent *next)
{
	if (!extent->len)
		return "An extent has no keys.";
	if (last_key(extent) < extent->key_lo)
		return "The keys of an extent wrap.";
	if (extent->val_lo + extent->len - 1 < extent->val_lo)
		return "The values of an extent wrap.";
	if (!next || extent->key_hi < next->key_hi)
		return NULL;
	if (extent->key_hi > next->key_hi || extent->key_lo >= next->key_lo)
		return "Extents are out of order.";
	if (last_key(extent) >= next->key_lo)
		return "Extents overlap.";
	return NULL;
}

static u64 list_length(const struct list_head *list)
{
	const struct list_head *entry;
	u64 length = 0;

	list_for_each(entry, list)
		length++;
	return length;
}

const char *dmda_extents_check(const struct dmda_extents *map)
{
	const struct dmda_extent *extent;
	const char *broken;
	u64 nr_extents = 0;

	for (extent = first_of(map); extent; extent = next_of(extent)) {
		broken = check_extent(extent, next_of(extent));
		if (broken)
			return broken;
		nr_extents++;
	}
	if (nr_extents != map->nr_extents)
		return "The tree does not have as many extents as were counted.";
	if (list_length(&map->ages) != map->nr_extents)
		return "The list of ages does not have as many extents as were counted.";
	if (list_length(&map->spares) != map->nr_spares)
		return "The list of spares does not have as many as were counted.";
	return check_cursor(map);
}
