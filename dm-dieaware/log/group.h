/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bios that are under way together, and are waited for together.
 */
#ifndef DMDA_LOG_GROUP_H
#define DMDA_LOG_GROUP_H

#include <linux/atomic.h>
#include <linux/completion.h>

/**
 * struct dmda_log_group - bios that are under way together
 * @nr_left: number of them that have not ended, plus one
 * @done: completed when all have ended
 * @failed: whether one of them failed
 */
struct dmda_log_group {
	atomic_t nr_left;
	struct completion done;
	bool failed;
};

static inline void dmda_log_group_begin(struct dmda_log_group *group)
{
	atomic_set(&group->nr_left, 1);
	init_completion(&group->done);
	group->failed = false;
}

/* One more is under way. */
static inline void dmda_log_group_get(struct dmda_log_group *group)
{
	atomic_inc(&group->nr_left);
}

/* One has ended; behind that the group may be gone. */
static inline void dmda_log_group_put(struct dmda_log_group *group, bool failed)
{
	if (failed)
		WRITE_ONCE(group->failed, true);
	if (atomic_dec_and_test(&group->nr_left))
		complete(&group->done);
}

/* Waits for all. Return: whether none has failed. */
static inline bool dmda_log_group_end(struct dmda_log_group *group)
{
	dmda_log_group_put(group, false);
	wait_for_completion_io(&group->done);
	return !READ_ONCE(group->failed);
}

#endif /* DMDA_LOG_GROUP_H */
