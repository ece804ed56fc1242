/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of a checkpoint. It does no I/O and does not wait; who takes a checkpoint asks for the
 * next step, does it, and says how it went:
 *
 *	dmda_checkpoint_begin(checkpoint, is_clean);
 *	while ((step = dmda_checkpoint_next(checkpoint)) < DMDA_CHECKPOINT_DONE)
 *		dmda_checkpoint_did(checkpoint, what came of it);
 *
 *	COMMIT		operations done so far		are durable
 *	PLACE		of the batch being filled	what is older is going to be in the tables
 *	MAP, PAGE	pages that know older ones	each to the slot that no root names
 *	WAIT		until they are written
 *	HOLD		pages of the map		no slot of the map changes from here on
 *	PAGE		pages of the directory that have changed
 *	WAIT		until they are written
 *	COMMIT		once more			pages may know what was not durable when
 *							they were copied
 *	ROOT		behind a flush, with FUA
 *	-------------	from here on the new root counts, and the journal before its place is free
 *
 * Operations go on meanwhile. The machine may be left at any step before ROOT, if
 * nobody writes to the device any more: all that was written are slots that no root names.
 *
 * The functions are to be called under the lock that protects the tables, which is not to be held
 * while a step is done. Tables grow with the device: where none of many pages has changed, the step
 * is PAUSE, so that nobody waits for the lock for long.
 */
#ifndef DMDA_CHECKPOINT_H
#define DMDA_CHECKPOINT_H

#include "order.h"
#include "root.h"
#include "writeback.h"

/* So many pages of a table are looked at under one holding of the lock. */
#define DMDA_CHECKPOINT_LOOKS	256

/**
 * enum dmda_checkpoint_step - what is to be done next
 * @DMDA_CHECKPOINT_COMMIT: commit what is in the journal's batch
 * @DMDA_CHECKPOINT_PLACE: set @next.journal to the place of the batch that is being filled, or if
 *	there is none, of the one that would be
 * @DMDA_CHECKPOINT_MAP: begin to write all pages of the map that dmda_checkpoint_needs()
 * @DMDA_CHECKPOINT_PAGE: begin to write page @index of @table
 * @DMDA_CHECKPOINT_PAUSE: nothing, but let go of the lock
 * @DMDA_CHECKPOINT_WAIT: wait until all that was begun is written; it fails if one of them has
 * @DMDA_CHECKPOINT_HOLD: wait for all pages of the map that others write; none begins before the
 *	end of the checkpoint, as dmda_slots_target() says
 * @DMDA_CHECKPOINT_ROOT: write @next to its place, as @order says
 * @DMDA_CHECKPOINT_DONE: nothing: @next is durable, and the root that counts
 * @DMDA_CHECKPOINT_FAILED: nothing: a step has failed, and the root is that of before
 */
enum dmda_checkpoint_step {
	DMDA_CHECKPOINT_COMMIT,
	DMDA_CHECKPOINT_PLACE,
	DMDA_CHECKPOINT_MAP,
	DMDA_CHECKPOINT_PAGE,
	DMDA_CHECKPOINT_PAUSE,
	DMDA_CHECKPOINT_WAIT,
	DMDA_CHECKPOINT_HOLD,
	DMDA_CHECKPOINT_ROOT,
	DMDA_CHECKPOINT_DONE,
	DMDA_CHECKPOINT_FAILED,
};

/**
 * struct dmda_checkpoint - a checkpoint that is being taken
 * @tables: tables of the device
 * @batch: batch of the journal that is being filled
 * @root: the last durable root
 *
 * @table: table of which a page is to be written
 * @index: number of that page
 * @next: the root that is being made; who writes it may set @next.pages_written
 * @order: DMDA_ORDER_* of the write of @next
 *
 * @error: first error of a step, or 0
 *
 * @stage: stage, see checkpoint.c
 * @at: number of what comes next in this stage
 * @step: step that is under way
 * @is_asked: whether @step is under way
 *
 * The first paragraph is the caller's to fill in; the second one are the terms of a step, the third
 * one the result, and the last one is the machine's own.
 */
struct dmda_checkpoint {
	struct dmda_tables tables;
	const struct dmda_journal_batch *batch;
	struct dmda_root *root;

	enum dmda_table table;
	u64 index;
	struct dmda_root next;
	u32 order;

	int error;

	u32 stage;
	u64 at;
	enum dmda_checkpoint_step step;
	bool is_asked;
};

/**
 * dmda_checkpoint_begin() - begin a checkpoint
 * @checkpoint: filled in; none is under way
 * @is_clean: whether nothing is to follow it
 */
void dmda_checkpoint_begin(struct dmda_checkpoint *checkpoint, bool is_clean);

/**
 * dmda_checkpoint_next() - ask for the next step
 *
 * Return: what is to be done; the same again until dmda_checkpoint_did() is called.
 */
enum dmda_checkpoint_step dmda_checkpoint_next(struct dmda_checkpoint *checkpoint);

/**
 * dmda_checkpoint_did() - a step was done, or could not be
 * @error: 0 or a negative errno
 *
 * Does nothing if no step is under way.
 */
void dmda_checkpoint_did(struct dmda_checkpoint *checkpoint, int error);

/**
 * dmda_checkpoint_needs() - does the journal before the new root's place have what a page lacks on
 *	the device?
 * @dirty_sector: as in struct dmda_map_page
 */
static inline bool dmda_checkpoint_needs(const struct dmda_checkpoint *checkpoint,
					 u64 dirty_sector)
{
	return dirty_sector < checkpoint->next.journal.sector;
}

#endif /* DMDA_CHECKPOINT_H */
