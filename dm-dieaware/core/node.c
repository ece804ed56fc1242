// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrays in a node of the extent map. Words, lower and upper halves of values are apart, so
 * that each is packed by its own alignment; whatever moves extents moves all of them.
 *
 * The sizes are those of which a page of the kernel's allocator takes many with little left
 * over. Each is a half or a third larger than the one before it: so much of a node may be
 * empty, and so often a growing one is copied.
 */
#include "node.h"

static const u16 size_bytes[DMDA_NODE_SIZES] = { 80, 128, 192, 256, 384, 512, 768, 1024 };

u32 dmda_node_bytes(u32 size)
{
	return size_bytes[size];
}

static u32 vals_offset(u32 capacity)
{
	return ALIGN(offsetof(struct dmda_node, words) + capacity * sizeof(u32), sizeof(u64));
}

static u32 bytes_for(u32 nr, bool is_wide)
{
	return vals_offset(nr) + nr * (is_wide ? 2 : 1) * sizeof(u64);
}

static u32 capacity_of(u32 size, bool is_wide)
{
	u32 each = sizeof(u32) + (is_wide ? 2 : 1) * sizeof(u64);
	u32 capacity = (size_bytes[size] - offsetof(struct dmda_node, words)) / each;

	/* Values are aligned, which may take the place of one. */
	return bytes_for(capacity, is_wide) > size_bytes[size] ? capacity - 1 : capacity;
}

static_assert(offsetof(struct dmda_node, words) + sizeof(u32) + 2 * sizeof(u64) <= 80);

u32 dmda_node_size_for(u32 nr, bool is_wide)
{
	u32 size = 0;

	while (size < DMDA_NODE_SIZES && bytes_for(nr, is_wide) > size_bytes[size])
		size++;
	return size;
}

void dmda_node_init(struct dmda_node *node, u32 size, bool is_wide)
{
	node->size = size;
	node->is_wide = is_wide;
	node->capacity = capacity_of(size, is_wide);
	node->nr = 0;
	node->vals_at = vals_offset(node->capacity) / sizeof(u64);
}

static void move_extents(struct dmda_node *node, u32 to, u32 from)
{
	u32 nr = node->nr - from;

	memmove(&node->words[to], &node->words[from], nr * sizeof(u32));
	memmove(&dmda_node_vals_lo(node)[to], &dmda_node_vals_lo(node)[from], nr * sizeof(u64));
	if (node->is_wide)
		memmove(&dmda_node_vals_hi(node)[to], &dmda_node_vals_hi(node)[from],
			nr * sizeof(u64));
}

void dmda_node_insert(struct dmda_node *node, u32 index, u32 word, u64 val_hi, u64 val_lo)
{
	if (index < node->nr)
		move_extents(node, index + 1, index);
	node->words[index] = word;
	dmda_node_vals_lo(node)[index] = val_lo;
	if (node->is_wide)
		dmda_node_vals_hi(node)[index] = val_hi;
	node->nr++;
}

void dmda_node_remove(struct dmda_node *node, u32 index, u32 nr)
{
	if (index + nr < node->nr)
		move_extents(node, index, index + nr);
	node->nr -= nr;
}

void dmda_node_trim_front(struct dmda_node *node, u32 index, u32 key)
{
	u32 word = node->words[index];

	dmda_node_vals_lo(node)[index] += key - dmda_word_key(word);
	node->words[index] = dmda_word(key, dmda_word_end(word) - key) | (word & DMDA_WORD_USED);
}

void dmda_node_copy(struct dmda_node *to, struct dmda_node *from, u32 index, u32 nr)
{
	u32 end = to->nr;

	memcpy(&to->words[end], &from->words[index], nr * sizeof(u32));
	memcpy(&dmda_node_vals_lo(to)[end], &dmda_node_vals_lo(from)[index], nr * sizeof(u64));
	if (to->is_wide)
		memcpy(&dmda_node_vals_hi(to)[end], &dmda_node_vals_hi(from)[index],
		       nr * sizeof(u64));
	to->nr += nr;
}
