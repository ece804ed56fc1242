// SPDX-License-Identifier: GPL-2.0-only
/*
 * The status line of a device in log mode.
 */
#include "../hint-control.h"
#include "log.h"
#include "start.h"
#include "status.h"

static const char * const log_state_names[] = {
	[DMDA_LOG_NEW] = "new",
	[DMDA_LOG_WRITE] = "write",
	[DMDA_LOG_READ_ONLY] = "read_only",
	[DMDA_LOG_FAILED] = "failed",
};

static const char * const log_supply_names[] = {
	[DMDA_LOG_SUPPLY_OK] = "ok",
	[DMDA_LOG_SUPPLY_LOW] = "low",
	[DMDA_LOG_SUPPLY_OUT] = "out",
};

/* lpns that there would be on all of the device below, if a table for that is not refused */
static u64 nr_lpns_to_be_had(struct dmda_log *log)
{
	struct dmda_super *grown = kmalloc(sizeof(*grown), GFP_NOIO);
	u64 nr = log->super.nr_lpns;

	if (grown && dmda_log_may_grow(log, grown) && !dmda_log_tables_too_large(grown))
		nr = grown->nr_lpns;
	kfree(grown);
	return nr;
}

size_t dmda_log_status(struct dmda *dmda, char *result, unsigned int maxlen)
{
	struct dmda_log *log = dmda->log;
	const struct dmda_commit *commit = &log->journal.commit;
	struct dmda_log_counters counters;
	u64 nr_valid, nr_map_pages, used, nr_damaged, nr_mended, nr_changed;
	u32 nr_free, nr_empty, nr_unread, nr_wrong;
	size_t sz = 0;
	u8 way;

	spin_lock_irq(&log->lock);
	counters = log->counters;
	nr_valid = log->space.segments.nr_valid;
	nr_free = log->space.segments.nr_free + log->space.freeing.nr_aside;
	nr_empty = log->space.segments.nr_empty;
	nr_unread = log->space.segments.nr_unread;
	nr_wrong = log->space.segments.nr_wrong;
	nr_map_pages = log->cache.nr_pages;
	nr_damaged = log->sums.nr_damaged;
	nr_mended = log->sums.nr_mended;
	nr_changed = log->sums.nr_changed;
	way = log->inplace.update.way;
	used = dmda_commit_place(commit).sector + (commit->has_batch ? commit->batch.nr_used : 0) -
		log->checkpoint.root.journal.sector;
	spin_unlock_irq(&log->lock);
	DMEMIT("mode=log state=%s mapped_pages=%llu lpns=%llu segments=%u free_segments=%u",
	       log_state_names[READ_ONCE(log->state)], nr_valid, log->super.nr_lpns,
	       log->space.segments.nr_segments, nr_free);
	DMEMIT(" empty_segments=%u segment_pages=%u journal_sectors=%llu/%u", nr_empty,
	       log->super.segment_pages, used, log->super.journal_sectors);
	DMEMIT(" map_pages=%llu/%llu map_reads=%llu map_given_back=%llu", nr_map_pages,
	       log->cache.max_pages, counters.nr_map_reads, counters.nr_map_given_back);
	DMEMIT(" commits=%llu flushes=%llu checkpoints=%llu user_pages=%llu moved_pages=%llu",
	       counters.nr_commits, counters.nr_flushes, counters.nr_checkpoints,
	       counters.user_pages, counters.moved_pages);
	DMEMIT(" meta_pages=%llu cleaned_segments=%llu starved=%llu cleaning=%s policy=%s",
	       counters.meta_pages, counters.nr_cleaned, counters.nr_starved,
	       READ_ONCE(dmda->config.cleaning) ? "on" : "off",
	       dmda_policy_name(READ_ONCE(dmda->config.policy)));
	DMEMIT(" grown_lpns=%llu idle_cleaned=%llu moved_hints=%llu in_place_pages=%llu",
	       nr_lpns_to_be_had(log), counters.nr_idle_cleaned, counters.nr_moved_hints,
	       counters.in_place_pages);
	DMEMIT(" overwrites=%s", way == DMDA_UPDATE_IN_PLACE ? "in_place" : "new_place");
	DMEMIT(" space=%s", log_supply_names[READ_ONCE(log->admission.supply)]);
	DMEMIT(" checksums=%s damaged_pages=%llu mended_reads=%llu changed_writes=%llu",
	       dmda_super_has_sums(&log->super) ? "on" : "off", nr_damaged, nr_mended, nr_changed);
	DMEMIT(" unread_segments=%u damaged_segments=%u", nr_unread, nr_wrong);
	sz += dmda_hints_status(dmda, result + sz, maxlen - sz);
	return sz;
}
