/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starting a device: the order in which superblock, roots, tables and journal are read, what of
 * them counts, what is refused, and what is written before the device is used again.
 *
 * It does no I/O. Who starts a device asks for the next step, does it, and says how it went:
 *
 *	dmda_start_begin(start, goal);
 *	while ((step = dmda_start_next(start)) < DMDA_START_DONE)
 *		dmda_start_did(start, what came of it);
 *
 *	SUPER		superblock A, superblock B		the newer one that checks
 *	ROOTS		root A, root B				the newer one that checks
 *	CHOSEN		that one again				its entries
 *	JOURNAL		the ring, from the root's place to its end
 *	DRAFT		if a draft comes last (draft.h): is its data there?
 *	GROWN		places of a larger one's roots		none may be in use there
 *	LOST		all of the ring				nothing may lie behind the end
 *	DOUBT		whether GROWN has left any, as a root is missing
 *	DIRECTORY	its pages				the map's entries
 *	SEGMENTS	pages of the segment table
 *	OPENED		pages of open summaries
 *	TIMES		whether a table is newer than the journal's end
 *	GATHER		pages of the map			what its first operations need
 *	REPLAY		the ring up to its end once more	operations are done in memory
 *	SETTLE		pages of the map that had no room are written
 *	-------------	up to here a root and the journal lead to the same as before
 *	DRAW		a random number				a chain that no sector of before has
 *	SUPERS		the superblock to the other one's place	if that is lost, or says otherwise
 *	CHECKPOINT	whose journal begins with that
 *	RESUME		the segment that cleaning was filling	is open again
 *	CLOSE		what else was open
 *
 * What replay needs of the map it tells before, so that it can be read together (ahead.h).
 *
 * Replay may write pages of the map over what repairing a damaged journal would need. So the ring
 * is read twice, and found whole before anything is done. The machine may be left at any step:
 * nothing is its own.
 *
 * Calls on one struct must not run at the same time.
 */
#ifndef DMDA_START_H
#define DMDA_START_H

#include "ahead.h"
#include "change.h"
#include "draft.h"
#include "opened.h"
#include "root.h"
#include "writer.h"

/* Sectors of the journal that are read at once */
#define DMDA_START_SECTORS	256U

/**
 * enum dmda_start_goal - how far to go
 * @DMDA_START_SUPER: to the superblock
 * @DMDA_START_GROW: to the root, and its entries; and may it grow?
 * @DMDA_START_READ_ONLY: to the end of the journal; nothing is written
 * @DMDA_START_WRITE: to a device that can be written
 */
enum dmda_start_goal {
	DMDA_START_SUPER,
	DMDA_START_GROW,
	DMDA_START_READ_ONLY,
	DMDA_START_WRITE,
};

/**
 * enum dmda_start_step - what is to be done next
 * @DMDA_START_READ: read @nr_pages pages from @dpn to @memory
 * @DMDA_START_SUMS: set @sums to the checksums of the @nr_pages pages of data from @dpn, of which
 *	there are at most DMDA_MAX_DRAFT_PAGES
 * @DMDA_START_FETCH: have the pages of the map in @ahead read, as far as there is memory for them:
 *	they are needed next
 * @DMDA_START_MAP: set @map to the @nr_map pages of the map from @map_index on
 * @DMDA_START_SHRINK: write pages of the map if there are too many in memory; those that the last
 *	step has set are no longer needed
 * @DMDA_START_SETTLE: wait for all writes of @DMDA_START_SHRINK
 * @DMDA_START_DRAW: set @salt to a random number
 * @DMDA_START_SUPERS: write @super, which is of the next epoch then, to the place of the older one
 * @DMDA_START_CHECKPOINT: take a checkpoint whose journal begins at @next
 * @DMDA_START_RESUME: @seg is open again, and @writer goes on in it
 * @DMDA_START_CLOSE: write the summary of @seg, and close it; its age is @next.seq
 * @DMDA_START_DONE: nothing: the goal is reached
 * @DMDA_START_FAILED: nothing: @why says why
 */
enum dmda_start_step {
	DMDA_START_READ,
	DMDA_START_SUMS,
	DMDA_START_FETCH,
	DMDA_START_MAP,
	DMDA_START_SHRINK,
	DMDA_START_SETTLE,
	DMDA_START_DRAW,
	DMDA_START_SUPERS,
	DMDA_START_CHECKPOINT,
	DMDA_START_RESUME,
	DMDA_START_CLOSE,
	DMDA_START_DONE,
	DMDA_START_FAILED,
};

/**
 * struct dmda_start - a device that is being started
 * @super: its superblock; a result of DMDA_START_SUPER, else given
 * @is_single: whether the other superblock does not check, or says something else; likewise
 * @grown: the layout that the device would have on all of the one below, or NULL: it cannot grow;
 *	where it may be written
 * @slots: slots of the tables' pages, by table
 * @segments: segment table
 * @opened: open summaries
 * @writer: places that data gets next; DMDA_START_WRITE only
 * @change: way in which operations change map and segments
 * @root: the root that counts; its epoch becomes larger than any that a crash has left somewhere
 * @pages: memory of a root, at least a page
 * @sectors: memory of DMDA_START_SECTORS sectors; it is the caller's at DMDA_START_SUMS
 * @op: memory of an operation
 * @salt: random number that tells the journal's next chain from all before
 * @map: pages of the map that an operation is about, as the caller has set them
 * @sums: checksums of pages, as the caller has set them
 * @ahead: pages of the map that are needed next; the caller sets how many it wants to be told, at
 *	a time and before replay
 *
 * @dpn: place from which is read
 * @memory: memory to which is read
 * @nr_pages: number of pages that are read
 * @map_index: first page of the map that is needed
 * @nr_map: number of pages of the map that are needed, at most DMDA_OP_MAP_PAGES
 * @seg: segment to be closed, or that is open again
 *
 * @end: place of the journal's end
 * @next: place of the journal at which the device goes on
 * @stays: segment in which cleaning goes on, or SEG_NONE
 * @why: reason why it has failed, or NULL
 * @is_damaged: whether it has failed because the journal is not whole: it needs to be checked
 * @is_lost: whether that is so since some of it is not there that was durable, or should have been;
 *	not if a root is missing that may have led to it
 *
 * @goal: how far it goes
 * @state: state, see start.c
 * @step: step that is under way
 * @is_asked: whether @step is under way
 * @found: superblock that was read
 * @has_super: whether one of them checks
 * @roots: the two roots
 * @whys: reasons why they do not count, or NULL
 * @is_blank: whether none of this device was ever there, as far as one can see
 * @is_torn: whether pages of two were there: the power failed while it was written
 * @newest_epoch: largest epoch on any page where they lie, also of one that does not count
 * @is_epoch_lost: whether one of these places cannot be read
 * @traces: what lies where the roots of @grown go
 * @nr_unread: number of pages there that cannot be read
 * @index: number of what is read next in this state
 * @reader: position in the journal
 * @replay: position in a sector of it
 * @nr_singly: number of pages, of the ring or there, that are read one by one, as together they
 *	could not be
 * @at: next sector in @sectors
 * @nr_there: number of sectors of the ring up to the end of @sectors
 * @nr_read: number of sectors that were taken
 * @is_at_end: whether the journal's end was met
 * @draft: pages that the last batch names, if that is a draft; they stay as they are until another
 *	is durable, for the start may be done once more, from an older root
 * @draft_sum: checksum that these should have
 * @draft_place: place of that batch
 * @is_in_sector: whether operations of a sector are being done
 *
 * The first paragraph is the caller's to fill in; the second one are the terms of a step, the third
 * one results, and the last one is the machine's own.
 */
struct dmda_start {
	struct dmda_super *super;
	bool is_single;
	const struct dmda_super *grown;
	struct dmda_slots *slots;
	struct dmda_segments *segments;
	struct dmda_opened *opened;
	struct dmda_writer *writer;
	struct dmda_change *change;
	struct dmda_root *root;
	u8 *pages;
	struct dmda_journal_sector *sectors;
	struct dmda_op *op;
	u64 salt;
	struct dmda_map_page *map[DMDA_OP_MAP_PAGES];
	__le32 sums[DMDA_MAX_DRAFT_PAGES];
	struct dmda_ahead ahead;

	dpn_t dpn;
	void *memory;
	u32 nr_pages;
	u64 map_index;
	u32 nr_map;
	seg_t seg;

	struct dmda_journal_place end;
	struct dmda_journal_place next;
	seg_t stays;
	const char *why;
	bool is_damaged;
	bool is_lost;

	enum dmda_start_goal goal;
	u32 state;
	enum dmda_start_step step;
	bool is_asked;
	struct dmda_super found;
	bool has_super;
	struct dmda_root roots[2];
	const char *whys[2];
	bool is_blank[2];
	bool is_torn[2];
	u64 newest_epoch;
	bool is_epoch_lost;
	struct dmda_root_traces traces;
	u32 nr_unread;
	u64 index;
	struct dmda_journal_reader reader;
	struct dmda_replay replay;
	u32 nr_singly;
	u32 at;
	u32 nr_there;
	u32 nr_read;
	bool is_at_end;
	struct dmda_draft_pages draft;
	u32 draft_sum;
	struct dmda_journal_place draft_place;
	bool is_in_sector;
};

/**
 * dmda_start_begin() - start a device
 * @start: filled in as far as @goal needs it; tables are as their init functions leave them
 */
void dmda_start_begin(struct dmda_start *start, enum dmda_start_goal goal);

/**
 * dmda_start_next() - ask for the next step
 *
 * Return: what is to be done; the same again until dmda_start_did() is called.
 */
enum dmda_start_step dmda_start_next(struct dmda_start *start);

/**
 * dmda_start_next_at_hand() - ask for the next operation, if it is at hand
 *
 * It is when it is whole in the sector that is being replayed, and its pages were told. So this
 * takes no longer than that sector: no other one is looked into, nothing else is begun, and the
 * state stays. Who holds a lock between operations may call it.
 *
 * Return: whether the next step is DMDA_START_MAP; else dmda_start_next() says what it is, which
 * may well be that one.
 */
bool dmda_start_next_at_hand(struct dmda_start *start);

/**
 * dmda_start_did() - a step was done, or could not be
 * @error: 0 or a negative errno; DMDA_START_DRAW and DMDA_START_RESUME cannot fail,
 *	and DMDA_START_FETCH, DMDA_START_SUMS and DMDA_START_SUPERS need not succeed
 *
 * Does nothing if no step is under way.
 */
void dmda_start_did(struct dmda_start *start, int error);

#endif /* DMDA_START_H */
