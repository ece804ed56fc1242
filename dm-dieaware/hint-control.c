// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hints as seen from outside, in both modes: their part of the status line, and the
 * messages that switch them, reset their counters, fill or clear the run table, and announce
 * what is going to be rewritten.
 */
#include <linux/sched/signal.h>

#include "core/message.h"
#include "dieaware.h"
#include "hint-control.h"

/* Of a run that is added: 128 entries of the run table, some tens of microseconds */
#define MOST_PAGES_AT_ONCE	0x100000U

size_t dmda_hints_status(struct dmda *dmda, char *result, unsigned int maxlen)
{
	struct dmda_runtable_stats runs;
	size_t sz = 0;

	DMEMIT(" transport=%s hints=%s", dmda_transport_name(dmda),
	       dmda_state_name(READ_ONCE(dmda->state)));
	sz += dmda_stats_print(&dmda->stats, result + sz, maxlen - sz);
	dmda_runtable_stats(dmda->table, &runs);
	DMEMIT(" runs_extents=%llu runs_bytes=%llu runs_limit_bytes=%llu runs_evicted=%llu",
	       runs.nr_extents, runs.bytes, runs.limit_bytes, runs.nr_evicted);
	DMEMIT(" streams=%u", dmda_fdp_nr_streams(&dmda->fdp));
	DMEMIT(" die_unit_bytes=%u stripe_bytes=%llu",
	       READ_ONCE(dmda->asking.discovery.die_unit_bytes),
	       READ_ONCE(dmda->asking.discovery.stripe_bytes));
	DMEMIT(" share=%s", dmda_share_is_on(dmda) ? "on" : "off");
	return sz;
}

static int check_runs(struct dmda *dmda, const struct dmda_message *message)
{
	u64 nr_pages = dmda->ti->len >> DMDA_PAGE_SECTOR_SHIFT;
	u32 i;

	for (i = 0; i < message->nr_runs; i++) {
		struct dmda_run run = dmda_message_run(message, i);

		if (from_dpn(run.dpn) + run.nr_pages > nr_pages) {
			DMERR("%s: A run ends behind the last page of the target.",
			      dm_table_device_name(dmda->ti->table));
			return -EINVAL;
		}
	}
	return 0;
}

/* As one, it would keep the CPU for as long as it takes. Who is killed waits for a piece. */
static int add_run(struct dmda *dmda, const struct dmda_run *run)
{
	struct dmda_run piece = *run;
	u32 left = run->nr_pages;

	while (left) {
		if (fatal_signal_pending(current))
			return -EINTR;
		piece.nr_pages = min(left, MOST_PAGES_AT_ONCE);
		dmda_runtable_set(dmda->table, &piece);
		left -= piece.nr_pages;
		piece.fpage += piece.nr_pages;
		piece.dpn = to_dpn(from_dpn(piece.dpn) + piece.nr_pages);
		cond_resched();
	}
	return 0;
}

static int add_runs(struct dmda *dmda, const struct dmda_message *message)
{
	int ret = check_runs(dmda, message);
	u32 i;

	for (i = 0; i < message->nr_runs && !ret; i++) {
		struct dmda_run run = dmda_message_run(message, i);

		ret = add_run(dmda, &run);
	}
	return ret;
}

static int print_runs(struct dmda *dmda, char *result, unsigned int maxlen)
{
	struct dmda_runtable_stats runs;
	size_t sz = 0;

	dmda_runtable_stats(dmda->table, &runs);
	DMEMIT("extents=%llu bytes=%llu limit_bytes=%llu evicted=%llu", runs.nr_extents,
	       runs.bytes, runs.limit_bytes, runs.nr_evicted);
	return 1;
}

static int obey_locked(struct dmda *dmda, const struct dmda_message *message,
		       char *result, unsigned int maxlen)
{
	lockdep_assert_held(&dmda->admin_lock);

	switch (message->verb) {
	case DMDA_VERB_RESET_COUNTERS:
		dmda_stats_reset(&dmda->stats);
		return 0;
	case DMDA_VERB_RUNS_CLEAR:
		dmda_runtable_clear(dmda->table);
		return 0;
	case DMDA_VERB_SHARE_CLEAR:
		dmda_share_clear(dmda, message->file);
		return 0;
	case DMDA_VERB_RUNS_STATS:
		return print_runs(dmda, result, maxlen);
	default:
		return -ENOTTY;
	}
}

int dmda_hints_message(struct dmda *dmda, const struct dmda_message *message, char *result,
		       unsigned int maxlen)
{
	int ret;

	if (message->verb == DMDA_VERB_HINTS) {
		dmda_hints_set(dmda, message->hints);
		return 0;
	}
	/*
	 * It may take as long as the device does: no resume is to wait for that. A suspension does,
	 * and those who write meanwhile: it waits for whoever uses the table, as for a status.
	 */
	if (message->verb == DMDA_VERB_SHARE_ADD)
		return check_runs(dmda, message) ?: dmda_share_announce(dmda, message);
	/* Nor for hundreds of runs of terabytes; the table has locks of its own. */
	if (message->verb == DMDA_VERB_RUNS_ADD)
		return add_runs(dmda, message);
	mutex_lock(&dmda->admin_lock);
	ret = obey_locked(dmda, message, result, maxlen);
	mutex_unlock(&dmda->admin_lock);
	return ret;
}
