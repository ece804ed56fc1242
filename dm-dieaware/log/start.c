// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what is on the device to a device at work: the steps that core/start.h asks for, done. What
 * is read, what counts and what is refused is decided there; here are memory and I/O.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/vmalloc.h>

#include "../core/start.h"
#include "disk.h"
#include "evict.h"
#include "list.h"
#include "log.h"
#include "start.h"

/* Of the cache, this part stays free when pages of the map are read before replay. */
#define UNNOTED_PART	16U

/* An operation that is done under one holding of the lock: so many records, and pages it maps */
#define SHORT_OP_RECORDS	16U
#define SHORT_OP_PAGES		64U

/* No other one is done under the same holding when those before had so many records. */
#define ENOUGH_RECORDS		6U

/* What is in memory already may be told as well. */
static void fetch_map_pages(struct dmda_log *log, const struct dmda_ahead *ahead)
{
	struct dmda_log_wanted wanted;

	dmda_log_wanted_init(log, &wanted);
	for (u32 i = 0; i < ahead->nr; i++) {
		if (!dmda_log_wanted_add(log, &wanted, ahead->index[i]))
			break;
	}
	dmda_log_wanted_read(log, &wanted);
}

static int get_map_pages(struct dmda_log *log, struct dmda_start *start)
{
	for (u32 i = 0; i < start->nr_map; i++) {
		struct dmda_log_page *page = dmda_log_page_wait(log, start->map_index + i);

		if (IS_ERR(page))
			return PTR_ERR(page);
		start->map[i] = &page->map;
	}
	return 0;
}

/* Of data that the journal's last draft names; there is memory for that part of the journal. */
static int read_sums(struct dmda_log *log, struct dmda_start *start)
{
	const u8 *pages = (const u8 *)start->sectors;
	int ret = dmda_log_read(log, start->dpn, start->sectors, start->nr_pages);

	for (u32 i = 0; !ret && i < start->nr_pages; i++)
		start->sums[i] = cpu_to_le32(crc32c(~0U, pages + i * DMDA_BLOCK_BYTES,
						    DMDA_BLOCK_BYTES));
	return ret;
}

static void put_map_pages(struct dmda_log *log, struct dmda_start *start)
{
	for (u32 i = 0; i < DMDA_OP_MAP_PAGES; i++) {
		if (start->map[i])
			dmda_log_page_put(log, container_of(start->map[i], struct dmda_log_page,
							    map));
		start->map[i] = NULL;
	}
}

static int shrink_map(struct dmda_log *log)
{
	dmda_log_pages_shrink(log);
	return READ_ONCE(log->state) == DMDA_LOG_FAILED ? -EIO : 0;
}

/* Where the journal goes on, and what that means for what came before. */
static void take_place(struct dmda_log *log, const struct dmda_start *start)
{
	dmda_commit_go_on(&log->journal.commit, &start->next, &start->draft);
	log->checkpoint.pages_before = log->checkpoint.root.pages_written;
}

/* The segment is open as it was when the power failed. Return: its open summary. */
static u8 take_open(struct dmda_log *log, const struct dmda_start *start)
{
	u8 open = log->space.segments.segment[from_seg(start->seg)].open;

	spin_lock_irq(&log->lock);
	dmda_close_opened(&log->space.closing, open, start->seg, start->next.seq);
	spin_unlock_irq(&log->lock);
	return open;
}

static int close_segment(struct dmda_log *log, const struct dmda_start *start)
{
	u8 open = take_open(log, start);

	spin_lock_irq(&log->lock);
	dmda_close_retire(&log->space.closing, open);
	spin_unlock_irq(&log->lock);
	return dmda_log_close_segment(log, open);
}

/* It did without so far. Who fails meanwhile writes one, too. */
static int write_super(struct dmda_log *log)
{
	int ret;

	flush_work(&log->failure.work);
	ret = dmda_log_write_super(log, &log->super, REQ_PREFLUSH | REQ_FUA);
	if (ret)
		DMWARN("%s: Its other superblock cannot be written.",
		       dm_table_device_name(log->dmda->ti->table));
	return ret;
}

static int do_step(struct dmda_log *log, struct dmda_start *start, enum dmda_start_step step)
{
	switch (step) {
	case DMDA_START_READ:
		return dmda_log_read(log, start->dpn, start->memory, start->nr_pages);
	case DMDA_START_SUMS:
		return read_sums(log, start);
	case DMDA_START_FETCH:
		fetch_map_pages(log, &start->ahead);
		return 0;
	case DMDA_START_MAP:
		return get_map_pages(log, start);
	case DMDA_START_SHRINK:
		return shrink_map(log);
	case DMDA_START_SETTLE:
		return dmda_log_pages_settle(log);
	case DMDA_START_DRAW:
		/* Up to here, who was at work before could go on. */
		dmda_log_list_take(log);
		get_random_bytes(&start->salt, sizeof(start->salt));
		return 0;
	case DMDA_START_SUPERS:
		return write_super(log);
	case DMDA_START_CHECKPOINT:
		take_place(log, start);
		return dmda_log_checkpoint(log, false);
	case DMDA_START_RESUME:
		take_open(log, start);
		return 0;
	case DMDA_START_CLOSE:
		return close_segment(log, start);
	default:
		return -EINVAL;
	}
}

static bool is_short(const struct dmda_op *op)
{
	return op->nr_records <= SHORT_OP_RECORDS && op->record[0].nr_pages <= SHORT_OP_PAGES;
}

/* Return: whether the pages that the operation needs are in memory. */
static bool find_map_pages_locked(struct dmda_log *log, struct dmda_start *start)
{
	lockdep_assert_held(&log->lock);

	for (u32 i = 0; i < start->nr_map; i++) {
		struct dmda_log_page *page = dmda_log_page_find_locked(log, start->map_index + i);

		if (!page)
			return false;
		start->map[i] = &page->map;
	}
	return true;
}

/*
 * Nearly always the pages are in memory. Short operations are done in one go then, under the lock,
 * for which nothing has to be pinned. Looking ahead, and what comes behind the last one, may take
 * as long as the device is large: that is never done here. Return: whether one was.
 */
static bool replay_at_hand(struct dmda_log *log, struct dmda_start *start)
{
	u32 nr_records = 0;

	spin_lock_irq(&log->lock);
	do {
		u32 nr = start->op->nr_records;

		if (!is_short(start->op) || !find_map_pages_locked(log, start))
			break;
		dmda_start_did(start, 0);
		nr_records += nr;
	} while (nr_records < ENOUGH_RECORDS && dmda_start_next_at_hand(start));
	memset(start->map, 0, sizeof(start->map));
	spin_unlock_irq(&log->lock);
	return nr_records;
}

/* The other one counts, which may be older; or none does. */
static void tell_of_roots(const struct dmda_log *log, const struct dmda_start *start)
{
	for (u32 i = 0; i < ARRAY_SIZE(start->whys); i++) {
		if (start->whys[i] && !start->is_blank[i])
			DMWARN("%s: Root %c is left out: %s.",
			       dm_table_device_name(log->dmda->ti->table), 'A' + i,
			       start->whys[i]);
	}
}

/* Return: NULL, or what is wrong. */
static const char *run(struct dmda_log *log, struct dmda_start *start, enum dmda_start_goal goal)
{
	enum dmda_start_step step;

	dmda_start_begin(start, goal);
	while ((step = dmda_start_next(start)) < DMDA_START_DONE) {
		cond_resched();
		if (step == DMDA_START_MAP && replay_at_hand(log, start))
			continue;
		dmda_start_did(start, do_step(log, start, step));
		put_map_pages(log, start);
	}
	if (goal != DMDA_START_SUPER)
		tell_of_roots(log, start);
	if (start->is_damaged)
		DMERR("%s: It needs 'dieaware check', and if damaged 'dieaware repair'.",
		      dm_table_device_name(log->dmda->ti->table));
	if (start->is_lost)
		DMERR("%s: A power failure does that where a drive, or a cache, ignores flushes.",
		      dm_table_device_name(log->dmda->ti->table));
	return start->why;
}

const char *dmda_log_read_super(struct dmda_log *log, struct dmda_super *super)
{
	struct dmda_start *start = kzalloc(sizeof(*start), GFP_KERNEL);
	void *page = (void *)__get_free_page(GFP_KERNEL);
	const char *why = "there is not enough memory";

	if (start && page) {
		start->super = super;
		start->pages = page;
		why = run(log, start, DMDA_START_SUPER);
		log->is_single = start->is_single;
	}
	free_page((unsigned long)page);
	kfree(start);
	return why;
}

static struct dmda_start *new_start(struct dmda_log *log)
{
	struct dmda_start *start = kzalloc(sizeof(*start), GFP_NOIO);

	if (!start)
		return NULL;
	start->super = &log->super;
	start->is_single = log->is_single;
	start->slots = log->tables.slots;
	start->segments = &log->space.segments;
	start->opened = &log->space.opened;
	start->writer = &log->space.writer;
	start->change = &log->journal.change;
	start->root = &log->checkpoint.root;
	start->pages = log->checkpoint.pages;
	start->ahead.max = dmda_log_wanted_max(log);
	return start;
}

/* With memory for operations and the journal's ring */
static const char *run_with_memory(struct dmda_log *log, struct dmda_start *start,
				   enum dmda_start_goal goal)
{
	const char *why = "there is not enough memory";

	start->op = kvmalloc(sizeof(*start->op), GFP_NOIO);
	start->sectors = kvmalloc_array(DMDA_START_SECTORS, sizeof(*start->sectors), GFP_NOIO);
	if (start->op && start->sectors)
		why = run(log, start, goal);
	kvfree(start->sectors);
	kvfree(start->op);
	return why;
}

const char *dmda_log_read_root(struct dmda_log *log, const struct dmda_super *grown)
{
	struct dmda_start *start = new_start(log);
	const char *why = "there is not enough memory";

	if (start) {
		start->grown = grown;
		why = run_with_memory(log, start, DMDA_START_GROW);
	}
	kfree(start);
	return why;
}

/* Without memory for it pages of the map are read a few at a time. */
static void *note_pages(struct dmda_log *log, struct dmda_start *start)
{
	u64 nr_pages = dmda_super_nr_pages(&log->super, DMDA_TABLE_MAP);
	void *memory = kvzalloc(dmda_bitset_bytes(nr_pages), GFP_NOIO | __GFP_NOWARN);

	if (memory) {
		dmda_bitset_init(&start->ahead.noted, nr_pages, memory);
		start->ahead.most_noted = log->cache.max_pages -
			div_u64(log->cache.max_pages, UNNOTED_PART);
	}
	return memory;
}

const char *dmda_log_plan_growth(const struct dmda_log *log, struct dmda_super *super)
{
	u64 nr_sectors = bdev_nr_sectors(log->bdev) - log->dmda->config.start_sectors;

	*super = log->super;
	return dmda_super_grow(super, nr_sectors >> DMDA_PAGE_SECTOR_SHIFT);
}

bool dmda_log_may_grow(const struct dmda_log *log, struct dmda_super *grown)
{
	enum dmda_log_state state = READ_ONCE(log->state);

	return !dmda_log_wants_read_only(log) && state != DMDA_LOG_READ_ONLY &&
		state != DMDA_LOG_FAILED && !dmda_log_plan_growth(log, grown);
}

static const char *start_log(struct dmda_log *log, struct dmda_start *start, bool read_only)
{
	struct dmda_super *grown = kmalloc(sizeof(*grown), GFP_NOIO);
	const char *why = "there is not enough memory";
	void *noted = note_pages(log, start);

	if (grown) {
		start->grown = dmda_log_plan_growth(log, grown) ? NULL : grown;
		why = run_with_memory(log, start,
				      read_only ? DMDA_START_READ_ONLY : DMDA_START_WRITE);
	}
	kfree(grown);
	kvfree(noted);
	return why;
}

const char *dmda_log_start(struct dmda_log *log, bool read_only)
{
	unsigned int flags = memalloc_noio_save();
	struct dmda_start *start = new_start(log);
	const char *why = "there is not enough memory";

	if (start)
		why = start_log(log, start, read_only);
	if (!why && read_only)
		take_place(log, start);
	kfree(start);
	/* A device that is only read takes no checkpoint that would end with that. */
	dmda_log_spares_free(&log->spares);
	memalloc_noio_restore(flags);
	return why;
}
