// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two words for each page of a table: the slot of its newest copy, and the slot that the last
 * durable root names. While they differ, the newest copy may be written over once more, and
 * the other one must not be. When the next root is durable, they become alike. The map of a
 * large device has millions, and others wait meanwhile: so that is only noted, by a number, and a
 * group of entries is made alike before one of it changes again.
 */
#include "slots.h"

static u64 nr_groups(u64 nr_pages)
{
	return DIV_ROUND_UP_ULL(nr_pages, DMDA_ENTRIES_PER_PAGE);
}

size_t dmda_slots_bytes(u64 nr_pages)
{
	size_t bytes;

	if (check_mul_overflow((size_t)nr_pages, 2 * sizeof(u64), &bytes) ||
	    check_add_overflow(bytes, (size_t)nr_groups(nr_pages) * sizeof(u64), &bytes))
		return SIZE_MAX;
	return bytes;
}

void dmda_slots_init(struct dmda_slots *slots, u64 nr_pages, void *zeroed)
{
	slots->nr_pages = nr_pages;
	slots->newest = zeroed;
	slots->committed = slots->newest + nr_pages;
	slots->changed = slots->committed + nr_pages;
	slots->generation = 1;
	slots->pending = false;
}

void dmda_slots_load(struct dmda_slots *slots, u64 index, u64 seq_slot)
{
	slots->newest[index] = seq_slot;
	slots->committed[index] = seq_slot;
}

static u64 group_of(u64 index)
{
	return div_u64(index, DMDA_ENTRIES_PER_PAGE);
}

/* Is what a group has as newest what the last durable root names, and not noted there yet? */
static bool is_behind(const struct dmda_slots *slots, u64 group)
{
	return slots->changed[group] && slots->changed[group] != slots->generation;
}

u32 dmda_slots_target(const struct dmda_slots *slots, u64 index)
{
	u64 committed = is_behind(slots, group_of(index)) ? slots->newest[index] :
							    slots->committed[index];

	if (slots->pending)
		return DMDA_SLOT_NONE;
	return committed ? !dmda_slot_of(committed) : 0;
}

static void catch_up(struct dmda_slots *slots, u64 group)
{
	u64 first = group * DMDA_ENTRIES_PER_PAGE;
	u64 nr = min_t(u64, slots->nr_pages - first, DMDA_ENTRIES_PER_PAGE);

	memcpy(&slots->committed[first], &slots->newest[first], nr * sizeof(u64));
}

void dmda_slots_written(struct dmda_slots *slots, u64 index, u32 slot, u64 seq)
{
	u64 group = group_of(index);

	if (is_behind(slots, group))
		catch_up(slots, group);
	slots->newest[index] = seq << 1 | slot;
	slots->changed[group] = slots->generation;
}

struct dmda_block_id dmda_slots_newest_id(const struct dmda_slots *slots,
					  const struct dmda_super *super, enum dmda_table table,
					  u64 index)
{
	u64 seq_slot = slots[table].newest[index];

	return dmda_super_page_id(super, table, index, dmda_slot_of(seq_slot),
				  dmda_slot_seq(seq_slot));
}

u64 dmda_slots_highest_seq(const struct dmda_slots *slots)
{
	u64 highest = 0;

	for (u64 i = 0; i < slots->nr_pages; i++)
		highest = max(highest, dmda_slot_seq(slots->newest[i]));
	return highest;
}

u32 dmda_slots_encode(const struct dmda_slots *slots, u64 first,
		      struct dmda_slots_block *block)
{
	u32 nr = min_t(u64, slots->nr_pages - first, DMDA_ENTRIES_PER_PAGE);

	memset(block->entry, 0, sizeof(block->entry));
	for (u32 i = 0; i < nr; i++)
		block->entry[i].seq_slot = cpu_to_le64(slots->newest[first + i]);
	return nr;
}

void dmda_slots_begin(struct dmda_slots *slots)
{
	slots->pending = true;
}

void dmda_slots_end(struct dmda_slots *slots, bool durable)
{
	slots->pending = false;
	slots->generation += durable;
}
