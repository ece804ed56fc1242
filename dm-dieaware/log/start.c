// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what is on the device to a device at work: superblock, root, tables, journal. Then,
 * unless it is only to be read, what a crash left open is closed, but for the segment that
 * cleaning was filling, and a checkpoint with a journal of its own makes a new beginning.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/vmalloc.h>

#include "disk.h"
#include "log.h"
#include "start.h"

/* Sectors of the journal that are read at once */
#define SECTORS_AT_ONCE	256U

static const char *read_super_at(struct dmda_log *log, u64 dpn, void *page,
				 struct dmda_super *super)
{
	if (dmda_log_read(log, to_dpn(dpn), page, 1))
		return "it cannot be read";
	return dmda_super_decode(page, to_dpn(dpn), super);
}

const char *dmda_log_read_super(struct dmda_log *log)
{
	static const u64 places[] = { DMDA_SUPER_DPN_A, DMDA_SUPER_DPN_B };
	struct dmda_super *super = kmalloc(sizeof(*super), GFP_KERNEL);
	void *page = (void *)__get_free_page(GFP_KERNEL);
	const char *why = "there is not enough memory";
	bool found = false;

	for (u32 i = 0; super && page && i < ARRAY_SIZE(places); i++) {
		why = read_super_at(log, places[i], page, super);
		if (why || (found && super->epoch <= log->super.epoch))
			continue;
		log->super = *super;
		found = true;
	}
	free_page((unsigned long)page);
	kfree(super);
	return found ? NULL : why;
}

static const char *read_root(struct dmda_log *log, u32 which, struct dmda_root *root)
{
	u32 nr_pages = dmda_root_nr_pages(&log->super);
	const char *why;

	if (dmda_log_read(log, to_dpn(log->super.root_dpn[which]), log->checkpoint.pages, nr_pages))
		return "a root cannot be read";
	why = dmda_root_decode(root, &log->super, (void *)log->checkpoint.pages, which);
	for (u32 i = 1; !why && i < nr_pages; i++) {
		const void *page = log->checkpoint.pages + i * DMDA_BLOCK_BYTES;

		why = dmda_root_decode_entries(root, &log->super, i, page, log->tables.slots);
	}
	return why;
}

const char *dmda_log_read_root(struct dmda_log *log)
{
	struct dmda_root root[2];
	const char *why[2];
	u32 which;

	for (which = 0; which < 2; which++)
		why[which] = read_root(log, which, &root[which]);
	if (why[0] && why[1])
		return why[0];
	which = dmda_root_newest(root, why);
	return read_root(log, which, &log->checkpoint.root);
}

/* Reads the valid slot of a page. Return: NULL, or what is wrong; @is_there: it has one. */
static const char *read_table_page(struct dmda_log *log, enum dmda_table table, u64 index,
				   void *page, bool *is_there)
{
	struct dmda_block_id id;

	*is_there = log->tables.slots[table].newest[index];
	if (!*is_there)
		return NULL;
	id = dmda_slots_newest_id(log->tables.slots, &log->super, table, index);
	if (dmda_log_read(log, id.dpn, page, 1))
		return "a page of a table cannot be read";
	return dmda_block_check(page, &id);
}

static const char *read_directory(struct dmda_log *log, void *page)
{
	const struct dmda_slots *slots = &log->tables.slots[DMDA_TABLE_DIRECTORY];
	const char *why = NULL;
	bool is_there;

	for (u64 i = 0; !why && i < slots->nr_pages; i++) {
		why = read_table_page(log, DMDA_TABLE_DIRECTORY, i, page, &is_there);
		if (!why && is_there)
			why = dmda_directory_decode(&log->super, i, slots->newest[i], page,
						    &log->tables.slots[DMDA_TABLE_MAP]);
	}
	return why;
}

static const char *read_segments(struct dmda_log *log, void *page)
{
	const char *why = NULL;
	bool is_there;

	for (u64 i = 0; !why && i < log->tables.slots[DMDA_TABLE_SEGMENTS].nr_pages; i++) {
		why = read_table_page(log, DMDA_TABLE_SEGMENTS, i, page, &is_there);
		if (!why && is_there)
			why = dmda_segments_decode(&log->space.segments, i, page);
	}
	return why;
}

static const char *read_opened(struct dmda_log *log, void *page)
{
	const char *why = NULL;
	bool is_there;

	for (u64 i = 0; !why && i < log->tables.slots[DMDA_TABLE_OPEN].nr_pages; i++) {
		why = read_table_page(log, DMDA_TABLE_OPEN, i, page, &is_there);
		if (why || !is_there)
			continue;
		memcpy(&log->space.opened.block[i], page, DMDA_BLOCK_BYTES);
		log->space.opened.page[i].seq =
			dmda_slot_seq(log->tables.slots[DMDA_TABLE_OPEN].newest[i]);
	}
	return why;
}

static const char *read_tables(struct dmda_log *log)
{
	void *page = (void *)__get_free_page(GFP_NOIO);
	const char *why = "there is not enough memory";

	if (page)
		why = read_directory(log, page) ?: read_segments(log, page) ?:
			read_opened(log, page);
	free_page((unsigned long)page);
	return why;
}

static const char *replay_op(struct dmda_log *log, const struct dmda_op *op)
{
	const struct dmda_record *record = dmda_op_pages(op);
	struct dmda_log_page *pages[DMDA_OP_MAP_PAGES] = { NULL };
	struct dmda_map_page *map[DMDA_OP_MAP_PAGES] = { NULL };
	const char *why = NULL;
	u64 first, last;
	u32 entry;

	if (record && from_lpn(record->lpn) + record->nr_pages > log->super.nr_lpns)
		return "the journal names pages behind the end of the device";
	first = record ? dmda_map_index(record->lpn, &entry) : 1;
	last = record ? dmda_map_index(to_lpn(from_lpn(record->lpn) + record->nr_pages - 1),
				       &entry) : 0;
	for (u64 i = first; i <= last; i++) {
		struct dmda_log_page *page = dmda_log_page_wait(log, i);

		if (IS_ERR(page)) {
			why = PTR_ERR(page) == -ENOMEM ?
				"there is not enough memory for what the journal has changed" :
				"a page of the map cannot be read";
			break;
		}
		pages[i - first] = page;
		map[i - first] = &page->map;
	}
	if (!why)
		why = dmda_change_replay(&log->journal.change, op, map);
	if (!why)
		dmda_opened_replay(&log->space.opened, op);
	for (u32 i = 0; i < DMDA_OP_MAP_PAGES; i++) {
		if (pages[i])
			dmda_log_page_put(log, pages[i]);
	}
	return why;
}

/*
 * The journal may have changed more pages of the map than there is memory for. They are as the
 * journal says, and the slots that the root names stay: a crash leads to the same replay.
 */
static const char *shrink_map(struct dmda_log *log)
{
	/* Where nothing may be written, what was changed has to stay. */
	if (!log->may_write)
		return NULL;
	dmda_log_pages_shrink(log);
	return READ_ONCE(log->state) == DMDA_LOG_FAILED ?
		"a page of the map cannot be written" : NULL;
}

static const char *replay_sector(struct dmda_log *log, struct dmda_replay *replay,
				 const struct dmda_journal_sector *sector)
{
	const struct dmda_op *op;
	const char *why = NULL;

	dmda_replay_sector(replay, sector);
	while (!why && (op = dmda_replay_next(replay)))
		why = replay_op(log, op);
	return why ?: replay->why ?: shrink_map(log);
}

/* Looks at what replay did not come to. */
static const char *find_lost(struct dmda_log *log, const struct dmda_journal_reader *reader,
			     struct dmda_journal_sector *sectors)
{
	u32 nr_pages = DIV_ROUND_UP(log->super.journal_sectors, DMDA_PAGE_SECTORS);
	u32 nr;

	for (u32 page = 0; page < nr_pages; page += nr) {
		nr = min(SECTORS_AT_ONCE / DMDA_PAGE_SECTORS, nr_pages - page);
		if (dmda_log_read(log, to_dpn(log->super.journal_dpn + page), sectors, nr))
			return "the journal cannot be read";
		for (u32 i = 0; i < nr * DMDA_PAGE_SECTORS; i++) {
			if (dmda_journal_is_beyond(reader, &sectors[i]))
				return "the journal is damaged, and operations are lost";
		}
		cond_resched();
	}
	return NULL;
}

/* Reads the ring from the root's place on to where it ends; does what it says if @replay. */
static const char *read_journal(struct dmda_log *log, struct dmda_journal_reader *reader,
				struct dmda_replay *replay, struct dmda_journal_sector *sectors)
{
	const char *why = NULL;
	u64 nr_read = 0;

	dmda_journal_open(reader, &log->super, &log->checkpoint.root.journal);
	while (!why && nr_read < log->super.journal_sectors) {
		u32 at = dmda_journal_sector_at(&log->super, reader->next.sector);
		u32 skip = at % DMDA_PAGE_SECTORS;
		u32 nr = min(SECTORS_AT_ONCE, round_up(log->super.journal_sectors - at + skip,
						    DMDA_PAGE_SECTORS));
		u32 end = min(nr, log->super.journal_sectors - at + skip);
		u32 i;

		if (dmda_log_read(log, to_dpn(log->super.journal_dpn + at / DMDA_PAGE_SECTORS),
				  sectors, nr / DMDA_PAGE_SECTORS))
			return "the journal cannot be read";
		for (i = skip; !why && i < end; i++) {
			if (!dmda_journal_accept(reader, &sectors[i]))
				break;
			if (replay)
				why = replay_sector(log, replay, &sectors[i]);
			nr_read++;
		}
		if (i < end)
			break;
		cond_resched();
	}
	return why;
}

/*
 * Replay may write pages of the map over what repairing a damaged journal would need. So it is
 * read twice, and found whole before anything is done.
 */
static const char *replay_journal(struct dmda_log *log, struct dmda_op *op,
				  struct dmda_journal_sector *sectors)
{
	struct dmda_journal_reader reader;
	struct dmda_replay replay;
	const char *why;

	why = read_journal(log, &reader, NULL, sectors) ?: find_lost(log, &reader, sectors) ?:
		dmda_root_check_times(log->tables.slots, reader.next.seq);
	if (why) {
		DMERR("%s: It needs 'dieaware check', and if damaged 'dieaware repair'.",
		      dm_table_device_name(log->dmda->ti->table));
		return why;
	}
	log->journal.next_place = reader.next;
	dmda_replay_init(&replay, op, log->checkpoint.root.journal.seq);
	why = read_journal(log, &reader, &replay, sectors);
	if (!why && reader.next.sector != log->journal.next_place.sector)
		why = "the journal is another one when it is read again";
	return why;
}

static const char *replay(struct dmda_log *log)
{
	struct dmda_op *op = kvmalloc(sizeof(*op), GFP_NOIO);
	struct dmda_journal_sector *sectors = kvmalloc_array(SECTORS_AT_ONCE, sizeof(*sectors),
							     GFP_NOIO);
	const char *why = "there is not enough memory";

	if (op && sectors)
		why = replay_journal(log, op, sectors);
	/* Before anybody goes on, or frees what they need. */
	if (dmda_log_pages_settle(log) && !why)
		why = "a page of the map cannot be written";
	kvfree(sectors);
	kvfree(op);
	return why ?: dmda_segments_check(&log->space.segments);
}

/*
 * Cleaning goes on in its segment. If that were closed, each power failure would cost it the places
 * that are left there, until none of those are left that it needs to make others free.
 */
static seg_t go_on_cleaning(struct dmda_log *log)
{
	seg_t seg = dmda_writer_resume(&log->space.writer, DMDA_STREAM_MOVED, &log->space.opened);
	u8 open;

	if (seg == SEG_NONE)
		return seg;
	open = log->space.segments.segment[from_seg(seg)].open;
	log->space.open[open].seg = seg;
	log->space.open[open].mtime = log->checkpoint.root.journal.seq;
	return seg;
}

/* What else was open is closed. */
static const char *close_others(struct dmda_log *log, seg_t stays)
{
	for (u32 i = 0; i < log->space.segments.nr_segments; i++) {
		const struct dmda_segment *segment = &log->space.segments.segment[i];

		if (segment->state == DMDA_SEGMENT_OPEN && to_seg(i) != stays &&
		    dmda_log_close_segment(log, segment->open, to_seg(i),
					   log->checkpoint.root.journal.seq))
			return "a segment cannot be closed";
	}
	return NULL;
}

/* A line of events that no sector written before the crash can belong to. */
static const char *begin_anew(struct dmda_log *log)
{
	u64 salt;

	get_random_bytes(&salt, sizeof(salt));
	log->journal.next_place.chain = dmda_journal_fresh_chain(&log->super, salt);
	if (dmda_log_checkpoint(log, false))
		return "the first checkpoint cannot be written";
	return close_others(log, go_on_cleaning(log));
}

const char *dmda_log_start(struct dmda_log *log, bool read_only)
{
	unsigned int flags = memalloc_noio_save();
	const char *why;

	why = dmda_log_read_root(log) ?: read_tables(log) ?: replay(log);
	if (!why) {
		log->checkpoint.pages_before = log->checkpoint.root.pages_written;
		if (!read_only)
			dmda_journal_skip_lost(&log->journal.next_place);
		log->journal.durable_seq = log->journal.next_place.seq - 1;
		if (!read_only)
			why = begin_anew(log);
	}
	memalloc_noio_restore(flags);
	return why;
}
