// SPDX-License-Identifier: GPL-2.0-only
/*
 * A commit does one I/O at most; what matters is what is noted before it and what after it. What it
 * makes durable is fixed when it begins: others go on while it is written.
 */
#include "commit.h"

static u32 ring_room(const struct dmda_commit *commit)
{
	return dmda_journal_room(commit->super, &commit->root->journal, &commit->next_place);
}

void dmda_commit_go_on(struct dmda_commit *commit, const struct dmda_journal_place *place,
		       const struct dmda_draft_pages *last)
{
	static const struct dmda_draft_pages none;

	commit->has_batch = false;
	commit->next_place = *place;
	commit->durable_seq = place->seq - 1;
	commit->draft.nr = 0;
	commit->draft.is_void = false;
	commit->draft.kept = last ? *last : none;
	commit->ends_kept = false;
	commit->step = DMDA_COMMIT_DONE;
}

bool dmda_commit_begin_batch(struct dmda_commit *commit)
{
	if (commit->has_batch)
		return true;
	if (ring_room(commit) < commit->batch_sectors)
		return false;
	commit->sectors_index ^= 1;
	dmda_journal_begin(&commit->batch, commit->super, commit->sectors[commit->sectors_index],
			   commit->batch_sectors, &commit->next_place);
	commit->has_batch = true;
	return true;
}

bool dmda_commit_needs_root(const struct dmda_commit *commit, u64 most_dirtied)
{
	return ring_room(commit) < commit->super->journal_sectors / 2 ||
		commit->change->nr_dirtied - commit->dirtied_before > most_dirtied;
}

struct dmda_journal_place dmda_commit_place(const struct dmda_commit *commit)
{
	return commit->has_batch ? commit->batch.first : commit->next_place;
}

struct dmda_journal_place dmda_commit_root_place(struct dmda_commit *commit)
{
	commit->dirtied_before = commit->change->nr_dirtied;
	return dmda_commit_place(commit);
}

/* A start may find it, and take it for newer than anything that has no records. */
static bool has_void_draft(const struct dmda_commit *commit)
{
	return commit->draft.nr && commit->draft.is_void;
}

bool dmda_commit_is_idle(const struct dmda_commit *commit)
{
	u64 next_seq = commit->has_batch ? commit->batch.next_seq : commit->next_place.seq;

	return commit->durable_seq + 1 == next_seq &&
		commit->durable_overwrites == commit->nr_overwrites && !has_void_draft(commit) &&
		!commit->ends_kept;
}

u64 dmda_commit_sure_seq(const struct dmda_commit *commit)
{
	const struct dmda_draft_pages *kept = &commit->draft.kept;

	/* Behind a start, numbers lie between it and what comes next. */
	return kept->nr_pages ? kept->seq - 1 : commit->durable_seq;
}

void dmda_commit_end_kept(struct dmda_commit *commit)
{
	commit->ends_kept = commit->draft.kept.nr_pages;
}

bool dmda_commit_covers(const struct dmda_commit *commit, u64 seq)
{
	return seq <= commit->durable_seq && !commit->draft.is_void;
}

bool dmda_commit_draft(struct dmda_commit *commit,
		       struct dmda_map_page *const pages[DMDA_OP_MAP_PAGES], lpn_t lpn, dpn_t dpn,
		       u32 nr_pages)
{
	const struct dmda_draft_pages places = { dpn, nr_pages, commit->batch.first.seq };
	struct dmda_draft *draft = &commit->draft;

	if (!dmda_super_has_drafts(commit->super) || nr_pages > DMDA_MAX_DRAFT_PAGES ||
	    commit->step != DMDA_COMMIT_DONE || !commit->has_batch || commit->batch.nr_used ||
	    draft->nr)
		return false;
	dmda_draft_begin(draft, commit->super, &commit->batch.first);
	dmda_change_draft(commit->change, &draft->batch, pages, lpn, dpn, nr_pages);
	return dmda_draft_end(draft, commit->super, &places);
}

void dmda_commit_void(struct dmda_commit *commit)
{
	struct dmda_draft *draft = &commit->draft;

	if (draft->nr)
		draft->is_void = true;
}

static void end_batch(struct dmda_commit *commit)
{
	/* A start must find something else, or something behind the last draft. */
	if (has_void_draft(commit) || commit->ends_kept)
		dmda_journal_put_nothing(&commit->batch);
	commit->sealed = commit->batch.sectors;
	commit->first = commit->batch.first.sector;
	commit->nr = dmda_journal_end(&commit->batch, commit->super, &commit->next_place);
	commit->ended = commit->batch;
	commit->sealed_seq = commit->next_place.seq - 1;
	commit->has_batch = !commit->nr;
}

/* Behind what is sealed comes the batch that is being filled meanwhile, or none yet. */
static void pass_chain(struct dmda_commit *commit)
{
	commit->next_place.chain = commit->chain;
	if (commit->has_batch)
		commit->batch.first.chain = commit->chain;
}

/* If the batch is something else, it goes to the draft's place. */
static void did_await(struct dmda_commit *commit)
{
	struct dmda_draft *draft = &commit->draft;

	commit->is_kept = dmda_draft_has_become(draft, &commit->ended);
	if (!commit->is_kept) {
		commit->step = DMDA_COMMIT_SEAL;
		return;
	}
	commit->chain = draft->chain;
	pass_chain(commit);
	commit->step = DMDA_COMMIT_FLUSH;
}

static void did_seal(struct dmda_commit *commit)
{
	pass_chain(commit);
	commit->step = DMDA_COMMIT_WRITE;
}

/* The batch is durable; what a draft before it names is free, and no start finds one of it. */
static void did_batch(struct dmda_commit *commit)
{
	struct dmda_draft *draft = &commit->draft;

	commit->durable_seq = commit->sealed_seq;
	commit->ends_kept = false;
	draft->kept.nr_pages = 0;
	if (commit->is_kept)
		draft->kept = draft->pages;
	draft->nr = 0;
	draft->is_void = false;
}

static enum dmda_commit_step first_step(const struct dmda_commit *commit)
{
	if (commit->why)
		return DMDA_COMMIT_FAILED;
	if (commit->nr)
		return commit->draft.nr ? DMDA_COMMIT_AWAIT : DMDA_COMMIT_SEAL;
	/* What was overwritten in place has no records. */
	return commit->durable_overwrites == commit->sealed_overwrites ? DMDA_COMMIT_DONE :
									 DMDA_COMMIT_FLUSH;
}

void dmda_commit_begin(struct dmda_commit *commit)
{
	commit->why = commit->change->why;
	commit->sealed_overwrites = commit->nr_overwrites;
	commit->nr = 0;
	commit->is_kept = false;
	commit->order = DMDA_ORDER_FLUSH | DMDA_ORDER_FUA;
	if (commit->has_batch && !commit->why)
		end_batch(commit);
	commit->step = first_step(commit);
}

bool dmda_commit_begin_kept(struct dmda_commit *commit)
{
	const struct dmda_draft *draft = &commit->draft;

	if (commit->step != DMDA_COMMIT_DONE || commit->change->why || !draft->nr ||
	    !draft->is_written || !dmda_draft_has_become(draft, &commit->batch))
		return false;
	dmda_commit_begin(commit);
	dmda_commit_did(commit, 0);
	return true;
}

enum dmda_commit_step dmda_commit_next(const struct dmda_commit *commit)
{
	return commit->step;
}

bool dmda_commit_is_over(const struct dmda_commit *commit)
{
	return commit->step == DMDA_COMMIT_DONE || commit->step == DMDA_COMMIT_FAILED;
}

void dmda_commit_seal(struct dmda_commit *commit)
{
	commit->chain = dmda_journal_seal(&commit->ended);
}

void dmda_commit_did(struct dmda_commit *commit, int error)
{
	if (dmda_commit_is_over(commit))
		return;
	if (error) {
		commit->step = DMDA_COMMIT_FAILED;
		return;
	}
	switch (commit->step) {
	case DMDA_COMMIT_AWAIT:
		did_await(commit);
		return;
	case DMDA_COMMIT_SEAL:
		did_seal(commit);
		return;
	default:
		break;
	}
	/* Both have flushed what was overwritten before. */
	commit->durable_overwrites = commit->sealed_overwrites;
	if (commit->step == DMDA_COMMIT_WRITE || commit->is_kept)
		did_batch(commit);
	commit->step = DMDA_COMMIT_DONE;
}
