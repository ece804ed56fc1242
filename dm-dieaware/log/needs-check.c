// SPDX-License-Identifier: GPL-2.0-only
/*
 * What follows when a device has failed (fail.c): those who wait for a commit end, and the world
 * learns of it. The device only reads also after the next start, for its superblock says that it
 * needs a check.
 */
#include "commit.h"
#include "disk.h"
#include "list.h"
#include "log.h"
#include "needs-check.h"

/*
 * Where one of both places cannot be written, the superblock in the other one says it: it gets the
 * epoch that is next there. Return: whether one of them does.
 */
static bool mark_supers(struct dmda_log *log)
{
	u64 before = log->super.epoch, newest = before;

	for (u32 i = 0; i < 2; i++) {
		log->super.epoch = before + i;
		if (!dmda_log_write_super(log, &log->super, REQ_FUA))
			newest = log->super.epoch;
	}
	log->super.epoch = newest;
	return newest != before;
}

/* The device may be why it is needed; there is nothing more that could be done. */
static void write_needs_check(struct dmda_log *log)
{
	/* If it fails while it starts, others have known the superblock as it was. */
	dmda_log_list_take(log);
	log->super.flags |= DMDA_SUPER_NEEDS_CHECK;
	/* Who loses one of them must not take the device for well. */
	if (!mark_supers(log))
		DMERR("%s: That it needs a check could not be written. Run 'dieaware check'.",
		      dm_table_device_name(log->dmda->ti->table));
}

void dmda_log_tell_failure(struct work_struct *work)
{
	struct dmda_log *log = container_of(work, struct dmda_log, failure.work);

	DMERR("%s: While %s: %s. The target only reads from now on.",
	      dm_table_device_name(log->dmda->ti->table), log->failure.what, log->failure.why);
	/* Ends those who wait for a commit or for room in one. */
	dmda_log_commit(log);
	if (log->may_write)
		write_needs_check(log);
	dm_table_event(log->dmda->ti->table);
}
