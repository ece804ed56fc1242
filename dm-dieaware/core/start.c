// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting a device, as states that are gone through in order. Each one asks for steps until it
 * is over, takes what came of them, and may have something to look at in the end. What a goal
 * needs are states that follow each other.
 *
 * Superblock and root are there twice, so that one that cannot be read is no error as long as
 * the other one can. Everything else is there once for a start: the first thing that is wrong
 * ends it. If pages of the map may be on their way to the device by then, they are waited for,
 * for their memory is not the machine's.
 */
#include "start-parts.h"

enum state {
	SUPER,
	ROOTS,
	CHOSEN,
	JOURNAL,
	DRAFT,
	GROWN,
	LOST,
	DOUBT,
	DIRECTORY,
	SEGMENTS,
	OPENED,
	TIMES,
	GATHER,
	REPLAY,
	SETTLE,
	DRAW,
	SUPERS,
	CHECKPOINT,
	RESUME,
	CLOSE,
	DONE,
	FAILED,
};

static const struct {
	enum state first;
	enum state last;
} states_of[] = {
	[DMDA_START_SUPER] = { SUPER, SUPER },
	[DMDA_START_GROW] = { ROOTS, DOUBT },
	[DMDA_START_READ_ONLY] = { ROOTS, SETTLE },
	[DMDA_START_WRITE] = { ROOTS, CLOSE },
};

/*
 * Tables
 */

static enum dmda_table table_of(const struct dmda_start *start)
{
	static const enum dmda_table tables[] = {
		[DIRECTORY] = DMDA_TABLE_DIRECTORY,
		[SEGMENTS] = DMDA_TABLE_SEGMENTS,
		[OPENED] = DMDA_TABLE_OPEN,
	};

	return tables[start->state];
}

static struct dmda_block_id id_of_page(const struct dmda_start *start)
{
	return dmda_slots_newest_id(start->slots, start->super, table_of(start), start->index);
}

/* The next page of a table that was ever written */
static bool ask_table(struct dmda_start *start)
{
	const struct dmda_slots *slots = &start->slots[table_of(start)];

	while (start->index < slots->nr_pages && !slots->newest[start->index])
		start->index++;
	return start->index < slots->nr_pages &&
		ask_read(start, id_of_page(start).dpn, start->pages, 1);
}

static const char *take_page(struct dmda_start *start, u64 seq_slot)
{
	switch (table_of(start)) {
	case DMDA_TABLE_DIRECTORY:
		return dmda_directory_decode(start->super, start->index, seq_slot,
					     (void *)start->pages, &start->slots[DMDA_TABLE_MAP]);
	case DMDA_TABLE_SEGMENTS:
		return dmda_segments_decode(start->segments, start->index, (void *)start->pages);
	default:
		memcpy(&start->opened->block[start->index], start->pages, DMDA_BLOCK_BYTES);
		start->opened->page[start->index].seq = dmda_slot_seq(seq_slot);
		return NULL;
	}
}

static const char *did_table(struct dmda_start *start, int error)
{
	struct dmda_block_id id = id_of_page(start);
	const char *why;

	if (error)
		return "a page of a table cannot be read";
	why = dmda_block_check(start->pages, &id) ?:
		take_page(start, start->slots[table_of(start)].newest[start->index]);
	start->index++;
	return why;
}

static bool ask_nothing(struct dmda_start *start)
{
	return false;
}

/* A root that is too old leads to tables that are newer than where its journal ends. */
static const char *leave_times(struct dmda_start *start)
{
	const char *why = dmda_root_check_times(start->slots, start->end.seq);

	start->is_lost = why;
	return why;
}

/*
 * Journal
 */

/* Asks for the pages from the reader's sector on, up to the end of the ring. */
static bool ask_sectors(struct dmda_start *start)
{
	u32 at = dmda_journal_sector_at(start->super, start->reader.next.sector);
	u32 skip = at % DMDA_PAGE_SECTORS;
	u32 left = start->super->journal_sectors - at + skip;
	u32 nr = min(dmda_start_at_once(start), round_up(left, DMDA_PAGE_SECTORS));

	if (start->is_at_end || start->nr_read >= start->super->journal_sectors)
		return false;
	start->at = skip;
	start->nr_there = min(nr, left);
	return dmda_start_ask_ring(start, at / DMDA_PAGE_SECTORS, nr / DMDA_PAGE_SECTORS);
}

static void open_journal(struct dmda_start *start)
{
	dmda_journal_open(&start->reader, start->super, &start->root->journal);
	start->at = 0;
	start->nr_there = 0;
	start->nr_read = 0;
	start->is_at_end = false;
}

/* A draft that is dropped is behind the end, though the reader would take it. */
static bool is_end(const struct dmda_start *start)
{
	return start->state == REPLAY && start->reader.next.sector == start->end.sector;
}

/* Return: the next of the sectors that were read, or NULL: there is none, or the journal ends. */
static const struct dmda_journal_sector *next_sector(struct dmda_start *start)
{
	const struct dmda_journal_sector *sector = &start->sectors[start->at];

	if (start->is_at_end || start->at >= start->nr_there)
		return NULL;
	if (is_end(start) || !dmda_journal_accept(&start->reader, sector)) {
		start->is_at_end = true;
		return NULL;
	}
	start->at++;
	start->nr_read++;
	return sector;
}

static const char *did_sectors(struct dmda_start *start, int error)
{
	if (error)
		start->nr_there = 0;
	return dmda_start_did_ring(start, error);
}

static bool ask_journal(struct dmda_start *start)
{
	if (!start->index++) {
		open_journal(start);
		dmda_ahead_open(&start->ahead);
		start->draft.nr_pages = 0;
	}
	return ask_sectors(start);
}

/* Where a batch begins, the one before it was durable; and is it a draft itself? */
static const char *note_draft(struct dmda_start *start, const struct dmda_journal_sector *sector,
			      const struct dmda_journal_place *place)
{
	if (le16_to_cpu(sector->nr_bytes) & DMDA_SECTOR_FIRST)
		start->draft.nr_pages = 0;
	if (!dmda_draft_is(sector))
		return NULL;
	start->draft_place = *place;
	return dmda_draft_read(sector, start->super, place->seq, start->op, &start->draft,
			       &start->draft_sum);
}

static const char *did_journal(struct dmda_start *start, int error)
{
	struct dmda_journal_place place = start->reader.next;
	const struct dmda_journal_sector *sector;
	const char *why = did_sectors(start, error);

	while (!why && (sector = next_sector(start))) {
		why = note_draft(start, sector, &place);
		dmda_ahead_note(&start->ahead, start->super, sector);
		place = start->reader.next;
	}
	return why;
}

static bool ask_draft(struct dmda_start *start)
{
	start->dpn = start->draft.dpn;
	start->nr_pages = start->draft.nr_pages;
	return start->nr_pages && ask_once(start, DMDA_START_SUMS);
}

/*
 * What has not arrived was not flushed, and nobody was told that it was. Data that cannot be read
 * may have been: who reads it had better get an error than what was there before.
 */
static const char *did_draft(struct dmda_start *start, int error)
{
	start->index++;
	if (!error && dmda_draft_sum(start->sums, start->draft.nr_pages) != start->draft_sum)
		start->reader.next = start->draft_place;
	return NULL;
}

static const char *leave_draft(struct dmda_start *start)
{
	start->end = start->reader.next;
	return NULL;
}

/*
 * Replay
 */

/* Pages of the map that the first operations need, some at a time */
static bool ask_gather(struct dmda_start *start)
{
	return dmda_ahead_gather(&start->ahead) && ask(start, DMDA_START_FETCH);
}

static const char *did_gather(struct dmda_start *start, int error)
{
	return NULL;
}

static const char *replay_op(struct dmda_start *start, const struct dmda_op *op)
{
	struct dmda_map_page *pages[DMDA_OP_MAP_PAGES] = { NULL };
	const char *why;

	for (u32 i = 0; i < start->nr_map; i++)
		pages[i] = start->map[i];
	why = dmda_change_replay(start->change, op, pages);
	if (!why)
		dmda_opened_replay(start->opened, op);
	return why;
}

/* Return: NULL, or why an operation cannot be; @nr_map: pages of the map that it needs. */
static const char *prepare_op(struct dmda_start *start, const struct dmda_op *op)
{
	const struct dmda_record *record = dmda_op_pages(op);
	const char *why;

	start->nr_map = 0;
	if (!record)
		return replay_op(start, op);
	why = dmda_op_complaint(op, start->super);
	if (why)
		return why;
	start->nr_map = dmda_op_map_pages(start->super, from_lpn(record->lpn), record->nr_pages,
					  &start->map_index);
	return NULL;
}

/* When all operations are done whose pages have been fetched. */
static bool ask_fetch(struct dmda_start *start)
{
	const struct dmda_ahead_from from = {
		start->super, &start->reader, &start->replay,
		&start->sectors[start->at], start->nr_there - start->at,
	};

	return dmda_ahead_tell(&start->ahead, &from) && ask(start, DMDA_START_FETCH);
}

/*
 * Does operations of the sector in hand up to one that needs pages of the map. Return: whether
 * there is one, as @start->op; else the sector is over, or something is wrong.
 */
static bool find_op(struct dmda_start *start)
{
	const struct dmda_op *op;

	while (!start->why && (op = dmda_replay_next(&start->replay))) {
		start->why = prepare_op(start, op);
		if (!start->why && start->nr_map)
			return true;
	}
	return false;
}

/*
 * When all operations of a sector are done, pages may go: the journal may have changed more than
 * there is memory for. They are as the journal says, and the slots that the root names stay: a
 * crash leads to the same replay. Where nothing may be written, what was changed has to stay.
 *
 * Return: whether there is something to do for others.
 */
static bool ask_op(struct dmda_start *start)
{
	if (find_op(start))
		return (!dmda_ahead_was_told(&start->ahead) && ask_fetch(start)) ||
			ask(start, DMDA_START_MAP);
	start->why = start->why ?: start->replay.why;
	start->is_in_sector = false;
	return !start->why && start->goal == DMDA_START_WRITE && ask(start, DMDA_START_SHRINK);
}

static bool open_sector(struct dmda_start *start)
{
	const struct dmda_journal_sector *sector = next_sector(start);

	if (!sector)
		return false;
	dmda_replay_sector(&start->replay, sector);
	start->is_in_sector = true;
	return true;
}

static bool ask_replay(struct dmda_start *start)
{
	if (!start->index++) {
		open_journal(start);
		dmda_ahead_begin(&start->ahead);
		dmda_replay_init(&start->replay, start->op, start->root->journal.seq);
	} else if (start->step == DMDA_START_FETCH) {
		/* For the operation in hand */
		return ask(start, DMDA_START_MAP);
	}
	do {
		/* Not behind its end: what it was may have been read over. */
		if (start->is_in_sector && ask_op(start))
			return true;
	} while (!start->why && open_sector(start));
	return !start->why && ask_sectors(start);
}

static const char *did_replay(struct dmda_start *start, int error)
{
	switch (start->step) {
	case DMDA_START_MAP:
		if (error)
			return error == -ENOMEM ?
				"there is not enough memory for what the journal has changed" :
				"a page of the map cannot be read";
		return replay_op(start, start->op);
	case DMDA_START_FETCH:
		return NULL;
	case DMDA_START_SHRINK:
		return error ? "a page of the map cannot be written" : NULL;
	default:
		return did_sectors(start, error);
	}
}

static const char *leave_replay(struct dmda_start *start)
{
	start->next = start->end;
	if (start->why || start->reader.next.sector == start->end.sector)
		return start->why;
	return "the journal is another one when it is read again";
}

/* Also when it has failed: before anybody frees what is being written. */
static bool ask_settle(struct dmda_start *start)
{
	return start->goal == DMDA_START_WRITE && ask_once(start, DMDA_START_SETTLE);
}

static const char *did_settle(struct dmda_start *start, int error)
{
	start->index++;
	return error && !start->why ? "a page of the map cannot be written" : NULL;
}

static const char *leave_settle(struct dmda_start *start)
{
	if (!start->why)
		dmda_segments_sort(start->segments);
	return start->why ?:
		dmda_segments_check(start->segments) ?: dmda_opened_check(start->opened);
}

/*
 * A new beginning
 */

static bool ask_draw(struct dmda_start *start)
{
	return ask_once(start, DMDA_START_DRAW);
}

/*
 * A line of events that no sector written before the crash can belong to. If the last unit of those
 * was torn, what is left of it stays empty.
 */
static const char *did_draw(struct dmda_start *start, int error)
{
	start->index++;
	start->next.sector = round_up(start->next.sector, start->super->journal_unit_sectors);
	dmda_journal_skip_lost(&start->next);
	start->next.chain = dmda_journal_fresh_chain(start->super, start->salt);
	return NULL;
}

static bool ask_checkpoint(struct dmda_start *start)
{
	return ask_once(start, DMDA_START_CHECKPOINT);
}

static const char *did_checkpoint(struct dmda_start *start, int error)
{
	start->index++;
	return error ? "the first checkpoint cannot be written" : NULL;
}

/*
 * Cleaning goes on in its segment. If that were closed, each power failure would cost it the places
 * that are left there, until none of those are left that it needs to make others free.
 */
static const char *leave_checkpoint(struct dmda_start *start)
{
	start->stays = dmda_writer_resume(start->writer, DMDA_STREAM_MOVED, start->opened);
	return NULL;
}

static bool ask_resume(struct dmda_start *start)
{
	start->seg = start->stays;
	return start->stays != SEG_NONE && ask_once(start, DMDA_START_RESUME);
}

static const char *did_resume(struct dmda_start *start, int error)
{
	start->index++;
	return NULL;
}

/* What else was open is closed; not before the checkpoint, for that may never count. */
static bool ask_close(struct dmda_start *start)
{
	const struct dmda_segments *segments = start->segments;

	while (start->index < segments->nr_segments &&
	       (segments->segment[start->index].state != DMDA_SEGMENT_OPEN ||
		to_seg(start->index) == start->stays))
		start->index++;
	start->seg = to_seg(start->index);
	return start->index < segments->nr_segments && ask(start, DMDA_START_CLOSE);
}

static const char *did_close(struct dmda_start *start, int error)
{
	start->index++;
	return error ? "a segment cannot be closed" : NULL;
}

/*
 * From state to state
 */

static const struct {
	bool (*ask)(struct dmda_start *start);
	const char *(*did)(struct dmda_start *start, int error);
	const char *(*leave)(struct dmda_start *start);
} states[] = {
	[SUPER] = { dmda_start_ask_super, dmda_start_did_super, dmda_start_leave_super },
	[ROOTS] = { dmda_start_ask_roots, dmda_start_did_roots, dmda_start_leave_roots },
	[CHOSEN] = { dmda_start_ask_chosen, dmda_start_did_chosen },
	[JOURNAL] = { ask_journal, did_journal },
	[DRAFT] = { ask_draft, did_draft, leave_draft },
	[GROWN] = { dmda_start_ask_grown, dmda_start_did_grown, dmda_start_leave_grown },
	[LOST] = { dmda_start_ask_lost, dmda_start_did_lost },
	[DOUBT] = { ask_nothing, NULL, dmda_start_leave_doubt },
	[DIRECTORY] = { ask_table, did_table },
	[SEGMENTS] = { ask_table, did_table },
	[OPENED] = { ask_table, did_table },
	[TIMES] = { ask_nothing, NULL, leave_times },
	[GATHER] = { ask_gather, did_gather },
	[REPLAY] = { ask_replay, did_replay, leave_replay },
	[SETTLE] = { ask_settle, did_settle, leave_settle },
	[DRAW] = { ask_draw, did_draw },
	[SUPERS] = { dmda_start_ask_supers, dmda_start_did_supers },
	[CHECKPOINT] = { ask_checkpoint, did_checkpoint, leave_checkpoint },
	[RESUME] = { ask_resume, did_resume },
	[CLOSE] = { ask_close, did_close },
};

static void enter(struct dmda_start *start, enum state state)
{
	start->state = state;
	start->index = 0;
	start->nr_singly = 0;
}

/* What lies behind the end that a root leads to may be a line of which only a later root knows. */
static bool may_root_be_too_old(const struct dmda_start *start)
{
	return start->is_lost && dmda_start_may_miss_root(start);
}

static void fail(struct dmda_start *start, const char *why)
{
	if (may_root_be_too_old(start)) {
		start->is_lost = false;
		why = "a root cannot be read or is damaged, and the one before it is too old";
	}
	start->why = why;
	start->is_damaged = start->state == JOURNAL || start->state == LOST ||
		start->state == TIMES;
	enter(start, start->state == REPLAY ? SETTLE : FAILED);
}

static void leave_state(struct dmda_start *start)
{
	const char *why = states[start->state].leave ? states[start->state].leave(start) : NULL;

	if (why)
		fail(start, why);
	else
		enter(start, start->state == states_of[start->goal].last ?
		      DONE : start->state + 1);
}

void dmda_start_begin(struct dmda_start *start, enum dmda_start_goal goal)
{
	start->stays = SEG_NONE;
	start->why = NULL;
	start->is_damaged = false;
	start->is_lost = false;
	start->goal = goal;
	start->is_asked = false;
	start->has_super = false;
	start->traces = (struct dmda_root_traces){ 0 };
	start->nr_unread = 0;
	start->is_in_sector = false;
	enter(start, states_of[goal].first);
}

enum dmda_start_step dmda_start_next(struct dmda_start *start)
{
	while (!start->is_asked && start->state < DONE) {
		start->is_asked = states[start->state].ask(start);
		if (!start->is_asked)
			leave_state(start);
	}
	if (start->is_asked)
		return start->step;
	return start->state == DONE ? DMDA_START_DONE : DMDA_START_FAILED;
}

/* Behind a FETCH, the operation in hand is not done yet. */
bool dmda_start_next_at_hand(struct dmda_start *start)
{
	if (start->is_asked || start->state != REPLAY || start->step != DMDA_START_MAP ||
	    !start->is_in_sector || dmda_ahead_has_to_tell(&start->ahead) || !find_op(start))
		return false;
	dmda_ahead_was_told(&start->ahead);
	start->is_asked = ask(start, DMDA_START_MAP);
	return true;
}

void dmda_start_did(struct dmda_start *start, int error)
{
	const char *why;

	if (!start->is_asked)
		return;
	start->is_asked = false;
	why = states[start->state].did(start, error);
	if (why)
		fail(start, why);
}
