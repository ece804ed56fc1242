// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices in log mode that this machine has, and which of them are at work.
 *
 * The machine is not hibernated while one of them has begun. What is in memory of it, its map above
 * all, is as new as what is on the device, and goes into the image. After that the device changes:
 * by commits and cleaning, whose workers are not frozen, since who writes the image may wait for
 * them; and by the start in the initramfs that comes before the image is read. The kernel that
 * comes back would write with a map that is old. When an image is read there is nothing left to be
 * refused: none was made that knows such a device. To sleep with memory in use does no harm: there
 * is no other kernel meanwhile.
 */
#include <linux/suspend.h>

#include "list.h"
#include "log.h"

/* dm lets several of its devices share one below: only one may be at work there. */
static DEFINE_MUTEX(logs_lock);
static LIST_HEAD(logs);
static bool is_hibernating; /* or about to */

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

/* What a writer has found out about the device is true until another one writes. */
static bool may_be_together(const struct dmda_log *log, const struct dmda_log *other)
{
	return dmda_log_wants_read_only(log) && dmda_log_wants_read_only(other);
}

static struct dmda_refusal refusal_locked(const struct dmda_log *log)
{
	struct dmda_refusal refusal = {};
	const struct dmda_log *other;

	lockdep_assert_held(&logs_lock);

	if (is_hibernating)
		refusal.why = "the machine is about to hibernate";
	else if (log->is_stale)
		refusal.why = "another target has written to the device since, or to a copy of it";
	if (refusal.why)
		return refusal;
	list_for_each_entry(other, &logs, list) {
		if (other->is_active && has_same_device(log, other) && !is_left_over(log, other) &&
		    !may_be_together(log, other))
			dmda_refusal_set(&refusal,
					 "another target is using the device, or a copy of it",
					 other->dmda);
	}
	return refusal;
}

/* @log has the device from now on. */
static void displace_locked(const struct dmda_log *log)
{
	struct dmda_log *other;

	lockdep_assert_held(&logs_lock);

	list_for_each_entry(other, &logs, list) {
		if (other->state == DMDA_LOG_NEW || !has_same_device(log, other) ||
		    may_be_together(log, other))
			continue;
		other->is_stale |= !dmda_log_wants_read_only(log);
		other->is_active = false;
	}
}

struct dmda_refusal dmda_log_list_begin(struct dmda_log *log)
{
	struct dmda_refusal refusal;

	mutex_lock(&logs_lock);
	refusal = refusal_locked(log);
	if (!refusal.why)
		log->is_active = true;
	mutex_unlock(&logs_lock);
	return refusal;
}

void dmda_log_list_take(struct dmda_log *log)
{
	mutex_lock(&logs_lock);
	displace_locked(log);
	mutex_unlock(&logs_lock);
}

/* Might it go on with what it has in memory? What could not be started never does. */
static bool has_begun(const struct dmda_log *log)
{
	return log->is_active ||
		(READ_ONCE(log->state) != DMDA_LOG_NEW && !log->is_stale && !log->is_broken);
}

/* Suspended or not: what it knows must not be older than the device. */
static const struct dmda_log *first_begun_locked(void)
{
	const struct dmda_log *log;

	lockdep_assert_held(&logs_lock);

	list_for_each_entry(log, &logs, list) {
		if (has_begun(log))
			return log;
	}
	return NULL;
}

static int prepare_hibernation(void)
{
	const struct dmda_log *log;

	mutex_lock(&logs_lock);
	log = first_begun_locked();
	is_hibernating = !log;
	if (log)
		DMERR("%s: No hibernation in log mode: the image's map would be old.",
		      dm_table_device_name(log->dmda->ti->table));
	mutex_unlock(&logs_lock);
	return log ? -EBUSY : 0;
}

static int hear_of_sleep(struct notifier_block *block, unsigned long event, void *unused)
{
	if (event == PM_HIBERNATION_PREPARE)
		return notifier_from_errno(prepare_hibernation());
	if (event == PM_POST_HIBERNATION) {
		mutex_lock(&logs_lock);
		is_hibernating = false;
		mutex_unlock(&logs_lock);
	}
	return NOTIFY_DONE;
}

static struct notifier_block sleep_block = { .notifier_call = hear_of_sleep };

int dmda_log_list_init(void)
{
	return register_pm_notifier(&sleep_block);
}

void dmda_log_list_exit(void)
{
	unregister_pm_notifier(&sleep_block);
}
