// SPDX-License-Identifier: GPL-2.0-only
/* A configuration from one of the named drives of core/profiles.c. */
#include <linux/string.h>

#include "core/profiles.h"
#include "nvmev.h"
#include "profile.h"

int nvmev_profile_load(struct nvmev_config *config, const char *name)
{
	const struct ftl_profile *profile;
	u32 i;

	for (i = 0; (profile = ftl_profile_at(i)); i++) {
		if (!sysfs_streq(name, profile->name))
			continue;
		*config = (struct nvmev_config){
			.profile = profile->name,
			.ftl = profile->params,
			.capacity_bytes = profile->capacity_bytes,
			.lba_bytes = 512,
			.queues = profile->nr_queues,
			.queue_depth = profile->queue_depth,
			.mdts = 8,
			.atomic_pages = 1,
			.hints = !profile->params.in_place,
		};
		return 0;
	}
	return -EINVAL;
}

int nvmev_profile_names(char *buf, size_t bytes)
{
	const struct ftl_profile *profile;
	int len = 0;
	u32 i;

	for (i = 0; (profile = ftl_profile_at(i)); i++)
		len += scnprintf(buf + len, bytes - len, " %s", profile->name);
	return len;
}
