// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages to a device in log mode. Those that want something done are done when they return; what
 * is only asked is answered while it can be read.
 */
#include "../core/message.h"
#include "log.h"
#include "message.h"
#include "where.h"

static int obey_message(struct dmda *dmda, const struct dmda_message *message)
{
	struct dmda_log *log = dmda->log;

	if (!dmda_log_may_work(log)) {
		DMERR("%s: The device cannot be written now.",
		      dm_table_device_name(dmda->ti->table));
		return -EROFS;
	}
	switch (message->verb) {
	case DMDA_VERB_CLEANING:
		WRITE_ONCE(dmda->config.cleaning, message->is_on);
		dmda_log_kick_clean(log);
		return 0;
	case DMDA_VERB_IDLE:
		WRITE_ONCE(dmda->config.idle_ms, message->config.idle_ms);
		WRITE_ONCE(dmda->config.idle_free_percent, message->config.idle_free_percent);
		dmda_log_wait_idle(log);
		return 0;
	case DMDA_VERB_IN_PLACE:
		WRITE_ONCE(dmda->config.in_place_percent, message->config.in_place_percent);
		return 0;
	case DMDA_VERB_MAP_CACHE:
		return dmda_log_resize_map(log, message->config.map_cache_mb);
	case DMDA_VERB_NO_SPACE:
		dmda_log_set_patience(log, message->config.no_space_seconds);
		return 0;
	case DMDA_VERB_POLICY:
		WRITE_ONCE(dmda->config.policy, message->config.policy);
		return 0;
	case DMDA_VERB_CLEAN:
		return dmda_log_clean_all(log);
	case DMDA_VERB_CHECKPOINT:
		return dmda_log_checkpoint(log, false);
	default:
		return -EINVAL;
	}
}

int dmda_log_message(struct dmda *dmda, const struct dmda_message *message, char *result,
		     unsigned int maxlen)
{
	int ret;

	down_read(&dmda->log->message_lock);
	if (message->verb == DMDA_VERB_WHERE)
		ret = dmda_log_where(dmda->log, message, result, maxlen);
	else
		ret = obey_message(dmda, message);
	up_read(&dmda->log->message_lock);
	return ret;
}
