// SPDX-License-Identifier: GPL-2.0-only
/*
 * Roots and pages of the directory, as they are written and read.
 *
 * A root lists the entries of three tables, one behind the other. The map has too many
 * pages for that: its entries stand on pages of the directory, which is the third of those
 * tables, and of which a checkpoint writes only those that have changed.
 *
 * The lowest bit of a root's epoch says in which of the two places it lies, so no root is
 * written over the one before it. All of its pages have its epoch: a page that is left of
 * the root before the last is found out by that.
 */
#include "root.h"

static u64 nr_entries(const struct dmda_super *super)
{
	return dmda_super_nr_pages(super, DMDA_TABLE_SEGMENTS) +
		dmda_super_nr_pages(super, DMDA_TABLE_OPEN) +
		dmda_super_nr_pages(super, DMDA_TABLE_DIRECTORY);
}

u32 dmda_root_nr_pages(const struct dmda_super *super)
{
	return 1 + DIV_ROUND_UP_ULL(nr_entries(super), DMDA_ENTRIES_PER_PAGE);
}

static void encode_first(const struct dmda_root *root, const struct dmda_super *super,
			 struct dmda_root_block *page)
{
	page->journal_sector = cpu_to_le64(root->journal.sector);
	page->next_seq = cpu_to_le64(root->journal.seq);
	page->chain = cpu_to_le32(root->journal.chain);
	page->flags = cpu_to_le32(root->is_clean ? DMDA_ROOT_CLEAN : 0);
	page->nr_segment_entries =
		cpu_to_le64(dmda_super_nr_pages(super, DMDA_TABLE_SEGMENTS));
	page->nr_open_entries = cpu_to_le64(dmda_super_nr_pages(super, DMDA_TABLE_OPEN));
	page->nr_directory_entries =
		cpu_to_le64(dmda_super_nr_pages(super, DMDA_TABLE_DIRECTORY));
	page->pages_written = cpu_to_le64(root->pages_written);
}

/* Which table the entry at a place of the root's list is of, and of which page there. */
static enum dmda_table table_at(const struct dmda_slots *slots, u64 *at)
{
	u32 table = 0;

	while (*at >= slots[table].nr_pages)
		*at -= slots[table++].nr_pages;
	return table;
}

static u32 entries_on_page(const struct dmda_super *super, u32 index)
{
	return min_t(u64, nr_entries(super) - (u64)(index - 1) * DMDA_ENTRIES_PER_PAGE,
		     DMDA_ENTRIES_PER_PAGE);
}

static u32 encode_entries(const struct dmda_super *super,
			  const struct dmda_slots *slots, u32 index,
			  struct dmda_slots_block *page)
{
	u32 nr = entries_on_page(super, index);

	for (u32 i = 0; i < nr; i++) {
		u64 at = (u64)(index - 1) * DMDA_ENTRIES_PER_PAGE + i;
		enum dmda_table table = table_at(slots, &at);

		page->entry[i].seq_slot = cpu_to_le64(slots[table].newest[at]);
	}
	return nr;
}

void dmda_root_encode(const struct dmda_root *root, const struct dmda_super *super,
		      const struct dmda_slots *slots, u32 index, void *page)
{
	struct dmda_block_id id = {
		.magic = DMDA_MAGIC_ROOT,
		.dpn = to_dpn(from_dpn(dmda_root_dpn(super, root->epoch)) + index),
		.index = index,
		.seq = root->epoch,
		.epoch = root->epoch,
		.uuid = super->uuid,
	};

	memset(page, 0, DMDA_BLOCK_BYTES);
	if (index)
		id.nr_entries = encode_entries(super, slots, index, page);
	else
		encode_first(root, super, page);
	dmda_block_seal(page, &id);
}

const char *dmda_root_decode(struct dmda_root *root, const struct dmda_super *super,
			     const struct dmda_root_block *page, u32 which)
{
	const struct dmda_block_id id = {
		.magic = DMDA_MAGIC_ROOT,
		.dpn = to_dpn(super->root_dpn[which]),
		.uuid = super->uuid,
	};
	const char *why = dmda_block_check(page, &id);

	if (why)
		return why;
	root->epoch = le64_to_cpu(page->header.epoch);
	root->journal.sector = le64_to_cpu(page->journal_sector);
	root->journal.seq = le64_to_cpu(page->next_seq);
	root->journal.chain = le32_to_cpu(page->chain);
	root->is_clean = le32_to_cpu(page->flags) & DMDA_ROOT_CLEAN;
	root->pages_written = le64_to_cpu(page->pages_written);
	if (!root->epoch || (root->epoch & 1) != which || !root->journal.seq)
		return "a root has impossible numbers";
	if (le64_to_cpu(page->nr_segment_entries) !=
	    dmda_super_nr_pages(super, DMDA_TABLE_SEGMENTS) ||
	    le64_to_cpu(page->nr_open_entries) != dmda_super_nr_pages(super, DMDA_TABLE_OPEN) ||
	    le64_to_cpu(page->nr_directory_entries) !=
	    dmda_super_nr_pages(super, DMDA_TABLE_DIRECTORY))
		return "a root is of a device of another size";
	return NULL;
}

const char *dmda_root_decode_entries(const struct dmda_root *root,
				     const struct dmda_super *super, u32 index,
				     const struct dmda_slots_block *page,
				     struct dmda_slots *slots)
{
	u32 nr = entries_on_page(super, index);
	const struct dmda_block_id id = {
		.magic = DMDA_MAGIC_ROOT,
		.nr_entries = nr,
		.dpn = to_dpn(from_dpn(dmda_root_dpn(super, root->epoch)) + index),
		.index = index,
		.epoch = root->epoch,
		.uuid = super->uuid,
	};
	const char *why = dmda_block_check(page, &id);

	if (why)
		return why;
	for (u32 i = 0; i < nr; i++) {
		u64 at = (u64)(index - 1) * DMDA_ENTRIES_PER_PAGE + i;
		enum dmda_table table = table_at(slots, &at);

		dmda_slots_load(&slots[table], at, le64_to_cpu(page->entry[i].seq_slot));
	}
	return NULL;
}

u32 dmda_root_newest(const struct dmda_root root[2], const char *const why[2])
{
	if (why[0] || why[1])
		return !!why[0];
	return root[1].epoch > root[0].epoch;
}

static void note_first(struct dmda_root_traces *traces, const struct dmda_root_block *page)
{
	traces->has_first = true;
	traces->nr_segment_entries = le64_to_cpu(page->nr_segment_entries);
	traces->nr_directory_entries = le64_to_cpu(page->nr_directory_entries);
}

/* Both roots that are in use are of one size. */
static bool is_like_first(const struct dmda_root_traces *traces,
			  const struct dmda_root_block *page)
{
	return traces->has_first &&
		traces->nr_segment_entries == le64_to_cpu(page->nr_segment_entries) &&
		traces->nr_directory_entries == le64_to_cpu(page->nr_directory_entries);
}

void dmda_root_note(struct dmda_root_traces *traces, const struct dmda_super *super, dpn_t dpn,
		    const struct dmda_root_block *page)
{
	const struct dmda_block_id id = {
		.magic = DMDA_MAGIC_ROOT,
		.dpn = dpn,
		.uuid = super->uuid,
	};

	if (dmda_block_check(page, &id))
		return;
	if (le64_to_cpu(page->header.epoch) & 1)
		traces->is_pair |= is_like_first(traces, page);
	else
		note_first(traces, page);
	traces->newest_seq = max(traces->newest_seq, le64_to_cpu(page->next_seq));
}

bool dmda_root_has_grown(const struct dmda_root_traces *traces, u64 seq)
{
	return traces->is_pair || traces->newest_seq > seq;
}

const char *dmda_root_check_times(const struct dmda_slots *slots, u64 next_seq)
{
	/* Entries of the directory have epochs. */
	static const enum dmda_table tables[] = {
		DMDA_TABLE_SEGMENTS, DMDA_TABLE_OPEN, DMDA_TABLE_MAP,
	};

	for (u32 i = 0; i < ARRAY_SIZE(tables); i++) {
		if (dmda_slots_highest_seq(&slots[tables[i]]) >= next_seq)
			return "the journal ends before an operation that a table knows";
	}
	return NULL;
}

void dmda_directory_encode(const struct dmda_super *super, const struct dmda_slots *map,
			   u64 index, u32 slot, u64 epoch, struct dmda_slots_block *page)
{
	struct dmda_block_id id = {
		.magic = DMDA_MAGIC_DIRECTORY,
		.dpn = dmda_super_slot(super, DMDA_TABLE_DIRECTORY, index, slot),
		.index = index,
		.seq = epoch,
		.epoch = epoch,
		.uuid = super->uuid,
	};

	id.nr_entries = dmda_slots_encode(map, index * DMDA_ENTRIES_PER_PAGE, page);
	dmda_block_seal(page, &id);
}

const char *dmda_directory_decode(const struct dmda_super *super, u64 index, u64 seq_slot,
				  const struct dmda_slots_block *page,
				  struct dmda_slots *map)
{
	u64 first = index * DMDA_ENTRIES_PER_PAGE;
	u32 nr = min_t(u64, map->nr_pages - first, DMDA_ENTRIES_PER_PAGE);
	const struct dmda_block_id id = {
		.magic = DMDA_MAGIC_DIRECTORY,
		.nr_entries = nr,
		.dpn = dmda_super_slot(super, DMDA_TABLE_DIRECTORY, index, dmda_slot_of(seq_slot)),
		.index = index,
		.seq = dmda_slot_seq(seq_slot),
		.uuid = super->uuid,
	};
	const char *why = dmda_block_check(page, &id);

	if (why)
		return why;
	for (u32 i = 0; i < nr; i++)
		dmda_slots_load(map, first + i, le64_to_cpu(page->entry[i].seq_slot));
	return NULL;
}
