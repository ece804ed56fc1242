// SPDX-License-Identifier: GPL-2.0-only
/*
 * Background work of idle dies. The FTL is only ever called, so this is done late: at a command
 * for one die, in turn, and for all of them when the controller asks. It is booked for the time at
 * which the die could have begun, as if it had been done then.
 *
 * Collection comes before folding and mending, because these take blocks, and make pages dead that
 * have to be collected. A die that only worked in the background is still idle afterwards; one
 * that had work of the host has to rest for a while first, so that the gaps between commands stay
 * the host's.
 */
#include "gc.h"
#include "idle.h"
#include "mend.h"
#include "slc.h"

/* What one call of ftl_idle() does at most, so that commands do not wait for it */
#define MOST_STEPS	1024U
#define MOST_PAGES	16384U

/* Return: the time from which the die can do background work, in the past if it can now. */
static u64 idle_from(const struct ftl *ftl, die_t die)
{
	u64 busy_until_ns = ftl->nand.die[from_die(die)].busy_until_ns;

	if (busy_until_ns && busy_until_ns == ftl->gc[from_die(die)].idle_until_ns)
		return busy_until_ns;
	return max(busy_until_ns, ftl->begun_ns) + ftl_scaled(ftl, FTL_IDLE_NS);
}

static bool is_idle(const struct ftl *ftl, die_t die)
{
	return idle_from(ftl, die) <= ftl->now_ns;
}

static void stay_idle(struct ftl *ftl, die_t die)
{
	ftl->gc[from_die(die)].idle_until_ns = ftl->nand.die[from_die(die)].busy_until_ns;
}

/* Return: steps that were taken. */
static u32 collect(struct ftl *ftl, die_t die, u32 most_steps)
{
	u32 nr = 0;

	for (; nr < most_steps && ftl_gc_wants(ftl, die) && is_idle(ftl, die); nr++) {
		ftl_gc_step(ftl, die, idle_from(ftl, die));
		stay_idle(ftl, die);
	}
	return nr;
}

/* Return: the time from which the drive is at rest, if no command comes until then. */
static u64 rest_from(const struct ftl *ftl)
{
	return ftl->command_ns + ftl_scaled(ftl, FTL_REST_NS);
}

/* Return: steps that were taken. */
static u32 fold(struct ftl *ftl, die_t die, u32 most_steps)
{
	u32 nr = 0;

	while (nr < most_steps && ftl_slc_wants(ftl, die) && is_idle(ftl, die)) {
		/* What folding takes is collected before more is folded. */
		nr += collect(ftl, die, most_steps - nr);
		if (nr == most_steps || ftl_gc_wants(ftl, die) || !is_idle(ftl, die))
			break;
		ftl_slc_fold_step(ftl, die, max(idle_from(ftl, die), rest_from(ftl)));
		stay_idle(ftl, die);
		nr++;
	}
	return nr;
}

static u32 fold_all(struct ftl *ftl, u32 most_steps)
{
	u32 nr = 0;

	for (u32 die = 0; ftl->geo.slc_eblks && die < ftl->geo.nr_dies; die++)
		nr += fold(ftl, to_die(die), most_steps - nr);
	return nr;
}

static void mend(struct ftl *ftl, u32 most_steps)
{
	u32 left_pages = MOST_PAGES;

	for (u32 nr = 0; nr < most_steps; nr++) {
		die_t die = ftl_mend_next(ftl, &left_pages);

		if (die == DIE_NONE)
			break;
		/* What mending makes dead is collected before more is mended. */
		nr += collect(ftl, die, most_steps - nr);
		if (ftl_gc_wants(ftl, die) || !is_idle(ftl, die))
			break;
		ftl_mend_step(ftl, die, max(idle_from(ftl, die), rest_from(ftl)));
		stay_idle(ftl, die);
	}
}

void ftl_idle_slice(struct ftl *ftl)
{
	u32 die = ftl->idle_die;

	ftl->idle_die = die + 1 < ftl->geo.nr_dies ? die + 1 : 0;
	collect(ftl, to_die(die), 1);
}

bool ftl_idle(struct ftl *ftl, u64 now_ns)
{
	u32 left = MOST_STEPS;
	bool wants = false;

	ftl_advance(ftl, now_ns);
	for (u32 die = 0; die < ftl->geo.nr_dies; die++) {
		left -= collect(ftl, to_die(die), left);
		wants |= ftl_gc_wants(ftl, to_die(die));
	}
	if (ftl->now_ns >= rest_from(ftl)) {
		left -= fold_all(ftl, left);
		mend(ftl, left);
	}
	for (u32 die = 0; die < ftl->geo.nr_dies; die++)
		wants |= ftl_slc_wants(ftl, to_die(die));
	return wants || ftl_mend_wants(ftl);
}
