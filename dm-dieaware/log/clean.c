// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cleaning: what is valid in some segments is copied to another one (copy.c). Then they
 * have no valid page any more, and are freed as any such segment. When that is done is decided in
 * clean-when.c, with which segments in clean-choose.c.
 *
 * Cleaning needs no memory but what is set aside for it, and segments that nobody else
 * may open; so it always comes to an end.
 *
 * It never begins to move more pages than its own segment and the free ones have places for. So
 * the victims of a round can be emptied, also if the power fails on the way: what is left to be
 * moved then is less by as much as the places are, since cleaning goes on in the same segment.
 *
 * The segments that are being cleaned are counted as being read: none of them can be
 * freed and written again before their pages have been compared with the map.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "commit.h"
#include "log.h"
#include "places.h"

/* Victims that have nothing left, but for those of which something could not be read */
static u32 nr_emptied(const struct dmda_log_cleaner *cleaner)
{
	const struct dmda_segment *segment = cleaner->log->space.segments.segment;
	u32 nr = 0;

	for (u32 i = 0; i < cleaner->plan.nr_victims; i++)
		nr += !READ_ONCE(segment[from_seg(cleaner->victim[i])].stuck);
	return nr;
}

static void release_victims(struct dmda_log_cleaner *cleaner, bool is_done)
{
	struct dmda_log *log = cleaner->log;
	u32 nr = is_done ? nr_emptied(cleaner) : 0;

	for (u32 i = 0; i < cleaner->plan.nr_victims; i++)
		dmda_log_put_reader(log, cleaner->victim[i]);
	dmda_log_end_victims(cleaner);
	/* Others that could be read say nothing of what could not. */
	if (nr && cleaner->is_again)
		cleaner->forget_jiffies = DMDA_LOG_FORGET_JIFFIES;
	spin_lock_irq(&log->lock);
	log->counters.nr_cleaned += nr;
	if (cleaner->is_idle)
		log->counters.nr_idle_cleaned += nr;
	spin_unlock_irq(&log->lock);
	dmda_log_kick(log, &log->space.work);
}

bool dmda_log_clean_chosen(struct dmda_log_cleaner *cleaner)
{
	bool is_done;

	dmda_log_begin_victims(cleaner);
	is_done = dmda_log_copy(cleaner);
	release_victims(cleaner, is_done);
	/* What was taken away must be durable before it is free. */
	return is_done && !dmda_log_commit(cleaner->log);
}

bool dmda_log_clean_some(struct dmda_log_cleaner *cleaner, bool is_urgent)
{
	return dmda_log_choose_victims(cleaner, is_urgent) && dmda_log_clean_chosen(cleaner);
}

void dmda_log_gain_room(struct dmda_log *log, bool (*may)(const struct dmda_log *log))
{
	while (may(log)) {
		u32 nr = dmda_log_nr_to_be_had(log);

		if (nr > DMDA_LOG_LOW_SEGMENTS)
			break;
		dmda_log_set_pacing(log, true);
		if (!dmda_log_clean_some(log->cleaning.cleaner, nr <= DMDA_LOG_KEPT_SEGMENTS))
			break;
	}
	dmda_log_set_pacing(log, false);
}

/*
 * Memory
 */

static bool looks_create(struct dmda_log_cleaner *cleaner)
{
	struct dmda_log *log = cleaner->log;
	u32 nr_words = DIV_ROUND_UP(dmda_super_data_pages(&log->super), 64);

	for (u32 i = 0; i < DMDA_LOG_CANDIDATES; i++) {
		struct dmda_log_look *look = &cleaner->look[i];

		look->summary = kvcalloc(log->super.summary_pages, sizeof(*look->summary),
					 GFP_KERNEL);
		look->is_valid = kvcalloc(nr_words, sizeof(u64), GFP_KERNEL);
		if (!look->summary || !look->is_valid)
			return false;
	}
	return true;
}

static void looks_destroy(struct dmda_log_cleaner *cleaner)
{
	for (u32 i = 0; i < DMDA_LOG_CANDIDATES; i++) {
		kvfree(cleaner->look[i].summary);
		kvfree(cleaner->look[i].is_valid);
	}
}

int dmda_log_cleaner_create(struct dmda_log *log)
{
	struct dmda_log_cleaner *cleaner = kvzalloc(sizeof(*cleaner), GFP_KERNEL);
	u32 data_pages = dmda_super_data_pages(&log->super);
	u32 nr_segments = dmda_super_nr_segments(&log->super);

	log->cleaning.cleaner = cleaner;
	if (!cleaner)
		return -ENOMEM;
	cleaner->log = log;
	cleaner->forget_jiffies = DMDA_LOG_FORGET_JIFFIES;
	dmda_plan_init(&cleaner->plan, &log->super);
	cleaner->files.nr_slots = roundup_pow_of_two(data_pages + 1);
	cleaner->move = kvcalloc(cleaner->plan.max_moves, sizeof(*cleaner->move), GFP_KERNEL);
	cleaner->files.slot = kvcalloc(cleaner->files.nr_slots, sizeof(u64), GFP_KERNEL);
	cleaner->victim = dmda_log_table_alloc(nr_segments, sizeof(*cleaner->victim));
	cleaner->is_victim = dmda_log_table_alloc(BITS_TO_LONGS(nr_segments), sizeof(long));
	cleaner->is_left = dmda_log_table_alloc(BITS_TO_LONGS(nr_segments), sizeof(long));
	if (!cleaner->move || !cleaner->victim || !cleaner->is_left || !cleaner->files.slot ||
	    !cleaner->is_victim || !looks_create(cleaner) || !dmda_log_copy_create(cleaner))
		return -ENOMEM;
	return 0;
}

void dmda_log_cleaner_destroy(struct dmda_log *log)
{
	struct dmda_log_cleaner *cleaner = log->cleaning.cleaner;

	if (!cleaner)
		return;
	dmda_log_copy_destroy(cleaner);
	looks_destroy(cleaner);
	kvfree(cleaner->victim);
	kvfree(cleaner->is_left);
	kvfree(cleaner->is_victim);
	kvfree(cleaner->files.slot);
	kvfree(cleaner->move);
	kvfree(cleaner);
	log->cleaning.cleaner = NULL;
}
