// SPDX-License-Identifier: GPL-2.0-only
/*
 * Targets at work. To everybody else dm is one holder of a device, so any of its devices may be
 * put on one that another has. In log mode a target keeps the only true list of what lies where,
 * and has its part of the device for itself: what goes by it, as through hint mode, would damage
 * it. So of a target in log mode and one in hint mode only one may be at work on the same sectors.
 *
 * Two in hint mode are like two of dm-linear. Two in log mode are told apart by what is on the
 * device, also where they reach it by different ways (log/device.c). Other targets cannot be asked.
 */
#include "dieaware.h"
#include "users.h"

static DEFINE_MUTEX(users_lock);
static LIST_HEAD(users);

static bool overlap(const struct dmda *dmda, const struct dmda *other)
{
	return dmda->dev->bdev == other->dev->bdev &&
	       dmda->config.start_sectors < other->user.end_sector &&
	       other->config.start_sectors < dmda->user.end_sector;
}

/* One of another table of the same dm device is suspended then, or has never been at work. */
static bool is_in_the_way(const struct dmda *dmda, const struct dmda *other)
{
	return other->config.mode != dmda->config.mode && overlap(dmda, other) &&
	       (other->self_dev != dmda->self_dev || other->ti->table == dmda->ti->table);
}

void dmda_user_init(struct dmda *dmda)
{
	INIT_LIST_HEAD(&dmda->user.list);
}

void dmda_refusal_set(struct dmda_refusal *refusal, const char *why, const struct dmda *other)
{
	refusal->why = why;
	strscpy(refusal->device, dm_table_device_name(other->ti->table), sizeof(refusal->device));
}

struct dmda_refusal dmda_user_begin(struct dmda *dmda, u64 nr_sectors)
{
	struct dmda_refusal refusal = {};
	const struct dmda *other;

	mutex_lock(&users_lock);
	dmda->user.end_sector = dmda->config.start_sectors + nr_sectors;
	list_for_each_entry(other, &users, user.list) {
		if (is_in_the_way(dmda, other))
			dmda_refusal_set(&refusal, other->config.mode == DMDA_MODE_LOG ?
					 "a target in log mode has the device for itself" :
					 "a target in hint mode is using the device", other);
	}
	if (!refusal.why && list_empty(&dmda->user.list))
		list_add(&dmda->user.list, &users);
	mutex_unlock(&users_lock);
	return refusal;
}

void dmda_user_end(struct dmda *dmda)
{
	mutex_lock(&users_lock);
	list_del_init(&dmda->user.list);
	mutex_unlock(&users_lock);
}
