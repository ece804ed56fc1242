// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether hints are sent: what the table line or a message wants, and what the device has
 * answered. The same in both modes.
 *
 * The device is asked when the table is loaded (in hint mode not with hints=off), when a message
 * switches hints, and after each resume, since it may be another one then; after the first one only
 * if it shows that it is. A resume does not wait for the answer, for nothing can be written before
 * it is over: a worker asks. Until the answer is there, hints=auto sends no hint, but what goes by
 * is remembered; hints=on sends the two that need no announcement. An answer counts only if there
 * was no reason to ask again meanwhile: questions have numbers.
 */
#include <linux/kthread.h>
#include <linux/sched/mm.h>

#include "dieaware.h"
#include "discover.h"
#include "underlying.h"

static const char * const state_names[] = {
	[DMDA_STATE_ON] = "on",
	[DMDA_STATE_STREAMS] = "on",
	[DMDA_STATE_LIFETIMES] = "on",
	[DMDA_STATE_OFF] = "off:requested",
	[DMDA_STATE_REJECTED] = "off:rejected",
	[DMDA_STATE_NOT_NVME] = "off:not_nvme",
	[DMDA_STATE_NOT_ANNOUNCED] = "off:not_announced",
	[DMDA_STATE_NO_ANSWER] = "off:no_answer",
	[DMDA_STATE_UNFIT] = "off:unfit",
	[DMDA_STATE_NO_STREAMS] = "off:no_streams",
	[DMDA_STATE_STREAMS_GONE] = "off:streams_gone",
	[DMDA_STATE_ASKING] = "off:asking",
};

const char *dmda_state_name(enum dmda_state state)
{
	return state_names[state];
}

/* What the configuration and the device's answer come to */
static enum dmda_state wanted_state(const struct dmda *dmda)
{
	enum dmda_state state = dmda->asking.discovery.state;

	if (dmda->config.hints == DMDA_HINTS_OFF)
		return DMDA_STATE_OFF;
	if (dmda->asking.is_unfit)
		return DMDA_STATE_UNFIT;
	if (dmda->config.hints == DMDA_HINTS_ON)
		state = DMDA_STATE_ON;
	/* The bits that carry hints mean something else there. */
	return state == DMDA_STATE_ON && dmda->asking.discovery.has_metadata ? DMDA_STATE_UNFIT :
									       state;
}

/*
 * Decide again. While writes go by unseen, what the run table knew gets out of date, and so does
 * what it is told meanwhile.
 */
static void decide_locked(struct dmda *dmda)
{
	bool watched = dmda_watches(dmda);

	lockdep_assert_held(&dmda->admin_lock);

	dmda_retry_trust(dmda);
	WRITE_ONCE(dmda->state, wanted_state(dmda));
	if (!watched || !dmda_watches(dmda))
		dmda_hint_forget_all(dmda);
}

/*
 * There is reason to ask the device. Until it has answered, it knows no more than the
 * paper's hints, and those it gets only if the configuration says so. Returns the number
 * of the question.
 */
static u32 question_locked(struct dmda *dmda)
{
	lockdep_assert_held(&dmda->admin_lock);

	/* Its commands may mean something else to the device that is there now. */
	WRITE_ONCE(dmda->asking.discovery.knows_share, false);
	dmda_share_forget(dmda);
	if (dmda->config.hints != DMDA_HINTS_OFF) {
		dmda->asking.discovery.state = DMDA_STATE_ASKING;
		WRITE_ONCE(dmda->asking.discovery.knows_begin, false);
	}
	decide_locked(dmda);
	return ++dmda->asking.nr_questions;
}

/* Why there are none is said to who has asked for hints by FDP, or has a device with metadata. */
static void complain(struct dmda *dmda, const struct dmda_discovery *found)
{
	if (found->why)
		DMWARN("%s: There are no hints. %s", dm_table_device_name(dmda->ti->table),
		       found->why);
}

/*
 * What it said, if nothing has happened since it was asked. Who asks for the status holds no
 * lock, and sees the old geometry until then.
 */
static void answer_locked(struct dmda *dmda, u32 question, const struct dmda_discovery *found)
{
	bool is_other = found->has_metadata != dmda->asking.discovery.has_metadata;

	lockdep_assert_held(&dmda->admin_lock);

	if (question != dmda->asking.nr_questions)
		return;
	/* With other dies it is another device. */
	if ((found->state == DMDA_STATE_ON || found->state == DMDA_STATE_STREAMS) &&
	    (found->die_unit_bytes != dmda->asking.discovery.die_unit_bytes ||
	     found->stripe_bytes != dmda->asking.discovery.stripe_bytes))
		dmda_hint_forget_all(dmda);
	dmda->asking.discovery.state = found->state;
	dmda->asking.discovery.has_metadata = found->has_metadata;
	WRITE_ONCE(dmda->asking.discovery.knows_begin, found->knows_begin);
	WRITE_ONCE(dmda->asking.discovery.knows_share, found->knows_share);
	WRITE_ONCE(dmda->asking.discovery.die_unit_bytes, found->die_unit_bytes);
	WRITE_ONCE(dmda->asking.discovery.stripe_bytes, found->stripe_bytes);
	WRITE_ONCE(dmda->asking.discovery.open_pages, found->open_pages);
	dmda_fdp_set(dmda, found);
	complain(dmda, found);
	if (READ_ONCE(dmda->state) == DMDA_STATE_ASKING || is_other)
		decide_locked(dmda);
}

/* A resume that waits for admin_lock must not wait for the device: it is not held meanwhile. */
static void ask(struct dmda *dmda, u32 question)
{
	struct dmda_discovery found;

	/* If a message changes what is wanted meanwhile, this is no longer the last question. */
	dmda_discover(dmda, READ_ONCE(dmda->config.hints), &found);
	mutex_lock(&dmda->admin_lock);
	answer_locked(dmda, question, &found);
	mutex_unlock(&dmda->admin_lock);
}

/*
 * Memory that this takes may have to wait for writes, and the device may take its time: all
 * of which a resume must not wait for, since nothing can be written before it is over.
 */
static void ask_after_resume(struct work_struct *work)
{
	struct dmda *dmda = container_of(work, struct dmda, asking.work);
	struct mm_struct *lent;
	u32 question;

	mutex_lock(&dmda->admin_lock);
	lent = dmda->asking.lent;
	dmda->asking.lent = NULL;
	question = dmda->asking.nr_questions;
	mutex_unlock(&dmda->admin_lock);
	if (!lent)
		return;
	kthread_use_mm(lent);
	ask(dmda, question);
	kthread_unuse_mm(lent);
	mmput(lent);
}

/*
 * Is the device still one for which a table would be loaded? Whatever it is, reads and writes
 * go on as if the target were not there. Returns whether it has changed.
 */
static bool check_again_locked(struct dmda *dmda)
{
	const char *complaint = dmda_underlying_complaint(dmda);
	bool has_moved;

	lockdep_assert_held(&dmda->admin_lock);

	if (complaint)
		DMWARN("%s: There are no hints from now on. %s",
		       dm_table_device_name(dmda->ti->table), complaint);
	dmda->asking.is_unfit = complaint;
	has_moved = dmda_underlying_locate(dmda);
	/* What lay on the device is gone. */
	if (has_moved)
		dmda_hint_forget_all(dmda);
	return has_moved || complaint;
}

static void ask_again_locked(struct dmda *dmda)
{
	lockdep_assert_held(&dmda->admin_lock);

	question_locked(dmda);
	if (dmda->config.hints == DMDA_HINTS_OFF)
		return;
	if (!dmda->asking.lent)
		dmda->asking.lent = get_task_mm(current);
	if (dmda->asking.lent) {
		queue_work(system_long_wq, &dmda->asking.work);
		return;
	}
	dmda->asking.discovery.state = DMDA_STATE_NO_ANSWER;
	decide_locked(dmda);
}

void dmda_hints_init(struct dmda *dmda)
{
	INIT_WORK(&dmda->asking.work, ask_after_resume);
}

void dmda_hints_start(struct dmda *dmda)
{
	struct dmda_discovery *found = &dmda->asking.discovery;

	/* The first message that wants hints asks; until then there may be metadata. */
	if (dmda->config.mode == DMDA_MODE_HINT && dmda->config.hints == DMDA_HINTS_OFF) {
		found->state = DMDA_STATE_NO_ANSWER;
		found->has_metadata = true;
		dmda->state = DMDA_STATE_OFF;
		return;
	}
	dmda_discover(dmda, dmda->config.hints, found);
	dmda_fdp_set(dmda, found);
	complain(dmda, found);
	dmda->state = wanted_state(dmda);
}

/*
 * While it was suspended, the device may have become another one, or since the table was loaded.
 * The first resume mostly comes right after construction, which has asked.
 */
void dmda_hints_resume(struct dmda *dmda)
{
	bool has_changed;

	mutex_lock(&dmda->admin_lock);
	has_changed = check_again_locked(dmda);
	if (has_changed || dmda->asking.resumed)
		ask_again_locked(dmda);
	dmda->asking.resumed = true;
	mutex_unlock(&dmda->admin_lock);
}

void dmda_hints_stop(struct dmda *dmda)
{
	cancel_work_sync(&dmda->asking.work);
	if (dmda->asking.lent)
		mmput(dmda->asking.lent);
}

void dmda_hints_set(struct dmda *dmda, enum dmda_hints_mode hints)
{
	u32 question;

	mutex_lock(&dmda->admin_lock);
	WRITE_ONCE(dmda->config.hints, hints);
	question = question_locked(dmda);
	mutex_unlock(&dmda->admin_lock);
	if (hints != DMDA_HINTS_OFF)
		ask(dmda, question);
}
