/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drafts: batches of the journal that are written along with the data that they name, for a flush
 * that is going to follow.
 *
 * A batch is written behind a flush, since a record must never name data that is not there. So
 * who writes a page and flushes it waits for the drive twice. A draft says what the batch is going
 * to be if nothing else comes: one write of a few pages, with a checksum of their data by which a
 * start can tell whether it arrived. If the batch has become that, one flush makes both durable. If
 * not, the batch is written over the draft.
 *
 *	made		while no commit is under way and the batch is empty; the batch's sectors
 *			are the draft's from then on
 *	written		or not: its write has ended. A commit waits for that
 *	void		its data was not written, or is something else: the draft must not be
 *			what a start finds when something newer is durable, so that the next commit
 *			writes over it, also if there are no records; until that is durable, nothing
 *			newer is without a commit
 *	kept, or gone	when a commit is durable: the draft as its batch, or another one in its
 *			place
 *
 * What a draft names must stay as it is until another batch is durable behind it: a start would
 * take the draft for one whose data has not arrived. Other batches may take its pages away, since
 * these are durable before anybody writes there; overwriting them in place has no batch, and has to
 * go elsewhere.
 *
 * Who calls this holds the lock of the journal, but where it says so.
 */
#ifndef DMDA_DRAFT_H
#define DMDA_DRAFT_H

#include "journal.h"

struct dmda_op;

/**
 * struct dmda_draft_pages - places of data that a draft names
 * @dpn: the first
 * @nr_pages: how many; 0: there is no such draft
 * @seq: number of its operation
 */
struct dmda_draft_pages {
	dpn_t dpn;
	u32 nr_pages;
	u64 seq;
};

/**
 * struct dmda_draft - the draft of a batch
 * @sectors: memory of a unit of the journal; the caller's
 * @batch: the draft as a batch
 * @nr: sectors of it, or 0: there is none, nor does a start find one but for that of @kept
 * @chain: chain of the batch that would follow
 * @pages: places that it names
 * @is_written: whether its write has ended
 * @is_void: whether it must not be kept; until a batch is durable in its place
 * @kept: places that the last batch that is durable names, if that was a draft
 */
struct dmda_draft {
	struct dmda_journal_sector *sectors;
	struct dmda_journal_batch batch;
	u32 nr;
	u32 chain;
	struct dmda_draft_pages pages;
	bool is_written;
	bool is_void;
	struct dmda_draft_pages kept;
};

/**
 * dmda_draft_begin() - begin a draft
 * @place: of the batch that it is to be
 *
 * The caller puts its records to @draft->batch, one operation.
 */
void dmda_draft_begin(struct dmda_draft *draft, const struct dmda_super *super,
		      const struct dmda_journal_place *place);

/**
 * dmda_draft_end() - its records are there
 * @pages: places that it names
 *
 * Return: whether there is a draft now; they may have no room.
 */
bool dmda_draft_end(struct dmda_draft *draft, const struct dmda_super *super,
		    const struct dmda_draft_pages *pages);

/**
 * dmda_draft_seal() - make it ready to be written
 * @sums: checksums of its pages, as a device with checksums has them
 *
 * Context: without the lock; nobody else looks at what it writes before dmda_draft_written().
 */
void dmda_draft_seal(struct dmda_draft *draft, const struct dmda_super *super, const __le32 *sums);

/**
 * dmda_draft_written() - its write has ended
 */
void dmda_draft_written(struct dmda_draft *draft, bool has_failed);

/**
 * dmda_draft_has_become() - is the batch what the draft said?
 * @batch: a batch at the draft's place, ended or not
 */
bool dmda_draft_has_become(const struct dmda_draft *draft,
			   const struct dmda_journal_batch *batch);

/**
 * dmda_draft_names() - must some pages stay as they are?
 * @dpn: the first of them
 *
 * Return: whether the last batch that is durable is a draft that names one of them, or a draft that
 * may become the next one does.
 */
bool dmda_draft_names(const struct dmda_draft *draft, dpn_t dpn, u32 nr_pages);

/**
 * dmda_draft_sum() - the checksum of a draft's data
 * @sums: checksums of its pages
 */
u32 dmda_draft_sum(const __le32 *sums, u32 nr_pages);

/* Is the sector the first one of a draft? */
static inline bool dmda_draft_is(const struct dmda_journal_sector *sector)
{
	return le16_to_cpu(sector->nr_bytes) & DMDA_SECTOR_DRAFT;
}

/**
 * dmda_draft_read() - understand a draft
 * @sector: its first sector, as dmda_journal_accept() took it
 * @op: memory for its operation, which is number @seq
 * @pages: gets the places that it names
 * @sum: gets the checksum that their data should have
 *
 * Return: NULL, or why it is none.
 */
const char *dmda_draft_read(const struct dmda_journal_sector *sector,
			    const struct dmda_super *super, u64 seq, struct dmda_op *op,
			    struct dmda_draft_pages *pages, u32 *sum);

#endif /* DMDA_DRAFT_H */
