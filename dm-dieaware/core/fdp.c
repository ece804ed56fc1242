// SPDX-License-Identifier: GPL-2.0-only
/* Reading what a device says of its placement handles, and doubting it. See fdp.h. */
#include "fdp.h"

/* Fields of a configuration */
#define ATTRIBUTES_AT		2
#define NR_GROUPS_AT		4
#define ATTRIBUTES_GROUP_BITS	0xf
#define ATTRIBUTES_VALID	BIT(7)

/* Head of the status: number of entries */
#define NR_ENTRIES_AT		14

#define OTHER_NUMBER \
	"The kernel has another number of write streams for the device than the device has placement identifiers."
#define NO_UNIT \
	"The device names no optimal write size from 16 KiB to 16 MiB: the option fdp_unit_kb may say what goes to a die at a time."
#define NO_SENSE	"What the device says of its reclaim groups makes no sense."

static u32 le16_at(const u8 *at)
{
	return at[0] | (u32)at[1] << 8;
}

static u32 le32_at(const u8 *at)
{
	return le16_at(at) | le16_at(at + 2) << 16;
}

bool dmda_fdp_read_config(const u8 *page, u32 nr_bytes, u32 index, struct dmda_fdp *fdp)
{
	u32 at = DMDA_FDP_CONFIGS_HEAD;
	const u8 *config;

	if (nr_bytes < DMDA_FDP_CONFIGS_HEAD || index > le16_at(page))
		return false;
	do {
		u32 config_bytes;

		if (at > nr_bytes || nr_bytes - at < DMDA_FDP_CONFIG_MIN)
			return false;
		config = page + at;
		config_bytes = le16_at(config);
		if (config_bytes < DMDA_FDP_CONFIG_MIN)
			return false;
		at += config_bytes;
	} while (index--);
	if (!(config[ATTRIBUTES_AT] & ATTRIBUTES_VALID))
		return false;
	fdp->nr_groups = le32_at(config + NR_GROUPS_AT);
	fdp->group_bits = config[ATTRIBUTES_AT] & ATTRIBUTES_GROUP_BITS;
	return true;
}

bool dmda_fdp_read_status(const u8 *page, u32 nr_bytes, struct dmda_fdp *fdp)
{
	u32 i;

	if (nr_bytes < DMDA_FDP_STATUS_HEAD)
		return false;
	fdp->nr_pids = min_t(u32, le16_at(page + NR_ENTRIES_AT), DMDA_MAX_LANES);
	if ((nr_bytes - DMDA_FDP_STATUS_HEAD) / DMDA_FDP_STATUS_ENTRY < fdp->nr_pids)
		return false;
	for (i = 0; i < fdp->nr_pids; i++)
		fdp->pid[i] = le16_at(page + DMDA_FDP_STATUS_HEAD + i * DMDA_FDP_STATUS_ENTRY);
	return true;
}

static const char *complaint(const struct dmda_fdp *fdp, bool handles_too)
{
	if (!fdp->max_streams)
		return "The kernel has no write streams for the device.";
	if (fdp->nr_pids != fdp->max_streams)
		return OTHER_NUMBER;
	if (!fdp->nr_groups || fdp->group_bits > 15 || fdp->nr_groups > BIT(fdp->group_bits))
		return NO_SENSE;
	if (fdp->nr_groups == 1 && !handles_too)
		return "The device has one reclaim group, and its handles need not be dies.";
	if (fdp->unit_bytes < DMDA_LANE_UNIT_MIN || fdp->unit_bytes > DMDA_LANE_UNIT_MAX ||
	    fdp->unit_bytes % BIT(DMDA_PAGE_SHIFT))
		return NO_UNIT;
	return NULL;
}

static u32 group_of(const struct dmda_fdp *fdp, u32 index)
{
	return fdp->pid[index] >> (16 - fdp->group_bits);
}

/* Is it the first identifier of its group, or, where these do not count, of all that are alike? */
static bool is_new(const struct dmda_fdp *fdp, u32 index)
{
	u32 i;

	for (i = 0; i < index; i++) {
		if (fdp->pid[i] == fdp->pid[index] ||
		    (fdp->nr_groups > 1 && group_of(fdp, i) == group_of(fdp, index)))
			return false;
	}
	return true;
}

const char *dmda_fdp_lanes(const struct dmda_fdp *fdp, bool handles_too,
			   struct dmda_lanes *lanes, u8 *stream)
{
	const char *wrong = complaint(fdp, handles_too);
	u32 i;

	lanes->nr = 0;
	lanes->unit_pages = 0;
	if (wrong)
		return wrong;
	for (i = 0; i < fdp->nr_pids; i++) {
		if (group_of(fdp, i) >= fdp->nr_groups) {
			lanes->nr = 0;
			return NO_SENSE;
		}
		if (is_new(fdp, i))
			stream[lanes->nr++] = i + 1;
	}
	if (lanes->nr < 2) {
		lanes->nr = 0;
		return "The namespace has placement identifiers of one reclaim group only.";
	}
	lanes->unit_pages = fdp->unit_bytes >> DMDA_PAGE_SHIFT;
	return NULL;
}
