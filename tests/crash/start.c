// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps of core/start.h, as the target does them, up to where it would write; and what must
 * hold of a device that was started.
 */
#include "../../dm-dieaware/core/ahead.c"
#include "../../dm-dieaware/core/block.c"
#include "../../dm-dieaware/core/change.c"
#include "../../dm-dieaware/core/draft.c"
#include "../../dm-dieaware/core/journal.c"
#include "../../dm-dieaware/core/map.c"
#include "../../dm-dieaware/core/opened.c"
#include "../../dm-dieaware/core/record.c"
#include "../../dm-dieaware/core/replay.c"
#include "../../dm-dieaware/core/root.c"
#include "../../dm-dieaware/core/bitset.c"
#include "../../dm-dieaware/core/ranks.c"
#include "../../dm-dieaware/core/segments.c"
#include "../../dm-dieaware/core/slots.c"
#include "../../dm-dieaware/core/summary.c"
#include "../../dm-dieaware/core/super.c"
#include "../../dm-dieaware/core/writer.c"
#include "../../dm-dieaware/core/start-root.c"
#include "../../dm-dieaware/core/start-ring.c"
#include "../../dm-dieaware/core/start.c"

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
 * @writer: for what follows a start; nothing is written
 * @steps: which are to be done
 * @has_map: whether all pages of the map were read
 * @is_mapped: by dpn: the map has it
 * @memory: of segments, open summaries and each table's slots
 * @bytes: how much each of them has
 */
struct start {
	struct disk *disk;
	struct dmda_super super;
	struct dmda_segments segments;
	struct dmda_opened opened;
	struct dmda_map_page *map;
	struct dmda_map_block *block;
	struct dmda_slots slots[DMDA_NR_TABLES];
	struct dmda_root root;
	struct dmda_change change;
	struct dmda_writer writer;
	struct dmda_start steps;
	bool has_map;
	bool *is_mapped;
	void *memory[2 + DMDA_NR_TABLES];
	size_t bytes[2 + DMDA_NR_TABLES];
};

static u64 nr_table_pages(const struct start *start, enum dmda_table table)
{
	return dmda_super_nr_pages(&start->super, table);
}

static const void *page_at(const struct start *start, dpn_t dpn)
{
	return disk_page(start->disk, from_dpn(dpn));
}

/* Return: NULL, or what is wrong. */
static const char *read_map_page(struct start *start, u64 index)
{
	struct dmda_map_page *page = &start->map[index];
	struct dmda_block_id id;
	const char *why;

	if (!start->slots[DMDA_TABLE_MAP].newest[index])
		return NULL;
	id = dmda_slots_newest_id(start->slots, &start->super, DMDA_TABLE_MAP, index);
	memcpy(page->block, page_at(start, id.dpn), DMDA_BLOCK_BYTES);
	page->seq = id.seq;
	why = dmda_block_check(page->block, &id);
	return why ?: dmda_map_check(page->block, &start->super);
}

/* All of it stays in memory. Return: NULL, or what is wrong. */
static const char *read_map(struct start *start)
{
	const char *why = NULL;

	for (u64 i = 0; !why && !start->has_map && i < nr_table_pages(start, DMDA_TABLE_MAP); i++)
		why = read_map_page(start, i);
	start->has_map = !why;
	return why;
}

static int set_map_pages(struct start *start)
{
	struct dmda_start *steps = &start->steps;

	if (read_map(start))
		return -EIO;
	for (u32 i = 0; i < steps->nr_map; i++)
		steps->map[i] = &start->map[steps->map_index + i];
	return 0;
}

/* Of data that the journal's last draft names */
static void set_sums(struct start *start)
{
	struct dmda_start *steps = &start->steps;

	for (u32 i = 0; i < steps->nr_pages; i++)
		steps->sums[i] = cpu_to_le32(disk_stamp(start->disk, from_dpn(steps->dpn) + i).sum);
}

/* There is room for the whole map, so nothing has to be written before the journal's end. */
static int do_step(struct start *start, enum dmda_start_step step)
{
	const struct dmda_start *steps = &start->steps;

	switch (step) {
	case DMDA_START_READ:
		memcpy(steps->memory, page_at(start, steps->dpn),
		       steps->nr_pages * DMDA_BLOCK_BYTES);
		return 0;
	case DMDA_START_SUMS:
		set_sums(start);
		return 0;
	case DMDA_START_MAP:
		return set_map_pages(start);
	default:
		return 0;
	}
}

/* Return: NULL, or what is wrong. */
static const char *run(struct start *start, enum dmda_start_goal goal)
{
	struct dmda_start *steps = &start->steps;
	enum dmda_start_step step;

	dmda_start_begin(steps, goal);
	while ((step = dmda_start_next(steps)) < DMDA_START_DRAW)
		dmda_start_did(steps, do_step(start, step));
	return steps->why;
}

static const char *read_super(struct start *start)
{
	const char *why = run(start, DMDA_START_SUPER);

	if (!why && start->super.nr_device_pages > start->disk->nr_pages)
		why = "the superblock is of a larger disk";
	return why;
}

static void add_memory(struct start *start, u32 which, size_t bytes)
{
	start->bytes[which] = bytes;
	start->memory[which] = must(calloc(1, bytes));
}

/* What starting needs memory for; that of roots has to wait for their size. */
static void fill_in_steps(struct start *start)
{
	start->steps = (struct dmda_start){
		.super = &start->super,
		.slots = start->slots,
		.segments = &start->segments,
		.opened = &start->opened,
		.writer = &start->writer,
		.change = &start->change,
		.root = &start->root,
		.pages = must(malloc(DMDA_BLOCK_BYTES)),
		.sectors = must(calloc(DMDA_START_SECTORS, DMDA_SECTOR_BYTES)),
		.op = must(calloc(1, sizeof(struct dmda_op))),
	};
}

struct start *start_create(struct disk *disk)
{
	struct start *start = must(calloc(1, sizeof(*start)));
	const char *why = "it is too small";
	u64 nr_map_pages;

	start->disk = disk;
	fill_in_steps(start);
	if (disk->nr_pages > DMDA_FIRST_ROOT_DPN)
		why = read_super(start);
	if (why)
		give_up("The disk is not in log mode: %s", why);
	start->steps.pages = must(realloc(start->steps.pages,
					  dmda_root_nr_pages(&start->super) * DMDA_BLOCK_BYTES));
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
			.nr_entries = dmda_super_map_entries(&start->super),
		};
	}
	dmda_writer_init(&start->writer, &start->super);
	start->has_map = false;
	start->change = (struct dmda_change){
		.super = &start->super, .segments = &start->segments,
	};
}

const char *start_open(struct start *start, struct disk *disk)
{
	const struct dmda_super old = start->super;
	const char *why;

	start->disk = disk;
	why = read_super(start);
	if (!why && (start->super.nr_lpns != old.nr_lpns ||
		     start->super.segment_pages != old.segment_pages))
		why = "the superblock says something else than before";
	if (why) {
		start->super = old;
		return why;
	}
	reset(start);
	why = run(start, DMDA_START_WRITE);
	return why ?: read_map(start);
}

u64 start_nr_lpns(const struct start *start)
{
	return start->super.nr_lpns;
}

/* The checksum that a page should have, on a device that has some */
static u32 start_sum(const struct start *start, u64 lpn)
{
	u32 entry;
	u64 index = dmda_map_index(&start->super, to_lpn(lpn), &entry);

	return le32_to_cpu(dmda_map_sums(start->map[index].block)->sum[entry]);
}

u64 start_where(const struct start *start, u64 lpn)
{
	u32 entry;
	u64 index = dmda_map_index(&start->super, to_lpn(lpn), &entry);
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
		if (dmda_super_has_sums(&start->super) &&
		    disk_stamp(start->disk, dpn).sum != start_sum(start, lpn))
			return "a page is not what its checksum says";
	}
	return NULL;
}

/* A page of an open segment that is mapped must be in its summary. */
static bool is_in_summary(const struct start *start, u8 open, u64 dpn, u32 page)
{
	struct dmda_written written;

	return dmda_opened_get(&start->opened, open, page, &written) &&
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

/* Reads the journal once more. */
u64 start_last_batch(const struct start *start)
{
	const struct dmda_journal_sector *ring = page_at(start, to_dpn(start->super.journal_dpn));
	struct dmda_journal_reader reader;
	u64 last = 0;

	dmda_journal_open(&reader, &start->super, &start->root.journal);
	while (reader.next.sector < start->steps.end.sector) {
		const struct dmda_journal_sector *sector =
			&ring[dmda_journal_sector_at(&start->super, reader.next.sector)];

		if (le16_to_cpu(sector->nr_bytes) & DMDA_SECTOR_FIRST)
			last = reader.next.sector;
		if (!dmda_journal_accept(&reader, sector))
			break;
	}
	return last;
}

bool start_had_draft(const struct start *start, bool *counts)
{
	*counts = start->steps.end.sector != start->steps.draft_place.sector;
	return start->steps.draft.nr_pages;
}

u64 start_journal_end(const struct start *start)
{
	return start->steps.end.sector;
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
