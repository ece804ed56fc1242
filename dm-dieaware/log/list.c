// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices in log mode that this machine has, and which of them are at work.
 */
#include "list.h"
#include "log.h"

/* dm lets several of its devices share one below: only one may be at work there. */
static DEFINE_MUTEX(logs_lock);
static LIST_HEAD(logs);

void dmda_log_list_enter(struct dmda_log *log)
{
	mutex_lock(&logs_lock);
	list_add(&log->list, &logs);
	mutex_unlock(&logs_lock);
}

void dmda_log_list_leave(struct dmda_log *log)
{
	mutex_lock(&logs_lock);
	list_del(&log->list);
	mutex_unlock(&logs_lock);
}

void dmda_log_list_end(struct dmda_log *log)
{
	mutex_lock(&logs_lock);
	log->is_active = false;
	mutex_unlock(&logs_lock);
}

static bool has_same_device(const struct dmda_log *log, const struct dmda_log *other)
{
	return other != log && !memcmp(other->super.uuid, log->super.uuid, DMDA_UUID_BYTES);
}

/*
 * It has begun, but another target of its table could not be resumed, and none of them was. Then dm
 * tells nobody, until the table makes way for that of @log.
 */
static bool is_left_over(const struct dmda_log *log, const struct dmda_log *other)
{
	return READ_ONCE(other->is_quiet) && other->dmda->self_dev == log->dmda->self_dev &&
	       other->dmda->ti->table != log->dmda->ti->table;
}

const char *dmda_log_list_begin(struct dmda_log *log)
{
	struct dmda_log *other;
	const char *why;

	mutex_lock(&logs_lock);
	why = log->is_stale ? "another target has used the device since" : NULL;
	list_for_each_entry(other, &logs, list) {
		if (other->is_active && has_same_device(log, other) && !is_left_over(log, other))
			why = "another target is using the device";
	}
	if (!why) {
		log->is_active = true;
		list_for_each_entry(other, &logs, list) {
			if (other->state == DMDA_LOG_NEW || !has_same_device(log, other))
				continue;
			other->is_stale = true;
			other->is_active = false;
		}
	}
	mutex_unlock(&logs_lock);
	return why;
}
