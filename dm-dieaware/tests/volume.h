/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small device in log mode without a kernel: the core, and a disk that forgets what was not
 * flushed. It is started by core/start.h, commits by core/commit.h, takes checkpoints by
 * core/checkpoint.h, closes segments by core/close.h and frees them by core/free.h, as the target
 * is and does.
 *
 * The disk keeps metadata as bytes and of each data page a tag. What is written is
 * pending until a flush. At every write volume.cut is called, which may look at what
 * any power failure at that moment could leave.
 */
#ifndef VOLUME_H
#define VOLUME_H

#include "../core/ahead.c"
#include "../core/block.c"
#include "../core/super.c"
#include "../core/record.c"
#include "../core/journal.c"
#include "../core/map.c"
#include "../core/slots.c"
#include "../core/bitset.c"
#include "../core/ranks.c"
#include "../core/segments.c"
#include "../core/root.c"
#include "../core/replay.c"
#include "../core/change.c"
#include "../core/summary.c"
#include "../core/opened.c"
#include "../core/writer.c"
#include "../core/lifetime.c"
#include "../core/close.c"
#include "../core/draft.c"
#include "../core/commit.c"
#include "../core/free.c"
#include "../core/writeback.c"
#include "../core/checkpoint.c"
#include "../core/start-root.c"
#include "../core/start-ring.c"
#include "../core/start.c"
#include "../core/plan.c"
#include "../core/victim.c"

/* Sizes; they may be given before this is included */
#ifndef SEGMENT_PAGES
#define SEGMENT_PAGES	64
#define DISK_PAGES	2960
#define MAP_PAGES	6
#endif
#ifndef DRAFTS
#define DRAFTS		true
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
 * @is_whole: whether it is written whole or not at all
 */
struct pending {
	u64 dpn;
	u32 first_sector;
	u32 nr_sectors;
	u64 tag;
	struct page_bytes *bytes;
	bool is_whole;
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
 * @commit: batches of the journal
 * @sectors: memory of two batches
 * @draft_sectors: memory of a draft
 * @closing: segments that are open
 * @freeing: segments that are being freed
 * @tells_free: whether free segments are discarded that became so without
 * @aside: one of these that is being discarded, or SEG_NONE
 * @nr_told: number of these that were
 * @change: all that operations change
 * @root: last durable root
 * @checkpoint: checkpoint that is being taken
 * @is_taking: whether @checkpoint is under way
 * @start: start of the device
 * @has_map: whether all pages of the map were read
 * @journal_from: journal sector at which a start after a crash begins to read
 * @durable_seq: last operation that a start after a crash has to know
 * @first_seq: first operation since the last start
 * @mirror: a copy of @stable that is kept up to date, or NULL
 * @is_starting: whether what is in the journal does not count before the next root
 * @is_dead: whether the power has failed, so that writes have no effect any more
 * @scratch: a page that is being put together
 * @summary: a summary that is being written
 * @nr_kept: commits for which a draft was kept
 * @nr_cuts: number of calls of @cut
 * @cut: called at each write, or NULL
 * @discarded: called for each segment that is discarded, or NULL
 * @flushed: called at each flush that the device asks for, and when a write with FUA has ended, or
 *	NULL
 * @read_sums: does DMDA_START_SUMS where data is more than tags, or NULL
 * @data: data for @cut, @flushed and @read_sums
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
	struct dmda_commit commit;
	struct dmda_journal_sector sectors[2][BATCH_SECTORS];
	struct dmda_journal_sector draft_sectors[DMDA_PAGE_SECTORS];
	struct dmda_closing closing;
	struct dmda_freeing freeing;
	bool tells_free;
	seg_t aside;
	u32 nr_told;
	struct dmda_change change;
	struct dmda_root root;
	struct dmda_checkpoint checkpoint;
	bool is_taking;
	struct dmda_start start;
	bool has_map;
	u64 journal_from;
	u64 durable_seq;
	u64 first_seq;

	struct image *mirror;
	bool is_starting;
	bool is_dead;
	struct page_bytes scratch;
	struct dmda_summary_block summary[SUMMARY_PAGES] __aligned(8);
	u32 nr_kept;
	u32 nr_cuts;
	void (*cut)(struct volume *volume);
	void (*discarded)(struct volume *volume, seg_t seg);
	void (*flushed)(struct volume *volume);
	int (*read_sums)(struct volume *volume);
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

	if (pending->is_whole && sectors & all)
		sectors = all;
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

/* Writes from the first of them on were done with FUA: they alone are durable. */
static inline void disk_fua(struct volume *volume, u32 first)
{
	for (u32 i = first; !volume->is_dead && i < volume->nr_pending; i++) {
		put_pending(&volume->super, volume->stable, &volume->pending[i], ~0U);
		if (volume->mirror)
			put_pending(&volume->super, volume->mirror, &volume->pending[i], ~0U);
	}
	volume->nr_pending = first;
	if (volume->flushed && !volume->is_dead)
		volume->flushed(volume);
}

/* Return: where writes of that order begin, for end_order() */
static inline u32 begin_order(struct volume *volume, u32 order)
{
	if (order & DMDA_ORDER_FLUSH)
		disk_flush(volume);
	return volume->nr_pending;
}

static inline void end_order(struct volume *volume, u32 order, u32 first)
{
	if (order & DMDA_ORDER_FUA)
		disk_fua(volume, first);
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

/* As where users may overwrite in place */
static inline void disk_write_tag_whole(struct volume *volume, dpn_t dpn, u64 tag)
{
	struct pending *pending = begin_write(volume, from_dpn(dpn));

	pending->tag = tag;
	pending->is_whole = true;
	end_write(volume, pending);
}

/* The same with FUA: what the cache has of it is no more, and all else stays there. */
static inline void disk_write_tag_fua(struct volume *volume, dpn_t dpn, u64 tag)
{
	struct pending *pending;

	disk_write_tag_whole(volume, dpn, tag);
	if (volume->is_dead)
		return;
	pending = &volume->pending[--volume->nr_pending];
	put_pending(&volume->super, volume->stable, pending, ~0U);
	if (volume->mirror)
		put_pending(&volume->super, volume->mirror, pending, ~0U);
	for (u32 i = 0; i < volume->nr_pending; i++) {
		if (volume->pending[i].dpn == from_dpn(dpn))
			volume->pending[i].nr_sectors = 0;
	}
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

static inline void note_durable(struct volume *volume)
{
	if (!volume->is_starting)
		volume->durable_seq = volume->commit.durable_seq;
}

static inline void write_batch(struct volume *volume)
{
	const struct dmda_commit *commit = &volume->commit;
	u32 first = begin_order(volume, commit->order);

	for (u32 i = 0; i < commit->nr; i++)
		disk_write_sector(volume, &commit->sealed[i]);
	end_order(volume, commit->order, first);
}

/* Makes all operations durable. */
static inline void commit(struct volume *volume)
{
	struct dmda_commit *commit = &volume->commit;

	dmda_commit_begin(commit);
	if (commit->nr)
		dmda_commit_begin_batch(commit);
	note_durable(volume);
	KUNIT_ASSERT_NULL_MSG(volume->test, commit->why, "%s", commit->why);
	while (!dmda_commit_is_over(commit)) {
		enum dmda_commit_step step = dmda_commit_next(commit);

		if (step == DMDA_COMMIT_SEAL)
			dmda_commit_seal(commit);
		else if (step == DMDA_COMMIT_WRITE)
			write_batch(volume);
		else if (step == DMDA_COMMIT_FLUSH)
			disk_flush(volume);
		else
			KUNIT_ASSERT_TRUE(volume->test, commit->draft.is_written);
		dmda_commit_did(commit, 0);
	}
	KUNIT_ASSERT_EQ(volume->test, dmda_commit_next(commit), DMDA_COMMIT_DONE);
	volume->nr_kept += commit->is_kept;
	note_durable(volume);
}

/* What a user's flush does */
static inline void flush(struct volume *volume)
{
	if (!dmda_commit_is_idle(&volume->commit))
		commit(volume);
}

/* There is only one of them at a time. */
static inline void write_copy(struct volume *volume, struct dmda_writeback *write)
{
	const struct dmda_tables *tables = &volume->checkpoint.tables;

	dmda_writeback_seal(tables, write, volume->root.epoch + 1);
	disk_write(volume, dmda_writeback_dpn(tables, write), write->copy);
	dmda_writeback_done(tables, write);
}

static inline void write_map_page(struct volume *volume, struct dmda_map_page *page)
{
	struct dmda_writeback write = { .copy = &volume->scratch };

	dmda_writeback_take_map(&volume->checkpoint.tables, &write, page);
	write_copy(volume, &write);
}

static inline void write_table_page(struct volume *volume, enum dmda_table table, u64 index)
{
	struct dmda_writeback write = {
		.copy = &volume->scratch, .table = table, .index = index,
	};

	dmda_writeback_take(&volume->checkpoint.tables, &write, volume->root.epoch + 1);
	write_copy(volume, &write);
}

/* As where memory is short: at any time, also twice between two checkpoints. */
static inline void evict_map_page(struct volume *volume, u64 index)
{
	if (volume->map[index].dirty_sector != U64_MAX &&
	    !volume->slots[DMDA_TABLE_MAP].pending)
		write_map_page(volume, &volume->map[index]);
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

static inline void write_map(struct volume *volume)
{
	for (u32 i = 0; i < volume->slots[DMDA_TABLE_MAP].nr_pages; i++) {
		if (dmda_checkpoint_needs(&volume->checkpoint, volume->map[i].dirty_sector))
			write_map_page(volume, &volume->map[i]);
	}
}

static inline void do_checkpoint_step(struct volume *volume, enum dmda_checkpoint_step step)
{
	struct dmda_checkpoint *checkpoint = &volume->checkpoint;
	u32 first;

	switch (step) {
	case DMDA_CHECKPOINT_COMMIT:
		commit(volume);
		break;
	case DMDA_CHECKPOINT_PLACE:
		checkpoint->next.journal = dmda_commit_root_place(&volume->commit);
		break;
	case DMDA_CHECKPOINT_MAP:
		write_map(volume);
		break;
	case DMDA_CHECKPOINT_PAGE:
		write_table_page(volume, checkpoint->table, checkpoint->index);
		break;
	case DMDA_CHECKPOINT_ROOT:
		first = begin_order(volume, checkpoint->order);
		write_root(volume, &checkpoint->next);
		end_order(volume, checkpoint->order, first);
		break;
	default:
		/* A write ends at once here. */
		break;
	}
}

/* Between begin and end the device goes on working. */
static inline void begin_checkpoint(struct volume *volume)
{
	dmda_checkpoint_begin(&volume->checkpoint, false);
	volume->is_taking = true;
}

/* So many steps of it, if it has so many */
static inline void go_on_with_checkpoint(struct volume *volume, u32 nr_steps)
{
	struct dmda_checkpoint *checkpoint = &volume->checkpoint;
	enum dmda_checkpoint_step step;

	while (volume->is_taking && nr_steps--) {
		step = dmda_checkpoint_next(checkpoint);
		if (step >= DMDA_CHECKPOINT_DONE) {
			KUNIT_ASSERT_EQ(volume->test, step, DMDA_CHECKPOINT_DONE);
			volume->is_taking = false;
			dmda_commit_begin_batch(&volume->commit);
			return;
		}
		do_checkpoint_step(volume, step);
		dmda_checkpoint_did(checkpoint, 0);
	}
}

static inline void end_checkpoint(struct volume *volume)
{
	go_on_with_checkpoint(volume, U32_MAX);
}

/* If one is under way, it is waited for. */
static inline void take_checkpoint(struct volume *volume)
{
	end_checkpoint(volume);
	begin_checkpoint(volume);
	end_checkpoint(volume);
}

/*
 * An operation of so many records, and of as many checksums, will fit; if the ring is full, only a
 * root makes room.
 */
static inline void make_room(struct volume *volume, u32 nr_records)
{
	u32 nr_sums = dmda_super_has_sums(&volume->super) ? nr_records : 0;

	if (volume->commit.has_batch &&
	    dmda_journal_has_room(&volume->commit.batch, nr_records, nr_sums))
		return;
	commit(volume);
	if (!volume->commit.has_batch)
		take_checkpoint(volume);
	KUNIT_ASSERT_TRUE(volume->test, volume->commit.has_batch);
}

static inline void change_segment(struct volume *volume, u8 kind, seg_t seg, u8 open, u64 mtime)
{
	const struct dmda_record record = {
		.kind = kind, .seg = seg, .open = open, .mtime = mtime,
	};

	make_room(volume, 1);
	dmda_change_segment(&volume->change, &record);
}

static inline void forget_segment(struct volume *volume, struct image *image, seg_t seg)
{
	u64 first = from_dpn(dmda_super_segment_dpn(&volume->super, seg));

	for (u32 i = 0; image && i < dmda_super_data_pages(&volume->super); i++)
		image->tag[first + i] = TAG_TORN;
}

/* The worst that a device may do: what the segment had is gone at once, whatever happens. */
static inline void device_discards(struct volume *volume, seg_t seg)
{
	forget_segment(volume, volume->now, seg);
	if (!volume->is_dead) {
		forget_segment(volume, volume->stable, seg);
		forget_segment(volume, volume->mirror, seg);
	}
	if (volume->discarded)
		volume->discarded(volume, seg);
}

static inline void discard_segment(struct volume *volume, seg_t seg)
{
	KUNIT_ASSERT_TRUE(volume->test, dmda_free_discard(&volume->freeing, seg));
	device_discards(volume, seg);
	dmda_free_discarded(&volume->freeing, seg);
}

/*
 * Of what was freed without a discard one at a time is discarded, which takes as long as from when
 * a segment is opened until the next one is.
 */
static inline void discard_free_segment(struct volume *volume)
{
	if (from_seg(volume->aside) != from_seg(SEG_NONE)) {
		device_discards(volume, volume->aside);
		dmda_free_put_back(&volume->freeing, volume->aside);
		volume->aside = SEG_NONE;
		volume->nr_told++;
	}
	if (volume->tells_free && volume->segments.nr_free > 4)
		volume->aside = dmda_free_set_aside(&volume->freeing);
}

/* Every other one is freed without a discard, as where segments lack. */
static inline void free_empty_segments(struct volume *volume)
{
	u32 from = 0;
	seg_t seg;

	while ((seg = dmda_free_find(&volume->freeing, &from)) != SEG_NONE) {
		struct dmda_record record;

		KUNIT_ASSERT_TRUE(volume->test, dmda_free_claim(&volume->freeing, seg, 0));
		if (volume->discarded || from_seg(seg) % 2)
			discard_segment(volume, seg);
		KUNIT_ASSERT_TRUE(volume->test,
				  dmda_free_record(&volume->freeing, seg, &record));
		make_room(volume, 1);
		dmda_change_segment(&volume->change, &record);
		dmda_free_end(&volume->freeing, seg);
	}
}

static inline void write_summary(struct volume *volume)
{
	u64 dpn = from_dpn(dmda_close_copy(&volume->closing, volume->summary,
					   volume->root.epoch + 1));

	for (u32 i = 0; i < SUMMARY_PAGES; i++)
		disk_write(volume, to_dpn(dpn + i), &volume->summary[i]);
}

static inline void close_segment(struct volume *volume, u8 open)
{
	struct dmda_closing *closing = &volume->closing;
	enum dmda_close_step step;

	KUNIT_ASSERT_TRUE(volume->test, dmda_close_begin(closing, open));
	while ((step = dmda_close_next(closing)) < DMDA_CLOSE_DONE) {
		if (step == DMDA_CLOSE_SUMMARY) {
			write_summary(volume);
		} else {
			make_room(volume, 1);
			dmda_change_segment(&volume->change, &closing->record);
		}
		dmda_close_did(closing, 0);
	}
}

static inline u8 summary_of(const struct volume *volume, seg_t seg)
{
	return volume->segments.segment[from_seg(seg)].open;
}

/* Nothing more goes to the stream's segment; it is closed when all is mapped. */
static inline void finish_segment(struct volume *volume, enum dmda_stream stream)
{
	seg_t seg = volume->writer.open[stream].seg;

	if (seg == SEG_NONE)
		return;
	dmda_writer_open(&volume->writer, stream, SEG_NONE, 0);
	if (dmda_close_retire(&volume->closing, summary_of(volume, seg)))
		close_segment(volume, summary_of(volume, seg));
}

/* Pages of an open segment are mapped, or never will be. */
static inline void end_places(struct volume *volume, dpn_t dpn, u32 nr_pages, u64 mtime)
{
	u32 page;
	u8 open = summary_of(volume, dmda_super_segment_of(&volume->super, dpn, &page));

	volume->closing.open[open].mtime = max(volume->closing.open[open].mtime, mtime);
	if (dmda_close_placed(&volume->closing, open, nr_pages))
		close_segment(volume, open);
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
	discard_free_segment(volume);
	seg = dmda_segments_find_free(&volume->segments);
	KUNIT_ASSERT_NE(volume->test, from_seg(seg), from_seg(SEG_NONE));
	KUNIT_ASSERT_EQ(volume->test, from_seg(volume->closing.open[open].seg),
			from_seg(SEG_NONE));
	change_segment(volume, DMDA_RECORD_OPEN, seg, open, 0);
	dmda_opened_begin(&volume->opened, open, volume->commit.batch.next_seq - 1,
			  volume->commit.batch.first.sector);
	dmda_writer_open(&volume->writer, stream, seg, 0);
	dmda_close_opened(&volume->closing, open, seg, 0);
}

/* The pages of the map for an operation on these lpns. */
static inline void map_pages(struct volume *volume, lpn_t lpn, u32 nr_pages,
			     struct dmda_map_page *pages[DMDA_OP_MAP_PAGES])
{
	u32 entry;
	u64 first = dmda_map_index(&volume->super, lpn, &entry);
	u64 last = dmda_map_index(&volume->super, to_lpn(from_lpn(lpn) + nr_pages - 1), &entry);

	pages[0] = &volume->map[first];
	pages[1] = last == first ? NULL : &volume->map[last];
}

static inline dpn_t where_is(const struct volume *volume, u64 lpn)
{
	u32 entry;
	u64 index = dmda_map_index(&volume->super, to_lpn(lpn), &entry);

	return dmda_map_get(volume->map[index].block, entry);
}

/* The checksum of a page, as far as this disk knows it */
static inline __le32 sum_of_tag(u64 tag)
{
	return cpu_to_le32(crc32c(~0U, &tag, sizeof(tag)));
}

/* What the map has for a page of a volume with checksums */
static inline __le32 sum_at(const struct volume *volume, u64 lpn)
{
	u32 entry;
	u64 index = dmda_map_index(&volume->super, to_lpn(lpn), &entry);

	return dmda_map_sums(volume->map[index].block)->sum[entry];
}

/* Return: pages that found consecutive places. */
static inline u32 take_places(struct volume *volume, enum dmda_stream stream, u32 nr_pages,
			      dpn_t *dpn)
{
	u32 taken = dmda_writer_take(&volume->writer, stream, nr_pages, dpn);

	if (!taken) {
		open_segment(volume, stream);
		taken = dmda_writer_take(&volume->writer, stream, nr_pages, dpn);
	}
	dmda_close_took(&volume->closing, summary_of(volume, volume->writer.open[stream].seg),
			taken);
	return taken;
}

static inline void write_tags(struct volume *volume, dpn_t dpn, u32 nr_pages, u64 tag)
{
	for (u32 i = 0; i < nr_pages; i++)
		disk_write_tag(volume, to_dpn(from_dpn(dpn) + i), tag + i);
}

/* Return: pages that found consecutive places; their data is written. */
static inline u32 write_data(struct volume *volume, enum dmda_stream stream, u64 lpn,
			     u32 nr_pages, u64 tag, dpn_t *dpn)
{
	u32 taken = take_places(volume, stream, nr_pages, dpn);

	write_tags(volume, *dpn, taken, tag + lpn);
	return taken;
}

/* Return: whether there is a draft now of a write that has its places. */
static inline bool make_draft(struct volume *volume, u64 lpn, dpn_t dpn, u32 nr_pages)
{
	struct dmda_map_page *pages[DMDA_OP_MAP_PAGES];

	map_pages(volume, to_lpn(lpn), nr_pages, pages);
	return dmda_commit_draft(&volume->commit, pages, to_lpn(lpn), dpn, nr_pages);
}

/* @tag: what the draft's first page is going to hold */
static inline void write_draft(struct volume *volume, u64 tag)
{
	struct dmda_draft *draft = &volume->commit.draft;
	__le32 sums[DMDA_MAX_DRAFT_PAGES];

	for (u32 i = 0; i < draft->pages.nr_pages; i++)
		sums[i] = sum_of_tag(tag + i);
	dmda_draft_seal(draft, &volume->super, sums);
	for (u32 i = 0; i < draft->nr; i++)
		disk_write_sector(volume, &draft->sectors[i]);
	dmda_draft_written(draft, false);
}

static inline void map_data(struct volume *volume, u64 lpn, dpn_t dpn, u32 nr_pages)
{
	struct dmda_written first = { .lpn = to_lpn(lpn), .file = 1, .fpage = lpn };
	struct dmda_map_page *pages[DMDA_OP_MAP_PAGES];
	__le32 sums[DMDA_MAP_SUMS_ENTRIES];

	for (u32 i = 0; i < nr_pages; i++)
		sums[i] = sum_of_tag(volume->now->tag[from_dpn(dpn) + i]);
	make_room(volume, 1 + nr_pages);
	map_pages(volume, to_lpn(lpn), nr_pages, pages);
	first.seq = dmda_change_map(&volume->change, pages, to_lpn(lpn), dpn, nr_pages, sums);
	dmda_opened_put(&volume->opened, dpn, &first, nr_pages, volume->commit.batch.first.sector);
	end_places(volume, dpn, nr_pages, first.seq);
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
			.nr_entries = dmda_super_map_entries(&volume->super),
		};
	}
	for (int i = 0; i < DMDA_NR_TABLES; i++) {
		u64 nr_pages = dmda_super_nr_pages(&volume->super, i);

		memset(volume->slots_memory[i], 0, dmda_slots_bytes(nr_pages));
		dmda_slots_init(&volume->slots[i], nr_pages, volume->slots_memory[i]);
	}
	dmda_writer_init(&volume->writer, &volume->super);
	volume->commit = (struct dmda_commit){
		.super = &volume->super,
		.root = &volume->root,
		.change = &volume->change,
		.sectors = { volume->sectors[0], volume->sectors[1] },
		.batch_sectors = BATCH_SECTORS,
		.draft.sectors = volume->draft_sectors,
	};
	volume->freeing = (struct dmda_freeing){
		.segments = &volume->segments, .commit = &volume->commit,
	};
	volume->aside = SEG_NONE;
	volume->checkpoint = (struct dmda_checkpoint){
		.tables = {
			.super = &volume->super, .slots = volume->slots,
			.segments = &volume->segments, .opened = &volume->opened,
		},
		.batch = &volume->commit.batch,
		.root = &volume->root,
	};
	volume->is_taking = false;
	volume->has_map = false;
	dmda_close_init(&volume->closing, &volume->opened);
	volume->change = (struct dmda_change){
		.super = &volume->super,
		.segments = &volume->segments,
		.batch = &volume->commit.batch,
	};
}

static inline const char *super_of_test(struct dmda_super *super, bool checksums)
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
		.checksums = checksums,
		.drafts = DRAFTS,
	};

	return dmda_super_make(&format, super);
}

static inline struct volume *new_volume_of(struct kunit *test, bool checksums)
{
	struct volume *volume = test_memory(test, sizeof(*volume));
	const char *why = super_of_test(&volume->super, checksums);

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
	volume->start = (struct dmda_start){
		.super = &volume->super,
		.slots = volume->slots,
		.segments = &volume->segments,
		.opened = &volume->opened,
		.writer = &volume->writer,
		.change = &volume->change,
		.root = &volume->root,
		.pages = test_memory(test,
				     dmda_root_nr_pages(&volume->super) * DMDA_BLOCK_BYTES),
		.sectors = test_memory(test, DMDA_START_SECTORS * DMDA_SECTOR_BYTES),
	};
	reset_memory(volume);
	return volume;
}

static inline struct volume *new_volume(struct kunit *test)
{
	return new_volume_of(test, false);
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
	dmda_commit_go_on(&volume->commit, &root.journal, NULL);
	dmda_commit_begin_batch(&volume->commit);
}

#include "volume-start.h"

#endif /* VOLUME_H */
