// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commits: the steps that core/commit.h asks for, done. What waits for a commit when one begins
 * shares it. What nobody waits for is committed a second after the first of it that no other commit
 * has taken.
 */
#include "apply.h"
#include "bio.h"
#include "commit.h"
#include "disk.h"
#include "log.h"
#include "trace.h"

void dmda_log_wait_commit_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	wait_event_lock_irq(log->wait, dmda_commit_is_over(&log->journal.commit), log->lock);
}

/*
 * A commit takes all that was done before it: what comes later has a second of its own. The worker
 * may be on its way already; then it finds less to do, or nothing.
 */
static void forget_late_locked(struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	if (delayed_work_pending(&log->journal.late_work))
		cancel_delayed_work(&log->journal.late_work);
}

/* A commit has begun that has records. */
static void begun_locked(struct dmda_log *log, bool is_asked)
{
	lockdep_assert_held(&log->lock);

	log->counters.nr_commits++;
	dmda_log_draft_learn_locked(log, is_asked);
	dmda_log_begin_batch_locked(log);
}

/* Takes the batch away, with those who wait for it. Return: the first step. */
static enum dmda_commit_step begin_commit(struct dmda_log *log, struct list_head *ios)
{
	struct dmda_commit *commit = &log->journal.commit;
	enum dmda_commit_step step;
	bool may_write;

	spin_lock_irq(&log->lock);
	dmda_log_wait_commit_locked(log);
	list_splice_init(&log->journal.committing, ios);
	may_write = log->state != DMDA_LOG_FAILED;
	forget_late_locked(log);
	if (may_write)
		dmda_commit_begin(commit);
	if (may_write && commit->nr)
		begun_locked(log, !list_empty(ios));
	step = may_write ? dmda_commit_next(commit) : DMDA_COMMIT_FAILED;
	spin_unlock_irq(&log->lock);
	return step;
}

static int write_batch(struct dmda_log *log)
{
	const struct dmda_commit *commit = &log->journal.commit;
	int ret = dmda_log_write_sectors(log, dmda_journal_sector_at(&log->super, commit->first),
					 commit->sealed, commit->nr, dmda_log_opf(commit->order));

	trace_dmda_log_commit(log->dmda->self_dev, commit->first, commit->nr, commit->sealed_seq,
			      ret);
	if (ret)
		dmda_log_fail(log, "writing the journal", "the device reports an error");
	return ret;
}

/* What was overwritten in place, and a draft with its data */
static void end_flush(struct dmda_log *log, int error)
{
	const struct dmda_commit *commit = &log->journal.commit;

	if (commit->is_kept)
		trace_dmda_log_commit(log->dmda->self_dev, commit->first, commit->nr,
				      commit->sealed_seq, error);
	if (error)
		dmda_log_fail(log, "flushing data", "the device reports an error");
}

static int flush_written(struct dmda_log *log)
{
	int ret = dmda_log_flush(log);

	end_flush(log, ret);
	return ret;
}

static int do_step(struct dmda_log *log, enum dmda_commit_step step)
{
	switch (step) {
	case DMDA_COMMIT_AWAIT:
		dmda_log_draft_wait(log);
		return 0;
	case DMDA_COMMIT_SEAL:
		dmda_commit_seal(&log->journal.commit);
		return 0;
	case DMDA_COMMIT_WRITE:
		return write_batch(log);
	default:
		return flush_written(log);
	}
}

static void did_step_locked(struct dmda_log *log, int error)
{
	struct dmda_commit *commit = &log->journal.commit;

	lockdep_assert_held(&log->lock);

	dmda_commit_did(commit, error);
	if (error || !commit->nr || !log->space.segments.nr_empty || log->state != DMDA_LOG_WRITE)
		return;
	dmda_log_kick(log, &log->space.work);
	/* What a draft has emptied is not free before another batch is durable behind it. */
	if (commit->draft.kept.nr_pages)
		dmda_log_commit_late_locked(log);
}

/*
 * Return: the next step. Where there is none, a flush may begin a commit of its own as soon as the
 * lock is let go of: from then on the machine's step is another's.
 */
static enum dmda_commit_step did_step(struct dmda_log *log, int error)
{
	enum dmda_commit_step step;

	spin_lock_irq(&log->lock);
	did_step_locked(log, error);
	step = dmda_commit_next(&log->journal.commit);
	spin_unlock_irq(&log->lock);
	return step;
}

static int commit_once(struct dmda_log *log, struct list_head *ios)
{
	const struct dmda_commit *commit = &log->journal.commit;
	enum dmda_commit_step step = begin_commit(log, ios);

	if (unlikely(step == DMDA_COMMIT_FAILED && commit->why))
		dmda_log_fail(log, "changing the map", commit->why);
	while (step != DMDA_COMMIT_DONE && step != DMDA_COMMIT_FAILED)
		step = did_step(log, do_step(log, step));
	return step == DMDA_COMMIT_DONE ? 0 : -EIO;
}

int dmda_log_commit(struct dmda_log *log)
{
	LIST_HEAD(ios);
	int ret;

	mutex_lock(&log->journal.commit_lock);
	ret = commit_once(log, &ios);
	mutex_unlock(&log->journal.commit_lock);
	dmda_log_end_list(&ios, ret ? BLK_STS_IOERR : BLK_STS_OK);
	dmda_log_map_written(log);
	return ret;
}

bool dmda_log_flush_commits_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	if (!dmda_commit_begin_kept(&log->journal.commit))
		return false;
	forget_late_locked(log);
	log->counters.nr_flushes++;
	begun_locked(log, true);
	io->is_commit = true;
	return true;
}

/* What waits for room or space after a commit, or for the next one */
static bool has_waiters_locked(const struct dmda_log *log)
{
	lockdep_assert_held(&log->lock);

	return !list_empty(&log->journal.committing) || !list_empty(&log->ios.unmapped) ||
		!list_empty(&log->ios.untrimmed) || !list_empty(&log->admission.starved);
}

void dmda_log_flush_committed(struct dmda_log *log, struct dmda_log_io *io, blk_status_t status)
{
	int error = blk_status_to_errno(status);
	unsigned long flags;

	io->is_commit = false;
	end_flush(log, error);
	spin_lock_irqsave(&log->lock, flags);
	did_step_locked(log, error);
	if (has_waiters_locked(log))
		dmda_log_kick_commit(log, &log->journal.work);
	wake_up_all(&log->wait);
	spin_unlock_irqrestore(&log->lock, flags);
}

void dmda_log_do_commit(struct work_struct *work)
{
	dmda_log_commit(container_of(work, struct dmda_log, journal.work));
}

/* If somebody else has committed it meanwhile, there is nothing to be written. */
void dmda_log_do_late(struct work_struct *work)
{
	struct dmda_log *log = container_of(to_delayed_work(work), struct dmda_log,
					    journal.late_work);

	spin_lock_irq(&log->lock);
	if (log->space.segments.nr_empty)
		dmda_commit_end_kept(&log->journal.commit);
	spin_unlock_irq(&log->lock);
	dmda_log_commit(log);
}
