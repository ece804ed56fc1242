/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Batches of the journal: begun when the ring has room for all of it, filled, sealed, written, and
 * durable; and the order of a commit. It does no I/O and does not wait; who commits asks for the
 * next step, does it, and says how it went:
 *
 *	dmda_commit_begin(commit);
 *	while (!dmda_commit_is_over(commit)) {
 *		step = dmda_commit_next(commit);
 *		dmda_commit_did(commit, what came of it);
 *	}
 *
 *	begin		takes the batch that was being filled; the next one may begin
 *	AWAIT		if there is a draft of it (draft.h): it may be written already
 *	SEAL		its checksums, which take the longest; the next batch learns its chain
 *	WRITE		behind a flush, with FUA: data is durable before the records that name it
 *	FLUSH		instead, if there are no records, but pages were overwritten in place; or
 *			if the batch has become what its draft says
 *	-------------	from here on operations of the batch may be acknowledged as durable,
 *			and what they took away may be forgotten
 *
 * What comes while a batch is written goes to the next one. So a commit makes durable what was done
 * before it began, and no more.
 *
 * A write in place with FUA needs no commit if all that a start has to know of it is durable, and
 * nothing is on the device that a start would take for newer: dmda_commit_covers(). Then it is
 * durable when the device below says so.
 *
 * A batch is begun only if the ring has room for it whole. So what is in one can always be written,
 * and a checkpoint, which makes room, needs nothing but that.
 *
 * The functions are to be called under the lock that protects the journal, which is not to be held
 * while a step is done. One commit at a time; who takes it may look at the step and its terms
 * without the lock.
 */
#ifndef DMDA_COMMIT_H
#define DMDA_COMMIT_H

#include "change.h"
#include "draft.h"
#include "order.h"
#include "root.h"

/**
 * enum dmda_commit_step - what is to be done next
 * @DMDA_COMMIT_DONE: nothing: all that was done before the commit began is durable; as it is before
 *	the first one
 * @DMDA_COMMIT_FAILED: nothing: a step has failed, or @why says why nothing may be written
 * @DMDA_COMMIT_AWAIT: wait until dmda_draft_written() was called for @draft
 * @DMDA_COMMIT_SEAL: call dmda_commit_seal()
 * @DMDA_COMMIT_WRITE: write @nr sectors to the ring from sector @first on, as @order says
 * @DMDA_COMMIT_FLUSH: make all durable that was written
 */
enum dmda_commit_step {
	DMDA_COMMIT_DONE,
	DMDA_COMMIT_FAILED,
	DMDA_COMMIT_AWAIT,
	DMDA_COMMIT_SEAL,
	DMDA_COMMIT_WRITE,
	DMDA_COMMIT_FLUSH,
};

/**
 * struct dmda_commit - batches of the journal, and the commit that is under way
 * @super: superblock of the device
 * @root: the last durable root, before whose place in the journal nothing is needed
 * @change: way in which operations come to @batch
 * @sectors: memory of two batches, which take turns
 * @batch_sectors: size of a batch; constant
 * @dirtied_before: what @change had counted of pages that were dirtied when the place of the last
 *	root, or of the one that is being made, was taken
 * @draft: draft of @batch, or of the one that is to be written; its memory is the caller's to give
 *
 * @batch: batch that is being filled
 * @has_batch: whether @batch may be filled; if not, the ring has no room before the next root
 * @next_place: place of the next batch if there is none
 * @durable_seq: last operation that is durable; all before it are
 * @nr_overwrites: number of writes in place that were done, but for those that were durable when
 *	they ended; they have no records, and only have to be flushed
 * @durable_overwrites: so many of @nr_overwrites are durable
 *
 * @sealed: sectors that are to be written
 * @first: number of the first of them
 * @nr: number of them, or 0
 * @order: DMDA_ORDER_* of that write
 * @why: reason why nothing may be written, or NULL
 *
 * @sectors_index: index in @sectors of the one that @batch has
 * @ended: the batch that is to be written
 * @chain: chain of the batch that follows it
 * @sealed_seq: last operation of @sealed
 * @sealed_overwrites: number of writes in place that were done before the commit
 * @is_kept: whether the draft is what is made durable
 * @ends_kept: whether the next commit has to write a batch, behind the last draft
 * @step: step that is under way, or how the commit has ended
 *
 * The first paragraph is the caller's to fill in. The second one says how far the journal is; the
 * caller counts @nr_overwrites, and changes nothing else there. The third one are the terms of a
 * step, and the last one is the machine's own.
 */
struct dmda_commit {
	const struct dmda_super *super;
	const struct dmda_root *root;
	const struct dmda_change *change;
	struct dmda_journal_sector *sectors[2];
	u32 batch_sectors;
	u64 dirtied_before;
	struct dmda_draft draft;

	struct dmda_journal_batch batch;
	bool has_batch;
	struct dmda_journal_place next_place;
	u64 durable_seq;
	u64 nr_overwrites;
	u64 durable_overwrites;

	struct dmda_journal_sector *sealed;
	u64 first;
	u32 nr;
	u32 order;
	const char *why;

	u32 sectors_index;
	struct dmda_journal_batch ended;
	u32 chain;
	u64 sealed_seq;
	u64 sealed_overwrites;
	bool is_kept;
	bool ends_kept;
	enum dmda_commit_step step;
};

/**
 * dmda_commit_go_on() - the journal goes on at a place; all that came before is durable
 * @last: pages that the last draft before names, or NULL. They stay as they are until a batch is
 *	durable: if the root is lost by which that draft is behind us, the older one leads to it.
 *
 * There is no batch then.
 */
void dmda_commit_go_on(struct dmda_commit *commit, const struct dmda_journal_place *place,
		       const struct dmda_draft_pages *last);

/**
 * dmda_commit_begin_batch() - begin a batch if there is none
 *
 * Return: whether there is one now; if not, there will not be before the next root.
 */
bool dmda_commit_begin_batch(struct dmda_commit *commit);

/**
 * dmda_commit_needs_root() - is it time for a checkpoint?
 * @most_dirtied: pages of the map that a start may have to read and bring up to date
 *
 * Return: whether half of the ring is in use, so that there is time left to take one, or what is in
 *	it is about more pages of the map than that.
 */
bool dmda_commit_needs_root(const struct dmda_commit *commit, u64 most_dirtied);

/**
 * dmda_commit_place() - where the batch begins that is being filled, or that would be
 *
 * While a batch is being sealed, its chain is not known yet.
 */
struct dmda_journal_place dmda_commit_place(const struct dmda_commit *commit);

/**
 * dmda_commit_root_place() - the next root begins here; what it takes a start to do counts from now
 *
 * If that root cannot be written, nothing is any more.
 *
 * Return: dmda_commit_place()
 */
struct dmda_journal_place dmda_commit_root_place(struct dmda_commit *commit);

/**
 * dmda_commit_is_idle() - is all that was done durable?
 *
 * Return: whether a flush has nothing to do. It has while a start may find a draft whose data was
 * not written: a page that was trimmed since, which held nothing, has no records that say so.
 */
bool dmda_commit_is_idle(const struct dmda_commit *commit);

/**
 * dmda_commit_sure_seq() - up to where a start comes, also if data has been damaged since
 *
 * If a draft comes last, and its data is damaged later, a start takes that for data that has not
 * arrived, and goes back to what was there before: nobody else may have these places until then.
 *
 * Return: the last operation that is durable, or the one before that draft.
 */
u64 dmda_commit_sure_seq(const struct dmda_commit *commit);

/**
 * dmda_commit_end_kept() - have dmda_commit_sure_seq() get to what is durable with the next commit
 *
 * Does nothing if it is there.
 */
void dmda_commit_end_kept(struct dmda_commit *commit);

/**
 * dmda_commit_covers() - does what an operation has done survive a power failure, whatever else
 *	there is?
 * @seq: the operation
 *
 * Not as long as a start may find a draft whose data was not written, as nobody was told: it would
 * take that for newer than what is written in place now.
 *
 * Return: whether what is written to a place that the operation has mapped, and is durable there,
 *	is what a start finds. It stays so as long as no other operation is about these pages.
 */
bool dmda_commit_covers(const struct dmda_commit *commit, u64 seq);

/**
 * dmda_commit_draft() - make a draft of a batch that a write would be alone in, if one can be made
 * @pages: the one or two pages of the map that have these lpns
 * @lpn: first page of the write
 * @dpn: its place
 * @nr_pages: number of pages
 *
 * Only where all that was done before is durable, and on a device that may have drafts.
 *
 * Return: whether there is one now: it is to be sealed and written, and dmda_draft_written() is
 * due; and if its data cannot be written, dmda_commit_void().
 */
bool dmda_commit_draft(struct dmda_commit *commit,
		       struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn, dpn_t dpn,
		       u32 nr_pages);

/**
 * dmda_commit_void() - the draft's data was not written
 *
 * Does nothing if there is no draft any more, as a batch is durable in its place.
 */
void dmda_commit_void(struct dmda_commit *commit);

/**
 * dmda_commit_begin() - begin a commit
 *
 * If anything was put to the batch, there is none afterwards.
 */
void dmda_commit_begin(struct dmda_commit *commit);

/**
 * dmda_commit_begin_kept() - begin a commit, if a flush is all that it takes
 *
 * Return: whether it has begun, with DMDA_COMMIT_FLUSH: no commit was under way, and the batch has
 * become what its draft says, which is written.
 */
bool dmda_commit_begin_kept(struct dmda_commit *commit);

/**
 * dmda_commit_next() - ask for the next step
 *
 * Return: what is to be done; the same again until dmda_commit_did() is called.
 */
enum dmda_commit_step dmda_commit_next(const struct dmda_commit *commit);

/**
 * dmda_commit_is_over() - is no commit under way?
 */
bool dmda_commit_is_over(const struct dmda_commit *commit);

/**
 * dmda_commit_seal() - do DMDA_COMMIT_SEAL
 *
 * Context: without the lock; nobody else looks at what it reads and writes meanwhile.
 */
void dmda_commit_seal(struct dmda_commit *commit);

/**
 * dmda_commit_did() - a step was done, or could not be
 * @error: 0 or a negative errno
 *
 * Does nothing if no step is under way.
 */
void dmda_commit_did(struct dmda_commit *commit, int error);

#endif /* DMDA_COMMIT_H */
