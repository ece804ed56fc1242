// SPDX-License-Identifier: GPL-2.0-only
#include "../../dm-dieaware/core/block.c"
#include "../../dm-dieaware/core/change.c"
#include "../../dm-dieaware/core/journal.c"
#include "../../dm-dieaware/core/map.c"
#include "../../dm-dieaware/core/opened.c"
#include "../../dm-dieaware/core/record.c"
#include "../../dm-dieaware/core/replay.c"
#include "../../dm-dieaware/core/root.c"
#include "../../dm-dieaware/core/segments.c"
#include "../../dm-dieaware/core/slots.c"
#include "../../dm-dieaware/core/summary.c"
#include "../../dm-dieaware/core/super.c"

#include "start.h"
#include "util.h"

/**
 * struct start - a device that was started
 * @disk: what it was started from
 * @super: its superblock
 * @segments: segment table
 * @opened: open summaries
 * @map: pages of the map
 * @block: their bytes
 * @slots: by table
 * @root: the checkpoint
 * @change: for replay
 * @op: for replay
 * @journal_end: number of the sector behind the journal's last one
 * @last_batch: number of the sector that begins its last batch
 * @is_mapped: by dpn: the map has it
 * @memory: of segments, open summaries and each table's slots
 * @bytes: how much each of them has
 */
struct start {
	const struct disk *disk;
	struct dmda_super super;
	struct dmda_segments segments;
	struct dmda_opened opened;
	struct dmda_map_page *map;
	struct dmda_map_block *block;
	struct dmda_slots slots[DMDA_NR_TABLES];
	struct dmda_root root;
	struct dmda_change change;
	struct dmda_op op;
	u64 journal_end;
	u64 last_batch;
	bool *is_mapped;
	void *memory[2 + DMDA_NR_TABLES];
	size_t bytes[2 + DMDA_NR_TABLES];
};

static u64 nr_table_pages(const struct start *start, enum dmda_table table)
{
	return dmda_super_nr_pages(&start->super, table);
}

static const char *read_super(struct start *start, const struct disk *disk)
{
	struct dmda_super super[2];
	const char *why[2];
	u32 which;

	why[0] = dmda_super_decode(disk_page(disk, DMDA_SUPER_DPN_A), to_dpn(DMDA_SUPER_DPN_A),
				   &super[0]);
	why[1] = dmda_super_decode(disk_page(disk, DMDA_SUPER_DPN_B), to_dpn(DMDA_SUPER_DPN_B),
				   &super[1]);
	if (why[0] && why[1])
		return why[0];
	which = why[0] || (!why[1] && super[1].epoch > super[0].epoch);
	if (super[which].nr_device_pages > disk->nr_pages)
		return "the superblock is of a larger disk";
	start->super = super[which];
	return NULL;
}

static void add_memory(struct start *start, u32 which, size_t bytes)
{
	start->bytes[which] = bytes;
	start->memory[which] = must(calloc(1, bytes));
}

struct start *start_create(const struct disk *disk)
{
	struct start *start = must(calloc(1, sizeof(*start)));
	const char *why = disk->nr_pages > DMDA_FIRST_ROOT_DPN ? read_super(start, disk) :
		"it is too small";
	u64 nr_map_pages;

	if (why)
		give_up("The disk is not in log mode: %s", why);
	nr_map_pages = nr_table_pages(start, DMDA_TABLE_MAP);
	add_memory(start, 0, dmda_segments_bytes(&start->super));
	add_memory(start, 1, dmda_opened_bytes(&start->super));
	for (u32 i = 0; i < DMDA_NR_TABLES; i++)
		add_memory(start, 2 + i, dmda_slots_bytes(nr_table_pages(start, i)));
	start->map = must(calloc(nr_map_pages, sizeof(*start->map)));
	start->block = must(calloc(nr_map_pages, sizeof(*start->block)));
	start->is_mapped = must(calloc(disk->nr_pages, sizeof(*start->is_mapped)));
	return start;
}

static void reset(struct start *start)
{
	u64 nr_map_pages = nr_table_pages(start, DMDA_TABLE_MAP);

	for (u32 i = 0; i < ARRAY_SIZE(start->memory); i++)
		memset(start->memory[i], 0, start->bytes[i]);
	dmda_segments_init(&start->segments, &start->super, start->memory[0]);
	dmda_opened_init(&start->opened, &start->super, &start->segments, start->memory[1]);
	for (u32 i = 0; i < DMDA_NR_TABLES; i++)
		dmda_slots_init(&start->slots[i], nr_table_pages(start, i),
				start->memory[2 + i]);
	memset(start->block, 0, nr_map_pages * sizeof(*start->block));
	for (u64 i = 0; i < nr_map_pages; i++) {
		start->map[i] = (struct dmda_map_page){
			.block = &start->block[i], .index = i, .dirty_sector = U64_MAX,
		};
	}
	start->change = (struct dmda_change){
		.super = &start->super, .segments = &start->segments,
	};
}

static const void *page_at(const struct start *start, dpn_t dpn)
{
	return disk_page(start->disk, from_dpn(dpn));
}

static const char *read_root(struct start *start, u32 which, struct dmda_root *root)
{
	u64 first = start->super.root_dpn[which];
	const char *why = dmda_root_decode(root, &start->super, page_at(start, to_dpn(first)),
					   which);

	for (u32 i = 1; !why && i < dmda_root_nr_pages(&start->super); i++)
		why = dmda_root_decode_entries(root, &start->super, i,
					       page_at(start, to_dpn(first + i)), start->slots);
	return why;
}

static const char *read_newest_root(struct start *start)
{
	struct dmda_root root[2];
	const char *why[2];
	u32 which;

	for (which = 0; which < 2; which++)
		why[which] = read_root(start, which, &root[which]);
	if (why[0] && why[1])
		return why[0];
	which = dmda_root_newest(root, why);
	return read_root(start, which, &start->root);
}

/* The valid slot of a page. Return: NULL, or what is wrong; @page is NULL if there is none. */
static const char *table_page(const struct start *start, enum dmda_table table, u64 index,
			      const void **page)
{
	struct dmda_block_id id;

	*page = NULL;
	if (!start->slots[table].newest[index])
		return NULL;
	id = dmda_slots_newest_id(start->slots, &start->super, table, index);
	*page = page_at(start, id.dpn);
	return dmda_block_check(*page, &id);
}

static const char *read_directory(struct start *start)
{
	const struct dmda_slots *directory = &start->slots[DMDA_TABLE_DIRECTORY];
	const char *why = NULL;

	for (u64 i = 0; !why && i < directory->nr_pages; i++) {
		u64 seq_slot = directory->newest[i];
		dpn_t dpn = dmda_super_slot(&start->super, DMDA_TABLE_DIRECTORY, i,
					    dmda_slot_of(seq_slot));

		if (seq_slot)
			why = dmda_directory_decode(&start->super, i, seq_slot,
						    page_at(start, dpn),
						    &start->slots[DMDA_TABLE_MAP]);
	}
	return why;
}

static const char *read_map_page(struct start *start, u64 index)
{
	const void *page;
	const char *why = table_page(start, DMDA_TABLE_MAP, index, &page);

	if (why || !page)
		return why;
	memcpy(start->map[index].block, page, DMDA_BLOCK_BYTES);
	start->map[index].seq = dmda_slot_seq(start->slots[DMDA_TABLE_MAP].newest[index]);
	return dmda_map_check(start->map[index].block, start->super.nr_device_pages);
}

static const char *read_segments_page(struct start *start, u64 index)
{
	const void *page;
	const char *why = table_page(start, DMDA_TABLE_SEGMENTS, index, &page);

	return why || !page ? why : dmda_segments_decode(&start->segments, index, page);
}

static const char *read_opened_page(struct start *start, u64 index)
{
	const void *page;
	const char *why = table_page(start, DMDA_TABLE_OPEN, index, &page);

	if (why || !page)
		return why;
	memcpy(&start->opened.block[index], page, DMDA_BLOCK_BYTES);
	start->opened.page[index].seq = dmda_slot_seq(start->slots[DMDA_TABLE_OPEN].newest[index]);
	return NULL;
}

static const char *read_pages(struct start *start, enum dmda_table table,
			      const char *(*read)(struct start *start, u64 index))
{
	const char *why = NULL;

	for (u64 i = 0; !why && i < nr_table_pages(start, table); i++)
		why = read(start, i);
	return why;
}

static const char *replay_op(struct start *start, const struct dmda_op *op)
{
	const struct dmda_record *record = dmda_op_pages(op);
	struct dmda_map_page *pages[DMDA_OP_MAP_PAGES] = { NULL };
	const char *why;

	if (record) {
		u64 lpn = from_lpn(record->lpn), first, last;
		u32 entry;

		if (lpn + record->nr_pages > start->super.nr_lpns)
			return "the journal names pages behind the end of the device";
		first = dmda_map_index(record->lpn, &entry);
		last = dmda_map_index(to_lpn(lpn + record->nr_pages - 1), &entry);
		pages[0] = &start->map[first];
		pages[1] = last == first ? NULL : &start->map[last];
	}
	why = dmda_change_replay(&start->change, op, pages);
	if (!why)
		dmda_opened_replay(&start->opened, op);
	return why;
}

/* What replay did not come to must not show that there was more. */
static const char *find_lost(const struct start *start, const struct dmda_journal_reader *reader)
{
	const struct dmda_journal_sector *sector =
		page_at(start, to_dpn(start->super.journal_dpn));

	for (u32 i = 0; i < start->super.journal_sectors; i++) {
		if (dmda_journal_is_beyond(reader, &sector[i]))
			return "the journal is damaged, and operations are lost";
	}
	return NULL;
}

static const char *replay_journal(struct start *start)
{
	struct dmda_journal_reader reader;
	struct dmda_replay replay;

	dmda_journal_open(&reader, &start->super, &start->root.journal);
	dmda_replay_init(&replay, &start->op, start->root.journal.seq);
	while (!replay.why) {
		u32 at = dmda_journal_sector_at(&start->super, reader.next.sector);
		const struct dmda_journal_sector *sector =
			page_at(start, to_dpn(start->super.journal_dpn));
		const struct dmda_op *whole;

		if (!dmda_journal_accept(&reader, &sector[at]))
			break;
		if (le16_to_cpu(sector[at].nr_bytes) & DMDA_SECTOR_FIRST)
			start->last_batch = reader.next.sector - 1;
		dmda_replay_sector(&replay, &sector[at]);
		while ((whole = dmda_replay_next(&replay))) {
			const char *why = replay_op(start, whole);

			if (why)
				return why;
		}
	}
	start->journal_end = reader.next.sector;
	return replay.why ?: find_lost(start, &reader) ?:
		dmda_root_check_times(start->slots, reader.next.seq);
}

const char *start_open(struct start *start, const struct disk *disk)
{
	const struct dmda_super old = start->super;
	const char *why;

	start->disk = disk;
	why = read_super(start, disk);
	if (why)
		return why;
	if (start->super.nr_lpns != old.nr_lpns || start->super.segment_pages != old.segment_pages)
		return "the superblock says something else than before";
	reset(start);
	why = read_newest_root(start);
	if (!why)
		why = read_directory(start);
	if (!why)
		why = read_pages(start, DMDA_TABLE_MAP, read_map_page);
	if (!why)
		why = read_pages(start, DMDA_TABLE_SEGMENTS, read_segments_page);
	if (!why)
		why = read_pages(start, DMDA_TABLE_OPEN, read_opened_page);
	if (!why)
		why = replay_journal(start);
	return why ?: dmda_segments_check(&start->segments);
}

u64 start_nr_lpns(const struct start *start)
{
	return start->super.nr_lpns;
}

u64 start_where(const struct start *start, u64 lpn)
{
	u32 entry;
	u64 index = dmda_map_index(to_lpn(lpn), &entry);
	dpn_t dpn = dmda_map_get(start->map[index].block, entry);

	return dpn == DPN_NONE ? U64_MAX : from_dpn(dpn);
}

static const char *check_map(struct start *start)
{
	memset(start->is_mapped, 0, start->disk->nr_pages * sizeof(*start->is_mapped));
	for (u64 lpn = 0; lpn < start->super.nr_lpns; lpn++) {
		u64 dpn = start_where(start, lpn);
		u32 page;

		if (dpn == U64_MAX)
			continue;
		if (dmda_super_segment_of(&start->super, to_dpn(dpn), &page) == SEG_NONE)
			return "the map points to where no data can be";
		if (start->is_mapped[dpn])
			return "two pages are mapped to the same place";
		start->is_mapped[dpn] = true;
	}
	return NULL;
}

/* A page of an open segment that is mapped must be in its summary. */
static bool is_in_summary(const struct start *start, u8 open, u64 dpn, u32 page)
{
	struct dmda_written written;

	return dmda_summary_get(dmda_opened_summary(&start->opened, open), page, &written) &&
		from_lpn(written.lpn) < start->super.nr_lpns &&
		start_where(start, from_lpn(written.lpn)) == dpn;
}

static const char *check_segment(const struct start *start, u32 index)
{
	const struct dmda_segment *segment = &start->segments.segment[index];
	u64 first = from_dpn(dmda_super_segment_dpn(&start->super, to_seg(index)));
	u32 nr_valid = 0;

	for (u32 page = 0; page < dmda_super_data_pages(&start->super); page++) {
		if (!start->is_mapped[first + page])
			continue;
		nr_valid++;
		if (segment->state == DMDA_SEGMENT_OPEN &&
		    !is_in_summary(start, segment->open, first + page, page))
			return "a page is not in the summary of its open segment";
	}
	if (nr_valid && segment->state == DMDA_SEGMENT_FREE)
		return "a free segment has valid pages";
	if (nr_valid != segment->nr_valid)
		return "a segment's count is not what the map says";
	/* Cleaning finds its pages by it. */
	if (nr_valid && segment->state == DMDA_SEGMENT_CLOSED)
		return dmda_summary_check(page_at(start, dmda_summary_dpn(&start->super,
									  to_seg(index))),
					  &start->super, to_seg(index));
	return NULL;
}

const char *start_check(struct start *start)
{
	const char *why = check_map(start);

	for (u32 i = 0; !why && i < start->segments.nr_segments; i++)
		why = check_segment(start, i);
	return why;
}

u64 start_last_batch(const struct start *start)
{
	return start->last_batch;
}

u64 start_journal_end(const struct start *start)
{
	return start->journal_end;
}

u64 start_nr_spare(const struct start *start)
{
	u64 nr = 0;

	for (u32 i = 0; i < start->segments.nr_segments; i++)
		nr += !start->segments.segment[i].nr_valid;
	return nr;
}

bool start_is_metadata(const struct start *start, u64 dpn)
{
	return dpn < start->super.area[0].segments_dpn;
}
