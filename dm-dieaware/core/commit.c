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

void dmda_commit_go_on(struct dmda_commit *commit, const struct dmda_journal_place *place)
{
	commit->has_batch = false;
	commit->next_place = *place;
	commit->durable_seq = place->seq - 1;
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

bool dmda_commit_needs_root(const struct dmda_commit *commit)
{
	return ring_room(commit) < commit->super->journal_sectors / 2;
}

struct dmda_journal_place dmda_commit_place(const struct dmda_commit *commit)
{
	return commit->has_batch ? commit->batch.first : commit->next_place;
}

bool dmda_commit_is_idle(const struct dmda_commit *commit)
{
	u64 next_seq = commit->has_batch ? commit->batch.next_seq : commit->next_place.seq;

	return commit->durable_seq + 1 == next_seq &&
		commit->durable_overwrites == commit->nr_overwrites;
}

static void end_batch(struct dmda_commit *commit)
{
	commit->sealed = commit->batch.sectors;
	commit->first = commit->batch.first.sector;
	commit->nr = dmda_journal_end(&commit->batch, commit->super, &commit->next_place);
	commit->ended = commit->batch;
	commit->sealed_seq = commit->next_place.seq - 1;
	commit->has_batch = !commit->nr;
}

/* Behind what was sealed comes the batch that is being filled meanwhile, or none yet. */
static void did_seal(struct dmda_commit *commit)
{
	commit->next_place.chain = commit->chain;
	if (commit->has_batch)
		commit->batch.first.chain = commit->chain;
	commit->step = DMDA_COMMIT_WRITE;
}

static enum dmda_commit_step first_step(const struct dmda_commit *commit)
{
	if (commit->why)
		return DMDA_COMMIT_FAILED;
	if (commit->nr)
		return DMDA_COMMIT_SEAL;
	/* What was overwritten in place has no records. */
	return commit->durable_overwrites == commit->sealed_overwrites ? DMDA_COMMIT_DONE :
									 DMDA_COMMIT_FLUSH;
}

void dmda_commit_begin(struct dmda_commit *commit)
{
	commit->why = commit->change->why;
	commit->sealed_overwrites = commit->nr_overwrites;
	commit->nr = 0;
	commit->order = DMDA_ORDER_FLUSH | DMDA_ORDER_FUA;
	if (commit->has_batch && !commit->why)
		end_batch(commit);
	commit->step = first_step(commit);
}

enum dmda_commit_step dmda_commit_next(const struct dmda_commit *commit)
{
	return commit->step;
}

void dmda_commit_seal(struct dmda_commit *commit)
{
	commit->chain = dmda_journal_seal(&commit->ended);
}

void dmda_commit_did(struct dmda_commit *commit, int error)
{
	if (commit->step >= DMDA_COMMIT_DONE)
		return;
	if (error) {
		commit->step = DMDA_COMMIT_FAILED;
		return;
	}
	if (commit->step == DMDA_COMMIT_SEAL) {
		did_seal(commit);
		return;
	}
	/* Both have flushed what was overwritten before. */
	commit->durable_overwrites = commit->sealed_overwrites;
	if (commit->step == DMDA_COMMIT_WRITE)
		commit->durable_seq = commit->sealed_seq;
	commit->step = DMDA_COMMIT_DONE;
}
