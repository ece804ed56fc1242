// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dispatcher, and what wakes it.
 *
 * A doorbell is a word in memory that nobody is told about. But whoever gives requests to a disk's
 * driver comes back to us when the driver has rung (bell.c), and looks at the doorbells. Short
 * commands that it finds while the dispatcher sleeps it does itself (turn.h): a switch to a
 * thread and back costs more than all that they take. For others a timer wakes the dispatcher,
 * soon, when who has rung may have given the driver what else there is.
 *
 * Of other requests it is known only that a doorbell is about to change. They are counted as
 * expected, and a timer is set a little ahead; it looks at the doorbells, as above, until as many
 * commands were fetched as were expected, and gives up two milliseconds after the last. What
 * nobody tells of (register writes, a lost count) is found by a slow look, which has a
 * timer of its own. Nobody spins. The slow look also lets the FTL use idle time, until it
 * has nothing left to do.
 *
 * A driver in user space tells no tracepoint. With poll_us the first timer looks at the doorbells
 * all the time, between the slow looks.
 */
#include <linux/kthread.h>
#include <linux/sched.h>

#include "admin.h"
#include "compat.h"
#include "ctrl.h"
#include "dispatch.h"
#include "health.h"
#include "io.h"
#include "nvmev.h"
#include "outage.h"
#include "trace.h"
#include "translate.h"
#include "turn.h"

/*
 * How soon after a request to look, and how long. One that is alone is rung for at once, and who
 * issued it is seldom asleep by then, which would cost more. A driver that is given many requests
 * at once announces all of them before it rings, for as long as it takes to prepare
 * them; each look in between makes it take longer. So the interval grows with the time
 * that was waited already since something was fetched last, by half of it: that is how late the
 * look can be, too.
 */
#define FIRST_NS		1500ULL
#define SOON_NS			2000ULL
#define SOON_MAX_NS		64000ULL
#define GIVE_UP_NS		(2 * NSEC_PER_MSEC)

/* The slow look, while the driver may be about to write registers and when it is idle */
#define ACTIVE_LOOK_NS		(10 * NSEC_PER_MSEC)
#define IDLE_LOOK_NS		(50 * NSEC_PER_MSEC)
#define ACTIVE_FOR_NS		NSEC_PER_SEC

static void arm_locked(struct nvmev_watch *watch, struct hrtimer *timer, u64 at_ns)
{
	lockdep_assert_held(&watch->lock);

	if (!watch->stopped)
		hrtimer_start(timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS);
}

/* If it is set to an earlier time, it will see that and set itself anew. */
static void arm_slow_locked(struct nvmev_watch *watch)
{
	lockdep_assert_held(&watch->lock);

	if (watch->slow_ns >= watch->slow_set_ns)
		return;
	watch->slow_set_ns = watch->slow_ns;
	arm_locked(watch, &watch->slow_timer, watch->slow_ns);
}

static void forget_expected_locked(struct nvmev_watch *watch)
{
	lockdep_assert_held(&watch->lock);

	watch->expected = 0;
	watch->admin_until_ns = 0;
}

/* From one slow look to the next */
static u64 slow_interval_ns(struct nvmev_watch *watch, u64 now_ns)
{
	if (nvmev_ctrl_is_ready(nvmev_of_watch(watch)) && now_ns >= watch->active_until_ns)
		return IDLE_LOOK_NS;
	return ACTIVE_LOOK_NS;
}

/* When to look at the doorbells next, while nothing is expected */
static u64 poll_ns(struct nvmev *nvmev, u64 now_ns)
{
	u32 poll_us = READ_ONCE(nvmev->config.poll_us);

	/* Else there is nobody to serve. */
	if (!poll_us || !nvmev_ctrl_is_ready(nvmev) || READ_ONCE(nvmev->power_failed))
		return U64_MAX;
	return now_ns + poll_us * NSEC_PER_USEC;
}

/* From one look to the next for something that has been expected for so long */
static u64 soon_interval_ns(u64 waited_ns)
{
	return waited_ns ? clamp(waited_ns / 2, SOON_NS, SOON_MAX_NS) : FIRST_NS;
}

/*
 * Is anything expected yet? Admin requests have an end of their own: most are those of other SSDs,
 * and what this one serves is no reason to wait for them any longer.
 */
static bool expects_locked(const struct nvmev_watch *watch, u64 now_ns)
{
	lockdep_assert_held(&watch->lock);

	return now_ns < watch->admin_until_ns ||
	       (watch->expected > 0 &&
		now_ns < max(watch->since_ns, watch->announced_ns) + GIVE_UP_NS);
}

/* Set the timers for the next look: soon if something is expected, else slow. */
static void arm_next_locked(struct nvmev_watch *watch, u64 now_ns)
{
	u64 waited_ns = now_ns - watch->since_ns;
	u64 at_ns;

	lockdep_assert_held(&watch->lock);

	if (expects_locked(watch, now_ns)) {
		watch->soon = true;
		arm_locked(watch, &watch->timer, now_ns + soon_interval_ns(waited_ns));
		return;
	}
	/* A request that never rang, or one that was not announced: start afresh. */
	forget_expected_locked(watch);
	if (watch->soon || now_ns >= watch->slow_ns)
		watch->slow_ns = now_ns + slow_interval_ns(watch, now_ns);
	watch->soon = false;
	arm_slow_locked(watch);
	at_ns = poll_ns(nvmev_of_watch(watch), now_ns);
	if (at_ns != U64_MAX)
		arm_locked(watch, &watch->timer, at_ns);
}

/* Is this a slow look, and the FTL has use for it? */
static bool has_idle_work_locked(const struct nvmev_watch *watch, u64 now_ns)
{
	lockdep_assert_held(&watch->lock);

	return !watch->soon && READ_ONCE(watch->idle_work) && now_ns >= watch->slow_ns;
}

/* Is there anything that the dispatcher would do? Not once it has seen the power fail. */
static bool has_work_locked(const struct nvmev_watch *watch, u64 now_ns)
{
	const struct nvmev *nvmev = container_of(watch, struct nvmev, watch);

	lockdep_assert_held(&watch->lock);

	if (READ_ONCE(nvmev->power_failed))
		return false;
	return nvmev_outage_is_failing(nvmev) || nvmev_ctrl_mmio_work(nvmev) ||
	       has_idle_work_locked(watch, now_ns);
}

/* May the dispatcher sleep? If so the timer is set. */
static bool rest(struct nvmev *nvmev)
{
	struct nvmev_watch *watch = &nvmev->watch;
	unsigned long flags;
	bool idle;

	spin_lock_irqsave(&watch->lock, flags);
	/* Else it would be woken for it again and again, and do nothing. */
	if (nvmev->power_failed)
		forget_expected_locked(watch);
	idle = nvmev->power_failed || !nvmev_ctrl_mmio_work(nvmev);
	if (idle) {
		WRITE_ONCE(watch->awake, false);
		watch->since_ns = ktime_get_ns();
		watch->slow_ns = watch->since_ns;
		arm_next_locked(watch, watch->since_ns);
	}
	spin_unlock_irqrestore(&watch->lock, flags);
	return idle;
}

static void note_fetched_locked(struct nvmev_watch *watch, u32 nr_io, u64 now_ns)
{
	lockdep_assert_held(&watch->lock);

	/* Some that nobody announced, or too early, are none of those that others announce. */
	watch->expected = max_t(s64, watch->expected - nr_io, 0);
	watch->active_until_ns = now_ns + ACTIVE_FOR_NS;
}

static void note_fetched(struct nvmev *nvmev, u32 nr_io, bool admin)
{
	struct nvmev_watch *watch = &nvmev->watch;
	unsigned long flags;

	spin_lock_irqsave(&watch->lock, flags);
	note_fetched_locked(watch, nr_io, ktime_get_ns());
	if (admin)
		watch->admin_until_ns = 0;
	spin_unlock_irqrestore(&watch->lock, flags);
}

static void tell_bad_doorbell(struct nvmev *nvmev, u32 id)
{
	WRITE_ONCE(nvmev->queues.sq[id].is_bad, true);
	nvmev_event_raise(nvmev, NVMEV_EVENT_BAD_DOORBELL);
}

static void find_bad_cqs(struct nvmev *nvmev)
{
	u32 id;

	for (id = 0; id < nvmev->queues.nr_ids; id++) {
		if (!nvmev_cq_is_bad(nvmev, id))
			continue;
		WRITE_ONCE(nvmev->queues.cq[id].is_bad, true);
		nvmev_event_raise(nvmev, NVMEV_EVENT_BAD_DOORBELL);
	}
}

/* What the host is told without having asked: also while it keeps the SSD busy all the time */
static void look_around(struct nvmev *nvmev)
{
	find_bad_cqs(nvmev);
	nvmev_health_look(nvmev);
}

static bool run_admin(struct nvmev *nvmev)
{
	struct nvme_command sqe;
	enum nvmev_sq_state state;
	bool did = false;

	while (nvmev_ctrl_is_ready(nvmev)) {
		state = nvmev_sq_look(nvmev, 0);
		if (state == NVMEV_SQ_EMPTY)
			break;
		did = true;
		if (state == NVMEV_SQ_BAD) {
			tell_bad_doorbell(nvmev, 0);
			break;
		}
		if (!nvmev_sq_peek(nvmev, 0, &sqe))
			break;
		nvmev_sq_pop(nvmev, 0);
		note_fetched(nvmev, 0, true);
		nvmev_admin_execute(nvmev, &sqe);
	}
	return did;
}

/**
 * struct fetching - a batch that is being fetched and started
 * @now_ns: time of that
 * @in_passing: whether the dispatcher sleeps: then only what is quick, and little of it
 * @is_closed: whether no other command may join it
 * @leaves: whether there may be others that did not
 * @nr: number of commands so far
 * @left_pages: pages that they may have yet, of what is done in passing
 */
struct fetching {
	u64 now_ns;
	bool in_passing;
	bool is_closed;
	bool leaves;
	u32 nr;
	u32 left_pages;
};

static bool may_join(struct nvmev *nvmev, struct fetching *batch, const struct nvme_command *sqe)
{
	u32 nr_pages;

	if (!batch->in_passing)
		return !(batch->nr && nvmev_io_is_alone(sqe)) && !nvmev_io_must_wait(nvmev, sqe);
	nr_pages = nvmev_io_quick_pages(nvmev, sqe);
	if (!nr_pages || nr_pages > batch->left_pages)
		return false;
	batch->left_pages -= nr_pages;
	return true;
}

/*
 * All of a batch get their times before any data is moved: what a command costs this CPU must
 * not delay the start of those that were rung together with it.
 */
static bool fetch_one(struct nvmev *nvmev, u32 id, struct fetching *batch)
{
	struct nvmev_sq *sq = &nvmev->queues.sq[id];
	enum nvmev_sq_state state = nvmev_sq_look(nvmev, id);
	struct nvme_command sqe;
	struct nvmev_cmd *cmd;

	if (state == NVMEV_SQ_EMPTY)
		return false;
	if (state == NVMEV_SQ_BAD && !batch->in_passing)
		tell_bad_doorbell(nvmev, id);
	cmd = NULL;
	if (state == NVMEV_SQ_READY && nvmev_sq_peek(nvmev, id, &sqe) &&
	    may_join(nvmev, batch, &sqe))
		cmd = nvmev_cmd_get(nvmev);
	if (!cmd) {
		batch->leaves = true;
		return false;
	}
	cmd->sqid = id;
	cmd->sq_pos = sq->head;
	cmd->sqe = sqe;
	nvmev_sq_pop(nvmev, id);
	cmd->fetched_ns = batch->now_ns;
	nvmev->batch[batch->nr++] = cmd;
	batch->is_closed = batch->nr == NVMEV_BATCH || nvmev_io_is_alone(&cmd->sqe);
	trace_nvmev_cmd(nvmev, cmd);
	nvmev_io_start(nvmev, cmd);
	return true;
}

/* The I/O submission queue that exists next after @id, going round; @id if there is no other. */
static u32 next_queue(const struct nvmev *nvmev, u32 id)
{
	u32 nr_ids = nvmev->queues.nr_ids;
	u32 i, next = id;

	for (i = 1; i < nr_ids; i++) {
		next = next + 1 < nr_ids ? next + 1 : 1;
		if (nvmev->queues.sq[next].ring)
			return next;
	}
	return id;
}

/* Each queue has its turn, of one burst at most. */
static void fetch_round(struct nvmev *nvmev, struct fetching *batch)
{
	u32 limit = NVMEV_ARBITRATION_BURST(nvmev->features.arbitration);
	u32 burst = limit == NVMEV_ARBITRATION_NO_LIMIT ? NVMEV_BATCH : 1 << limit;
	u32 id = nvmev->first_queue;
	u32 most;

	do {
		most = min_t(u32, batch->nr + burst, NVMEV_BATCH);
		while (batch->nr < most && !batch->is_closed && fetch_one(nvmev, id, batch))
			;
		id = next_queue(nvmev, id);
	} while (id != nvmev->first_queue && !batch->is_closed);
}

/*
 * Rounds, until nothing is left or the batch is full. Each batch begins with another of the
 * queues that exist, so that none is always first.
 */
static void fetch_batch(struct nvmev *nvmev, struct fetching *batch)
{
	u32 before;

	/* It may have been deleted since. */
	if (!nvmev->queues.sq[nvmev->first_queue].ring)
		nvmev->first_queue = next_queue(nvmev, nvmev->first_queue);
	do {
		before = batch->nr;
		fetch_round(nvmev, batch);
	} while (batch->nr != before && !batch->is_closed);
	if (batch->nr)
		nvmev->first_queue = next_queue(nvmev, nvmev->first_queue);
}

/* The data of a command of a batch, if it came as far as that */
static void move(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	if (!cmd->status)
		nvmev_io_move(nvmev, cmd);
	nvmev_moved(nvmev, cmd);
	if (cmd->status)
		cmd->status = nvmev_log_error(nvmev, cmd->sqid, &cmd->sqe, cmd->status,
					      cmd->fault_lba);
}

static bool run_io(struct nvmev *nvmev)
{
	struct fetching batch = { .now_ns = nvmev_now(nvmev) };
	struct nvmev_cmd *cmd;
	u32 i;

	if (!nvmev_ctrl_is_ready(nvmev))
		return false;
	fetch_batch(nvmev, &batch);
	if (!batch.nr)
		return false;
	note_fetched(nvmev, batch.nr, false);
	nvmev_outage_note(nvmev);
	for (i = 0; i < batch.nr; i++) {
		cmd = nvmev->batch[i];
		if (cmd->status == NVMEV_STATUS_LATER) {
			cmd->status = 0;
			continue;
		}
		move(nvmev, cmd);
		nvmev_cmd_complete(nvmev, cmd, i + 1 < batch.nr);
	}
	return true;
}

static void run(struct nvmev *nvmev)
{
	bool did, worked = false;

	nvmev->counters.wakeups++;
	if (nvmev_outage_is_failing(nvmev))
		nvmev_outage_fail(nvmev);
	if (nvmev->power_failed)
		return;
	find_bad_cqs(nvmev);
	do {
		/* One round is all that most commands take. */
		if (worked)
			look_around(nvmev);
		did = nvmev_ctrl_poll(nvmev);
		did |= run_admin(nvmev);
		did |= run_io(nvmev);
		did |= nvmev_trim_step(nvmev);
		did |= nvmev_io_step(nvmev);
		worked |= did;
		cond_resched();
	} while (did && !nvmev_outage_is_failing(nvmev) && !kthread_should_stop());
	nvmev_health_look(nvmev);
	if (worked)
		WRITE_ONCE(nvmev->watch.idle_work, true);
	else if (nvmev->watch.idle_work)
		WRITE_ONCE(nvmev->watch.idle_work, nvmev_ns_idle(nvmev));
	nvmev_outage_note(nvmev);
}

static int dispatch(void *data)
{
	struct nvmev *nvmev = data;

	nvmev_turn_begin(nvmev);
	while (!kthread_should_stop()) {
		run(nvmev);
		if (!rest(nvmev))
			continue;
		nvmev_turn_end(nvmev);
		set_current_state(TASK_IDLE);
		if (!READ_ONCE(nvmev->watch.awake) && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		nvmev_turn_begin(nvmev);
	}
	nvmev_turn_end(nvmev);
	return 0;
}

/**
 * struct served - what was done in passing
 * @at_ns: time of that
 * @nr: number of commands
 * @leaves: whether there may be something for the dispatcher to do
 */
struct served {
	u64 at_ns;
	u32 nr;
	bool leaves;
};

/* Of admin commands whoever rings for I/O may be the only one to learn, if theirs came late. */
static bool is_left(const struct nvmev *nvmev)
{
	return nvmev_sq_look(nvmev, 0) != NVMEV_SQ_EMPTY || !nvmev_has_free_slot(&nvmev->queues);
}

/*
 * What cannot be done here is left for the dispatcher, and so is all that is no command:
 * has_work_locked() finds it.
 */
static void serve_locked(struct nvmev *nvmev, struct served *served)
{
	struct fetching batch = {
		.now_ns = nvmev_now(nvmev),
		.in_passing = true,
		.left_pages = NVMEV_QUICK_PAGES,
	};
	u32 i;

	lockdep_assert_held(&nvmev->turn_lock);

	served->leaves = true;
	served->at_ns = batch.now_ns;
	if (READ_ONCE(nvmev->watch.stopped) || READ_ONCE(nvmev->power_failed) ||
	    nvmev_outage_is_failing(nvmev) || nvmev_ctrl_has_news(nvmev) ||
	    !nvmev_ctrl_is_ready(nvmev))
		return;
	fetch_batch(nvmev, &batch);
	served->leaves = batch.leaves || batch.is_closed || is_left(nvmev);
	if (!batch.nr)
		return;
	for (i = 0; i < batch.nr; i++)
		move(nvmev, nvmev->batch[i]);
	nvmev_cmds_complete(nvmev, nvmev->batch, batch.nr);
	WRITE_ONCE(nvmev->watch.idle_work, true);
	served->nr = batch.nr;
	if (ftl_nr_failures(nvmev->ftl) != nvmev->failures_seen) {
		WRITE_ONCE(nvmev->inject.check_health, true);
		served->leaves = true;
	}
}

/* The timer in its turn. */
static u32 serve(struct nvmev *nvmev)
{
	struct served served = {};
	unsigned long flags;

	spin_lock_irqsave(&nvmev->turn_lock, flags);
	if (!nvmev->nr_turns)
		serve_locked(nvmev, &served);
	spin_unlock_irqrestore(&nvmev->turn_lock, flags);
	return served.nr;
}

/* Look at doorbells and registers, and serve or wake. */
static void look_locked(struct nvmev_watch *watch, u32 nr_served, u64 now_ns)
{
	lockdep_assert_held(&watch->lock);

	if (nr_served) {
		note_fetched_locked(watch, nr_served, now_ns);
		/* What else is expected rings soon, however long others have been rung for. */
		watch->since_ns = now_ns;
	}
	WRITE_ONCE(watch->leaves, false);
	watch->looked_ns = now_ns;
	if (watch->awake || has_work_locked(watch, now_ns)) {
		/* The dispatcher arms the timers again before it sleeps. */
		watch->soon = false;
		nvmev_wake_locked(watch);
	} else {
		arm_next_locked(watch, now_ns);
	}
}

/*
 * What was rung for is all done. The slow look is put off, as the drive is not idle; but what it is
 * for besides is looked for now, if nobody has for as long as the slow look waits when it is.
 */
static void note_all_served_locked(struct nvmev_watch *watch, u32 nr_served, u64 now_ns)
{
	lockdep_assert_held(&watch->lock);

	note_fetched_locked(watch, nr_served, now_ns);
	watch->slow_ns = now_ns + ACTIVE_LOOK_NS;
	if (now_ns >= watch->looked_ns + IDLE_LOOK_NS)
		look_locked(watch, 0, now_ns);
	else
		arm_slow_locked(watch);
}

/*
 * One look, by the timer. Whoever has rung goes on until then: once somebody else is to have its
 * CPU the block layer gives no other request to the driver, but leaves that to a thread of its own,
 * which finds nothing more often than not, and costs a switch.
 */
static void look_again_locked(struct nvmev_watch *watch, u64 now_ns)
{
	lockdep_assert_held(&watch->lock);

	if (watch->awake ||
	    (watch->soon && ktime_to_ns(hrtimer_get_expires(&watch->timer)) <= now_ns + FIRST_NS))
		return;
	watch->soon = true;
	watch->since_ns = now_ns;
	arm_locked(watch, &watch->timer, now_ns + FIRST_NS);
}

static void look_again(struct nvmev_watch *watch)
{
	unsigned long flags;

	spin_lock_irqsave(&watch->lock, flags);
	look_again_locked(watch, ktime_get_ns());
	spin_unlock_irqrestore(&watch->lock, flags);
}

void nvmev_dispatch_rung(struct nvmev *nvmev)
{
	struct nvmev_watch *watch = &nvmev->watch;
	struct served served = { .leaves = true };
	unsigned long flags;
	u64 now_ns;

	if (!spin_trylock_irqsave(&nvmev->turn_lock, flags)) {
		/* Who is at it may have passed what was rung for last. */
		look_again(watch);
		return;
	}
	if (!nvmev->nr_turns)
		serve_locked(nvmev, &served);
	nvmev->counters.served_as_rung += served.nr;
	spin_unlock_irqrestore(&nvmev->turn_lock, flags);

	spin_lock_irqsave(&watch->lock, flags);
	if (served.leaves) {
		now_ns = ktime_get_ns();
		note_fetched_locked(watch, served.nr, now_ns);
		WRITE_ONCE(watch->leaves, !watch->awake);
		look_again_locked(watch, now_ns);
	} else if (watch->soon || watch->awake) {
		look_locked(watch, served.nr, ktime_get_ns());
	} else {
		note_all_served_locked(watch, served.nr, served.at_ns);
	}
	spin_unlock_irqrestore(&watch->lock, flags);
}

static enum hrtimer_restart look(struct hrtimer *timer)
{
	struct nvmev_watch *watch = container_of(timer, struct nvmev_watch, timer);
	u32 nr_served = READ_ONCE(watch->leaves) ? 0 : serve(nvmev_of_watch(watch));
	unsigned long flags;

	spin_lock_irqsave(&watch->lock, flags);
	nvmev_of_watch(watch)->counters.looks++;
	/* The time as it is now, so that looks as such never take all of it. */
	look_locked(watch, nr_served, ktime_get_ns());
	spin_unlock_irqrestore(&watch->lock, flags);
	return HRTIMER_NORESTART;
}

/* Is it time for a slow look? Else the timer is set anew, if nobody else does that. */
static bool is_slow_look(struct nvmev_watch *watch)
{
	unsigned long flags;
	bool is_time;

	spin_lock_irqsave(&watch->lock, flags);
	watch->slow_set_ns = U64_MAX;
	is_time = !watch->soon && ktime_get_ns() >= watch->slow_ns;
	if (!is_time && !watch->soon && !watch->awake)
		arm_slow_locked(watch);
	spin_unlock_irqrestore(&watch->lock, flags);
	return is_time;
}

static enum hrtimer_restart look_slowly(struct hrtimer *timer)
{
	struct nvmev_watch *watch = container_of(timer, struct nvmev_watch, slow_timer);
	unsigned long flags;
	u32 nr_served;

	if (!is_slow_look(watch))
		return HRTIMER_NORESTART;
	nr_served = serve(nvmev_of_watch(watch));
	spin_lock_irqsave(&watch->lock, flags);
	look_locked(watch, nr_served, ktime_get_ns());
	spin_unlock_irqrestore(&watch->lock, flags);
	return HRTIMER_NORESTART;
}

void nvmev_dispatch_expect(struct nvmev *nvmev, bool admin)
{
	struct nvmev_watch *watch = &nvmev->watch;
	unsigned long flags;
	u64 now_ns;

	spin_lock_irqsave(&watch->lock, flags);
	now_ns = ktime_get_ns();
	if (admin) {
		watch->admin_until_ns = now_ns + GIVE_UP_NS;
	} else {
		nvmev->counters.announced++;
		watch->expected++;
		watch->announced_ns = now_ns;
	}
	if (!watch->awake && !watch->soon) {
		watch->since_ns = now_ns;
		arm_next_locked(watch, now_ns);
	}
	spin_unlock_irqrestore(&watch->lock, flags);
}

int nvmev_dispatch_init(struct nvmev *nvmev)
{
	struct nvmev_watch *watch = &nvmev->watch;

	spin_lock_init(&watch->lock);
	nvmev_timer_setup(&watch->timer, look);
	nvmev_timer_setup(&watch->slow_timer, look_slowly);
	watch->slow_set_ns = U64_MAX;
	watch->awake = true;
	watch->thread = kthread_create(dispatch, nvmev, "nvmev-%s", nvmev->name);
	if (IS_ERR(watch->thread))
		return PTR_ERR(watch->thread);
	sched_set_fifo(watch->thread);
	return 0;
}

void nvmev_dispatch_start(struct nvmev *nvmev)
{
	wake_up_process(nvmev->watch.thread);
}

void nvmev_dispatch_stop(struct nvmev *nvmev)
{
	struct nvmev_watch *watch = &nvmev->watch;

	spin_lock_irq(&watch->lock);
	watch->stopped = true;
	spin_unlock_irq(&watch->lock);
	/* Whoever serves in passing has not seen that yet. */
	nvmev_turn_begin(nvmev);
	nvmev_turn_end(nvmev);
	kthread_stop(watch->thread);
	hrtimer_cancel(&watch->timer);
	hrtimer_cancel(&watch->slow_timer);
	nvmev_queues_reset(nvmev);
	hrtimer_cancel(&nvmev->queues.done_timer);
}
