/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small device in log mode without a kernel: the core, a disk that forgets what was not
 * flushed, and the order of I/O that log mode promises.
 *
 * The disk keeps metadata as bytes and of each data page a tag. What is written is
 * pending until a flush. At every write volume.cut is called, which may look at what
 * any power failure at that moment could leave.
 */
#ifndef VOLUME_H
#define VOLUME_H

#include "../core/block.c"
#include "../core/super.c"
#include "../core/record.c"
#include "../core/journal.c"
#include "../core/map.c"
#include "../core/slots.c"
#include "../core/segments.c"
#include "../core/root.c"
#include "../core/replay.c"
#include "../core/change.c"
#include "../core/summary.c"
#include "../core/opened.c"
#include "../core/writer.c"
#include "../core/victim.c"

/* Sizes; they may be given before this is included */
#ifndef SEGMENT_PAGES
#define SEGMENT_PAGES	64
#define DISK_PAGES	2960
#define MAP_PAGES	4
#endif
#ifndef RESERVE_PERMILLE
#define RESERVE_PERMILLE	300
#endif
#define NR_SEGMENTS	44
#define SUMMARY_PAGES	DIV_ROUND_UP(SEGMENT_PAGES, DMDA_SUMMARIES_PER_PAGE + 1)
#define META_PAGES	(400 + NR_SEGMENTS * SUMMARY_PAGES)
#define MAX_PENDING	256
#define BATCH_SECTORS	64
#define TAG_TORN	(~0ULL)

/**
 * struct page_bytes - a page
 */
struct page_bytes {
	u8 byte[DMDA_BLOCK_BYTES] __aligned(8);
};

/**
 * struct image - contents of a disk
 * @meta: pages of metadata, by meta_index()
 * @tag: tag of what was written as data, by dpn
 */
struct image {
	struct page_bytes *meta;
	u64 tag[DISK_PAGES];
};

/**
 * struct pending - a write that was not flushed
 * @dpn: first page
 * @first_sector: first sector of that page
 * @nr_sectors: number of sectors, 8 for whole pages
 * @tag: tag of a data page
 * @bytes: bytes of a page of metadata
 */
struct pending {
	u64 dpn;
	u32 first_sector;
	u32 nr_sectors;
	u64 tag;
	struct page_bytes *bytes;
};

/**
 * struct volume - a device in log mode
 * @test: test case
 * @super: its superblock
 * @stable: contents that a power failure cannot take
 * @now: contents that reads get
 * @pending: writes since the last flush
 * @pending_bytes: memory of the bytes of @pending
 * @nr_pending: number of entries of @pending
 * @segments: segment table
 * @segments_memory: memory of @segments
 * @map: pages of the map
 * @map_block: bytes of the pages of @map
 * @opened: open summaries
 * @opened_memory: memory of @opened
 * @slots: slots of the tables' pages, by table
 * @slots_memory: memory of @slots
 * @writer: open segments
 * @batch: journal batch that is being filled
 * @sectors: memory of @batch
 * @change: all that operations change
 * @root: last durable root
 * @journal_from: journal sector at which a start after a crash begins to read
 * @durable_seq: last operation that is durable
 * @first_seq: first operation since the last start
 * @mirror: a copy of @stable that is kept up to date, or NULL
 * @is_moving: whether data was written that is not mapped yet
 * @closing: full segment that is closed as soon as its data is mapped, or SEG_NONE
 * @is_starting: whether what is in the journal does not count before the next root
 * @is_dead: whether the power has failed, so that writes have no effect any more
 * @scratch: a page that is being put together
 * @summary: a summary that is being written
 * @nr_cuts: number of calls of @cut
 * @cut: called at each write, or NULL
 * @flushed: called at each flush that the device asks for, or NULL
 * @data: data for @cut and @flushed
 */
struct volume {
	struct kunit *test;
	struct dmda_super super;
	struct image *stable;
	struct image *now;
	struct pending pending[MAX_PENDING];
	struct page_bytes *pending_bytes;
	u32 nr_pending;

	struct dmda_segments segments;
	void *segments_memory;
	struct dmda_map_page map[MAP_PAGES];
	struct dmda_map_block *map_block;
	struct dmda_opened opened;
	void *opened_memory;
	struct dmda_slots slots[DMDA_NR_TABLES];
	void *slots_memory[DMDA_NR_TABLES];
	struct dmda_writer writer;
	struct dmda_journal_batch batch;
	struct dmda_journal_sector sectors[BATCH_SECTORS];
	struct dmda_change change;
	struct dmda_root root;
	u64 journal_from;
	u64 durable_seq;
	u64 first_seq;

	struct image *mirror;
	bool is_moving;
	seg_t closing;
	bool is_starting;
	bool is_dead;
	struct page_bytes scratch;
	struct dmda_summary_block summary[SUMMARY_PAGES] __aligned(8);
	u32 nr_cuts;
	void (*cut)(struct volume *volume);
	void (*flushed)(struct volume *volume);
	void *data;
};

static inline void *test_memory(struct kunit *test, size_t bytes)
{
	void *memory = kunit_kzalloc(test, bytes, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	return memory;
}

static inline struct image *new_image(struct kunit *test)
{
	struct image *image = test_memory(test, sizeof(*image));

	image->meta = test_memory(test, META_PAGES * sizeof(*image->meta));
	return image;
}

static inline void copy_image(struct image *to, const struct image *from)
{
	memcpy(to->meta, from->meta, META_PAGES * sizeof(*to->meta));
	memcpy(to->tag, from->tag, sizeof(to->tag));
}

/* Which page of metadata lies at a dpn, or -1: data does. */
static inline int meta_index(const struct dmda_super *super, u64 dpn)
{
	u64 first = super->area[0].segments_dpn;
	u32 data_pages = dmda_super_data_pages(super);
	u32 page;
	u64 seg;

	if (dpn < first)
		return dpn;
	seg = div_u64_rem(dpn - first, SEGMENT_PAGES, &page);
	return page < data_pages ? -1 : (int)(first + seg * SUMMARY_PAGES + page - data_pages);
}

static inline const void *read_meta(const struct volume *volume, const struct image *image,
				    dpn_t dpn)
{
	return image->meta[meta_index(&volume->super, from_dpn(dpn))].byte;
}

/* Writes a pending write to an image, or a part of it: @sectors has a bit for each. */
static inline void put_pending(const struct dmda_super *super, struct image *image,
			       const struct pending *pending, u32 sectors)
{
	int index = meta_index(super, pending->dpn);
	u32 all = (1U << pending->nr_sectors) - 1;

	if (index < 0) {
		if (sectors & all)
			image->tag[pending->dpn] = (sectors & all) == all ?
				pending->tag : TAG_TORN;
		return;
	}
	for (u32 i = 0; i < pending->nr_sectors; i++) {
		u32 at = (pending->first_sector + i) * DMDA_SECTOR_BYTES;

		if (sectors >> i & 1)
			memcpy(&image->meta[index].byte[at], &pending->bytes->byte[at],
			       DMDA_SECTOR_BYTES);
	}
}

static inline void write_cache_out(struct volume *volume)
{
	for (u32 i = 0; !volume->is_dead && i < volume->nr_pending; i++) {
		put_pending(&volume->super, volume->stable, &volume->pending[i], ~0U);
		if (volume->mirror)
			put_pending(&volume->super, volume->mirror, &volume->pending[i], ~0U);
	}
	volume->nr_pending = 0;
}

static inline void disk_flush(struct volume *volume)
{
	write_cache_out(volume);
	if (volume->flushed && !volume->is_dead)
		volume->flushed(volume);
}

static inline struct pending *begin_write(struct volume *volume, u64 dpn)
{
	struct pending *pending;

	/* A disk writes its cache out when it is full. */
	if (volume->nr_pending == MAX_PENDING)
		write_cache_out(volume);
	pending = &volume->pending[volume->nr_pending];
	memset(pending, 0, sizeof(*pending));
	pending->dpn = dpn;
	pending->nr_sectors = DMDA_PAGE_SECTORS;
	pending->bytes = &volume->pending_bytes[volume->nr_pending++];
	return pending;
}

static inline void end_write(struct volume *volume, const struct pending *pending)
{
	put_pending(&volume->super, volume->now, pending, ~0U);
	volume->nr_cuts++;
	if (volume->cut && !volume->is_dead)
		volume->cut(volume);
}

static inline void disk_write(struct volume *volume, dpn_t dpn, const void *page)
{
	struct pending *pending = begin_write(volume, from_dpn(dpn));

	memcpy(pending->bytes, page, DMDA_BLOCK_BYTES);
	end_write(volume, pending);
}

static inline void disk_write_tag(struct volume *volume, dpn_t dpn, u64 tag)
{
	struct pending *pending = begin_write(volume, from_dpn(dpn));

	pending->tag = tag;
	end_write(volume, pending);
}

static inline void disk_write_sector(struct volume *volume,
				     const struct dmda_journal_sector *sector)
{
	u32 at = dmda_journal_sector_at(&volume->super, le64_to_cpu(sector->sector));
	struct pending *pending =
		begin_write(volume, volume->super.journal_dpn + at / DMDA_PAGE_SECTORS);

	pending->first_sector = at % DMDA_PAGE_SECTORS;
	pending->nr_sectors = 1;
	memcpy(&pending->bytes->byte[pending->first_sector * DMDA_SECTOR_BYTES], sector,
	       DMDA_SECTOR_BYTES);
	end_write(volume, pending);
}

/* Makes all operations durable: data first, then the journal. */
static inline void commit(struct volume *volume)
{
	struct dmda_journal_place next;
	u32 nr;

	KUNIT_ASSERT_NULL_MSG(volume->test, volume->change.why, "%s", volume->change.why);
	disk_flush(volume);
	nr = dmda_journal_seal(&volume->batch, &volume->super, &next);
	for (u32 i = 0; i < nr; i++)
		disk_write_sector(volume, &volume->sectors[i]);
	disk_flush(volume);
	if (!volume->is_starting)
		volume->durable_seq = next.seq - 1;
	dmda_journal_begin(&volume->batch, &volume->super, volume->sectors, BATCH_SECTORS,
			   &next);
}

static inline void write_table_page(struct volume *volume, enum dmda_table table, u64 index,
				    u64 seq, void *page)
{
	u32 slot = dmda_slots_target(&volume->slots[table], index);
	struct dmda_block_id id = dmda_super_page_id(&volume->super, table, index, slot, seq);

	if (table == DMDA_TABLE_SEGMENTS)
		id.nr_entries = dmda_segments_encode(&volume->segments, index, page);
	id.epoch = volume->root.epoch + 1;
	dmda_block_seal(page, &id);
	disk_write(volume, id.dpn, page);
	dmda_slots_written(&volume->slots[table], index, slot, seq);
}

static inline void write_map_page(struct volume *volume, struct dmda_map_page *page)
{
	write_table_page(volume, DMDA_TABLE_MAP, page->index, page->seq, page->block);
	page->dirty_sector = U64_MAX;
}

static inline void write_segments_page(struct volume *volume, u64 index)
{
	struct dmda_segments_page *page = &volume->segments.page[index];

	write_table_page(volume, DMDA_TABLE_SEGMENTS, index, page->seq, &volume->scratch);
	page->dirty_sector = U64_MAX;
}

static inline void write_opened_page(struct volume *volume, u64 index)
{
	struct dmda_opened_page *page = &volume->opened.page[index];

	write_table_page(volume, DMDA_TABLE_OPEN, index, page->seq,
			 &volume->opened.block[index]);
	page->dirty_sector = U64_MAX;
}

static inline void write_directory_page(struct volume *volume, u64 index)
{
	struct dmda_slots *slots = &volume->slots[DMDA_TABLE_DIRECTORY];
	u64 epoch = volume->root.epoch + 1;
	u32 slot = dmda_slots_target(slots, index);
	struct dmda_slots_block *block = (void *)&volume->scratch;

	dmda_directory_encode(&volume->super, &volume->slots[DMDA_TABLE_MAP], index, slot,
			      epoch, block);
	disk_write(volume, dmda_super_slot(&volume->super, DMDA_TABLE_DIRECTORY, index, slot),
		   block);
	dmda_slots_written(slots, index, slot, epoch);
}

static inline void write_root(struct volume *volume, const struct dmda_root *root)
{
	for (u32 i = 0; i < dmda_root_nr_pages(&volume->super); i++) {
		dmda_root_encode(root, &volume->super, volume->slots, i, &volume->scratch);
		disk_write(volume,
			   to_dpn(from_dpn(dmda_root_dpn(&volume->super, root->epoch)) + i),
			   &volume->scratch);
	}
}

/* Between begin and end the device goes on working. */
struct checkpoint {
	struct dmda_root root;
	u64 from;
};

static inline void begin_checkpoint(struct volume *volume, struct checkpoint *checkpoint)
{
	commit(volume);
	checkpoint->root = volume->root;
	checkpoint->root.epoch++;
	checkpoint->root.journal = volume->batch.first;
}

static inline void end_checkpoint(struct volume *volume, struct checkpoint *checkpoint)
{
	u64 before = checkpoint->root.journal.sector;

	for (u32 i = 0; i < volume->slots[DMDA_TABLE_MAP].nr_pages; i++) {
		if (volume->map[i].dirty_sector < before)
			write_map_page(volume, &volume->map[i]);
	}
	for (u32 i = 0; i < volume->slots[DMDA_TABLE_SEGMENTS].nr_pages; i++) {
		if (volume->segments.page[i].dirty_sector < before)
			write_segments_page(volume, i);
	}
	for (u32 i = 0; i < volume->slots[DMDA_TABLE_OPEN].nr_pages; i++) {
		if (volume->opened.page[i].dirty_sector < before)
			write_opened_page(volume, i);
	}
	for (u32 i = 0; i < volume->slots[DMDA_TABLE_DIRECTORY].nr_pages; i++) {
		if (dmda_slots_changed(&volume->slots[DMDA_TABLE_MAP], i))
			write_directory_page(volume, i);
	}
	for (int i = 0; i < DMDA_NR_TABLES; i++)
		dmda_slots_begin(&volume->slots[i]);
	/* What the pages know beyond the journal's durable end must not be needed. */
	commit(volume);
	write_root(volume, &checkpoint->root);
	disk_flush(volume);
	for (int i = 0; i < DMDA_NR_TABLES; i++)
		dmda_slots_end(&volume->slots[i], true);
	volume->root = checkpoint->root;
}

static inline void take_checkpoint(struct volume *volume)
{
	struct checkpoint checkpoint;

	begin_checkpoint(volume, &checkpoint);
	end_checkpoint(volume, &checkpoint);
}

/* An operation of so many records will fit; the journal never laps the last root. */
static inline void make_room(struct volume *volume, u32 nr_records)
{
	if (dmda_journal_room(&volume->super, &volume->root.journal, &volume->batch.first) <
	    4 * BATCH_SECTORS)
		take_checkpoint(volume);
	if (!dmda_journal_has_room(&volume->batch, nr_records))
		commit(volume);
}

static inline void change_segment(struct volume *volume, u8 kind, seg_t seg, u8 open, u64 mtime)
{
	const struct dmda_record record = {
		.kind = kind, .seg = seg, .open = open, .mtime = mtime,
	};

	make_room(volume, 1);
	dmda_change_segment(&volume->change, &record);
}

static inline void free_empty_segments(struct volume *volume)
{
	u32 from = 0;

	while (true) {
		seg_t seg = dmda_segments_find_empty(&volume->segments, volume->durable_seq,
						     &from);

		if (seg == SEG_NONE)
			return;
		change_segment(volume, DMDA_RECORD_FREE, seg, 0, 0);
	}
}

static inline void close_segment(struct volume *volume, seg_t seg)
{
	u8 open = volume->segments.segment[from_seg(seg)].open;
	u64 dpn = from_dpn(dmda_summary_dpn(&volume->super, seg));

	memcpy(volume->summary, dmda_opened_summary(&volume->opened, open),
	       sizeof(volume->summary));
	dmda_summary_seal(volume->summary, &volume->super, seg, volume->root.epoch + 1);
	for (u32 i = 0; i < SUMMARY_PAGES; i++)
		disk_write(volume, to_dpn(dpn + i), &volume->summary[i]);
	change_segment(volume, DMDA_RECORD_CLOSE, seg, 0, volume->batch.next_seq);
}

/* The stream's segment is full; it is closed when all that was written to it is mapped. */
static inline void finish_segment(struct volume *volume, enum dmda_stream stream)
{
	seg_t seg = volume->writer.open[stream].seg;

	if (seg == SEG_NONE)
		return;
	if (stream == DMDA_STREAM_MOVED && volume->is_moving)
		volume->closing = seg;
	else
		close_segment(volume, seg);
	dmda_writer_open(&volume->writer, stream, SEG_NONE, 0);
}

static inline void end_moving(struct volume *volume)
{
	volume->is_moving = false;
	if (volume->closing != SEG_NONE)
		close_segment(volume, volume->closing);
	volume->closing = SEG_NONE;
}

static inline void open_segment(struct volume *volume, enum dmda_stream stream)
{
	u8 open = dmda_writer_next_summary(&volume->writer, stream);
	seg_t seg;

	finish_segment(volume, stream);
	/* Nothing is committed for it, as long as there is another. */
	free_empty_segments(volume);
	if (volume->segments.nr_free < 2) {
		commit(volume);
		free_empty_segments(volume);
	}
	seg = dmda_segments_find_free(&volume->segments);
	KUNIT_ASSERT_NE(volume->test, from_seg(seg), from_seg(SEG_NONE));
	change_segment(volume, DMDA_RECORD_OPEN, seg, open, 0);
	dmda_opened_begin(&volume->opened, open, volume->batch.next_seq - 1,
			  volume->batch.first.sector);
	dmda_writer_open(&volume->writer, stream, seg, 0);
}

/* What follows open_volume() before a device is used again: cleaning goes on in its segment. */
static inline void resume_volume(struct volume *volume, const struct dmda_journal_place *end,
				 u64 salt)
{
	struct dmda_journal_place place = *end;
	seg_t stays = dmda_writer_resume(&volume->writer, DMDA_STREAM_MOVED, &volume->opened);

	dmda_journal_skip_lost(&place);
	place.chain = dmda_journal_fresh_chain(&volume->super, salt);
	dmda_journal_begin(&volume->batch, &volume->super, volume->sectors, BATCH_SECTORS,
			   &place);
	volume->durable_seq = end->seq - 1;
	volume->first_seq = place.seq;
	volume->is_starting = true;
	take_checkpoint(volume);
	volume->is_starting = false;
	volume->durable_seq = volume->root.journal.seq - 1;
	/* Not before: it may never count, and its numbers would be given again. */
	for (u32 i = 0; i < volume->segments.nr_segments; i++) {
		if (volume->segments.segment[i].state == DMDA_SEGMENT_OPEN && to_seg(i) != stays)
			close_segment(volume, to_seg(i));
	}
}

/* The pages of the map for an operation on these lpns. */
static inline void map_pages(struct volume *volume, lpn_t lpn, u32 nr_pages,
			     struct dmda_map_page *pages[DMDA_OP_MAP_PAGES])
{
	u32 entry;
	u64 first = dmda_map_index(lpn, &entry);
	u64 last = dmda_map_index(to_lpn(from_lpn(lpn) + nr_pages - 1), &entry);

	pages[0] = &volume->map[first];
	pages[1] = last == first ? NULL : &volume->map[last];
}

static inline dpn_t where_is(const struct volume *volume, u64 lpn)
{
	u32 entry;
	u64 index = dmda_map_index(to_lpn(lpn), &entry);

	return dmda_map_get(volume->map[index].block, entry);
}

/* Return: pages that found consecutive places; their data is written. */
static inline u32 write_data(struct volume *volume, enum dmda_stream stream, u64 lpn,
			     u32 nr_pages, u64 tag, dpn_t *dpn)
{
	u32 taken = dmda_writer_take(&volume->writer, stream, nr_pages, dpn);

	if (!taken) {
		open_segment(volume, stream);
		taken = dmda_writer_take(&volume->writer, stream, nr_pages, dpn);
	}
	for (u32 i = 0; i < taken; i++)
		disk_write_tag(volume, to_dpn(from_dpn(*dpn) + i), tag + lpn + i);
	return taken;
}

static inline void map_data(struct volume *volume, u64 lpn, dpn_t dpn, u32 nr_pages)
{
	struct dmda_written first = { .lpn = to_lpn(lpn), .file = 1, .fpage = lpn };
	struct dmda_map_page *pages[DMDA_OP_MAP_PAGES];

	make_room(volume, 1 + nr_pages);
	map_pages(volume, to_lpn(lpn), nr_pages, pages);
	first.seq = dmda_change_map(&volume->change, pages, to_lpn(lpn), dpn, nr_pages);
	dmda_opened_put(&volume->opened, dpn, &first, nr_pages, volume->batch.first.sector);
}

static inline void trim_pages(struct volume *volume, u64 lpn, u32 nr_pages)
{
	struct dmda_map_page *pages[DMDA_OP_MAP_PAGES];

	make_room(volume, 1 + nr_pages);
	map_pages(volume, to_lpn(lpn), nr_pages, pages);
	dmda_change_trim(&volume->change, pages, to_lpn(lpn), nr_pages);
}

/* Memory for a volume whose superblock is known, and nothing in it. */
static inline void reset_memory(struct volume *volume)
{
	memset(volume->segments_memory, 0, dmda_segments_bytes(&volume->super));
	dmda_segments_init(&volume->segments, &volume->super, volume->segments_memory);
	memset(volume->opened_memory, 0, dmda_opened_bytes(&volume->super));
	dmda_opened_init(&volume->opened, &volume->super, &volume->segments,
			 volume->opened_memory);
	memset(volume->map_block, 0, MAP_PAGES * sizeof(*volume->map_block));
	for (u32 i = 0; i < MAP_PAGES; i++) {
		volume->map[i] = (struct dmda_map_page){
			.block = &volume->map_block[i], .index = i, .dirty_sector = U64_MAX,
		};
	}
	for (int i = 0; i < DMDA_NR_TABLES; i++) {
		u64 nr_pages = dmda_super_nr_pages(&volume->super, i);

		memset(volume->slots_memory[i], 0, dmda_slots_bytes(nr_pages));
		dmda_slots_init(&volume->slots[i], nr_pages, volume->slots_memory[i]);
	}
	dmda_writer_init(&volume->writer, &volume->super);
	volume->is_moving = false;
	volume->closing = SEG_NONE;
	volume->change = (struct dmda_change){
		.super = &volume->super,
		.segments = &volume->segments,
		.batch = &volume->batch,
	};
}

static inline const char *super_of_test(struct dmda_super *super)
{
	static const u8 uuid[DMDA_UUID_BYTES] = "a volume's uuid";
	const struct dmda_format format = {
		.uuid = uuid,
		.nr_device_pages = DISK_PAGES,
		.stripe_pages = 8,
		.segment_pages = SEGMENT_PAGES,
		.journal_sectors = DMDA_MIN_JOURNAL_SECTORS,
		.journal_unit_sectors = 1,
		.reserve_permille = RESERVE_PERMILLE,
	};

	return dmda_super_make(&format, super);
}

static inline struct volume *new_volume(struct kunit *test)
{
	struct volume *volume = test_memory(test, sizeof(*volume));
	const char *why = super_of_test(&volume->super);

	KUNIT_ASSERT_NULL_MSG(test, why, "%s", why);
	KUNIT_ASSERT_LE(test, volume->super.area[0].segments_dpn, 400ULL);
	KUNIT_ASSERT_LE(test, dmda_super_nr_segments(&volume->super), (u64)NR_SEGMENTS);
	KUNIT_ASSERT_LE(test, dmda_super_nr_pages(&volume->super, DMDA_TABLE_MAP),
			(u64)MAP_PAGES);
	volume->test = test;
	volume->segments_memory = test_memory(test, dmda_segments_bytes(&volume->super));
	volume->opened_memory = test_memory(test, dmda_opened_bytes(&volume->super));
	volume->map_block = test_memory(test, MAP_PAGES * sizeof(*volume->map_block));
	for (int i = 0; i < DMDA_NR_TABLES; i++) {
		volume->slots_memory[i] =
			test_memory(test, dmda_slots_bytes(dmda_super_nr_pages(&volume->super, i)));
	}
	reset_memory(volume);
	return volume;
}

/* What format does. */
static inline void format_volume(struct volume *volume)
{
	struct dmda_root root = {
		.epoch = 1,
		.journal = { .chain = dmda_journal_fresh_chain(&volume->super, 1), .seq = 1 },
		.is_clean = true,
	};

	volume->stable = new_image(volume->test);
	volume->now = new_image(volume->test);
	volume->pending_bytes = test_memory(volume->test, MAX_PENDING * sizeof(struct page_bytes));
	write_root(volume, &root);
	disk_flush(volume);
	dmda_super_encode(&volume->super, (struct dmda_super_block *)&volume->scratch);
	disk_write(volume, dmda_super_dpn(volume->super.epoch), &volume->scratch);
	disk_flush(volume);
	volume->root = root;
	dmda_journal_begin(&volume->batch, &volume->super, volume->sectors, BATCH_SECTORS,
			   &root.journal);
}

/* Reads the root at one of the two places. Return: NULL, or what is wrong with it. */
static inline const char *read_root(struct volume *volume, const struct image *image, u32 which,
				    struct dmda_root *root)
{
	const char *why = dmda_root_decode(root, &volume->super,
					   read_meta(volume, image,
						     to_dpn(volume->super.root_dpn[which])),
					   which);

	for (u32 i = 1; !why && i < dmda_root_nr_pages(&volume->super); i++)
		why = dmda_root_decode_entries(root, &volume->super, i,
					       read_meta(volume, image,
							 to_dpn(volume->super.root_dpn[which] + i)),
					       volume->slots);
	return why;
}

static inline const char *read_newest_root(struct volume *volume, const struct image *image)
{
	struct dmda_root root[2];
	const char *why[2];
	u32 which;

	for (which = 0; which < 2; which++)
		why[which] = read_root(volume, image, which, &root[which]);
	if (why[0] && why[1])
		return why[0];
	which = dmda_root_newest(root, why);
	return read_root(volume, image, which, &volume->root);
}

/* Finds the valid slot of a page. Return: NULL, or what is wrong; @page is NULL if absent. */
static inline const char *read_table_page(const struct volume *volume, const struct image *image,
					  enum dmda_table table, u64 index, const void **page)
{
	struct dmda_block_id id;

	*page = NULL;
	if (!volume->slots[table].newest[index])
		return NULL;
	id = dmda_slots_newest_id(volume->slots, &volume->super, table, index);
	*page = read_meta(volume, image, id.dpn);
	return dmda_block_check(*page, &id);
}

static inline u64 newest_seq(const struct volume *volume, enum dmda_table table, u64 index)
{
	return dmda_slot_seq(volume->slots[table].newest[index]);
}

static inline const char *read_map_page(struct volume *volume, const struct image *image,
					u64 index)
{
	const void *page;
	const char *why = read_table_page(volume, image, DMDA_TABLE_MAP, index, &page);

	if (why || !page)
		return why;
	memcpy(volume->map[index].block, page, DMDA_BLOCK_BYTES);
	volume->map[index].seq = newest_seq(volume, DMDA_TABLE_MAP, index);
	return dmda_map_check(volume->map[index].block, volume->super.nr_device_pages);
}

static inline const char *read_segments_page(struct volume *volume, const struct image *image,
					     u64 index)
{
	const void *page;
	const char *why = read_table_page(volume, image, DMDA_TABLE_SEGMENTS, index, &page);

	return why || !page ? why : dmda_segments_decode(&volume->segments, index, page);
}

static inline const char *read_opened_page(struct volume *volume, const struct image *image,
					   u64 index)
{
	const void *page;
	const char *why = read_table_page(volume, image, DMDA_TABLE_OPEN, index, &page);

	if (why || !page)
		return why;
	memcpy(&volume->opened.block[index], page, DMDA_BLOCK_BYTES);
	volume->opened.page[index].seq = newest_seq(volume, DMDA_TABLE_OPEN, index);
	return NULL;
}

static inline const char *read_tables(struct volume *volume, const struct image *image)
{
	struct dmda_slots *directory = &volume->slots[DMDA_TABLE_DIRECTORY];
	const char *why = NULL;

	for (u64 i = 0; !why && i < directory->nr_pages; i++) {
		u64 seq_slot = directory->newest[i];
		dpn_t dpn = dmda_super_slot(&volume->super, DMDA_TABLE_DIRECTORY, i,
					    dmda_slot_of(seq_slot));

		if (seq_slot)
			why = dmda_directory_decode(&volume->super, i, seq_slot,
						    read_meta(volume, image, dpn),
						    &volume->slots[DMDA_TABLE_MAP]);
	}
	for (u64 i = 0; !why && i < volume->slots[DMDA_TABLE_MAP].nr_pages; i++)
		why = read_map_page(volume, image, i);
	for (u64 i = 0; !why && i < volume->slots[DMDA_TABLE_SEGMENTS].nr_pages; i++)
		why = read_segments_page(volume, image, i);
	for (u64 i = 0; !why && i < volume->slots[DMDA_TABLE_OPEN].nr_pages; i++)
		why = read_opened_page(volume, image, i);
	return why;
}

static inline const char *replay_op(struct volume *volume, const struct dmda_op *op)
{
	const struct dmda_record *record = dmda_op_pages(op);
	struct dmda_map_page *pages[DMDA_OP_MAP_PAGES] = { NULL };
	const char *why;

	if (record) {
		if (from_lpn(record->lpn) + record->nr_pages > volume->super.nr_lpns)
			return "the journal names pages behind the end of the device";
		map_pages(volume, record->lpn, record->nr_pages, pages);
	}
	why = dmda_change_replay(&volume->change, op, pages);
	if (!why)
		dmda_opened_replay(&volume->opened, op);
	return why;
}

/* Return: NULL, or what is wrong; @next gets the end of the journal. */
static inline const char *replay_journal(struct volume *volume, const struct image *image,
					 struct dmda_op *op, struct dmda_journal_place *next)
{
	struct dmda_journal_reader reader;
	struct dmda_replay replay;

	dmda_journal_open(&reader, &volume->super, &volume->root.journal);
	dmda_replay_init(&replay, op, volume->root.journal.seq);
	while (!replay.why) {
		u32 at = dmda_journal_sector_at(&volume->super, reader.next.sector);
		const struct dmda_journal_sector *sector = (const struct dmda_journal_sector *)
			&image->meta[volume->super.journal_dpn + at / DMDA_PAGE_SECTORS]
				.byte[at % DMDA_PAGE_SECTORS * DMDA_SECTOR_BYTES];
		const struct dmda_op *whole;

		if (!dmda_journal_accept(&reader, sector))
			break;
		dmda_replay_sector(&replay, sector);
		while ((whole = dmda_replay_next(&replay))) {
			const char *why = replay_op(volume, whole);

			if (why)
				return why;
		}
	}
	*next = reader.next;
	return replay.why ?: dmda_root_check_times(volume->slots, next->seq);
}

/* Starts a volume from an image. Return: NULL, or what is wrong. */
static inline const char *open_volume(struct volume *volume, const struct image *image,
				      struct dmda_op *op, struct dmda_journal_place *next)
{
	const char *why;

	reset_memory(volume);
	why = read_newest_root(volume, image);
	if (!why)
		why = read_tables(volume, image);
	if (!why)
		why = replay_journal(volume, image, op, next);
	return why ?: dmda_segments_check(&volume->segments);
}

#endif /* VOLUME_H */
